/* eval - the reference evaluator: every op on literals, plain and slow, to the bit of
 * docs/numerics.md.
 *
 * It shares no arithmetic with passes or code generation, so that the two can check each other.
 * Modules are evaluated as they are written, before or after broadcast expansion and call inlining:
 * the values are those of the module after both. */
#ifndef HL_EVAL_H
#define HL_EVAL_H

#include "module.h"

/* What an evaluation may use; 0: no limit. A step is about one scalar operation. */
typedef struct hl_eval_limits {
  int64_t max_result_bytes; /* of any value on the way */
  int64_t max_steps;
} hl_eval_limits;

/* Evaluates one instruction on the values of its operands. The result is made in the arena; NULL
 * when the op has no evaluator or a limit was reached. */
const hl_literal *hl_eval_instruction(hl_arena *arena, const hl_instruction *instruction,
                                      const hl_literal *const *operands, hl_eval_limits limits);

/* Evaluates the entry of a verified module. args: its parameters, tuples flattened in order, tokens
 * left out. *results: the result, flattened likewise, made in the arena. Returns false after one
 * error was reported. */
bool hl_eval_module(hl_arena *arena, const hl_module *module, const hl_literal *const *args,
                    const hl_literal ***results, int *result_count, hl_diag *diag);

/* What an evaluation asks its surroundings for. */
typedef struct hl_eval_host {
  /* The value of a custom call that no evaluator knows; NULL: there is none. It lives as long as the evaluation. */
  const hl_literal *(*custom_call)(void *user, const hl_instruction *custom_call,
                                   const hl_literal *const *operands);
  void *user;
} hl_eval_host;

/* The same, with a host for what lies outside. */
bool hl_eval_module_with(hl_arena *arena, const hl_module *module, const hl_literal *const *args,
                         const hl_eval_host *host, const hl_literal ***results, int *result_count,
                         hl_diag *diag);

/* Whether the op has an evaluator. */
bool hl_eval_has(hl_opcode opcode);

#endif
