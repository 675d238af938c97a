/* scan - tokens that depend on context: comments, strings, raw text, literals, layouts, keywords,
 * and going on after an error.
 *
 * hl_yylex is what the grammar calls. It takes tokens from hl_scan (hlo.l) and reads by hand what
 * no regular expression can.
 */
#include "parser.h"
#include "hlo.tab.h"
#include "../ir/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int hl_yylex(HL_YYSTYPE *value, hl_range *location, void *scanner, hl_parser *p);

bool hl_is_word_start(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool hl_is_word_byte(char c)
{
  return hl_is_word_start(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

uint32_t hl_skip_word(const hl_parser *p, uint32_t at)
{
  while (at < p->size && hl_is_word_byte(p->text[at]))
    at++;
  return at;
}

/* Behind the comment that begins at `at`; `at` itself if it is never closed or none is there. */
static uint32_t skip_comment(hl_parser *p, uint32_t at)
{
  const char *text = p->text;
  if (at + 1 >= p->size || text[at] != '/')
    return at;
  if (text[at + 1] == '/') {
    const char *end = memchr(text + at, '\n', p->size - at);
    return end ? (uint32_t)(end - text) : p->size;
  }
  if (text[at + 1] != '*' || at >= p->open_comment)
    return at;
  const char *star = text + at + 1;
  while ((star = memchr(star + 1, '*', (size_t)(text + p->size - star - 1))))
    if (star[1] == '/')
      return (uint32_t)(star - text) + 2;
  p->open_comment = at;
  return at;
}

uint32_t hl_skip_blanks(hl_parser *p, uint32_t at)
{
  for (uint32_t next;; at = next) {
    while (at < p->size && is_blank(p->text[at]))
      at++;
    next = skip_comment(p, at);
    if (next == at)
      return at;
  }
}

uint32_t hl_skip_string(hl_parser *p, uint32_t at)
{
  char quote = p->text[at];
  uint32_t *open = &p->open_string[quote == '\''];
  for (uint32_t i = at + 1; i < p->size && at < *open; i++) {
    if (p->text[i] == '\\')
      i++;
    else if (p->text[i] == quote)
      return i + 1;
  }
  /* Quotes behind this one are escaped, and stand in step with it: they find no partner either. */
  *open = at < *open ? at : *open;
  return at;
}

const char *hl_range_text(const hl_parser *p, hl_range range)
{
  return hl_arena_strndup(p->arena, p->text + range.begin, range.end - range.begin);
}

const char *hl_name_text(const hl_parser *p, hl_range range)
{
  if (range.begin < range.end && p->text[range.begin] == '%')
    range.begin++;
  return hl_range_text(p, range);
}

bool hl_range_is(const hl_parser *p, hl_range range, const char *text)
{
  size_t length = strlen(text);
  return range.end - range.begin == length && !memcmp(p->text + range.begin, text, length);
}

void hl_stop(hl_parser *p, hl_range range, const char *format, ...)
{
  char message[200];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  hl_error(p->diag, range, HL_RULE_LIMIT, "%s", message);
  p->is_fatal = true;
}

void hl_resync(hl_parser *p)
{
  p->must_sync = true;
}

/* --- where to go on after an error --- */

/* Whether nothing but blanks stands before the place on its line. */
static bool is_first_on_line(const hl_parser *p, uint32_t at)
{
  while (at > 0 && (p->text[at - 1] == ' ' || p->text[at - 1] == '\t'))
    at--;
  return at == 0 || p->text[at - 1] == '\n';
}

static bool is_keyword(const hl_parser *p, uint32_t at, const char *word)
{
  return hl_range_is(p, (hl_range){at, hl_skip_word(p, at)}, word);
}

/* `name =` or `%name=`, perhaps after ROOT: an attribute follows a comma and has no blank before
 * its '='. */
static bool begins_instruction(hl_parser *p, uint32_t at)
{
  uint32_t before = at;
  while (before > 0 && is_blank(p->text[before - 1]))
    before--;
  if (before > 0 && p->text[before - 1] == ',')
    return false;
  if (is_keyword(p, at, "ROOT"))
    at = hl_skip_blanks(p, at + 4);
  bool is_percent = at < p->size && p->text[at] == '%';
  uint32_t begin = at + is_percent, end = hl_skip_word(p, begin);
  if (end == begin || !hl_is_word_start(p->text[begin]))
    return false;
  uint32_t next = hl_skip_blanks(p, end);
  return next < p->size && p->text[next] == '=' && (is_percent || next > end);
}

static bool begins_computation(hl_parser *p, uint32_t at)
{
  if (is_keyword(p, at, "ENTRY"))
    return true;
  uint32_t begin = at + (p->text[at] == '%'), end = hl_skip_word(p, begin);
  uint32_t next = hl_skip_blanks(p, end);
  return end > begin && is_first_on_line(p, at) && next < p->size &&
         (p->text[next] == '{' || p->text[next] == '(');
}

/* Behind what is no start of anything: a comment, a string, a word or one byte. */
static uint32_t step_over(hl_parser *p, uint32_t at)
{
  char c = p->text[at];
  uint32_t next = c == '/' ? skip_comment(p, at) : c == '"' ? hl_skip_string(p, at) : at;
  if (hl_is_word_byte(c))
    next = hl_skip_word(p, at);
  return next > at ? next : at + 1;
}

/* The next instruction or the '}' that closes the body, `braces` open ones away. */
static uint32_t find_instruction(hl_parser *p, uint32_t at, int braces)
{
  for (; at < p->size; at = step_over(p, at)) {
    char c = p->text[at];
    if (c == '{')
      braces++;
    else if (c == '}' && (braces-- <= 0 || is_first_on_line(p, at)))
      return at;
    else if ((c == '%' || hl_is_word_start(c)) && begins_instruction(p, at))
      return at;
    else if (c == 'E' && is_first_on_line(p, at) && is_keyword(p, at, "ENTRY"))
      return at;
  }
  return p->size;
}

static uint32_t find_computation(hl_parser *p, uint32_t at)
{
  for (; at < p->size; at = step_over(p, at))
    if ((p->text[at] == '%' || hl_is_word_start(p->text[at])) && begins_computation(p, at))
      return at;
  return p->size;
}

/* Goes on behind an error. Each time further than before, so that reading ends. */
static int synchronize(hl_parser *p, hl_range *location)
{
  uint32_t from = p->token.begin;
  if (p->synced_at != HL_NO_OFFSET && from <= p->synced_at)
    from = p->synced_at < p->size ? step_over(p, p->synced_at) : p->size;
  const hl_scope *scope = p->scope;
  uint32_t at =
      scope ? find_instruction(p, from, p->old_braces - scope->braces) : find_computation(p, from);
  p->must_sync = false;
  p->synced_at = at;
  p->nesting = scope ? scope->nesting : 0;
  p->braces = scope ? scope->braces : 0;
  p->mode = HL_SCAN_TOKENS;
  p->in_layout = p->in_tables = p->is_constant = false;
  if (scope && at < p->size && p->text[at] == 'E')
    p->is_fatal = true; /* the body lost its '}': what follows would draw errors that are none */
  hl_scan_jump(p->scanner, p->text + at);
  *location = (hl_range){at, at};
  return T_SYNC;
}

/* --- tokens read by hand --- */

/* An error at the token; the rest of the instruction is skipped. */
static int fail(hl_parser *p, hl_range range, hl_rule rule, const char *message)
{
  hl_error(p->diag, range, rule, "%s", message);
  p->token = range;
  hl_resync(p);
  return T_HL_YYerror;
}

static int too_deep(hl_parser *p, hl_range range)
{
  hl_stop(p, range, "brackets nest deeper than %d", HL_LIMIT_NESTING);
  return T_HL_YYerror;
}

/* Whether a raw value goes on behind a blank: mesh['x'=2,'y'=1] {'x'}. */
static bool goes_on(hl_parser *p, uint32_t blank)
{
  uint32_t next = hl_skip_blanks(p, blank);
  return p->text[blank - 1] == ']' && next < p->size && p->text[next] == '{';
}

/* The end of a raw value: balanced brackets and what clings to them, up to a blank, a comma or a
 * closing bracket. Strings hide brackets; single quotes count after '=' only, and never in JSON. */
static int scan_raw(hl_parser *p, hl_range *location)
{
  bool is_json = p->mode == HL_SCAN_JSON;
  uint32_t at = location->begin;
  int depth = 0;
  for (uint32_t next; at < p->size; at = next) {
    char c = p->text[at];
    next = at + 1;
    if (c == '"' || (c == '\'' && !is_json && p->text[at - 1] == '=')) {
      next = hl_skip_string(p, at);
      if (next == at)
        return fail(p, (hl_range){at, at + 1}, HL_RULE_LEX_STRING, "this string is never closed");
    } else if (c == '{' || c == '[' || c == '(') {
      if (++depth + p->nesting > HL_LIMIT_NESTING)
        return too_deep(p, (hl_range){at, next});
    } else if (c == '}' || c == ']' || c == ')') {
      if (depth-- == 0)
        break;
    } else if (depth == 0 && (c == ',' || (is_blank(c) && !goes_on(p, at)))) {
      break;
    } else if (c == '/' && !is_json && depth) {
      next = skip_comment(p, at);
      next = next > at ? next : at + 1;
    }
  }
  if (depth > 0)
    return fail(p, (hl_range){location->begin, location->begin + 1}, HL_RULE_SYNTAX,
                "this bracket is never closed");
  location->end = at;
  return T_RAW;
}

/* The value of an attribute that is kept as text. An empty one is left to the grammar. */
static int scan_raw_value(hl_parser *p, hl_range *location)
{
  uint32_t at = hl_skip_blanks(p, p->token.end);
  *location = (hl_range){at, at};
  int token = scan_raw(p, location);
  p->mode = HL_SCAN_TOKENS;
  if (token != T_RAW) {
    p->token = *location; /* going on counts brackets from the value's begin */
    return token;
  }
  hl_scan_jump(p->scanner, p->text + location->end);
  return location->end > location->begin ? T_RAW : 0;
}

static int scan_literal(hl_parser *p, hl_range *location)
{
  uint32_t at = p->token.end, end = at;
  p->mode = HL_SCAN_TOKENS;
  if (!hl_read_literal(p, at, &end)) {
    *location = p->token =
        (hl_range){at, at}; /* going on counts brackets from the literal's begin */
    hl_resync(p);
    return T_HL_YYerror;
  }
  *location = (hl_range){hl_skip_blanks(p, at), end};
  hl_scan_jump(p->scanner, p->text + end);
  return T_LITERAL;
}

static int scan_string(hl_parser *p, hl_range *location)
{
  uint32_t end = hl_skip_string(p, location->begin);
  if (end == location->begin)
    return fail(p, *location, HL_RULE_LEX_STRING, "this string is never closed");
  location->end = end;
  hl_scan_jump(p->scanner, p->text + end);
  return T_STRING;
}

/* From behind the ':' of a layout to its '}'. */
static int scan_suffix(hl_parser *p, hl_range *location)
{
  uint32_t at = location->end;
  int depth = 0;
  for (; at < p->size; at++) {
    char c = p->text[at];
    if (c == '}' || c == '\n' || (c == ')' && !depth))
      break;
    depth += (c == '(') - (c == ')');
  }
  *location = (hl_range){location->end, at};
  hl_scan_jump(p->scanner, p->text + at);
  return T_LAYOUT_SUFFIX;
}

static int byte_order_mark(hl_parser *p, hl_range range)
{
  range.end = range.begin + 3;
  int token = fail(p, range, HL_RULE_LEX_CHARACTER, "the text begins with a byte order mark");
  hl_help(p->diag, "save it as UTF-8 without one");
  return token;
}

static int stray(hl_parser *p, hl_range range)
{
  char message[80];
  if (range.begin == 0 && p->size >= 3 && !memcmp(p->text, "\xef\xbb\xbf", 3))
    return byte_order_mark(p, range);
  unsigned char c = (unsigned char)p->text[range.begin];
  if (c == '.' && p->text[range.begin + 1] >= '0' && p->text[range.begin + 1] <= '9')
    return fail(p, range, HL_RULE_LEX_NUMBER, "a number may not begin with '.'");
  if (c == '%')
    return fail(p, range, HL_RULE_LEX_CHARACTER, "'%' wants a name directly behind it");
  snprintf(message, sizeof message,
           c > ' ' && c < 0x7f ? "stray character '%c'" : "stray byte 0x%02x", c);
  return fail(p, range, HL_RULE_LEX_CHARACTER, message);
}

typedef struct keyword {
  const char *text;
  int token;
} keyword;

static const keyword keywords[] = {
    {"true", T_BOOL},
    {"false", T_BOOL},
    {"inf", T_SPECIAL},
    {"nan", T_SPECIAL},
    {"HloModule", T_HLO_MODULE},
    {"ENTRY", T_ENTRY},
    {"ROOT", T_ROOT},
    {"FileNames", T_TABLE},
    {"FunctionNames", T_TABLE},
    {"FileLocations", T_TABLE},
    {"StackFrames", T_TABLE},
    {"maximal", T_RESERVED},
    {"replicated", T_RESERVED},
    {"manual", T_RESERVED},
    {"last_tile_dim_replicate", T_RESERVED},
    {"shard_as", T_RESERVED},
    {"shard_like", T_RESERVED},
    {"unknown", T_RESERVED},
    {"unreduced", T_RESERVED},
};

/* Cheap: most words are no types. */
static bool may_be_type(const char *text, uint32_t length)
{
  bool has_digit =
      (text[1] >= '0' && text[1] <= '9') || (text[1] == 'f' && text[2] >= '0' && text[2] <= '9');
  bool has_letter = *text == 's' || *text == 'u' || *text == 'f' || *text == 'b' || *text == 'c';
  return length <= 13 && ((has_digit && has_letter) || (length == 4 && *text == 'p') ||
                          (length == 5 && *text == 't') || (length == 6 && *text == 'o'));
}

static int classify_word(const hl_parser *p, hl_range range)
{
  const char *text = p->text + range.begin;
  uint32_t length = range.end - range.begin;
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (*keywords[i].text == *text && hl_range_is(p, range, keywords[i].text))
      return keywords[i].token;
  if (length >= 2 && may_be_type(text, length) && hl_type_by_name(text, length) != HL_TYPE_COUNT)
    return T_TYPE;
  if (length == 1 && *text == 'T' && p->previous == ']' && range.end < p->size &&
      p->text[range.end] == '(')
    return T_TRANSPOSED;
  return T_WORD;
}

typedef struct attr_form {
  const char *name;
  size_t length;
  hl_attr_kind kind;
} attr_form;

static const attr_form attr_forms[] = {
#define HL_ATTR(id, name, kind, words) {name, sizeof name - 1, HL_KIND_##kind},
#include "../ir/attrs.def"
    {"is_scheduled", 12, HL_KIND_BOOL},
    {"replica_count", 13, HL_KIND_INT},
    {"num_partitions", 14, HL_KIND_INT},
    {"execution_thread", 16, HL_KIND_STRING},
};

/* Text is kept as it is for the attributes that have no meaning here, and for those that nobody
 * knows: the message about the name is better than one about the value. */
static hl_scan_mode mode_for_attr(hl_parser *p, hl_range name)
{
  size_t length = name.end - name.begin;
  const char *text = p->text + name.begin;
  for (size_t i = 0; i < sizeof attr_forms / sizeof *attr_forms; i++) {
    const attr_form *form = &attr_forms[i];
    if (form->length != length || memcmp(form->name, text, length) != 0)
      continue;
    bool is_raw = form->kind == HL_KIND_RAW || form->kind == HL_KIND_METADATA;
    if (form->kind == HL_KIND_GROUPS) {
      uint32_t at = hl_skip_blanks(p, name.end + 1);
      is_raw = at < p->size && p->text[at] != '{' && p->text[at] != '[';
    }
    return !is_raw                                  ? HL_SCAN_TOKENS
           : hl_range_is(p, name, "backend_config") ? HL_SCAN_JSON
                                                    : HL_SCAN_RAW;
  }
  return p->previous == ',' && !p->in_tables ? HL_SCAN_RAW : HL_SCAN_TOKENS;
}

static int scan_attr(hl_parser *p, hl_range range)
{
  range.end--;
  if (hl_range_is(p, range, "entry_computation_layout"))
    return T_ENTRY_LAYOUT;
  if (hl_range_is(p, range, "input_output_alias"))
    return T_ALIASES;
  if (hl_range_is(p, range, "buffer_donor"))
    return T_DONORS;
  p->mode = mode_for_attr(p, range);
  return T_ATTR;
}

/* Whether the '{' behind a shape opens a layout: an integer or ':' follows. */
static bool opens_layout(hl_parser *p, uint32_t behind)
{
  if (p->previous != ']')
    return false;
  uint32_t at = hl_skip_blanks(p, behind);
  char c = at < p->size ? p->text[at] : '\0';
  return c == ':' || c == '-' || (c >= '0' && c <= '9');
}

static int open_bracket(hl_parser *p, int token, hl_range *location)
{
  p->braces += token == '{';
  if (++p->nesting > HL_LIMIT_NESTING)
    return too_deep(p, *location);
  if (token == '(' && p->is_constant && p->scope)
    p->mode = HL_SCAN_LITERAL;
  if (token == '{' && opens_layout(p, location->end)) {
    p->in_layout = true;
    return T_LAYOUT;
  }
  return token;
}

static void close_bracket(hl_parser *p, int token)
{
  p->nesting -= p->nesting > 0;
  if (token != '}')
    return;
  p->braces -= p->braces > 0;
  p->in_layout = false;
}

static int check_name(hl_parser *p, int token, hl_range *location)
{
  if (location->end - location->begin <= HL_LIMIT_NAME_BYTES)
    return token;
  hl_stop(p, *location, "a name is longer than %d bytes", HL_LIMIT_NAME_BYTES);
  return T_HL_YYerror;
}

/* What the token from the scanner is in this place. */
static int refine(hl_parser *p, int token, hl_range *location)
{
  switch (token) {
  case T_WORD:
    return check_name(p, classify_word(p, *location), location);
  case T_PERCENT_NAME:
  case T_COLON_NAME:
    return check_name(p, token, location);
  case T_ATTR:
    return check_name(p, scan_attr(p, *location), location);
  case T_STRING:
    return scan_string(p, location);
  case T_BAD_NUMBER:
    return fail(p, *location, HL_RULE_LEX_NUMBER,
                "this is no number; a name may not begin with a digit");
  case T_STRAY:
    return stray(p, *location);
  case '(':
  case '[':
  case '{':
    return open_bracket(p, token, location);
  case ')':
  case ']':
  case '}':
    close_bracket(p, token);
    return token;
  case ':':
    return p->in_layout ? scan_suffix(p, location) : token;
  default:
    return token;
  }
}

/* The next token of hlo.l with comments skipped. */
static int next_token(hl_parser *p, hl_range *location)
{
  for (;;) {
    int token = hl_scan(NULL, location, p->scanner);
    hl_scan_restore(p->scanner);
    if (token != T_COMMENT)
      return token;
    uint32_t end = skip_comment(p, location->begin);
    if (end == location->begin)
      return fail(p, *location, HL_RULE_LEX_COMMENT, "this comment is never closed");
    hl_scan_jump(p->scanner, p->text + end);
  }
}

static int read_token(hl_parser *p, hl_range *location)
{
  int token = 0;
  if (p->mode == HL_SCAN_LITERAL)
    return scan_literal(p, location);
  if (p->mode != HL_SCAN_TOKENS)
    token = scan_raw_value(p, location);
  if (token)
    return token;
  token = next_token(p, location);
  return token == T_HL_YYerror ? token : refine(p, token, location);
}

int hl_yylex(HL_YYSTYPE *value, hl_range *location, void *scanner, hl_parser *p)
{
  (void)value;
  (void)scanner;
  if (p->is_fatal) {
    *location = (hl_range){p->size, p->size};
    return T_END;
  }
  if (p->must_sync)
    return synchronize(p, location);
  if (p->is_line && !p->token_count) {
    *location = (hl_range){0, 0};
    p->token_count++;
    return T_LINE;
  }
  p->old_nesting = p->nesting;
  p->old_braces = p->braces;
  int token = read_token(p, location);
  if (token == T_HL_YYerror)
    return token;
  if (token == '=' || token == ',' || (token == '(' && p->mode != HL_SCAN_LITERAL))
    p->shape = NULL;
  p->in_tables = token == T_TABLE ||
                 (p->in_tables && token != T_WORD && token != T_PERCENT_NAME && token != T_ENTRY);
  p->is_constant = token == T_WORD && hl_range_is(p, *location, "constant");
  if (token == T_TABLE && p->frame_tables == HL_NO_OFFSET)
    p->frame_tables = location->begin;
  p->previous = token;
  p->token_before = p->token;
  p->token = *location;
  p->token_count++;
  return token;
}
