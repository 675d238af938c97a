/* emit_jam.c - how many iterations of a loop run interleaved.
 *
 * Lowering may say so (jam). Where it does not, two kinds of bodies ask for it:
 *   dot        a vector of columns times a row: several rows use what is loaded of the columns once
 *   transpose  a vector of lanes that lie far apart, while the next iteration's lie beside them: a
 * square of both is loaded by whole vectors and transposed in registers (emit_tile.c)
 */
#include "emit_reduce.h"

static bool varies(const hl_emitter *e, const hl_node *node, uint8_t bit)
{
  return e->variance[node->id] & bit;
}

/* A search through the body of a loop whose iterations might be interleaved. */
typedef struct search {
  hl_emitter *e;
  const hl_node *var;
  int tile;        /* iterations that a transpose wants */
  bool has_dot;    /* with a vector that all iterations share */
  bool has_tile;   /* a reduction that transposes what all iterations share */
  bool has_inner;  /* a loop that is interleaved itself */
  bool is_private; /* no iteration stores where another stores or loads */
} search;

static bool is_stored(const hl_param *param)
{
  return param->direction != HL_PARAM_IN;
}

static void look_at_access(search *s, const hl_node *node, const hl_node *lanes)
{
  const hl_access *access = node->access;
  if (is_stored(access->param))
    s->is_private = s->is_private && node->op == HL_LOOP_STORE &&
                    access->param->direction == HL_PARAM_OUT && hl_stride_of(access, s->var) != 0;
  else if (node->op == HL_LOOP_LOAD && lanes && hl_emit_is_tile(s->e, node, s->var, lanes))
    s->tile = hl_emit_tile_size(s->e, access->param->type);
}

/* A vector that serves all iterations. */
static bool is_shared(const hl_emitter *e, const hl_node *node)
{
  return varies(e, node, HL_VARIES_BY_LANE) && !varies(e, node, HL_VARIES_BY_PART);
}

static void look_at_dot(search *s, const hl_loop *loop)
{
  for (int i = 0; i < loop->result_count; i++) {
    int at = hl_first_yield(loop, i);
    const hl_node *first = loop->yields[at];
    if (first->op == HL_LOOP_DOT4 || (first->op == HL_LOOP_MUL && hl_is_integral(first->type)))
      s->has_dot = s->has_dot || is_shared(s->e, first->operands[0]) ||
                   is_shared(s->e, first->operands[1]);
    if (loop->combiners[i].order == HL_ORDER_DOT)
      s->has_dot = s->has_dot || is_shared(s->e, loop->yields[at]) ||
                   is_shared(s->e, loop->yields[at + 1]);
  }
}

static void look(search *s, const hl_block *block, const hl_node *lanes)
{
  for (const hl_node *node = block->first; node; node = node->next) {
    switch (node->op) {
    case HL_LOOP_LOAD:
    case HL_LOOP_STORE:
      look_at_access(s, node, lanes);
      break;
    case HL_LOOP_REDUCE:
      if (lanes) {
        hl_emit_variance(s->e, lanes->loop, HL_VARIES_BY_LANE);
        look_at_dot(s, node->loop);
        s->has_tile = s->has_tile || hl_emit_reduce_tile(s->e, node->loop, lanes);
      }
      look(s, &node->loop->body, NULL);
      break;
    case HL_LOOP_FOR:
      s->has_inner = s->has_inner || node->loop->jam > 1;
      look(s, &node->loop->body, node->loop->mode == HL_MODE_VECTOR ? node->loop->vars[0] : NULL);
      break;
    case HL_LOOP_FOLD:
      look(s, &node->loop->body, NULL);
      break;
    case HL_LOOP_IF:
      s->is_private = false;
      break;
    default:
      break;
    }
  }
}

/* As many rows as registers hold, but enough rounds for the threads to share. Rows that are left over
 * are slow and cost a second copy of the loop, so a few less that divide them are better. */
static int rows_of_dot(const hl_emitter *e, const hl_loop *loop)
{
  enum { MANY = 8, FEW = 4 };
  bool has_many = e->features->has_avx512 || e->features->has_neon;
  int64_t rows = loop->extents[0];
  if (!has_many || rows < FEW || (loop->mode == HL_MODE_PARALLEL && rows < 8 * MANY))
    return rows < FEW ? (int)rows : FEW;
  for (int some = MANY; some > FEW; some--)
    if (rows % some == 0)
      return some;
  return rows < MANY ? FEW : MANY;
}

static int wanted_jam(hl_emitter *e, const hl_loop *loop)
{
  search s = {.e = e, .var = loop->vars[0], .is_private = true};
  if (loop->jam < 2 && loop->mode == HL_MODE_SERIAL)
    return 1;
  look(&s, &loop->body, NULL);
  if (loop->jam < 2 && (s.has_inner || !s.is_private))
    return 1;
  if (s.tile || s.has_dot)
    return s.tile ? s.tile : rows_of_dot(e, loop);
  if (loop->jam > 1)
    return loop->jam > HL_MAX_JAM ? HL_MAX_JAM : loop->jam;
  return s.has_tile ? 2 : 1;
}

int hl_emit_choose_jam(hl_emitter *e, const hl_loop *loop)
{
  if (e->options->opt_level < 2 || e->target->vector_bytes == 0 || e->jam > 1 || e->width > 1)
    return 1;
  hl_emit_variance(e, loop, HL_VARIES_BY_PART);
  int jam = wanted_jam(e, loop);
  if (loop->extents[0] < jam || hl_emit_control_varies(e, &loop->body, HL_VARIES_BY_PART, true))
    return 1;
  return jam;
}

const hl_loop *hl_emit_only_vector_loop(const hl_loop *loop)
{
  const hl_node *node = loop->body.first;
  while (node && node->op == HL_LOOP_CONST)
    node = node->next;
  bool is_it = node && !node->next && node->op == HL_LOOP_FOR && node->loop->mode == HL_MODE_VECTOR;
  return is_it ? node->loop : NULL;
}

bool hl_emit_goes_by_blocks(const hl_emitter *e, const hl_loop *loop, int jam)
{
  const hl_loop *inner = hl_emit_only_vector_loop(loop);
  if (!inner || inner->extents[0] < 2 * HL_TILE_BLOCK || loop->extents[0] < 8 * HL_TILE_BLOCK)
    return false;
  for (const hl_node *node = inner->body.first; node; node = node->next)
    if (node->op == HL_LOOP_LOAD && jam == hl_emit_tile_size(e, node->access->param->type) &&
        hl_emit_is_tile(e, node, loop->vars[0], inner->vars[0]))
      return true;
  return false;
}

int64_t hl_emit_grain(hl_emitter *e, const hl_loop *loop)
{
  int64_t grain = loop->grain > 0 ? loop->grain : 1, jam = hl_emit_choose_jam(e, loop);
  int64_t unit = hl_emit_goes_by_blocks(e, loop, (int)jam) ? HL_TILE_BLOCK : jam;
  return (grain + unit - 1) / unit * unit;
}
