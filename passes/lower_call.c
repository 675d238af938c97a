/* lower_call - a custom call is a step of its own: its operands are there as arrays, its results are written by the function outside.
 */
#include "lower_call.h"

#include "../ir/custom.h"

hl_call *hl_add_call(const hl_call_site *site, const char *symbol, int most_values)
{
  hl_call *call = HL_NEW(site->arena, hl_call);
  *call = (hl_call){.symbol = symbol, .rounds = 1, .config = "",
                    .target = hl_attr_find(site->ins, HL_ATTR_CUSTOM_CALL_TARGET)->text, .range = hl_place_opcode(site->ins)};
  call->values = HL_ARRAY(site->arena, most_values + 1, hl_call_value);
  hl_step *step = hl_steps_add(site->arena, site->steps, HL_STEP_CALL);
  step->call = call;
  step->range = call->range;
  return call;
}

void hl_add_call_value(hl_call *call, hl_call_value value)
{
  call->values[call->value_count++] = value;
}

static void add_leaves(hl_call *call, hl_call_value_kind kind, const hl_shape *shape, hl_buffer **leaves)
{
  for (int i = 0; i < hl_leaf_count(shape); i++)
    if (leaves && leaves[i])
      hl_add_call_value(call, (hl_call_value){.kind = kind, .buffer = leaves[i]});
}

/* A function of the program. */
static void lower_user_call(const hl_call_site *site)
{
  const hl_instruction *ins = site->ins;
  int most = hl_leaf_count(ins->shape);
  for (int i = 0; i < ins->operand_count; i++)
    most += hl_leaf_count(ins->operands[i]->shape);
  const char *target = hl_attr_find(ins, HL_ATTR_CUSTOM_CALL_TARGET)->text;
  hl_call *call = hl_add_call(site, hl_custom_symbol(site->arena, target), most);
  for (int i = 0; i < ins->operand_count; i++)
    add_leaves(call, HL_CALL_READ, ins->operands[i]->shape, site->operands[i]);
  add_leaves(call, HL_CALL_WRITE, ins->shape, site->results);
  call->config = hl_custom_config(site->arena, ins, &call->config_bytes);
}

void hl_lower_call_step(const hl_call_site *site)
{
  if (hl_custom_kind_of(site->ins) == HL_CUSTOM_LAPACK)
    hl_lower_lapack(site);
  else
    lower_user_call(site);
}
