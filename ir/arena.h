/* arena - memory that is freed in one call, and the guard that out-of-memory jumps to. */
#ifndef HL_ARENA_H
#define HL_ARENA_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where an allocation that fails goes: a public entry sets `env` with setjmp and owns what it must
 * free. Nothing between the entry and the allocation may hold memory that the entry cannot reach.
 */
typedef struct hl_guard {
  jmp_buf env;
} hl_guard;

typedef struct hl_arena hl_arena;

/* A new empty arena; allocations that fail longjmp to guard->env with value 1. With guard NULL
 * (tests, the command itself) they end the process through abort. Returns NULL when out of memory.
 */
hl_arena *hl_arena_new(hl_guard *guard);

/* Frees everything allocated from the arena; NULL is allowed. */
void hl_arena_free(hl_arena *arena);

/* Drops all allocations but keeps one block for reuse. */
void hl_arena_reset(hl_arena *arena);

/* `bytes` zeroed bytes aligned to 16; large blocks (>= 64 KiB) are aligned to 64. Never NULL. */
void *hl_arena_alloc(hl_arena *arena, size_t bytes);

/* `count` zeroed elements; an overflow of count * size is an allocation failure. */
void *hl_arena_array(hl_arena *arena, size_t count, size_t size);

/* Grows an array that doubles: returns `old` or a larger copy with room for at least `need`
 * elements; *capacity is kept. */
void *hl_arena_grow(hl_arena *arena, void *old, size_t *capacity, size_t need, size_t size);

/* Copies. */
char *hl_arena_strndup(hl_arena *arena, const char *text, size_t length);
void *hl_arena_memdup(hl_arena *arena, const void *data, size_t bytes);
/* Formatted text in the arena (printf rules). */
char *hl_arena_printf(hl_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Bytes handed out so far (for --stats and limits). */
size_t hl_arena_bytes(const hl_arena *arena);

#define HL_NEW(arena, type) ((type *)hl_arena_alloc((arena), sizeof(type)))
#define HL_ARRAY(arena, count, type)                                                               \
  ((type *)hl_arena_array((arena), (size_t)(count), sizeof(type)))

#endif
