/* main - the command: picks the subcommand, and is where memory that runs out and LLVM's fatal
 * errors end. */
#include "command.h"

#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int print_version(void)
{
  printf("hlo-lite %s (LLVM %s)\n", HL_VERSION, hl_codegen_llvm_version());
  return HL_EXIT_DONE;
}

static int unknown_command(const char *name)
{
  const hl_command *closest = hl_command_suggest(name);
  if (closest)
    return hl_complain(HL_EXIT_USAGE, "unknown command '%s'; did you mean '%s'?", name, closest->name);
  return hl_complain(HL_EXIT_USAGE, "unknown command '%s'; `hlo-lite --help` lists them", name);
}

/* The file at work, for messages from where nothing else is known. No file of ours is on its way then: outputs are written when LLVM is done. */
static const char *module_name = "(no file)";

/* One pass, or all. */
static bool is_dump(hl_arena *arena, const char *name, const char **error)
{
  int count;
  return !strcmp(name, "all") || hl_command_passes(arena, name, &count, error);
}

static int run_command(const hl_command *c, int count, char **words, hl_arena *arena, hl_guard *guard)
{
  hl_options options;
  const char *error;
  if (!hl_options_parse(arena, c->id, count, words, &options, &error))
    return hl_complain(HL_EXIT_USAGE, "%s", error);
  if (options.wants_help) {
    hl_help_print(arena, c);
    return HL_EXIT_DONE;
  }
  if (options.input_count < c->min_inputs)
    return hl_complain(HL_EXIT_USAGE, "%s needs a %s: hlo-lite %s %s", c->name,
                       c->id == HL_COMMAND_SHAPES ? "shape" : "file", c->name, c->usage);
  if (options.input_count > c->max_inputs)
    return hl_complain(HL_EXIT_USAGE, "%s takes one file; what is '%s'?", c->name,
                       options.inputs[c->max_inputs]);
  bool is_disabled[HL_PASS_COUNT];
  if (options.disabled && !hl_command_disabled(arena, options.disabled, is_disabled, &error))
    return hl_complain(HL_EXIT_USAGE, "%s", error);
  if (options.dump_after && !is_dump(arena, options.dump_after, &error))
    return hl_complain(HL_EXIT_USAGE, "%s", error);
  if (options.input_count > 0)
    module_name = options.inputs[0];
  options.progress = c->id == HL_COMMAND_LSP ? NULL : hl_progress_new();
  int status = c->run(&options, arena, guard);
  hl_progress_free(options.progress);
  return status;
}

static void on_fatal(const char *reason)
{
  fprintf(stderr, "hlo-lite: error: %s: internal error: LLVM: %s\n", module_name, reason);
  _Exit(HL_EXIT_INTERNAL);
}

static void put(const char *text)
{
  ssize_t written = write(STDERR_FILENO, text, strlen(text));
  (void)written;
}

/* LLVM and the C++ library abort when they get no memory. */
static void on_abort(int number)
{
  (void)number;
  put("hlo-lite: error: ");
  put(module_name);
  put(": internal error: a library aborted: out of memory?\n");
  _exit(HL_EXIT_INTERNAL);
}

static int out_of_memory(void)
{
  return hl_complain(HL_EXIT_INTERNAL, "%s: out of memory", module_name);
}

static int help(const char *name, hl_arena *arena)
{
  const hl_command *c = name ? hl_command_by_name(name) : NULL;
  if (name && !c)
    return unknown_command(name);
  if (c)
    hl_help_print(arena, c);
  else
    hl_help_print_usage(arena, stdout);
  return HL_EXIT_DONE;
}

static int run(int argc, char **argv, hl_arena *arena, hl_guard *guard)
{
  if (argc < 2) {
    hl_help_print_usage(arena, stderr);
    return hl_complain(HL_EXIT_USAGE, "no command");
  }
  if (!strcmp(argv[1], "--version"))
    return print_version();
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
    return help(NULL, arena);
  if (!strcmp(argv[1], "help"))
    return help(argv[2], arena);
  if (!strcmp(argv[1], "__complete"))
    return hl_command_complete(arena, argc - 2, argv + 2);
  const hl_command *c = hl_command_by_name(argv[1]);
  if (!c)
    return unknown_command(argv[1]);
  hl_codegen_on_fatal(on_fatal);
  signal(SIGABRT, on_abort);
  return run_command(c, argc - 2, argv + 2, arena, guard);
}

/* Apart from main because of setjmp: nothing that changes later lives in this frame. */
static int guarded(int argc, char **argv)
{
  hl_guard guard;
  if (setjmp(guard.env))
    return out_of_memory();
  hl_arena *arena = hl_arena_new(&guard);
  if (!arena)
    return out_of_memory();
  int status = run(argc, argv, arena, &guard);
  hl_arena_free(arena);
  return status;
}

/* What was printed may still be on its way, and the disk full. A closed standard output is noticed
 * the same way. */
int main(int argc, char **argv)
{
  int status = guarded(argc, argv);
  bool is_lost = fflush(stdout) != 0 || ferror(stdout);
  return is_lost && status == HL_EXIT_DONE
             ? hl_complain(HL_EXIT_INPUT, "cannot write standard output")
             : status;
}
