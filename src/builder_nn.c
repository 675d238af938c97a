/* builder_nn - layers of neural networks from the array functions, with PyTorch's conventions.
 *
 * C leaves the order of a call's arguments open, so no two of them make instructions. */
#include "builder_internal.h"

#include <inttypes.h>
#include <math.h>

static hlo_value *scaled(hlo_value *x, double factor)
{
  return x ? hlo_multiply(x, hl_build_like(x, factor)) : NULL;
}

static hlo_value *plus(hlo_value *x, double term)
{
  return x ? hlo_add(x, hl_build_like(x, term)) : NULL;
}

/* Begins the call of a function of floats. */
static hl_build_call begin_floats(const char *name, hlo_value *x)
{
  hl_build_call call = hl_build_begin(name, 1, &x);
  if (call.builder && !hl_build_wants_floats(name, x)) {
    hl_build_end(call, NULL);
    call.builder = NULL;
  }
  return call;
}

hlo_value *hlo_relu(hlo_value *x)
{
  hl_build_call call = hl_build_begin(__func__, 1, &x);
  return call.builder ? hl_build_end(call, hlo_maximum(x, hl_build_like(x, 0.0))) : NULL;
}

static hlo_value *gelu(hlo_value *x, int exact)
{
  hlo_value *inner = x;
  if (!exact) /* sqrt(2/pi) (x + 0.044715 x^3) */
    inner = hlo_add(x, scaled(hlo_multiply(hlo_square(x), x), 0.044715));
  inner = scaled(inner, exact ? sqrt(0.5) : 0.79788456080286535588);
  inner = exact ? hlo_erf(inner) : hlo_tanh(inner);
  hlo_value *half = scaled(x, 0.5);
  return hlo_multiply(half, plus(inner, 1.0));
}

hlo_value *hlo_gelu(hlo_value *x, int exact)
{
  hl_build_call call = begin_floats(__func__, x);
  return call.builder ? hl_build_end(call, gelu(x, exact)) : NULL;
}

/* x less its maximum along the axis, so that exp does not overflow. */
static hlo_value *shifted(hlo_value *x, int axis)
{
  return hlo_subtract(x, hlo_max(x, 1, &axis, 1));
}

static hlo_value *softmax(hlo_value *x, int axis)
{
  hlo_value *e = hlo_exp(shifted(x, axis));
  return hlo_divide(e, hlo_sum(e, 1, &axis, 1));
}

hlo_value *hlo_softmax(hlo_value *x, int axis)
{
  hl_build_call call = begin_floats(__func__, x);
  return call.builder ? hl_build_end(call, softmax(x, axis)) : NULL;
}

static hlo_value *log_softmax(hlo_value *x, int axis)
{
  hlo_value *s = shifted(x, axis);
  return hlo_subtract(s, hlo_log(hlo_sum(hlo_exp(s), 1, &axis, 1)));
}

hlo_value *hlo_log_softmax(hlo_value *x, int axis)
{
  hl_build_call call = begin_floats(__func__, x);
  return call.builder ? hl_build_end(call, log_softmax(x, axis)) : NULL;
}

/* An argument for each of `features`, or none at all. */
static bool is_per_feature(const char *caller, const char *what, hlo_value *x, int64_t features)
{
  if (!x)
    return true;
  const hl_shape *shape = hl_shape_of(x);
  if (!hl_build_wants_array(caller, x))
    return false;
  if (shape->rank == 1 && shape->dimensions[0] == features)
    return true;
  hl_build_error(x->builder, caller, "the %s has shape %s; wanted (%" PRId64 ",)", what,
                 hl_say_sizes(x->builder, shape->rank, shape->dimensions), features);
  return false;
}

static hlo_value *layer_norm(hlo_value *x, hlo_value *weight, hlo_value *bias, double epsilon)
{
  const char *caller = "hlo_layer_norm";
  int last = -1, rank = hl_shape_of(x)->rank;
  if (rank == 0)
    return hl_build_error(x->builder, caller, "'%s' has no dimensions", hlo_value_name(x));
  int64_t features = hl_shape_of(x)->dimensions[rank - 1];
  if (!is_per_feature(caller, "weight", weight, features) || !is_per_feature(caller, "bias", bias, features))
    return NULL;
  hlo_value *centred = hlo_subtract(x, hlo_mean(x, 1, &last, 1));
  hlo_value *variance = hlo_mean(hlo_square(centred), 1, &last, 1);
  hlo_value *y = hlo_multiply(centred, hlo_rsqrt(plus(variance, epsilon)));
  y = weight ? hlo_multiply(y, weight) : y;
  return bias ? hlo_add(y, bias) : y;
}

hlo_value *hlo_layer_norm(hlo_value *x, hlo_value *weight, hlo_value *bias, double epsilon)
{
  hl_build_call call = begin_floats(__func__, x);
  return call.builder ? hl_build_end(call, layer_norm(x, weight, bias, epsilon)) : NULL;
}

