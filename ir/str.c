/* str - a growing text in an arena, a hash map from names to pointers, and the distance between two
 * names. */
#include "str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Room for `more` bytes and the terminator behind the text. */
static char *reserve(hl_str *s, size_t more)
{
  s->text = hl_arena_grow(s->arena, s->text, &s->capacity, s->length + more + 1, 1);
  return s->text + s->length;
}

void hl_str_add_n(hl_str *s, const char *text, size_t length)
{
  char *end = reserve(s, length);
  if (length)
    memcpy(end, text, length);
  end[length] = '\0';
  s->length += length;
}

void hl_str_add(hl_str *s, const char *text)
{
  hl_str_add_n(s, text, strlen(text));
}

void hl_str_add_char(hl_str *s, char c)
{
  hl_str_add_n(s, &c, 1);
}

void hl_str_printf(hl_str *s, const char *format, ...)
{
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (length > 0) {
    vsnprintf(reserve(s, (size_t)length), (size_t)length + 1, format, again);
    s->length += (size_t)length;
  }
  va_end(again);
}

const char *hl_str_text(const hl_str *s)
{
  return s->text ? s->text : "";
}

struct hl_map_entry {
  const char *key;
  size_t length;
  uint64_t hash;
  void *value; /* NULL: free */
};

/* FNV-1a; the arena's address seeds it, so that no input can be made in advance that fills one
 * chain. */
static uint64_t hash_of(const hl_map *map, const char *key, size_t length)
{
  uint64_t hash = UINT64_C(14695981039346656037) ^ (uint64_t)(uintptr_t)map->arena;
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)key[i]) * UINT64_C(1099511628211);
  return hash ^ hash >> 29;
}

/* The entry of the key, or the free one where it belongs; capacity is a power of two and never
 * full. */
static struct hl_map_entry *find(const hl_map *map, const char *key, size_t length, uint64_t hash)
{
  for (size_t i = (size_t)hash & (map->capacity - 1);; i = (i + 1) & (map->capacity - 1)) {
    struct hl_map_entry *e = &map->entries[i];
    if (!e->value || (e->hash == hash && e->length == length && !memcmp(e->key, key, length)))
      return e;
  }
}

void *hl_map_get(const hl_map *map, const char *key, size_t length)
{
  return map->count ? find(map, key, length, hash_of(map, key, length))->value : NULL;
}

static void rehash(hl_map *map)
{
  hl_map old = *map;
  map->capacity = old.capacity ? old.capacity * 2 : 16;
  map->entries = HL_ARRAY(map->arena, map->capacity, struct hl_map_entry);
  for (size_t i = 0; i < old.capacity; i++) {
    const struct hl_map_entry *e = &old.entries[i];
    if (e->value)
      *find(map, e->key, e->length, e->hash) = *e;
  }
}

void hl_map_set(hl_map *map, const char *key, size_t length, void *value)
{
  if ((map->count + 1) * 4 > map->capacity * 3)
    rehash(map);
  uint64_t hash = hash_of(map, key, length);
  struct hl_map_entry *e = find(map, key, length, hash);
  map->count += !e->value;
  *e = (struct hl_map_entry){key, length, hash, value};
}

enum { LONGEST = 63 };

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

size_t hl_edit_distance(const char *a, const char *b, size_t limit)
{
  size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST || m > LONGEST || n > m + limit || m > n + limit)
    return limit + 1;
  size_t rows[3][LONGEST +
                 1]; /* rows[i % 3][j]: distance of the first i bytes of a to the first j of b */
  for (size_t j = 0; j <= m; j++)
    rows[0][j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = smaller(change, smaller(above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = smaller(row[j], above2[j - 2] + 1);
    }
  }
  return smaller(rows[n % 3][m], limit + 1);
}
