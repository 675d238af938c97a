/* loop_fuse_reduces.c - reduces over the same range become one loop with several results.
 *
 * The later reduce moves up into the earlier one when it depends neither on it nor on a loop between them; plain values in
 * between that it needs move in front of both. Keeps: the order of each sum.
 */
#include "loop_edit.h"

#include <string.h>

enum { LOOK_BACK = 64 };

static bool has_body(const hl_node *node)
{
  return node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD;
}

static bool is_loop(const hl_node *node)
{
  return has_body(node) || node->op == HL_LOOP_IF;
}

static bool same_order(const hl_loop *a, const hl_loop *b)
{
  for (int i = 0; i < a->result_count; i++)
    for (int k = 0; k < b->result_count; k++) {
      hl_order x = a->combiners[i].order, y = b->combiners[k].order;
      if (x != y && x != HL_ORDER_FREE && y != HL_ORDER_FREE)
        return false;
      if (x == HL_ORDER_DOT || y == HL_ORDER_DOT)
        return false;
    }
  return true;
}

static bool same_range(const hl_loop *a, const hl_loop *b)
{
  if (a->var_count != b->var_count || a->mode != b->mode || !same_order(a, b))
    return false;
  for (int i = 0; i < a->var_count; i++)
    if (a->extents[i] != b->extents[i] || a->limits[i] || b->limits[i])
      return false;
  return true;
}

/* Marks are pointers in node->scratch that equal the earlier reduce. */
typedef struct marking {
  hl_node *mark;
  bool is_hit;
} marking;

static void look_at_loop(marking *m, const hl_loop *loop)
{
  for (int i = 0; i < loop->yield_count; i++)
    m->is_hit |= loop->yields[i]->scratch == m->mark;
  for (int i = 0; i < loop->var_count; i++)
    m->is_hit |= loop->limits[i] && loop->limits[i]->scratch == m->mark;
}

static void look(void *user, hl_node *node)
{
  marking *m = user;
  for (int i = 0; i < node->operand_count; i++)
    m->is_hit |= node->operands[i]->scratch == m->mark;
  if (has_body(node))
    look_at_loop(m, node->loop);
  if (node->op == HL_LOOP_LOAD || node->op == HL_LOOP_STORE)
    for (int i = 0; i < node->access->term_count; i++)
      m->is_hit |= node->access->terms[i].index->scratch == m->mark;
}

static bool depends(hl_node *node, hl_node *mark)
{
  marking m = {mark, false};
  look(&m, node);
  if (has_body(node))
    hl_block_walk(&node->loop->body, look, &m);
  return m.is_hit;
}

typedef struct param_search {
  const hl_param *param;
  hl_loop_op op;
  bool is_found;
} param_search;

static void find_param(void *user, hl_node *node)
{
  param_search *s = user;
  s->is_found |= node->op == s->op && node->access->param == s->param;
}

static void reads_what_is_stored(void *user, hl_node *node)
{
  marking *m = user; /* the mark is the loop that reads */
  if (node->op != HL_LOOP_STORE)
    return;
  param_search s = {node->access->param, HL_LOOP_LOAD, false};
  hl_block_walk(&m->mark->loop->body, find_param, &s);
  m->is_hit |= s.is_found;
}

static bool reads_row_of(hl_node *reader, hl_node *writer)
{
  marking m = {reader, false};
  hl_block_walk(&writer->loop->body, reads_what_is_stored, &m);
  return m.is_hit;
}

/* Whether `later` may run inside `earlier`; marks what stands between and depends on a loop. */
static bool may_join(hl_node *earlier, hl_node *later)
{
  earlier->scratch = earlier;
  for (hl_node *node = earlier->next; node != later; node = node->next) {
    if (node->op == HL_LOOP_STORE || (is_loop(node) && reads_row_of(later, node)))
      return false;
    node->scratch = is_loop(node) || depends(node, earlier) ? earlier : NULL;
  }
  return !depends(later, earlier) && !reads_row_of(later, earlier);
}

static void move_between(hl_node *earlier, hl_node *later)
{
  for (hl_node *node = earlier->next, *next; node != later; node = next) {
    next = node->next;
    if (node->scratch == earlier)
      continue;
    hl_node_remove(node);
    hl_node_insert_before(node, earlier);
  }
}

static void append_lists(hl_arena *arena, hl_loop *into, const hl_loop *from)
{
  int results = into->result_count + from->result_count;
  int yields = into->yield_count + from->yield_count;
  hl_combiner *combiners = HL_ARRAY(arena, results, hl_combiner);
  hl_node **list = HL_ARRAY(arena, yields, hl_node *);
  memcpy(combiners, into->combiners, (size_t)into->result_count * sizeof *combiners);
  memcpy(combiners + into->result_count, from->combiners,
         (size_t)from->result_count * sizeof *combiners);
  memcpy(list, into->yields, (size_t)into->yield_count * sizeof *list);
  memcpy(list + into->yield_count, from->yields, (size_t)from->yield_count * sizeof *list);
  into->combiners = combiners;
  into->yields = list;
  into->result_count = results;
  into->yield_count = yields;
}

/* The results of `later` become results of `earlier` and stand behind it. */
static void move_results(hl_node *earlier, hl_node *later, int first)
{
  for (hl_node *node = later->next, *next; node; node = next) {
    next = node->next;
    if (node->op != HL_LOOP_RESULT || node->operands[0] != later)
      continue;
    node->operands[0] = earlier;
    node->index += first;
    hl_node_place_result(node);
  }
}

static void join(hl_kernel *kernel, hl_node *earlier, hl_node *later)
{
  hl_loop *into = earlier->loop, *from = later->loop;
  int first = into->result_count;
  move_between(earlier, later);
  for (int i = 0; i < from->var_count; i++)
    hl_replace_value(&from->body, from->vars[i], into->vars[i]);
  for (hl_node *node = from->body.first, *next; node; node = next) {
    next = node->next;
    hl_node_remove(node);
    hl_node_append(node, &into->body);
  }
  append_lists(kernel->arena, into, from);
  move_results(earlier, later, first);
  hl_node_remove(later);
}

static hl_node *partner_of(hl_node *later)
{
  int looked = 0;
  for (hl_node *e = later->previous; e && looked < LOOK_BACK; e = e->previous, looked++)
    if (e->op == HL_LOOP_REDUCE && same_range(e->loop, later->loop) && may_join(e, later))
      return e;
  return NULL;
}

static void fuse_block(hl_kernel *kernel, hl_block *block)
{
  for (hl_node *node = block->first, *next; node; node = next) {
    next = node->next;
    if (!has_body(node))
      continue;
    fuse_block(kernel, &node->loop->body);
    hl_node *earlier = node->op == HL_LOOP_REDUCE ? partner_of(node) : NULL;
    if (earlier) {
      while (next && next->op == HL_LOOP_RESULT && next->operands[0] == node)
        next = next->next;
      join(kernel, earlier, node);
    }
  }
}

void hl_kernel_fuse_reduces(hl_kernel *kernel)
{
  fuse_block(kernel, &kernel->body);
}
