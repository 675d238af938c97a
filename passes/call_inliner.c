/* call_inliner - puts the bodies of calls and fusions in their place and drops computations that
 * nothing calls; refuses what becomes too large in the end, because bodies of loops and branches,
 * too, become code at each place that runs them.
 *
 * Requires: callees stand before their callers, so that a body is inlined only after its own calls
 * were. Keeps:    every value; the order of side effects. Cost:     the size of the result, which
 * is limited: nested calls can double a module at each level.
 */
#include "rewrite.h"

#include "../ir/limits.h"
#include "leaf.h"

/* A module this large takes minutes to compile; one that was written is below it already. */
enum { MAX_INLINED = 1 << 20 };

static hl_computation *body_of(const hl_instruction *ins)
{
  if (ins->opcode == HL_OP_CALL)
    return hl_attr_computation(ins, HL_ATTR_TO_APPLY);
  return ins->opcode == HL_OP_FUSION ? hl_attr_computation(ins, HL_ATTR_CALLS) : NULL;
}

static void inline_call(hl_instruction *call, const hl_computation *body)
{
  hl_instruction *result = hl_inline_computation(body, call->computation, call, call->operands);
  hl_replace_all_uses(call, result);
  hl_instruction_remove(call);
}

/* Instructions that become code where ins runs other computations, which were measured before. */
static int64_t size_of_called(const hl_instruction *ins)
{
  int64_t size = 0;
  if (ins->opcode == HL_OP_WHILE)
    return hl_attr_computation(ins, HL_ATTR_CONDITION)->scratch +
           hl_attr_computation(ins, HL_ATTR_BODY)->scratch;
  for (int i = 0; ins->opcode == HL_OP_CONDITIONAL && i + 1 < ins->operand_count; i++)
    size += hl_branch_of(ins, i)->scratch;
  return size;
}

static bool check_size(const hl_module *module, hl_pass_context *cx)
{
  for (hl_computation *c = module->first; c; c = c->next) {
    c->scratch = c->instruction_count;
    for (const hl_instruction *ins = c->first; ins; ins = ins->next) {
      c->scratch += size_of_called(ins);
      if (c->scratch > MAX_INLINED)
        return hl_error(cx->diag, hl_place_opcode(ins), HL_RULE_LIMIT,
                        "with the computations that it runs, '%s' becomes more than %d instructions",
                        hl_op_info_of(ins->opcode)->name, MAX_INLINED);
    }
  }
  return true;
}

bool hl_pass_call_inliner(hl_module *module, hl_pass_context *cx)
{
  bool changed = false;
  int64_t added = 0;
  hl_instruction *next;
  for (hl_computation *c = module->first; c; c = c->next)
    for (hl_instruction *ins = c->first; ins; ins = next) {
      next = ins->next;
      const hl_computation *body = body_of(ins);
      if (!body)
        continue;
      added += body->instruction_count;
      if (added > MAX_INLINED) {
        hl_error(cx->diag, hl_place_opcode(ins), HL_RULE_LIMIT,
                 "inlining this call makes the module larger than %d instructions", MAX_INLINED);
        return changed;
      }
      inline_call(ins, body);
      changed = true;
    }
  changed |= hl_drop_unreached(module);
  check_size(module, cx);
  return changed;
}
