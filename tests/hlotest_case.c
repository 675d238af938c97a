/* hlotest_case.c - reads the cases of a text test, compares exact output and writes it anew. */
#define _GNU_SOURCE
#include "hlotest.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

void *checked(void *memory)
{
  if (!memory) {
    fputs("hlotest: error: out of memory\n", stderr);
    exit(3);
  }
  return memory;
}

char *format(const char *pattern, ...)
{
  char *text = NULL;
  va_list arguments;
  va_start(arguments, pattern);
  int n = vasprintf(&text, pattern, arguments);
  va_end(arguments);
  return checked(n < 0 ? NULL : text);
}

/* Frees *text and puts the longer one in its place. */
void append(char **text, const char *more)
{
  char *longer = format("%s%s", *text ? *text : "", more);
  free(*text);
  *text = longer;
}

void fault(test_case *c, const char *pattern, ...)
{
  char *text = NULL;
  va_list arguments;
  va_start(arguments, pattern);
  int n = vasprintf(&text, pattern, arguments);
  va_end(arguments);
  checked(n < 0 ? NULL : text);
  append(&c->faults, "  ");
  append(&c->faults, text);
  append(&c->faults, "\n");
  free(text);
}

char *read_text(const char *path)
{
  hl_io_error e;
  void *data = NULL;
  size_t bytes = 0;
  if (!hl_io_read(path, &data, &bytes, &e))
    return NULL;
  char *text = checked(malloc(bytes + 1));
  if (bytes > 0)
    memcpy(text, data, bytes);
  text[bytes] = '\0';
  free(data);
  return text;
}

/* Cuts the text into lines, in place; the array ends with NULL and is the caller's. */
char **split_lines(char *text, int *count)
{
  int room = 16;
  char **lines = checked(malloc(sizeof *lines * (size_t)room));
  *count = 0;
  for (char *at = text; at && *at;) {
    char *end = strchr(at, '\n');
    if (*count + 1 == room)
      lines = checked(realloc(lines, sizeof *lines * (size_t)(room *= 2)));
    lines[(*count)++] = at;
    if (end)
      *end++ = '\0';
    at = end;
  }
  lines[*count] = NULL;
  return lines;
}

const char *skip_blanks(const char *text)
{
  return text + strspn(text, " \t");
}

/* The text behind `word` if the line begins with it, after blanks; else NULL. */
const char *behind(const char *line, const char *word)
{
  line = skip_blanks(line);
  size_t n = strlen(word);
  return strncmp(line, word, n) == 0 ? line + n : NULL;
}

bool is_separator(const char *line)
{
  const char *rest = behind(line, "// -----");
  return rest && *skip_blanks(rest + strspn(rest, "-\r")) == '\0';
}

/* ---- directives ---- */

/* Reads every "// ERROR COL label" and "// WARNING COL label" of a line; returns where they begin.
 */
static const char *read_diagnostics(test_case *c, const char *line, int number)
{
  const char *first = NULL;
  for (const char *at = line; (at = strstr(at, "// ")) != NULL; at += 3) {
    diagnostic d = {.line = number};
    d.is_warning = strncmp(at + 3, "WARNING ", 8) == 0;
    if (!d.is_warning && strncmp(at + 3, "ERROR ", 6) != 0)
      continue;
    if (sscanf(at + (d.is_warning ? 11 : 9), "%d %63s", &d.column, d.label) != 2 ||
        c->wanted_count == MOST_DIAGNOSTICS)
      fault(c, "line %d: expected // ERROR COLUMN label", number);
    else
      c->wanted[c->wanted_count++] = d;
    first = first ? first : at;
  }
  return first;
}

/* The text of a value, with the comment lines below it while braces are open. */
static char *read_value(const test_case *c, int *line, const char *text)
{
  char *whole = format("%s", text);
  for (;;) {
    int depth = 0;
    for (const char *p = whole; *p; p++)
      depth += (*p == '{') - (*p == '}');
    const char *more = *line + 1 < c->end ? behind(c->lines[*line + 1], "//") : NULL;
    if (depth <= 0 || !more)
      return whole;
    append(&whole, more);
    ++*line;
  }
}

static void add_value(test_case *c, int *line, const char *text, bool is_argument)
{
  value_text *list = is_argument ? c->args : c->expected;
  int *count = is_argument ? &c->arg_count : &c->expected_count;
  value_text v = {0};
  if (*text == '~') {
    char *end = NULL;
    double number = strtod(++text, &end);
    bool is_count = text + strspn(text, "0123456789") == end;
    v.ulps = is_count ? (int)number : 0;
    v.share = is_count ? 0 : number;
    text = end;
  }
  v.text = read_value(c, line, text);
  if (*count < MOST_ARRAYS)
    list[(*count)++] = v;
  else
    fault(c, "more than %d values", MOST_ARRAYS);
}

