/* eval_window - reduce-window and select-and-scatter (numerics rules 6, 7). */
#include "eval_window.h"

/* ---- windows ---- */

static const hl_window_dim POINT = {
    .size = 1, .stride = 1, .base_dilation = 1, .window_dilation = 1};

hl_window hl_window_of(const hl_instruction *ins, int rank)
{
  const hl_attr *attr = hl_attr_find(ins, HL_ATTR_WINDOW);
  hl_window window = {.rank = rank, .taps = 1};
  for (int d = 0; d < rank; d++) {
    window.dims[d] = attr ? attr->window.dims[d] : POINT;
    window.sizes[d] = window.dims[d].size;
    window.taps *= window.sizes[d];
  }
  return window;
}

hl_tap hl_window_tap(const hl_window_dim *dim, int64_t n, int64_t output, int64_t tap,
                     int64_t *input)
{
  int64_t at = output * dim->stride + tap * dim->window_dilation - dim->padding_low;
  if (at < 0 || at > (n - 1) * dim->base_dilation)
    return HL_TAP_PADDING;
  if (at % dim->base_dilation)
    return HL_TAP_HOLE;
  *input = at / dim->base_dilation;
  return HL_TAP_REAL;
}

/* The taps of one output, row-major. */
typedef struct taps {
  const hl_window *window;
  const hl_shape *shape; /* of what the window lies on */
  const int64_t *output;
  int64_t tap[HL_LIMIT_RANK];
  bool is_at_end;
} taps;

static taps taps_of(const hl_window *window, const hl_shape *shape, const int64_t *output)
{
  return (taps){.window = window, .shape = shape, .output = output};
}

static bool next_tap(taps *t)
{
  for (int d = t->window->rank - 1; d >= 0; d--) {
    if (++t->tap[d] < t->window->sizes[d])
      return true;
    t->tap[d] = 0;
  }
  return false;
}

/* The flat position under the current tap; false for padding and holes. */
static bool tap_position(const taps *t, int64_t *position)
{
  int64_t input;
  *position = 0;
  for (int d = 0; d < t->window->rank; d++) {
    int64_t n = t->shape->dimensions[d];
    if (hl_window_tap(&t->window->dims[d], n, t->output[d], t->tap[d], &input) != HL_TAP_REAL)
      return false;
    *position = *position * n + input;
  }
  return true;
}

/* The next real element under the window; false after the last. */
static bool next_real(taps *t, int64_t *position)
{
  while (!t->is_at_end) {
    bool is_real = tap_position(t, position);
    t->is_at_end = !next_tap(t);
    if (is_real)
      return true;
  }
  return false;
}

/* ---- rule 7 ---- */

enum { SCAN_BLOCK = 256 };

/* The dimension of a prefix window, or -1; *is_reversed: it runs from the end. */
static int prefix_dimension(const hl_window *window, const hl_shape *shape, bool *is_reversed)
{
  int found = -1;
  for (int d = 0; d < window->rank; d++) {
    const hl_window_dim *w = &window->dims[d];
    if (w->stride != 1 || w->base_dilation != 1 || w->window_dilation != 1)
      return -1;
    if (w->size == 1 && w->padding_low == 0 && w->padding_high == 0)
      continue;
    bool is_forward = w->padding_low == w->size - 1 && w->padding_high == 0;
    *is_reversed = w->padding_low == 0 && w->padding_high == w->size - 1;
    if (found >= 0 || w->size == 1 || w->size < shape->dimensions[d] ||
        !(is_forward || *is_reversed))
      return -1;
    found = d;
  }
  return found;
}

/* A line of n elements: element i lies at base + i * stride. */
typedef struct line {
  int64_t base, stride, n;
} line;

/* One op, computed in the accumulator's type. */
typedef struct accumulation {
  hl_opcode op;
  hl_element_type type, accumulator;
} accumulation;

static hl_scalar widened(const accumulation *a, const hl_literal *x, int64_t i)
{
  return hl_scalar_convert(a->accumulator, a->type, hl_scalar_load(x, i));
}

static hl_scalar combined(const accumulation *a, hl_scalar x, hl_scalar y)
{
  return hl_scalar_binary(a->op, a->accumulator, x, y);
}

