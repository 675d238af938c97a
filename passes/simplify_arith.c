/* simplify_arith - identities of arithmetic that hold for every input, to the bit.
 *
 * An operation whose result is a float makes every NaN the canonical one (numerics rule 2), so x *
 * 1 -> x holds for floats only where x is known to be canonical already: it came from arithmetic,
 * or from a convert of integers.
 */
#include "simplify.h"

#include <math.h>

enum { MAX_LOOK = 8 }; /* how far is_canonical looks through movement */

static bool is_integer_like(const hl_instruction *ins)
{
  hl_type_class class = hl_type_class_of(ins->shape->element_type);
  return class <= HL_CLASS_UNSIGNED;
}

static bool is_real_float(const hl_instruction *ins)
{
  return hl_is_float(ins->shape->element_type);
}

static bool is_nan_free(const hl_literal *splat)
{
  return splat && !isnan(hl_literal_get_double(splat, 0));
}

/* Whether any NaN among the elements is the canonical one. */
static bool is_canonical(const hl_instruction *ins, int look)
{
  unsigned flags = hl_op_info_of(ins->opcode)->flags;
  switch (ins->opcode) {
  case HL_OP_CONSTANT:
    return is_nan_free(hl_splat_of(ins));
  case HL_OP_BROADCAST:
  case HL_OP_RESHAPE:
  case HL_OP_TRANSPOSE:
  case HL_OP_SLICE:
  case HL_OP_REVERSE:
    return look > 0 && is_canonical(ins->operands[0], look - 1);
  case HL_OP_SELECT:
    return look > 0 && is_canonical(ins->operands[1], look - 1) &&
           is_canonical(ins->operands[2], look - 1);
  case HL_OP_CONVERT: /* a convert to the same type would be a move */
    return ins->operands[0]->shape->element_type != ins->shape->element_type;
  case HL_OP_NEGATE: /* only the sign bit changes, and it changes that of a NaN */
  case HL_OP_REAL:   /* parts of a complex value keep their bits */
  case HL_OP_IMAG:
  case HL_OP_MAP:
    return false;
  case HL_OP_ABS:
    return look > 0 && is_canonical(ins->operands[0], look - 1);
  case HL_OP_DOT:
  case HL_OP_IOTA:
    return true;
  default:
    return flags & HL_EW && !(flags & HL_MOVE);
  }
}

/* The operand itself where the operation changes none of its bits. */
static hl_instruction *same_bits(hl_instruction *x)
{
  if (is_integer_like(x))
    return x;
  return is_real_float(x) && is_canonical(x, MAX_LOOK) ? x : NULL;
}

static bool is_int(const hl_literal *splat, int64_t value)
{
  return splat && hl_type_class_of(splat->shape->element_type) <= HL_CLASS_UNSIGNED &&
         hl_literal_get_int(splat, 0) == value;
}

/* A float constant with exactly this value and sign. */
static bool is_float(const hl_literal *splat, double value)
{
  if (!splat || !hl_is_float(splat->shape->element_type))
    return false;
  double have = hl_literal_get_double(splat, 0);
  return have == value && signbit(have) == signbit(value);
}

/* All bits set: -1, the largest unsigned value, true. */
static bool is_all_ones(const hl_literal *splat)
{
  if (!splat)
    return false;
  hl_element_type type = splat->shape->element_type;
  if (hl_type_class_of(type) != HL_CLASS_UNSIGNED)
    return is_int(splat, type == HL_PRED ? 1 : -1);
  uint64_t ones = hl_type_bits(type) == 64 ? UINT64_MAX : (UINT64_C(1) << hl_type_bits(type)) - 1;
  return (uint64_t)hl_literal_get_int(splat, 0) == ones;
}

typedef bool constant_test(const hl_literal *splat);

/* The other operand of a commutative operation whose one operand is such a constant; *constant:
 * that one. */
static hl_instruction *other_than(hl_instruction *ins, constant_test *test,
                                  hl_instruction **constant)
{
  for (int i = 0; i < 2; i++)
    if (test(hl_splat_of(ins->operands[i]))) {
      if (constant)
        *constant = ins->operands[i];
      return ins->operands[1 - i];
    }
  return NULL;
}

