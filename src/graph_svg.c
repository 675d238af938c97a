/* graph_svg - the drawing of a module as SVG, on its own or inside the page of graph_html.c. */
#include "graph.h"

/* Colours for light and dark surroundings; a page may set the variables anew. */
static const char style[] =
    "<style>\n"
    "svg{--ink:#1f2430;--dim:#6b7280;--paper:#ffffff;--panel:#f5f6f8;--kernel:#e3edfb;"
    "--kernel-line:#5b8def;--plain:#ffffff;--math:#fde9c8;--reduce:#d9f2df;--product:#f6d9e6;"
    "--move:#ece6fa;--control:#ffd9d0;--given:#e5e7eb}\n"
    "@media (prefers-color-scheme:dark){svg{--ink:#e6e8ee;--dim:#9aa3b2;--paper:#14171d;"
    "--panel:#1c2028;--kernel:#1d2b44;--kernel-line:#5b8def;--plain:#262b36;--math:#4d3d1c;"
    "--reduce:#1f4029;--product:#4a2438;--move:#352c52;--control:#552a20;--given:#333845}}\n"
    "svg{background:var(--paper);font:12px ui-monospace,Menlo,Consolas,monospace;fill:var(--ink)}\n"
    ".p>rect{fill:var(--panel);stroke:var(--dim);rx:8px}.k>rect{fill:var(--kernel);"
    "stroke:var(--kernel-line);rx:6px}.t{font-weight:bold}.n rect{stroke:var(--dim);rx:4px;"
    "fill:var(--plain)}.n .o{fill:var(--dim)}.n text{text-anchor:middle}.r rect{stroke-width:2.5}\n"
    ".math rect{fill:var(--math)}.reduce rect{fill:var(--reduce)}.product rect{fill:var(--product)}"
    ".move rect{fill:var(--move)}.control rect{fill:var(--control)}.given rect{fill:var(--given)}\n"
    ".e path{fill:none;stroke:var(--dim)}.x path{stroke-opacity:.5}.s{font-size:10px;"
    "fill:var(--dim);text-anchor:middle;paint-order:stroke;stroke:var(--panel);stroke-width:3px}"
    ".i{stroke:var(--kernel)}\n"
    "</style>\n"
    "<defs><marker id=\"a\" markerUnits=\"userSpaceOnUse\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" "
    "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#6b7280\"/></marker></defs>\n";

static const char *class_of(const hl_instruction *ins)
{
  unsigned flags = hl_op_info_of(ins->opcode)->flags;
  switch (ins->opcode) {
  case HL_OP_PARAMETER: case HL_OP_CONSTANT: case HL_OP_IOTA:
    return "given";
  case HL_OP_DOT: case HL_OP_CONVOLUTION: case HL_OP_RAGGED_DOT: case HL_OP_SCALED_DOT:
    return "product";
  case HL_OP_REDUCE: case HL_OP_REDUCE_WINDOW: case HL_OP_SORT: case HL_OP_SCATTER: case HL_OP_SELECT_AND_SCATTER:
    return "reduce";
  case HL_OP_WHILE: case HL_OP_CONDITIONAL: case HL_OP_CALL: case HL_OP_CUSTOM_CALL:
    return "control";
  default:
    return flags & HL_MATH ? "math" : flags & HL_EW && !(flags & HL_MOVE) ? "plain" : "move";
  }
}

static void add_rect(hl_str *out, double x, double y, double width, double height)
{
  hl_str_printf(out, "<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/>", x, y, width,
                height);
}

static void add_label(hl_str *out, const char *class, double x, double y, const char *text)
{
  hl_str_printf(out, "<text class=\"%s\" x=\"%.0f\" y=\"%.0f\">", class, x, y);
  hl_graph_escape(out, text);
  hl_str_add(out, "</text>");
}

static void add_node(const hl_graph *g, hl_str *out, const hl_graph_node *node)
{
  const hl_instruction *ins = node->ins;
  double middle = node->x + node->width / 2;
  hl_str_printf(out, "<g class=\"n %s%s\" id=\"n%lld\"><title>", class_of(ins),
                ins == ins->computation->root ? " r" : "", (long long)ins->scratch);
  hl_graph_escape(out, hl_graph_text(g->arena, ins));
  hl_str_add(out, "</title>");
  add_rect(out, node->x, node->y, node->width, node->height);
  add_label(out, "l", middle, node->y + 15, node->label);
  add_label(out, "o", middle, node->y + 29, hl_op_info_of(ins->opcode)->name);
  hl_str_add(out, "</g>\n");
}

