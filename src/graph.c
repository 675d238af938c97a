/* graph - makes the drawing of a module: which instruction is in which box, and where all of them lie. */
#include "graph.h"

#include "layout.h"

#include "ir/print.h"

#include <stdlib.h>
#include <string.h>

enum {
  LABEL_LENGTH = 30,
  LABEL_TAIL = 17,
  CHARACTER_WIDTH = 7,
  SHAPE_LENGTH = 36,
  SHAPE_CHARACTER_WIDTH = 6,
  SHAPE_HEIGHT = 14,
  NODE_HEIGHT = 36,
  GAP = 22,
  LAYER_GAP = 46,
  PRINTED_ELEMENTS = 32
};

/* --- which kernel computes an instruction --- */

typedef struct computed {
  const hl_origin *origin;
  const hl_told_step *kernel;
  struct computed *next;
} computed;

static void add_kernel(hl_map *by_name, const hl_told_step *told)
{
  const hl_kernel *kernel = told->step->kernel;
  for (int i = 0; i < kernel->origin_count; i++) {
    const char *name = kernel->origins[i].name;
    computed *first = hl_map_get(by_name, name, strlen(name));
    computed *c = HL_NEW(by_name->arena, computed);
    *c = (computed){.origin = &kernel->origins[i], .kernel = told, .next = first};
    hl_map_set(by_name, name, strlen(name), c);
  }
}

/* The last kernel that stores it (one before it may store parts), else the first that computes it. */
static const hl_told_step *kernel_of(const hl_map *by_name, const hl_instruction *ins)
{
  const hl_told_step *found = NULL;
  for (const computed *c = hl_map_get(by_name, ins->name, strlen(ins->name)); c; c = c->next) {
    if (c->origin->range.begin != ins->range.begin || (found && !c->origin->stored))
      continue;
    found = c->kernel;
  }
  return found;
}

/* --- nodes, boxes, panels --- */

/* Without its middle, since JAX's names differ at their ends. */
static const char *label_of(hl_arena *arena, const char *name)
{
  size_t length = strlen(name);
  return length <= LABEL_LENGTH ? name
                                : hl_arena_printf(arena, "%.*s…%s", LABEL_LENGTH - 1 - LABEL_TAIL,
                                                  name, name + length - LABEL_TAIL);
}

static const char *shape_of(hl_arena *arena, const hl_shape *shape)
{
  const char *text = hl_shape_text(arena, shape);
  return strlen(text) <= SHAPE_LENGTH ? text
                                      : hl_arena_printf(arena, "%.*s…", SHAPE_LENGTH - 1, text);
}

/* Wide enough for the shape, too, that stands below it. */
static double width_of(const hl_graph_node *node)
{
  size_t name = strlen(node->label), op = strlen(hl_op_info_of(node->ins->opcode)->name);
  size_t shape = strlen(node->shape);
  name = name > LABEL_LENGTH ? LABEL_LENGTH : name;
  shape = shape > SHAPE_LENGTH ? SHAPE_LENGTH : shape;
  double inside = (double)((name > op ? name : op) * CHARACTER_WIDTH + 18);
  double below = (double)(shape * SHAPE_CHARACTER_WIDTH);
  return inside > below ? inside : below;
}

static void add_node(hl_graph *g, hl_graph_panel *panel, int box, const hl_instruction *ins)
{
  hl_graph_box *b = &panel->boxes[box];
  hl_graph_node *node = &g->nodes[ins->scratch];
  *node = (hl_graph_node){.ins = ins, .box = box, .label = label_of(g->arena, ins->name)};
  node->shape = shape_of(g->arena, ins->shape);
  node->width = width_of(node);
  node->height = NODE_HEIGHT;
  b->nodes = hl_arena_grow(g->arena, b->nodes, &b->node_capacity, (size_t)b->node_count + 1,
                           sizeof *b->nodes);
  b->nodes[b->node_count++] = (int)ins->scratch;
}

static int add_box(hl_graph *g, hl_graph_panel *panel, const hl_told_step *kernel)
{
  panel->boxes = hl_arena_grow(g->arena, panel->boxes, &panel->box_capacity,
                               (size_t)panel->box_count + 1, sizeof *panel->boxes);
  panel->boxes[panel->box_count] = (hl_graph_box){.kernel = kernel};
  return panel->box_count++;
}

