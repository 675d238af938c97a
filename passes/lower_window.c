/* lower_window.c - elements of reduce-window: a fold over the real elements under the window
 * (numerics.md rule 6). */
#include "lower_window.h"

#include "../ir/limits.h"

hl_window_dim hl_window_dim_of(const hl_instruction *ins, int dim)
{
  const hl_attr *attr = hl_attr_find(ins, HL_ATTR_WINDOW);
  if (attr && dim < attr->window.count)
    return attr->window.dims[dim];
  return (hl_window_dim){.size = 1, .stride = 1, .base_dilation = 1, .window_dilation = 1};
}

bool hl_window_is_point(const hl_window_dim *w)
{
  return w->size == 1 && w->stride == 1 && w->base_dilation == 1 && w->padding_low == 0 &&
         w->padding_high == 0;
}

/* x / divisor where it is exact, without asking the loops of the roots to be split for it. */
static hl_index divide(hl_puller *p, hl_index x, int64_t divisor, hl_node **is_exact)
{
  hl_index quotient, rest;
  hl_domain *domain = p->domain;
  int64_t low, high;
  p->domain = NULL;
  hl_index_divide(p, x, divisor, &quotient, &rest);
  p->domain = domain;
  hl_index_range(rest, &low, &high);
  *is_exact = NULL;
  if (low != 0 || high != 0)
    *is_exact = hl_put_binary(p, HL_LOOP_EQ, hl_index_value(p, rest), hl_put_int(p, HL_S64, 0));
  return quotient;
}

hl_tap_place hl_put_tap(hl_puller *p, const hl_window_dim *w, int64_t size, hl_index output,
                        hl_index tap)
{
  hl_tap_place result = {.is_never = size == 0};
  hl_index x = hl_index_add(p, hl_index_scale(p, output, w->stride, -w->padding_low),
                            hl_index_scale(p, tap, w->window_dilation, 0));
  if (!result.is_never)
    result.inside = hl_index_within(p, x, 0, (size - 1) * w->base_dilation + 1, &result.is_never);
  result.at = x;
  if (!result.is_never && w->base_dilation > 1)
    result.at = divide(p, x, w->base_dilation, &result.hit);
  return result;
}

hl_node *hl_window_real(hl_puller *p, const hl_instruction *ins, const hl_shape *shape,
                        const hl_index *output, const hl_index *taps, hl_index *at, bool *never)
{
  hl_node *real = NULL;
  *never = false;
  for (int d = 0; d < shape->rank; d++) {
    hl_window_dim w = hl_window_dim_of(ins, d);
    hl_tap_place tap = hl_put_tap(p, &w, shape->dimensions[d], output[d], taps[d]);
    *never |= tap.is_never;
    at[d] = tap.at;
    real = hl_put_both(p, real, hl_put_both(p, tap.inside, tap.hit));
  }
  return real;
}

hl_open_loop hl_open_window(hl_puller *p, const hl_instruction *ins, hl_scope *in, int rank,
                            int count, const hl_value *inits, hl_index *taps)
{
  int64_t extents[HL_LIMIT_RANK + 1] = {1};
  int dims[HL_LIMIT_RANK + 1] = {0}, n = 0;
  hl_index vars[HL_LIMIT_RANK + 1];
  for (int d = 0; d < rank; d++) {
    taps[d] = hl_index_constant(0);
    if (hl_window_dim_of(ins, d).size == 1)
      continue;
    extents[n] = hl_window_dim_of(ins, d).size;
    dims[n++] = d;
  }
  hl_open_loop loop = hl_open_value_fold(p, in, n ? n : 1, extents, count, inits, vars);
  for (int i = 0; i < n; i++)
    taps[dims[i]] = vars[i];
  return loop;
}

/* One reduce-window: sums and products of narrow floats are kept in f32 until the end. */
typedef struct windowed {
  const hl_instruction *ins;
  hl_computation *region;
  hl_opcode opcode;
  int count;
} windowed;

static hl_value pulled(hl_puller *p, const windowed *w, int operand, hl_node *guard,
                       const hl_index *at)
{
  hl_value x = hl_pull_if(p, guard, w->ins->operands[operand], 0, at);
  return w->opcode == HL_OP_COUNT ? x : hl_put_widened(p, x);
}

static void combine(hl_puller *p, const windowed *w, const hl_value *args, hl_value *next)
{
  if (w->opcode == HL_OP_COUNT) {
    hl_pull_region(p, w->region, args, next);
    return;
  }
  hl_element_type type = hl_wide_type(w->ins->operands[0]->shape->element_type);
  next[0] = hl_put_hlo_binary(p, w->opcode, type, args[0], args[1]);
}

/* The body for one tap: what the carried values become. */
static void take_tap(hl_puller *p, const windowed *w, hl_node *real, const hl_index *at,
                     hl_value *args, hl_value *next)
{
  for (int k = 0; k < w->count; k++)
    args[w->count + k] = pulled(p, w, k, real, at);
  combine(p, w, args, next);
  for (int k = 0; k < w->count; k++)
    next[k] = hl_put_either(p, real, next[k], args[k]);
}

static void pull_inits(hl_puller *p, const windowed *w, hl_value *inits)
{
  for (int k = 0; k < w->count; k++)
    inits[k] = pulled(p, w, w->count + k, NULL, NULL);
}

static hl_node *fold_window(hl_puller *p, const windowed *w, const hl_index *index)
{
  const hl_shape *shape = w->ins->operands[0]->shape;
  hl_value *args = HL_ARRAY(p->arena, 2 * w->count, hl_value),
           *next = HL_ARRAY(p->arena, w->count, hl_value);
  hl_index taps[HL_LIMIT_RANK + 1], *at = HL_ARRAY(p->arena, shape->rank + 1, hl_index);
  bool never;
  pull_inits(p, w, args);
  hl_scope *scope = hl_index_scope(p, index, shape->rank);
  hl_open_loop loop = hl_open_window(p, w->ins, scope, shape->rank, w->count, args, taps);
  hl_carried_values(&loop, w->count, args, args);
  hl_node *real = hl_window_real(p, w->ins, shape, index, taps, at, &never);
  if (!never)
    take_tap(p, w, real, at, args, next);
  hl_close_value_fold(p, &loop, w->count, never ? args : next, NULL);
  return loop.node;
}

static hl_value finished(hl_puller *p, const windowed *w, int leaf, hl_value x)
{
  hl_element_type type = w->ins->operands[leaf]->shape->element_type;
  return hl_put_canonical(p, w->opcode == HL_OP_COUNT ? x : hl_put_parts(p, type, x));
}

hl_value hl_lower_reduce_window(hl_puller *p, const hl_instruction *ins, int leaf,
                                const hl_index *index)
{
  hl_computation *region = hl_attr_computation(ins, HL_ATTR_TO_APPLY);
  windowed w = {ins, region, HL_OP_COUNT, ins->operand_count / 2};
  if (w.count == 1)
    w.opcode = hl_sum_or_product(region, ins->operands[0]->shape->element_type);
  hl_node *loop = hl_fold_of(p, ins, index);
  if (!loop) {
    loop = fold_window(p, &w, index);
    hl_fold_remember(p, ins, index, loop);
  }
  hl_value *values = HL_ARRAY(p->arena, w.count, hl_value);
  pull_inits(p, &w, values);
  hl_result_values(p, loop, w.count, values, values);
  return finished(p, &w, leaf, values[leaf]);
}
