/* lower_prefix.c - reduce-windows whose outputs are the prefixes (or suffixes) of lines: cumsum and
 * its kind, in linear time.
 *
 *   float and complex sums and products   blocks of 256, as numerics.md rule 7 has them
 *   order-free regions (rule 3)           each output is the one before, joined with one more
 * element
 *   other regions, exclusive prefixes     likewise, forwards: that is the order of rules 5 and 6
 *
 * Many lines are lanes, each going along its own. Where there are few, the blocks of a line are:
 *
 *   for b: totals[b] := fold k in 0..256: x[256 b + k]
 *   fold b from init: totals[b] := what is before block b
 *   for b: fold k in 0..256: out[256 b + k] := totals[b] o what is up to k
 */
#include "lower_whole.h"
#include "lower_window.h"

#include "../ir/limits.h"

#include <string.h>

enum {
  BLOCK = 256,
  FEW_LINES = 64, /* below that their blocks are lanes too */
  FULL_LANES = 16
};

/* Whether output i of a window has the elements up to i, or those before i. */
static bool is_prefix(const hl_window_dim *w, int64_t low, int64_t high, int64_t n,
                      bool *is_exclusive)
{
  *is_exclusive = low == w->size && high <= 0;
  bool is_inclusive = low == w->size - 1 && high == 0;
  return w->size >= n && w->size > 1 && (is_inclusive || (*is_exclusive && high > -n));
}

/* Says which dimension has a prefix window; false: the window is another one. */
static bool find_prefix(const hl_instruction *ins, hl_prefix *prefix)
{
  const hl_shape *shape = ins->operands[0]->shape;
  prefix->dim = -1;
  for (int d = 0; d < shape->rank; d++) {
    hl_window_dim w = hl_window_dim_of(ins, d);
    int64_t n = shape->dimensions[d];
    if (w.stride != 1 || w.base_dilation != 1 || w.window_dilation != 1)
      return false;
    if (hl_window_is_point(&w))
      continue;
    bool is_forward = is_prefix(&w, w.padding_low, w.padding_high, n, &prefix->is_exclusive);
    prefix->is_reversed = !is_forward;
    if (prefix->dim >= 0 ||
        !(is_forward || is_prefix(&w, w.padding_high, w.padding_low, n, &prefix->is_exclusive)))
      return false;
    prefix->dim = d;
  }
  return prefix->dim >= 0;
}

static bool is_order_free(hl_opcode opcode, hl_element_type type)
{
  switch (opcode) {
  case HL_OP_MAXIMUM:
  case HL_OP_MINIMUM:
  case HL_OP_AND:
  case HL_OP_OR:
  case HL_OP_XOR:
    return true;
  case HL_OP_ADD:
  case HL_OP_MULTIPLY:
    return !hl_is_float(type) && !hl_is_complex(type);
  default:
    return false;
  }
}

bool hl_is_prefix_window(const hl_instruction *ins, hl_prefix *prefix)
{
  const hl_computation *region = hl_attr_computation(ins, HL_ATTR_TO_APPLY);
  hl_element_type type = ins->operands[0]->shape->element_type;
  bool is_single = ins->operand_count == 2;
  if (!find_prefix(ins, prefix))
    return false;
  prefix->is_blocked =
      is_single && !prefix->is_exclusive && hl_sum_or_product(region, type) != HL_OP_COUNT;
  return prefix->is_blocked || !prefix->is_reversed ||
         (is_single && is_order_free(hl_region_binary(region, NULL), type));
}

typedef struct scan {
  const hl_instruction *ins;
  hl_computation *region;
  hl_prefix prefix;
  hl_opcode opcode;           /* of a region of one op; HL_OP_COUNT: another one */
  hl_element_type type, wide; /* of the elements and of what is carried */
  int64_t n, steps;           /* elements of a line, and how many of them are used */
  int count;
  hl_index *at; /* the line; at[prefix.dim] is set on the way */
} scan;

/* Puts s->at where element i is, or the output behind i elements. */
static void go_to_element(hl_puller *p, scan *s, hl_index i)
{
  s->at[s->prefix.dim] = s->prefix.is_reversed ? hl_index_scale(p, i, -1, s->n - 1) : i;
}

