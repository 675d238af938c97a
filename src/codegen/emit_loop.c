/* emit_loop.c - blocks and for loops: serial, interleaved (jam) and vector.
 *
 * A VECTOR loop runs `width` iterations at once: four registers of the widest type in its body, so
 * that independent operations hide each other's latency. What is left at the end is done by one
 * masked round where the target masks memory accesses, else one by one. Which of these ran never
 * shows in the bits.
 */
#include "emit_reduce.h"

LLVMValueRef hl_emit_extent(hl_emitter *e, const hl_loop *loop, int k)
{
  LLVMValueRef extent = hl_llvm_i64(&e->l, loop->extents[k]);
  if (!loop->limits || !loop->limits[k])
    return extent;
  LLVMValueRef limit = hl_emit_raw(e, loop->limits[k], 0, 1);
  limit = hl_llvm_call2(&e->l, "llvm.smin", limit, extent);
  return hl_llvm_call2(&e->l, "llvm.smax", limit, hl_llvm_i64(&e->l, 0));
}

/* Vector loops. */

/* Additions and products of indices mostly stay linear and become addresses. */
static bool is_index_arithmetic(const hl_node *node)
{
  return (node->type == HL_S64 || node->type == HL_TOKEN) &&
         (node->op == HL_LOOP_CONST || node->op == HL_LOOP_ADD || node->op == HL_LOOP_SUB ||
          node->op == HL_LOOP_MUL || node->op == HL_LOOP_STORE);
}

int hl_emit_widest(const hl_emitter *e, const hl_block *block)
{
  int bytes = 1;
  for (const hl_node *node = block->first; node; node = node->next) {
    int own = 1;
    if (node->op == HL_LOOP_IF) {
      int then = hl_emit_widest(e, &node->branch->then),
          otherwise = hl_emit_widest(e, &node->branch->otherwise);
      own = then > otherwise ? then : otherwise;
    } else if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD) {
      own = hl_emit_widest(e, &node->loop->body);
    } else if ((e->variance[node->id] & HL_VARIES_BY_LANE) && !is_index_arithmetic(node)) {
      own = hl_type_bytes(node->type);
    }
    bytes = own > bytes ? own : bytes;
  }
  return bytes;
}

/* Instructions that a function takes, roughly. */
static int64_t math_cost(hl_math_fn fn)
{
  switch (fn) {
  case HL_MATH_POW:
    return 130;
  case HL_MATH_SIN:
  case HL_MATH_COS:
  case HL_MATH_TAN:
  case HL_MATH_FMOD:
    return 70;
  case HL_MATH_SQRT:
  case HL_MATH_RSQRT:
  case HL_MATH_POW_0_5:
  case HL_MATH_POW_1:
  case HL_MATH_POW_1_5:
  case HL_MATH_POW_2:
  case HL_MATH_POW_3:
  case HL_MATH_POW_M0_5:
  case HL_MATH_POW_M1:
  case HL_MATH_POW_M1_5:
    return 5;
  default:
    return 40;
  }
}

int64_t hl_emit_cost(const hl_block *block)
{
  int64_t cost = 0;
  for (const hl_node *node = block->first; node; node = node->next) {
    if (node->op == HL_LOOP_IF)
      cost += hl_emit_cost(&node->branch->then) + hl_emit_cost(&node->branch->otherwise);
    else if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD)
      cost += hl_emit_cost(&node->loop->body);
    else
      cost += node->op == HL_LOOP_MATH ? math_cost(node->math) : node->op != HL_LOOP_CONST;
  }
  return cost;
}

/* Bodies so long that independent chains are plenty anyway, and that compile as long as they are
 * wide. */
bool hl_emit_is_heavy(const hl_emitter *e, const hl_block *block)
{
  return e->options->opt_level < 3 && hl_emit_cost(block) > 200;
}

