/* Sorting with a comparator of one's own: by key, descending, ties by index; the best three. */
#include "program.h"

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "sort");
  hlo_value *x = hlo_parameter(b, "x", "f32", 1, S(8));
  hlo_begin(b, "comes_first");
  hlo_value *l = hlo_parameter(b, "l", "f32", 0, NULL), *r = hlo_parameter(b, "r", "f32", 0, NULL);
  hlo_parameter(b, "li", "s32", 0, NULL);
  hlo_parameter(b, "ri", "s32", 0, NULL);
  hlo_computation *comes_first = hlo_end(b, hlo_greater(l, r));
  hlo_value *sorted =
      hlo_emit(b, "sort(%v, %v), dimensions={0}, is_stable=true, to_apply=%c", x, hlo_iota(b, "s32", 1, S(8), 0), comes_first);
  hlo_value *out[] = {hlo_slice(hlo_element(sorted, 0), 0, 0, 3), hlo_slice(hlo_element(sorted, 1), 0, 0, 3)};
  hlo_executable *e = compile(context, b, hlo_tuple(b, 2, out));
  const float xs[] = {3, 1, 4, 1, 5, 9, 2, 5};
  float best[3];
  int32_t place[3];
  call(e, (const void *[]){xs}, (void *[]){best, place});
  show("best", best, 3);
  printf("at %d %d %d\n", place[0], place[1], place[2]);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
best 9.0000 5.0000 5.0000
at 5 4 7
*/
