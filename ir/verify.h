/* verify - the rules of HLO: structure, attributes, types and shapes, each with a label of
 * rules.def. */
#ifndef HL_VERIFY_H
#define HL_VERIFY_H

#include "module.h"

typedef struct hl_verify_options {
  bool dialect_xla; /* --dialect=xla: the broadcasting extension (spec section 7.3) is an error */
  bool infers_stated; /* shapes that the language wants written though they follow may be left out */
} hl_verify_options;

/* Fills in omitted result shapes and checks everything. One error an instruction at most, in text
 * order; users of a faulty value stay silent. Returns whether no error was reported. Warnings
 * (elided constants) do not count. */
bool hl_verify(hl_module *module, hl_verify_options options, hl_diag *diag);

/* Verifies what was added to a module whose rest is verified: the computations behind `after`, then
 * the instructions from `first` to the end of its computation. */
bool hl_verify_added(const hl_computation *after, hl_instruction *first, hl_verify_options options,
                     hl_diag *diag);

/* What is legal but cannot be compiled or evaluated (ops of a later stage, refused ops, element
 * types, dynamic dimensions, elided constants, opaque at the entry): one error each at its place,
 * with the remedy. Called by compile and run before the first pass. */
bool hl_check_compilable(const hl_module *module, hl_diag *diag);

/* Shape inference context: scratch arena and where to report. */
typedef struct hl_infer {
  hl_arena *arena;
  hl_diag *diag;
  hl_verify_options options;
} hl_infer;

/* The result shape that follows from operands and attributes (for stated shapes: the written one,
 * checked); NULL after an error was reported. instruction->shape may be NULL when it was left out.
 */
typedef const hl_shape *hl_infer_fn(hl_infer *infer, const hl_instruction *instruction);
hl_infer_fn *hl_infer_of(hl_opcode opcode);

#endif
