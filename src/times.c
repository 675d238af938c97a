/* times - how long each stage of a compilation took. */
#include "times.h"

#include <string.h>

static const char *const names[HL_TIME_COUNT] = {
    [HL_TIME_PARSE] = "parse",
    [HL_TIME_VERIFY] = "verify",
    [HL_TIME_PASSES] = "passes",
    [HL_TIME_LOWER] = "lower",
    [HL_TIME_LLVM_IR] = "llvm-ir",
    [HL_TIME_LLVM_PASSES] = "llvm-passes",
    [HL_TIME_LLVM_CODEGEN] = "llvm-codegen",
    [HL_TIME_LINK] = "link",
};

const char *hl_times_name(hl_stage_id stage)
{
  return names[stage];
}

void hl_times_add(hl_times *times, const char *step, double seconds)
{
  hl_stage_id stage = HL_TIME_PASSES;
  for (hl_stage_id i = 0; i < HL_TIME_COUNT; i++)
    if (!strcmp(names[i], step))
      stage = i;
  times->seconds[stage] += seconds;
}

double hl_times_total(const hl_times *times)
{
  double total = 0;
  for (hl_stage_id i = 0; i < HL_TIME_COUNT; i++)
    total += times->seconds[i];
  return total;
}
