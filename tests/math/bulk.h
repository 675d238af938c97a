/* bulk.h - blocks of arguments through the evaluator and through the reference, in vectors. */
#ifndef HL_TESTS_MATH_BULK_H
#define HL_TESTS_MATH_BULK_H

#include "ir/math.h"

enum { BULK = 1 << 14 };

/* out[i] = fn(x[i], y[i]) of the evaluator for i < BULK. */
void hl_bulk_f32(hl_math_fn fn, const float *x, const float *y, float *out);
void hl_bulk_f64(hl_math_fn fn, const double *x, const double *y, double *out);

/* fn of one argument in f64 for numbers of f32 within 4 ULP of f64, except that results beyond the
 * range of f32 may be other numbers beyond it. */
void hl_bulk_reference(hl_math_fn fn, const float *x, double *out);

/* error[i] = the error of got[i] in ULP of f32, or infinity where that is for a slower judge to
 * say: a wrong special value, and results about the largest number. Returns the greatest. */
double hl_bulk_errors(const float *got, const double *want, double *error);

#endif
