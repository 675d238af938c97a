/* loop_edit.c - walking, cleaning and copying kernels.
 *
 * Recursion follows the nesting of blocks, which lowering keeps below HL_LIMIT_RANK levels.
 */
#include "loop_edit.h"

#include <string.h>

static bool has_loop(const hl_node *node)
{
  return node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD;
}

static bool has_access(const hl_node *node)
{
  return node->op == HL_LOOP_LOAD || node->op == HL_LOOP_STORE;
}

void hl_node_walk(hl_node *node, hl_node_visitor *visit, void *user)
{
  visit(user, node);
  if (has_loop(node)) {
    hl_block_walk(&node->loop->body, visit, user);
  } else if (node->op == HL_LOOP_IF) {
    hl_block_walk(&node->branch->then, visit, user);
    hl_block_walk(&node->branch->otherwise, visit, user);
  }
}

void hl_block_walk(hl_block *block, hl_node_visitor *visit, void *user)
{
  for (hl_node *node = block->first, *next; node; node = next) {
    next = node->next;
    hl_node_walk(node, visit, user);
  }
}

/* Calls visit on every place where a node names another as a plain value. */
typedef void use_visitor(void *user, hl_node **place);

static void visit_uses(hl_node *node, use_visitor *visit, void *user)
{
  for (int i = 0; i < node->operand_count; i++)
    visit(user, &node->operands[i]);
  if (!has_loop(node))
    return;
  hl_loop *loop = node->loop;
  for (int i = 0; i < loop->var_count; i++)
    if (loop->limits[i])
      visit(user, &loop->limits[i]);
  for (int i = 0; i < loop->yield_count; i++)
    visit(user, &loop->yields[i]);
}

/* What a block that is the body of a loop yields belongs to it: a walk over the block does not come by. */
static void visit_yields(hl_block *block, use_visitor *visit, void *user)
{
  hl_node *owner = block->owner;
  for (int i = 0; owner && has_loop(owner) && i < owner->loop->yield_count; i++)
    visit(user, &owner->loop->yields[i]);
}

typedef struct counting {
  const hl_node *value;
  hl_use_count count;
} counting;

static void count_place(void *user, hl_node **place)
{
  counting *c = user;
  c->count.plain += *place == c->value;
}

static void count_node(void *user, hl_node *node)
{
  counting *c = user;
  visit_uses(node, count_place, c);
  if (has_access(node))
    for (int i = 0; i < node->access->term_count; i++)
      c->count.in_access += node->access->terms[i].index == c->value;
}

hl_use_count hl_count_uses(hl_block *block, const hl_node *value)
{
  counting c = {.value = value};
  hl_block_walk(block, count_node, &c);
  visit_yields(block, count_place, &c);
  return c.count;
}

typedef struct replacing {
  hl_arena *arena;
  hl_node *old, *with;
  int64_t scale;
} replacing;

static void replace_place(void *user, hl_node **place)
{
  const replacing *r = user;
  if (*place == r->old)
    *place = r->with;
}

static int find_term(const hl_access *access, const hl_node *index)
{
  for (int i = 0; i < access->term_count; i++)
    if (access->terms[i].index == index)
      return i;
  return -1;
}

/* Where `with` is an index already, the strides become one: an index stands once. */
static void replace_index(hl_access *access, const replacing *r)
{
  int at = find_term(access, r->old);
  if (at < 0)
    return;
  if (find_term(access, r->with) < 0) {
    access->terms[at].index = r->with;
    return;
  }
  int64_t stride = access->terms[at].stride;
  hl_access_drop(access, at);
  hl_access_add(NULL, access, r->with, stride); /* it is there: nothing grows */
}

static void replace_node(void *user, hl_node *node)
{
  replacing *r = user;
  visit_uses(node, replace_place, r);
  if (has_access(node))
    replace_index(node->access, r);
}

void hl_replace_value(hl_block *block, hl_node *old, hl_node *with)
{
  replacing r = {.old = old, .with = with};
  hl_block_walk(block, replace_node, &r);
  visit_yields(block, replace_place, &r);
}

static void replace_plain_node(void *user, hl_node *node)
{
  visit_uses(node, replace_place, user);
}

void hl_replace_plain(hl_block *block, hl_node *old, hl_node *with)
{
  replacing r = {.old = old, .with = with};
  hl_block_walk(block, replace_plain_node, &r);
  visit_yields(block, replace_place, &r);
}

static void shift_node(void *user, hl_node *node)
{
  const replacing *r = user;
  if (!has_access(node))
    return;
  for (int i = 0, n = node->access->term_count; i < n; i++)
    if (node->access->terms[i].index == r->old)
      hl_access_add(r->arena, node->access, r->with, node->access->terms[i].stride * r->scale);
}

void hl_shift_index(hl_arena *arena, hl_block *block, hl_node *old, hl_node *extra, int64_t scale)
{
  replacing r = {arena, old, extra, scale};
  hl_block_walk(block, shift_node, &r);
}

/* --- dead code: backwards, marking what live nodes use (node->scratch) --- */

static void mark_place(void *user, hl_node **place)
{
  (*place)->scratch = user;
}

