/* lower_conv.c - elements of convolution (numerics.md rule 9): a dot over window positions,
 * row-major as they lie on the input, and input features.
 *
 * A tap in the padding reads +0 and counts. A hole of a dilated input is skipped: it yields -0 and
 * 1, whose product added to anything changes nothing, not even a zero's sign.
 */
#include "lower_dot.h"
#include "lower_window.h"

#include "../ir/limits.h"

typedef struct conv {
  const hl_instruction *ins;
  const hl_dim_labels *labels;
  const hl_index *index; /* of the result */
  hl_element_type acc;
  hl_index *x, *k; /* places in the operands; the taps and input features are set by the loop */
  hl_index first_feature;
  int count; /* of the loop's variables: window dimensions, then the feature */
  int64_t extents[HL_LIMIT_RANK + 1];
  int dims[HL_LIMIT_RANK + 1];
} conv;

enum { FEATURE = -1 };

static void add_var(conv *c, int dim, int64_t extent)
{
  if (extent == 1)
    return;
  c->dims[c->count] = dim;
  c->extents[c->count++] = extent;
}

/* The number of a group: consecutive output features share it. */
static hl_index group_of(hl_puller *p, const conv *c, int64_t groups)
{
  hl_index group, rest;
  int64_t outputs = c->ins->operands[1]->shape->dimensions[c->labels->kernel_output_feature];
  if (groups == 1)
    return hl_index_constant(0);
  hl_index_divide(p, c->index[c->labels->output_feature], outputs / groups, &group, &rest);
  return group;
}

static void place(hl_puller *p, conv *c)
{
  const hl_dim_labels *l = c->labels;
  const hl_shape *x = c->ins->operands[0]->shape, *k = c->ins->operands[1]->shape;
  int64_t features = k->dimensions[l->kernel_input_feature];
  int64_t batch_groups = hl_attr_int(c->ins, HL_ATTR_BATCH_GROUP_COUNT, 1);
  hl_index batch_group = group_of(p, c, batch_groups);
  hl_index feature_group = group_of(p, c, hl_attr_int(c->ins, HL_ATTR_FEATURE_GROUP_COUNT, 1));
  c->x = HL_ARRAY(p->arena, x->rank, hl_index);
  c->k = HL_ARRAY(p->arena, k->rank, hl_index);
  c->x[l->input_batch] =
      hl_index_add(p, c->index[l->output_batch],
                   hl_index_scale(p, batch_group, x->dimensions[l->input_batch] / batch_groups, 0));
  c->first_feature = hl_index_scale(p, feature_group, features, 0);
  c->k[l->kernel_output_feature] = c->index[l->output_feature];
  for (int d = 0; d < l->spatial_count; d++)
    add_var(c, d, hl_window_dim_of(c->ins, d).size);
  add_var(c, FEATURE, features);
  if (c->count == 0)
    c->dims[c->count] = FEATURE, c->extents[c->count++] = 1;
}

/* What lies under a tap. */
typedef struct state {
  hl_node *is_real; /* NULL: always an element */
  hl_node *is_hole; /* NULL: never */
  bool is_padding;  /* always */
} state;

static state place_taps(hl_puller *p, conv *c, const hl_index *vars)
{
  const hl_dim_labels *l = c->labels;
  hl_index taps[HL_LIMIT_RANK + 1], feature = hl_index_constant(0);
  hl_node *inside = NULL, *hit = NULL;
  state s = {NULL, NULL, false};
  for (int d = 0; d < l->spatial_count; d++)
    taps[d] = hl_index_constant(0);
  for (int i = 0; i < c->count; i++)
    *(c->dims[i] == FEATURE ? &feature : &taps[c->dims[i]]) = vars[i];
  c->k[l->kernel_input_feature] = feature;
  c->x[l->input_feature] = hl_index_add(p, c->first_feature, feature);
  for (int d = 0; d < l->spatial_count; d++) {
    hl_window_dim w = hl_window_dim_of(c->ins, d);
    int64_t size = c->ins->operands[0]->shape->dimensions[l->input_spatial[d]];
    hl_tap_place at = hl_put_tap(p, &w, size, c->index[l->output_spatial[d]], taps[d]);
    c->x[l->input_spatial[d]] = at.at;
    c->k[l->kernel_spatial[d]] =
        w.window_reversal ? hl_index_scale(p, taps[d], -1, w.size - 1) : taps[d];
    s.is_padding |= at.is_never;
    inside = hl_put_both(p, inside, at.inside);
    hit = hl_put_both(p, hit, at.hit);
  }
  s.is_real = hl_put_both(p, inside, hit);
  s.is_hole =
      hit && !s.is_padding ? hl_put_both(p, inside, hl_put_unary(p, HL_LOOP_NOT, hit)) : NULL;
  return s;
}

