/* loop_split.c - cutting loops in blocks, and reductions at the blocks that their order defines.
 *
 * ROW of more than 4096 values is ROW of the ROWs of blocks of 4096, COL of more than 256 likewise (numerics.md rule 4), a product
 * adds the sums of blocks of 1024 one after the other (rule 8): so a kernel that stores the blocks' values and one that combines
 * them give the same bits, and blocks are what threads share. Products of few results and a long sum also keep the rows of a block
 * in the cache for all results.
 */
#include "lower_dot.h"
#include "schedule.h"

#include <string.h>

enum {
  ROW_BLOCK = 4096,
  COL_BLOCK = 256,
  DOT_BLOCKS = 16,        /* from which on products of up to DOT_RESULTS results are cut */
  DOT_RESULTS = 1 << 16,
  COL_STEP = 8,           /* rows added at once to a row of accumulators */
  FEW_RESULTS = 16,       /* rows from which on threads share rows instead */
  MANY_COLUMNS = 1024,    /* from which on threads share columns where nothing is streamed */
  MIN_ELEMENTS = 1 << 16
};

static hl_loop_builder at_block(hl_kernel *kernel, hl_block *block)
{
  return (hl_loop_builder){kernel, block};
}

static hl_node *put_before(hl_node *node, hl_node *before)
{
  if (before) {
    hl_node_remove(node);
    hl_node_insert_before(node, before);
  }
  return node;
}

static void move_to_end(hl_node *node, hl_block *block)
{
  hl_node_remove(node);
  hl_node_append(node, block);
}

void hl_offset_var(hl_kernel *kernel, hl_loop *loop, int v, hl_node *b, int64_t size)
{
  hl_node *var = loop->vars[v];
  bool is_plain = hl_count_uses(&loop->body, var).plain > 0;
  hl_shift_index(kernel->arena, &loop->body, var, b, size);
  if (!is_plain)
    return;
  hl_node *first = loop->body.first;
  hl_loop_builder at = at_block(kernel, &loop->body);
  hl_node *scale = put_before(hl_loop_const_int(&at, HL_S64, size), first);
  hl_node *start = put_before(hl_loop_binary(&at, HL_LOOP_MUL, b, scale), first);
  hl_node *whole = put_before(hl_loop_binary(&at, HL_LOOP_ADD, start, var), first);
  hl_replace_plain(&loop->body, var, whole);
  whole->operands[1] = var;
}

/* Limits a var to min(size, n - size * b); nodes go before `before`. */
static void limit_var(hl_kernel *kernel, hl_loop *loop, int v, hl_node *b, int64_t size,
                      hl_node *before)
{
  int64_t n = loop->extents[v];
  loop->extents[v] = size < n ? size : n;
  if (n % size == 0 || size >= n)
    return;
  hl_loop_builder at = at_block(kernel, before->block);
  hl_node *scale = put_before(hl_loop_const_int(&at, HL_S64, size), before);
  hl_node *all = put_before(hl_loop_const_int(&at, HL_S64, n), before);
  hl_node *start = put_before(hl_loop_binary(&at, HL_LOOP_MUL, b, scale), before);
  loop->limits[v] = put_before(hl_loop_binary(&at, HL_LOOP_SUB, all, start), before);
}

hl_node *hl_split_for(hl_kernel *kernel, hl_node *node, int64_t chunk)
{
  int64_t n = node->loop->extents[0];
  if (chunk >= n)
    chunk = n;
  hl_loop_builder at = at_block(kernel, node->block);
  hl_node *outer = hl_loop_for(&at, HL_MODE_SERIAL, (n + chunk - 1) / chunk, NULL);
  put_before(outer, node);
  move_to_end(node, &outer->loop->body);
  hl_offset_var(kernel, node->loop, 0, hl_loop_var(outer, 0), chunk);
  limit_var(kernel, node->loop, 0, hl_loop_var(outer, 0), chunk, node);
  return outer;
}

/* --- reductions --- */

/* A reduction to cut: the loops around it from outside in. */
typedef struct target {
  hl_node *reduce;
  hl_node *around[8];
  int around_count;
  int64_t outputs, block;
} target;

static bool is_dot(const hl_loop *loop)
{
  return loop->result_count == 1 && loop->combiners[0].order == HL_ORDER_DOT;
}

