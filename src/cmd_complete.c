/* cmd_complete - `hlo-lite __complete WORDS`: what the last word may become, for the completions of shells
 * (src/share/completions). Nothing is offered where a file's name is due: the shells know those. */
#include "command.h"

#include "ir/lint.h"

#include <stdio.h>
#include <string.h>

typedef struct completion {
  hl_arena *arena;
  const char *word;   /* what is written of it */
  const char *before; /* what stands before each offer: "--fill=", or the list so far */
} completion;

static void offer(const completion *c, const char *name, const char *text)
{
  const char *whole = hl_arena_printf(c->arena, "%s%s", c->before, name);
  if (!strncmp(whole, c->word, strlen(c->word)))
    printf("%s\t%s\n", whole, text);
}

static void offer_commands(const completion *c)
{
  const hl_command *command;
  for (int i = 0; (command = hl_command_at(i)); i++)
    offer(c, command->name, command->sentence);
  offer(c, "help", "what a command takes");
  offer(c, "--help", "the list of commands");
  offer(c, "--version", "the version, and that of LLVM");
}

/* "--name=" where a value follows. */
static void offer_options(const completion *c, hl_command_id command)
{
  hl_option_info o;
  for (int i = 0; hl_options_at(command, i, &o); i++)
    offer(c, hl_arena_printf(c->arena, "%s%s", o.name, o.value && o.name[1] == '-' ? "=" : ""), o.help);
}

static void offer_ops(const completion *c)
{
  for (hl_opcode op = 0; op < HL_OP_COUNT; op++)
    offer(c, hl_op_info_of(op)->name, hl_op_notes_of(op)->meaning);
}

/* ---- values ---- */

static void offer_warnings(const completion *c)
{
  offer(c, "all", "all warnings");
  offer(c, "error", "errors in the place of warnings");
  for (hl_lint_id i = 0; i < HL_LINT_COUNT; i++) {
    const char *name = hl_rule_label(hl_lint_rule(i));
    offer(c, name, hl_rule_sentence(hl_lint_rule(i)));
    offer(c, hl_arena_printf(c->arena, "no-%s", name), "not that one");
    offer(c, hl_arena_printf(c->arena, "error=%s", name), "as an error");
  }
}

/* What a list of passes has so far stays before each name. */
static void offer_passes(completion c, bool is_list)
{
  const char *comma = is_list ? strrchr(c.word, ',') : NULL;
  if (comma)
    c.before = hl_arena_strndup(c.arena, c.word, (size_t)(comma + 1 - c.word));
  else if (!is_list)
    offer(&c, "all", "after each pass");
  for (hl_pass_id pass = 0; pass < HL_PASS_COUNT; pass++)
    offer(&c, hl_pass_name(pass), hl_pass_sentence(pass));
}

static void offer_values(const completion *c, const hl_option_info *o)
{
  if (!strcmp(o->name, "-W"))
    offer_warnings(c);
  else if (!strcmp(o->name, "--dump-after"))
    offer_passes(*c, false);
  else if (!strcmp(o->name, "--passes") || !strcmp(o->name, "--disable-passes"))
    offer_passes(*c, true);
  for (int i = 0; o->words && o->words[i]; i++)
    offer(c, o->words[i], "");
}

/* The option of that name, which takes a value. */
static bool takes_value(hl_command_id command, const char *name, size_t length, hl_option_info *o)
{
  for (int i = 0; hl_options_at(command, i, o); i++)
    if (strlen(o->name) == length && !strncmp(o->name, name, length))
      return o->value;
  return false;
}

/* "--name=value", "-Wvalue", or a value behind the word of its option. */
static bool complete_value(completion *c, hl_command_id command, const char *previous)
{
  hl_option_info o;
  size_t length = c->word[0] == '-' && c->word[1] != '-' ? 2 : strcspn(c->word, "=");
  bool is_joined = c->word[0] == '-' && c->word[length - (length > 0)] && c->word[1] &&
                   (c->word[1] != '-' || c->word[length] == '=') && takes_value(command, c->word, length, &o);
  if (is_joined)
    c->before = hl_arena_strndup(c->arena, c->word, length + (c->word[1] == '-'));
  else if (previous[0] != '-' || !takes_value(command, previous, strlen(previous), &o))
    return false;
  offer_values(c, &o);
  return true;
}

int hl_command_complete(hl_arena *arena, int count, char *const *words)
{
  completion c = {.arena = arena, .word = count > 0 ? words[count - 1] : "", .before = ""};
  const hl_command *command = count > 1 ? hl_command_by_name(words[0]) : NULL;
  if (count < 2 || (count == 2 && !strcmp(words[0], "help")))
    offer_commands(&c);
  else if (command && !complete_value(&c, command->id, words[count - 2])) {
    if (c.word[0] == '-')
      offer_options(&c, command->id);
    else if (command->id == HL_COMMAND_OPS)
      offer_ops(&c);
  }
  return HL_EXIT_DONE;
}
