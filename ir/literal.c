/* literal - constant data, and the float formats that it is stored in.
 *
 * Real element types take one part an element, complex types two; `index` counts parts here.
 */
#include "literal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A binary float format. The largest bits below are those without the sign. */
typedef struct float_format {
  int mantissa_bits, bias;
  uint32_t max_bits;   /* of the largest finite value */
  uint32_t nan_bits;   /* canonical NaN */
  uint32_t infinity_bits; /* 0: none */
  bool is_unsigned_zero; /* fnuz: minus zero is the NaN */
  bool is_saturating;  /* neither infinity nor NaN */
} float_format;

static const float_format formats[HL_TYPE_COUNT] = {
    [HL_F4E2M1FN] = {.mantissa_bits = 1, .bias = 1, .max_bits = 0x7, .nan_bits = 0x8, .is_saturating = true},
    [HL_F6E2M3FN] = {.mantissa_bits = 3, .bias = 1, .max_bits = 0x1f, .nan_bits = 0x20, .is_saturating = true},
    [HL_F6E3M2FN] = {.mantissa_bits = 2, .bias = 3, .max_bits = 0x1f, .nan_bits = 0x20, .is_saturating = true},
    [HL_F8E3M4] = {.mantissa_bits = 4, .bias = 3, .max_bits = 0x6f, .nan_bits = 0x78, .infinity_bits = 0x70},
    [HL_F8E4M3] = {.mantissa_bits = 3, .bias = 7, .max_bits = 0x77, .nan_bits = 0x7c, .infinity_bits = 0x78},
    [HL_F8E4M3B11FNUZ] = {.mantissa_bits = 3, .bias = 11, .max_bits = 0x7f, .nan_bits = 0x80, .is_unsigned_zero = true},
    [HL_F8E4M3FN] = {.mantissa_bits = 3, .bias = 7, .max_bits = 0x7e, .nan_bits = 0x7f},
    [HL_F8E4M3FNUZ] = {.mantissa_bits = 3, .bias = 8, .max_bits = 0x7f, .nan_bits = 0x80, .is_unsigned_zero = true},
    [HL_F8E5M2] = {.mantissa_bits = 2, .bias = 15, .max_bits = 0x7b, .nan_bits = 0x7e, .infinity_bits = 0x7c},
    [HL_F8E5M2FNUZ] = {.mantissa_bits = 2, .bias = 16, .max_bits = 0x7f, .nan_bits = 0x80, .is_unsigned_zero = true},
    [HL_F8E8M0FNU] = {.mantissa_bits = 0, .bias = 127, .max_bits = 0xfe, .nan_bits = 0xff},
    [HL_F16] = {.mantissa_bits = 10, .bias = 15, .max_bits = 0x7bff, .nan_bits = 0x7e00, .infinity_bits = 0x7c00},
    [HL_BF16] = {.mantissa_bits = 7, .bias = 127, .max_bits = 0x7f7f, .nan_bits = 0x7fc0, .infinity_bits = 0x7f80},
    [HL_F32] = {.mantissa_bits = 23,
                .bias = 127,
                .max_bits = 0x7f7fffff,
                .nan_bits = 0x7fc00000,
                .infinity_bits = 0x7f800000},
    [HL_F64] = {.mantissa_bits = 52, .bias = 1023}, /* converted by copying */
};

