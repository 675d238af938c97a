/* infer_collective - ops across devices (spec section 8.9).
 *
 *   collective-c1  replica_groups hold each id once
 *   collective-c2  operands are arrays
 *   collective-c3  one dimension, in range
 *   collective-c4  the callee takes and yields two scalars of the operands' types
 *   collective-c5  source_target_pairs are pairs; no source and no target stands twice
 *   collective-c6  a done follows its start
 *   collective-c7  sizes along the dimension go with the group's size
 */
#include "infer.h"

#include "limits.h"

#include <inttypes.h>
#include <string.h>

/* A set of numbers: those seen, by their text. Returns whether the number is new. */
static bool add_number(hl_map *seen, int64_t value)
{
  char *key = hl_arena_printf(seen->arena, "%" PRId64, value);
  if (hl_map_get(seen, key, strlen(key)))
    return false;
  hl_map_set(seen, key, strlen(key), key);
  return true;
}

static bool check_groups(hl_infer *infer, const hl_instruction *ins)
{
  const hl_attr *attr = hl_attr_find(ins, HL_ATTR_REPLICA_GROUPS);
  hl_map seen = {.arena = infer->arena};
  for (int i = 0; attr && i < attr->lists.count; i++)
    for (int k = 0; k < attr->lists.values[i].count; k++) {
      int64_t id = attr->lists.values[i].values[k];
      if (id < 0 || !add_number(&seen, id))
        return hl_error(
            infer->diag, hl_place_attr_entry(ins, HL_ATTR_REPLICA_GROUPS, i), HL_RULE_COLLECTIVE_C1,
            id < 0 ? "replica id %lld is negative" : "replica id %lld stands twice", (long long)id);
    }
  return true;
}

/* The size of the first group, 0 when groups are not written. */
static int64_t group_size(const hl_instruction *ins)
{
  const hl_attr *attr = hl_attr_find(ins, HL_ATTR_REPLICA_GROUPS);
  return attr && attr->lists.count ? attr->lists.values[0].count : 0;
}

static bool check_arrays(hl_infer *infer, const hl_instruction *ins)
{
  for (int i = 0; i < ins->operand_count; i++)
    if (!hl_check_array(infer, ins, i, HL_RULE_COLLECTIVE_C2))
      return false;
  return check_groups(infer, ins);
}

static bool check_reducer(hl_infer *infer, const hl_instruction *ins)
{
  hl_element_type type = hl_operand_shape(ins, 0)->element_type;
  const hl_shape *scalar = hl_shape_scalar(infer->arena, type);
  const hl_shape *pair[] = {scalar, scalar};
  return hl_check_callee(infer, ins, HL_ATTR_TO_APPLY, 2, pair, scalar, HL_RULE_COLLECTIVE_C4);
}

/* The operands' shapes, in a tuple if there are several. */
static const hl_shape *same_shapes(hl_infer *infer, const hl_instruction *ins)
{
  if (ins->operand_count == 1)
    return hl_operand_shape(ins, 0);
  const hl_shape **shapes = HL_ARRAY(infer->arena, ins->operand_count, const hl_shape *);
  for (int i = 0; i < ins->operand_count; i++)
    shapes[i] = hl_operand_shape(ins, i);
  return hl_shape_tuple(infer->arena, ins->operand_count, shapes);
}

const hl_shape *hl_infer_all_reduce(hl_infer *infer, const hl_instruction *ins)
{
  return check_arrays(infer, ins) && check_reducer(infer, ins) ? same_shapes(infer, ins) : NULL;
}

static bool check_dimension(hl_infer *infer, const hl_instruction *ins)
{
  if (!hl_check_length(infer, ins, HL_ATTR_DIMENSIONS, 1, "it", HL_RULE_COLLECTIVE_C3))
    return false;
  for (int i = 0; i < ins->operand_count; i++) {
    const hl_shape *x = hl_operand_shape(ins, i);
    if (!hl_check_range(infer, ins, HL_ATTR_DIMENSIONS, x->rank, hl_say(infer, x),
                        HL_RULE_COLLECTIVE_C3))
      return false;
  }
  return true;
}

/* The written shape of result `index` of operand_count; NULL if the written shape has none. */
static const hl_shape *written_result(const hl_instruction *ins, const hl_shape *shape, int index)
{
  if (ins->operand_count == 1 && shape->element_type != HL_TUPLE)
    return shape;
  return hl_element_shape(shape, index);
}

/* The shape of x with its size along the dimension multiplied (is_growing) or divided by the
 * group's size. Without written groups the group is every device: the factor then follows from the
 * written result. */