static bool is_add_identity(const hl_literal *c)
{
  return is_int(c, 0) || is_float(c, -0.0);
}

static bool is_one(const hl_literal *c)
{
  return is_int(c, 1) || is_float(c, 1.0);
}

static bool is_int_zero(const hl_literal *c)
{
  return is_int(c, 0);
}

/* x + 0 -> x for integers; x + (-0) -> x for canonical floats (+0 would make -0 to +0). */
static hl_instruction *add_nothing(hl_instruction *ins)
{
  hl_instruction *x = other_than(ins, is_add_identity, NULL);
  return x && ins->shape->element_type != HL_PRED ? same_bits(x) : NULL;
}

/* x - 0 -> x for integers; x - (+0) -> x for canonical floats. */
static hl_instruction *subtract_nothing(hl_instruction *ins)
{
  const hl_literal *c = hl_splat_of(ins->operands[1]);
  return is_int(c, 0) || is_float(c, 0.0) ? same_bits(ins->operands[0]) : NULL;
}

/* x - x -> 0, x ^ x -> 0: integers alone (inf - inf is NaN). */
static hl_instruction *subtract_itself(hl_instruction *ins)
{
  if (ins->operands[0] != ins->operands[1] || !is_integer_like(ins))
    return NULL;
  hl_arena *arena = hl_arena_of(ins);
  return hl_make_splat(ins,
                       hl_literal_new(arena, hl_shape_scalar(arena, ins->shape->element_type)));
}

/* x * 1 -> x for integers and canonical floats. */
static hl_instruction *multiply_by_one(hl_instruction *ins)
{
  hl_instruction *x = other_than(ins, is_one, NULL);
  return x ? same_bits(x) : NULL;
}

/* x * 0 -> 0, x & 0 -> 0: integers alone (NaN, inf, -0). */
static hl_instruction *absorbed_by_zero(hl_instruction *ins)
{
  hl_instruction *zero = NULL;
  return other_than(ins, is_int_zero, &zero) ? zero : NULL;
}

/* x / 1 -> x for integers and canonical floats. */
static hl_instruction *divide_by_one(hl_instruction *ins)
{
  return is_one(hl_splat_of(ins->operands[1])) ? same_bits(ins->operands[0]) : NULL;
}

/* x / 2^k -> x * 2^-k, when the reciprocal is a value of the type: both round the same number once.
 */
static hl_instruction *divide_by_power_of_two(hl_instruction *ins)
{
  const hl_literal *c = hl_splat_of(ins->operands[1]);
  if (!c || !is_real_float(ins))
    return NULL;
  int exponent;
  hl_element_type type = ins->shape->element_type;
  double value = hl_literal_get_double(c, 0), reciprocal = 1 / value;
  if (!isfinite(value) || value == 0 || !isfinite(reciprocal) ||
      fabs(frexp(value, &exponent)) != 0.5 ||
      hl_float_decode(type, hl_float_encode(type, reciprocal)) != reciprocal)
    return NULL;
  hl_arena *arena = hl_arena_of(ins);
  hl_literal *literal = hl_literal_new(arena, hl_shape_scalar(arena, type));
  hl_literal_set_double(literal, 0, reciprocal);
  hl_instruction *operands[2] = {ins->operands[0], hl_make_splat(ins, literal)};
  return hl_instruction_new(ins->computation, ins, HL_OP_MULTIPLY, NULL, ins->shape, 2, operands,
                            ins);
}

/* x | 0 -> x, x ^ 0 -> x */
static hl_instruction *or_nothing(hl_instruction *ins)
{
  return other_than(ins, is_int_zero, NULL);
}

/* x & ones -> x */
static hl_instruction *and_everything(hl_instruction *ins)
{
  return other_than(ins, is_all_ones, NULL);
}

/* x | ones -> ones */
static hl_instruction *or_everything(hl_instruction *ins)
{
  hl_instruction *ones = NULL;
  return other_than(ins, is_all_ones, &ones) ? ones : NULL;
}

