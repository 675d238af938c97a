/* rewrite - what the passes share: making instructions, looking through them, and which
 * computations they may touch. */
#ifndef HL_REWRITE_H
#define HL_REWRITE_H

#include "pass.h"

/* Makers: the new instruction stands before `origin` and takes its place in the source. Those of
 * data movement return the operand itself where nothing would move. Shapes have no layout. */
hl_instruction *hl_make_reshape(hl_instruction *origin, hl_instruction *operand, int rank,
                                const int64_t *dimensions);
hl_instruction *hl_make_broadcast(hl_instruction *origin, hl_instruction *operand, int rank,
                                  const int64_t *dimensions, const int64_t *positions);
hl_instruction *hl_make_transpose(hl_instruction *origin, hl_instruction *operand,
                                  const int64_t *permutation);
hl_instruction *hl_make_slice(hl_instruction *origin, hl_instruction *operand,
                              const hl_slice_dim *dims);
hl_instruction *hl_make_reverse(hl_instruction *origin, hl_instruction *operand, int count,
                                const int64_t *dimensions);
hl_instruction *hl_make_constant(hl_instruction *origin, const hl_literal *literal);
/* A scalar constant, broadcast to the dimensions of `origin`. */
hl_instruction *hl_make_splat(hl_instruction *origin, const hl_literal *scalar);
/* `ins` again, before itself, with another shape and other operands (as many): its attributes and
 * marks are kept. */
hl_instruction *hl_make_again(hl_instruction *ins, const hl_shape *shape,
                              hl_instruction *const *operands);
/* The same before `before`, in its computation. */
hl_instruction *hl_make_again_at(const hl_instruction *ins, hl_instruction *before,
                                 const hl_shape *shape, hl_instruction *const *operands);

hl_arena *hl_arena_of(const hl_instruction *ins);
/* The literal of a constant of equal elements, seen through broadcasts and reshapes; NULL for
 * anything else. */
const hl_literal *hl_splat_of(const hl_instruction *ins);
/* A broadcast of a scalar, or NULL: the scalar. */
hl_instruction *hl_broadcast_scalar(const hl_instruction *ins);
bool hl_is_dead(const hl_instruction *ins); /* nobody uses it and it is not the root */
/* Whether the dimensions apart from those of size 1 are the same, in the same order. */
bool hl_differ_in_ones(const hl_shape *a, const hl_shape *b);

/* Sets computation->scratch to 1 for the flow of the module, which passes may rewrite: the entry
 * and what whiles, conditionals and calls run. The others are regions: reducers, comparators and
 * the like. numerics.md goes by the form of a region (`exactly one add`), so only inlining, what is
 * done before it, and the removal of dead code may change them. */
void hl_mark_flow(hl_module *module);
/* Marks the flow and offers each of its instructions, in order, to `rewrite`, which may remove it and add others before it.
 * Returns whether any call changed something. */
bool hl_rewrite_flow(hl_module *module, bool (*rewrite)(hl_instruction *));
/* Removes computations that the entry does not reach; returns whether there were any. */
bool hl_drop_unreached(hl_module *module);

/* Instructions of the whole module. */
int64_t hl_module_size(const hl_module *module);

#endif
