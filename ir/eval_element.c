/* eval_element - elementwise instructions, applied to scalars and to whole arrays. */
#include "eval_internal.h"
#include "eval_math.h"

#include <string.h>

bool hl_is_element(hl_opcode opcode)
{
  return (hl_op_info_of(opcode)->flags & HL_EW) && opcode != HL_OP_MAP &&
         opcode != HL_OP_STOCHASTIC_CONVERT;
}

static hl_comparison default_comparison(hl_element_type type)
{
  switch (hl_type_class_of(type)) {
  case HL_CLASS_SIGNED:
    return HL_COMPARE_SIGNED;
  case HL_CLASS_UNSIGNED:
  case HL_CLASS_PRED:
    return HL_COMPARE_UNSIGNED;
  default:
    return HL_COMPARE_FLOAT;
  }
}

/* ---- the exponent of numerics rule 12, as it would be found after broadcast expansion and call
 * inlining ---- */

hl_site hl_site_inlined(hl_eval *e, hl_site at)
{
  for (;;) {
    if (at.ins->opcode == HL_OP_PARAMETER && at.scope) {
      at = (hl_site){at.scope->call->operands[at.ins->parameter_number], at.scope->parent};
    } else if (at.ins->opcode == HL_OP_CALL || at.ins->opcode == HL_OP_FUSION) {
      hl_scope *scope = HL_NEW(e->plans, hl_scope);
      *scope = (hl_scope){at.ins, at.scope};
      hl_attr_id id = at.ins->opcode == HL_OP_CALL ? HL_ATTR_TO_APPLY : HL_ATTR_CALLS;
      at = (hl_site){hl_attr_computation(at.ins, id)->root, scope};
    } else {
      return at;
    }
  }
}

/* Whether expansion puts a reshape before the operand: a dimension of size 1 grows. (Equal ranks
 * line up; a lower rank is placed by broadcast_dimensions.) */
static bool grows(const hl_instruction *ins, const hl_shape *operand)
{
  hl_ints placed = hl_attr_ints(ins, HL_ATTR_BROADCAST_DIMENSIONS);
  for (int i = 0; i < operand->rank; i++) {
    int64_t at = operand->rank < ins->shape->rank ? placed.values[i] : i;
    if (operand->dimensions[i] != ins->shape->dimensions[at])
      return true;
  }
  return false;
}

static bool find_exponent(hl_eval *e, const hl_instruction *power, double *exponent)
{
  const hl_shape *shape = power->operands[1]->shape;
  if (power->power_form != HL_POWER_UNMARKED)
    return hl_power_exponent(power, exponent);
  if (!hl_is_float(shape->element_type) || grows(power, shape))
    return false;
  hl_site at = hl_site_inlined(e, (hl_site){power->operands[1], e->scope});
  if (at.ins->opcode == HL_OP_BROADCAST && shape->rank == power->shape->rank)
    at = hl_site_inlined(e, (hl_site){at.ins->operands[0], at.scope});
  if (at.ins->opcode != HL_OP_CONSTANT || at.ins->literal->is_elided ||
      !hl_literal_is_splat(at.ins->literal))
    return false;
  *exponent = hl_literal_get_double(at.ins->literal, 0);
  return true;
}

hl_element hl_element_of(hl_eval *e, const hl_instruction *ins)
{
  hl_element element = {.ins = ins,
                        .type = ins->operands[ins->opcode == HL_OP_SELECT]->shape->element_type,
                        .result_type = ins->shape->element_type};
  if (ins->opcode == HL_OP_POWER)
    element.has_exponent = find_exponent(e, ins, &element.exponent);
  if (ins->opcode == HL_OP_COMPARE) {
    element.direction = (hl_direction)hl_attr_int(ins, HL_ATTR_DIRECTION, HL_EQ);
    element.comparison =
        (hl_comparison)hl_attr_int(ins, HL_ATTR_TYPE, default_comparison(element.type));
  }
  element.exponent_bits = hl_attr_int(ins, HL_ATTR_EXPONENT_BITS, 0);
  element.mantissa_bits = hl_attr_int(ins, HL_ATTR_MANTISSA_BITS, 0);
  return element;
}