/* x & x -> x, x | x -> x; max(x, x) -> x and min(x, x) -> x also for canonical floats. */
static hl_instruction *idempotent(hl_instruction *ins)
{
  return ins->operands[0] == ins->operands[1] ? same_bits(ins->operands[0]) : NULL;
}

/* Shifting by 0 does nothing. */
static hl_instruction *shift_nothing(hl_instruction *ins)
{
  return is_int_zero(hl_splat_of(ins->operands[1])) ? ins->operands[0] : NULL;
}

/* not(not(x)) -> x; -(-x) -> x: both change bits and change them back. */
static hl_instruction *involution(hl_instruction *ins)
{
  const hl_instruction *inner = ins->operands[0];
  return inner->opcode == ins->opcode ? inner->operands[0] : NULL;
}

/* abs(abs(x)) -> abs(x); abs(-x) -> abs(x): both touch the sign alone (not so for complex values).
 */
static hl_instruction *abs_of_abs(hl_instruction *ins)
{
  hl_instruction *inner = ins->operands[0];
  if (inner->opcode == HL_OP_ABS)
    return inner;
  if (inner->opcode != HL_OP_NEGATE || hl_is_complex(inner->shape->element_type))
    return NULL;
  return hl_make_again(ins, ins->shape, inner->operands);
}

static hl_direction opposite(hl_direction direction)
{
  static const hl_direction table[] = {[HL_EQ] = HL_NE, [HL_NE] = HL_EQ, [HL_GE] = HL_LT,
                                       [HL_LT] = HL_GE, [HL_GT] = HL_LE, [HL_LE] = HL_GT};
  return table[direction];
}

/* not(compare(x, y)) -> the opposite compare; for floats of = and != alone: a NaN makes both < and
 * >= false. */
static hl_instruction *not_of_compare(hl_instruction *ins)
{
  const hl_instruction *compare = ins->operands[0];
  if (compare->opcode != HL_OP_COMPARE)
    return NULL;
  hl_direction direction = (hl_direction)hl_attr_int(compare, HL_ATTR_DIRECTION, HL_EQ);
  bool is_total = is_integer_like(compare->operands[0]) ||
                  hl_attr_int(compare, HL_ATTR_TYPE, HL_COMPARE_FLOAT) == HL_COMPARE_TOTALORDER;
  if (!is_total && direction != HL_EQ && direction != HL_NE)
    return NULL;
  hl_instruction *made = hl_make_again_at(compare, ins, ins->shape, compare->operands);
  for (int i = 0; i < made->attr_count; i++)
    if (made->attrs[i].id == HL_ATTR_DIRECTION)
      made->attrs[i].i = opposite(direction);
  return made;
}

const hl_simplify_rule hl_simplify_arith_rules[] = {
    {HL_OP_ADD, add_nothing},
    {HL_OP_SUBTRACT, subtract_nothing},
    {HL_OP_SUBTRACT, subtract_itself},
    {HL_OP_MULTIPLY, multiply_by_one},
    {HL_OP_MULTIPLY, absorbed_by_zero},
    {HL_OP_DIVIDE, divide_by_one},
    {HL_OP_DIVIDE, divide_by_power_of_two},
    {HL_OP_AND, absorbed_by_zero},
    {HL_OP_AND, and_everything},
    {HL_OP_AND, idempotent},
    {HL_OP_OR, or_nothing},
    {HL_OP_OR, or_everything},
    {HL_OP_OR, idempotent},
    {HL_OP_XOR, or_nothing},
    {HL_OP_XOR, subtract_itself},
    {HL_OP_MAXIMUM, idempotent},
    {HL_OP_MINIMUM, idempotent},
    {HL_OP_SHIFT_LEFT, shift_nothing},
    {HL_OP_SHIFT_RIGHT_ARITHMETIC, shift_nothing},
    {HL_OP_SHIFT_RIGHT_LOGICAL, shift_nothing},
    {HL_OP_NOT, involution},
    {HL_OP_NOT, not_of_compare},
    {HL_OP_NEGATE, involution},
    {HL_OP_ABS, abs_of_abs},
    {HL_OP_COUNT, NULL},
};
