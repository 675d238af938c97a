/* hlotest.c - runs the text tests: modules with what hlo-lite must make of them written beside
 * them.
 *
 *   hlotest [--update] [-v] [--checksums FLAGS] HLO-LITE FILE|FOLDER...
 *
 * The format is described in tests/README.md. Each case is written to a folder of its own and given
 * to the built command as a user would, without a shell: what is tested is what users type. Nothing
 * of the compiler is linked, but the reading and writing of arrays.
 */
#define _GNU_SOURCE
#include "hlotest.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 80, SECONDS = 120 };

typedef struct runner {
  const char *program; /* absolute */
  char folder[64];
  bool update, verbose;
  const char *checksum_flags; /* NULL: test; else run with these flags and print checksums */
  int passed, failed;
} runner;

/* ---- processes ---- */

typedef struct words {
  const char *list[MOST_WORDS + 1];
  int count;
  char *memory;
} words;

static void add_word(words *w, const char *word)
{
  if (w->count < MOST_WORDS)
    w->list[w->count++] = word;
  w->list[w->count] = NULL;
}

/* Blanks part words; double quotes hold them together. */
static void split_words(words *w, const char *text)
{
  w->memory = format("%s", text);
  for (char *p = w->memory; *p;) {
    p += strspn(p, " \t\r");
    if (!*p)
      return;
    bool is_quoted = *p == '"';
    char *word = p + is_quoted;
    p = word + strcspn(word, is_quoted ? "\"" : " \t\r");
    if (*p)
      *p++ = '\0';
    add_word(w, word);
  }
}

static void redirect(const char *path, int to)
{
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0 || dup2(file, to) < 0)
    _exit(126);
}

static void start_child(const runner *r, const words *w)
{
  alarm(SECONDS); /* stays with the program: a hang becomes a signal */
  if (chdir(r->folder) != 0)
    _exit(126);
  redirect("stdout.txt", STDOUT_FILENO);
  redirect("stderr.txt", STDERR_FILENO);
  int null = open("/dev/null", O_RDONLY);
  if (null >= 0)
    dup2(null, STDIN_FILENO);
  execv(r->program, (char *const *)(uintptr_t)w->list);
  _exit(127);
}

static char *read_output(const runner *r, const char *name)
{
  char *path = format("%s/%s", r->folder, name), *text = read_text(path);
  free(path);
  return text ? text : format("%s", "");
}

/* Runs the program in the case's folder; its exit status, or -1 with a fault when it was killed. */
static int run_program(const runner *r, test_case *c, const words *w)
{
  int status = 0;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0)
    start_child(r, w);
  if (child < 0 || waitpid(child, &status, 0) != child) {
    fault(c, "cannot start a process");
    return -1;
  }
  free(c->out);
  free(c->error);
  c->out = read_output(r, "stdout.txt");
  c->error = read_output(r, "stderr.txt");
  if (WIFEXITED(status) && WEXITSTATUS(status) != 127)
    return WEXITSTATUS(status);
  if (WIFEXITED(status))
    fault(c, "cannot execute %s", r->program);
  else
    fault(c, "killed by signal %d (%s)\n%s", WTERMSIG(status), strsignal(WTERMSIG(status)),
          c->error);
  return -1;
}

/* ---- diagnostics ---- */

/* Reads "case.hlo:LINE:COLUMN: error: text [label]". */
static bool parse_diagnostic(const char *line, diagnostic *d)
{
  char kind[16];
  const char *bracket = strrchr(line, '[');
  *d = (diagnostic){0};
  if (sscanf(line, "case.hlo:%d:%d: %15[a-z]:", &d->line, &d->column, kind) != 3 || !bracket)
    return false;
  d->is_warning = strcmp(kind, "warning") == 0;
  return sscanf(bracket, "[%63[^]]", d->label) == 1;
}

static bool same_diagnostic(const diagnostic *a, const diagnostic *b)
{
  return a->is_warning == b->is_warning && a->line == b->line && a->column == b->column &&
         strcmp(a->label, b->label) == 0;
}

static void match_diagnostic(test_case *c, const diagnostic *d, const char *line)
{
  for (int i = 0; i < c->wanted_count; i++)
    if (!c->wanted[i].is_matched && same_diagnostic(&c->wanted[i], d)) {
      c->wanted[i].is_matched = true;
      return;
    }
  fault(c, "not expected: %s", line);
}

