/* loop_eval_convert.c - stored forms and their values; convert (spec 10.3) and reduce-precision
 * (10.4) of the interpreter. */
#include "loop_eval.h"

#include <math.h>
#include <string.h>

double hl_loop_real(hl_element_type type, uint64_t bits)
{
  if (type == HL_F32) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
  }
  return hl_float_decode(type, bits);
}

uint64_t hl_loop_real_bits(hl_element_type type, double value)
{
  if (isnan(value))
    return hl_float_nan_bits(type);
  if (type == HL_F32) {
    float rounded = (float)value;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return bits;
  }
  return hl_float_encode(type, value);
}

int64_t hl_loop_int(hl_element_type type, uint64_t bits)
{
  int unused = 64 - hl_type_bits(type);
  if (hl_type_class_of(type) == HL_CLASS_SIGNED)
    return (int64_t)(bits << unused) >> unused;
  return (int64_t)(bits << unused >> unused);
}

uint64_t hl_loop_int_bits(hl_element_type type, int64_t value)
{
  uint64_t wrapped = (uint64_t)hl_loop_int(type, (uint64_t)value);
  return wrapped & (UINT64_MAX >> (64 - 8 * hl_type_bytes(type)));
}

/* An integer as a double that rounds to any narrower float like the integer itself: bits that do
 * not fit set the last one that does, so that nothing falls on a tie that was none. */
static double real_of_magnitude(uint64_t magnitude)
{
  enum { EXCESS = 64 - 53 };
  if (magnitude >> 53 == 0)
    return (double)magnitude;
  uint64_t lost = magnitude & ((UINT64_C(1) << EXCESS) - 1);
  return ldexp((double)(magnitude >> EXCESS | (lost != 0)), EXCESS);
}

static uint64_t real_bits_of_int(hl_element_type to, hl_element_type from, uint64_t bits)
{
  int64_t value = hl_loop_int(from, bits);
  bool is_negative = hl_type_class_of(from) == HL_CLASS_SIGNED && value < 0;
  uint64_t magnitude = is_negative ? -(uint64_t)value : (uint64_t)value;
  double real = to == HL_F64 ? (double)magnitude : real_of_magnitude(magnitude);
  return hl_loop_real_bits(to, is_negative ? -real : real);
}

/* Truncated and saturated; the powers of two are exact, so the compares are. */
static uint64_t int_bits_of_real(hl_element_type to, double value)
{
  bool is_signed = hl_type_class_of(to) == HL_CLASS_SIGNED;
  int width = hl_type_bits(to) - (is_signed ? 1 : 0);
  uint64_t largest = width == 0 ? 0 : UINT64_MAX >> (64 - width);
  if (isnan(value))
    return 0;
  if (value >= ldexp(1, width))
    return hl_loop_int_bits(to, (int64_t)largest);
  if (value <= (is_signed ? -ldexp(1, width) : 0))
    return hl_loop_int_bits(to, is_signed ? -(int64_t)largest - 1 : 0);
  return hl_loop_int_bits(to, value < 0 ? (int64_t)value : (int64_t)(uint64_t)value);
}

uint64_t hl_loop_eval_convert(hl_element_type to, hl_element_type from, uint64_t bits)
{
  if (to == from)
    return bits;
  if (hl_is_float(from)) {
    double value = hl_loop_real(from, bits);
    if (to == HL_PRED)
      return value != 0;
    return hl_is_float(to) ? hl_loop_real_bits(to, value) : int_bits_of_real(to, value);
  }
  if (to == HL_PRED)
    return hl_loop_int(from, bits) != 0;
  return hl_is_float(to) ? real_bits_of_int(to, from, bits)
                         : hl_loop_int_bits(to, hl_loop_int(from, bits));
}

/* A float format as bits: exponent above mantissa, the sign apart. */
typedef struct layout {
  hl_element_type type;
  int exponent_bits, mantissa_bits;
} layout;

static const layout single = {HL_F32, 8, 23}, twice = {HL_F64, 11, 52};

/* Ties to even; a carry goes on into the exponent, as it should. */
static uint64_t round_mantissa(uint64_t magnitude, int dropped)
{
  if (dropped <= 0)
    return magnitude;
  uint64_t half = UINT64_C(1) << (dropped - 1), is_odd = magnitude >> dropped & 1;
  return (magnitude + half - 1 + is_odd) >> dropped << dropped;
}

/* Magnitude bits after the range of a narrower exponent: infinity above it, 0 below its smallest
 * normal. */
static uint64_t clip_range(const layout *l, uint64_t magnitude, int exponent_bits)
{
  if (exponent_bits >= l->exponent_bits)
    return magnitude;
  int bias = (1 << (l->exponent_bits - 1)) - 1, reach = (1 << (exponent_bits - 1)) - 1;
  int exponent = (int)(magnitude >> l->mantissa_bits) - bias;
  uint64_t infinity = ((UINT64_C(1) << l->exponent_bits) - 1) << l->mantissa_bits;
  if (exponent > reach)
    return infinity;
  return exponent < 1 - reach ? 0 : magnitude;
}

/* In the type that the ops of `type` compute in (numerics rule 1), then rounded to it. */
uint64_t hl_loop_eval_precision(hl_element_type type, uint64_t bits, int exponent_bits,
                                int mantissa_bits)
{
  const layout *l = type == HL_F64 ? &twice : &single;
  double value = hl_loop_real(type, bits);
  if (isnan(value))
    return hl_float_nan_bits(type);
  uint64_t wide = hl_loop_real_bits(l->type, value);
  uint64_t sign = wide & UINT64_C(1) << (l->exponent_bits + l->mantissa_bits);
  uint64_t magnitude = round_mantissa(wide ^ sign, l->mantissa_bits - mantissa_bits);
  uint64_t rounded = sign | clip_range(l, magnitude, exponent_bits);
  return hl_loop_real_bits(type, hl_loop_real(l->type, rounded));
}
