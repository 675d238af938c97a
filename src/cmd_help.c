/* cmd_help - what the command says of itself. Where it goes to a terminal it is as wide as that; else each option
 * has one line, which scripts can read. */
#include "command.h"

#include "page.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_COLUMN = 12, OPTION_COLUMN = 25, NARROW = 60, NARROW_COLUMN = 6, ENDLESS = 100000 };

static hl_page open_page(hl_str *text, FILE *out)
{
  const hl_options options = {.color = isatty(fileno(out)) ? -1 : 0};
  hl_page page = hl_page_open(text, &options);
  if (!isatty(fileno(out)))
    page.width = ENDLESS;
  return page;
}

/* A name and what it is: from the column on, or on the next line behind a name that reaches farther. */
static void print_entry(hl_page *page, int column, const char *name, const char *text)
{
  hl_arena *arena = page->out->arena;
  const char *label = hl_arena_printf(arena, "  %-*s ", column - 3, name);
  bool is_narrow = page->width < NARROW;
  bool fits = !is_narrow && ((int)strlen(label) <= column || page->width == ENDLESS);
  if (!fits)
    hl_page_words(page, HL_INK_PLAIN, "  ", 2, name);
  hl_page_words(page, HL_INK_PLAIN, fits ? label : "", is_narrow ? NARROW_COLUMN : column, text);
}

static void print_lines(hl_page *page, const char *lines)
{
  for (size_t length; *lines; lines += length + 1) {
    length = strcspn(lines, "\n");
    hl_page_wrap(page, HL_INK_PLAIN, "  ", "      ",
                 hl_arena_printf(page->out->arena, "hlo-lite %.*s", (int)length, lines));
  }
}

/* ---- all subcommands ---- */

void hl_help_print_usage(hl_arena *arena, FILE *out)
{
  hl_str text = {.arena = arena};
  hl_page page = open_page(&text, out);
  const hl_command *c;
  hl_page_words(&page, HL_INK_PLAIN, "", 0, "usage: hlo-lite COMMAND [options] [files]");
  hl_page_blank(&page);
  for (int i = 0; (c = hl_command_at(i)); i++)
    print_entry(&page, COMMAND_COLUMN, c->name, c->sentence);
  hl_page_blank(&page);
  hl_page_words(&page, HL_INK_PLAIN, "", 0, "`hlo-lite COMMAND --help` lists its options; `-` reads standard input.");
  hl_page_words(&page, HL_INK_PLAIN, "", 0,
                "Exit status: 0 done, 1 the input is at fault, 2 the command line, 3 hlo-lite itself.");
  fputs(hl_str_text(&text), out);
}

/* ---- one ---- */

static void print_options(hl_page *page, hl_command_id command)
{
  hl_option_info o;
  for (int i = 0; hl_options_at(command, i, &o); i++) {
    const char *between = !o.value ? "" : o.name[1] == '-' ? "=" : o.name[1] == 'O' ? "" : " ";
    print_entry(page, OPTION_COLUMN,
                hl_arena_printf(page->out->arena, "%s%s%s", o.name, between, o.value ? o.value : ""), o.help);
  }
}

static void print_passes(hl_page *page)
{
  hl_page_heading(page, "passes");
  for (hl_pass_id pass = 0; pass < HL_PASS_COUNT; pass++)
    print_entry(page, OPTION_COLUMN, hl_pass_name(pass),
                hl_arena_printf(page->out->arena, "%s (-O%d)", hl_pass_sentence(pass), hl_pass_level(pass)));
}

void hl_help_print(hl_arena *arena, const hl_command *c)
{
  hl_str text = {.arena = arena};
  hl_page page = open_page(&text, stdout);
  hl_page_wrap(&page, HL_INK_PLAIN, "", "       ", hl_arena_printf(arena, "usage: hlo-lite %s %s", c->name, c->usage));
  hl_page_blank(&page);
  hl_page_words(&page, HL_INK_PLAIN, "", 0, c->sentence);
  hl_page_blank(&page);
  print_options(&page, c->id);
  if (c->id == HL_COMMAND_OPT)
    print_passes(&page);
  if (c->examples) {
    hl_page_heading(&page, "examples");
    print_lines(&page, c->examples);
  }
  fputs(hl_str_text(&text), stdout);
}
