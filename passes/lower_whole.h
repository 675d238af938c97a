/* lower_whole.h - instructions that a kernel of their own computes at once: sort, scatter and their
 * kind.
 *
 * A builder writes all elements of all leaves of the instruction into
 * p->leaves[ins->scratch][leaf]; it opens its loops itself (hl_open_for, hl_open_fold, ...) and
 * pulls elements of the operands as often as it needs them. Everything it writes may be read again
 * (hl_put_load): the parameter becomes inout.
 */
#ifndef HL_LOWER_WHOLE_H
#define HL_LOWER_WHOLE_H

#include "lower_kernel.h"

typedef void hl_build_fn(hl_puller *p, const hl_instruction *ins);
#define HL_BUILD_ROW_code(family)
#define HL_BUILD_ROW_whole(family) hl_build_fn hl_build_##family;
#define HL_BUILD_ROW_expanded(family)
#define HL_BUILD_ROW_refused(family)
#define HL_OP(id, name, min, max, types, flags, stage, infer, family, ...)                         \
  HL_BUILD_ROW_##stage(family)
#include "../ir/ops.def"
#undef HL_BUILD_ROW_code
#undef HL_BUILD_ROW_whole
#undef HL_BUILD_ROW_expanded
#undef HL_BUILD_ROW_refused

/* The other form of some instructions whose elements are pulled. */
hl_build_fn hl_build_prefix;

/* The builder of an instruction, NULL when its elements are pulled. */
hl_build_fn *hl_build_of(const hl_instruction *ins);

#endif
