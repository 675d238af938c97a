/* main_exe.c - main() of the programs that --emit=exe writes: arguments from .npy or .npz files,
 * one call or several, results printed or written. Exit status as hlo-lite's own: 1 the files are
 * at fault, 2 the command line, 3 the program itself. */
#include "arguments.h"
#include "hlo_exe.h"
#include "print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DONE = 0, BAD_INPUT = 1, BAD_USAGE = 2, BAD_PROGRAM = 3 };

typedef struct options {
  hl_argument_source source;
  const char *output;
  unsigned long repeat;
  bool wants_help;
  const char *fault; /* the word that cannot be understood */
} options;

static int complain(int status, const char *text)
{
  fprintf(stderr, "%s: error: %s\n", hlo_exe_model.name, text);
  return status;
}

static bool read_number(const char *text, uint64_t *value)
{
  char *end = NULL;
  errno = 0;
  *value = text ? strtoull(text, &end, 0) : 0;
  return text && *text && *text != '-' && *end == '\0' && errno == 0;
}

/* Takes the option at argv[*i] and its value, if it has one. */
static bool read_option(int argc, char **argv, int *i, options *o)
{
  const char *option = argv[*i], *value = *i + 1 < argc ? argv[*i + 1] : NULL;
  uint64_t number = 0;
  o->wants_help = strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0;
  if (o->wants_help)
    return true;
  ++*i;
  if (strcmp(option, "-o") == 0) {
    o->output = value;
    return value != NULL;
  }
  if (strcmp(option, "--random") == 0) {
    o->source.is_random = true;
    return read_number(value, &o->source.seed);
  }
  o->repeat = strcmp(option, "--repeat") == 0 && read_number(value, &number) ? number : 0;
  return o->repeat > 0;
}

/* Paths are moved to the front of argv. */
static void read_command_line(int argc, char **argv, options *o)
{
  int paths = 0;
  for (int i = 1; i < argc && !o->wants_help && !o->fault; i++) {
    char *word = argv[i];
    if (*word != '-')
      argv[paths++] = word;
    else if (!read_option(argc, argv, &i, o))
      o->fault = word;
  }
  o->source.paths = (const char *const *)argv;
  o->source.path_count = paths;
  if (paths > 0 && o->source.is_random && !o->fault)
    o->fault = argv[0];
}

static void print_usage(FILE *out)
{
  const hlo_exe_description *m = &hlo_exe_model;
  char shape[512];
  fprintf(out,
          "usage: %s [[FILE.npz] FILE.npy... | --random SEED] [-o DIR/|FILE.npz|FILE.npy|-] "
          "[--repeat N]\n",
          m->name);
  for (int i = 0; i < m->arg_count; i++)
    fprintf(out, "  argument %s: %s\n", m->args[i].name,
            hl_array_shape_text(&m->args[i], shape, sizeof shape));
  for (int i = 0; i < m->result_count; i++)
    fprintf(out, "  result %s: %s\n", m->results[i].name,
            hl_array_shape_text(&m->results[i], shape, sizeof shape));
}

/* ---- the call ---- */

typedef struct memory {
  hl_arguments arguments;
  void **results;
  void *workspace;
} memory;

static bool allocate(memory *m, hl_io_error *e)
{
  int count = hlo_exe_model.result_count;
  m->results = calloc((size_t)count + 1, sizeof *m->results);
  if (!m->results)
    return hl_io_fail(e, "out of memory");
  for (int i = 0; i < count; i++) {
    m->results[i] = hl_io_alloc((size_t)hlo_exe_model.results[i].bytes, e);
    if (!m->results[i])
      return false;
  }
  m->workspace = hl_io_alloc((size_t)hlo_exe_model.workspace_bytes, e);
  return m->workspace != NULL;
}

static void release(memory *m)
{
  hl_arguments_free(&m->arguments);
  for (int i = 0; m->results && i < hlo_exe_model.result_count; i++)
    free(m->results[i]);
  free(m->results);
  free(m->workspace);
}

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Calls the model; more than once, it reports the fastest and the mean time. */
static int call(const memory *m, unsigned long repeat)
{
  double least = 0, begin = seconds();
  for (unsigned long i = 0; i < repeat; i++) {
    double start = seconds();
    int status = hlo_exe_model.entry(m->arguments.data, m->results, m->workspace);
    double time = seconds() - start;
    least = i == 0 || time < least ? time : least;
    if (status != 0)
      return status == 2 ? complain(BAD_INPUT, "a custom call failed")
                         : complain(BAD_PROGRAM, "the model refused its workspace");
  }
  if (repeat > 1)
    fprintf(stderr, "%lu runs: fastest %.6g ms, mean %.6g ms\n", repeat, 1e3 * least,
            1e3 * (seconds() - begin) / (double)repeat);
  return DONE;
}

static int deliver(const memory *m, const char *output)
{
  hl_results r = {hlo_exe_model.results, hlo_exe_model.result_count, m->results};
  hl_io_error e;
  return hl_results_write(&r, output, &e) ? DONE : complain(BAD_INPUT, e.text);
}

static int run(const options *o)
{
  memory m = {0};
  hl_io_error e;
  int status = DONE;
  if (!hl_arguments_load(&o->source, &m.arguments, &e) || !allocate(&m, &e))
    status = complain(BAD_INPUT, e.text);
  if (status == DONE)
    status = call(&m, o->repeat);
  if (status == DONE)
    status = deliver(&m, o->output);
  release(&m);
  return status;
}

int main(int argc, char **argv)
{
  options o = {.repeat = 1, .output = "-"};
  o.source.params = hlo_exe_model.args;
  o.source.param_count = hlo_exe_model.arg_count;
  hl_io_error e;
  read_command_line(argc, argv, &o);
  if (o.wants_help) {
    print_usage(stdout);
    return DONE;
  }
  if (o.fault) {
    hl_io_fail(&e, "'%.200s': bad option, value or combination", o.fault);
    complain(BAD_USAGE, e.text);
    print_usage(stderr);
    return BAD_USAGE;
  }
  if (hl_result_form_of(o.output, hlo_exe_model.result_count, &e) == HL_RESULTS_BAD)
    return complain(BAD_USAGE, e.text);
  return run(&o);
}
