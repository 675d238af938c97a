/* loop_lex.c - words, numbers, constants and lines of the loop IR's text. */
#include "loop_parser.h"

#include "limits.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hl_range hl_parse_here(hl_loop_parser *p)
{
  hl_peek_char(p);
  uint32_t at = (uint32_t)p->at;
  return (hl_range){at, at < p->source->size ? at + 1 : at};
}

bool hl_parse_fail(hl_loop_parser *p, const char *format, ...)
{
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (!p->has_failed)
    hl_error(p->diag, hl_parse_here(p), HL_RULE_SYNTAX, "%s", text);
  p->has_failed = true;
  return false;
}

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void skip_comment(hl_loop_parser *p)
{
  while (p->at < p->source->size && p->source->text[p->at] != '\n')
    p->at++;
}

static void skip_blanks(hl_loop_parser *p)
{
  for (;; p->at++) {
    char c = p->source->text[p->at];
    if (c == '/' && p->source->text[p->at + 1] == '/') {
      skip_comment(p);
      c = p->source->text[p->at];
    }
    if (c != ' ' && c != '\t' && c != '\r' && !(c == '\n' && p->open_count > 0))
      return;
  }
}

char hl_peek_char(hl_loop_parser *p)
{
  skip_blanks(p);
  return p->source->text[p->at];
}

bool hl_accept(hl_loop_parser *p, const char *punctuation)
{
  skip_blanks(p);
  size_t length = strlen(punctuation);
  if (strncmp(p->source->text + p->at, punctuation, length) != 0)
    return false;
  p->at += length;
  return true;
}

bool hl_expect(hl_loop_parser *p, const char *punctuation)
{
  return hl_accept(p, punctuation) || hl_parse_fail(p, "expected '%s'", punctuation);
}

bool hl_open(hl_loop_parser *p, const char *bracket)
{
  if (!hl_accept(p, bracket))
    return false;
  p->open_count++;
  return true;
}

bool hl_close(hl_loop_parser *p, const char *bracket)
{
  if (!hl_expect(p, bracket))
    return false;
  p->open_count--;
  return true;
}

/* Letters, digits, _ and single dots between them. */
hl_word hl_peek_word(hl_loop_parser *p)
{
  skip_blanks(p);
  const char *text = p->source->text + p->at;
  size_t length = 0;
  if (is_letter(text[0]))
    for (length = 1; is_letter(text[length]) || is_digit(text[length]) ||
                     (text[length] == '.' && is_letter(text[length + 1]));)
      length++;
  return (hl_word){text, length};
}

hl_word hl_read_word(hl_loop_parser *p)
{
  hl_word word = hl_peek_word(p);
  p->at += word.length;
  return word;
}

bool hl_word_is(hl_word word, const char *text)
{
  return word.length == strlen(text) && !memcmp(word.text, text, word.length);
}

const char *hl_word_copy(hl_loop_parser *p, hl_word word)
{
  return hl_arena_strndup(p->arena, word.text, word.length);
}

bool hl_accept_word(hl_loop_parser *p, const char *text)
{
  hl_word word = hl_peek_word(p);
  if (!hl_word_is(word, text))
    return false;
  p->at += word.length;
  return true;
}

bool hl_expect_word(hl_loop_parser *p, const char *text)
{
  return hl_accept_word(p, text) || hl_parse_fail(p, "expected '%s'", text);
}

static const char *read_quoted(hl_loop_parser *p)
{
  hl_str name = {.arena = p->arena};
  const char *text = p->source->text;
  hl_str_add(&name, "");
  for (p->at++; text[p->at] != '"'; p->at++) {
    if (text[p->at] == '\\')
      p->at++;
    if (p->at >= p->source->size || text[p->at] == '\0') {
      hl_parse_fail(p, "a quoted name has no end");
      return NULL;
    }
    hl_str_add_char(&name, text[p->at]);
  }
  p->at++;
  return name.text;
}

