/* main - the command: picks the subcommand, and is where memory that runs out and LLVM's fatal
 * errors end. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct command {
  hl_command_id id;
  const char *name;
  hl_command_fn *run;
  int min_inputs, max_inputs;
  const char *usage;
  const char *sentence;
  const char *examples; /* one a line; they run in the folder of the examples */
} command;

static const command commands[] = {
    {HL_COMMAND_COMPILE, "compile", hl_command_compile, 1, 1, "[options] model.hlo",
     "write native code: an object and its C header, or what --emit names",
     "compile softmax.hlo -o softmax.o\n"
     "compile softmax.hlo --emit=shared -o softmax.so\n"
     "compile -g -O3 --cpu=native softmax.hlo --emit=asm -o -\n"},
    {HL_COMMAND_RUN, "run", hl_command_run, 1, INT32_MAX,
     "[options] model.hlo [x.npy y.npy | args.npz | --random SEED]",
     "compile for this machine, run, and print or store the results",
     "run softmax.hlo --random 1\n"
     "run bias_add.hlo --input bias='{10, 20, 30}' --fill=iota\n"
     "run bias_add.hlo --fill=ones -o y.npz\n"
     "run bias_add.hlo --fill=ones --expected y.npz --rtol 1e-6\n"
     "run mlp.hlo --random 1 --profile\n"},
    {HL_COMMAND_BENCH, "bench", hl_command_bench, 1, INT32_MAX,
     "[options] model.hlo [x.npy y.npy | args.npz | --random SEED]",
     "time compiling and running, beside what this machine can do",
     "bench softmax.hlo\n"
     "bench mlp.hlo --per-kernel --json -o mlp.json\n"},
    {HL_COMMAND_CHECK, "check", hl_command_check, 1, INT32_MAX, "[options] model.hlo...",
     "read and verify, nothing else",
     "check softmax.hlo mlp.hlo\n"
     "check -Wall -Wno-unused-parameter --diagnostics=sarif -o log.sarif softmax.hlo\n"},
    {HL_COMMAND_FMT, "fmt", hl_command_fmt, 1, INT32_MAX, "[-i] [options] model.hlo...",
     "print the canonical text",
     "fmt softmax.hlo\n"
     "fmt --explicit bias_add.hlo -o explicit.hlo\n"},
    {HL_COMMAND_OPT, "opt", hl_command_opt, 1, 1, "[--passes=A,B] [options] model.hlo",
     "run passes and print the module",
     "opt mlp.hlo\n"
     "opt --passes=expand-broadcasts,dce bias_add.hlo\n"},
    {HL_COMMAND_EXTRACT, "extract", hl_command_extract, 1, 1, "--root NAME [options] model.hlo",
     "print what one instruction is computed from, as a module of its own",
     "extract --root total softmax.hlo\n"
     "extract --root total softmax.hlo -o total.hlo\n"},
    {HL_COMMAND_REDUCE, "reduce", hl_command_reduce, 1, 1, "--script CMD [options] model.hlo",
     "the smallest module for which a command still succeeds",
     "reduce --script 'grep -q exponential' softmax.hlo\n"},
    {HL_COMMAND_EXPLAIN, "explain", hl_command_explain, 1, 1, "[options] model.hlo",
     "show where operands are repeated, what is fused and why not more, loops, bytes, flops, bounds",
     "explain softmax.hlo\n"},
    {HL_COMMAND_GRAPH, "graph", hl_command_graph, 1, 1, "[options] model.hlo -o g.html|g.svg|g.dot",
     "draw the module, with its kernels as boxes: a page to pan, zoom and search, SVG, or graphviz",
     "graph mlp.hlo -o mlp.html\n"},
    {HL_COMMAND_SHAPES, "shapes", hl_command_shapes, 1, INT32_MAX, "[options] 2,1,5 3,1 5...",
     "what shapes broadcast to under the rules of NumPy and PyTorch, and the HLO that says it",
     "shapes 2,1,5 3,1 5\n"},
    {HL_COMMAND_LSP, "lsp", hl_command_lsp, 0, 0, "", "the language server for editors, on standard input and output",
     NULL},
    {HL_COMMAND_OPS, "ops", hl_command_ops, 0, INT32_MAX, "[NAME...]", "show the op table",
     "ops\n"
     "ops reduce dot\n"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_usage(FILE *out)
{
  fprintf(out, "usage: hlo-lite COMMAND [options] [files]\n\n");
  for (int i = 0; i < COMMAND_COUNT; i++)
    fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].sentence);
  fprintf(out,
          "\n`hlo-lite COMMAND --help` lists its options; `-` reads standard input.\n"
          "Exit status: 0 done, 1 the input is at fault, 2 the command line, 3 hlo-lite itself.\n");
}

