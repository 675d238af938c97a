/* loop_chain_join.c - one kernel of the steps of a chain (loop_chain.c).
 *
 *   for b { what the products pack }
 *     for blocks of rows
 *       for p: for i in 0..R: for c in 0..P: %s[i,P*p+c] := dot k: ...
 *       for i in 0..R: ... %t[i,j] := ...
 *       for p: for i in 0..R: for c in 0..P: %o[b,R*block+i,P*p+c] := dot j: %t[i,j], ...
 *
 * 1. The loops over rows of every part are cut until all are alike, the last one in blocks;
 * products are cut and packed for that (loop_pack.c).
 * 2. The bodies of equal loops become one, in the order of the parts.
 * 3. A link keeps the rows of one block, for each worker.
 *
 * Keeps: every value, the order of each sum.
 */
#include "loop_chain.h"

#include "loop_copy.h"

#include <string.h>

/* --- 1. loops that are alike --- */

/* The loop becomes one loop for each of the common ones that it covers. */
static int cut_loop(hl_kernel *kernel, hl_node *loop, const hl_chain *c, int at, hl_node **out)
{
  int64_t rest = loop->loop->extents[0];
  int count = 0;
  while (rest > c->extents[at + count]) {
    rest /= c->extents[at + count];
    out[count++] = hl_split_for(kernel, loop, rest);
  }
  out[count++] = loop;
  return count;
}

static void cut_loops(const hl_chain *c, hl_chain_part *part)
{
  hl_node *loops[HL_CHAIN_LOOPS];
  int at = 0;
  for (int i = 0; i < part->depth; i++)
    at += cut_loop(part->step->kernel, part->loops[i], c, at, &loops[at]);
  memcpy(part->loops, loops, sizeof loops);
  part->depth = at;
}

/* Values between the loops go where they are used, inside the last one. */
static void sink_values(const hl_chain_part *part)
{
  hl_node *row = part->loops[part->depth - 1], *first = row->loop->body.first;
  hl_block *block = &part->step->kernel->body;
  for (int i = 0; i < part->depth; i++) {
    for (hl_node *node = block->first, *next; node; node = next) {
      next = node->next;
      if (node == part->loops[i])
        continue;
      hl_node_remove(node);
      hl_node_insert_before(node, first);
    }
    block = &part->loops[i]->loop->body;
  }
}

/* Part loops from here on: the outer ones and that over blocks. */
static void cut_part(hl_program *program, const hl_chain *c, hl_chain_part *part, bool repeats)
{
  hl_node *row = NULL;
  cut_loops(c, part);
  row = part->loops[part->depth - 1];
  if (part->is_product) {
    part->step = hl_block_products(program, part->step, repeats, c->block);
    hl_node *loop = row;
    while (loop->block->owner &&
           (part->depth == 1 || loop->block->owner != part->loops[part->depth - 2]))
      loop = loop->block->owner;
    part->loops[part->depth - 1] = loop;
  } else {
    sink_values(part);
    part->loops[part->depth - 1] = hl_split_for(part->step->kernel, row, c->block);
  }
}

/* --- 2. one kernel --- */

typedef struct adoption {
  hl_kernel *kernel;
  hl_param **from, **to;
  int count;
} adoption;

static hl_param *adopt_param(hl_step *into, const hl_param *param, hl_buffer *buffer)
{
  for (int i = 0; i < into->kernel->param_count; i++) {
    hl_param *own = into->kernel->params[i];
    if (into->buffers[i] == buffer && own->type == param->type && own->count == param->count)
      return own;
  }
  hl_param *copy = hl_step_add_param(into, buffer, param->direction);
  const char *name = copy->name;
  *copy = *param;
  copy->name = name;
  return copy;
}

static void adopt_node(void *user, hl_node *node)
{
  adoption *a = user;
  node->id = a->kernel->next_id++;
  if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD) {
    for (int i = 0; i < node->loop->var_count; i++)
      node->loop->vars[i]->id = a->kernel->next_id++;
    for (int i = 0; node->op == HL_LOOP_FOLD && i < node->loop->result_count; i++)
      node->loop->accs[i]->id = a->kernel->next_id++;
  }
  if (node->op != HL_LOOP_LOAD && node->op != HL_LOOP_STORE)
    return;
  int at = 0;
  while (a->from[at] != node->access->param)
    at++;
  node->access->param = a->to[at];
}

/* The kernel of `from` may move into that of `into`: its numbers and parameters are of that one. */
static void adopt(hl_step *into, hl_step *from)
{
  hl_kernel *kernel = from->kernel;
  adoption a = {.kernel = into->kernel, .from = kernel->params, .count = kernel->param_count};
  a.to = HL_ARRAY(kernel->arena, a.count + 1, hl_param *);
  for (int i = 0; i < a.count; i++)
    a.to[i] = adopt_param(into, kernel->params[i], from->buffers[i]);
  hl_block_walk(&kernel->body, adopt_node, &a);
}

/* What stands beside `inner` in its block goes to `to`, before the loop `before` if there is one.
 */
