/* eval_wrappers - ops that hand values on: tokens, copies in two steps, async wrappers, custom
 * calls that only annotate, and collectives, which are the identity on one device. */
#include "device.h"
#include "eval_internal.h"

#include <string.h>

const hl_literal *hl_eval_token(hl_eval *e, const hl_instruction *ins,
                                const hl_literal *const *operands)
{
  (void)operands;
  return hl_eval_new(e, ins->shape);
}

const hl_literal *hl_eval_get_dimension_size(hl_eval *e, const hl_instruction *ins,
                                             const hl_literal *const *operands)
{
  hl_literal *result = hl_eval_new(e, ins->shape);
  int64_t dimension = hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0];
  hl_scalar_store(result, 0, hl_scalar_of_int(HL_S32, operands[0]->shape->dimensions[dimension]));
  return result;
}

/* A value of zeros. Bounded by the nesting of shapes in the text. */
static const hl_literal *zeros(hl_eval *e, const hl_shape *shape)
{
  if (shape->element_type != HL_TUPLE)
    return hl_eval_new(e, shape);
  const hl_literal **elements = hl_eval_scratch(e, shape->tuple_count, sizeof *elements);
  for (int i = 0; i < shape->tuple_count; i++)
    elements[i] = zeros(e, shape->tuple_shapes[i]);
  const hl_literal *tuple = hl_eval_tuple_of(e, shape, elements);
  hl_eval_drop(e, elements);
  return tuple;
}

/* The tuple (first, second, zeros...); takes both over. */
static const hl_literal *started(hl_eval *e, const hl_shape *shape, const hl_literal *first,
                                 const hl_literal *second)
{
  const hl_literal **elements = hl_eval_scratch(e, shape->tuple_count, sizeof *elements);
  for (int i = 0; i < shape->tuple_count; i++)
    elements[i] = i == 0 ? first : i == 1 ? second : zeros(e, shape->tuple_shapes[i]);
  const hl_literal *tuple = hl_eval_tuple_of(e, shape, elements);
  hl_eval_drop(e, elements);
  return tuple;
}

const hl_literal *hl_eval_copy_start(hl_eval *e, const hl_instruction *ins,
                                     const hl_literal *const *operands)
{
  return started(e, ins->shape, hl_eval_retain(operands[0]), hl_eval_retain(operands[0]));
}

const hl_literal *hl_eval_copy_done(hl_eval *e, const hl_instruction *ins,
                                    const hl_literal *const *operands)
{
  (void)e;
  (void)ins;
  return hl_eval_retain(operands[0]->elements[0]);
}

/* ---- async ---- */

const hl_literal *hl_eval_async_start(hl_eval *e, const hl_instruction *ins,
                                      const hl_literal *const *operands)
{
  const hl_literal *result = hl_eval_computation(e, hl_attr_computation(ins, HL_ATTR_CALLS), operands);
  for (int i = 0; i < ins->operand_count; i++)
    hl_eval_retain(operands[i]);
  return started(e, ins->shape, hl_eval_tuple_of(e, ins->shape->tuple_shapes[0], operands), result);
}

const hl_literal *hl_eval_async_update(hl_eval *e, const hl_instruction *ins,
                                       const hl_literal *const *operands)
{
  return hl_eval_identity(e, ins, operands);
}

const hl_literal *hl_eval_async_done(hl_eval *e, const hl_instruction *ins,
                                     const hl_literal *const *operands)
{
  (void)e;
  (void)ins;
  return hl_eval_retain(operands[0]->elements[1]);
}

/* ---- custom calls ---- */

const hl_literal *hl_eval_custom_call(hl_eval *e, const hl_instruction *ins,
                                      const hl_literal *const *operands)
{
  const char *target = hl_attr_find(ins, HL_ATTR_CUSTOM_CALL_TARGET)->text;
  if (!strcmp(target, "TopK"))
    return hl_eval_topk(e, ins, operands);
  if (hl_is_annotation(ins))
    return hl_eval_retain(operands[0]);
  const hl_literal *value = e->host ? e->host->custom_call(e->host->user, ins, operands) : NULL;
  if (!value)
    hl_eval_stop(e, "the target of this custom call is unknown");
  return hl_eval_borrow(e, value);
}

