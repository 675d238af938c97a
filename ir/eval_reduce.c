/* eval_reduce - reduce (numerics rules 3, 4, 5) and map. */
#include "eval_internal.h"

#include <string.h>

enum { LANE_BYTES = 128, MOST_LANES = 32, ROW_BLOCK = 4096, COL_BLOCK = 256 };

/* The dimensions of a reduce's operands by what becomes of them. Dimensions of size 1 are in none.
 */
typedef struct split {
  hl_axes kept, rest; /* rest: reduced, but not in the run */
  hl_axes reduced;    /* rest and run together, in order */
  int64_t run;        /* elements of the run, which lie side by side */
} split;

static split split_dimensions(const hl_shape *shape, hl_ints dimensions)
{
  split s = {.kept = HL_NO_AXES, .rest = HL_NO_AXES, .reduced = HL_NO_AXES, .run = 1};
  bool is_reduced[HL_LIMIT_RANK] = {false};
  int64_t strides[HL_LIMIT_RANK];
  int run_begin = shape->rank;
  for (int i = 0; i < dimensions.count; i++)
    is_reduced[dimensions.values[i]] = true;
  while (run_begin > 0 && (is_reduced[run_begin - 1] || shape->dimensions[run_begin - 1] == 1))
    run_begin--;
  hl_row_major(shape, strides);
  for (int i = 0; i < shape->rank; i++) {
    int64_t size = shape->dimensions[i];
    if (size == 1)
      continue;
    hl_axes_add(is_reduced[i] ? &s.reduced : &s.kept, size, strides[i]);
    if (i >= run_begin)
      s.run *= size;
    else if (is_reduced[i])
      hl_axes_add(&s.rest, size, strides[i]);
  }
  return s;
}

/* ---- rule 4 ---- */

/* A sum or product of some elements; of none it is the identity, which changes nothing. */
typedef struct partial {
  bool is_some;
  hl_scalar value;
} partial;

typedef struct fold {
  const hl_literal *operand;
  hl_opcode op;
  hl_element_type type, accumulator;
  int lanes;
  const split *split;
  int64_t base; /* of the cell that is reduced */
} fold;

static partial join(const fold *f, partial x, partial y)
{
  if (!x.is_some || !y.is_some)
    return x.is_some ? x : y;
  return (partial){true, hl_scalar_binary(f->op, f->accumulator, x.value, y.value)};
}

static partial element(const fold *f, int64_t index)
{
  return (partial){true,
                   hl_scalar_convert(f->accumulator, f->type, hl_scalar_load(f->operand, index))};
}

/* The size of the consecutive blocks that n values are cut into: the largest power of `block` below
 * n, at least 1. */
static int64_t block_size(int64_t n, int64_t block)
{
  int64_t size = 1;
  while (n / block > size || (n / block == size && n % block))
    size *= block;
  return size;
}

/* ROW of n elements that lie side by side. Recursion is as deep as n has digits of base 4096. */
static partial row(const fold *f, int64_t begin, int64_t n)
{
  partial lane[MOST_LANES] = {{false, {0, 0}}};
  int64_t size = block_size(n, ROW_BLOCK), t = 0;
  for (int64_t done = 0; done < n; done += size, t++) {
    int64_t part = n - done < size ? n - done : size;
    partial x = size == 1 ? element(f, begin + done) : row(f, begin + done, part);
    lane[t % f->lanes] = join(f, lane[t % f->lanes], x);
  }
  for (int h = f->lanes / 2; h > 0; h /= 2)
    for (int l = 0; l < h; l++)
      lane[l] = join(f, lane[l], lane[l + h]);
  return lane[0];
}

/* COL of the rows that begin at the positions begin, begin + 1, ... of the rest. */
static partial col(const fold *f, int64_t begin, int64_t n)
{
  partial sum = {false, {0, 0}};
  int64_t size = block_size(n, COL_BLOCK);
  for (int64_t done = 0; done < n; done += size) {
    int64_t part = n - done < size ? n - done : size;
    int64_t offset = hl_axes_offset(&f->split->rest, begin + done);
    sum = join(f, sum,
               size == 1 ? row(f, f->base + offset, f->split->run) : col(f, begin + done, part));
  }
  return sum;
}

/* Folds every cell of x, with init, into the result. */
static void fold_cells(hl_opcode op, const hl_literal *x, hl_ints dimensions, hl_scalar init,
                       hl_literal *result)
{
  hl_element_type type = x->shape->element_type, accumulator = hl_accumulator_type(type);
  split s = split_dimensions(x->shape, dimensions);
  fold f = {.operand = x, .op = op, .type = type, .accumulator = accumulator, .split = &s};
  f.lanes = LANE_BYTES / hl_type_bytes(accumulator);
  partial first = {true, hl_scalar_convert(accumulator, type, init)};
  for (int64_t i = 0; i < s.kept.total; i++) {
    f.base = hl_axes_offset(&s.kept, i);
    hl_scalar value = join(&f, first, col(&f, 0, s.rest.total)).value;
    hl_scalar_store(result, i,
                    hl_scalar_canonical(type, hl_scalar_convert(type, accumulator, value)));
  }
}

