/* lower_dot.c - elements of dot and scaled-dot, in the order that numerics.md rule 8 defines. */
#include "lower_dot.h"

#include "../ir/limits.h"
#include "lower_complex_reduce.h"

#include <string.h>

/* The wider float, or float part; integers are converted to what they meet. */
static hl_element_type widest(hl_element_type a, hl_element_type b)
{
  b = hl_component_type(b);
  return !hl_is_float(b) || hl_type_bits(a) >= hl_type_bits(b) ? a : b;
}

static bool asks_for_f64(const hl_instruction *ins)
{
  static const char name[] = "dot_f64_f64_f64";
  size_t length = 0;
  const hl_attr *algorithm = hl_attr_find(ins, HL_ATTR_ALGORITHM);
  const char *word = algorithm ? hl_attr_word(HL_ATTR_ALGORITHM, algorithm->i, &length) : NULL;
  return word && length == strlen(name) && memcmp(word, name, length) == 0;
}

/* Complex numbers pay no heed to the algorithm. */
hl_element_type hl_dot_accumulator(const hl_instruction *ins)
{
  hl_element_type type = ins->shape->element_type;
  if (hl_is_integral(type))
    return hl_wide_type(type);
  bool is_f64 = !hl_is_complex(type) && asks_for_f64(ins);
  type = widest(is_f64 ? HL_F64 : HL_F32, type);
  type = widest(type, ins->operands[0]->shape->element_type);
  return widest(type, ins->operands[1]->shape->element_type);
}

/* --- sides --- */

hl_dot_side hl_dot_lhs(const hl_instruction *ins)
{
  return (hl_dot_side){.operand = ins->operands[0],
                       .batch = hl_attr_ints(ins, HL_ATTR_LHS_BATCH_DIMS),
                       .contracting = hl_attr_ints(ins, HL_ATTR_LHS_CONTRACTING_DIMS),
                       .group = -1};
}

hl_dot_side hl_dot_rhs(const hl_instruction *ins)
{
  return (hl_dot_side){.operand = ins->operands[1],
                       .batch = hl_attr_ints(ins, HL_ATTR_RHS_BATCH_DIMS),
                       .contracting = hl_attr_ints(ins, HL_ATTR_RHS_CONTRACTING_DIMS),
                       .group = -1};
}

static bool has(hl_ints list, int64_t d)
{
  for (int i = 0; i < list.count; i++)
    if (list.values[i] == d)
      return true;
  return false;
}

/* Free dimensions begin at result dimension `next`. */
static int place_side(hl_puller *p, hl_dot_side *s, const hl_index *index, int next)
{
  s->at = HL_ARRAY(p->arena, s->operand->shape->rank + 1, hl_index);
  for (int i = 0; i < s->batch.count; i++)
    s->at[s->batch.values[i]] = index[i];
  for (int d = 0; d < s->operand->shape->rank; d++)
    if (!has(s->batch, d) && !has(s->contracting, d) && d != s->group)
      s->at[d] = index[next++];
  return next;
}

void hl_place_dot(hl_puller *p, hl_dot_side *l, hl_dot_side *r, const hl_index *index)
{
  int next = place_side(p, l, index, l->batch.count);
  place_side(p, r, index, next);
}

/* --- scales --- */

/* The scale of a block of equal elements that lie next to each other. */
static hl_node *scale_at(hl_puller *p, const hl_instruction *operand, const hl_instruction *scale,
                         const hl_index *at)
{
  hl_index block[HL_LIMIT_RANK], rest;
  for (int d = 0; d < scale->shape->rank; d++) {
    int64_t size = scale->shape->dimensions[d];
    block[d] = hl_index_constant(0);
    if (size > 1)
      hl_index_divide(p, at[d], operand->shape->dimensions[d] / size, &block[d], &rest);
  }
  return hl_put_convert(p, HL_F32, hl_pull(p, scale, 0, block).re);
}

/* An element as it enters the dot; operands of scaled-dot are multiplied by their scales first, in
 * f32. */
static hl_node *element(hl_puller *p, const hl_instruction *ins, int operand, const hl_index *at)
{
  hl_node *x = hl_pull(p, ins->operands[operand], 0, at).re;
  if (ins->opcode != HL_OP_SCALED_DOT)
    return x;
  hl_node *scale = scale_at(p, ins->operands[operand], ins->operands[operand + 2], at);
  return hl_put_binary(p, HL_LOOP_MUL, hl_put_convert(p, HL_F32, x), scale);
}

