/* fuzz_loops - any bytes as text of the loop IR: read, checked, printed, read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/loop.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  hl_arena *arena = hl_arena_new(NULL);
  hl_source *source = hl_source_new(arena, "fuzz.loops", (const char *)data, size);
  hl_diag diag = {.arena = arena, .source = source};
  hl_program *program = hl_program_parse(arena, source, &diag);
  if (program && !hl_program_check(arena, program)) {
    hl_str out = {.arena = arena};
    hl_program_print(&out, program);
  }
  hl_arena_free(arena);
  return 0;
}
