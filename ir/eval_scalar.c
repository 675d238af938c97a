/* eval_scalar - single elements: stored bits, integers, floats, and conversions (spec 10.3, 10.4).
 */
#include "eval_internal.h"

#include <math.h>
#include <string.h>

static uint64_t low_bits(uint64_t bits, int width)
{
  return width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits;
}

static uint64_t load_bits(const char *data, int64_t index, int bytes)
{
  uint64_t bits = 0;
  memcpy(&bits, data + index * bytes, (size_t)bytes);
  return bits;
}

hl_scalar hl_scalar_load(const hl_literal *literal, int64_t index)
{
  hl_element_type type = literal->shape->element_type;
  const char *data = literal->data;
  int bytes = hl_type_bytes(hl_component_type(type));
  if (hl_is_complex(type))
    return (hl_scalar){load_bits(data, 2 * index, bytes), load_bits(data, 2 * index + 1, bytes)};
  uint64_t bits = load_bits(data, index, bytes);
  return hl_scalar_part(type == HL_PRED ? bits != 0 : bits);
}

void hl_scalar_store(hl_literal *literal, int64_t index, hl_scalar value)
{
  hl_element_type type = literal->shape->element_type;
  size_t bytes = (size_t)hl_type_bytes(hl_component_type(type));
  char *at = (char *)literal->data + index * hl_type_bytes(type);
  memcpy(at, &value.re, bytes);
  if (hl_is_complex(type))
    memcpy(at + bytes, &value.im, bytes);
}

int64_t hl_scalar_int(hl_element_type type, hl_scalar value)
{
  int width = hl_type_bits(type);
  uint64_t bits = low_bits(value.re, width);
  uint64_t sign = UINT64_C(1) << (width - 1);
  return hl_type_class_of(type) == HL_CLASS_SIGNED ? (int64_t)((bits ^ sign) - sign)
                                                   : (int64_t)bits;
}

/* Integers narrower than a byte are stored extended in one. */
hl_scalar hl_scalar_of_int(hl_element_type type, int64_t value)
{
  int64_t extended = hl_scalar_int(type, hl_scalar_part((uint64_t)value));
  return hl_scalar_part(low_bits((uint64_t)extended, 8 * hl_type_bytes(type)));
}

hl_scalar hl_scalar_part(uint64_t bits)
{
  return (hl_scalar){bits, 0};
}

