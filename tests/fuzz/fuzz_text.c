/* fuzz_text - any bytes as HLO text: read, verified, printed, read again. What was accepted prints as a text that is accepted and
 * prints the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/parse.h"
#include "ir/print.h"
#include "ir/verify.h"

static const char *round_trip(hl_arena *arena, const char *text, size_t size, size_t *length)
{
  hl_source *source = hl_source_new(arena, "fuzz.hlo", text, size);
  hl_diag diag = {.arena = arena, .source = source};
  hl_module *module = hl_parse(arena, source, &diag);
  if (!module || !hl_verify(module, (hl_verify_options){0}, &diag)) {
    hl_str shown = {.arena = arena};
    hl_diag_render(&diag, (hl_render_options){0}, &shown);
    hl_diag_render(&diag, (hl_render_options){.json = true}, &shown);
    if (!diag.error_count && !diag.suppressed)
      abort(); /* refused without a word */
    return NULL;
  }
  hl_check_compilable(module, &diag);
  hl_str out = {.arena = arena};
  hl_module_print(&out, module);
  *length = out.length;
  return hl_str_text(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  hl_arena *arena = hl_arena_new(NULL);
  size_t length, again_length;
  const char *first = round_trip(arena, (const char *)data, size, &length);
  if (first) {
    const char *again = round_trip(arena, first, length, &again_length);
    if (!again || length != again_length || memcmp(first, again, length) != 0)
      abort();
  }
  hl_arena_free(arena);
  return 0;
}