static hlo_value *linear(hlo_value *x, hlo_value *weight, hlo_value *bias)
{
  const char *caller = "hlo_linear";
  hlo_builder *b = x->builder;
  if (!hl_build_wants_array(caller, x) || !hl_build_wants_array(caller, weight))
    return NULL;
  const hl_shape *in = hl_shape_of(x), *w = hl_shape_of(weight);
  if (in->rank == 0 || w->rank != 2)
    return hl_build_error(b, caller, "x has %d dimensions and weight %d; wanted at least 1, and 2", in->rank, w->rank);
  if (in->dimensions[in->rank - 1] != w->dimensions[1])
    return hl_build_error(b, caller, "x %s ends with %" PRId64 " features; weight %s takes %" PRId64,
                          hl_say_sizes(b, in->rank, in->dimensions), in->dimensions[in->rank - 1],
                          hl_say_sizes(b, 2, w->dimensions), w->dimensions[1]);
  if (!is_per_feature(caller, "bias", bias, w->dimensions[0]))
    return NULL;
  hlo_value *y = hl_build_line(b, caller, "dot(%v, %v), lhs_contracting_dims={%d}, rhs_contracting_dims={1}", x, weight,
                               in->rank - 1);
  return bias ? hlo_add(y, bias) : y;
}

