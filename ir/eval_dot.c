/* eval_dot - dot (numerics rule 8): every operand is laid out once as rows of terms, then each
 * result is one contraction. */
#include "eval_contract.h"

/* One operand: its dimensions in the three groups, each row-major. */
typedef struct side {
  hl_axes batch, free, contracting;
  hl_term *terms; /* batch x free x contracting */
} side;

static side split_operand(const hl_shape *shape, hl_ints batch, hl_ints contracting)
{
  side s = {.batch = HL_NO_AXES, .free = HL_NO_AXES, .contracting = HL_NO_AXES};
  bool is_taken[HL_LIMIT_RANK] = {false};
  int64_t strides[HL_LIMIT_RANK];
  hl_row_major(shape, strides);
  for (int i = 0; i < batch.count; i++) {
    is_taken[batch.values[i]] = true;
    hl_axes_add(&s.batch, shape->dimensions[batch.values[i]], strides[batch.values[i]]);
  }
  for (int i = 0; i < contracting.count; i++) {
    is_taken[contracting.values[i]] = true;
    hl_axes_add(&s.contracting, shape->dimensions[contracting.values[i]],
                strides[contracting.values[i]]);
  }
  for (int i = 0; i < shape->rank; i++)
    if (!is_taken[i])
      hl_axes_add(&s.free, shape->dimensions[i], strides[i]);
  return s;
}

static void lay_out(hl_eval *e, side *s, hl_element_type accumulator, const hl_literal *operand)
{
  hl_element_type type = operand->shape->element_type;
  hl_term *next = s->terms =
      hl_eval_scratch(e, s->batch.total * s->free.total * s->contracting.total, sizeof *next);
  for (int64_t b = 0; b < s->batch.total; b++)
    for (int64_t f = 0; f < s->free.total; f++) {
      int64_t base = hl_axes_offset(&s->batch, b) + hl_axes_offset(&s->free, f);
      for (int64_t k = 0; k < s->contracting.total; k++)
        *next++ = hl_term_of(accumulator, type,
                             hl_scalar_load(operand, base + hl_axes_offset(&s->contracting, k)));
    }
}

static side lhs_of(const hl_instruction *ins, const hl_literal *operand)
{
  return split_operand(operand->shape, hl_attr_ints(ins, HL_ATTR_LHS_BATCH_DIMS),
                       hl_attr_ints(ins, HL_ATTR_LHS_CONTRACTING_DIMS));
}

static side rhs_of(const hl_instruction *ins, const hl_literal *operand)
{
  return split_operand(operand->shape, hl_attr_ints(ins, HL_ATTR_RHS_BATCH_DIMS),
                       hl_attr_ints(ins, HL_ATTR_RHS_CONTRACTING_DIMS));
}

static void charge_dot(hl_eval *e, const hl_instruction *ins, int64_t n)
{
  int64_t steps;
  hl_eval_charge(e, hl_mul_i64(hl_shape_elements(ins->shape), n, &steps) ? steps : INT64_MAX);
}

static const hl_literal *dot_of(hl_eval *e, const hl_instruction *ins, const hl_literal *lhs,
                                const hl_literal *rhs)
{
  hl_element_type accumulator = hl_contraction_type(ins), type = ins->shape->element_type;
  side l = lhs_of(ins, lhs), r = rhs_of(ins, rhs);
  int64_t n = l.contracting.total, at = 0;
  charge_dot(e, ins, n);
  hl_literal *result = hl_eval_new(e, ins->shape);
  lay_out(e, &l, accumulator, lhs);
  lay_out(e, &r, accumulator, rhs);
  for (int64_t b = 0; b < l.batch.total; b++)
    for (int64_t i = 0; i < l.free.total; i++)
      for (int64_t j = 0; j < r.free.total; j++) {
        hl_scalar sum = hl_contract(accumulator, l.terms + (b * l.free.total + i) * n,
                                    r.terms + (b * r.free.total + j) * n, NULL, n);
        hl_scalar_store(result, at++, hl_scalar_convert(type, accumulator, sum));
      }
  hl_eval_drop(e, l.terms);
  hl_eval_drop(e, r.terms);
  return result;
}