/* The blocks of a product are added in order: COL does that for as many as one of its own blocks holds. */
static int64_t block_of(const hl_loop *loop)
{
  int64_t block = 0;
  if (is_dot(loop))
    return loop->extents[0] <= HL_DOT_BLOCK * COL_BLOCK ? HL_DOT_BLOCK : 0;
  for (int i = 0; i < loop->result_count; i++) {
    hl_order order = loop->combiners[i].order;
    if (order == HL_ORDER_DOT)
      return 0;
    int64_t size = order == HL_ORDER_ROW ? ROW_BLOCK : order == HL_ORDER_COL ? COL_BLOCK : 0;
    if (size)
      block = size;
  }
  return block ? block : ROW_BLOCK;
}

static void find_store(void *user, hl_node *node)
{
  *(bool *)user |= node->op == HL_LOOP_STORE || node->op == HL_LOOP_FOLD;
}

static bool is_splittable(hl_node *node, const target *t)
{
  hl_loop *loop = node->loop;
  if (node->op != HL_LOOP_REDUCE || loop->var_count != 1 || loop->limits[0] || !block_of(loop))
    return false;
  bool has_store = false;
  hl_block_walk(&loop->body, find_store, &has_store);
  int64_t work = (hl_block_work(&loop->body, NULL) + 1) * loop->extents[0];
  int64_t blocks = loop->extents[0] / block_of(loop);
  return !has_store && blocks >= 4 && work >= MIN_ELEMENTS / (t->outputs < 64 ? t->outputs : 64);
}

/* Columns next to each other, summed over rows: rows are streamed over a row of accumulators. */
static int64_t stride_in(const hl_access *access, const hl_node *index)
{
  for (int i = 0; i < access->term_count; i++)
    if (access->terms[i].index == index)
      return access->terms[i].stride;
  return 0;
}

typedef struct column_check {
  const hl_node *column, *row;
  bool fits;
  bool streams; /* something is read that neither all columns nor all rows share */
} column_check;

static void check_column(void *user, hl_node *node)
{
  column_check *c = user;
  if (node->op == HL_LOOP_LOAD) {
    int64_t stride = stride_in(node->access, c->column);
    c->fits &= stride == 0 || stride == 1;
    c->streams |= stride == 1 && stride_in(node->access, c->row) != 0;
  }
}

static bool is_columns(const target *t)
{
  if (t->around_count != 1 || t->outputs < FEW_RESULTS)
    return false;
  column_check c = {hl_loop_var(t->around[0], 0), t->reduce->loop->vars[0], true, false};
  hl_block_walk(&t->reduce->loop->body, check_column, &c);
  bool is_col = false;
  for (int i = 0; i < t->reduce->loop->result_count; i++)
    is_col |= t->reduce->loop->combiners[i].order == HL_ORDER_COL;
  return c.fits && is_col && t->outputs >= 64 && (c.streams || t->outputs < MANY_COLUMNS);
}

static bool is_long_product(const target *t)
{
  const hl_loop *loop = t->reduce->loop;
  return is_dot(loop) && t->outputs <= DOT_RESULTS && loop->extents[0] >= DOT_BLOCKS * HL_DOT_BLOCK;
}

static bool find_target(hl_kernel *kernel, target *t)
{
  hl_block *block = &kernel->body;
  *t = (target){.outputs = 1};
  for (;;) {
    hl_node *inner = NULL;
    for (hl_node *node = block->first; node; node = node->next) {
      t->reduce = node;
      if (is_splittable(node, t) && (t->outputs < FEW_RESULTS || is_columns(t) || is_long_product(t))) {
        t->block = block_of(node->loop);
        return true;
      }
      if (node->op == HL_LOOP_FOR)
        inner = inner ? node : node;
    }
    if (!inner || t->around_count == 8 || inner->loop->limits[0])
      return false;
    t->around[t->around_count++] = inner;
    t->outputs *= inner->loop->extents[0];
    block = &inner->loop->body;
  }
}

/* Where the value of block b of the reduce belongs in its array [blocks, loops around...]. */
static hl_access *partial_access(hl_arena *arena, hl_param *param, const target *t, hl_node *b)
{
  hl_access *access = hl_access_new(arena, param, 0);
  hl_access_add(arena, access, b, t->outputs);
  int64_t stride = 1;
  for (int i = t->around_count; i-- > 0;) {
    hl_access_add(arena, access, hl_loop_var(t->around[i], 0), stride);
    stride *= t->around[i]->loop->extents[0];
  }
  return access;
}

