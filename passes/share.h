/* share.h - which stored values of a computation lie in the same memory, one after the other. */
#ifndef HL_SHARE_H
#define HL_SHARE_H

#include "fuse.h"
#include "leaf.h"

typedef struct hl_share_request {
  hl_arena *arena;
  const hl_computation *computation;
  hl_fusion_plan *plan; /* units may be put into another order */
  hl_leaf_facts *facts;
  hl_buffer **const *parameters; /* per parameter: its leaves */
  hl_buffer *
      *targets; /* per leaf of the root: where it has to be in the end; entries may be NULL */
} hl_share_request;

typedef struct hl_sharing {
  const int *first; /* per instruction (scratch): number of the value of its first leaf; -1: it is
                       not written by a unit */
  int *leader;      /* per value: the one that stands for all that share its memory */
  hl_buffer **buffers; /* per leader: their memory; NULL: a temporary that is still to be made */
} hl_sharing;

hl_sharing *hl_share(const hl_share_request *request);

/* The entry of sharing->buffers for leaf `leaf` of a stored instruction. */
static inline hl_buffer **hl_shared_place(const hl_sharing *sharing, const hl_instruction *ins,
                                          int leaf)
{
  return &sharing->buffers[sharing->leader[sharing->first[ins->scratch] + leaf]];
}

#endif
