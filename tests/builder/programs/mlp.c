/* A perceptron with one hidden layer. */
#include "program.h"

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "mlp");
  hlo_value *x = hlo_parameter(b, "x", "f32", 2, S(2, 3));
  hlo_value *w1 = hlo_parameter(b, "w1", "f32", 2, S(4, 3)), *b1 = hlo_parameter(b, "b1", "f32", 1, S(4));
  hlo_value *w2 = hlo_parameter(b, "w2", "f32", 2, S(2, 4)), *b2 = hlo_parameter(b, "b2", "f32", 1, S(2));
  hlo_value *y = hlo_softmax(hlo_linear(hlo_relu(hlo_linear(x, w1, b1)), w2, b2), -1);
  hlo_value *out[] = {y, hlo_argmax(y, -1, 0)};
  hlo_executable *e = compile(context, b, hlo_tuple(b, 2, out));
  float xs[6], ws1[12], bs1[4] = {0.1f, 0.2f, -0.3f, 0}, ws2[8], bs2[2] = {0, 0.5f}, ys[4];
  int64_t k[2];
  for (int i = 0; i < 12; i++) {
    ws1[i] = (float)(i % 5) - 2;
    if (i < 6)
      xs[i] = 0.5f * (float)i;
    if (i < 8)
      ws2[i] = 0.25f * (float)(i % 3) - 0.25f;
  }
  call(e, (const void *[]){xs, ws1, bs1, ws2, bs2}, (void *[]){ys, k});
  show("y", ys, 4);
  printf("k %d %d\n", (int)k[0], (int)k[1]);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
y 0.4626 0.5374 0.4195 0.5805
k 1 1
*/