/* ---- collectives ---- */

/* The operands as one value: alone, or as a tuple. */
static const hl_literal *together(hl_eval *e, const hl_shape *shape, const hl_instruction *ins,
                                  const hl_literal *const *operands)
{
  if (shape->element_type != HL_TUPLE)
    return hl_eval_retain(operands[0]);
  for (int i = 0; i < ins->operand_count; i++)
    hl_eval_retain(operands[i]);
  return hl_eval_tuple_of(e, shape, operands);
}

static const hl_literal *exchanged(hl_eval *e, const hl_shape *shape, const hl_instruction *ins,
                                   const hl_literal *const *operands)
{
  return hl_receives_nothing(ins) ? zeros(e, shape) : together(e, shape, ins, operands);
}

const hl_literal *hl_eval_collective(hl_eval *e, const hl_instruction *ins,
                                     const hl_literal *const *operands)
{
  if (!hl_is_alone(ins))
    hl_eval_stop(e, "more than one device takes part");
  if (ins->opcode != HL_OP_ALL_GATHER_START && ins->opcode != HL_OP_COLLECTIVE_PERMUTE_START)
    return exchanged(e, ins->shape, ins, operands);
  const hl_literal *sent = together(e, ins->shape->tuple_shapes[0], ins, operands);
  return started(e, ins->shape, sent, exchanged(e, ins->shape->tuple_shapes[1], ins, operands));
}

/* Where row `to` of the output comes from: the last slice that covers it; -1: it stays. Numbers wrap. */
static int64_t source_row(const hl_literal *const *operands, int64_t to)
{
  enum { INPUT, OUTPUT, INPUT_OFFSETS, SEND_SIZES, OUTPUT_OFFSETS };
  int64_t rows = operands[INPUT]->shape->dimensions[0];
  for (int64_t i = operands[SEND_SIZES]->shape->dimensions[0]; i-- > 0;) {
    uint64_t place = (uint64_t)to - (uint64_t)hl_literal_get_int(operands[OUTPUT_OFFSETS], i);
    int64_t from = (int64_t)(place + (uint64_t)hl_literal_get_int(operands[INPUT_OFFSETS], i));
    bool is_covered = (int64_t)place >= 0 && (int64_t)place < hl_literal_get_int(operands[SEND_SIZES], i);
    if (is_covered && from >= 0 && from < rows)
      return from;
  }
  return -1;
}

const hl_literal *hl_eval_exchange(hl_eval *e, const hl_instruction *ins,
                                   const hl_literal *const *operands)
{
  if (!hl_is_alone(ins))
    hl_eval_stop(e, "more than one device takes part");
  hl_literal *result = hl_eval_new(e, ins->shape);
  int64_t rows = ins->shape->dimensions[0];
  size_t row_bytes = rows ? (size_t)(hl_shape_bytes(ins->shape) / rows) : 0;
  for (int64_t to = 0; row_bytes && to < rows; to++) {
    int64_t from = source_row(operands, to);
    const char *source = from < 0 ? operands[1]->data : operands[0]->data;
    memcpy((char *)result->data + (size_t)to * row_bytes, source + (size_t)(from < 0 ? to : from) * row_bytes, row_bytes);
  }
  return result;
}

const hl_literal *hl_eval_collective_done(hl_eval *e, const hl_instruction *ins,
                                          const hl_literal *const *operands)
{
  (void)e;
  return hl_eval_retain(ins->opcode == HL_OP_ALL_REDUCE_DONE ? operands[0]
                                                             : operands[0]->elements[1]);
}

const hl_literal *hl_eval_replica_id(hl_eval *e, const hl_instruction *ins,
                                     const hl_literal *const *operands)
{
  (void)operands;
  return hl_eval_new(e, ins->shape);
}
