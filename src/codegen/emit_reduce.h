/* emit_reduce - what the two ways to emit a REDUCE share: accumulators, trees and nests of loops.
 */
#ifndef HL_EMIT_REDUCE_H
#define HL_EMIT_REDUCE_H

#include "emit.h"

enum { HL_ROW_BLOCK = 4096, HL_COL_BLOCK = 256, HL_DOT_BLOCK = 1024 };

/* L of numerics rule 4: 128 bytes of the accumulator's type. */
int hl_row_lanes(hl_element_type type);
/* Levels of blocks of `block` elements over `count` elements: 1 when one block holds them all. */
int hl_block_levels(int64_t count, int64_t block);
/* Elements of a REDUCE or FOLD, limits aside. */
int64_t hl_loop_count(const hl_loop *loop);
/* The first yield of combiner `index`: a dot has two. */
int hl_first_yield(const hl_loop *loop, int index);

LLVMValueRef hl_emit_identity(hl_emitter *e, const hl_combiner *combiner, int lanes);
/* for h = n/2, ..., 1: lane l := lane l o lane l+h; the value is lane 0. `lanes` is a vector. */
LLVMValueRef hl_emit_tree(hl_emitter *e, const hl_combiner *combiner, LLVMValueRef lanes);

/* Sets RESULT `index` of a loop. */
void hl_emit_set_result(hl_emitter *e, const hl_node *node, int index, hl_value value);

#endif
