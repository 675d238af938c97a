/* lower_stochastic.c - elements of stochastic-convert, in f64: away from zero where the random number, as a fraction of its range,
 * is below the part that would be cut off.
 */
#include "lower_complex.h"

/* Whether the fraction is below (x - low) / (high - low). */
static hl_node *rounds_up(hl_puller *p, hl_node *x, hl_node *low, hl_node *high, hl_node *fraction)
{
  hl_node *part = hl_put_div(p, hl_put_sub(p, x, low), hl_put_sub(p, high, low));
  return hl_put_binary(p, HL_LOOP_LT, fraction, part);
}

static hl_node *to_integer(hl_puller *p, hl_element_type type, hl_node *x, hl_node *fraction)
{
  hl_node *size = hl_put_unary(p, HL_LOOP_ABS, x), *low = hl_put_unary(p, HL_LOOP_FLOOR, size);
  hl_node *high = hl_put_add(p, low, hl_put_float(p, HL_F64, 1));
  size = hl_put_select(p, rounds_up(p, size, low, high, fraction), high, low);
  hl_node *is_finite = hl_put_unary(p, HL_LOOP_IS_FINITE, x);
  return hl_put_convert(p, type, hl_put_select(p, is_finite, hl_put_copysign(p, size, x), x));
}

static hl_node *decoded(hl_puller *p, hl_element_type type, hl_node *bits)
{
  return hl_put_convert(p, HL_F64, hl_put(p, HL_LOOP_BITCAST, type, 1, &bits));
}

/* Magnitudes of a float format are in the order of their bits: the neighbours of x are. */
static hl_node *to_float(hl_puller *p, hl_element_type type, hl_node *x, hl_node *fraction)
{
  hl_element_type integer = hl_type_bytes(type) == 1 ? HL_U8 : hl_type_bytes(type) == 2 ? HL_U16 : HL_U32;
  hl_node *size = hl_put_unary(p, HL_LOOP_ABS, x), *near = hl_put_convert(p, type, size);
  hl_node *back = hl_put_convert(p, HL_F64, near), *bits = hl_put(p, HL_LOOP_BITCAST, integer, 1, &near);
  hl_node *is_high = hl_put_binary(p, HL_LOOP_GT, back, size);
  is_high = hl_put_binary(p, HL_LOOP_AND, is_high, hl_put_binary(p, HL_LOOP_NE, bits, hl_put_int(p, integer, 0)));
  bits = hl_put_sub(p, bits, hl_put_convert(p, integer, is_high));
  hl_node *low = decoded(p, type, bits), *high = decoded(p, type, hl_put_add(p, bits, hl_put_int(p, integer, 1)));
  hl_node *value = hl_put_select(p, rounds_up(p, size, low, high, fraction), high, low);
  hl_node *largest = hl_put_float(p, HL_F64, hl_float_max_finite(type));
  hl_node *is_between = hl_put_binary(p, HL_LOOP_AND, hl_put_binary(p, HL_LOOP_LT, size, largest),
                                      hl_put_binary(p, HL_LOOP_NE, back, size));
  return hl_put_convert(p, type, hl_put_select(p, is_between, hl_put_copysign(p, value, x), x));
}

hl_value hl_lower_stochastic_convert(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf;
  hl_node *x = hl_put_convert(p, HL_F64, hl_pull(p, ins->operands[0], 0, index).re);
  hl_node *random = hl_pull(p, ins->operands[1], 0, index).re;
  double unit = 1;
  for (int i = 0; i < hl_type_bits(random->type); i++)
    unit /= 2;
  hl_node *fraction = hl_put_mul(p, hl_put_convert(p, HL_F64, random), hl_put_float(p, HL_F64, unit));
  hl_element_type type = ins->shape->element_type;
  return (hl_value){hl_is_float(type) ? to_float(p, type, x, fraction) : to_integer(p, type, x, fraction), NULL};
}
