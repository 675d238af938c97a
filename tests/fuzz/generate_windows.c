/* generate_windows - reductions, windows, contractions, sorts, gathers and scatters, linear algebra, random numbers. */
#include "generate.h"

#include <stdio.h>
#include <string.h>

static hlo_value *zero_of(generator *g, const char *type)
{
  generated_shape scalar = {type, 0, {0}};
  return value_of(g, &scalar);
}

/* Some of the dimensions, each once. */
static int choose_dimensions(generator *g, int rank, int64_t *dimensions)
{
  int count = 0;
  for (int i = 0; i < rank; i++)
    if (choose(g, 2))
      dimensions[count++] = i;
  if (count == 0 && rank > 0)
    dimensions[count++] = rank - 1;
  return count;
}

static hlo_value *reduce(generator *g)
{
  hlo_value *x = any_array(g, HL_T_ARRAY, 1);
  const char *type = hlo_value_type(x);
  int64_t dimensions[GENERATE_RANK];
  int count = choose_dimensions(g, hlo_value_rank(x), dimensions);
  return hlo_emit(g->builder, "reduce(%v, %v), dimensions=%D, to_apply=%c", x, zero_of(g, type), count, dimensions,
                  binary_region(g, type));
}

/* The greater of two values with its position. */
static hlo_computation *argmax_region(generator *g, const char *type)
{
  hlo_builder *b = g->builder;
  hlo_begin(b, NULL);
  hlo_value *x = hlo_parameter(b, NULL, type, 0, NULL), *i = hlo_parameter(b, NULL, "s32", 0, NULL);
  hlo_value *y = hlo_parameter(b, NULL, type, 0, NULL), *j = hlo_parameter(b, NULL, "s32", 0, NULL);
  hlo_value *takes = hlo_emit(b, "compare(%v, %v), direction=%s", x, y, choose(g, 2) ? "GE" : "GT");
  hlo_value *value = hlo_emit(b, "select(%v, %v, %v)", takes, x, y);
  hlo_value *place = hlo_emit(b, "select(%v, %v, %v)", takes, i, j);
  return hlo_end(b, hlo_tuple(b, 2, (hlo_value *[]){value, place}));
}

static hlo_value *argmax(generator *g)
{
  hlo_value *x = any_array(g, HL_T_REAL, 1);
  generated_shape shape = shape_of(x), places = shape;
  places.type = "s32";
  int axis = choose(g, shape.rank);
  hlo_value *numbers = hlo_emit(g->builder, "%s iota(), iota_dimension=%d", shape_text(&places), axis);
  hlo_value *zero = hlo_emit(g->builder, "s32[] constant(0)");
  hlo_value *both = hlo_emit(g->builder, "reduce(%v, %v, %v, %v), dimensions={%d}, to_apply=%c", x, numbers,
                             zero_of(g, shape.type), zero, axis, argmax_region(g, shape.type));
  return hlo_element(both, choose(g, 2));
}

/* ---- windows ---- */

static int append(char *text, int at, int size, const char *format, int a, int b)
{
  return at + snprintf(text + at, (size_t)(size - at), format, a, b);
}

/* "size=2x3 stride=1x2 ..." over the sizes; dilations 1 or 2. Kernel sizes are chosen unless given. */
static const char *window_text(generator *g, int rank, const int64_t *kernel, bool dilates)
{
  enum { ROOM = 160 };
  static char text[5 * ROOM + 64];
  char fields[5][ROOM];
  int at[5] = {0};
  for (int i = 0; i < rank; i++) {
    const char *cross = i ? "x%d" : "%d", *pair = i ? "x%d_%d" : "%d_%d";
    at[0] = append(fields[0], at[0], ROOM, cross, kernel ? (int)kernel[i] : 1 + choose(g, 4), 0);
    at[1] = append(fields[1], at[1], ROOM, cross, 1 + choose(g, 3), 0);
    at[2] = append(fields[2], at[2], ROOM, pair, choose(g, 3), choose(g, 3));
    at[3] = append(fields[3], at[3], ROOM, cross, dilates ? 1 + toss(g, 4) : 1, 0);
    at[4] = append(fields[4], at[4], ROOM, cross, dilates ? 1 + toss(g, 4) : 1, 0);
  }
  snprintf(text, sizeof text, "size=%s stride=%s pad=%s lhs_dilate=%s rhs_dilate=%s", fields[0], fields[1], fields[2], fields[3],
           fields[4]);
  return text;
}

