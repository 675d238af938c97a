/* sink_constants - a constant that a while only carries along is a constant inside its body and
 * condition.
 *
 * JAX puts what a scan closes over into the carried tuple. Inside, it then looks like data; known
 * there, it folds and fuses.
 *
 * Requires: the while is the only caller of its computations.
 * Keeps:    every value; what is carried.
 * Cost:     one walk over the module, one over the users of each parameter.
 */
#include "rewrite.h"

static hl_computation *body_of(const hl_instruction *loop)
{
  return hl_attr_computation(loop, HL_ATTR_BODY);
}

static hl_computation *condition_of(const hl_instruction *loop)
{
  return hl_attr_computation(loop, HL_ATTR_CONDITION);
}

/* Counts in computation->scratch how often each is named. */
static void count_callers(hl_module *module)
{
  for (hl_computation *c = module->first; c; c = c->next)
    c->scratch = 0;
  for (hl_computation *c = module->first; c; c = c->next)
    for (hl_instruction *ins = c->first; ins; ins = ins->next)
      for (int i = 0; i < ins->attr_count; i++) {
        const hl_attr *attr = &ins->attrs[i];
        for (int k = 0; hl_holds_computations(attr) && k < attr->computations.count; k++)
          attr->computations.values[k]->scratch++;
      }
}

/* A constant or a broadcast of one. */
static bool is_constant(const hl_instruction *ins)
{
  if (ins->opcode == HL_OP_BROADCAST)
    ins = ins->operands[0];
  return ins->opcode == HL_OP_CONSTANT;
}

static bool is_element(const hl_instruction *ins, const hl_instruction *tuple, int index)
{
  return ins->opcode == HL_OP_GET_TUPLE_ELEMENT && ins->operands[0] == tuple &&
         hl_attr_int(ins, HL_ATTR_INDEX, -1) == index;
}

static hl_instruction *copy_before(const hl_instruction *constant, hl_instruction *before)
{
  if (constant->opcode == HL_OP_CONSTANT)
    return hl_make_again_at(constant, before, constant->shape, NULL);
  hl_instruction *scalar = copy_before(constant->operands[0], before);
  return hl_make_again_at(constant, before, constant->shape, &scalar);
}

/* Every user of the element but the tuple that carries it on reads the constant. */
static bool replace_element(hl_instruction *element, const hl_instruction *constant)
{
  hl_instruction *root = element->computation->root, *copy = NULL;
  for (int u = 0; u < element->user_count; u++) {
    hl_instruction *user = element->users[u];
    if (user == root && root->opcode == HL_OP_TUPLE)
      continue;
    if (!copy)
      copy = copy_before(constant, element);
    for (int i = 0; i < user->operand_count; i++)
      if (user->operands[i] == element)
        hl_replace_operand(user, i, copy);
    u = -1; /* the list has changed */
  }
  return copy != NULL;
}

static bool sink_into(const hl_computation *c, int index, const hl_instruction *constant)
{
  bool changed = false;
  const hl_instruction *parameter = c->parameters[0];
  for (int u = 0; u < parameter->user_count; u++)
    if (is_element(parameter->users[u], parameter, index))
      changed = replace_element(parameter->users[u], constant) || changed;
  return changed;
}

static bool sink(const hl_instruction *loop)
{
  const hl_instruction *init = loop->operands[0];
  const hl_computation *body = body_of(loop), *condition = condition_of(loop);
  if (init->opcode != HL_OP_TUPLE || body->root->opcode != HL_OP_TUPLE || body->scratch != 1 ||
      condition->scratch != 1)
    return false;
  bool changed = false;
  for (int k = 0; k < init->operand_count; k++) {
    if (!is_constant(init->operands[k]) ||
        !is_element(body->root->operands[k], body->parameters[0], k))
      continue;
    changed = sink_into(body, k, init->operands[k]) || changed;
    changed = sink_into(condition, k, init->operands[k]) || changed;
  }
  return changed;
}

bool hl_pass_sink_constants(hl_module *module, hl_pass_context *cx)
{
  (void)cx;
  bool changed = false;
  count_callers(module);
  for (hl_computation *c = module->first; c; c = c->next)
    for (hl_instruction *ins = c->first; ins; ins = ins->next)
      if (ins->opcode == HL_OP_WHILE)
        changed = sink(ins) || changed;
  return changed;
}
