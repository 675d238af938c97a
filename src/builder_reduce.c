/* builder_reduce - reductions with NumPy's axes and keepdims. */
#include "builder_internal.h"

#include <math.h>
#include <string.h>

enum { MAX_RANK = HL_LIMIT_RANK };

/* What a reduction works on, once its axes are checked. */
typedef struct reduced_axes {
  int rank, count;
  int64_t list[MAX_RANK];  /* ascending */
  int64_t kept[MAX_RANK];  /* the result's sizes with keepdims */
  int64_t elements;        /* that one result takes */
} reduced_axes;

static bool mark_axes(const char *caller, hlo_value *x, int count, const int *given, bool *is_reduced)
{
  int rank = hl_shape_of(x)->rank;
  memset(is_reduced, given == NULL, MAX_RANK * sizeof *is_reduced);
  for (int i = 0; given && i < count; i++) {
    int axis = hl_build_axis(caller, x, given[i], rank);
    if (axis < 0)
      return false;
    if (is_reduced[axis]) {
      hl_build_error(x->builder, caller, "duplicate value %d in axes", given[i]);
      return false;
    }
    is_reduced[axis] = true;
  }
  return true;
}

static bool read_axes(const char *caller, hlo_value *x, int count, const int *given, reduced_axes *out)
{
  bool is_reduced[MAX_RANK];
  if (!hl_builder_of(caller, 1, &x) || !hl_build_wants_array(caller, x) ||
      !mark_axes(caller, x, count, given, is_reduced))
    return false;
  const hl_shape *shape = hl_shape_of(x);
  *out = (reduced_axes){.rank = shape->rank, .elements = 1};
  for (int i = 0; i < shape->rank; i++) {
    out->kept[i] = is_reduced[i] ? 1 : shape->dimensions[i];
    if (!is_reduced[i])
      continue;
    out->list[out->count++] = i;
    out->elements *= shape->dimensions[i];
  }
  return true;
}

static hlo_value *finish(hlo_value *reduced, const reduced_axes *a, int keepdims)
{
  return reduced && keepdims ? hlo_view(reduced, a->rank, a->kept) : reduced;
}

static hlo_value *reduce(const char *caller, const char *opcode, hlo_value *x, hlo_value *init,
                         const reduced_axes *a, int keepdims)
{
  hlo_computation *region = init ? hlo_region(x->builder, opcode, hlo_value_type(x)) : NULL;
  if (!region)
    return NULL;
  hlo_value *reduced = hl_build_line(x->builder, caller, "reduce(%v, %v), dimensions=%D, to_apply=%c", x,
                                     init, a->count, a->list, region);
  return finish(reduced, a, keepdims);
}

static hlo_value *fold(const char *caller, const char *opcode, double init, hlo_value *x, int count,
                       const int *given, int keepdims)
{
  reduced_axes a;
  hl_build_call call = hl_build_begin(caller, 1, &x);
  if (!call.builder)
    return NULL;
  bool is_good = read_axes(caller, x, count, given, &a);
  return hl_build_end(call, is_good ? reduce(caller, opcode, x, hl_build_like(x, init), &a, keepdims) : NULL);
}

hlo_value *hlo_sum(hlo_value *x, int count, const int *axes, int keepdims)
{
  return fold(__func__, "add", 0.0, x, count, axes, keepdims);
}

hlo_value *hlo_prod(hlo_value *x, int count, const int *axes, int keepdims)
{
  return fold(__func__, "multiply", 1.0, x, count, axes, keepdims);
}

static hlo_value *fold_pred(const char *caller, const char *opcode, double init, hlo_value *x, int count,
                            const int *given, int keepdims)
{
  if (x && hl_shape_of(x)->element_type != HL_PRED)
    return hl_build_error(x->builder, caller, "'%s' is %s; compare it first", hlo_value_name(x),
                          hlo_value_type(x));
  return fold(caller, opcode, init, x, count, given, keepdims);
}

hlo_value *hlo_all(hlo_value *x, int count, const int *axes, int keepdims)
{
  return fold_pred(__func__, "and", 1.0, x, count, axes, keepdims);
}

hlo_value *hlo_any(hlo_value *x, int count, const int *axes, int keepdims)
{
  return fold_pred(__func__, "or", 0.0, x, count, axes, keepdims);
}

hlo_value *hl_build_extreme(const hlo_value *x, bool is_max)
{
  hl_element_type type = hl_shape_of(x)->element_type;
  if (hl_is_float(type) && !hl_float_has_infinity(type))
    return hl_build_like(x, is_max ? -hl_float_max_finite(type) : hl_float_max_finite(type));
  if (hl_is_float(type))
    return hl_build_like(x, is_max ? -INFINITY : INFINITY);
  bool is_signed = hl_type_class_of(type) == HL_CLASS_SIGNED;
  int bits = type == HL_PRED ? 1 : hl_type_bits(type);
  uint64_t all = UINT64_MAX >> (64 - bits), top = is_signed ? all >> 1 : all;
  uint64_t least = is_signed ? ~top : 0;
  uint64_t value = is_max ? least : top;
  return hlo_constant(x->builder, hl_type_name(type), 0, NULL, &value);
}

bool hl_build_wants_order(const char *caller, hlo_value *x)
{
  if (!hl_is_complex(hl_shape_of(x)->element_type))
    return true;
  hl_build_error(x->builder, caller, "'%s' is %s, which has no order", hlo_value_name(x), hlo_value_type(x));
  return false;
}

