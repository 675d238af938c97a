/* simplify_shape - rules for reshape, broadcast and transpose, and for elementwise operations on
 * what they move.
 *
 * The form they lead to: a broadcast reads an operand without dimensions of size 1, in ascending
 * order, and adds at least one dimension larger than 1, or is of a scalar; movement stands behind
 * elementwise operations, where it meets other movement and where the operations have fewer
 * elements to work on.
 */
#include "simplify.h"

#include "../ir/limits.h"

#include <string.h>

static hl_ints dimensions_of(const hl_instruction *ins)
{
  return hl_attr_ints(ins, HL_ATTR_DIMENSIONS);
}

static bool is_identity_list(hl_ints list)
{
  for (int i = 0; i < list.count; i++)
    if (list.values[i] != i)
      return false;
  return true;
}

static hl_instruction *reshape_like(hl_instruction *ins, hl_instruction *operand)
{
  return hl_make_reshape(ins, operand, ins->shape->rank, ins->shape->dimensions);
}

/* reshape(x) -> x, when the dimensions are the same. */
static hl_instruction *reshape_to_itself(hl_instruction *ins)
{
  return hl_shape_same_dimensions(ins->shape, ins->operands[0]->shape) ? ins->operands[0] : NULL;
}

/* reshape(reshape(x)) -> reshape(x) */
static hl_instruction *reshape_twice(hl_instruction *ins)
{
  const hl_instruction *inner = ins->operands[0];
  return inner->opcode == HL_OP_RESHAPE ? reshape_like(ins, inner->operands[0]) : NULL;
}

/* reshape(scalar) -> broadcast(scalar): one form for arrays of one element. */
static hl_instruction *reshape_of_scalar(hl_instruction *ins)
{
  hl_instruction *scalar = ins->operands[0];
  if (scalar->shape->rank)
    return NULL;
  return hl_make_broadcast(ins, scalar, ins->shape->rank, ins->shape->dimensions, NULL);
}

/* A broadcast seen through a reshape: which dimensions the operand has now, and where they sit. */
typedef struct placement {
  int64_t dimensions[HL_LIMIT_RANK], positions[HL_LIMIT_RANK];
  int count;
} placement;

/* The dimensions [from, to) of the broadcast `b` became [out, out_end) of `shape`: either all of
 * them are the operand's, which is then reshaped likewise, or none (those of size 1 are nobody's).
 */
static bool place_group(const hl_instruction *b, const bool *is_operands, const int range[4],
                        const hl_shape *shape, placement *p)
{
  bool has_own = false, has_new = false;
  for (int i = range[0]; i < range[1]; i++) {
    has_own = has_own || is_operands[i];
    has_new = has_new || (!is_operands[i] && b->shape->dimensions[i] != 1);
  }
  if (has_own && has_new)
    return false;
  for (int j = range[2]; j < range[3] && has_own; j++) {
    if (shape->dimensions[j] == 1)
      continue;
    p->dimensions[p->count] = shape->dimensions[j];
    p->positions[p->count++] = j;
  }
  return true;
}

/* Walks both shapes in the smallest groups of dimensions with the same product. */
static bool place_through(const hl_instruction *b, const hl_shape *shape, placement *p)
{
  bool is_operands[HL_LIMIT_RANK] = {false};
  hl_ints positions = dimensions_of(b);
  for (int i = 0; i < positions.count; i++)
    is_operands[positions.values[i]] = true;
  const hl_shape *in = b->shape;
  for (int i = 0, j = 0; i < in->rank || j < shape->rank;) {
    int range[4] = {i, i, j, j};
    int64_t left = i < in->rank ? in->dimensions[i++] : 1;
    int64_t right = j < shape->rank ? shape->dimensions[j++] : 1;
    while (left != right)
      if (left < right)
        left *= in->dimensions[i++];
      else
        right *= shape->dimensions[j++];
    range[1] = i;
    range[3] = j;
    if (!place_group(b, is_operands, range, shape, p))
      return false;
  }
  return true;
}

static bool is_ascending(hl_ints list)
{
  for (int i = 1; i < list.count; i++)
    if (list.values[i] <= list.values[i - 1])
      return false;
  return true;
}

/* reshape(broadcast(x)) -> broadcast(reshape(x)), when each group of dimensions is all x's or all
 * new. */
static hl_instruction *reshape_of_broadcast(hl_instruction *ins)
{
  hl_instruction *b = ins->operands[0];
  if (b->opcode != HL_OP_BROADCAST || !is_ascending(dimensions_of(b)) ||
      hl_shape_elements(ins->shape) == 0)
    return NULL;
  placement p = {.count = 0};
  if (!place_through(b, ins->shape, &p))
    return NULL;
  hl_instruction *x = hl_make_reshape(ins, b->operands[0], p.count, p.dimensions);
  return hl_make_broadcast(ins, x, ins->shape->rank, ins->shape->dimensions, p.positions);
}

