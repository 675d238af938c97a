/* times - how long each stage of a compilation took. */
#ifndef HL_TIMES_H
#define HL_TIMES_H

typedef enum hl_stage_id {
  HL_TIME_PARSE,
  HL_TIME_VERIFY,
  HL_TIME_PASSES,
  HL_TIME_LOWER,
  HL_TIME_LLVM_IR,
  HL_TIME_LLVM_PASSES,
  HL_TIME_LLVM_CODEGEN,
  HL_TIME_LINK,
  HL_TIME_COUNT
} hl_stage_id;

typedef struct hl_times {
  double seconds[HL_TIME_COUNT];
} hl_times;

/* Adds what a session says of a step: passes count as one stage. */
void hl_times_add(hl_times *times, const char *step, double seconds);
const char *hl_times_name(hl_stage_id stage);
double hl_times_total(const hl_times *times);

#endif
