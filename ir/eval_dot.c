/* eval_dot - dot (numerics rule 8): every operand is laid out once as rows of terms, then each result is one contraction. */
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
    hl_axes_add(&s.contracting, shape->dimensions[contracting.values[i]], strides[contracting.values[i]]);
  }
  for (int i = 0; i < shape->rank; i++)
    if (!is_taken[i])
      hl_axes_add(&s.free, shape->dimensions[i], strides[i]);
  return s;
}

static void lay_out(hl_eval *e, side *s, hl_element_type accumulator, const hl_literal *operand)
{
  hl_element_type type = operand->shape->element_type;
  hl_term *next = s->terms = hl_eval_scratch(e, s->batch.total * s->free.total * s->contracting.total, sizeof *next);
  for (int64_t b = 0; b < s->batch.total; b++)
    for (int64_t f = 0; f < s->free.total; f++) {
      int64_t base = hl_axes_offset(&s->batch, b) + hl_axes_offset(&s->free, f);
      for (int64_t k = 0; k < s->contracting.total; k++)
        *next++ = hl_term_of(accumulator, type, hl_scalar_load(operand, base + hl_axes_offset(&s->contracting, k)));
    }
}

const hl_literal *hl_eval_dot(hl_eval *e, const hl_instruction *ins, const hl_literal *const *operands)
{
  hl_element_type accumulator = hl_contraction_type(ins), type = ins->shape->element_type;
  side l = split_operand(operands[0]->shape, hl_attr_ints(ins, HL_ATTR_LHS_BATCH_DIMS),
                         hl_attr_ints(ins, HL_ATTR_LHS_CONTRACTING_DIMS));
  side r = split_operand(operands[1]->shape, hl_attr_ints(ins, HL_ATTR_RHS_BATCH_DIMS),
                         hl_attr_ints(ins, HL_ATTR_RHS_CONTRACTING_DIMS));
  int64_t n = l.contracting.total, steps;
  hl_eval_charge(e, hl_mul_i64(hl_shape_elements(ins->shape), n, &steps) ? steps : INT64_MAX);
  hl_literal *result = hl_eval_new(e, ins->shape);
  lay_out(e, &l, accumulator, operands[0]);
  lay_out(e, &r, accumulator, operands[1]);
  int64_t at = 0;
  for (int64_t b = 0; b < l.batch.total; b++)
    for (int64_t i = 0; i < l.free.total; i++)
      for (int64_t j = 0; j < r.free.total; j++) {
        hl_scalar sum = hl_contract(accumulator, l.terms + (b * l.free.total + i) * n, r.terms + (b * r.free.total + j) * n,
                                    NULL, n);
        hl_scalar_store(result, at++, hl_scalar_convert(type, accumulator, sum));
      }
  hl_eval_drop(e, l.terms);
  hl_eval_drop(e, r.terms);
  return result;
}