hlo_value *hlo_linear(hlo_value *x, hlo_value *weight, hlo_value *bias)
{
  hl_build_call call = hl_build_begin(__func__, 2, (hlo_value *[]){x, weight});
  return call.builder ? hl_build_end(call, linear(x, weight, bias)) : NULL;
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

/* PyTorch's rule; HLO would give an empty array. In double, where nothing overflows. */
static bool kernel_fits(const char *caller, hlo_value *x, const int64_t *kernel, const hlo_conv2d_options *o)
{
  const int64_t *size = hl_shape_of(x)->dimensions + 2;
  bool fits = true;
  for (int i = 0; i < 2; i++)
    fits = fits && ((double)kernel[i] - 1) * (double)o->dilation[i] + 1 <= (double)size[i] + 2 * (double)o->padding[i];
  if (fits)
    return true;
  const char *given = hl_say_sizes(x->builder, 2, kernel);
  hl_build_error(x->builder, caller, "the kernel %s does not fit into pictures %s and their padding", given,
                 hl_say_sizes(x->builder, 2, size));
  return false;
}

static hlo_value *conv2d(hlo_value *x, hlo_value *weight, hlo_value *bias, hlo_conv2d_options o)
{
  const char *caller = "hlo_conv2d";
  hlo_builder *b = x->builder;
  const hl_shape *in = hl_shape_of(x), *w = hl_shape_of(weight);
  if (in->rank != 4 || w->rank != 4)
    return hl_build_error(b, caller, "x has %d dimensions and weight %d; wanted 4 and 4", in->rank, w->rank);
  int64_t channels;
  if (!hl_mul_i64(w->dimensions[1], o.groups, &channels) || in->dimensions[1] != channels)
    return hl_build_error(b, caller, "x %s has %" PRId64 " channels; weight %s takes %" PRId64 " in %" PRId64 " group%s",
                          hl_say_sizes(b, 4, in->dimensions), in->dimensions[1], hl_say_sizes(b, 4, w->dimensions),
                          w->dimensions[1], o.groups, o.groups == 1 ? "" : "s");
  if (!is_per_feature(caller, "bias", bias, w->dimensions[0]))
    return NULL;
  const int64_t *size = w->dimensions + 2;
  if (!kernel_fits(caller, x, size, &o))
    return NULL;
  hlo_value *y = hl_build_line(
      b, caller,
      "convolution(%v, %v), window={size=%lx%l stride=%lx%l pad=%l_%lx%l_%l rhs_dilate=%lx%l}, "
      "dim_labels=bf01_oi01->bf01, feature_group_count=%l",
      x, weight, size[0], size[1], o.stride[0], o.stride[1], o.padding[0], o.padding[0], o.padding[1],
      o.padding[1], o.dilation[0], o.dilation[1], o.groups);
  return bias ? hlo_add(y, hlo_unsqueeze(hlo_unsqueeze(bias, -1), -1)) : y;
}

hlo_value *hlo_conv2d(hlo_value *x, hlo_value *weight, hlo_value *bias,
                      const hlo_conv2d_options *options)
{
  hl_build_call call = hl_build_begin(__func__, 2, (hlo_value *[]){x, weight});
  return call.builder ? hl_build_end(call, conv2d(x, weight, bias, completed(options))) : NULL;
}

/* A reduction over the windows of pictures. */
typedef struct pooling {
  const char *caller, *opcode;
  int64_t kernel, stride, padding;
} pooling;

static hlo_value *pool(hlo_value *x, pooling p, hlo_value *first)
{
  if (hl_shape_of(x)->rank != 4)
    return hl_build_error(x->builder, p.caller, "x has %d dimensions; wanted 4", hl_shape_of(x)->rank);
  const int64_t kernel[] = {p.kernel, p.kernel};
  if (!kernel_fits(p.caller, x, kernel, &(hlo_conv2d_options){.dilation = {1, 1}, .padding = {p.padding, p.padding}}))
    return NULL;
  hlo_computation *region = hlo_region(x->builder, p.opcode, hlo_value_type(x));
  return hl_build_line(x->builder, p.caller,
                       "reduce-window(%v, %v), window={size=1x1x%lx%l stride=1x1x%lx%l pad=0_0x0_0x%l_%lx%l_%l}, to_apply=%c", x,
                       first, p.kernel, p.kernel, p.stride, p.stride, p.padding, p.padding, p.padding, p.padding, region);
}

hlo_value *hlo_max_pool2d(hlo_value *x, int64_t kernel, int64_t stride, int64_t padding)
{
  pooling p = {__func__, "maximum", kernel, stride ? stride : kernel, padding};
  hl_build_call call = hl_build_begin(__func__, 1, &x);
  if (!call.builder)
    return NULL;
  bool is_good = hl_build_wants_array(__func__, x) && hl_build_wants_order(__func__, x);
  return hl_build_end(call, is_good ? pool(x, p, hl_build_extreme(x, true)) : NULL);
}

hlo_value *hlo_avg_pool2d(hlo_value *x, int64_t kernel, int64_t stride, int64_t padding)
{
  pooling p = {__func__, "add", kernel, stride ? stride : kernel, padding};
  hl_build_call call = begin_floats(__func__, x);
  return call.builder ? hl_build_end(call, scaled(pool(x, p, hl_build_like(x, 0.0)), 1.0 / ((double)kernel * (double)kernel))) : NULL;
}

hlo_value *hlo_mse(hlo_value *x, hlo_value *target)
{
  hl_build_call call = hl_build_begin(__func__, 2, (hlo_value *[]){x, target});
  if (!call.builder)
    return NULL;
  bool is_good = hl_build_wants_floats(__func__, x);
  return hl_build_end(call, is_good ? hlo_mean(hlo_square(hlo_subtract(x, target)), 0, NULL, 0) : NULL);
}

static hlo_value *cross_entropy(hlo_value *logits, hlo_value *labels)
{
  hlo_builder *b = logits->builder;
  const hl_shape *x = hl_shape_of(logits), *y = hl_shape_of(labels);
  if (x->rank != 2 || y->rank != 1 || x->dimensions[0] != y->dimensions[0] ||
      !hl_is_integral(y->element_type))
    return hl_build_error(b, "hlo_cross_entropy", "logits are %s%s and labels %s%s; wanted [N, C] and integers [N]",
                          hlo_value_type(logits), hl_say_sizes(b, x->rank, x->dimensions),
                          hlo_value_type(labels), hl_say_sizes(b, y->rank, y->dimensions));
  hlo_value *classes = hlo_iota(b, hlo_value_type(labels), 2, x->dimensions, 1);
  hlo_value *is_label = hlo_equal(classes, hlo_unsqueeze(labels, 1));
  hlo_value *picked = hlo_where(is_label, hlo_log_softmax(logits, 1), hl_build_like(logits, 0.0));
  int last = 1;
  return hlo_negative(hlo_mean(hlo_sum(picked, 1, &last, 0), 0, NULL, 0));
}

hlo_value *hlo_cross_entropy(hlo_value *logits, hlo_value *labels)
{
  hl_build_call call = hl_build_begin(__func__, 2, (hlo_value *[]){logits, labels});
  return call.builder ? hl_build_end(call, cross_entropy(logits, labels)) : NULL;
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
  return hlo_where(mask, scores, hl_build_extreme(scores, true));
}

static hlo_value *attention(hlo_value *q, hlo_value *k, hlo_value *v, hlo_value *mask)
{
  const char *caller = "hlo_attention";
  hlo_builder *b = q->builder;
  hlo_value *all[] = {q, k, v};
  for (int i = 0; i < 3; i++)
    if (!hl_build_wants_floats(caller, all[i]) || !hl_build_wants_order(caller, all[i]))
      return NULL;
    else if (hl_shape_of(all[i])->rank < 2)
      return hl_build_error(b, caller, "'%s' has less than 2 dimensions", hlo_value_name(all[i]));
  const hl_shape *x = hl_shape_of(q), *y = hl_shape_of(k);
  int64_t width = x->dimensions[x->rank - 1];
  if (width != y->dimensions[y->rank - 1])
    return hl_build_error(b, caller, "q %s and k %s differ in their last dimension: %" PRId64 " against %" PRId64,
                          hl_say_sizes(b, x->rank, x->dimensions), hl_say_sizes(b, y->rank, y->dimensions), width,
                          y->dimensions[y->rank - 1]);
  hlo_value *scores = scaled(hlo_matmul(q, swap_last(k)), 1.0 / sqrt((double)width));
  return hlo_matmul(hlo_softmax(masked(scores, mask), -1), v);
}

hlo_value *hlo_attention(hlo_value *q, hlo_value *k, hlo_value *v, hlo_value *mask)
{
  hl_build_call call = hl_build_begin(__func__, 3, (hlo_value *[]){q, k, v});
  return call.builder ? hl_build_end(call, attention(q, k, v, mask)) : NULL;
}
