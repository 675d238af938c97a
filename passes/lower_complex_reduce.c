/* lower_complex_reduce.c - products of complex numbers in the order of numerics.md rule 4, and their dots (rule 8).
 *
 * A complex product has no identity that changes nothing, so it is no REDUCE of the loop IR: folds carry what is there so far and
 * whether anything is. The lanes of ROW come one after the other, in the order of their numbers read backwards in binary: then
 * halving them together is joining neighbours, as a binary counter does with its carries, and takes one value a level.
 */
#include "lower_complex_reduce.h"

enum { MOST_LEVELS = 5, DOT_BLOCK = 1024 };

/* --- sequences --- */

static int64_t count_of(const hl_sequence *s)
{
  int64_t count = 1;
  for (int i = 0; i < s->dim_count; i++)
    count *= s->operand->shape->dimensions[s->dims[i]];
  return count;
}

/* Sets the dimensions of s to its element number t. */
static void go_to(hl_puller *p, const hl_sequence *s, hl_index t)
{
  int64_t *sizes = HL_ARRAY(p->arena, s->dim_count + 1, int64_t);
  hl_index *place = HL_ARRAY(p->arena, s->dim_count + 1, hl_index);
  for (int i = 0; i < s->dim_count; i++)
    sizes[i] = s->operand->shape->dimensions[s->dims[i]];
  hl_shape shape = {.rank = s->dim_count, .dimensions = sizes};
  hl_index_unflatten(p, &shape, t, place);
  for (int i = 0; i < s->dim_count; i++)
    s->at[s->dims[i]] = place[i];
}

static hl_value element(hl_puller *p, const hl_sequence *s, hl_index t)
{
  go_to(p, s, t);
  return s->inner ? hl_put_complex_product(p, s->inner) : hl_pull(p, s->operand, 0, s->at);
}

/* --- products --- */

/* A value that need not be there. */
typedef struct partial {
  hl_value value;
  hl_node *is_some;
} partial;

static partial choice(hl_puller *p, hl_node *pred, partial x, partial y)
{
  return (partial){hl_put_choice(p, pred, x.value, y.value),
                   hl_put_select(p, pred, x.is_some, y.is_some)};
}

static partial joined(hl_puller *p, partial x, partial y)
{
  hl_value product = hl_put_complex_multiply(p, x.value, y.value);
  hl_value either = hl_put_choice(p, x.is_some, x.value, y.value);
  hl_node *has_both = hl_put_binary(p, HL_LOOP_AND, x.is_some, y.is_some);
  return (partial){hl_put_choice(p, has_both, product, either),
                   hl_put_binary(p, HL_LOOP_OR, x.is_some, y.is_some)};
}

/* A fold that carries `count` partials, from nothing. */
static hl_open_loop open_partials(hl_puller *p, hl_element_type part, int64_t extent, int count,
                                  hl_index *var)
{
  hl_node *inits[3 * MOST_LEVELS];
  for (int i = 0; i < 3 * count; i++)
    inits[i] = i % 3 == 2 ? hl_put_int(p, HL_PRED, 0) : hl_put_const(p, part, 0);
  return hl_open_fold(p, p->scope, 1, &extent, 3 * count, inits, var);
}

static partial carried(hl_open_loop *loop, int index)
{
  hl_value value = {hl_open_acc(loop, 3 * index), hl_open_acc(loop, 3 * index + 1)};
  return (partial){value, hl_open_acc(loop, 3 * index + 2)};
}

static partial result_of(hl_puller *p, hl_node *loop)
{
  hl_value value = {hl_put_result(p, loop, 0), hl_put_result(p, loop, 1)};
  return (partial){value, hl_put_result(p, loop, 2)};
}

static void close_partials(hl_puller *p, hl_open_loop *loop, int count, const partial *next)
{
  hl_node *yields[3 * MOST_LEVELS];
  for (int i = 0; i < count; i++) {
    yields[3 * i] = next[i].value.re;
    yields[3 * i + 1] = next[i].value.im;
    yields[3 * i + 2] = next[i].is_some;
  }
  hl_close_loop(p, loop, 3 * count, yields);
}

/* Consecutive blocks of `size` elements each: those from `begin` on, of which `rest` elements are left, at most s->block. */
typedef struct run {
  const hl_sequence *s;
  hl_element_type part;
  int64_t size, blocks;
  hl_index begin, rest;
} run;

