/* emit_expr_convert.c - convert and reduce_precision: one rounding from the source, by integer
 * operations where the hardware rounds twice, flushes, or calls a library.
 *
 * Narrow floats are their bits in an integer. They go through f32: decoding is exact; encoding
 * rounds an f32 once. What is wider than f32 is first rounded to f32 by round-to-odd, which keeps a
 * sticky last bit: 24 bits are at least two more than any narrow format has, so that the second
 * rounding gives what a single one would (Boldo and Melquiond, "Emulation of a FMA and correctly
 * rounded sums: proved algorithms using rounding to odd", 2008).
 */
#include "emit.h"

static LLVMTypeRef like(hl_emitter *e, LLVMTypeRef scalar, LLVMValueRef x)
{
  (void)e;
  return hl_llvm_vector(scalar, hl_llvm_lanes(x));
}

static LLVMValueRef int_of(hl_emitter *e, LLVMValueRef x, uint64_t value)
{
  (void)e;
  return hl_llvm_int(LLVMTypeOf(x), value);
}

static LLVMValueRef bits_of(hl_emitter *e, LLVMValueRef x)
{
  return LLVMBuildBitCast(e->l.builder, x, hl_llvm_int_like(&e->l, LLVMTypeOf(x)), "");
}

static LLVMValueRef as_f32(hl_emitter *e, LLVMValueRef bits)
{
  return LLVMBuildBitCast(e->l.builder, bits, like(e, e->l.f32, bits), "");
}

static bool is_narrow(hl_element_type type)
{
  return hl_is_float(type) && type != HL_F32 && type != HL_F64;
}

/* What the format is, read off the conversions in literal.h. */
typedef struct narrow_format {
  int bits, mantissa_bits, bias;
  uint64_t max_bits, nan_bits, overflow_bits;
  bool has_infinity, is_unsigned_zero;
} narrow_format;

static narrow_format format_of(hl_element_type type)
{
  narrow_format f = {.bits = hl_type_bits(type), .mantissa_bits = hl_float_mantissa_bits(type)};
  double infinity = 2 * hl_float_max_finite(HL_F64);
  f.bias = (int)(hl_float_encode(type, 1.0) >> f.mantissa_bits);
  f.max_bits = hl_float_encode(type, hl_float_max_finite(type));
  f.nan_bits = hl_float_nan_bits(type);
  f.overflow_bits = hl_float_encode(type, infinity);
  f.has_infinity = hl_float_has_infinity(type);
  f.is_unsigned_zero = hl_float_encode(type, -0.0) == 0;
  return f;
}

/* 2^exponent as f32 bits, for normal numbers. */
static uint64_t power_bits(int exponent)
{
  return (uint64_t)(exponent + 127) << 23;
}

static LLVMValueRef choose(hl_emitter *e, LLVMIntPredicate predicate, LLVMValueRef x,
                           uint64_t limit, LLVMValueRef yes, LLVMValueRef no)
{
  LLVMValueRef condition = LLVMBuildICmp(e->l.builder, predicate, x, int_of(e, x, limit), "");
  return LLVMBuildSelect(e->l.builder, condition, yes, no, "");
}

/* Powers of two alone: 2^(bits - 127). */
static LLVMValueRef decode_e8m0(hl_emitter *e, LLVMValueRef bits)
{
  LLVMValueRef power = LLVMBuildShl(e->l.builder, bits, int_of(e, bits, 23), "");
  power = choose(e, LLVMIntEQ, bits, 0, int_of(e, bits, 0x400000), power);
  return as_f32(e, choose(e, LLVMIntEQ, bits, 0xff, int_of(e, bits, 0x7fc00000), power));
}

/* Exponent and mantissa moved to where f32 has them are the value over a power of two, subnormals
 * included. */