static hl_node *constant(hl_puller *p, hl_element_type type, double value)
{
  return hl_is_float(type) ? hl_put_float(p, type, value) : hl_put_int(p, type, (int64_t)value);
}

static hl_value zero(hl_puller *p, hl_element_type type, bool is_pair)
{
  hl_node *z = constant(p, type, 0);
  return (hl_value){z, is_pair ? z : NULL};
}

/* The input under a tap: +0 in the padding (and in holes). */
static hl_value input(hl_puller *p, const conv *c, const state *s)
{
  bool is_pair = hl_is_complex(c->ins->operands[0]->shape->element_type);
  if (s->is_padding)
    return zero(p, c->acc, is_pair);
  hl_value x = hl_put_parts(p, c->acc, hl_pull_if(p, s->is_real, c->ins->operands[0], 0, c->x));
  return hl_put_either(p, s->is_real, x, zero(p, c->acc, is_pair));
}

static hl_value kernel(hl_puller *p, const conv *c)
{
  return hl_put_parts(p, c->acc, hl_pull(p, c->ins->operands[1], 0, c->k));
}

static hl_node *real_sum(hl_puller *p, conv *c, hl_scope *scope)
{
  bool is_int = hl_is_integral(c->acc);
  hl_index vars[HL_LIMIT_RANK + 1];
  hl_combiner combiner = {
      .order = is_int ? HL_ORDER_FREE : HL_ORDER_DOT, .combine = HL_LOOP_ADD, .type = c->acc};
  hl_open_loop loop = hl_open_reduce(p, scope, c->count, c->extents, 1, &combiner, vars);
  state s = place_taps(p, c, vars);
  hl_node *l = input(p, c, &s).re, *r = kernel(p, c).re;
  if (is_int) {
    l = hl_put_binary(p, HL_LOOP_MUL, l, r);
  } else if (s.is_hole) {
    l = hl_put_select(p, s.is_hole, constant(p, c->acc, -0.0), l);
    r = hl_put_select(p, s.is_hole, constant(p, c->acc, 1), r);
  }
  hl_close_loop(p, &loop, is_int ? 1 : 2, (hl_node *[]){l, r});
  return hl_put_result(p, loop.node, 0);
}

/* --- complex numbers: the steps of rule 8 one by one --- */

static hl_value added(hl_puller *p, hl_value x, hl_value y)
{
  return (hl_value){hl_put_add(p, x.re, y.re), hl_put_add(p, x.im, y.im)};
}

/* The number of the loop's iteration begins a block. */
static hl_node *begins_block(hl_puller *p, const conv *c, const hl_index *vars)
{
  hl_shape shape = {.rank = c->count, .dimensions = c->extents};
  hl_node *n = hl_index_value(p, hl_index_flatten(p, &shape, vars));
  n = hl_put_binary(p, HL_LOOP_AND, n, hl_put_int(p, HL_S64, HL_DOT_BLOCK - 1));
  return hl_put_binary(p, HL_LOOP_EQ, n, hl_put_int(p, HL_S64, 0));
}

static hl_value complex_sum(hl_puller *p, conv *c, hl_scope *scope)
{
  enum { TOTAL, SUM, COUNT };
  hl_value none = zero(p, c->acc, true), values[COUNT] = {none, none};
  hl_index vars[HL_LIMIT_RANK + 1];
  hl_open_loop loop = hl_open_value_fold(p, scope, c->count, c->extents, COUNT, values, vars);
  hl_carried_values(&loop, COUNT, values, values);
  hl_node *begins = begins_block(p, c, vars);
  values[TOTAL] = hl_put_choice(p, begins, added(p, values[TOTAL], values[SUM]), values[TOTAL]);
  values[SUM] = hl_put_choice(p, begins, none, values[SUM]);
  state s = place_taps(p, c, vars);
  hl_value sum = hl_put_product_sum(p, input(p, c, &s), kernel(p, c), values[SUM]);
  values[SUM] = s.is_hole ? hl_put_choice(p, s.is_hole, values[SUM], sum) : sum;
  hl_close_value_fold(p, &loop, COUNT, values, values);
  return added(p, values[TOTAL], values[SUM]);
}

hl_value hl_lower_convolution(hl_puller *p, const hl_instruction *ins, int leaf,
                              const hl_index *index)
{
  (void)leaf;
  conv c = {.ins = ins,
            .labels = hl_attr_find(ins, HL_ATTR_DIM_LABELS)->labels,
            .index = index,
            .acc = hl_dot_accumulator(ins)};
  hl_scope *scope = hl_index_scope(p, index, ins->shape->rank);
  hl_element_type type = ins->shape->element_type;
  place(p, &c);
  if (hl_is_complex(type))
    return hl_put_parts(p, type, complex_sum(p, &c, scope));
  return (hl_value){hl_put_convert(p, type, real_sum(p, &c, scope)), NULL};
}