static hl_value product_of_run(hl_puller *p, const run *r);

static hl_value value_of_block(hl_puller *p, const run *r, hl_index t)
{
  hl_index start = hl_index_scale(p, t, r->size, 0), begin = hl_index_add(p, r->begin, start);
  if (r->size == 1)
    return element(p, r->s, begin);
  run inner = *r;
  inner.size = r->size / r->s->block;
  inner.blocks = r->s->block;
  inner.begin = begin;
  inner.rest = hl_index_add(p, r->rest, hl_index_scale(p, start, -1, 0));
  return product_of_run(p, &inner);
}

/* The product of the blocks lane, lane + L, lane + 2 L, ... */
static partial lane_product(hl_puller *p, const run *r, hl_index lane)
{
  int64_t lanes = r->s->lanes, steps = (r->blocks + lanes - 1) / lanes;
  hl_index step;
  hl_open_loop loop = open_partials(p, r->part, steps, 1, &step);
  hl_index t = hl_index_add(p, lane, hl_index_scale(p, step, lanes, 0));
  hl_index left = hl_index_add(p, r->rest, hl_index_scale(p, t, -r->size, 0));
  bool never;
  hl_node *inside = hl_index_within(p, left, 1, INT64_MAX / 8, &never), *outer = p->guard;
  if (inside && outer)
    p->guard = hl_put_binary(p, HL_LOOP_AND, outer, inside);
  else if (inside)
    p->guard = inside;
  partial x = {value_of_block(p, r, t), inside ? inside : hl_put_int(p, HL_PRED, 1)};
  p->guard = outer;
  partial next = joined(p, carried(&loop, 0), x);
  close_partials(p, &loop, 1, &next);
  return result_of(p, loop.node);
}

/* Bit `bit` of a lane's number. */
static hl_node *bit_of(hl_puller *p, hl_node *x, int bit)
{
  return hl_put_binary(p, HL_LOOP_AND, x, hl_put_int(p, HL_S64, INT64_C(1) << bit));
}

static hl_index reversed(hl_puller *p, hl_index k, int levels)
{
  hl_node *x = hl_index_value(p, k), *sum = hl_put_int(p, HL_S64, 0);
  for (int bit = 0; bit < levels; bit++) {
    int to = levels - 1 - bit;
    hl_loop_op shift = to > bit ? HL_LOOP_SHL : HL_LOOP_SRL;
    hl_node *amount = hl_put_int(p, HL_S64, to > bit ? to - bit : bit - to);
    hl_node *moved = hl_put_binary(p, shift, bit_of(p, x, bit), amount);
    sum = hl_put_binary(p, HL_LOOP_OR, sum, moved);
  }
  hl_facts_of(sum)->low = 0;
  hl_facts_of(sum)->high = (INT64_C(1) << levels) - 1;
  return hl_index_node(p, sum);
}

/* Counts lane k in: while its low bits are set it joins what waits on their levels; then it waits itself. The last lane
 * has all bits set and ends with the value of all. */
static void count_in(hl_puller *p, hl_open_loop *loop, hl_node *k, partial lane, int levels,
                     partial *next)
{
  hl_node *goes_on = hl_put_int(p, HL_PRED, 1);
  for (int level = 0; level < levels; level++) {
    partial waiting = carried(loop, level + 1);
    hl_node *is_set = hl_put_binary(p, HL_LOOP_NE, bit_of(p, k, level), hl_put_int(p, HL_S64, 0));
    hl_node *joins = hl_put_binary(p, HL_LOOP_AND, goes_on, is_set);
    hl_node *stays = hl_put_binary(p, HL_LOOP_AND, goes_on, hl_put_unary(p, HL_LOOP_NOT, is_set));
    next[level + 1] = choice(p, stays, lane, waiting);
    lane = choice(p, joins, joined(p, waiting, lane), lane);
    goes_on = joins;
  }
  next[0] = lane;
}

static int levels_of(int lanes)
{
  int levels = 0;
  while (1 << levels < lanes)
    levels++;
  return levels;
}