static void go_to_output(hl_puller *p, scan *s, hl_index i, int64_t before)
{
  int64_t outputs = s->steps + s->prefix.is_exclusive;
  s->at[s->prefix.dim] = s->prefix.is_reversed ? hl_index_scale(p, i, -1, outputs - 1 - before)
                                               : hl_index_scale(p, i, 1, before);
}

static void store(hl_puller *p, const scan *s, int leaf, hl_value value)
{
  const hl_shape *shape = hl_leaf_shape(s->ins->shape, leaf);
  hl_put_store(p, p->leaves[s->ins->scratch][leaf], hl_index_flatten(p, shape, s->at), value);
}

/* --- regions of one op --- */

static hl_value joined(hl_puller *p, const scan *s, hl_value x, hl_value y)
{
  return hl_put_hlo_binary(p, s->opcode, s->wide, x, y);
}

static hl_value initial(hl_puller *p, const scan *s)
{
  return hl_put_widened(p, hl_pull(p, s->ins->operands[1], 0, NULL));
}

/* What changes nothing. Maxima, minima and bits may take init, since it comes in anyway. */
static hl_value identity(hl_puller *p, const scan *s)
{
  hl_element_type part = hl_component_type(s->wide);
  bool is_sum = s->opcode == HL_OP_ADD || s->opcode == HL_OP_XOR;
  if (!is_sum && s->opcode != HL_OP_MULTIPLY)
    return initial(p, s);
  if (!hl_is_float(part))
    return (hl_value){hl_put_int(p, part, is_sum ? 0 : 1), NULL};
  hl_node *e = hl_put_float(p, part, is_sum ? -0.0 : 1.0);
  bool is_complex = hl_is_complex(s->wide);
  return (hl_value){e, is_complex ? hl_put_float(p, part, is_sum ? -0.0 : 0.0) : NULL};
}

/* One more element of a block; a complex product has no identity that changes nothing. */
static hl_value with_next(hl_puller *p, const scan *s, hl_value local, hl_value x, hl_index i)
{
  hl_value next = joined(p, s, local, x);
  if (!x.im || s->opcode == HL_OP_ADD)
    return next;
  hl_node *is_first = hl_put_binary(p, HL_LOOP_EQ, hl_index_value(p, i), hl_put_int(p, HL_S64, 0));
  return hl_put_either(p, is_first, x, next);
}

/* Elements of a line that follow each other. */
typedef struct run {
  hl_index start;
  int64_t count;
  const hl_value *offset; /* what is before them; NULL: `from` says it */
  hl_value from;
  bool stores;
} run;

/* What the run comes to. */
static hl_value scan_run(hl_puller *p, scan *s, const run *r)
{
  hl_value local = r->from, total;
  hl_index i;
  hl_open_loop loop = hl_open_value_fold(p, p->scope, 1, &r->count, 1, &local, &i);
  hl_carried_values(&loop, 1, &local, &local);
  hl_index element = hl_index_add(p, r->start, i);
  go_to_element(p, s, element);
  hl_value x = hl_put_widened(p, hl_pull(p, s->ins->operands[0], 0, s->at));
  local = s->prefix.is_blocked ? with_next(p, s, local, x, i) : joined(p, s, local, x);
  if (r->stores) {
    hl_value sum = r->offset ? joined(p, s, *r->offset, local) : local;
    go_to_output(p, s, element, s->prefix.is_exclusive);
    store(p, s, 0, hl_put_parts(p, s->type, sum));
  }
  hl_close_value_fold(p, &loop, 1, &local, &total);
  return total;
}

static hl_value scan_block(hl_puller *p, scan *s, hl_index start, int64_t count, hl_value offset)
{
  run r = {start, count, &offset, identity(p, s), true};
  return joined(p, s, offset, scan_run(p, s, &r));
}

