/* lower_elementwise.c - elements of elementwise instructions; every rounding of numerics.md is a node of its own.
 *
 * f16, bf16 and narrower floats compute in f32 and are rounded once by the convert that ends the op.
 */
#include "lower_kernel.h"

hl_element_type hl_wide_type(hl_element_type type)
{
  return hl_is_float(type) && hl_type_bits(type) < 32 ? HL_F32 : type;
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

hl_value hl_lower_unary(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf;
  hl_node *x = pull_operand(p, ins, 0, index);
  hl_loop_op op = unary_op(ins->opcode);
  if (op == HL_LOOP_NEG || op == HL_LOOP_ABS)
    return real(hl_put_unary(p, op, x));
  hl_node *wide = hl_widen(p, x);
  hl_node *y = op == HL_LOOP_MATH ? hl_put_math(p, math_of(ins->opcode), 1, &wide)
                                  : hl_put_unary(p, op, wide);
  return real(op == HL_LOOP_IS_FINITE ? y : hl_put_convert(p, x->type, y));
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

hl_value hl_put_hlo_binary(hl_puller *p, hl_opcode opcode, hl_element_type type, hl_value x,
                           hl_value y)
{
  hl_node *args[2] = {hl_widen(p, x.re), hl_widen(p, y.re)};
  hl_loop_op op = binary_op(opcode);
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
  hl_node *x = pull_operand(p, ins, 0, index);
  return real(hl_put_convert(p, ins->shape->element_type, x));
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

static hl_node *order_key(hl_puller *p, hl_node *x)
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
  hl_node *x = pull_operand(p, ins, 0, index), *y = pull_operand(p, ins, 1, index);
  bool is_total = hl_is_float(x->type) &&
                  hl_attr_int(ins, HL_ATTR_TYPE, HL_COMPARE_FLOAT) == HL_COMPARE_TOTALORDER;
  if (is_total)
    return real(hl_put_binary(p, op, order_key(p, x), order_key(p, y)));
  return real(hl_put_binary(p, op, hl_widen(p, x), hl_widen(p, y)));
}

static const hl_index *index_of_operand(const hl_instruction *operand, const hl_index *index)
{
  return operand->shape->rank == 0 ? NULL : index;
}

hl_value hl_lower_select(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf;
  hl_node *args[3];
  for (int i = 0; i < 3; i++)
    args[i] = pull_operand(p, ins, i, index_of_operand(ins->operands[i], index));
  return real(hl_put_select(p, args[0], args[1], args[2]));
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
