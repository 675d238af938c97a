/* reference.h - what the mathematical functions should be: libm in f64 to judge f32, MPFR to judge
 * f64 and doubtful f32. */
#ifndef HL_TESTS_MATH_REFERENCE_H
#define HL_TESTS_MATH_REFERENCE_H

#include <mpfr.h>

#include "ir/math.h"

/* fn of hl_math_arity(fn) arguments, with an error of a few units in the last place of f64. */
double hl_reference_f64(hl_math_fn fn, const double *args);

/* The same with an error of a few units in the last place of the processor's widest type. */
long double hl_reference_wide(hl_math_fn fn, const double *args);

/* The same, correctly rounded to the precision of out. */
void hl_reference_mpfr(hl_math_fn fn, mpfr_t out, const double *args);

#endif