const hl_literal *hl_eval_dot(hl_eval *e, const hl_instruction *ins,
                              const hl_literal *const *operands)
{
  return dot_of(e, ins, operands[0], operands[1]);
}

/* ---- scaled-dot: operands times their scales, in f32, one scale for each block of equal size ----
 */

static const hl_literal *scaled(hl_eval *e, const hl_literal *operand, const hl_literal *scale,
                                hl_shape *shape)
{
  const hl_shape *from = operand->shape;
  int64_t index[HL_LIMIT_RANK] = {0}, total = hl_shape_elements(from);
  *shape = *from;
  shape->element_type = HL_F32;
  hl_literal *result = hl_eval_new(e, shape);
  for (int64_t i = 0; i < total; i++) {
    int64_t at = 0;
    for (int d = 0; d < scale->shape->rank; d++)
      at = at * scale->shape->dimensions[d] +
           index[d] / (from->dimensions[d] / scale->shape->dimensions[d]);
    float x = hl_scalar_float(from->element_type, hl_scalar_load(operand, i));
    hl_scalar_store(result, i,
                    hl_scalar_of_float(HL_F32, x * hl_scalar_float(scale->shape->element_type,
                                                                   hl_scalar_load(scale, at))));
    hl_index_next(from, index);
  }
  return result;
}

const hl_literal *hl_eval_scaled_dot(hl_eval *e, const hl_instruction *ins,
                                     const hl_literal *const *operands)
{
  hl_shape shapes[2];
  const hl_literal *lhs = scaled(e, operands[0], operands[2], &shapes[0]);
  const hl_literal *rhs = scaled(e, operands[1], operands[3], &shapes[1]);
  const hl_literal *result = dot_of(e, ins, lhs, rhs);
  hl_eval_release(e, lhs);
  hl_eval_release(e, rhs);
  return result;
}

/* ---- ragged-dot: one dot for each group of consecutive positions of the lhs's ragged dimension
 * ---- */

typedef struct ragged {
  const hl_instruction *ins;
  hl_element_type accumulator;
  side l, r; /* the rhs's group dimension is the last of its batch dimensions */
  const hl_literal *sizes;
  int64_t groups;
} ragged;

static int64_t group_size(const ragged *c, int64_t group)
{
  return hl_scalar_int(c->sizes->shape->element_type, hl_scalar_load(c->sizes, group));
}

/* The group that a position lies in, or -1 behind the last. */
static int64_t group_of(const ragged *c, int64_t position)
{
  int64_t end = 0;
  for (int64_t g = 0; g < c->groups; g++) {
    end += group_size(c, g);
    if (position < end)
      return g;
  }
  return -1;
}

/* The place of a dimension among those that no list names. */
static int free_place(hl_ints batch, hl_ints contracting, int64_t dimension)
{
  int place = (int)dimension;
  for (int i = 0; i < batch.count; i++)
    place -= batch.values[i] < dimension;
  for (int i = 0; i < contracting.count; i++)
    place -= contracting.values[i] < dimension;
  return place;
}

static int64_t coordinate(const hl_axes *axes, int place, int64_t number)
{
  for (int i = axes->count - 1; i > place; i--)
    number /= axes->sizes[i];
  return number % axes->sizes[place];
}

/* Rows behind the last group are zero. */
static void ragged_rows(const ragged *c, int64_t dimension, hl_literal *result)
{
  const side *l = &c->l, *r = &c->r;
  hl_element_type type = c->ins->shape->element_type;
  int64_t n = l->contracting.total, at = 0;
  int place = free_place(hl_attr_ints(c->ins, HL_ATTR_LHS_BATCH_DIMS),
                         hl_attr_ints(c->ins, HL_ATTR_LHS_CONTRACTING_DIMS), dimension);
  for (int64_t b = 0; b < l->batch.total; b++)
    for (int64_t i = 0; i < l->free.total; i++) {
      int64_t group = group_of(c, coordinate(&l->free, place, i));
      for (int64_t j = 0; j < r->free.total; j++, at++) {
        if (group < 0)
          continue;
        const hl_term *row = r->terms + ((b * c->groups + group) * r->free.total + j) * n;
        hl_scalar sum =
            hl_contract(c->accumulator, l->terms + (b * l->free.total + i) * n, row, NULL, n);
        hl_scalar_store(result, at, hl_scalar_convert(type, c->accumulator, sum));
      }
    }
}