/* --- dot --- */

static hl_value complex_dot(hl_puller *p, const hl_dot_side *l, const hl_dot_side *r,
                            hl_scope *scope, hl_element_type part)
{
  int dims[2][HL_LIMIT_RANK], count = l->contracting.count;
  for (int i = 0; i < count; i++) {
    dims[0][i] = (int)l->contracting.values[i];
    dims[1][i] = (int)r->contracting.values[i];
  }
  hl_sequence left = {.operand = l->operand, .at = l->at, .dim_count = count, .dims = dims[0]};
  hl_sequence right = {.operand = r->operand, .at = r->at, .dim_count = count, .dims = dims[1]};
  hl_scope *saved = p->scope;
  p->scope = scope;
  hl_value total = hl_put_complex_dot(p, part, &left, &right);
  p->scope = saved;
  return total;
}

static hl_node *real_dot(hl_puller *p, const hl_instruction *ins, const hl_dot_side *l,
                         const hl_dot_side *r, hl_scope *scope, hl_element_type acc)
{
  int count = l->contracting.count;
  int64_t extents[HL_LIMIT_RANK + 1] = {1};
  hl_index vars[HL_LIMIT_RANK + 1];
  for (int i = 0; i < count; i++)
    extents[i] = l->operand->shape->dimensions[l->contracting.values[i]];
  bool is_int = hl_is_integral(acc);
  hl_combiner combiner = {
      .order = is_int ? HL_ORDER_FREE : HL_ORDER_DOT, .combine = HL_LOOP_ADD, .type = acc};
  hl_open_loop loop = hl_open_reduce(p, scope, count ? count : 1, extents, 1, &combiner, vars);
  for (int i = 0; i < count; i++) {
    l->at[l->contracting.values[i]] = vars[i];
    r->at[r->contracting.values[i]] = vars[i];
  }
  hl_node *yields[2] = {hl_put_convert(p, acc, element(p, ins, 0, l->at)),
                        hl_put_convert(p, acc, element(p, ins, 1, r->at))};
  if (is_int)
    yields[0] = hl_put_binary(p, HL_LOOP_MUL, yields[0], yields[1]);
  hl_close_loop(p, &loop, is_int ? 1 : 2, yields);
  return hl_put_result(p, loop.node, 0);
}

hl_value hl_put_dot(hl_puller *p, const hl_instruction *ins, hl_dot_side *l, hl_dot_side *r,
                    hl_scope *scope)
{
  hl_element_type acc = hl_dot_accumulator(ins);
  hl_value total = {NULL, NULL};
  if (hl_is_complex(ins->shape->element_type))
    total = complex_dot(p, l, r, scope, acc);
  else
    total.re = real_dot(p, ins, l, r, scope, acc);
  return hl_put_parts(p, ins->shape->element_type, total);
}

static hl_node *put_fma(hl_puller *p, hl_node *l, hl_node *r, hl_node *sum)
{
  return hl_put(p, HL_LOOP_FMA, sum->type, 3, (hl_node *[]){l, r, sum});
}

hl_value hl_put_product_sum(hl_puller *p, hl_value l, hl_value r, hl_value sum)
{
  hl_node *re = put_fma(p, l.re, r.re, sum.re), *im = put_fma(p, l.re, r.im, sum.im);
  re = put_fma(p, hl_put_unary(p, HL_LOOP_NEG, l.im), r.im, re);
  return (hl_value){re, put_fma(p, l.im, r.re, im)};
}

static hl_value lower(hl_puller *p, const hl_instruction *ins, const hl_index *index)
{
  hl_dot_side l = hl_dot_lhs(ins), r = hl_dot_rhs(ins);
  hl_place_dot(p, &l, &r, index);
  return hl_put_dot(p, ins, &l, &r, hl_index_scope(p, index, ins->shape->rank));
}

hl_value hl_lower_dot(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf;
  return lower(p, ins, index);
}

hl_value hl_lower_scaled_dot(hl_puller *p, const hl_instruction *ins, int leaf,
                             const hl_index *index)
{
  (void)leaf;
  return lower(p, ins, index);
}
