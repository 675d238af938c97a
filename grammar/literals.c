/* literals - constants, read from the text straight into typed arrays: no token and no node for a
 * number, because a constant may have millions. Where a fault is pointed at stands in
 * docs/language.md section 5a.
 */
#include "parser.h"
#include "../ir/limits.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct reader {
  hl_parser *p;
  const char *text;
  uint32_t at, size;
  /* of the array that is being read */
  const hl_shape *shape;
  hl_element_type type; /* of the elements, or of the parts of complex ones */
  hl_type_class class;
  int bytes;       /* of an element, or of a part */
  char *data;      /* where the next one goes; NULL: they are only counted */
  double overflow; /* from here on a magnitude does not fit; *including this value if
                      is_overflow_itself */
  bool is_overflow_itself;
  bool is_elided;
} reader;

__attribute__((format(printf, 4, 5))) static bool fail(reader *r, hl_range range, hl_rule rule,
                                                       const char *format, ...)
{
  char message[300];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  return hl_error(r->p->diag, range, rule, "%s", message);
}

static char here(const reader *r)
{
  return r->at < r->size ? r->text[r->at] : '\0';
}

static bool is_delimiter(char c)
{
  return c == ',' || c == ' ' || c == '}' || c == ')' || c == '{' || c == '(' || c == '\n' ||
         c == '\r' || c == '\t' || c == '/' || c == '\0';
}

static void skip(reader *r)
{
  while (r->at < r->size && r->text[r->at] == ' ')
    r->at++;
  char c = here(r);
  if (c == '\n' || c == '\t' || c == '\r' || c == '/')
    r->at = hl_skip_blanks(r->p, r->at);
}

/* The item that begins at `at`: a bracket, or all up to the next delimiter. */
static hl_range item_at(const reader *r, uint32_t at)
{
  uint32_t end = at;
  while (end < r->size && !is_delimiter(r->text[end]))
    end++;
  return (hl_range){at, end > at || at >= r->size ? end : at + 1};
}

static const char *shown(const reader *r, hl_range range)
{
  if (range.begin >= r->size)
    return "the end of the text";
  uint32_t length = range.end - range.begin;
  return hl_arena_printf(r->p->arena, "'%.*s'", (int)(length < 60 ? length : 60),
                         r->text + range.begin);
}

static bool refuse(reader *r, uint32_t begin, const char *why)
{
  hl_range item = item_at(r, begin);
  return fail(r, item, HL_RULE_LITERAL_VALUE, "%s %s", shown(r, item), why);
}

static bool out_of_range(reader *r, uint32_t begin)
{
  hl_range item = item_at(r, begin);
  return fail(r, item, HL_RULE_LITERAL_RANGE, "%s does not fit %s", shown(r, item),
              hl_type_name(r->type));
}

static void store(reader *r, uint64_t bits)
{
  if (!r->data)
    return;
  memcpy(r->data, &bits, (size_t)r->bytes); /* hosts are little-endian */
  r->data += r->bytes;
}

static bool is_word_here(const reader *r, const char *word)
{
  size_t length = strlen(word);
  return r->size - r->at >= length && !memcmp(r->text + r->at, word, length);
}

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* --- integers --- */

/* Digits behind an optional sign; the reader stands behind them. *fits is false beyond 64 bits. */
static uint64_t read_digits(reader *r, bool *fits)
{
  uint64_t value = 0;
  *fits = true;
  for (; is_digit(here(r)); r->at++)
    if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
        __builtin_add_overflow(value, (uint64_t)(r->text[r->at] - '0'), &value))
      *fits = false;
  return value;
}

/* Whether the magnitude with its sign is a value of the type. */
static bool fits_type(const reader *r, bool is_negative, uint64_t magnitude)
{
  int bits = hl_type_bits(r->type);
  if (r->class == HL_CLASS_UNSIGNED)
    return is_negative ? magnitude == 0 : bits == 64 || magnitude >> bits == 0;
  uint64_t most = (UINT64_C(1) << (bits - 1)) - 1;
  return magnitude <= most + is_negative;
}

