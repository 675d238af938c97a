/* eval_rng - rng-bit-generator (spec 10.5), rng-get-and-update-state, stochastic-convert. */
#include "eval_internal.h"

#include <math.h>
#include <string.h>

typedef struct words {
  uint32_t w[4];
} words;

static uint32_t low(uint64_t x)
{
  return (uint32_t)x;
}

static uint32_t high(uint64_t x)
{
  return (uint32_t)(x >> 32);
}

/* ---- Threefry-2x32, 20 rounds ---- */

static uint32_t rotated(uint32_t x, int bits)
{
  return x << bits | x >> (32 - bits);
}

static uint64_t threefry(uint64_t key, uint64_t counter)
{
  static const int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  uint32_t keys[3] = {low(key), high(key), UINT32_C(0x1BD11BDA) ^ low(key) ^ high(key)};
  uint32_t a = low(counter) + keys[0], b = high(counter) + keys[1];
  for (uint32_t group = 0; group < 5; group++) {
    for (int i = 0; i < 4; i++) {
      a += b;
      b = rotated(b, rotations[group % 2][i]) ^ a;
    }
    a += keys[(group + 1) % 3];
    b += keys[(group + 2) % 3] + group + 1;
  }
  return a | (uint64_t)b << 32;
}

/* The dimension whose pairs of elements share a counter: the first of even size, else the first of
 * the largest. */
static int split_dimension(const hl_shape *shape)
{
  int largest = 0;
  for (int d = 0; d < shape->rank; d++)
    if (shape->dimensions[d] % 2 == 0)
      return d;
  for (int d = 1; d < shape->rank; d++)
    if (shape->dimensions[d] > shape->dimensions[largest])
      largest = d;
  return largest;
}

/* Outputs of 32 bits and less: counters run over the shape with one dimension halved. Returns how
 * many there are. */
static int64_t threefry_pairs(hl_literal *bits, uint64_t key, uint64_t counter)
{
  const hl_shape *shape = bits->shape;
  if (shape->rank == 0) {
    hl_scalar_store(bits, 0,
                    hl_scalar_of_int(shape->element_type, (int64_t)low(threefry(key, counter))));
    return 1;
  }
  int split = split_dimension(shape);
  int64_t halved[HL_LIMIT_RANK], index[HL_LIMIT_RANK] = {0}, total = hl_shape_elements(shape);
  memcpy(halved, shape->dimensions, (size_t)shape->rank * sizeof *halved);
  halved[split] = (halved[split] + 1) / 2;
  for (int64_t i = 0; i < total; i++) {
    uint64_t number = 0;
    for (int d = 0; d < shape->rank; d++)
      number = number * (uint64_t)halved[d] + (uint64_t)(d == split ? index[d] / 2 : index[d]);
    uint64_t pair = threefry(key, counter + number);
    hl_scalar_store(
        bits, i, hl_scalar_of_int(shape->element_type, index[split] % 2 ? high(pair) : low(pair)));
    hl_index_next(shape, index);
  }
  int64_t count = 1;
  for (int d = 0; d < shape->rank; d++)
    count *= halved[d];
  return count;
}

static void three_fry(const hl_literal *state, hl_literal *new_state, hl_literal *bits)
{
  uint64_t key = hl_scalar_load(state, 0).re, counter = hl_scalar_load(state, 1).re;
  int64_t total = hl_shape_elements(bits->shape), count = total;
  if (hl_type_bits(bits->shape->element_type) == 64)
    for (int64_t i = 0; i < total; i++)
      hl_scalar_store(bits, i, hl_scalar_part(threefry(key, counter + (uint64_t)i)));
  else
    count = threefry_pairs(bits, key, counter);
  hl_scalar_store(new_state, 0, hl_scalar_part(key));
  hl_scalar_store(new_state, 1, hl_scalar_part(counter + (uint64_t)count));
}

/* ---- Philox-4x32, 10 rounds ---- */

static words philox_block(uint64_t key, uint64_t counter_low, uint64_t counter_high)
{
  uint32_t k0 = low(key), k1 = high(key);
  words x = {{low(counter_low), high(counter_low), low(counter_high), high(counter_high)}};
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = (uint64_t)x.w[0] * UINT32_C(0xD2511F53),
             p1 = (uint64_t)x.w[2] * UINT32_C(0xCD9E8D57);
    x = (words){{high(p1) ^ x.w[1] ^ k0, low(p1), high(p0) ^ x.w[3] ^ k1, low(p0)}};
    k0 += UINT32_C(0x9E3779B9);
    k1 += UINT32_C(0xBB67AE85);
  }
  return x;
}

int64_t hl_philox_fill(hl_literal *bits, uint64_t key, uint64_t first, uint64_t upper)
{
  hl_element_type type = bits->shape->element_type;
  int64_t total = hl_shape_elements(bits->shape), per_block = hl_type_bits(type) == 64 ? 2 : 4;
  words x = {{0}};
  for (int64_t i = 0; i < total; i++) {
    uint64_t block = first + (uint64_t)(i / per_block);
    if (i % per_block == 0)
      x = philox_block(key, block, upper + (block < first));
    uint64_t value =
        per_block == 2 ? x.w[i % 2 * 2] | (uint64_t)x.w[i % 2 * 2 + 1] << 32 : x.w[i % 4];
    hl_scalar_store(bits, i, hl_scalar_of_int(type, (int64_t)value));
  }
  return (total + per_block - 1) / per_block;
}

