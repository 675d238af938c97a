/* expand_rng - rng as bits of Philox and arithmetic on them (numerics.md, random numbers).
 *
 * Requires: calls are inlined. Keeps: numerics.md rule 14; where the state is taken in the text.
 * Cost:     a fixed number of instructions an op.
 *
 * The bits are u64 for types of 64 bits, else u32. A uniform float has as many of them as its mantissa with the leading bit:
 *   k = bits >> (width - p), u = k * 2^-p, v = a + u * (b - a); a v that rounding brought to b is a
 *   integers: a + bits mod (b - a);  pred: b where the lowest bit is set, else a
 * Normal floats come in pairs from two draws, in f64 for f64, else in f32:
 *   r = sqrt(-2 log((k0 + 1) * 2^-p)), t = 2 pi k1 2^-p: r cos t in the first half, r sin t in the second; v = mean + sigma * z
 */
#include "expand.h"

#include <math.h>

enum { UNIFORM, NORMAL }; /* the words of distribution */
enum { BLOCK_BITS = 128 };

/* One rng on its way: `draws` numbers of `word`, one after the other. */
typedef struct draw {
  hl_instruction *ins;
  hl_element_type type, word; /* of the numbers (a complex number's parts), of the bits */
  int64_t count;              /* numbers, a complex one counts twice */
} draw;

static draw draw_of(hl_instruction *ins)
{
  hl_element_type type = hl_component_type(ins->shape->element_type);
  bool is_complex = hl_is_complex(ins->shape->element_type);
  return (draw){.ins = ins, .type = type, .word = hl_type_bits(type) == 64 ? HL_U64 : HL_U32,
                .count = hl_shape_elements(ins->shape) * (is_complex ? 2 : 1)};
}

static hl_instruction *two(const draw *d, hl_opcode opcode, hl_instruction *x, hl_instruction *y)
{
  return hl_make_binary(d->ins, opcode, x, y);
}

/* x op the constant. */
static hl_instruction *with_float(const draw *d, hl_opcode opcode, hl_instruction *x, double value)
{
  return two(d, opcode, x, hl_make_filled(d->ins, x->shape, value));
}

static hl_instruction *spread(const draw *d, hl_instruction *scalar, const hl_shape *like)
{
  return hl_make_broadcast(d->ins, scalar, like->rank, like->dimensions, NULL);
}

/* ---- bits ---- */

static hl_instruction *make_state(const draw *d, int64_t blocks)
{
  hl_arena *arena = hl_arena_of(d->ins);
  const hl_shape *pair = hl_shape_new(arena, HL_U64, 1, (const int64_t[]){2});
  hl_instruction *state = hl_instruction_new(d->ins->computation, d->ins, HL_OP_RNG_GET_AND_UPDATE_STATE,
                                             NULL, pair, 0, NULL, d->ins);
  hl_attr delta = {.id = HL_ATTR_DELTA, .name_range = HL_NO_RANGE, .value_range = HL_NO_RANGE, .i = blocks};
  hl_instruction_add_attr(state, &delta);
  const hl_shape *one = hl_shape_new(arena, HL_U64, 1, (const int64_t[]){1});
  hl_instruction *key = hl_make_filled_int(d->ins, one, HL_U64, 0);
  return hl_make_concatenate(d->ins, 0, 2, (hl_instruction *[]){key, state});
}

static hl_instruction *make_bits(const draw *d, int64_t count)
{
  enum { PHILOX = 2 };
  hl_arena *arena = hl_arena_of(d->ins);
  int per_block = BLOCK_BITS / hl_type_bits(d->word);
  hl_instruction *state = make_state(d, count / per_block + (count % per_block != 0));
  const hl_shape *shapes[2] = {state->shape, hl_shape_new(arena, d->word, 1, &count)};
  hl_instruction *made = hl_instruction_new(d->ins->computation, d->ins, HL_OP_RNG_BIT_GENERATOR, NULL,
                                            hl_shape_tuple(arena, 2, shapes), 1, &state, d->ins);
  hl_attr algorithm = {.id = HL_ATTR_RNG_ALGORITHM, .name_range = HL_NO_RANGE, .value_range = HL_NO_RANGE,
                       .i = PHILOX};
  hl_instruction_add_attr(made, &algorithm);
  return hl_make_element(d->ins, made, 1);
}