static bool read_integer(reader *r)
{
  uint32_t begin = r->at;
  bool is_negative = here(r) == '-', fits;
  r->at += is_negative;
  if (!is_digit(here(r)))
    return refuse(r, begin, "is no integer");
  uint64_t magnitude = read_digits(r, &fits);
  if (!is_delimiter(here(r)))
    return refuse(r, begin, "is no integer");
  if (!fits)
    return fail(r, item_at(r, begin), HL_RULE_LEX_NUMBER, "this integer does not fit in 64 bits");
  if (r->class == HL_CLASS_PRED) {
    store(r, magnitude != 0);
    return true;
  }
  if (!fits_type(r, is_negative, magnitude))
    return out_of_range(r, begin);
  store(r, is_negative ? 0 - magnitude : magnitude);
  return true;
}

static bool read_pred(reader *r)
{
  bool is_true = is_word_here(r, "true");
  if (!is_true && !is_word_here(r, "false"))
    return read_integer(r);
  uint32_t begin = r->at;
  r->at += is_true ? 4 : 5;
  if (!is_delimiter(here(r)))
    return refuse(r, begin, "is neither true nor false");
  store(r, is_true);
  return true;
}

/* --- floats --- */

static void set_overflow(reader *r)
{
  double largest = hl_float_max_finite(r->type);
  int mantissa = hl_float_mantissa_bits(r->type), exponent;
  frexp(largest, &exponent);
  r->overflow = r->type == HL_F64 ? (double)INFINITY : largest + ldexp(1, exponent - 2 - mantissa);
  /* Half way to the next value rounds to even: away, unless the largest mantissa is even. */
  r->is_overflow_itself = !mantissa || hl_float_encode(r->type, largest) % 2;
}

/* f32 of a double that stays normal: quick, in integers, for any rounding mode. */
static bool narrow(double value, uint64_t *out)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  int64_t exponent = (int64_t)(bits >> 52 & 0x7ff) - 1023 + 127;
  if (exponent <= 0 || exponent >= 254)
    return false;
  uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1), kept = mantissa >> 29,
           rest = mantissa & 0x1fffffff;
  kept += rest > 0x10000000 || (rest == 0x10000000 && kept % 2);
  *out = ((bits >> 63) << 31) + ((uint64_t)exponent << 23) + kept;
  return true;
}

static bool store_float(reader *r, uint32_t begin, double value)
{
  uint64_t bits;
  if (r->type == HL_F32 && narrow(value, &bits)) {
    store(r, bits);
    return true;
  }
  double magnitude = fabs(value);
  if (magnitude > r->overflow || (magnitude == r->overflow && r->is_overflow_itself))
    return out_of_range(r, begin);
  bits = hl_float_encode(r->type, value);
  if (r->type == HL_F8E8M0FNU && bits == hl_float_nan_bits(r->type))
    return out_of_range(r, begin); /* no zero, no sign */
  store(r, bits);
  return true;
}

static bool read_payload(reader *r, uint32_t begin, uint64_t *payload)
{
  uint64_t value = 0;
  bool fits = true;
  uint32_t digits = r->at += 3; /* behind "(0x" */
  for (; r->at < r->size; r->at++) {
    char c = r->text[r->at];
    int digit = is_digit(c)            ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0)
      break;
    fits = fits && value >> 60 == 0;
    value = value << 4 | (uint64_t)digit;
  }
  if (r->at == digits || here(r) != ')')
    return fail(r, item_at(r, begin), HL_RULE_LEX_NUMBER, "a NaN's payload is written nan(0x1234)");
  r->at++;
  if (!value)
    return fail(r, (hl_range){begin, r->at}, HL_RULE_LEX_NUMBER, "a NaN's payload cannot be 0");
  if (!hl_float_has_infinity(r->type) || !fits || value >> hl_float_mantissa_bits(r->type))
    return fail(r, (hl_range){begin, r->at}, HL_RULE_LITERAL_RANGE,
                "this payload does not fit a NaN of %s", hl_type_name(r->type));
  *payload = value;
  return true;
}

