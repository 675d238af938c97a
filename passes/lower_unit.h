/* lower_unit.h - the kernel of a unit. */
#ifndef HL_LOWER_UNIT_H
#define HL_LOWER_UNIT_H

#include "lower_kernel.h"

typedef struct hl_kernel_site {
  hl_arena *arena;
  hl_program *program;
  const hl_lower_options *options;
  const hl_fusion_plan *plan;
  hl_buffer ***leaves; /* per instruction of the computation */
  hl_memo **memo;      /* likewise, empty */
  hl_steps *steps;
} hl_kernel_site;

/* Adds the steps that compute the roots of a unit. */
void hl_lower_kernel(const hl_kernel_site *site, const hl_unit *unit);

#endif
