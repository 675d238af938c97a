/* lower_elementwise.c - elements of elementwise instructions; every rounding of numerics.md is a node of its own.
 *
 * f16, bf16 and narrower floats compute in f32 and are rounded once by the convert that ends the op. Integers of less than a byte
 * compute in one, extended, and are wrapped by that convert. Complex values go to lower_complex.c.
 */
#include "lower_complex.h"

hl_element_type hl_wide_type(hl_element_type type)
{
  if (hl_is_float(type))
    return hl_type_bits(type) < 32 ? HL_F32 : type;
  if (!hl_is_integral(type) || hl_type_bits(type) >= 8)
    return type;
  return hl_type_class_of(type) == HL_CLASS_SIGNED ? HL_S8 : HL_U8;
}

hl_node *hl_widen(hl_puller *p, hl_node *x)
{
  hl_element_type wide = hl_wide_type(x->type);
  if (wide == x->type)
    return x;
  hl_facts *facts = hl_facts_of(x);
  if (!facts->wide)
    facts->wide = hl_put_convert(p, wide, x);
  return facts->wide;
}

static hl_value real(hl_node *node)
{
  return (hl_value){node, NULL};
}

static hl_node *pull_operand(hl_puller *p, const hl_instruction *ins, int i, const hl_index *index)
{
  return hl_pull(p, ins->operands[i], 0, index).re;
}

/* The loop op that does the work on one operand, and whether it takes narrow floats as they are. */
static hl_loop_op unary_op(hl_opcode opcode)
{
  switch (opcode) {
  case HL_OP_ABS: return HL_LOOP_ABS;
  case HL_OP_NEGATE: return HL_LOOP_NEG;
  case HL_OP_SIGN: return HL_LOOP_SIGN;
  case HL_OP_SQRT: return HL_LOOP_SQRT;
  case HL_OP_FLOOR: return HL_LOOP_FLOOR;
  case HL_OP_CEIL: return HL_LOOP_CEIL;
  case HL_OP_ROUND_NEAREST_EVEN: return HL_LOOP_RNE;
  case HL_OP_ROUND_NEAREST_AFZ: return HL_LOOP_RNA;
  case HL_OP_IS_FINITE: return HL_LOOP_IS_FINITE;
  case HL_OP_NOT: return HL_LOOP_NOT;
  case HL_OP_POPCNT: return HL_LOOP_POPCNT;
  case HL_OP_COUNT_LEADING_ZEROS: return HL_LOOP_CLZ;
  default: return HL_LOOP_MATH;
  }
}

static hl_math_fn math_of(hl_opcode opcode)
{
  switch (opcode) {
  case HL_OP_EXPONENTIAL: return HL_MATH_EXP;
  case HL_OP_EXPONENTIAL_MINUS_ONE: return HL_MATH_EXPM1;
  case HL_OP_LOG: return HL_MATH_LOG;
  case HL_OP_LOG_PLUS_ONE: return HL_MATH_LOG1P;
  case HL_OP_RSQRT: return HL_MATH_RSQRT;
  case HL_OP_CBRT: return HL_MATH_CBRT;
  case HL_OP_TANH: return HL_MATH_TANH;
  case HL_OP_LOGISTIC: return HL_MATH_LOGISTIC;
  case HL_OP_SINE: return HL_MATH_SIN;
  case HL_OP_COSINE: return HL_MATH_COS;
  case HL_OP_TAN: return HL_MATH_TAN;
  case HL_OP_ERF: return HL_MATH_ERF;
  case HL_OP_SINH: return HL_MATH_SINH;
  case HL_OP_COSH: return HL_MATH_COSH;
  case HL_OP_ASIN: return HL_MATH_ASIN;
  case HL_OP_ACOS: return HL_MATH_ACOS;
  case HL_OP_ASINH: return HL_MATH_ASINH;
  case HL_OP_ACOSH: return HL_MATH_ACOSH;
  default: return HL_MATH_ATANH;
  }
}

/* Where a float's sign is one bit that may be changed alone; some of 8 bits or fewer have no sign or no minus zero. */
static bool has_sign_bit(hl_element_type type)
{
  return type != HL_F8E8M0FNU && hl_float_nan_bits(type) != UINT64_C(1) << (hl_type_bits(type) - 1);
}

static bool keeps_bits(hl_loop_op op, hl_element_type type)
{
  return (op == HL_LOOP_NEG || op == HL_LOOP_ABS) && hl_is_float(type) && has_sign_bit(type);
}

