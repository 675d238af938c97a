/* syntax - says in words which token cannot stand somewhere and what could, and did-you-mean. */
#include "parser.h"

#include <stdio.h>
#include <string.h>

enum { LISTED = 4 };

/* bison's name of a token (hlo.y) -> words. Tokens with the same words count once. */
static const char *const words[][2] = {
    {"name", "a name"},
    {"%name", "a name"},
    {"type", "a shape"},
    {"integer", "an integer"},
    {"decimal", "a number"},
    {"inf", "a number"},
    {"bool", "'true' or 'false'"},
    {"string", "a string"},
    {"sizes", "sizes such as 3x3"},
    {"padding", "padding such as 1_1"},
    {"labels", "dimension labels"},
    {"raw", "a value"},
    {"attribute", "an attribute"},
    {"name:", "a parameter name with ':'"},
    {"->", "'->'"},
    {"<=", "'<='"},
    {"HloModule", "'HloModule'"},
    {"ENTRY", "a computation"},
    {"ROOT", "an instruction"},
    {"entry_computation_layout", "an attribute"},
    {"input_output_alias", "an attribute"},
    {"buffer_donor", "an attribute"},
    {"layout", "'{'"},
    {"suffix", "':'"},
    {"literal", "a constant"},
    {"end", "the end of the text"},
};

static const char *in_words(const char *name)
{
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(words[i][0], name))
      return words[i][1];
  return name; /* punctuation, already quoted */
}

static bool holds(int count, const char *const *names, const char *name)
{
  for (int i = 0; i < count; i++)
    if (!strcmp(names[i], name))
      return true;
  return false;
}

/* Whether the token is left out of a list of what could stand here. */
static bool is_minor(int count, const char *const *expected, const char *name)
{
  static const char *const never[] = {"sync", "table", "reserved", "T"};
  if (holds(4, never, name))
    return true;
  bool has_shape = holds(count, expected, "type"),
       has_value = holds(count, expected, "string") && has_shape;
  bool is_list = holds(count, expected, "','") && holds(count, expected, "')'");
  if (!strcmp(name, "'('"))
    return has_shape || is_list; /* of a tuple shape, of a nested call */
  if (!strcmp(name, "layout") || (is_list && !strcmp(name, "'#'")))
    return true;
  bool is_start = holds(count, expected, "ROOT") || holds(count, expected, "ENTRY");
  if (is_start && (!strcmp(name, "name") || !strcmp(name, "%name")))
    return true;
  return has_value && strcmp(name, "string") && strcmp(name, "'}'");
}

static const char *expected_in_words(int count, const char *const *expected, const char *name)
{
  if (!strcmp(name, "string") && holds(count, expected, "type"))
    return "a value";
  if (!strcmp(name, "name") && !holds(count, expected, "%name"))
    return "an opcode";
  return in_words(name);
}

/* The words for what could stand here, each once; false if they are too many to help. */
static bool list_expected(hl_str *out, int count, const char *const *expected)
{
  const char *listed[LISTED];
  int n = 0;
  for (int i = 0; i < count; i++) {
    const char *text = expected_in_words(count, expected, expected[i]);
    if (is_minor(count, expected, expected[i]) || holds(n, listed, text))
      continue;
    if (n == LISTED)
      return false;
    listed[n++] = text;
  }
  for (int i = 0; i < n; i++)
    hl_str_printf(out, "%s%s", i == 0 ? "" : i == n - 1 ? " or " : ", ", listed[i]);
  return n > 0;
}

/* The token's text as a message shows it: cut, and only its first line. */
static const char *shown(const hl_parser *p, hl_range range)
{
  enum { SHOWN = 40 };
  uint32_t length = 0, all = range.end - range.begin;
  while (length < all && length < SHOWN && p->text[range.begin + length] >= ' ')
    length++;
  return hl_arena_printf(p->arena, "%.*s%s", (int)length, p->text + range.begin,
                         length < all ? "..." : "");
}

static const char *found_in_words(const hl_parser *p, hl_range range, const char *found)
{
  static const char *const named[][2] = {
      {"name", "name"},       {"%name", "name"},          {"type", "type"},
      {"integer", "integer"}, {"decimal", "number"},      {"inf", "number"},
      {"string", "string"},   {"attribute", "attribute"}, {"reserved", "reserved word"},
      {"HloModule", "word"},  {"ENTRY", "word"},          {"ROOT", "word"},
      {"table", "word"},      {"bool", "word"},
  };
  if (!strcmp(found, "end"))
    return "end of the text";
  const char *kind = "";
  for (size_t i = 0; i < sizeof named / sizeof *named; i++)
    if (!strcmp(named[i][0], found))
      kind = named[i][1];
  return hl_arena_printf(p->arena, "%s%s'%s'", kind, *kind ? " " : "", shown(p, range));
}

