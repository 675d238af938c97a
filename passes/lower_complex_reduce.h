/* lower_complex_reduce.h - what lower_reduce.c leaves to complex numbers. */
#ifndef HL_LOWER_COMPLEX_REDUCE_H
#define HL_LOWER_COMPLEX_REDUCE_H

#include "lower_complex.h"

/* The elements of an operand along some of its dimensions, row-major; the others stay where `at` has them. */
typedef struct hl_sequence {
  const hl_instruction *operand;
  hl_index *at;
  int dim_count;
  const int *dims;
  int lanes;                       /* ROW: L of rule 4; COL: 1 */
  int64_t block;                   /* ROW: 4096; COL: 256 */
  const struct hl_sequence *inner; /* instead of elements: the values of this sequence at each place; or NULL */
} hl_sequence;

/* The complex product of at least one element, in the order of rule 4, without init. */
hl_value hl_put_complex_product(hl_puller *p, const hl_sequence *sequence);

/* Rule 8 for complex numbers: l and r run over dims of equal sizes together. */
hl_value hl_put_complex_dot(hl_puller *p, hl_element_type part, const hl_sequence *l, const hl_sequence *r);

#endif
