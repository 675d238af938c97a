/* lower_scatter.c - scatter: a copy of the operand, or the operand itself where it may be written, into which the updates
 * are combined in their order (numerics.md rule 10).
 *
 * The dimensions of the updates up to the last scatter dimension are a fold; those behind it, parts
 * of a window that collide with nothing of the same window, are loops inside, which may run in any
 * order. A window that does not fit is skipped as a whole.
 *
 * A float add of many updates adds into four tables instead, each for a quarter of the windows: threads share these out.
 */
#include "lower_region.h"
#include "lower_whole.h"

#include "../ir/limits.h"

enum { TABLES = 4, MANY_UPDATES = 16 };

typedef struct scatter {
  const hl_instruction *ins;
  hl_computation *region;
  int count; /* of the arrays that are updated together */
  const hl_shape *to, *update;
  hl_ints map, inserted, batching, indices_batching;
  int64_t vector_dim;
  bool is_window[HL_LIMIT_RANK]; /* dimensions of the updates */
  int split;                     /* those before it are the fold */
  int64_t windows, window_elements;
  hl_index at[HL_LIMIT_RANK];     /* place in the updates */
  hl_index target[HL_LIMIT_RANK]; /* and in the operand */
  int64_t sizes[HL_LIMIT_RANK];   /* of a window, in the operand's dimensions */
  hl_buffer *tables, *reached;
} scatter;

static bool has(hl_ints list, int64_t value)
{
  for (int i = 0; i < list.count; i++)
    if (list.values[i] == value)
      return true;
  return false;
}

static bool is_point(const scatter *s, int d)
{
  return has(s->inserted, d) || has(s->batching, d);
}

static void describe_updates(scatter *s, hl_ints window_dims)
{
  s->windows = s->window_elements = 1;
  for (int d = 0; d < s->update->rank; d++) {
    s->is_window[d] = has(window_dims, d);
    *(s->is_window[d] ? &s->window_elements : &s->windows) *= s->update->dimensions[d];
    if (!s->is_window[d])
      s->split = d + 1;
  }
  for (int d = 0, w = 0; d < s->to->rank; d++)
    s->sizes[d] = is_point(s, d) ? 1 : s->update->dimensions[window_dims.values[w++]];
}

static scatter scatter_of(const hl_instruction *ins)
{
  scatter s = {.ins = ins,
               .region = hl_attr_computation(ins, HL_ATTR_TO_APPLY),
               .count = ins->operand_count / 2,
               .map = hl_attr_ints(ins, HL_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS),
               .inserted = hl_attr_ints(ins, HL_ATTR_INSERTED_WINDOW_DIMS),
               .batching = hl_attr_ints(ins, HL_ATTR_INPUT_BATCHING_DIMS),
               .indices_batching = hl_attr_ints(ins, HL_ATTR_SCATTER_INDICES_BATCHING_DIMS),
               .vector_dim = hl_attr_int(ins, HL_ATTR_INDEX_VECTOR_DIM, 0)};
  s.to = ins->operands[0]->shape;
  s.update = ins->operands[s.count + 1]->shape;
  describe_updates(&s, hl_attr_ints(ins, HL_ATTR_UPDATE_WINDOW_DIMS));
  return s;
}

/* --- where an update goes --- */

/* The place of the update's window in the indices, its vector dimension apart; batch[b]: scatter
 * dimension b. */
static void place_in_indices(const scatter *s, const hl_index *batch, hl_index *at)
{
  for (int d = 0, b = 0; d < s->ins->operands[s->count]->shape->rank; d++)
    if (d != s->vector_dim)
      at[d] = batch[b++];
}

static hl_index index_entry(hl_puller *p, const scatter *s, hl_index *at, int k)
{
  const hl_instruction *indices = s->ins->operands[s->count];
  if (s->vector_dim < indices->shape->rank)
    at[s->vector_dim] = hl_index_constant(k);
  hl_node *x = hl_pull(p, indices, 0, at).re;
  return hl_index_node(p, hl_put_convert(p, HL_S64, hl_widen(p, x)));
}

/* Sets the target to the window's first element; gives whether the window fits (NULL: always). */
static hl_node *place_window(hl_puller *p, scatter *s, bool *never)
{
  hl_index batch[HL_LIMIT_RANK], at[HL_LIMIT_RANK];
  hl_node *fits = NULL;
  for (int d = 0, b = 0; d < s->update->rank; d++)
    if (!s->is_window[d])
      batch[b++] = s->at[d];
  place_in_indices(s, batch, at);
  for (int d = 0; d < s->to->rank; d++)
    s->target[d] = hl_index_constant(0);
  for (int k = 0; k < s->map.count; k++)
    s->target[s->map.values[k]] = index_entry(p, s, at, k);
  for (int k = 0; k < s->batching.count; k++) {
    int64_t d = s->indices_batching.values[k];
    s->target[s->batching.values[k]] = batch[d < s->vector_dim ? d : d - 1];
  }
  *never = false;
  for (int d = 0; d < s->to->rank; d++) {
    bool is_outside;
    hl_node *inside =
        hl_index_within(p, s->target[d], 0, s->to->dimensions[d] - s->sizes[d] + 1, &is_outside);
    fits = hl_put_both(p, fits, inside);
    *never |= is_outside;
  }
  return fits;
}