static void store_rounded(const accumulation *a, hl_literal *result, int64_t i, hl_scalar value)
{
  hl_scalar_store(result, i,
                  hl_scalar_canonical(a->type, hl_scalar_convert(a->type, a->accumulator, value)));
}

static void prefix_line(const accumulation *a, const hl_literal *operand, hl_scalar init, line l,
                        hl_literal *result)
{
  hl_scalar offset = init, local = init;
  for (int64_t i = 0; i < l.n; i++) {
    int64_t at = l.base + i * l.stride;
    hl_scalar x = widened(a, operand, at);
    if (i && i % SCAN_BLOCK == 0)
      offset = combined(a, offset, local);
    local = i % SCAN_BLOCK ? combined(a, local, x) : x;
    store_rounded(a, result, at, combined(a, offset, local));
  }
}

static const hl_literal *prefix_windows(hl_eval *e, const accumulation *a,
                                        const hl_literal *const *operands, int dimension,
                                        bool is_reversed)
{
  const hl_shape *shape = operands[0]->shape;
  hl_literal *result = hl_eval_new(e, shape);
  hl_axes lines = HL_NO_AXES;
  int64_t strides[HL_LIMIT_RANK], n = shape->dimensions[dimension];
  hl_row_major(shape, strides);
  for (int d = 0; d < shape->rank; d++)
    if (d != dimension)
      hl_axes_add(&lines, shape->dimensions[d], strides[d]);
  for (int64_t i = 0; i < lines.total; i++) {
    line l = {hl_axes_offset(&lines, i), strides[dimension], n};
    if (is_reversed)
      l = (line){l.base + (n - 1) * l.stride, -l.stride, n};
    prefix_line(a, operands[0], widened(a, operands[1], 0), l, result);
  }
  return result;
}

/* ---- rule 6 ---- */

/* Sums and products of small floats accumulate in f32; everything else in its own type. */
static const hl_literal *accumulate_windows(hl_eval *e, const hl_instruction *ins,
                                            const accumulation *a,
                                            const hl_literal *const *operands)
{
  const hl_shape *shape = operands[0]->shape;
  hl_window window = hl_window_of(ins, shape->rank);
  hl_literal *result = hl_eval_new(e, ins->shape);
  int64_t output[HL_LIMIT_RANK] = {0}, total = hl_shape_elements(ins->shape), at, steps;
  hl_eval_charge(e, hl_mul_i64(total, window.taps, &steps) ? steps : INT64_MAX);
  for (int64_t i = 0; i < total; i++) {
    hl_scalar sum = widened(a, operands[1], 0);
    taps t = taps_of(&window, shape, output);
    while (next_real(&t, &at))
      sum = combined(a, sum, widened(a, operands[0], at));
    store_rounded(a, result, i, sum);
    hl_index_next(ins->shape, output);
  }
  return result;
}

/* args: room for the accumulators and, behind them, the elements. */
static void fold_window(hl_region *region, const hl_literal *const *operands, int count, taps t,
                        hl_scalar *args)
{
  int64_t at;
  for (int k = 0; k < count; k++)
    args[k] = hl_scalar_load(operands[count + k], 0);
  while (next_real(&t, &at)) {
    for (int k = 0; k < count; k++)
      args[count + k] = hl_scalar_load(operands[k], at);
    hl_region_call(region, args, args);
  }
}

static const hl_literal *fold_windows(hl_eval *e, const hl_instruction *ins,
                                      const hl_literal *const *operands, hl_region *region)
{
  int count = ins->operand_count / 2;
  const hl_shape *shape = operands[0]->shape;
  hl_window window = hl_window_of(ins, shape->rank);
  hl_literal **results = hl_eval_scratch(e, count, sizeof *results);
  hl_scalar *args = hl_eval_scratch(e, 2 * (int64_t)count, sizeof *args);
  for (int k = 0; k < count; k++)
    results[k] = hl_eval_new(e, ins->shape->element_type == HL_TUPLE ? ins->shape->tuple_shapes[k]
                                                                     : ins->shape);
  int64_t output[HL_LIMIT_RANK] = {0}, total = hl_shape_elements(results[0]->shape);
  for (int64_t i = 0; i < total; i++) {
    fold_window(region, operands, count, taps_of(&window, shape, output), args);
    for (int k = 0; k < count; k++)
      hl_scalar_store(results[k], i, hl_scalar_canonical(results[k]->shape->element_type, args[k]));
    hl_index_next(results[0]->shape, output);
  }
  hl_eval_drop(e, args);
  return hl_eval_results(e, ins, results);
}