static hlo_value *reduce_window(generator *g)
{
  hlo_value *x = any_array(g, HL_T_ARRAY, 1);
  const char *type = hlo_value_type(x);
  return hlo_emit(g->builder, "reduce-window(%v, %v), window={%s}, to_apply=%c", x, zero_of(g, type),
                  window_text(g, hlo_value_rank(x), NULL, true), binary_region(g, type));
}

/* Every prefix of one dimension, as cumsum prints it. */
static hlo_value *prefix(generator *g)
{
  hlo_value *x = any_array(g, HL_T_REAL, 1);
  generated_shape shape = shape_of(x);
  int axis = choose(g, shape.rank), n = (int)shape.sizes[axis];
  bool reverse = choose(g, 2);
  char size[64] = "", pad[96] = "";
  int size_at = 0, pad_at = 0;
  if (n == 0)
    return reduce(g);
  for (int i = 0; i < shape.rank; i++) {
    bool here = i == axis;
    size_at = append(size, size_at, sizeof size, i ? "x%d" : "%d", here ? n : 1, 0);
    pad_at = append(pad, pad_at, sizeof pad, i ? "x%d_%d" : "%d_%d", here && !reverse ? n - 1 : 0, here && reverse ? n - 1 : 0);
  }
  return hlo_emit(g->builder, "reduce-window(%v, %v), window={size=%s pad=%s}, to_apply=%c", x, zero_of(g, shape.type), size, pad,
                  binary_region(g, shape.type));
}

static hlo_computation *at_least(generator *g, const char *type)
{
  hlo_builder *b = g->builder;
  hlo_begin(b, NULL);
  hlo_value *x = hlo_parameter(b, NULL, type, 0, NULL), *y = hlo_parameter(b, NULL, type, 0, NULL);
  return hlo_end(b, hlo_emit(b, "compare(%v, %v), direction=GE", x, y));
}

static hlo_value *select_and_scatter(generator *g)
{
  hlo_value *x = any_array(g, HL_T_REAL, 1);
  generated_shape shape = shape_of(x), source = shape;
  const char *sizes = "2", *strides = "2";
  for (int i = 0; i < shape.rank; i++)
    if (shape.sizes[i] < 2)
      return reduce(g);
  char size[64] = "", stride[64] = "";
  int size_at = 0, stride_at = 0;
  for (int i = 0; i < shape.rank; i++) {
    size_at = append(size, size_at, sizeof size, i ? "x%d" : "%d", 2, 0);
    stride_at = append(stride, stride_at, sizeof stride, i ? "x%d" : "%d", 1 + choose(g, 2), 0);
    source.sizes[i] = (shape.sizes[i] - 2) / (stride[stride_at - 1] - '0') + 1;
  }
  sizes = size;
  strides = stride;
  return hlo_emit(g->builder, "select-and-scatter(%v, %v, %v), window={size=%s stride=%s}, select=%c, scatter=%c", x,
                  value_of(g, &source), zero_of(g, shape.type), sizes, strides, at_least(g, shape.type),
                  hlo_region(g->builder, "add", shape.type));
}

/* ---- order ---- */

static hlo_value *sort(generator *g)
{
  hlo_value *operands[2] = {any_array(g, HL_T_PRED_REAL, 1)};
  generated_shape shape = shape_of(operands[0]);
  int axis = choose(g, shape.rank);
  if (choose(g, 2)) {
    hlo_computation *before = comparator_of(g, 1, operands);
    return hlo_emit(g->builder, "sort(%v), dimensions={%d}, is_stable=true, to_apply=%c", operands[0], axis, before);
  }
  shape.type = choose_type(g, HL_T_ARRAY);
  operands[1] = value_of(g, &shape);
  hlo_computation *before = comparator_of(g, 2, operands);
  hlo_value *both = hlo_emit(g->builder, "sort(%v, %v), dimensions={%d}, is_stable=true, to_apply=%c", operands[0], operands[1],
                             axis, before);
  return hlo_element(both, choose(g, 2));
}

static hlo_value *topk(generator *g)
{
  hlo_value *x = any_array(g, HL_T_REAL, 1);
  generated_shape shape = shape_of(x);
  int k = choose(g, (int)shape.sizes[shape.rank - 1] + 1);
  return hlo_element(hlo_emit(g->builder, "topk(%v), k=%d, largest=%s", x, k, choose(g, 2) ? "true" : "false"), choose(g, 2));
}

/* ---- contractions ---- */

