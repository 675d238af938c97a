/* loop_unroll.c - short loops are written out where that shares work or frees a longer loop for lanes.
 *
 * A reduce of a few values inside another reduce becomes the expression that its order defines, so that the outer one is
 * straight code. A for of a few iterations around reduces that mostly compute the same each time becomes reduces with as many
 * results: what does not depend on its index is computed once, and the loop around it can be lanes.
 * Keeps: every value and the order of each sum.
 */
#include "loop_edit.h"
#include "schedule.h"

#include <string.h>

enum { MOST_ITERATIONS = 4, MOST_COPIES = 256 };

/* The loop that goes, and how many iterations of it stand side by side. node->scratch is `mark` for what differs between
 * them, then the copies, one an iteration; NULL: there is one for all. */
typedef struct unroller {
  hl_kernel *kernel;
  hl_node *loop;
  int count;
  void *mark;
} unroller;

static bool is_loop(const hl_node *node)
{
  return node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD;
}

static bool has_access(const hl_node *node)
{
  return node->op == HL_LOOP_LOAD || node->op == HL_LOOP_STORE;
}

static void clear(void *user, hl_node *node)
{
  (void)user;
  node->scratch = NULL;
  if (!is_loop(node))
    return;
  for (int i = 0; i < node->loop->var_count; i++)
    node->loop->vars[i]->scratch = NULL;
  for (int i = 0; node->loop->accs && i < node->loop->result_count; i++)
    node->loop->accs[i]->scratch = NULL;
}

static bool varies(const hl_node *node)
{
  return node->scratch;
}

/* --- what differs between iterations --- */

static bool uses_varying(const hl_node *node)
{
  bool any = node->op == HL_LOOP_STORE;
  for (int i = 0; i < node->operand_count; i++)
    any |= varies(node->operands[i]);
  if (has_access(node))
    for (int i = 0; i < node->access->term_count; i++)
      any |= varies(node->access->terms[i].index);
  return any;
}

/* Whether anything in the block varies. */
static bool mark_block(const unroller *u, hl_block *block)
{
  bool any = false;
  for (hl_node *node = block->first; node; node = node->next) {
    bool here = uses_varying(node);
    if (is_loop(node)) {
      here |= mark_block(u, &node->loop->body);
      for (int i = 0; i < node->loop->yield_count; i++)
        here |= varies(node->loop->yields[i]);
    }
    node->scratch = here ? u->mark : NULL;
    any |= here;
  }
  return any;
}

/* Marks what depends on the loop's index. */
static unroller unroller_for(hl_kernel *kernel, hl_node *loop, int64_t count)
{
  unroller u = {kernel, loop, (int)count, kernel};
  for (int i = 0; i < loop->loop->var_count; i++)
    loop->loop->vars[i]->scratch = u.mark;
  mark_block(&u, &loop->loop->body);
  return u;
}

/* --- the copies --- */

static hl_node *copy_of(hl_node *node, int k)
{
  hl_node **copies = node->scratch;
  return copies ? copies[k] : node;
}

static hl_node **new_copies(const unroller *u, hl_node *node)
{
  return node->scratch = HL_ARRAY(u->kernel->arena, u->count, hl_node *);
}

/* An index that has become a number joins the constant. */
static hl_access *copy_access(const unroller *u, const hl_access *access, int k)
{
  hl_access *copy = hl_access_new(u->kernel->arena, access->param, access->constant);
  for (int i = 0; i < access->term_count; i++) {
    hl_node *index = copy_of(access->terms[i].index, k);
    if (index->op == HL_LOOP_CONST)
      copy->constant += access->terms[i].stride * (int64_t)index->bits;
    else
      hl_access_add(u->kernel->arena, copy, index, access->terms[i].stride);
  }
  return copy;
}

static hl_node *copy_plain(const unroller *u, const hl_node *node, int k)
{
  hl_arena *arena = u->kernel->arena;
  hl_node *copy = hl_arena_memdup(arena, node, sizeof *node);
  copy->id = u->kernel->next_id++;
  copy->scratch = NULL;
  copy->block = NULL;
  copy->previous = copy->next = NULL;
  copy->operands = HL_ARRAY(arena, node->operand_count + 1, hl_node *);
  for (int i = 0; i < node->operand_count; i++)
    copy->operands[i] = copy_of(node->operands[i], k);
  if (has_access(node))
    copy->access = copy_access(u, node->access, k);
  return copy;
}

/* Copies stand in the node's place. */
static void spread_plain(const unroller *u, hl_node *node)
{
  hl_node **copies = new_copies(u, node);
  for (int k = 0; k < u->count; k++) {
    copies[k] = copy_plain(u, node, k);
    hl_node_insert_before(copies[k], node);
  }
  hl_node_remove(node);
}

