/* eval_index - dynamic-slice, dynamic-update-slice, gather and scatter (spec 8.3, 8.7; numerics
 * rule 10). */
#include "eval_internal.h"

#include <string.h>

/* ---- start indices ---- */

/* An index as a number; what is too large for int64_t is out of range all the same. */
static int64_t index_value(const hl_literal *indices, int64_t at)
{
  hl_element_type type = indices->shape->element_type;
  int64_t value = hl_scalar_int(type, hl_scalar_load(indices, at));
  return value < 0 && hl_type_class_of(type) == HL_CLASS_UNSIGNED ? INT64_MAX : value;
}

static int64_t clamped(int64_t value, int64_t most)
{
  return value < 0 ? 0 : value > most ? most : value;
}

/* The start of a window of `sizes` in the operand: scalars from operand `first` on, or one vector
 * of them. */
static void dynamic_start(const hl_instruction *ins, const hl_literal *const *operands, int first,
                          const int64_t *sizes, int64_t *start)
{
  const hl_shape *shape = operands[0]->shape;
  bool is_vector = ins->operand_count > first && operands[first]->shape->rank == 1;
  for (int d = 0; d < shape->rank; d++) {
    int64_t value =
        is_vector ? index_value(operands[first], d) : index_value(operands[first + d], 0);
    start[d] = clamped(value, shape->dimensions[d] - sizes[d]);
  }
}

static int64_t offset_of(const hl_shape *shape, const int64_t *index)
{
  int64_t offset = 0;
  for (int d = 0; d < shape->rank; d++)
    offset = offset * shape->dimensions[d] + index[d];
  return offset;
}

const hl_literal *hl_eval_dynamic_slice(hl_eval *e, const hl_instruction *ins,
                                        const hl_literal *const *operands)
{
  int64_t start[HL_LIMIT_RANK], strides[HL_LIMIT_RANK];
  dynamic_start(ins, operands, 1, ins->shape->dimensions, start);
  hl_row_major(operands[0]->shape, strides);
  return hl_eval_strided(e, ins->shape, operands[0], offset_of(operands[0]->shape, start), strides);
}

static hl_literal *copy_of(hl_eval *e, const hl_literal *value)
{
  hl_literal *copy = hl_eval_new(e, value->shape);
  if (copy->data)
    memcpy(copy->data, value->data, (size_t)hl_shape_bytes(value->shape));
  return copy;
}

const hl_literal *hl_eval_dynamic_update_slice(hl_eval *e, const hl_instruction *ins,
                                               const hl_literal *const *operands)
{
  const hl_shape *update = operands[1]->shape;
  int64_t start[HL_LIMIT_RANK], index[HL_LIMIT_RANK] = {0}, at[HL_LIMIT_RANK];
  int64_t total = hl_shape_elements(update);
  hl_literal *result = copy_of(e, operands[0]);
  dynamic_start(ins, operands, 2, update->dimensions, start);
  for (int64_t i = 0; i < total; i++) {
    for (int d = 0; d < update->rank; d++)
      at[d] = start[d] + index[d];
    hl_eval_move(result, offset_of(result->shape, at), operands[1], i);
    hl_index_next(update, index);
  }
  return result;
}

/* ---- index vectors of gather and scatter ---- */

/* How index vectors name places in the operand, under gather's names. */
typedef struct index_map {
  const hl_literal *indices;
  int64_t vector_dimension;
  hl_ints start_map, operand_batching, indices_batching;
} index_map;

/* The start that the index vector at a batch position names, not clamped. */
static void named_start(const index_map *map, int operand_rank, const int64_t *batch,
                        int64_t *start)
{
  const hl_shape *shape = map->indices->shape;
  int64_t at[HL_LIMIT_RANK];
  memset(start, 0, (size_t)operand_rank * sizeof *start);
  for (int d = 0, b = 0; d < shape->rank; d++)
    if (d != map->vector_dimension)
      at[d] = batch[b++];
  for (int k = 0; k < map->start_map.count; k++) {
    if (map->vector_dimension < shape->rank)
      at[map->vector_dimension] = k;
    start[map->start_map.values[k]] = index_value(map->indices, offset_of(shape, at));
  }
  for (int k = 0; k < map->operand_batching.count; k++) {
    int64_t d = map->indices_batching.values[k];
    start[map->operand_batching.values[k]] = batch[d < map->vector_dimension ? d : d - 1];
  }
}

static bool contains(hl_ints list, int64_t value)
{
  for (int i = 0; i < list.count; i++)
    if (list.values[i] == value)
      return true;
  return false;
}

/* Splits a multi-index of a result or update array: the dimensions in `window` go to `inside`, the
 * others to `batch`. */
