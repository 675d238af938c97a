/* lower.h - from checked, inlined, explicit HLO to a program of loop kernels.
 *
 *   hl_fuse      which instructions are written to memory, and which kernel writes them       (fuse.c)
 *   hl_lower     steps and buffers; each kernel by pulling the elements of its roots          (lower*.c)
 *   hl_schedule  coalesces loops, chooses vectors and threads, splits large reductions        (schedule*.c)
 *   hl_hoist_steps  takes out of loops what is the same each time round                      (hoist.c)
 *   hl_plan_buffers  one offset for every temporary in one workspace                          (buffers.c)
 */
#ifndef HL_LOWER_H
#define HL_LOWER_H

#include "../ir/loop.h"
#include "../ir/module.h"

typedef struct hl_lower_options {
  int opt_level;        /* 0: no fusion beyond inlined regions, scalar loops; 1: fusion; 2, 3: vectors, threads */
  int max_workers;      /* 1: no threads */
  int64_t cache_bytes;  /* kernels that touch more stream their stores past the caches */
} hl_lower_options;

/* The whole way. Requires a module that hl_check_compilable accepts, without calls in reachable computations and with explicit
 * broadcasts. Cannot fail. */
hl_program *hl_lower(hl_arena *arena, hl_module *module, const hl_lower_options *options);

/* Steps of it, each on its own for tests and dumps. */
hl_program *hl_lower_module(hl_arena *arena, hl_module *module, const hl_lower_options *options);
void hl_schedule(hl_program *program, const hl_lower_options *options);
void hl_hoist_steps(hl_program *program);
void hl_plan_buffers(hl_program *program);

#endif
