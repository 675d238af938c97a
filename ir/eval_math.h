/* eval_math.h - the mathematical functions for the evaluator: bit for bit what compiled code
 * computes.
 *
 * f16, bf16 and smaller types compute in f32; their caller rounds the result once. A NaN result is
 * the NaN of docs/numerics.md, rule 2. Errors are at most 2 ULP; docs/math.md has the measured
 * ones.
 */
#ifndef HL_IR_EVAL_MATH_H
#define HL_IR_EVAL_MATH_H

#include "math.h"

#define HL_MATH_DECLARE_1(name)                                                                    \
  float hl_math_##name##_f32(float x);                                                             \
  double hl_math_##name##_f64(double x);
#define HL_MATH_DECLARE_2(name)                                                                    \
  float hl_math_##name##_f32(float x, float y);                                                    \
  double hl_math_##name##_f64(double x, double y);
#define HL_MATH(id, name, arity) HL_MATH_DECLARE_##arity(name)
#include "math.def"
#undef HL_MATH_DECLARE_1
#undef HL_MATH_DECLARE_2

/* Function fn of hl_math_arity(fn) arguments. */
float hl_math_eval_f32(hl_math_fn fn, const float *args);
double hl_math_eval_f64(hl_math_fn fn, const double *args);

#endif
