/* cmd_ops - `hlo-lite ops`: the op table, for people; with --markdown the page docs/ops.md. */
#include "command.h"

#include "ir/diag.h"

#include <stdio.h>
#include <string.h>

static const char *const stage_words[] = {[HL_STAGE_code] = "compiles",
                                          [HL_STAGE_whole] = "compiles",
                                          [HL_STAGE_expanded] = "compiles",
                                          [HL_STAGE_refused] = "checked only: compile refuses it"};

static void print_operands(const hl_op_info *info)
{
  if (info->max_operands == info->min_operands)
    printf("%d operand%s", info->min_operands, info->min_operands == 1 ? "" : "s");
  else if (info->max_operands == HL_ANY)
    printf("%d or more operands", info->min_operands);
  else
    printf("%d to %d operands", info->min_operands, info->max_operands);
}

/* "signed, floating"; returns whether there is any. */
static bool print_types(const char *before, unsigned types)
{
  static const struct {
    unsigned bit;
    const char *word;
  } words[] = {{HL_T_PRED, "pred"},      {HL_T_SIGNED, "signed"},   {HL_T_UNSIGNED, "unsigned"},
               {HL_T_FLOAT, "floating"}, {HL_T_COMPLEX, "complex"}, {HL_T_F32_F64, "f32, f64"}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (types & words[i].bit) {
      printf("%s%s", before, words[i].word);
      before = ", ";
    }
  return types != 0;
}

static void print_attributes(const hl_op_info *info)
{
  for (int i = 0; i < info->attr_count; i++) {
    const hl_attr_use *use = &info->attrs[i];
    printf("  %-11s %s%s\n", i ? "" : "attributes", hl_attr_name(use->id),
           use->is_required ? " (required)" : "");
  }
}

static void print_op(const hl_op_info *info)
{
  printf("%s\n  operands    ", info->name);
  print_operands(info);
  putchar('\n');
  if (print_types("  types       ", info->types))
    putchar('\n');
  print_attributes(info);
  printf("  broadcasts  %s\n", info->flags & HL_BCAST ? "implicitly" : "no");
  printf("  status      %s\n", stage_words[info->stage]);
}

static void print_row(const hl_op_info *info)
{
  printf("%-28s ", info->name);
  print_operands(info);
  printf("; %s\n", stage_words[info->stage]);
}

static void print_markdown_row(const hl_op_info *info)
{
  printf("| `%s` | ", info->name);
  if (info->max_operands == info->min_operands)
    printf("%d", info->min_operands);
  else if (info->max_operands == HL_ANY)
    printf("%d or more", info->min_operands);
  else
    printf("%d to %d", info->min_operands, info->max_operands);
  printf(" |");
  print_types(" ", info->types);
  printf(" |");
  for (int i = 0; i < info->attr_count; i++)
    printf("%s `%s`%s", i ? "," : "", hl_attr_name(info->attrs[i].id),
           info->attrs[i].is_required ? " (required)" : "");
  printf(" | %s | %s |\n", info->flags & HL_BCAST ? "yes" : "", stage_words[info->stage]);
}

static void print_markdown(void)
{
  printf(
      "# Ops and rules\n\nWritten by `hlo-lite ops --markdown` from `ir/ops.def` and "
      "`ir/rules.def`; what the ops mean is in [language.md](language.md).\n\n## Ops\n\n"
      "Where no types are named, the rules of the op say which it takes. Every op may also carry "
      "the attributes of [language.md](language.md), section 6. An op that *broadcasts* may have "
      "operands of different shapes (section 7).\n\n"
      "| op | operands | types | attributes | broadcasts | status |\n"
      "| --- | --- | --- | --- | --- | --- |\n");
  for (hl_opcode op = 0; op < HL_OP_COUNT; op++)
    print_markdown_row(hl_op_info_of(op));
  printf("\n## Rules\n\nThe label stands in brackets at the end of a message.\n\n"
         "| label | what it demands |\n| --- | --- |\n");
  for (hl_rule rule = 0; rule < HL_RULE_COUNT; rule++)
    printf("| `%s` | %s |\n", hl_rule_label(rule), hl_rule_sentence(rule));
}

int hl_command_ops(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  (void)arena;
  (void)guard;
  if (options->is_markdown)
    print_markdown();
  for (hl_opcode op = 0; op < HL_OP_COUNT && options->input_count == 0 && !options->is_markdown;
       op++)
    print_row(hl_op_info_of(op));
  for (int i = 0; i < options->input_count; i++) {
    const char *name = options->inputs[i];
    hl_opcode op = hl_op_by_name(name, strlen(name));
    if (op == HL_OP_COUNT) {
      const char *closest = hl_op_suggest(name);
      return hl_complain(HL_EXIT_USAGE, "no op is called '%s'%s%s%s", name,
                         closest ? "; did you mean '" : "", closest ? closest : "",
                         closest ? "'?" : "");
    }
    print_op(hl_op_info_of(op));
  }
  return HL_EXIT_DONE;
}