/* Ranks 2 or 3; the contracted dimension is the last or the one before it. */
static hlo_value *dot(generator *g)
{
  hlo_value *x = any_array(g, HL_T_NUMBER, 2);
  generated_shape shape = shape_of(x), other = {shape.type, 0, {0}};
  if (shape.rank > 4)
    return reduce(g);
  int batch = choose(g, shape.rank - 1), contracted = shape.rank - 1 - choose(g, shape.rank - batch);
  int64_t dimensions[GENERATE_RANK];
  for (int i = 0; i < batch; i++) {
    dimensions[i] = i;
    other.sizes[other.rank++] = shape.sizes[i];
  }
  bool first = choose(g, 2);
  int64_t free_size = 1 + choose(g, 20);
  other.sizes[other.rank++] = first ? shape.sizes[contracted] : free_size;
  other.sizes[other.rank++] = first ? free_size : shape.sizes[contracted];
  return hlo_emit(g->builder,
                  "dot(%v, %v), lhs_batch_dims=%D, rhs_batch_dims=%D, lhs_contracting_dims={%d}, rhs_contracting_dims={%d}", x,
                  value_of(g, &other), batch, dimensions, batch, dimensions, contracted, first ? batch : batch + 1);
}

static hlo_value *convolution(generator *g)
{
  static const char *const labels[] = {"b0f_0io->b0f", "bf0_oi0->bf0", "b01f_01io->b01f", "bf01_oi01->bf01"};
  int form = choose(g, 4), spatial = form < 2 ? 1 : 2, groups = 1 + toss(g, 3);
  bool last = form % 2 == 0;
  const char *type = choose_type(g, HL_T_REAL);
  int64_t features = groups * (1 + choose(g, 4)), outputs = groups * (1 + choose(g, 9));
  int64_t x[4] = {1 + choose(g, 3)}, k[4], kernel[2];
  for (int i = 0; i < spatial; i++) {
    x[(last ? 1 : 2) + i] = 3 + choose(g, 8);
    kernel[i] = 1 + choose(g, 3);
    k[(last ? 0 : 2) + i] = kernel[i];
  }
  x[last ? spatial + 1 : 1] = features;
  k[last ? spatial : 1] = features / groups;
  k[last ? spatial + 1 : 0] = outputs;
  return hlo_emit(g->builder, "convolution(%v, %v), window={%s}, dim_labels=%s, feature_group_count=%d",
                  fresh_value(g, type, spatial + 2, x), fresh_value(g, type, spatial + 2, k),
                  window_text(g, spatial, kernel, true), labels[form], groups);
}

/* ---- gather and scatter ---- */

/* Indices in a vector; each entry takes a row, or a part of one, of the first dimension. */
static hlo_value *indices_of(generator *g, int64_t *count)
{
  static const char *const types[] = {"s32", "s8", "u32", "s64", "u8"};
  *count = 1 + choose(g, 9);
  generated_shape shape = {CHOOSE_OF(g, types), 1, {*count}};
  return value_of(g, &shape);
}

/* "1,2,3": the dimensions behind the first. */
static const char *others_text(int rank)
{
  static char text[64];
  text[0] = '\0';
  for (int i = 1, at = 0; i < rank; i++)
    at = append(text, at, sizeof text, i > 1 ? ",%d" : "%d", i, 0);
  return text;
}

static hlo_value *gather(generator *g)
{
  hlo_value *x = any_array(g, HL_T_ARRAY, 1);
  generated_shape shape = shape_of(x);
  if (shape.sizes[0] == 0)
    return reduce(g);
  int64_t count;
  hlo_value *indices = indices_of(g, &count);
  choose_part(g, &shape);
  shape.sizes[0] = 1;
  return hlo_emit(g->builder,
                  "gather(%v, %v), offset_dims={%s}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
                  "slice_sizes=%D",
                  x, indices, others_text(shape.rank), shape.rank, shape.sizes);
}

static hlo_computation *second(generator *g, const char *type)
{
  hlo_begin(g->builder, NULL);
  hlo_parameter(g->builder, NULL, type, 0, NULL);
  return hlo_end(g->builder, hlo_parameter(g->builder, NULL, type, 0, NULL));
}

static hlo_value *scatter(generator *g)
{
  hlo_value *x = any_array(g, HL_T_ARRAY, 1);
  generated_shape shape = shape_of(x), updates = shape;
  int64_t count;
  hlo_value *indices = indices_of(g, &count);
  choose_part(g, &updates);
  updates.sizes[0] = count;
  hlo_value *values = value_of(g, &updates);
  hlo_computation *region = choose(g, 3) ? binary_region(g, shape.type) : second(g, shape.type);
  return hlo_emit(g->builder,
                  "scatter(%v, %v, %v), update_window_dims={%s}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                  "index_vector_dim=1, to_apply=%c",
                  x, indices, values, others_text(shape.rank), region);
}

