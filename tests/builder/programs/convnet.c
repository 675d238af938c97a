/* Convolution, a scale for each channel, max pool, the mean of the picture, a dense layer. */
#include "program.h"

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "convnet");
  hlo_value *x = hlo_parameter(b, "image", "f32", 4, S(1, 1, 6, 6)), *w = hlo_parameter(b, "w", "f32", 4, S(2, 1, 3, 3));
  hlo_value *scale = hlo_parameter(b, "scale", "f32", 1, S(2)), *dense = hlo_parameter(b, "dense", "f32", 2, S(3, 2));
  hlo_conv2d_options same = {.padding = {1, 1}};
  hlo_value *y = hlo_conv2d(x, w, NULL, &same);
  y = hlo_multiply(y, hlo_view(scale, 3, S(2, 1, 1)));
  y = hlo_max_pool2d(hlo_relu(y), 2, 0, 0);
  y = hlo_mean(y, 2, (int[]){2, 3}, 0);
  hlo_executable *e = compile(context, b, hlo_log_softmax(hlo_linear(y, dense, NULL), 1));
  float image[36], ws[18], scales[2] = {1, 0.5f}, ds[6] = {1, 0, 0, 1, -1, 1}, out[3];
  for (int i = 0; i < 36; i++)
    image[i] = (float)((i * 7) % 11) / 10;
  for (int i = 0; i < 18; i++)
    ws[i] = (float)((i * 5) % 7 - 3) / 4;
  call(e, (const void *[]){image, ws, scales, ds}, (void *[]){out});
  show("y", out, 3);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
y -0.7243 -1.1465 -1.6215
*/
