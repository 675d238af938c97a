/* device - ops of several devices on one device (spec sections 8.9 and 9). */
#include "device.h"

#include <string.h>

bool hl_is_annotation_target(const char *target)
{
  static const char *const targets[] = {
      "Sharding",   "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement",
      "MoveToHost", "MoveToDevice",         "LayoutConstraint",     "Pin",
      "Unpin"};
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    if (!strcmp(target, targets[i]))
      return true;
  return false;
}

bool hl_is_annotation(const hl_instruction *ins)
{
  return hl_is_annotation_target(hl_attr_find(ins, HL_ATTR_CUSTOM_CALL_TARGET)->text) &&
         ins->operand_count == 1 && hl_shape_equal(ins->shape, ins->operands[0]->shape);
}

bool hl_is_collective(hl_opcode opcode)
{
  switch (opcode) {
  case HL_OP_ALL_REDUCE:
  case HL_OP_ALL_GATHER:
  case HL_OP_REDUCE_SCATTER:
  case HL_OP_ALL_TO_ALL:
  case HL_OP_COLLECTIVE_PERMUTE:
  case HL_OP_COLLECTIVE_BROADCAST:
  case HL_OP_RAGGED_ALL_TO_ALL:
  case HL_OP_ALL_REDUCE_START:
  case HL_OP_ALL_GATHER_START:
  case HL_OP_COLLECTIVE_PERMUTE_START:
    return true;
  default:
    return false;
  }
}

/* Without written groups all devices of the module are one. */
static bool has_groups_of_one(const hl_instruction *ins)
{
  const hl_attr *groups = hl_attr_find(ins, HL_ATTR_REPLICA_GROUPS);
  const hl_module *module = ins->computation->module;
  if (!groups || groups->lists.count == 0)
    return module->replica_count <= 1 && module->num_partitions <= 1;
  for (int i = 0; i < groups->lists.count; i++)
    if (groups->lists.values[i].count > 1)
      return false;
  return true;
}

static bool has_pairs_of_one(const hl_instruction *ins)
{
  const hl_attr *pairs = hl_attr_find(ins, HL_ATTR_SOURCE_TARGET_PAIRS);
  for (int i = 0; i < pairs->lists.count; i++)
    if (pairs->lists.values[i].values[0] != 0 || pairs->lists.values[i].values[1] != 0)
      return false;
  return !hl_attr_find(ins, HL_ATTR_SLICE_SIZES_LISTS);
}

/* Whether a shape is that of the operands: alone, or in a tuple. */
static bool has_operand_shapes(const hl_instruction *ins, const hl_shape *shape)
{
  if (shape->element_type != HL_TUPLE)
    return ins->operand_count == 1 && hl_shape_equal(shape, ins->operands[0]->shape);
  if (shape->tuple_count != ins->operand_count)
    return false;
  for (int i = 0; i < ins->operand_count; i++)
    if (!hl_shape_equal(shape->tuple_shapes[i], ins->operands[i]->shape))
      return false;
  return true;
}

bool hl_is_alone(const hl_instruction *ins)
{
  bool is_start = ins->opcode == HL_OP_ALL_GATHER_START || ins->opcode == HL_OP_COLLECTIVE_PERMUTE_START;
  if (ins->opcode == HL_OP_RAGGED_ALL_TO_ALL)
    return has_groups_of_one(ins);
  if (!has_operand_shapes(ins, is_start ? ins->shape->tuple_shapes[1] : ins->shape))
    return false;
  return hl_attr_find(ins, HL_ATTR_SOURCE_TARGET_PAIRS) ? has_pairs_of_one(ins) : has_groups_of_one(ins);
}

bool hl_receives_nothing(const hl_instruction *ins)
{
  const hl_attr *pairs = hl_attr_find(ins, HL_ATTR_SOURCE_TARGET_PAIRS);
  return pairs && pairs->lists.count == 0;
}