static void split_index(int rank, hl_ints window, const int64_t *index, int64_t *batch,
                        int64_t *inside)
{
  for (int d = 0, b = 0, w = 0; d < rank; d++) {
    if (contains(window, d))
      inside[w++] = index[d];
    else
      batch[b++] = index[d];
  }
}

/* Adds a window position to a start: window dimensions stand for the operand's dimensions that are
 * in neither list. */
static void add_inside(int rank, hl_ints dropped, hl_ints batching, const int64_t *inside,
                       int64_t *start)
{
  for (int d = 0, w = 0; d < rank; d++)
    if (!contains(dropped, d) && !contains(batching, d))
      start[d] += inside[w++];
}

const hl_literal *hl_eval_gather(hl_eval *e, const hl_instruction *ins,
                                 const hl_literal *const *operands)
{
  const hl_shape *from = operands[0]->shape;
  index_map map = {operands[1], hl_attr_int(ins, HL_ATTR_INDEX_VECTOR_DIM, 0),
                   hl_attr_ints(ins, HL_ATTR_START_INDEX_MAP),
                   hl_attr_ints(ins, HL_ATTR_OPERAND_BATCHING_DIMS),
                   hl_attr_ints(ins, HL_ATTR_START_INDICES_BATCHING_DIMS)};
  hl_ints sizes = hl_attr_ints(ins, HL_ATTR_SLICE_SIZES),
          collapsed = hl_attr_ints(ins, HL_ATTR_COLLAPSED_SLICE_DIMS);
  hl_ints offset_dims = hl_attr_ints(ins, HL_ATTR_OFFSET_DIMS);
  int64_t index[HL_LIMIT_RANK] = {0}, batch[HL_LIMIT_RANK], inside[HL_LIMIT_RANK],
          at[HL_LIMIT_RANK];
  int64_t total = hl_shape_elements(ins->shape);
  hl_literal *result = hl_eval_new(e, ins->shape);
  for (int64_t i = 0; i < total; i++) {
    split_index(ins->shape->rank, offset_dims, index, batch, inside);
    named_start(&map, from->rank, batch, at);
    for (int d = 0; d < from->rank; d++)
      at[d] = clamped(at[d], from->dimensions[d] - sizes.values[d]);
    add_inside(from->rank, collapsed, map.operand_batching, inside, at);
    hl_eval_move(result, i, operands[0], offset_of(from, at));
    hl_index_next(ins->shape, index);
  }
  return result;
}

/* ---- scatter ---- */

typedef struct scatter {
  const hl_instruction *ins;
  const hl_literal *const *operands;
  int count; /* of the arrays that are updated together */
  index_map map;
  hl_ints window_dims, inserted;
  const hl_shape *to, *update;
  int64_t window_sizes[HL_LIMIT_RANK]; /* in the operand's dimensions */
} scatter;

static scatter scatter_of(const hl_instruction *ins, const hl_literal *const *operands)
{
  int count = ins->operand_count / 2;
  scatter s = {.ins = ins,
               .operands = operands,
               .count = count,
               .to = operands[0]->shape,
               .update = operands[count + 1]->shape};
  s.map = (index_map){operands[count], hl_attr_int(ins, HL_ATTR_INDEX_VECTOR_DIM, 0),
                      hl_attr_ints(ins, HL_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS),
                      hl_attr_ints(ins, HL_ATTR_INPUT_BATCHING_DIMS),
                      hl_attr_ints(ins, HL_ATTR_SCATTER_INDICES_BATCHING_DIMS)};
  s.window_dims = hl_attr_ints(ins, HL_ATTR_UPDATE_WINDOW_DIMS);
  s.inserted = hl_attr_ints(ins, HL_ATTR_INSERTED_WINDOW_DIMS);
  for (int d = 0, w = 0; d < s.to->rank; d++) {
    bool is_point = contains(s.inserted, d) || contains(s.map.operand_batching, d);
    s.window_sizes[d] = is_point ? 1 : s.update->dimensions[s.window_dims.values[w++]];
  }
  return s;
}

/* The operand element that an update goes to; false when its window does not lie inside the operand
 * as a whole. */
static bool target_of(const scatter *s, const int64_t *index, int64_t *target)
{
  int64_t batch[HL_LIMIT_RANK], inside[HL_LIMIT_RANK], at[HL_LIMIT_RANK];
  split_index(s->update->rank, s->window_dims, index, batch, inside);
  named_start(&s->map, s->to->rank, batch, at);
  for (int d = 0; d < s->to->rank; d++)
    if (at[d] < 0 || at[d] > s->to->dimensions[d] - s->window_sizes[d])
      return false;
  add_inside(s->to->rank, s->inserted, s->map.operand_batching, inside, at);
  *target = offset_of(s->to, at);
  return true;
}

