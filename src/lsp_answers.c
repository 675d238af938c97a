/* lsp_answers - what the server says about a place in a text: hover, definition, uses, rename,
 * symbols, formatting, completion. */
#include "lsp_server.h"

#include "grammar/parse.h"
#include "ir/print.h"

#include <inttypes.h>
#include <string.h>

hl_document *hl_lsp_document(hl_lsp *server, const json_t *params)
{
  const char *uri = json_string_value(json_object_get(json_object_get(params, "textDocument"), "uri"));
  for (hl_document *d = server->documents; uri && d; d = d->next)
    if (!strcmp(d->uri, uri) && d->source)
      return d;
  return NULL;
}

static json_t *place(const hl_lsp *server, const hl_document *d, uint32_t offset)
{
  hl_lsp_place p = hl_document_place(d, offset, server->is_utf8);
  return json_pack("{s:I, s:I}", "line", (json_int_t)p.line, "character", (json_int_t)p.character);
}

json_t *hl_lsp_range(const hl_lsp *server, const hl_document *d, hl_range range)
{
  if (range.begin == HL_NO_OFFSET)
    range = (hl_range){0, 0};
  return json_pack("{s:o, s:o}", "start", place(server, d, range.begin), "end", place(server, d, range.end));
}

json_t *hl_lsp_diagnostic(const hl_lsp *server, const hl_document *d, const hl_diagnostic *g)
{
  enum { ERROR = 1, WARNING = 2 };
  const char *text = g->help ? hl_arena_printf(d->arena, "%s\nhelp: %s", g->text, g->help) : g->text;
  return json_pack("{s:o, s:i, s:s, s:s, s:s}", "range", hl_lsp_range(server, d, g->range), "severity",
                   g->severity == HL_SEVERITY_ERROR ? ERROR : WARNING, "code", hl_rule_label(g->rule), "source",
                   "hlo-lite", "message", text);
}

static uint32_t offset_of(const hl_lsp *server, const hl_document *d, const json_t *position)
{
  hl_lsp_place p = {json_integer_value(json_object_get(position, "line")),
                    json_integer_value(json_object_get(position, "character"))};
  return hl_document_offset(d, p, server->is_utf8);
}

/* The document of a request and what stands at its position. */
static hl_document *spot_of(hl_lsp *server, const json_t *params, hl_spot *spot)
{
  hl_document *d = hl_lsp_document(server, params);
  *spot = (hl_spot){.kind = HL_SPOT_NOTHING};
  if (d)
    *spot = hl_document_spot(d, offset_of(server, d, json_object_get(params, "position")));
  return d;
}

/* ---- hover ---- */

static void add_attributes(hl_str *out, const hl_op_info *info)
{
  for (int i = 0; i < info->attr_count; i++)
    hl_str_printf(out, "%s`%s`%s", i ? ", " : "\n\nattributes: ", hl_attr_name(info->attrs[i].id),
                  info->attrs[i].is_required ? " (required)" : "");
}

static void add_types(hl_str *out, unsigned types)
{
  static const struct {
    unsigned bits;
    const char *name;
  } names[] = {{HL_T_PRED, "pred"},
               {HL_T_SIGNED, "signed"},
               {HL_T_UNSIGNED, "unsigned"},
               {HL_T_FLOAT, "floating"},
               {HL_T_COMPLEX, "complex"},
               {HL_T_F32_F64, "f32, f64"}};
  const char *before = "\n\ntypes: ";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (types & names[i].bits) {
      hl_str_printf(out, "%s%s", before, names[i].name);
      before = ", ";
    }
}

/* Labels of rules begin with the op they are of, or with what they are of in all ops that broadcast. */
static bool is_rule_of(const char *label, const hl_op_info *info)
{
  size_t length = strlen(info->name);
  if (!strncmp(label, info->name, length) && !strncmp(label + length, "-c", 2))
    return true;
  return info->flags & HL_BCAST && (!strncmp(label, "binary-", 7) || !strncmp(label, "bcast-", 6));
}

static void add_rules(hl_str *out, const hl_op_info *info)
{
  const char *before = "\n\n";
  for (hl_rule rule = 0; rule < HL_RULE_COUNT; rule++)
    if (is_rule_of(hl_rule_label(rule), info)) {
      hl_str_printf(out, "%s- %s `%s`", before, hl_rule_sentence(rule), hl_rule_label(rule));
      before = "\n";
    }
}

static void add_op(hl_str *out, const hl_op_info *info)
{
  hl_str_printf(out, "**%s**: %d", info->name, info->min_operands);
  if (info->max_operands == HL_ANY)
    hl_str_add(out, " or more");
  else if (info->max_operands != info->min_operands)
    hl_str_printf(out, " to %d", info->max_operands);
  hl_str_add(out, info->min_operands == 1 && info->max_operands == 1 ? " operand" : " operands");
  hl_str_add(out, info->flags & HL_BCAST ? ", broadcast with `broadcast_dimensions`" : "");
  add_types(out, info->types);
  add_attributes(out, info);
  add_rules(out, info);
}

