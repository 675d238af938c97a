/* fuse_kinds - what fusion asks of one instruction, whatever stands around it. */
#include "fuse_kinds.h"

#include "lower_whole.h"

int64_t hl_elements(const hl_shape *shape)
{
  if (shape->element_type == HL_TUPLE)
    return shape->tuple_count ? hl_elements(shape->tuple_shapes[0]) : 0;
  return hl_shape_is_array(shape) ? hl_shape_elements(shape) : 0;
}

bool hl_is_bundle(const hl_instruction *ins)
{
  return ins->opcode == HL_OP_TUPLE || ins->opcode == HL_OP_GET_TUPLE_ELEMENT;
}

bool hl_is_control(const hl_instruction *ins)
{
  return ins->opcode == HL_OP_WHILE || ins->opcode == HL_OP_CONDITIONAL || ins->opcode == HL_OP_CUSTOM_CALL;
}

bool hl_is_effect(const hl_instruction *ins)
{
  return hl_is_control(ins) && hl_has_side_effect(ins);
}

bool hl_is_whole(const hl_instruction *ins)
{
  return hl_build_of(ins) != NULL;
}

bool hl_is_contraction(const hl_instruction *ins)
{
  switch (ins->opcode) {
  case HL_OP_DOT: case HL_OP_SCALED_DOT: case HL_OP_RAGGED_DOT: case HL_OP_CONVOLUTION:
  case HL_OP_REDUCE_WINDOW:
    return true;
  default:
    return false;
  }
}

bool hl_is_heavy(const hl_instruction *ins)
{
  return ins->opcode == HL_OP_REDUCE || hl_is_contraction(ins);
}

bool hl_is_given(const hl_instruction *ins)
{
  return ins->opcode == HL_OP_PARAMETER ||
         (ins->opcode == HL_OP_CONSTANT && !hl_literal_is_splat(ins->literal));
}

int hl_own_cost(const hl_instruction *ins)
{
  unsigned flags = hl_op_info_of(ins->opcode)->flags;
  if (flags & HL_MATH)
    return hl_is_integral(ins->shape->element_type) ? HL_CHEAP : HL_MATH_COST;
  if (ins->opcode == HL_OP_CONCATENATE || ins->opcode == HL_OP_PAD)
    return 3;
  return flags & HL_EW && !(flags & HL_MOVE) ? 1 : 0;
}

bool hl_is_spread(const hl_instruction *ins)
{
  const hl_attr *padding = ins->opcode == HL_OP_PAD ? hl_attr_find(ins, HL_ATTR_PADDING) : NULL;
  for (int i = 0; padding && i < padding->padding.count; i++)
    if (padding->padding.dims[i].interior > 0)
      return true;
  return false;
}

bool hl_is_view(const hl_instruction *ins)
{
  switch (ins->opcode) {
  case HL_OP_BROADCAST: case HL_OP_RESHAPE: case HL_OP_BITCAST: case HL_OP_TRANSPOSE:
  case HL_OP_SLICE: case HL_OP_REVERSE: case HL_OP_CONVERT: case HL_OP_COPY: case HL_OP_IOTA:
  case HL_OP_CONSTANT:
    return true;
  default:
    return false;
  }
}

bool hl_is_writable(const hl_instruction *ins)
{
  while (ins->opcode == HL_OP_GET_TUPLE_ELEMENT)
    ins = ins->operands[0];
  if (ins->opcode == HL_OP_PARAMETER)
    return ins->computation != ins->computation->module->entry;
  return ins->opcode == HL_OP_DYNAMIC_UPDATE_SLICE || hl_is_control(ins) || hl_is_whole(ins);
}

bool hl_is_in_memory(const hl_instruction *ins)
{
  while (ins->opcode == HL_OP_GET_TUPLE_ELEMENT)
    ins = ins->operands[0];
  return hl_is_given(ins) || hl_is_writable(ins);
}