static void scan_blocks(hl_puller *p, scan *s)
{
  hl_value offset = initial(p, s);
  int64_t blocks = s->steps / BLOCK, left = s->steps % BLOCK;
  hl_index b;
  if (blocks == 1) {
    offset = scan_block(p, s, hl_index_constant(0), BLOCK, offset);
  } else if (blocks > 1) {
    hl_value next = offset;
    hl_open_loop loop = hl_open_value_fold(p, p->scope, 1, &blocks, 1, &next, &b);
    hl_carried_values(&loop, 1, &next, &next);
    next = scan_block(p, s, hl_index_scale(p, b, BLOCK, 0), BLOCK, next);
    hl_close_value_fold(p, &loop, 1, &next, &offset);
  }
  if (left)
    scan_block(p, s, hl_index_constant(blocks * BLOCK), left, offset);
}

static void scan_line(hl_puller *p, scan *s)
{
  run r = {.count = s->steps, .stores = true};
  if (s->prefix.is_blocked) {
    scan_blocks(p, s);
    return;
  }
  r.from = initial(p, s);
  scan_run(p, s, &r);
}

/* --- blocks as lanes --- */

typedef struct block_totals {
  hl_buffer *buffer;     /* one a block of each line, and one behind them */
  const hl_shape *shape; /* as the operand's, blocks along the line */
} block_totals;

static bool has_few_lines(const hl_puller *p, const scan *s)
{
  const hl_shape *shape = s->ins->operands[0]->shape;
  int64_t blocks = s->steps / BLOCK, lines = blocks ? hl_shape_elements(shape) / s->n : 0;
  for (int d = s->prefix.dim + 1; d < shape->rank; d++)
    if (shape->dimensions[d] != 1)
      return false;
  return p->options->opt_level >= 2 &&
         (s->prefix.is_blocked || is_order_free(s->opcode, s->type)) &&
         ((lines < FULL_LANES && blocks >= 4) || (lines < FEW_LINES && blocks >= FULL_LANES));
}

static block_totals new_totals(hl_puller *p, const scan *s)
{
  const hl_shape *shape = s->ins->operands[0]->shape;
  int64_t *dims = HL_ARRAY(p->arena, shape->rank, int64_t);
  memcpy(dims, shape->dimensions, (size_t)shape->rank * sizeof *dims);
  dims[s->prefix.dim] = s->steps / BLOCK + 1;
  block_totals t = {.shape = hl_shape_new(p->arena, s->wide, shape->rank, dims)};
  t.buffer = hl_new_work_buffer(p, "totals", s->wide, hl_shape_elements(t.shape), false);
  return t;
}

static hl_index place_of(hl_puller *p, scan *s, const block_totals *t, hl_index block)
{
  s->at[s->prefix.dim] = block;
  return hl_index_flatten(p, t->shape, s->at);
}

static int open_lines(hl_puller *p, scan *s)
{
  return hl_open_lines(p, s->ins->operands[0]->shape, s->prefix.dim, s->at);
}

static void store_totals(hl_puller *p, scan *s, const block_totals *t)
{
  hl_index b;
  int opened = open_lines(p, s);
  hl_open_for(p, s->steps / BLOCK, &b);
  run r = {.start = hl_index_scale(p, b, BLOCK, 0), .count = BLOCK, .from = identity(p, s)};
  hl_value total = scan_run(p, s, &r);
  hl_put_store(p, t->buffer, place_of(p, s, t, b), total);
  hl_close_all(p, opened + 1);
}

static void join_totals(hl_puller *p, scan *s, const block_totals *t)
{
  hl_index b;
  int64_t blocks = s->steps / BLOCK;
  int opened = open_lines(p, s);
  hl_value offset = initial(p, s);
  hl_open_loop loop = hl_open_value_fold(p, p->scope, 1, &blocks, 1, &offset, &b);
  hl_carried_values(&loop, 1, &offset, &offset);
  hl_index place = place_of(p, s, t, b);
  hl_value total = hl_put_load_here(p, t->buffer, place);
  hl_put_store(p, t->buffer, place, offset);
  offset = joined(p, s, offset, total);
  hl_close_value_fold(p, &loop, 1, &offset, &offset);
  hl_put_store(p, t->buffer, place_of(p, s, t, hl_index_constant(blocks)), offset);
  hl_close_all(p, opened);
}