/* The shape that follows from the operands, where another one is written. */
static void add_inferred(hl_str *out, const hl_document *d, const hl_instruction *ins)
{
  for (const hl_diagnostic *g = d->diag.first; g; g = g->next)
    if (g->rule == HL_RULE_RESULT_SHAPE && g->help && ins->places && g->range.begin >= ins->places->name.begin &&
        g->range.end <= ins->places->end.end) {
      const char *shape = g->help + strlen("write "), *other = strstr(shape, ", or ");
      hl_str_printf(out, "\n\nfollows from the operands: `%.*s`", (int)(other ? other - shape : (ptrdiff_t)strlen(shape)), shape);
    }
}

static void add_value(hl_str *out, const hl_instruction *ins)
{
  hl_str_printf(out, "```hlo\n%s", ins->name);
  if (ins->shape) {
    hl_str_add(out, " = ");
    hl_shape_print(out, ins->shape, true);
  }
  hl_str_printf(out, " %s\n```", hl_op_info_of(ins->opcode)->name);
  if (ins->shape && hl_shape_is_array(ins->shape))
    hl_str_printf(out, "\n\n%lld elements, %lld bytes; read by %d", (long long)hl_shape_elements(ins->shape),
                  (long long)hl_shape_bytes(ins->shape), ins->user_count);
}

static void add_computation(hl_str *out, const hl_computation *c)
{
  hl_str_printf(out, "```hlo\n%s (", c->name);
  for (int i = 0; i < c->parameter_count; i++) {
    const hl_instruction *p = c->parameters[i];
    hl_str_printf(out, "%s%s", i ? ", " : "", p ? p->name : "?");
    if (p && p->shape) {
      hl_str_add(out, ": ");
      hl_shape_print(out, p->shape, false);
    }
  }
  hl_str_add(out, ")");
  if (c->root && c->root->shape) {
    hl_str_add(out, " -> ");
    hl_shape_print(out, c->root->shape, false);
  }
  hl_str_printf(out, "\n```\n\n%d instructions", c->instruction_count);
}

json_t *hl_lsp_hover(hl_lsp *server, json_t *params)
{
  hl_spot spot;
  hl_document *d = spot_of(server, params, &spot);
  if (spot.kind == HL_SPOT_NOTHING)
    return NULL;
  hl_str text = {.arena = d->arena};
  if (spot.kind == HL_SPOT_OPCODE) {
    add_op(&text, hl_op_info_of(spot.instruction->opcode));
  } else if (spot.kind == HL_SPOT_VALUE) {
    add_value(&text, spot.instruction);
    add_inferred(&text, d, spot.instruction);
  } else {
    add_computation(&text, spot.computation);
  }
  json_t *contents = json_pack("{s:s, s:s}", "kind", "markdown", "value", hl_str_text(&text));
  return json_pack("{s:o, s:o}", "contents", contents, "range", hl_lsp_range(server, d, spot.range));
}

/* ---- names ---- */

typedef struct locations {
  const hl_lsp *server;
  const hl_document *document;
  json_t *list;
  const char *new_name; /* NULL: places; else edits */
  int skip;             /* places at the beginning */
} locations;

static void add_location(void *user, hl_range range)
{
  locations *l = user;
  if (l->skip-- > 0)
    return;
  json_t *where = hl_lsp_range(l->server, l->document, range);
  if (l->new_name)
    json_array_append_new(l->list, json_pack("{s:o, s:s}", "range", where, "newText", l->new_name));
  else
    json_array_append_new(l->list, json_pack("{s:s, s:o}", "uri", l->document->uri, "range", where));
}

static json_t *list_names(const hl_lsp *server, const hl_document *d, const hl_spot *spot, const char *new_name,
                          int skip)
{
  locations l = {server, d, json_array(), new_name, skip};
  hl_document_names(d, spot, add_location, &l);
  return l.list;
}

json_t *hl_lsp_definition(hl_lsp *server, json_t *params)
{
  hl_spot spot;
  hl_document *d = spot_of(server, params, &spot);
  if (!d || spot.kind == HL_SPOT_NOTHING || spot.kind == HL_SPOT_OPCODE)
    return NULL;
  json_t *all = list_names(server, d, &spot, NULL, 0), *first = json_array_get(all, 0);
  json_incref(first);
  json_decref(all);
  return first;
}

