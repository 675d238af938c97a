/* Small types: a product of s8 in s32, scaled back; and bf16 in, f32 inside, bf16 out. */
#include "program.h"

static uint16_t to_bf16(float x)
{
  uint32_t u;
  memcpy(&u, &x, 4);
  return (uint16_t)(u >> 16);
}
static float from_bf16(uint16_t h)
{
  uint32_t u = (uint32_t)h << 16;
  float x;
  memcpy(&x, &u, 4);
  return x;
}

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "quant");
  hlo_value *a = hlo_parameter(b, "a", "s8", 2, S(2, 4)), *w = hlo_parameter(b, "w", "s8", 2, S(4, 2)),
            *h = hlo_parameter(b, "h", "bf16", 1, S(3));
  hlo_value *acc = hlo_emit(b, "s32[2,2] dot(%v, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}", a, w);
  hlo_value *scaled = hlo_multiply(hlo_convert(acc, "f32"), hlo_scalar(b, "f32", 0.05));
  hlo_value *q = hlo_convert(hlo_clip(hlo_round(scaled), hlo_scalar(b, "f32", -128), hlo_scalar(b, "f32", 127)), "s8");
  hlo_value *g = hlo_convert(hlo_gelu(hlo_convert(h, "f32"), 1), "bf16");
  hlo_value *out[] = {acc, q, g, hlo_softmax(h, 0)};
  hlo_executable *e = compile(context, b, hlo_tuple(b, 4, out));
  const int8_t as[] = {100, -100, 50, 1, 127, 127, 127, 127}, ws[] = {100, 1, -100, 2, 50, 3, 1, 4};
  const uint16_t hs[] = {to_bf16(-1), to_bf16(0.5f), to_bf16(2)};
  int32_t acc_[4];
  int8_t q_[4];
  uint16_t g_[3], s_[3];
  call(e, (const void *[]){as, ws, hs}, (void *[]){acc_, q_, g_, s_});
  printf("acc %d %d %d %d\nq %d %d %d %d\n", acc_[0], acc_[1], acc_[2], acc_[3], q_[0], q_[1], q_[2], q_[3]);
  float f[3], s[3];
  for (int i = 0; i < 3; i++) {
    f[i] = from_bf16(g_[i]);
    s[i] = from_bf16(s_[i]);
  }
  show("gelu", f, 3);
  show("softmax", s, 3);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
acc 22501 54 6477 1270
q 127 3 127 64
gelu -0.1582 0.3457 1.9531
softmax 0.0391 0.1748 0.7852
*/
