/* eval_scan - scan: the callee takes a slice of each input and the carries, and yields a slice of
 * each output and the carries. */
#include "eval_internal.h"

/* Moves one slice across a dimension, between the whole array and an array without that dimension.
 */
static void move_slice(hl_literal *to, const hl_literal *from, const hl_shape *whole,
                       int64_t dimension, int64_t at)
{
  int64_t inner = 1, size = whole->dimensions[dimension], total = hl_shape_elements(whole) / size;
  bool is_taking = from->shape == whole;
  for (int d = (int)dimension + 1; d < whole->rank; d++)
    inner *= whole->dimensions[d];
  for (int64_t i = 0; i < total; i++) {
    int64_t place = (i / inner * size + at) * inner + i % inner;
    hl_eval_move(to, is_taking ? i : place, from, is_taking ? place : i);
  }
}

/* The k-th result of a computation that yields one value or a tuple. */
static const hl_literal *part_of(const hl_literal *value, int k)
{
  return value->shape->element_type == HL_TUPLE ? value->elements[k] : value;
}

typedef struct scan {
  const hl_instruction *ins;
  const hl_computation *callee;
  const hl_literal *const *operands;
  int inputs, outputs, carries;
  int64_t dimension;
  const hl_literal **args; /* of the callee: slices, then carries */
  hl_literal **results;    /* outputs, then (at the end) carries */
} scan;

static void run_at(hl_eval *e, const scan *s, int64_t at)
{
  for (int k = 0; k < s->inputs; k++) {
    hl_literal *slice = hl_eval_new(e, s->callee->parameters[k]->shape);
    move_slice(slice, s->operands[k], s->operands[k]->shape, s->dimension, at);
    s->args[k] = slice;
  }
  const hl_literal *yield = hl_eval_computation(e, s->callee, s->args);
  for (int k = 0; k < s->outputs; k++)
    move_slice(s->results[k], part_of(yield, k), s->results[k]->shape, s->dimension, at);
  for (int k = 0; k < s->inputs + s->carries; k++)
    hl_eval_release(e, s->args[k]);
  for (int k = 0; k < s->carries; k++)
    s->args[s->inputs + k] = hl_eval_retain(part_of(yield, s->outputs + k));
  hl_eval_release(e, yield);
}

const hl_literal *hl_eval_scan(hl_eval *e, const hl_instruction *ins,
                               const hl_literal *const *operands)
{
  int carries = (int)hl_attr_int(ins, HL_ATTR_NUM_CARRIES, 0);
  bool is_tuple = ins->shape->element_type == HL_TUPLE,
       is_reverse = hl_attr_int(ins, HL_ATTR_IS_REVERSE, 0);
  int count = is_tuple ? ins->shape->tuple_count : 1;
  scan s = {ins,
            hl_attr_computation(ins, HL_ATTR_TO_APPLY),
            operands,
            ins->operand_count - carries,
            count - carries,
            carries,
            hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0],
            NULL,
            NULL};
  s.args = hl_eval_scratch(e, ins->operand_count, sizeof *s.args);
  s.results = hl_eval_scratch(e, count, sizeof *s.results);
  for (int k = 0; k < s.outputs; k++)
    s.results[k] = hl_eval_new(e, is_tuple ? ins->shape->tuple_shapes[k] : ins->shape);
  for (int k = 0; k < carries; k++)
    s.args[s.inputs + k] = hl_eval_retain(operands[s.inputs + k]);
  int64_t n = operands[0]->shape->dimensions[s.dimension];
  for (int64_t i = 0; i < n; i++)
    run_at(e, &s, is_reverse ? n - 1 - i : i);
  for (int k = 0; k < carries; k++)
    s.results[s.outputs + k] = (hl_literal *)s.args[s.inputs + k];
  hl_eval_drop(e, s.args);
  return hl_eval_results(e, ins, s.results);
}
