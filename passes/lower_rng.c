/* lower_rng.c - rng-bit-generator: a block of the generator is computed once, and all numbers that it holds are stored (spec 10.5).
 */
#include "lower_whole.h"

enum { THREE_FRY = 1 }; /* the words of rng's algorithm; the default is philox, as the third is */

typedef struct generator {
  hl_puller *p;
  hl_buffer *state, *bits; /* the results */
  hl_node *key, *counter, *upper; /* u64; upper: the counter's high half, philox alone */
  hl_element_type type;           /* of the numbers */
  int64_t total;
} generator;

static hl_node *two(const generator *g, hl_loop_op op, hl_node *x, hl_node *y)
{
  return hl_put_binary(g->p, op, x, y);
}

static hl_node *u32(const generator *g, uint32_t value)
{
  return hl_put_const(g->p, HL_U32, value);
}

static hl_node *low(const generator *g, hl_node *x)
{
  return hl_put_convert(g->p, HL_U32, x);
}

static hl_node *high(const generator *g, hl_node *x)
{
  return low(g, two(g, HL_LOOP_SRL, x, hl_put_int(g->p, HL_U64, 32)));
}

/* a | b << 32 */
static hl_node *joined(const generator *g, hl_node *a, hl_node *b)
{
  hl_node *upper = two(g, HL_LOOP_SHL, hl_put_convert(g->p, HL_U64, b), hl_put_int(g->p, HL_U64, 32));
  return two(g, HL_LOOP_OR, hl_put_convert(g->p, HL_U64, a), upper);
}

/* x + index, a u64. */
static hl_node *plus(const generator *g, hl_node *x, hl_index index)
{
  return two(g, HL_LOOP_ADD, x, hl_put_convert(g->p, HL_U64, hl_index_value(g->p, index)));
}

static hl_node *state_word(hl_puller *p, const hl_instruction *ins, int64_t at)
{
  hl_index index = hl_index_constant(at);
  return hl_pull(p, ins->operands[0], 0, &index).re;
}

static void store_state(const generator *g, int64_t at, hl_node *value)
{
  hl_put_store(g->p, g->state, hl_index_constant(at), (hl_value){value, NULL});
}

/* A number of 32 bits or, joined, of 64: the low bits of it are the element. */
static void store_number(const generator *g, hl_index at, hl_node *value)
{
  hl_put_store(g->p, g->bits, at, (hl_value){hl_put_convert(g->p, g->type, value), NULL});
}

/* ---- Threefry-2x32, 20 rounds ---- */

typedef struct pair {
  hl_node *a, *b;
} pair;

static hl_node *rotated(const generator *g, hl_node *x, unsigned bits)
{
  hl_node *left = two(g, HL_LOOP_SHL, x, u32(g, bits)), *right = two(g, HL_LOOP_SRL, x, u32(g, 32 - bits));
  return two(g, HL_LOOP_OR, left, right);
}

static pair four_rounds(const generator *g, pair x, const unsigned *rotations)
{
  for (int i = 0; i < 4; i++) {
    x.a = two(g, HL_LOOP_ADD, x.a, x.b);
    x.b = two(g, HL_LOOP_XOR, rotated(g, x.b, rotations[i]), x.a);
  }
  return x;
}

static pair threefry(const generator *g, hl_node *counter)
{
  static const unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  hl_node *keys[3] = {low(g, g->key), high(g, g->key), NULL};
  keys[2] = two(g, HL_LOOP_XOR, two(g, HL_LOOP_XOR, keys[0], keys[1]), u32(g, 0x1BD11BDA));
  pair x = {two(g, HL_LOOP_ADD, low(g, counter), keys[0]), two(g, HL_LOOP_ADD, high(g, counter), keys[1])};
  for (uint32_t group = 0; group < 5; group++) {
    x = four_rounds(g, x, rotations[group % 2]);
    x.a = two(g, HL_LOOP_ADD, x.a, keys[(group + 1) % 3]);
    x.b = two(g, HL_LOOP_ADD, two(g, HL_LOOP_ADD, x.b, keys[(group + 2) % 3]), u32(g, group + 1));
  }
  return x;
}

/* The dimension whose neighbours share a counter: the first of even size, else the first of the largest. */
static int split_dimension(const hl_shape *shape)
{
  int largest = 0;
  for (int d = 0; d < shape->rank; d++) {
    if (shape->dimensions[d] % 2 == 0)
      return d;
    if (shape->dimensions[d] > shape->dimensions[largest])
      largest = d;
  }
  return largest;
}

/* The array around its split dimension, as [outer, size, inner]. Counters run over it with the size halved. */
typedef struct halves {
  int64_t outer, size, inner, half;
} halves;

static halves halves_of(const hl_shape *shape)
{
  halves h = {1, 1, 1, 1};
  int split = split_dimension(shape);
  for (int d = 0; d < shape->rank; d++)
    *(d < split ? &h.outer : d == split ? &h.size : &h.inner) *= shape->dimensions[d];
  h.half = (h.size + 1) / 2;
  return h;
}

static void store_pair(const generator *g, const halves *h, const hl_index *at, bool is_whole)
{
  hl_puller *p = g->p;
  hl_index line = hl_index_add(p, hl_index_scale(p, at[0], h->half, 0), at[1]);
  hl_index number = hl_index_add(p, hl_index_scale(p, line, h->inner, 0), at[2]);
  pair x = threefry(g, plus(g, g->counter, number));
  line = hl_index_add(p, hl_index_scale(p, at[0], h->size, 0), hl_index_scale(p, at[1], 2, 0));
  hl_index first = hl_index_add(p, hl_index_scale(p, line, h->inner, 0), at[2]);
  store_number(g, first, x.a);
  if (is_whole)
    store_number(g, hl_index_scale(p, first, 1, h->inner), x.b);
}