/* Where the last instruction of a box stands: behind all that its kernel reads. */
static int by_last(const void *a, const void *b)
{
  const hl_graph_box *x = a, *y = b;
  return x->nodes[x->node_count - 1] - y->nodes[y->node_count - 1];
}

/* box_of: of each step, its box in this panel plus 1. */
static void fill_panel(hl_graph *g, hl_graph_panel *panel, const hl_map *by_name, int *box_of)
{
  for (hl_instruction *ins = panel->computation->first; ins; ins = ins->next) {
    const hl_told_step *kernel = kernel_of(by_name, ins);
    int *known = kernel ? &box_of[kernel->number] : NULL;
    int box = known && *known ? *known - 1 : add_box(g, panel, kernel);
    if (known)
      *known = box + 1;
    add_node(g, panel, box, ins);
  }
  qsort(panel->boxes, (size_t)panel->box_count, sizeof *panel->boxes, by_last);
  for (int i = 0; i < panel->box_count; i++) {
    if (panel->boxes[i].kernel)
      box_of[panel->boxes[i].kernel->number] = 0;
    for (int k = 0; k < panel->boxes[i].node_count; k++)
      g->nodes[panel->boxes[i].nodes[k]].box = i;
  }
}

/* --- where they lie --- */

typedef struct edges {
  hl_arena *arena;
  hl_layout_edge *list;
  int count;
  size_t capacity;
} edges;

static void add_edge(edges *e, int from, int to)
{
  if (e->count && e->list[e->count - 1].from == from && e->list[e->count - 1].to == to)
    return;
  e->list = hl_arena_grow(e->arena, e->list, &e->capacity, (size_t)e->count + 1, sizeof *e->list);
  e->list[e->count++] = (hl_layout_edge){from, to};
}

static void find(hl_graph *g, hl_layout *layout, const edges *e)
{
  layout->edges = e->list;
  layout->edge_count = e->count;
  layout->gap = GAP;
  layout->layer_gap = LAYER_GAP;
  hl_layout_find(g->arena, layout);
}

/* Nodes inside one box; their places count from its corner. numbers: of each node, where it stands in its box. */
static void place_nodes(hl_graph *g, hl_graph_box *box, int box_number, int *numbers)
{
  hl_layout layout = {.items = HL_ARRAY(g->arena, box->node_count, hl_layout_item),
                      .count = box->node_count};
  edges e = {.arena = g->arena};
  for (int i = 0; i < box->node_count; i++) {
    const hl_graph_node *node = &g->nodes[box->nodes[i]];
    layout.items[i] = (hl_layout_item){.width = node->width, .height = node->height};
    numbers[box->nodes[i]] = i;
    for (int k = 0; k < node->ins->operand_count; k++) {
      int64_t operand = node->ins->operands[k]->scratch;
      if (g->nodes[operand].box == box_number)
        add_edge(&e, numbers[operand], i);
    }
  }
  find(g, &layout, &e);
  double pad = box->kernel ? HL_GRAPH_PAD : 0, title = box->kernel ? HL_GRAPH_TITLE : 0;
  for (int i = 0; i < box->node_count; i++) {
    g->nodes[box->nodes[i]].x = layout.items[i].x + pad;
    g->nodes[box->nodes[i]].y = layout.items[i].y + pad + title;
  }
  double least = box->kernel ? 170 : 0; /* for its title */
  box->width = layout.width + 2 * pad > least ? layout.width + 2 * pad : least;
  box->height = layout.height + 2 * pad + title + (box->kernel ? SHAPE_HEIGHT : 0);
}

