/* attrs - the value of an attribute, from the tree that the grammar made, by the kind column of
 * attrs.def. */
#include "parser.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool hl_value_error(hl_parser *p, const hl_value *value, const char *wanted)
{
  uint32_t length = value->range.end - value->range.begin;
  if (length > 40)
    return hl_error(p->diag, value->range, HL_RULE_ATTR_VALUE, "expected %s", wanted);
  return hl_error(p->diag, value->range, HL_RULE_ATTR_VALUE, "'%s' is not %s",
                  hl_range_text(p, value->range), wanted);
}

/* The ranges of the children. */
static void note_entries(hl_parser *p, const hl_value *list, hl_attr *out)
{
  hl_range *ranges = HL_ARRAY(p->arena, list->count, hl_range);
  int i = 0;
  for (const hl_value *v = list->first; v; v = v->next)
    ranges[i++] = v->range;
  out->entry_ranges = ranges;
  out->entry_count = list->count;
}

static bool read_ints(hl_parser *p, const hl_value *list, hl_ints *out)
{
  if (list->kind != HL_V_LIST) {
    hl_value_error(p, list, "a list of integers in braces");
    if (list->kind == HL_V_INT)
      hl_help(p->diag, "write {%s}", hl_range_text(p, list->range));
    return false;
  }
  int64_t *values = HL_ARRAY(p->arena, list->count, int64_t);
  int i = 0;
  for (const hl_value *v = list->first; v; v = v->next, i++)
    if (!hl_value_int64(p, v, &values[i]))
      return false;
  *out = (hl_ints){values, list->count};
  return true;
}

static bool read_bool(hl_parser *p, const hl_value *value, int64_t *out)
{
  if (value->kind == HL_V_INT && value->magnitude <= 1 && !value->is_negative)
    *out = (int64_t)value->magnitude;
  else if (value->kind == HL_V_BOOL)
    *out = p->text[value->range.begin] == 't';
  else
    return hl_value_error(p, value, "true or false");
  return true;
}

static bool read_float(hl_parser *p, const hl_value *value, double *out)
{
  if (value->kind != HL_V_INT && value->kind != HL_V_DECIMAL && value->kind != HL_V_SPECIAL)
    return hl_value_error(p, value, "a number");
  const char *text = p->text + value->range.begin, *end;
  bool is_negative = *text == '-';
  text += is_negative;
  double magnitude = *text == 'n'   ? hl_float_decode(HL_F64, hl_float_nan_bits(HL_F64))
                     : *text == 'i' ? (double)__builtin_inf()
                                    : hl_read_decimal(text, p->text + value->range.end, &end);
  *out = is_negative ? -magnitude : magnitude;
  return true;
}

/* --- words --- */

/* The index of the word in the attribute's list; did-you-mean otherwise. */
static bool read_word(hl_parser *p, hl_attr_id id, const hl_value *value, int64_t *out)
{
  hl_range range = value->range;
  const char *word;
  size_t length;
  if (value->kind != HL_V_NAME)
    return hl_value_error(p, value, "a word");
  hl_best best = hl_best_start(hl_range_text(p, range));
  hl_str list = {.arena = p->arena};
  for (int64_t i = 0; (word = hl_attr_word(id, i, &length)); i++) {
    if (length == range.end - range.begin && !memcmp(word, p->text + range.begin, length)) {
      *out = i;
      return true;
    }
    const char *copy = hl_arena_strndup(p->arena, word, length);
    hl_best_try(&best, copy);
    hl_str_printf(&list, "%s%s", i ? ", " : "", copy);
  }
  bool is_short = list.length < 80;
  hl_error(p->diag, range, HL_RULE_ATTR_VALUE, "'%s' is no %s%s%s", best.wanted, hl_attr_name(id),
           is_short ? "; it is one of " : "", is_short ? hl_str_text(&list) : "");
  hl_suggest(p, best.name);
  return false;
}

static bool read_words(hl_parser *p, const hl_value *list, hl_attr *out)
{
  if (list->kind != HL_V_LIST)
    return hl_value_error(p, list, "a list of words in braces");
  int64_t *values = HL_ARRAY(p->arena, list->count, int64_t);
  int i = 0;
  for (const hl_value *v = list->first; v; v = v->next, i++)
    if (!read_word(p, out->id, v, &values[i]))
      return false;
  out->ints = (hl_ints){values, list->count};
  note_entries(p, list, out);
  return true;
}