static void move_others(hl_block *from, const hl_node *inner, hl_block *to, hl_node *before)
{
  for (hl_node *node = from->first, *next; node; node = next) {
    next = node->next;
    if (node == inner)
      continue;
    hl_node_remove(node);
    if (before)
      hl_node_insert_before(node, before);
    else
      hl_node_append(node, to);
  }
}

static void merge_loops(hl_chain_part *into, const hl_chain_part *from)
{
  hl_block *to = &into->step->kernel->body, *block = &from->step->kernel->body;
  for (int i = 0; i < into->depth; i++) {
    move_others(block, from->loops[i], to, into->loops[i]);
    to = &into->loops[i]->loop->body;
    block = &from->loops[i]->loop->body;
    hl_replace_value(block, hl_loop_var(from->loops[i], 0), hl_loop_var(into->loops[i], 0));
  }
  move_others(block, NULL, to, NULL);
}

/* --- 3. links --- */

typedef struct keeping {
  const hl_chain_part *part;
  const hl_param *param;
} keeping;

static void drop_outer_terms(void *user, hl_node *node)
{
  const keeping *k = user;
  if ((node->op != HL_LOOP_LOAD && node->op != HL_LOOP_STORE) || node->access->param != k->param)
    return;
  int kept = 0;
  for (int i = 0; i < node->access->term_count; i++) {
    bool is_outer = false;
    for (int j = 0; j < k->part->depth; j++)
      is_outer |= node->access->terms[i].index == hl_loop_var(k->part->loops[j], 0);
    if (!is_outer)
      node->access->terms[kept++] = node->access->terms[i];
  }
  node->access->term_count = kept;
}

static void keep_rows(const hl_chain_part *part, hl_buffer *link, int64_t rows, int64_t width)
{
  hl_kernel *kernel = part->step->kernel;
  int at = 0;
  while (part->step->buffers[at] != link)
    at++;
  hl_param *param = kernel->params[at];
  keeping k = {part, param};
  hl_block_walk(&kernel->body, drop_outer_terms, &k);
  int64_t *dims = HL_ARRAY(kernel->arena, 2, int64_t);
  dims[0] = rows;
  dims[1] = width;
  param->direction = HL_PARAM_SCRATCH;
  param->rank = link->rank = 2;
  param->dimensions = link->dimensions = dims;
  param->count = rows * width;
  link->type = param->type;
  link->bytes = param->count * hl_type_bytes(param->type);
  link->is_per_worker = true;
}

/* --- what people read of it --- */

static void join_origins(hl_kernel *into, const hl_kernel *from)
{
  int count = into->origin_count;
  hl_origin *origins = HL_ARRAY(into->arena, count + from->origin_count + 1, hl_origin);
  for (int i = 0; i < count; i++) {
    origins[i] = into->origins[i];
    if (origins[i].stored && strcmp(origins[i].name, into->name) == 0)
      origins[i].stored = "for a block of rows alone, which what follows takes from the cache";
  }
  if (from->origin_count)
    memcpy(origins + count, from->origins, (size_t)from->origin_count * sizeof *origins);
  into->origins = origins;
  into->origin_count = count + from->origin_count;
  into->name = from->name;
  into->range = from->range;
}

/* --- the steps --- */

static void unlink_step(hl_step **at, const hl_step *step)
{
  while (*at != step)
    at = &(*at)->next;
  *at = step->next;
}

bool hl_gather_chain(hl_step **first, const hl_chain *chain)
{
  bool has_others = false;
  hl_step *last = chain->parts[chain->count - 1].step;
  for (int i = 0; i + 1 < chain->count; i++)
    has_others |= chain->parts[i].step->next != chain->parts[i + 1].step;
  if (!has_others)
    return false;
  for (int i = 0; i + 1 < chain->count; i++)
    unlink_step(first, chain->parts[i].step);
  while (*first != last)
    first = &(*first)->next;
  for (int i = 0; i + 1 < chain->count; i++, first = &(*first)->next) {
    chain->parts[i].step->next = last;
    *first = chain->parts[i].step;
  }
  return true;
}

hl_step *hl_join_chain(hl_program *program, hl_step **first, hl_chain *chain, bool repeats)
{
  hl_chain_part *into = &chain->parts[0];
  for (int i = 0; i < chain->count; i++)
    cut_part(program, chain, &chain->parts[i], repeats);
  for (int i = 1; i < chain->count; i++) {
    const hl_chain_part *from = &chain->parts[i];
    join_origins(into->step->kernel, from->step->kernel);
    adopt(into->step, from->step);
    merge_loops(into, from);
  }
  for (int i = 0; i + 1 < chain->count; i++)
    keep_rows(into, chain->links[i], chain->block, chain->widths[i]);
  hl_step *last = chain->parts[chain->count - 1].step;
  last->kernel = into->step->kernel;
  last->buffers = into->step->buffers;
  for (int i = 0; i + 1 < chain->count; i++)
    unlink_step(first, chain->parts[i].step);
  return last;
}
