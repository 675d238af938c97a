/* cmd_ops - `hlo-lite ops`: the op table, for people. */
#include "command.h"

#include <stdio.h>
#include <string.h>

static const char *const stage_words[] = {[HL_STAGE_code] = "compiles",
                                          [HL_STAGE_whole] = "compiles",
                                          [HL_STAGE_later] =
                                              "checked only: compile refuses it so far",
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

static void print_types(unsigned types)
{
  static const struct {
    unsigned bit;
    const char *word;
  } words[] = {{HL_T_PRED, "pred"},      {HL_T_SIGNED, "signed"},   {HL_T_UNSIGNED, "unsigned"},
               {HL_T_FLOAT, "floating"}, {HL_T_COMPLEX, "complex"}, {HL_T_F32_F64, "f32, f64"}};
  const char *separator = "  types       ";
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (types & words[i].bit) {
      printf("%s%s", separator, words[i].word);
      separator = ", ";
    }
  if (types)
    putchar('\n');
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
  print_types(info->types);
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

int hl_command_ops(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  (void)arena;
  (void)guard;
  for (hl_opcode op = 0; op < HL_OP_COUNT && options->input_count == 0; op++)
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
