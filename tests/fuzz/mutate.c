/* mutate - SEED COUNT FOUND MODULE...: COUNT changes of each module, at random: bytes, words, numbers, brackets, lines. Each is
 * checked, printed, and if it is legal compiled down to loops; every tenth legal one to an object. A process takes the changes of a module in
 * turn, with 1 GiB of memory and 5 s of processor time for each; when it dies the text goes to the folder FOUND, and another
 * goes on behind it. Status 1 when any died. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/print.h"
#include "src/session.h"

enum { SECONDS = 5, MOST_CHANGES = 3, TENTH = 10 };

static const size_t memory_bytes = (size_t)1 << 30;

/* What parent and child both see: how far the child is. */
typedef struct progress {
  uint64_t number, legal, compiled;
} progress;

typedef struct text {
  char *bytes;
  size_t size, room;
} text;

static uint64_t state;

static uint64_t next_random(void)
{
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static size_t below(size_t n)
{
  return n ? (size_t)(next_random() % n) : 0;
}

/* `length` bytes at `at` become the `size` bytes of `with`. */
static void replace(text *t, size_t at, size_t length, const char *with, size_t size)
{
  if (t->size - length + size >= t->room)
    return;
  memmove(t->bytes + at + size, t->bytes + at + length, t->size - at - length);
  memcpy(t->bytes + at, with, size);
  t->size += size - length;
}

static bool is_word(char c)
{
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-';
}

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static bool is_line(char c)
{
  return c != '\n';
}

/* The stretch of such bytes around a place at random; its length may be 0. */
static size_t stretch(const text *t, bool (*is_in)(char), size_t *length)
{
  size_t begin = below(t->size), end;
  for (int tries = 0; tries < 64 && begin < t->size && !is_in(t->bytes[begin]); tries++)
    begin = below(t->size);
  for (end = begin; end < t->size && is_in(t->bytes[end]); end++)
    ;
  while (begin > 0 && is_in(t->bytes[begin - 1]))
    begin--;
  *length = end - begin;
  return begin;
}

static void change_byte(text *t)
{
  char byte = (char)next_random();
  size_t at = below(t->size);
  switch (below(3)) {
  case 0: replace(t, at, 1, &byte, 1); break;
  case 1: replace(t, at, 0, &byte, 1); break;
  default: replace(t, at, 1, "", 0);
  }
}

static void change_number(text *t)
{
  static const char *const numbers[] = {"0", "1", "2", "3", "7", "63", "64", "65", "-1", "255", "1000", "65536", "2147483647", "4294967296",
                                        "4611686018427387904", "9223372036854775807", "99999999999999999999", "1e308", "nan"};
  size_t length, at = stretch(t, is_digit, &length);
  const char *number = numbers[below(sizeof numbers / sizeof *numbers)];
  replace(t, at, length, number, strlen(number));
}

/* A word, or a line, from elsewhere. */
static void change_stretch(text *t, bool (*is_in)(char))
{
  char copy[4096];
  size_t length, from = stretch(t, is_in, &length), size = length < sizeof copy ? length : sizeof copy;
  memcpy(copy, t->bytes + from, size);
  size_t at = stretch(t, is_in, &length);
  switch (below(3)) {
  case 0: replace(t, at, length, copy, size); break;
  case 1: replace(t, at, 0, copy, size); break;
  default: replace(t, at, length, "", 0);
  }
}

static void change_bracket(text *t)
{
  static const char brackets[] = "(){}[],=:%\"*/";
  replace(t, below(t->size), below(2), &brackets[below(sizeof brackets - 1)], 1);
}

static void change(text *t)
{
  switch (below(8)) {
  case 0: change_byte(t); break;
  case 1: change_bracket(t); break;
  case 2: case 3: case 4: change_number(t); break;
  case 5: case 6: change_stretch(t, is_word); break;
  default: change_stretch(t, is_line);
  }
}

/* What the command does with a file. */
static void compile(const text *t, progress *p)
{
  hl_guard guard;
  hl_session s;
  hl_session_options options = {.code = {.opt_level = (int)(p->number % 4)}, .verify_each = true, .name = "f"};
  if (setjmp(guard.env)) { /* out of memory: a result like others */
    hl_session_close(&s);
    return;
  }
  hl_session_open(&s, &guard, &options);
  if (hl_session_set_text(&s, "mutated.hlo", t->bytes, t->size) && hl_session_load(&s, NULL)) {
    hl_str printed = {.arena = s.arena};
    hl_module_print(&printed, s.module);
    hl_code code;
    p->legal++;
    if (hl_session_build(&s) && p->legal % TENTH == 0)
      p->compiled += hl_session_emit(&s, HL_CODE_OBJECT, &code);
  }
  hl_str shown = {.arena = s.arena};
  hl_diag_render(&s.diag, (hl_render_options){0}, &shown);
  if (s.fault == HL_FAULT_INTERNAL) {
    fprintf(stderr, "%s\n", s.text);
    abort();
  }
  hl_session_close(&s);
}

static void make(text *t, const text *module, uint64_t seed, uint64_t number)
{
  memcpy(t->bytes, module->bytes, module->size);
  t->size = module->size;
  state = seed * 1000003 + number;
  for (size_t i = 1 + below(MOST_CHANGES); i > 0 && t->size > 0; i--)
    change(t);
}

static void run_child(const text *module, text *t, uint64_t seed, uint64_t count, progress *p)
{
  struct rlimit limit = {memory_bytes, memory_bytes};
  setrlimit(RLIMIT_AS, &limit);
  for (; p->number < count; p->number++) {
    struct itimerval timer = {.it_value = {.tv_sec = SECONDS}};
    setitimer(ITIMER_PROF, &timer, NULL);
    make(t, module, seed, p->number);
    compile(t, p);
  }
  _exit(0);
}

static void save(const text *t, const char *folder, const char *name, uint64_t number, int signal)
{
  char path[4096], base[256];
  size_t n = 0;
  for (; name[n] && n < sizeof base - 1; n++)
    base[n] = name[n] == '/' ? '_' : name[n];
  base[n] = '\0';
  snprintf(path, sizeof path, "%s/%s.%llu.hlo", folder, base, (unsigned long long)number);
  FILE *file = fopen(path, "wb");
  if (file) {
    fwrite(t->bytes, 1, t->size, file);
    fclose(file);
  }
  fprintf(stderr, "%s: change %llu: signal %d: %s\n", name, (unsigned long long)number, signal, path);
}

static bool read_module(const char *path, text *module)
{
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END))
    return false;
  module->size = (size_t)ftell(file);
  module->bytes = malloc(module->size + 1);
  rewind(file);
  bool ok = module->bytes && fread(module->bytes, 1, module->size, file) == module->size;
  fclose(file);
  return ok;
}

