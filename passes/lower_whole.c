/* lower_whole.c - the table of builders, from the stage and family columns of ops.def. */
#include "lower_whole.h"

#include "lower_window.h"

static hl_build_fn *build_of_opcode(hl_opcode opcode)
{
#define HL_BUILD_ENTRY_code(family) NULL
#define HL_BUILD_ENTRY_whole(family) hl_build_##family
#define HL_BUILD_ENTRY_expanded(family) NULL
#define HL_BUILD_ENTRY_later(family) NULL
#define HL_BUILD_ENTRY_refused(family) NULL
  static hl_build_fn *const table[HL_OP_COUNT] = {
#define HL_OP(id, name, min, max, types, flags, stage, infer, family, ...)                         \
  [HL_OP_##id] = HL_BUILD_ENTRY_##stage(family),
#include "../ir/ops.def"
  };
  return table[opcode];
}

hl_build_fn *hl_build_of(const hl_instruction *ins)
{
  hl_prefix prefix;
  if (ins->opcode == HL_OP_REDUCE_WINDOW && hl_is_prefix_window(ins, &prefix))
    return hl_build_prefix;
  return build_of_opcode(ins->opcode);
}
