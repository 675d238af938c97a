/* eval_sort - sort and topk (numerics rule 11): top-down merge sort, halves [0, n/2) and [n/2, n),
 * left first unless the right element comes before it. */
#include "custom.h"
#include "eval_internal.h"

#include <math.h>
#include <string.h>

/* What is sorted are numbers of elements. */
typedef struct sorter {
  bool (*is_before)(struct sorter *s, int64_t right, int64_t left);
  int64_t *order, *merged; /* merged: room of the same size */
  /* sort: a line of each operand */
  hl_region *region;
  const hl_literal *const *operands;
  int count;
  hl_scalar *args;
  int64_t base, stride;
  /* topk */
  bool is_largest;
} sorter;

/* Recursion is as deep as n has binary digits. */
static void merge_sort(sorter *s, int64_t begin, int64_t end)
{
  if (end - begin < 2)
    return;
  int64_t middle = begin + (end - begin) / 2, left = begin, right = middle;
  merge_sort(s, begin, middle);
  merge_sort(s, middle, end);
  for (int64_t i = begin; i < end; i++) {
    bool takes_right =
        left == middle || (right < end && s->is_before(s, s->order[right], s->order[left]));
    s->merged[i] = s->order[takes_right ? right++ : left++];
  }
  memcpy(s->order + begin, s->merged + begin, (size_t)(end - begin) * sizeof *s->order);
}

static void sort_line(sorter *s, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    s->order[i] = i;
  merge_sort(s, 0, n);
}

/* ---- sort ---- */

static bool comparator_says(sorter *s, int64_t right, int64_t left)
{
  hl_scalar verdict;
  for (int k = 0; k < s->count; k++) {
    s->args[2 * k] = hl_scalar_load(s->operands[k], s->base + right * s->stride);
    s->args[2 * k + 1] = hl_scalar_load(s->operands[k], s->base + left * s->stride);
  }
  hl_region_call(s->region, s->args, &verdict);
  return verdict.re;
}

/* All dimensions but one. */
static hl_axes lines_across(const hl_shape *shape, int64_t dimension)
{
  hl_axes axes = HL_NO_AXES;
  int64_t strides[HL_LIMIT_RANK];
  hl_row_major(shape, strides);
  for (int d = 0; d < shape->rank; d++)
    if (d != dimension)
      hl_axes_add(&axes, shape->dimensions[d], strides[d]);
  return axes;
}

static void sort_lines(sorter *s, const hl_shape *shape, int64_t dimension,
                       hl_literal *const *results)
{
  hl_axes lines = lines_across(shape, dimension);
  int64_t strides[HL_LIMIT_RANK], n = shape->dimensions[dimension];
  hl_row_major(shape, strides);
  s->stride = strides[dimension];
  for (int64_t line = 0; line < lines.total; line++) {
    s->base = hl_axes_offset(&lines, line);
    sort_line(s, n);
    for (int k = 0; k < s->count; k++)
      for (int64_t i = 0; i < n; i++)
        hl_eval_move(results[k], s->base + i * s->stride, s->operands[k],
                     s->base + s->order[i] * s->stride);
  }
}

const hl_literal *hl_eval_sort(hl_eval *e, const hl_instruction *ins,
                               const hl_literal *const *operands)
{
  int count = ins->operand_count;
  const hl_shape *shape = operands[0]->shape;
  int64_t dimension = hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0],
          n = shape->dimensions[dimension];
  sorter s = {.is_before = comparator_says, .operands = operands, .count = count};
  s.region = hl_region_open(e, hl_attr_computation(ins, HL_ATTR_TO_APPLY));
  s.order = hl_eval_scratch(e, n, sizeof *s.order);
  s.merged = hl_eval_scratch(e, n, sizeof *s.merged);
  s.args = hl_eval_scratch(e, 2 * (int64_t)count, sizeof *s.args);
  hl_literal **results = hl_eval_scratch(e, count, sizeof *results);
  for (int k = 0; k < count; k++)
    results[k] = hl_eval_new(e, operands[k]->shape);
  sort_lines(&s, shape, dimension, results);
  hl_eval_drop(e, s.order);
  hl_eval_drop(e, s.merged);
  hl_eval_drop(e, s.args);
  hl_region_close(s.region);
  return hl_eval_results(e, ins, results);
}

/* ---- topk ---- */

/* -1, 0 or 1: zeros are equal, NaNs are equal and above all else. */
static int order_of_values(const hl_literal *values, int64_t x, int64_t y)
{
  hl_element_type type = values->shape->element_type;
  hl_scalar a = hl_scalar_load(values, x), b = hl_scalar_load(values, y);
  if (hl_is_float(type)) {
    double p = hl_scalar_double(type, a), q = hl_scalar_double(type, b);
    if (isnan(p) || isnan(q))
      return !!isnan(p) - !!isnan(q);
    return (p > q) - (p < q);
  }
  bool is_signed = hl_type_class_of(type) == HL_CLASS_SIGNED;
  hl_comparison how = is_signed ? HL_COMPARE_SIGNED : HL_COMPARE_UNSIGNED;
  return hl_scalar_compare(HL_GT, how, type, a, b) - hl_scalar_compare(HL_LT, how, type, a, b);
}

static bool ranks_first(sorter *s, int64_t right, int64_t left)
{
  int order = order_of_values(s->operands[0], s->base + right, s->base + left);
  return s->is_largest ? order > 0 : order < 0;
}

const hl_literal *hl_eval_topk(hl_eval *e, const hl_instruction *ins,
                               const hl_literal *const *operands)
{
  const hl_shape *shape = operands[0]->shape;
  int64_t n = shape->dimensions[shape->rank - 1],
          k = ins->shape->tuple_shapes[0]->dimensions[shape->rank - 1];
  int64_t lines = n ? hl_shape_elements(shape) / n : 0;
  sorter s = {.is_before = ranks_first,
              .operands = operands,
              .is_largest = ins->opcode == HL_OP_CUSTOM_CALL ? hl_custom_topk_is_largest(ins)
                                                              : hl_attr_int(ins, HL_ATTR_LARGEST, 1)};
  hl_literal *values = hl_eval_new(e, ins->shape->tuple_shapes[0]),
             *indices = hl_eval_new(e, ins->shape->tuple_shapes[1]);
  s.order = hl_eval_scratch(e, n, sizeof *s.order);
  s.merged = hl_eval_scratch(e, n, sizeof *s.merged);
  for (int64_t line = 0; line < lines; line++) {
    s.base = line * n;
    sort_line(&s, n);
    for (int64_t i = 0; i < k; i++) {
      hl_eval_move(values, line * k + i, operands[0], s.base + s.order[i]);
      hl_scalar_store(indices, line * k + i, hl_scalar_of_int(HL_S32, s.order[i]));
    }
  }
  hl_eval_drop(e, s.order);
  hl_eval_drop(e, s.merged);
  return hl_eval_tuple_of(e, ins->shape, (const hl_literal *const[]){values, indices});
}
