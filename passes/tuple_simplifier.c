/* tuple_simplifier - removes tuples that are only taken apart, and puts none together that already
 * exist.
 *
 * Requires: operands stand before their users.
 * Keeps:    every value; roots stay of their shape.
 * Cost:     one walk: a forward order shows the inner tuple first.
 */
#include "rewrite.h"

/* get-tuple-element(tuple(x0, x1, ...), i) -> xi */
static hl_instruction *element_of_tuple(const hl_instruction *ins)
{
  if (ins->opcode != HL_OP_GET_TUPLE_ELEMENT || ins->operands[0]->opcode != HL_OP_TUPLE)
    return NULL;
  return ins->operands[0]->operands[hl_attr_int(ins, HL_ATTR_INDEX, 0)];
}

/* tuple(gte(x, 0), gte(x, 1), ...) -> x, when these are all elements of x */
static hl_instruction *tuple_of_elements(const hl_instruction *ins)
{
  if (ins->opcode != HL_OP_TUPLE || ins->operand_count == 0 ||
      ins->operands[0]->opcode != HL_OP_GET_TUPLE_ELEMENT)
    return NULL;
  hl_instruction *whole = ins->operands[0]->operands[0];
  if (whole->shape->tuple_count != ins->operand_count)
    return NULL;
  for (int i = 0; i < ins->operand_count; i++) {
    const hl_instruction *part = ins->operands[i];
    if (part->opcode != HL_OP_GET_TUPLE_ELEMENT || part->operands[0] != whole ||
        hl_attr_int(part, HL_ATTR_INDEX, 0) != i)
      return NULL;
  }
  return whole;
}

bool hl_pass_tuple_simplifier(hl_module *module, hl_pass_context *cx)
{
  (void)cx;
  bool changed = false;
  hl_mark_flow(module);
  for (hl_computation *c = module->first; c; c = c->next)
    for (hl_instruction *ins = c->scratch ? c->first : NULL; ins; ins = ins->next) {
      if (hl_is_dead(ins))
        continue;
      hl_instruction *with = element_of_tuple(ins);
      if (!with)
        with = tuple_of_elements(ins);
      if (!with)
        continue;
      hl_replace_all_uses(ins, with);
      changed = true;
    }
  return changed;
}