static void scatter_in_order(const scatter *s, hl_region *region, hl_scalar *args,
                             hl_literal *const *results)
{
  int64_t index[HL_LIMIT_RANK] = {0}, total = hl_shape_elements(s->update), target;
  for (int64_t i = 0; i < total; i++) {
    if (target_of(s, index, &target)) {
      for (int k = 0; k < s->count; k++) {
        args[k] = hl_scalar_load(results[k], target);
        args[s->count + k] = hl_scalar_load(s->operands[s->count + 1 + k], i);
      }
      hl_region_call(region, args, args);
      for (int k = 0; k < s->count; k++)
        hl_scalar_store(results[k], target, args[k]);
    }
    hl_index_next(s->update, index);
  }
}

enum { TABLES = 4, MANY_UPDATES = 16 };

/* Update windows, those that are skipped included, and the elements of one. */
static int64_t count_windows(const scatter *s, int64_t *window_elements)
{
  int64_t windows = 1;
  *window_elements = 1;
  for (int d = 0; d < s->update->rank; d++)
    *(contains(s->window_dims, d) ? window_elements : &windows) *= s->update->dimensions[d];
  return windows;
}

static bool uses_tables(const scatter *s, hl_opcode op)
{
  int64_t elements, windows = count_windows(s, &elements), n = hl_shape_elements(s->to);
  return s->count == 1 && op == HL_OP_ADD && hl_is_float(s->to->element_type) && elements > 0 &&
         windows * elements / MANY_UPDATES >= n;
}

/* The number of an update's window, row-major over the scatter dimensions. */
static int64_t window_number(const scatter *s, const int64_t *index)
{
  int64_t number = 0;
  for (int d = 0; d < s->update->rank; d++)
    if (!contains(s->window_dims, d))
      number = number * s->update->dimensions[d] + index[d];
  return number;
}

/* A cell of a table; of no update it is minus zero, which adds nothing. */
typedef struct table_cell {
  bool is_reached;
  hl_scalar sum;
} table_cell;

static void fill_tables(const scatter *s, hl_element_type accumulator, table_cell *tables)
{
  int64_t index[HL_LIMIT_RANK] = {0}, total = hl_shape_elements(s->update),
          n = hl_shape_elements(s->to), target, elements;
  int64_t windows = count_windows(s, &elements), part = (windows + TABLES - 1) / TABLES;
  const hl_literal *updates = s->operands[2];
  for (int64_t i = 0; i < total; i++) {
    if (target_of(s, index, &target)) {
      table_cell *cell = &tables[window_number(s, index) / part * n + target];
      hl_scalar update =
          hl_scalar_convert(accumulator, updates->shape->element_type, hl_scalar_load(updates, i));
      cell->sum =
          cell->is_reached ? hl_scalar_binary(HL_OP_ADD, accumulator, cell->sum, update) : update;
      cell->is_reached = true;
    }
    hl_index_next(s->update, index);
  }
}

static void scatter_by_tables(hl_eval *e, const scatter *s, hl_literal *result)
{
  hl_element_type type = s->to->element_type, accumulator = hl_accumulator_type(type);
  int64_t n = hl_shape_elements(s->to);
  table_cell *tables = hl_eval_scratch(e, TABLES * n, sizeof *tables);
  fill_tables(s, accumulator, tables);
  for (int64_t i = 0; i < n; i++) {
    hl_scalar sum = hl_scalar_convert(accumulator, type, hl_scalar_load(result, i));
    bool is_reached = false;
    for (int t = 0; t < TABLES; t++) {
      const table_cell *cell = &tables[t * n + i];
      if (cell->is_reached)
        sum = hl_scalar_binary(HL_OP_ADD, accumulator, sum, cell->sum);
      is_reached |= cell->is_reached;
    }
    if (is_reached)
      hl_scalar_store(result, i, hl_scalar_convert(type, accumulator, sum));
  }
  hl_eval_drop(e, tables);
}

const hl_literal *hl_eval_scatter(hl_eval *e, const hl_instruction *ins,
                                  const hl_literal *const *operands)
{
  scatter s = scatter_of(ins, operands);
  hl_region *region = hl_region_open(e, hl_attr_computation(ins, HL_ATTR_TO_APPLY));
  hl_scalar *args = hl_eval_scratch(e, 2 * (int64_t)s.count, sizeof *args);
  hl_literal **results = hl_eval_scratch(e, s.count, sizeof *results);
  hl_eval_charge(e, hl_shape_elements(s.update));
  for (int k = 0; k < s.count; k++)
    results[k] = copy_of(e, operands[k]);
  if (uses_tables(&s, hl_region_op(region)))
    scatter_by_tables(e, &s, results[0]);
  else
    scatter_in_order(&s, region, args, results);
  hl_eval_drop(e, args);
  hl_region_close(region);
  return hl_eval_results(e, ins, results);
}
