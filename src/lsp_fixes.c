/* lsp_fixes - the repairs that help lines of diagnostics name, as edits: a missing or wrong
 * broadcast_dimensions, a misspelt word, a wrong shape. */
#include "lsp_server.h"

#include <string.h>

/* An edit in words: what goes in the place of a range. */
typedef struct fix {
  hl_range range;
  const char *text, *title;
} fix;

/* What stands between two marks of the help line, in arena memory; NULL: they are not there. */
static const char *between(const hl_document *d, const char *help, const char *before, const char *after)
{
  const char *begin = strstr(help, before);
  const char *end = begin ? strstr(begin + strlen(before), after) : NULL;
  if (!end)
    return NULL;
  begin += strlen(before);
  return hl_arena_strndup(d->arena, begin, (size_t)(end - begin));
}

static const hl_instruction *instruction_at(const hl_document *d, uint32_t offset)
{
  for (const hl_computation *c = d->module ? d->module->first : NULL; c; c = c->next)
    for (const hl_instruction *ins = c->first; ins; ins = ins->next)
      if (ins->places && ins->places->name.begin <= offset && offset <= ins->places->end.end)
        return ins;
  return NULL;
}

/* "write add(x, b), broadcast_dimensions={1}", and nothing else fits. */
static bool fix_broadcast(const hl_document *d, const hl_diagnostic *g, fix *out)
{
  const char *list = between(d, g->help, ", broadcast_dimensions={", "}");
  const hl_instruction *ins = list ? instruction_at(d, g->range.begin) : NULL;
  if (!ins)
    return false;
  const char *text = hl_arena_printf(d->arena, "broadcast_dimensions={%s}", list);
  const hl_attr *old = hl_attr_find(ins, HL_ATTR_BROADCAST_DIMENSIONS);
  if (old && old->name_range.begin != HL_NO_OFFSET) {
    out->range = (hl_range){old->name_range.begin, old->value_range.end};
    out->text = text;
  } else {
    out->range = (hl_range){ins->places->call.end, ins->places->call.end};
    out->text = hl_arena_printf(d->arena, ", %s", text);
  }
  out->title = hl_arena_printf(d->arena, "write %s", text);
  return true;
}

static bool fix_word(const hl_document *d, const hl_diagnostic *g, fix *out)
{
  const char *word = between(d, g->help, "did you mean '", "'?");
  if (!word)
    return false;
  bool has_percent = d->source->text[g->range.begin] == '%';
  *out = (fix){{g->range.begin + has_percent, g->range.end}, word, hl_arena_printf(d->arena, "write %s", word)};
  return true;
}

/* "write f32[2]", and nothing else fits. */
static bool fix_shape(const hl_document *d, const hl_diagnostic *g, fix *out)
{
  if (strncmp(g->help, "write ", 6) != 0 || g->rule != HL_RULE_RESULT_SHAPE || strstr(g->help, ", or "))
    return false;
  *out = (fix){g->range, g->help + 6, g->help};
  (void)d;
  return true;
}

static bool find_fix(const hl_document *d, const hl_diagnostic *g, fix *out)
{
  return g->help && g->range.begin != HL_NO_OFFSET &&
         (fix_broadcast(d, g, out) || fix_word(d, g, out) || fix_shape(d, g, out));
}

static json_t *action(const hl_lsp *server, const hl_document *d, const hl_diagnostic *g, const fix *f)
{
  json_t *edit = json_pack("{s:o, s:s}", "range", hl_lsp_range(server, d, f->range), "newText", f->text);
  return json_pack("{s:s, s:s, s:b, s:[o], s:{s:{s:[o]}}}", "title", f->title, "kind", "quickfix", "isPreferred", 1,
                   "diagnostics", hl_lsp_diagnostic(server, d, g), "edit", "changes", d->uri, edit);
}

json_t *hl_lsp_code_actions(hl_lsp *server, json_t *params)
{
  hl_document *d = hl_lsp_document(server, params);
  json_t *list = json_array();
  const json_t *range = json_object_get(params, "range");
  json_int_t first = json_integer_value(json_object_get(json_object_get(range, "start"), "line"));
  json_int_t last = json_integer_value(json_object_get(json_object_get(range, "end"), "line"));
  for (const hl_diagnostic *g = d ? d->diag.first : NULL; g; g = g->next) {
    fix f;
    if (g->range.begin == HL_NO_OFFSET)
      continue;
    json_int_t line = hl_document_place(d, g->range.begin, server->is_utf8).line;
    if (line >= first && line <= last && find_fix(d, g, &f))
      json_array_append_new(list, action(server, d, g, &f));
  }
  return list;
}
