/* loop_edit.h - walking, cleaning and copying kernels: what the loop passes share. */
#ifndef HL_LOOP_EDIT_H
#define HL_LOOP_EDIT_H

#include "../ir/loop.h"

/* Calls visit on every node of a block and of the blocks inside it, outer nodes first. */
typedef void hl_node_visitor(void *user, hl_node *node);
void hl_block_walk(hl_block *block, hl_node_visitor *visit, void *user);
/* The node and, if it has bodies, all in them. */
void hl_node_walk(hl_node *node, hl_node_visitor *visit, void *user);

/* How often a value is used as an operand, limit or yield (of the loop whose body the block is, too), accesses not counted; and how
 * often in accesses. */
typedef struct hl_use_count {
  int plain, in_access;
} hl_use_count;
hl_use_count hl_count_uses(hl_block *block, const hl_node *value);

/* Every use of `old` in the block, and in what it yields, becomes `with`, as a value and as an index; or as a value alone. */
void hl_replace_value(hl_block *block, hl_node *old, hl_node *with);
void hl_replace_plain(hl_block *block, hl_node *old, hl_node *with);
/* In accesses alone: index `old` stands for old + scale * extra from now on. */
void hl_shift_index(hl_arena *arena, hl_block *block, hl_node *old, hl_node *extra, int64_t scale);

/* Removes values that nothing uses and loops without effect. */
void hl_kernel_dce(hl_kernel *kernel);
/* One node for equal values of a block. */
void hl_kernel_cse(hl_kernel *kernel);
/* A deep copy with parameters of its own in the same order; *followed is the copy of `follow` (may be NULL). */
hl_kernel *hl_kernel_clone(const hl_kernel *kernel, const char *name, const hl_node *follow, hl_node **followed);

/* Moves a RESULT right behind its loop, in the order of results. */
void hl_node_place_result(hl_node *result);
/* The reduce (of one var, combined in index order) becomes a fold that starts from inits. Its results stay. */
void hl_reduce_to_fold(hl_kernel *kernel, hl_node *reduce, hl_node *const *inits);

/* Passes over one kernel. */
void hl_kernel_write_out(hl_kernel *kernel);
void hl_kernel_fuse_reduces(hl_kernel *kernel);
void hl_kernel_coalesce(hl_kernel *kernel);

#endif
