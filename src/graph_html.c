/* graph_html - the drawing of a module as one page that needs nothing else: the SVG, what a click tells as JSON, and the style and
 * script of src/share/graph.html, which has a line for each of them. */
#include "graph.h"

#include "embed.h"

#include "ir/loop_pseudo.h"

#include <string.h>

/* JSON inside a script element: no tag can begin there. */
static void add_json(hl_str *out, const char *text)
{
  hl_str quoted = {.arena = out->arena};
  hl_json_string(&quoted, text);
  for (const char *c = hl_str_text(&quoted); *c; c++)
    if (*c == '<')
      hl_str_add(out, "\\u003c");
    else
      hl_str_add_char(out, *c);
}

/* The line of the source where an instruction stands, without its indentation. */
static const char *source_text(const hl_graph *g, uint32_t line)
{
  size_t length;
  const char *text = hl_source_line(g->explanation->session->diag.source, line, &length);
  size_t blanks = strspn(text, " \t");
  blanks = blanks > length ? length : blanks;
  length = length - blanks > 2000 ? 2000 : length - blanks;
  return hl_arena_strndup(g->arena, text + blanks, length);
}

/* [name, op, shape, text, line, source, kernel] of each node; 0 and "" where there is none. */
static void add_node(const hl_graph *g, hl_str *out, const hl_graph_node *node, int kernel)
{
  const hl_instruction *ins = node->ins;
  uint32_t line = hl_explain_line(g->explanation, ins->range);
  const char *texts[] = {ins->name, hl_op_info_of(ins->opcode)->name,
                         hl_shape_text(g->arena, ins->shape), hl_graph_text(g->arena, ins)};
  hl_str_add(out, ins->scratch ? ",\n[" : "[");
  for (int i = 0; i < 4; i++) {
    add_json(out, texts[i]);
    hl_str_add_char(out, ',');
  }
  hl_str_printf(out, "%u,", line);
  add_json(out, line ? source_text(g, line) : "");
  hl_str_printf(out, ",%d]", kernel);
}

static void add_nodes(const hl_graph *g, hl_str *out)
{
  hl_str_add(out, "{\"file\":");
  add_json(out, g->explanation->session->diag.source->name);
  hl_str_add(out, ",\"nodes\":[");
  for (int i = 0, at = 0; i < g->panel_count; i++) {
    const hl_graph_panel *panel = &g->panels[i];
    for (const hl_instruction *ins = panel->computation->first; ins; ins = ins->next, at++) {
      const hl_told_step *kernel = panel->boxes[g->nodes[at].box].kernel;
      add_node(g, out, &g->nodes[at], kernel ? kernel->number : 0);
    }
  }
  hl_str_add(out, "]");
}

static void add_reasons(hl_str *out, const hl_kernel *kernel)
{
  const char *between = "";
  for (int i = 0; i < kernel->origin_count; i++)
    if (kernel->origins[i].stored) {
      hl_str_add(out, between);
      add_json(out, hl_arena_printf(out->arena, "%s: %s", kernel->origins[i].name,
                                    kernel->origins[i].stored));
      between = ",";
    }
}

static const char *code_of(hl_arena *arena, const hl_kernel *kernel)
{
  hl_pseudo code = {.arena = arena};
  hl_str text = {.arena = arena};
  hl_kernel_pseudo(&code, kernel);
  for (int i = 0; i < code.count; i++)
    hl_str_printf(&text, "%*s%s\n", 2 * code.lines[i].depth, "", code.lines[i].text);
  return hl_str_text(&text);
}

/* Of each kernel by its step's number: its name, bytes, flops, the reasons for what it stores, its code. */
static void add_kernels(const hl_graph *g, hl_str *out)
{
  const char *between = "";
  hl_str_add(out, ",\n\"kernels\":{");
  for (int i = 0; i < g->explanation->step_count; i++) {
    const hl_told_step *told = &g->explanation->steps[i];
    if (told->step->kind != HL_STEP_KERNEL)
      continue;
    hl_str_printf(out, "%s\n\"%d\":{\"name\":", between, told->number);
    add_json(out, told->step->kernel->name);
    hl_str_printf(out, ",\"read\":%.0f,\"written\":%.0f,\"flops\":%.0f,\"stores\":[",
                  told->cost.read, told->cost.written, told->cost.flops);
    add_reasons(out, told->step->kernel);
    hl_str_add(out, "],\"code\":");
    add_json(out, code_of(g->arena, told->step->kernel));
    hl_str_add_char(out, '}');
    between = ",";
  }
  hl_str_add(out, "}}");
}

/* The template up to the mark, which it is moved behind. */
static void add_until(hl_str *out, const char **from, const char *mark)
{
  const char *at = strstr(*from, mark);
  hl_str_add_n(out, *from, (size_t)(at - *from));
  *from = at + strlen(mark);
}

void hl_graph_html(const hl_graph *graph, hl_str *out)
{
  const char *from = hl_embed_graph;
  add_until(out, &from, "{{TITLE}}");
  hl_graph_escape(out, graph->explanation->session->module->name);
  add_until(out, &from, "{{SVG}}");
  hl_graph_svg(graph, out);
  add_until(out, &from, "{{DATA}}");
  add_nodes(graph, out);
  add_kernels(graph, out);
  hl_str_add(out, from);
}
