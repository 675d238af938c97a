/* verdict.h - how far a result is from the exact one, in units in the last place of that; a NaN, an
 * infinity or the sign of a zero that is wrong counts as infinity.
 */
#ifndef HL_TESTS_MATH_VERDICT_H
#define HL_TESTS_MATH_VERDICT_H

#include <stdbool.h>

#include "ir/math.h"

/* The worst error of one function. */
typedef struct hl_worst {
  double error;
  double args[2];
} hl_worst;

/* Before anything else: MPFR's whole range of exponents. */
void hl_verdict_start(void);

/* got is a number of f32, want one of f64 near the exact result. */
double hl_error_f32(double got, double want);

/* The same in f64, want being exact to some thousandths of an ULP; infinity about both ends of the
 * range, where MPFR must say. */
double hl_error_f64(double got, long double want);

/* The error of got = fn(args) by MPFR. */
double hl_exact_error(hl_math_fn fn, double got, const double *args, bool is_f64);

void hl_take(hl_worst *w, double error, const double *args);

#endif
