/* math.c - tables made from math.def. */
#include "math.h"

#include <stddef.h>

/* clang-format off */
#define LIST(...) {__VA_ARGS__}
/* clang-format on */
#define COUNT(...) (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static const struct {
  const char *name;
  int arity;
} functions[HL_MATH_COUNT] = {
#define HL_MATH(id, name, arity) {#name, arity},
#include "math.def"
};

static const double constants[HL_MATH_CONST_COUNT][2] = {
#define HL_MATH_CONST(id, f32, f64) {f32, f64},
#include "math.def"
};

#define HL_MATH_POLY(id, f32, f64)                                                                 \
  static const double poly_##id##_f32[] = LIST f32;                                                \
  static const double poly_##id##_f64[] = LIST f64;
#include "math.def"

static const hl_math_coefficients polynomials[HL_MATH_POLY_COUNT][2] = {
#define HL_MATH_POLY(id, f32, f64) {{poly_##id##_f32, COUNT f32}, {poly_##id##_f64, COUNT f64}},
#include "math.def"
};

static const uint32_t inv_pi[] = {
#define HL_MATH_INV_PI(...) __VA_ARGS__
#include "math.def"
};

enum { INV_PI_WORDS = sizeof inv_pi / sizeof *inv_pi };

static const struct {
  double exponent;
  hl_math_fn fn;
} powers[] = {
    {0.5, HL_MATH_POW_0_5}, {1, HL_MATH_POW_1},       {1.5, HL_MATH_POW_1_5},
    {2, HL_MATH_POW_2},     {3, HL_MATH_POW_3},       {-0.5, HL_MATH_POW_M0_5},
    {-1, HL_MATH_POW_M1},   {-1.5, HL_MATH_POW_M1_5},
};

const char *hl_math_name(hl_math_fn fn)
{
  return functions[fn].name;
}

int hl_math_arity(hl_math_fn fn)
{
  return functions[fn].arity;
}

hl_math_fn hl_math_pow_constant(double exponent)
{
  for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
    if (powers[i].exponent == exponent)
      return powers[i].fn;
  return HL_MATH_POW;
}

double hl_math_number(hl_math_const id, bool is_f64)
{
  return constants[id][is_f64];
}

hl_math_coefficients hl_math_polynomial(hl_math_poly id, bool is_f64)
{
  return polynomials[id][is_f64];
}

uint32_t hl_math_inv_pi_limb(int i, int bits)
{
  if (i == 0)
    return 0;
  if (bits == 32)
    return inv_pi[i - 1];
  uint32_t word = inv_pi[(i - 1) / 2];
  return i % 2 ? word >> 16 : word & 0xffff;
}

int hl_math_inv_pi_limbs(int bits)
{
  return INV_PI_WORDS * (32 / bits) + 1;
}
