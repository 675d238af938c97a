/* lower_complex.c - elementwise ops of complex numbers as operations on their parts (numerics rule 13).
 *
 * Where the rule branches, all branches are computed and the right one is selected: none of them can do harm.
 */
#include "lower_complex.h"

#include <math.h>

hl_value hl_put_choice(hl_puller *p, hl_node *pred, hl_value x, hl_value y)
{
  hl_value value = {hl_put_select(p, pred, x.re, y.re), NULL};
  if (x.im)
    value.im = hl_put_select(p, pred, x.im, y.im);
  return value;
}

hl_value hl_put_parts(hl_puller *p, hl_element_type type, hl_value x)
{
  hl_element_type part = hl_component_type(type);
  return (hl_value){hl_put_convert(p, part, x.re), x.im ? hl_put_convert(p, part, x.im) : NULL};
}

/* Times 1. */
static hl_node *canonical(hl_puller *p, hl_node *x)
{
  if (!hl_is_float(x->type))
    return x;
  hl_node *wide = hl_widen(p, x);
  return hl_put_convert(p, x->type, hl_put_mul(p, wide, hl_put_float(p, wide->type, 1)));
}

hl_value hl_put_canonical(hl_puller *p, hl_value x)
{
  return (hl_value){canonical(p, x.re), x.im ? canonical(p, x.im) : NULL};
}

hl_node *hl_put_is_nan(hl_puller *p, hl_node *x)
{
  return hl_put_binary(p, HL_LOOP_NE, x, x);
}

hl_node *hl_put_is_infinite(hl_puller *p, hl_node *x)
{
  hl_node *infinity = hl_put_float(p, x->type, (double)INFINITY);
  return hl_put_binary(p, HL_LOOP_EQ, hl_put_unary(p, HL_LOOP_ABS, x), infinity);
}

static hl_node *bitcast(hl_puller *p, hl_element_type type, hl_node *x)
{
  return hl_put(p, HL_LOOP_BITCAST, type, 1, &x);
}

hl_node *hl_put_copysign(hl_puller *p, hl_node *x, hl_node *sign)
{
  hl_element_type bits = x->type == HL_F64 ? HL_U64 : HL_U32;
  uint64_t top = UINT64_C(1) << (hl_type_bits(bits) - 1);
  hl_node *magnitude = bitcast(p, bits, hl_put_unary(p, HL_LOOP_ABS, x));
  hl_node *other = hl_put_binary(p, HL_LOOP_AND, bitcast(p, bits, sign), hl_put_const(p, bits, top));
  return bitcast(p, x->type, hl_put_binary(p, HL_LOOP_OR, magnitude, other));
}

static hl_node *both(hl_puller *p, hl_node *x, hl_node *y)
{
  return hl_put_binary(p, HL_LOOP_AND, x, y);
}

hl_value hl_put_complex_multiply(hl_puller *p, hl_value x, hl_value y)
{
  return (hl_value){hl_put_sub(p, hl_put_mul(p, x.re, y.re), hl_put_mul(p, x.im, y.im)),
                    hl_put_add(p, hl_put_mul(p, x.re, y.im), hl_put_mul(p, x.im, y.re))};
}

/* --- division: a + bi by c + di --- */

/* Smith's method. With |c| >= |d|: r = d/c, q = c + d r, (a + b r, b - a r) / q; else c, d change places and so do a, b, but
 * for the sign of the imaginary part. Products and sums of two do not depend on the order of their operands. */
static hl_value divide_by_ratio(hl_puller *p, hl_value x, hl_value y)
{
  hl_node *is_wide = hl_put_binary(p, HL_LOOP_GE, hl_put_unary(p, HL_LOOP_ABS, y.re),
                                   hl_put_unary(p, HL_LOOP_ABS, y.im));
  hl_node *large = hl_put_select(p, is_wide, y.re, y.im);
  hl_node *small = hl_put_select(p, is_wide, y.im, y.re);
  hl_node *first = hl_put_select(p, is_wide, x.re, x.im);
  hl_node *second = hl_put_select(p, is_wide, x.im, x.re);
  hl_node *r = hl_put_div(p, small, large);
  hl_node *q = hl_put_add(p, large, hl_put_mul(p, small, r));
  hl_node *re = hl_put_add(p, first, hl_put_mul(p, second, r)), *turned = hl_put_mul(p, first, r);
  hl_node *im = hl_put_select(p, is_wide, hl_put_sub(p, second, turned), hl_put_sub(p, turned, second));
  return (hl_value){hl_put_div(p, re, q), hl_put_div(p, im, q)};
}

/* copysign(1 if infinite else 0, x) */
static hl_node *unit(hl_puller *p, hl_node *x)
{
  hl_node *one = hl_put_float(p, x->type, 1), *zero = hl_put_float(p, x->type, 0);
  return hl_put_copysign(p, hl_put_select(p, hl_put_is_infinite(p, x), one, zero), x);
}