static void scan_from_totals(hl_puller *p, scan *s, const block_totals *t)
{
  hl_index b;
  int64_t blocks = s->steps / BLOCK, left = s->steps % BLOCK;
  int opened = open_lines(p, s);
  hl_open_for(p, blocks, &b);
  hl_value offset = hl_put_load_here(p, t->buffer, place_of(p, s, t, b));
  scan_block(p, s, hl_index_scale(p, b, BLOCK, 0), BLOCK, offset);
  hl_close_all(p, opened + 1);
  if (!left)
    return;
  opened = open_lines(p, s);
  offset = hl_put_load_here(p, t->buffer, place_of(p, s, t, hl_index_constant(blocks)));
  scan_block(p, s, hl_index_constant(blocks * BLOCK), left, offset);
  hl_close_all(p, opened);
}

static void scan_few_lines(hl_puller *p, scan *s)
{
  block_totals t = new_totals(p, s);
  store_totals(p, s, &t);
  join_totals(p, s, &t);
  scan_from_totals(p, s, &t);
}

/* --- everything else --- */

static void scan_region(hl_puller *p, scan *s)
{
  hl_value *args = HL_ARRAY(p->arena, 2 * s->count, hl_value),
           *next = HL_ARRAY(p->arena, s->count, hl_value);
  hl_index i;
  for (int k = 0; k < s->count; k++)
    args[k] = hl_pull(p, s->ins->operands[s->count + k], 0, NULL);
  hl_open_loop loop = hl_open_value_fold(p, p->scope, 1, &s->steps, s->count, args, &i);
  hl_carried_values(&loop, s->count, args, args);
  go_to_element(p, s, i);
  for (int k = 0; k < s->count; k++)
    args[s->count + k] = hl_pull(p, s->ins->operands[k], 0, s->at);
  hl_pull_region(p, s->region, args, next);
  go_to_output(p, s, i, s->prefix.is_exclusive);
  for (int k = 0; k < s->count; k++)
    store(p, s, k, hl_put_canonical(p, next[k]));
  hl_close_value_fold(p, &loop, s->count, next, NULL);
}

/* The output before which there are no elements. */
static void store_inits(hl_puller *p, scan *s)
{
  int opened = open_lines(p, s);
  go_to_output(p, s, hl_index_constant(0), 0);
  for (int k = 0; k < s->count; k++)
    store(p, s, k, hl_put_canonical(p, hl_pull(p, s->ins->operands[s->count + k], 0, NULL)));
  hl_close_all(p, opened);
}

static scan scan_of(hl_puller *p, const hl_instruction *ins)
{
  const hl_shape *shape = ins->operands[0]->shape;
  scan s = {.ins = ins,
            .region = hl_attr_computation(ins, HL_ATTR_TO_APPLY),
            .type = shape->element_type,
            .wide = hl_wide_type(shape->element_type),
            .count = ins->operand_count / 2};
  hl_is_prefix_window(ins, &s.prefix);
  bool is_sum = hl_sum_or_product(s.region, s.type) != HL_OP_COUNT;
  s.opcode = s.count == 1 ? hl_region_binary(s.region, NULL) : HL_OP_COUNT;
  if (!is_sum && !is_order_free(s.opcode, s.type))
    s.opcode = HL_OP_COUNT;
  s.n = shape->dimensions[s.prefix.dim];
  s.steps = hl_leaf_shape(ins->shape, 0)->dimensions[s.prefix.dim] - s.prefix.is_exclusive;
  s.at = HL_ARRAY(p->arena, shape->rank, hl_index);
  return s;
}

void hl_build_prefix(hl_puller *p, const hl_instruction *ins)
{
  scan s = scan_of(p, ins);
  if (s.prefix.is_exclusive)
    store_inits(p, &s);
  if (s.opcode != HL_OP_COUNT && has_few_lines(p, &s)) {
    scan_few_lines(p, &s);
    return;
  }
  int opened = open_lines(p, &s);
  if (s.opcode != HL_OP_COUNT)
    scan_line(p, &s);
  else
    scan_region(p, &s);
  hl_close_all(p, opened);
}
