/* lower_radix.h - sorting by the digits of a key, where the comparator compares one. */
#ifndef HL_LOWER_RADIX_H
#define HL_LOWER_RADIX_H

#include "lower_sort.h"

/* How the records of a sort are told apart by digits. */
typedef struct hl_radix {
  const hl_instruction *key; /* of the comparator: an operand of its comparison */
  bool is_total_order;       /* key is a float */
  bool is_descending, is_signed;
  int key_bits, digit_bits, passes;
  hl_buffer *counts; /* 2^digit_bits a pass */
} hl_radix;

/* Whether the comparator is one strict comparison of the same function of both records in a total
 * order, and the line long enough that counting pays; then how. */
bool hl_radix_plan(hl_puller *p, const hl_sorter *sorter, hl_radix *radix);
/* As hl_put_merge_sort. */
hl_index hl_put_radix_sort(hl_puller *p, const hl_sorter *sorter, const hl_radix *radix);

#endif
