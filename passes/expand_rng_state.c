/* expand_rng_state - rng-get-and-update-state as a value: a u128, in two u64, that whiles and conditionals hand on.
 *
 * Requires: calls are inlined; no other op with hidden state.
 * Keeps:    the order of draws; every value. The state begins at the same number at each call of the entry (numerics.md rule 14).
 * Cost:     the size of the computations that draw, once for each place that runs them.
 *
 * A computation that draws is copied for each while or conditional that runs it: (x) -> y becomes (x, state) -> (y, state). A while
 * whose condition draws first becomes one that carries the condition's value: it is found before the loop and at the end of the body.
 */
#include "expand.h"

enum { FIRST_LOW = 0x7012395 };

typedef struct threader {
  hl_arena *scratch;
  hl_computation **open; /* copies whose draws are still to be replaced */
  size_t open_capacity;
  int open_count;
} threader;

/* computation->scratch: what hl_mark_flow says, and whether running it draws. */
enum { IS_FLOW = 1, DRAWS = 2 };

/* ---- who draws ---- */

static bool is_draw(const hl_instruction *ins)
{
  return ins->opcode == HL_OP_RNG_GET_AND_UPDATE_STATE;
}

static hl_computation *branch_of(const hl_instruction *ins, int index)
{
  const hl_attr *list = hl_attr_find(ins, HL_ATTR_BRANCH_COMPUTATIONS);
  if (list)
    return list->computations.values[index];
  return hl_attr_computation(ins, index ? HL_ATTR_FALSE_COMPUTATION : HL_ATTR_TRUE_COMPUTATION);
}

static bool any_branch_draws(const hl_instruction *ins)
{
  bool any = false;
  for (int i = 1; ins->opcode == HL_OP_CONDITIONAL && i < ins->operand_count; i++)
    any = any || branch_of(ins, i - 1)->scratch & DRAWS;
  return any;
}

static bool part_draws(const hl_instruction *ins, hl_attr_id part)
{
  return ins->opcode == HL_OP_WHILE && hl_attr_computation(ins, part)->scratch & DRAWS;
}

/* Callees stand before callers, so theirs is known. */
static bool find_draws(hl_module *module)
{
  bool any = false;
  for (hl_computation *c = module->first; c; c = c->next)
    for (const hl_instruction *ins = c->first; ins; ins = ins->next)
      if (is_draw(ins) || any_branch_draws(ins) || part_draws(ins, HL_ATTR_BODY) ||
          part_draws(ins, HL_ATTR_CONDITION)) {
        c->scratch |= DRAWS;
        any = true;
      }
  return any;
}

/* Reducers and the like run in an order that is not that of the text. */
static bool check_regions(const hl_module *module, hl_diag *diag)
{
  bool is_good = true;
  for (const hl_computation *c = module->first; c; c = c->next)
    for (const hl_instruction *ins = c->scratch & IS_FLOW ? NULL : c->first; ins; ins = ins->next)
      if (is_draw(ins))
        is_good = hl_error(diag, hl_place_opcode(ins), HL_RULE_COMPILE_OP,
                           "random numbers inside the region '%s' cannot be compiled", c->name);
  return is_good;
}

/* ---- one draw ---- */

static hl_instruction *word_of(hl_instruction *origin, hl_instruction *state, int64_t at)
{
  return hl_make_slice(origin, state, &(hl_slice_dim){at, at + 1, 1});
}

/* state + delta */
static hl_instruction *advanced(hl_instruction *draw, hl_instruction *state)
{
  hl_instruction *words[2] = {word_of(draw, state, 0), word_of(draw, state, 1)};
  int64_t delta = hl_attr_int(draw, HL_ATTR_DELTA, 0);
  hl_instruction *by = hl_make_filled_int(draw, words[0]->shape, HL_U64, delta);
  words[0] = hl_make_binary(draw, HL_OP_ADD, words[0], by);
  hl_instruction *carry = hl_make_compare(draw, HL_LT, words[0], by);
  words[1] = hl_make_binary(draw, HL_OP_ADD, words[1], hl_make_convert(draw, HL_U64, carry));
  return hl_make_concatenate(draw, 0, 2, words);
}

/* ---- copies of computations ---- */

static const hl_shape *tuple_of_two(hl_arena *arena, const hl_shape *x, const hl_shape *y)
{
  return hl_shape_tuple(arena, 2, (const hl_shape *[]){x, y});
}

