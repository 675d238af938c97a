/* dce - removes instructions that nothing uses and computations that nothing calls.
 *
 * Requires: definition order (operands stand before their users), a root.
 * Keeps:    order, shapes, names, parameters, side effects.
 * Cost:     one walk backwards, O(instructions + operands).
 */
#include "rewrite.h"

static bool is_needed(const hl_instruction *ins)
{
  return !hl_is_dead(ins) || ins->opcode == HL_OP_PARAMETER || hl_has_side_effect(ins);
}

/* Backwards: when an instruction is reached, all its users are gone that will go. */
static bool sweep(hl_computation *c)
{
  bool changed = false;
  hl_instruction *previous;
  for (hl_instruction *ins = c->last; ins; ins = previous) {
    previous = ins->previous;
    if (is_needed(ins))
      continue;
    hl_instruction_remove(ins);
    changed = true;
  }
  return changed;
}

bool hl_pass_dce(hl_module *module, hl_pass_context *cx)
{
  (void)cx;
  bool changed = false;
  for (hl_computation *c = module->first; c; c = c->next)
    changed = sweep(c) || changed;
  return hl_drop_unreached(module) || changed;
}
