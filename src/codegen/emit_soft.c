/* emit_soft.c - exact functions in place of intrinsics that the target has no instruction for and
 * would call a library for.
 *
 * They are functions of the module, made when the first call is met; after emission every call is
 * replaced, so that nobody else needs to know. Vectors are taken apart where the function has
 * integers of 128 bits or a loop.
 *
 *   fma f32    the product is exact in f64; the sum is rounded to odd there and then to f32
 *   fma f64    integers: product and addend aligned in 128 bits with a sticky bit, added, rounded
 * once sqrt       f64: digit by digit, 54 bits and a sticky one; f32: rounding f64's is the same
 * (Figueroa 1995) floor, ceil, roundeven    |x| + 2^52 - 2^52 rounds to nearest even
 */
#include "emit.h"

#include <string.h>

static LLVMValueRef i64_of(hl_emitter *e, uint64_t value)
{
  return LLVMConstInt(e->l.i64, value, 0);
}

static LLVMValueRef compare(hl_emitter *e, LLVMIntPredicate predicate, LLVMValueRef x,
                            LLVMValueRef y)
{
  return LLVMBuildICmp(e->l.builder, predicate, x, y, "");
}

static LLVMValueRef choose(hl_emitter *e, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no)
{
  return LLVMBuildSelect(e->l.builder, condition, yes, no, "");
}

static LLVMTypeRef double_like(hl_emitter *e, LLVMValueRef x)
{
  return hl_llvm_vector(e->l.f64, hl_llvm_lanes(x));
}

/* s = p + c rounded to nearest, and its exact error by Knuth's two-sum; where the error is not 0
 * and s is even, the odd neighbour on the error's side is p + c rounded to odd. */
static LLVMValueRef sum_to_odd(hl_emitter *e, LLVMValueRef p, LLVMValueRef c)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef type = LLVMTypeOf(p), integer = hl_llvm_int_like(&e->l, type);
  LLVMValueRef s = LLVMBuildFAdd(b, p, c, ""), back = LLVMBuildFSub(b, s, p, "");
  LLVMValueRef lost = LLVMBuildFSub(b, p, LLVMBuildFSub(b, s, back, ""), "");
  LLVMValueRef error = LLVMBuildFAdd(b, lost, LLVMBuildFSub(b, c, back, ""), "");
  LLVMValueRef zero = LLVMConstNull(type), one = hl_llvm_int(integer, 1);
  LLVMValueRef is_inexact = LLVMBuildFCmp(b, LLVMRealONE, error, zero, "");
  LLVMValueRef grows = LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildFCmp(b, LLVMRealOGT, error, zero, ""),
                                     LLVMBuildFCmp(b, LLVMRealOGT, s, zero, ""), "");
  LLVMValueRef bits = LLVMBuildBitCast(b, s, integer, "");
  LLVMValueRef odd =
      LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, bits, one, ""), LLVMConstNull(integer), "");
  LLVMValueRef moved =
      choose(e, grows, LLVMBuildAdd(b, bits, one, ""), LLVMBuildSub(b, bits, one, ""));
  LLVMValueRef moves = LLVMBuildAnd(b, is_inexact, LLVMBuildNot(b, odd, ""), "");
  return LLVMBuildBitCast(b, choose(e, moves, moved, bits), type, "");
}

static LLVMValueRef fma_f32(hl_emitter *e, const LLVMValueRef *args)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef wide[3];
  for (int i = 0; i < 3; i++)
    wide[i] = LLVMBuildFPExt(b, args[i], double_like(e, args[i]), "");
  LLVMValueRef sum = sum_to_odd(e, LLVMBuildFMul(b, wide[0], wide[1], ""), wide[2]);
  return LLVMBuildFPTrunc(b, sum, LLVMTypeOf(args[0]), "");
}

/* A finite f64 that is not 0 as mantissa * 2^exponent, the mantissa's leading bit at 52. */
typedef struct parts {
  LLVMValueRef sign, mantissa, exponent; /* i64; sign: the bit in its place */
} parts;

