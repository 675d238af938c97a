/* source - the text of one input and its line map. */
#include "source.h"

#include <string.h>

static size_t count_lines(const char *text, size_t size)
{
  size_t count = 1;
  for (const char *p = text, *end = text + size; (p = memchr(p, '\n', (size_t)(end - p))); p++)
    count++;
  return count;
}

static void find_lines(hl_source *source)
{
  const char *end = source->text + source->size;
  size_t line = 1;
  for (const char *p = source->text; (p = memchr(p, '\n', (size_t)(end - p))); p++)
    source->line_starts[line++] = (uint32_t)(p - source->text) + 1;
}

hl_source *hl_source_new(hl_arena *arena, const char *name, const char *text, size_t size)
{
  char *copy = hl_arena_array(arena, size + 2, 1);
  if (size)
    memcpy(copy, text, size);
  hl_source *source = HL_NEW(arena, hl_source);
  source->name = hl_arena_strndup(arena, name, strlen(name));
  source->text = copy;
  source->size = size;
  source->line_count = count_lines(copy, size);
  source->line_starts = HL_ARRAY(arena, source->line_count, uint32_t);
  find_lines(source);
  return source;
}

/* The last line that starts at or before the offset, from 0. */
static size_t line_of(const hl_source *source, uint32_t offset)
{
  size_t low = 0, high = source->line_count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (source->line_starts[middle] <= offset)
      low = middle;
    else
      high = middle;
  }
  return low;
}

hl_position hl_source_position(const hl_source *source, uint32_t offset)
{
  if (offset >= source->size)
    return (hl_position){(uint32_t)source->line_count, 1};
  size_t line = line_of(source, offset);
  return (hl_position){(uint32_t)line + 1, offset - source->line_starts[line] + 1};
}

const char *hl_source_line(const hl_source *source, uint32_t line, size_t *length)
{
  size_t begin = source->line_starts[line - 1];
  size_t end = line < source->line_count ? source->line_starts[line] - 1 : source->size;
  if (end > begin && source->text[end - 1] == '\r')
    end--;
  *length = end - begin;
  return source->text + begin;
}
