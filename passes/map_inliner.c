/* map_inliner - a map whose region is made of scalar elementwise operations is those operations on
 * arrays.
 *
 * Requires: calls are inlined, powers are marked (the region's exponent may become a broadcast
 * constant). Keeps:    every value: a map has no order. Cost:     the sizes of the regions of all
 * maps; it stops where the module would grow beyond a limit, maps may stay.
 */
#include "rewrite.h"

enum { MAX_INLINED = 1 << 20 };

static bool is_scalar_step(const hl_instruction *ins)
{
  if (!hl_shape_is_scalar(ins->shape) || ins->opcode == HL_OP_MAP)
    return false;
  return ins->opcode == HL_OP_PARAMETER || ins->opcode == HL_OP_CONSTANT ||
         ins->opcode == HL_OP_BITCAST_CONVERT || hl_op_info_of(ins->opcode)->flags & HL_EW;
}

static bool is_elementwise(const hl_computation *region)
{
  for (const hl_instruction *ins = region->first; ins; ins = ins->next)
    if (!is_scalar_step(ins))
      return false;
  return true;
}

static hl_instruction *step_on_arrays(hl_instruction *step, hl_instruction *map,
                                      hl_instruction **values)
{
  if (step->opcode == HL_OP_PARAMETER)
    return map->operands[step->parameter_number];
  if (step->opcode == HL_OP_CONSTANT)
    return hl_make_splat(map, step->literal);
  hl_instruction *operands[3];
  for (int i = 0; i < step->operand_count; i++)
    operands[i] = values[step->operands[i]->scratch];
  const hl_shape *shape =
      hl_shape_with_type(hl_arena_of(map), map->shape, step->shape->element_type);
  return hl_make_again_at(step, map, shape, operands);
}

static void inline_map(hl_instruction *map, const hl_computation *region, hl_arena *scratch)
{
  hl_instruction **values = HL_ARRAY(scratch, region->instruction_count, hl_instruction *);
  int64_t count = 0;
  for (hl_instruction *step = region->first; step; step = step->next) {
    step->scratch = count++;
    values[step->scratch] = step_on_arrays(step, map, values);
  }
  hl_replace_all_uses(map, values[region->root->scratch]);
  hl_instruction_remove(map);
}

bool hl_pass_map_inliner(hl_module *module, hl_pass_context *cx)
{
  bool changed = false;
  int64_t added = 0;
  hl_instruction *next;
  for (hl_computation *c = module->first; c; c = c->next)
    for (hl_instruction *ins = c->first; ins; ins = next) {
      next = ins->next;
      if (ins->opcode != HL_OP_MAP)
        continue;
      const hl_computation *region = hl_attr_computation(ins, HL_ATTR_TO_APPLY);
      if (!is_elementwise(region) || added + region->instruction_count > MAX_INLINED)
        continue;
      added += region->instruction_count;
      inline_map(ins, region, cx->scratch);
      changed = true;
    }
  return changed;
}