static parts take_apart(hl_emitter *e, LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef bits = LLVMBuildBitCast(b, x, e->l.i64, "");
  LLVMValueRef field =
      LLVMBuildAnd(b, LLVMBuildLShr(b, bits, i64_of(e, 52), ""), i64_of(e, 0x7ff), "");
  LLVMValueRef fraction = LLVMBuildAnd(b, bits, i64_of(e, (UINT64_C(1) << 52) - 1), "");
  LLVMValueRef is_normal = compare(e, LLVMIntNE, field, i64_of(e, 0));
  LLVMTypeRef type = e->l.i64;
  LLVMValueRef zeros = hl_llvm_intrinsic(&e->l, "llvm.ctlz", &type, 1,
                                         (LLVMValueRef[]){fraction, hl_llvm_int(e->l.i1, 0)}, 2);
  LLVMValueRef up = LLVMBuildAnd(b, LLVMBuildSub(b, zeros, i64_of(e, 11), ""), i64_of(e, 63), "");
  LLVMValueRef hidden = LLVMBuildOr(b, fraction, i64_of(e, UINT64_C(1) << 52), "");
  return (parts){
      .sign = LLVMBuildAnd(b, bits, i64_of(e, UINT64_C(1) << 63), ""),
      .mantissa = choose(e, is_normal, hidden, LLVMBuildShl(b, fraction, up, "")),
      .exponent = choose(e, is_normal, LLVMBuildSub(b, field, i64_of(e, 1075), ""),
                         LLVMBuildSub(b, i64_of(e, (uint64_t)-1074), up, "")),
  };
}

/* x >> by, the bits that fall out joined into the last; `by` may be any number from 0 on. */
static LLVMValueRef shift_sticky(hl_emitter *e, LLVMValueRef x, LLVMValueRef by)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef type = LLVMTypeOf(x);
  int last = hl_llvm_scalar_bits(type) - 1;
  LLVMValueRef near = hl_llvm_call2(&e->l, "llvm.umin", by, i64_of(e, (uint64_t)last));
  LLVMValueRef amount = type == e->l.i64 ? near : LLVMBuildZExt(b, near, type, "");
  LLVMValueRef moved = LLVMBuildLShr(b, x, amount, "");
  LLVMValueRef lost = compare(e, LLVMIntNE, LLVMBuildShl(b, moved, amount, ""), x);
  return LLVMBuildOr(b, moved, LLVMBuildZExt(b, lost, type, ""), "");
}

/* mantissa (leading bit 63, sticky bit 0) * 2^exponent, rounded to nearest even with gradual
 * underflow. */
static LLVMValueRef round_pack(hl_emitter *e, LLVMValueRef sign, LLVMValueRef mantissa,
                               LLVMValueRef exponent)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef biased = LLVMBuildAdd(b, exponent, i64_of(e, 63 + 1023), ""), zero = i64_of(e, 0);
  LLVMValueRef below =
      hl_llvm_call2(&e->l, "llvm.smax", LLVMBuildSub(b, i64_of(e, 1), biased, ""), zero);
  LLVMValueRef m = shift_sticky(e, mantissa, below);
  LLVMValueRef field =
      hl_llvm_call2(&e->l, "llvm.smax", LLVMBuildSub(b, biased, i64_of(e, 1), ""), zero);
  field = hl_llvm_call2(&e->l, "llvm.smin", field, i64_of(e, 2047));
  LLVMValueRef kept = LLVMBuildLShr(b, m, i64_of(e, 11), "");
  LLVMValueRef last = LLVMBuildAnd(b, kept, i64_of(e, 1), "");
  LLVMValueRef rest = LLVMBuildAnd(b, m, i64_of(e, 0x7ff), "");
  LLVMValueRef carry = LLVMBuildLShr(
      b, LLVMBuildAdd(b, LLVMBuildAdd(b, rest, last, ""), i64_of(e, 0x3ff), ""), i64_of(e, 11), "");
  LLVMValueRef bits = LLVMBuildAdd(b, LLVMBuildShl(b, field, i64_of(e, 52), ""), kept, "");
  bits = LLVMBuildAdd(b, bits, carry, "");
  bits = hl_llvm_call2(&e->l, "llvm.umin", bits, i64_of(e, UINT64_C(0x7ff) << 52));
  return LLVMBuildBitCast(b, LLVMBuildOr(b, bits, sign, ""), e->l.f64, "");
}