static void unmark(void *user, hl_node *node)
{
  (void)user;
  node->scratch = NULL;
}

static bool sweep_block(hl_block *block, void *mark);

/* Whether the node stays; marks what it uses. */
static bool sweep_node(hl_node *node, void *mark)
{
  bool is_live = node->scratch == mark || node->op == HL_LOOP_STORE;
  if (has_loop(node)) {
    if (is_live)
      for (int i = 0; i < node->loop->yield_count; i++)
        mark_place(mark, &node->loop->yields[i]);
    is_live |= sweep_block(&node->loop->body, mark);
  } else if (node->op == HL_LOOP_IF) {
    is_live = sweep_block(&node->branch->then, mark);
    is_live |= sweep_block(&node->branch->otherwise, mark);
  }
  if (!is_live)
    return false;
  visit_uses(node, mark_place, mark);
  if (has_access(node))
    for (int i = 0; i < node->access->term_count; i++)
      node->access->terms[i].index->scratch = mark;
  return true;
}

/* Whether something with an effect stays in the block. */
static bool sweep_block(hl_block *block, void *mark)
{
  bool has_effect = false;
  for (hl_node *node = block->last, *previous; node; node = previous) {
    previous = node->previous;
    if (!sweep_node(node, mark))
      hl_node_remove(node);
    else
      has_effect |= node->op == HL_LOOP_STORE || has_loop(node) || node->op == HL_LOOP_IF;
  }
  return has_effect;
}

/* A reduce with stores inside keeps its yields alive: its results may be dead, its body must still be whole. */
static void mark_yields_of_effects(void *user, hl_node *node)
{
  (void)user;
  if (node->op != HL_LOOP_STORE)
    return;
  for (hl_node *owner = node->block->owner; owner; owner = owner->block->owner)
    if (owner->op == HL_LOOP_REDUCE || owner->op == HL_LOOP_FOLD)
      owner->scratch = user;
}

void hl_kernel_dce(hl_kernel *kernel)
{
  hl_block_walk(&kernel->body, unmark, NULL);
  hl_block_walk(&kernel->body, mark_yields_of_effects, kernel);
  sweep_block(&kernel->body, kernel);
}

/* --- equal values --- */

enum { CSE_WINDOW = 48 }; /* nodes looked back: equal values stand close together */

static bool equal_access(const hl_access *a, const hl_access *b)
{
  if (a->param != b->param || a->constant != b->constant || a->term_count != b->term_count)
    return false;
  return a->term_count == 0 ||
         memcmp(a->terms, b->terms, (size_t)a->term_count * sizeof *a->terms) == 0;
}

static bool equal_payload(const hl_node *a, const hl_node *b)
{
  switch (a->op) {
  case HL_LOOP_CONST:
    return a->bits == b->bits;
  case HL_LOOP_MATH:
    return a->math == b->math;
  case HL_LOOP_PRECISION:
    return a->precision.exponent_bits == b->precision.exponent_bits &&
           a->precision.mantissa_bits == b->precision.mantissa_bits;
  case HL_LOOP_LOAD:
    return equal_access(a->access, b->access);
  case HL_LOOP_RESULT:
    return a->index == b->index;
  default:
    return true;
  }
}

static bool equal_nodes(const hl_node *a, const hl_node *b)
{
  if (a->op != b->op || a->type != b->type || a->operand_count != b->operand_count)
    return false;
  for (int i = 0; i < a->operand_count; i++)
    if (a->operands[i] != b->operands[i])
      return false;
  return equal_payload(a, b);
}

static bool is_value(const hl_node *node)
{
  return !has_loop(node) && node->op != HL_LOOP_STORE && node->op != HL_LOOP_IF;
}

static hl_node *earlier_equal(const hl_node *node)
{
  int looked = 0;
  for (hl_node *e = node->previous; e && looked < CSE_WINDOW; e = e->previous, looked++) {
    if (is_value(e) && equal_nodes(e, node))
      return e;
    bool may_write = !is_value(e) && e->op != HL_LOOP_STORE;
    if (node->op == HL_LOOP_LOAD && (may_write || (e->op == HL_LOOP_STORE &&
                                                   e->access->param == node->access->param)))
      return NULL;
  }
  return NULL;
}

static void cse_block(hl_kernel *kernel, hl_block *block)
{
  for (hl_node *node = block->first, *next; node; node = next) {
    next = node->next;
    if (has_loop(node)) {
      cse_block(kernel, &node->loop->body);
      continue;
    }
    hl_node *same = is_value(node) ? earlier_equal(node) : NULL;
    if (!same)
      continue;
    hl_replace_value(block, node, same);
    hl_node_remove(node);
  }
}

void hl_kernel_cse(hl_kernel *kernel)
{
  cse_block(kernel, &kernel->body);
}

void hl_node_place_result(hl_node *result)
{
  hl_node *at = result->operands[0]->next;
  while (at && at != result && at->op == HL_LOOP_RESULT &&
         at->operands[0] == result->operands[0] && at->index < result->index)
    at = at->next;
  if (!at || at == result)
    return;
  hl_node_remove(result);
  hl_node_insert_before(result, at);
}