static void philox(const hl_literal *state, hl_literal *new_state, hl_literal *bits)
{
  bool is_long = hl_shape_elements(state->shape) ==
                 3; /* the short form takes the key as the counter's high half */
  uint64_t key = hl_scalar_load(state, 0).re, first = hl_scalar_load(state, 1).re;
  uint64_t upper = is_long ? hl_scalar_load(state, 2).re : key;
  uint64_t next = first + (uint64_t)hl_philox_fill(bits, key, first, upper);
  hl_scalar_store(new_state, 0, hl_scalar_part(key));
  hl_scalar_store(new_state, 1, hl_scalar_part(next));
  if (is_long)
    hl_scalar_store(new_state, 2, hl_scalar_part(upper + (next < first)));
}

enum {
  RNG_DEFAULT,
  RNG_THREE_FRY
}; /* the words of rng's algorithm; the third is rng_philox, which is the default */

const hl_literal *hl_eval_rng_bit_generator(hl_eval *e, const hl_instruction *ins,
                                            const hl_literal *const *operands)
{
  hl_literal *state = hl_eval_new(e, ins->shape->tuple_shapes[0]),
             *bits = hl_eval_new(e, ins->shape->tuple_shapes[1]);
  hl_eval_charge(e, hl_shape_elements(bits->shape));
  if (hl_attr_int(ins, HL_ATTR_RNG_ALGORITHM, RNG_DEFAULT) == RNG_THREE_FRY)
    three_fry(operands[0], state, bits);
  else
    philox(operands[0], state, bits);
  return hl_eval_tuple_of(e, ins->shape, (const hl_literal *const[]){state, bits});
}

void hl_rng_advance(hl_eval *e, uint64_t delta)
{
  e->rng_state[0] += delta;
  e->rng_state[1] += e->rng_state[0] < delta;
}

/* Yields the state, a number of 128 bits, and then adds delta to it. */
const hl_literal *hl_eval_rng_get_and_update_state(hl_eval *e, const hl_instruction *ins,
                                                   const hl_literal *const *operands)
{
  (void)operands;
  hl_literal *result = hl_eval_new(e, ins->shape);
  for (int i = 0; i < 2; i++)
    hl_scalar_store(result, i, hl_scalar_part(e->rng_state[i]));
  hl_rng_advance(e, (uint64_t)hl_attr_int(ins, HL_ATTR_DELTA, 0));
  return result;
}

/* ---- stochastic-convert: away from zero where the random number is below the part that would be
 * cut off ---- */

/* Whether random / 2^width < (x - low) / (high - low). */
static bool rounds_up(double x, double low_end, double high_end, uint64_t random, int width)
{
  return ldexp((double)random, -width) < (x - low_end) / (high_end - low_end);
}

static hl_scalar stochastic_int(hl_element_type to, double x, uint64_t random, int width)
{
  double size = floor(fabs(x));
  if (isfinite(x) && rounds_up(fabs(x), size, size + 1, random, width))
    size += 1;
  return hl_scalar_convert(to, HL_F64,
                           hl_scalar_of_double(HL_F64, isfinite(x) ? copysign(size, x) : x));
}

/* Magnitudes of a float format are in the order of their bits. */
static hl_scalar stochastic_float(hl_element_type to, double x, uint64_t random, int width)
{
  uint64_t bits = hl_scalar_of_double(to, fabs(x)).re;
  if (!(fabs(x) < hl_float_max_finite(to)) || hl_float_decode(to, bits) == fabs(x))
    return hl_scalar_of_double(to, x);
  bits -= bits && hl_float_decode(to, bits) > fabs(x);
  double low_end = hl_float_decode(to, bits), high_end = hl_float_decode(to, bits + 1);
  bool is_up = rounds_up(fabs(x), low_end, high_end, random, width);
  return hl_scalar_of_double(to, copysign(is_up ? high_end : low_end, x));
}

const hl_literal *hl_eval_stochastic_convert(hl_eval *e, const hl_instruction *ins,
                                             const hl_literal *const *operands)
{
  hl_element_type from = operands[0]->shape->element_type, to = ins->shape->element_type;
  hl_literal *result = hl_eval_new(e, ins->shape);
  int64_t total = hl_shape_elements(ins->shape);
  int width = hl_type_bits(from);
  for (int64_t i = 0; i < total; i++) {
    double x = hl_scalar_double(from, hl_scalar_load(operands[0], i));
    uint64_t random = hl_scalar_load(operands[1], i).re;
    hl_scalar_store(result, i,
                    hl_is_float(to) ? stochastic_float(to, x, random, width)
                                    : stochastic_int(to, x, random, width));
  }
  return result;
}
