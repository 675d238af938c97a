/* fold - computes instructions whose operands are all constants, with the reference evaluator.
 *
 * Requires: powers are marked: folding can make an exponent constant that was not.
 * Keeps:    every bit (the evaluator follows numerics.md); regions.
 * Cost:     bounded for each instruction and for the module, in steps and in bytes.
 *
 * What only repeats or counts (broadcast, iota) is not folded: code makes it cheaper than memory.
 * algsimp puts a broadcast behind the operations on it, so a computation on constants of equal
 * elements arrives here as one on scalars.
 */
#include "rewrite.h"

#include "../ir/eval.h"

enum { MAX_OPERANDS = 64, MAX_GROWTH = 4, SMALL_BYTES = 256 };

static const hl_eval_limits limits = {.max_result_bytes = 1 << 20, .max_steps = 10 * 1000 * 1000};

static bool may_fold(const hl_instruction *ins)
{
  switch (ins->opcode) {
  case HL_OP_CONSTANT:
  case HL_OP_PARAMETER:
  case HL_OP_BROADCAST:
  case HL_OP_IOTA:
  case HL_OP_WHILE:
  case HL_OP_CONDITIONAL:
  case HL_OP_CALL:
  case HL_OP_CUSTOM_CALL:
    return false;
  default:
    return ins->operand_count > 0 && ins->operand_count <= MAX_OPERANDS && !hl_is_dead(ins) &&
           hl_shape_is_array(ins->shape) && hl_eval_has(ins->opcode) && !hl_has_side_effect(ins);
  }
}

/* The literals of all operands, or false; *bytes their total. */
static bool constant_operands(const hl_instruction *ins, const hl_literal **literals,
                              int64_t *bytes)
{
  *bytes = 0;
  for (int i = 0; i < ins->operand_count; i++) {
    const hl_instruction *operand = ins->operands[i];
    if (operand->opcode != HL_OP_CONSTANT || !hl_shape_is_array(operand->shape) ||
        operand->literal->is_elided)
      return false;
    literals[i] = operand->literal;
    *bytes += hl_shape_bytes(operand->shape);
  }
  return true;
}

static bool fold(hl_instruction *ins)
{
  const hl_literal *literals[MAX_OPERANDS];
  int64_t bytes;
  if (!may_fold(ins) || !constant_operands(ins, literals, &bytes) ||
      hl_shape_bytes(ins->shape) > bytes * MAX_GROWTH + SMALL_BYTES)
    return false;
  const hl_literal *value = hl_eval_instruction(hl_arena_of(ins), ins, literals, limits);
  if (!value)
    return false;
  hl_replace_all_uses(ins, hl_make_constant(ins, value));
  hl_instruction_remove(ins);
  return true;
}

bool hl_pass_constant_folding(hl_module *module, hl_pass_context *cx)
{
  (void)cx;
  return hl_rewrite_flow(module, fold);
}
