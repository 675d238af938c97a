/* emit_reduce - what the two ways to emit a REDUCE share: accumulators, trees and nests of loops.
 */
#ifndef HL_EMIT_REDUCE_H
#define HL_EMIT_REDUCE_H

#include "emit.h"

enum { HL_ROW_BLOCK = 4096, HL_COL_BLOCK = 256, HL_DOT_BLOCK = 1024 };

/* Levels of blocks of `block` elements over `count` elements: 1 when one block holds them all. */
int hl_block_levels(int64_t count, int64_t block);
/* Elements of a REDUCE or FOLD, limits aside. */
int64_t hl_loop_count(const hl_loop *loop);
/* The first yield of combiner `index`: a dot has two. */
int hl_first_yield(const hl_loop *loop, int index);

LLVMValueRef hl_emit_identity(hl_emitter *e, const hl_combiner *combiner, int lanes);
/* for h = n/2, ..., 1: lane l := lane l o lane l+h; the value is lane 0. `lanes` is a vector. */
LLVMValueRef hl_emit_tree(hl_emitter *e, const hl_combiner *combiner, LLVMValueRef lanes);

/* A REDUCE or FOLD as a nest of scalar loops, or, where few iterations of a small body are known,
 * written out (emit_nest.c). */
typedef struct hl_nest hl_nest;
struct hl_nest {
  hl_emitter *e;
  const hl_loop *loop;
  LLVMValueRef *carried; /* from iteration to iteration, in place */
  int carried_count;
  int64_t block;        /* elements after which block_end is called, a power of two; 0: never */
  int counter;          /* in carried: elements so far, for those who need it; else -1 */
  LLVMValueRef element; /* elements before this one: with counter >= 0 */
  int tile;             /* iterations a round, for which loads are made together; 0: one by one */
  bool is_fold;
  bool is_unrolled;
  int64_t unrolled_element; /* the same where is_unrolled */
  void (*body)(hl_nest *n);
  void (*block_end)(hl_nest *n);
  void *context;
};

/* Whether the iterations are to be written out: `count_limit` of them at most. */
bool hl_nest_unrolls(const hl_emitter *e, const hl_loop *loop, int64_t count_limit);
void hl_nest_emit(hl_nest *n);

/* Sets RESULT `index` of a loop. */
void hl_emit_set_result(hl_emitter *e, const hl_node *node, int index, hl_value value);

#endif
