/* parse - HLO text to module: the life of one reading. */
#include "parser.h"
#include "hlo.tab.h"
#include "../ir/limits.h"

#include <string.h>

/* What faulty definitions and shapes stand for. */
static void make_poison(hl_parser *p)
{
  p->bad_shape = hl_shape_scalar(p->arena, HL_PRED);
  p->poison = HL_NEW(p->arena, hl_instruction);
}

/* What no part of the grammar could say better: the text as a whole is no HLO. */
static bool check_text(const hl_source *source, hl_diag *diag)
{
  if (source->size > HL_LIMIT_TEXT_BYTES - 2)
    return hl_error(diag, HL_NO_RANGE, HL_RULE_LIMIT, "the text is longer than %u bytes",
                    HL_LIMIT_TEXT_BYTES - 2);
  const char *nul = source->size ? memchr(source->text, '\0', source->size) : NULL;
  uint32_t place = nul ? (uint32_t)(nul - source->text) : 0;
  return !nul || hl_error(diag, (hl_range){place, place + 1}, HL_RULE_LEX_NUL,
                          "a NUL byte: this is no text");
}

hl_module *hl_parse_partial(hl_arena *arena, const hl_source *source, hl_diag *diag, bool *is_whole)
{
  *is_whole = false;
  if (!check_text(source, diag))
    return NULL;
  hl_parser *p = HL_NEW(arena, hl_parser);
  p->arena = arena;
  p->source = source;
  p->text = source->text;
  p->size = (uint32_t)source->size;
  p->diag = diag;
  p->module = hl_module_new(arena, NULL);
  p->module->source = source;
  p->computations.arena = p->module_attributes.arena = arena;
  p->synced_at = p->frame_tables = HL_NO_OFFSET;
  p->open_comment = p->open_string[0] = p->open_string[1] = HL_NO_OFFSET;
  make_poison(p);
  int errors = diag->error_count;
  bool is_read = hl_scan_open(p) && hl_yyparse(p->scanner, p) == 0;
  bool is_finished = hl_finish_module(p);
  *is_whole = is_read && is_finished && diag->error_count == errors;
  return p->module;
}

hl_module *hl_parse(hl_arena *arena, const hl_source *source, hl_diag *diag)
{
  bool is_whole;
  hl_module *module = hl_parse_partial(arena, source, diag, &is_whole);
  return is_whole ? module : NULL;
}
