/* lsp_document - one text of the editor: reading it, and finding in it what stands where. */
#include "lsp_document.h"

#include "grammar/parse.h"
#include "ir/verify.h"

#include <string.h>

void hl_document_set(hl_document *d, hl_guard *guard, const char *text, size_t size)
{
  hl_arena_free(d->arena);
  d->arena = NULL;
  d->module = NULL;
  d->source = NULL;
  d->diag = (hl_diag){0};
  d->arena = hl_arena_new(guard);
  if (!d->arena)
    longjmp(guard->env, 1);
  d->diag.arena = d->arena;
  d->diag.source = d->source = hl_source_new(d->arena, d->uri, text, size);
  d->module = hl_parse_partial(d->arena, d->source, &d->diag, &d->is_whole);
  if (d->is_whole)
    d->is_whole = hl_verify(d->module, (hl_verify_options){0}, &d->diag);
}

/* --- places --- */

/* UTF-16 units of the character that begins with this byte; 0 within one. */
static int units_of(unsigned char byte)
{
  return (byte & 0xc0) == 0x80 ? 0 : byte >= 0xf0 ? 2 : 1;
}

hl_lsp_place hl_document_place(const hl_document *d, uint32_t offset, bool is_utf8)
{
  hl_position position = hl_source_position(d->source, offset);
  hl_lsp_place place = {position.line - 1, position.column - 1};
  size_t length;
  const char *line = hl_source_line(d->source, position.line, &length);
  if (is_utf8)
    return place;
  place.character = 0;
  for (size_t i = 0; i < position.column - 1 && i < length; i++)
    place.character += units_of((unsigned char)line[i]);
  return place;
}

uint32_t hl_document_offset(const hl_document *d, hl_lsp_place place, bool is_utf8)
{
  if (place.line < 0 || (uint64_t)place.line >= d->source->line_count)
    return (uint32_t)d->source->size;
  size_t length, at = 0;
  const char *line = hl_source_line(d->source, (uint32_t)place.line + 1, &length);
  for (int64_t left = place.character; at < length && left > 0; at++) {
    left -= is_utf8 ? 1 : units_of((unsigned char)line[at]);
    while (!is_utf8 && at + 1 < length && units_of((unsigned char)line[at + 1]) == 0)
      at++;
  }
  return (uint32_t)(line - d->source->text + (int64_t)at);
}

/* --- what stands where --- */

static bool holds(hl_range range, uint32_t offset)
{
  return range.begin != HL_NO_OFFSET && offset >= range.begin && offset <= range.end;
}

static hl_range without_percent(const hl_document *d, hl_range range)
{
  if (range.begin != HL_NO_OFFSET && range.begin < range.end && d->source->text[range.begin] == '%')
    range.begin++;
  return range;
}

/* The name at the end of an operand, which may have a shape before it and an index behind it. */
static hl_range operand_name(const hl_document *d, const hl_instruction *user, int i)
{
  const char *name = user->operands[i]->name, *text = d->source->text;
  size_t length = strlen(name);
  hl_range range = user->places->operands[i];
  for (uint32_t at = range.end; at >= range.begin + length; at--)
    if (!memcmp(text + at - length, name, length))
      return (hl_range){at - (uint32_t)length, at};
  return HL_NO_RANGE;
}

/* A callee's name where the attribute names one; an inline body has none. */
static hl_range callee_name(const hl_document *d, const hl_attr *attr, int i)
{
  hl_range range = attr->entry_ranges ? attr->entry_ranges[i] : attr->value_range;
  range = without_percent(d, range);
  const char *name = attr->computations.values[i]->name;
  size_t length = strlen(name);
  bool is_name = range.begin != HL_NO_OFFSET && range.end - range.begin == length &&
                 !memcmp(d->source->text + range.begin, name, length);
  return is_name ? range : HL_NO_RANGE;
}

/* Every name in an instruction, with what it names. */
typedef bool spot_visitor(void *user, hl_spot spot);

