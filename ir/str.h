/* str - a growing text in an arena, and a hash map from names to pointers. */
#ifndef HL_STR_H
#define HL_STR_H

#include "arena.h"

typedef struct hl_str {
  hl_arena *arena;
  char *text; /* always terminated once anything was added; NULL before */
  size_t length, capacity;
} hl_str;

void hl_str_add(hl_str *s, const char *text);
void hl_str_add_n(hl_str *s, const char *text, size_t length);
void hl_str_add_char(hl_str *s, char c);
void hl_str_printf(hl_str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text so far, "" if nothing was added. */
const char *hl_str_text(const hl_str *s);

/* Names to pointers; keys are not copied and must live as long as the map. */
typedef struct hl_map {
  hl_arena *arena;
  struct hl_map_entry *entries;
  size_t count, capacity;
} hl_map;

void *hl_map_get(const hl_map *map, const char *key, size_t length);
/* Sets key to value, replaces an old one; value must not be NULL. */
void hl_map_set(hl_map *map, const char *key, size_t length, void *value);

/* Damerau-Levenshtein distance, capped at `limit` + 1: for did-you-mean. */
size_t hl_edit_distance(const char *a, const char *b, size_t limit);

#endif