static float float_of_bits(uint32_t bits)
{
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

double hl_scalar_double(hl_element_type type, hl_scalar value)
{
  return type == HL_F64 ? hl_float_decode(HL_F64, value.re) : (double)hl_scalar_float(type, value);
}

float hl_scalar_float(hl_element_type type, hl_scalar value)
{
  if (type == HL_F32)
    return float_of_bits((uint32_t)value.re);
  if (type == HL_BF16)
    return float_of_bits((uint32_t)value.re << 16);
  return (float)hl_float_decode(type, value.re);
}

hl_scalar hl_scalar_of_double(hl_element_type type, double value)
{
  if (type == HL_F32)
    return hl_scalar_of_float(HL_F32, (float)value);
  return hl_scalar_part(hl_float_encode(type, value));
}

hl_scalar hl_scalar_of_float(hl_element_type type, float value)
{
  uint32_t bits;
  if (type != HL_F32)
    return hl_scalar_of_double(type, (double)value);
  memcpy(&bits, &value, sizeof bits);
  return hl_scalar_part(isnan(value) ? hl_float_nan_bits(HL_F32) : bits);
}

static uint64_t canonical_part(hl_element_type type, uint64_t bits)
{
  bool is_nan = isnan(hl_scalar_double(type, hl_scalar_part(bits)));
  return is_nan ? hl_float_nan_bits(type) : bits;
}

hl_scalar hl_scalar_canonical(hl_element_type type, hl_scalar value)
{
  hl_element_type part = hl_component_type(type);
  if (!hl_is_float(part))
    return value;
  value.re = canonical_part(part, value.re);
  if (hl_is_complex(type))
    value.im = canonical_part(part, value.im);
  return value;
}

bool hl_computes_in_double(hl_element_type type)
{
  return hl_component_type(type) == HL_F64;
}

hl_element_type hl_accumulator_type(hl_element_type type)
{
  return hl_is_float(type) && type != HL_F64 ? HL_F32 : type;
}

/* The double nearest to value whose lowest bit is also set when it is not exact ("round to odd"): a
 * further rounding to a type of at most 51 bits then gives what one rounding of value gives. */
static double to_odd(uint64_t magnitude)
{
  int shift = 0;
  uint64_t kept = magnitude, lost = 0;
  for (; kept >> 53; shift++) {
    lost |= kept & 1;
    kept >>= 1;
  }
  return ldexp((double)(kept | lost), shift);
}

/* One rounding, nearest even. */
static hl_scalar float_of_int(hl_element_type to, int64_t value, bool is_signed)
{
  if (to == HL_F64)
    return hl_scalar_of_double(to, is_signed ? (double)value : (double)(uint64_t)value);
  bool is_negative = is_signed && value < 0;
  double magnitude = to_odd(is_negative ? 0 - (uint64_t)value : (uint64_t)value);
  return hl_scalar_of_double(to, is_negative ? -magnitude : magnitude);
}

/* Towards zero; what lies outside of the type becomes its nearest value, NaN becomes 0. */
static hl_scalar int_of_float(hl_element_type to, double value)
{
  bool is_signed = hl_type_class_of(to) == HL_CLASS_SIGNED;
  int width = hl_type_bits(to);
  double end = ldexp(1, is_signed ? width - 1 : width); /* one past the largest */
  double low = is_signed ? -end : 0;
  if (isnan(value))
    return hl_scalar_of_int(to, 0);
  if (value >= end)
    return hl_scalar_of_int(to, (int64_t)(is_signed ? UINT64_MAX >> (64 - width) >> 1 : UINT64_MAX));
  if (value <= low)
    return hl_scalar_of_int(to, is_signed ? (int64_t)(UINT64_MAX << (width - 1)) : 0);
  return hl_scalar_of_int(to, is_signed ? (int64_t)value : (int64_t)(uint64_t)value);
}

static bool is_nonzero(hl_element_type from, hl_scalar value)
{
  if (!hl_is_float(hl_component_type(from)))
    return hl_scalar_int(from, value) != 0;
  hl_element_type part = hl_component_type(from);
  return hl_scalar_double(part, value) != 0 ||
         (hl_is_complex(from) && hl_scalar_double(part, hl_scalar_part(value.im)) != 0);
}

static hl_scalar convert_real(hl_element_type to, hl_element_type from, hl_scalar value)
{
  if (to == from)
    return hl_scalar_canonical(to, value);
  if (hl_is_float(from))
    return hl_is_float(to) ? hl_scalar_of_double(to, hl_scalar_double(from, value))
                           : int_of_float(to, hl_scalar_double(from, value));
  int64_t number = hl_scalar_int(from, value);
  if (hl_is_float(to))
    return float_of_int(to, number, hl_type_class_of(from) == HL_CLASS_SIGNED);
  return hl_scalar_of_int(to, number);
}

hl_scalar hl_scalar_convert(hl_element_type to, hl_element_type from, hl_scalar value)
{
  if (to == from)
    return value;
  if (to == HL_PRED)
    return hl_scalar_part(is_nonzero(from, value));
  hl_element_type to_part = hl_component_type(to), from_part = hl_component_type(from);
  hl_scalar result = convert_real(to_part, from_part, hl_scalar_part(value.re));
  if (hl_is_complex(to) && hl_is_complex(from))
    result.im = convert_real(to_part, from_part, hl_scalar_part(value.im)).re;
  return result;
}

/* x with mantissa_bits behind its leading bit (behind 2^lowest if that is higher), ties to even. Without mantissa bits the even one
 * of two powers of two is the one whose encoded exponent is even; the bias is odd. */
static double round_mantissa(double x, int64_t mantissa_bits, int lowest)
{
  int exponent;
  frexp(x, &exponent);
  if (exponent - 1 < lowest)
    exponent = lowest + 1;
  int shift = (int)mantissa_bits + 1 - exponent;
  if (mantissa_bits == 0 && fabs(ldexp(x, shift)) == 1.5)
    return copysign(ldexp(exponent % 2 ? 2 : 1, -shift), x);
  return ldexp(rint(ldexp(x, shift)), -shift);
}

/* A width of the computing type or more changes nothing of it, subnormals included. */
hl_scalar hl_scalar_reduce_precision(hl_element_type type, hl_scalar value, int64_t exponent_bits,
                                     int64_t mantissa_bits)
{
  bool is_double = hl_computes_in_double(type);
  double x = hl_scalar_double(type, value);
  if (isnan(x) || isinf(x) || x == 0)
    return hl_scalar_of_double(type, x);
  if (mantissa_bits < (is_double ? 52 : 23))
    x = round_mantissa(x, mantissa_bits, is_double ? -1022 : -126);
  if (exponent_bits < (is_double ? 11 : 8)) {
    int largest = (1 << (exponent_bits - 1)) - 1; /* exponent of the largest finite values */
    if (fabs(x) >= ldexp(1, largest + 1))
      x = copysign((double)INFINITY, x);
    else if (fabs(x) < ldexp(1, 1 - largest))
      x = copysign(0, x);
  }
  return hl_scalar_of_double(type, x);
}