/* broadcast(x) -> x, reshape(x) or transpose(x), when it adds no elements; scalars stay broadcasts.
 */
static hl_instruction *broadcast_of_all(hl_instruction *ins)
{
  hl_instruction *x = ins->operands[0];
  hl_ints positions = dimensions_of(ins);
  if (x->shape->rank == ins->shape->rank) {
    int64_t permutation[HL_LIMIT_RANK];
    for (int i = 0; i < positions.count; i++)
      permutation[positions.values[i]] = i;
    return hl_make_transpose(ins, x, permutation);
  }
  bool is_same = hl_shape_elements(x->shape) == hl_shape_elements(ins->shape) &&
                 hl_differ_in_ones(x->shape, ins->shape);
  return is_same && x->shape->rank && is_ascending(positions) ? reshape_like(ins, x) : NULL;
}

/* broadcast(broadcast(x)) -> broadcast(x) */
static hl_instruction *broadcast_twice(hl_instruction *ins)
{
  const hl_instruction *inner = ins->operands[0];
  if (inner->opcode != HL_OP_BROADCAST)
    return NULL;
  hl_ints outer = dimensions_of(ins), middle = dimensions_of(inner);
  int64_t positions[HL_LIMIT_RANK];
  for (int i = 0; i < middle.count; i++)
    positions[i] = outer.values[middle.values[i]];
  return hl_make_broadcast(ins, inner->operands[0], ins->shape->rank, ins->shape->dimensions,
                           positions);
}

/* broadcast(x) with dimensions of size 1 in x -> broadcast(reshape(x)) without them. */
static hl_instruction *broadcast_of_ones(hl_instruction *ins)
{
  hl_instruction *x = ins->operands[0];
  hl_ints positions = dimensions_of(ins);
  placement p = {.count = 0};
  for (int i = 0; i < x->shape->rank; i++) {
    if (x->shape->dimensions[i] == 1)
      continue;
    p.dimensions[p.count] = x->shape->dimensions[i];
    p.positions[p.count++] = positions.values[i];
  }
  if (p.count == x->shape->rank)
    return NULL;
  x = hl_make_reshape(ins, x, p.count, p.dimensions);
  return hl_make_broadcast(ins, x, ins->shape->rank, ins->shape->dimensions, p.positions);
}

/* broadcast(x) that permutes -> broadcast(transpose(x)) in ascending order. */
static hl_instruction *broadcast_permuted(hl_instruction *ins)
{
  hl_ints positions = dimensions_of(ins);
  if (is_ascending(positions))
    return NULL;
  int64_t order[HL_LIMIT_RANK], sorted[HL_LIMIT_RANK];
  for (int i = 0; i < positions.count; i++) { /* insertion sort of (position, operand dimension) */
    int k = i;
    for (; k > 0 && sorted[k - 1] > positions.values[i]; k--) {
      sorted[k] = sorted[k - 1];
      order[k] = order[k - 1];
    }
    sorted[k] = positions.values[i];
    order[k] = i;
  }
  hl_instruction *x = hl_make_transpose(ins, ins->operands[0], order);
  return hl_make_broadcast(ins, x, ins->shape->rank, ins->shape->dimensions, sorted);
}

/* transpose(x) -> x or reshape(x), when only dimensions of size 1 change their place. */
static hl_instruction *transpose_of_ones(hl_instruction *ins)
{
  hl_ints permutation = dimensions_of(ins);
  const hl_shape *in = ins->operands[0]->shape;
  if (is_identity_list(permutation))
    return ins->operands[0];
  int64_t last = -1;
  for (int i = 0; i < permutation.count; i++) {
    if (in->dimensions[permutation.values[i]] == 1)
      continue;
    if (permutation.values[i] < last)
      return NULL;
    last = permutation.values[i];
  }
  return reshape_like(ins, ins->operands[0]);
}

/* transpose(transpose(x)) -> transpose(x) */
static hl_instruction *transpose_twice(hl_instruction *ins)
{
  const hl_instruction *inner = ins->operands[0];
  if (inner->opcode != HL_OP_TRANSPOSE)
    return NULL;
  hl_ints outer = dimensions_of(ins), first = dimensions_of(inner);
  int64_t permutation[HL_LIMIT_RANK];
  for (int i = 0; i < outer.count; i++)
    permutation[i] = first.values[outer.values[i]];
  return hl_make_transpose(ins, inner->operands[0], permutation);
}

