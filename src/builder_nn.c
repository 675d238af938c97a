/* builder_nn - layers of neural networks from the array functions, with PyTorch's conventions.
 *
 * C leaves the order of a call's arguments open, so no two of them make instructions. */
#include "builder_internal.h"

#include <math.h>

static hlo_value *scaled(hlo_value *x, double factor)
{
  return x ? hlo_multiply(x, hl_build_like(x, factor)) : NULL;
}

static hlo_value *plus(hlo_value *x, double term)
{
  return x ? hlo_add(x, hl_build_like(x, term)) : NULL;
}

hlo_value *hlo_relu(hlo_value *x)
{
  return x ? hlo_maximum(x, hl_build_like(x, 0.0)) : NULL;
}

hlo_value *hlo_gelu(hlo_value *x, int exact)
{
  hlo_value *inner = x;
  if (!exact) /* sqrt(2/pi) (x + 0.044715 x^3) */
    inner = hlo_add(x, scaled(hlo_multiply(hlo_square(x), x), 0.044715));
  inner = scaled(inner, exact ? sqrt(0.5) : 0.79788456080286535588);
  inner = exact ? hlo_erf(inner) : hlo_tanh(inner);
  hlo_value *half = scaled(x, 0.5);
  return hlo_multiply(half, plus(inner, 1.0));
}

/* x less its maximum along the axis, so that exp does not overflow. */
static hlo_value *shifted(hlo_value *x, int axis)
{
  return hlo_subtract(x, hlo_max(x, 1, &axis, 1));
}

hlo_value *hlo_softmax(hlo_value *x, int axis)
{
  hlo_value *e = hlo_exp(shifted(x, axis));
  return hlo_divide(e, hlo_sum(e, 1, &axis, 1));
}

hlo_value *hlo_log_softmax(hlo_value *x, int axis)
{
  hlo_value *s = shifted(x, axis);
  return hlo_subtract(s, hlo_log(hlo_sum(hlo_exp(s), 1, &axis, 1)));
}

hlo_value *hlo_layer_norm(hlo_value *x, hlo_value *weight, hlo_value *bias, double epsilon)
{
  int last = -1;
  hlo_value *centred = hlo_subtract(x, hlo_mean(x, 1, &last, 1));
  hlo_value *variance = hlo_mean(hlo_square(centred), 1, &last, 1);
  hlo_value *y = hlo_multiply(centred, hlo_rsqrt(plus(variance, epsilon)));
  y = weight ? hlo_multiply(y, weight) : y;
  return bias ? hlo_add(y, bias) : y;
}

hlo_value *hlo_linear(hlo_value *x, hlo_value *weight, hlo_value *bias)
{
  hlo_value *both[] = {x, weight};
  hlo_builder *b = hl_builder_of(__func__, 2, both);
  if (!b || !hl_build_wants_array(__func__, x))
    return NULL;
  int rank = hl_shape_of(x)->rank;
  if (rank == 0 || hl_shape_of(weight)->rank != 2)
    return hl_build_error(b, __func__, "x has %d dimensions and weight %d; wanted at least 1, and 2", rank,
                          hl_shape_of(weight)->rank);
  hlo_value *y = hl_build_line(b, __func__,
                               "dot(%v, %v), lhs_contracting_dims={%d}, rhs_contracting_dims={1}", x, weight,
                               rank - 1);
  return bias ? hlo_add(y, bias) : y;
}

/* Zeros stand for what a plain convolution has. */
static hlo_conv2d_options completed(const hlo_conv2d_options *given)
{
  hlo_conv2d_options o = given ? *given : (hlo_conv2d_options){.groups = 1};
  for (int i = 0; i < 2; i++) {
    o.stride[i] = o.stride[i] ? o.stride[i] : 1;
    o.dilation[i] = o.dilation[i] ? o.dilation[i] : 1;
  }
  o.groups = o.groups ? o.groups : 1;
  return o;
}