/* The integer type of as many bits, signed or not. */
static hl_element_type with_sign(hl_element_type type, bool is_signed)
{
  switch (hl_type_bits(type)) {
  case 1: return is_signed ? HL_S1 : HL_U1;
  case 2: return is_signed ? HL_S2 : HL_U2;
  case 4: return is_signed ? HL_S4 : HL_U4;
  case 8: return is_signed ? HL_S8 : HL_U8;
  case 16: return is_signed ? HL_S16 : HL_U16;
  case 32: return is_signed ? HL_S32 : HL_U32;
  default: return is_signed ? HL_S64 : HL_U64;
  }
}

static bool is_small_int(hl_element_type type)
{
  return hl_is_integral(type) && hl_type_bits(type) < 8;
}

/* Bits in a byte of its own: the zeros above them do not count. */
static hl_node *count_small(hl_puller *p, hl_loop_op op, hl_node *x)
{
  hl_node *bits = hl_widen(p, hl_put_convert(p, with_sign(x->type, false), x));
  hl_node *count = hl_put_unary(p, op, bits);
  if (op == HL_LOOP_CLZ)
    count = hl_put_binary(p, HL_LOOP_SUB, count, hl_put_int(p, HL_U8, 8 - hl_type_bits(x->type)));
  return hl_put_convert(p, x->type, count);
}

static hl_node *unary_real(hl_puller *p, hl_opcode opcode, hl_node *x)
{
  if (opcode == HL_OP_REAL)
    return hl_put_canonical(p, real(x)).re;
  if (opcode == HL_OP_IMAG)
    return hl_put_float(p, x->type, 0);
  hl_loop_op op = unary_op(opcode);
  if (keeps_bits(op, x->type))
    return hl_put_unary(p, op, x);
  if ((op == HL_LOOP_POPCNT || op == HL_LOOP_CLZ) && is_small_int(x->type))
    return count_small(p, op, x);
  hl_node *wide = hl_widen(p, x);
  hl_node *y = op == HL_LOOP_MATH ? hl_put_math(p, math_of(opcode), 1, &wide) : hl_put_unary(p, op, wide);
  return op == HL_LOOP_IS_FINITE ? y : hl_put_convert(p, x->type, y);
}

hl_value hl_lower_unary(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf;
  hl_value x = hl_pull(p, ins->operands[0], 0, index);
  return x.im ? hl_put_complex_unary(p, ins->opcode, x) : real(unary_real(p, ins->opcode, x.re));
}

static hl_loop_op binary_op(hl_opcode opcode)
{
  switch (opcode) {
  case HL_OP_ADD: return HL_LOOP_ADD;
  case HL_OP_SUBTRACT: return HL_LOOP_SUB;
  case HL_OP_MULTIPLY: return HL_LOOP_MUL;
  case HL_OP_DIVIDE: return HL_LOOP_DIV;
  case HL_OP_REMAINDER: return HL_LOOP_REM;
  case HL_OP_MAXIMUM: return HL_LOOP_MAX;
  case HL_OP_MINIMUM: return HL_LOOP_MIN;
  case HL_OP_AND: return HL_LOOP_AND;
  case HL_OP_OR: return HL_LOOP_OR;
  case HL_OP_XOR: return HL_LOOP_XOR;
  case HL_OP_SHIFT_LEFT: return HL_LOOP_SHL;
  case HL_OP_SHIFT_RIGHT_ARITHMETIC: return HL_LOOP_SRA;
  case HL_OP_SHIFT_RIGHT_LOGICAL: return HL_LOOP_SRL;
  case HL_OP_POWER: return HL_LOOP_POW;
  default: return HL_LOOP_MATH;
  }
}

/* The high half of x * y, 64 bits each without sign, from products of halves. */
static hl_node *high_u64(hl_puller *p, hl_node *x, hl_node *y)
{
  hl_node *half = hl_put_int(p, HL_U64, 32), *low = hl_put_const(p, HL_U64, UINT32_MAX);
  hl_node *xl = hl_put_binary(p, HL_LOOP_AND, x, low), *xh = hl_put_binary(p, HL_LOOP_SRL, x, half);
  hl_node *yl = hl_put_binary(p, HL_LOOP_AND, y, low), *yh = hl_put_binary(p, HL_LOOP_SRL, y, half);
  hl_node *carry = hl_put_binary(p, HL_LOOP_SRL, hl_put_mul(p, xl, yl), half);
  hl_node *first = hl_put_add(p, hl_put_mul(p, xh, yl), carry); /* at most 2^64 - 2^32 - 1 + 2^32 - 1 */
  hl_node *second = hl_put_add(p, hl_put_mul(p, xl, yh), hl_put_binary(p, HL_LOOP_AND, first, low));
  hl_node *sum = hl_put_add(p, hl_put_mul(p, xh, yh), hl_put_binary(p, HL_LOOP_SRL, first, half));
  return hl_put_add(p, sum, hl_put_binary(p, HL_LOOP_SRL, second, half));
}

