/* lower_call.h - custom calls as steps. */
#ifndef HL_LOWER_CALL_H
#define HL_LOWER_CALL_H

#include "lower_kernel.h"

/* A custom call on its way: the buffers of its operands and of its result, tuples flattened, NULL for tokens. */
typedef struct hl_call_site {
  hl_arena *arena;
  hl_program *program;
  hl_steps *steps;
  const hl_instruction *ins;
  hl_buffer ***operands;
  hl_buffer **results;
} hl_call_site;

void hl_lower_call_step(const hl_call_site *site);
/* The same for LAPACK (lower_lapack.c). */
void hl_lower_lapack(const hl_call_site *site);

/* A new step; values are added to it. */
hl_call *hl_add_call(const hl_call_site *site, const char *symbol, int most_values);
void hl_add_call_value(hl_call *call, hl_call_value value);

#endif
