/* emit_dot4.c - sums of four products of bytes: those of x are unsigned, those of y signed.
 *
 * VNNI has an instruction for it. Pairs: the bytes of even and of odd places as halves of words,
 * which AVX2 multiplies and adds by twos.
 */
#include "emit.h"

static LLVMValueRef with_vnni(hl_emitter *e, LLVMValueRef sum, LLVMValueRef x, LLVMValueRef y)
{
  LLVMValueRef args[3] = {sum, x, y};
  return hl_llvm_intrinsic(&e->l, "llvm.x86.avx512.vpdpbusd.512", NULL, 0, args, 3);
}

/* Byte `place` of each lane. */
static LLVMValueRef byte_at(hl_emitter *e, LLVMValueRef x, int place, bool is_signed)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef up = LLVMBuildShl(b, x, hl_llvm_int(type, (uint64_t)(24 - 8 * place)), "");
  LLVMValueRef top = hl_llvm_int(type, 24);
  return is_signed ? LLVMBuildAShr(b, up, top, "") : LLVMBuildLShr(b, up, top, "");
}

static LLVMValueRef one_by_one(hl_emitter *e, LLVMValueRef sum, LLVMValueRef x, LLVMValueRef y)
{
  LLVMBuilderRef b = e->l.builder;
  for (int place = 0; place < 4; place++) {
    LLVMValueRef l = byte_at(e, x, place, false), r = byte_at(e, y, place, true);
    sum = LLVMBuildAdd(b, sum, LLVMBuildMul(b, l, r, ""), "");
  }
  return sum;
}

/* The even or the odd bytes of x as words. */
static LLVMValueRef halves(hl_emitter *e, LLVMValueRef x, bool is_odd, bool is_signed)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef type = hl_llvm_vector(e->l.i16, 2 * hl_llvm_lanes(x));
  LLVMValueRef words = LLVMBuildBitCast(b, x, type, ""), eight = hl_llvm_int(type, 8);
  if (!is_signed)
    return is_odd ? LLVMBuildLShr(b, words, eight, "")
                  : LLVMBuildAnd(b, words, hl_llvm_int(type, 255), "");
  if (!is_odd)
    words = LLVMBuildShl(b, words, eight, "");
  return LLVMBuildAShr(b, words, eight, "");
}

static LLVMValueRef by_pairs(hl_emitter *e, LLVMValueRef sum, LLVMValueRef x, LLVMValueRef y)
{
  const char *name =
      hl_llvm_lanes(x) == 16 ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd";
  for (int odd = 0; odd < 2; odd++) {
    LLVMValueRef args[2] = {halves(e, x, odd, false), halves(e, y, odd, true)};
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