static void spread_yields(const unroller *u, hl_loop *loop)
{
  int n = loop->result_count, count = u->count;
  hl_combiner *combiners = HL_ARRAY(u->kernel->arena, n * count, hl_combiner);
  hl_node **yields = HL_ARRAY(u->kernel->arena, n * count, hl_node *);
  for (int i = 0; i < n * count; i++) {
    combiners[i] = loop->combiners[i / count];
    yields[i] = copy_of(loop->yields[i / count], i % count);
  }
  loop->combiners = combiners;
  loop->yields = yields;
  loop->result_count = loop->yield_count = n * count;
}

/* Result i becomes the results from i * count on. Returns what comes behind them. */
static hl_node *spread_results(const unroller *u, hl_node *loop, int result_count)
{
  hl_node **old = HL_ARRAY(u->kernel->arena, result_count, hl_node *), *node = loop->next;
  int count = 0;
  for (hl_node *next; node && node->op == HL_LOOP_RESULT && node->operands[0] == loop; node = next) {
    next = node->next;
    old[count++] = node;
    hl_node_remove(node);
  }
  hl_loop_builder at = {u->kernel, loop->block};
  for (int i = 0; i < count; i++) {
    hl_node **copies = new_copies(u, old[i]);
    for (int k = 0; k < u->count; k++)
      copies[k] = hl_loop_result(&at, loop, old[i]->index * u->count + k);
  }
  return node;
}

/* The depth is that of the nest of loops. */
static void spread_block(const unroller *u, hl_block *block)
{
  for (hl_node *node = block->first, *next; node; node = next) {
    next = node->next;
    if (!varies(node))
      continue;
    if (!is_loop(node)) {
      spread_plain(u, node);
      continue;
    }
    spread_block(u, &node->loop->body);
    if (node->op == HL_LOOP_REDUCE) {
      int count = node->loop->result_count;
      spread_yields(u, node->loop);
      next = spread_results(u, node, count);
    }
  }
}

static hl_node *put_before_loop(const unroller *u, hl_node *node)
{
  hl_node_remove(node);
  hl_node_insert_before(node, u->loop);
  return node;
}

/* Iteration k of the loop has the numbers of its place as indices, row-major. */
static void number_vars(const unroller *u)
{
  const hl_loop *loop = u->loop->loop;
  hl_loop_builder at = {u->kernel, u->loop->block};
  int64_t step = 1;
  for (int v = loop->var_count; v-- > 0; step *= loop->extents[v]) {
    hl_node **numbers = new_copies(u, loop->vars[v]);
    for (int k = 0; k < u->count; k++)
      numbers[k] = put_before_loop(u, hl_loop_const_int(&at, HL_S64, k / step % loop->extents[v]));
  }
}

/* The iterations stand in front of the loop, which is empty then. */
static void empty(const unroller *u)
{
  number_vars(u);
  spread_block(u, &u->loop->loop->body);
  for (hl_node *inner = u->loop->loop->body.first, *next; inner; inner = next) {
    next = inner->next;
    put_before_loop(u, inner);
  }
}

/* How many iterations a short loop has; 0: it is none. */
static int64_t short_count(const hl_loop *loop)
{
  int64_t count = 1;
  for (int i = 0; i < loop->var_count; i++) {
    if (loop->limits[i] || loop->extents[i] < 1 || loop->extents[i] > MOST_ITERATIONS)
      return 0;
    count *= loop->extents[i];
  }
  return count >= 2 && count <= MOST_ITERATIONS ? count : 0;
}

/* --- a reduce of a few values --- */

static bool is_short_reduce(const hl_node *node)
{
  const hl_loop *loop = node->loop;
  int nodes = 0;
  if (node->op != HL_LOOP_REDUCE || !short_count(loop))
    return false;
  for (int i = 0; i < loop->result_count; i++)
    if (loop->combiners[i].order == HL_ORDER_DOT)
      return false;
  for (const hl_node *inner = loop->body.first; inner; inner = inner->next, nodes++)
    if (is_loop(inner) || inner->op == HL_LOOP_STORE || inner->op == HL_LOOP_IF)
      return false;
  return nodes * short_count(loop) <= MOST_COPIES;
}

static hl_node *put_combined(const unroller *u, const hl_combiner *c, hl_node *x, hl_node *y)
{
  hl_loop_builder at = {u->kernel, u->loop->block};
  return put_before_loop(u, hl_loop_binary(&at, c->combine, x, y));
}

/* ROW halves its lanes, of which all but the first four are empty here; the rest goes in order. */
static hl_node *combine_few(const unroller *u, int result)
{
  const hl_loop *loop = u->loop->loop;
  const hl_combiner *c = &loop->combiners[result];
  hl_node *values[MOST_ITERATIONS] = {0};
  int count = u->count;
  for (int k = 0; k < count; k++)
    values[k] = copy_of(loop->yields[result], k);
  if (c->order == HL_ORDER_ROW) {
    for (int k = 2; k < count; k++)
      values[k - 2] = put_combined(u, c, values[k - 2], values[k]);
    count = 2;
  }
  for (int k = 1; k < count; k++)
    values[0] = put_combined(u, c, values[0], values[k]);
  return values[0];
}