int hl_emit_registers(const hl_emitter *e, const hl_block *block)
{
  if (hl_emit_is_heavy(e, block))
    return e->features->has_avx512 ? 1 : 2;
  return e->jam > 1 ? 2 : 4;
}

static bool has_dot(const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next)
    if (node->op == HL_LOOP_REDUCE && node->loop->combiners[0].order == HL_ORDER_DOT)
      return true;
  return false;
}

/* Of the accumulators of a product, 16 where there are 32 registers; what it loads of its columns
 * comes in lines of memory as long as possible. */
static int registers_of(const hl_emitter *e, const hl_loop *loop)
{
  bool has_many = e->features->has_avx512 || e->features->has_neon;
  int rows = e->jam > 2 ? 4 : e->jam;
  if (e->jam > 4 || hl_emit_is_heavy(e, &loop->body) || !has_dot(&loop->body))
    return hl_emit_registers(e, &loop->body);
  return (has_many ? 16 : 8) / rows;
}

static int choose_width(hl_emitter *e, const hl_loop *loop)
{
  if (e->options->opt_level < 2 || e->target->vector_bytes == 0 || e->width > 1)
    return 1;
  hl_emit_variance(e, loop, HL_VARIES_BY_LANE);
  if (hl_emit_control_varies(e, &loop->body, HL_VARIES_BY_LANE, false))
    return 1;
  int bytes = registers_of(e, loop) * e->target->vector_bytes;
  int width = bytes / hl_emit_widest(e, &loop->body);
  if (e->jam > 1 && hl_emit_has_tile(e, loop))
    width = e->jam;
  else if (hl_emit_body_tile(e, loop))
    width = hl_emit_body_tile(e, loop);
  width = width > HL_MAX_LANES ? HL_MAX_LANES : width;
  while (width > 1 && width / 2 >= loop->extents[0])
    width /= 2;
  return loop->extents[0] < 4 ? 1 : width;
}

/* Neighbouring lanes are neighbours in memory. */
static bool is_contiguous(const hl_emitter *e, const hl_access *access)
{
  int64_t step = 0;
  for (int i = 0; i < access->term_count; i++) {
    const hl_term *term = &access->terms[i];
    if (!(e->variance[term->index->id] & HL_VARIES_BY_LANE))
      continue;
    if (term->index->op != HL_LOOP_VAR)
      return false;
    step += term->stride;
  }
  return step == 1 || step == -1;
}

/* Whether a mask over the access costs little: AVX2 masks types of 32 and 64 bits alone, AVX-512
 * all, but scatters like AVX2. Gathers need no mask (emit_access_lanes.c). */
static bool masks_access(const hl_emitter *e, const hl_node *node)
{
  bool is_narrow = hl_type_bytes(node->access->param->type) < 4;
  bool is_near = is_contiguous(e, node->access);
  if (!is_narrow)
    return e->features->has_avx512 || is_near || node->op == HL_LOOP_LOAD;
  return is_near ? e->features->has_avx512 : node->op == HL_LOOP_LOAD;
}

static bool masks_block(const hl_emitter *e, const hl_block *block)
{
  bool masks = true;
  for (const hl_node *node = block->first; node && masks; node = node->next) {
    if (node->op == HL_LOOP_LOAD || node->op == HL_LOOP_STORE)
      masks = masks_access(e, node);
    else if (node->op == HL_LOOP_IF)
      masks = masks_block(e, &node->branch->then) && masks_block(e, &node->branch->otherwise);
    else if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD)
      masks = masks_block(e, &node->loop->body);
  }
  return masks;
}

/* What the target cannot mask is taken one by one in the tail. */
static bool masks_tail(const hl_emitter *e, const hl_loop *loop)
{
  return e->features->has_avx2 && masks_block(e, &loop->body);
}

static void set_lane_var(hl_emitter *e, const hl_node *var, LLVMValueRef base)
{
  e->lane_var = var;
  hl_value_set_scalar(e, var, base, HL_NAN_NONE);
  e->values[var->id].is_linear = e->width > 1;
  e->values[var->id].step = 1;
}