const char *hl_read_name(hl_loop_parser *p)
{
  if (hl_peek_char(p) == '"')
    return read_quoted(p);
  const char *text = p->source->text + p->at;
  size_t length = 0;
  while (is_letter(text[length]) || is_digit(text[length]) ||
         (text[length] && strchr(".-", text[length])))
    length++;
  if (length == 0 || length > HL_LIMIT_NAME_BYTES) {
    hl_parse_fail(p, length ? "the name is too long" : "expected a name");
    return NULL;
  }
  p->at += length;
  return hl_arena_strndup(p->arena, text, length);
}

/* Numbers. */

static bool read_magnitude(hl_loop_parser *p, uint64_t *value)
{
  if (!is_digit(hl_peek_char(p)))
    return hl_parse_fail(p, "expected a whole number");
  errno = 0;
  char *end;
  *value = strtoull(p->source->text + p->at, &end, 10);
  if (errno)
    return hl_parse_fail(p, "the number does not fit 64 bits");
  p->at = (size_t)(end - p->source->text);
  return true;
}

bool hl_read_int(hl_loop_parser *p, int64_t *value)
{
  uint64_t number = 0;
  if (!read_magnitude(p, &number))
    return false;
  if (number > INT64_MAX)
    return hl_parse_fail(p, "the number does not fit 63 bits");
  *value = (int64_t)number;
  return true;
}

bool hl_read_type(hl_loop_parser *p, hl_element_type *type)
{
  hl_word word = hl_peek_word(p);
  *type = hl_type_by_name(word.text, word.length);
  if (*type == HL_TYPE_COUNT || hl_type_class_of(*type) > HL_CLASS_COMPLEX)
    return hl_parse_fail(p, "expected an element type");
  p->at += word.length;
  return true;
}

/* The number's characters: digits, fraction, exponent; "0..8" ends after the 0. */
static size_t number_length(const char *text, bool *is_whole)
{
  size_t length = 0;
  while (is_digit(text[length]))
    length++;
  *is_whole = true;
  if (text[length] == '.' && text[length + 1] != '.') {
    *is_whole = false;
    for (length++; is_digit(text[length]);)
      length++;
  }
  if (text[length] == 'e') {
    size_t sign = text[length + 1] == '-' || text[length + 1] == '+' ? 1 : 0;
    if (is_digit(text[length + 1 + sign])) {
      *is_whole = false;
      for (length += 1 + sign; is_digit(text[length]);)
        length++;
    }
  }
  return length;
}

/* A constant as its characters. */
typedef struct spelling {
  size_t start;
  size_t length; /* of the number, after the sign */
  bool is_negative, is_whole, is_nan, is_infinite, is_bool, is_true;
  bool has_payload;
  uint64_t payload;
} spelling;

static bool read_payload(hl_loop_parser *p, spelling *s)
{
  if (!hl_accept(p, "("))
    return true;
  char *end;
  const char *start = p->source->text + p->at;
  s->has_payload = true;
  s->payload = strtoull(start, &end, 16);
  p->at += (size_t)(end - start);
  return hl_expect(p, ")");
}

static bool read_spelling_word(hl_loop_parser *p, spelling *s)
{
  hl_word word = hl_peek_word(p);
  s->is_true = hl_word_is(word, "true");
  s->is_bool = s->is_true || hl_word_is(word, "false");
  s->is_infinite = hl_word_is(word, "inf");
  s->is_nan = hl_word_is(word, "nan");
  if (!s->is_bool && !s->is_infinite && !s->is_nan)
    return hl_parse_fail(p, "expected a constant");
  p->at += word.length;
  return !s->is_nan || read_payload(p, s);
}

static bool read_spelling(hl_loop_parser *p, spelling *s)
{
  *s = (spelling){.is_negative = hl_accept(p, "-")};
  s->start = p->at;
  if (!is_digit(hl_peek_char(p)))
    return read_spelling_word(p, s);
  s->start = p->at;
  s->length = number_length(p->source->text + p->at, &s->is_whole);
  p->at += s->length;
  return true;
}

