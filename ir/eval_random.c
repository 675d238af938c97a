/* eval_random - rng: numbers made of the bits of Philox, key 0, from the state of rng-get-and-update-state on (docs/numerics.md).
 *
 * The bits are u64 for types of 64 bits, else u32; a complex number takes two numbers of its parts' type.
 *   uniform floats, p digits of the mantissa and the leading one: k = bits >> (width - p), u = k * 2^-p, v = a + u * (b - a), in the
 *   element type; a v that is not below b is a
 *   uniform integers: a + bits mod (b - a), unsigned; pred: the lowest bit chooses b
 *   normal floats, in f64 for f64, else in f32: draw i and draw i + h of 2 h make numbers i and i + h,
 *   r = sqrt(log((k_i + 1) 2^-p) * -2), t = k_(i+h) 2^-p * 2 pi, z = r cos t and r sin t; v = mean + sigma * z
 */
#include "eval_internal.h"

#include <math.h>

enum { UNIFORM, NORMAL };

typedef struct numbers {
  hl_element_type type, word; /* of a number, of the bits */
  const hl_literal *bits;
  int64_t half; /* normal: h */
} numbers;

static hl_scalar two(hl_opcode op, hl_element_type type, hl_scalar x, hl_scalar y)
{
  return hl_scalar_binary(op, type, x, y);
}

static uint64_t upper_bits(const numbers *n, int64_t i, int digits)
{
  return hl_scalar_load(n->bits, i).re >> (hl_type_bits(n->word) - digits);
}

/* k * 2^-digits, both in `type`. */
static hl_scalar fraction(hl_element_type type, hl_scalar k, int digits)
{
  return two(HL_OP_MULTIPLY, type, k, hl_scalar_of_double(type, ldexp(1, -digits)));
}

/* ---- uniform ---- */

static hl_scalar uniform_float(const numbers *n, int64_t i, hl_scalar a, hl_scalar b)
{
  int digits = hl_float_mantissa_bits(n->type) + 1;
  hl_scalar k = hl_scalar_of_double(n->type, (double)upper_bits(n, i, digits));
  hl_scalar range = two(HL_OP_SUBTRACT, n->type, b, a);
  hl_scalar part = two(HL_OP_MULTIPLY, n->type, fraction(n->type, k, digits), range);
  hl_scalar value = two(HL_OP_ADD, n->type, a, part);
  return hl_scalar_compare(HL_GE, HL_COMPARE_FLOAT, n->type, value, b) ? a : value;
}

static hl_scalar uniform_int(const numbers *n, int64_t i, hl_scalar a, hl_scalar b)
{
  hl_scalar low = hl_scalar_convert(n->word, n->type, a), high = hl_scalar_convert(n->word, n->type, b);
  hl_scalar range = two(HL_OP_SUBTRACT, n->word, high, low);
  hl_scalar rest = two(HL_OP_REMAINDER, n->word, hl_scalar_load(n->bits, i), range);
  return hl_scalar_convert(n->type, n->word, two(HL_OP_ADD, n->word, low, rest));
}

static hl_scalar uniform(const numbers *n, int64_t i, hl_scalar a, hl_scalar b)
{
  if (n->type == HL_PRED)
    return hl_scalar_load(n->bits, i).re & 1 ? b : a;
  return hl_is_float(n->type) ? uniform_float(n, i, a, b) : uniform_int(n, i, a, b);
}

/* ---- normal ---- */

static hl_scalar normal_unit(const numbers *n, int64_t i)
{
  hl_element_type type = n->word == HL_U64 ? HL_F64 : HL_F32;
  int digits = hl_float_mantissa_bits(type) + 1;
  int64_t first = i % n->half, second = first + n->half;
  hl_scalar k = hl_scalar_of_double(type, (double)upper_bits(n, first, digits));
  k = two(HL_OP_ADD, type, k, hl_scalar_of_double(type, 1));
  hl_scalar log_u = hl_scalar_unary(HL_OP_LOG, type, fraction(type, k, digits));
  hl_scalar radius = hl_scalar_unary(
      HL_OP_SQRT, type, two(HL_OP_MULTIPLY, type, log_u, hl_scalar_of_double(type, -2)));
  hl_scalar turns = fraction(
      type, hl_scalar_of_double(type, (double)upper_bits(n, second, digits)), digits);
  hl_scalar angle =
      two(HL_OP_MULTIPLY, type, turns, hl_scalar_of_double(type, 0x1.921fb54442d18p+2));
  hl_scalar wave = hl_scalar_unary(i < n->half ? HL_OP_COSINE : HL_OP_SINE, type, angle);
  return hl_scalar_convert(n->type, type, two(HL_OP_MULTIPLY, type, radius, wave));
}

static hl_scalar normal(const numbers *n, int64_t i, hl_scalar mean, hl_scalar sigma)
{
  hl_scalar scaled = two(HL_OP_MULTIPLY, n->type, sigma, normal_unit(n, i));
  return two(HL_OP_ADD, n->type, mean, scaled);
}

/* ---- the op ---- */

static const hl_literal *draw_bits(hl_eval *e, hl_element_type word, int64_t count)
{
  hl_literal *bits = hl_eval_new(e, hl_shape_new(e->plans, word, 1, &count));
  int64_t blocks = hl_philox_fill(bits, 0, e->rng_state[0], e->rng_state[1]);
  hl_rng_advance(e, (uint64_t)blocks);
  return bits;
}

static hl_scalar number(const numbers *n, bool is_normal, int64_t i, hl_scalar a, hl_scalar b)
{
  return is_normal ? normal(n, i, a, b) : uniform(n, i, a, b);
}

const hl_literal *hl_eval_rng(hl_eval *e, const hl_instruction *ins,
                              const hl_literal *const *operands)
{
  hl_literal *result = hl_eval_new(e, ins->shape);
  bool is_normal = hl_attr_int(ins, HL_ATTR_DISTRIBUTION, UNIFORM) == NORMAL;
  bool is_complex = hl_is_complex(ins->shape->element_type);
  int64_t total = hl_shape_elements(ins->shape), count = total * (is_complex ? 2 : 1);
  numbers n = {.type = hl_component_type(ins->shape->element_type), .half = (count + 1) / 2};
  hl_scalar a = hl_scalar_load(operands[0], 0), b = hl_scalar_load(operands[1], 0);
  n.word = hl_type_bits(n.type) == 64 ? HL_U64 : HL_U32;
  hl_eval_charge(e, count);
  n.bits = draw_bits(e, n.word, is_normal ? 2 * n.half : count);
  for (int64_t i = 0; i < total; i++) {
    hl_scalar value = number(&n, is_normal, is_complex ? 2 * i : i, a, b);
    if (is_complex)
      value.im = number(&n, is_normal, 2 * i + 1, hl_scalar_part(a.im), hl_scalar_part(b.im)).re;
    hl_scalar_store(result, i, value);
  }
  hl_eval_release(e, n.bits);
  return result;
}
