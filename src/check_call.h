/* check_call - custom calls for the reference evaluator: `run --check` of modules that have some. */
#ifndef HL_CHECK_CALL_H
#define HL_CHECK_CALL_H

#include "calls.h"
#include "ir/eval.h"

typedef struct hl_check_call {
  const hl_session *session; /* that compiled the module */
  const hl_call_sources *sources;
  hl_guard *guard;
  hl_arena *arena; /* of the values */
} hl_check_call;

/* For hl_eval_host: compiles the call alone, and calls it. `user` is a hl_check_call. */
const hl_literal *hl_check_custom_call(void *user, const hl_instruction *custom_call,
                                       const hl_literal *const *operands);

#endif
