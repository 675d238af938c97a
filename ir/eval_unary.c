/* eval_unary - elementwise ops of one operand, on scalars. */
#include "eval_internal.h"
#include "eval_math.h"

#include <math.h>

static int64_t count_bits(uint64_t bits)
{
  int64_t count = 0;
  for (; bits; bits >>= 1)
    count += (int64_t)(bits & 1);
  return count;
}

static int64_t leading_zeros(uint64_t bits, int width)
{
  int64_t count = width;
  for (; bits; bits >>= 1)
    count--;
  return count;
}

static hl_scalar unary_int(hl_opcode opcode, hl_element_type type, hl_scalar x)
{
  int64_t value = hl_scalar_int(type, x);
  int width = hl_type_bits(type);
  uint64_t bits = (uint64_t)value << (64 - width) >> (64 - width);
  int64_t negated = (int64_t)(0 - (uint64_t)value);
  switch (opcode) {
  case HL_OP_ABS:
    return hl_scalar_of_int(type, value < 0 ? negated : value);
  case HL_OP_NEGATE:
    return hl_scalar_of_int(type, negated);
  case HL_OP_SIGN:
    return hl_scalar_of_int(type, (value > 0) - (value < 0));
  case HL_OP_NOT:
    return hl_scalar_of_int(type, ~value);
  case HL_OP_POPCNT:
    return hl_scalar_of_int(type, count_bits(bits));
  default: /* count-leading-zeros */
    return hl_scalar_of_int(type, leading_zeros(bits, width));
  }
}

/* negate and abs touch the sign bit alone. Types without a sign, or without minus zero, cannot do
 * that and round instead. */
static hl_scalar change_sign(hl_opcode opcode, hl_element_type type, hl_scalar x)
{
  uint64_t sign = UINT64_C(1) << (hl_type_bits(type) - 1);
  if (type == HL_F8E8M0FNU || hl_float_nan_bits(type) == sign) {
    double value = hl_scalar_double(type, x);
    return hl_scalar_of_double(type, opcode == HL_OP_ABS ? fabs(value) : -value);
  }
  return hl_scalar_part(opcode == HL_OP_ABS ? x.re & ~sign : x.re ^ sign);
}

/* Functions whose result is exact in the argument's type. */
static bool exact_function(hl_opcode opcode, double x, double *result)
{
  switch (opcode) {
  case HL_OP_SIGN:
    *result = isnan(x) || x == 0 ? x : copysign(1, x);
    return true;
  case HL_OP_FLOOR:
    *result = floor(x);
    return true;
  case HL_OP_CEIL:
    *result = ceil(x);
    return true;
  case HL_OP_ROUND_NEAREST_EVEN:
    *result = rint(x);
    return true;
  case HL_OP_ROUND_NEAREST_AFZ:
    *result = round(x);
    return true;
  case HL_OP_REAL:
    *result = x;
    return true;
  case HL_OP_IMAG:
    *result = 0;
    return true;
  default:
    return false;
  }
}

/* The function of ir/math.def that computes an op. */
static const hl_math_fn functions[HL_OP_COUNT] = {
    [HL_OP_EXPONENTIAL] = HL_MATH_EXP,   [HL_OP_EXPONENTIAL_MINUS_ONE] = HL_MATH_EXPM1,
    [HL_OP_LOG] = HL_MATH_LOG,           [HL_OP_LOG_PLUS_ONE] = HL_MATH_LOG1P,
    [HL_OP_CBRT] = HL_MATH_CBRT,         [HL_OP_TANH] = HL_MATH_TANH,
    [HL_OP_LOGISTIC] = HL_MATH_LOGISTIC, [HL_OP_SINE] = HL_MATH_SIN,
    [HL_OP_COSINE] = HL_MATH_COS,        [HL_OP_TAN] = HL_MATH_TAN,
    [HL_OP_ERF] = HL_MATH_ERF,           [HL_OP_SINH] = HL_MATH_SINH,
    [HL_OP_COSH] = HL_MATH_COSH,         [HL_OP_ASIN] = HL_MATH_ASIN,
    [HL_OP_ACOS] = HL_MATH_ACOS,         [HL_OP_ASINH] = HL_MATH_ASINH,
    [HL_OP_ACOSH] = HL_MATH_ACOSH,       [HL_OP_ATANH] = HL_MATH_ATANH,
};

static double function_f64(hl_opcode opcode, double x)
{
  switch (opcode) {
  case HL_OP_SQRT:
    return sqrt(x);
  case HL_OP_RSQRT:
    return 1 / sqrt(x);
  default:
    return hl_math_eval_f64(functions[opcode], &x);
  }
}

static float function_f32(hl_opcode opcode, float x)
{
  switch (opcode) {
  case HL_OP_SQRT:
    return sqrtf(x);
  case HL_OP_RSQRT:
    return 1 / sqrtf(x);
  default:
    return hl_math_eval_f32(functions[opcode], &x);
  }
}

static hl_scalar unary_float(hl_opcode opcode, hl_element_type type, hl_scalar x)
{
  double value = hl_scalar_double(type, x), exact;
  if (opcode == HL_OP_NEGATE || opcode == HL_OP_ABS)
    return change_sign(opcode, type, x);
  if (opcode == HL_OP_IS_FINITE)
    return hl_scalar_part((bool)isfinite(value));
  if (exact_function(opcode, value, &exact))
    return hl_scalar_of_double(type, exact);
  if (hl_computes_in_double(type))
    return hl_scalar_of_double(type, function_f64(opcode, value));
  return hl_scalar_of_float(type, function_f32(opcode, (float)value));
}

hl_scalar hl_scalar_unary(hl_opcode opcode, hl_element_type type, hl_scalar x)
{
  switch (hl_type_class_of(type)) {
  case HL_CLASS_PRED: /* not */
    return hl_scalar_part(!x.re);
  case HL_CLASS_FLOAT:
    return unary_float(opcode, type, x);
  case HL_CLASS_COMPLEX:
    return hl_complex_unary(opcode, type, x);
  default:
    return unary_int(opcode, type, x);
  }
}