static hl_value product_of_run(hl_puller *p, const run *r)
{
  int levels = levels_of(r->s->lanes);
  if (levels == 0)
    return lane_product(p, r, hl_index_constant(0)).value;
  hl_index k;
  partial next[MOST_LEVELS];
  hl_open_loop loop = open_partials(p, r->part, r->s->lanes, levels + 1, &k);
  partial lane = lane_product(p, r, reversed(p, k, levels));
  count_in(p, &loop, hl_index_value(p, k), lane, levels, next);
  close_partials(p, &loop, levels + 1, next);
  return result_of(p, loop.node).value;
}

hl_value hl_put_complex_product(hl_puller *p, const hl_sequence *s)
{
  int64_t count = count_of(s);
  run r = {.s = s, .part = hl_component_type(s->operand->shape->element_type), .size = 1};
  while (count / s->block > r.size || (count / s->block == r.size && count % s->block))
    r.size *= s->block;
  r.blocks = (count + r.size - 1) / r.size;
  r.begin = hl_index_constant(0);
  r.rest = hl_index_constant(count);
  return product_of_run(p, &r);
}

/* --- dots --- */

static hl_node *put_fma(hl_puller *p, hl_node *x, hl_node *y, hl_node *z)
{
  return hl_put(p, HL_LOOP_FMA, x->type, 3, (hl_node *[]){x, y, z});
}

static void add_product(hl_puller *p, hl_open_loop *loop, hl_value x, hl_value y)
{
  hl_node *re = put_fma(p, x.re, y.re, hl_open_acc(loop, 0));
  hl_node *im = put_fma(p, x.re, y.im, hl_open_acc(loop, 1));
  re = put_fma(p, hl_put_unary(p, HL_LOOP_NEG, x.im), y.im, re);
  im = put_fma(p, x.im, y.re, im);
  hl_close_loop(p, loop, 2, (hl_node *[]){re, im});
}

static hl_value widened(hl_puller *p, hl_element_type part, const hl_sequence *s)
{
  hl_value x = hl_pull(p, s->operand, 0, s->at);
  return (hl_value){hl_put_convert(p, part, x.re), hl_put_convert(p, part, x.im)};
}

static hl_open_loop open_sum(hl_puller *p, hl_element_type part, int64_t extent, hl_index *var)
{
  hl_node *zero = hl_put_const(p, part, 0);
  return hl_open_fold(p, p->scope, 1, &extent, 2, (hl_node *[]){zero, zero}, var);
}

/* The sum of the products `begin` on: a block of them, or what is left. */
static hl_value block_sum(hl_puller *p, hl_element_type part, const hl_sequence *l, const hl_sequence *r,
                          hl_index begin)
{
  int64_t count = count_of(l), extent = count < DOT_BLOCK ? count : DOT_BLOCK;
  hl_node *limit = NULL;
  if (count > DOT_BLOCK && count % DOT_BLOCK)
    limit = hl_index_value(p, hl_index_scale(p, begin, -1, count));
  hl_index k;
  hl_open_loop loop = open_sum(p, part, extent, &k);
  loop.node->loop->limits[0] = limit;
  k = hl_index_add(p, begin, k);
  go_to(p, l, k);
  go_to(p, r, k);
  add_product(p, &loop, widened(p, part, l), widened(p, part, r));
  return (hl_value){hl_put_result(p, loop.node, 0), hl_put_result(p, loop.node, 1)};
}

hl_value hl_put_complex_dot(hl_puller *p, hl_element_type part, const hl_sequence *l, const hl_sequence *r)
{
  int64_t count = count_of(l);
  hl_index block;
  if (count == 0)
    return (hl_value){hl_put_const(p, part, 0), hl_put_const(p, part, 0)};
  if (count <= DOT_BLOCK) {
    hl_value sum = block_sum(p, part, l, r, hl_index_constant(0));
    hl_node *zero = hl_put_const(p, part, 0);
    return (hl_value){hl_put_add(p, zero, sum.re), hl_put_add(p, zero, sum.im)};
  }
  hl_open_loop loop = open_sum(p, part, (count + DOT_BLOCK - 1) / DOT_BLOCK, &block);
  hl_value sum = block_sum(p, part, l, r, hl_index_scale(p, block, DOT_BLOCK, 0));
  hl_close_loop(p, &loop, 2,
                (hl_node *[]){hl_put_add(p, hl_open_acc(&loop, 0), sum.re),
                              hl_put_add(p, hl_open_acc(&loop, 1), sum.im)});
  return (hl_value){hl_put_result(p, loop.node, 0), hl_put_result(p, loop.node, 1)};
}