/* The terms of a row whose ragged coordinate lies in a group, side by side. */
static int64_t take_group(const ragged *c, int64_t group, int place, const hl_term *row,
                          hl_term *taken)
{
  int64_t count = 0;
  for (int64_t k = 0; k < c->l.contracting.total; k++)
    if (group_of(c, coordinate(&c->l.contracting, place, k)) == group)
      taken[count++] = row[k];
  return count;
}

static void ragged_sums(hl_eval *e, const ragged *c, int place, hl_literal *result)
{
  const side *l = &c->l, *r = &c->r;
  hl_element_type type = c->ins->shape->element_type;
  int64_t n = l->contracting.total, at = 0;
  hl_term *x = hl_eval_scratch(e, n, sizeof *x), *y = hl_eval_scratch(e, n, sizeof *y);
  for (int64_t group = 0; group < c->groups; group++)
    for (int64_t b = 0; b < l->batch.total; b++)
      for (int64_t i = 0; i < l->free.total; i++)
        for (int64_t j = 0; j < r->free.total; j++) {
          take_group(c, group, place, l->terms + (b * l->free.total + i) * n, x);
          int64_t count = take_group(c, group, place, r->terms + (b * r->free.total + j) * n, y);
          hl_scalar sum = hl_contract(c->accumulator, x, y, NULL, count);
          hl_scalar_store(result, at++, hl_scalar_convert(type, c->accumulator, sum));
        }
  hl_eval_drop(e, x);
  hl_eval_drop(e, y);
}

static int place_in(hl_ints list, int64_t value)
{
  for (int i = 0; i < list.count; i++)
    if (list.values[i] == value)
      return i;
  return -1;
}

/* The rhs with its group dimension as one more batch dimension. */
static side grouped_rhs(hl_eval *e, const hl_instruction *ins, const hl_literal *operand)
{
  hl_ints batch = hl_attr_ints(ins, HL_ATTR_RHS_BATCH_DIMS),
          group = hl_attr_ints(ins, HL_ATTR_RHS_GROUP_DIMS);
  int64_t *dimensions = hl_eval_scratch(e, batch.count + group.count, sizeof *dimensions);
  for (int i = 0; i < batch.count; i++)
    dimensions[i] = batch.values[i];
  for (int i = 0; i < group.count; i++)
    dimensions[batch.count + i] = group.values[i];
  side s = split_operand(operand->shape, (hl_ints){dimensions, batch.count + group.count},
                         hl_attr_ints(ins, HL_ATTR_RHS_CONTRACTING_DIMS));
  hl_eval_drop(e, dimensions);
  return s;
}

const hl_literal *hl_eval_ragged_dot(hl_eval *e, const hl_instruction *ins,
                                     const hl_literal *const *operands)
{
  int64_t dimension = hl_attr_ints(ins, HL_ATTR_LHS_RAGGED_DIMS).values[0];
  int place = place_in(hl_attr_ints(ins, HL_ATTR_LHS_CONTRACTING_DIMS), dimension);
  ragged c = {.ins = ins,
              .accumulator = hl_contraction_type(ins),
              .sizes = operands[2],
              .l = lhs_of(ins, operands[0])};
  if (place_in(hl_attr_ints(ins, HL_ATTR_LHS_BATCH_DIMS), dimension) >= 0)
    return dot_of(e, ins, operands[0], operands[1]); /* batches keep apart anyway */
  if (operands[2]->shape->rank != 1)
    hl_eval_stop(e, "group sizes of more than one dimension have no evaluator");
  c.groups = operands[2]->shape->dimensions[0];
  c.r = grouped_rhs(e, ins, operands[1]);
  charge_dot(e, ins, c.l.contracting.total);
  hl_literal *result = hl_eval_new(e, ins->shape);
  lay_out(e, &c.l, c.accumulator, operands[0]);
  lay_out(e, &c.r, c.accumulator, operands[1]);
  if (place >= 0)
    ragged_sums(e, &c, place, result);
  else
    ragged_rows(&c, dimension, result);
  hl_eval_drop(e, c.l.terms);
  hl_eval_drop(e, c.r.terms);
  return result;
}
