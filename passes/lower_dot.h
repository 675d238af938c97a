/* lower_dot.h - what dot shares with convolution and ragged-dot (numerics.md rules 8 and 9). */
#ifndef HL_LOWER_DOT_H
#define HL_LOWER_DOT_H

#include "lower_complex.h"

enum { HL_DOT_BLOCK = 1024 };

/* The accumulator of a contraction; the component type for complex numbers. */
hl_element_type hl_dot_accumulator(const hl_instruction *ins);

/* One operand: its dimensions and the place of an element in it. */
typedef struct hl_dot_side {
  const hl_instruction *operand;
  hl_ints batch, contracting;
  int64_t group; /* a dimension that is neither these nor free, or -1 */
  hl_index *at;
} hl_dot_side;
/* The sides of a dot by its attributes. */
hl_dot_side hl_dot_lhs(const hl_instruction *ins);
hl_dot_side hl_dot_rhs(const hl_instruction *ins);
/* Sets the batch and free dimensions of both from the result's index. */
void hl_place_dot(hl_puller *p, hl_dot_side *l, hl_dot_side *r, const hl_index *index);
/* The dot over all contracting dimensions, rounded to the result's type. */
hl_value hl_put_dot(hl_puller *p, const hl_instruction *ins, hl_dot_side *l, hl_dot_side *r,
                    hl_scope *scope);

/* sum + l * r of complex numbers, in four steps. */
hl_value hl_put_product_sum(hl_puller *p, hl_value l, hl_value r, hl_value sum);

#endif
