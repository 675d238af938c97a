/* comparator - what a sort's comparator compares, when that is the keys of records one after the
 * other.
 */
#ifndef HL_COMPARATOR_H
#define HL_COMPARATOR_H

#include "../ir/module.h"

enum { HL_MAX_SORT_KEYS = 4 };

typedef struct hl_sort_key {
  const hl_instruction *value; /* of the region: the key of one of the two records */
  int side;                    /* which: 0 the first one, 1 the second */
  bool is_descending;
  bool is_total; /* floats by their total order; else -0 equals +0, and a NaN has no place */
} hl_sort_key;

typedef struct hl_sort_keys {
  hl_sort_key keys[HL_MAX_SORT_KEYS]; /* the most significant one first */
  int count;
} hl_sort_keys;

/* Whether the region says that the first record's keys stand before those of the second. Its instructions' scratch
 * is used. */
bool hl_comparator_keys(hl_arena *arena, const hl_computation *region, hl_sort_keys *keys);

#endif
