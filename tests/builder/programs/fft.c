/* The power spectrum of a real signal, and the way back. */
#include "program.h"

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "fft");
  hlo_value *x = hlo_parameter(b, "x", "f32", 1, S(8));
  hlo_value *f = hlo_emit(b, "fft(%v), fft_type=RFFT, fft_length={8}", x);
  hlo_value *power = hlo_square(hlo_abs(f));
  hlo_value *back = hlo_emit(b, "fft(%v), fft_type=IRFFT, fft_length={8}", f);
  hlo_value *out[] = {power, back, f};
  hlo_executable *e = compile(context, b, hlo_tuple(b, 3, out));
  float xs[8], p[5], back_[8], spectrum[5][2];
  for (int i = 0; i < 8; i++)
    xs[i] = cosf(2 * 3.14159265f * (float)i / 8) + 0.5f * (float)(i % 2);
  call(e, (const void *[]){xs}, (void *[]){p, back_, spectrum});
  show("power", p, 5);
  float off = 0;
  for (int i = 0; i < 8; i++)
    off = fmaxf(off, fabsf(back_[i] - xs[i]));
  printf("back %s, f[1].re %.3f\n", off < 1e-6f ? "equal" : "different", (double)spectrum[1][0]);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
power 4.0000 16.0000 0.0000 0.0000 4.0000
back equal, f[1].re 4.000
*/