json_t *hl_lsp_references(hl_lsp *server, json_t *params)
{
  hl_spot spot;
  hl_document *d = spot_of(server, params, &spot);
  const json_t *context = json_object_get(params, "context");
  bool wants_definition = json_is_true(json_object_get(context, "includeDeclaration"));
  return d ? list_names(server, d, &spot, NULL, wants_definition ? 0 : 1) : NULL;
}

static bool is_name(const char *text)
{
  size_t length = strlen(text);
  for (size_t i = 0; i < length; i++)
    if (!hl_is_word_byte(text[i]))
      return false;
  return hl_is_word_start(text[0]) && hl_type_by_name(text, length) == HL_TYPE_COUNT;
}

static bool is_taken(const hl_document *d, const hl_spot *spot, const char *name)
{
  const hl_computation *c = spot->kind == HL_SPOT_VALUE ? spot->instruction->computation : d->module->first;
  if (spot->kind == HL_SPOT_VALUE) {
    for (const hl_instruction *ins = c->first; ins; ins = ins->next)
      if (!strcmp(ins->name, name))
        return true;
    return false;
  }
  for (; c; c = c->next)
    if (!strcmp(c->name, name))
      return true;
  return false;
}

json_t *hl_lsp_rename(hl_lsp *server, json_t *params)
{
  hl_spot spot;
  hl_document *d = spot_of(server, params, &spot);
  const char *name = json_string_value(json_object_get(params, "newName"));
  if (!d || spot.kind == HL_SPOT_NOTHING || spot.kind == HL_SPOT_OPCODE)
    server->refusal = "there is no name here";
  else if (!name || !is_name(name))
    server->refusal = "this is no name: letters, digits, '_', '.' and '-', no digit first, no element type";
  else if (is_taken(d, &spot, name))
    server->refusal = "the name is taken";
  if (server->refusal)
    return NULL;
  return json_pack("{s:{s:o}}", "changes", d->uri, list_names(server, d, &spot, name, 0));
}

/* ---- symbols ----
 *
 * One for each instruction, in a text of thousands after each edit: so the answer is written as text, ten times as fast as a
 * tree of JSON values. Names, shapes and opcodes hold no byte that JSON would escape. */

static void write_place(hl_str *out, const hl_lsp *server, const hl_document *d, uint32_t offset)
{
  hl_lsp_place p = hl_document_place(d, offset, server->is_utf8);
  hl_str_printf(out, "{\"line\":%" PRId64 ",\"character\":%" PRId64 "}", p.line, p.character);
}

static void write_range(hl_str *out, const hl_lsp *server, const hl_document *d, const char *name, hl_range range)
{
  hl_str_printf(out, ",\"%s\":{\"start\":", name);
  write_place(out, server, d, range.begin);
  hl_str_add(out, ",\"end\":");
  write_place(out, server, d, range.end);
  hl_str_add_char(out, '}');
}

/* All but the closing brace; with a comma before it unless it is the first of its list. */
static void write_symbol(hl_str *out, const hl_lsp *server, const hl_document *d, const char *name, int kind,
                         hl_range whole, hl_range word)
{
  bool is_first = hl_str_text(out)[out->length - 1] == '[';
  hl_str_printf(out, "%s{\"name\":\"%s\",\"kind\":%d", is_first ? "" : ",", name, kind);
  write_range(out, server, d, "range", whole);
  write_range(out, server, d, "selectionRange", word);
}

static void write_instructions(hl_str *out, const hl_lsp *server, hl_document *d, const hl_computation *c)
{
  enum { CONSTANT = 14, VARIABLE = 13 };
  for (const hl_instruction *ins = c->first; ins; ins = ins->next) {
    if (!ins->places || ins->places->name.begin == HL_NO_OFFSET)
      continue;
    hl_range whole = {ins->places->name.begin, ins->places->end.end};
    write_symbol(out, server, d, ins->name, ins->opcode == HL_OP_CONSTANT ? CONSTANT : VARIABLE, whole,
                 ins->places->name);
    const char *shape = ins->shape ? hl_shape_text(d->arena, ins->shape) : "";
    hl_str_printf(out, ",\"detail\":\"%s %s\"}", shape, hl_op_info_of(ins->opcode)->name);
  }
}

json_t *hl_lsp_symbols(hl_lsp *server, json_t *params)
{
  enum { FUNCTION = 12 };
  hl_document *d = hl_lsp_document(server, params);
  if (!d)
    return json_array();
  hl_str out = {.arena = d->arena};
  hl_str_add_char(&out, '[');
  for (const hl_computation *c = d->module ? d->module->first : NULL; c; c = c->next) {
    hl_range whole = hl_document_extent(c);
    if (whole.begin == HL_NO_OFFSET || c->name_range.begin == HL_NO_OFFSET)
      continue;
    write_symbol(&out, server, d, c->name, FUNCTION, whole, c->name_range);
    hl_str_add(&out, ",\"children\":[");
    write_instructions(&out, server, d, c);
    hl_str_add(&out, "]}");
  }
  hl_str_add_char(&out, ']');
  server->written = hl_str_text(&out);
  return NULL;
}