static hl_param *add_partial(hl_step *step, hl_buffer *buffer, hl_direction_of_param direction)
{
  hl_kernel *kernel = step->kernel;
  hl_buffer **buffers = HL_ARRAY(kernel->arena, kernel->param_count + 1, hl_buffer *);
  memcpy(buffers, step->buffers, (size_t)kernel->param_count * sizeof *buffers);
  buffers[kernel->param_count] = buffer;
  step->buffers = buffers;
  return hl_kernel_add_param(kernel, buffer->name, direction, buffer->type, buffer->rank,
                             buffer->dimensions);
}

static hl_buffer *partial_buffer(hl_program *program, const hl_kernel *kernel, const target *t,
                                 hl_element_type type, int64_t blocks)
{
  int64_t *dims = HL_ARRAY(program->arena, 2, int64_t);
  dims[0] = blocks;
  dims[1] = t->outputs;
  hl_buffer buffer = {.name = hl_arena_printf(program->arena, "%s.blocks", kernel->name),
                      .kind = HL_BUFFER_TEMP, .type = type, .rank = 2, .dimensions = dims,
                      .bytes = blocks * t->outputs * hl_type_bytes(type), .offset = -1};
  return hl_program_add_buffer(program, buffer);
}

static void remove_store(void *user, hl_node *node)
{
  (void)user;
  if (node->op == HL_LOOP_STORE)
    hl_node_remove(node);
}

/* Puts everything in the kernel's body under a new outermost loop over blocks. */
static hl_node *wrap(hl_kernel *kernel, int64_t blocks)
{
  hl_block body = kernel->body;
  kernel->body = (hl_block){NULL, NULL, NULL};
  hl_loop_builder at = at_block(kernel, &kernel->body);
  hl_node *outer = hl_loop_for(&at, HL_MODE_SERIAL, blocks, NULL);
  outer->loop->body.first = body.first;
  outer->loop->body.last = body.last;
  for (hl_node *node = body.first; node; node = node->next)
    node->block = &outer->loop->body;
  return outer;
}

static void store_blocks(hl_step *step, target *t, hl_buffer **buffers, hl_param **params)
{
  hl_kernel *kernel = step->kernel;
  hl_loop *loop = t->reduce->loop;
  int64_t n = loop->extents[0], blocks = (n + t->block - 1) / t->block;
  hl_block_walk(&kernel->body, remove_store, NULL);
  hl_node *outer = wrap(kernel, blocks);
  hl_node *b = hl_loop_var(outer, 0);
  hl_offset_var(kernel, loop, 0, b, t->block);
  limit_var(kernel, loop, 0, b, t->block, t->reduce);
  hl_loop_builder at = at_block(kernel, t->reduce->block);
  for (int i = 0; i < loop->result_count; i++) {
    params[i] = add_partial(step, buffers[i], HL_PARAM_OUT);
    hl_node *value = hl_loop_result(&at, t->reduce, i);
    hl_loop_store(&at, partial_access(kernel->arena, params[i], t, b), value, NULL);
  }
}

static void combine_blocks(hl_step *step, target *t, hl_buffer **buffers)
{
  hl_kernel *kernel = step->kernel;
  hl_loop *loop = t->reduce->loop;
  loop->extents[0] = (loop->extents[0] + t->block - 1) / t->block;
  loop->body.first = loop->body.last = NULL;
  if (is_dot(loop)) {
    loop->combiners = hl_arena_memdup(kernel->arena, loop->combiners, sizeof *loop->combiners);
    loop->combiners[0].order = HL_ORDER_COL;
    loop->yield_count = 1;
  }
  hl_loop_builder at = at_block(kernel, &loop->body);
  for (int i = 0; i < loop->result_count; i++) {
    hl_param *param = add_partial(step, buffers[i], HL_PARAM_IN);
    hl_access *access = partial_access(kernel->arena, param, t, loop->vars[0]);
    loop->yields[i] = hl_loop_load(&at, access, NULL, NULL);
  }
}

static hl_node *identity_of(hl_loop_builder *at, hl_combiner combiner)
{
  bool is_float = hl_is_float(combiner.type);
  switch (combiner.combine) {
  case HL_LOOP_ADD:
    return is_float ? hl_loop_const_float(at, combiner.type, -0.0)
                    : hl_loop_const_int(at, combiner.type, 0);
  case HL_LOOP_MUL:
    return is_float ? hl_loop_const_float(at, combiner.type, 1)
                    : hl_loop_const_int(at, combiner.type, 1);
  default:
    return NULL;
  }
}

