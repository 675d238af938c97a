/* loop_eval_ops.c - the scalar ops of the interpreter, by numerics.md rules 1 and 2 and spec 10.1
 * and 10.2.
 *
 * f32 is computed in double and rounded: for + - * / sqrt that is the correctly rounded f32,
 * subnormal results included, since double has more than twice its precision; the other ops but fma
 * are exact in double.
 */
#include "loop_eval.h"

#include "eval_math.h"

#include <math.h>

/* Integers, extended to 64 bits; results wrap when they are stored. */

static int64_t divide_signed(int64_t x, int64_t y)
{
  if (y == 0)
    return -1;
  return y == -1 ? (int64_t) - (uint64_t)x : x / y;
}

static int64_t divide_unsigned(int64_t x, int64_t y)
{
  return y == 0 ? -1 : (int64_t)((uint64_t)x / (uint64_t)y);
}

static int64_t rest_signed(int64_t x, int64_t y)
{
  if (y == 0)
    return x;
  return y == -1 ? 0 : x % y;
}

static int64_t rest_unsigned(int64_t x, int64_t y)
{
  return y == 0 ? x : (int64_t)((uint64_t)x % (uint64_t)y);
}

static int64_t power(int64_t x, uint64_t exponent)
{
  uint64_t result = 1, factor = (uint64_t)x;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1)
      result *= factor;
    factor *= factor;
  }
  return (int64_t)result;
}

static int64_t power_signed(int64_t x, int64_t exponent)
{
  if (exponent >= 0)
    return power(x, (uint64_t)exponent);
  if (x == -1)
    return exponent & 1 ? -1 : 1;
  return x == 1;
}

/* The bits of the width alone, and with the top one of them spread above. */
static uint64_t zero_extended(int64_t x, int width)
{
  return (uint64_t)x << (64 - width) >> (64 - width);
}

static int64_t sign_extended(int64_t x, int width)
{
  return (int64_t)((uint64_t)x << (64 - width)) >> (64 - width);
}

static int64_t shift(hl_loop_op op, int64_t x, int64_t amount, int width)
{
  bool is_outside = amount < 0 || amount >= width;
  if (op == HL_LOOP_SRA)
    return sign_extended(x, width) >> (is_outside ? width - 1 : (int)amount);
  if (is_outside)
    return 0;
  return (int64_t)(op == HL_LOOP_SHL ? (uint64_t)x << amount : zero_extended(x, width) >> amount);
}

static bool is_less(hl_element_type type, int64_t x, int64_t y)
{
  return hl_type_class_of(type) == HL_CLASS_SIGNED ? x < y : (uint64_t)x < (uint64_t)y;
}

static int64_t dot4(int64_t x, int64_t y)
{
  int64_t sum = 0;
  for (int i = 0; i < 32; i += 8)
    sum += (x >> i & 255) * sign_extended(y >> i, 8);
  return sum;
}

static int64_t int_binary(hl_loop_op op, hl_element_type type, int64_t x, int64_t y)
{
  bool is_signed = hl_type_class_of(type) == HL_CLASS_SIGNED;
  switch (op) {
  case HL_LOOP_ADD:
    return (int64_t)((uint64_t)x + (uint64_t)y);
  case HL_LOOP_SUB:
    return (int64_t)((uint64_t)x - (uint64_t)y);
  case HL_LOOP_MUL:
    return (int64_t)((uint64_t)x * (uint64_t)y);
  case HL_LOOP_DIV:
    return is_signed ? divide_signed(x, y) : divide_unsigned(x, y);
  case HL_LOOP_REM:
    return is_signed ? rest_signed(x, y) : rest_unsigned(x, y);
  case HL_LOOP_POW:
    return is_signed ? power_signed(x, y) : power(x, (uint64_t)y);
  case HL_LOOP_MAX:
    return is_less(type, x, y) ? y : x;
  case HL_LOOP_MIN:
    return is_less(type, y, x) ? y : x;
  case HL_LOOP_AND:
    return x & y;
  case HL_LOOP_OR:
    return x | y;
  case HL_LOOP_XOR:
    return x ^ y;
  case HL_LOOP_DOT4:
    return dot4(x, y);
  default:
    return shift(op, x, y, hl_type_bits(type));
  }
}