/* nan, -nan, with a payload or without; the reader stands at the 'n'. */
static bool read_nan(reader *r, uint32_t begin, bool is_negative)
{
  uint64_t bits = hl_float_nan_bits(r->type), payload = 0;
  if (!isnan(hl_float_decode(r->type, bits)))
    return refuse(r, begin, "is no value of this type: it has no NaN");
  r->at += 3;
  if (is_word_here(r, "(0x")) {
    if (!read_payload(r, begin, &payload))
      return false;
    bits = hl_float_encode(r->type, (double)INFINITY) | payload;
  } else if (!is_delimiter(here(r)) || here(r) == '(') {
    return refuse(r, begin, "is no number");
  }
  uint64_t sign = UINT64_C(1) << (hl_type_bits(r->type) - 1);
  store(r, is_negative && isnan(hl_float_decode(r->type, bits | sign)) ? bits | sign : bits);
  return true;
}

static bool read_infinity(reader *r, uint32_t begin, bool is_negative)
{
  r->at += 3;
  if (!is_delimiter(here(r)))
    return refuse(r, begin, "is no number");
  if (!hl_float_has_infinity(r->type))
    return refuse(r, begin, "is no value of this type: it has no infinity");
  store(r, hl_float_encode(r->type, is_negative ? -(double)INFINITY : (double)INFINITY));
  return true;
}

/* Whether a number is written with digits alone; then it must be an integer of 64 bits. */
static bool check_digits(reader *r, uint32_t begin, uint32_t digits)
{
  for (uint32_t i = digits; i < r->at; i++)
    if (!is_digit(r->text[i]))
      return true;
  uint32_t end = r->at;
  bool fits;
  r->at = digits;
  read_digits(r, &fits);
  return (r->at = end, fits) ||
         fail(r, item_at(r, begin), HL_RULE_LEX_NUMBER, "this integer does not fit in 64 bits");
}

static bool read_float(reader *r)
{
  uint32_t begin = r->at;
  bool is_negative = here(r) == '-';
  r->at += is_negative;
  char c = here(r);
  if (c == 'i' && is_word_here(r, "inf"))
    return read_infinity(r, begin, is_negative);
  if (c == 'n' && is_word_here(r, "nan"))
    return read_nan(r, begin, is_negative);
  bool is_point = c == '.' && r->at + 1 < r->size && is_digit(r->text[r->at + 1]);
  if (is_point && !is_negative)
    return fail(r, item_at(r, begin), HL_RULE_LEX_NUMBER,
                "a positive number may not begin with '.'");
  if (!is_digit(c) && !is_point)
    return refuse(r, begin, "is no number");
  const char *end;
  uint32_t digits = r->at;
  double magnitude = hl_read_decimal(r->text + digits, r->text + r->size, &end);
  r->at = (uint32_t)(end - r->text);
  if (!is_delimiter(here(r)))
    return fail(r, item_at(r, begin), HL_RULE_LEX_NUMBER, "%s is no number",
                shown(r, item_at(r, begin)));
  if (r->at - digits > 19 && !check_digits(r, begin, digits))
    return false;
  if (isinf(magnitude))
    return out_of_range(r, begin);
  return store_float(r, begin, is_negative ? -magnitude : magnitude);
}

static bool expect(reader *r, char wanted)
{
  skip(r);
  if (here(r) != wanted) {
    hl_range item = item_at(r, r->at);
    return fail(r, item, HL_RULE_LITERAL_VALUE, "expected '%c', found %s", wanted, shown(r, item));
  }
  r->at++;
  return true;
}

