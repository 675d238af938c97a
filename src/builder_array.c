/* builder_array - NumPy's and PyTorch's manners on top of the builder: broadcasting, views,
 * selection, matmul. Each function makes explicit instructions and nothing else. */
#include "builder_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_RANK = HL_LIMIT_RANK };

/* ---- broadcasting ---- */

/* The sizes that two shapes broadcast to, at out; -1 where they clash, with the dimension of the
 * result at *clash. */
static int broadcast_two(int x_rank, const int64_t *x, int y_rank, const int64_t *y, int64_t *out,
                         int *clash)
{
  int rank = x_rank > y_rank ? x_rank : y_rank;
  for (int i = 0; i < rank; i++) {
    int xi = i - (rank - x_rank), yi = i - (rank - y_rank);
    int64_t a = xi < 0 ? 1 : x[xi], b = yi < 0 ? 1 : y[yi];
    *clash = i;
    if (a != b && a != 1 && b != 1)
      return -1;
    out[i] = a == 1 ? b : a;
  }
  return rank;
}

int hlo_broadcast_shapes(int count, const int *ranks, const int64_t *const *dimensions, int64_t *out)
{
  int rank = 0, clash = 0;
  for (int i = 0; i < count; i++) {
    int64_t sizes[MAX_RANK];
    if (ranks[i] < 0 || ranks[i] > MAX_RANK)
      return -1;
    memcpy(sizes, out, (size_t)rank * sizeof *sizes);
    rank = broadcast_two(rank, sizes, ranks[i], dimensions[i], out, &clash);
    if (rank < 0)
      return -1;
  }
  return rank;
}

static void clash_error(const char *caller, hlo_builder *builder, int a_rank, const int64_t *a,
                        const hl_shape *b, int clash)
{
  int rank = a_rank > b->rank ? a_rank : b->rank;
  const char *x_sizes = hl_say_sizes(builder, a_rank, a);
  const char *y_sizes = hl_say_sizes(builder, b->rank, b->dimensions);
  hl_build_error(builder, caller,
                 "operands could not be broadcast together with shapes %s %s: %" PRId64 " against %" PRId64
                 " in dimension %d of the result",
                 x_sizes, y_sizes, a[clash - (rank - a_rank)], b->dimensions[clash - (rank - b->rank)], clash);
}

static bool same_types(const char *caller, hlo_value *x, hlo_value *y)
{
  if (!hl_build_wants_array(caller, x) || !hl_build_wants_array(caller, y))
    return false;
  const char *a = hlo_value_type(x), *b = hlo_value_type(y);
  if (hl_shape_of(x)->element_type == hl_shape_of(y)->element_type)
    return true;
  hl_build_error(x->builder, caller, "operands are %s and %s; convert one with hlo_convert", a, b);
  return false;
}

/* The rank of what two arrays broadcast to and its sizes, -1 after an error. */
static int join(const char *caller, hlo_value *x, hlo_value *y, int64_t *out)
{
  const hl_shape *a = hl_shape_of(x), *b = hl_shape_of(y);
  int clash = 0, rank = broadcast_two(a->rank, a->dimensions, b->rank, b->dimensions, out, &clash);
  if (rank < 0)
    clash_error(caller, x->builder, a->rank, a->dimensions, b, clash);
  return rank;
}

/* One instruction of a binary op; the smaller operand lies on the last dimensions. `more` are
 * further attributes. */
static hlo_value *binary(const char *caller, const char *opcode, const char *more, hlo_value *x,
                         hlo_value *y)
{
  hlo_value *both[] = {x, y};
  hlo_builder *b = hl_builder_of(caller, 2, both);
  int64_t sizes[MAX_RANK], places[MAX_RANK];
  if (!b || !same_types(caller, x, y))
    return NULL;
  int rank = join(caller, x, y, sizes);
  if (rank < 0)
    return NULL;
  int x_rank = hl_shape_of(x)->rank, y_rank = hl_shape_of(y)->rank;
  int small = x_rank < y_rank ? x_rank : y_rank;
  if (small == 0 || x_rank == y_rank)
    return hl_build_line(b, caller, "%s(%v, %v)%s", opcode, x, y, more);
  for (int i = 0; i < small; i++)
    places[i] = rank - small + i;
  return hl_build_line(b, caller, "%s(%v, %v), broadcast_dimensions=%D%s", opcode, x, y, small, places,
                       more);
}

