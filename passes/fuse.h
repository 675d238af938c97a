/* fuse.h - what fuse.c decides for one computation. */
#ifndef HL_FUSE_H
#define HL_FUSE_H

#include "lower.h"

typedef enum hl_unit_kind {
  HL_UNIT_KERNEL, /* loops that write the roots */
  HL_UNIT_CONTROL /* while, conditional or custom-call: roots holds that instruction alone */
} hl_unit_kind;

/* Why an instruction is written to memory. */
typedef enum hl_stored_for {
  HL_FUSED, /* it is not: its users' kernels compute it */
  HL_STORED_RESULT,
  HL_STORED_ARGUMENT,
  HL_STORED_CONTROL,
  HL_STORED_WHOLE,
  HL_STORED_UPDATE,
  HL_STORED_UNUSED,
  HL_STORED_LEVEL,
  HL_STORED_DEPTH,
  HL_STORED_LENGTH,
  HL_STORED_MANY,
  HL_STORED_SHARED,
  HL_STORED_IN_PRODUCT,
  HL_STORED_IN_WHOLE,
  HL_STORED_PIECES,
  HL_STORED_GATHERED,
  HL_STORED_SPREAD,
  HL_STORED_PRODUCT,
  HL_STORED_ORDER,
  HL_STORED_FEW_ROWS,
  HL_STORED_LONG_ROWS,
  HL_STORED_REPEATED
} hl_stored_for;

/* The reason as a clause: "it is a result". */
const char *hl_stored_text(hl_stored_for reason);

/* A reduction that is computed inside a kernel: dimension d of its result lies on loop map[d] of the
 * roots; HL_MAP_ONE: it has size 1. */
typedef struct hl_inlined {
  hl_instruction *instruction;
  const int8_t *map;
} hl_inlined;

/* Where a dimension of an instruction lies in the loops of its kernel, when it is no loop of the roots. */
enum { HL_MAP_ONE = -1, HL_MAP_OTHER = -2, HL_MAP_REDUCED = -3 };

/* The shape whose dimensions a kernel with this root runs over: that of the first element of a tuple. */
const hl_shape *hl_domain_of(const hl_instruction *ins);
/* A root's own dimensions are the loops. */
int8_t *hl_identity_map(hl_arena *arena, const hl_shape *shape);
/* The map of operand i of user, whose own map is `map`. */
int8_t *hl_operand_map(hl_arena *arena, const hl_instruction *user, int i, const int8_t *map);

/* Something that runs as one step: a kernel or a control instruction. */
typedef struct hl_unit {
  hl_unit_kind kind;
  const hl_shape *domain; /* what the loops run over: the shape of all roots, of updates' windows */
  hl_instruction **roots;
  int root_count;
  size_t root_capacity;
  int inlined_count;   /* instructions evaluated inside */
  hl_inlined *reduces; /* those of them that are reductions, last first */
  int reduce_count;
  size_t reduce_capacity;
} hl_unit;

/* Per instruction, by instruction->scratch (its position). */
typedef struct hl_placement {
  hl_instruction *instruction;
  bool is_stored;   /* written to memory by a unit, or there from the start (parameter, constant array) */
  bool is_dead;
  hl_stored_for reason;
  const struct hl_unit *unit; /* that writes it; NULL: none */
  bool is_update;   /* a dynamic-update-slice: its unit writes the window alone, the rest is there or copied before */
  bool is_cached;   /* worth a row scratch when a kernel needs it in more than one loop */
} hl_placement;

typedef struct hl_fusion_plan {
  hl_placement *placements;
  int count;
  hl_unit **units; /* in an order that respects dependencies */
  int unit_count;
} hl_fusion_plan;

/* Decides for one computation. Numbers its instructions through instruction->scratch. */
hl_fusion_plan *hl_fuse(hl_arena *arena, hl_computation *computation, const hl_lower_options *options);

/* What the kernel of a unit computes, in the order of the computation. */
const hl_origin *hl_unit_origins(const hl_fusion_plan *plan, const hl_unit *unit, hl_arena *arena, int *count);

static inline hl_placement *hl_placement_of(const hl_fusion_plan *plan, const hl_instruction *ins)
{
  return &plan->placements[ins->scratch];
}

#endif
