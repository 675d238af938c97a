/* loop_eval_reduce.c - the orders of numerics.md rules 3, 4 and 8 in the interpreter, as the rules
 * define them.
 *
 * ROW and COL first gather everything that the loop yields: slow, and plainly the definition.
 */
#include "loop_eval.h"

#include <math.h>

enum { ROW_BLOCK = 4096, COL_BLOCK = 256, DOT_BLOCK = 1024, LANE_BYTES = 128 };

static uint64_t extreme(hl_element_type type, bool is_largest)
{
  if (type == HL_PRED)
    return is_largest;
  if (hl_is_float(type))
    return hl_loop_real_bits(type, is_largest ? (double)INFINITY : -(double)INFINITY);
  uint64_t top = UINT64_C(1) << (hl_type_bits(type) - 1);
  if (hl_type_class_of(type) == HL_CLASS_SIGNED)
    return is_largest ? top - 1 : top;
  return is_largest ? top - 1 + top : 0;
}

/* e with e o x = x exactly: the sum of floats begins at -0. */
static uint64_t identity(hl_loop_op op, hl_element_type type)
{
  switch (op) {
  case HL_LOOP_ADD:
    return hl_is_float(type) ? hl_loop_real_bits(type, -0.0) : 0;
  case HL_LOOP_MUL:
    return hl_is_float(type) ? hl_loop_real_bits(type, 1) : 1;
  case HL_LOOP_MAX:
    return extreme(type, false);
  case HL_LOOP_MIN:
    return extreme(type, true);
  case HL_LOOP_AND:
    return type == HL_PRED ? 1 : hl_loop_int_bits(type, -1);
  default:
    return 0;
  }
}

static uint64_t combine(const hl_combiner *c, uint64_t x, uint64_t y)
{
  return hl_loop_eval_binary(c->combine, c->type, x, y);
}

static uint64_t in_order(const hl_combiner *c, uint64_t *x, int64_t n);

/* The value of the values of consecutive blocks, which overwrite the front of x. */
static uint64_t by_blocks(const hl_combiner *c, uint64_t *x, int64_t n, int64_t block)
{
  int64_t blocks = 0;
  for (int64_t start = 0; start < n; start += block, blocks++)
    x[blocks] = in_order(c, x + start, n - start < block ? n - start : block);
  return in_order(c, x, blocks);
}

static uint64_t row(const hl_combiner *c, const uint64_t *x, int64_t n)
{
  uint64_t lanes[LANE_BYTES];
  int count = hl_row_lanes(c);
  for (int lane = 0; lane < count; lane++)
    lanes[lane] = identity(c->combine, c->type);
  for (int64_t t = 0; t < n; t++)
    lanes[t % count] = combine(c, lanes[t % count], x[t]);
  for (int half = count / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; lane++)
      lanes[lane] = combine(c, lanes[lane], lanes[lane + half]);
  return lanes[0];
}

static uint64_t column(const hl_combiner *c, const uint64_t *x, int64_t n)
{
  uint64_t value = identity(c->combine, c->type);
  for (int64_t t = 0; t < n; t++)
    value = combine(c, value, x[t]);
  return value;
}

static uint64_t in_order(const hl_combiner *c, uint64_t *x, int64_t n)
{
  bool is_row = c->order == HL_ORDER_ROW;
  int64_t block = is_row ? ROW_BLOCK : COL_BLOCK;
  if (n > block)
    return by_blocks(c, x, n, block);
  return is_row ? row(c, x, n) : column(c, x, n);
}

void hl_reduction_start(hl_reduction *r)
{
  const hl_combiner *c = r->combiner;
  r->count = 0;
  r->block_count = 0;
  r->block = 0;
  r->value = c->order == HL_ORDER_DOT ? 0 : identity(c->combine, c->type);
}

static void add_product(hl_reduction *r, uint64_t left, uint64_t right)
{
  hl_element_type type = r->combiner->type;
  r->block = hl_loop_eval_fma(type, left, right, r->block);
  if (++r->block_count < DOT_BLOCK)
    return;
  r->value = hl_loop_eval_binary(HL_LOOP_ADD, type, r->value, r->block);
  r->block = 0;
  r->block_count = 0;
}

void hl_reduction_add(hl_reduction *r, uint64_t left, uint64_t right)
{
  switch (r->combiner->order) {
  case HL_ORDER_FREE:
    r->value = combine(r->combiner, r->value, left);
    break;
  case HL_ORDER_DOT:
    add_product(r, left, right);
    break;
  default:
    r->values = hl_arena_grow(r->arena, r->values, &r->capacity, r->count + 1, sizeof *r->values);
    r->values[r->count++] = left;
  }
}

uint64_t hl_reduction_finish(hl_reduction *r)
{
  const hl_combiner *c = r->combiner;
  switch (c->order) {
  case HL_ORDER_FREE:
    return r->value;
  case HL_ORDER_DOT:
    return r->block_count == 0 ? r->value
                               : hl_loop_eval_binary(HL_LOOP_ADD, c->type, r->value, r->block);
  default:
    return in_order(c, r->values, (int64_t)r->count);
  }
}