static bool has_identities(const hl_loop *loop)
{
  for (int i = 0; i < loop->result_count; i++)
    if (loop->combiners[i].combine != HL_LOOP_ADD && loop->combiners[i].combine != HL_LOOP_MUL)
      return false;
  return true;
}

/* for c: reduce r in 0..rows: x   ->   for c: row[c] := e;  for step: for c: row[c] := fold of 8 rows from row[c] */
static void stream_rows(hl_kernel *kernel, target *t, hl_param **params)
{
  hl_node *columns = t->around[0], *outer = columns->block->owner, *b = hl_loop_var(outer, 0);
  hl_loop *reduce = t->reduce->loop;
  if (!has_identities(reduce) || reduce->extents[0] % COL_STEP || reduce->limits[0])
    return;
  hl_loop_builder at = at_block(kernel, columns->block);
  hl_node *clear = hl_loop_for(&at, HL_MODE_SERIAL, t->outputs, NULL);
  put_before(clear, columns);
  hl_node *steps = hl_loop_for(&at, HL_MODE_SERIAL, reduce->extents[0] / COL_STEP, NULL);
  put_before(steps, columns);
  target clear_target = *t;
  clear_target.around[0] = clear;
  hl_node **inits = HL_ARRAY(kernel->arena, reduce->result_count, hl_node *);
  hl_loop_builder in_clear = at_block(kernel, &clear->loop->body);
  hl_loop_builder in_columns = at_block(kernel, t->reduce->block);
  for (int i = 0; i < reduce->result_count; i++) {
    params[i]->direction = HL_PARAM_INOUT;
    hl_loop_store(&in_clear, partial_access(kernel->arena, params[i], &clear_target, b),
                  identity_of(&in_clear, reduce->combiners[i]), NULL);
    hl_access *access = partial_access(kernel->arena, params[i], t, b);
    inits[i] = put_before(hl_loop_load(&in_columns, access, NULL, NULL), t->reduce);
  }
  move_to_end(columns, &steps->loop->body);
  hl_offset_var(kernel, reduce, 0, hl_loop_var(steps, 0), COL_STEP);
  reduce->extents[0] = COL_STEP;
  hl_reduce_to_fold(kernel, t->reduce, inits);
}

/* What the kernel of the blocks computes: the same, but what it stores are sums of blocks. */
static const hl_origin *partial_origins(hl_arena *arena, const hl_kernel *kernel)
{
  hl_origin *origins = HL_ARRAY(arena, kernel->origin_count + 1, hl_origin);
  for (int i = 0; i < kernel->origin_count; i++) {
    origins[i] = kernel->origins[i];
    if (origins[i].stored)
      origins[i].stored = "its blocks alone, which the next step combines";
  }
  return origins;
}

bool hl_split_reduces(hl_program *program, hl_step *step)
{
  target t;
  if (!find_target(step->kernel, &t))
    return false;
  hl_kernel *kernel = step->kernel;
  hl_loop *loop = t.reduce->loop;
  int64_t blocks = (loop->extents[0] + t.block - 1) / t.block;
  hl_buffer **buffers = HL_ARRAY(program->arena, loop->result_count, hl_buffer *);
  for (int i = 0; i < loop->result_count; i++)
    buffers[i] = partial_buffer(program, kernel, &t, loop->combiners[i].type, blocks);
  hl_step *second = HL_NEW(program->arena, hl_step);
  *second = *step;
  step->next = second;
  target first = t;
  const char *name = hl_arena_printf(program->arena, "%s.blocks", kernel->name);
  hl_node *followed[9];
  step->kernel = hl_kernel_clone(kernel, name, t.reduce, &followed[0]);
  step->kernel->origins = partial_origins(program->arena, kernel);
  first.reduce = followed[0];
  hl_node *owner = first.reduce->block->owner;
  for (int i = t.around_count; i-- > 0; owner = owner->block->owner)
    first.around[i] = owner;
  hl_param **params = HL_ARRAY(program->arena, loop->result_count, hl_param *);
  bool columns = is_columns(&t);
  store_blocks(step, &first, buffers, params);
  hl_kernel_dce(step->kernel);
  if (columns)
    stream_rows(step->kernel, &first, params);
  hl_prune_params(step);
  combine_blocks(second, &t, buffers);
  hl_kernel_dce(second->kernel);
  hl_prune_params(second);
  return true;
}
