/* infer_index - computed places: dynamic-slice, dynamic-update-slice, gather and scatter (spec
 * sections 8.3 and 8.7). */
#include "infer.h"

#include "limits.h"

#include <string.h>

/* The start indices from operand `first` on: one integer scalar a dimension, all of one type, or
 * one vector of them. */
static bool check_starts(hl_infer *infer, const hl_instruction *ins, int first, int rank,
                         hl_rule rule)
{
  int count = ins->operand_count - first;
  if (count == 1 && hl_operand_shape(ins, first)->rank == 1) {
    const hl_shape *vector = hl_operand_shape(ins, first);
    if (!hl_check_integral(infer, ins, first, rule))
      return false;
    return vector->dimensions[0] == rank ||
           hl_error(infer->diag, hl_place_operand(ins, first), rule,
                    "%s holds %lld start indices; '%s' needs %d", hl_say(infer, vector),
                    (long long)vector->dimensions[0], hl_say_op(ins), rank);
  }
  if (count != rank) {
    bool is_short = count < rank && ins->places;
    return hl_error(infer->diag,
                    is_short ? ins->places->lparen : hl_place_operand(ins, first + rank), rule,
                    "'%s' needs %d start ind%s, one for each dimension; %d given", hl_say_op(ins),
                    rank, rank == 1 ? "ex" : "ices", count);
  }
  for (int i = first; i < ins->operand_count; i++) {
    if (!hl_check_integral(infer, ins, i, rule) || !hl_check_same_type(infer, ins, i, first, rule))
      return false;
    if (hl_operand_shape(ins, i)->rank)
      return hl_error(infer->diag, hl_place_operand(ins, i), rule,
                      "a start index of '%s' must be a scalar; it is %s", hl_say_op(ins),
                      hl_say(infer, hl_operand_shape(ins, i)));
  }
  return true;
}

/* dynamic-slice-c1: of an array; -c2: one size for each dimension, not negative and not above the
 * operand's; -c3: start indices are integer scalars of one type, one for each dimension, or one
 * vector. */
const hl_shape *hl_infer_dynamic_slice(hl_infer *infer, const hl_instruction *ins)
{
  if (!hl_check_array(infer, ins, 0, HL_RULE_DYNAMIC_SLICE_C1))
    return NULL;
  const hl_shape *x = hl_operand_shape(ins, 0);
  hl_ints sizes = hl_attr_ints(ins, HL_ATTR_DYNAMIC_SLICE_SIZES);
  if (!check_starts(infer, ins, 1, x->rank, HL_RULE_DYNAMIC_SLICE_C3) ||
      !hl_check_length(infer, ins, HL_ATTR_DYNAMIC_SLICE_SIZES, x->rank, hl_say(infer, x),
                       HL_RULE_DYNAMIC_SLICE_C2))
    return NULL;
  for (int i = 0; i < x->rank; i++)
    if (sizes.values[i] < 0 || sizes.values[i] > x->dimensions[i]) {
      hl_error(infer->diag, hl_place_attr_entry(ins, HL_ATTR_DYNAMIC_SLICE_SIZES, i),
               HL_RULE_DYNAMIC_SLICE_C2,
               "slice size %lld of dimension %d does not lie in 0 to %lld",
               (long long)sizes.values[i], i, (long long)x->dimensions[i]);
      return NULL;
    }
  return hl_make_array(infer, ins, x->element_type, x->rank, sizes.values);
}

/* dynamic-update-slice-c1: of arrays of one type and rank; -c2: the update is not larger than the
 * operand; -c3: as dynamic-slice-c3. */
