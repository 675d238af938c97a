/* arena - memory that is freed in one call: bump allocation in blocks that double, large requests
 * in blocks of their own.
 *
 * With HL_ARENA_DEBUG every request is a block of its own, so that the address sanitizer sees
 * overruns.
 */
#include "arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ALIGNMENT = 16,
  LARGE_ALIGNMENT = 64,
  LARGE = 64 * 1024,
  FIRST_BLOCK = 8 * 1024,
  LAST_BLOCK = 1024 * 1024
};

#ifdef HL_ARENA_DEBUG
enum { IS_DEBUG = 1 };
#else
enum { IS_DEBUG = 0 };
#endif

typedef struct block {
  struct block *next;
  size_t size, used; /* of the bytes behind this head; all that are not used are zero */
} block;

enum { HEAD = (sizeof(block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };

struct hl_arena {
  hl_guard *guard;
  block *shared;  /* bump blocks, the current one first */
  block *singles; /* one request each */
  size_t next_size;
  size_t bytes;
};

static char *block_data(block *b)
{
  return (char *)b + HEAD;
}

_Noreturn static void fail(const hl_arena *arena)
{
  if (!arena->guard)
    abort();
  longjmp(arena->guard->env, 1);
}

hl_arena *hl_arena_new(hl_guard *guard)
{
  hl_arena *arena = calloc(1, sizeof *arena);
  if (!arena)
    return NULL;
  arena->guard = guard;
  arena->next_size = FIRST_BLOCK;
  return arena;
}

static void free_blocks(block *b)
{
  while (b) {
    block *next = b->next;
    free(b);
    b = next;
  }
}

void hl_arena_free(hl_arena *arena)
{
  if (!arena)
    return;
  free_blocks(arena->shared);
  free_blocks(arena->singles);
  free(arena);
}

void hl_arena_reset(hl_arena *arena)
{
  free_blocks(arena->singles);
  arena->singles = NULL;
  arena->bytes = 0;
  block *kept = arena->shared;
  if (!kept)
    return;
  free_blocks(kept->next);
  kept->next = NULL;
  memset(block_data(kept), 0, kept->used);
  kept->used = 0;
}

static block *add_block(hl_arena *arena, block **list, size_t size)
{
  block *b = size > SIZE_MAX / 2 ? NULL : calloc(1, HEAD + size);
  if (!b)
    fail(arena);
  b->size = size;
  b->next = *list;
  *list = b;
  return b;
}

static void *alloc_single(hl_arena *arena, size_t bytes)
{
  size_t slack = bytes >= LARGE ? LARGE_ALIGNMENT : 0;
  if (bytes > SIZE_MAX / 4)
    fail(arena);
  block *b = add_block(arena, &arena->singles, bytes + slack);
  uintptr_t data = (uintptr_t)block_data(b);
  size_t shift = slack ? (LARGE_ALIGNMENT - data % LARGE_ALIGNMENT) % LARGE_ALIGNMENT : 0;
  return block_data(b) + shift;
}

static void *alloc_shared(hl_arena *arena, size_t bytes)
{
  block *b = arena->shared;
  if (!b || b->size - b->used < bytes) {
    while (arena->next_size < bytes)
      arena->next_size *= 2;
    b = add_block(arena, &arena->shared, arena->next_size);
    if (arena->next_size < LAST_BLOCK)
      arena->next_size *= 2;
  }
  void *data = block_data(b) + b->used;
  b->used += bytes;
  return data;
}

void *hl_arena_alloc(hl_arena *arena, size_t bytes)
{
  arena->bytes += bytes;
  if (IS_DEBUG || bytes >= LARGE)
    return alloc_single(arena, bytes);
  return alloc_shared(arena, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

void *hl_arena_array(hl_arena *arena, size_t count, size_t size)
{
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes))
    fail(arena);
  return hl_arena_alloc(arena, bytes);
}

void *hl_arena_grow(hl_arena *arena, void *old, size_t *capacity, size_t need, size_t size)
{
  if (need <= *capacity)
    return old;
  size_t wanted = *capacity < 4 ? 4 : *capacity;
  while (wanted < need)
    if (__builtin_mul_overflow(wanted, (size_t)2, &wanted))
      fail(arena);
  void *grown = hl_arena_array(arena, wanted, size);
  if (old)
    memcpy(grown, old, *capacity * size);
  *capacity = wanted;
  return grown;
}

char *hl_arena_strndup(hl_arena *arena, const char *text, size_t length)
{
  char *copy = hl_arena_alloc(arena, length + 1);
  if (length)
    memcpy(copy, text, length);
  return copy;
}

void *hl_arena_memdup(hl_arena *arena, const void *data, size_t bytes)
{
  void *copy = hl_arena_alloc(arena, bytes);
  if (bytes)
    memcpy(copy, data, bytes);
  return copy;
}

char *hl_arena_printf(hl_arena *arena, const char *format, ...)
{
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (length < 0) {
    va_end(again);
    fail(arena);
  }
  char *text = hl_arena_alloc(arena, (size_t)length + 1);
  vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

size_t hl_arena_bytes(const hl_arena *arena)
{
  return arena->bytes;
}
