/* lower_window.h - windows over arrays, as reduce-window, select-and-scatter and convolution lay
 * them (spec 8.4). */
#ifndef HL_LOWER_WINDOW_H
#define HL_LOWER_WINDOW_H

#include "lower_region.h"

/* Dimension `dim` of the instruction's window; without the attribute a single point. */
hl_window_dim hl_window_dim_of(const hl_instruction *ins, int dim);
/* Whether output i of the dimension is operand element i, alone. */
bool hl_window_is_point(const hl_window_dim *w);

/* What lies under a tap. */
typedef struct hl_tap_place {
  hl_index at;     /* the place in the operand's dimension where it is real */
  hl_node *inside; /* not in the padding; NULL: always so */
  hl_node *hit;    /* no hole of the dilated base; NULL: always so */
  bool is_never;   /* always padding */
} hl_tap_place;
hl_tap_place hl_put_tap(hl_puller *p, const hl_window_dim *w, int64_t size, hl_index output,
                        hl_index tap);

/* The real elements under a window: at gets their index, the result whether there is one (NULL:
 * always; *never: never). */
hl_node *hl_window_real(hl_puller *p, const hl_instruction *ins, const hl_shape *shape,
                        const hl_index *output, const hl_index *taps, hl_index *at, bool *never);

/* A fold over the taps of a window, row-major; taps get one index a dimension. */
hl_open_loop hl_open_window(hl_puller *p, const hl_instruction *ins, hl_scope *in, int rank,
                            int count, const hl_value *inits, hl_index *taps);

/* Whether all outputs are prefixes (or suffixes) of lines that can be had in linear time, and along
 * which dimension (lower_prefix.c). */
typedef struct hl_prefix {
  int dim;
  bool is_reversed, is_exclusive; /* exclusive: an output has the elements before it */
  bool is_blocked;                /* by rule 7 */
} hl_prefix;
bool hl_is_prefix_window(const hl_instruction *ins, hl_prefix *prefix);

#endif
