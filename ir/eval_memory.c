/* eval_memory - the values of one evaluation: counted literals on one list, and the ways out when
 * something fails.
 *
 * Memory and limits end an evaluation like the exhaustion of an arena does: by a jump to the guard
 * of the entry, which frees the list. So no evaluator has to pass failures on. */
#include "eval_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct hl_cell hl_cell;
struct hl_cell {
  hl_literal literal; /* first: a value's literal is its cell */
  int64_t owners;
  hl_cell *previous, *next;
};

enum { ALIGNMENT = 64, HEAD = (sizeof(hl_cell) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };

#define FIRST_RNG_STATE UINT64_C(0x7012395)

bool hl_eval_begin(hl_eval *e, hl_eval_limits limits)
{
  *e = (hl_eval){.limits = limits, .rng_state = {FIRST_RNG_STATE, 0}};
  e->plans = hl_arena_new(&e->guard);
  e->plan_of.arena = e->plans;
  return e->plans != NULL;
}

void hl_eval_end(hl_eval *e)
{
  while (e->cells) {
    hl_cell *next = e->cells->next;
    free(e->cells);
    e->cells = next;
  }
  hl_arena_free(e->plans);
  e->plans = NULL;
}

_Noreturn void hl_eval_stop(hl_eval *e, const char *reason)
{
  e->reason = reason;
  longjmp(e->guard.env, 1);
}

void hl_eval_charge(hl_eval *e, int64_t steps)
{
  if (!hl_add_i64(e->steps, steps, &e->steps))
    e->steps = INT64_MAX;
  if (e->limits.max_steps && e->steps > e->limits.max_steps)
    hl_eval_stop(e, "the limit on work is reached");
}

static hl_cell *new_cell(hl_eval *e, int64_t bytes)
{
  size_t room = HEAD + ((size_t)bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  hl_cell *cell = bytes > INT64_MAX - 4096 ? NULL : aligned_alloc(ALIGNMENT, room);
  if (!cell)
    hl_eval_stop(e, "out of memory");
  memset(cell, 0, room);
  cell->owners = 1;
  cell->next = e->cells;
  if (e->cells)
    e->cells->previous = cell;
  e->cells = cell;
  return cell;
}

static void *cell_data(hl_cell *cell)
{
  return (char *)cell + HEAD;
}

static void unlink_cell(hl_eval *e, hl_cell *cell)
{
  if (cell->previous)
    cell->previous->next = cell->next;
  else
    e->cells = cell->next;
  if (cell->next)
    cell->next->previous = cell->previous;
}

static int64_t data_bytes(const hl_shape *shape)
{
  if (shape->element_type == HL_TUPLE)
    return shape->tuple_count * (int64_t)sizeof(hl_literal *);
  return hl_shape_is_array(shape) ? hl_shape_bytes(shape) : 0;
}

hl_literal *hl_eval_new(hl_eval *e, const hl_shape *shape)
{
  int64_t bytes = data_bytes(shape);
  if (e->limits.max_result_bytes && bytes > e->limits.max_result_bytes)
    hl_eval_stop(e, "the limit on memory is reached");
  hl_cell *cell = new_cell(e, bytes);
  cell->literal.shape = shape;
  if (shape->element_type == HL_TUPLE)
    cell->literal.elements = cell_data(cell);
  else if (bytes)
    cell->literal.data = cell_data(cell);
  return &cell->literal;
}

const hl_literal *hl_eval_retain(const hl_literal *value)
{
  ((hl_cell *)value)->owners++;
  return value;
}

/* Dead cells wait on their `next` links: tuples may nest deeper than the stack. */
void hl_eval_release(hl_eval *e, const hl_literal *value)
{
  hl_cell *cell = (hl_cell *)value;
  if (!cell || --cell->owners)
    return;
  unlink_cell(e, cell);
  cell->next = NULL;
  for (hl_cell *dead = cell; dead;) {
    hl_cell *last = dead;
    dead = dead->next;
    bool is_tuple = last->literal.shape && last->literal.shape->element_type == HL_TUPLE;
    for (int i = 0; is_tuple && i < last->literal.shape->tuple_count; i++) {
      hl_cell *element = (hl_cell *)last->literal.elements[i];
      if (!element || --element->owners)
        continue;
      unlink_cell(e, element);
      element->next = dead;
      dead = element;
    }
    free(last);
  }
}

const hl_literal *hl_eval_tuple_of(hl_eval *e, const hl_shape *shape,
                                   const hl_literal *const *elements)
{
  hl_literal *tuple = hl_eval_new(e, shape);
  if (shape->tuple_count)
    memcpy(cell_data((hl_cell *)tuple), elements, (size_t)shape->tuple_count * sizeof *elements);
  return tuple;
}

const hl_literal *hl_eval_results(hl_eval *e, const hl_instruction *ins, hl_literal **values)
{
  bool is_tuple = ins->shape->element_type == HL_TUPLE;
  const hl_literal *result =
      is_tuple ? hl_eval_tuple_of(e, ins->shape, (const hl_literal *const *)values) : values[0];
  hl_eval_drop(e, values);
  return result;
}

/* Bounded by the nesting of literals in the text. */
const hl_literal *hl_eval_borrow(hl_eval *e, const hl_literal *literal)
{
  const hl_shape *shape = literal->shape;
  if (literal->is_elided)
    hl_eval_stop(e, "the values of this constant were left out when it was printed");
  if (shape->element_type != HL_TUPLE) {
    hl_cell *cell = new_cell(e, 0);
    cell->literal = (hl_literal){.shape = shape, .data = literal->data};
    return &cell->literal;
  }
  hl_literal *tuple = hl_eval_new(e, shape);
  const hl_literal **elements = cell_data((hl_cell *)tuple);
  for (int i = 0; i < shape->tuple_count; i++)
    elements[i] = hl_eval_borrow(e, literal->elements[i]);
  return tuple;
}

void *hl_eval_scratch(hl_eval *e, int64_t count, size_t size)
{
  int64_t bytes;
  if (!hl_mul_i64(count, (int64_t)size, &bytes))
    hl_eval_stop(e, "out of memory");
  return cell_data(new_cell(e, bytes));
}

void hl_eval_drop(hl_eval *e, void *scratch)
{
  hl_cell *cell = (hl_cell *)((char *)scratch - HEAD);
  unlink_cell(e, cell);
  free(cell);
}