static bool visit_callees(const hl_document *d, const hl_instruction *ins, spot_visitor *visit,
                          void *user)
{
  for (int i = 0; i < ins->attr_count; i++) {
    const hl_attr *attr = &ins->attrs[i];
    for (int k = 0; hl_holds_computations(attr) && k < attr->computations.count; k++) {
      hl_spot spot = {HL_SPOT_COMPUTATION, callee_name(d, attr, k), NULL, attr->computations.values[k]};
      if (visit(user, spot))
        return true;
    }
  }
  return false;
}

static bool visit_instruction(const hl_document *d, const hl_instruction *ins, spot_visitor *visit,
                              void *user)
{
  const hl_places *places = ins->places;
  if (!places)
    return false;
  if (visit(user, (hl_spot){HL_SPOT_VALUE, without_percent(d, places->name), ins, NULL}) ||
      visit(user, (hl_spot){HL_SPOT_OPCODE, places->opcode, ins, NULL}))
    return true;
  for (int i = 0; places->operands && i < ins->operand_count; i++)
    if (visit(user, (hl_spot){HL_SPOT_VALUE, operand_name(d, ins, i), ins->operands[i], NULL}))
      return true;
  return visit_callees(d, ins, visit, user);
}

/* Until visit says true. */
static void visit_all(const hl_document *d, spot_visitor *visit, void *user)
{
  for (const hl_computation *c = d->module ? d->module->first : NULL; c; c = c->next) {
    if (visit(user, (hl_spot){HL_SPOT_COMPUTATION, without_percent(d, c->name_range), NULL, c}))
      return;
    for (const hl_instruction *ins = c->first; ins; ins = ins->next)
      if (visit_instruction(d, ins, visit, user))
        return;
  }
}

typedef struct search {
  uint32_t offset;
  hl_spot found;
} search;

static bool is_there(void *user, hl_spot spot)
{
  search *s = user;
  if (!holds(spot.range, s->offset))
    return false;
  s->found = spot;
  return true;
}

hl_spot hl_document_spot(const hl_document *d, uint32_t offset)
{
  search s = {.offset = offset};
  visit_all(d, is_there, &s);
  return s.found;
}

typedef struct listing {
  const hl_spot *spot;
  hl_name_visitor *visit;
  void *user;
} listing;

static bool list_same(void *user, hl_spot spot)
{
  const listing *l = user;
  if (spot.kind == l->spot->kind && spot.instruction == l->spot->instruction &&
      spot.computation == l->spot->computation && spot.range.begin != HL_NO_OFFSET)
    l->visit(l->user, spot.range);
  return false;
}

void hl_document_names(const hl_document *d, const hl_spot *spot, hl_name_visitor *visit, void *user)
{
  listing l = {spot, visit, user};
  if (spot->kind == HL_SPOT_VALUE || spot->kind == HL_SPOT_COMPUTATION)
    visit_all(d, list_same, &l);
}

hl_range hl_document_extent(const hl_computation *c)
{
  hl_range range = c->name_range;
  for (const hl_instruction *ins = c->first; ins; ins = ins->next) {
    if (!ins->places || ins->places->end.end == HL_NO_OFFSET)
      continue;
    uint32_t begin = ins->places->name.begin;
    range.begin = range.begin == HL_NO_OFFSET && begin != HL_NO_OFFSET ? begin : range.begin;
    if (range.begin != HL_NO_OFFSET && (range.end == HL_NO_OFFSET || range.end < ins->places->end.end))
      range.end = ins->places->end.end;
  }
  return range;
}

const hl_computation *hl_document_computation(const hl_document *d, uint32_t offset)
{
  const hl_computation *found = NULL;
  for (const hl_computation *c = d->module ? d->module->first : NULL; c; c = c->next) {
    hl_range range = hl_document_extent(c);
    if (range.begin != HL_NO_OFFSET && range.begin <= offset &&
        (!found || range.begin >= hl_document_extent(found).begin))
      found = c;
  }
  return found;
}
