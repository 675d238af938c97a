/* eval_contract - the sums of products of dot and convolution (numerics rules 8 and 9). */
#ifndef HL_EVAL_CONTRACT_H
#define HL_EVAL_CONTRACT_H

#include "eval_internal.h"

/* The accumulator of a dot or convolution. */
hl_element_type hl_contraction_type(const hl_instruction *ins);

/* A value of the accumulator's type, in the parts that its arithmetic works on. */
typedef union hl_term {
  float f32[2];  /* f32, c64 */
  double f64[2]; /* f64, c128 */
  uint64_t integer;
} hl_term;

hl_term hl_term_of(hl_element_type accumulator, hl_element_type type, hl_scalar value);

/* Sum of l[k] * r[k] for k from 0 to n, blocks of 1024, in the accumulator's type. Where skip is
 * not NULL and skip[k] is set the place counts but adds nothing. */
hl_scalar hl_contract(hl_element_type accumulator, const hl_term *l, const hl_term *r,
                      const bool *skip, int64_t n);

#endif