/* Reading a negative x as x + 2^64 adds y to the high half. */
static hl_node *high_s64(hl_puller *p, hl_node *x, hl_node *y)
{
  hl_node *last = hl_put_int(p, HL_S64, 63);
  hl_node *high = high_u64(p, hl_put_convert(p, HL_U64, x), hl_put_convert(p, HL_U64, y));
  hl_node *extra_y = hl_put_binary(p, HL_LOOP_AND, hl_put_binary(p, HL_LOOP_SRA, x, last), y);
  hl_node *extra_x = hl_put_binary(p, HL_LOOP_AND, hl_put_binary(p, HL_LOOP_SRA, y, last), x);
  return hl_put_sub(p, hl_put_convert(p, HL_S64, high), hl_put_add(p, extra_x, extra_y));
}

static hl_node *high_half(hl_puller *p, hl_node *x, hl_node *y)
{
  hl_element_type type = x->type;
  bool is_signed = hl_type_class_of(type) == HL_CLASS_SIGNED;
  int bits = hl_type_bits(type);
  if (bits == 64)
    return is_signed ? high_s64(p, x, y) : high_u64(p, x, y);
  hl_element_type wide = is_signed ? HL_S64 : HL_U64;
  hl_node *product = hl_put_mul(p, hl_put_convert(p, wide, x), hl_put_convert(p, wide, y));
  product = hl_put_binary(p, is_signed ? HL_LOOP_SRA : HL_LOOP_SRL, product, hl_put_int(p, wide, bits));
  return hl_put_convert(p, type, product);
}

/* A shift to the right looks at the top bit: its value is read with a sign or without one. A negative amount is a large one. */
static hl_node *shift_small(hl_puller *p, hl_loop_op op, hl_node *x, hl_node *y)
{
  hl_element_type amount = with_sign(y->type, false), type = with_sign(x->type, op == HL_LOOP_SRA);
  hl_node *value = hl_widen(p, hl_put_convert(p, type, x)), *by = hl_widen(p, hl_put_convert(p, amount, y));
  return hl_put_convert(p, x->type, hl_put_binary(p, op, value, hl_put_convert(p, value->type, by)));
}

static bool is_shift(hl_loop_op op)
{
  return op == HL_LOOP_SHL || op == HL_LOOP_SRA || op == HL_LOOP_SRL;
}

hl_value hl_put_hlo_binary(hl_puller *p, hl_opcode opcode, hl_element_type type, hl_value x,
                           hl_value y)
{
  if (opcode == HL_OP_COMPLEX)
    return (hl_value){x.re, y.re};
  if (x.im)
    return hl_put_complex_binary(p, opcode, x, y);
  if (opcode == HL_OP_MULHI)
    return real(high_half(p, x.re, y.re));
  hl_loop_op op = binary_op(opcode);
  if (is_shift(op) && is_small_int(type))
    return real(shift_small(p, op, x.re, y.re));
  hl_node *args[2] = {hl_widen(p, x.re), hl_widen(p, y.re)};
  bool is_float_power = op == HL_LOOP_POW && hl_is_float(type);
  if (op == HL_LOOP_MATH || is_float_power) {
    hl_math_fn fn = is_float_power ? HL_MATH_POW : HL_MATH_ATAN2;
    return real(hl_put_convert(p, type, hl_put_math(p, fn, 2, args)));
  }
  return real(hl_put_convert(p, type, hl_put_binary(p, op, args[0], args[1])));
}

/* power by a constant exponent has entries of its own (numerics rule 12) */
static hl_value lower_constant_power(hl_puller *p, hl_node *x, double exponent)
{
  hl_math_fn fn = hl_math_pow_constant(exponent);
  hl_node *args[2] = {hl_widen(p, x), NULL};
  if (fn == HL_MATH_POW)
    args[1] = hl_put_float(p, args[0]->type, exponent);
  return real(hl_put_convert(p, x->type, hl_put_math(p, fn, args[1] ? 2 : 1, args)));
}

hl_value hl_lower_binary(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf;
  hl_value x = hl_pull(p, ins->operands[0], 0, index);
  double exponent;
  if (ins->opcode == HL_OP_POWER && hl_power_exponent(ins, &exponent))
    return lower_constant_power(p, x.re, exponent);
  hl_value y = hl_pull(p, ins->operands[1], 0, index);
  return hl_put_hlo_binary(p, ins->opcode, ins->shape->element_type, x, y);
}

