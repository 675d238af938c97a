/* page - text for a terminal or a file. */
#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_WIDTH = 80, MIN_WIDTH = 40, MIN_ROOM = 16 };

static bool is_terminal(const hl_options *options)
{
  return (!options->output || !strcmp(options->output, "-")) && isatty(STDOUT_FILENO);
}

static int width_of(const hl_options *options)
{
  const char *columns = getenv("COLUMNS");
  long width = columns ? strtol(columns, NULL, 10) : 0;
  struct winsize size;
  if (width <= 0 && is_terminal(options) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
    width = size.ws_col;
  if (width <= 0 || width > 10000)
    return DEFAULT_WIDTH;
  return width < MIN_WIDTH ? MIN_WIDTH : (int)width;
}

hl_page hl_page_open(hl_str *out, const hl_options *options)
{
  const char *no_color = getenv("NO_COLOR");
  bool is_wanted = options->color < 0 ? is_terminal(options) && !(no_color && *no_color)
                                      : options->color > 0;
  return (hl_page){.out = out, .width = width_of(options), .color = is_wanted};
}

static void set_ink(hl_page *page, hl_ink ink)
{
  static const char *const codes[] = {"", "\033[1m", "\033[36m", "\033[2m", "\033[33m"};
  if (page->color)
    hl_str_add(page->out, codes[ink]);
}

static void end_ink(hl_page *page, hl_ink ink)
{
  if (page->color && ink != HL_INK_PLAIN)
    hl_str_add(page->out, "\033[0m");
}

/* As much of the text as fits, without cutting a character of several bytes. */
static size_t fitting(const char *text, size_t length, size_t room)
{
  if (length <= room)
    return length;
  size_t fits = room;
  while (fits > 1 && ((unsigned char)text[fits] & 0xc0) == 0x80)
    fits--;
  return fits;
}

/* The words that the next line holds, at least one piece of one. */
static size_t line_of(const char *words, size_t room)
{
  size_t taken = 0;
  for (;;) {
    size_t blank = strspn(words + taken, " "), word = strcspn(words + taken + blank, " ");
    if (!word)
      return taken;
    if (taken + blank + word > room)
      return taken ? taken : fitting(words, word, room);
    taken += blank + word;
  }
}

void hl_page_wrap(hl_page *page, hl_ink ink, const char *first, const char *rest, const char *words)
{
  const char *label = first;
  do {
    size_t taken = strlen(label), width = (size_t)page->width;
    words += strspn(words, " ");
    size_t length = line_of(words, width > taken + MIN_ROOM ? width - taken : MIN_ROOM);
    hl_str_add(page->out, label);
    set_ink(page, ink);
    hl_str_add_n(page->out, words, length);
    end_ink(page, ink);
    hl_str_add_char(page->out, '\n');
    words += length;
    label = rest;
  } while (*words);
}

void hl_page_words(hl_page *page, hl_ink ink, const char *label, int indent, const char *words)
{
  hl_arena *arena = page->out->arena;
  hl_page_wrap(page, ink, hl_arena_printf(arena, "%-*s", indent, label),
               hl_arena_printf(arena, "%*s", indent, ""), words);
}

void hl_page_heading(hl_page *page, const char *text)
{
  hl_page_blank(page);
  hl_page_words(page, HL_INK_HEADING, "", 0, text);
}

void hl_page_blank(hl_page *page)
{
  hl_str_add_char(page->out, '\n');
}
