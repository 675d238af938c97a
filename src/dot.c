/* dot - a module as a graph for graphviz: one cluster a computation, one node an instruction. */
#include "dot.h"

/* Quotes and backslashes would end the string. */
static void add_quoted(hl_str *out, const char *text)
{
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      hl_str_add_char(out, '\\');
    hl_str_add_char(out, *text);
  }
}

static void add_node_name(hl_str *out, const hl_instruction *ins)
{
  hl_str_add_char(out, '"');
  add_quoted(out, ins->computation->name);
  hl_str_add_char(out, '/');
  add_quoted(out, ins->name);
  hl_str_add_char(out, '"');
}

static void add_instruction(hl_str *out, const hl_instruction *ins)
{
  hl_str_add(out, "    ");
  add_node_name(out, ins);
  hl_str_add(out, " [label=\"");
  add_quoted(out, ins->name);
  hl_str_printf(out, "\\n%s\\n", hl_op_info_of(ins->opcode)->name);
  hl_shape_print(out, ins->shape, false);
  hl_str_printf(out, "\"%s];\n", ins == ins->computation->root ? ", penwidth=2" : "");
  for (int i = 0; i < ins->operand_count; i++) {
    hl_str_add(out, "    ");
    add_node_name(out, ins->operands[i]);
    hl_str_add(out, " -> ");
    add_node_name(out, ins);
    hl_str_add(out, ";\n");
  }
}

void hl_module_dot(hl_str *out, const hl_module *module)
{
  int count = 0;
  hl_str_add(out, "digraph \"");
  add_quoted(out, module->name);
  hl_str_add(out, "\" {\n  node [shape=box, fontname=monospace];\n");
  for (const hl_computation *c = module->first; c; c = c->next) {
    hl_str_printf(out, "  subgraph cluster_%d {\n    label=\"", count++);
    add_quoted(out, c->name);
    hl_str_add(out, "\";\n");
    for (const hl_instruction *ins = c->first; ins; ins = ins->next)
      add_instruction(out, ins);
    hl_str_add(out, "  }\n");
  }
  hl_str_add(out, "}\n");
}
