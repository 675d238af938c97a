/* Several results, two of them in the place of arguments: gradient descent with momentum on a line. */
#include "program.h"

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "sgd");
  hlo_value *w = hlo_parameter(b, "w", "f32", 1, S(2)), *m = hlo_parameter(b, "m", "f32", 1, S(2));
  hlo_value *x = hlo_parameter(b, "x", "f32", 2, S(4, 2)), *y = hlo_parameter(b, "y", "f32", 1, S(4));
  hlo_value *r = hlo_subtract(hlo_matmul(x, w), y);
  hlo_value *gradient = hlo_matmul(hlo_transpose(x, NULL), hlo_multiply(r, hlo_scalar(b, "f32", 0.5)));
  hlo_value *m2 = hlo_add(hlo_multiply(m, hlo_scalar(b, "f32", 0.9)), gradient);
  hlo_value *w2 = hlo_subtract(w, hlo_multiply(m2, hlo_scalar(b, "f32", 0.05)));
  hlo_value *out[] = {w2, m2, hlo_mean(hlo_square(r), 0, NULL, 0)};
  hlo_alias(b, 0, w);
  hlo_alias(b, 1, m);
  hlo_executable *e = compile(context, b, hlo_tuple(b, 3, out));
  float ws[2] = {0}, ms[2] = {0}, loss = 0;
  const float xs[] = {1, 0, 1, 1, 1, 2, 1, 3}, ys[] = {1, 3, 5, 7};
  for (int i = 0; i < 300; i++)
    call(e, (const void *[]){ws, ms, xs, ys}, (void *[]){ws, ms, &loss});
  show("w", ws, 2);
  show("loss", &loss, 1);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
w 1.0000 2.0000
loss 0.0000
*/
