/* lower_region.h - values that folds carry, and what regions make of them; shared by windows, sort,
 * scatter and their kind. */
#ifndef HL_LOWER_REGION_H
#define HL_LOWER_REGION_H

#include "lower_complex.h"

/* The nodes of values: re, then im where there is one. Returns how many; nodes has room for two a
 * value. */
int hl_value_nodes(int count, const hl_value *values, hl_node **nodes);
/* The carried values of a fold, and its results, taken apart as `like` is. */
void hl_carried_values(hl_open_loop *loop, int count, const hl_value *like, hl_value *values);
void hl_result_values(hl_puller *p, hl_node *loop, int count, const hl_value *like,
                      hl_value *values);

/* A fold over values in the current scope; hl_close_fold takes the next ones and gives the results.
 */
hl_open_loop hl_open_value_fold(hl_puller *p, hl_scope *in, int dim_count, const int64_t *extents,
                                int count, const hl_value *inits, hl_index *vars);
void hl_close_value_fold(hl_puller *p, hl_open_loop *loop, int count, const hl_value *next,
                         hl_value *results);

/* Loops over a whole shape in the current scope, dimensions of size 1 left out; returns how many
 * are to be closed. */
int hl_open_all(hl_puller *p, const hl_shape *shape, hl_index *index);
/* The same over all dimensions but `dim`, whose index is left to the caller. */
int hl_open_lines(hl_puller *p, const hl_shape *shape, int dim, hl_index *index);
void hl_close_all(hl_puller *p, int opened);
/* Iterations that follow each other, for what they do to memory. */
hl_open_loop hl_open_sequence(hl_puller *p, int dim_count, const int64_t *extents, hl_index *vars);
void hl_close_sequence(hl_puller *p, hl_open_loop *loop);

/* pred ? x : y; pred NULL: always x. */
hl_value hl_put_either(hl_puller *p, hl_node *pred, hl_value x, hl_value y);
/* Each part as the wide type of its own (f32 for narrow floats). */
hl_value hl_put_widened(hl_puller *p, hl_value x);
/* x and y, either may be NULL: always true. */
hl_node *hl_put_both(hl_puller *p, hl_node *x, hl_node *y);

/* Elements of an operand where `inside` holds (NULL: always); elsewhere any value, and memory is
 * not touched. */
hl_value hl_pull_if(hl_puller *p, hl_node *inside, const hl_instruction *operand, int leaf,
                    const hl_index *index);

/* The type that a region of one float add or multiply accumulates in, and its opcode; HL_OP_COUNT
 * for all others (rules 6, 7). */
hl_opcode hl_sum_or_product(const hl_computation *region, hl_element_type type);

/* Whether all elements are one real constant that is no NaN. */
bool hl_is_plain_number(const hl_instruction *ins);

#endif
