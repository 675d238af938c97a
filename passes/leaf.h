/* leaf.h - arrays inside tuples: leaves, numbered in order, and the instructions that make them. */
#ifndef HL_LEAF_H
#define HL_LEAF_H

#include "../ir/module.h"
#include "../ir/str.h"

int hl_leaf_count(const hl_shape *shape);
const hl_shape *hl_leaf_shape(const hl_shape *shape, int leaf);
/* The first leaf of element `index` of a tuple shape. */
int hl_leaf_offset(const hl_shape *shape, int index);

/* What is known of computations, by name; all of it is found when it is asked for. */
typedef struct hl_leaf_facts {
  hl_arena *arena;
  hl_map kept;    /* bool per leaf of a loop body: it comes back as it was */
  hl_map origins; /* int per leaf of a root: hl_leaf_origin */
} hl_leaf_facts;

hl_leaf_facts hl_leaf_facts_new(hl_arena *arena);

/* The instruction that makes leaf *leaf of ins, and which leaf of it, through tuples and their
 * elements and (facts not NULL) loops that only carry it. */
hl_instruction *hl_leaf_source(hl_leaf_facts *facts, hl_instruction *ins, int *leaf);
/* Whether a loop with this body only carries leaf `leaf` of its state. */
bool hl_leaf_is_kept(hl_leaf_facts *facts, const hl_computation *body, int leaf);
/* The leaf of the parameter (of a computation with one) that leaf `leaf` of the root is an updated
 * form of: the one whose memory it would best be written to; -1: none. */
int hl_leaf_origin(hl_leaf_facts *facts, const hl_computation *computation, int leaf);

/* Computation i of a conditional. */
hl_computation *hl_branch_of(const hl_instruction *conditional, int i);

#endif
