/* lower_complex.h - complex numbers as pairs of nodes. */
#ifndef HL_LOWER_COMPLEX_H
#define HL_LOWER_COMPLEX_H

#include "lower_kernel.h"

static inline hl_node *hl_put_add(hl_puller *p, hl_node *x, hl_node *y)
{
  return hl_put_binary(p, HL_LOOP_ADD, x, y);
}

static inline hl_node *hl_put_sub(hl_puller *p, hl_node *x, hl_node *y)
{
  return hl_put_binary(p, HL_LOOP_SUB, x, y);
}

static inline hl_node *hl_put_mul(hl_puller *p, hl_node *x, hl_node *y)
{
  return hl_put_binary(p, HL_LOOP_MUL, x, y);
}

static inline hl_node *hl_put_div(hl_puller *p, hl_node *x, hl_node *y)
{
  return hl_put_binary(p, HL_LOOP_DIV, x, y);
}

/* pred ? x : y, part by part; also for real values. */
hl_value hl_put_choice(hl_puller *p, hl_node *pred, hl_value x, hl_value y);
/* Each part of x as the component type of `type`. */
hl_value hl_put_parts(hl_puller *p, hl_element_type type, hl_value x);
/* x with the canonical NaN for any that was only moved so far; also for real values. */
hl_value hl_put_canonical(hl_puller *p, hl_value x);
hl_node *hl_put_is_nan(hl_puller *p, hl_node *x);
hl_node *hl_put_is_infinite(hl_puller *p, hl_node *x);
/* The magnitude of one float with the sign of another. */
hl_node *hl_put_copysign(hl_puller *p, hl_node *x, hl_node *sign);

/* Arithmetic of numerics rule 13, every step rounded in the parts' type. */
hl_value hl_put_complex_multiply(hl_puller *p, hl_value x, hl_value y);
hl_value hl_put_complex_divide(hl_puller *p, hl_value x, hl_value y);
/* HLO's elementwise ops of one and two complex operands; abs, real and imag give a real value. */
hl_value hl_put_complex_unary(hl_puller *p, hl_opcode opcode, hl_value x);
hl_value hl_put_complex_binary(hl_puller *p, hl_opcode opcode, hl_value x, hl_value y);

/* Functions of f64 pairs (lower_complex_math.c); abs gives its value in re, im is 0. */
hl_value hl_put_complex_function(hl_puller *p, hl_opcode opcode, hl_value z);
hl_value hl_put_complex_power(hl_puller *p, hl_value z, hl_value w);
hl_value hl_put_complex_atan2(hl_puller *p, hl_value y, hl_value x);

#endif
