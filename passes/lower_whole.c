/* lower_whole.c - the table of builders, from the stage and family columns of ops.def. */
#include "lower_whole.h"

hl_build_fn *hl_build_of(hl_opcode opcode)
{
#define HL_BUILD_ENTRY_code(family) NULL
#define HL_BUILD_ENTRY_whole(family) hl_build_##family
#define HL_BUILD_ENTRY_expanded(family) NULL
#define HL_BUILD_ENTRY_later(family) NULL
#define HL_BUILD_ENTRY_refused(family) NULL
  static hl_build_fn *const table[HL_OP_COUNT] = {
#define HL_OP(id, name, min, max, types, flags, stage, infer, family, ...) \
  [HL_OP_##id] = HL_BUILD_ENTRY_##stage(family),
#include "../ir/ops.def"
  };
  return table[opcode];
}
