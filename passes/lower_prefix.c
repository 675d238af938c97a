/* lower_prefix.c - reduce-windows whose outputs are the prefixes (or suffixes) of lines: cumsum and
 * its kind, in linear time.
 *
 *   float and complex sums and products   blocks of 256, as numerics.md rule 7 has them
 *   order-free regions (rule 3)           each output is the one before, joined with one more
 * element other regions                         likewise, forwards: that is the order of rule 5
 */
#include "lower_whole.h"
#include "lower_window.h"

#include "../ir/limits.h"

enum { BLOCK = 256 };

/* The dimension with a prefix window, -1 when the window is another one. */
static int prefix_dim(const hl_instruction *ins, bool *is_reversed)
{
  const hl_shape *shape = ins->operands[0]->shape;
  int found = -1;
  for (int d = 0; d < shape->rank; d++) {
    hl_window_dim w = hl_window_dim_of(ins, d);
    if (w.stride != 1 || w.base_dilation != 1 || w.window_dilation != 1)
      return -1;
    if (hl_window_is_point(&w))
      continue;
    bool is_forward = w.padding_low == w.size - 1 && w.padding_high == 0;
    *is_reversed = w.padding_low == 0 && w.padding_high == w.size - 1;
    if (found >= 0 || w.size == 1 || w.size < shape->dimensions[d] || !(is_forward || *is_reversed))
      return -1;
    found = d;
  }
  return found;
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
  prefix->dim = prefix_dim(ins, &prefix->is_reversed);
  prefix->is_blocked = is_single && hl_sum_or_product(region, type) != HL_OP_COUNT;
  return prefix->dim >= 0 && (prefix->is_blocked || !prefix->is_reversed ||
                              (is_single && is_order_free(hl_region_binary(region, NULL), type)));
}

typedef struct scan {
  const hl_instruction *ins;
  hl_computation *region;
  hl_prefix prefix;
  hl_opcode opcode;
  hl_element_type type, wide; /* blocked: of the elements and of the sums */
  int64_t n;
  int count;
  hl_index *at; /* the line; at[prefix.dim] is set on the way */
} scan;

static void go_to(hl_puller *p, scan *s, hl_index i)
{
  s->at[s->prefix.dim] = s->prefix.is_reversed ? hl_index_scale(p, i, -1, s->n - 1) : i;
}

static void store(hl_puller *p, const scan *s, int leaf, hl_value value)
{
  const hl_shape *shape = hl_leaf_shape(s->ins->shape, leaf);
  hl_put_store(p, p->leaves[s->ins->scratch][leaf], hl_index_flatten(p, shape, s->at), value);
}

/* --- rule 7 --- */

static hl_value identity(hl_puller *p, const scan *s)
{
  hl_element_type part = hl_component_type(s->wide);
  hl_node *e = hl_put_float(p, part, s->opcode == HL_OP_ADD ? -0.0 : 1.0);
  return (hl_value){e, hl_is_complex(s->wide)
                           ? hl_put_float(p, part, s->opcode == HL_OP_ADD ? -0.0 : 0.0)
                           : NULL};
}

static hl_value joined(hl_puller *p, const scan *s, hl_value x, hl_value y)
{
  return hl_put_hlo_binary(p, s->opcode, s->wide, x, y);
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

static hl_value scan_block(hl_puller *p, scan *s, hl_index start, hl_value offset)
{
  hl_value local = identity(p, s), total;
  int64_t extent = s->n < BLOCK ? s->n : BLOCK;
  hl_index i, left = hl_index_scale(p, start, -1, s->n);
  hl_node *limit = start.count && s->n % BLOCK ? hl_index_value(p, left) : NULL;
  hl_open_loop loop = hl_open_value_fold(p, p->scope, 1, &extent, 1, &local, &i);
  loop.node->loop->limits[0] = limit;
  hl_carried_values(&loop, 1, &local, &local);
  go_to(p, s, hl_index_add(p, start, i));
  hl_value x = hl_put_widened(p, hl_pull(p, s->ins->operands[0], 0, s->at));
  local = with_next(p, s, local, x, i);
  store(p, s, 0, hl_put_parts(p, s->type, joined(p, s, offset, local)));
  hl_close_value_fold(p, &loop, 1, &local, &total);
  return total;
}

static void scan_blocks(hl_puller *p, scan *s)
{
  hl_value offset = hl_put_widened(p, hl_pull(p, s->ins->operands[1], 0, NULL));
  int64_t blocks = (s->n + BLOCK - 1) / BLOCK;
  hl_index b;
  if (blocks == 1) {
    scan_block(p, s, hl_index_constant(0), offset);
    return;
  }
  hl_open_loop loop = hl_open_value_fold(p, p->scope, 1, &blocks, 1, &offset, &b);
  hl_carried_values(&loop, 1, &offset, &offset);
  hl_value total = scan_block(p, s, hl_index_scale(p, b, BLOCK, 0), offset);
  offset = joined(p, s, offset, total);
  hl_close_value_fold(p, &loop, 1, &offset, NULL);
}

/* --- everything else --- */

static void scan_region(hl_puller *p, scan *s)
{
  hl_value *args = HL_ARRAY(p->arena, 2 * s->count, hl_value),
           *next = HL_ARRAY(p->arena, s->count, hl_value);
  hl_index i;
  for (int k = 0; k < s->count; k++)
    args[k] = hl_pull(p, s->ins->operands[s->count + k], 0, NULL);
  hl_open_loop loop = hl_open_value_fold(p, p->scope, 1, &s->n, s->count, args, &i);
  hl_carried_values(&loop, s->count, args, args);
  go_to(p, s, i);
  for (int k = 0; k < s->count; k++)
    args[s->count + k] = hl_pull(p, s->ins->operands[k], 0, s->at);
  hl_pull_region(p, s->region, args, next);
  for (int k = 0; k < s->count; k++)
    store(p, s, k, hl_put_canonical(p, next[k]));
  hl_close_value_fold(p, &loop, s->count, next, NULL);
}

void hl_build_prefix(hl_puller *p, const hl_instruction *ins)
{
  const hl_shape *shape = ins->operands[0]->shape;
  scan s = {.ins = ins,
            .region = hl_attr_computation(ins, HL_ATTR_TO_APPLY),
            .type = shape->element_type,
            .wide = hl_wide_type(shape->element_type),
            .count = ins->operand_count / 2};
  hl_is_prefix_window(ins, &s.prefix);
  s.opcode = hl_region_binary(s.region, NULL);
  s.n = shape->dimensions[s.prefix.dim];
  s.at = HL_ARRAY(p->arena, shape->rank, hl_index);
  int opened = hl_open_lines(p, shape, s.prefix.dim, s.at);
  if (s.prefix.is_blocked)
    scan_blocks(p, &s);
  else
    scan_region(p, &s);
  hl_close_all(p, opened);
}
