/* expand_scan - scan as a while loop that cuts one slice from each input and puts one into each
 * output:
 *
 *   (i, outputs, carries, inputs) = while i < n
 *     slices, carries = callee(inputs at i, carries);  outputs at i := slices;  i = i + 1
 *
 * Requires: calls are inlined (the loop's computations are new ones).
 * Keeps:    numerics.md rule 14: steps follow each other along the dimension.
 * Cost:     a fixed number of instructions an operand and result, and the callee's once more.
 */
#include "expand.h"

#include "../ir/limits.h"

typedef struct scan {
  hl_instruction *ins;
  hl_computation *callee;
  int inputs, outputs, carries;
  int64_t dimension, steps;
  hl_element_type counter;
} scan;

/* The state of the loop: the counter, outputs, carries, inputs. */
static int state_count(const scan *s)
{
  return 1 + s->outputs + s->carries + s->inputs;
}

static scan scan_of(hl_instruction *ins)
{
  scan s = {.ins = ins, .callee = hl_attr_computation(ins, HL_ATTR_TO_APPLY)};
  s.carries = (int)hl_attr_int(ins, HL_ATTR_NUM_CARRIES, 0);
  s.inputs = ins->operand_count - s.carries;
  s.outputs = (ins->shape->element_type == HL_TUPLE ? ins->shape->tuple_count : 1) - s.carries;
  s.dimension = hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0];
  s.steps = ins->operands[0]->shape->dimensions[s.dimension];
  s.counter = s.steps <= INT32_MAX ? HL_S32 : HL_S64;
  return s;
}

static const hl_shape *output_shape(const scan *s, int k)
{
  const hl_shape *shape = s->ins->shape;
  return shape->element_type == HL_TUPLE ? shape->tuple_shapes[k] : shape;
}

static hl_instruction *counter_constant(const scan *s, hl_instruction *origin, int64_t value)
{
  return hl_make_filled_int(origin, hl_shape_scalar(hl_arena_of(origin), s->counter), s->counter,
                            value);
}

/* What the loop starts from, as a tuple. */
static hl_instruction *initial_state(const scan *s)
{
  hl_instruction **state = HL_ARRAY(hl_arena_of(s->ins), state_count(s), hl_instruction *);
  int n = 0;
  state[n++] = counter_constant(s, s->ins, 0);
  for (int k = 0; k < s->outputs; k++)
    state[n++] =
        hl_make_filled_int(s->ins, output_shape(s, k), output_shape(s, k)->element_type, 0);
  for (int k = 0; k < s->carries; k++)
    state[n++] = s->ins->operands[s->inputs + k];
  for (int k = 0; k < s->inputs; k++)
    state[n++] = s->ins->operands[k];
  return hl_make_tuple(s->ins, n, state);
}

/* An empty computation of the state, with something at its end that the rest is put before. */
static hl_instruction *open_computation(const scan *s, const char *name, const hl_shape *state)
{
  hl_computation *c = hl_make_computation(s->ins->computation, name, 1, &state);
  const hl_shape *nothing = hl_shape_tuple(c->module->arena, 0, NULL);
  return hl_instruction_new(c, NULL, HL_OP_TUPLE, NULL, nothing, 0, NULL, s->ins);
}

static hl_computation *close_computation(hl_instruction *end, hl_instruction *root)
{
  hl_computation *c = end->computation;
  c->root = root;
  hl_instruction_remove(end);
  return c;
}

static hl_computation *make_condition(const scan *s, const hl_shape *state)
{
  hl_instruction *end = open_computation(s, "scan_condition", state);
  hl_instruction *i = hl_make_element(end, end->computation->parameters[0], 0);
  return close_computation(end, hl_make_compare(end, HL_LT, i, counter_constant(s, end, s->steps)));
}

/* Operands that say where a slice of an array lies: zeros, and `place` in the scanned dimension. */
static void add_starts(const scan *s, hl_instruction *end, hl_instruction *place, int rank,
                       hl_instruction **operands)
{
  hl_instruction *zero = counter_constant(s, end, 0);
  for (int d = 0; d < rank; d++)
    operands[d] = d == s->dimension ? place : zero;
}

static hl_instruction *take_slice(const scan *s, hl_instruction *end, hl_instruction *array,
                                  hl_instruction *place)
{
  const hl_shape *whole = array->shape;
  hl_instruction *operands[HL_LIMIT_RANK + 1] = {array};
  int64_t sizes[HL_LIMIT_RANK], kept[HL_LIMIT_RANK];
  int rank = 0;
  for (int d = 0; d < whole->rank; d++) {
    sizes[d] = d == s->dimension ? 1 : whole->dimensions[d];
    if (d != s->dimension)
      kept[rank++] = whole->dimensions[d];
  }
  add_starts(s, end, place, whole->rank, operands + 1);
  const hl_shape *shape = hl_shape_new(hl_arena_of(end), whole->element_type, whole->rank, sizes);
  hl_instruction *slice = hl_instruction_new(end->computation, end, HL_OP_DYNAMIC_SLICE, NULL,
                                             shape, 1 + whole->rank, operands, end);
  hl_instruction_add_ints(slice, HL_ATTR_DYNAMIC_SLICE_SIZES, whole->rank, sizes);
  return hl_make_reshape(end, slice, rank, kept);
}

