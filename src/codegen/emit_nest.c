/* emit_nest.c - the loops of a REDUCE or FOLD, one variable inside the other, with values carried
 * through all of them.
 *
 * Where the order of a sum has blocks, the innermost loop is cut at their ends, so that it has no
 * test for them. Few iterations of a small body without loops are written out: then their indices
 * are constants.
 */
#include "emit_reduce.h"

static bool is_straight(const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next)
    if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD ||
        node->op == HL_LOOP_IF)
      return false;
  return true;
}

bool hl_nest_unrolls(const hl_emitter *e, const hl_loop *loop, int64_t count_limit)
{
  enum { COST_LIMIT = 128 };
  int64_t count = hl_loop_count(loop), cost = hl_emit_cost(&loop->body);
  if (e->options->opt_level < 2 || count > count_limit || cost * count > COST_LIMIT ||
      !is_straight(&loop->body))
    return false;
  for (int i = 0; i < loop->var_count; i++)
    if (loop->limits && loop->limits[i])
      return false;
  return true;
}

static void set_element(hl_nest *n, LLVMValueRef index, LLVMValueRef start)
{
  LLVMBuilderRef b = n->e->l.builder;
  if (n->counter >= 0)
    n->element = LLVMBuildAdd(b, n->carried[n->counter], LLVMBuildSub(b, index, start, ""), "");
}

static void emit_iterations(hl_nest *n, int k, LLVMValueRef first, LLVMValueRef start,
                            LLVMValueRef end)
{
  hl_emitter *e = n->e;
  hl_llvm_loop loop;
  hl_llvm_loop_begin(&e->l, e->arena, &loop, first, end, 1, n->carried, n->carried_count);
  hl_value_set_scalar(e, n->loop->vars[k], loop.index, HL_NAN_NONE);
  set_element(n, loop.index, start);
  n->body(n);
  hl_llvm_loop_end(&e->l, &loop);
}

/* Iterations index .. index + count - 1 of the innermost variable, with their tiles. */
static void emit_tile_round(hl_nest *n, int k, LLVMValueRef index, LLVMValueRef start, int count)
{
  hl_emitter *e = n->e;
  hl_value_set_scalar(e, n->loop->vars[k], index, HL_NAN_NONE);
  hl_emit_open_tiles(e, n->loop, n->is_fold, count);
  for (int i = 0; i < count; i++) {
    LLVMValueRef at = LLVMBuildAdd(e->l.builder, index, hl_llvm_i64(&e->l, i), "");
    hl_value_set_scalar(e, n->loop->vars[k], at, HL_NAN_NONE);
    set_element(n, at, start);
    e->tile_at = i;
    n->body(n);
  }
  hl_emit_close_tiles(e, n->loop);
}

/* What is left of a run behind its last whole round. */
static void emit_short_round(hl_nest *n, int k, LLVMValueRef whole, LLVMValueRef start,
                             LLVMValueRef end)
{
  bool has_limit = n->loop->limits && n->loop->limits[k];
  int left = (int)(n->loop->extents[k] % n->tile);
  if (n->is_fold && !has_limit && left)
    emit_tile_round(n, k, whole, start, left);
  else if (left || has_limit)
    emit_iterations(n, k, whole, start, end);
}

/* Blocks end at multiples of the tile, so only the last round of a run is short. */
static void emit_plain_loop(hl_nest *n, int k, LLVMValueRef start, LLVMValueRef end)
{
  hl_emitter *e = n->e;
  if (!n->tile) {
    emit_iterations(n, k, start, start, end);
    return;
  }
  LLVMValueRef count = LLVMBuildSub(e->l.builder, end, start, "");
  count = LLVMBuildAnd(e->l.builder, count, hl_llvm_i64(&e->l, -n->tile), "");
  LLVMValueRef whole = LLVMBuildAdd(e->l.builder, start, count, "");
  hl_llvm_loop rounds;
  if (n->loop->extents[k] >= n->tile) {
    hl_llvm_loop_begin(&e->l, e->arena, &rounds, start, whole, n->tile, n->carried,
                       n->carried_count);
    emit_tile_round(n, k, rounds.index, start, n->tile);
    hl_llvm_loop_end(&e->l, &rounds);
  }
  emit_short_round(n, k, whole, start, end);
}

