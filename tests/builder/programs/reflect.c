/* A program that knows nothing of a module but what the executable says: allocates, fills, calls, prints. */
#include "program.h"

static void *allocate(hlo_array a)
{
  return calloc(1, a.bytes ? a.bytes : 1);
}

static void print_array(const char *what, hlo_array a)
{
  printf("%s %s: %s[", what, a.name, a.type);
  for (int i = 0; i < a.rank; i++)
    printf(i ? ",%d" : "%d", (int)a.dimensions[i]);
  printf("], %zu bytes\n", a.bytes);
}

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "reflect");
  hlo_value *x = hlo_parameter(b, "x", "f32", 2, S(2, 3)), *n = hlo_parameter(b, "class", "c64", 1, S(4));
  hlo_value *inner[] = {hlo_sum(x, 1, (int[]){0}, 0), n}, *pair = hlo_tuple(b, 2, inner), *out[] = {pair, hlo_argmax(x, 1, 0)};
  hlo_executable *e = compile(context, b, hlo_tuple(b, 2, out));
  printf("%s\n", hlo_signature(e));
  for (size_t i = 0; i < hlo_argument_count(e); i++)
    print_array("argument", hlo_argument(e, i));
  for (size_t i = 0; i < hlo_result_count(e); i++)
    print_array("result", hlo_result(e, i));
  printf("has target %d, kernels %d, workspace %d\n", strlen(hlo_target(e)) > 5, hlo_kernel_count(e) > 0,
         hlo_workspace_bytes(e) < 100000);
  void *arguments[8], *results[8];
  for (size_t i = 0; i < hlo_argument_count(e); i++)
    arguments[i] = allocate(hlo_argument(e, i));
  for (size_t i = 0; i < hlo_result_count(e); i++)
    results[i] = allocate(hlo_result(e, i));
  call(e, (const void *const *)arguments, results);
  for (size_t i = 0; i < hlo_argument_count(e); i++)
    free(arguments[i]);
  for (size_t i = 0; i < hlo_result_count(e); i++)
    free(results[i]);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
(x: f32[2,3], class_: c64[4]) -> (f32[3], c64[4], s64[2])
argument x: f32[2,3], 24 bytes
argument class_: c64[4], 32 bytes
result result0: f32[3], 12 bytes
result result1: c64[4], 32 bytes
result result2: s64[2], 16 bytes
has target 1, kernels 1, workspace 1
*/