const hl_shape *hl_infer_dynamic_update_slice(hl_infer *infer, const hl_instruction *ins)
{
  if (!hl_check_array(infer, ins, 0, HL_RULE_DYNAMIC_UPDATE_SLICE_C1) ||
      !hl_check_array(infer, ins, 1, HL_RULE_DYNAMIC_UPDATE_SLICE_C1) ||
      !hl_check_same_type(infer, ins, 1, 0, HL_RULE_DYNAMIC_UPDATE_SLICE_C1))
    return NULL;
  const hl_shape *x = hl_operand_shape(ins, 0), *update = hl_operand_shape(ins, 1);
  bool fits = update->rank == x->rank;
  for (int i = 0; fits && i < x->rank; i++)
    fits = update->dimensions[i] <= x->dimensions[i];
  if (!fits) {
    hl_error(infer->diag, hl_place_operand(ins, 1), HL_RULE_DYNAMIC_UPDATE_SLICE_C2,
             "an update %s does not fit into %s", hl_say(infer, update), hl_say(infer, x));
    return NULL;
  }
  return check_starts(infer, ins, 2, x->rank, HL_RULE_DYNAMIC_UPDATE_SLICE_C3) ? x : NULL;
}

/* What gather and scatter have in common: the attributes by their role, and the rules. */
typedef struct indexing {
  hl_attr_id window, collapsed, map, batching, indices_batching;
  int operand, indices; /* operand numbers */
  hl_rule index_type, vector_dim, map_rule, collapsed_rule, batching_rule;
} indexing;

static const indexing gather_roles = {
    .window = HL_ATTR_OFFSET_DIMS,
    .collapsed = HL_ATTR_COLLAPSED_SLICE_DIMS,
    .map = HL_ATTR_START_INDEX_MAP,
    .batching = HL_ATTR_OPERAND_BATCHING_DIMS,
    .indices_batching = HL_ATTR_START_INDICES_BATCHING_DIMS,
    .operand = 0,
    .indices = 1,
    .index_type = HL_RULE_GATHER_C1,
    .vector_dim = HL_RULE_GATHER_C2,
    .map_rule = HL_RULE_GATHER_C3,
    .collapsed_rule = HL_RULE_GATHER_C4,
    .batching_rule = HL_RULE_GATHER_C5,
};

static indexing scatter_roles(const hl_instruction *ins)
{
  return (indexing){
      .window = HL_ATTR_UPDATE_WINDOW_DIMS,
      .collapsed = HL_ATTR_INSERTED_WINDOW_DIMS,
      .map = HL_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS,
      .batching = HL_ATTR_INPUT_BATCHING_DIMS,
      .indices_batching = HL_ATTR_SCATTER_INDICES_BATCHING_DIMS,
      .operand = 0,
      .indices = ins->operand_count / 2,
      .index_type = HL_RULE_SCATTER_C1,
      .vector_dim = HL_RULE_SCATTER_C2,
      .map_rule = HL_RULE_SCATTER_C3,
      .collapsed_rule = HL_RULE_SCATTER_C4,
      .batching_rule = HL_RULE_SCATTER_C5,
  };
}

static int64_t vector_dim(const hl_instruction *ins)
{
  return hl_attr_int(ins, HL_ATTR_INDEX_VECTOR_DIM, 0);
}

/* The index vector's length: the size of its dimension, 1 where that is implicit. */
static int64_t vector_length(const hl_instruction *ins, const hl_shape *indices)
{
  int64_t dim = vector_dim(ins);
  return dim == indices->rank ? 1 : indices->dimensions[dim];
}

/* The dimensions of the indices without the vector's; returns their count. */
static int batch_sizes(const hl_instruction *ins, const hl_shape *indices, int64_t *sizes)
{
  int count = 0;
  for (int i = 0; i < indices->rank; i++)
    if (i != vector_dim(ins))
      sizes[count++] = indices->dimensions[i];
  return count;
}