/* Reads a line that is a directive as a whole; *line moves when it has several. */
static bool read_directive(test_case *c, int *line, const char **command)
{
  const char *text = c->lines[*line], *rest = NULL;
  if ((rest = behind(text, "// RUN:")) != NULL)
    *command = rest;
  else if (behind(text, "// OUT:"))
    c->has_out = true;
  else if ((rest = behind(text, "// EXIT ")) != NULL)
    c->exit_status = atoi(rest);
  else if ((rest = behind(text, "// STDERR: ")) != NULL && c->note_count < MOST_NOTES)
    c->notes[c->note_count++] = rest;
  else if ((rest = behind(text, "// ARG ")) != NULL)
    add_value(c, line, rest, true);
  else if ((rest = behind(text, "// EXPECT")) != NULL && (*rest == ' ' || *rest == '~'))
    add_value(c, line, rest, false);
  else
    return false;
  return true;
}

/* Reads the directives of a case, and its module: the lines with directives taken out, so that line
 * numbers stay, and without the empty lines at the end. */
void read_case(test_case *c, const char **command)
{
  char *pending = format("%s", "");
  for (int i = c->begin; i < c->end; i++) {
    int from = i;
    const char *line = c->lines[i];
    bool is_directive = read_directive(c, &i, command);
    const char *cut = is_directive ? line : read_diagnostics(c, line, i - c->begin + 1);
    size_t length = cut ? (size_t)(cut - line) : strlen(line);
    while (length > 0 && isspace((unsigned char)line[length - 1]) && cut)
      length--;
    if (*skip_blanks(line) && length > 0) {
      char *text = format("%s%.*s", pending, (int)length, line);
      append(&c->module, text);
      free(text);
      pending[0] = '\0';
      c->has_text |= strncmp(skip_blanks(line), "//", 2) != 0;
    }
    for (; from <= i; from++)
      append(&pending, "\n");
  }
  append(&c->module, "\n");
  free(pending);
  c->command = *command;
}

bool is_case(const test_case *c)
{
  return c->has_text || c->has_out || c->wanted_count > 0 || c->exit_status >= 0;
}

void free_case(test_case *c)
{
  for (int i = 0; i < c->arg_count; i++)
    free((char *)(uintptr_t)c->args[i].text);
  for (int i = 0; i < c->expected_count; i++)
    free((char *)(uintptr_t)c->expected[i].text);
  free(c->module);
  free(c->faults);
  free(c->out);
  free(c->error);
}

/* ---- exact output ---- */

/* The OUT lines as text. */
static char *wanted_output(const test_case *c)
{
  char *text = format("%s", "");
  for (int i = c->begin; i < c->end; i++) {
    const char *rest = behind(c->lines[i], "// OUT:");
    if (!rest)
      continue;
    append(&text, *rest == ' ' ? rest + 1 : rest);
    append(&text, "\n");
  }
  return text;
}

/* Blanks at line ends and the last line's end do not count: an editor may strip them. */
static bool same_line(const char *a, const char *b)
{
  size_t n = strlen(a), m = strlen(b);
  while (n > 0 && isspace((unsigned char)a[n - 1]))
    n--;
  while (m > 0 && isspace((unsigned char)b[m - 1]))
    m--;
  return n == m && memcmp(a, b, n) == 0;
}

void check_output(test_case *c)
{
  int want_count = 0, got_count = 0;
  char *want_text = wanted_output(c), *got_text = format("%s", c->out);
  char **want = split_lines(want_text, &want_count), **got = split_lines(got_text, &got_count);
  int most = want_count > got_count ? want_count : got_count, i = 0;
  while (i < most && i < want_count && i < got_count && same_line(want[i], got[i]))
    i++;
  if (i < most)
    fault(c, "line %d of the output differs\n    want: %s\n    got:  %s\n  whole output:\n%s",
          i + 1, i < want_count ? want[i] : "(end)", i < got_count ? got[i] : "(end)", c->out);
  free(want);
  free(got);
  free(want_text);
  free(got_text);
}

/* Writes the file's lines of this case with OUT lines as the program printed them now. */
void write_updated(const test_case *c, FILE *to)
{
  bool is_done = false;
  for (int i = c->begin; i < c->end; i++) {
    if (!behind(c->lines[i], "// OUT:")) {
      fprintf(to, "%s\n", c->lines[i]);
      continue;
    }
    int count = 0;
    char *text = format("%s", c->out ? c->out : ""), **lines = split_lines(text, &count);
    for (int j = 0; j < count && !is_done; j++)
      fprintf(to, *lines[j] ? "// OUT: %s\n" : "// OUT:%s\n", lines[j]);
    is_done = true;
    free(lines);
    free(text);
  }
}