/* An odd size leaves one number without its neighbour at the end of each line. */
static void threefry_pairs(const generator *g, const hl_shape *shape)
{
  halves h = halves_of(shape);
  hl_index at[3];
  hl_open_for(g->p, h.outer, &at[0]);
  if (h.size > 1) {
    hl_open_for(g->p, h.size / 2, &at[1]);
    hl_open_for(g->p, h.inner, &at[2]);
    store_pair(g, &h, at, true);
    hl_close_for(g->p);
    hl_close_for(g->p);
  }
  if (h.size % 2) {
    at[1] = hl_index_constant(h.half - 1);
    hl_open_for(g->p, h.inner, &at[2]);
    store_pair(g, &h, at, false);
    hl_close_for(g->p);
  }
  hl_close_for(g->p);
}

static void threefry_longs(const generator *g)
{
  hl_index i;
  hl_open_for(g->p, g->total, &i);
  pair x = threefry(g, plus(g, g->counter, i));
  store_number(g, i, joined(g, x.a, x.b));
  hl_close_for(g->p);
}

static void build_threefry(const generator *g, const hl_shape *shape)
{
  bool is_long = hl_type_bits(g->type) == 64;
  halves h = halves_of(shape);
  int64_t count = is_long ? g->total : h.outer * h.half * h.inner;
  store_state(g, 0, g->key);
  store_state(g, 1, plus(g, g->counter, hl_index_constant(count)));
  if (!g->total)
    return;
  if (is_long)
    threefry_longs(g);
  else
    threefry_pairs(g, shape);
}

/* ---- Philox-4x32, 10 rounds ---- */

typedef struct words {
  hl_node *w[4];
} words;

static words philox_round(const generator *g, words x, hl_node *k0, hl_node *k1)
{
  hl_node *m0 = hl_put_const(g->p, HL_U64, 0xD2511F53), *m1 = hl_put_const(g->p, HL_U64, 0xCD9E8D57);
  hl_node *p0 = two(g, HL_LOOP_MUL, hl_put_convert(g->p, HL_U64, x.w[0]), m0);
  hl_node *p1 = two(g, HL_LOOP_MUL, hl_put_convert(g->p, HL_U64, x.w[2]), m1);
  return (words){{two(g, HL_LOOP_XOR, two(g, HL_LOOP_XOR, high(g, p1), x.w[1]), k0), low(g, p1),
                  two(g, HL_LOOP_XOR, two(g, HL_LOOP_XOR, high(g, p0), x.w[3]), k1), low(g, p0)}};
}

/* The high half of the counter `sum`, which was `g->counter` plus something. */
static hl_node *carried(const generator *g, hl_node *sum)
{
  hl_node *carry = two(g, HL_LOOP_LT, sum, g->counter);
  return two(g, HL_LOOP_ADD, g->upper, hl_put_convert(g->p, HL_U64, carry));
}

static words philox(const generator *g, hl_index block)
{
  hl_node *counter = plus(g, g->counter, block), *upper = carried(g, counter);
  hl_node *k0 = low(g, g->key), *k1 = high(g, g->key);
  words x = {{low(g, counter), high(g, counter), low(g, upper), high(g, upper)}};
  for (int round = 0; round < 10; round++) {
    x = philox_round(g, x, k0, k1);
    k0 = two(g, HL_LOOP_ADD, k0, u32(g, 0x9E3779B9));
    k1 = two(g, HL_LOOP_ADD, k1, u32(g, 0xBB67AE85));
  }
  return x;
}

/* The first `count` numbers of a block. */
static void store_block(const generator *g, hl_index block, int per_block, int64_t count)
{
  words x = philox(g, block);
  for (int i = 0; i < count; i++)
    store_number(g, hl_index_scale(g->p, block, per_block, i),
                 per_block == 2 ? joined(g, x.w[2 * i], x.w[2 * i + 1]) : x.w[i]);
}

static void build_philox(const generator *g, bool is_long_state)
{
  int per_block = hl_type_bits(g->type) == 64 ? 2 : 4;
  int64_t whole = g->total / per_block, rest = g->total % per_block;
  hl_node *next = plus(g, g->counter, hl_index_constant(whole + (rest > 0)));
  store_state(g, 0, g->key);
  store_state(g, 1, next);
  if (is_long_state)
    store_state(g, 2, carried(g, next));
  if (whole) {
    hl_index block;
    hl_open_for(g->p, whole, &block);
    store_block(g, block, per_block, per_block);
    hl_close_for(g->p);
  }
  if (rest)
    store_block(g, hl_index_constant(whole), per_block, rest);
}

/* The state of two words takes the key as the counter's high half. */
void hl_build_rng_bit_generator(hl_puller *p, const hl_instruction *ins)
{
  const hl_shape *shape = ins->shape->tuple_shapes[1];
  bool is_long_state = hl_shape_elements(ins->shape->tuple_shapes[0]) == 3;
  generator g = {.p = p, .state = p->leaves[ins->scratch][0], .bits = p->leaves[ins->scratch][1],
                 .type = shape->element_type, .total = hl_shape_elements(shape)};
  g.key = state_word(p, ins, 0);
  g.counter = state_word(p, ins, 1);
  g.upper = is_long_state ? state_word(p, ins, 2) : g.key;
  if (hl_attr_int(ins, HL_ATTR_RNG_ALGORITHM, 0) == THREE_FRY)
    build_threefry(&g, shape);
  else
    build_philox(&g, is_long_state);
}