static LLVMValueRef decode_magnitude(hl_emitter *e, const narrow_format *f, LLVMValueRef magnitude)
{
  LLVMValueRef up = int_of(e, magnitude, (uint64_t)(23 - f->mantissa_bits));
  LLVMValueRef moved = as_f32(e, LLVMBuildShl(e->l.builder, magnitude, up, ""));
  LLVMValueRef scale = hl_llvm_bits(&e->l, LLVMTypeOf(moved), power_bits(127 - f->bias));
  LLVMValueRef value = bits_of(e, LLVMBuildFMul(e->l.builder, moved, scale, ""));
  if (f->max_bits + 1 == UINT64_C(1) << (f->bits - 1))
    return value;
  value = choose(e, LLVMIntUGT, magnitude, f->max_bits, int_of(e, magnitude, 0x7fc00000), value);
  if (!f->has_infinity)
    return value;
  return choose(e, LLVMIntEQ, magnitude, f->overflow_bits, int_of(e, magnitude, 0x7f800000), value);
}

static LLVMValueRef decode_by_bits(hl_emitter *e, hl_element_type type, LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  narrow_format f = format_of(type);
  LLVMValueRef bits = LLVMBuildZExt(b, x, like(e, e->l.i32, x), "");
  if (type == HL_BF16)
    return as_f32(e, LLVMBuildShl(b, bits, int_of(e, bits, 16), ""));
  if (type == HL_F8E8M0FNU)
    return decode_e8m0(e, bits);
  uint64_t sign_bit = UINT64_C(1) << (f.bits - 1);
  LLVMValueRef sign = LLVMBuildAnd(b, bits, int_of(e, bits, sign_bit), "");
  LLVMValueRef magnitude = LLVMBuildAnd(b, bits, int_of(e, bits, sign_bit - 1), "");
  LLVMValueRef value = decode_magnitude(e, &f, magnitude);
  sign = LLVMBuildShl(b, sign, int_of(e, bits, (uint64_t)(32 - f.bits)), "");
  value = LLVMBuildOr(b, value, sign, "");
  if (f.is_unsigned_zero)
    value = choose(e, LLVMIntEQ, bits, f.nan_bits, int_of(e, bits, 0x7fc00000), value);
  return as_f32(e, value);
}

static LLVMTypeRef half_like(hl_emitter *e, LLVMValueRef x)
{
  return like(e, LLVMHalfTypeInContext(e->l.context), x);
}

/* A narrow float as f32: exact. The fence keeps LLVM from comparing and selecting halves in place
 * of the numbers in f32: for a maximum of halves it would call fmaxf. */
static LLVMValueRef decode(hl_emitter *e, hl_element_type type, LLVMValueRef x)
{
  if (type != HL_F16 || !e->features->has_f16c)
    return decode_by_bits(e, type, x);
  LLVMValueRef half = LLVMBuildBitCast(e->l.builder, x, half_like(e, x), "");
  LLVMValueRef wide = LLVMBuildFPExt(e->l.builder, half, like(e, e->l.f32, x), "");
  return hl_llvm_call1(&e->l, "llvm.arithmetic.fence", wide);
}

/* Half way goes up; what lies below all values becomes the least of them, but zero is NaN. */
static LLVMValueRef encode_e8m0(hl_emitter *e, LLVMValueRef bits)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef nan = int_of(e, bits, 0xff);
  LLVMValueRef rounded = LLVMBuildAdd(b, bits, int_of(e, bits, 0x400000), "");
  LLVMValueRef normal = LLVMBuildLShr(b, rounded, int_of(e, bits, 23), "");
  LLVMValueRef low = choose(e, LLVMIntUGE, bits, 0x600000, int_of(e, bits, 1), int_of(e, bits, 0));
  low = choose(e, LLVMIntEQ, bits, 0, nan, low);
  LLVMValueRef value = choose(e, LLVMIntULT, bits, 0x800000, low, normal);
  return choose(e, LLVMIntUGE, bits, 0x7f800000, nan, value);
}

/* Round to nearest even at the bit where the format ends: adding just less than half of it, and its
 * own last bit, carries right. */