/* A power by a constant exponent that has an entry of its own computes from the base alone. */
static hl_scalar power_by_constant(const hl_element *element, const hl_scalar *args)
{
  hl_element_type type = element->type;
  hl_math_fn fn = hl_math_pow_constant(element->exponent);
  if (fn == HL_MATH_POW)
    return hl_scalar_binary(HL_OP_POWER, type, args[0], args[1]);
  if (hl_computes_in_double(type)) {
    double x = hl_scalar_double(type, args[0]);
    return hl_scalar_of_double(type, hl_math_eval_f64(fn, &x));
  }
  float x = hl_scalar_float(type, args[0]);
  return hl_scalar_of_float(type, hl_math_eval_f32(fn, &x));
}

hl_scalar hl_element_apply(const hl_element *element, const hl_scalar *args)
{
  hl_element_type type = element->type;
  switch (element->ins->opcode) {
  case HL_OP_SELECT:
    return args[0].re ? args[1] : args[2];
  case HL_OP_CLAMP:
    return hl_scalar_binary(HL_OP_MINIMUM, type,
                            hl_scalar_binary(HL_OP_MAXIMUM, type, args[0], args[1]), args[2]);
  case HL_OP_COMPARE:
    return hl_scalar_part(
        hl_scalar_compare(element->direction, element->comparison, type, args[0], args[1]));
  case HL_OP_CONVERT:
    return hl_scalar_convert(element->result_type, type, args[0]);
  case HL_OP_COPY:
    return args[0];
  case HL_OP_REDUCE_PRECISION:
    return hl_scalar_reduce_precision(type, args[0], element->exponent_bits,
                                      element->mantissa_bits);
  case HL_OP_POWER:
    if (element->has_exponent)
      return power_by_constant(element, args);
    break;
  default:
    break;
  }
  if (element->ins->operand_count == 1)
    return hl_scalar_unary(element->ins->opcode, type, args[0]);
  return hl_scalar_binary(element->ins->opcode, type, args[0], args[1]);
}

/* The operand at the size of the result (spec 7.3), in *shape: dimensions of size 1 and missing
 * ones are read with stride 0. */
static const hl_literal *stretch(hl_eval *e, const hl_instruction *ins, const hl_literal *operand,
                                 hl_shape *shape)
{
  const hl_shape *from = operand->shape;
  hl_ints placed = hl_attr_ints(ins, HL_ATTR_BROADCAST_DIMENSIONS);
  int64_t own[HL_LIMIT_RANK], strides[HL_LIMIT_RANK] = {0};
  if (hl_shape_same_dimensions(from, ins->shape))
    return hl_eval_retain(operand);
  hl_row_major(from, own);
  for (int i = 0; i < from->rank; i++)
    if (from->dimensions[i] != 1)
      strides[from->rank < ins->shape->rank ? placed.values[i] : i] = own[i];
  *shape = *ins->shape;
  shape->element_type = from->element_type;
  return hl_eval_strided(e, shape, operand, 0, strides);
}

enum { MOST_OPERANDS = 3 };

const hl_literal *hl_eval_elementwise(hl_eval *e, const hl_instruction *ins,
                                      const hl_literal *const *operands)
{
  const hl_literal *full[MOST_OPERANDS];
  hl_shape shapes[MOST_OPERANDS];
  hl_scalar args[MOST_OPERANDS];
  hl_element element = hl_element_of(e, ins);
  hl_literal *result = hl_eval_new(e, ins->shape);
  int64_t total = hl_shape_elements(ins->shape);
  for (int k = 0; k < ins->operand_count; k++)
    full[k] = stretch(e, ins, operands[k], &shapes[k]);
  for (int64_t i = 0; i < total; i++) {
    for (int k = 0; k < ins->operand_count; k++)
      args[k] = hl_scalar_load(full[k], i);
    hl_scalar_store(result, i, hl_element_apply(&element, args));
  }
  for (int k = 0; k < ins->operand_count; k++)
    hl_eval_release(e, full[k]);
  return result;
}