/* Errors without a place are faults too, unless the case names an exit status. */
static void check_diagnostics(test_case *c)
{
  int count = 0;
  char *text = format("%s", c->error), **lines = split_lines(text, &count);
  for (int i = 0; i < count; i++) {
    diagnostic d;
    if (parse_diagnostic(lines[i], &d))
      match_diagnostic(c, &d, lines[i]);
    else if (strstr(lines[i], "error: ") && c->exit_status < 0)
      fault(c, "not expected: %s", lines[i]);
  }
  for (int i = 0; i < c->wanted_count; i++)
    if (!c->wanted[i].is_matched)
      fault(c, "missing: case.hlo:%d:%d: %s [%s]", c->wanted[i].line, c->wanted[i].column,
            c->wanted[i].is_warning ? "warning" : "error", c->wanted[i].label);
  for (int i = 0; i < c->note_count; i++)
    if (!strstr(c->error, c->notes[i]))
      fault(c, "standard error lacks: %s", c->notes[i]);
  free(lines);
  free(text);
}

static int wanted_status(const test_case *c)
{
  bool has_error = false;
  for (int i = 0; i < c->wanted_count; i++)
    has_error |= !c->wanted[i].is_warning;
  return c->exit_status >= 0 ? c->exit_status : has_error;
}

/* ---- kinds of cases ---- */

static void write_module(const runner *r, test_case *c)
{
  hl_io_error e;
  hl_output o;
  char *path = format("%s/case.hlo", r->folder);
  bool ok = hl_output_open(&o, path, &e);
  if (ok) {
    hl_output_write(&o, c->module, strlen(c->module));
    ok = hl_output_close(&o, &e);
  }
  if (!ok)
    fault(c, "%s", e.text);
  free(path);
}

static void run_plain(const runner *r, test_case *c)
{
  words w = {0};
  add_word(&w, r->program);
  split_words(&w, c->command);
  add_word(&w, "case.hlo");
  int status = run_program(r, c, &w), want = wanted_status(c);
  free(w.memory);
  if (status < 0)
    return;
  if (status != want)
    fault(c, "exit status %d, not %d\n%s", status, want, c->error);
  check_diagnostics(c);
  if (c->has_out && !r->update)
    check_output(c);
}

/* The arrays of a run case, and how many results the first variant gave. */
typedef struct run_case {
  hl_npy expected[MOST_ARRAYS], first[MOST_ARRAYS];
  char names[MOST_ARRAYS][32];
  int first_count;
} run_case;

static void prepare_run(const runner *r, test_case *c, run_case *run)
{
  shape known[MOST_ARRAYS];
  int count = parameter_shapes(c->module, known);
  for (int i = 0; i < c->arg_count; i++) {
    hl_npy a = {0};
    hl_io_error e;
    snprintf(run->names[i], sizeof run->names[i], "arg%d.npy", i);
    char *path = format("%s/%s", r->folder, run->names[i]);
    if (make_array(c, &c->args[i], i < count ? &known[i] : NULL, &a) && !hl_npy_save(path, &a, &e))
      fault(c, "%s", e.text);
    hl_npy_free(&a);
    free(path);
  }
  count = result_shapes(c->module, known);
  for (int i = 0; i < c->expected_count; i++)
    make_array(c, &c->expected[i], i < count ? &known[i] : NULL, &run->expected[i]);
}

/* Reads OUT/0.npy, OUT/1.npy, ... as far as there are any, and removes them. */
static int collect_results(const runner *r, test_case *c, hl_npy *list)
{
  for (int i = 0; i < MOST_ARRAYS; i++) {
    char *path = format("%s/out/%d.npy", r->folder, i);
    bool exists = access(path, F_OK) == 0;
    hl_io_error e;
    if (exists && !hl_npy_load(path, &list[i], &e))
      fault(c, "%s", e.text);
    unlink(path);
    free(path);
    if (!exists)
      return i;
  }
  return MOST_ARRAYS;
}

/* Against EXPECT where the case has it; and every variant bit for bit against the first. */
static void check_results(test_case *c, run_case *run, hl_npy *got, const char *variant)
{
  for (int i = 0; i < c->expected_count; i++) {
    char *what = format("%s: result %d", variant, i);
    if (!got[i].owner)
      fault(c, "%s is missing", what);
    else if (run->expected[i].owner)
      compare(c, &run->expected[i], &got[i], &c->expected[i], what);
    free(what);
  }
  for (int i = 0; i < run->first_count; i++) {
    char *what = format("%s against default flags: result %d", variant, i);
    if (got[i].owner)
      compare(c, &run->first[i], &got[i], NULL, what);
    free(what);
  }
}

