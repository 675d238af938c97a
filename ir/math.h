/* math.h - the mathematical functions as data: their list, their numbers, and which of them a
 * constant power is.
 *
 * The steps are coded twice from the same numbers: ir/eval_math_*.inc for the evaluator and
 * src/codegen/emit_math_*.c for compiled code; docs/math.md describes them. Both give the same
 * bits.
 */
#ifndef HL_IR_MATH_H
#define HL_IR_MATH_H

#include <stdbool.h>
#include <stdint.h>

typedef enum hl_math_fn {
#define HL_MATH(id, name, arity) HL_MATH_##id,
#include "math.def"
  HL_MATH_COUNT
} hl_math_fn;

/* Named apart from the functions, since ERF, SIN and others are both. */
typedef enum hl_math_const {
#define HL_MATH_CONST(id, f32, f64) HL_MATH_CONST_##id,
#include "math.def"
  HL_MATH_CONST_COUNT
} hl_math_const;

typedef enum hl_math_poly {
#define HL_MATH_POLY(id, f32, f64) HL_MATH_POLY_##id,
#include "math.def"
  HL_MATH_POLY_COUNT
} hl_math_poly;

/* n coefficients, lowest order first; each is exactly a number of the type that was asked for. */
typedef struct hl_math_coefficients {
  const double *values;
  int n;
} hl_math_coefficients;

/* The name as in hl_math_<name>_f32, and the number of arguments, 1 or 2. */
const char *hl_math_name(hl_math_fn fn);
int hl_math_arity(hl_math_fn fn);

/* The function that computes pow(x, exponent): an entry of its own, or HL_MATH_POW when there is
 * none. */
hl_math_fn hl_math_pow_constant(double exponent);

double hl_math_number(hl_math_const id, bool is_f64);
hl_math_coefficients hl_math_polynomial(hl_math_poly id, bool is_f64);

/* 1/pi cut into limbs for the reduction of large arguments: limb i counts 2^(-bits i), limb 0 (the
 * integer) is 0; bits is 16 (f32) or 32 (f64). There are hl_math_inv_pi_limbs of them. */
uint32_t hl_math_inv_pi_limb(int i, int bits);
int hl_math_inv_pi_limbs(int bits);

#endif
