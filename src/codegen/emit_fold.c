/* emit_fold.c - FOLD: values that each iteration replaces, in order, as a nest of scalar loops. */
#include "emit_reduce.h"

/* Carried values of a fold, one after the other by part. */
typedef struct fold_value {
  int lanes, parts, first;
  bool is_clean; /* moved and made NaNs meet in it */
} fold_value;

static void emit_fold_body(hl_nest *n)
{
  const fold_value *values = n->context;
  hl_emitter *e = n->e;
  const hl_loop *loop = n->loop;
  for (int i = 0; i < loop->result_count; i++) {
    hl_value value = {.parts = HL_ARRAY(e->arena, values[i].parts, LLVMValueRef),
                      .part_count = values[i].parts,
                      .is_vector = values[i].lanes > 1,
                      .nan = values[i].is_clean ? HL_NAN_MOVED : HL_NAN_DIRTY};
    for (int part = 0; part < values[i].parts; part++)
      value.parts[part] = n->carried[values[i].first + part];
    hl_value_set(e, loop->accs[i], value);
  }
  hl_emit_block(e, &loop->body);
  for (int i = 0; i < loop->result_count; i++)
    for (int part = 0; part < values[i].parts; part++)
      n->carried[values[i].first + part] =
          values[i].is_clean ? hl_emit_clean(e, loop->yields[i], part, values[i].lanes)
                             : hl_emit_raw(e, loop->yields[i], part, values[i].lanes);
}

/* Whether every NaN that this can be was made by arithmetic: then the canonical form can wait. */
static bool is_made(const hl_loop *loop, const hl_node *node, int depth)
{
  switch (node->op) {
  case HL_LOOP_ACC:
    return node->loop == loop;
  case HL_LOOP_SELECT:
    return depth > 0 && is_made(loop, node->operands[1], depth - 1) &&
           is_made(loop, node->operands[2], depth - 1);
  case HL_LOOP_LOAD:
  case HL_LOOP_NEG:
  case HL_LOOP_ABS:
  case HL_LOOP_BITCAST:
  case HL_LOOP_RESULT:
    return false;
  case HL_LOOP_CONST:
    return !hl_is_float(node->type) ||
           hl_float_decode(node->type, node->bits) == hl_float_decode(node->type, node->bits);
  default:
    return true;
  }
}

static bool is_arithmetic(hl_loop_op op)
{
  return op == HL_LOOP_ADD || op == HL_LOOP_SUB || op == HL_LOOP_MUL || op == HL_LOOP_FMA;
}

/* Whether anything but `by` takes the value; bodies with loops inside are not looked at: they may.
 */
static bool is_taken_elsewhere(const hl_block *block, const hl_node *value, const hl_node *by)
{
  for (const hl_node *node = block->first; node; node = node->next) {
    if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD ||
        node->op == HL_LOOP_IF)
      return true;
    for (int i = 0; i < node->operand_count && node != by; i++)
      if (node->operands[i] == value)
        return true;
  }
  return false;
}

/* A sum whose start came from memory: the first iteration makes something new of it, and nobody
 * else sees it. */
static bool is_sum(const hl_loop *loop, int i)
{
  const hl_node *yield = loop->yields[i];
  for (int k = 0; k < loop->var_count; k++)
    if (loop->extents[k] < 1 || (loop->limits && loop->limits[k]))
      return false;
  for (int k = 0; k < loop->result_count; k++)
    if (k != i && loop->yields[k] == loop->accs[i])
      return false;
  return is_arithmetic(yield->op) && !is_taken_elsewhere(&loop->body, loop->accs[i], yield);
}

static bool needs_clean(hl_emitter *e, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  for (int i = 0; i < loop->result_count; i++) {
    bool starts_moved = e->values[node->operands[i]->id].nan == HL_NAN_MOVED && !is_sum(loop, i);
    if (hl_is_float(loop->accs[i]->type) && (starts_moved || !is_made(loop, loop->yields[i], 8)))
      return true;
  }
  return false;
}

static int plan_fold(hl_emitter *e, const hl_node *node, fold_value *values)
{
  const hl_loop *loop = node->loop;
  bool is_clean = needs_clean(e, node);
  int count = 0;
  for (int i = 0; i < loop->result_count; i++) {
    const hl_node *acc = loop->accs[i];
    values[i] = (fold_value){.lanes = 1, .parts = 1, .first = count, .is_clean = is_clean};
    if (e->width > 1 && (e->variance[acc->id] & HL_VARIES_BY_LANE))
      values[i].lanes = e->width;
    if (e->jam > 1 && (e->variance[acc->id] & HL_VARIES_BY_PART))
      values[i].parts = e->jam;
    count += values[i].parts;
  }
  return count;
}

static LLVMValueRef initial(hl_emitter *e, const hl_node *node, const fold_value *value, int part)
{
  return value->is_clean ? hl_emit_clean(e, node, part, value->lanes)
                         : hl_emit_raw(e, node, part, value->lanes);
}

void hl_emit_fold(hl_emitter *e, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  fold_value *values = HL_ARRAY(e->arena, loop->result_count, fold_value);
  hl_nest n = {.e = e, .loop = loop, .counter = -1, .body = emit_fold_body, .context = values};
  n.is_fold = true;
  n.tile =
      e->width > 1 && e->width <= HL_MAX_JAM && e->jam == 1 && hl_emit_is_scan(e, loop, e->lane_var)
          ? e->width
          : 0;
  n.is_unrolled = !n.tile && hl_nest_unrolls(e, loop, 16);
  hl_emit_plan_group_prefetch(e, loop);
  n.carried_count = plan_fold(e, node, values);
  n.carried = HL_ARRAY(e->arena, n.carried_count + 1, LLVMValueRef);
  for (int i = 0; i < loop->result_count; i++)
    for (int part = 0; part < values[i].parts; part++)
      n.carried[values[i].first + part] = initial(e, node->operands[i], &values[i], part);
  hl_nest_emit(&n);
  for (int i = 0; i < loop->result_count; i++)
    hl_emit_set_result(e, node, i,
                       (hl_value){.parts = n.carried + values[i].first,
                                  .part_count = values[i].parts,
                                  .is_vector = values[i].lanes > 1,
                                  .nan = values[i].is_clean ? HL_NAN_MOVED : HL_NAN_DIRTY});
}
