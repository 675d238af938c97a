/* mark_power - settles for each power whether its exponent is constant (numerics rule 12).
 *
 * Requires: broadcasts are expanded and calls inlined, nothing else is done: the rule speaks of
 * that module. Keeps:    everything but hl_instruction.power_form. Cost:     one walk.
 */
#include "pass.h"

static bool mark(hl_instruction *ins)
{
  if (ins->opcode != HL_OP_POWER || ins->power_form != HL_POWER_UNMARKED)
    return false;
  double exponent;
  ins->power_form = hl_power_exponent(ins, &exponent) ? HL_POWER_CONSTANT : HL_POWER_GENERAL;
  return true;
}

bool hl_pass_mark_power(hl_module *module, hl_pass_context *cx)
{
  (void)cx;
  bool changed = false;
  for (hl_computation *c = module->first; c; c = c->next)
    for (hl_instruction *ins = c->first; ins; ins = ins->next)
      changed = mark(ins) || changed;
  return changed;
}
