/* diag - diagnostics: collected in the order of report, rendered in text order, for people or as
 * JSON. */
#include "diag.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rule_info {
  const char *label, *sentence;
} rule_info;

static const rule_info rules[HL_RULE_COUNT] = {
#define HL_RULE(id, label, sentence) [HL_RULE_##id] = {label, sentence},
#include "rules.def"
};

const char *hl_rule_label(hl_rule rule)
{
  return rules[rule].label;
}

const char *hl_rule_sentence(hl_rule rule)
{
  return rules[rule].sentence;
}

static const char *format_text(hl_arena *arena, const char *format, va_list args)
{
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  size_t size = length < 0 ? 1 : (size_t)length + 1;
  char *text = hl_arena_alloc(arena, size);
  vsnprintf(text, size, format, again);
  va_end(again);
  return text;
}

static void append(hl_diag *diag, hl_diagnostic d)
{
  hl_diagnostic *copy = hl_arena_memdup(diag->arena, &d, sizeof d);
  if (diag->last)
    diag->last->next = copy;
  else
    diag->first = copy;
  diag->last = copy;
}

bool hl_error(hl_diag *diag, hl_range range, hl_rule rule, const char *format, ...)
{
  if (diag->error_count == HL_MAX_ERRORS) {
    diag->suppressed++;
    return false;
  }
  diag->error_count++;
  va_list args;
  va_start(args, format);
  const char *text = format_text(diag->arena, format, args);
  va_end(args);
  append(diag, (hl_diagnostic){HL_SEVERITY_ERROR, rule, diag->source, range, text, NULL, NULL});
  return false;
}

void hl_warning(hl_diag *diag, hl_range range, hl_rule rule, const char *format, ...)
{
  diag->warning_count++;
  va_list args;
  va_start(args, format);
  const char *text = format_text(diag->arena, format, args);
  va_end(args);
  append(diag, (hl_diagnostic){HL_SEVERITY_WARNING, rule, diag->source, range, text, NULL, NULL});
}

void hl_help(hl_diag *diag, const char *format, ...)
{
  if (!diag->last || diag->suppressed)
    return;
  va_list args;
  va_start(args, format);
  diag->last->help = format_text(diag->arena, format, args);
  va_end(args);
}

/* Bytes of the well-formed UTF-8 character at p, 0 if there is none. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
  size_t length = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
  if (length > left)
    return 0;
  for (size_t i = 1; i < length; i++)
    if ((p[i] & 0xc0) != 0x80)
      return 0;
  bool is_wrong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
                  (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f);
  return length > 1 && is_wrong ? 0 : length;
}

/* Text that a terminal shows as it is: control bytes (but tabs) and bytes that are no UTF-8 become
 * '?'. */
static void add_visible(hl_str *out, const char *text, size_t length)
{
  for (size_t i = 0, step; i < length; i += step) {
    const unsigned char *p = (const unsigned char *)text + i;
    size_t bytes = utf8_length(p, length - i);
    step = bytes ? bytes : 1;
    if (!bytes || (*p < ' ' && *p != '\t') || *p == 0x7f)
      hl_str_add_char(out, '?');
    else
      hl_str_add_n(out, text + i, bytes);
  }
}

/* One blank for each character of the text, tabs kept, so that what follows stands below what
 * follows the text. */
static void add_blank(hl_str *out, const char *text, size_t length)
{
  for (size_t i = 0, step; i < length; i += step) {
    size_t bytes = utf8_length((const unsigned char *)text + i, length - i);
    step = bytes ? bytes : 1;
    hl_str_add_char(out, text[i] == '\t' ? '\t' : ' ');
  }
}

static size_t count_visible(const char *text, size_t length)
{
  size_t count = 0;
  for (size_t i = 0, step; i < length; i += step, count++) {
    size_t bytes = utf8_length((const unsigned char *)text + i, length - i);
    step = bytes ? bytes : 1;
  }
  return count;
}

typedef struct style {
  const char *error, *warning, *bold, *mark, *help, *end;
} style;

static const style plain_style = {"", "", "", "", "", ""};
static const style color_style = {"\033[1;31m", "\033[1;35m", "\033[1m",
                                  "\033[1;32m", "\033[1;36m", "\033[0m"};

/* The part of a line that is shown: lines longer than LINE_SHOWN are cut around the caret. */
typedef struct view {
  const char *text;
  size_t length, caret, marked; /* the caret's place within text, the bytes to mark */
  bool is_cut_before, is_cut_behind;
} view;

enum { LINE_SHOWN = 160, LINE_BEFORE = 60 };

static view view_of(const hl_diagnostic *d, hl_position at)
{
  view v = {0};
  v.text = hl_source_line(d->source, at.line, &v.length);
  v.caret = at.column - 1 < v.length ? at.column - 1 : v.length;
  v.marked = d->range.end > d->range.begin ? d->range.end - d->range.begin : 1;
  if (v.length > LINE_SHOWN) {
    size_t skipped = v.caret > LINE_BEFORE ? v.caret - LINE_BEFORE : 0;
    v.is_cut_before = skipped > 0;
    v.text += skipped;
    v.length -= skipped;
    v.caret -= skipped;
    v.is_cut_behind = v.length > LINE_SHOWN;
    v.length = v.is_cut_behind ? LINE_SHOWN : v.length;
  }
  if (v.marked > v.length - v.caret)
    v.marked = v.length - v.caret;
  return v;
}