/* A sum of 128 bits that is not 0: its leading bit to 127, the lower half into a sticky bit. */
static LLVMValueRef round_wide(hl_emitter *e, LLVMValueRef sign, LLVMValueRef sum,
                               LLVMValueRef unit)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef i128 = LLVMTypeOf(sum);
  LLVMValueRef zeros = hl_llvm_intrinsic(&e->l, "llvm.ctlz", &i128, 1,
                                         (LLVMValueRef[]){sum, hl_llvm_int(e->l.i1, 1)}, 2);
  LLVMValueRef top = LLVMBuildShl(b, sum, zeros, "");
  LLVMValueRef high =
      LLVMBuildTrunc(b, LLVMBuildLShr(b, top, LLVMConstInt(i128, 64, 0), ""), e->l.i64, "");
  LLVMValueRef low = LLVMBuildTrunc(b, top, e->l.i64, "");
  LLVMValueRef sticky = LLVMBuildZExt(b, compare(e, LLVMIntNE, low, i64_of(e, 0)), e->l.i64, "");
  LLVMValueRef exponent = LLVMBuildAdd(b, unit, i64_of(e, 64), "");
  exponent = LLVMBuildSub(b, exponent, LLVMBuildTrunc(b, zeros, e->l.i64, ""), "");
  return round_pack(e, sign, LLVMBuildOr(b, high, sticky, ""), exponent);
}

/* Three finite numbers, none of them 0. The product's leading bit stands at 124 or 125, the
 * addend's at 124: room for the carry, and the bits that alignment loses lie far below the result's
 * last place. */
static LLVMValueRef fma_finite(hl_emitter *e, const LLVMValueRef *args)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef i128 = LLVMIntTypeInContext(e->l.context, 128);
  parts x = take_apart(e, args[0]), y = take_apart(e, args[1]), z = take_apart(e, args[2]);
  LLVMValueRef product = LLVMBuildMul(b, LLVMBuildZExt(b, x.mantissa, i128, ""),
                                      LLVMBuildZExt(b, y.mantissa, i128, ""), "");
  product = LLVMBuildShl(b, product, LLVMConstInt(i128, 20, 0), "");
  LLVMValueRef addend =
      LLVMBuildShl(b, LLVMBuildZExt(b, z.mantissa, i128, ""), LLVMConstInt(i128, 72, 0), "");
  LLVMValueRef product_unit =
      LLVMBuildSub(b, LLVMBuildAdd(b, x.exponent, y.exponent, ""), i64_of(e, 20), "");
  LLVMValueRef addend_unit = LLVMBuildSub(b, z.exponent, i64_of(e, 72), "");
  LLVMValueRef unit = hl_llvm_call2(&e->l, "llvm.smax", product_unit, addend_unit);
  product = shift_sticky(e, product, LLVMBuildSub(b, unit, product_unit, ""));
  addend = shift_sticky(e, addend, LLVMBuildSub(b, unit, addend_unit, ""));
  LLVMValueRef sign = LLVMBuildXor(b, x.sign, y.sign, "");
  LLVMValueRef is_sum = compare(e, LLVMIntEQ, sign, z.sign),
               is_less = compare(e, LLVMIntULT, product, addend);
  LLVMValueRef apart = choose(e, is_less, LLVMBuildSub(b, addend, product, ""),
                              LLVMBuildSub(b, product, addend, ""));
  LLVMValueRef total = choose(e, is_sum, LLVMBuildAdd(b, product, addend, ""), apart);
  sign = choose(e, is_less, z.sign, sign);
  LLVMValueRef is_zero = compare(e, LLVMIntEQ, total, LLVMConstNull(i128));
  LLVMValueRef safe = choose(e, is_zero, LLVMConstInt(i128, 1, 0), total);
  return choose(e, is_zero, LLVMConstNull(e->l.f64), round_wide(e, sign, safe, unit));
}

/* Where a factor is 0 or not finite, product and sum are as exact as they get. Else a product + 0 is the product, and what
 * is not finite hides it: the product that rounds to infinity must not meet the other infinity. */
