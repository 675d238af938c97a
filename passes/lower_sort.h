/* lower_sort.h - the merge sort that sort and topk share. */
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

#endif