/* --- strings --- */

static int hex_digit(char c)
{
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* The number behind \x, or of up to three octal digits; moves *at. */
static int read_number(const char **at, const char *end, int base)
{
  int value = 0, most = base == 16 ? 2 : 3, n = 0;
  for (; n < most && *at < end; n++, (*at)++) {
    int digit = hex_digit(**at);
    if (digit < 0 || digit >= base)
      break;
    value = value * base + digit;
  }
  return n && value < 256 ? value : -1;
}

/* The byte that the escape behind a backslash stands for, -1 if there is none; moves *at. */
static int read_escape(const char **at, const char *end)
{
  static const char letters[] = "abfnrtv", bytes[] = "\a\b\f\n\r\t\v";
  char c = **at;
  if (c >= '0' && c <= '7')
    return read_number(at, end, 8);
  ++*at;
  if (c == 'x' || c == 'X')
    return read_number(at, end, 16);
  const char *letter = strchr(letters, c);
  if (letter)
    return bytes[letter - letters];
  return strchr("\\\"'?", c) ? c : -1;
}

const char *hl_unescape(hl_parser *p, hl_range string)
{
  const char *at = p->text + string.begin + 1, *end = p->text + string.end - 1;
  char *out = hl_arena_alloc(p->arena, (size_t)(end - at) + 1), *to = out;
  while (at < end) {
    const char *begin = at;
    int byte = (unsigned char)*at++;
    if (byte == '\\')
      byte = read_escape(&at, end);
    if (byte <= 0) {
      uint32_t place = (uint32_t)(begin - p->text);
      hl_error(p->diag, (hl_range){place, place + 2}, HL_RULE_LEX_STRING,
               byte ? "unknown escape in a string" : "a string may not hold a NUL byte");
      return "";
    }
    *to++ = (char)byte;
  }
  *to = '\0';
  return out;
}

static bool read_string(hl_parser *p, const hl_value *value, hl_attr *out)
{
  if (value->kind != HL_V_STRING)
    return hl_value_error(p, value, "a string");
  int errors = p->diag->error_count;
  out->text = hl_unescape(p, value->range);
  return p->diag->error_count == errors;
}

/* --- references --- */

static bool read_computations(hl_parser *p, const hl_value *first, int count, hl_attr *out)
{
  hl_computation **values = HL_ARRAY(p->arena, count, hl_computation *);
  bool is_good = true;
  int i = 0;
  for (const hl_value *v = first; i < count; v = v->next, i++) {
    if (v->kind != HL_V_COMPUTATION && v->kind != HL_V_NAME)
      return hl_value_error(p, v, "the name of a computation");
    values[i] = v->kind == HL_V_COMPUTATION ? v->computation : hl_find_callee(p, v->range);
    is_good = is_good && values[i];
  }
  out->computations.values = values;
  out->computations.count = count;
  return is_good;
}

static bool read_computation_list(hl_parser *p, const hl_value *list, hl_attr *out)
{
  if (list->kind != HL_V_LIST)
    return hl_value_error(p, list, "a list of computations in braces");
  note_entries(p, list, out);
  return read_computations(p, list->first, list->count, out);
}

static bool read_instructions(hl_parser *p, hl_range user, const hl_value *list, hl_attr *out)
{
  if (list->kind != HL_V_LIST)
    return hl_value_error(p, list, "a list of instructions in braces");
  hl_instruction **values = HL_ARRAY(p->arena, list->count, hl_instruction *);
  bool is_good = true;
  int i = 0;
  for (const hl_value *v = list->first; v; v = v->next, i++) {
    if (v->kind != HL_V_NAME)
      return hl_value_error(p, v, "the name of an instruction");
    values[i] = hl_find_operand(p, v->range, user);
    is_good = is_good && values[i] && values[i] != p->poison;
  }
  note_entries(p, list, out);
  out->instructions.values = values;
  out->instructions.count = list->count;
  return is_good;
}

static bool read_shapes(hl_parser *p, const hl_value *first, int count, hl_attr *out)
{
  const hl_shape **values = HL_ARRAY(p->arena, count, const hl_shape *);
  int i = 0;
  for (const hl_value *v = first; i < count; v = v->next, i++) {
    if (v->kind != HL_V_SHAPE)
      return hl_value_error(p, v, "a shape");
    values[i] = v->shape;
    if (v->shape == p->bad_shape)
      return false;
  }
  out->shapes.values = values;
  out->shapes.count = count;
  return true;
}

static bool read_shape_list(hl_parser *p, const hl_value *list, hl_attr *out)
{
  if (list->kind != HL_V_LIST)
    return hl_value_error(p, list, "a list of shapes in braces");
  note_entries(p, list, out);
  return read_shapes(p, list->first, list->count, out);
}

static bool read_lists(hl_parser *p, const hl_value *list, hl_attr *out)
{
  if (list->kind != HL_V_LIST)
    return hl_value_error(p, list, "a list of lists in braces");
  hl_ints *values = HL_ARRAY(p->arena, list->count, hl_ints);
  int i = 0;
  for (const hl_value *v = list->first; v; v = v->next, i++)
    if (!read_ints(p, v, &values[i]))
      return false;
  note_entries(p, list, out);
  out->lists.values = values;
  out->lists.count = list->count;
  return true;
}

/* A word that is kept as text. */
static bool read_text(hl_parser *p, const hl_value *value, hl_attr *out)
{
  if (value->kind != HL_V_NAME && value->kind != HL_V_BOOL)
    return hl_value_error(p, value, "a word");
  out->text = hl_range_text(p, value->range);
  return true;
}

static bool read_raw(hl_parser *p, const hl_value *value, hl_attr *out)
{
  bool is_text = value->kind == HL_V_RAW || value->kind == HL_V_STRING;
  if (!is_text || (out->id == HL_ATTR_METADATA && p->text[value->range.begin] != '{'))
    return hl_value_error(p, value, "text in braces");
  out->text = hl_range_text(p, value->range);
  return true;
}

bool hl_read_attr(hl_parser *p, hl_range user, const hl_value *value, hl_attr *out)
{
  switch (hl_attr_kind_of(out->id)) {
  case HL_KIND_INT:
    return hl_value_int64(p, value, &out->i);
  case HL_KIND_BOOL:
    return read_bool(p, value, &out->i);
  case HL_KIND_FLOAT:
    return read_float(p, value, &out->f);
  case HL_KIND_ENUM:
    return read_word(p, out->id, value, &out->i);
  case HL_KIND_WORD:
    return read_text(p, value, out);
  case HL_KIND_WORDS:
    return read_words(p, value, out);
  case HL_KIND_STRING:
    return read_string(p, value, out);
  case HL_KIND_RAW:
  case HL_KIND_METADATA:
    return read_raw(p, value, out);
  case HL_KIND_INTS:
    note_entries(p, value, out);
    return read_ints(p, value, &out->ints);
  case HL_KIND_INTLISTS:
    return read_lists(p, value, out);
  case HL_KIND_GROUPS:
    out->lists.text = hl_range_text(p, value->range);
    return value->kind == HL_V_IOTA ? hl_read_groups(p, value, out)
                                    : value->kind == HL_V_RAW || read_lists(p, value, out);
  case HL_KIND_SLICE:
    return hl_read_slice(p, value, out);
  case HL_KIND_WINDOW:
    return hl_read_window(p, value, out);
  case HL_KIND_PADDING:
    return hl_read_padding(p, value, out);
  case HL_KIND_DIM_LABELS:
    return hl_read_dim_labels(p, value, out);
  case HL_KIND_COMPUTATION:
    return read_computations(p, value, 1, out);
  case HL_KIND_COMPUTATIONS:
    return read_computation_list(p, value, out);
  case HL_KIND_INSTRUCTIONS:
    return read_instructions(p, user, value, out);
  case HL_KIND_SHAPE:
    return read_shapes(p, value, 1, out);
  case HL_KIND_SHAPES:
    return read_shape_list(p, value, out);
  }
  return false;
}