static LLVMValueRef fma_f64(hl_emitter *e, const LLVMValueRef *args)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef zero = LLVMConstNull(e->l.f64),
               infinity = hl_llvm_bits(&e->l, e->l.f64, UINT64_C(0x7ff) << 52);
  LLVMValueRef is_plain = hl_llvm_int(e->l.i1, 1), factors = is_plain;
  for (int i = 0; i < 3; i++) {
    LLVMValueRef magnitude = hl_llvm_call1(&e->l, "llvm.fabs", args[i]);
    LLVMValueRef is_number =
        LLVMBuildAnd(b, LLVMBuildFCmp(b, LLVMRealOGT, magnitude, zero, ""),
                     LLVMBuildFCmp(b, LLVMRealOLT, magnitude, infinity, ""), "");
    is_plain = LLVMBuildAnd(b, is_plain, is_number, "");
    factors = i < 2 ? is_plain : factors;
  }
  hl_llvm_if branch = hl_llvm_if_begin(&e->l, is_plain);
  LLVMValueRef exact = fma_finite(e, args);
  hl_llvm_if_else(&e->l, &branch);
  LLVMValueRef product = LLVMBuildFMul(b, args[0], args[1], "");
  LLVMValueRef adds_zero = LLVMBuildFCmp(b, LLVMRealOEQ, args[2], zero, "");
  LLVMValueRef hidden = choose(e, adds_zero, product, LLVMBuildFAdd(b, args[2], args[2], ""));
  LLVMValueRef special = choose(e, factors, hidden, LLVMBuildFAdd(b, product, args[2], ""));
  LLVMBasicBlockRef from = hl_llvm_here(&e->l);
  hl_llvm_if_end(&e->l, &branch);
  return hl_llvm_phi2(&e->l, exact, branch.then_end, special, from);
}

/* One binary digit of the root each round: two bits of the radicand come down into the remainder.
 */
static void root_digits(hl_emitter *e, LLVMValueRef radicand, LLVMValueRef *root,
                        LLVMValueRef *rest)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef carried[3] = {i64_of(e, 0), i64_of(e, 0),
                             radicand}; /* root, remainder, what is left */
  LLVMValueRef two = i64_of(e, 2), one = i64_of(e, 1);
  hl_llvm_loop loop;
  hl_llvm_loop_begin(&e->l, e->arena, &loop, i64_of(e, 0), i64_of(e, 54), 1, carried, 3);
  LLVMValueRef next = LLVMBuildLShr(b, carried[2], i64_of(e, 62), "");
  LLVMValueRef remainder = LLVMBuildOr(b, LLVMBuildShl(b, carried[1], two, ""), next, "");
  LLVMValueRef trial = LLVMBuildOr(b, LLVMBuildShl(b, carried[0], two, ""), one, "");
  LLVMValueRef fits = compare(e, LLVMIntUGE, remainder, trial);
  LLVMValueRef twice = LLVMBuildShl(b, carried[0], one, "");
  carried[0] = LLVMBuildOr(b, twice, LLVMBuildZExt(b, fits, e->l.i64, ""), "");
  carried[1] = choose(e, fits, LLVMBuildSub(b, remainder, trial, ""), remainder);
  carried[2] = LLVMBuildShl(b, carried[2], two, "");
  hl_llvm_loop_end(&e->l, &loop);
  *root = carried[0];
  *rest = carried[1];
}

/* x = m * 2^n with n even and m of 53 or 54 bits: the root of m * 2^54 has 54 bits. */
static LLVMValueRef sqrt_positive(hl_emitter *e, LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  parts p = take_apart(e, x);
  LLVMValueRef odd = LLVMBuildAnd(b, p.exponent, i64_of(e, 1), ""), root, rest;
  LLVMValueRef even = LLVMBuildSub(b, p.exponent, odd, "");
  LLVMValueRef radicand = LLVMBuildShl(b, LLVMBuildShl(b, p.mantissa, odd, ""), i64_of(e, 10), "");
  root_digits(e, radicand, &root, &rest);
  LLVMValueRef sticky = LLVMBuildZExt(b, compare(e, LLVMIntNE, rest, i64_of(e, 0)), e->l.i64, "");
  LLVMValueRef mantissa = LLVMBuildOr(b, LLVMBuildShl(b, root, i64_of(e, 10), ""), sticky, "");
  LLVMValueRef half = LLVMBuildAShr(b, LLVMBuildSub(b, even, i64_of(e, 54), ""), i64_of(e, 1), "");
  return round_pack(e, i64_of(e, 0), mantissa, LLVMBuildSub(b, half, i64_of(e, 10), ""));
}