static hl_instruction *part_of(const draw *d, hl_instruction *x, int64_t start, int64_t limit, int64_t stride)
{
  return hl_make_slice(d->ins, x, &(hl_slice_dim){start, limit, stride});
}

/* The upper `digits` bits as a float of `type`, which holds them. */
static hl_instruction *upper_bits(const draw *d, hl_element_type type, hl_instruction *bits, int digits)
{
  int shift = hl_type_bits(d->word) - digits;
  hl_instruction *by = hl_make_filled_int(d->ins, bits->shape, d->word, shift);
  return hl_make_convert(d->ins, type, two(d, HL_OP_SHIFT_RIGHT_LOGICAL, bits, by));
}

/* ---- uniform numbers ---- */

static hl_instruction *uniform_float(const draw *d, hl_instruction *bits, hl_instruction *a, hl_instruction *b)
{
  int digits = hl_float_mantissa_bits(d->type) + 1;
  hl_instruction *unit = with_float(d, HL_OP_MULTIPLY, upper_bits(d, d->type, bits, digits), ldexp(1, -digits));
  hl_instruction *range = two(d, HL_OP_SUBTRACT, b, a);
  hl_instruction *value = two(d, HL_OP_ADD, a, two(d, HL_OP_MULTIPLY, unit, range));
  return hl_make_select(d->ins, hl_make_compare(d->ins, HL_GE, value, b), a, value);
}

static hl_instruction *uniform_int(const draw *d, hl_instruction *bits, hl_instruction *a, hl_instruction *b)
{
  hl_instruction *low = hl_make_convert(d->ins, d->word, a), *high = hl_make_convert(d->ins, d->word, b);
  hl_instruction *rest = two(d, HL_OP_REMAINDER, bits, two(d, HL_OP_SUBTRACT, high, low));
  return hl_make_convert(d->ins, d->type, two(d, HL_OP_ADD, low, rest));
}

static hl_instruction *uniform_pred(const draw *d, hl_instruction *bits, hl_instruction *a, hl_instruction *b)
{
  hl_instruction *one = hl_make_filled_int(d->ins, bits->shape, d->word, 1);
  hl_instruction *is_odd = hl_make_convert(d->ins, HL_PRED, two(d, HL_OP_AND, bits, one));
  return hl_make_select(d->ins, is_odd, b, a);
}

/* a and b are scalars of the parts' type. */
static hl_instruction *uniform(const draw *d, hl_instruction *bits, hl_instruction *a, hl_instruction *b)
{
  a = spread(d, a, bits->shape);
  b = spread(d, b, bits->shape);
  if (d->type == HL_PRED)
    return uniform_pred(d, bits, a, b);
  return hl_is_float(d->type) ? uniform_float(d, bits, a, b) : uniform_int(d, bits, a, b);
}

/* ---- normal numbers ---- */