static bool is_sum_or_product(hl_opcode op, hl_element_type type)
{
  return (op == HL_OP_ADD || op == HL_OP_MULTIPLY) && (hl_is_float(type) || hl_is_complex(type));
}

const hl_literal *hl_eval_reduce_window(hl_eval *e, const hl_instruction *ins,
                                        const hl_literal *const *operands)
{
  const hl_shape *shape = operands[0]->shape;
  hl_region *region = hl_region_open(e, hl_attr_computation(ins, HL_ATTR_TO_APPLY));
  hl_window window = hl_window_of(ins, shape->rank);
  bool is_reversed = false;
  int prefix = prefix_dimension(&window, shape, &is_reversed);
  accumulation a = {hl_region_op(region), shape->element_type,
                    hl_accumulator_type(shape->element_type)};
  const hl_literal *result;
  if (!is_sum_or_product(a.op, a.type))
    result = fold_windows(e, ins, operands, region);
  else if (prefix >= 0)
    result = prefix_windows(e, &a, operands, prefix, is_reversed);
  else
    result = accumulate_windows(e, ins, &a, operands);
  hl_region_close(region);
  return result;
}

/* ---- select-and-scatter ---- */

/* The position of the element that select keeps; false when there is no real one. */
static bool kept_position(hl_region *select, const hl_literal *operand, taps t, int64_t *kept)
{
  int64_t at;
  if (!next_real(&t, kept))
    return false;
  while (next_real(&t, &at)) {
    hl_scalar verdict, args[2] = {hl_scalar_load(operand, *kept), hl_scalar_load(operand, at)};
    hl_region_call(select, args, &verdict);
    if (!verdict.re)
      *kept = at;
  }
  return true;
}

/* Combines each source value into its place; places are scalars of the accumulator's type, or of
 * the element type when the region is neither a sum nor a product. */
static void scatter_sources(const hl_instruction *ins, const hl_literal *const *operands,
                            hl_region *const regions[2], const accumulation *a, hl_scalar *places)
{
  const hl_shape *shape = operands[0]->shape, *source = operands[1]->shape;
  hl_window window = hl_window_of(ins, shape->rank);
  int64_t output[HL_LIMIT_RANK] = {0}, total = hl_shape_elements(source), kept;
  for (int64_t i = 0; i < total; i++) {
    if (kept_position(regions[0], operands[0], taps_of(&window, shape, output), &kept)) {
      hl_scalar args[2] = {places[kept], widened(a, operands[1], i)};
      if (is_sum_or_product(a->op, a->type))
        places[kept] = combined(a, args[0], args[1]);
      else
        hl_region_call(regions[1], args, &places[kept]);
    }
    hl_index_next(source, output);
  }
}

const hl_literal *hl_eval_select_and_scatter(hl_eval *e, const hl_instruction *ins,
                                             const hl_literal *const *operands)
{
  hl_element_type type = ins->shape->element_type;
  hl_region *regions[2] = {hl_region_open(e, hl_attr_computation(ins, HL_ATTR_SELECT)),
                           hl_region_open(e, hl_attr_computation(ins, HL_ATTR_SCATTER))};
  hl_opcode op = hl_region_op(regions[1]);
  accumulation a = {op, type, is_sum_or_product(op, type) ? hl_accumulator_type(type) : type};
  int64_t total = hl_shape_elements(ins->shape);
  hl_literal *result = hl_eval_new(e, ins->shape);
  hl_scalar *places = hl_eval_scratch(e, total, sizeof *places);
  for (int64_t i = 0; i < total; i++)
    places[i] = widened(&a, operands[2], 0);
  scatter_sources(ins, operands, regions, &a, places);
  for (int64_t i = 0; i < total; i++)
    store_rounded(&a, result, i, places[i]);
  hl_eval_drop(e, places);
  hl_region_close(regions[0]);
  hl_region_close(regions[1]);
  return result;
}