static void emit_lane_body(hl_emitter *e, const hl_loop *loop)
{
  if (hl_emit_rolls_tile(e, loop))
    hl_emit_rolled_tile(e, loop);
  else
    hl_emit_block(e, &loop->body);
}

static void emit_lanes(hl_emitter *e, const hl_loop *loop, LLVMValueRef start, LLVMValueRef end,
                       int width)
{
  hl_llvm_loop rounds;
  hl_llvm_loop_begin(&e->l, e->arena, &rounds, start, end, width, NULL, 0);
  e->width = width;
  set_lane_var(e, loop->vars[0], rounds.index);
  emit_lane_body(e, loop);
  e->width = 1;
  hl_llvm_loop_end(&e->l, &rounds);
}

LLVMValueRef hl_emit_tail_mask(hl_emitter *e, LLVMValueRef start, LLVMValueRef end, int width)
{
  LLVMValueRef left = LLVMBuildSub(e->l.builder, end, start, "");
  left = hl_llvm_call2(&e->l, "llvm.smin", left, hl_llvm_i64(&e->l, width));
  left = LLVMBuildTrunc(e->l.builder, left, e->l.i32, "");
  LLVMValueRef lanes = hl_llvm_iota(&e->l, e->l.i32, width, 0, 1);
  return LLVMBuildICmp(e->l.builder, LLVMIntSLT, lanes, hl_llvm_splat(&e->l, left, width), "");
}

/* Every round under a mask: a long body then stands there once. */
static void emit_masked_lanes(hl_emitter *e, const hl_loop *loop, LLVMValueRef start,
                              LLVMValueRef end, int width)
{
  hl_llvm_loop rounds;
  hl_llvm_loop_begin(&e->l, e->arena, &rounds, start, end, width, NULL, 0);
  e->width = width;
  e->mask = hl_emit_tail_mask(e, rounds.index, end, width);
  set_lane_var(e, loop->vars[0], rounds.index);
  emit_lane_body(e, loop);
  e->mask = NULL;
  e->width = 1;
  hl_llvm_loop_end(&e->l, &rounds);
}

static void emit_masked_round(hl_emitter *e, const hl_loop *loop, LLVMValueRef start,
                              LLVMValueRef end, int width)
{
  hl_llvm_if branch =
      hl_llvm_if_begin(&e->l, LLVMBuildICmp(e->l.builder, LLVMIntSLT, start, end, ""));
  e->width = width;
  e->mask = hl_emit_tail_mask(e, start, end, width);
  set_lane_var(e, loop->vars[0], start);
  emit_lane_body(e, loop);
  e->mask = NULL;
  e->width = 1;
  hl_llvm_if_end(&e->l, &branch);
}

static bool is_zero(LLVMValueRef x)
{
  return LLVMIsAConstantInt(x) && LLVMConstIntGetSExtValue(x) == 0;
}

/* A range that starts at a multiple of the width. */
static void emit_vector_range(hl_emitter *e, const hl_loop *loop, int width, LLVMValueRef start,
                              LLVMValueRef end)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef whole = LLVMBuildAnd(b, end, hl_llvm_i64(&e->l, -width), "");
  bool has_tail = !is_zero(LLVMBuildSub(b, end, whole, "")) && loop->extents[0] % width != 0;
  has_tail = has_tail || (loop->limits && loop->limits[0]);
  bool is_long = hl_emit_is_heavy(e, &loop->body) || hl_emit_has_scan(e, loop);
  if (has_tail && is_long && masks_tail(e, loop)) {
    emit_masked_lanes(e, loop, start, end, width);
    return;
  }
  if (!is_zero(whole))
    emit_lanes(e, loop, start, whole, width);
  if (!has_tail)
    return;
  if (masks_tail(e, loop))
    emit_masked_round(e, loop, whole, end, width);
  else
    emit_lanes(e, loop, whole, end, 1);
}