hl_value hl_lower_convert(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf;
  hl_value x = hl_pull(p, ins->operands[0], 0, index);
  hl_element_type type = ins->shape->element_type;
  if (hl_is_complex(type)) {
    hl_value y = hl_put_parts(p, type, x);
    return y.im ? y : (hl_value){hl_put_canonical(p, real(y.re)).re, hl_put_const(p, y.re->type, 0)};
  }
  hl_node *y = hl_put_convert(p, type, x.re);
  if (x.im && type == HL_PRED)
    return real(hl_put_binary(p, HL_LOOP_OR, y, hl_put_convert(p, type, x.im)));
  return x.im ? hl_put_canonical(p, real(y)) : real(y);
}

hl_value hl_lower_identity(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  return hl_pull(p, ins->operands[0], leaf, index);
}

hl_value hl_lower_reduce_precision(hl_puller *p, const hl_instruction *ins, int leaf,
                                   const hl_index *index)
{
  (void)leaf;
  hl_node *y = hl_put_unary(p, HL_LOOP_PRECISION, pull_operand(p, ins, 0, index));
  y->precision.exponent_bits = (int)hl_attr_int(ins, HL_ATTR_EXPONENT_BITS, 0);
  y->precision.mantissa_bits = (int)hl_attr_int(ins, HL_ATTR_MANTISSA_BITS, 0);
  return real(y);
}

hl_node *hl_put_order(hl_puller *p, hl_node *x)
{
  static const hl_element_type by_bytes[] = {[1] = HL_S8, [2] = HL_S16, [4] = HL_S32, [8] = HL_S64};
  return hl_put(p, HL_LOOP_ORDER, by_bytes[hl_type_bytes(x->type)], 1, &x);
}

hl_value hl_lower_compare(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf;
  static const hl_loop_op ops[] = {[HL_EQ] = HL_LOOP_EQ, [HL_NE] = HL_LOOP_NE, [HL_GE] = HL_LOOP_GE,
                                   [HL_GT] = HL_LOOP_GT, [HL_LE] = HL_LOOP_LE, [HL_LT] = HL_LOOP_LT};
  hl_loop_op op = ops[hl_attr_int(ins, HL_ATTR_DIRECTION, HL_EQ)];
  hl_value a = hl_pull(p, ins->operands[0], 0, index), b = hl_pull(p, ins->operands[1], 0, index);
  if (a.im) /* equal or not */
    return real(hl_put_binary(p, op == HL_LOOP_EQ ? HL_LOOP_AND : HL_LOOP_OR, hl_put_binary(p, op, a.re, b.re),
                              hl_put_binary(p, op, a.im, b.im)));
  hl_node *x = a.re, *y = b.re;
  bool is_total = hl_is_float(x->type) &&
                  hl_attr_int(ins, HL_ATTR_TYPE, HL_COMPARE_FLOAT) == HL_COMPARE_TOTALORDER;
  if (is_total)
    return real(hl_put_binary(p, op, hl_put_order(p, x), hl_put_order(p, y)));
  return real(hl_put_binary(p, op, hl_widen(p, x), hl_widen(p, y)));
}

static const hl_index *index_of_operand(const hl_instruction *operand, const hl_index *index)
{
  return operand->shape->rank == 0 ? NULL : index;
}

hl_value hl_lower_select(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf;
  hl_value args[3];
  for (int i = 0; i < 3; i++)
    args[i] = hl_pull(p, ins->operands[i], 0, index_of_operand(ins->operands[i], index));
  return hl_put_choice(p, args[0].re, args[1], args[2]);
}

/* clamp(lo, x, hi) = min(max(lo, x), hi) */
hl_value hl_lower_clamp(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf;
  hl_node *args[3];
  for (int i = 0; i < 3; i++)
    args[i] = hl_widen(p, pull_operand(p, ins, i, index_of_operand(ins->operands[i], index)));
  hl_node *y = hl_put_binary(p, HL_LOOP_MAX, args[0], args[1]);
  y = hl_put_binary(p, HL_LOOP_MIN, y, args[2]);
  return real(hl_put_convert(p, ins->shape->element_type, y));
}

hl_value hl_lower_map(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf;
  hl_value *args = HL_ARRAY(p->arena, ins->operand_count, hl_value), result;
  for (int i = 0; i < ins->operand_count; i++)
    args[i] = hl_pull(p, ins->operands[i], 0, index);
  hl_pull_region(p, hl_attr_computation(ins, HL_ATTR_TO_APPLY), args, &result);
  return result;
}
