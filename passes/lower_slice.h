/* lower_slice.h - windows whose place is known at run time only. */
#ifndef HL_LOWER_SLICE_H
#define HL_LOWER_SLICE_H

#include "lower_kernel.h"

/* An integer value clamped to 0 .. most, as an index. */
hl_index hl_put_clamped(hl_puller *p, hl_node *x, int64_t most);
/* The place of the window of a dynamic-slice (first: 1) or dynamic-update-slice (2), whose start
 * indices begin at operand `first`. */
void hl_put_start(hl_puller *p, const hl_instruction *ins, int first, const hl_shape *window,
                  hl_index *start);

#endif
