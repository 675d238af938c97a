/* expand - what the expand_*.c files share: composite ops are taken apart into simpler ones, which
 * define them (numerics.md rule 14). All makers put the new instruction before `origin`. */
#ifndef HL_EXPAND_H
#define HL_EXPAND_H

#include "rewrite.h"

/* The value that takes the place of an instruction, NULL: it stays; what it is made of stands before it. */
typedef hl_instruction *hl_expand_fn(hl_instruction *ins);

/* Calls expand on every instruction with one of these opcodes (NULL: on every one) and puts the value in its place. */
bool hl_expand_each(hl_module *module, int count, const hl_opcode *opcodes, hl_expand_fn *expand);

/* Elementwise ops on arrays of one shape; the result has the first operand's. */
hl_instruction *hl_make_unary(hl_instruction *origin, hl_opcode opcode, hl_instruction *x);
hl_instruction *hl_make_binary(hl_instruction *origin, hl_opcode opcode, hl_instruction *x,
                               hl_instruction *y);
hl_instruction *hl_make_select(hl_instruction *origin, hl_instruction *pred, hl_instruction *x,
                               hl_instruction *y);
/* x itself where it has the type. */
hl_instruction *hl_make_convert(hl_instruction *origin, hl_element_type type, hl_instruction *x);
hl_instruction *hl_make_compare(hl_instruction *origin, hl_direction direction, hl_instruction *x,
                                hl_instruction *y);
/* Constants of one value, in the shape of `like` but for the type. */
hl_instruction *hl_make_filled_int(hl_instruction *origin, const hl_shape *like,
                                   hl_element_type type, int64_t value);
hl_instruction *hl_make_filled(hl_instruction *origin, const hl_shape *like, double value);

hl_instruction *hl_make_concatenate(hl_instruction *origin, int64_t dimension, int count,
                                    hl_instruction *const *parts);
hl_instruction *hl_make_iota(hl_instruction *origin, hl_element_type type, int64_t size);
/* Sum over dimensions from +0, by rule 4. */
hl_instruction *hl_make_sum(hl_instruction *origin, hl_instruction *x, int count,
                            const int64_t *dimensions);

/* The greatest along dimensions, or `least`. */
hl_instruction *hl_make_greatest(hl_instruction *origin, hl_instruction *x, int64_t least, int count,
                                 const int64_t *dimensions);

hl_instruction *hl_make_tuple(hl_instruction *origin, int count, hl_instruction *const *elements);
hl_instruction *hl_make_element(hl_instruction *origin, hl_instruction *tuple, int index);

/* A computation with these parameters and no root yet, before another one: what it calls must stand
 * before that, and who calls it behind. */
hl_computation *hl_make_computation(hl_computation *before, const char *base, int count,
                                    const hl_shape *const *parameters);
/* Gives an instruction the attribute that names a computation. */
void hl_set_callee(hl_instruction *ins, hl_attr_id id, int count, hl_computation *const *callees);

#endif
