/* broadcasts.c - how operands are repeated to fill a result (docs/language.md, section 7). */
#include "broadcasts.h"

#include "limits.h"

static bool can_stretch(const hl_instruction *user, int operand)
{
  if (user->opcode == HL_OP_BROADCAST)
    return true;
  bool does = hl_op_info_of(user->opcode)->flags & HL_BCAST || user->opcode == HL_OP_SELECT ||
              user->opcode == HL_OP_CLAMP;
  return does && hl_shape_is_array(user->shape) &&
         !hl_shape_same_dimensions(user->operands[operand]->shape, user->shape);
}

/* The result dimension that dimension i of the operand lies on. */
static int64_t position_of(const hl_instruction *user, int operand, int i)
{
  if (user->opcode == HL_OP_BROADCAST)
    return hl_attr_ints(user, HL_ATTR_DIMENSIONS).values[i];
  bool is_placed = user->operands[operand]->shape->rank < user->shape->rank;
  return is_placed ? hl_attr_ints(user, HL_ATTR_BROADCAST_DIMENSIONS).values[i] : i;
}

bool hl_stretch_of(hl_arena *arena, const hl_instruction *user, int operand, hl_stretch *stretch)
{
  if (!can_stretch(user, operand))
    return false;
  const hl_shape *from = user->operands[operand]->shape, *to = user->shape;
  int64_t *positions = HL_ARRAY(arena, from->rank + 1, int64_t);
  bool *is_stretched = HL_ARRAY(arena, from->rank + 1, bool);
  int64_t *strides = HL_ARRAY(arena, to->rank + 1, int64_t), step = 1;
  for (int i = from->rank; i-- > 0;) {
    positions[i] = position_of(user, operand, i);
    is_stretched[i] = from->dimensions[i] != to->dimensions[positions[i]];
    strides[positions[i]] = is_stretched[i] ? 0 : step;
    step *= from->dimensions[i];
  }
  *stretch = (hl_stretch){.user = user,
                          .operand = operand,
                          .is_explicit = user->opcode == HL_OP_BROADCAST,
                          .rank = from->rank,
                          .result_rank = to->rank,
                          .positions = positions,
                          .is_stretched = is_stretched,
                          .strides = strides};
  return true;
}

/* --- accidental outer products --- */

enum { MAX_LOOKED_THROUGH = 8 };

static bool same_but_ones(const hl_shape *a, const hl_shape *b)
{
  int i = 0, k = 0;
  for (;;) {
    while (i < a->rank && a->dimensions[i] == 1)
      i++;
    while (k < b->rank && b->dimensions[k] == 1)
      k++;
    if (i == a->rank || k == b->rank)
      return i == a->rank && k == b->rank;
    if (a->dimensions[i++] != b->dimensions[k++])
      return false;
  }
}

const hl_instruction *hl_stretch_source(const hl_instruction *operand)
{
  for (int n = 0; n < MAX_LOOKED_THROUGH; n++) {
    bool is_view = operand->opcode == HL_OP_BROADCAST ||
                   (operand->opcode == HL_OP_RESHAPE &&
                    same_but_ones(operand->shape, operand->operands[0]->shape));
    if (!is_view)
      break;
    operand = operand->operands[0];
  }
  return operand;
}

/* The result dimensions along which an operand's elements differ. */
static void mark_varying(const hl_instruction *ins, int i, bool *varies)
{
  const hl_instruction *operand = ins->operands[i], *user = ins;
  if (operand->opcode == HL_OP_BROADCAST &&
      hl_shape_same_dimensions(operand->shape, ins->shape)) {
    user = operand;
    operand = operand->operands[0];
    i = 0;
  }
  bool is_whole = hl_shape_same_dimensions(operand->shape, ins->shape);
  for (int d = 0; d < operand->shape->rank; d++) {
    int64_t at = is_whole ? d : position_of(user, i, d), size = operand->shape->dimensions[d];
    varies[at] = size > 1 && size == ins->shape->dimensions[at];
  }
}

bool hl_is_accidental_outer(const hl_instruction *ins)
{
  bool left[HL_LIMIT_RANK] = {false}, right[HL_LIMIT_RANK] = {false};
  if (!(hl_op_info_of(ins->opcode)->flags & HL_BCAST) || ins->operand_count != 2)
    return false;
  int left_rank = hl_stretch_source(ins->operands[0])->shape->rank;
  int right_rank = hl_stretch_source(ins->operands[1])->shape->rank;
  if (left_rank == right_rank || left_rank == 0 || right_rank == 0)
    return false;
  mark_varying(ins, 0, left);
  mark_varying(ins, 1, right);
  for (int i = 0; i < ins->shape->rank; i++)
    for (int k = 0; k < ins->shape->rank; k++)
      if (left[i] && !right[i] && right[k] && !left[k] &&
          ins->shape->dimensions[i] == ins->shape->dimensions[k])
        return true;
  return false;
}
