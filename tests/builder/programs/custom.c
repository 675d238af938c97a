/* A custom call into this program. */
#include "program.h"

static int cumulate(void *const *arguments, void *const *results, const char *config, size_t config_bytes)
{
  const float *x = arguments[0];
  float *y = results[0], sum = 0;
  (void)config;
  (void)config_bytes;
  for (int i = 0; i < 4; i++)
    y[i] = sum += x[i];
  return 0;
}

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_set_custom_call(context, "cumulate", cumulate);
  hlo_builder *b = hlo_builder_new(context, "custom");
  hlo_value *x = hlo_parameter(b, "x", "f32", 1, S(4));
  hlo_value *y = hlo_emit(b, "f32[4] custom-call(%v), custom_call_target=\"cumulate\"", hlo_square(x));
  hlo_executable *e = compile(context, b, y);
  const float xs[] = {1, 2, 3, 4};
  float ys[4];
  call(e, (const void *[]){xs}, (void *[]){ys});
  show("y", ys, 4);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
y 1.0000 5.0000 14.0000 30.0000
*/