/* transpose(broadcast(x)) -> broadcast(x) with other positions */
static hl_instruction *transpose_of_broadcast(hl_instruction *ins)
{
  const hl_instruction *b = ins->operands[0];
  if (b->opcode != HL_OP_BROADCAST)
    return NULL;
  hl_ints permutation = dimensions_of(ins), old = dimensions_of(b);
  int64_t moved_to[HL_LIMIT_RANK], positions[HL_LIMIT_RANK];
  for (int i = 0; i < permutation.count; i++)
    moved_to[permutation.values[i]] = i;
  for (int i = 0; i < old.count; i++)
    positions[i] = moved_to[old.values[i]];
  return hl_make_broadcast(ins, b->operands[0], ins->shape->rank, ins->shape->dimensions,
                           positions);
}

/* An array constant of equal elements -> broadcast(scalar constant): it is never stored whole. */
static hl_instruction *constant_splat(hl_instruction *ins)
{
  if (!hl_shape_is_array(ins->shape) || ins->shape->rank == 0 ||
      hl_shape_elements(ins->shape) == 0 || !hl_splat_of(ins))
    return NULL;
  hl_arena *arena = hl_arena_of(ins);
  hl_element_type type = ins->shape->element_type;
  hl_literal *scalar = hl_literal_new(arena, hl_shape_scalar(arena, type));
  memcpy(scalar->data, ins->literal->data, (size_t)hl_type_bytes(type));
  return hl_make_splat(ins, scalar);
}

/* What all operands of an elementwise operation share: they are reshapes or broadcasts of arrays of
 * the same dimensions to the same places, or broadcasts of scalars. */
typedef struct movement {
  const hl_instruction *first; /* one that is not of a scalar; NULL if all are */
} movement;

static bool moves_alike(const hl_instruction *a, const hl_instruction *b)
{
  if (a->opcode != b->opcode ||
      !hl_shape_same_dimensions(a->operands[0]->shape, b->operands[0]->shape))
    return false;
  hl_ints in_a = dimensions_of(a), in_b = dimensions_of(b);
  return in_a.count == 0 ||
         !memcmp(in_a.values, in_b.values, (size_t)in_a.count * sizeof *in_a.values);
}

static bool find_movement(const hl_instruction *ins, movement *m)
{
  m->first = NULL;
  for (int i = 0; i < ins->operand_count; i++) {
    const hl_instruction *operand = ins->operands[i];
    if (hl_broadcast_scalar(operand))
      continue;
    if (operand->opcode != HL_OP_BROADCAST && operand->opcode != HL_OP_RESHAPE)
      return false;
    if (!m->first)
      m->first = operand;
    else if (!moves_alike(m->first, operand))
      return false;
  }
  return ins->operand_count > 0;
}

/* op(move(x), move(y), broadcast(scalar)) -> move(op(x, y, broadcast(scalar))): no element is
 * computed twice, and what moves meets the movement that follows. */
static hl_instruction *sink_movement(hl_instruction *ins)
{
  movement m;
  if (ins->operand_count > 3 || !find_movement(ins, &m))
    return NULL;
  hl_arena *arena = hl_arena_of(ins);
  const hl_shape *from = m.first ? m.first->operands[0]->shape : hl_shape_scalar(arena, HL_PRED);
  hl_instruction *operands[3];
  for (int i = 0; i < ins->operand_count; i++) {
    hl_instruction *scalar = hl_broadcast_scalar(ins->operands[i]);
    operands[i] = scalar ? hl_make_broadcast(ins, scalar, from->rank, from->dimensions, NULL)
                         : ins->operands[i]->operands[0];
  }
  const hl_shape *shape = hl_shape_with_type(arena, from, ins->shape->element_type);
  hl_instruction *made = hl_make_again(ins, shape, operands);
  if (m.first && m.first->opcode == HL_OP_RESHAPE)
    return reshape_like(ins, made);
  return hl_make_broadcast(ins, made, ins->shape->rank, ins->shape->dimensions,
                           m.first ? dimensions_of(m.first).values : NULL);
}

const hl_simplify_rule hl_simplify_shape_rules[] = {
    {HL_OP_RESHAPE, reshape_to_itself},
    {HL_OP_RESHAPE, reshape_twice},
    {HL_OP_RESHAPE, reshape_of_scalar},
    {HL_OP_RESHAPE, reshape_of_broadcast},
    {HL_OP_BROADCAST, broadcast_of_all},
    {HL_OP_BROADCAST, broadcast_twice},
    {HL_OP_BROADCAST, broadcast_of_ones},
    {HL_OP_BROADCAST, broadcast_permuted},
    {HL_OP_TRANSPOSE, transpose_of_ones},
    {HL_OP_TRANSPOSE, transpose_twice},
    {HL_OP_TRANSPOSE, transpose_of_broadcast},
    {HL_OP_CONSTANT, constant_splat},
    {HL_OP_COUNT, sink_movement},
    {HL_OP_COUNT, NULL},
};
