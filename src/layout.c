/* layout - boxes of a directed graph in layers. */
#include "layout.h"

#include <stdlib.h>

enum { SWEEPS = 8 };

static const double max_row_width = 6000;

typedef struct list {
  int *starts, *others; /* others[starts[i] .. starts[i + 1]-1] */
} list;

typedef struct place {
  int item;
  double wish; /* of its middle */
  int order;
} place;

typedef struct work {
  hl_layout *l;
  list before, after;
  place *places;   /* by layer */
  int *layer_starts;
  int layer_count;
} work;

static bool is_forward(hl_layout_edge edge)
{
  return edge.from < edge.to;
}

/* Neighbours of each item in one direction. */
static list neighbours(hl_arena *arena, const hl_layout *l, bool are_before)
{
  list n = {HL_ARRAY(arena, l->count + 2, int), HL_ARRAY(arena, l->edge_count + 1, int)};
  for (int i = 0; i < l->edge_count; i++)
    if (is_forward(l->edges[i]))
      n.starts[(are_before ? l->edges[i].to : l->edges[i].from) + 2]++;
  for (int i = 0; i < l->count; i++)
    n.starts[i + 2] += n.starts[i + 1];
  for (int i = 0; i < l->edge_count; i++) {
    hl_layout_edge e = l->edges[i];
    if (is_forward(e))
      n.others[n.starts[(are_before ? e.to : e.from) + 1]++] = are_before ? e.from : e.to;
  }
  return n;
}

static void choose_layers(work *w)
{
  hl_layout_item *items = w->l->items;
  for (int i = 0; i < w->l->count; i++) {
    items[i].layer = 0;
    for (int k = w->before.starts[i]; k < w->before.starts[i + 1]; k++) {
      int least = items[w->before.others[k]].layer + 1;
      items[i].layer = least > items[i].layer ? least : items[i].layer;
    }
    w->layer_count = items[i].layer >= w->layer_count ? items[i].layer + 1 : w->layer_count;
  }
  for (int i = w->l->count; i-- > 0;) {
    int first = w->layer_count;
    if (w->after.starts[i] == w->after.starts[i + 1])
      continue;
    for (int k = w->after.starts[i]; k < w->after.starts[i + 1]; k++) {
      int layer = items[w->after.others[k]].layer;
      first = layer < first ? layer : first;
    }
    items[i].layer = first - 1;
  }
}

static void fill_layers(hl_arena *arena, work *w)
{
  const hl_layout *l = w->l;
  w->layer_starts = HL_ARRAY(arena, w->layer_count + 2, int);
  w->places = HL_ARRAY(arena, l->count + 1, place);
  for (int i = 0; i < l->count; i++)
    w->layer_starts[l->items[i].layer + 2]++;
  for (int i = 0; i < w->layer_count; i++)
    w->layer_starts[i + 2] += w->layer_starts[i + 1];
  for (int i = 0; i < l->count; i++) {
    place *p = &w->places[w->layer_starts[l->items[i].layer + 1]++];
    *p = (place){.item = i};
  }
}

static double middle(const hl_layout_item *item)
{
  return item->x + item->width / 2;
}

static double wish_of(const work *w, const list *n, int item)
{
  double sum = 0;
  int count = n->starts[item + 1] - n->starts[item];
  for (int k = n->starts[item]; k < n->starts[item + 1]; k++)
    sum += middle(&w->l->items[n->others[k]]);
  return count ? sum / count : middle(&w->l->items[item]);
}

static int by_wish(const void *a, const void *b)
{
  const place *x = a, *y = b;
  if (x->wish != y->wish)
    return x->wish < y->wish ? -1 : 1;
  return x->order - y->order;
}

