/* expand_custom_calls - custom calls whose arrays lie in memory as they are written: layouts become transposes around them; TopK is topk.
 *
 * Requires: calls are inlined; hl_check_compilable accepted the module.
 * Keeps:    every value. Afterwards no custom call has layouts.
 * Cost:     a transpose for each operand and result with a layout of its own.
 */
#include "expand_geev.h"

#include "../ir/custom.h"
#include "../ir/limits.h"

/* ---- TopK ---- */

static hl_instruction *topk_of(hl_instruction *ins)
{
  const hl_shape *values = ins->shape->tuple_shapes[0];
  hl_instruction *made = hl_instruction_new(ins->computation, ins, HL_OP_TOPK, NULL, ins->shape, 1, ins->operands, ins);
  hl_attr k = {.id = HL_ATTR_K, .name_range = HL_NO_RANGE, .value_range = HL_NO_RANGE, .i = values->dimensions[values->rank - 1]};
  hl_attr largest = {.id = HL_ATTR_LARGEST, .name_range = HL_NO_RANGE, .value_range = HL_NO_RANGE,
                     .i = hl_custom_topk_is_largest(ins)};
  hl_instruction_add_attr(made, &k);
  hl_instruction_add_attr(made, &largest);
  return made;
}

/* ---- layouts ---- */

static bool has_layout(const hl_shape *shape)
{
  if (shape->minor_to_major)
    return true;
  for (int i = 0; i < shape->tuple_count; i++)
    if (has_layout(shape->tuple_shapes[i]))
      return true;
  return false;
}

/* The shape of an array's memory; tuples and tokens stay but for their arrays. */
static const hl_shape *flat_shape(hl_arena *arena, const hl_shape *shape)
{
  int64_t permutation[HL_LIMIT_RANK], dimensions[HL_LIMIT_RANK];
  if (hl_shape_is_array(shape)) {
    hl_memory_order(shape, permutation, dimensions);
    return hl_shape_new(arena, shape->element_type, shape->rank, dimensions);
  }
  if (shape->element_type != HL_TUPLE)
    return shape;
  const hl_shape **parts = HL_ARRAY(arena, shape->tuple_count + 1, const hl_shape *);
  for (int i = 0; i < shape->tuple_count; i++)
    parts[i] = flat_shape(arena, shape->tuple_shapes[i]);
  return hl_shape_tuple(arena, shape->tuple_count, parts);
}

static hl_instruction *to_memory(hl_instruction *ins, int i)
{
  const hl_shape *constraint = hl_custom_constraint(ins, i);
  int64_t permutation[HL_LIMIT_RANK], dimensions[HL_LIMIT_RANK];
  if (!constraint || !constraint->minor_to_major)
    return ins->operands[i];
  hl_memory_order(constraint, permutation, dimensions);
  return hl_make_transpose(ins, ins->operands[i], permutation);
}

/* What lies in memory as `flat`, with the dimensions of `shape`. */
static hl_instruction *from_memory(hl_instruction *ins, hl_instruction *flat, const hl_shape *shape)
{
  int64_t permutation[HL_LIMIT_RANK], inverse[HL_LIMIT_RANK], dimensions[HL_LIMIT_RANK];
  if (!has_layout(shape))
    return flat;
  if (shape->element_type == HL_TUPLE) {
    hl_instruction **parts = HL_ARRAY(hl_arena_of(ins), shape->tuple_count + 1, hl_instruction *);
    for (int i = 0; i < shape->tuple_count; i++)
      parts[i] = from_memory(ins, hl_make_element(ins, flat, i), shape->tuple_shapes[i]);
    return hl_make_tuple(ins, shape->tuple_count, parts);
  }
  hl_memory_order(shape, permutation, dimensions);
  for (int i = 0; i < shape->rank; i++)
    inverse[permutation[i]] = i;
  return hl_make_transpose(ins, flat, inverse);
}

static bool needs_layouts(const hl_instruction *ins)
{
  bool needs = has_layout(ins->shape);
  for (int i = 0; i < ins->operand_count; i++) {
    const hl_shape *constraint = hl_custom_constraint(ins, i);
    needs = needs || (constraint && constraint->minor_to_major);
  }
  return needs;
}

static hl_instruction *in_memory_order(hl_instruction *ins)
{
  hl_arena *arena = hl_arena_of(ins);
  hl_instruction **operands = HL_ARRAY(arena, ins->operand_count + 1, hl_instruction *);
  for (int i = 0; i < ins->operand_count; i++)
    operands[i] = to_memory(ins, i);
  hl_instruction *flat = hl_make_again(ins, flat_shape(arena, ins->shape), operands);
  hl_instruction_remove_attr(flat, HL_ATTR_OPERAND_LAYOUT_CONSTRAINTS);
  if (hl_custom_kind_of(flat) == HL_CUSTOM_LAPACK)
    flat = hl_join_eigenvectors(flat);
  return from_memory(ins, flat, ins->shape);
}

/* NULL: it stays as it is. */
static hl_instruction *expand(hl_instruction *ins)
{
  if (hl_custom_kind_of(ins) == HL_CUSTOM_TOPK)
    return topk_of(ins);
  return needs_layouts(ins) || hl_custom_kind_of(ins) == HL_CUSTOM_LAPACK ? in_memory_order(ins) : NULL;
}

static bool check_region(const hl_instruction *ins, hl_diag *diag)
{
  return ins->opcode != HL_OP_CUSTOM_CALL || ins->computation->scratch ||
         hl_error(diag, hl_place_opcode(ins), HL_RULE_COMPILE_OP, "a custom call inside the region '%s' cannot be compiled",
                  ins->computation->name);
}

bool hl_pass_expand_custom_calls(hl_module *module, hl_pass_context *cx)
{
  static const hl_opcode opcodes[] = {HL_OP_CUSTOM_CALL};
  bool is_good = true;
  hl_mark_flow(module);
  for (const hl_computation *c = module->first; c; c = c->next)
    for (const hl_instruction *ins = c->first; ins; ins = ins->next)
      is_good = check_region(ins, cx->diag) && is_good;
  return is_good && hl_expand_each(module, 1, opcodes, expand);
}
