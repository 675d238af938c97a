/* lower_ragged.c - elements of ragged-dot: a dot for each group of consecutive places along one
 * dimension of the lhs.
 *
 *   free         each row meets the group of the rhs that it lies in; rows behind the last group
 * are zero contracting  each group sums over its own places alone, as if they were all that is
 * there batch        batches keep apart anyway
 */
#include "lower_dot.h"
#include "lower_region.h"

#include "../ir/limits.h"

typedef struct ragged {
  const hl_instruction *ins;
  hl_dot_side l, r;
  int64_t dim, groups;
  hl_scope *scope;
} ragged;

static int place_in(hl_ints list, int64_t value)
{
  for (int i = 0; i < list.count; i++)
    if (list.values[i] == value)
      return i;
  return -1;
}

static hl_node *int_const(hl_puller *p, int64_t value)
{
  return hl_put_int(p, HL_S64, value);
}

/* The size of a group, added to those before it. */
static hl_node *end_of(hl_puller *p, const ragged *g, hl_node *end_before, hl_index group)
{
  hl_node *size = hl_widen(p, hl_pull(p, g->ins->operands[2], 0, &group).re);
  return hl_put_binary(p, HL_LOOP_ADD, end_before, hl_put_convert(p, HL_S64, size));
}

/* The first group that ends behind a place, -1 when there is none. */
static hl_node *group_of(hl_puller *p, const ragged *g, hl_index place)
{
  enum { END, GROUP, STATES };
  hl_node *state[STATES] = {int_const(p, 0), int_const(p, -1)};
  hl_index h;
  hl_open_loop loop =
      hl_open_fold(p, hl_index_scope(p, &place, 1), 1, &g->groups, STATES, state, &h);
  hl_node *group = hl_open_acc(&loop, GROUP), *end = end_of(p, g, hl_open_acc(&loop, END), h);
  hl_node *is_new = hl_put_binary(p, HL_LOOP_LT, group, int_const(p, 0));
  is_new = hl_put_both(p, is_new, hl_put_binary(p, HL_LOOP_LT, hl_index_value(p, place), end));
  hl_node *yields[STATES] = {end, hl_put_select(p, is_new, hl_index_value(p, h), group)};
  hl_close_loop(p, &loop, STATES, yields);
  return hl_put_result(p, loop.node, GROUP);
}

static hl_value zero_of(hl_puller *p, const ragged *g)
{
  hl_element_type type = g->ins->shape->element_type;
  hl_node *zero = hl_put_const(p, hl_component_type(type), 0);
  return (hl_value){zero, hl_is_complex(type) ? zero : NULL};
}

static hl_value free_dot(hl_puller *p, ragged *g, const hl_index *index)
{
  if (g->groups == 0)
    return zero_of(p, g);
  g->r.group = hl_attr_ints(g->ins, HL_ATTR_RHS_GROUP_DIMS).values[0];
  hl_place_dot(p, &g->l, &g->r, index);
  hl_node *group = group_of(p, g, g->l.at[g->dim]), *zero = int_const(p, 0);
  hl_node *exists = hl_put_binary(p, HL_LOOP_GE, group, zero);
  hl_node *known = hl_put_binary(p, HL_LOOP_MAX, group, zero);
  hl_facts_of(known)->low = 0;
  hl_facts_of(known)->high = g->groups - 1;
  g->r.at[g->r.group] = hl_index_node(p, known);
  hl_value dot = hl_put_dot(p, g->ins, &g->l, &g->r, g->scope);
  return hl_put_choice(p, exists, dot, zero_of(p, g));
}

/* --- sums by group --- */

/* Places [begin, end) of the ragged dimension; in range, or begin is not less than end. */
typedef struct range {
  hl_node *begin, *end;
} range;

/* Group h holds the places from the greatest end before it to its own. */
static range range_of(hl_puller *p, const ragged *g, hl_index group)
{
  enum { END, GREATEST, STATES };
  hl_node *zero = int_const(p, 0), *state[STATES] = {zero, zero};
  hl_index h;
  hl_open_loop loop =
      hl_open_fold(p, hl_index_scope(p, &group, 1), 1, &g->groups, STATES, state, &h);
  loop.node->loop->limits[0] = hl_index_value(p, group);
  hl_node *before = end_of(p, g, hl_open_acc(&loop, END), h);
  hl_node *yields[STATES] = {before,
                             hl_put_binary(p, HL_LOOP_MAX, hl_open_acc(&loop, GREATEST), before)};
  hl_close_loop(p, &loop, STATES, yields);
  hl_node *end = end_of(p, g, hl_put_result(p, loop.node, END), group);
  int64_t size = g->l.operand->shape->dimensions[g->dim];
  return (range){hl_put_result(p, loop.node, GREATEST),
                 hl_put_binary(p, HL_LOOP_MIN, end, int_const(p, size))};
}

/* The loop's variables become places in both operands; the ragged one counts from the group's
 * begin. */
