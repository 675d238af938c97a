/* Random numbers: threefry bits as uniform floats, a normal pair by Box and Muller. */
#include "program.h"

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "rng");
  hlo_value *key = hlo_parameter(b, "key", "u64", 1, S(2));
  hlo_value *made = hlo_emit(b, "(u64[2], u32[10000]) rng-bit-generator(%v), algorithm=rng_three_fry", key);
  hlo_value *bits = hlo_right_shift(hlo_element(made, 1), hlo_scalar(b, "u32", 8));
  hlo_value *u = hlo_multiply(hlo_convert(bits, "f32"), hlo_scalar(b, "f32", 1.0 / (1 << 24)));
  hlo_value *r = hlo_sqrt(hlo_multiply(hlo_scalar(b, "f32", -2), hlo_log1p(hlo_negative(hlo_slice(u, 0, 0, 5000)))));
  hlo_value *n = hlo_multiply(r, hlo_cos(hlo_multiply(hlo_slice(u, 0, 5000, 10000), hlo_scalar(b, "f32", 6.283185307179586))));
  hlo_value *out[] = {hlo_element(made, 0), hlo_mean(u, 0, NULL, 0), hlo_mean(n, 0, NULL, 0), hlo_var(n, 0, NULL, 1, 0)};
  hlo_executable *e = compile(context, b, hlo_tuple(b, 4, out));
  const uint64_t k[2] = {1, 2};
  uint64_t next[2];
  float mean, mean_n, var_n;
  call(e, (const void *[]){k}, (void *[]){next, &mean, &mean_n, &var_n});
  printf("key moves: %d\n", next[0] != k[0] || next[1] != k[1]);
  printf("uniform %d, normal %d %d\n", fabsf(mean - 0.5f) < 0.01f, fabsf(mean_n) < 0.03f, fabsf(var_n - 1) < 0.05f);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
key moves: 1
uniform 1, normal 1 1
*/
