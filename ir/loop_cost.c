/* loop_cost.c - counts operations, and the elements that accesses reach.
 *
 * An access reaches as many elements as its variables have values together, at most those between its ends and those of the array.
 * Accesses of one array that differ in nothing but the loops' names reach the same elements; others are taken to reach different
 * ones, up to the whole array. That is exact for dense loops and an upper bound for windows and computed indices.
 */
#include "loop_cost.h"

#include <math.h>
#include <string.h>

/* A set of elements of a buffer: constant + sum(stride * 0..extent-1). */
typedef struct footprint {
  struct footprint *next;
  int64_t constant;
  int count;
  struct walk {
    double stride, extent;
  } *walks; /* large strides first */
  double bytes;
} footprint;

/* What is read or written of one buffer. */
typedef struct reached {
  struct reached *next;
  const hl_buffer *buffer;
  bool is_written;
  footprint *prints;
  double bytes;
} reached;

struct hl_traffic {
  hl_arena *arena;
  hl_map by_buffer[2]; /* reads, writes; by address */
  reached *first;
};

typedef struct counter {
  hl_traffic *all, *own; /* of the program so far, of this step */
  const hl_step *step;
  hl_cost cost;
} counter;

hl_traffic *hl_traffic_new(hl_arena *arena)
{
  hl_traffic *traffic = HL_NEW(arena, hl_traffic);
  *traffic = (hl_traffic){.arena = arena, .by_buffer = {{.arena = arena}, {.arena = arena}}};
  return traffic;
}

/* --- iterations --- */

static bool constant_of(const hl_node *node, double *value)
{
  *value = (double)(int64_t)node->bits;
  return node->op == HL_LOOP_CONST && node->type == HL_S64;
}

/* A loop over blocks of n: limit = n - block * size, over all blocks n iterations together. */
static bool is_block_limit(const hl_node *limit, double *n, double *blocks)
{
  double size;
  if (limit->op != HL_LOOP_SUB || !constant_of(limit->operands[0], n) ||
      limit->operands[1]->op != HL_LOOP_MUL)
    return false;
  const hl_node *block = limit->operands[1]->operands[0];
  if (block->op != HL_LOOP_VAR || block->loop->limits[block->index] ||
      !constant_of(limit->operands[1]->operands[1], &size))
    return false;
  *blocks = (double)block->loop->extents[block->index];
  return size * *blocks >= *n && size * (*blocks - 1) < *n;
}

/* How often variable `var` of the loop runs, on the average. */
static double iterations_of(counter *c, const hl_loop *loop, int var)
{
  double n, blocks;
  if (!loop->limits[var])
    return (double)loop->extents[var];
  if (is_block_limit(loop->limits[var], &n, &blocks))
    return n / blocks;
  c->cost.is_bound = true;
  return (double)loop->extents[var];
}

static double all_iterations(counter *c, const hl_loop *loop)
{
  double n = 1;
  for (int i = 0; i < loop->var_count; i++)
    n *= iterations_of(c, loop, i);
  return n;
}

/* --- memory --- */

static void add_walk(footprint *print, double stride, double extent)
{
  int at = print->count++;
  for (; at > 0 && (print->walks[at - 1].stride < stride); at--)
    print->walks[at] = print->walks[at - 1];
  print->walks[at] = (struct walk){stride, extent};
}

static bool same_print(const footprint *a, const footprint *b)
{
  return a->constant == b->constant && a->count == b->count &&
         !memcmp(a->walks, b->walks, (size_t)a->count * sizeof *a->walks);
}

static reached *reached_of(hl_traffic *traffic, const hl_buffer *buffer, bool is_written)
{
  hl_map *map = &traffic->by_buffer[is_written];
  reached *known = hl_map_get(map, (const char *)&buffer, sizeof buffer);
  if (known)
    return known;
  reached *r = HL_NEW(traffic->arena, reached);
  *r = (reached){.next = traffic->first, .buffer = buffer, .is_written = is_written};
  hl_map_set(map, (const char *)&r->buffer, sizeof r->buffer, r);
  return traffic->first = r;
}

static void add_print(hl_traffic *traffic, const hl_buffer *buffer, bool is_written, footprint print)
{
  reached *r = reached_of(traffic, buffer, is_written);
  for (const footprint *known = r->prints; known; known = known->next)
    if (same_print(known, &print))
      return;
  print.next = r->prints;
  r->prints = hl_arena_memdup(traffic->arena, &print, sizeof print);
  r->bytes = fmin(r->bytes + print.bytes, (double)buffer->bytes);
}

static void add_to_both(counter *c, const hl_buffer *buffer, bool is_written, footprint print)
{
  add_print(c->own, buffer, is_written, print);
  add_print(c->all, buffer, is_written, print);
}

static const hl_buffer *buffer_of(const counter *c, const hl_param *param)
{
  int i = 0;
  while (c->step->kernel->params[i] != param)
    i++;
  return c->step->buffers[i];
}

