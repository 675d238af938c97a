/* loop_product.c - finds products: perfect nests of loops around a reduce of l * r.
 *
 * A loop belongs to the operands whose value depends on its index. The innermost loop must belong
 * to one of them alone: its iterations are the lanes of vectors, and the other operand is one
 * number for all of them.
 */
#include "loop_product.h"

static bool is_loop(const hl_node *node)
{
  return node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD;
}

/* A value that can be computed anywhere its indices are known. */
static bool is_pure(const hl_node *node)
{
  bool is_load = node->op == HL_LOOP_LOAD && node->access->param->direction == HL_PARAM_IN;
  return is_load || (node->op != HL_LOOP_LOAD && node->op != HL_LOOP_STORE &&
                     node->op != HL_LOOP_IF && node->op != HL_LOOP_RESULT && !is_loop(node));
}

hl_node *hl_only_loop(const hl_block *block)
{
  hl_node *found = NULL;
  for (hl_node *node = block->first; node; node = node->next) {
    if (node->op == HL_LOOP_FOR && !found)
      found = node;
    else if (!is_pure(node))
      return NULL;
  }
  return found && !found->loop->limits[0] && !found->loop->is_ordered ? found : NULL;
}

static bool has_loop(const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next)
    if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_IF || node->op == HL_LOOP_FOLD)
      return true;
  return false;
}

static bool find_nest(hl_product *p)
{
  hl_block *block = &p->kernel->body;
  while (has_loop(block)) {
    hl_node *loop = hl_only_loop(block);
    if (!loop || p->depth == HL_PRODUCT_LOOPS)
      return false;
    p->loops[p->depth++] = loop;
    block = &loop->loop->body;
  }
  p->columns = p->depth - 1;
  return p->depth > 0;
}

static bool is_pure_block(const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next)
    if (!is_pure(node))
      return false;
  return true;
}

static bool sums_products(const hl_loop *loop)
{
  const hl_combiner *c = &loop->combiners[0];
  if (loop->result_count != 1 || loop->var_count > HL_PRODUCT_VARS || !is_pure_block(&loop->body))
    return false;
  for (int i = 0; i < loop->var_count; i++)
    if (loop->limits[i])
      return false;
  return c->order == HL_ORDER_DOT ||
         (c->order == HL_ORDER_FREE && c->combine == HL_LOOP_ADD &&
          (loop->yields[0]->op == HL_LOOP_MUL || loop->yields[0]->op == HL_LOOP_DOT4));
}

/* The body may hold one reduce, and it must be a product. */
static bool find_reduce(hl_product *p)
{
  const hl_block *body = &p->loops[p->columns]->loop->body;
  for (hl_node *node = body->first; node; node = node->next) {
    if (node->op != HL_LOOP_REDUCE)
      continue;
    if (p->reduce || !sums_products(node->loop))
      return false;
    p->reduce = node;
  }
  return p->reduce;
}

/* --- what depends on which loop --- */

static void mark_block(hl_product *p, const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next) {
    uint64_t uses = 0;
    for (int i = 0; i < node->operand_count; i++)
      uses |= p->uses[node->operands[i]->id];
    if (node->op == HL_LOOP_LOAD)
      for (int i = 0; i < node->access->term_count; i++)
        uses |= p->uses[node->access->terms[i].index->id];
    p->uses[node->id] = uses;
    if (is_loop(node))
      mark_block(p, &node->loop->body);
  }
}

static void mark(hl_product *p)
{
  p->uses = HL_ARRAY(p->kernel->arena, p->kernel->next_id, uint64_t);
  for (int i = 0; i < p->depth; i++)
    p->uses[hl_loop_var(p->loops[i], 0)->id] = UINT64_C(1) << i;
  for (int i = 0; i < p->reduce->loop->var_count; i++)
    p->uses[hl_loop_var(p->reduce, i)->id] = HL_USES_REDUCE;
  mark_block(p, &p->kernel->body);
}

static bool choose_sides(hl_product *p)
{
  hl_loop *loop = p->reduce->loop;
  bool is_dot = loop->combiners[0].order == HL_ORDER_DOT;
  hl_node **sides = is_dot ? loop->yields : loop->yields[0]->operands;
  uint64_t column = UINT64_C(1) << p->columns,
           uses[2] = {p->uses[sides[0]->id], p->uses[sides[1]->id]};
  if (!(uses[0] & column) == !(uses[1] & column))
    return false;
  int across = uses[1] & column ? 1 : 0;
  p->across = &sides[across];
  p->rows = -1;
  for (int i = 0; i < p->columns; i++)
    if ((uses[!across] & ~uses[across]) >> i & 1)
      p->rows = i;
  return uses[across] & HL_USES_REDUCE;
}

bool hl_find_product(hl_kernel *kernel, hl_product *p)
{
  *p = (hl_product){.kernel = kernel};
  if (!find_nest(p) || !find_reduce(p))
    return false;
  mark(p);
  return choose_sides(p);
}

int64_t hl_product_depth(const hl_product *p)
{
  int64_t count = 1;
  for (int i = 0; i < p->reduce->loop->var_count; i++)
    count *= p->reduce->loop->extents[i];
  return count;
}
