/* schedule.h - parts of the schedule that stand in files of their own. */
#ifndef HL_SCHEDULE_H
#define HL_SCHEDULE_H

#include "loop_edit.h"
#include "lower.h"

/* Operations that a block costs, saturated: an estimate. `skip`: without the nodes whose scratch it is; NULL: of all, and of the loops. */
int64_t hl_block_work(const hl_block *block, const void *skip);

/* for i in 0..n -> for b in 0..ceil(n / chunk): for i in 0..min(chunk, n - chunk * b). Returns the outer loop; the inner one keeps mode. */
hl_node *hl_split_for(hl_kernel *kernel, hl_node *loop, int64_t chunk);

/* Var v of the loop from now on counts inside block `b` of `size`: var -> var + size * b, wherever the body uses it. */
void hl_offset_var(hl_kernel *kernel, hl_loop *loop, int v, hl_node *b, int64_t size);

/* Cuts a large reduction to few results at the blocks of numerics.md rule 4: the step computes one value a block, a new step behind
 * it combines them. Returns whether it did. */
bool hl_split_reduces(hl_program *program, hl_step *step);

/* Cuts a product in blocks, and packs an operand where that pays: then the step packs, and a new step behind it is the product. Returns
 * the product's step. `repeats`: a while runs it. `rows`: of a block, which then stands right inside the loops
 * outside the rows, as they are; 0: as pays. */
hl_step *hl_block_products(hl_program *program, hl_step *step, bool repeats, int64_t rows);

/* Gives parameters the printed dimensions that fit the loops. */
void hl_kernel_show_walks(hl_kernel *kernel);

/* Drops parameters that nothing accesses, and their entries in step->buffers. */
void hl_prune_params(hl_step *step);

#endif
