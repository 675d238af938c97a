/* cmd_reduce - `hlo-lite reduce --script CMD`: the smallest module for which a command still succeeds.
 *
 * Delta debugging: each edit is tried at all places at once, then at halves of them, down to single ones, and all edits
 * again until none helps. A candidate is printed, read back and verified before the command sees it, and is taken only
 * if it is smaller, so that this ends. */
#include "command.h"

#include "ir/print.h"
#include "passes/rewrite.h"
#include "reduce.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Sizes by rank: instructions first, parameters being the simplest; then elements and values that are not 0; then text. */
typedef struct size {
  int64_t weight, elements, bytes;
  int64_t instructions;
} size;

typedef struct reducer {
  const hl_options *options;
  hl_session_options session;
  hl_guard *guard;
  hl_arena *arena;      /* of the text */
  const char *text;     /* the smallest so far */
  size size;
  int64_t runs;
  uint64_t *seen;       /* hashes of the candidates that failed */
  bool keeps_dead;      /* the command wants something that nothing uses */
  bool has_failed;      /* the command could not be run */
} reducer;

/* ---- sizes ---- */

static int64_t weight_of(const hl_instruction *ins)
{
  return ins->opcode == HL_OP_PARAMETER ? 2 : ins->opcode == HL_OP_CONSTANT ? 3 : 4;
}

static int64_t count_values(const hl_literal *literal)
{
  int64_t count = 0, bytes = hl_shape_bytes(literal->shape);
  for (int64_t i = 0; literal->data && i < bytes; i++)
    count += ((const char *)literal->data)[i] != 0;
  return count;
}

static void add_instruction(size *sum, const hl_instruction *ins)
{
  int64_t elements = 0;
  sum->weight += weight_of(ins);
  sum->instructions++;
  if (hl_shape_is_array(ins->shape))
    elements = hl_shape_elements(ins->shape);
  if (ins->opcode == HL_OP_CONSTANT && hl_shape_is_array(ins->shape))
    elements += count_values(ins->literal);
  if (!hl_add_i64(sum->elements, elements, &sum->elements))
    sum->elements = INT64_MAX;
}

static size measure(const hl_module *module, size_t bytes)
{
  size sum = {.bytes = (int64_t)bytes};
  for (const hl_computation *c = module->first; c; c = c->next)
    for (const hl_instruction *ins = c->first; ins; ins = ins->next)
      add_instruction(&sum, ins);
  return sum;
}

static bool is_smaller(const size *a, const size *b)
{
  if (a->weight != b->weight)
    return a->weight < b->weight;
  return a->elements != b->elements ? a->elements < b->elements : a->bytes < b->bytes;
}

/* ---- the command ---- */

static bool write_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "wb");
  bool ok = file && fputs(text, file) >= 0;
  if (file)
    ok = fclose(file) == 0 && ok;
  return ok;
}