/* Adds the place inside the window. */
static hl_index target_element(hl_puller *p, const scatter *s)
{
  hl_index target[HL_LIMIT_RANK];
  for (int d = 0, u = 0; d < s->to->rank; d++) {
    target[d] = s->target[d];
    if (is_point(s, d))
      continue;
    while (!s->is_window[u])
      u++;
    target[d] = hl_index_add(p, target[d], s->at[u++]);
  }
  return hl_index_flatten(p, s->to, target);
}

/* --- loops --- */

/* Whether the updates go into the operand's own memory. */
static bool is_in_place(const hl_puller *p, const scatter *s, int k)
{
  hl_buffer *const *from = p->leaves[s->ins->operands[k]->scratch];
  return from && from[0] == p->leaves[s->ins->scratch][k];
}

static void copy_operands(hl_puller *p, const scatter *s)
{
  hl_index at[HL_LIMIT_RANK];
  int moved = 0;
  for (int k = 0; k < s->count; k++)
    moved += !is_in_place(p, s, k);
  int opened = moved ? hl_open_all(p, s->to, at) : 0;
  for (int k = 0; k < s->count; k++) {
    if (is_in_place(p, s, k))
      continue;
    hl_value value = hl_pull(p, s->ins->operands[k], 0, at);
    hl_put_store(p, p->leaves[s->ins->scratch][k], hl_index_flatten(p, s->to, at), value);
  }
  hl_close_all(p, opened);
}

static void combine_element(hl_puller *p, const scatter *s)
{
  hl_value *args = HL_ARRAY(p->arena, 2 * s->count, hl_value),
           *next = HL_ARRAY(p->arena, s->count, hl_value);
  hl_index target = target_element(p, s);
  for (int k = 0; k < s->count; k++) {
    args[k] = hl_put_load_here(p, p->leaves[s->ins->scratch][k], target);
    args[s->count + k] = hl_pull(p, s->ins->operands[s->count + 1 + k], 0, s->at);
  }
  hl_pull_region(p, s->region, args, next);
  for (int k = 0; k < s->count; k++)
    hl_put_store(p, p->leaves[s->ins->scratch][k], target, next[k]);
}

static hl_index table_of(hl_puller *p, const scatter *s)
{
  hl_index batch[HL_LIMIT_RANK], number, rest;
  int64_t dims[HL_LIMIT_RANK];
  int n = 0;
  for (int d = 0; d < s->update->rank; d++)
    if (!s->is_window[d])
      dims[n] = s->update->dimensions[d], batch[n++] = s->at[d];
  hl_shape shape = {.rank = n, .dimensions = dims};
  number = hl_index_flatten(p, &shape, batch);
  hl_index_divide(p, number, (s->windows + TABLES - 1) / TABLES, &number, &rest);
  return number;
}

static void add_element(hl_puller *p, const scatter *s, hl_index table)
{
  hl_element_type wide = s->tables->type;
  hl_index target = target_element(p, s);
  hl_index cell = hl_index_add(p, hl_index_scale(p, table, hl_shape_elements(s->to), 0), target);
  hl_value old = hl_put_load_here(p, s->tables, cell);
  hl_value update = hl_put_widened(p, hl_pull(p, s->ins->operands[2], 0, s->at));
  hl_put_store(p, s->tables, cell, hl_put_hlo_binary(p, HL_OP_ADD, wide, old, update));
  if (s->reached)
    hl_put_store(p, s->reached, target, (hl_value){hl_put_int(p, HL_PRED, 1), NULL});
}

/* One window, or what of it the fold does not run through. */
static void update_window(hl_puller *p, scatter *s)
{
  bool never;
  int opened = 0;
  hl_node *fits = place_window(p, s, &never);
  if (never)
    return;
  if (fits)
    hl_open_if(p, fits);
  for (int d = s->split; d < s->update->rank; d++)
    if (s->update->dimensions[d] != 1)
      hl_open_for(p, s->update->dimensions[d], &s->at[d]), opened++;
  if (s->tables)
    add_element(p, s, table_of(p, s));
  else
    combine_element(p, s);
  hl_close_all(p, opened);
  if (fits)
    hl_close_if(p);
}