/* Parameters without ARG lines get random values. */
static void add_run_words(const test_case *c, const run_case *run, words *w)
{
  for (int i = 0; i < c->arg_count; i++)
    add_word(w, run->names[i]);
  if (c->arg_count == 0 && strstr(c->module, "parameter(")) {
    add_word(w, "--random");
    add_word(w, "1");
  }
  add_word(w, "-o");
  add_word(w, "out/");
}

/* Keeps the first variant's results, for the others to be compared with. */
static void keep_or_free(run_case *run, hl_npy *got, int count)
{
  bool is_first = run->first_count == 0;
  for (int i = 0; i < count && is_first; i++)
    run->first[i] = got[i];
  for (int i = 0; i < count && !is_first; i++)
    hl_npy_free(&got[i]);
  run->first_count = is_first ? count : run->first_count;
}

/* Runs with one more flag and compares; false when the rest need not be tried. */
static bool run_variant(const runner *r, test_case *c, run_case *run, const char *flag)
{
  words w = {0};
  hl_npy got[MOST_ARRAYS] = {0};
  add_word(&w, r->program);
  split_words(&w, c->command);
  words more = {0};
  split_words(&more, flag);
  for (int i = 0; i < more.count; i++)
    add_word(&w, more.list[i]);
  add_word(&w, "case.hlo");
  add_run_words(c, run, &w);
  int status = run_program(r, c, &w);
  free(w.memory);
  free(more.memory);
  if (status > 0)
    fault(c, "run %s: exit status %d\n%s", flag, status, c->error);
  if (status != 0)
    return false;
  int count = collect_results(r, c, got);
  if (count != c->expected_count && c->expected_count > 0)
    fault(c, "%d results, not %d", count, c->expected_count);
  check_results(c, run, got, *flag ? flag : "default flags");
  keep_or_free(run, got, count);
  return *c->faults == '\0';
}

/* FNV-1a over the bytes of all results. */
static uint64_t checksum(const hl_npy *list, int count)
{
  uint64_t hash = UINT64_C(14695981039346656037);
  for (int i = 0; i < count; i++)
    for (size_t k = 0; k < list[i].bytes; k++)
      hash = (hash ^ ((const unsigned char *)list[i].data)[k]) * UINT64_C(1099511628211);
  return hash;
}

static void print_checksum(const runner *r, test_case *c, run_case *run)
{
  if (run_variant(r, c, run, r->checksum_flags))
    printf("%016llx %s:%d\n", (unsigned long long)checksum(run->first, run->first_count), c->path,
           c->begin + 1);
}

static void run_variants(const runner *r, test_case *c, run_case *run)
{
  static const char *const flags[] = {"", "-O0", "--check"};
  for (size_t i = 0; i < sizeof flags / sizeof *flags && *c->faults == '\0'; i++)
    if (!run_variant(r, c, run, flags[i]))
      break;
}

static void run_values(const runner *r, test_case *c)
{
  run_case *run = checked(calloc(1, sizeof *run));
  prepare_run(r, c, run);
  if (r->checksum_flags)
    print_checksum(r, c, run);
  else
    run_variants(r, c, run);
  for (int i = 0; i < MOST_ARRAYS; i++) {
    hl_npy_free(&run->expected[i]);
    hl_npy_free(&run->first[i]);
  }
  free(run);
}

/* A run that is to succeed and prints nothing that the case holds goes through all variants. */
static bool has_variants(const test_case *c)
{
  const char *rest = behind(c->command, "run");
  return rest && (*rest == ' ' || *rest == '\0') && !c->has_out && c->exit_status < 0 &&
         c->wanted_count == 0;
}

static void run_case_text(runner *r, test_case *c)
{
  if (!c->command)
    fault(c, "no // RUN: line");
  write_module(r, c);
  if (*c->faults == '\0' && has_variants(c))
    run_values(r, c);
  else if (*c->faults == '\0' && !r->checksum_flags)
    run_plain(r, c);
  bool ok = *c->faults == '\0';
  r->passed += ok;
  r->failed += !ok;
  if (!ok || r->verbose)
    printf("%s: %s:%d:%s\n%s", ok ? "ok" : "FAILED", c->path, c->begin + 1,
           c->command ? c->command : "", c->faults);
}