static LLVMValueRef round_at(hl_emitter *e, LLVMValueRef bits, int shift)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef last = LLVMBuildLShr(b, bits, int_of(e, bits, (uint64_t)shift), "");
  last = LLVMBuildAnd(b, last, int_of(e, bits, 1), "");
  LLVMValueRef half = int_of(e, bits, (UINT64_C(1) << (shift - 1)) - 1);
  return LLVMBuildAdd(b, LLVMBuildAdd(b, bits, half, ""), last, "");
}

/* Below the least normal number the sum with a power of two rounds at the format's last place. */
static LLVMValueRef encode_subnormal(hl_emitter *e, const narrow_format *f, LLVMValueRef magnitude)
{
  uint64_t power = power_bits(1 - f->bias - f->mantissa_bits + 23);
  LLVMTypeRef type = like(e, e->l.f32, magnitude);
  LLVMValueRef sum =
      LLVMBuildFAdd(e->l.builder, as_f32(e, magnitude), hl_llvm_bits(&e->l, type, power), "");
  return LLVMBuildSub(e->l.builder, bits_of(e, sum), int_of(e, magnitude, power), "");
}

static LLVMValueRef encode_magnitude(hl_emitter *e, const narrow_format *f, LLVMValueRef magnitude)
{
  LLVMBuilderRef b = e->l.builder;
  int shift = 23 - f->mantissa_bits;
  uint64_t rebias = (uint64_t)(127 - f->bias) << f->mantissa_bits;
  LLVMValueRef value =
      LLVMBuildLShr(b, round_at(e, magnitude, shift), int_of(e, magnitude, (uint64_t)shift), "");
  value = LLVMBuildSub(b, value, int_of(e, magnitude, rebias), "");
  value = choose(e, LLVMIntULT, magnitude, power_bits(1 - f->bias),
                 encode_subnormal(e, f, magnitude), value);
  return choose(e, LLVMIntSGT, value, f->max_bits, int_of(e, value, f->overflow_bits), value);
}

/* The canonical NaN has no sign; neither has zero where minus zero is the NaN. */
static LLVMValueRef encode_by_bits(hl_emitter *e, hl_element_type type, LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  narrow_format f = format_of(type);
  LLVMTypeRef to =
      like(e, LLVMIntTypeInContext(e->l.context, 8u * (unsigned)hl_type_bytes(type)), x);
  LLVMValueRef bits = bits_of(e, x);
  if (type == HL_F8E8M0FNU)
    return LLVMBuildTrunc(b, encode_e8m0(e, bits), to, "");
  LLVMValueRef magnitude = LLVMBuildAnd(b, bits, int_of(e, bits, 0x7fffffff), "");
  LLVMValueRef value = encode_magnitude(e, &f, magnitude);
  LLVMValueRef sign = LLVMBuildLShr(b, bits, int_of(e, bits, 31), "");
  sign = LLVMBuildShl(b, sign, int_of(e, bits, (uint64_t)(f.bits - 1)), "");
  LLVMValueRef with_sign = LLVMBuildOr(b, value, sign, "");
  if (f.is_unsigned_zero)
    with_sign = choose(e, LLVMIntEQ, value, 0, value, with_sign);
  if (f.overflow_bits == f.nan_bits)
    with_sign = choose(e, LLVMIntEQ, value, f.nan_bits, value, with_sign);
  with_sign = choose(e, LLVMIntUGT, magnitude, 0x7f800000, int_of(e, value, f.nan_bits), with_sign);
  return LLVMBuildTrunc(b, with_sign, to, "");
}

/* bf16 is the upper half of an f32. */
static LLVMValueRef encode_bf16(hl_emitter *e, LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef bits = bits_of(e, x);
  LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, x, x, "");
  LLVMValueRef rounded = LLVMBuildLShr(b, round_at(e, bits, 16), int_of(e, bits, 16), "");
  LLVMValueRef value = LLVMBuildSelect(b, is_nan, int_of(e, bits, 0x7fc0), rounded, "");
  return LLVMBuildTrunc(b, value, like(e, e->l.i16, x), "");
}

static LLVMValueRef encode_f16(hl_emitter *e, LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef half = LLVMBuildFPTrunc(b, x, half_like(e, x), "");
  LLVMValueRef bits = LLVMBuildBitCast(b, half, like(e, e->l.i16, x), "");
  LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, x, x, "");
  return LLVMBuildSelect(b, is_nan, int_of(e, bits, 0x7e00), bits, "");
}