static hlo_value *extremum(const char *caller, bool is_max, hlo_value *x, int count, const int *given,
                           int keepdims)
{
  reduced_axes a;
  const char *opcode = is_max ? "maximum" : "minimum";
  hl_build_call call = hl_build_begin(caller, 1, &x);
  if (!call.builder)
    return NULL;
  if (!read_axes(caller, x, count, given, &a) || !hl_build_wants_order(caller, x))
    return hl_build_end(call, NULL);
  if (a.elements == 0)
    return hl_build_end(call, hl_build_error(x->builder, caller, "zero-size array to reduction operation %s which has no identity",
                                            opcode));
  return hl_build_end(call, reduce(caller, opcode, x, hl_build_extreme(x, is_max), &a, keepdims));
}

hlo_value *hlo_max(hlo_value *x, int count, const int *axes, int keepdims)
{
  return extremum(__func__, true, x, count, axes, keepdims);
}

hlo_value *hlo_min(hlo_value *x, int count, const int *axes, int keepdims)
{
  return extremum(__func__, false, x, count, axes, keepdims);
}

static hlo_value *mean(const char *caller, hlo_value *x, int count, const int *given, int keepdims)
{
  reduced_axes a;
  if (!read_axes(caller, x, count, given, &a) || !hl_build_wants_floats(caller, x))
    return NULL;
  hlo_value *sum = reduce(caller, "add", x, hl_build_like(x, 0.0), &a, keepdims);
  return sum ? hlo_divide(sum, hl_build_like(sum, (double)a.elements)) : NULL;
}

hlo_value *hlo_mean(hlo_value *x, int count, const int *given, int keepdims)
{
  hl_build_call call = hl_build_begin(__func__, 1, &x);
  return call.builder ? hl_build_end(call, mean(__func__, x, count, given, keepdims)) : NULL;
}

static hlo_value *var(const char *caller, hlo_value *x, int count, const int *given, int ddof, int keepdims)
{
  reduced_axes a;
  if (!read_axes(caller, x, count, given, &a) || !hl_build_wants_floats(caller, x))
    return NULL;
  hlo_value *squares = hlo_square(hlo_subtract(x, hlo_mean(x, count, given, 1)));
  if (!squares)
    return NULL;
  hlo_value *sum = reduce(caller, "add", squares, hl_build_like(x, 0.0), &a, keepdims);
  double divisor = (double)(a.elements - ddof);
  return sum ? hlo_divide(sum, hl_build_like(sum, divisor)) : NULL;
}

hlo_value *hlo_var(hlo_value *x, int count, const int *given, int ddof, int keepdims)
{
  hl_build_call call = hl_build_begin(__func__, 1, &x);
  return call.builder ? hl_build_end(call, var(__func__, x, count, given, ddof, keepdims)) : NULL;
}

/* ---- where the extremum is ---- */

/* (a, ai, b, bi) -> the pair that comes first: the greater, or NaN, then the lower index. Either
 * order of the arguments gives the same pair. */
static hlo_computation *pick_region(hlo_builder *b, const char *type, bool is_max)
{
  hlo_begin(b, is_max ? "argmax" : "argmin");
  hlo_value *x = hlo_parameter(b, "a", type, 0, NULL);
  hlo_value *xi = hlo_parameter(b, "ai", "s64", 0, NULL);
  hlo_value *y = hlo_parameter(b, "b", type, 0, NULL);
  hlo_value *yi = hlo_parameter(b, "bi", "s64", 0, NULL);
  hlo_value *x_nan = hlo_not_equal(x, x);
  hlo_value *y_nan = hlo_not_equal(y, y);
  hlo_value *wins = is_max ? hlo_greater(x, y) : hlo_less(x, y);
  wins = hlo_or(wins, hlo_and(x_nan, hlo_invert(y_nan)));
  hlo_value *both_nan = hlo_and(x_nan, y_nan);
  hlo_value *ties = hlo_or(both_nan, hlo_equal(x, y));
  hlo_value *first = hlo_or(wins, hlo_and(ties, hlo_less(xi, yi)));
  hlo_value *value = hlo_where(first, x, y);
  hlo_value *pair[] = {value, hlo_where(first, xi, yi)};
  return hlo_end(b, hlo_tuple(b, 2, pair));
}

static hlo_value *arg(const char *caller, bool is_max, hlo_value *x, int axis, int keepdims)
{
  reduced_axes a;
  if (!read_axes(caller, x, 1, &axis, &a) || !hl_build_wants_order(caller, x))
    return NULL;
  if (a.elements == 0)
    return hl_build_error(x->builder, caller, "attempt to get arg%s of an empty sequence",
                          is_max ? "max" : "min");
  hlo_builder *b = x->builder;
  hlo_value *index = hlo_iota(b, "s64", a.rank, hl_shape_of(x)->dimensions, (int)a.list[0]);
  hlo_value *init = hl_build_extreme(x, is_max);
  hlo_value *last = hlo_scalar(b, "s64", 0x1p62);
  hlo_computation *region = last ? pick_region(b, hlo_value_type(x), is_max) : NULL;
  if (!region)
    return NULL;
  hlo_value *pair = hl_build_line(b, caller, "reduce(%v, %v, %v, %v), dimensions=%D, to_apply=%c", x, index,
                                  init, last, 1, a.list, region);
  return pair ? finish(hlo_element(pair, 1), &a, keepdims) : NULL;
}

hlo_value *hlo_argmax(hlo_value *x, int axis, int keepdims)
{
  hl_build_call call = hl_build_begin(__func__, 1, &x);
  return call.builder ? hl_build_end(call, arg(__func__, true, x, axis, keepdims)) : NULL;
}

hlo_value *hlo_argmin(hlo_value *x, int axis, int keepdims)
{
  hl_build_call call = hl_build_begin(__func__, 1, &x);
  return call.builder ? hl_build_end(call, arg(__func__, false, x, axis, keepdims)) : NULL;
}
