/* Self-attention with two heads and a causal mask. */
#include "program.h"

static hlo_value *split(hlo_value *x, int heads)
{
  const int64_t *d = hlo_value_dimensions(x);
  return hlo_transpose(hlo_view(x, 3, S(d[0], heads, d[1] / heads)), (int[]){1, 0, 2});
}

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "heads");
  hlo_value *x = hlo_parameter(b, "x", "f32", 2, S(3, 4)), *w = hlo_parameter(b, "w", "f32", 2, S(12, 4));
  hlo_value *qkv = hlo_linear(x, w, NULL);
  hlo_value *q = split(hlo_slice(qkv, -1, 0, 4), 2), *k = split(hlo_slice(qkv, -1, 4, 8), 2),
            *v = split(hlo_slice(qkv, -1, 8, 12), 2);
  hlo_value *row = hlo_iota(b, "s32", 2, S(3, 3), 0), *column = hlo_iota(b, "s32", 2, S(3, 3), 1);
  hlo_value *y = hlo_attention(q, k, v, hlo_greater_equal(row, column));
  y = hlo_view(hlo_transpose(y, (int[]){1, 0, 2}), 2, S(3, 4));
  hlo_executable *e = compile(context, b, hlo_layer_norm(hlo_add(x, y), NULL, NULL, 1e-5));
  float xs[12], ws[48], out[12];
  for (int i = 0; i < 12; i++)
    xs[i] = (float)((i * 5) % 7) / 4 - 0.5f;
  for (int i = 0; i < 48; i++)
    ws[i] = (float)((i * 11) % 13) / 13 - 0.5f;
  call(e, (const void *[]){xs, ws}, (void *[]){out});
  show("y", out, 12);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
y -0.2149 1.3524 0.2907 -1.4283 1.2606 0.3161 -0.0575 -1.5191 1.0855 -0.8303 -1.1521 0.8970
*/