/* An f32 as a narrow float, rounded once; NaN is canonical. */
static LLVMValueRef encode(hl_emitter *e, hl_element_type type, LLVMValueRef x)
{
  if (type == HL_BF16)
    return encode_bf16(e, x);
  if (type == HL_F16 && e->features->has_f16c)
    return encode_f16(e, x);
  return encode_by_bits(e, type, x);
}

/* f64 to f32 by truncation, with the last bit set where something was cut off. NaN stays NaN. */
static LLVMValueRef round_to_odd(hl_emitter *e, LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef near = LLVMBuildFPTrunc(b, x, like(e, e->l.f32, x), "");
  LLVMValueRef back = LLVMBuildFPExt(b, near, LLVMTypeOf(x), "");
  LLVMValueRef bits = bits_of(e, near);
  LLVMValueRef is_above = LLVMBuildFCmp(b, LLVMRealOGT, hl_llvm_call1(&e->l, "llvm.fabs", back),
                                        hl_llvm_call1(&e->l, "llvm.fabs", x), "");
  LLVMValueRef cut = LLVMBuildSub(b, bits, LLVMBuildZExt(b, is_above, LLVMTypeOf(bits), ""), "");
  LLVMValueRef is_inexact = LLVMBuildFCmp(b, LLVMRealONE, back, x, "");
  LLVMValueRef sticky = LLVMBuildZExt(b, is_inexact, LLVMTypeOf(bits), "");
  return as_f32(e, LLVMBuildOr(b, cut, sticky, ""));
}

static LLVMValueRef int_to_float(hl_emitter *e, bool is_signed, LLVMValueRef x, LLVMTypeRef to)
{
  return is_signed ? LLVMBuildSIToFP(e->l.builder, x, to, "")
                   : LLVMBuildUIToFP(e->l.builder, x, to, "");
}

/* 64 bits do not fit f64's 53: the low twelve of large numbers become one sticky bit, far below any
 * narrow type's last place. */
static LLVMValueRef fold_sticky(hl_emitter *e, bool is_signed, LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef low = LLVMBuildAnd(b, x, int_of(e, x, 0xfff), "");
  LLVMValueRef has_low = LLVMBuildICmp(b, LLVMIntNE, low, int_of(e, x, 0), "");
  LLVMValueRef sticky = LLVMBuildZExt(b, has_low, LLVMTypeOf(x), "");
  LLVMValueRef high = LLVMBuildOr(b, LLVMBuildAnd(b, x, int_of(e, x, ~UINT64_C(0xfff)), ""),
                                  LLVMBuildShl(b, sticky, int_of(e, x, 11), ""), "");
  LLVMValueRef large = int_of(e, x, UINT64_C(1) << 52);
  LLVMValueRef magnitude = is_signed ? hl_emit_int_op(e, HL_LOOP_ABS, true, &x) : x;
  LLVMValueRef is_large = LLVMBuildICmp(b, LLVMIntUGE, magnitude, large, "");
  return LLVMBuildSelect(b, is_large, high, x, "");
}

/* LLVM 19 converts vectors of 64 bits to f32 by way of f64 on AArch64, and rounds twice. */
static LLVMValueRef int_to_f32(hl_emitter *e, bool is_signed, LLVMValueRef x)
{
  LLVMTypeRef f32 = like(e, e->l.f32, x);
  if (!e->features->has_neon || hl_llvm_lanes(x) == 1 || hl_llvm_scalar_bits(LLVMTypeOf(x)) < 64)
    return int_to_float(e, is_signed, x, f32);
  LLVMValueRef exact = int_to_float(e, is_signed, fold_sticky(e, is_signed, x), like(e, e->l.f64, x));
  return LLVMBuildFPTrunc(e->l.builder, exact, f32, "");
}

