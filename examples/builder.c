/* builder.c - a program that writes its module with the builder instead of text: two linear layers with a GELU between
 * them, then softmax, compiled in memory and called.
 *
 *   cc builder.c $(pkg-config --cflags --libs hlo_lite) -lm -o builder
 *   ./builder
 *
 * No call is tested for errors but the last: a builder that has failed does nothing more, and the messages name the call
 * that failed. The first model is wrong to show it: its bias has 4 elements for 3 columns.
 */
#include <hlo_lite.h>

#include <stdio.h>

enum { BATCH = 2, IN = 4, HIDDEN = 8, OUT = 3 };

static hlo_value *array(hlo_builder *b, const char *name, int rank, const int64_t *sizes)
{
  return hlo_parameter(b, name, "f32", rank, sizes);
}

static hlo_module *model(hlo_context *context, int64_t bias_size)
{
  const int64_t x_sizes[] = {BATCH, IN}, w1_sizes[] = {HIDDEN, IN}, w2_sizes[] = {OUT, HIDDEN};
  hlo_builder *b = hlo_builder_new(context, "classifier");
  hlo_value *x = array(b, "x", 2, x_sizes);
  hlo_value *w1 = array(b, "w1", 2, w1_sizes);
  hlo_value *w2 = array(b, "w2", 2, w2_sizes);
  hlo_value *bias = array(b, "bias", 1, &bias_size);
  hlo_value *hidden = hlo_gelu(hlo_linear(x, w1, NULL), 1);
  hlo_module *module = hlo_build(b, hlo_softmax(hlo_linear(hidden, w2, bias), -1));
  hlo_builder_free(b);
  return module;
}

static void fill(float *values, int count, float start)
{
  for (int i = 0; i < count; i++)
    values[i] = start + 0.125f * (float)(i % 5);
}

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_module *module = model(context, OUT + 1);
  if (!module)
    printf("%s\n", hlo_messages(context));

  module = model(context, OUT);
  hlo_executable *classify = module ? hlo_compile(context, module, NULL) : NULL;
  if (!classify) {
    fputs(hlo_messages(context), stderr);
    return 1;
  }
  printf("%s\n", hlo_signature(classify));

  float x[BATCH * IN], w1[HIDDEN * IN], w2[OUT * HIDDEN], bias[OUT] = {0, 0.5f, 0}, y[BATCH * OUT];
  fill(x, BATCH * IN, -0.25f);
  fill(w1, HIDDEN * IN, -0.5f);
  fill(w2, OUT * HIDDEN, 0);
  const void *arguments[] = {x, w1, w2, bias};
  void *results[] = {y};
  if (hlo_call(classify, arguments, results) != 0)
    return 1;
  for (int i = 0; i < BATCH; i++)
    printf("%.4f %.4f %.4f\n", (double)y[i * OUT], (double)y[i * OUT + 1], (double)y[i * OUT + 2]);

  hlo_executable_free(classify);
  hlo_module_free(module);
  hlo_context_free(context);
  return 0;
}
