/* fuse_maps.c - where the dimensions of an operand lie in the loops of a kernel, given where its user's lie. */
#include "fuse.h"

#include "../ir/limits.h"

#include <string.h>

const hl_shape *hl_domain_of(const hl_instruction *ins)
{
  return ins->shape->element_type == HL_TUPLE && ins->shape->tuple_count
             ? ins->shape->tuple_shapes[0]
             : ins->shape;
}

static int8_t *new_map(hl_arena *arena, const hl_shape *shape, int8_t fill)
{
  int8_t *map = HL_ARRAY(arena, shape->rank + 1, int8_t);
  for (int d = 0; d < shape->rank; d++)
    map[d] = shape->dimensions[d] == 1 ? HL_MAP_ONE : fill;
  return map;
}

static void map_through(const hl_shape *shape, int8_t *map, int d, int8_t to)
{
  if (shape->dimensions[d] != 1)
    map[d] = to;
}

static void map_reshape(const hl_shape *from, const hl_shape *to, const int8_t *user, int8_t *map)
{
  int f = 0, t = 0;
  for (;;) {
    while (f < from->rank && from->dimensions[f] == 1)
      f++;
    while (t < to->rank && to->dimensions[t] == 1)
      t++;
    if (f == from->rank || t == to->rank || from->dimensions[f] != to->dimensions[t])
      return;
    map[f++] = user[t++];
  }
}

static void map_dot_side(const hl_instruction *dot, int side, const int8_t *user, int8_t *map)
{
  const hl_shape *shape = dot->operands[side]->shape, *other = dot->operands[1 - side]->shape;
  hl_ints batch = hl_attr_ints(dot, side ? HL_ATTR_RHS_BATCH_DIMS : HL_ATTR_LHS_BATCH_DIMS);
  hl_ints inner = hl_attr_ints(dot, side ? HL_ATTR_RHS_CONTRACTING_DIMS
                                         : HL_ATTR_LHS_CONTRACTING_DIMS);
  int next = side ? other->rank - inner.count : batch.count;
  bool used[HL_LIMIT_RANK] = {false};
  for (int i = 0; i < batch.count; i++) {
    map_through(shape, map, (int)batch.values[i], user[i]);
    used[batch.values[i]] = true;
  }
  for (int i = 0; i < inner.count; i++) {
    map_through(shape, map, (int)inner.values[i], HL_MAP_REDUCED);
    used[inner.values[i]] = true;
  }
  for (int d = 0; d < shape->rank; d++)
    if (!used[d])
      map_through(shape, map, d, user[next++]);
}

static void map_reduce(const hl_instruction *reduce, const int8_t *user, int8_t *map)
{
  const hl_shape *shape = reduce->operands[0]->shape;
  hl_ints dims = hl_attr_ints(reduce, HL_ATTR_DIMENSIONS);
  int kept = 0;
  for (int d = 0; d < shape->rank; d++) {
    bool is_reduced = false;
    for (int i = 0; i < dims.count; i++)
      is_reduced |= dims.values[i] == d;
    map_through(shape, map, d, is_reduced ? HL_MAP_REDUCED : user[kept]);
    kept += !is_reduced;
  }
}

static void map_slice(const hl_instruction *user_ins, const int8_t *user, int8_t *map)
{
  const hl_shape *from = user_ins->operands[0]->shape, *to = user_ins->shape;
  for (int d = 0; d < from->rank; d++)
    if (from->dimensions[d] == to->dimensions[d] && user_ins->opcode == HL_OP_SLICE)
      map_through(from, map, d, user[d]);
}

int8_t *hl_operand_map(hl_arena *arena, const hl_instruction *user_ins, int i, const int8_t *user)
{
  const hl_shape *shape = hl_domain_of(user_ins->operands[i]);
  int8_t *map = new_map(arena, shape, HL_MAP_OTHER);
  hl_ints dims = hl_attr_ints(user_ins, HL_ATTR_DIMENSIONS);
  switch (user_ins->opcode) {
  case HL_OP_BROADCAST:
    for (int d = 0; d < shape->rank; d++)
      map_through(shape, map, d, user[dims.values[d]]);
    break;
  case HL_OP_TRANSPOSE:
    for (int d = 0; d < shape->rank; d++)
      map_through(shape, map, (int)dims.values[d], user[d]);
    break;
  case HL_OP_RESHAPE:
  case HL_OP_BITCAST:
    map_reshape(shape, user_ins->shape, user, map);
    break;
  case HL_OP_SLICE:
    map_slice(user_ins, user, map);
    break;
  case HL_OP_REDUCE:
    if (i < user_ins->operand_count / 2)
      map_reduce(user_ins, user, map);
    break;
  case HL_OP_DOT:
    map_dot_side(user_ins, i, user, map);
    break;
  case HL_OP_GET_TUPLE_ELEMENT:
    memcpy(map, user, (size_t)shape->rank);
    break;
  default:
    if (hl_op_info_of(user_ins->opcode)->flags & HL_EW && shape->rank == user_ins->shape->rank)
      memcpy(map, user, (size_t)shape->rank);
  }
  return map;
}

/* A root's own dimensions are the loops. */
int8_t *hl_identity_map(hl_arena *arena, const hl_shape *shape)
{
  int8_t *map = new_map(arena, shape, 0);
  for (int d = 0; d < shape->rank; d++)
    if (map[d] != HL_MAP_ONE)
      map[d] = (int8_t)d;
  return map;
}
