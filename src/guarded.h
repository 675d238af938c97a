/* guarded - arrays between pages that nobody may touch, at the least alignment that the ABI allows, with canaries in what is left
 * of their own pages. */
#ifndef HL_GUARDED_H
#define HL_GUARDED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct hl_guarded {
  unsigned char *map, *data; /* NULL: there is none */
  size_t map_bytes, bytes;
} hl_guarded;

/* The array ends where a page begins that cannot be touched, or less than `align` before it; with at_start it begins where one
 * ends. Filled with garbage. data is NULL when there is no memory. */
hl_guarded hl_guarded_new(size_t bytes, size_t align, bool at_start);
/* Whether the bytes around the array are as they were. */
bool hl_guarded_is_whole(const hl_guarded *g);
void hl_guarded_free(hl_guarded *g);

#endif
