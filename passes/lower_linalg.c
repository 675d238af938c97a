/* lower_linalg - matrices in work memory, and inner products of what is in them (numerics.md rule 8). */
#include "lower_linalg.h"

enum { MOST_PER_WORKER = 1 << 15, DOT_BLOCK = 1024 };

hl_work_matrix hl_work_matrix_new(hl_puller *p, hl_element_type type, int64_t batches, int64_t rows, int64_t columns)
{
  bool is_per_worker = batches > 1 && rows * columns <= MOST_PER_WORKER;
  int64_t count = (is_per_worker ? 1 : batches) * rows * columns;
  hl_element_type part = hl_component_type(type);
  hl_work_matrix m = {.p = p, .type = type, .columns = columns, .base = hl_index_constant(0)};
  m.re = hl_new_work_buffer(p, hl_is_complex(type) ? "re" : "work", part, count, is_per_worker);
  if (hl_is_complex(type))
    m.im = hl_new_work_buffer(p, "im", part, count, is_per_worker);
  return m;
}

void hl_work_matrix_at(hl_work_matrix *m, hl_index batch, int64_t rows)
{
  if (!m->re->is_per_worker)
    m->base = hl_index_scale(m->p, batch, rows * m->columns, 0);
}

static hl_index place(const hl_work_matrix *m, hl_index row, hl_index column)
{
  hl_index line = hl_index_add(m->p, hl_index_scale(m->p, row, m->columns, 0), column);
  return hl_index_add(m->p, m->base, line);
}

hl_value hl_work_load(const hl_work_matrix *m, hl_index row, hl_index column)
{
  hl_index at = place(m, row, column);
  hl_value value = {hl_put_load_here(m->p, m->re, at).re, NULL};
  if (m->im)
    value.im = hl_put_load_here(m->p, m->im, at).re;
  return value;
}

void hl_work_store(const hl_work_matrix *m, hl_index row, hl_index column, hl_value value)
{
  hl_index at = place(m, row, column);
  hl_put_store(m->p, m->re, at, (hl_value){value.re, NULL});
  if (m->im)
    hl_put_store(m->p, m->im, at, (hl_value){value.im, NULL});
}

hl_node *hl_open_ordered(hl_puller *p, int64_t extent, hl_index *index)
{
  hl_node *node = hl_open_for(p, extent, index);
  node->loop->is_ordered = true;
  return node;
}

hl_value hl_conjugate(hl_puller *p, hl_value x)
{
  return (hl_value){x.re, x.im ? hl_put_unary(p, HL_LOOP_NEG, x.im) : NULL};
}

/* ---- sums of products ---- */

static hl_node *count_of(hl_puller *p, const hl_factors *f, hl_index begin)
{
  return hl_index_value(p, hl_index_add(p, f->count, hl_index_scale(p, begin, -1, 0)));
}

static hl_value real_sum(hl_puller *p, hl_element_type wide, const hl_factors *f)
{
  hl_combiner combiner = {.order = HL_ORDER_DOT, .combine = HL_LOOP_ADD, .type = wide};
  hl_value l, r;
  hl_index k;
  hl_node *limit = count_of(p, f, hl_index_constant(0));
  hl_open_loop loop = hl_open_reduce(p, p->scope, 1, &f->most, 1, &combiner, &k);
  loop.node->loop->limits[0] = limit;
  f->pair(f, k, &l, &r);
  hl_node *yields[2] = {hl_put_convert(p, wide, l.re), NULL};
  yields[1] = hl_put_convert(p, wide, r.re);
  hl_close_loop(p, &loop, 2, yields);
  return (hl_value){hl_put_result(p, loop.node, 0), NULL};
}

static hl_node *fma_of(hl_puller *p, hl_node *x, hl_node *y, hl_node *z)
{
  return hl_put(p, HL_LOOP_FMA, x->type, 3, (hl_node *[]){x, y, z});
}

static hl_open_loop open_pair(hl_puller *p, hl_element_type part, int64_t extent, hl_index *var)
{
  hl_node *zero = hl_put_float(p, part, 0);
  return hl_open_fold(p, p->scope, 1, &extent, 2, (hl_node *[]){zero, zero}, var);
}

static hl_value result_pair(hl_puller *p, const hl_open_loop *loop)
{
  hl_node *re = hl_put_result(p, loop->node, 0);
  return (hl_value){re, hl_put_result(p, loop->node, 1)};
}

/* The products from number `begin` on: a block of them, or what is left. */
static hl_value complex_block(hl_puller *p, hl_element_type part, const hl_factors *f, hl_index begin)
{
  hl_value l, r;
  hl_index k;
  hl_node *limit = count_of(p, f, begin);
  hl_open_loop loop = open_pair(p, part, f->most < DOT_BLOCK ? f->most : DOT_BLOCK, &k);
  loop.node->loop->limits[0] = limit;
  f->pair(f, hl_index_add(p, begin, k), &l, &r);
  hl_node *re = fma_of(p, l.re, r.re, hl_open_acc(&loop, 0));
  re = fma_of(p, hl_put_unary(p, HL_LOOP_NEG, l.im), r.im, re);
  hl_node *im = fma_of(p, l.re, r.im, hl_open_acc(&loop, 1));
  im = fma_of(p, l.im, r.re, im);
  hl_close_loop(p, &loop, 2, (hl_node *[]){re, im});
  return result_pair(p, &loop);
}

/* Blocks behind the count add +0 to what is never -0. */
static hl_value complex_sum(hl_puller *p, hl_element_type part, const hl_factors *f)
{
  hl_index block;
  if (f->most <= DOT_BLOCK) {
    hl_node *zero = hl_put_float(p, part, 0);
    hl_value one = complex_block(p, part, f, hl_index_constant(0));
    return (hl_value){hl_put_add(p, zero, one.re), hl_put_add(p, zero, one.im)};
  }
  hl_open_loop loop = open_pair(p, part, (f->most + DOT_BLOCK - 1) / DOT_BLOCK, &block);
  hl_value sum = complex_block(p, part, f, hl_index_scale(p, block, DOT_BLOCK, 0));
  hl_node *re = hl_put_add(p, hl_open_acc(&loop, 0), sum.re);
  hl_node *im = hl_put_add(p, hl_open_acc(&loop, 1), sum.im);
  hl_close_loop(p, &loop, 2, (hl_node *[]){re, im});
  return result_pair(p, &loop);
}

hl_value hl_minus_products(hl_puller *p, hl_element_type type, hl_value start, const hl_factors *f)
{
  hl_element_type part = hl_component_type(type);
  hl_value sum = hl_is_complex(type) ? complex_sum(p, part, f) : real_sum(p, hl_wide_type(type), f);
  return hl_put_hlo_binary(p, HL_OP_SUBTRACT, type, start, hl_put_parts(p, type, sum));
}
