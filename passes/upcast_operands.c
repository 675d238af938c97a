/* upcast_operands - operands of dots and convolutions become of their result's class.
 *
 * Requires: nothing. Keeps: everything. Afterwards dot, ragged-dot and convolution are of one
 * class, and it is not pred: pred counts what is true, in integers (numerics rule 8).
 */
#include "expand.h"
#include "lower_dot.h"

#include <stdint.h>

static bool is_mixed(const hl_instruction *ins)
{
  hl_element_type from = ins->operands[0]->shape->element_type, to = ins->shape->element_type;
  return to == HL_PRED || hl_is_integral(from) != hl_is_integral(to) ||
         hl_is_complex(from) != hl_is_complex(to);
}

/* The type that operands are converted to, and in which the products are added. */
static hl_element_type common_type(const hl_instruction *ins)
{
  hl_element_type type = ins->shape->element_type;
  if (type == HL_PRED)
    return hl_shape_elements(ins->operands[0]->shape) > INT32_MAX ? HL_S64 : HL_S32;
  if (hl_is_integral(type))
    return type;
  hl_element_type part = hl_dot_accumulator(ins);
  if (hl_is_complex(type))
    return part == HL_F64 ? HL_C128 : HL_C64;
  return part;
}

static hl_instruction *upcast(hl_instruction *ins)
{
  if (!is_mixed(ins))
    return NULL;
  hl_instruction **operands = HL_ARRAY(hl_arena_of(ins), ins->operand_count, hl_instruction *);
  hl_element_type common = common_type(ins), type = ins->shape->element_type;
  for (int i = 0; i < ins->operand_count; i++)
    operands[i] = i < 2 ? hl_make_convert(ins, common, ins->operands[i]) : ins->operands[i];
  const hl_shape *shape = ins->shape;
  if (type == HL_PRED)
    shape = hl_shape_new(hl_arena_of(ins), common, shape->rank, shape->dimensions);
  return hl_make_convert(ins, type, hl_make_again(ins, shape, operands));
}

bool hl_pass_upcast_operands(hl_module *module, hl_pass_context *cx)
{
  static const hl_opcode opcodes[] = {HL_OP_DOT, HL_OP_RAGGED_DOT, HL_OP_CONVOLUTION};
  (void)cx;
  return hl_expand_each(module, 3, opcodes, upcast);
}
