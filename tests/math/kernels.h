/* kernels.h - compiled loops over the mathematical functions, for the tests that hold them against
 * the evaluator. What fails aborts.
 */
#ifndef HL_TESTS_MATH_KERNELS_H
#define HL_TESTS_MATH_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/math.h"

/* out[i] = fn(x[i], y[i]) for i < n, n a positive multiple of the lanes. */
typedef void math_kernel(const void *x, const void *y, void *out, int64_t n);

/* Type, lanes (1: scalars), and whether LLVM's scalar passes run. */
typedef struct math_form {
  bool is_f64, is_optimised;
  unsigned lanes;
} math_form;

typedef struct math_kernels math_kernels;

/* Compiles every function in every form. */
math_kernels *math_kernels_new(const math_form *forms, int count);
math_kernel *math_kernels_find(const math_kernels *k, int form, hl_math_fn fn);
void math_kernels_free(math_kernels *k);

#endif