static void set_places(hl_puller *p, ragged *g, const range *within, const hl_index *vars)
{
  for (int i = 0; i < g->l.contracting.count; i++) {
    bool is_ragged = g->l.contracting.values[i] == g->dim;
    hl_index at = is_ragged ? hl_index_add(p, vars[i], hl_index_node(p, within->begin)) : vars[i];
    g->l.at[g->l.contracting.values[i]] = at;
    g->r.at[g->r.contracting.values[i]] = at;
  }
}

static void limit(hl_puller *p, const ragged *g, const range *within, hl_open_loop *loop)
{
  int place = place_in(g->l.contracting, g->dim);
  loop->node->loop->limits[place] = hl_put_binary(p, HL_LOOP_SUB, within->end, within->begin);
}

static hl_value pulled(hl_puller *p, const hl_dot_side *side, hl_element_type acc)
{
  return hl_put_parts(p, acc, hl_pull(p, side->operand, 0, side->at));
}

static hl_value real_sum(hl_puller *p, ragged *g, const range *within, const int64_t *extents,
                         hl_element_type acc)
{
  bool is_int = hl_is_integral(acc);
  hl_index vars[HL_LIMIT_RANK];
  hl_combiner combiner = {
      .order = is_int ? HL_ORDER_FREE : HL_ORDER_DOT, .combine = HL_LOOP_ADD, .type = acc};
  hl_open_loop loop =
      hl_open_reduce(p, g->scope, g->l.contracting.count, extents, 1, &combiner, vars);
  limit(p, g, within, &loop);
  set_places(p, g, within, vars);
  hl_node *yields[2] = {pulled(p, &g->l, acc).re, pulled(p, &g->r, acc).re};
  if (is_int)
    yields[0] = hl_put_binary(p, HL_LOOP_MUL, yields[0], yields[1]);
  hl_close_loop(p, &loop, is_int ? 1 : 2, yields);
  return (hl_value){hl_put_result(p, loop.node, 0), NULL};
}

static hl_value added(hl_puller *p, hl_value x, hl_value y)
{
  return (hl_value){hl_put_add(p, x.re, y.re), hl_put_add(p, x.im, y.im)};
}

/* The steps of rule 8 one by one, counted for the blocks. */
static hl_value complex_sum(hl_puller *p, ragged *g, const range *within, const int64_t *extents,
                            hl_element_type acc)
{
  enum { TOTAL, SUM, COUNT, STATES };
  hl_node *zero = hl_put_const(p, acc, 0);
  hl_value none = {zero, zero}, state[STATES] = {none, none, {int_const(p, 0), NULL}};
  hl_index vars[HL_LIMIT_RANK];
  hl_open_loop loop =
      hl_open_value_fold(p, g->scope, g->l.contracting.count, extents, STATES, state, vars);
  limit(p, g, within, &loop);
  hl_carried_values(&loop, STATES, state, state);
  hl_node *is_full = hl_put_binary(p, HL_LOOP_EQ, state[COUNT].re, int_const(p, HL_DOT_BLOCK));
  state[TOTAL] = hl_put_choice(p, is_full, added(p, state[TOTAL], state[SUM]), state[TOTAL]);
  state[SUM] = hl_put_choice(p, is_full, none, state[SUM]);
  state[COUNT].re = hl_put_select(p, is_full, int_const(p, 0), state[COUNT].re);
  set_places(p, g, within, vars);
  state[SUM] = hl_put_product_sum(p, pulled(p, &g->l, acc), pulled(p, &g->r, acc), state[SUM]);
  state[COUNT].re = hl_put_add(p, state[COUNT].re, int_const(p, 1));
  hl_close_value_fold(p, &loop, STATES, state, state);
  return added(p, state[TOTAL], state[SUM]);
}

static hl_value group_sum(hl_puller *p, ragged *g, const hl_index *index)
{
  int64_t extents[HL_LIMIT_RANK];
  hl_element_type acc = hl_dot_accumulator(g->ins), type = g->ins->shape->element_type;
  hl_place_dot(p, &g->l, &g->r, index + 1);
  for (int i = 0; i < g->l.contracting.count; i++)
    extents[i] = g->l.operand->shape->dimensions[g->l.contracting.values[i]];
  range within = range_of(p, g, index[0]);
  hl_value sum = hl_is_complex(type) ? complex_sum(p, g, &within, extents, acc)
                                     : real_sum(p, g, &within, extents, acc);
  return hl_put_parts(p, type, sum);
}

hl_value hl_lower_ragged_dot(hl_puller *p, const hl_instruction *ins, int leaf,
                             const hl_index *index)
{
  const hl_shape *sizes = ins->operands[2]->shape;
  ragged g = {.ins = ins,
              .l = hl_dot_lhs(ins),
              .r = hl_dot_rhs(ins),
              .dim = hl_attr_ints(ins, HL_ATTR_LHS_RAGGED_DIMS).values[0],
              .groups = sizes->dimensions[sizes->rank - 1],
              .scope = hl_index_scope(p, index, ins->shape->rank)};
  (void)leaf;
  if (place_in(g.l.batch, g.dim) >= 0) {
    hl_place_dot(p, &g.l, &g.r, index);
    return hl_put_dot(p, ins, &g.l, &g.r, g.scope);
  }
  return place_in(g.l.contracting, g.dim) >= 0 ? group_sum(p, &g, index) : free_dot(p, &g, index);
}
