/* cmd_ops - `hlo-lite ops`: the op table, for people; with --markdown the page docs/ops.md. */
#include "command.h"

#include "page.h"

#include "ir/diag.h"

#include <ctype.h>
#include <string.h>

enum { COLUMN = 14 };

static const char *const stage_words[] = {[HL_STAGE_code] = "compiles",
                                          [HL_STAGE_whole] = "compiles",
                                          [HL_STAGE_expanded] = "compiles",
                                          [HL_STAGE_refused] = "checked only: compile refuses it"};

static void add_count(hl_str *out, const hl_op_info *info)
{
  if (info->max_operands == info->min_operands)
    hl_str_printf(out, "%d", info->min_operands);
  else if (info->max_operands == HL_ANY)
    hl_str_printf(out, "%d or more", info->min_operands);
  else
    hl_str_printf(out, "%d to %d", info->min_operands, info->max_operands);
}

/* "signed, floating" */
static void add_types(hl_str *out, const char *before, unsigned types)
{
  static const struct {
    unsigned bit;
    const char *word;
  } words[] = {{HL_T_PRED, "pred"},      {HL_T_SIGNED, "signed"},   {HL_T_UNSIGNED, "unsigned"},
               {HL_T_FLOAT, "floating"}, {HL_T_COMPLEX, "complex"}, {HL_T_F32_F64, "f32, f64"}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (types & words[i].bit) {
      hl_str_printf(out, "%s%s", before, words[i].word);
      before = ", ";
    }
}

/* ---- one op ---- */

/* How the value of an attribute is written: "{0,1}", "EQ|NE|...". */
static const char *value_form(hl_arena *arena, hl_attr_id attr)
{
  static const char *const forms[] = {
      [HL_KIND_INT] = "N",           [HL_KIND_BOOL] = "true|false", [HL_KIND_FLOAT] = "X",
      [HL_KIND_WORD] = "WORD",       [HL_KIND_STRING] = "\"text\"", [HL_KIND_RAW] = "{...}",
      [HL_KIND_INTS] = "{0,1,...}",  [HL_KIND_INTLISTS] = "{{0,1},...}",
      [HL_KIND_GROUPS] = "{{0,1},{2,3}}", [HL_KIND_SLICE] = "{[start:limit:stride],...}",
      [HL_KIND_WINDOW] = "{size=2x2 stride=2x2 pad=0_1x0_1 ...}",
      [HL_KIND_PADDING] = "low_high_interiorx...", [HL_KIND_DIM_LABELS] = "b01f_01io->b01f",
      [HL_KIND_COMPUTATION] = "COMPUTATION", [HL_KIND_COMPUTATIONS] = "{COMPUTATION,...}",
      [HL_KIND_INSTRUCTIONS] = "{INSTRUCTION,...}", [HL_KIND_SHAPE] = "SHAPE",
      [HL_KIND_SHAPES] = "{SHAPE,...}", [HL_KIND_METADATA] = "{...}"};
  hl_attr_kind kind = hl_attr_kind_of(attr);
  hl_str words = {.arena = arena};
  const char *word;
  size_t length;
  for (int i = 0; (word = hl_attr_word(attr, i, &length)); i++)
    hl_str_printf(&words, "%s%.*s", i ? "|" : "", (int)length, word);
  if (kind == HL_KIND_WORDS)
    return hl_arena_printf(arena, "{%s,...}", hl_str_text(&words));
  return words.length ? hl_str_text(&words) : forms[kind];
}

static void print_field(hl_page *page, const char *name, const char *text)
{
  hl_page_words(page, HL_INK_PLAIN, hl_arena_printf(page->out->arena, "  %s", name), COLUMN, text);
}

static void print_operands(hl_page *page, const hl_op_info *info)
{
  hl_str text = {.arena = page->out->arena};
  add_count(&text, info);
  add_types(&text, ": ", info->types);
  print_field(page, "operands", hl_str_text(&text));
  if (info->flags & HL_BCAST)
    print_field(page, "broadcasts", "implicitly: operands of other shapes are placed by broadcast_dimensions");
}

static void print_attributes(hl_page *page, const hl_op_info *info)
{
  hl_arena *arena = page->out->arena;
  for (int i = 0; i < info->attr_count; i++) {
    const hl_attr_use *use = &info->attrs[i];
    print_field(page, i ? "" : "attributes",
                hl_arena_printf(arena, "%s=%s%s", hl_attr_name(use->id), value_form(arena, use->id),
                                use->is_required ? " (required)" : ""));
  }
}

/* "reduce-c1" of "reduce"; '_' of a family is '-'. */
static bool is_rule_of(const char *label, const char *stem, size_t length)
{
  for (size_t i = 0; i < length; i++)
    if (label[i] != stem[i] && !(label[i] == '-' && stem[i] == '_'))
      return false;
  return !strncmp(label + length, "-c", 2) && isdigit((unsigned char)label[length + 2]);
}

static int print_rules(hl_page *page, const char *stem, size_t length, int printed)
{
  for (hl_rule rule = 0; rule < HL_RULE_COUNT; rule++)
    if (is_rule_of(hl_rule_label(rule), stem, length))
      print_field(page, printed++ ? "" : "demands",
                  hl_arena_printf(page->out->arena, "%s [%s]", hl_rule_sentence(rule), hl_rule_label(rule)));
  return printed;
}

/* The name without what parts of one op are called. */
static size_t stem_length(const char *name)
{
  static const char *const parts[] = {"start", "update", "done"};
  size_t length = strlen(name);
  for (int i = 0; i < 3; i++) {
    size_t part = strlen(parts[i]) + 1;
    if (length > part && !strcmp(name + length - part + 1, parts[i]))
      return length - part;
  }
  return length;
}

/* The rules that carry the op's name, or else that of its family. */
static void print_demands(hl_page *page, const hl_op_info *info)
{
  int printed = 0;
  if (info->flags & HL_BCAST)
    for (hl_rule rule = 0; rule < HL_RULE_COUNT; rule++)
      if (!strncmp(hl_rule_label(rule), "binary-", 7) || !strncmp(hl_rule_label(rule), "bcast-dims-", 11))
        print_field(page, printed++ ? "" : "demands",
                    hl_arena_printf(page->out->arena, "%s [%s]", hl_rule_sentence(rule), hl_rule_label(rule)));
  int before = printed;
  printed = print_rules(page, info->name, strlen(info->name), printed);
  if (printed == before)
    printed = print_rules(page, info->family, stem_length(info->family), printed);
  if (printed == before)
    printed = print_rules(page, info->name, stem_length(info->name), printed);
  for (int i = 0; i < info->attr_count; i++)
    if (info->attrs[i].id == HL_ATTR_WINDOW)
      printed = print_rules(page, "window", strlen("window"), printed);
}

static void print_example(hl_page *page, const char *example)
{
  hl_page_words(page, HL_INK_PLAIN, "", 2, "example");
  for (size_t length; *example; example += length + 1) {
    length = strcspn(example, "\n");
    hl_str_printf(page->out, "%s%.*s\n", length ? "    " : "", (int)length, example);
  }
}

static void print_op(hl_page *page, hl_opcode op)
{
  const hl_op_info *info = hl_op_info_of(op);
  const hl_op_notes *notes = hl_op_notes_of(op);
  hl_page_words(page, HL_INK_HEADING, "", 0, info->name);
  hl_page_words(page, HL_INK_PLAIN, "", 2, notes->meaning);
  hl_page_blank(page);
  print_operands(page, info);
  print_attributes(page, info);
  if (info->flags & HL_STATED)
    print_field(page, "result", "its shape must be written");
  if (*notes->corners)
    print_field(page, "corners", notes->corners);
  print_demands(page, info);
  print_field(page, "status", stage_words[info->stage]);
  print_example(page, notes->example);
}

/* ---- all ---- */

static void print_row(hl_page *page, hl_opcode op)
{
  const hl_op_info *info = hl_op_info_of(op);
  hl_str text = {.arena = page->out->arena};
  hl_str_add(&text, hl_op_notes_of(op)->meaning);
  if (!hl_stage_compiles(info->stage))
    hl_str_printf(&text, " (%s)", stage_words[info->stage]);
  hl_page_words(page, HL_INK_PLAIN, hl_arena_printf(text.arena, "%-24s ", info->name), 25, hl_str_text(&text));
}

static void add_markdown_row(hl_str *out, hl_opcode op)
{
  const hl_op_info *info = hl_op_info_of(op);
  hl_str_printf(out, "| `%s` | ", info->name);
  add_count(out, info);
  hl_str_add(out, " |");
  add_types(out, " ", info->types);
  hl_str_add(out, " |");
  for (int i = 0; i < info->attr_count; i++)
    hl_str_printf(out, "%s `%s`%s", i ? "," : "", hl_attr_name(info->attrs[i].id),
                  info->attrs[i].is_required ? " (required)" : "");
  hl_str_printf(out, " | %s | %s |\n", info->flags & HL_BCAST ? "yes" : "", stage_words[info->stage]);
}

static void add_markdown_note(hl_str *out, hl_opcode op)
{
  const hl_op_notes *notes = hl_op_notes_of(op);
  hl_str_printf(out, "\n### %s\n\n%s\n", hl_op_info_of(op)->name, notes->meaning);
  if (*notes->corners)
    hl_str_printf(out, "Corners: %s.\n", notes->corners);
  hl_str_printf(out, "\n```hlo\n%s```\n", notes->example);
}

static void add_markdown(hl_str *out)
{
  hl_str_add(
      out,
      "# Ops and rules\n\nWritten by `hlo-lite ops --markdown` from `ir/ops.def`, `ir/op_notes.def` and "
      "`ir/rules.def`; what the ops mean, exactly, is in [language.md](language.md).\n\n## Ops\n\n"
      "Where no types are named, the rules of the op say which it takes. Every op may also carry "
      "the attributes of [language.md](language.md), section 6. An op that *broadcasts* may have "
      "operands of different shapes (section 7).\n\n"
      "| op | operands | types | attributes | broadcasts | status |\n"
      "| --- | --- | --- | --- | --- | --- |\n");
  for (hl_opcode op = 0; op < HL_OP_COUNT; op++)
    add_markdown_row(out, op);
  hl_str_add(out, "\n## Rules\n\nThe label stands in brackets at the end of a message.\n\n"
                  "| label | what it demands |\n| --- | --- |\n");
  for (hl_rule rule = 0; rule < HL_RULE_COUNT; rule++)
    hl_str_printf(out, "| `%s` | %s |\n", hl_rule_label(rule), hl_rule_sentence(rule));
  hl_str_add(out, "\n## Each op\n\nEvery example is a module that the tests check, and run where the op compiles.\n");
  for (hl_opcode op = 0; op < HL_OP_COUNT; op++)
    add_markdown_note(out, op);
}

static int unknown_op(const char *name)
{
  const char *closest = hl_op_suggest(name);
  return closest ? hl_complain(HL_EXIT_USAGE, "no op is called '%s'; did you mean '%s'?", name, closest)
                 : hl_complain(HL_EXIT_USAGE, "no op is called '%s'; `hlo-lite ops` lists them", name);
}

int hl_command_ops(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  (void)guard;
  hl_str text = {.arena = arena};
  hl_page page = hl_page_open(&text, options);
  if (options->is_markdown)
    add_markdown(&text);
  for (hl_opcode op = 0; op < HL_OP_COUNT && options->input_count == 0 && !options->is_markdown; op++)
    print_row(&page, op);
  for (int i = 0; i < options->input_count; i++) {
    const char *name = options->inputs[i];
    hl_opcode op = hl_op_by_name(name, strlen(name));
    if (op == HL_OP_COUNT)
      return unknown_op(name);
    if (i)
      hl_page_blank(&page);
    print_op(&page, op);
  }
  return hl_command_write(options->output, hl_str_text(&text), text.length) ? HL_EXIT_DONE : HL_EXIT_INPUT;
}