/* Serial loops, `step` iterations a round. */

static void set_part_var(hl_emitter *e, const hl_node *var, LLVMValueRef base, int parts)
{
  hl_value value = {.part_count = parts, .parts = HL_ARRAY(e->arena, parts, LLVMValueRef)};
  for (int i = 0; i < parts; i++)
    value.parts[i] = LLVMBuildAdd(e->l.builder, base, hl_llvm_i64(&e->l, i), "");
  hl_value_set(e, var, value);
}

static void emit_round(hl_emitter *e, const hl_loop *loop, LLVMValueRef index, int jam)
{
  int outer_jam = e->jam;
  const hl_node *outer_var = e->jam_var;
  if (jam > 1) {
    e->jam = jam;
    e->jam_var = loop->vars[0];
  }
  hl_emit_prefetch_chosen(e, loop, index);
  set_part_var(e, loop->vars[0], index, jam);
  hl_emit_block(e, &loop->body);
  e->jam = outer_jam;
  e->jam_var = outer_var;
}

static void emit_rounds(hl_emitter *e, const hl_loop *loop, LLVMValueRef start, LLVMValueRef end,
                        int jam)
{
  hl_llvm_loop rounds;
  if (jam == 1 && e->jam == 1)
    hl_emit_forget_variance(e, loop, HL_VARIES_BY_PART);
  hl_llvm_loop_begin(&e->l, e->arena, &rounds, start, end, jam, NULL, 0);
  emit_round(e, loop, rounds.index, jam);
  hl_llvm_loop_end(&e->l, &rounds);
}

/* Transposes go over blocks: what one iteration reads lies in as many pages as the inner loop has
 * rounds, so the inner loop is cut and the pages serve all iterations of the chunk before the next
 * ones come. */
static void emit_blocks(hl_emitter *e, const hl_loop *loop, LLVMValueRef start, LLVMValueRef end,
                        int jam)
{
  const hl_loop *inner = hl_emit_only_vector_loop(loop);
  hl_llvm_loop blocks;
  LLVMValueRef count = hl_emit_extent(e, inner, 0), outer_start = e->part_start,
               outer_end = e->part_end;
  hl_llvm_loop_begin(&e->l, e->arena, &blocks, hl_llvm_i64(&e->l, 0), count, HL_TILE_BLOCK, NULL,
                     0);
  LLVMValueRef next =
      LLVMBuildAdd(e->l.builder, blocks.index, hl_llvm_i64(&e->l, HL_TILE_BLOCK), "");
  e->part_start = blocks.index;
  e->part_end = hl_llvm_call2(&e->l, "llvm.smin", next, count);
  emit_rounds(e, loop, start, end, jam);
  e->part_start = outer_start;
  e->part_end = outer_end;
  hl_llvm_loop_end(&e->l, &blocks);
}

static void emit_unrolled_for(hl_emitter *e, const hl_loop *loop)
{
  for (int64_t i = 0; i < loop->extents[0]; i++) {
    hl_value_set_scalar(e, loop->vars[0], hl_llvm_i64(&e->l, i), HL_NAN_NONE);
    hl_emit_block(e, &loop->body);
  }
}

/* Ranges of a parallel loop begin and, but for the last, end at multiples of its grain, and so of
 * its jam. */
void hl_emit_range(hl_emitter *e, const hl_loop *loop, LLVMValueRef start, LLVMValueRef end)
{
  LLVMBuilderRef b = e->l.builder;
  int jam = hl_emit_choose_jam(e, loop);
  if (jam == 1) {
    emit_rounds(e, loop, start, end, 1);
    return;
  }
  bool is_whole = loop->extents[0] % jam == 0 && !(loop->limits && loop->limits[0]);
  LLVMValueRef count = LLVMBuildSub(b, end, start, "");
  LLVMValueRef rest = LLVMBuildURem(b, count, hl_llvm_i64(&e->l, jam), "");
  LLVMValueRef whole = is_whole ? end : LLVMBuildSub(b, end, rest, "");
  if (hl_emit_goes_by_blocks(e, loop, jam))
    emit_blocks(e, loop, start, whole, jam);
  else
    emit_rounds(e, loop, start, whole, jam);
  if (!is_whole)
    emit_rounds(e, loop, whole, end, 1);
}