/* Its status; -1: it could not be run. */
static int run_shell(const char *script, const char *path)
{
  char command[] = "sh", flag[] = "-c";
  char *const words[] = {command, flag, (char *)script, command, (char *)path, NULL};
  posix_spawn_file_actions_t actions;
  pid_t child;
  int status = -1;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  int code = posix_spawnp(&child, "sh", &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  while (!code && waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return code ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* The file is gone when this returns, whatever happens to the rest. */
static bool succeeds(reducer *r, hl_arena *arena, const char *text)
{
  const char *parent = getenv("TMPDIR");
  char *folder = hl_arena_printf(arena, "%s/hlo-lite-XXXXXX", parent && *parent ? parent : "/tmp");
  char *script = hl_arena_printf(arena, "%s \"$1\"", r->options->script);
  char *path = hl_arena_printf(arena, "%s/model.hlo", folder);
  int status = -1;
  r->runs++;
  if (mkdtemp(folder)) {
    memcpy(path, folder, strlen(folder));
    if (write_text(path, text))
      status = run_shell(script, path);
    unlink(path);
    rmdir(folder);
  }
  r->has_failed = r->has_failed || status < 0;
  return status == 0;
}

/* ---- candidates ---- */

static bool is_spent(const reducer *r)
{
  return r->has_failed || r->runs >= r->options->max_runs;
}

static bool load_text(reducer *r, hl_session *s, const char *text)
{
  hl_session_open(s, r->guard, &r->session);
  return hl_session_set_text(s, "candidate", text, strlen(text)) && hl_session_load(s, NULL);
}

/* Whether it failed before; remembers it. */
static bool was_seen(reducer *r, const char *text)
{
  uint64_t hash = 14695981039346656037u;
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * 1099511628211u;
  for (int64_t i = 0; i < r->runs; i++)
    if (r->seen[i] == hash)
      return true;
  r->seen[r->runs] = hash;
  return false;
}

static void take(reducer *r, const char *text, size_t bytes, const size *now)
{
  hl_arena *arena = hl_arena_new(r->guard);
  if (!arena)
    longjmp(r->guard->env, 1);
  r->text = hl_arena_strndup(arena, text, bytes);
  r->size = *now;
  hl_arena_free(r->arena);
  r->arena = arena;
}

static void show_progress(const reducer *r)
{
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r%lld runs, %lld instructions \033[K", (long long)r->runs,
            (long long)r->size.instructions);
}

static bool consider(reducer *r, const char *text, size_t bytes)
{
  hl_session s;
  bool is_taken = false;
  if (load_text(r, &s, text)) {
    size now = measure(s.module, bytes);
    is_taken = is_smaller(&now, &r->size) && !was_seen(r, text) && succeeds(r, s.arena, text);
    if (is_taken)
      take(r, text, bytes, &now);
    show_progress(r);
  }
  hl_session_close(&s);
  return is_taken;
}

static bool try_sweep(reducer *r)
{
  hl_session s;
  bool is_done = false;
  if (load_text(r, &s, r->text)) {
    hl_str text = {.arena = s.arena};
    hl_reduce_sweep(s.module);
    hl_drop_unreached(s.module);
    hl_module_print(&text, s.module);
    is_done = !strcmp(hl_str_text(&text), r->text) || consider(r, hl_str_text(&text), text.length);
  }
  hl_session_close(&s);
  return is_done;
}

static bool try_edit(reducer *r, hl_reduction reduction, int first, int count)
{
  hl_session s;
  bool is_taken = false;
  if (load_text(r, &s, r->text) && hl_reduce_at(s.module, reduction, first, count)) {
    hl_str text = {.arena = s.arena};
    if (!r->keeps_dead)
      hl_reduce_sweep(s.module);
    hl_drop_unreached(s.module);
    hl_module_print(&text, s.module);
    is_taken = consider(r, hl_str_text(&text), text.length);
  }
  hl_session_close(&s);
  return is_taken;
}

static int count_places(reducer *r, hl_reduction reduction)
{
  hl_session s;
  int count = load_text(r, &s, r->text) ? hl_reduce_places(s.module, reduction) : 0;
  hl_session_close(&s);
  return count;
}

/* After a success the places are others: the same range is tried again, now of what moved there. */
static bool try_all(reducer *r, hl_reduction reduction)
{
  bool changed = false;
  int places = count_places(r, reduction);
  for (int count = hl_reduce_takes_many(reduction) ? places : places > 0; count > 0; count /= 2)
    for (int first = 0; first < places && !is_spent(r);) {
      if (try_edit(r, reduction, first, count)) {
        changed = true;
        places = count_places(r, reduction);
      } else {
        first += count;
      }
    }
  return changed;
}

static void reduce(reducer *r)
{
  bool changed = true;
  r->keeps_dead = !try_sweep(r);
  while (changed && !is_spent(r)) {
    changed = false;
    for (hl_reduction i = 0; i < HL_REDUCE_COUNT; i++)
      changed = try_all(r, i) || changed;
  }
  if (isatty(STDERR_FILENO))
    fputs("\r\033[K", stderr);
}

/* ---- the command line ---- */

static void tell_sizes(const reducer *r, const size *before)
{
  fprintf(stderr, "%lld runs; instructions: %lld before, %lld after; bytes: %lld before, %lld after%s\n",
          (long long)r->runs, (long long)before->instructions, (long long)r->size.instructions,
          (long long)before->bytes, (long long)r->size.bytes,
          is_spent(r) ? "; --max-runs ended it" : "");
}

/* The module's text is what the candidates begin with, its constants included. */
static bool reduce_module(hl_session *s, reducer *r)
{
  hl_str text = {.arena = s->arena};
  hl_module_print(&text, s->module);
  size before = measure(s->module, text.length);
  take(r, hl_str_text(&text), text.length, &before);
  if (!succeeds(r, s->arena, r->text))
    return r->has_failed ? hl_session_input_fault(s, "the script could not be run")
                         : hl_session_input_fault(s, "the script fails for the module as it is");
  reduce(r);
  if (r->has_failed)
    return hl_session_input_fault(s, "the script could not be run");
  tell_sizes(r, &before);
  return true;
}

int hl_command_reduce(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  hl_session s;
  bool is_written = true;
  if (!options->script)
    return hl_complain(HL_EXIT_USAGE, "reduce needs a command: --script CMD");
  reducer r = {.options = options,
               .session = {.dialect_xla = options->dialect_xla},
               .guard = guard,
               .seen = HL_ARRAY(arena, options->max_runs + 1, uint64_t)};
  hl_command_open(&s, options, guard);
  if (hl_command_load(&s, options, options->inputs[0]) && reduce_module(&s, &r))
    is_written = hl_command_write(options->output, r.text, strlen(r.text));
  hl_arena_free(r.arena);
  int status = hl_command_close(&s, options);
  return status == HL_EXIT_DONE && !is_written ? HL_EXIT_INPUT : status;
}
