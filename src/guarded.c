/* guarded - mmap and mprotect around arrays. */
#include "guarded.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CANARY = 0xa7, GARBAGE = 0xff };

hl_guarded hl_guarded_new(size_t bytes, size_t align, bool at_start)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t inner = (bytes + page - 1) / page * page;
  hl_guarded g = {.map_bytes = inner + 2 * page, .bytes = bytes};
  void *map = mmap(NULL, g.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED)
    return (hl_guarded){.map = NULL};
  g.map = map;
  if (inner && mprotect(g.map + page, inner, PROT_READ | PROT_WRITE)) {
    munmap(map, g.map_bytes);
    return (hl_guarded){.map = NULL};
  }
  size_t before = at_start ? 0 : (inner - bytes) / align * align;
  g.data = g.map + page + before;
  memset(g.map + page, CANARY, inner);
  memset(g.data, GARBAGE, bytes);
  return g;
}

bool hl_guarded_is_whole(const hl_guarded *g)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const unsigned char *end = g->map + g->map_bytes - page;
  for (const unsigned char *p = g->map + page; p < end; p++)
    if ((p < g->data || p >= g->data + g->bytes) && *p != CANARY)
      return false;
  return true;
}

void hl_guarded_free(hl_guarded *g)
{
  if (g->map)
    munmap(g->map, g->map_bytes);
  *g = (hl_guarded){.map = NULL};
}