static bool check_index_map(hl_infer *infer, const hl_instruction *ins, const indexing *r)
{
  const hl_shape *x = hl_operand_shape(ins, r->operand),
                 *indices = hl_operand_shape(ins, r->indices);
  int64_t dim = vector_dim(ins);
  if (!hl_check_integral(infer, ins, r->indices, r->index_type))
    return false;
  if (dim < 0 || dim > indices->rank)
    return hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_INDEX_VECTOR_DIM), r->vector_dim,
                    "index_vector_dim %lld does not lie in 0 to %d, the rank of the indices %s",
                    (long long)dim, indices->rank, hl_say(infer, indices));
  const char *of = hl_arena_printf(infer->arena, "the index vector of %s", hl_say(infer, indices));
  return hl_check_length(infer, ins, r->map, vector_length(ins, indices), of, r->map_rule) &&
         hl_check_range(infer, ins, r->map, x->rank, hl_say(infer, x), r->map_rule) &&
         hl_check_distinct(infer, ins, r->map, r->map_rule);
}

/* Batching dimensions pair up in order, with equal sizes, and are neither collapsed nor mapped nor
 * the index vector's. */
static bool check_batching(hl_infer *infer, const hl_instruction *ins, const indexing *r)
{
  const hl_shape *x = hl_operand_shape(ins, r->operand),
                 *indices = hl_operand_shape(ins, r->indices);
  hl_ints own = hl_attr_ints(ins, r->batching), other = hl_attr_ints(ins, r->indices_batching);
  hl_attr_id later = hl_later_attr(ins, r->batching, r->indices_batching);
  if (own.count != other.count)
    return hl_error(infer->diag, hl_place_attr(ins, later), r->batching_rule,
                    "%s has %d entr%s, %s has %d", hl_attr_name(r->batching), own.count,
                    own.count == 1 ? "y" : "ies", hl_attr_name(r->indices_batching), other.count);
  if (!hl_check_range(infer, ins, r->indices_batching, indices->rank, hl_say(infer, indices),
                      r->batching_rule) ||
      !hl_check_distinct(infer, ins, r->indices_batching, r->batching_rule))
    return false;
  for (int i = 0; i < own.count; i++) {
    if (other.values[i] == vector_dim(ins))
      return hl_error(infer->diag, hl_place_attr_entry(ins, r->indices_batching, i),
                      r->batching_rule, "%lld in %s is the index vector's dimension",
                      (long long)other.values[i], hl_attr_name(r->indices_batching));
    int64_t size = x->dimensions[own.values[i]], index_size = indices->dimensions[other.values[i]];
    if (size != index_size)
      return hl_error(
          infer->diag, hl_place_attr_entry(ins, later, i), r->batching_rule,
          "batching dimension %lld of %s has size %lld; dimension %lld of %s has size %lld",
          (long long)own.values[i], hl_say(infer, x), (long long)size, (long long)other.values[i],
          hl_say(infer, indices), (long long)index_size);
  }
  return true;
}

static bool check_operand_dims(hl_infer *infer, const hl_instruction *ins, const indexing *r)
{
  const hl_shape *x = hl_operand_shape(ins, r->operand);
  const char *of = hl_say(infer, x);
  return hl_check_range(infer, ins, r->collapsed, x->rank, of, r->collapsed_rule) &&
         hl_check_ascending(infer, ins, r->collapsed, r->collapsed_rule) &&
         hl_check_range(infer, ins, r->batching, x->rank, of, r->batching_rule) &&
         hl_check_ascending(infer, ins, r->batching, r->batching_rule) &&
         hl_check_disjoint(infer, ins, r->collapsed, r->batching, r->batching_rule) &&
         hl_check_disjoint(infer, ins, r->map, r->batching, r->batching_rule) &&
         check_batching(infer, ins, r);
}

/* The window's rank: what is left of the operand's. The list of window dimensions has that many
 * entries, ascending, below `rank`. */
static bool check_window_dims(hl_infer *infer, const hl_instruction *ins, const indexing *r,
                              int rank, const char *of, hl_rule rule)
{
  const hl_shape *x = hl_operand_shape(ins, r->operand);
  int kept = x->rank - hl_attr_ints(ins, r->collapsed).count - hl_attr_ints(ins, r->batching).count;
  const char *owner = hl_arena_printf(
      infer->arena, "%s without its collapsed and batching dimensions", hl_say(infer, x));
  return hl_check_length(infer, ins, r->window, kept, owner, rule) &&
         hl_check_range(infer, ins, r->window, rank, of, rule) &&
         hl_check_ascending(infer, ins, r->window, rule);
}