static LLVMValueRef sqrt_f64(hl_emitter *e, const LLVMValueRef *args)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef x = args[0], zero = LLVMConstNull(e->l.f64);
  LLVMValueRef infinity = hl_llvm_bits(&e->l, e->l.f64, UINT64_C(0x7ff) << 52);
  LLVMValueRef is_plain = LLVMBuildAnd(b, LLVMBuildFCmp(b, LLVMRealOGT, x, zero, ""),
                                       LLVMBuildFCmp(b, LLVMRealOLT, x, infinity, ""), "");
  hl_llvm_if branch = hl_llvm_if_begin(&e->l, is_plain);
  LLVMValueRef root = sqrt_positive(e, x);
  hl_llvm_if_else(&e->l, &branch);
  LLVMValueRef nan = hl_llvm_bits(&e->l, e->l.f64, UINT64_C(0x7ff8) << 48);
  LLVMValueRef special = choose(e, LLVMBuildFCmp(b, LLVMRealOLT, x, zero, ""), nan, x);
  LLVMBasicBlockRef from = hl_llvm_here(&e->l);
  hl_llvm_if_end(&e->l, &branch);
  return hl_llvm_phi2(&e->l, root, branch.then_end, special, from);
}

static LLVMValueRef sqrt_f32(hl_emitter *e, const LLVMValueRef *args)
{
  LLVMValueRef wide = LLVMBuildFPExt(e->l.builder, args[0], double_like(e, args[0]), "");
  return LLVMBuildFPTrunc(e->l.builder, hl_llvm_call1(&e->l, "llvm.sqrt", wide),
                          LLVMTypeOf(args[0]), "");
}

/* Nearest even; what is large already has no fraction, and NaN is not less. */
static LLVMValueRef round_even(hl_emitter *e, LLVMValueRef x)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef big = hl_llvm_float(type, hl_llvm_scalar_bits(type) == 64 ? 0x1p52 : 0x1p23);
  LLVMValueRef magnitude = hl_llvm_call1(&e->l, "llvm.fabs", x);
  LLVMValueRef rounded = LLVMBuildFSub(b, LLVMBuildFAdd(b, magnitude, big, ""), big, "");
  rounded = hl_llvm_call2(&e->l, "llvm.copysign", rounded, x);
  return choose(e, LLVMBuildFCmp(b, LLVMRealOLT, magnitude, big, ""), rounded, x);
}

static LLVMValueRef soft_roundeven(hl_emitter *e, const LLVMValueRef *args)
{
  return round_even(e, args[0]);
}

static LLVMValueRef round_to_side(hl_emitter *e, LLVMValueRef x, LLVMRealPredicate is_past,
                                  double back)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef near = round_even(e, x);
  LLVMValueRef moved = LLVMBuildFAdd(b, near, hl_llvm_float(type, back), "");
  LLVMValueRef result = choose(e, LLVMBuildFCmp(b, is_past, near, x, ""), moved, near);
  return hl_llvm_call2(&e->l, "llvm.copysign", result, x);
}

static LLVMValueRef soft_floor(hl_emitter *e, const LLVMValueRef *args)
{
  return round_to_side(e, args[0], LLVMRealOGT, -1);
}

static LLVMValueRef soft_ceil(hl_emitter *e, const LLVMValueRef *args)
{
  return round_to_side(e, args[0], LLVMRealOLT, 1);
}

/* Replacement. */

typedef struct soft_function {
  const char *intrinsic;
  int arity;
  bool by_lanes; /* f64: the vector is taken apart */
  LLVMValueRef (*f32)(hl_emitter *e, const LLVMValueRef *args);
  LLVMValueRef (*f64)(hl_emitter *e, const LLVMValueRef *args);
} soft_function;

/* sqrt of f32 calls that of f64, so f64 comes behind. */
static const soft_function soft_functions[] = {
    {"llvm.fma", 3, true, fma_f32, fma_f64},
    {"llvm.sqrt", 1, true, sqrt_f32, sqrt_f64},
    {"llvm.floor", 1, false, soft_floor, soft_floor},
    {"llvm.ceil", 1, false, soft_ceil, soft_ceil},
    {"llvm.roundeven", 1, false, soft_roundeven, soft_roundeven},
};

static bool has_instruction(const hl_emitter *e, const soft_function *soft, bool is_double)
{
  const hl_features *f = e->features;
  bool is_hard = is_double ? f->has_hard_f64 : f->has_hard_f32;
  if (!strcmp(soft->intrinsic, "llvm.fma"))
    return is_hard && f->has_fma;
  return is_hard && (!strcmp(soft->intrinsic, "llvm.sqrt") || f->has_rounding);
}

