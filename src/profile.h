/* profile - the steps of a program with what they compute, move and take. */
#ifndef HL_PROFILE_H
#define HL_PROFILE_H

#include "runner.h"

#include "ir/loop_cost.h"

/* A kernel, copy or call. */
typedef struct hl_profiled_step {
  const hl_step *step;
  hl_cost cost;    /* of one call */
  double seconds;  /* of one run of the module: all its calls */
  double calls;    /* in one run */
} hl_profiled_step;

typedef struct hl_profile_table {
  hl_profiled_step *steps; /* in the order of the text */
  int count;
  size_t capacity;
  double seconds, flops; /* of all, in one run */
} hl_profile_table;

/* What the runner has counted in `runs` calls of the module. Lives in the session's arena. */
hl_profile_table hl_profile_collect(const hl_runner *r, int64_t runs);

/* A table for people, 80 columns wide; below each step the HLO that it computes, with lines. */
void hl_profile_print(const hl_session *s, const hl_profile_table *table, hl_str *out);
/* A JSON array. */
void hl_profile_json(const hl_session *s, const hl_profile_table *table, hl_str *out);

#endif
