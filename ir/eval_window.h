/* eval_window - windows over arrays, as reduce-window, select-and-scatter and convolution lay them
 * (spec 8.4). */
#ifndef HL_EVAL_WINDOW_H
#define HL_EVAL_WINDOW_H

#include "eval_internal.h"

typedef struct hl_window {
  int rank;
  int64_t taps; /* positions of the window */
  int64_t sizes[HL_LIMIT_RANK];
  hl_window_dim dims[HL_LIMIT_RANK];
} hl_window;

/* The instruction's window; without the attribute a window of single points. */
hl_window hl_window_of(const hl_instruction *ins, int rank);

typedef enum hl_tap { HL_TAP_REAL, HL_TAP_PADDING, HL_TAP_HOLE } hl_tap;

/* What lies under a tap in one dimension of n elements; *input is its position when it is real. */
hl_tap hl_window_tap(const hl_window_dim *dim, int64_t n, int64_t output, int64_t tap,
                     int64_t *input);

#endif