static void count_elements(hl_nest *n, LLVMValueRef start, LLVMValueRef end)
{
  LLVMBuilderRef b = n->e->l.builder;
  LLVMValueRef passed = LLVMBuildSub(b, end, start, "");
  n->carried[n->counter] = LLVMBuildAdd(b, n->carried[n->counter], passed, "");
}

/* The innermost loop in pieces that end where a block does. */
static void emit_blocked_loop(hl_nest *n, int k, LLVMValueRef count)
{
  const hl_llvm *l = &n->e->l;
  hl_llvm_loop pieces;
  hl_llvm_loop_begin(l, n->e->arena, &pieces, hl_llvm_i64(l, 0), count, 1, n->carried,
                     n->carried_count);
  LLVMValueRef used =
      LLVMBuildAnd(l->builder, n->carried[n->counter], hl_llvm_i64(l, n->block - 1), "");
  LLVMValueRef room = LLVMBuildSub(l->builder, hl_llvm_i64(l, n->block), used, "");
  if (n->loop->var_count == 1)
    room = hl_llvm_i64(l, n->block);
  LLVMValueRef end = LLVMBuildAdd(l->builder, pieces.index, room, "");
  end = hl_llvm_call2(l, "llvm.smin", end, count);
  emit_plain_loop(n, k, pieces.index, end);
  count_elements(n, pieces.index, end);
  n->block_end(n);
  pieces.step = LLVMBuildSub(l->builder, end, pieces.index, "");
  hl_llvm_loop_end(l, &pieces);
}

/* Runs of the innermost loop never cross the end of a block that their length divides. */
static bool crosses_blocks(const hl_nest *n, int k)
{
  return n->block && (n->block % n->loop->extents[k] || (n->loop->limits && n->loop->limits[k]));
}

static void emit_innermost(hl_nest *n, int k)
{
  LLVMValueRef count = hl_emit_extent(n->e, n->loop, k), zero = hl_llvm_i64(&n->e->l, 0);
  if (crosses_blocks(n, k)) {
    emit_blocked_loop(n, k, count);
    return;
  }
  emit_plain_loop(n, k, zero, count);
  if (n->counter >= 0)
    count_elements(n, zero, count);
  if (n->block)
    n->block_end(n);
}

/* Depth is the number of variables: at most HL_LIMIT_RANK of a reduce and its window. */
static void emit_loops(hl_nest *n, int k)
{
  hl_emitter *e = n->e;
  if (k == n->loop->var_count - 1) {
    emit_innermost(n, k);
    return;
  }
  hl_llvm_loop loop;
  hl_llvm_loop_begin(&e->l, e->arena, &loop, hl_llvm_i64(&e->l, 0), hl_emit_extent(e, n->loop, k),
                     1, n->carried, n->carried_count);
  hl_value_set_scalar(e, n->loop->vars[k], loop.index, HL_NAN_NONE);
  emit_loops(n, k + 1);
  hl_llvm_loop_end(&e->l, &loop);
}

static void set_vars(hl_nest *n, int64_t iteration)
{
  for (int k = n->loop->var_count - 1; k >= 0; k--) {
    LLVMValueRef index = hl_llvm_i64(&n->e->l, iteration % n->loop->extents[k]);
    hl_value_set_scalar(n->e, n->loop->vars[k], index, HL_NAN_NONE);
    iteration /= n->loop->extents[k];
  }
}

static void emit_unrolled(hl_nest *n)
{
  int64_t count = hl_loop_count(n->loop);
  bool has_tiles = n->tile && n->loop->extents[n->loop->var_count - 1] % n->tile == 0;
  for (int64_t i = 0; i < count; i++) {
    set_vars(n, i);
    if (has_tiles && i % n->tile == 0)
      hl_emit_open_tiles(n->e, n->loop, n->is_fold, n->tile);
    n->e->tile_at = has_tiles ? (int)(i % n->tile) : 0;
    n->unrolled_element = i;
    n->body(n);
  }
  if (has_tiles)
    hl_emit_close_tiles(n->e, n->loop);
}

void hl_nest_emit(hl_nest *n)
{
  if (hl_loop_count(n->loop) == 0)
    return;
  if (n->is_unrolled)
    emit_unrolled(n);
  else
    emit_loops(n, 0);
}
