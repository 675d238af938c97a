/* eval_complex - arithmetic on complex numbers (numerics rule 13). */
#include "eval_complex.h"

#include <math.h>

typedef hl_pair pair; /* each operation below rounds to the component type */

/* Operations of the component type. */
static double in_type(hl_element_type part, double value)
{
  return part == HL_F64 ? value : (double)(float)value;
}

static double add(hl_element_type part, double x, double y)
{
  return in_type(part, x + y);
}

static double sub(hl_element_type part, double x, double y)
{
  return in_type(part, x - y);
}

static double mul(hl_element_type part, double x, double y)
{
  return in_type(part, x * y);
}

static double quotient(hl_element_type part, double x, double y)
{
  return in_type(part, x / y);
}

static pair pair_of(hl_element_type part, hl_scalar x)
{
  return (pair){hl_scalar_double(part, x), hl_scalar_double(part, hl_scalar_part(x.im))};
}

static hl_scalar scalar_of(hl_element_type part, pair x)
{
  return (hl_scalar){hl_scalar_of_double(part, x.re).re, hl_scalar_of_double(part, x.im).re};
}

hl_pair hl_complex_add(hl_element_type t, hl_pair x, hl_pair y)
{
  return (pair){add(t, x.re, y.re), add(t, x.im, y.im)};
}

hl_pair hl_complex_multiply(hl_element_type t, hl_pair x, hl_pair y)
{
  return (pair){sub(t, mul(t, x.re, y.re), mul(t, x.im, y.im)),
                add(t, mul(t, x.re, y.im), mul(t, x.im, y.re))};
}

/* copysign(1 if infinite else 0, x) */
static double unit(double x)
{
  return copysign(isinf(x) ? 1 : 0, x);
}

static bool is_infinite(pair x)
{
  return isinf(x.re) || isinf(x.im);
}

static bool is_finite(pair x)
{
  return isfinite(x.re) && isfinite(x.im);
}

static pair scaled_quotient(hl_element_type t, double k, pair x, pair y)
{
  double re = add(t, mul(t, x.re, y.re), mul(t, x.im, y.im));
  double im = sub(t, mul(t, x.im, y.re), mul(t, x.re, y.im));
  return (pair){mul(t, k, re), mul(t, k, im)};
}

/* Where Smith's method gave NaN in both parts. */
static pair divide_special(hl_element_type t, pair x, pair y, pair result)
{
  if (y.re == 0 && y.im == 0 && !(isnan(x.re) && isnan(x.im))) {
    double k = copysign((double)INFINITY, y.re);
    return (pair){mul(t, k, x.re), mul(t, k, x.im)};
  }
  if (is_infinite(x) && is_finite(y))
    return scaled_quotient(t, (double)INFINITY, (pair){unit(x.re), unit(x.im)}, y);
  if (is_infinite(y) && is_finite(x))
    return scaled_quotient(t, 0, x, (pair){unit(y.re), unit(y.im)});
  return result;
}

hl_pair hl_complex_divide(hl_element_type t, hl_pair x, hl_pair y)
{
  pair result;
  if (fabs(y.re) >= fabs(y.im)) {
    double r = quotient(t, y.im, y.re), q = add(t, y.re, mul(t, y.im, r));
    result.re = quotient(t, add(t, x.re, mul(t, x.im, r)), q);
    result.im = quotient(t, sub(t, x.im, mul(t, x.re, r)), q);
  } else {
    double r = quotient(t, y.re, y.im), q = add(t, mul(t, y.re, r), y.im);
    result.re = quotient(t, add(t, mul(t, x.re, r), x.im), q);
    result.im = quotient(t, sub(t, mul(t, x.im, r), x.re), q);
  }
  return isnan(result.re) && isnan(result.im) ? divide_special(t, x, y, result) : result;
}

hl_scalar hl_complex_unary(hl_opcode opcode, hl_element_type type, hl_scalar x)
{
  hl_element_type t = hl_component_type(type);
  uint64_t sign = UINT64_C(1) << (hl_type_bits(t) - 1);
  switch (opcode) {
  case HL_OP_NEGATE:
    return (hl_scalar){x.re ^ sign, x.im ^ sign};
  case HL_OP_REAL:
    return hl_scalar_part(x.re);
  case HL_OP_IMAG:
    return hl_scalar_part(x.im);
  default:
    return scalar_of(t, hl_complex_function(opcode, pair_of(t, x)));
  }
}

hl_scalar hl_complex_binary(hl_opcode opcode, hl_element_type type, hl_scalar x, hl_scalar y)
{
  hl_element_type t = hl_component_type(type);
  pair a = pair_of(t, x), b = pair_of(t, y);
  switch (opcode) {
  case HL_OP_ADD:
    return scalar_of(t, hl_complex_add(t, a, b));
  case HL_OP_SUBTRACT:
    return scalar_of(t, (pair){sub(t, a.re, b.re), sub(t, a.im, b.im)});
  case HL_OP_MULTIPLY:
    return scalar_of(t, hl_complex_multiply(t, a, b));
  case HL_OP_DIVIDE:
    return scalar_of(t, hl_complex_divide(t, a, b));
  case HL_OP_POWER:
    return scalar_of(t, hl_complex_power(a, b));
  default:
    return scalar_of(t, hl_complex_atan2(a, b));
  }
}
