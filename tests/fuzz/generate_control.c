/* generate_control - calls, loops and branches, with computations of their own. */
#include "generate.h"

#include <string.h>

enum { MOST_CARRIED = 4 };

/* What a computation starts with. */
typedef struct outside {
  hlo_value *pool[GENERATE_POOL];
  int count;
} outside;

static void enter(generator *g, outside *saved)
{
  memcpy(saved->pool, g->pool, sizeof g->pool);
  saved->count = g->count;
  g->count = 0;
  g->depth++;
  hlo_begin(g->builder, NULL);
}

static hlo_computation *leave(generator *g, const outside *saved, hlo_value *root)
{
  hlo_computation *made = hlo_end(g->builder, root);
  memcpy(g->pool, saved->pool, sizeof g->pool);
  g->count = saved->count;
  g->depth--;
  return made;
}

/* A computation of such parameters whose result has the shape of `like`. */
static hlo_computation *function(generator *g, int count, const generated_shape *parameters, const generated_shape *result)
{
  outside saved;
  enter(g, &saved);
  for (int i = 0; i < count; i++)
    g->pool[g->count++] = hlo_parameter(g->builder, NULL, parameters[i].type, parameters[i].rank, parameters[i].sizes);
  generate_instructions(g, 1 + choose(g, 6));
  hlo_value *root = value_of(g, result);
  return leave(g, &saved, hlo_emit(g->builder, "copy(%v)", root));
}

static hlo_value *call(generator *g)
{
  hlo_value *x = any_value(g, HL_T_ARRAY), *y = any_value(g, HL_T_ARRAY);
  generated_shape shapes[2] = {shape_of(x), shape_of(y)};
  return hlo_emit(g->builder, "call(%v, %v), to_apply=%c", x, y, function(g, 2, shapes, &shapes[choose(g, 2)]));
}

static hlo_value *conditional(generator *g)
{
  hlo_value *x = any_value(g, HL_T_ARRAY), *y = any_value(g, HL_T_ARRAY);
  generated_shape shapes[2] = {shape_of(x), shape_of(y)};
  hlo_value *index = small_scalar(g, "s32", 3);
  hlo_computation *first = function(g, 1, &shapes[0], &shapes[0]), *other = function(g, 1, &shapes[1], &shapes[0]);
  return hlo_emit(g->builder, "conditional(%v, %v, %v), branch_computations={%c, %c}", index, x, y, first, other);
}

/* The loop's tuple: a counter, and arrays. */
static hlo_value *open_state(generator *g, int count, const char *shape)
{
  hlo_value *state = hlo_emit(g->builder, "%s parameter(0)", shape);
  for (int i = 1; i < count; i++)
    g->pool[g->count++] = hlo_element(state, i);
  return hlo_element(state, 0);
}

static hlo_computation *condition(generator *g, int count, const char *shape, int trips)
{
  outside saved;
  enter(g, &saved);
  hlo_value *counter = open_state(g, count, shape);
  hlo_value *limit = hlo_emit(g->builder, "s32[] constant(%d)", trips);
  return leave(g, &saved, hlo_emit(g->builder, "compare(%v, %v), direction=LT", counter, limit));
}

static hlo_computation *body(generator *g, int count, const char *shape, const generated_shape *shapes)
{
  outside saved;
  hlo_value *next[MOST_CARRIED + 1];
  enter(g, &saved);
  hlo_value *counter = open_state(g, count, shape);
  next[0] = hlo_emit(g->builder, "add(%v, %v)", counter, hlo_emit(g->builder, "s32[] constant(1)"));
  generate_instructions(g, 1 + choose(g, 8));
  for (int i = 1; i < count; i++)
    next[i] = value_of(g, &shapes[i]);
  return leave(g, &saved, hlo_tuple(g->builder, count, next));
}

static hlo_value *loop(generator *g)
{
  generated_shape shapes[MOST_CARRIED + 1] = {{"s32", 0, {0}}};
  hlo_value *start[MOST_CARRIED + 1];
  char shape[(MOST_CARRIED + 1) * 170] = "(s32[]";
  int count = 2 + choose(g, MOST_CARRIED);
  start[0] = hlo_emit(g->builder, "s32[] constant(0)");
  for (int i = 1; i < count; i++) {
    start[i] = any_value(g, HL_T_ARRAY);
    shapes[i] = shape_of(start[i]);
    strcat(strcat(shape, ", "), shape_text(&shapes[i]));
  }
  strcat(shape, ")");
  hlo_value *state = hlo_tuple(g->builder, count, start);
  hlo_computation *test = condition(g, count, shape, choose(g, 4));
  hlo_value *end = hlo_emit(g->builder, "while(%v), condition=%c, body=%c", state, test, body(g, count, shape, shapes));
  return hlo_element(end, 1 + choose(g, count - 1));
}

instruction_maker *const control_makers[] = {loop, loop, conditional, call};
const int control_maker_count = sizeof control_makers / sizeof *control_makers;
