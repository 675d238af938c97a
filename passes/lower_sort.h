/* lower_sort.h - the ways to sort and select that sort and topk share. */
#ifndef HL_LOWER_SORT_H
#define HL_LOWER_SORT_H

#include "comparator.h"
#include "lower_region.h"

/* A line under work: records of `count` values. Each scratch array has two halves of n elements;
 * the first holds the line. */
typedef struct hl_sorter {
  const hl_instruction *ins;
  int64_t n, keep; /* only the first `keep` records matter in the end */
  int count;
  hl_buffer **scratch;
  /* Whether the right record comes before the left one: pred. */
  hl_node *(*comes_before)(hl_puller *p, const struct hl_sorter *s, const hl_value *right,
                           const hl_value *left);
} hl_sorter;

/* Sorts as numerics.md rule 11 says; gives where the sorted line begins in each scratch array. */
hl_index hl_put_merge_sort(hl_puller *p, const hl_sorter *sorter);
/* A sort whose comparator compares keys, digit by digit where that pays; false: nothing was put. */
bool hl_put_radix_sort(hl_puller *p, const hl_instruction *ins);
/* Room for the line in scratch[i]. */
hl_buffer *hl_new_sort_scratch(hl_puller *p, const hl_sorter *sorter, const char *what,
                               hl_element_type type);

/* topk of a line: the k largest keys, equal ones in the order of their places. */
typedef struct hl_topk {
  const hl_instruction *ins;
  int64_t n, k;
  hl_element_type type; /* of keys */
  hl_index *at;         /* the line; its last index is set on the way */
  hl_node *(*key)(hl_puller *p, const struct hl_topk *top, hl_index i);
} hl_topk;

/* Where a buffer holds the places, s32, of the elements chosen. */
typedef struct hl_selected {
  hl_buffer *places;
  hl_index start;
} hl_selected;

/* Whether a line holds so many more than k that it is not worth to sort. */
bool hl_selects_few(const hl_topk *top);
hl_selected hl_put_selection(hl_puller *p, const hl_topk *top);

#endif
