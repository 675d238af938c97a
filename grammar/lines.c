/* lines - a module that grows by one instruction at a time, each a short text of its own.
 *
 * One parser lives as long as the module; for each line it starts afresh but for the module, the
 * open scopes and the names.
 */
#include "parser.h"
#include "hlo.tab.h"

#include <string.h>

struct hl_lines {
  hl_parser parser;
};

hl_lines *hl_lines_new(hl_arena *arena, const char *module_name)
{
  hl_lines *lines = HL_NEW(arena, hl_lines);
  hl_parser *p = &lines->parser;
  p->arena = arena;
  p->module = hl_module_new(arena, hl_arena_strndup(arena, module_name, strlen(module_name)));
  p->computations.arena = arena;
  p->bad_shape = hl_shape_scalar(arena, HL_PRED);
  p->poison = HL_NEW(arena, hl_instruction);
  return lines;
}

hl_module *hl_lines_module(const hl_lines *lines)
{
  return lines->parser.module;
}

/* The parser as it is before the first byte of a text. */
static void start(hl_parser *p, const hl_source *source, hl_diag *diag)
{
  hl_parser fresh = {.arena = p->arena,
                     .source = source,
                     .text = source->text,
                     .size = (uint32_t)source->size,
                     .diag = diag,
                     .module = p->module,
                     .scope = p->scope,
                     .computations = p->computations,
                     .chunks = p->chunks,
                     .unnamed = p->unnamed,
                     .unnamed_capacity = p->unnamed_capacity,
                     .poison = p->poison,
                     .bad_shape = p->bad_shape,
                     .instruction_count = p->instruction_count,
                     .literal_bytes = p->literal_bytes,
                     .is_line = true};
  fresh.synced_at = fresh.frame_tables = HL_NO_OFFSET;
  fresh.open_comment = fresh.open_string[0] = fresh.open_string[1] = HL_NO_OFFSET;
  *p = fresh;
  hl_values_reset(p);
}

static bool is_taken(const hl_parser *p, const char *name)
{
  for (const hl_scope *s = p->scope; s; s = s->outer)
    if (!strcmp(s->computation->name, name))
      return true;
  return hl_map_get(&p->computations, name, strlen(name)) != NULL;
}

hl_computation *hl_lines_open(hl_lines *lines, const char *name)
{
  hl_parser *p = &lines->parser;
  if (is_taken(p, name))
    name = hl_fresh_name(p->module, name);
  hl_diag quiet = {.arena = p->arena};
  start(p, hl_source_new(p->arena, "", name, strlen(name)), &quiet);
  hl_open_computation(p, HL_NO_RANGE, (hl_range){0, p->size}, NULL);
  p->scope->computation->name_range = HL_NO_RANGE;
  return p->scope->computation;
}

void hl_lines_rename(hl_lines *lines, hl_computation *c, const char *name)
{
  hl_parser *p = &lines->parser;
  if (strcmp(c->name, name) != 0)
    c->name = is_taken(p, name) ? hl_fresh_name(p->module, name) : hl_arena_strndup(p->arena, name, strlen(name));
}

hl_instruction *hl_lines_read(hl_lines *lines, const hl_source *line, hl_diag *diag)
{
  hl_parser *p = &lines->parser;
  int errors = diag->error_count;
  start(p, line, diag);
  bool is_read = hl_scan_open(p) && hl_yyparse(p->scanner, p) == 0;
  hl_finish_line(p);
  return is_read && diag->error_count == errors ? p->scope->computation->last : NULL;
}

hl_instruction *hl_lines_constant(hl_lines *lines, const hl_literal *literal)
{
  hl_scope *scope = lines->parser.scope;
  hl_instruction *made = hl_instruction_new(scope->computation, NULL, HL_OP_CONSTANT, NULL,
                                            literal->shape, 0, NULL, NULL);
  made->literal = literal;
  hl_map_set(&scope->names, made->name, strlen(made->name), made);
  return made;
}

hl_computation *hl_lines_close(hl_lines *lines, hl_instruction *root, hl_diag *diag)
{
  hl_parser *p = &lines->parser;
  hl_computation *c = p->scope->computation;
  int errors = diag->error_count;
  start(p, hl_source_new(p->arena, c->name, c->name, strlen(c->name)), diag);
  if (!c->last)
    hl_error(diag, HL_NO_RANGE, HL_RULE_SYNTAX, "computation '%s' has no instruction", c->name);
  if (root)
    c->root = root;
  c->name_range = (hl_range){0, p->size};
  hl_close_computation(p);
  c->name_range = HL_NO_RANGE;
  return diag->error_count == errors ? c : NULL;
}