static const hl_shape *scaled_shape(hl_infer *infer, const hl_instruction *ins, int index,
                                    const hl_shape *written, bool is_growing)
{
  const hl_shape *x = hl_operand_shape(ins, index);
  int64_t dim = hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0], sizes[HL_LIMIT_RANK],
          from = x->dimensions[dim];
  bool has_rank = written && hl_shape_is_array(written) && written->rank == x->rank;
  int64_t to = has_rank ? written->dimensions[dim] : from, factor = group_size(ins);
  memcpy(sizes, x->dimensions, (size_t)x->rank * sizeof *sizes);
  bool is_good = true;
  if (factor && is_growing)
    is_good = hl_mul_i64(from, factor, &to);
  else if (factor)
    is_good = from % factor == 0 && ((to = from / factor), true);
  else if (is_growing)
    is_good = from ? to % from == 0 : to == 0;
  else
    is_good = to ? from % to == 0 : from == 0;
  sizes[dim] = to;
  if (is_good)
    return hl_make_array(infer, ins, x->element_type, x->rank, sizes);
  hl_error(infer->diag, factor ? hl_place_operand(ins, index) : hl_place_shape(ins),
           HL_RULE_COLLECTIVE_C7,
           "size %lld along dimension %lld of %s cannot become %s with a group of %lld",
           (long long)from, (long long)dim, hl_say(infer, x),
           written ? hl_say(infer, written) : "the result", (long long)factor);
  return NULL;
}

static const hl_shape *scaled_shapes(hl_infer *infer, const hl_instruction *ins,
                                     const hl_shape *written, bool is_growing)
{
  const hl_shape **shapes = HL_ARRAY(infer->arena, ins->operand_count, const hl_shape *);
  for (int i = 0; i < ins->operand_count; i++) {
    shapes[i] =
        scaled_shape(infer, ins, i, written ? written_result(ins, written, i) : NULL, is_growing);
    if (!shapes[i])
      return NULL;
  }
  return ins->operand_count == 1 ? shapes[0]
                                 : hl_shape_tuple(infer->arena, ins->operand_count, shapes);
}

const hl_shape *hl_infer_all_gather(hl_infer *infer, const hl_instruction *ins)
{
  return check_arrays(infer, ins) && check_dimension(infer, ins)
             ? scaled_shapes(infer, ins, ins->shape, true)
             : NULL;
}

const hl_shape *hl_infer_reduce_scatter(hl_infer *infer, const hl_instruction *ins)
{
  if (!check_arrays(infer, ins) || !check_dimension(infer, ins) || !check_reducer(infer, ins))
    return NULL;
  return scaled_shapes(infer, ins, ins->shape, false);
}

const hl_shape *hl_infer_all_gather_start(hl_infer *infer, const hl_instruction *ins)
{
  if (!check_arrays(infer, ins) || !check_dimension(infer, ins))
    return NULL;
  bool is_pair = ins->shape->element_type == HL_TUPLE && ins->shape->tuple_count == 2;
  const hl_shape *results =
      scaled_shapes(infer, ins, is_pair ? ins->shape->tuple_shapes[1] : NULL, true);
  if (!results)
    return NULL;
  return hl_shape_tuple(infer->arena, 2, (const hl_shape *[]){same_shapes(infer, ins), results});
}

/* With dimensions: one operand, split and joined along one dimension; without: as many operands as
 * the group has members. */
const hl_shape *hl_infer_all_to_all(hl_infer *infer, const hl_instruction *ins)
{
  if (!check_arrays(infer, ins))
    return NULL;
  if (!hl_attr_find(ins, HL_ATTR_DIMENSIONS)) {
    for (int i = 1; i < ins->operand_count; i++)
      if (!hl_check_dimensions(infer, ins, i, 0, HL_RULE_COLLECTIVE_C2) ||
          !hl_check_same_type(infer, ins, i, 0, HL_RULE_COLLECTIVE_C2))
        return NULL;
    bool is_tuple = ins->operand_count > 1 || ins->shape->element_type == HL_TUPLE;
    const hl_shape *one = hl_operand_shape(ins, 0);
    return is_tuple && ins->operand_count == 1 ? hl_shape_tuple(infer->arena, 1, &one)
                                               : same_shapes(infer, ins);
  }
  if (!check_dimension(infer, ins))
    return NULL;
  const hl_shape *x = hl_operand_shape(ins, 0);
  int64_t size = x->dimensions[hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0]],
          group = group_size(ins);
  if (group && size % group) {
    hl_error(infer->diag, hl_place_operand(ins, 0), HL_RULE_COLLECTIVE_C7,
             "a group of %lld does not divide the size %lld of %s", (long long)group,
             (long long)size, hl_say(infer, x));
    return NULL;
  }
  return same_shapes(infer, ins);
}

static bool check_pairs(hl_infer *infer, const hl_instruction *ins)
{
  const hl_attr *attr = hl_attr_find(ins, HL_ATTR_SOURCE_TARGET_PAIRS);
  hl_map sources = {.arena = infer->arena}, targets = {.arena = infer->arena};
  for (int i = 0; i < attr->lists.count; i++) {
    hl_ints pair = attr->lists.values[i];
    bool is_good = pair.count == 2 && pair.values[0] >= 0 && pair.values[1] >= 0;
    if (!is_good || !add_number(&sources, pair.values[0]) || !add_number(&targets, pair.values[1]))
      return hl_error(infer->diag, hl_place_attr_entry(ins, HL_ATTR_SOURCE_TARGET_PAIRS, i),
                      HL_RULE_COLLECTIVE_C5, "{%s} in source_target_pairs: %s",
                      hl_say_ints(infer, pair.count, pair.values),
                      is_good ? "its source or its target stands in an earlier pair"
                              : "not a source and a target");
  }
  return true;
}