void hl_reduce_to_fold(hl_kernel *kernel, hl_node *reduce, hl_node *const *inits)
{
  hl_loop *loop = reduce->loop;
  hl_loop_builder at = {kernel, &loop->body};
  int n = loop->result_count;
  reduce->op = HL_LOOP_FOLD;
  reduce->operands = hl_arena_memdup(kernel->arena, inits, (size_t)n * sizeof *inits);
  reduce->operand_count = n;
  loop->accs = HL_ARRAY(kernel->arena, n, hl_node *);
  for (int i = 0; i < n; i++) {
    hl_node *acc = HL_NEW(kernel->arena, hl_node);
    *acc = (hl_node){.op = HL_LOOP_ACC, .type = loop->combiners[i].type, .id = kernel->next_id++,
                     .loop = loop, .index = i, .range = reduce->range};
    loop->accs[i] = acc;
    loop->yields[i] = hl_loop_binary(&at, loop->combiners[i].combine, acc, loop->yields[i]);
  }
  loop->combiners = NULL;
}

/* --- copies: each old node points to its new one through node->scratch --- */

typedef struct cloning {
  hl_arena *arena;
  const hl_kernel *from;
  hl_kernel *to;
} cloning;

static hl_node *copied(const hl_node *node)
{
  return node->scratch;
}

static hl_node *copy_plain(cloning *c, hl_node *node)
{
  hl_node *copy = hl_arena_memdup(c->arena, node, sizeof *node);
  copy->id = c->to->next_id++;
  copy->block = NULL;
  copy->previous = copy->next = NULL;
  copy->scratch = NULL;
  node->scratch = copy;
  return copy;
}

static hl_node **copy_list(cloning *c, hl_node **list, int count)
{
  hl_node **copy = HL_ARRAY(c->arena, count + 1, hl_node *);
  for (int i = 0; i < count; i++)
    copy[i] = list[i] ? copied(list[i]) : NULL;
  return copy;
}

static hl_access *copy_access(cloning *c, const hl_access *access)
{
  int at = 0;
  while (c->from->params[at] != access->param)
    at++;
  hl_access *copy = hl_access_new(c->arena, c->to->params[at], access->constant);
  for (int i = 0; i < access->term_count; i++)
    hl_access_add(c->arena, copy, copied(access->terms[i].index), access->terms[i].stride);
  return copy;
}

static void copy_block(cloning *c, hl_block *to, hl_node *owner, const hl_block *from);

static hl_loop *copy_loop(cloning *c, hl_node *owner, const hl_loop *loop)
{
  hl_loop *copy = hl_arena_memdup(c->arena, loop, sizeof *loop);
  copy->vars = HL_ARRAY(c->arena, loop->var_count + 1, hl_node *);
  for (int i = 0; i < loop->var_count; i++) {
    copy->vars[i] = copy_plain(c, loop->vars[i]);
    copy->vars[i]->loop = copy;
  }
  copy->extents = hl_arena_memdup(c->arena, loop->extents, (size_t)loop->var_count * sizeof(int64_t));
  copy->limits = copy_list(c, loop->limits, loop->var_count);
  copy->accs = loop->accs ? HL_ARRAY(c->arena, loop->result_count + 1, hl_node *) : NULL;
  for (int i = 0; loop->accs && i < loop->result_count; i++) {
    copy->accs[i] = copy_plain(c, loop->accs[i]);
    copy->accs[i]->loop = copy;
  }
  copy_block(c, &copy->body, owner, &loop->body);
  copy->yields = copy_list(c, loop->yields, loop->yield_count);
  return copy;
}

static void copy_block(cloning *c, hl_block *to, hl_node *owner, const hl_block *from)
{
  *to = (hl_block){.owner = owner};
  for (hl_node *node = from->first; node; node = node->next) {
    hl_node *copy = copy_plain(c, node);
    copy->operands = copy_list(c, node->operands, node->operand_count);
    hl_node_append(copy, to);
    if (has_access(node)) {
      copy->access = copy_access(c, node->access);
    } else if (has_loop(node)) {
      copy->loop = copy_loop(c, copy, node->loop);
    } else if (node->op == HL_LOOP_IF) {
      copy->branch = HL_NEW(c->arena, hl_branch);
      copy_block(c, &copy->branch->then, copy, &node->branch->then);
      copy_block(c, &copy->branch->otherwise, copy, &node->branch->otherwise);
    }
  }
}

hl_kernel *hl_kernel_clone(const hl_kernel *kernel, const char *name, const hl_node *follow,
                           hl_node **followed)
{
  cloning c = {kernel->arena, kernel, hl_kernel_new(kernel->arena, name)};
  c.to->range = kernel->range;
  c.to->origins = kernel->origins;
  c.to->origin_count = kernel->origin_count;
  for (int i = 0; i < kernel->param_count; i++) {
    const hl_param *param = kernel->params[i];
    hl_kernel_add_param(c.to, param->name, param->direction, param->type, param->rank,
                        param->dimensions);
  }
  copy_block(&c, &c.to->body, NULL, &kernel->body);
  if (follow)
    *followed = copied(follow);
  return c.to;
}
