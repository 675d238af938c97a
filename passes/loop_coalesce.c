/* loop_coalesce.c - loops that walk memory as one become one.
 *
 * Two neighbouring loops i (outer) and j of n iterations are one loop of their product when every access moves by n times as much for
 * i as for j, and neither index is used for anything else. Neighbouring vars of a reduce likewise.
 * Keeps: the order of iterations, and so of every sum.
 */
#include "loop_edit.h"

#include <string.h>

typedef struct pair {
  const hl_node *outer, *inner;
  int64_t inner_extent;
  bool fits;
} pair;

static void check_node(void *user, hl_node *node)
{
  pair *p = user;
  if (node->op == HL_LOOP_LOAD || node->op == HL_LOOP_STORE) {
    int64_t outer = hl_stride_of(node->access, p->outer), inner = hl_stride_of(node->access, p->inner);
    p->fits &= outer == inner * p->inner_extent;
  }
}

static bool is_one_walk(hl_block *body, const hl_node *outer, const hl_node *inner, int64_t extent)
{
  pair p = {outer, inner, extent, true};
  hl_block_walk(body, check_node, &p);
  return p.fits && hl_count_uses(body, outer).plain == 0 && hl_count_uses(body, inner).plain == 0;
}

static void drop_term(void *user, hl_node *node)
{
  if (node->op != HL_LOOP_LOAD && node->op != HL_LOOP_STORE)
    return;
  hl_access *access = node->access;
  int kept = 0;
  for (int i = 0; i < access->term_count; i++)
    if (access->terms[i].index != user)
      access->terms[kept++] = access->terms[i];
  access->term_count = kept;
}

static void merge_vars(hl_loop *loop, int outer)
{
  hl_block_walk(&loop->body, drop_term, loop->vars[outer]);
  loop->extents[outer + 1] *= loop->extents[outer];
  int rest = loop->var_count - outer - 1;
  memmove(&loop->vars[outer], &loop->vars[outer + 1], (size_t)rest * sizeof *loop->vars);
  memmove(&loop->extents[outer], &loop->extents[outer + 1], (size_t)rest * sizeof *loop->extents);
  memmove(&loop->limits[outer], &loop->limits[outer + 1], (size_t)rest * sizeof *loop->limits);
  loop->var_count--;
  for (int i = 0; i < loop->var_count; i++)
    loop->vars[i]->index = i;
}

static void coalesce_vars(hl_loop *loop)
{
  for (int i = loop->var_count - 2; i >= 0; i--)
    if (!loop->limits[i] && !loop->limits[i + 1] &&
        is_one_walk(&loop->body, loop->vars[i], loop->vars[i + 1], loop->extents[i + 1]))
      merge_vars(loop, i);
}

/* for i: for j: body -> for ij: body */
static bool coalesce_nest(hl_node *outer)
{
  hl_loop *o = outer->loop;
  hl_node *inner = o->body.first;
  if (!inner || inner->next || inner->op != HL_LOOP_FOR || o->is_ordered || inner->loop->is_ordered || o->limits[0] || inner->loop->limits[0] ||
      !is_one_walk(&inner->loop->body, o->vars[0], inner->loop->vars[0], inner->loop->extents[0]))
    return false;
  hl_loop *in = inner->loop;
  hl_block_walk(&in->body, drop_term, o->vars[0]);
  o->extents[0] *= in->extents[0];
  o->vars[0] = in->vars[0];
  o->vars[0]->loop = o;
  o->body = in->body;
  o->body.owner = outer;
  for (hl_node *node = o->body.first; node; node = node->next)
    node->block = &o->body;
  return true;
}

static void coalesce_block(hl_block *block)
{
  for (hl_node *node = block->first; node; node = node->next) {
    if (node->op != HL_LOOP_FOR && node->op != HL_LOOP_REDUCE && node->op != HL_LOOP_FOLD)
      continue;
    coalesce_block(&node->loop->body);
    if (node->op == HL_LOOP_FOR)
      coalesce_nest(node);
    else
      coalesce_vars(node->loop);
  }
}

void hl_kernel_coalesce(hl_kernel *kernel)
{
  coalesce_block(&kernel->body);
}
