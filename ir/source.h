/* source - the text of one input and its line map. */
#ifndef HL_SOURCE_H
#define HL_SOURCE_H

#include "arena.h"

/* Half-open range of byte offsets; begin == end == HL_NO_OFFSET: no place (made by a pass). */
typedef struct hl_range {
  uint32_t begin, end;
} hl_range;

#define HL_NO_OFFSET UINT32_MAX
#define HL_NO_RANGE ((hl_range){HL_NO_OFFSET, HL_NO_OFFSET})

typedef struct hl_source {
  const char *name; /* as shown in messages */
  const char *text; /* `size` bytes followed by two NULs (flex scans in place) */
  size_t size;
  uint32_t *line_starts;
  size_t line_count;
} hl_source;

/* Makes a source over a copy of text in the arena. */
hl_source *hl_source_new(hl_arena *arena, const char *name, const char *text, size_t size);

typedef struct hl_position {
  uint32_t line, column; /* from 1, columns in bytes */
} hl_position;

/* Offset `size` is the line after the last newline, column 1 (spec section 5a). */
hl_position hl_source_position(const hl_source *source, uint32_t offset);

/* The line's text without its newline; *length its bytes. */
const char *hl_source_line(const hl_source *source, uint32_t line, size_t *length);

#endif
