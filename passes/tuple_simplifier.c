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

/* copy(tuple) -> the tuple: values have no place here. Lowering sees copies of arrays alone. */
static hl_instruction *copy_of_tuple(const hl_instruction *ins)
{
  bool is_it = ins->opcode == HL_OP_COPY && ins->shape->element_type == HL_TUPLE;
  return is_it ? ins->operands[0] : NULL;
}

/* A constant tuple -> the tuple of its constants, of which each may be a tuple again. */
static hl_instruction *tuple_of_constants(hl_instruction *ins)
{
  if (ins->opcode != HL_OP_CONSTANT || ins->shape->element_type != HL_TUPLE ||
      ins->literal->is_elided)
    return NULL;
  int count = ins->shape->tuple_count;
  hl_instruction **parts = HL_ARRAY(hl_arena_of(ins), count, hl_instruction *);
  for (int i = 0; i < count; i++)
    parts[i] = hl_make_constant(ins, ins->literal->elements[i]);
  return hl_instruction_new(ins->computation, ins, HL_OP_TUPLE, NULL, ins->shape, count, parts,
                            ins);
}

static hl_instruction *simplify(hl_instruction *ins)
{
  hl_instruction *with = element_of_tuple(ins);
  if (!with)
    with = tuple_of_elements(ins);
  if (!with)
    with = copy_of_tuple(ins);
  return with ? with : tuple_of_constants(ins);
}

/* What a rule makes is looked at next: nested constants come apart from outside in. */
static bool simplify_computation(hl_computation *c)
{
  bool changed = false;
  hl_instruction *next;
  for (hl_instruction *ins = c->first; ins; ins = next) {
    next = ins->next;
    hl_instruction *before = ins->previous;
    hl_instruction *with = hl_is_dead(ins) ? NULL : simplify(ins);
    if (!with)
      continue;
    hl_replace_all_uses(ins, with);
    hl_instruction_remove(ins);
    next = before ? before->next : c->first;
    changed = true;
  }
  return changed;
}

bool hl_pass_tuple_simplifier(hl_module *module, hl_pass_context *cx)
{
  (void)cx;
  bool changed = false;
  hl_mark_flow(module);
  for (hl_computation *c = module->first; c; c = c->next)
    if (c->scratch)
      changed = simplify_computation(c) || changed;
  return changed;
}