static hl_instruction *append(hl_computation *c, hl_opcode opcode, const hl_shape *shape, int count,
                              hl_instruction *const *operands)
{
  return hl_instruction_new(c, NULL, opcode, NULL, shape, count, operands, operands[0]);
}

static hl_instruction *append_element(hl_computation *c, hl_instruction *tuple, int64_t index)
{
  hl_instruction *made = append(c, HL_OP_GET_TUPLE_ELEMENT, tuple->shape->tuple_shapes[index], 1, &tuple);
  hl_attr attr = {.id = HL_ATTR_INDEX, .name_range = HL_NO_RANGE, .value_range = HL_NO_RANGE, .i = index};
  hl_instruction_add_attr(made, &attr);
  return made;
}

static hl_instruction *append_pair(hl_computation *c, hl_instruction *x, hl_instruction *y)
{
  const hl_shape *shape = tuple_of_two(c->module->arena, x->shape, y->shape);
  return append(c, HL_OP_TUPLE, shape, 2, (hl_instruction *[]){x, y});
}

/* An empty computation that takes (what `from` takes, other), right behind `from`, whose callees it shares. */
static hl_computation *new_beside(const hl_computation *from, const hl_shape *other)
{
  const hl_shape *parameter = tuple_of_two(from->module->arena, from->parameters[0]->shape, other);
  return hl_make_computation(from->next, from->name, 1, &parameter);
}

static hl_instruction *put_body(const hl_computation *from, hl_computation *to, hl_instruction *argument)
{
  return hl_inline_computation(from, to, NULL, &argument);
}

/* (x, other) -> from(x) */
static hl_computation *with_other(const hl_computation *from, const hl_shape *other)
{
  hl_computation *made = new_beside(from, other);
  made->root = put_body(from, made, append_element(made, made->parameters[0], 0));
  return made;
}

/* (x, state) -> (from(x), state); the draws inside are still to be replaced. */
static hl_computation *with_state(threader *t, const hl_computation *from, const hl_shape *state_shape)
{
  hl_computation *made = new_beside(from, state_shape);
  hl_instruction *x = append_element(made, made->parameters[0], 0);
  hl_instruction *state = append_element(made, made->parameters[0], 1);
  made->root = append_pair(made, put_body(from, made, x), state);
  t->open = hl_arena_grow(t->scratch, t->open, &t->open_capacity, (size_t)t->open_count + 1, sizeof(hl_computation *));
  t->open[t->open_count++] = made;
  return made;
}

/* ---- whiles and conditionals ---- */

static void replace_by_first(hl_instruction *old, hl_instruction *pair)
{
  hl_replace_all_uses(old, hl_make_element(old, pair, 0));
  hl_instruction_remove(old);
}

/* ((x, go on)) -> (body(x), condition(body(x))) */
static hl_computation *body_with_condition(hl_instruction *loop)
{
  const hl_computation *body = hl_attr_computation(loop, HL_ATTR_BODY);
  const hl_computation *condition = hl_attr_computation(loop, HL_ATTR_CONDITION);
  const hl_computation *last = body;
  for (const hl_computation *c = body; c; c = c->next)
    last = c == condition ? c : last; /* behind both */
  const hl_shape *parameter = tuple_of_two(loop->computation->module->arena, loop->shape, condition->root->shape);
  hl_computation *made = hl_make_computation(last->next, body->name, 1, &parameter);
  hl_instruction *next = put_body(body, made, append_element(made, made->parameters[0], 0));
  made->root = append_pair(made, next, put_body(condition, made, next));
  return made;
}

/* ((x, go on)) -> go on */
static hl_computation *carried_condition(const hl_computation *condition)
{
  hl_computation *made = new_beside(condition, condition->root->shape);
  made->root = append_element(made, made->parameters[0], 1);
  return made;
}

/* The condition's value becomes part of what the loop carries. Returns the first instruction that was put before the loop. */
static hl_instruction *carry_condition(hl_instruction *loop)
{
  hl_instruction *before = loop->previous;
  hl_computation *condition = hl_attr_computation(loop, HL_ATTR_CONDITION);
  hl_computation *callees[2] = {carried_condition(condition), body_with_condition(loop)};
  hl_instruction *first = hl_inline_computation(condition, loop->computation, loop, loop->operands);
  hl_instruction *init = hl_make_tuple(loop, 2, (hl_instruction *[]){loop->operands[0], first});
  hl_instruction *made = hl_instruction_new(loop->computation, loop, HL_OP_WHILE, NULL, init->shape, 1, &init, loop);
  hl_set_callee(made, HL_ATTR_CONDITION, 1, &callees[0]);
  hl_set_callee(made, HL_ATTR_BODY, 1, &callees[1]);
  callees[1]->scratch = DRAWS;
  replace_by_first(loop, made);
  return before->next; /* a loop has an operand before it */
}