static uint64_t bits_of_double(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double double_of_bits(uint64_t bits)
{
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t sign_bit(hl_element_type type)
{
  return UINT64_C(1) << (hl_type_bits(type) - 1);
}

uint64_t hl_float_nan_bits(hl_element_type type)
{
  return type == HL_F64 ? UINT64_C(0x7ff8000000000000) : formats[type].nan_bits;
}

double hl_float_max_finite(hl_element_type type)
{
  return type == HL_F64 ? 0x1.fffffffffffffp1023 : hl_float_decode(type, formats[type].max_bits);
}

int hl_float_mantissa_bits(hl_element_type type)
{
  return formats[type].mantissa_bits;
}

bool hl_float_has_infinity(hl_element_type type)
{
  return type == HL_F64 || formats[type].infinity_bits;
}

/* The nearest whole number, ties to even, in any rounding mode; 0 <= x < 2^53. */
static uint64_t round_whole(double x)
{
  uint64_t whole = (uint64_t)x;
  double rest = x - (double)whole;
  return whole + (rest > 0.5 || (rest == 0.5 && whole % 2));
}

/* Powers of two without sign or zero; half way goes up, and what lies below all values becomes the least, as ml_dtypes has it. */
static uint64_t encode_power(const float_format *f, double value)
{
  int exponent;
  if (!(value > 0) || isinf(value))
    return f->nan_bits;
  double fraction = frexp(value, &exponent); /* in [0.5, 1) */
  int bits = exponent - 1 + f->bias + (fraction >= 0.75);
  if (bits < 0)
    return 0;
  return bits > (int)f->max_bits ? f->nan_bits : (uint64_t)bits;
}

/* The bits without sign of a magnitude: they grow by one from each value to the next, so a carry out of the mantissa is right. */
static uint64_t encode_magnitude(const float_format *f, double magnitude)
{
  int exponent, lowest = 1 - f->bias;
  frexp(magnitude, &exponent);
  int top = exponent - 1 < lowest ? lowest : exponent - 1;
  uint64_t whole = round_whole(ldexp(magnitude, f->mantissa_bits - top));
  uint64_t bits = ((uint64_t)(top - lowest) << f->mantissa_bits) + whole;
  if (bits <= f->max_bits)
    return bits;
  return f->is_saturating ? f->max_bits : f->infinity_bits ? f->infinity_bits : f->nan_bits;
}

uint64_t hl_float_encode(hl_element_type type, double value)
{
  const float_format *f = &formats[type];
  if (isnan(value))
    return hl_float_nan_bits(type);
  if (type == HL_F64)
    return bits_of_double(value);
  if (type == HL_F8E8M0FNU)
    return encode_power(f, value);
  double magnitude = fabs(value);
  uint64_t bits;
  if (isinf(value))
    bits = f->is_saturating ? f->max_bits : f->infinity_bits ? f->infinity_bits : f->nan_bits;
  else
    bits = magnitude == 0 ? 0 : encode_magnitude(f, magnitude);
  if (bits == f->nan_bits || (f->is_unsigned_zero && bits == 0))
    return bits;
  return signbit(value) ? bits | sign_bit(type) : bits;
}

double hl_float_decode(hl_element_type type, uint64_t bits)
{
  const float_format *f = &formats[type];
  if (type == HL_F64)
    return double_of_bits(bits);
  if (type == HL_F8E8M0FNU)
    return bits == f->nan_bits ? (double)NAN : ldexp(1, (int)bits - f->bias);
  if (f->is_unsigned_zero && bits == f->nan_bits)
    return (double)NAN;
  uint64_t sign = sign_bit(type), magnitude = bits & (sign - 1);
  double value;
  if (magnitude <= f->max_bits) {
    uint64_t hidden = UINT64_C(1) << f->mantissa_bits, exponent = magnitude >> f->mantissa_bits;
    uint64_t mantissa = (magnitude & (hidden - 1)) | (exponent ? hidden : 0);
    value = ldexp((double)mantissa, (int)(exponent ? exponent : 1) - f->bias - f->mantissa_bits);
  } else {
    value = magnitude == f->infinity_bits ? (double)INFINITY : (double)NAN;
  }
  return bits & sign ? -value : value;
}

hl_literal *hl_literal_new(hl_arena *arena, const hl_shape *shape)
{
  hl_literal *literal = HL_NEW(arena, hl_literal);
  literal->shape = shape;
  int64_t bytes = hl_shape_bytes(shape);
  if (bytes)
    literal->data = hl_arena_alloc(arena, (size_t)bytes);
  return literal;
}

static hl_element_type part_type(const hl_literal *literal)
{
  return hl_component_type(literal->shape->element_type);
}


uint64_t hl_literal_get_bits(const hl_literal *literal, int64_t index)
{
  uint64_t bits = 0;
  size_t bytes = (size_t)hl_type_bytes(part_type(literal));
  memcpy(&bits, (const char *)literal->data + (size_t)index * bytes, bytes);
  return bits;
}

void hl_literal_set_bits(hl_literal *literal, int64_t index, uint64_t bits)
{
  size_t bytes = (size_t)hl_type_bytes(part_type(literal));
  memcpy((char *)literal->data + (size_t)index * bytes, &bits, bytes);
}

/* The low `width` bits, sign-extended or zero-extended to 64. */
static uint64_t extend(uint64_t bits, int width, bool is_signed)
{
  int shift = 64 - width;
  return is_signed ? (uint64_t)((int64_t)(bits << shift) >> shift) : bits << shift >> shift;
}

int64_t hl_literal_get_int(const hl_literal *literal, int64_t index)
{
  hl_element_type type = part_type(literal);
  return (int64_t)extend(hl_literal_get_bits(literal, index), hl_type_bits(type),
                         hl_type_class_of(type) == HL_CLASS_SIGNED);
}

void hl_literal_set_int(hl_literal *literal, int64_t index, int64_t value)
{
  hl_element_type type = part_type(literal);
  hl_literal_set_bits(literal, index,
                      extend((uint64_t)value, hl_type_bits(type), hl_type_class_of(type) == HL_CLASS_SIGNED));
}

double hl_literal_get_double(const hl_literal *literal, int64_t index)
{
  hl_element_type type = part_type(literal);
  if (hl_is_float(type))
    return hl_float_decode(type, hl_literal_get_bits(literal, index));
  int64_t value = hl_literal_get_int(literal, index);
  return type == HL_U64 ? (double)(uint64_t)value : (double)value;
}

void hl_literal_set_double(hl_literal *literal, int64_t index, double value)
{
  hl_literal_set_bits(literal, index, hl_float_encode(part_type(literal), value));
}

bool hl_literal_equal(const hl_literal *a, const hl_literal *b)
{
  if (!hl_shape_equal(a->shape, b->shape) || a->is_elided || b->is_elided)
    return false;
  for (int i = 0; i < a->shape->tuple_count; i++)
    if (!hl_literal_equal(a->elements[i], b->elements[i]))
      return false;
  return !a->data || !memcmp(a->data, b->data, (size_t)hl_shape_bytes(a->shape));
}

bool hl_literal_is_splat(const hl_literal *literal)
{
  if (!literal->data)
    return false;
  /* Every element equals the one before it. */
  size_t bytes = (size_t)hl_type_bytes(literal->shape->element_type);
  const char *data = literal->data;
  return !memcmp(data, data + bytes, (size_t)hl_shape_bytes(literal->shape) - bytes);
}

static void print_nan(hl_str *out, hl_element_type type, uint64_t bits)
{
  uint64_t sign = sign_bit(type), nan = hl_float_nan_bits(type);
  if (bits == nan) {
    hl_str_add(out, "nan");
    return;
  }
  hl_str_add(out, bits & sign ? "-nan" : "nan");
  uint64_t payload = bits & ((UINT64_C(1) << formats[type].mantissa_bits) - 1);
  if ((bits & (sign - 1)) != (nan & (sign - 1)))
    hl_str_printf(out, "(0x%" PRIx64 ")", payload);
}

/* The shortest of a few precisions that reads back to the same bits; the decimal point does not follow the locale. */
static void print_finite(hl_str *out, hl_element_type type, uint64_t bits)
{
  char text[320]; /* gcc takes %g for %f here */
  double value = hl_float_decode(type, bits);
  int precision = formats[type].mantissa_bits * 3 / 10;
  for (precision = precision < 1 ? 1 : precision; precision < 17; precision++) {
    snprintf(text, sizeof text, "%.*g", precision, value);
    if (hl_float_encode(type, strtod(text, NULL)) == bits)
      break;
  }
  if (precision == 17)
    snprintf(text, sizeof text, "%.17g", value);
  for (char *p = text; *p; p++)
    if (!strchr("+-0123456789e", *p))
      *p = '.';
  hl_str_add(out, text);
}

static void print_float(hl_str *out, hl_element_type type, uint64_t bits)
{
  double value = hl_float_decode(type, bits);
  if (isnan(value))
    print_nan(out, type, bits);
  else if (isinf(value))
    hl_str_add(out, value < 0 ? "-inf" : "inf");
  else
    print_finite(out, type, bits);
}

static void print_part(hl_str *out, const hl_literal *literal, int64_t index)
{
  hl_element_type type = part_type(literal);
  int64_t value = hl_is_float(type) ? 0 : hl_literal_get_int(literal, index);
  switch (hl_type_class_of(type)) {
  case HL_CLASS_PRED:
    hl_str_add(out, value ? "true" : "false");
    break;
  case HL_CLASS_UNSIGNED:
    hl_str_printf(out, "%" PRIu64, (uint64_t)value);
    break;
  case HL_CLASS_SIGNED:
    hl_str_printf(out, "%" PRId64, value);
    break;
  default:
    print_float(out, type, hl_literal_get_bits(literal, index));
  }
}

void hl_literal_print_element(hl_str *out, const hl_literal *literal, int64_t index)
{
  if (!hl_is_complex(literal->shape->element_type)) {
    print_part(out, literal, index);
    return;
  }
  hl_str_add_char(out, '(');
  print_part(out, literal, 2 * index);
  hl_str_add(out, ", ");
  print_part(out, literal, 2 * index + 1);
  hl_str_add_char(out, ')');
}
