/* graph_dot - the drawing of a module for graphviz: a cluster for each computation and kernel. */
#include "graph.h"

/* Inside double quotes. */
static void add_quoted(hl_str *out, const char *text)
{
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      hl_str_add_char(out, '\\');
    hl_str_add_char(out, *text);
  }
}

static void add_node(hl_str *out, const hl_graph_node *node, int indent)
{
  const hl_instruction *ins = node->ins;
  hl_str_printf(out, "%*sn%lld [label=\"", indent, "", (long long)ins->scratch);
  add_quoted(out, ins->name);
  hl_str_printf(out, "\\n%s\"%s];\n", hl_op_info_of(ins->opcode)->name,
                ins == ins->computation->root ? ", penwidth=2" : "");
}

static void add_box(const hl_graph *g, hl_str *out, const hl_graph_box *box)
{
  int indent = box->kernel ? 6 : 4;
  if (box->kernel)
    hl_str_printf(out,
                  "    subgraph cluster_k%d {\n      label=\"kernel, step %d\"; color=blue;\n",
                  box->kernel->number, box->kernel->number);
  for (int i = 0; i < box->node_count; i++)
    add_node(out, &g->nodes[box->nodes[i]], indent);
  if (box->kernel)
    hl_str_add(out, "    }\n");
}

static void add_edges(const hl_graph *g, hl_str *out, const hl_computation *c)
{
  for (const hl_instruction *ins = c->first; ins; ins = ins->next)
    for (int i = 0; i < ins->operand_count; i++) {
      const hl_instruction *operand = ins->operands[i];
      hl_str_printf(out, "    n%lld -> n%lld [label=\"%s\"];\n", (long long)operand->scratch,
                    (long long)ins->scratch, hl_shape_text(g->arena, operand->shape));
    }
}

void hl_graph_dot(const hl_graph *graph, hl_str *out)
{
  hl_str_add(out, "digraph \"");
  add_quoted(out, graph->explanation->session->module->name);
  hl_str_add(out, "\" {\n  node [shape=box, fontname=monospace]; edge [fontname=monospace];\n");
  for (int i = 0; i < graph->panel_count; i++) {
    const hl_graph_panel *panel = &graph->panels[i];
    hl_str_printf(out, "  subgraph cluster_%d {\n    label=\"", i);
    add_quoted(out, panel->computation->name);
    hl_str_add(out, "\";\n");
    for (int b = 0; b < panel->box_count; b++)
      add_box(graph, out, &panel->boxes[b]);
    add_edges(graph, out, panel->computation);
    hl_str_add(out, "  }\n");
  }
  hl_str_add(out, "}\n");
}
