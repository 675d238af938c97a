/* A loop that writes where it was told: Fibonacci numbers by dynamic-update-slice, read back by dynamic-slice. */
#include "program.h"

enum { N = 12 };

static hlo_value *at(hlo_builder *b, hlo_value *x, hlo_value *i)
{
  return hlo_view(hlo_emit(b, "dynamic-slice(%v, %v), dynamic_slice_sizes={1}", x, i), 0, NULL);
}

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "fibonacci");
  hlo_value *start[] = {hlo_scalar(b, "s32", 2), hlo_full(b, "s64", 1, S(N), 1)};
  hlo_value *state = hlo_tuple(b, 2, start);
  hlo_begin(b, "more");
  hlo_value *s = hlo_emit(b, "%t parameter(0)", state);
  hlo_computation *more = hlo_end(b, hlo_less(hlo_element(s, 0), hlo_scalar(b, "s32", N)));
  hlo_begin(b, "step");
  s = hlo_emit(b, "%t parameter(0)", state);
  hlo_value *i = hlo_element(s, 0), *x = hlo_element(s, 1), *one = hlo_scalar(b, "s32", 1);
  hlo_value *before = hlo_subtract(i, one), *sum = hlo_add(at(b, x, before), at(b, x, hlo_subtract(before, one)));
  x = hlo_emit(b, "dynamic-update-slice(%v, %v, %v)", x, hlo_unsqueeze(sum, 0), i);
  hlo_value *next[] = {hlo_add(i, one), x};
  hlo_computation *step = hlo_end(b, hlo_tuple(b, 2, next));
  hlo_value *end = hlo_emit(b, "while(%v), condition=%c, body=%c", state, more, step);
  hlo_executable *e = compile(context, b, hlo_element(end, 1));
  int64_t y[N];
  call(e, NULL, (void *[]){y});
  for (int k = 0; k < N; k++)
    printf("%d ", (int)y[k]);
  puts("");
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
1 1 2 3 5 8 13 21 34 55 89 144 
*/