static bool read_complex(reader *r)
{
  if (here(r) != '(')
    return refuse(r, r->at, "is no complex number: it is written (re, im)");
  r->at++;
  skip(r);
  if (!read_float(r) || !expect(r, ','))
    return false;
  skip(r);
  return read_float(r) && expect(r, ')');
}

/* --- arrays --- */

static bool read_value(reader *r)
{
  switch (r->class) {
  case HL_CLASS_PRED:
    return read_pred(r);
  case HL_CLASS_SIGNED:
  case HL_CLASS_UNSIGNED:
    return read_integer(r);
  case HL_CLASS_FLOAT:
    return read_float(r);
  default:
    return read_complex(r);
  }
}

static bool nesting_error(reader *r)
{
  hl_range item = item_at(r, r->at);
  if (r->shape->rank == 0)
    return fail(r, item, HL_RULE_LITERAL_NESTING,
                "%s: the constant of a scalar stands without braces", shown(r, item));
  return fail(r, item, HL_RULE_LITERAL_NESTING,
              "found %s: the braces of a constant of rank %d nest %d deep", shown(r, item),
              r->shape->rank, r->shape->rank);
}

/* A value stands where a value may: not a bracket, not the end, and not a second comma. */
static bool read_item(reader *r)
{
  char c = here(r);
  if (c == '{')
    return nesting_error(r);
  if (c == '}' || c == ',' || c == ')' || r->at >= r->size)
    return refuse(r, r->at, "stands where a value is expected");
  if (c == '.' && is_word_here(r, ".."))
    return refuse(r, r->at,
                  is_word_here(r, "...") ? "may only stand for all values of an array: {...}"
                                         : "is neither a number nor '...'");
  return read_value(r);
}

static bool count_error(reader *r, hl_range place, int64_t found, int64_t wanted)
{
  const char *many = found > wanted ? "more than " : "";
  return fail(r, place, HL_RULE_LITERAL_COUNT, "%s%" PRId64 " item%s where %s wants %" PRId64, many,
              found > wanted ? wanted : found, (found > wanted ? wanted : found) == 1 ? "" : "s",
              hl_shape_text(r->p->arena, r->shape), wanted);
}

/* The separator before item i of n, or the end of the level. *done: the level ended. */
static bool between(reader *r, int64_t i, int64_t n, bool *done)
{
  skip(r);
  char c = here(r);
  *done = c == '}';
  if (*done)
    return i == n || count_error(r, item_at(r, r->at), i, n);
  if (i == 0)
    return n > 0 || count_error(r, item_at(r, r->at), 1, 0);
  if (c != ',') {
    hl_range item = item_at(r, r->at);
    return fail(r, item, HL_RULE_LITERAL_VALUE, "expected ',' or '}', found %s", shown(r, item));
  }
  r->at++;
  skip(r);
  return i < n || count_error(r, item_at(r, r->at), i + 1, n);
}

/* `...}`: the verifier warns, unless the values come from elsewhere. */
static bool read_elision(reader *r)
{
  r->at += 3;
  r->is_elided = true;
  return expect(r, '}');
}

/* Braces around the items of dimension `level`. */
static bool read_level(reader *r, int level)
{
  int64_t n = r->shape->dimensions[level];
  bool is_last = level + 1 == r->shape->rank, is_done = false;
  if (here(r) != '{')
    return nesting_error(r);
  r->at++;
  for (int64_t i = 0;; i++) {
    skip(r);
    if (level == 0 && i == 0 && is_word_here(r, "..."))
      return read_elision(r);
    if (!between(r, i, n, &is_done))
      return false;
    if (is_done)
      break;
    if (level == 0 && is_word_here(r, "..."))
      return read_elision(r);
    if (is_last ? !read_item(r) : !read_level(r, level + 1))
      return false;
  }
  r->at++;
  return true;
}