static bool int_bits(hl_loop_parser *p, const spelling *s, hl_element_type type, uint64_t *bits)
{
  int width = hl_type_bits(type);
  bool is_signed = hl_type_class_of(type) == HL_CLASS_SIGNED;
  uint64_t half = UINT64_C(1) << (width - 1), top = is_signed ? half - 1 : half - 1 + half;
  if (!s->is_whole)
    return hl_parse_fail(p, "%s has whole numbers only", hl_type_name(type));
  errno = 0;
  uint64_t number = strtoull(p->source->text + s->start, NULL, 10);
  if (errno || number > (is_signed && s->is_negative ? top + 1 : s->is_negative ? 0 : top))
    return hl_parse_fail(p, "the number does not fit %s", hl_type_name(type));
  *bits = (s->is_negative ? -number : number) & (UINT64_MAX >> (64 - 8 * hl_type_bytes(type)));
  return true;
}

static uint64_t nan_bits(const spelling *s, hl_element_type type)
{
  uint64_t bits = hl_float_nan_bits(type);
  uint64_t mantissa = (UINT64_C(1) << hl_float_mantissa_bits(type)) - 1;
  if (s->has_payload)
    bits = (bits & ~mantissa) | (s->payload & mantissa);
  return s->is_negative ? bits | UINT64_C(1) << (hl_type_bits(type) - 1) : bits;
}

static uint64_t float_bits(hl_loop_parser *p, const spelling *s, hl_element_type type)
{
  if (s->is_nan)
    return nan_bits(s, type);
  double value = s->is_infinite ? (double)INFINITY : strtod(p->source->text + s->start, NULL);
  return hl_float_encode(type, s->is_negative ? -value : value);
}

static bool const_bits(hl_loop_parser *p, const spelling *s, hl_element_type type, uint64_t *bits)
{
  hl_type_class class = hl_type_class_of(type);
  if (s->is_bool != (class == HL_CLASS_PRED))
    return hl_parse_fail(p, "true and false are the constants of pred, and of no other type");
  if (class == HL_CLASS_PRED)
    *bits = s->is_true;
  else if (class == HL_CLASS_FLOAT)
    *bits = float_bits(p, s, type);
  else
    return int_bits(p, s, type, bits);
  return true;
}

bool hl_read_const_of(hl_loop_parser *p, hl_element_type type, uint64_t *bits)
{
  spelling s;
  return read_spelling(p, &s) && const_bits(p, &s, type, bits);
}

bool hl_read_typed_const(hl_loop_parser *p, hl_element_type *type, uint64_t *bits)
{
  spelling s;
  if (!read_spelling(p, &s))
    return false;
  *type = s.is_bool ? HL_PRED : s.is_whole ? HL_S64 : HL_F32;
  const char *next = p->source->text + p->at;
  if (next[0] == ':' && is_letter(next[1])) {
    p->at++;
    if (!hl_read_type(p, type))
      return false;
  }
  if (hl_is_complex(*type))
    return hl_parse_fail(p, "complex values are pairs of scalars here");
  return const_bits(p, &s, *type, bits);
}

/* Lines. */

bool hl_expect_line_end(hl_loop_parser *p)
{
  char c = hl_peek_char(p);
  if (c == '\n' || (c == '\0' && p->at >= p->source->size))
    return true;
  return hl_parse_fail(p, "expected the end of the line");
}

int hl_next_line(hl_loop_parser *p)
{
  while (hl_peek_char(p) == '\n')
    p->at++;
  if (p->at >= p->source->size)
    return -1;
  size_t start = p->at;
  while (start > 0 && p->source->text[start - 1] != '\n')
    start--;
  return (int)(p->at - start);
}

bool hl_enter(hl_loop_parser *p)
{
  if (++p->depth <= HL_LIMIT_NESTING)
    return true;
  p->has_failed = true;
  return hl_error(p->diag, hl_parse_here(p), HL_RULE_LIMIT, "nested more than %d deep",
                  HL_LIMIT_NESTING);
}

void hl_leave(hl_loop_parser *p)
{
  p->depth--;
}