/* As many as there are draws: cosines, then sines. */
static hl_instruction *pairs(const draw *d, hl_instruction *bits)
{
  hl_element_type type = d->word == HL_U64 ? HL_F64 : HL_F32;
  int digits = hl_float_mantissa_bits(type) + 1;
  int64_t half = bits->shape->dimensions[0] / 2;
  hl_instruction *first = upper_bits(d, type, part_of(d, bits, 0, half, 1), digits);
  hl_instruction *second = upper_bits(d, type, part_of(d, bits, half, 2 * half, 1), digits);
  hl_instruction *unit = with_float(d, HL_OP_MULTIPLY, with_float(d, HL_OP_ADD, first, 1), ldexp(1, -digits));
  hl_instruction *square = with_float(d, HL_OP_MULTIPLY, hl_make_unary(d->ins, HL_OP_LOG, unit), -2);
  hl_instruction *radius = hl_make_unary(d->ins, HL_OP_SQRT, square);
  hl_instruction *turns = with_float(d, HL_OP_MULTIPLY, second, ldexp(1, -digits));
  hl_instruction *angle = with_float(d, HL_OP_MULTIPLY, turns, 0x1.921fb54442d18p+2);
  hl_instruction *parts[2] = {hl_make_unary(d->ins, HL_OP_COSINE, angle), NULL};
  parts[0] = two(d, HL_OP_MULTIPLY, radius, parts[0]);
  parts[1] = two(d, HL_OP_MULTIPLY, radius, hl_make_unary(d->ins, HL_OP_SINE, angle));
  return hl_make_convert(d->ins, d->type, hl_make_concatenate(d->ins, 0, 2, parts));
}

static hl_instruction *normal(const draw *d, hl_instruction *z, hl_instruction *mean, hl_instruction *sigma)
{
  hl_instruction *scaled = two(d, HL_OP_MULTIPLY, spread(d, sigma, z->shape), z);
  return two(d, HL_OP_ADD, spread(d, mean, z->shape), scaled);
}

/* ---- the op ---- */

typedef hl_instruction *numbers_fn(const draw *d, hl_instruction *x, hl_instruction *a, hl_instruction *b);

static hl_instruction *part_of_scalar(const draw *d, hl_opcode part, hl_instruction *scalar)
{
  const hl_shape *shape = hl_shape_scalar(hl_arena_of(d->ins), d->type);
  return hl_instruction_new(d->ins->computation, d->ins, part, NULL, shape, 1, &scalar, d->ins);
}

/* One part of complex numbers, which lie in x in turn. */
static hl_instruction *half_of(const draw *d, numbers_fn *numbers, hl_instruction *x, hl_opcode part)
{
  hl_instruction *mine = part_of(d, x, part == HL_OP_IMAG, d->count, 2);
  hl_instruction *a = part_of_scalar(d, part, d->ins->operands[0]);
  return numbers(d, mine, a, part_of_scalar(d, part, d->ins->operands[1]));
}

static hl_instruction *complex_numbers(const draw *d, numbers_fn *numbers, hl_instruction *x)
{
  hl_instruction *parts[2] = {half_of(d, numbers, x, HL_OP_REAL), NULL};
  parts[1] = half_of(d, numbers, x, HL_OP_IMAG);
  const hl_shape *shape = hl_shape_with_type(hl_arena_of(d->ins), parts[0]->shape, d->ins->shape->element_type);
  return hl_instruction_new(d->ins->computation, d->ins, HL_OP_COMPLEX, NULL, shape, 2, parts, d->ins);
}

static hl_instruction *expand(hl_instruction *ins)
{
  draw d = draw_of(ins);
  bool is_normal = hl_attr_int(ins, HL_ATTR_DISTRIBUTION, UNIFORM) == NORMAL;
  numbers_fn *numbers = is_normal ? normal : uniform;
  hl_instruction *x = make_bits(&d, is_normal ? d.count + d.count % 2 : d.count);
  if (is_normal)
    x = part_of(&d, pairs(&d, x), 0, d.count, 1);
  hl_instruction *flat = hl_is_complex(ins->shape->element_type)
                             ? complex_numbers(&d, numbers, x)
                             : numbers(&d, x, ins->operands[0], ins->operands[1]);
  return hl_make_reshape(ins, flat, ins->shape->rank, ins->shape->dimensions);
}

bool hl_pass_expand_rng(hl_module *module, hl_pass_context *cx)
{
  static const hl_opcode opcode = HL_OP_RNG;
  (void)cx;
  return hl_expand_each(module, 1, &opcode, expand);
}
