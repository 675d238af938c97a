/* compilable - what is legal HLO but has no code: found before the first pass, so that nothing later can fail for it. */
#include "verify.h"

#include "custom.h"
#include "device.h"

static bool has_opaque(const hl_shape *shape)
{
  if (shape->element_type == HL_OPAQUE)
    return true;
  for (int i = 0; i < shape->tuple_count; i++)
    if (has_opaque(shape->tuple_shapes[i]))
      return true;
  return false;
}

static const char *target_of(const hl_instruction *ins)
{
  return hl_attr_find(ins, HL_ATTR_CUSTOM_CALL_TARGET)->text;
}

/* TopK: x[..., n] to (x[..., k], s32[..., k]). */
static bool is_topk(const hl_instruction *ins)
{
  const hl_shape *x = ins->operand_count == 1 ? ins->operands[0]->shape : NULL, *result = ins->shape;
  if (!x || !hl_shape_is_array(x) || x->rank == 0 || result->element_type != HL_TUPLE || result->tuple_count != 2)
    return false;
  const hl_shape *values = result->tuple_shapes[0], *places = result->tuple_shapes[1];
  bool fits = values->element_type == x->element_type && places->element_type == HL_S32 && values->rank == x->rank &&
              hl_shape_same_dimensions(values, places);
  for (int i = 0; fits && i < x->rank; i++)
    fits = i < x->rank - 1 ? values->dimensions[i] == x->dimensions[i] : values->dimensions[i] <= x->dimensions[i];
  return fits;
}

static bool check_lapack(hl_diag *diag, const hl_instruction *ins)
{
  hl_lapack lapack;
  const char *fault = hl_lapack_read(diag->arena, ins, &lapack);
  return !fault || hl_error(diag, hl_place_opcode(ins), HL_RULE_COMPILE_OP, "the custom call '%s' %s", target_of(ins), fault);
}

static bool check_custom_call(hl_diag *diag, const hl_instruction *ins)
{
  hl_custom_kind kind = hl_custom_kind_of(ins);
  if (kind == HL_CUSTOM_ANNOTATION)
    return hl_is_annotation(ins) || hl_error(diag, hl_place_opcode(ins), HL_RULE_COMPILE_DEVICES,
                                             "the custom call '%s' is between several devices", target_of(ins));
  if (kind == HL_CUSTOM_LAPACK)
    return check_lapack(diag, ins);
  if (kind == HL_CUSTOM_USER || (kind == HL_CUSTOM_TOPK && is_topk(ins)))
    return true;
  return hl_error(diag, hl_place_opcode(ins), HL_RULE_COMPILE_OP, "the custom call '%s' cannot be compiled", target_of(ins));
}

static bool check_op(hl_diag *diag, const hl_instruction *ins)
{
  hl_opcode opcode = ins->opcode;
  const hl_op_info *info = hl_op_info_of(opcode);
  if (opcode == HL_OP_CUSTOM_CALL)
    return check_custom_call(diag, ins);
  if (hl_is_collective(opcode) && !hl_is_alone(ins))
    return hl_error(diag, hl_place_opcode(ins), HL_RULE_COMPILE_DEVICES, "'%s' is between several devices", info->name);
  if (hl_stage_compiles(info->stage))
    return true;
  return hl_error(diag, hl_place_opcode(ins), HL_RULE_COMPILE_OP, "'%s' cannot be compiled", info->name);
}

/* Groups of batches apart, for which nothing counts their sizes, a ragged dot has one list of them. */
static bool check_groups(hl_diag *diag, const hl_instruction *ins)
{
  if (ins->opcode != HL_OP_RAGGED_DOT || ins->operands[2]->shape->rank == 1)
    return true;
  hl_ints batch = hl_attr_ints(ins, HL_ATTR_LHS_BATCH_DIMS);
  for (int i = 0; i < batch.count; i++)
    if (batch.values[i] == hl_attr_ints(ins, HL_ATTR_LHS_RAGGED_DIMS).values[0])
      return true;
  return hl_error(diag, hl_place_operand(ins, 2), HL_RULE_COMPILE_OP, "group sizes of %d dimensions cannot be compiled: '%s' takes %s",
                  ins->operands[2]->shape->rank, hl_op_info_of(ins->opcode)->name,
                  hl_shape_text(diag->arena, ins->operands[2]->shape));
}

static bool check_shape(hl_diag *diag, const hl_instruction *ins)
{
  const char *op = hl_op_info_of(ins->opcode)->name;
  const char *text = hl_shape_text(diag->arena, ins->shape);
  if (hl_shape_has_dynamic(ins->shape))
    return hl_error(diag, hl_place_shape(ins), HL_RULE_COMPILE_DYNAMIC, "dynamic dimensions cannot be compiled: '%s' yields %s", op,
                    text);
  return true;
}

static bool check_literal(hl_diag *diag, const hl_instruction *ins)
{
  if (!ins->literal || !ins->literal->is_elided)
    return true;
  hl_error(diag, hl_place_payload(ins), HL_RULE_LITERAL_ELIDED, "the values of constant '%s' were left out when it was printed",
           ins->name);
  hl_help(diag, "print the module with as_hlo_text(print_large_constants=True), or supply the values with --constants FILE.npz");
  return false;
}

/* Marks the computations that the entry reaches: callees stand before callers, so one walk from the end does. */
static void mark_reachable(const hl_module *module)
{
  for (hl_computation *c = module->first; c; c = c->next)
    c->scratch = c == module->entry;
  for (hl_computation *c = module->last; c; c = c->previous) {
    if (!c->scratch)
      continue;
    for (const hl_instruction *ins = c->first; ins; ins = ins->next)
      for (int i = 0; i < ins->attr_count; i++) {
        const hl_attr *attr = &ins->attrs[i];
        for (int k = 0; hl_holds_computations(attr) && k < attr->computations.count; k++)
          attr->computations.values[k]->scratch = 1;
      }
  }
}

/* A call of an unknown target that nothing reads goes away before code is made. */
static bool is_dead_call(const hl_instruction *ins)
{
  return ins->opcode == HL_OP_CUSTOM_CALL && !ins->user_count && ins != ins->computation->root && !hl_has_side_effect(ins);
}

static bool check_entry(hl_diag *diag, const hl_computation *entry)
{
  bool is_good = true;
  for (int i = 0; i < entry->parameter_count; i++)
    if (has_opaque(entry->parameters[i]->shape))
      is_good = hl_error(diag, hl_place_shape(entry->parameters[i]), HL_RULE_COMPILE_ENTRY,
                         "parameter %d of the entry is %s: opaque values cannot be passed", i,
                         hl_shape_text(diag->arena, entry->parameters[i]->shape));
  if (has_opaque(entry->root->shape))
    is_good = hl_error(diag, hl_place_shape(entry->root), HL_RULE_COMPILE_ENTRY,
                       "the result of the entry is %s: opaque values cannot be passed",
                       hl_shape_text(diag->arena, entry->root->shape));
  return is_good;
}

static bool check_instruction(hl_diag *diag, const hl_instruction *ins)
{
  return is_dead_call(ins) || (check_op(diag, ins) && check_groups(diag, ins) && check_shape(diag, ins) && check_literal(diag, ins));
}

bool hl_check_compilable(const hl_module *module, hl_diag *diag)
{
  bool is_good = check_entry(diag, module->entry);
  mark_reachable(module);
  for (const hl_computation *c = module->first; c; c = c->next)
    for (const hl_instruction *ins = c->scratch ? c->first : NULL; ins; ins = ins->next)
      is_good = check_instruction(diag, ins) && is_good;
  return is_good;
}