static hl_value units(hl_puller *p, hl_value x)
{
  return (hl_value){unit(p, x.re), unit(p, x.im)};
}

static hl_value scaled_quotient(hl_puller *p, double factor, hl_value x, hl_value y)
{
  hl_node *k = hl_put_float(p, x.re->type, factor);
  hl_node *re = hl_put_add(p, hl_put_mul(p, x.re, y.re), hl_put_mul(p, x.im, y.im));
  hl_node *im = hl_put_sub(p, hl_put_mul(p, x.im, y.re), hl_put_mul(p, x.re, y.im));
  return (hl_value){hl_put_mul(p, k, re), hl_put_mul(p, k, im)};
}

static hl_node *is_infinite(hl_puller *p, hl_value x)
{
  return hl_put_binary(p, HL_LOOP_OR, hl_put_is_infinite(p, x.re), hl_put_is_infinite(p, x.im));
}

static hl_node *is_finite(hl_puller *p, hl_value x)
{
  return both(p, hl_put_unary(p, HL_LOOP_IS_FINITE, x.re), hl_put_unary(p, HL_LOOP_IS_FINITE, x.im));
}

static hl_node *is_zero(hl_puller *p, hl_node *x)
{
  return hl_put_binary(p, HL_LOOP_EQ, x, hl_put_float(p, x->type, 0));
}

static hl_value divide_by_zero(hl_puller *p, hl_value x, hl_value y)
{
  hl_node *k = hl_put_copysign(p, hl_put_float(p, y.re->type, (double)INFINITY), y.re);
  return (hl_value){hl_put_mul(p, k, x.re), hl_put_mul(p, k, x.im)};
}

hl_value hl_put_complex_divide(hl_puller *p, hl_value x, hl_value y)
{
  hl_value plain = divide_by_ratio(p, x, y);
  hl_node *x_is_nan = both(p, hl_put_is_nan(p, x.re), hl_put_is_nan(p, x.im));
  hl_node *y_is_zero = both(p, is_zero(p, y.re), is_zero(p, y.im));
  hl_node *is_by_zero = both(p, y_is_zero, hl_put_unary(p, HL_LOOP_NOT, x_is_nan));
  hl_node *is_large = both(p, is_infinite(p, x), is_finite(p, y));
  hl_node *is_small = both(p, is_infinite(p, y), is_finite(p, x));
  hl_value special = hl_put_choice(p, is_small, scaled_quotient(p, 0, x, units(p, y)), plain);
  special = hl_put_choice(p, is_large, scaled_quotient(p, (double)INFINITY, units(p, x), y), special);
  special = hl_put_choice(p, is_by_zero, divide_by_zero(p, x, y), special);
  hl_node *is_nan = both(p, hl_put_is_nan(p, plain.re), hl_put_is_nan(p, plain.im));
  return hl_put_choice(p, is_nan, special, plain);
}

/* --- the ops --- */

/* A function's parts in the operand's type. Where that is f64 a NaN may have come through by a move. */
static hl_value rounded(hl_puller *p, hl_element_type part, hl_value z)
{
  return part == HL_F64 ? hl_put_canonical(p, z) : hl_put_parts(p, part, z);
}

hl_value hl_put_complex_unary(hl_puller *p, hl_opcode opcode, hl_value x)
{
  switch (opcode) {
  case HL_OP_REAL:
    return (hl_value){x.re, NULL};
  case HL_OP_IMAG:
    return (hl_value){x.im, NULL};
  case HL_OP_NEGATE:
    return (hl_value){hl_put_unary(p, HL_LOOP_NEG, x.re), hl_put_unary(p, HL_LOOP_NEG, x.im)};
  default: {
    hl_value y = hl_put_complex_function(p, opcode, hl_put_parts(p, HL_F64, x));
    y = rounded(p, x.re->type, y);
    return opcode == HL_OP_ABS ? (hl_value){y.re, NULL} : y;
  }
  }
}

hl_value hl_put_complex_binary(hl_puller *p, hl_opcode opcode, hl_value x, hl_value y)
{
  hl_element_type part = x.re->type;
  switch (opcode) {
  case HL_OP_ADD:
    return (hl_value){hl_put_add(p, x.re, y.re), hl_put_add(p, x.im, y.im)};
  case HL_OP_SUBTRACT:
    return (hl_value){hl_put_sub(p, x.re, y.re), hl_put_sub(p, x.im, y.im)};
  case HL_OP_MULTIPLY:
    return hl_put_complex_multiply(p, x, y);
  case HL_OP_DIVIDE:
    return hl_put_complex_divide(p, x, y);
  default:
    break;
  }
  x = hl_put_parts(p, HL_F64, x);
  y = hl_put_parts(p, HL_F64, y);
  return rounded(p, part, opcode == HL_OP_POWER ? hl_put_complex_power(p, x, y) : hl_put_complex_atan2(p, x, y));
}
