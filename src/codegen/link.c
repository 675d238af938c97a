/* link - runs a linker on inputs that are in memory: they are written to a folder beside the
 * output, where the result appears first and is renamed from. */
#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MESSAGE_BYTES = 2000 };

typedef struct work {
  hl_arena *arena;
  const hl_link *link;
  char *folder;
  const char **files; /* all that may be in the folder: inputs, the result, messages */
  int file_count;
  const char *result, *messages;
} work;

static const char *file_in(work *w, const char *name)
{
  const char *path = hl_arena_printf(w->arena, "%s/%s", w->folder, name);
  w->files[w->file_count++] = path;
  return path;
}

static bool fail(work *w, const char **error, const char *what, const char *which, int code)
{
  *error = hl_arena_printf(w->arena, "cannot %s %s: %s", what, which, strerror(code));
  return false;
}

static bool write_input(work *w, const char *path, const hl_link_input *input, const char **error)
{
  FILE *file = fopen(path, "wb");
  if (!file)
    return fail(w, error, "write", path, errno);
  bool ok = fwrite(input->data, 1, input->size, file) == input->size;
  ok = fclose(file) == 0 && ok;
  return ok || fail(w, error, "write", path, errno);
}

static int count_of(const char *const *list)
{
  int count = 0;
  while (list && list[count])
    count++;
  return count;
}

static char **command_line(work *w)
{
  const hl_link *link = w->link;
  int options = count_of(link->options), libraries = count_of(link->libraries), n = 0;
  const char **words =
      HL_ARRAY(w->arena, options + libraries + link->input_count + 4, const char *);
  words[n++] = link->tool;
  for (int i = 0; i < options; i++)
    words[n++] = link->options[i];
  words[n++] = "-o";
  words[n++] = w->result;
  for (int i = 0; i < link->input_count; i++)
    words[n++] = w->files[i];
  for (int i = 0; i < libraries; i++)
    words[n++] = link->libraries[i];
  return (char **)words;
}

/* What the tool wrote to standard error, cut off. */
static const char *read_messages(work *w)
{
  char *text = hl_arena_alloc(w->arena, MESSAGE_BYTES + 1);
  FILE *file = fopen(w->messages, "rb");
  size_t size = file ? fread(text, 1, MESSAGE_BYTES, file) : 0;
  if (file)
    fclose(file);
  while (size > 0 && text[size - 1] == '\n')
    text[--size] = '\0';
  return text;
}

static bool run_tool(work *w, const char **error)
{
  posix_spawn_file_actions_t actions;
  pid_t child;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, w->messages,
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  int code = posix_spawnp(&child, w->link->tool, &actions, NULL, command_line(w), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code)
    return fail(w, error, "run", w->link->tool, code);
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return fail(w, error, "wait for", w->link->tool, errno);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return true;
  *error = hl_arena_printf(w->arena, "%s failed: %s", w->link->tool, read_messages(w));
  return false;
}

static bool link_in_folder(work *w, const char **error)
{
  for (int i = 0; i < w->link->input_count; i++)
    if (!write_input(w, file_in(w, w->link->inputs[i].name), &w->link->inputs[i], error))
      return false;
  w->result = file_in(w, "result");
  w->messages = file_in(w, "messages");
  if (!run_tool(w, error))
    return false;
  return rename(w->result, w->link->output) == 0 || fail(w, error, "write", w->link->output, errno);
}

/* The result is renamed to the output: a device or a pipe of that name would be gone. */
static bool is_special(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

bool hl_link_run(hl_arena *arena, const hl_link *link, const char **error)
{
  work w = {.arena = arena, .link = link};
  const char *here = link->output[0] == '-' ? "./" : ""; /* no tool takes it for an option */
  w.folder = hl_arena_printf(arena, "%s%s.XXXXXX", here, link->output);
  w.files = HL_ARRAY(arena, link->input_count + 2, const char *);
  if (is_special(link->output)) {
    *error = hl_arena_printf(arena, "cannot write %s: a linked file goes to a regular file",
                             link->output);
    return false;
  }
  if (!mkdtemp(w.folder))
    return fail(&w, error, "write", link->output, errno);
  bool ok = link_in_folder(&w, error);
  for (int i = 0; i < w.file_count; i++)
    unlink(w.files[i]);
  rmdir(w.folder);
  return ok;
}