static void place_boxes(hl_graph *g, hl_graph_panel *panel)
{
  hl_layout layout = {.items = HL_ARRAY(g->arena, panel->box_count + 1, hl_layout_item),
                      .count = panel->box_count};
  edges e = {.arena = g->arena};
  for (int i = 0; i < panel->box_count; i++) {
    hl_graph_box *box = &panel->boxes[i];
    layout.items[i] = (hl_layout_item){.width = box->width, .height = box->height};
    for (int n = 0; n < box->node_count; n++) {
      const hl_instruction *ins = g->nodes[box->nodes[n]].ins;
      for (int k = 0; k < ins->operand_count; k++)
        if (g->nodes[ins->operands[k]->scratch].box != i)
          add_edge(&e, g->nodes[ins->operands[k]->scratch].box, i);
    }
  }
  find(g, &layout, &e);
  for (int i = 0; i < panel->box_count; i++) {
    hl_graph_box *box = &panel->boxes[i];
    box->x = layout.items[i].x + HL_GRAPH_PAD;
    box->y = layout.items[i].y + HL_GRAPH_PAD + HL_GRAPH_TITLE;
    for (int n = 0; n < box->node_count; n++) {
      g->nodes[box->nodes[n]].x += box->x;
      g->nodes[box->nodes[n]].y += box->y;
    }
  }
  panel->width = layout.width + 2 * HL_GRAPH_PAD > 240 ? layout.width + 2 * HL_GRAPH_PAD : 240;
  panel->height = layout.height + 2 * HL_GRAPH_PAD + HL_GRAPH_TITLE + (double)SHAPE_HEIGHT;
}

/* Panels stand below each other; their contents count from their corners. */
static void place_all(hl_graph *g)
{
  int *numbers = HL_ARRAY(g->arena, g->node_count + 1, int);
  for (int i = 0; i < g->panel_count; i++) {
    hl_graph_panel *panel = &g->panels[i];
    for (int b = 0; b < panel->box_count; b++)
      place_nodes(g, &panel->boxes[b], b, numbers);
    place_boxes(g, panel);
    panel->x = HL_GRAPH_PAD;
    panel->y = g->height + HL_GRAPH_PAD;
    g->height = panel->y + panel->height;
    double right = panel->x + panel->width + HL_GRAPH_PAD;
    g->width = right > g->width ? right : g->width;
  }
  g->height += HL_GRAPH_PAD;
}

/* Numbers the instructions through all panels. */
static void add_panel(hl_graph *g, hl_computation *computation)
{
  g->panels[g->panel_count++] = (hl_graph_panel){.computation = computation};
  for (hl_instruction *ins = computation->first; ins; ins = ins->next)
    ins->scratch = g->node_count++;
}

void hl_graph_make(hl_graph *graph, const hl_explanation *explanation)
{
  hl_module *module = explanation->session->module;
  hl_map by_name = {.arena = explanation->arena};
  int count = 0;
  *graph = (hl_graph){.explanation = explanation, .arena = explanation->arena};
  for (int i = explanation->step_count; i-- > 0;)
    if (explanation->steps[i].step->kind == HL_STEP_KERNEL)
      add_kernel(&by_name, &explanation->steps[i]);
  for (const hl_computation *c = module->first; c; c = c->next)
    count++;
  graph->panels = HL_ARRAY(graph->arena, count, hl_graph_panel);
  add_panel(graph, module->entry);
  for (hl_computation *c = module->first; c; c = c->next)
    if (c != module->entry)
      add_panel(graph, c);
  graph->nodes = HL_ARRAY(graph->arena, graph->node_count, hl_graph_node);
  int *box_of = HL_ARRAY(graph->arena, explanation->step_count + 1, int);
  for (int i = 0; i < graph->panel_count; i++)
    fill_panel(graph, &graph->panels[i], &by_name, box_of);
  place_all(graph);
}

/* --- texts --- */

const char *hl_graph_text(hl_arena *arena, const hl_instruction *ins)
{
  hl_str text = {.arena = arena};
  bool is_long = ins->opcode == HL_OP_CONSTANT &&
                 !(hl_shape_is_array(ins->shape) &&
                   hl_shape_elements(ins->shape) <= PRINTED_ELEMENTS);
  if (!is_long)
    hl_instruction_print(&text, ins);
  else
    hl_str_printf(&text, "%s = %s constant({...})", ins->name, hl_shape_text(arena, ins->shape));
  return hl_str_text(&text);
}

void hl_graph_escape(hl_str *out, const char *text)
{
  for (; *text; text++) {
    if (*text == '&')
      hl_str_add(out, "&amp;");
    else if (*text == '<')
      hl_str_add(out, "&lt;");
    else if (*text == '>')
      hl_str_add(out, "&gt;");
    else if (*text == '"')
      hl_str_add(out, "&quot;");
    else if ((unsigned char)*text >= ' ')
      hl_str_add_char(out, *text);
  }
}