static void emit_serial_for(hl_emitter *e, const hl_loop *loop)
{
  if (loop->jam < 2 && hl_nest_unrolls(e, loop, 8))
    emit_unrolled_for(e, loop);
  else
    hl_emit_range(e, loop, hl_llvm_i64(&e->l, 0), hl_emit_extent(e, loop, 0));
}

static void emit_vector_for(hl_emitter *e, const hl_loop *loop, int width)
{
  LLVMValueRef start = e->part_start ? e->part_start : hl_llvm_i64(&e->l, 0);
  LLVMValueRef end = e->part_end ? e->part_end : hl_emit_extent(e, loop, 0);
  e->part_start = e->part_end = NULL;
  emit_vector_range(e, loop, width, start, end);
}

static void emit_for(hl_emitter *e, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  if (loop->extents[0] == 0)
    return;
  if (loop->mode == HL_MODE_PARALLEL && !node->block->owner) {
    hl_emit_parallel(e, node);
    return;
  }
  int width = loop->mode == HL_MODE_VECTOR ? choose_width(e, loop) : 1;
  if (width > 1)
    emit_vector_for(e, loop, width);
  else
    emit_serial_for(e, loop);
}

/* Branches. */

/* Lanes disagree: each side runs under its mask, and not at all where no lane takes it (its
 * accesses may lie outside then). */
static void emit_masked_block(hl_emitter *e, const hl_block *block, LLVMValueRef condition)
{
  LLVMValueRef outer = e->mask;
  LLVMValueRef mask = outer ? LLVMBuildAnd(e->l.builder, outer, condition, "") : condition;
  if (!block->first)
    return;
  hl_llvm_if branch = hl_llvm_if_begin(&e->l, hl_llvm_call1(&e->l, "llvm.vector.reduce.or", mask));
  e->mask = mask;
  hl_emit_block(e, block);
  e->mask = outer;
  hl_llvm_if_end(&e->l, &branch);
}

void hl_emit_if(hl_emitter *e, const hl_node *node)
{
  int lanes = hl_emit_lane_count(e, node->operands, 1);
  LLVMValueRef condition = hl_emit_raw(e, node->operands[0], 0, lanes);
  if (lanes > 1) {
    emit_masked_block(e, &node->branch->then, condition);
    emit_masked_block(e, &node->branch->otherwise, LLVMBuildNot(e->l.builder, condition, ""));
    return;
  }
  hl_llvm_if branch = hl_llvm_if_begin(&e->l, condition);
  hl_emit_block(e, &node->branch->then);
  if (node->branch->otherwise.first) {
    hl_llvm_if_else(&e->l, &branch);
    hl_emit_block(e, &node->branch->otherwise);
  }
  hl_llvm_if_end(&e->l, &branch);
}

static void emit_node(hl_emitter *e, const hl_node *node)
{
  hl_debug_at(e, node->range);
  switch (node->op) {
  case HL_LOOP_LOAD:
    hl_emit_load(e, node);
    break;
  case HL_LOOP_STORE:
    hl_emit_store(e, node);
    break;
  case HL_LOOP_FOR:
    emit_for(e, node);
    break;
  case HL_LOOP_REDUCE:
    hl_emit_reduce(e, node);
    break;
  case HL_LOOP_FOLD:
    hl_emit_fold(e, node);
    break;
  case HL_LOOP_IF:
    hl_emit_if(e, node);
    break;
  case HL_LOOP_RESULT: /* set with its loop */
    break;
  default:
    hl_emit_op(e, node);
  }
}

void hl_emit_block(hl_emitter *e, const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next)
    emit_node(e, node);
}