#define HL_BINARY(name, opcode, more)                                                              \
  hlo_value *hlo_##name(hlo_value *x, hlo_value *y)                                                \
  {                                                                                                \
    return binary("hlo_" #name, opcode, more, x, y);                                               \
  }
HL_BINARY(add, "add", "")
HL_BINARY(subtract, "subtract", "")
HL_BINARY(multiply, "multiply", "")
HL_BINARY(divide, "divide", "")
HL_BINARY(fmod, "remainder", "")
HL_BINARY(power, "power", "")
HL_BINARY(arctan2, "atan2", "")
HL_BINARY(maximum, "maximum", "")
HL_BINARY(minimum, "minimum", "")
HL_BINARY(and, "and", "")
HL_BINARY(or, "or", "")
HL_BINARY(xor, "xor", "")
HL_BINARY(left_shift, "shift-left", "")
HL_BINARY(complex, "complex", "")
HL_BINARY(equal, "compare", ", direction=EQ")
HL_BINARY(not_equal, "compare", ", direction=NE")
HL_BINARY(less, "compare", ", direction=LT")
HL_BINARY(less_equal, "compare", ", direction=LE")
HL_BINARY(greater, "compare", ", direction=GT")
HL_BINARY(greater_equal, "compare", ", direction=GE")
#undef HL_BINARY

hlo_value *hlo_right_shift(hlo_value *x, hlo_value *y)
{
  bool is_signed = x && hl_type_class_of(hl_shape_of(x)->element_type) == HL_CLASS_SIGNED;
  return binary(__func__, is_signed ? "shift-right-arithmetic" : "shift-right-logical", "", x, y);
}

/* fmod, moved by y where the signs differ; a float zero takes the sign of y. */
static hlo_value *remainder_of(hlo_value *x, hlo_value *y)
{
  hlo_value *r = binary("hlo_remainder", "remainder", "", x, y);
  if (!r || hl_type_class_of(hl_shape_of(r)->element_type) == HL_CLASS_UNSIGNED)
    return r;
  hlo_value *zero = hl_build_like(r, 0.0);
  hlo_value *below = hlo_less(y, zero);
  hlo_value *differ = hlo_xor(hlo_less(r, zero), below);
  hlo_value *moves = hlo_and(differ, hlo_not_equal(r, zero));
  hlo_value *moved = hlo_where(moves, hlo_add(r, y), r);
  if (!hl_is_float(hl_shape_of(r)->element_type))
    return moved;
  hlo_value *signed_zero = hlo_where(below, hl_build_like(r, -0.0), zero);
  return hlo_where(hlo_equal(r, zero), signed_zero, moved);
}

hlo_value *hlo_remainder(hlo_value *x, hlo_value *y)
{
  hl_build_call call = hl_build_begin(__func__, 2, (hlo_value *[]){x, y});
  return call.builder ? hl_build_end(call, remainder_of(x, y)) : NULL;
}

/* ---- unary ---- */

static hlo_value *unary(const char *caller, const char *opcode, hlo_value *x)
{
  hlo_builder *b = hl_builder_of(caller, 1, &x);
  return b ? hl_build_line(b, caller, "%s(%v)", opcode, x) : NULL;
}

#define HL_UNARY(name, opcode)                                                                     \
  hlo_value *hlo_##name(hlo_value *x)                                                              \
  {                                                                                                \
    return unary("hlo_" #name, opcode, x);                                                         \
  }
HL_UNARY(negative, "negate")
HL_UNARY(abs, "abs")
HL_UNARY(sign, "sign")
HL_UNARY(exp, "exponential")
HL_UNARY(expm1, "exponential-minus-one")
HL_UNARY(log, "log")
HL_UNARY(log1p, "log-plus-one")
HL_UNARY(sqrt, "sqrt")
HL_UNARY(rsqrt, "rsqrt")
HL_UNARY(cbrt, "cbrt")
HL_UNARY(sin, "sine")
HL_UNARY(cos, "cosine")
HL_UNARY(tan, "tan")
HL_UNARY(tanh, "tanh")
HL_UNARY(sigmoid, "logistic")
HL_UNARY(erf, "erf")
HL_UNARY(floor, "floor")
HL_UNARY(ceil, "ceil")
HL_UNARY(round, "round-nearest-even")
HL_UNARY(isfinite, "is-finite")
HL_UNARY(invert, "not")
HL_UNARY(real, "real")
HL_UNARY(imag, "imag")
#undef HL_UNARY

hlo_value *hlo_square(hlo_value *x)
{
  return hlo_multiply(x, x);
}

/* "s64[2,3] " of other sizes: what a stated result shape needs. */
static hlo_value *stated(const char *caller, hlo_value *x, const char *type, int rank,
                         const int64_t *sizes, const char *opcode, const char *attributes)
{
  char text[MAX_RANK * 21 + 2] = "[";
  size_t length = 1;
  for (int i = 0; i < rank; i++)
    length += (size_t)snprintf(text + length, sizeof text - length, i ? ",%" PRId64 : "%" PRId64, sizes[i]);
  return hl_build_line(x->builder, caller, "%s%s] %s(%v)%s", type, text, opcode, x, attributes);
}

hlo_value *hlo_convert(hlo_value *x, const char *type)
{
  if (!hl_builder_of(__func__, 1, &x) || !hl_build_wants_array(__func__, x))
    return NULL;
  const hl_shape *shape = hl_shape_of(x);
  if (!type || hl_type_by_name(type, strlen(type)) == HL_TYPE_COUNT)
    return hl_build_error(x->builder, __func__, "there is no element type '%s'", type ? type : "");
  return stated(__func__, x, type, shape->rank, shape->dimensions, "convert", "");
}

/* ---- shapes ---- */

static hlo_value *reshape(const char *caller, hlo_value *x, int rank, const int64_t *sizes)
{
  const hl_shape *shape = hl_shape_of(x);
  bool is_same = shape->rank == rank;
  for (int i = 0; is_same && i < rank; i++)
    is_same = shape->dimensions[i] == sizes[i];
  return is_same ? x : stated(caller, x, hlo_value_type(x), rank, sizes, "reshape", "");
}

/* Operand dimension i on places[i]; the sizes are equal. */
static hlo_value *place(const char *caller, hlo_value *x, int rank, const int64_t *sizes,
                        const int64_t *places)
{
  char text[MAX_RANK * 5 + 32] = ", dimensions={";
  size_t length = strlen(text);
  for (int i = 0; i < hl_shape_of(x)->rank; i++)
    length += (size_t)snprintf(text + length, sizeof text - length, i ? ",%" PRId64 : "%" PRId64, places[i]);
  snprintf(text + length, sizeof text - length, "}");
  return stated(caller, x, hlo_value_type(x), rank, sizes, "broadcast", text);
}

/* x on the last dimensions of `sizes`: its 1s that grow are dropped, a broadcast puts the rest in
 * place. */
static hlo_value *spread(const char *caller, hlo_value *x, int rank, const int64_t *sizes)
{
  const hl_shape *shape = hl_shape_of(x);
  int64_t kept[MAX_RANK], places[MAX_RANK];
  int count = 0, first = rank - shape->rank;
  for (int i = 0; i < shape->rank; i++)
    if (shape->dimensions[i] == sizes[first + i]) {
      kept[count] = shape->dimensions[i];
      places[count++] = first + i;
    }
  if (count == rank)
    return x;
  x = reshape(caller, x, count, kept);
  return x ? place(caller, x, rank, sizes, places) : NULL;
}

static hlo_value *broadcast_to(const char *caller, hlo_value *x, int rank, const int64_t *sizes)
{
  const hl_shape *shape = hl_shape_of(x);
  bool fits = rank >= shape->rank && rank <= MAX_RANK;
  for (int i = 0; fits && i < shape->rank; i++) {
    int64_t from = shape->dimensions[i], to = sizes[rank - shape->rank + i];
    fits = from == to || from == 1;
  }
  for (int i = 0; fits && i < rank; i++)
    fits = sizes[i] >= 0;
  if (fits)
    return spread(caller, x, rank, sizes);
  const char *from = hl_say_sizes(x->builder, shape->rank, shape->dimensions);
  return hl_build_error(x->builder, caller, "cannot broadcast shape %s to %s", from,
                        hl_say_sizes(x->builder, rank < 0 ? 0 : rank, sizes));
}

hlo_value *hlo_broadcast_to(hlo_value *x, int rank, const int64_t *dimensions)
{
  if (!hl_builder_of(__func__, 1, &x) || !hl_build_wants_array(__func__, x))
    return NULL;
  return broadcast_to(__func__, x, rank, dimensions);
}

/* The rank of what all arrays broadcast to and its sizes, -1 after an error. */
static int join_all(const char *caller, int count, hlo_value *const *values, int64_t *out)
{
  int rank = 0, clash = 0;
  for (int i = 0; i < count; i++) {
    int64_t before[MAX_RANK];
    int old = rank;
    const hl_shape *shape = hl_shape_of(values[i]);
    if (!hl_build_wants_array(caller, values[i]))
      return -1;
    memcpy(before, out, (size_t)rank * sizeof *out);
    rank = broadcast_two(old, before, shape->rank, shape->dimensions, out, &clash);
    if (rank >= 0)
      continue;
    clash_error(caller, values[i]->builder, old, before, shape, clash);
    return -1;
  }
  return rank;
}

static bool broadcast_all(const char *caller, int count, hlo_value *const *values, hlo_value **out)
{
  int64_t sizes[MAX_RANK];
  bool is_good = count == 0 || hl_builder_of(caller, count, values);
  int rank = is_good ? join_all(caller, count, values, sizes) : -1;
  is_good = rank >= 0;
  for (int i = 0; i < count; i++) {
    out[i] = is_good ? spread(caller, values[i], rank, sizes) : NULL;
    is_good = is_good && out[i];
  }
  return is_good;
}

int hlo_broadcast_arrays(int count, hlo_value *const *values, hlo_value **out)
{
  return broadcast_all(__func__, count, values, out) ? 0 : 1;
}

hlo_value *hlo_expand(hlo_value *x, int rank, const int64_t *dimensions)
{
  if (!hl_builder_of(__func__, 1, &x) || !hl_build_wants_array(__func__, x))
    return NULL;
  const hl_shape *shape = hl_shape_of(x);
  int64_t sizes[MAX_RANK];
  if (rank < shape->rank || rank > MAX_RANK)
    return hl_build_error(x->builder, __func__, "the number of sizes (%d) must be at least the rank (%d)", rank,
                          shape->rank);
  for (int i = 0; i < rank; i++) {
    int from = i - (rank - shape->rank);
    sizes[i] = dimensions[i] == -1 && from >= 0 ? shape->dimensions[from] : dimensions[i];
    if (from >= 0 && sizes[i] != shape->dimensions[from] && shape->dimensions[from] != 1)
      return hl_build_error(x->builder, __func__,
                            "the expanded size (%" PRId64 ") must match the existing size (%" PRId64
                            ") in dimension %d, which is not 1",
                            sizes[i], shape->dimensions[from], i);
    if (sizes[i] < 0)
      return hl_build_error(x->builder, __func__, "a size of %" PRId64 " in dimension %d", sizes[i], i);
  }
  return spread(__func__, x, rank, sizes);
}

hlo_value *hlo_unsqueeze(hlo_value *x, int axis)
{
  if (!hl_builder_of(__func__, 1, &x) || !hl_build_wants_array(__func__, x))
    return NULL;
  const hl_shape *shape = hl_shape_of(x);
  int at = hl_build_axis(__func__, x, axis, shape->rank + 1);
  int64_t sizes[MAX_RANK + 1];
  if (at < 0)
    return NULL;
  for (int i = 0; i <= shape->rank; i++)
    sizes[i] = i == at ? 1 : shape->dimensions[i - (i > at)];
  return reshape(__func__, x, shape->rank + 1, sizes);
}

hlo_value *hlo_squeeze(hlo_value *x, int axis)
{
  if (!hl_builder_of(__func__, 1, &x) || !hl_build_wants_array(__func__, x))
    return NULL;
  const hl_shape *shape = hl_shape_of(x);
  int at = hl_build_axis(__func__, x, axis, shape->rank);
  int64_t sizes[MAX_RANK];
  if (at < 0 || shape->dimensions[at] != 1)
    return at < 0 ? NULL : x;
  for (int i = 0; i < shape->rank - 1; i++)
    sizes[i] = shape->dimensions[i + (i >= at)];
  return reshape(__func__, x, shape->rank - 1, sizes);
}

/* The size that -1 stands for; -1: there is none. */
static int64_t missing_size(int64_t elements, int rank, const int64_t *sizes)
{
  int64_t others = 1;
  for (int i = 0; i < rank; i++)
    if (sizes[i] >= 0 && !hl_mul_i64(others, sizes[i], &others))
      return -1;
  return others > 0 && elements % others == 0 ? elements / others : -1;
}

hlo_value *hlo_view(hlo_value *x, int rank, const int64_t *dimensions)
{
  if (!hl_builder_of(__func__, 1, &x) || !hl_build_wants_array(__func__, x))
    return NULL;
  int64_t sizes[MAX_RANK], elements = hl_shape_elements(hl_shape_of(x)), product = 1;
  int unknown = 0;
  bool fits = rank >= 0 && rank <= MAX_RANK;
  for (int i = 0; fits && i < rank; i++)
    unknown += dimensions[i] == -1;
  for (int i = 0; fits && i < rank; i++) {
    sizes[i] = dimensions[i] == -1 ? missing_size(elements, rank, dimensions) : dimensions[i];
    fits = sizes[i] >= 0 && unknown <= 1 && hl_mul_i64(product, sizes[i], &product);
  }
  if (fits && product == elements)
    return reshape(__func__, x, rank, sizes);
  const char *to = hl_say_sizes(x->builder, rank < 0 || rank > MAX_RANK ? 0 : rank, dimensions);
  return hl_build_error(x->builder, __func__, "cannot reshape array of size %" PRId64 " into shape %s",
                        elements, to);
}

/* [r0 d0, r1 d1, ...] by way of [r0, d0, r1, d1, ...]. */
hlo_value *hlo_repeat(hlo_value *x, int rank, const int64_t *repeats)
{
  if (!hl_builder_of(__func__, 1, &x) || !hl_build_wants_array(__func__, x))
    return NULL;
  const hl_shape *shape = hl_shape_of(x);
  int64_t pairs[MAX_RANK] = {0}, places[MAX_RANK] = {0}, sizes[MAX_RANK];
  if (rank < shape->rank || 2 * rank > MAX_RANK)
    return hl_build_error(x->builder, __func__, "%d repeats of an array with %d dimensions", rank,
                          shape->rank);
  for (int i = 0; i < rank; i++) {
    int from = i - (rank - shape->rank);
    int64_t size = from < 0 ? 1 : shape->dimensions[from];
    pairs[2 * i] = repeats[i];
    pairs[2 * i + 1] = size;
    if (from >= 0)
      places[from] = 2 * i + 1;
    if (repeats[i] < 0 || !hl_mul_i64(repeats[i], size, &sizes[i]))
      return hl_build_error(x->builder, __func__, "%" PRId64 " repeats of dimension %d", repeats[i], i);
  }
  hlo_value *spaced = place(__func__, x, 2 * rank, pairs, places);
  return spaced ? reshape(__func__, spaced, rank, sizes) : NULL;
}

hlo_value *hlo_transpose(hlo_value *x, const int *permutation)
{
  if (!hl_builder_of(__func__, 1, &x) || !hl_build_wants_array(__func__, x))
    return NULL;
  int rank = hl_shape_of(x)->rank;
  int64_t order[MAX_RANK];
  for (int i = 0; i < rank; i++) {
    int axis = permutation ? hl_build_axis(__func__, x, permutation[i], rank) : rank - 1 - i;
    if (axis < 0)
      return NULL;
    order[i] = axis;
  }
  return hl_build_line(x->builder, __func__, "transpose(%v), dimensions=%D", x, rank, order);
}

static int64_t bound(int64_t at, int64_t size)
{
  at = at < 0 ? at + size : at;
  return at < 0 ? 0 : at > size ? size : at;
}

hlo_value *hlo_slice(hlo_value *x, int axis, int64_t start, int64_t stop)
{
  if (!hl_builder_of(__func__, 1, &x) || !hl_build_wants_array(__func__, x))
    return NULL;
  const hl_shape *shape = hl_shape_of(x);
  int at = hl_build_axis(__func__, x, axis, shape->rank);
  char text[MAX_RANK * 44 + 16] = ", slice={";
  size_t length = strlen(text);
  int64_t sizes[MAX_RANK];
  if (at < 0)
    return NULL;
  start = bound(start, shape->dimensions[at]);
  stop = bound(stop, shape->dimensions[at]);
  stop = stop < start ? start : stop;
  for (int i = 0; i < shape->rank; i++) {
    int64_t from = i == at ? start : 0, to = i == at ? stop : shape->dimensions[i];
    sizes[i] = to - from;
    length += (size_t)snprintf(text + length, sizeof text - length, "%s[%" PRId64 ":%" PRId64 "]",
                               i ? ", " : "", from, to);
  }
  snprintf(text + length, sizeof text - length, "}");
  return stated(__func__, x, hlo_value_type(x), shape->rank, sizes, "slice", text);
}

hlo_value *hlo_concatenate(int count, hlo_value *const *values, int axis)
{
  hlo_builder *b = hl_builder_of(__func__, count, values);
  if (!b || !hl_build_wants_array(__func__, values[0]))
    return NULL;
  int at = hl_build_axis(__func__, values[0], axis, hl_shape_of(values[0])->rank);
  const char *names = at < 0 ? NULL : hl_build_names(b, count, values);
  return names ? hl_build_line(b, __func__, "concatenate(%s), dimensions={%d}", names, at) : NULL;
}

/* ---- selection ---- */

/* Indices below 0 moved up by the size. */
static hlo_value *wrapped(hlo_value *indices, int64_t size)
{
  if (hl_type_class_of(hl_shape_of(indices)->element_type) != HL_CLASS_SIGNED)
    return indices;
  hlo_value *is_negative = hlo_less(indices, hl_build_like(indices, 0.0));
  hlo_value *moved = hlo_add(indices, hl_build_like(indices, (double)size));
  return hlo_where(is_negative, moved, indices);
}

static hlo_value *take(hlo_value *x, hlo_value *indices, int axis)
{
  const char *caller = "hlo_take";
  if (!hl_build_wants_array(caller, x) || !hl_build_wants_array(caller, indices))
    return NULL;
  const hl_shape *shape = hl_shape_of(x), *places = hl_shape_of(indices);
  if (!hl_is_integral(places->element_type))
    return hl_build_error(x->builder, caller, "the indices '%s' are %s; wanted integers", hlo_value_name(indices),
                          hlo_value_type(indices));
  int at = hl_build_axis(caller, x, axis, shape->rank), count = 0;
  if (at < 0)
    return NULL;
  if (shape->dimensions[at] == 0 && hl_shape_elements(places) > 0)
    return hl_build_error(x->builder, caller, "cannot take from an empty axis");
  int64_t offsets[MAX_RANK], sizes[MAX_RANK];
  for (int i = 0; i < shape->rank; i++) {
    sizes[i] = i == at ? 1 : shape->dimensions[i];
    if (i != at)
      offsets[count++] = i < at ? i : i - 1 + places->rank;
  }
  indices = wrapped(indices, shape->dimensions[at]);
  return hl_build_line(x->builder, caller,
                       "gather(%v, %v), offset_dims=%D, collapsed_slice_dims={%d}, start_index_map={%d}, "
                       "index_vector_dim=%d, slice_sizes=%D",
                       x, indices, count, offsets, at, at, places->rank, shape->rank, sizes);
}

hlo_value *hlo_take(hlo_value *x, hlo_value *indices, int axis)
{
  hl_build_call call = hl_build_begin(__func__, 2, (hlo_value *[]){x, indices});
  return call.builder ? hl_build_end(call, take(x, indices, axis)) : NULL;
}

hlo_value *hlo_where(hlo_value *condition, hlo_value *x, hlo_value *y)
{
  hlo_value *all[] = {condition, x, y}, *same[3];
  hlo_builder *b = hl_builder_of(__func__, 3, all);
  if (!b || !same_types(__func__, x, y))
    return NULL;
  if (hl_shape_of(condition)->element_type != HL_PRED)
    return hl_build_error(b, __func__, "the condition '%s' is %s; compare it first", hlo_value_name(condition),
                          hlo_value_type(condition));
  if (!broadcast_all(__func__, 3, all, same))
    return NULL;
  return hl_build_line(b, __func__, "select(%v, %v, %v)", same[0], same[1], same[2]);
}

hlo_value *hlo_clip(hlo_value *x, hlo_value *low, hlo_value *high)
{
  if (low)
    x = binary(__func__, "maximum", "", x, low);
  return high ? binary(__func__, "minimum", "", x, high) : x;
}

/* ---- products ---- */

/* The last `keep` dimensions of x behind the batch. */
static hlo_value *with_batch(hlo_value *x, int batch_rank, const int64_t *batch)
{
  const hl_shape *shape = hl_shape_of(x);
  int64_t sizes[MAX_RANK];
  memcpy(sizes, batch, (size_t)batch_rank * sizeof *sizes);
  memcpy(sizes + batch_rank, shape->dimensions + shape->rank - 2, 2 * sizeof *sizes);
  return spread("hlo_matmul", x, batch_rank + 2, sizes);
}

static hlo_value *dot(hlo_value *x, hlo_value *y, int batch)
{
  int64_t places[MAX_RANK];
  for (int i = 0; i < batch; i++)
    places[i] = i;
  if (batch == 0)
    return hl_build_line(x->builder, "hlo_matmul",
                         "dot(%v, %v), lhs_contracting_dims={%d}, rhs_contracting_dims={%d}", x, y,
                         hl_shape_of(x)->rank - 1, hl_shape_of(y)->rank > 1 ? hl_shape_of(y)->rank - 2 : 0);
  return hl_build_line(x->builder, "hlo_matmul",
                       "dot(%v, %v), lhs_batch_dims=%D, lhs_contracting_dims={%d}, rhs_batch_dims=%D, "
                       "rhs_contracting_dims={%d}",
                       x, y, batch, places, batch + 1, batch, places, batch);
}

static hlo_value *matmul_error(hlo_value *x, hlo_value *y)
{
  const hl_shape *a = hl_shape_of(x), *b = hl_shape_of(y);
  const char *left = hl_say_sizes(x->builder, a->rank, a->dimensions);
  return hl_build_error(x->builder, "hlo_matmul", "shapes %s and %s do not multiply", left,
                        hl_say_sizes(x->builder, b->rank, b->dimensions));
}

/* Both have at least two dimensions. */
static hlo_value *batched(hlo_value *x, hlo_value *y)
{
  const hl_shape *a = hl_shape_of(x), *b = hl_shape_of(y);
  int64_t batch[MAX_RANK];
  int clash = 0, rank = broadcast_two(a->rank - 2, a->dimensions, b->rank - 2, b->dimensions, batch, &clash);
  if (rank < 0 || rank + 2 > MAX_RANK)
    return matmul_error(x, y);
  x = with_batch(x, rank, batch);
  y = x ? with_batch(y, rank, batch) : NULL;
  return y ? dot(x, y, rank) : NULL;
}

static hlo_value *matmul(hlo_value *x, hlo_value *y)
{
  if (!same_types("hlo_matmul", x, y))
    return NULL;
  int a = hl_shape_of(x)->rank, b = hl_shape_of(y)->rank;
  if (a == 0 || b == 0 ||
      hl_shape_of(x)->dimensions[a - 1] != hl_shape_of(y)->dimensions[b > 1 ? b - 2 : 0])
    return matmul_error(x, y);
  if (a <= 2 && b <= 2)
    return dot(x, y, 0);
  if (b == 1)
    return dot(x, y, 0);
  if (a == 1)
    return hlo_squeeze(batched(hlo_unsqueeze(x, 0), y), -2);
  return batched(x, y);
}

hlo_value *hlo_matmul(hlo_value *x, hlo_value *y)
{
  hl_build_call call = hl_build_begin(__func__, 2, (hlo_value *[]){x, y});
  return call.builder ? hl_build_end(call, matmul(x, y)) : NULL;
}
