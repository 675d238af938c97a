/* fuse_kinds - what fusion asks of one instruction, whatever stands around it. */
#ifndef HL_FUSE_KINDS_H
#define HL_FUSE_KINDS_H

#include "../ir/module.h"

enum {
  HL_CHEAP = 8,     /* cost up to which an element is computed again rather than stored */
  HL_MATH_COST = 12 /* of a mathematical function */
};

/* Elements of an array, or of the first array of a tuple; 0 for a token. */
int64_t hl_elements(const hl_shape *shape);
/* Puts arrays together or takes them apart. */
bool hl_is_bundle(const hl_instruction *ins);
/* A step of its own: others run inside, or outside of the program. */
bool hl_is_control(const hl_instruction *ins);
/* A step whose order among its like can be seen. */
bool hl_is_effect(const hl_instruction *ins);
/* Computed by a kernel of its own, which nothing else joins; its operands may be computed on the way when that is cheap. */
bool hl_is_whole(const hl_instruction *ins);
/* Reads elements of its operands many times: they are cheap or stored, and each of its own elements is computed once. */
bool hl_is_contraction(const hl_instruction *ins);
/* Its elements are dear: a reduction, or a contraction. */
bool hl_is_heavy(const hl_instruction *ins);
/* In memory from the start. */
bool hl_is_given(const hl_instruction *ins);
/* What an element costs beyond its operands: about one a plain operation. */
int hl_own_cost(const hl_instruction *ins);
/* Puts elements apart: a pad with holes between them. */
bool hl_is_spread(const hl_instruction *ins);
/* Costs nothing to compute wherever it is read: moves, conversions, iota, constants. */
bool hl_is_view(const hl_instruction *ins);
/* Whether an array is in memory that may be written: what another update, a loop or a branch leaves there. */
bool hl_is_writable(const hl_instruction *ins);
/* Whether it is an array in memory, writable or not. */
bool hl_is_in_memory(const hl_instruction *ins);

#endif