/* Items in their order, each at its wish or right of the one before; then all moved by what they are off on the average. */
static void spread(work *w, place *places, int count)
{
  hl_layout *l = w->l;
  double least = -1e300, off = 0;
  for (int i = 0; i < count; i++) {
    hl_layout_item *item = &l->items[places[i].item];
    double wish = places[i].wish - item->width / 2;
    item->x = wish > least ? wish : least;
    off += item->x - wish;
    least = item->x + item->width + l->gap;
  }
  for (int i = 0; i < count; i++)
    l->items[places[i].item].x -= off / count;
}

static void sweep_layer(work *w, int layer, const list *n)
{
  place *places = w->places + w->layer_starts[layer];
  int count = w->layer_starts[layer + 1] - w->layer_starts[layer];
  for (int i = 0; i < count; i++) {
    places[i].wish = wish_of(w, n, places[i].item);
    places[i].order = i;
  }
  if (count)
    qsort(places, (size_t)count, sizeof *places, by_wish);
  spread(w, places, count);
}

static void sweep(work *w)
{
  for (int i = 0; i < SWEEPS; i++) {
    for (int layer = 0; layer < w->layer_count; layer++)
      sweep_layer(w, layer, &w->before);
    for (int layer = w->layer_count; layer-- > 0 && i < SWEEPS - 1;)
      sweep_layer(w, layer, &w->after);
  }
}

/* The items of a layer that go on one row from `first` on. */
static int row_length(const work *w, const place *places, int first, int count)
{
  double width = 0;
  int i = first;
  for (; i < count; i++) {
    width += w->l->items[places[i].item].width + w->l->gap;
    if (width > max_row_width && i > first)
      break;
  }
  return i - first;
}

/* Rows of a wide layer are packed about the middle of it. */
static void pack(work *w, const place *places, int count, double centre)
{
  double width = -w->l->gap;
  for (int i = 0; i < count; i++)
    width += w->l->items[places[i].item].width + w->l->gap;
  double x = centre - width / 2;
  for (int i = 0; i < count; i++) {
    w->l->items[places[i].item].x = x;
    x += w->l->items[places[i].item].width + w->l->gap;
  }
}

static double place_row(work *w, const place *places, int count, double y)
{
  double height = 0;
  for (int i = 0; i < count; i++) {
    hl_layout_item *item = &w->l->items[places[i].item];
    item->y = y;
    height = item->height > height ? item->height : height;
  }
  return y + height;
}

static void place_layer(work *w, int layer, double *y)
{
  const place *places = w->places + w->layer_starts[layer];
  int count = w->layer_starts[layer + 1] - w->layer_starts[layer], length;
  if (!count)
    return;
  const hl_layout_item *last = &w->l->items[places[count - 1].item];
  double centre = (w->l->items[places[0].item].x + last->x + last->width) / 2;
  bool is_wide = row_length(w, places, 0, count) < count;
  for (int first = 0; first < count; first += length) {
    length = row_length(w, places, first, count);
    if (is_wide)
      pack(w, places + first, length, centre);
    *y = place_row(w, places + first, length, *y) + w->l->gap;
  }
  *y += w->l->layer_gap - w->l->gap;
}

static void measure(hl_layout *l)
{
  double left = 1e300;
  for (int i = 0; i < l->count; i++)
    left = l->items[i].x < left ? l->items[i].x : left;
  l->width = l->height = 0;
  for (int i = 0; i < l->count; i++) {
    hl_layout_item *item = &l->items[i];
    item->x -= left;
    l->width = item->x + item->width > l->width ? item->x + item->width : l->width;
    l->height = item->y + item->height > l->height ? item->y + item->height : l->height;
  }
}

void hl_layout_find(hl_arena *arena, hl_layout *layout)
{
  work w = {.l = layout};
  double y = 0;
  w.before = neighbours(arena, layout, true);
  w.after = neighbours(arena, layout, false);
  choose_layers(&w);
  fill_layers(arena, &w);
  sweep(&w);
  for (int layer = 0; layer < w.layer_count; layer++)
    place_layer(&w, layer, &y);
  measure(layout);
}