static void update_in_order(hl_puller *p, scatter *s)
{
  int64_t extents[HL_LIMIT_RANK + 1] = {1};
  int dims[HL_LIMIT_RANK + 1] = {0}, n = 0;
  hl_index vars[HL_LIMIT_RANK + 1];
  for (int d = 0; d < s->update->rank; d++) {
    s->at[d] = hl_index_constant(0);
    if (d < s->split && s->update->dimensions[d] != 1)
      extents[n] = s->update->dimensions[d], dims[n++] = d;
  }
  hl_open_loop loop = hl_open_sequence(p, n ? n : 1, extents, vars);
  for (int i = 0; i < n; i++)
    s->at[dims[i]] = vars[i];
  update_window(p, s);
  hl_close_sequence(p, &loop);
}

/* The one dimension of the updates that numbers the windows, all others before the split being of size 1; -1: there are
 * several or none. */
static int window_dim(const scatter *s)
{
  int found = -1;
  for (int d = 0; d < s->split; d++) {
    if (s->update->dimensions[d] == 1)
      continue;
    if (found >= 0 || s->is_window[d])
      return -1;
    found = d;
  }
  return found;
}

/* Each table's windows in order, the tables beside each other. */
static void update_by_tables(hl_puller *p, scatter *s, int dim)
{
  int64_t each = (s->windows + TABLES - 1) / TABLES;
  hl_index table, i;
  for (int d = 0; d < s->update->rank; d++)
    s->at[d] = hl_index_constant(0);
  hl_open_for(p, TABLES, &table);
  hl_index start = hl_index_scale(p, table, each, 0);
  hl_open_loop loop = hl_open_sequence(p, 1, &each, &i);
  if (s->windows % TABLES)
    loop.node->loop->limits[0] = hl_index_value(p, hl_index_scale(p, start, -1, s->windows));
  s->at[dim] = hl_index_add(p, start, i);
  update_window(p, s);
  hl_close_sequence(p, &loop);
  hl_close_for(p);
}

/* --- tables --- */

static bool uses_tables(const scatter *s)
{
  hl_element_type type = s->to->element_type;
  return s->count == 1 && hl_is_float(type) && hl_region_binary(s->region, NULL) == HL_OP_ADD &&
         s->window_elements &&
         s->windows * s->window_elements / MANY_UPDATES >= hl_shape_elements(s->to);
}

static void fill(hl_puller *p, hl_buffer *buffer, int64_t count, hl_node *value)
{
  hl_index i;
  hl_open_for(p, count, &i);
  hl_put_store(p, buffer, i, (hl_value){value, NULL});
  hl_close_for(p);
}

static void make_tables(hl_puller *p, scatter *s)
{
  hl_element_type wide = hl_wide_type(s->to->element_type);
  int64_t n = hl_shape_elements(s->to);
  s->tables = hl_new_work_buffer(p, "tables", wide, TABLES * n, false);
  fill(p, s->tables, TABLES * n, hl_put_float(p, wide, -0.0));
  if (hl_is_plain_number(s->ins->operands[0]))
    return;
  s->reached = hl_new_work_buffer(p, "reached", HL_PRED, n, false);
  fill(p, s->reached, n, hl_put_int(p, HL_PRED, 0));
}

/* Operand and tables from left to right; what no update reached keeps its bits. */
static void add_tables(hl_puller *p, const scatter *s)
{
  hl_index at[HL_LIMIT_RANK];
  int64_t n = hl_shape_elements(s->to);
  int opened = hl_open_all(p, s->to, at);
  hl_index flat = hl_index_flatten(p, s->to, at);
  hl_value old = hl_pull(p, s->ins->operands[0], 0, at), sum = hl_put_widened(p, old);
  for (int t = 0; t < TABLES; t++) {
    hl_value part = hl_put_load_here(p, s->tables, hl_index_scale(p, flat, 1, t * n));
    sum = hl_put_hlo_binary(p, HL_OP_ADD, s->tables->type, sum, part);
  }
  sum = hl_put_parts(p, s->to->element_type, sum);
  if (s->reached)
    sum = hl_put_choice(p, hl_put_load_here(p, s->reached, flat).re, sum, old);
  hl_put_store(p, p->leaves[s->ins->scratch][0], flat, sum);
  hl_close_all(p, opened);
}

void hl_build_scatter(hl_puller *p, const hl_instruction *ins)
{
  scatter s = scatter_of(ins);
  if (uses_tables(&s)) {
    make_tables(p, &s);
    int dim = window_dim(&s);
    if (dim >= 0 && !s.reached) /* which all tables write */
      update_by_tables(p, &s, dim);
    else
      update_in_order(p, &s);
    add_tables(p, &s);
    return;
  }
  copy_operands(p, &s);
  if (s.windows && s.window_elements)
    update_in_order(p, &s);
}
