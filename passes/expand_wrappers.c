/* expand_wrappers - ops that only hand values on, put aside: barriers, domains, copies and calls in two steps, notes to devices
 * that are not there, collectives of one device.
 *
 * Requires: a module that hl_check_compilable accepts. Keeps: every value. Cost: one walk.
 * Tokens stay where they are; nothing is computed for them.
 */
#include "expand_exchange.h"

#include "../ir/device.h"

/* A value of zeros. Bounded by the nesting of shapes in the text. */
static hl_instruction *make_zeros(hl_instruction *origin, const hl_shape *shape)
{
  hl_arena *arena = hl_arena_of(origin);
  if (shape->element_type == HL_TOKEN)
    return hl_instruction_new(origin->computation, origin, HL_OP_AFTER_ALL, NULL, shape, 0, NULL, origin);
  if (shape->element_type != HL_TUPLE) {
    hl_literal *zero = hl_literal_new(arena, hl_shape_scalar(arena, shape->element_type));
    return hl_make_broadcast(origin, hl_make_constant(origin, zero), shape->rank, shape->dimensions, NULL);
  }
  hl_instruction **elements = HL_ARRAY(arena, shape->tuple_count + 1, hl_instruction *);
  for (int i = 0; i < shape->tuple_count; i++)
    elements[i] = make_zeros(origin, shape->tuple_shapes[i]);
  return hl_make_tuple(origin, shape->tuple_count, elements);
}

/* The tuple (first, second, zeros...) of a start. */
static hl_instruction *started(hl_instruction *start, hl_instruction *first, hl_instruction *second)
{
  int count = start->shape->tuple_count;
  hl_instruction **elements = HL_ARRAY(hl_arena_of(start), count, hl_instruction *);
  for (int i = 2; i < count; i++)
    elements[i] = make_zeros(start, start->shape->tuple_shapes[i]);
  elements[0] = first;
  elements[1] = second;
  return hl_make_tuple(start, count, elements);
}

static hl_instruction *element(hl_instruction *done, int index)
{
  return hl_make_element(done, done->operands[0], index);
}

/* ---- collectives ---- */

/* The operands as a value of this shape. */
static hl_instruction *together(hl_instruction *ins, const hl_shape *shape)
{
  return shape->element_type == HL_TUPLE ? hl_make_tuple(ins, ins->operand_count, ins->operands)
                                         : ins->operands[0];
}

static hl_instruction *received(hl_instruction *ins, const hl_shape *shape)
{
  return hl_receives_nothing(ins) ? make_zeros(ins, shape) : together(ins, shape);
}

static hl_instruction *expand_collective(hl_instruction *ins)
{
  if (ins->opcode == HL_OP_RAGGED_ALL_TO_ALL)
    return hl_exchange_rows(ins);
  if (ins->opcode != HL_OP_ALL_GATHER_START && ins->opcode != HL_OP_COLLECTIVE_PERMUTE_START)
    return received(ins, ins->shape);
  return started(ins, together(ins, ins->shape->tuple_shapes[0]), received(ins, ins->shape->tuple_shapes[1]));
}

/* ---- calls in two steps ---- */

static hl_instruction *make_call(hl_instruction *start)
{
  const hl_shape *shape = start->shape->tuple_shapes[1];
  hl_instruction *made = hl_instruction_new(start->computation, start, HL_OP_CALL, NULL, shape,
                                            start->operand_count, start->operands, start);
  hl_computation *callee = hl_attr_computation(start, HL_ATTR_CALLS);
  hl_set_callee(made, HL_ATTR_TO_APPLY, 1, &callee);
  return made;
}

static hl_instruction *expand_async_start(hl_instruction *ins)
{
  return started(ins, hl_make_tuple(ins, ins->operand_count, ins->operands), make_call(ins));
}

/* ---- all of them ---- */

static hl_instruction *make_number(hl_instruction *ins, int64_t value)
{
  return hl_make_filled_int(ins, ins->shape, ins->shape->element_type, value);
}

static hl_instruction *dimension_size(hl_instruction *ins)
{
  return make_number(ins, ins->operands[0]->shape->dimensions[hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0]]);
}

/* What takes the place of an instruction; NULL: it stays. */
static hl_instruction *expand(hl_instruction *ins)
{
  switch (ins->opcode) {
  case HL_OP_OPT_BARRIER:
  case HL_OP_DOMAIN:
  case HL_OP_ADD_DEPENDENCY:
  case HL_OP_ASYNC_UPDATE:
  case HL_OP_ALL_REDUCE_DONE:
    return ins->operands[0];
  case HL_OP_COPY_START:
    return started(ins, ins->operands[0], ins->operands[0]);
  case HL_OP_COPY_DONE:
    return element(ins, 0);
  case HL_OP_ASYNC_START:
    return expand_async_start(ins);
  case HL_OP_ASYNC_DONE:
  case HL_OP_ALL_GATHER_DONE:
  case HL_OP_COLLECTIVE_PERMUTE_DONE:
    return element(ins, 1);
  case HL_OP_GET_DIMENSION_SIZE:
    return dimension_size(ins);
  case HL_OP_PARTITION_ID:
  case HL_OP_REPLICA_ID:
    return make_number(ins, 0);
  case HL_OP_CUSTOM_CALL:
    return hl_is_annotation(ins) ? ins->operands[0] : NULL;
  default:
    return hl_is_collective(ins->opcode) ? expand_collective(ins) : NULL;
  }
}

bool hl_pass_expand_wrappers(hl_module *module, hl_pass_context *cx)
{
  (void)cx;
  return hl_expand_each(module, 0, NULL, expand);
}
