/* cmd_table - the subcommands: what they are called, take and do, with examples. */
#include "command.h"

#include <string.h>

static const hl_command commands[] = {
    {HL_COMMAND_COMPILE, "compile", hl_command_compile, 1, 1, "[options] model.hlo",
     "write native code: an object and its C header, or what --emit names",
     "compile softmax.hlo -o softmax.o\n"
     "compile softmax.hlo --emit=shared -o softmax.so\n"
     "compile -g -O3 --cpu=native softmax.hlo --emit=asm -o -\n"},
    {HL_COMMAND_RUN, "run", hl_command_run, 1, INT32_MAX,
     "[options] model.hlo [args.npz x.npy y.npy | --random SEED]",
     "compile for this machine, run, and print or store the results",
     "run softmax.hlo --random 1\n"
     "run bias_add.hlo --input bias='{10, 20, 30}' --fill=iota\n"
     "run bias_add.hlo --fill=ones -o y.npz\n"
     "run bias_add.hlo --fill=ones --expected y.npz --rtol 1e-6\n"
     "run mlp.hlo --random 1 --profile\n"},
    {HL_COMMAND_BENCH, "bench", hl_command_bench, 1, INT32_MAX,
     "[options] model.hlo [args.npz x.npy y.npy | --random SEED]",
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
     "reduce --script 'grep -q exponential' softmax.hlo\n"
     "reduce --max-runs 50 --script 'hlo-lite check' mlp.hlo -o small.hlo\n"},
    {HL_COMMAND_EXPLAIN, "explain", hl_command_explain, 1, 1, "[options] model.hlo",
     "show where operands are repeated, what is fused and why not more, loops, bytes, flops, bounds",
     "explain softmax.hlo\n"
     "explain --kernel 1 --bandwidth 20 --peak 200 mlp.hlo\n"
     "explain --json softmax.hlo -o softmax.json\n"},
    {HL_COMMAND_GRAPH, "graph", hl_command_graph, 1, 1, "[options] model.hlo -o g.html|g.svg|g.dot",
     "draw the module, with its kernels as boxes: a page to pan, zoom and search, SVG, or graphviz",
     "graph mlp.hlo -o mlp.html\n"
     "graph --format=dot mlp.hlo\n"},
    {HL_COMMAND_SHAPES, "shapes", hl_command_shapes, 1, INT32_MAX, "[options] 2,1,5 3,1 5...",
     "what shapes broadcast to under the rules of NumPy and PyTorch, and the HLO that says it",
     "shapes 2,1,5 3,1 5\n"
     "shapes 2,1 3 -o sum.hlo\n"},
    {HL_COMMAND_LSP, "lsp", hl_command_lsp, 0, 0, "", "the language server for editors, on standard input and output",
     NULL},
    {HL_COMMAND_OPS, "ops", hl_command_ops, 0, INT32_MAX, "[options] [NAME...]",
     "what each op takes and gives, its corners, and an example",
     "ops\n"
     "ops reduce dot\n"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

const hl_command *hl_command_at(int index)
{
  return index < COMMAND_COUNT ? &commands[index] : NULL;
}

const hl_command *hl_command_by_name(const char *name)
{
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (!strcmp(commands[i].name, name))
      return &commands[i];
  return NULL;
}

const hl_command *hl_command_suggest(const char *name)
{
  const hl_command *best = NULL;
  size_t limit = strlen(name) < 4 ? 1 : 2;
  for (int i = 0; i < COMMAND_COUNT; i++) {
    size_t distance = hl_edit_distance(name, commands[i].name, limit);
    if (distance > limit)
      continue;
    best = &commands[i];
    if (distance == 0)
      break;
    limit = distance - 1;
  }
  return best;
}

const char *hl_command_name(hl_command_id id)
{
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (commands[i].id == id)
      return commands[i].name;
  return "";
}
