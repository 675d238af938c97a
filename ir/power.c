/* power - which powers have a constant exponent in the sense of numerics rule 12. */
#include "module.h"

/* The constant behind broadcasts, reshapes and copies; NULL if there is none. */
static const hl_literal *constant_behind(const hl_instruction *ins)
{
  while (ins->opcode == HL_OP_BROADCAST || ins->opcode == HL_OP_RESHAPE ||
         ins->opcode == HL_OP_COPY)
    ins = ins->operands[0];
  return ins->opcode == HL_OP_CONSTANT ? ins->literal : NULL;
}

/* What the rule asks of the module after inlining: a constant or a broadcast of one, nothing
 * deeper. */
static const hl_literal *written_exponent(const hl_instruction *exponent)
{
  if (exponent->opcode == HL_OP_BROADCAST)
    exponent = exponent->operands[0];
  return exponent->opcode == HL_OP_CONSTANT ? exponent->literal : NULL;
}

bool hl_power_exponent(const hl_instruction *power, double *exponent)
{
  if (power->power_form == HL_POWER_GENERAL || !hl_is_float(power->shape->element_type))
    return false;
  const hl_instruction *operand = power->operands[1];
  const hl_literal *literal =
      power->power_form == HL_POWER_CONSTANT ? constant_behind(operand) : written_exponent(operand);
  if (!literal || literal->is_elided || !hl_literal_is_splat(literal))
    return false;
  *exponent = hl_literal_get_double(literal, 0);
  return true;
}