static bool is_made_in(const hl_node *node, const hl_block *block)
{
  bool is_own = node->op == HL_LOOP_VAR || node->op == HL_LOOP_ACC;
  return is_own ? node->loop == block->owner->loop : node->block == block;
}

static bool needs_block(const hl_node *node, const hl_block *block)
{
  bool needs = is_loop(node) || node->op == HL_LOOP_STORE || node->op == HL_LOOP_IF || node->op == HL_LOOP_RESULT ||
               (node->op == HL_LOOP_LOAD && node->access->param->direction != HL_PARAM_IN);
  for (int i = 0; i < node->operand_count; i++)
    needs |= is_made_in(node->operands[i], block);
  for (int i = 0; has_access(node) && i < node->access->term_count; i++)
    needs |= is_made_in(node->access->terms[i].index, block);
  return needs;
}

/* With the short reduce's index gone, values may no longer depend on the loop around it either. */
static void hoist(hl_block *block)
{
  for (hl_node *node = block->first, *next; node; node = next) {
    next = node->next;
    for (hl_block *in = block; in->owner && is_loop(in->owner) && !needs_block(node, in); in = node->block) {
      hl_node_remove(node);
      hl_node_insert_before(node, in->owner);
    }
  }
}

static void write_out_reduce(hl_kernel *kernel, hl_node *node)
{
  hl_block *block = node->block;
  unroller u = unroller_for(kernel, node, short_count(node->loop));
  empty(&u);
  for (hl_node *result = node->next, *next; result && result->op == HL_LOOP_RESULT && result->operands[0] == node;
       result = next) {
    next = result->next;
    hl_replace_value(block, result, combine_few(&u, result->index));
    hl_node_remove(result);
  }
  hl_node_remove(node);
  hoist(block);
}

/* --- a for of a few iterations --- */

/* What stands in the body of the for. */
typedef struct contents {
  int copied;      /* nodes that vary */
  bool has_reduce; /* that varies */
  bool has_for;
  bool fits;
} contents;

static void look_at_loop(const hl_node *node, contents *c)
{
  const hl_loop *loop = node->loop;
  c->fits &= node->op != HL_LOOP_FOLD && !loop->is_ordered && loop->jam < 2;
  c->has_for |= node->op == HL_LOOP_FOR;
  c->has_reduce |= node->op == HL_LOOP_REDUCE && varies(node);
  for (int i = 0; i < loop->var_count; i++)
    c->fits &= !loop->limits[i];
  for (int i = 0; node->op == HL_LOOP_REDUCE && i < loop->result_count; i++)
    c->fits &= loop->combiners[i].order != HL_ORDER_DOT;
}

/* Stores change their order: nothing may read what they write, and no loop may need them in its iterations. */
static void look_at_block(const hl_block *block, contents *c)
{
  for (const hl_node *node = block->first; node; node = node->next) {
    c->copied += varies(node) && !is_loop(node);
    c->fits &= node->op != HL_LOOP_IF;
    if (node->op == HL_LOOP_STORE)
      c->fits &= node->access->param->direction == HL_PARAM_OUT && block->owner->op == HL_LOOP_FOR;
    if (!is_loop(node))
      continue;
    look_at_loop(node, c);
    look_at_block(&node->loop->body, c);
  }
}

/* At least half of what an iteration computes is the same in all of them. */
static bool shares_work(const unroller *u, const hl_block *body)
{
  int64_t work = hl_block_work(body, NULL);
  return hl_block_work(body, u->mark) >= work - work / 2;
}

/* Another loop must be there for lanes and threads. */
static bool is_worth_writing_out(const unroller *u, const hl_node *node)
{
  contents c = {.fits = !node->loop->is_ordered && node->loop->jam < 2};
  look_at_block(&node->loop->body, &c);
  c.has_for |= node->block->owner != NULL;
  return c.fits && c.has_reduce && c.has_for && c.copied * u->count <= MOST_COPIES && shares_work(u, &node->loop->body);
}

static void try_for(hl_kernel *kernel, hl_node *node)
{
  if (!short_count(node->loop))
    return;
  unroller u = unroller_for(kernel, node, short_count(node->loop));
  if (is_worth_writing_out(&u, node)) {
    empty(&u);
    hl_node_remove(node);
  }
  hl_block_walk(&kernel->body, clear, NULL);
}

static void write_out_block(hl_kernel *kernel, hl_block *block, bool is_in_reduce)
{
  for (hl_node *node = block->first, *next; node; node = next) {
    next = node->next;
    if (!is_loop(node))
      continue;
    write_out_block(kernel, &node->loop->body, is_in_reduce || node->op == HL_LOOP_REDUCE);
    if (is_in_reduce && is_short_reduce(node)) {
      while (next && next->op == HL_LOOP_RESULT)
        next = next->next;
      write_out_reduce(kernel, node);
    } else if (node->op == HL_LOOP_FOR) {
      try_for(kernel, node);
    }
  }
}

void hl_kernel_write_out(hl_kernel *kernel)
{
  hl_block_walk(&kernel->body, clear, NULL);
  write_out_block(kernel, &kernel->body, false);
}