static uint64_t pred_binary(hl_loop_op op, uint64_t x, uint64_t y)
{
  switch (op) {
  case HL_LOOP_ADD:
  case HL_LOOP_MAX:
  case HL_LOOP_OR:
    return x | y;
  case HL_LOOP_XOR:
    return x ^ y;
  default:
    return x & y;
  }
}

static int64_t count_ones(uint64_t x)
{
  int64_t count = 0;
  for (; x; x &= x - 1)
    count++;
  return count;
}

static int64_t leading_zeros(uint64_t x, int width)
{
  int64_t count = width;
  for (; x; x >>= 1)
    count--;
  return count;
}

static int64_t int_unary(hl_loop_op op, hl_element_type type, int64_t x)
{
  int width = hl_type_bits(type);
  bool is_negative = hl_type_class_of(type) == HL_CLASS_SIGNED && x < 0;
  switch (op) {
  case HL_LOOP_NEG:
    return (int64_t) - (uint64_t)x;
  case HL_LOOP_ABS:
    return is_negative ? (int64_t) - (uint64_t)x : x;
  case HL_LOOP_SIGN:
    return is_negative ? -1 : x != 0;
  case HL_LOOP_NOT:
    return ~x;
  case HL_LOOP_POPCNT:
    return count_ones(zero_extended(x, width));
  default:
    return leading_zeros(zero_extended(x, width), width);
  }
}

/* Floats. */

static double real_max(double x, double y)
{
  if (isnan(x) || isnan(y))
    return (double)NAN;
  if (x == y)
    return signbit(x) ? y : x;
  return x > y ? x : y;
}

static double real_binary(hl_loop_op op, double x, double y)
{
  switch (op) {
  case HL_LOOP_ADD:
    return x + y;
  case HL_LOOP_SUB:
    return x - y;
  case HL_LOOP_MUL:
    return x * y;
  case HL_LOOP_DIV:
    return x / y;
  case HL_LOOP_REM:
    return fmod(x, y);
  case HL_LOOP_MAX:
    return real_max(x, y);
  default:
    return -real_max(-x, -y);
  }
}

static double real_unary(hl_loop_op op, double x)
{
  switch (op) {
  case HL_LOOP_SIGN:
    return x == 0 || isnan(x) ? x : copysign(1, x);
  case HL_LOOP_SQRT:
    return sqrt(x);
  case HL_LOOP_FLOOR:
    return floor(x);
  case HL_LOOP_CEIL:
    return ceil(x);
  case HL_LOOP_RNA:
    return round(x);
  default:
    return rint(x);
  }
}

static uint64_t sign_of_type(hl_element_type type)
{
  return UINT64_C(1) << (hl_type_bits(type) - 1);
}

/* Bits that sort as signed integers in the total order: a negative value's magnitude counts down
 * from -1. */
static uint64_t order_bits(const hl_node *node, uint64_t bits)
{
  uint64_t sign = sign_of_type(node->operands[0]->type);
  int64_t magnitude = (int64_t)(bits & (sign - 1));
  return hl_loop_int_bits(node->type, bits & sign ? -1 - magnitude : magnitude);
}

static uint64_t eval_math(const hl_node *node, const uint64_t *args)
{
  double wide[2] = {0};
  float narrow[2] = {0};
  for (int i = 0; i < node->operand_count; i++) {
    wide[i] = hl_loop_real(node->type, args[i]);
    narrow[i] = node->type == HL_F32 ? (float)wide[i] : 0;
  }
  return hl_loop_real_bits(node->type, node->type == HL_F32
                                           ? (double)hl_math_eval_f32(node->math, narrow)
                                           : hl_math_eval_f64(node->math, wide));
}