typedef struct mistake {
  hl_parser *p;
  hl_range range;
  const char *found;
  int count;
  const char *const *expected;
} mistake;

static bool expects(const mistake *m, const char *name)
{
  return holds(m->count, m->expected, name);
}

static bool found(const mistake *m, const char *name)
{
  return !strcmp(m->found, name);
}

static char next_byte(const mistake *m)
{
  uint32_t at = hl_skip_blanks(m->p, m->range.end);
  return at < m->p->size ? m->p->text[at] : '\0';
}

/* `Module m`: the text begins with a word that begins nothing. */
static bool report_beginning(const mistake *m)
{
  hl_parser *p = m->p;
  bool is_second = p->token_count == 2 && !p->module->name && expects(m, "'{'");
  if (!is_second && !(p->token_count == 1 && expects(m, "HloModule")))
    return false;
  uint32_t at = hl_skip_blanks(p, 0);
  hl_range range = is_second ? (hl_range){at, hl_skip_word(p, at + 1)} : m->range;
  hl_error(p->diag, range, HL_RULE_SYNTAX,
           "the text must begin with 'HloModule', 'ENTRY' or a computation");
  hl_best best = {.wanted = hl_name_text(p, range), .limit = 3};
  hl_best_try(&best, "HloModule");
  hl_best_try(&best, "ENTRY");
  hl_suggest(p, best.name);
  return true;
}

/* Whether `name=` where both an instruction and ',' could stand is an attribute that lost its
 * comma: it is on the line of what it belongs to, or has the name of one. */
static bool is_attribute(const mistake *m)
{
  const hl_parser *p = m->p;
  if (!expects(m, "','"))
    return false;
  uint32_t before = p->token_before.end;
  bool is_same_line = !memchr(p->text + before, '\n', m->range.begin - before);
  return is_same_line ||
         hl_attr_exists(p->text + m->range.begin, m->range.end - m->range.begin - 1);
}

/* Where the name of an instruction is expected. */
static bool report_instruction_name(const mistake *m)
{
  hl_parser *p = m->p;
  if (!expects(m, "ROOT") && !(expects(m, "%name") && !expects(m, "type") && p->scope))
    return false;
  if (found(m, "attribute") && !is_attribute(m)) {
    hl_range name = {m->range.begin, m->range.end - 1};
    const char *text = hl_name_text(p, name);
    hl_error(p->diag, name, HL_RULE_SYNTAX, "a blank is missing between the name '%s' and '='",
             text);
    hl_help(p->diag, "write '%s = ...' or '%%%s=...'", text, text);
    hl_poison_name(p, name);
    return true;
  }
  if (found(m, "type")) {
    const char *text = hl_name_text(p, m->range);
    hl_error(p->diag, m->range, HL_RULE_NAME_TYPE, "'%s' is a type and cannot name an instruction",
             text);
    hl_help(p->diag, "any longer name is fine, such as '%s_'", text);
    hl_poison_name(p, m->range);
    return true;
  }
  return false;
}

/* A name that would be one if it had '%' before it. */
static bool report_reserved(const mistake *m)
{
  hl_parser *p = m->p;
  bool is_word = found(m, "reserved") || found(m, "bool") || found(m, "inf") || found(m, "table") ||
                 found(m, "ENTRY") || found(m, "ROOT");
  if (!is_word || !expects(m, "%name") || m->p->text[m->range.begin] == '-' ||
      (found(m, "ENTRY") && !expects(m, "type")))
    return false;
  const char *text = hl_name_text(p, m->range);
  hl_error(p->diag, m->range, HL_RULE_SYNTAX, "'%s' is a word of the language and no bare name",
           text);
  hl_help(p->diag, "write '%%%s'", text);
  return true;
}

static bool report_attribute(const mistake *m)
{
  hl_parser *p = m->p;
  if (found(m, "name") && m->count == 1 && expects(m, "attribute") && next_byte(m) == '=') {
    hl_error(p->diag, m->range, HL_RULE_SYNTAX,
             "no blank may stand between the attribute '%s' and '='", hl_name_text(p, m->range));
    return true;
  }
  if (found(m, "attribute") && expects(m, "','")) {
    hl_error(p->diag, (hl_range){m->range.begin, m->range.end - 1}, HL_RULE_SYNTAX,
             "',' is missing before the attribute '%s'",
             hl_name_text(p, (hl_range){m->range.begin, m->range.end - 1}));
    return true;
  }
  return false;
}

