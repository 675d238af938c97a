/* eval_binary - elementwise ops of two operands and comparisons, on scalars (spec 10.1, 10.2). */
#include "eval_internal.h"
#include "eval_math.h"

#include <math.h>

static bool is_signed(hl_element_type type)
{
  return hl_type_class_of(type) == HL_CLASS_SIGNED;
}

/* ---- integers, as 64-bit values extended by their type ---- */

static int64_t divide_int(hl_element_type type, int64_t x, int64_t y)
{
  if (y == 0)
    return -1;
  if (!is_signed(type))
    return (int64_t)((uint64_t)x / (uint64_t)y);
  return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

static int64_t remainder_int(hl_element_type type, int64_t x, int64_t y)
{
  if (y == 0)
    return x;
  if (!is_signed(type))
    return (int64_t)((uint64_t)x % (uint64_t)y);
  return y == -1 ? 0 : x % y;
}

static int64_t power_int(hl_element_type type, int64_t x, int64_t y)
{
  if (is_signed(type) && y < 0)
    return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  uint64_t result = 1, square = (uint64_t)x;
  for (uint64_t n = (uint64_t)y; n; n >>= 1) {
    if (n & 1)
      result *= square;
    square *= square;
  }
  return (int64_t)result;
}

/* A negative amount is a large one. */
static int64_t shift_int(hl_opcode opcode, hl_element_type type, int64_t x, int64_t y)
{
  int width = hl_type_bits(type);
  bool is_out = (uint64_t)y >= (uint64_t)width;
  uint64_t bits = (uint64_t)x << (64 - width) >> (64 - width);
  if (opcode == HL_OP_SHIFT_LEFT)
    return is_out ? 0 : (int64_t)(bits << y);
  if (opcode == HL_OP_SHIFT_RIGHT_LOGICAL)
    return is_out ? 0 : (int64_t)(bits >> y);
  int64_t value = (int64_t)((uint64_t)x << (64 - width)) >>
                  (64 - width); /* the top bit is a sign for unsigned types too */
  return value >> (is_out ? width - 1 : y);
}

/* The high half of the product of twice the width. */
static int64_t mulhi(hl_element_type type, int64_t x, int64_t y)
{
  int width = hl_type_bits(type);
  uint64_t xl = (uint32_t)x, xh = (uint64_t)x >> 32, yl = (uint32_t)y, yh = (uint64_t)y >> 32;
  if (width < 64) /* the product of 32-bit values fits, and is right modulo 2^64 */
    return is_signed(type) ? x * y >> width : (int64_t)((uint64_t)x * (uint64_t)y >> width);
  uint64_t middle = (xl * yl >> 32) + (uint32_t)(xh * yl) + (uint32_t)(xl * yh);
  uint64_t high = xh * yh + (xh * yl >> 32) + (xl * yh >> 32) + (middle >> 32);
  if (is_signed(type))
    high -= (x < 0 ? (uint64_t)y : 0) + (y < 0 ? (uint64_t)x : 0);
  return (int64_t)high;
}

static bool less_int(hl_element_type type, int64_t x, int64_t y)
{
  return is_signed(type) ? x < y : (uint64_t)x < (uint64_t)y;
}

static int64_t binary_int(hl_opcode opcode, hl_element_type type, int64_t x, int64_t y)
{
  switch (opcode) {
  case HL_OP_ADD:
    return (int64_t)((uint64_t)x + (uint64_t)y);
  case HL_OP_SUBTRACT:
    return (int64_t)((uint64_t)x - (uint64_t)y);
  case HL_OP_MULTIPLY:
    return (int64_t)((uint64_t)x * (uint64_t)y);
  case HL_OP_DIVIDE:
    return divide_int(type, x, y);
  case HL_OP_REMAINDER:
    return remainder_int(type, x, y);
  case HL_OP_POWER:
    return power_int(type, x, y);
  case HL_OP_MAXIMUM:
    return less_int(type, x, y) ? y : x;
  case HL_OP_MINIMUM:
    return less_int(type, y, x) ? y : x;
  case HL_OP_AND:
    return x & y;
  case HL_OP_OR:
    return x | y;
  case HL_OP_XOR:
    return x ^ y;
  case HL_OP_MULHI:
    return mulhi(type, x, y);
  default:
    return shift_int(opcode, type, x, y);
  }
}

static bool binary_pred(hl_opcode opcode, bool x, bool y)
{
  switch (opcode) {
  case HL_OP_ADD:
  case HL_OP_MAXIMUM:
  case HL_OP_OR:
    return x || y;
  case HL_OP_XOR:
    return x != y;
  default: /* multiply, minimum, and */
    return x && y;
  }
}

/* ---- floats ---- */

/* Whether x comes before y where minus zero lies below zero; neither is NaN. */
static bool is_below(double x, double y)
{
  return x < y || (x == y && signbit(x) && !signbit(y));
}

static double extreme(hl_opcode opcode, double x, double y)
{
  if (isnan(x) || isnan(y))
    return (double)NAN;
  return is_below(x, y) == (opcode == HL_OP_MAXIMUM) ? y : x;
}

static double arithmetic_f64(hl_opcode opcode, double x, double y)
{
  const double args[2] = {x, y};
  switch (opcode) {
  case HL_OP_ADD:
    return x + y;
  case HL_OP_SUBTRACT:
    return x - y;
  case HL_OP_MULTIPLY:
    return x * y;
  case HL_OP_DIVIDE:
    return x / y;
  default:
    return hl_math_eval_f64(opcode == HL_OP_POWER ? HL_MATH_POW : HL_MATH_ATAN2, args);
  }
}

static float arithmetic_f32(hl_opcode opcode, float x, float y)
{
  const float args[2] = {x, y};
  switch (opcode) {
  case HL_OP_ADD:
    return x + y;
  case HL_OP_SUBTRACT:
    return x - y;
  case HL_OP_MULTIPLY:
    return x * y;
  case HL_OP_DIVIDE:
    return x / y;
  default:
    return hl_math_eval_f32(opcode == HL_OP_POWER ? HL_MATH_POW : HL_MATH_ATAN2, args);
  }
}

static hl_scalar binary_float(hl_opcode opcode, hl_element_type type, hl_scalar x, hl_scalar y)
{
  if (hl_computes_in_double(type) || opcode == HL_OP_MAXIMUM || opcode == HL_OP_MINIMUM ||
      opcode == HL_OP_REMAINDER) {
    double a = hl_scalar_double(type, x), b = hl_scalar_double(type, y);
    if (opcode == HL_OP_MAXIMUM || opcode == HL_OP_MINIMUM)
      return hl_scalar_of_double(type, extreme(opcode, a, b));
    if (opcode == HL_OP_REMAINDER) /* exact in any type */
      return hl_scalar_of_double(type, fmod(a, b));
    return hl_scalar_of_double(type, arithmetic_f64(opcode, a, b));
  }
  return hl_scalar_of_float(
      type, arithmetic_f32(opcode, hl_scalar_float(type, x), hl_scalar_float(type, y)));
}

hl_scalar hl_scalar_binary(hl_opcode opcode, hl_element_type type, hl_scalar x, hl_scalar y)
{
  if (opcode == HL_OP_COMPLEX)
    return (hl_scalar){x.re, y.re};
  switch (hl_type_class_of(type)) {
  case HL_CLASS_PRED:
    return hl_scalar_part(binary_pred(opcode, x.re, y.re));
  case HL_CLASS_FLOAT:
    return binary_float(opcode, type, x, y);
  case HL_CLASS_COMPLEX:
    return hl_complex_binary(opcode, type, x, y);
  default:
    return hl_scalar_of_int(
        type, binary_int(opcode, type, hl_scalar_int(type, x), hl_scalar_int(type, y)));
  }
}

/* ---- comparisons ---- */

/* -1, 0, 1, or 2 when unordered. */
static int order_of_doubles(double x, double y)
{
  return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
}

/* The bits of a float as a whole number that grows in total order. */
static int64_t total_order_key(hl_element_type type, hl_scalar x)
{
  uint64_t sign = UINT64_C(1) << (hl_type_bits(type) - 1);
  int64_t magnitude = (int64_t)(x.re & (sign - 1));
  return x.re & sign ? -1 - magnitude : magnitude;
}

static int order_of(hl_comparison how, hl_element_type type, hl_scalar x, hl_scalar y)
{
  if (hl_is_complex(type)) {
    hl_element_type part = hl_component_type(type);
    int re = order_of_doubles(hl_scalar_double(part, x), hl_scalar_double(part, y));
    int im = order_of_doubles(hl_scalar_double(part, hl_scalar_part(x.im)),
                              hl_scalar_double(part, hl_scalar_part(y.im)));
    return re == 0 && im == 0 ? 0 : 2;
  }
  if (how == HL_COMPARE_FLOAT)
    return order_of_doubles(hl_scalar_double(type, x), hl_scalar_double(type, y));
  if (how == HL_COMPARE_TOTALORDER) {
    int64_t a = total_order_key(type, x), b = total_order_key(type, y);
    return (a > b) - (a < b);
  }
  int64_t a = hl_scalar_int(type, x), b = hl_scalar_int(type, y);
  return less_int(type, b, a) - less_int(type, a, b);
}

bool hl_scalar_compare(hl_direction direction, hl_comparison how, hl_element_type type, hl_scalar x,
                       hl_scalar y)
{
  int order = order_of(how, type, x, y);
  switch (direction) {
  case HL_EQ:
    return order == 0;
  case HL_NE:
    return order != 0;
  case HL_GE:
    return order == 0 || order == 1;
  case HL_GT:
    return order == 1;
  case HL_LE:
    return order == 0 || order == -1;
  default: /* LT */
    return order == -1;
  }
}