/* From the middle below the operand to its place above the user; paler (x) from box to box. */
static void add_edge(const hl_graph *g, hl_str *out, const hl_instruction *user, int operand)
{
  const hl_graph_node *from = &g->nodes[user->operands[operand]->scratch];
  const hl_graph_node *to = &g->nodes[user->scratch];
  double x = from->x + from->width / 2, y = from->y + from->height, end_y = to->y;
  double end_x = to->x + to->width * (operand + 1) / (user->operand_count + 1);
  double bend = (end_y > y ? end_y - y : y - end_y) / 2;
  bend = bend < 18 ? 18 : bend > 90 ? 90 : bend;
  hl_str_printf(out, "<g class=\"e%s\" data-f=\"%lld\" data-t=\"%lld\"><title>",
                from->box == to->box ? "" : " x", (long long)from->ins->scratch,
                (long long)user->scratch);
  hl_graph_escape(out, hl_shape_text(g->arena, from->ins->shape));
  hl_str_printf(out,
                "</title><path d=\"M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f\" "
                "marker-end=\"url(#a)\"/></g>\n",
                x, y, x, y + bend, end_x, end_y - bend, end_x, end_y);
}

static void add_edges(const hl_graph *g, hl_str *out, const hl_computation *computation)
{
  for (const hl_instruction *ins = computation->first; ins; ins = ins->next)
    for (int i = 0; i < ins->operand_count; i++)
      add_edge(g, out, ins, i);
}

/* A shape is written once, below the instruction whose value goes on; above all edges, which would cross it out. */
static void add_shapes(const hl_graph *g, hl_str *out, const hl_graph_panel *panel)
{
  for (const hl_instruction *ins = panel->computation->first; ins; ins = ins->next) {
    const hl_graph_node *node = &g->nodes[ins->scratch];
    if (ins->user_count)
      add_label(out, panel->boxes[node->box].kernel ? "s i" : "s", node->x + node->width / 2,
                node->y + node->height + 12, node->shape);
  }
}

static void add_kernels(const hl_graph *g, hl_str *out, const hl_graph_panel *panel)
{
  for (int i = 0; i < panel->box_count; i++) {
    const hl_graph_box *box = &panel->boxes[i];
    if (!box->kernel)
      continue;
    hl_str_printf(out, "<g class=\"k\" id=\"k%d\">", box->kernel->number);
    add_rect(out, box->x, box->y, box->width, box->height);
    add_label(out, "t", box->x + HL_GRAPH_PAD, box->y + 17,
              hl_arena_printf(g->arena, "kernel, step %d", box->kernel->number));
    hl_str_add(out, "</g>\n");
  }
}

static void add_panel(const hl_graph *g, hl_str *out, const hl_graph_panel *panel)
{
  const hl_computation *c = panel->computation;
  hl_str_printf(out, "<g class=\"p\" transform=\"translate(%.0f %.0f)\" data-h=\"%.0f\">", panel->x,
                panel->y, panel->height);
  add_rect(out, 0, 0, panel->width, panel->height);
  add_label(out, "t", HL_GRAPH_PAD, 17,
            hl_arena_printf(g->arena, "%s%s", c == c->module->entry ? "entry " : "", c->name));
  hl_str_add(out, "<g class=\"c\">\n");
  add_kernels(g, out, panel);
  add_edges(g, out, c);
  add_shapes(g, out, panel);
  for (const hl_instruction *ins = c->first; ins; ins = ins->next)
    add_node(g, out, &g->nodes[ins->scratch]);
  hl_str_add(out, "</g></g>\n");
}

void hl_graph_svg(const hl_graph *graph, hl_str *out)
{
  hl_str_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                "viewBox=\"0 0 %.0f %.0f\">\n%s",
                graph->width, graph->height, graph->width, graph->height, style);
  hl_str_add(out, "<g id=\"all\">\n");
  for (int i = 0; i < graph->panel_count; i++)
    add_panel(graph, out, &graph->panels[i]);
  hl_str_add(out, "</g></svg>\n");
}