static LLVMValueRef make_function(hl_emitter *e, const soft_function *soft, LLVMTypeRef type,
                                  bool is_double)
{
  LLVMTypeRef types[3] = {type, type, type};
  const char *name =
      hl_arena_printf(e->arena, "soft.%s.%d", soft->intrinsic + 5, e->kernel_count++);
  LLVMValueRef function =
      LLVMAddFunction(e->l.module, name, LLVMFunctionType(type, types, (unsigned)soft->arity, 0));
  LLVMValueRef args[3];
  LLVMSetLinkage(function, LLVMInternalLinkage);
  hl_emit_function_attributes(e, function);
  hl_llvm_function_attr(&e->l, function, "noinline");
  e->l.function = function;
  hl_debug_at(e, HL_NO_RANGE);
  hl_llvm_at(&e->l, hl_llvm_block(&e->l, "entry"));
  for (int i = 0; i < soft->arity; i++)
    args[i] = LLVMGetParam(function, (unsigned)i);
  LLVMBuildRet(e->l.builder, is_double ? soft->f64(e, args) : soft->f32(e, args));
  return function;
}

static LLVMValueRef call_lane(hl_emitter *e, LLVMValueRef function, const soft_function *soft,
                              LLVMValueRef call, int lane)
{
  LLVMValueRef args[3];
  for (int i = 0; i < soft->arity; i++) {
    args[i] = LLVMGetOperand(call, (unsigned)i);
    if (lane >= 0)
      args[i] = hl_llvm_slice(&e->l, args[i], lane, 1);
  }
  return LLVMBuildCall2(e->l.builder, LLVMGlobalGetValueType(function), function, args,
                        (unsigned)soft->arity, "");
}

static void replace_call(hl_emitter *e, LLVMValueRef function, const soft_function *soft,
                         LLVMValueRef call, bool by_lanes)
{
  LLVMTypeRef type = LLVMTypeOf(call);
  LLVMPositionBuilderBefore(e->l.builder, call);
  LLVMValueRef result = by_lanes ? LLVMGetPoison(type) : call_lane(e, function, soft, call, -1);
  for (int i = 0; by_lanes && i < hl_llvm_lanes(call); i++)
    result = LLVMBuildInsertElement(e->l.builder, result, call_lane(e, function, soft, call, i),
                                    LLVMConstInt(e->l.i32, (unsigned)i, 0), "");
  LLVMReplaceAllUsesWith(call, result);
  LLVMInstructionEraseFromParent(call);
}

static void replace_intrinsic(hl_emitter *e, LLVMValueRef intrinsic, const soft_function *soft,
                              LLVMValueRef *scalar)
{
  LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(intrinsic));
  bool is_double = hl_llvm_scalar_bits(type) == 64;
  bool by_lanes = soft->by_lanes && is_double && LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  LLVMValueRef function = by_lanes ? *scalar : NULL;
  if (!function)
    function = make_function(e, soft, by_lanes ? e->l.f64 : type, is_double);
  if (soft->by_lanes && is_double)
    *scalar = function;
  for (LLVMUseRef use = LLVMGetFirstUse(intrinsic); use; use = LLVMGetFirstUse(intrinsic))
    replace_call(e, function, soft, LLVMGetUser(use), by_lanes);
}

/* Declarations made on the way (f64 for f32) are appended, so they are met too. */
void hl_emit_soft_functions(hl_emitter *e)
{
  LLVMValueRef scalars[sizeof soft_functions / sizeof *soft_functions] = {NULL};
  for (LLVMValueRef f = LLVMGetFirstFunction(e->l.module); f; f = LLVMGetNextFunction(f)) {
    size_t length;
    const char *name = LLVMGetValueName2(f, &length);
    for (size_t i = 0; i < sizeof soft_functions / sizeof *soft_functions; i++) {
      const soft_function *soft = &soft_functions[i];
      size_t prefix = strlen(soft->intrinsic);
      if (length <= prefix || memcmp(name, soft->intrinsic, prefix) || name[prefix] != '.')
        continue;
      bool is_double = hl_llvm_scalar_bits(LLVMGetReturnType(LLVMGlobalGetValueType(f))) == 64;
      if (!has_instruction(e, soft, is_double))
        replace_intrinsic(e, f, soft, &scalars[i]);
    }
  }
}
