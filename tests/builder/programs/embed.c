/* An embedding table: rows gathered by index, their gradient scattered back, a histogram. */
#include "program.h"

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "embed");
  hlo_value *table = hlo_parameter(b, "table", "f32", 2, S(5, 2)), *ids = hlo_parameter(b, "ids", "s32", 1, S(4));
  hlo_value *rows = hlo_take(table, ids, 0);
  hlo_value *zeros = hlo_full(b, "f32", 2, S(5, 2), 0);
  hlo_value *gradient =
      hlo_emit(b,
               "scatter(%v, %v, %v), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
               "index_vector_dim=1, to_apply=%c",
               zeros, ids, rows, hlo_region(b, "add", "f32"));
  hlo_value *counts =
      hlo_emit(b,
               "scatter(%v, %v, %v), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
               "index_vector_dim=1, to_apply=%c",
               hlo_full(b, "s32", 1, S(5), 0), ids, hlo_full(b, "s32", 1, S(4), 1), hlo_region(b, "add", "s32"));
  hlo_value *out[] = {rows, gradient, hlo_convert(counts, "f32")};
  hlo_executable *e = compile(context, b, hlo_tuple(b, 3, out));
  const float t[] = {0, 1, 10, 11, 20, 21, 30, 31, 40, 41};
  const int32_t i[] = {3, 1, 3, 0};
  float r[8], g[10], c[5];
  call(e, (const void *[]){t, i}, (void *[]){r, g, c});
  show("rows", r, 8);
  show("gradient", g, 10);
  show("counts", c, 5);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
rows 30.0000 31.0000 10.0000 11.0000 30.0000 31.0000 0.0000 1.0000
gradient 0.0000 1.0000 10.0000 11.0000 0.0000 0.0000 60.0000 62.0000 0.0000 0.0000
counts 1.0000 1.0000 0.0000 2.0000 0.0000
*/