/* What a type is called in C, NumPy and MLIR -> here; NULL: nothing like it. */
static const char *type_meant(const char *name)
{
  static const char *const known[][2] = {
      {"float", "f32"},   {"double", "f64"},  {"half", "f16"},    {"float16", "f16"},
      {"float32", "f32"}, {"float64", "f64"}, {"bfloat16", "bf16"}, {"bool", "pred"},
      {"i1", "pred"},     {"char", "s8"},     {"int", "s32"},     {"long", "s64"},
      {"int8", "s8"},     {"int16", "s16"},   {"int32", "s32"},   {"int64", "s64"},
      {"i8", "s8"},       {"i16", "s16"},     {"i32", "s32"},     {"i64", "s64"},
      {"uint8", "u8"},    {"uint16", "u16"},  {"uint32", "u32"},  {"uint64", "u64"},
      {"ui8", "u8"},      {"complex64", "c64"}, {"complex128", "c128"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(known[i][0], name))
      return known[i][1];
  hl_best best = hl_best_start(name);
  for (int type = 0; type < HL_TYPE_COUNT; type++)
    hl_best_try(&best, hl_type_name((hl_element_type)type));
  return best.name;
}

/* `x = float32[2]`: what stands there was taken for an opcode, which its operands should follow. */
static bool report_type(const mistake *m)
{
  hl_parser *p = m->p;
  if (!found(m, "'['") || m->count != 1 || !expects(m, "'('"))
    return false;
  const char *name = hl_range_text(p, p->token_before);
  hl_error(p->diag, p->token_before, HL_RULE_SYNTAX, "'%s' is no type", name);
  hl_suggest(p, type_meant(name));
  return true;
}

/* `dimensions=[1]`: in brackets stand the devices of a sharding alone, which go on with '<='. */
static bool report_list(const mistake *m)
{
  hl_parser *p = m->p;
  if (m->count != 1 || !expects(m, "<=") || p->text[p->token_before.end - 1] != ']')
    return false;
  uint32_t end = p->token_before.end, begin = end - 1;
  while (begin > 0 && p->text[begin] != '[')
    begin--;
  hl_error(p->diag, (hl_range){begin, end}, HL_RULE_SYNTAX, "a list stands in braces");
  hl_help(p->diag, "write {%s}", hl_range_text(p, (hl_range){begin + 1, end - 1}));
  return true;
}

static bool report_special(const mistake *m)
{
  hl_parser *p = m->p;
  if (found(m, "HloModule") && p->token_count > 1) {
    hl_error(p->diag, m->range, HL_RULE_SYNTAX, "a second 'HloModule': a text holds one module");
    p->is_fatal = true;
    return true;
  }
  if (m->count == 1 && expects(m, "'['")) {
    if (p->scope && hl_map_get(&p->scope->names, p->text + p->token_before.begin,
                               p->token_before.end - p->token_before.begin))
      return true; /* an instruction that is named like a type; that was said */
    hl_error(p->diag, m->range, HL_RULE_SYNTAX,
             "'[' is missing behind the type: a scalar is written '%s[]'",
             hl_range_text(p, p->token_before));
    return true;
  }
  return report_type(m) || report_list(m) || report_beginning(m) || report_instruction_name(m) || report_reserved(m) ||
         report_attribute(m);
}

void hl_report_syntax(hl_parser *p, hl_range range, const char *found_name, int count,
                      const char *const *expected)
{
  mistake m = {p, range, found_name, count, expected};
  hl_resync(p);
  if (p->is_fatal || (p->synced_at != HL_NO_OFFSET && range.begin == p->synced_at))
    return; /* a consequence of an error that was reported */
  if (report_special(&m))
    return;
  hl_str list = {.arena = p->arena};
  bool is_listed = list_expected(&list, count, expected);
  hl_error(p->diag, range, HL_RULE_SYNTAX, "unexpected %s%s%s",
           found_in_words(p, range, found_name), is_listed ? ", expected " : "",
           is_listed ? hl_str_text(&list) : "");
}

hl_best hl_best_start(const char *wanted)
{
  size_t length = strlen(wanted);
  return (hl_best){wanted, NULL, length < 3 ? 1 : length < 8 ? 2 : 3};
}

void hl_best_try(hl_best *best, const char *name)
{
  if (!best->limit)
    return;
  size_t distance = hl_edit_distance(best->wanted, name, best->limit);
  if (distance == 0 || distance > best->limit || distance >= strlen(best->wanted))
    return;
  best->name = name;
  best->limit = distance - 1;
}

void hl_suggest(hl_parser *p, const char *best)
{
  if (best)
    hl_help(p->diag, "did you mean '%s'?", best);
}