static bool is_kept(const hl_instruction *ins, const indexing *r, int64_t dim)
{
  return !hl_list_has(hl_attr_ints(ins, r->collapsed), dim) &&
         !hl_list_has(hl_attr_ints(ins, r->batching), dim);
}

/* gather-c7: slice sizes. */
static bool check_slice_sizes(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  hl_ints sizes = hl_attr_ints(ins, HL_ATTR_SLICE_SIZES);
  if (!hl_check_length(infer, ins, HL_ATTR_SLICE_SIZES, x->rank, hl_say(infer, x),
                       HL_RULE_GATHER_C7))
    return false;
  for (int i = 0; i < x->rank; i++) {
    int64_t most = is_kept(ins, &gather_roles, i) || !x->dimensions[i] ? x->dimensions[i] : 1;
    if (sizes.values[i] < 0 || sizes.values[i] > most)
      return hl_error(infer->diag, hl_place_attr_entry(ins, HL_ATTR_SLICE_SIZES, i),
                      HL_RULE_GATHER_C7,
                      "slice size %lld of dimension %d of %s does not lie in 0 to %lld",
                      (long long)sizes.values[i], i, hl_say(infer, x), (long long)most);
  }
  return true;
}

/* Result sizes: slice sizes of the kept dimensions at the window's positions, the batch sizes at
 * the others. */
static const hl_shape *gather_shape(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  hl_ints offsets = hl_attr_ints(ins, HL_ATTR_OFFSET_DIMS),
          slice = hl_attr_ints(ins, HL_ATTR_SLICE_SIZES);
  int64_t batch[HL_LIMIT_RANK], sizes[2 * HL_LIMIT_RANK];
  int rank = offsets.count + batch_sizes(ins, hl_operand_shape(ins, 1), batch);
  for (int i = 0, b = 0, dim = 0; i < rank; i++) {
    if (!hl_list_has(offsets, i)) {
      sizes[i] = batch[b++];
      continue;
    }
    while (!is_kept(ins, &gather_roles, dim))
      dim++;
    sizes[i] = slice.values[dim++];
  }
  return hl_make_array(infer, ins, x->element_type, rank, sizes);
}

/* gather-c1: integer indices; -c2: index_vector_dim in range; -c3: start_index_map as long as the
 * index vector, in range, distinct; -c4: collapsed dimensions ascending, in range; -c5: batching
 * dimensions; -c6: offset_dims; -c7: slice sizes; -c8: of an array. */
const hl_shape *hl_infer_gather(hl_infer *infer, const hl_instruction *ins)
{
  const indexing *r = &gather_roles;
  if (!hl_check_array(infer, ins, 0, HL_RULE_GATHER_C8) || !check_index_map(infer, ins, r) ||
      !check_operand_dims(infer, ins, r))
    return NULL;
  int64_t batch[HL_LIMIT_RANK];
  int rank = hl_attr_ints(ins, r->window).count + batch_sizes(ins, hl_operand_shape(ins, 1), batch);
  if (!check_window_dims(infer, ins, r, rank, "the result", HL_RULE_GATHER_C6) ||
      !check_slice_sizes(infer, ins))
    return NULL;
  return gather_shape(infer, ins);
}

/* scatter-c8: the updates' window sizes do not exceed the operand's, their other sizes are the
 * indices'. */
