/* An LSTM over a sequence, as a while loop that carries (t, h, c, outputs). */
#include "program.h"

enum { T = 5, I = 2, H = 3 };

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "lstm");
  hlo_value *input = hlo_parameter(b, "xs", "f32", 2, S(T, I));
  hlo_value *w_in = hlo_parameter(b, "wx", "f32", 2, S(4 * H, I)), *w_state = hlo_parameter(b, "wh", "f32", 2, S(4 * H, H));
  hlo_value *start[] = {hlo_scalar(b, "s32", 0),
                        hlo_full(b, "f32", 1, S(H), 0),
                        hlo_full(b, "f32", 1, S(H), 0),
                        hlo_full(b, "f32", 2, S(T, H), 0),
                        input,
                        w_in,
                        w_state};
  hlo_value *state = hlo_tuple(b, COUNT(start), start);
  hlo_begin(b, "condition");
  hlo_value *s = hlo_emit(b, "%t parameter(0)", state);
  hlo_computation *condition = hlo_end(b, hlo_less(hlo_element(s, 0), hlo_scalar(b, "s32", T)));

  hlo_begin(b, "step");
  s = hlo_emit(b, "%t parameter(0)", state);
  hlo_value *t = hlo_element(s, 0), *h = hlo_element(s, 1), *c = hlo_element(s, 2), *ys = hlo_element(s, 3);
  hlo_value *xs = hlo_element(s, 4), *wx = hlo_element(s, 5), *wh = hlo_element(s, 6), *zero = hlo_scalar(b, "s32", 0);
  hlo_value *x = hlo_view(hlo_emit(b, "dynamic-slice(%v, %v, %v), dynamic_slice_sizes={1,2}", xs, t, zero), 1, S(I));
  hlo_value *gates = hlo_add(hlo_matmul(wx, x), hlo_matmul(wh, h));
  hlo_value *i = hlo_sigmoid(hlo_slice(gates, 0, 0, H)), *f = hlo_sigmoid(hlo_slice(gates, 0, H, 2 * H));
  hlo_value *g = hlo_tanh(hlo_slice(gates, 0, 2 * H, 3 * H)), *o = hlo_sigmoid(hlo_slice(gates, 0, 3 * H, 4 * H));
  c = hlo_add(hlo_multiply(f, c), hlo_multiply(i, g));
  h = hlo_multiply(o, hlo_tanh(c));
  ys = hlo_emit(b, "dynamic-update-slice(%v, %v, %v, %v)", ys, hlo_unsqueeze(h, 0), t, zero);
  hlo_value *next[] = {hlo_add(t, hlo_scalar(b, "s32", 1)), h, c, ys, xs, wx, wh};
  hlo_computation *step = hlo_end(b, hlo_tuple(b, COUNT(next), next));

  hlo_value *end = hlo_emit(b, "while(%v), condition=%c, body=%c", state, condition, step);
  hlo_executable *e = compile(context, b, hlo_element(end, 3));
  float x_in[T * I], w_x[4 * H * I], w_h[4 * H * H], out[T * H];
  for (int k = 0; k < T * I; k++)
    x_in[k] = (float)(k % 3) - 1;
  for (int k = 0; k < 4 * H * I; k++)
    w_x[k] = (float)((k * 5) % 7 - 3) / 6;
  for (int k = 0; k < 4 * H * H; k++)
    w_h[k] = (float)((k * 3) % 11 - 5) / 10;
  call(e, (const void *[]){x_in, w_x, w_h}, (void *[]){out});
  show("y", out, T * H);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
y -0.0387 0.1230 0.0000 0.0122 -0.1554 0.1233 -0.0328 0.0084 -0.0397 -0.0547 0.1255 -0.0166 -0.0048 -0.1537 0.1188
*/
