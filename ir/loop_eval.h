/* loop_eval.h - what the parts of the loop IR's interpreter share. Private to ir/loop_eval*.c.
 *
 * Every value is held as the stored form of its type, in the low bits of 64. The interpreter is one of two readings of docs/numerics.md
 * in C; it takes nothing from the other, the evaluator of HLO, but the mathematical functions and the float formats.
 */
#ifndef HL_LOOP_EVAL_H
#define HL_LOOP_EVAL_H

#include "loop.h"

/* The number held in the bits of a float type, and back: rounded once, NaN becomes the NaN. */
double hl_loop_real(hl_element_type type, uint64_t bits);
uint64_t hl_loop_real_bits(hl_element_type type, double value);
/* The integer or pred held in the bits, extended to 64 by its sign or by zeros, and back: wrapped. */
int64_t hl_loop_int(hl_element_type type, uint64_t bits);
uint64_t hl_loop_int_bits(hl_element_type type, int64_t value);

/* CONVERT and PRECISION (loop_eval_convert.c). */
uint64_t hl_loop_eval_convert(hl_element_type to, hl_element_type from, uint64_t bits);
uint64_t hl_loop_eval_precision(hl_element_type type, uint64_t bits, int exponent_bits,
                                int mantissa_bits);

/* The scalar ops (loop_eval_ops.c). */
uint64_t hl_loop_eval_op(const hl_node *node, const uint64_t *args);
/* An op of two operands of one type, not a compare. */
uint64_t hl_loop_eval_binary(hl_loop_op op, hl_element_type type, uint64_t x, uint64_t y);
/* x * y + z: of floats rounded once, of integers wrapped. */
uint64_t hl_loop_eval_fma(hl_element_type type, uint64_t x, uint64_t y, uint64_t z);

/* Reductions (loop_eval_reduce.c): the state of one result while its loop runs. */
typedef struct hl_reduction {
  hl_arena *arena;
  const hl_combiner *combiner;
  uint64_t value;          /* FREE: so far; DOT: the total of the full blocks */
  uint64_t block;          /* DOT: of the block that is running */
  int64_t block_count;     /* DOT: products in it */
  uint64_t *values;        /* ROW, COL: all that were yielded */
  size_t count, capacity;
} hl_reduction;

void hl_reduction_start(hl_reduction *r);
/* One iteration's yield; `right` for DOT alone. */
void hl_reduction_add(hl_reduction *r, uint64_t left, uint64_t right);
uint64_t hl_reduction_finish(hl_reduction *r);

/* Kernels (loop_eval_kernel.c): a frame holds the values of one kernel and serves all its runs. */
typedef struct hl_frame hl_frame;

hl_frame *hl_frame_new(hl_arena *arena, const hl_kernel *kernel);
/* One pointer a parameter, to be set before a run. */
unsigned char **hl_frame_memory(hl_frame *frame);
/* Runs the kernel; false when an access leaves its parameter. */
bool hl_frame_run(hl_frame *frame);

#endif