static hl_instruction *put_slice(const scan *s, hl_instruction *end, hl_instruction *array,
                                 hl_instruction *slice, hl_instruction *place)
{
  const hl_shape *whole = array->shape;
  hl_instruction *operands[HL_LIMIT_RANK + 2] = {array};
  int64_t sizes[HL_LIMIT_RANK];
  for (int d = 0; d < whole->rank; d++)
    sizes[d] = d == s->dimension ? 1 : whole->dimensions[d];
  operands[1] = hl_make_reshape(end, slice, whole->rank, sizes);
  add_starts(s, end, place, whole->rank, operands + 2);
  return hl_instruction_new(end->computation, end, HL_OP_DYNAMIC_UPDATE_SLICE, NULL, whole,
                            2 + whole->rank, operands, end);
}

/* The k-th value that the callee yields. */
static hl_instruction *yielded(hl_instruction *end, hl_instruction *yield, int k)
{
  if (yield->shape->element_type != HL_TUPLE)
    return yield;
  return yield->opcode == HL_OP_TUPLE ? yield->operands[k] : hl_make_element(end, yield, k);
}

static hl_instruction *call_callee(const scan *s, hl_instruction *end, hl_instruction *const *state,
                                   hl_instruction *place)
{
  hl_instruction **args = HL_ARRAY(hl_arena_of(end), s->inputs + s->carries, hl_instruction *);
  for (int k = 0; k < s->inputs; k++)
    args[k] = take_slice(s, end, state[1 + s->outputs + s->carries + k], place);
  for (int k = 0; k < s->carries; k++)
    args[s->inputs + k] = state[1 + s->outputs + k];
  return hl_inline_computation(s->callee, end->computation, end, args);
}

static hl_computation *make_body(const scan *s, const hl_shape *shape)
{
  hl_instruction *end = open_computation(s, "scan_body", shape), *i, *place;
  int count = state_count(s);
  hl_instruction **state = HL_ARRAY(hl_arena_of(end), count, hl_instruction *);
  for (int k = 0; k < count; k++)
    state[k] = hl_make_element(end, end->computation->parameters[0], k);
  place = i = state[0];
  if (hl_attr_int(s->ins, HL_ATTR_IS_REVERSE, 0))
    place = hl_make_binary(end, HL_OP_SUBTRACT, counter_constant(s, end, s->steps - 1), i);
  hl_instruction *yield = call_callee(s, end, state, place);
  for (int k = 0; k < s->outputs; k++)
    state[1 + k] = put_slice(s, end, state[1 + k], yielded(end, yield, k), place);
  for (int k = 0; k < s->carries; k++)
    state[1 + s->outputs + k] = yielded(end, yield, s->outputs + k);
  state[0] = hl_make_binary(end, HL_OP_ADD, i, counter_constant(s, end, 1));
  return close_computation(end, hl_make_tuple(end, count, state));
}

/* The loop's state when it has ended. */
static hl_instruction *make_loop(const scan *s, hl_instruction *state)
{
  hl_computation *condition = make_condition(s, state->shape), *body = make_body(s, state->shape);
  hl_instruction *loop = hl_instruction_new(s->ins->computation, s->ins, HL_OP_WHILE, NULL,
                                            state->shape, 1, &state, s->ins);
  hl_set_callee(loop, HL_ATTR_CONDITION, 1, &condition);
  hl_set_callee(loop, HL_ATTR_BODY, 1, &body);
  return loop;
}

/* Without steps there are no slices that a loop could speak of: the state stays as it was. */
static hl_instruction *expand(hl_instruction *ins)
{
  scan s = scan_of(ins);
  hl_instruction *state = initial_state(&s);
  hl_instruction *end = s.steps ? make_loop(&s, state) : state;
  if (ins->shape->element_type != HL_TUPLE)
    return hl_make_element(ins, end, 1);
  int count = s.outputs + s.carries;
  hl_instruction **results = HL_ARRAY(hl_arena_of(ins), count + 1, hl_instruction *);
  for (int k = 0; k < count; k++)
    results[k] = hl_make_element(ins, end, 1 + k);
  return hl_make_tuple(ins, count, results);
}

bool hl_pass_expand_scan(hl_module *module, hl_pass_context *cx)
{
  static const hl_opcode opcodes[] = {HL_OP_SCAN};
  (void)cx;
  return hl_expand_each(module, 1, opcodes, expand);
}
