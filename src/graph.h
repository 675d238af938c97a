/* graph - a module as a drawing: a panel for each computation, in it boxes for kernels, in these and between them instructions. */
#ifndef HL_GRAPH_H
#define HL_GRAPH_H

#include "explain.h"

typedef struct hl_graph_node {
  const hl_instruction *ins; /* ins->scratch is its number */
  int box;                   /* of its panel */
  const char *label;         /* its name, shortened */
  const char *shape;         /* shortened, too */
  double x, y, width, height;
} hl_graph_node;

typedef struct hl_graph_box {
  const hl_told_step *kernel; /* NULL: one instruction that no kernel computes */
  int *nodes;                 /* in the order of the computation */
  int node_count;
  size_t node_capacity;
  double x, y, width, height;
} hl_graph_box;

typedef struct hl_graph_panel {
  const hl_computation *computation;
  hl_graph_box *boxes; /* operands before users, but for values that several kernels compute */
  int box_count;
  size_t box_capacity;
  double x, y, width, height;
} hl_graph_panel;

typedef struct hl_graph {
  const hl_explanation *explanation;
  hl_arena *arena;
  hl_graph_node *nodes;
  int node_count;
  hl_graph_panel *panels; /* the entry first */
  int panel_count;
  double width, height;
} hl_graph;

#define HL_GRAPH_TITLE 24.0 /* height of titles */
#define HL_GRAPH_PAD 12.0   /* space inside boxes */

/* The module as it is now, with the kernels of the explanation's steps, if there are any. */
void hl_graph_make(hl_graph *graph, const hl_explanation *explanation);

void hl_graph_dot(const hl_graph *graph, hl_str *out);
/* The drawing: an svg element with a style of its own. */
void hl_graph_svg(const hl_graph *graph, hl_str *out);
void hl_graph_html(const hl_graph *graph, hl_str *out);

/* The instruction as text, without the values of long constants. */
const char *hl_graph_text(hl_arena *arena, const hl_instruction *ins);
/* Text inside XML: & < > and quotes escaped. */
void hl_graph_escape(hl_str *out, const char *text);

#endif
