/* terminal - runs a program in a terminal, and types. Nothing of the project is in it.
 *
 *   terminal COLUMNS PROGRAM WORDS...           prints what the program wrote, when it has ended
 *   terminal -f SCRIPT COLUMNS PROGRAM WORDS... a line each: `type TEXT` with \t \r \e and \xNN; `want TEXT` waits
 *                                               until TEXT was written since the last that was waited for
 *
 * Status: that of the program; with a script 0 when all was written that it waits for, else 1 with what was written. */
#define _GNU_SOURCE
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 1 << 20, PATIENCE_MS = 20000, LINE = 1000 };

typedef struct terminal {
  int file;
  pid_t child;
  char *text; /* what was written, ROOM bytes */
  size_t length, seen;
} terminal;

/* False at the end, or when nothing comes for so long. */
static bool read_more(terminal *t)
{
  struct pollfd wait = {.fd = t->file, .events = POLLIN};
  if (t->length + 1 >= ROOM || poll(&wait, 1, PATIENCE_MS) <= 0)
    return false;
  ssize_t got = read(t->file, t->text + t->length, ROOM - 1 - t->length);
  if (got <= 0)
    return false;
  t->length += (size_t)got;
  t->text[t->length] = '\0';
  return true;
}

static bool want(terminal *t, const char *text)
{
  for (;;) {
    const char *found = strstr(t->text + t->seen, text);
    if (found) {
      t->seen = (size_t)(found - t->text) + strlen(text);
      return true;
    }
    if (!read_more(t))
      return false;
  }
}

static char unescape(const char **at)
{
  const char *escapes = "t\tr\re\033", *c = strchr(escapes, **at);
  char digits[3] = {0};
  if (**at == 'x') {
    memcpy(digits, *at + 1, 2);
    *at += 2;
    return (char)strtol(digits, NULL, 16);
  }
  return c ? c[1] : **at;
}

static bool type(terminal *t, const char *text)
{
  for (; *text; text++) {
    char c = *text;
    if (c == '\\' && text[1]) {
      text++;
      c = unescape(&text);
    }
    if (write(t->file, &c, 1) != 1)
      return false;
  }
  return true;
}

static bool follow(terminal *t, FILE *script)
{
  char line[LINE];
  while (fgets(line, sizeof line, script)) {
    line[strcspn(line, "\n")] = '\0';
    bool ok = !strncmp(line, "type ", 5) ? type(t, line + 5) : !strncmp(line, "want ", 5) && want(t, line + 5);
    if (ok)
      continue;
    fprintf(stderr, "%s: it wrote:\n%s\n", line, t->text);
    return false;
  }
  return true;
}

static int finish(terminal *t, bool is_script, bool ok)
{
  int status = 0;
  while (!is_script && read_more(t))
    ;
  if (is_script)
    kill(t->child, SIGHUP);
  close(t->file);
  waitpid(t->child, &status, 0);
  if (!is_script)
    fwrite(t->text, 1, t->length, stdout);
  free(t->text);
  return is_script ? !ok : WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
  terminal t = {.text = calloc(1, ROOM)};
  bool is_script = argc > 3 && !strcmp(argv[1], "-f");
  FILE *script = is_script ? fopen(argv[2], "r") : NULL;
  char **words = argv + (is_script ? 3 : 1);
  if (!t.text || argc < 3 || (is_script && !script))
    return 2;
  struct winsize size = {.ws_row = 50, .ws_col = (unsigned short)atoi(words[0])};
  t.child = forkpty(&t.file, NULL, NULL, &size);
  if (t.child == 0) {
    execvp(words[1], words + 1);
    _exit(127);
  }
  bool ok = t.child > 0 && is_script && follow(&t, script);
  if (script)
    fclose(script);
  return t.child < 0 ? 2 : finish(&t, is_script, ok);
}