/* ---- formatting ---- */

json_t *hl_lsp_formatting(hl_lsp *server, json_t *params)
{
  hl_document *d = hl_lsp_document(server, params);
  if (!d || !d->is_whole)
    server->refusal = "a text with errors is not formatted";
  else if (strstr(d->source->text, "//") || strstr(d->source->text, "/*"))
    server->refusal = "the canonical text has no comments, and this one would lose its own";
  if (server->refusal)
    return NULL;
  hl_str text = {.arena = d->arena};
  hl_module_print(&text, d->module);
  hl_range whole = {0, (uint32_t)d->source->size};
  return json_pack("[{s:o, s:s}]", "range", hl_lsp_range(server, d, whole), "newText", hl_str_text(&text));
}

/* ---- completion ---- */

typedef enum wanted { WANTS_OPCODE, WANTS_VALUE, WANTS_ATTRIBUTE } wanted;

/* What fits behind the text of the line so far: values inside parentheses, attributes behind them,
 * else an opcode. */
static wanted wanted_at(const char *line, size_t length, size_t *call)
{
  int depth = 0;
  bool was_call = false;
  *call = 0;
  for (size_t i = 0; i < length; i++) {
    bool is_call = line[i] == '(' && i > 0 && line[i - 1] != ' ' && line[i - 1] != '(';
    if (is_call && depth == 0) {
      *call = i;
      was_call = true;
    }
    depth += (line[i] == '(' || line[i] == '{') - (line[i] == ')' || line[i] == '}');
  }
  return !was_call ? WANTS_OPCODE : depth > 0 ? WANTS_VALUE : WANTS_ATTRIBUTE;
}

static void add_item(json_t *list, const char *label, int kind, const char *detail)
{
  json_array_append_new(list, json_pack("{s:s, s:i, s:s}", "label", label, "kind", kind, "detail", detail));
}

static void add_opcodes(json_t *list, hl_arena *arena)
{
  enum { FUNCTION = 3 };
  for (int op = 0; op < HL_OP_COUNT; op++) {
    const hl_op_info *info = hl_op_info_of((hl_opcode)op);
    add_item(list, info->name, FUNCTION, hl_arena_printf(arena, "%d operands", info->min_operands));
  }
}

static void add_values(json_t *list, const hl_document *d, uint32_t offset)
{
  enum { VARIABLE = 6 };
  const hl_computation *c = hl_document_computation(d, offset);
  for (const hl_instruction *ins = c ? c->first : NULL; ins; ins = ins->next)
    if (ins->places && ins->places->end.end != HL_NO_OFFSET && ins->places->end.end < offset)
      add_item(list, ins->name, VARIABLE, ins->shape ? hl_shape_text(d->arena, ins->shape) : "");
}

static void add_computations(json_t *list, const hl_document *d, uint32_t offset)
{
  enum { MODULE = 9 };
  for (const hl_computation *c = d->module ? d->module->first : NULL; c; c = c->next)
    if (c->name_range.begin != HL_NO_OFFSET && hl_document_extent(c).end < offset)
      add_item(list, c->name, MODULE, "computation");
}

/* The attributes of the op whose '(' stands at `call` of the line. */
static void add_attrs(json_t *list, const char *line, size_t call)
{
  enum { PROPERTY = 10 };
  size_t word = call;
  while (word > 0 && line[word - 1] != ' ')
    word--;
  hl_opcode op = hl_op_by_name(line + word, call - word);
  if (op == HL_OP_COUNT)
    return;
  const hl_op_info *info = hl_op_info_of(op);
  for (int i = 0; i < info->attr_count; i++)
    add_item(list, hl_attr_name(info->attrs[i].id), PROPERTY,
             info->attrs[i].is_required ? "required" : "optional");
}

json_t *hl_lsp_completion(hl_lsp *server, json_t *params)
{
  hl_document *d = hl_lsp_document(server, params);
  if (!d)
    return NULL;
  json_t *list = json_array();
  uint32_t offset = offset_of(server, d, json_object_get(params, "position"));
  hl_position position = hl_source_position(d->source, offset);
  size_t length, call;
  const char *line = hl_source_line(d->source, position.line, &length);
  length = position.column - 1 < length ? position.column - 1 : length;
  switch (wanted_at(line, length, &call)) {
  case WANTS_OPCODE:
    add_opcodes(list, d->arena);
    break;
  case WANTS_VALUE:
    add_values(list, d, offset);
    break;
  case WANTS_ATTRIBUTE:
    add_attrs(list, line, call);
    add_computations(list, d, offset);
    break;
  }
  return list;
}
