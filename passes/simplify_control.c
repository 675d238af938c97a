/* simplify_control - a conditional whose selector is constant is its branch.
 *
 * Requires: branches stand before the conditional.
 * Keeps:    every value; the order of side effects.
 * Cost:     one walk and the size of what is put in place.
 */
#include "rewrite.h"

/* An index out of range takes the last branch; pred true takes the first. */
static int taken_branch(const hl_literal *selector, int count)
{
  int64_t value = hl_literal_get_int(selector, 0);
  if (selector->shape->element_type == HL_PRED)
    return value ? 0 : 1;
  return value >= 0 && value < count ? (int)value : count - 1;
}

static hl_computation *branch_of(const hl_instruction *conditional, int index)
{
  const hl_attr *branches = hl_attr_find(conditional, HL_ATTR_BRANCH_COMPUTATIONS);
  if (branches)
    return branches->computations.values[index];
  return hl_attr_computation(conditional,
                             index ? HL_ATTR_FALSE_COMPUTATION : HL_ATTR_TRUE_COMPUTATION);
}

static bool decide(hl_instruction *ins)
{
  if (ins->opcode != HL_OP_CONDITIONAL || hl_is_dead(ins))
    return false;
  const hl_literal *selector = hl_splat_of(ins->operands[0]);
  if (!selector)
    return false;
  int taken = taken_branch(selector, ins->operand_count - 1);
  hl_replace_all_uses(ins, hl_inline_computation(branch_of(ins, taken), ins->computation, ins,
                                                 &ins->operands[1 + taken]));
  hl_instruction_remove(ins);
  return true;
}

bool hl_pass_simplify_control(hl_module *module, hl_pass_context *cx)
{
  (void)cx;
  return hl_rewrite_flow(module, decide);
}