/* ---- files ---- */

static void run_segment(runner *r, test_case *c, const char **command, FILE *updated)
{
  c->exit_status = -1;
  append(&c->faults, "");
  read_case(c, command);
  if (is_case(c))
    run_case_text(r, c);
  if (c->has_out && c->out)
    write_updated(c, updated);
  else
    for (int i = c->begin; i < c->end; i++)
      fprintf(updated, "%s\n", c->lines[i]);
}

static void run_lines(runner *r, const char *path, char **lines, FILE *updated)
{
  const char *command = NULL;
  for (int begin = 0; lines[begin];) {
    int end = begin;
    while (lines[end] && !is_separator(lines[end]))
      end++;
    test_case *c = checked(calloc(1, sizeof *c));
    *c = (test_case){.path = path, .lines = lines, .begin = begin, .end = end};
    run_segment(r, c, &command, updated);
    free_case(c);
    free(c);
    if (lines[end])
      fprintf(updated, "%s\n", lines[end++]);
    begin = end;
  }
}

static void save_updated(const char *path, const char *text)
{
  hl_output o;
  hl_io_error e;
  bool ok = hl_output_open(&o, path, &e);
  if (ok) {
    hl_output_write(&o, text, strlen(text));
    ok = hl_output_close(&o, &e);
  }
  if (!ok)
    fprintf(stderr, "hlotest: error: %s\n", e.text);
}

static void run_file(runner *r, const char *path)
{
  char *text = read_text(path), *updated_text = NULL;
  size_t updated_size = 0;
  int count = 0;
  if (!text) {
    printf("FAILED: cannot read %s\n", path);
    r->failed++;
    return;
  }
  char *before = format("%s", text), **lines = split_lines(text, &count);
  FILE *updated = checked(open_memstream(&updated_text, &updated_size));
  int cases = r->passed + r->failed;
  run_lines(r, path, lines, updated);
  fclose(updated);
  if (r->passed + r->failed == cases) {
    printf("FAILED: %s holds no case\n", path);
    r->failed++;
  }
  if (r->update && strcmp(before, updated_text) != 0)
    save_updated(path, updated_text);
  free(updated_text);
  free(lines);
  free(before);
  free(text);
}

static int is_test_file(const struct dirent *entry)
{
  size_t n = strlen(entry->d_name);
  return entry->d_name[0] != '.' && (n < 4 || strcmp(entry->d_name + n - 4, ".npy") != 0);
}

/* Files in order of their names, folders in their place: depth is bounded by path lengths. */
static void run_path(runner *r, const char *path)
{
  struct stat info;
  struct dirent **entries = NULL;
  if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
    run_file(r, path);
    return;
  }
  int count = scandir(path, &entries, is_test_file, alphasort);
  for (int i = 0; i < count; i++) {
    char *below = format("%s/%s", path, entries[i]->d_name);
    size_t n = strlen(below);
    bool is_folder = stat(below, &info) == 0 && S_ISDIR(info.st_mode);
    if (is_folder || (n > 4 && strcmp(below + n - 4, ".hlo") == 0))
      run_path(r, below);
    free(below);
    free(entries[i]);
  }
  free(entries);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
  (void)info, (void)kind, (void)where;
  return remove(path);
}

int main(int argc, char **argv)
{
  runner r = {0};
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    r.update |= strcmp(argv[i], "--update") == 0;
    r.verbose |= strcmp(argv[i], "-v") == 0;
    if (strcmp(argv[i], "--checksums") == 0 && i + 1 < argc)
      r.checksum_flags = argv[++i];
  }
  char *program = i < argc ? realpath(argv[i++], NULL) : NULL;
  const char *temporary = getenv("TMPDIR");
  snprintf(r.folder, sizeof r.folder, "%s/hlotest-XXXXXX", temporary ? temporary : "/tmp");
  if (!program || i == argc || !mkdtemp(r.folder)) {
    fputs("usage: hlotest [--update] [-v] [--checksums FLAGS] HLO-LITE FILE|FOLDER...\n", stderr);
    return 2;
  }
  r.program = program;
  for (; i < argc; i++)
    run_path(&r, argv[i]);
  nftw(r.folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
  free(program);
  printf("%d passed, %d failed\n", r.passed, r.failed);
  return r.failed == 0 ? 0 : 1;
}
