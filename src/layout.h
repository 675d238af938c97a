/* layout - boxes of a directed graph in layers, operands above their users. */
#ifndef HL_LAYOUT_H
#define HL_LAYOUT_H

#include "ir/arena.h"

typedef struct hl_layout_item {
  double width, height; /* given */
  double x, y;          /* found: the upper left corner; all lie in 0 <= x, 0 <= y */
  int layer;
} hl_layout_item;

typedef struct hl_layout_edge {
  int from, to;
} hl_layout_edge;

typedef struct hl_layout {
  hl_layout_item *items; /* in an order in which edges lead forward; those that do not are not looked at */
  int count;
  const hl_layout_edge *edges;
  int edge_count;
  double gap, layer_gap; /* between neighbours, between layers */
  double width, height;  /* found */
} hl_layout;

/* Sugiyama's method without its dummies: layers by longest paths, each item as near to its first user as
 * they allow; a few sweeps that sort each
 * layer by the middle of its neighbours; then each item as near to that middle as its layer lets it. Linear in items and edges but
 * for sorting. Layers that would become too wide go on several rows. */
void hl_layout_find(hl_arena *arena, hl_layout *layout);

#endif