static bool check_updates(hl_infer *infer, const hl_instruction *ins, const indexing *r, int index)
{
  const hl_shape *x = hl_operand_shape(ins, 0), *u = hl_operand_shape(ins, index);
  hl_ints window = hl_attr_ints(ins, r->window);
  int64_t batch[HL_LIMIT_RANK];
  int count = batch_sizes(ins, hl_operand_shape(ins, r->indices), batch);
  hl_range at = hl_place_operand(ins, index);
  if (u->rank != window.count + count)
    return hl_error(infer->diag, at, HL_RULE_SCATTER_C8,
                    "the updates %s have rank %d; %d window and %d index dimensions need %d",
                    hl_say(infer, u), u->rank, window.count, count, window.count + count);
  for (int i = 0, b = 0, dim = 0; i < u->rank; i++) {
    bool is_window = hl_list_has(window, i);
    while (is_window && !is_kept(ins, r, dim))
      dim++;
    int64_t most = is_window ? x->dimensions[dim++] : batch[b++];
    if (is_window ? u->dimensions[i] > most : u->dimensions[i] != most)
      return hl_error(infer->diag, at, HL_RULE_SCATTER_C8,
                      "dimension %d of the updates %s has size %lld; the %s has %lld", i,
                      hl_say(infer, u), (long long)u->dimensions[i],
                      is_window ? "operand" : "index array", (long long)most);
  }
  return true;
}

/* scatter-c7: an odd count; operands and updates pair up in type, operands have one shape, so have
 * updates. */
static bool check_scatter_operands(hl_infer *infer, const hl_instruction *ins)
{
  int n = ins->operand_count / 2;
  if (ins->operand_count % 2 == 0)
    return hl_error(
        infer->diag, ins->places ? ins->places->lparen : ins->range, HL_RULE_SCATTER_C7,
        "'scatter' takes operands, indices and as many updates as operands; %d operands given",
        ins->operand_count);
  for (int i = 0; i < ins->operand_count; i++)
    if (i != n && !hl_check_dimensions(infer, ins, i, i < n ? 0 : n + 1, HL_RULE_SCATTER_C7))
      return false;
  for (int i = 0; i < n; i++)
    if (!hl_check_same_type(infer, ins, n + 1 + i, i, HL_RULE_SCATTER_C7))
      return false;
  return true;
}

/* scatter-c9: the callee takes the old values, then the updates, and yields the new ones. */
static const hl_shape *check_scatter_callee(hl_infer *infer, const hl_instruction *ins)
{
  int n = ins->operand_count / 2;
  const hl_shape **scalars = HL_ARRAY(infer->arena, 2 * n, const hl_shape *);
  const hl_shape **shapes = HL_ARRAY(infer->arena, n, const hl_shape *);
  for (int i = 0; i < n; i++) {
    shapes[i] = hl_operand_shape(ins, i);
    scalars[i] = scalars[n + i] = hl_shape_scalar(infer->arena, shapes[i]->element_type);
  }
  const hl_shape *result = n == 1 ? scalars[0] : hl_shape_tuple(infer->arena, n, scalars);
  if (!hl_check_callee(infer, ins, HL_ATTR_TO_APPLY, 2 * n, scalars, result, HL_RULE_SCATTER_C9))
    return NULL;
  return n == 1 ? shapes[0] : hl_shape_tuple(infer->arena, n, shapes);
}

/* scatter-c1 to -c5 as gather's; -c6: update_window_dims. */
const hl_shape *hl_infer_scatter(hl_infer *infer, const hl_instruction *ins)
{
  if (!check_scatter_operands(infer, ins))
    return NULL;
  indexing r = scatter_roles(ins);
  if (!check_index_map(infer, ins, &r) || !check_operand_dims(infer, ins, &r))
    return NULL;
  int n = ins->operand_count / 2;
  int64_t batch[HL_LIMIT_RANK];
  int rank = hl_attr_ints(ins, r.window).count + batch_sizes(ins, hl_operand_shape(ins, n), batch);
  if (!check_window_dims(infer, ins, &r, rank, "the updates", HL_RULE_SCATTER_C6))
    return NULL;
  for (int i = n + 1; i < ins->operand_count; i++)
    if (!check_updates(infer, ins, &r, i))
      return NULL;
  return check_scatter_callee(infer, ins);
}