static void render_source(const hl_diagnostic *d, hl_position at, const style *s, hl_str *out)
{
  view v = view_of(d, at);
  char number[16];
  int width = snprintf(number, sizeof number, "%" PRIu32, at.line);
  width = width < 5 ? 5 : width;
  hl_str_printf(out, "%*s | %s", width, number, v.is_cut_before ? "..." : "");
  add_visible(out, v.text, v.length);
  hl_str_printf(out, "%s\n%*s | %s", v.is_cut_behind ? "..." : "", width, "",
                v.is_cut_before ? "   " : "");
  add_blank(out, v.text, v.caret);
  hl_str_printf(out, "%s^", s->mark);
  for (size_t i = count_visible(v.text + v.caret, v.marked); i > 1; i--)
    hl_str_add_char(out, '~');
  hl_str_printf(out, "%s\n", s->end);
}

static bool has_place(const hl_diagnostic *d)
{
  return d->source && d->range.begin != HL_NO_OFFSET;
}

static void render_text(const hl_diagnostic *d, const style *s, hl_str *out)
{
  hl_position at = {0, 0};
  hl_str_add(out, s->bold);
  if (d->source)
    add_visible(out, d->source->name, strlen(d->source->name));
  if (has_place(d)) {
    at = hl_source_position(d->source, d->range.begin);
    hl_str_printf(out, ":%" PRIu32 ":%" PRIu32, at.line, at.column);
  }
  hl_str_printf(out, "%s%s", d->source ? ": " : "", s->end);
  bool is_error = d->severity == HL_SEVERITY_ERROR;
  hl_str_printf(out, "%s%s:%s %s", is_error ? s->error : s->warning, is_error ? "error" : "warning",
                s->end, s->bold);
  add_visible(out, d->text, strlen(d->text));
  hl_str_printf(out, "%s [%s]\n", s->end, hl_rule_label(d->rule));
  if (at.line)
    render_source(d, at, s, out);
  if (d->help) {
    hl_str_printf(out, "%shelp:%s ", s->help, s->end);
    add_visible(out, d->help, strlen(d->help));
    hl_str_add_char(out, '\n');
  }
}

void hl_json_string(hl_str *out, const char *text)
{
  size_t left = strlen(text);
  hl_str_add_char(out, '"');
  for (size_t step; left; text += step, left -= step) {
    const unsigned char *p = (const unsigned char *)text;
    size_t bytes = utf8_length(p, left);
    step = bytes ? bytes : 1;
    if (!bytes)
      hl_str_add(out, "\\ufffd");
    else if (*p < ' ' || *p == 0x7f)
      hl_str_printf(out, "\\u%04x", *p);
    else if (*p == '"' || *p == '\\')
      hl_str_printf(out, "\\%c", *p);
    else
      hl_str_add_n(out, text, bytes);
  }
  hl_str_add_char(out, '"');
}

static void add_json_member(hl_str *out, const char *name, const char *text)
{
  hl_str_printf(out, ", \"%s\": ", name);
  if (text)
    hl_json_string(out, text);
  else
    hl_str_add(out, "null");
}

/* The place behind the last byte of the range, on that byte's line. */
static hl_position end_of(const hl_diagnostic *d)
{
  if (d->range.end <= d->range.begin)
    return hl_source_position(d->source, d->range.begin);
  hl_position last = hl_source_position(d->source, d->range.end - 1);
  last.column++;
  return last;
}

static void render_json(const hl_diagnostic *d, hl_str *out)
{
  hl_str_add(out, "{\"file\": ");
  hl_json_string(out, d->source ? d->source->name : "");
  if (has_place(d)) {
    hl_position at = hl_source_position(d->source, d->range.begin), end = end_of(d);
    hl_str_printf(out, ", \"line\": %" PRIu32 ", \"column\": %" PRIu32, at.line, at.column);
    hl_str_printf(out, ", \"end_line\": %" PRIu32 ", \"end_column\": %" PRIu32, end.line,
                  end.column);
  } else {
    hl_str_add(out, ", \"line\": null, \"column\": null, \"end_line\": null, \"end_column\": null");
  }
  add_json_member(out, "severity", d->severity == HL_SEVERITY_ERROR ? "error" : "warning");
  add_json_member(out, "rule", hl_rule_label(d->rule));
  add_json_member(out, "message", d->text);
  add_json_member(out, "help", d->help);
  hl_str_add_char(out, '}');
}

typedef struct entry {
  const hl_diagnostic *diagnostic;
  size_t order;
} entry;

/* Text order; what was reported first stands first at one place, what has no place comes last. */
static int compare_entries(const void *a, const void *b)
{
  const entry *x = a, *y = b;
  uint32_t at = x->diagnostic->range.begin, other = y->diagnostic->range.begin;
  if (at != other)
    return at < other ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static entry *sorted_entries(const hl_diag *diag, size_t *count)
{
  size_t n = 0;
  for (const hl_diagnostic *d = diag->first; d; d = d->next)
    n++;
  entry *entries = HL_ARRAY(diag->arena, n, entry);
  n = 0;
  for (const hl_diagnostic *d = diag->first; d; d = d->next, n++)
    entries[n] = (entry){d, n};
  if (n)
    qsort(entries, n, sizeof *entries, compare_entries);
  *count = n;
  return entries;
}

void hl_diag_render(const hl_diag *diag, hl_render_options options, hl_str *out)
{
  size_t count;
  const entry *entries = sorted_entries(diag, &count);
  if (options.json)
    hl_str_add(out, "[");
  for (size_t i = 0; i < count; i++) {
    if (options.json) {
      hl_str_add(out, i ? ",\n " : "");
      render_json(entries[i].diagnostic, out);
    } else {
      render_text(entries[i].diagnostic, options.color ? &color_style : &plain_style, out);
    }
  }
  if (options.json)
    hl_str_add(out, "]\n");
  else if (diag->suppressed)
    hl_str_printf(out, "%d more error%s not shown\n", diag->suppressed,
                  diag->suppressed > 1 ? "s" : "");
}