/* One operand or several give their shapes; four with start indices (operand, output, starts) give
 * the output's. */
static const hl_shape *permuted(hl_infer *infer, const hl_instruction *ins)
{
  bool is_sliced = hl_attr_find(ins, HL_ATTR_SLICE_SIZES_LISTS) && ins->operand_count == 4;
  return is_sliced ? hl_operand_shape(ins, 1) : same_shapes(infer, ins);
}

const hl_shape *hl_infer_collective_permute(hl_infer *infer, const hl_instruction *ins)
{
  bool is_sliced = hl_attr_find(ins, HL_ATTR_SLICE_SIZES_LISTS) != NULL;
  return (is_sliced || check_arrays(infer, ins)) && check_pairs(infer, ins) ? permuted(infer, ins)
                                                                            : NULL;
}

/* (operand, result), and any number of u32[] behind them. */
const hl_shape *hl_infer_collective_permute_start(hl_infer *infer, const hl_instruction *ins)
{
  if (!hl_infer_collective_permute(infer, ins))
    return NULL;
  const hl_shape *operand =
      ins->operand_count == 4 ? hl_operand_shape(ins, 0) : same_shapes(infer, ins);
  int count = ins->shape->element_type == HL_TUPLE && ins->shape->tuple_count > 2
                  ? ins->shape->tuple_count
                  : 2;
  const hl_shape **shapes = HL_ARRAY(infer->arena, count, const hl_shape *);
  shapes[0] = operand;
  shapes[1] = permuted(infer, ins);
  for (int i = 2; i < count; i++)
    shapes[i] = hl_shape_scalar(infer->arena, HL_U32);
  return hl_shape_tuple(infer->arena, count, shapes);
}

const hl_shape *hl_infer_collective_broadcast(hl_infer *infer, const hl_instruction *ins)
{
  return check_arrays(infer, ins) ? same_shapes(infer, ins) : NULL;
}

/* Rows of the operand go into the output: they are of one length. */
static bool check_rows(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *operand = hl_operand_shape(ins, 0), *output = hl_operand_shape(ins, 1);
  bool fits = operand->rank > 0 && operand->rank == output->rank;
  for (int d = 1; fits && d < operand->rank; d++)
    fits = operand->dimensions[d] == output->dimensions[d];
  return fits || hl_error(infer->diag, hl_place_operand(ins, 1), HL_RULE_COLLECTIVE_C2,
                          "rows of %s do not fit into %s: all dimensions but the first must be equal",
                          hl_say(infer, operand), hl_say(infer, output));
}

/* Operand, output, input offsets, send sizes, output offsets, receive sizes. */
const hl_shape *hl_infer_ragged_all_to_all(hl_infer *infer, const hl_instruction *ins)
{
  if (!check_arrays(infer, ins) || !hl_check_same_type(infer, ins, 1, 0, HL_RULE_COLLECTIVE_C2) || !check_rows(infer, ins))
    return NULL;
  if (hl_operand_shape(ins, 2)->rank != 1) {
    hl_error(infer->diag, hl_place_operand(ins, 2), HL_RULE_COLLECTIVE_C2, "offsets and sizes have one dimension; these are %s",
             hl_say(infer, hl_operand_shape(ins, 2)));
    return NULL;
  }
  for (int i = 2; i < 6; i++)
    if (!hl_check_integral(infer, ins, i, HL_RULE_COLLECTIVE_C2) ||
        !hl_check_same_type(infer, ins, i, 2, HL_RULE_COLLECTIVE_C2) ||
        !hl_check_dimensions(infer, ins, i, 2, HL_RULE_COLLECTIVE_C2))
      return NULL;
  return hl_operand_shape(ins, 1);
}

static const hl_shape *done(hl_infer *infer, const hl_instruction *ins, hl_opcode start,
                            int element)
{
  const hl_shape *shape = hl_operand_shape(ins, 0);
  if (!hl_check_follows(infer, ins, start, HL_RULE_COLLECTIVE_C6))
    return NULL;
  return element < 0 ? shape : hl_element_shape(shape, element);
}

const hl_shape *hl_infer_all_reduce_done(hl_infer *infer, const hl_instruction *ins)
{
  return done(infer, ins, HL_OP_ALL_REDUCE_START, -1);
}

const hl_shape *hl_infer_all_gather_done(hl_infer *infer, const hl_instruction *ins)
{
  return done(infer, ins, HL_OP_ALL_GATHER_START, 1);
}

const hl_shape *hl_infer_collective_permute_done(hl_infer *infer, const hl_instruction *ins)
{
  return done(infer, ins, HL_OP_COLLECTIVE_PERMUTE_START, 1);
}

const hl_shape *hl_infer_replica_id(hl_infer *infer, const hl_instruction *ins)
{
  (void)ins;
  return hl_shape_scalar(infer->arena, HL_U32);
}
