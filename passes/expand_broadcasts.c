/* expand_broadcasts - every implicit stretch becomes a reshape and a broadcast: behind it stands
 * plain HLO.
 *
 * Requires: a verified module.
 * Keeps:    every value; names of all instructions that were there.
 * Cost:     one walk.
 *
 * The lowering is that of the language (docs/language.md, implicit broadcasting): an operand
 * dimension i sits on result dimension broadcast_dimensions[i], or on i at equal rank; its 1s that
 * must grow are dropped by a reshape, the others are broadcast.
 */
#include "rewrite.h"

#include "../ir/limits.h"

#include <string.h>

/* positions: where each dimension of the operand sits in the result. */
static hl_instruction *stretch(hl_instruction *user, hl_instruction *operand,
                               const int64_t *positions)
{
  const hl_shape *in = operand->shape, *out = user->shape;
  int64_t kept[HL_LIMIT_RANK], kept_at[HL_LIMIT_RANK];
  int count = 0;
  for (int i = 0; i < in->rank; i++) {
    if (in->dimensions[i] != out->dimensions[positions[i]])
      continue;
    kept[count] = in->dimensions[i];
    kept_at[count++] = positions[i];
  }
  hl_instruction *dense = hl_make_reshape(user, operand, count, kept);
  return hl_make_broadcast(user, dense, out->rank, out->dimensions, kept_at);
}

static bool expand(hl_instruction *ins)
{
  hl_ints written = hl_attr_ints(ins, HL_ATTR_BROADCAST_DIMENSIONS);
  int64_t identity[HL_LIMIT_RANK];
  for (int i = 0; i < HL_LIMIT_RANK; i++)
    identity[i] = i;
  bool changed = hl_attr_find(ins, HL_ATTR_BROADCAST_DIMENSIONS) != NULL;
  for (int i = 0; i < ins->operand_count; i++) {
    hl_instruction *operand = ins->operands[i];
    if (hl_shape_same_dimensions(operand->shape, ins->shape))
      continue;
    bool is_placed = operand->shape->rank < ins->shape->rank;
    hl_replace_operand(ins, i, stretch(ins, operand, is_placed ? written.values : identity));
    changed = true;
  }
  hl_instruction_remove_attr(ins, HL_ATTR_BROADCAST_DIMENSIONS);
  return changed;
}

bool hl_pass_expand_broadcasts(hl_module *module, hl_pass_context *cx)
{
  (void)cx;
  bool changed = false;
  for (hl_computation *c = module->first; c; c = c->next)
    for (hl_instruction *ins = c->first; ins; ins = ins->next) {
      bool can_stretch = hl_op_info_of(ins->opcode)->flags & HL_BCAST ||
                         ins->opcode == HL_OP_SELECT || ins->opcode == HL_OP_CLAMP;
      if (can_stretch)
        changed = expand(ins) || changed;
    }
  return changed;
}