hlo_value *hlo_conv2d(hlo_value *x, hlo_value *weight, hlo_value *bias,
                      const hlo_conv2d_options *options)
{
  hlo_value *both[] = {x, weight};
  hlo_builder *b = hl_builder_of(__func__, 2, both);
  hlo_conv2d_options o = completed(options);
  if (!b)
    return NULL;
  if (hl_shape_of(x)->rank != 4 || hl_shape_of(weight)->rank != 4)
    return hl_build_error(b, __func__, "x has %d dimensions and weight %d; wanted 4 and 4",
                          hl_shape_of(x)->rank, hl_shape_of(weight)->rank);
  const int64_t *size = hl_shape_of(weight)->dimensions + 2;
  hlo_value *y = hl_build_line(
      b, __func__,
      "convolution(%v, %v), window={size=%lx%l stride=%lx%l pad=%l_%lx%l_%l rhs_dilate=%lx%l}, "
      "dim_labels=bf01_oi01->bf01, feature_group_count=%l",
      x, weight, size[0], size[1], o.stride[0], o.stride[1], o.padding[0], o.padding[0], o.padding[1],
      o.padding[1], o.dilation[0], o.dilation[1], o.groups);
  return bias ? hlo_add(y, hlo_unsqueeze(hlo_unsqueeze(bias, -1), -1)) : y;
}

hlo_value *hlo_mse(hlo_value *x, hlo_value *target)
{
  return hlo_mean(hlo_square(hlo_subtract(x, target)), 0, NULL, 0);
}

hlo_value *hlo_cross_entropy(hlo_value *logits, hlo_value *labels)
{
  hlo_value *both[] = {logits, labels};
  hlo_builder *b = hl_builder_of(__func__, 2, both);
  if (!b)
    return NULL;
  const hl_shape *x = hl_shape_of(logits), *y = hl_shape_of(labels);
  if (x->rank != 2 || y->rank != 1 || x->dimensions[0] != y->dimensions[0] ||
      !hl_is_integral(y->element_type))
    return hl_build_error(b, __func__, "logits are %s%s and labels %s%s; wanted [N, C] and integers [N]",
                          hlo_value_type(logits), hl_say_sizes(b, x->rank, x->dimensions),
                          hlo_value_type(labels), hl_say_sizes(b, y->rank, y->dimensions));
  hlo_value *classes = hlo_iota(b, hlo_value_type(labels), 2, x->dimensions, 1);
  hlo_value *is_label = hlo_equal(classes, hlo_unsqueeze(labels, 1));
  hlo_value *picked = hlo_where(is_label, hlo_log_softmax(logits, 1), hl_build_like(logits, 0.0));
  int last = 1;
  return hlo_negative(hlo_mean(hlo_sum(picked, 1, &last, 0), 0, NULL, 0));
}

/* The axes with the last two exchanged. */
static hlo_value *swap_last(hlo_value *x)
{
  int order[HL_LIMIT_RANK], rank = hlo_value_rank(x);
  for (int i = 0; i < rank; i++)
    order[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
  return hlo_transpose(x, order);
}

static hlo_value *masked(hlo_value *scores, hlo_value *mask)
{
  if (!scores || !mask)
    return scores;
  if (hl_shape_of(mask)->element_type != HL_PRED)
    return hlo_add(scores, mask);
  return hlo_where(mask, scores, hl_build_like(scores, -INFINITY));
}

hlo_value *hlo_attention(hlo_value *q, hlo_value *k, hlo_value *v, hlo_value *mask)
{
  hlo_value *all[] = {q, k, v};
  hlo_builder *b = hl_builder_of(__func__, 3, all);
  if (!b)
    return NULL;
  for (int i = 0; i < 3; i++)
    if (hl_shape_of(all[i])->rank < 2)
      return hl_build_error(b, __func__, "'%s' has less than 2 dimensions", hlo_value_name(all[i]));
  double width = (double)hl_shape_of(q)->dimensions[hl_shape_of(q)->rank - 1];
  hlo_value *scores = scaled(hlo_matmul(q, swap_last(k)), 1.0 / sqrt(width));
  return hlo_matmul(hlo_softmax(masked(scores, mask), -1), v);
}
