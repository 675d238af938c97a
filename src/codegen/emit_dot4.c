/* emit_dot4.c - sums of four products of bytes.
 *
 * VNNI multiplies unsigned by signed bytes: x + 128 is unsigned, and 128 times the sum of y's bytes
 * is taken off again. Pairs: the bytes of even and of odd places as halves of words, which AVX2
 * multiplies and adds by twos. Both are exact.
 */
#include "emit.h"

static LLVMValueRef splat(hl_emitter *e, uint64_t value, int lanes)
{
  return hl_llvm_int(hl_llvm_vector(e->l.i32, lanes), value);
}

static LLVMValueRef multiply_bytes(hl_emitter *e, LLVMValueRef sum, LLVMValueRef x, LLVMValueRef y)
{
  LLVMValueRef args[3] = {sum, x, y};
  return hl_llvm_intrinsic(&e->l, "llvm.x86.avx512.vpdpbusd.512", NULL, 0, args, 3);
}

static LLVMValueRef with_vnni(hl_emitter *e, LLVMValueRef sum, LLVMValueRef x, LLVMValueRef y)
{
  enum { LANES = 16 };
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef bytes = multiply_bytes(e, splat(e, 0, LANES), splat(e, 0x01010101, LANES), y);
  LLVMValueRef excess = LLVMBuildShl(b, bytes, splat(e, 7, LANES), "");
  LLVMValueRef shifted = LLVMBuildXor(b, x, splat(e, 0x80808080, LANES), "");
  return multiply_bytes(e, LLVMBuildSub(b, sum, excess, ""), shifted, y);
}

/* Byte `place` of each lane, with its sign. */
static LLVMValueRef byte_at(hl_emitter *e, LLVMValueRef x, int place)
{
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef up =
      LLVMBuildShl(e->l.builder, x, hl_llvm_int(type, (uint64_t)(24 - 8 * place)), "");
  return LLVMBuildAShr(e->l.builder, up, hl_llvm_int(type, 24), "");
}

static LLVMValueRef one_by_one(hl_emitter *e, LLVMValueRef sum, LLVMValueRef x, LLVMValueRef y)
{
  LLVMBuilderRef b = e->l.builder;
  for (int place = 0; place < 4; place++)
    sum = LLVMBuildAdd(b, sum, LLVMBuildMul(b, byte_at(e, x, place), byte_at(e, y, place), ""), "");
  return sum;
}

/* The even or the odd bytes of x as s16. */
static LLVMValueRef halves(hl_emitter *e, LLVMValueRef x, bool is_odd)
{
  LLVMTypeRef type = hl_llvm_vector(e->l.i16, 2 * hl_llvm_lanes(x));
  LLVMValueRef words = LLVMBuildBitCast(e->l.builder, x, type, ""), eight = hl_llvm_int(type, 8);
  if (!is_odd)
    words = LLVMBuildShl(e->l.builder, words, eight, "");
  return LLVMBuildAShr(e->l.builder, words, eight, "");
}

static LLVMValueRef by_pairs(hl_emitter *e, LLVMValueRef sum, LLVMValueRef x, LLVMValueRef y)
{
  const char *name =
      hl_llvm_lanes(x) == 16 ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd";
  for (int odd = 0; odd < 2; odd++) {
    LLVMValueRef args[2] = {halves(e, x, odd), halves(e, y, odd)};
    sum = LLVMBuildAdd(e->l.builder, sum, hl_llvm_intrinsic(&e->l, name, NULL, 0, args, 2), "");
  }
  return sum;
}

/* Halves until one register holds the lanes. */
LLVMValueRef hl_emit_dot4(hl_emitter *e, LLVMValueRef sum, LLVMValueRef x, LLVMValueRef y)
{
  const hl_llvm *l = &e->l;
  int lanes = e->features->has_avx512 ? 16
              : e->features->has_avx2 ? 8
                                      : 0,
      n = hl_llvm_lanes(x), half = n / 2;
  if (!lanes || n % lanes)
    return one_by_one(e, sum, x, y);
  if (n == lanes)
    return e->features->has_vnni ? with_vnni(e, sum, x, y) : by_pairs(e, sum, x, y);
  LLVMValueRef low = hl_emit_dot4(e, hl_llvm_slice(l, sum, 0, half), hl_llvm_slice(l, x, 0, half),
                                  hl_llvm_slice(l, y, 0, half));
  LLVMValueRef high =
      hl_emit_dot4(e, hl_llvm_slice(l, sum, half, half), hl_llvm_slice(l, x, half, half),
                   hl_llvm_slice(l, y, half, half));
  return hl_llvm_concat(l, low, high);
}