/* Returns how many died. */
static int run_module(const char *path, uint64_t seed, uint64_t count, const char *found, progress *p)
{
  text module = {0};
  if (!read_module(path, &module)) {
    perror(path);
    return 1;
  }
  text t = {.room = 2 * module.size + (1 << 16)};
  t.bytes = malloc(t.room);
  int died = 0, status = 0;
  for (p->number = 0; t.bytes && p->number < count; p->number++) {
    pid_t child = fork();
    if (child == 0)
      run_child(&module, &t, seed, count, p);
    if (child < 0 || waitpid(child, &status, 0) < 0 || status == 0)
      break;
    make(&t, &module, seed, p->number);
    save(&t, found, path, p->number, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    died++;
  }
  free(t.bytes);
  free(module.bytes);
  return died;
}

int main(int argc, char **argv)
{
  progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (argc < 5 || p == MAP_FAILED) {
    fputs("usage: mutate SEED COUNT FOUND MODULE...\n", stderr);
    return 2;
  }
  uint64_t seed = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
  int died = 0;
  for (int i = 4; i < argc; i++)
    died += run_module(argv[i], seed, count, argv[3], p);
  printf("%llu changes of each of %d modules: %llu legal, %llu compiled, %d died\n", (unsigned long long)count, argc - 4,
         (unsigned long long)p->legal, (unsigned long long)p->compiled, died);
  return died > 0;
}