/* Elements that the access reaches when it runs `times` times. */
static void reach(counter *c, const hl_node *node, double times)
{
  const hl_access *access = node->access;
  double product = 1, span = 1, all = (double)access->param->count;
  footprint print = {.constant = access->constant};
  bool is_written = node->op == HL_LOOP_STORE;
  c->cost.is_bound |= node->operand_count > (is_written ? 1 : 0);
  print.walks = HL_ARRAY(c->all->arena, access->term_count + 1, struct walk);
  for (int i = 0; i < access->term_count; i++) {
    const hl_node *index = access->terms[i].index;
    double stride = fabs((double)access->terms[i].stride);
    if (index->op != HL_LOOP_VAR) {
      c->cost.is_bound = true;
      product = times;
      span = all;
      continue;
    }
    double extent = iterations_of(c, index->loop, index->index);
    add_walk(&print, stride, extent);
    product *= extent;
    span += stride * (extent - 1);
  }
  double elements = fmin(fmin(product, times), fmin(span, all));
  print.bytes = elements * hl_type_bytes(access->param->type);
  add_to_both(c, buffer_of(c, access->param), is_written, print);
}

/* --- operations --- */

static double flops_of(const hl_node *node)
{
  switch (node->op) {
  case HL_LOOP_FMA:
    return 2;
  case HL_LOOP_DOT4:
    return 7;
  case HL_LOOP_ADD: case HL_LOOP_SUB: case HL_LOOP_MUL: case HL_LOOP_DIV: case HL_LOOP_REM: case HL_LOOP_MAX: case HL_LOOP_MIN:
  case HL_LOOP_SQRT: case HL_LOOP_FLOOR: case HL_LOOP_CEIL: case HL_LOOP_RNE: case HL_LOOP_RNA: case HL_LOOP_MATH:
  case HL_LOOP_EQ: case HL_LOOP_NE: case HL_LOOP_GE: case HL_LOOP_GT: case HL_LOOP_LE: case HL_LOOP_LT:
    return 1;
  default:
    return 0;
  }
}

static void count_block(counter *c, const hl_block *block, double times);

/* n values are combined n - 1 times, but a sum of products starts from 0. */
static void count_reduce(counter *c, const hl_loop *loop, double times)
{
  double n = all_iterations(c, loop);
  for (int i = 0; i < loop->result_count; i++) {
    if (!hl_is_float(loop->combiners[i].type))
      continue;
    bool is_dot = loop->combiners[i].order == HL_ORDER_DOT;
    c->cost.flops += times * (is_dot ? 2 * n : n > 1 ? n - 1 : 0);
  }
}

static void count_access(counter *c, const hl_node *node, double times)
{
  c->cost.accesses += times * hl_type_bytes(node->access->param->type);
  if (node->access->param->direction != HL_PARAM_SCRATCH)
    reach(c, node, times);
}

static void count_node(counter *c, const hl_node *node, double times)
{
  switch (node->op) {
  case HL_LOOP_LOAD:
  case HL_LOOP_STORE:
    count_access(c, node, times);
    break;
  case HL_LOOP_REDUCE:
    count_reduce(c, node->loop, times);
    count_block(c, &node->loop->body, times * all_iterations(c, node->loop));
    break;
  case HL_LOOP_FOR:
  case HL_LOOP_FOLD:
    count_block(c, &node->loop->body, times * all_iterations(c, node->loop));
    break;
  case HL_LOOP_IF:
    c->cost.is_bound = true;
    count_block(c, &node->branch->then, times);
    count_block(c, &node->branch->otherwise, times);
    break;
  default:
    if (node->operand_count && hl_is_float(node->operands[0]->type)) {
      c->cost.flops += times * flops_of(node);
      c->cost.functions += node->op == HL_LOOP_MATH ? times : 0;
    }
  }
}

static void count_block(counter *c, const hl_block *block, double times)
{
  for (const hl_node *node = block->first; node; node = node->next)
    count_node(c, node, times);
}

static void count_copy(counter *c)
{
  for (int i = 0; i < 2; i++) {
    const hl_buffer *buffer = c->step->buffers[i];
    footprint print = {.count = 1, .bytes = (double)buffer->bytes};
    print.walks = HL_NEW(c->all->arena, struct walk);
    *print.walks =
        (struct walk){1, print.bytes / hl_type_bytes(hl_component_type(buffer->type))};
    add_to_both(c, buffer, i == 0, print);
    c->cost.accesses += print.bytes;
  }
}

hl_cost hl_step_cost(hl_traffic *traffic, const hl_step *step)
{
  counter c = {.all = traffic, .own = hl_traffic_new(traffic->arena), .step = step};
  if (step->kind == HL_STEP_KERNEL)
    count_block(&c, &step->kernel->body, 1);
  else if (step->kind == HL_STEP_COPY)
    count_copy(&c);
  for (const reached *r = c.own->first; r; r = r->next)
    *(r->is_written ? &c.cost.written : &c.cost.read) += r->bytes;
  c.cost.flops = nearbyint(c.cost.flops);
  c.cost.functions = nearbyint(c.cost.functions);
  c.cost.accesses = nearbyint(c.cost.accesses);
  c.cost.read = nearbyint(c.cost.read);
  c.cost.written = nearbyint(c.cost.written);
  return c.cost;
}

void hl_traffic_least(const hl_traffic *traffic, double *read, double *written)
{
  *read = *written = 0;
  for (const reached *r = traffic->first; r; r = r->next) {
    hl_buffer_kind kind = r->buffer->kind;
    if (!r->is_written && (kind == HL_BUFFER_ARGUMENT || kind == HL_BUFFER_CONSTANT))
      *read += r->bytes;
    if (r->is_written && kind == HL_BUFFER_RESULT)
      *written += r->bytes;
  }
  *read = nearbyint(*read);
  *written = nearbyint(*written);
}