static void set_array(reader *r, const hl_shape *shape)
{
  r->shape = shape;
  r->type = hl_component_type(shape->element_type);
  r->class = hl_type_class_of(shape->element_type);
  r->bytes = hl_type_bytes(r->type);
  r->data = NULL;
  r->is_elided = false;
  if (hl_is_float(r->type))
    set_overflow(r);
}

/* Memory for the values, unless there is not text enough for so many: then they are read for the
 * place of the error alone. */
static bool make_data(reader *r, hl_literal **literal)
{
  hl_parser *p = r->p;
  uint32_t at = hl_skip_blanks(p, here(r) == '{' ? r->at + 1 : r->at);
  bool is_elided = r->size - at >= 3 && !memcmp(r->text + at, "...", 3);
  *literal = HL_NEW(p->arena, hl_literal);
  (*literal)->shape = r->shape;
  if (is_elided || hl_shape_elements(r->shape) > r->size - r->at)
    return true;
  int64_t bytes = hl_shape_bytes(r->shape);
  if (bytes > HL_LIMIT_LITERAL_BYTES - p->literal_bytes) {
    hl_stop(p, item_at(r, r->at), "the constants of a module take more than %u bytes",
            HL_LIMIT_LITERAL_BYTES);
    return false;
  }
  p->literal_bytes += bytes;
  *literal = hl_literal_new(p->arena, r->shape);
  r->data = (*literal)->data;
  return true;
}

static hl_literal *read_array(reader *r, const hl_shape *shape)
{
  hl_literal *literal;
  set_array(r, shape);
  if (!make_data(r, &literal) || !(shape->rank ? read_level(r, 0) : read_item(r)))
    return NULL;
  literal->is_elided = r->is_elided;
  if (r->is_elided)
    literal->data = NULL;
  return literal;
}

/* --- tuples --- */

static hl_literal *read_any(reader *r, const hl_shape *shape);

static hl_literal *read_tuple(reader *r, const hl_shape *shape)
{
  hl_literal *literal = HL_NEW(r->p->arena, hl_literal);
  const hl_literal **elements = HL_ARRAY(r->p->arena, shape->tuple_count, const hl_literal *);
  literal->shape = shape;
  literal->elements = elements;
  if (!expect(r, '('))
    return NULL;
  for (int i = 0; i < shape->tuple_count; i++) {
    if (i && !expect(r, ','))
      return NULL;
    skip(r);
    elements[i] = read_any(r, shape->tuple_shapes[i]);
    if (!elements[i])
      return NULL;
    literal->is_elided = literal->is_elided || elements[i]->is_elided;
  }
  return expect(r, ')') ? literal : NULL;
}

/* Shapes nest HL_LIMIT_NESTING deep at most. */
static hl_literal *read_any(reader *r, const hl_shape *shape)
{
  if (shape->element_type == HL_TUPLE)
    return read_tuple(r, shape);
  if (hl_shape_is_array(shape))
    return read_array(r, shape);
  fail(r, item_at(r, r->at), HL_RULE_LITERAL_SHAPE, "there are no constants of %s",
       hl_type_name(shape->element_type));
  return NULL;
}

/* The parenthesis that closes the constant, when there is no shape to read it by. */
static uint32_t skip_unread(const hl_parser *p, uint32_t at)
{
  for (int depth = 0; at < p->size; at++) {
    char c = p->text[at];
    if (c == ')' && depth-- == 0)
      break;
    depth += c == '(';
  }
  return at;
}

bool hl_read_literal(hl_parser *p, uint32_t at, uint32_t *end)
{
  p->literal = NULL;
  if (!p->shape || p->shape == p->bad_shape) {
    if (!p->shape)
      hl_error(p->diag, p->token_before, HL_RULE_LITERAL_SHAPE,
               "the result shape of a constant must be written");
    *end = skip_unread(p, at);
    return true;
  }
  reader r = {.p = p, .text = p->text, .at = at, .size = p->size};
  skip(&r);
  p->literal = read_any(&r, p->shape);
  *end = r.at;
  return p->literal != NULL;
}