/* Starts of windows in the two first dimensions. */
static hlo_value *gather_windows(generator *g)
{
  hlo_value *x = any_array(g, HL_T_ARRAY, 2);
  generated_shape shape = shape_of(x);
  if (shape.rank > 3)
    return gather(g);
  choose_part(g, &shape);
  int64_t sizes[] = {1 + choose(g, 4), 2};
  hlo_value *indices = fresh_value(g, "s32", 2, sizes);
  return hlo_emit(g->builder,
                  "gather(%v, %v), offset_dims={%s}, collapsed_slice_dims={}, start_index_map={1,0}, index_vector_dim=1, "
                  "slice_sizes=%D",
                  x, indices, others_text(shape.rank + 1), shape.rank, shape.sizes);
}

/* ---- the rest ---- */

static hlo_value *square(generator *g, const char *type, int64_t n)
{
  return fresh_value(g, type, 3, (int64_t[]){1 + choose(g, 2), n, n});
}

static hlo_value *linear_algebra(generator *g)
{
  const char *type = choose(g, 4) ? (choose(g, 2) ? "f64" : "f32") : choose_type(g, HL_T_INEXACT);
  int64_t n = 1 + choose(g, 6);
  hlo_value *a = square(g, type, n);
  const char *lower = choose(g, 2) ? "true" : "false";
  if (choose(g, 2))
    return hlo_emit(g->builder, "cholesky(%v), lower=%s", a, lower);
  static const char *const transposes[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  generated_shape shape = shape_of(a);
  bool left = choose(g, 2);
  shape.sizes[left ? 2 : 1] = 1 + choose(g, 5);
  return hlo_emit(g->builder, "triangular-solve(%v, %v), left_side=%s, lower=%s, unit_diagonal=%s, transpose_a=%s", a,
                  value_of(g, &shape), left ? "true" : "false", lower, choose(g, 2) ? "true" : "false", CHOOSE_OF(g, transposes));
}

static hlo_value *fft(generator *g)
{
  static const char *const kinds[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  static const int lengths[] = {4, 8, 1, 2, 3, 5, 6, 7, 16, 12, 11, 32};
  int kind = choose(g, 4), n = CHOOSE_OF(g, lengths);
  int64_t sizes[] = {1 + choose(g, 3), kind == 3 ? n / 2 + 1 : n};
  const char *type = kind == 2 ? (choose(g, 2) ? "f64" : "f32") : choose(g, 2) ? "c128" : "c64";
  return hlo_emit(g->builder, "fft(%v), fft_type=%s, fft_length={%d}", fresh_value(g, type, 2, sizes), kinds[kind], n);
}

static hlo_value *random_bits(generator *g)
{
  static const char *const algorithms[] = {"rng_three_fry", "rng_philox", "rng_default"};
  static const char *const types[] = {"u32", "u64", "u8", "u16"};
  int64_t words = 2;
  generated_shape shape = shape_of(any_value(g, HL_T_ARRAY));
  shape.type = CHOOSE_OF(g, types);
  hlo_value *both = hlo_emit(g->builder, "(u64[2], %s) rng-bit-generator(%v), algorithm=%s", shape_text(&shape),
                             fresh_value(g, "u64", 1, &words), CHOOSE_OF(g, algorithms));
  return hlo_element(both, 1);
}

static hlo_value *batch_norm(generator *g)
{
  hlo_value *x = any_array(g, HL_T_FLOAT, 2);
  generated_shape shape = shape_of(x), vector = {shape.type, 1, {0}};
  int feature = choose(g, shape.rank);
  vector.sizes[0] = shape.sizes[feature];
  hlo_value *scale = value_of(g, &vector), *offset = value_of(g, &vector);
  if (choose(g, 2))
    return hlo_emit(g->builder, "batch-norm-inference(%v, %v, %v, %v, %v), epsilon=0.01, feature_index=%d", x, scale, offset,
                    offset, scale, feature);
  return hlo_element(hlo_emit(g->builder, "batch-norm-training(%v, %v, %v), epsilon=0.01, feature_index=%d", x, scale, offset,
                              feature), 0);
}

static hlo_value *collective(generator *g)
{
  hlo_value *x = any_value(g, HL_T_ARRAY);
  generated_shape shape = shape_of(x);
  return hlo_emit(g->builder, "%s all-reduce(%v), replica_groups={}, to_apply=%c", shape_text(&shape), x,
                  binary_region(g, shape.type));
}

instruction_maker *const window_makers[] = {
    reduce, reduce, reduce, argmax, reduce_window, prefix, select_and_scatter, sort, topk, dot, dot, dot, convolution,
    gather, scatter, gather_windows, linear_algebra, fft, random_bits, batch_norm, collective};
const int window_maker_count = sizeof window_makers / sizeof *window_makers;
