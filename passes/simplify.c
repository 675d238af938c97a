/* simplify - algsimp: applies the rules of simplify_*.c until none fires.
 *
 * Requires: calls are inlined and powers marked (a rule may make an exponent constant).
 * Keeps:    every bit of every value; regions (numerics.md goes by their form).
 * Cost:     one walk; what a rule makes is looked at again, so the work is the number of rewrites.
 */
#include "simplify.h"

/* Each rule makes something smaller, so this is never reached; it keeps a mistake from becoming a
 * hang. */
enum { MAX_STEPS_PER_INSTRUCTION = 64 };

static hl_instruction *apply_table(const hl_simplify_rule *rule, hl_instruction *ins)
{
  bool is_elementwise = hl_op_info_of(ins->opcode)->flags & HL_EW && ins->opcode != HL_OP_MAP;
  for (; rule->apply; rule++) {
    bool fits = rule->opcode == ins->opcode || (rule->opcode == HL_OP_COUNT && is_elementwise);
    hl_instruction *with = fits ? rule->apply(ins) : NULL;
    if (with)
      return with;
  }
  return NULL;
}

static hl_instruction *apply(hl_instruction *ins)
{
  hl_instruction *with = apply_table(hl_simplify_move_rules, ins);
  if (!with)
    with = apply_table(hl_simplify_shape_rules, ins);
  return with ? with : apply_table(hl_simplify_arith_rules, ins);
}

/* A replaced instruction goes at once; what only it used becomes dead and is left alone. */
static bool simplify(hl_computation *c)
{
  bool changed = false;
  int64_t steps = (int64_t)c->instruction_count * MAX_STEPS_PER_INSTRUCTION;
  hl_instruction *next;
  for (hl_instruction *ins = c->first; ins && steps > 0; ins = next, steps--) {
    next = ins->next;
    if (hl_is_dead(ins))
      continue;
    hl_instruction *before = ins->previous;
    hl_instruction *with = apply(ins);
    if (!with)
      continue;
    hl_replace_all_uses(ins, with);
    hl_instruction_remove(ins);
    next = before ? before->next : c->first; /* what the rule made stands here */
    changed = true;
  }
  return changed;
}

bool hl_pass_algsimp(hl_module *module, hl_pass_context *cx)
{
  (void)cx;
  bool changed = false;
  hl_mark_flow(module);
  for (hl_computation *c = module->first; c; c = c->next)
    if (c->scratch)
      changed = simplify(c) || changed;
  return changed;
}