void hl_sum_all_but(const hl_literal *x, int64_t dimension, hl_literal *sums)
{
  int64_t others[HL_LIMIT_RANK];
  int count = 0;
  for (int d = 0; d < x->shape->rank; d++)
    if (d != dimension)
      others[count++] = d;
  fold_cells(HL_OP_ADD, x, (hl_ints){others, count}, (hl_scalar){0, 0}, sums);
}

/* ---- rules 3 and 5: one element after the other ---- */

/* The results of a variadic op, one for each operand. */
static hl_literal **new_results(hl_eval *e, const hl_instruction *ins, int count)
{
  hl_literal **results = hl_eval_scratch(e, count, sizeof *results);
  for (int k = 0; k < count; k++)
    results[k] = hl_eval_new(e, ins->shape->element_type == HL_TUPLE ? ins->shape->tuple_shapes[k]
                                                                     : ins->shape);
  return results;
}

typedef struct reduction {
  hl_region *region;
  const hl_literal *const *operands;
  int count; /* of arrays that are reduced together */
  split split;
  hl_scalar *args; /* the accumulators and, behind them, the elements */
} reduction;

static void reduce_cell(const reduction *r, int64_t base)
{
  for (int k = 0; k < r->count; k++)
    r->args[k] = hl_scalar_load(r->operands[r->count + k], 0);
  for (int64_t i = 0; i < r->split.reduced.total; i++) {
    int64_t at = base + hl_axes_offset(&r->split.reduced, i);
    for (int k = 0; k < r->count; k++)
      r->args[r->count + k] = hl_scalar_load(r->operands[k], at);
    hl_region_call(r->region, r->args, r->args);
  }
}

static const hl_literal *reduce_in_order(hl_eval *e, const hl_instruction *ins,
                                         const hl_literal *const *operands, hl_region *region)
{
  int count = ins->operand_count / 2;
  reduction r = {region, operands, count,
                 split_dimensions(operands[0]->shape, hl_attr_ints(ins, HL_ATTR_DIMENSIONS)),
                 hl_eval_scratch(e, 2 * (int64_t)count, sizeof *r.args)};
  hl_literal **results = new_results(e, ins, count);
  for (int64_t i = 0; i < r.split.kept.total; i++) {
    reduce_cell(&r, hl_axes_offset(&r.split.kept, i));
    for (int k = 0; k < count; k++)
      hl_scalar_store(results[k], i,
                      hl_scalar_canonical(results[k]->shape->element_type, r.args[k]));
  }
  hl_eval_drop(e, r.args);
  return hl_eval_results(e, ins, results);
}

const hl_literal *hl_eval_reduce(hl_eval *e, const hl_instruction *ins,
                                 const hl_literal *const *operands)
{
  hl_region *region = hl_region_open(e, hl_attr_computation(ins, HL_ATTR_TO_APPLY));
  hl_opcode op = hl_region_op(region);
  hl_element_type type = operands[0]->shape->element_type;
  bool is_inexact = hl_is_float(type) || hl_is_complex(type);
  hl_eval_charge(e, hl_shape_elements(operands[0]->shape));
  const hl_literal *result;
  if (is_inexact && (op == HL_OP_ADD || op == HL_OP_MULTIPLY)) {
    hl_literal *sums = hl_eval_new(e, ins->shape);
    fold_cells(op, operands[0], hl_attr_ints(ins, HL_ATTR_DIMENSIONS),
               hl_scalar_load(operands[1], 0), sums);
    result = sums;
  } else {
    result = reduce_in_order(e, ins, operands, region);
  }
  hl_region_close(region);
  return result;
}

const hl_literal *hl_eval_map(hl_eval *e, const hl_instruction *ins,
                              const hl_literal *const *operands)
{
  hl_region *region = hl_region_open(e, hl_attr_computation(ins, HL_ATTR_TO_APPLY));
  hl_literal *result = hl_eval_new(e, ins->shape);
  hl_scalar *args = hl_eval_scratch(e, ins->operand_count, sizeof *args), value;
  int64_t total = hl_shape_elements(ins->shape);
  for (int64_t i = 0; i < total; i++) {
    for (int k = 0; k < ins->operand_count; k++)
      args[k] = hl_scalar_load(operands[k], i);
    hl_region_call(region, args, &value);
    hl_scalar_store(result, i, value);
  }
  hl_eval_drop(e, args);
  hl_region_close(region);
  return result;
}