static LLVMValueRef int_to_narrow(hl_emitter *e, hl_element_type to, bool is_signed, LLVMValueRef x)
{
  int bits = hl_llvm_scalar_bits(LLVMTypeOf(x));
  if (bits <= 16)
    return encode(e, to, int_to_float(e, is_signed, x, like(e, e->l.f32, x)));
  LLVMValueRef whole = bits == 64 ? fold_sticky(e, is_signed, x) : x;
  return encode(e, to, round_to_odd(e, int_to_float(e, is_signed, whole, like(e, e->l.f64, x))));
}

/* Types of 1, 2 and 4 bits live extended in a byte. */
static LLVMValueRef wrap_small(hl_emitter *e, hl_element_type type, LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  if (type == HL_PRED || hl_type_bits(type) >= 8)
    return x;
  LLVMValueRef up = int_of(e, x, (uint64_t)(8 - hl_type_bits(type)));
  LLVMValueRef high = LLVMBuildShl(b, x, up, "");
  return hl_type_class_of(type) == HL_CLASS_SIGNED ? LLVMBuildAShr(b, high, up, "")
                                                   : LLVMBuildLShr(b, high, up, "");
}

static LLVMValueRef int_to_int(hl_emitter *e, bool is_signed, hl_element_type to, LLVMValueRef x)
{
  LLVMTypeRef type = hl_llvm_type(&e->l, to, hl_llvm_lanes(x));
  int from_bits = hl_llvm_scalar_bits(LLVMTypeOf(x)), to_bits = hl_llvm_scalar_bits(type);
  LLVMValueRef result = from_bits > to_bits    ? LLVMBuildTrunc(e->l.builder, x, type, "")
                        : from_bits == to_bits ? x
                        : is_signed            ? LLVMBuildSExt(e->l.builder, x, type, "")
                                               : LLVMBuildZExt(e->l.builder, x, type, "");
  return wrap_small(e, to, result);
}

/* Saturates at the type's own width; NaN gives 0. */
static LLVMValueRef float_to_int(hl_emitter *e, hl_element_type to, LLVMValueRef x)
{
  bool is_signed = hl_type_class_of(to) == HL_CLASS_SIGNED;
  LLVMTypeRef exact = LLVMIntTypeInContext(e->l.context, (unsigned)hl_type_bits(to));
  LLVMTypeRef types[2] = {like(e, exact, x), LLVMTypeOf(x)};
  const char *name = is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
  LLVMValueRef value = hl_llvm_intrinsic(&e->l, name, types, 2, &x, 1);
  LLVMTypeRef stored = hl_llvm_type(&e->l, to, hl_llvm_lanes(x));
  if (stored == types[0])
    return value;
  return is_signed ? LLVMBuildSExt(e->l.builder, value, stored, "")
                   : LLVMBuildZExt(e->l.builder, value, stored, "");
}

static LLVMValueRef float_to_float(hl_emitter *e, hl_element_type to, LLVMValueRef x)
{
  bool is_double = hl_llvm_scalar_bits(LLVMTypeOf(x)) == 64;
  LLVMTypeRef type = hl_llvm_type(&e->l, to, hl_llvm_lanes(x));
  if (is_narrow(to))
    return encode(e, to, is_double ? round_to_odd(e, x) : x);
  if (LLVMTypeOf(x) == type)
    return x;
  return is_double ? LLVMBuildFPTrunc(e->l.builder, x, type, "")
                   : LLVMBuildFPExt(e->l.builder, x, type, "");
}

static LLVMValueRef to_pred(hl_emitter *e, LLVMValueRef x, bool is_float)
{
  LLVMTypeRef type = LLVMTypeOf(x);
  return is_float ? LLVMBuildFCmp(e->l.builder, LLVMRealUNE, x, hl_llvm_float(type, 0), "")
                  : LLVMBuildICmp(e->l.builder, LLVMIntNE, x, LLVMConstNull(type), "");
}

static LLVMValueRef pred_to_float(hl_emitter *e, hl_element_type to, LLVMValueRef x)
{
  LLVMTypeRef type = hl_llvm_type(&e->l, to, hl_llvm_lanes(x));
  return LLVMBuildSelect(e->l.builder, x, hl_llvm_bits(&e->l, type, hl_float_encode(to, 1)),
                         hl_llvm_bits(&e->l, type, hl_float_encode(to, 0)), "");
}