uint64_t hl_loop_eval_fma(hl_element_type type, uint64_t x, uint64_t y, uint64_t z)
{
  if (!hl_is_float(type))
    return hl_loop_eval_binary(HL_LOOP_ADD, type, hl_loop_eval_binary(HL_LOOP_MUL, type, x, y), z);
  double a = hl_loop_real(type, x), b = hl_loop_real(type, y), c = hl_loop_real(type, z);
  return hl_loop_real_bits(type, type == HL_F32 ? (double)fmaf((float)a, (float)b, (float)c)
                                                : fma(a, b, c));
}

/* Ops by the type of their operands. */

uint64_t hl_loop_eval_binary(hl_loop_op op, hl_element_type type, uint64_t x, uint64_t y)
{
  if (hl_is_float(type))
    return hl_loop_real_bits(type, real_binary(op, hl_loop_real(type, x), hl_loop_real(type, y)));
  if (type == HL_PRED)
    return pred_binary(op, x, y);
  return hl_loop_int_bits(type, int_binary(op, type, hl_loop_int(type, x), hl_loop_int(type, y)));
}

static bool holds(hl_loop_op op, bool is_smaller, bool is_equal, bool is_greater)
{
  switch (op) {
  case HL_LOOP_EQ:
    return is_equal;
  case HL_LOOP_NE:
    return !is_equal;
  case HL_LOOP_GE:
    return is_greater || is_equal;
  case HL_LOOP_GT:
    return is_greater;
  case HL_LOOP_LE:
    return is_smaller || is_equal;
  default:
    return is_smaller;
  }
}

static uint64_t compare(hl_loop_op op, hl_element_type type, const uint64_t *args)
{
  if (hl_is_float(type)) {
    double x = hl_loop_real(type, args[0]), y = hl_loop_real(type, args[1]);
    return holds(op, x<y, x == y, x> y);
  }
  int64_t x = hl_loop_int(type, args[0]), y = hl_loop_int(type, args[1]);
  return holds(op, is_less(type, x, y), x == y, is_less(type, y, x));
}

static uint64_t unary(hl_loop_op op, hl_element_type type, uint64_t x)
{
  if (type == HL_PRED)
    return !x; /* NOT is the only one */
  if (!hl_is_float(type))
    return hl_loop_int_bits(type, int_unary(op, type, hl_loop_int(type, x)));
  if (op == HL_LOOP_NEG)
    return x ^ sign_of_type(type);
  if (op == HL_LOOP_ABS)
    return x & ~sign_of_type(type);
  return hl_loop_real_bits(type, real_unary(op, hl_loop_real(type, x)));
}

static uint64_t eval_special(const hl_node *node, hl_element_type type, const uint64_t *args)
{
  switch (node->op) {
  case HL_LOOP_FMA:
    return hl_loop_eval_fma(type, args[0], args[1], args[2]);
  case HL_LOOP_IS_FINITE:
    return isfinite(hl_loop_real(type, args[0])) ? 1 : 0;
  case HL_LOOP_ORDER:
    return order_bits(node, args[0]);
  case HL_LOOP_SELECT:
    return args[0] ? args[1] : args[2];
  case HL_LOOP_CONVERT:
    return hl_loop_eval_convert(node->type, type, args[0]);
  case HL_LOOP_PRECISION:
    return hl_loop_eval_precision(type, args[0], node->precision.exponent_bits,
                                  node->precision.mantissa_bits);
  case HL_LOOP_MATH:
    return eval_math(node, args);
  default:
    return args[0];
  }
}

static bool is_compare(hl_loop_op op)
{
  return op >= HL_LOOP_EQ && op <= HL_LOOP_LT;
}

uint64_t hl_loop_eval_op(const hl_node *node, const uint64_t *args)
{
  hl_element_type type = node->operands[0]->type;
  if (node->op <= HL_LOOP_DOT4)
    return hl_loop_eval_binary(node->op, type, args[0], args[1]);
  if (node->op > HL_LOOP_FMA && node->op <= HL_LOOP_CLZ)
    return unary(node->op, type, args[0]);
  return is_compare(node->op) ? compare(node->op, type, args) : eval_special(node, type, args);
}