static void print_examples(const char *examples)
{
  printf("\nexamples\n");
  for (size_t length; *examples; examples += length + 1) {
    length = strcspn(examples, "\n");
    printf("  hlo-lite %.*s\n", (int)length, examples);
  }
}

static int print_command_help(const command *c)
{
  printf("usage: hlo-lite %s %s\n\n%s\n\n", c->name, c->usage, c->sentence);
  hl_options_print(c->id);
  if (c->id == HL_COMMAND_OPT) {
    printf("\npasses\n");
    for (hl_pass_id pass = 0; pass < HL_PASS_COUNT; pass++)
      printf("  %-22s %s (-O%d)\n", hl_pass_name(pass), hl_pass_sentence(pass),
             hl_pass_level(pass));
  }
  if (c->examples)
    print_examples(c->examples);
  return HL_EXIT_DONE;
}

static int print_version(void)
{
  printf("hlo-lite %s (LLVM %s)\n", HL_VERSION, hl_codegen_llvm_version());
  return HL_EXIT_DONE;
}

static const command *find_command(const char *name)
{
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (!strcmp(commands[i].name, name))
      return &commands[i];
  return NULL;
}

static int unknown_command(const char *name)
{
  const char *closest = NULL;
  for (int i = 0; i < COMMAND_COUNT && !closest; i++)
    if (hl_edit_distance(name, commands[i].name, 2) <= 2)
      closest = commands[i].name;
  if (closest)
    return hl_complain(HL_EXIT_USAGE, "unknown command '%s'; did you mean '%s'?", name, closest);
  return hl_complain(HL_EXIT_USAGE, "unknown command '%s'; `hlo-lite --help` lists them", name);
}

static int run_command(const command *c, int count, char **words, hl_arena *arena, hl_guard *guard)
{
  hl_options options;
  const char *error;
  if (!hl_options_parse(arena, c->id, count, words, &options, &error))
    return hl_complain(HL_EXIT_USAGE, "%s", error);
  if (options.wants_help)
    return print_command_help(c);
  if (options.input_count < c->min_inputs)
    return hl_complain(HL_EXIT_USAGE, "%s needs a %s: hlo-lite %s %s", c->name,
                       c->id == HL_COMMAND_SHAPES ? "shape" : "file", c->name, c->usage);
  if (options.input_count > c->max_inputs)
    return hl_complain(HL_EXIT_USAGE, "%s takes one file; what is '%s'?", c->name,
                       options.inputs[c->max_inputs]);
  bool is_disabled[HL_PASS_COUNT];
  if (options.disabled && !hl_command_disabled(arena, options.disabled, is_disabled, &error))
    return hl_complain(HL_EXIT_USAGE, "%s", error);
  return c->run(&options, arena, guard);
}

static void on_fatal(const char *reason)
{
  fprintf(stderr, "hlo-lite: error: internal error: LLVM: %s\n", reason);
  _Exit(HL_EXIT_INTERNAL);
}

/* Apart from main because of setjmp: nothing that changes later lives in this frame. */
static int guarded(const command *c, int count, char **words)
{
  hl_guard guard;
  if (setjmp(guard.env))
    return hl_complain(HL_EXIT_INPUT, "out of memory");
  hl_arena *arena = hl_arena_new(&guard);
  if (!arena)
    return hl_complain(HL_EXIT_INPUT, "out of memory");
  int status = run_command(c, count, words, arena, &guard);
  hl_arena_free(arena);
  return status;
}

static int run(int argc, char **argv)
{
  if (argc < 2) {
    print_usage(stderr);
    return hl_complain(HL_EXIT_USAGE, "no command");
  }
  if (!strcmp(argv[1], "--version"))
    return print_version();
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
    print_usage(stdout);
    return HL_EXIT_DONE;
  }
  const command *c = find_command(argv[1]);
  if (!c)
    return unknown_command(argv[1]);
  hl_codegen_on_fatal(on_fatal);
  return guarded(c, argc - 2, argv + 2);
}

/* What was printed may still be on its way, and the disk full. A closed standard output is noticed
 * the same way. */
int main(int argc, char **argv)
{
  int status = run(argc, argv);
  bool is_lost = fflush(stdout) != 0 || ferror(stdout);
  return is_lost && status == HL_EXIT_DONE
             ? hl_complain(HL_EXIT_INPUT, "cannot write standard output")
             : status;
}