LLVMValueRef hl_emit_convert(hl_emitter *e, hl_element_type from, hl_element_type to,
                             LLVMValueRef x)
{
  if (from == to)
    return x;
  LLVMValueRef value = is_narrow(from) ? decode(e, from, x) : x;
  bool is_signed = hl_type_class_of(from) == HL_CLASS_SIGNED;
  if (hl_is_float(from)) {
    if (to == HL_PRED)
      return to_pred(e, value, true);
    return hl_is_float(to) ? float_to_float(e, to, value) : float_to_int(e, to, value);
  }
  if (to == HL_PRED)
    return to_pred(e, value, false);
  if (!hl_is_float(to))
    return int_to_int(e, is_signed, to, value);
  if (from == HL_PRED)
    return pred_to_float(e, to, value);
  if (is_narrow(to))
    return int_to_narrow(e, to, is_signed, value);
  if (to == HL_F32)
    return int_to_f32(e, is_signed, value);
  return int_to_float(e, is_signed, value, hl_llvm_type(&e->l, to, hl_llvm_lanes(x)));
}

/* Too large: infinity; below the least normal number of so many exponent bits: zero. */
static LLVMValueRef limit_exponent(hl_emitter *e, int exponent_bits, int stored_mantissa, int bias,
                                   LLVMValueRef magnitude)
{
  int largest = (1 << (exponent_bits - 1)) - 1;
  uint64_t infinity = (uint64_t)(2 * bias + 1) << stored_mantissa;
  uint64_t top = (uint64_t)(largest + 1 + bias) << stored_mantissa;
  uint64_t bottom = (uint64_t)(1 - largest + bias) << stored_mantissa;
  LLVMValueRef value =
      choose(e, LLVMIntUGE, magnitude, top, int_of(e, magnitude, infinity), magnitude);
  return choose(e, LLVMIntULT, magnitude, bottom, int_of(e, magnitude, 0), value);
}

static LLVMValueRef reduce_bits(hl_emitter *e, int exponent_bits, int mantissa_bits, LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  bool is_double = hl_llvm_scalar_bits(LLVMTypeOf(x)) == 64;
  int stored = is_double ? 52 : 23, bias = is_double ? 1023 : 127, width = is_double ? 64 : 32;
  uint64_t sign_bit = UINT64_C(1) << (width - 1);
  LLVMValueRef bits = bits_of(e, x);
  LLVMValueRef sign = LLVMBuildAnd(b, bits, int_of(e, bits, sign_bit), "");
  LLVMValueRef value = LLVMBuildAnd(b, bits, int_of(e, bits, sign_bit - 1), "");
  if (mantissa_bits < stored) {
    int shift = stored - mantissa_bits;
    uint64_t keep = ~((UINT64_C(1) << shift) - 1);
    value = LLVMBuildAnd(b, round_at(e, value, shift), int_of(e, bits, keep), "");
  }
  if (exponent_bits < (is_double ? 11 : 8))
    value = limit_exponent(e, exponent_bits, stored, bias, value);
  LLVMValueRef result = LLVMBuildBitCast(b, LLVMBuildOr(b, value, sign, ""), LLVMTypeOf(x), "");
  uint64_t nan = is_double ? UINT64_C(0x7ff8000000000000) : 0x7fc00000;
  LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, x, x, "");
  return LLVMBuildSelect(b, is_nan, hl_llvm_bits(&e->l, LLVMTypeOf(x), nan), result, "");
}

LLVMValueRef hl_emit_precision(hl_emitter *e, hl_element_type type, int exponent_bits,
                               int mantissa_bits, LLVMValueRef x)
{
  if (!is_narrow(type))
    return reduce_bits(e, exponent_bits, mantissa_bits, x);
  return encode(e, type, reduce_bits(e, exponent_bits, mantissa_bits, decode(e, type, x)));
}
