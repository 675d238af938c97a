/* loop_cost - what the steps of a program compute and move, counted in their loops. */
#ifndef HL_LOOP_COST_H
#define HL_LOOP_COST_H

#include "loop.h"

/* Numbers are those of one run of the step, exact as long as they are below 2^53. */
typedef struct hl_cost {
  double flops;     /* additions, products, comparisons ... of floats, one each; a fused multiply-add two, a function one */
  double functions; /* calls of mathematical functions among them */
  double accesses;  /* bytes of all loads and stores, private rows included */
  double read, written; /* bytes of memory that is read and written, each element once */
  bool is_bound;    /* some of it depends on values: these are the most */
} hl_cost;

typedef struct hl_traffic hl_traffic;

/* Memory that a program's steps touch, each element once: the arguments and constants that they read, the results that they write. */
hl_traffic *hl_traffic_new(hl_arena *arena);
/* Counts one step, a kernel or a copy; others cost nothing themselves. */
hl_cost hl_step_cost(hl_traffic *traffic, const hl_step *step);
/* What cannot be saved, of all steps counted so far: bytes of arguments and constants read, of results written. */
void hl_traffic_least(const hl_traffic *traffic, double *read, double *written);

#endif