/* Each returns the state behind the instruction, which it replaces. */
static hl_instruction *thread_while(threader *t, hl_instruction *loop, hl_instruction *state)
{
  hl_computation *callees[2] = {with_other(hl_attr_computation(loop, HL_ATTR_CONDITION), state->shape),
                                with_state(t, hl_attr_computation(loop, HL_ATTR_BODY), state->shape)};
  hl_instruction *init = hl_make_tuple(loop, 2, (hl_instruction *[]){loop->operands[0], state});
  hl_instruction *made = hl_instruction_new(loop->computation, loop, HL_OP_WHILE, NULL, init->shape, 1, &init, loop);
  hl_set_callee(made, HL_ATTR_CONDITION, 1, &callees[0]);
  hl_set_callee(made, HL_ATTR_BODY, 1, &callees[1]);
  hl_instruction *next = hl_make_element(loop, made, 1);
  replace_by_first(loop, made);
  return next;
}

static void set_branches(hl_instruction *ins, const hl_instruction *like, int count, hl_computation **branches)
{
  if (hl_attr_find(like, HL_ATTR_BRANCH_COMPUTATIONS)) {
    hl_set_callee(ins, HL_ATTR_BRANCH_COMPUTATIONS, count, branches);
    return;
  }
  hl_set_callee(ins, HL_ATTR_TRUE_COMPUTATION, 1, &branches[0]);
  hl_set_callee(ins, HL_ATTR_FALSE_COMPUTATION, 1, &branches[1]);
}

static hl_instruction *thread_conditional(threader *t, hl_instruction *ins, hl_instruction *state)
{
  int count = ins->operand_count - 1;
  hl_computation **branches = HL_ARRAY(t->scratch, count, hl_computation *);
  hl_instruction **operands = HL_ARRAY(t->scratch, count + 1, hl_instruction *);
  operands[0] = ins->operands[0];
  for (int i = 0; i < count; i++) {
    branches[i] = with_state(t, branch_of(ins, i), state->shape);
    operands[i + 1] = hl_make_tuple(ins, 2, (hl_instruction *[]){ins->operands[i + 1], state});
  }
  const hl_shape *shape = branches[0]->root->shape;
  hl_instruction *made =
      hl_instruction_new(ins->computation, ins, HL_OP_CONDITIONAL, NULL, shape, count + 1, operands, ins);
  set_branches(made, ins, count, branches);
  hl_instruction *next = hl_make_element(ins, made, 1);
  replace_by_first(ins, made);
  return next;
}

/* Replaces all draws from `ins` to the end of its computation; returns the last state. */
static hl_instruction *thread(threader *t, hl_instruction *ins, hl_instruction *state)
{
  for (hl_instruction *next; ins; ins = next) {
    next = ins->next;
    if (is_draw(ins)) {
      hl_instruction *before = state;
      state = advanced(ins, before);
      hl_replace_all_uses(ins, before);
      hl_instruction_remove(ins);
    } else if (part_draws(ins, HL_ATTR_CONDITION)) {
      next = carry_condition(ins);
    } else if (part_draws(ins, HL_ATTR_BODY)) {
      state = thread_while(t, ins, state);
    } else if (any_branch_draws(ins)) {
      state = thread_conditional(t, ins, state);
    }
  }
  return state;
}

static void thread_entry(threader *t, hl_computation *entry)
{
  hl_instruction *first = entry->first;
  hl_literal *begin = hl_literal_new(hl_arena_of(first), hl_shape_new(hl_arena_of(first), HL_U64, 1, (const int64_t[]){2}));
  hl_literal_set_int(begin, 0, FIRST_LOW);
  thread(t, first, hl_make_constant(first, begin));
}

static void thread_copy(threader *t, hl_computation *copy)
{
  hl_instruction *begin = copy->root->operands[1];
  hl_replace_operand(copy->root, 1, thread(t, copy->first, begin));
}

bool hl_pass_expand_rng_state(hl_module *module, hl_pass_context *cx)
{
  threader t = {.scratch = cx->scratch};
  hl_mark_flow(module);
  if (!check_regions(module, cx->diag) || !find_draws(module))
    return false;
  thread_entry(&t, module->entry);
  while (t.open_count)
    thread_copy(&t, t.open[--t.open_count]);
  hl_drop_unreached(module);
  return true;
}
