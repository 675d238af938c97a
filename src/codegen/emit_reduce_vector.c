/* emit_reduce_vector.c - a REDUCE whose innermost loop runs `width` iterations at once.
 *
 * FREE: each lane has an accumulator. ROW: the accumulator is the vector of the L lanes of numerics
 * rule 4, `width` a multiple of L, and a vector of values joins it in slices of L, in order. What
 * is left at the end of a row is one masked round in which the missing lanes are the identity,
 * which changes nothing. Rows of more than 4096 run block by block; a block's value joins lane
 * (number mod L) of the next level.
 *
 * Float maximum and minimum: NaN must win and -0 be less than +0, but neither is worth a full
 * comparison an element. Three accumulators do it: the extremum of the numbers, the and (or) of all
 * bits, whose sign tells which zero a zero is, and a mask that says whether there was a NaN.
 */
#include "emit_reduce.h"

typedef struct lanes_of {
  const hl_combiner *combiner;
  int yield, parts, lanes, levels;
  int first;        /* in carried: [level or kind][part] */
  bool is_extremum; /* of floats */
} lanes_of;

typedef struct rows {
  hl_emitter *e;
  const hl_node *node;
  const hl_loop *loop;
  lanes_of *accumulators;
  LLVMValueRef *carried;
  int carried_count, width;
  bool has_blocks;
} rows;

static bool is_float(hl_element_type type)
{
  return type == HL_F32 || type == HL_F64;
}

static bool is_extremum(const hl_combiner *c)
{
  return is_float(c->type) && (c->combine == HL_LOOP_MAX || c->combine == HL_LOOP_MIN);
}

/* Can the lanes of ROW be those of vectors? Each run of the innermost loop must start at lane 0. */
static bool rows_are_aligned(const hl_loop *loop, const hl_combiner *c)
{
  int inner = loop->var_count - 1;
  if (loop->var_count == 1)
    return true;
  return hl_loop_count(loop) <= HL_ROW_BLOCK && loop->extents[inner] % hl_row_lanes(c) == 0 &&
         !loop->limits[inner];
}

static bool can_do(hl_emitter *e, const hl_loop *loop)
{
  if (loop->mode != HL_MODE_VECTOR || e->width > 1 || e->options->opt_level < 2 ||
      e->target->vector_bytes == 0)
    return false;
  if (hl_loop_count(loop) == 0)
    return false;
  for (int i = 0; i < loop->result_count; i++) {
    const hl_combiner *c = &loop->combiners[i];
    bool is_free = c->order == HL_ORDER_FREE;
    if (!is_free && !(c->order == HL_ORDER_ROW && rows_are_aligned(loop, c)))
      return false;
  }
  hl_emit_variance(e, loop, HL_VARIES_BY_LANE);
  return !hl_emit_control_varies(e, &loop->body, HL_VARIES_BY_LANE, false);
}

/* But at least the lanes of each ROW and no more than the elements need. */
static int choose_width(hl_emitter *e, const hl_loop *loop)
{
  int bytes = hl_emit_widest(e, &loop->body), least = 1;
  for (int i = 0; i < loop->result_count; i++) {
    const hl_combiner *c = &loop->combiners[i];
    bytes = hl_type_bytes(c->type) > bytes ? hl_type_bytes(c->type) : bytes;
    if (c->order == HL_ORDER_ROW && hl_row_lanes(c) > least)
      least = hl_row_lanes(c);
  }
  int width = hl_emit_registers(e, &loop->body) * e->target->vector_bytes / bytes;
  width = width > HL_MAX_LANES ? HL_MAX_LANES : width;
  while (width / 2 >= loop->extents[loop->var_count - 1])
    width /= 2;
  return width > least ? width : least;
}

/* Accumulators. */

static LLVMValueRef *carried_at(const rows *r, const lanes_of *a, int level, int part)
{
  return &r->carried[a->first + level * a->parts + part];
}

static int kinds_of(const lanes_of *a)
{
  return a->is_extremum ? 3 : a->levels;
}

static LLVMTypeRef bits_type(const rows *r, const lanes_of *a, int lanes)
{
  return hl_llvm_int_like(&r->e->l, hl_llvm_type(&r->e->l, a->combiner->type, lanes));
}

/* Half as wide where two values can be looked at in one comparison. */
static int nan_lanes(const lanes_of *a)
{
  return a->lanes >= 2 ? a->lanes / 2 : 1;
}

static LLVMValueRef initial(const rows *r, const lanes_of *a, int kind)
{
  hl_emitter *e = r->e;
  if (!a->is_extremum || kind == 0)
    return hl_emit_identity(e, a->combiner, a->lanes);
  if (kind == 2)
    return LLVMConstNull(bits_type(r, a, nan_lanes(a)));
  LLVMTypeRef type = bits_type(r, a, a->lanes);
  return a->combiner->combine == HL_LOOP_MAX ? LLVMConstAllOnes(type) : LLVMConstNull(type);
}

static lanes_of plan(const rows *r, int index)
{
  hl_emitter *e = r->e;
  const hl_combiner *c = &r->loop->combiners[index];
  lanes_of a = {.combiner = c, .parts = 1, .levels = 1, .is_extremum = is_extremum(c)};
  a.yield = hl_first_yield(r->loop, index);
  if (e->jam > 1 && (e->variance[r->loop->yields[a.yield]->id] & HL_VARIES_BY_PART))
    a.parts = e->jam;
  a.lanes = c->order == HL_ORDER_ROW ? hl_row_lanes(c) : r->width;
  if (c->order == HL_ORDER_ROW)
    a.levels = hl_block_levels(hl_loop_count(r->loop), HL_ROW_BLOCK);
  return a;
}

static void start(rows *r)
{
  int capacity = 0;
  r->accumulators = HL_ARRAY(r->e->arena, r->loop->result_count, lanes_of);
  for (int i = 0; i < r->loop->result_count; i++) {
    lanes_of *a = &r->accumulators[i];
    *a = plan(r, i);
    a->first = capacity;
    capacity += kinds_of(a) * a->parts;
    r->has_blocks = r->has_blocks || a->levels > 1;
  }
  r->carried_count = capacity;
  r->carried = HL_ARRAY(r->e->arena, capacity + 1, LLVMValueRef);
  for (int i = 0; i < r->loop->result_count; i++)
    for (int kind = 0; kind < kinds_of(&r->accumulators[i]); kind++)
      for (int part = 0; part < r->accumulators[i].parts; part++)
        *carried_at(r, &r->accumulators[i], kind, part) = initial(r, &r->accumulators[i], kind);
}

static LLVMValueRef combine(const rows *r, const lanes_of *a, LLVMValueRef x, LLVMValueRef y)
{
  return hl_emit_combine(r->e, a->combiner->combine, a->combiner->type, x, y);
}

static LLVMValueRef unordered(const rows *r, const lanes_of *a, LLVMValueRef x)
{
  const hl_llvm *l = &r->e->l;
  int n = nan_lanes(a);
  LLVMValueRef low = hl_llvm_slice(l, x, 0, n),
               high = n < a->lanes ? hl_llvm_slice(l, x, n, n) : low;
  LLVMValueRef is_nan = LLVMBuildFCmp(l->builder, LLVMRealUNO, low, high, "");
  return LLVMBuildSExt(l->builder, is_nan, bits_type(r, a, n), "");
}

static void take_extremum(const rows *r, const lanes_of *a, int part, LLVMValueRef x)
{
  LLVMBuilderRef b = r->e->l.builder;
  bool is_max = a->combiner->combine == HL_LOOP_MAX;
  LLVMValueRef *best = carried_at(r, a, 0, part), *signs = carried_at(r, a, 1, part);
  LLVMValueRef *nans = carried_at(r, a, 2, part);
  LLVMValueRef better = LLVMBuildFCmp(b, is_max ? LLVMRealOGT : LLVMRealOLT, x, *best, "");
  *best = LLVMBuildSelect(b, better, x, *best, "");
  LLVMValueRef bits = LLVMBuildBitCast(b, x, LLVMTypeOf(*signs), "");
  *signs = is_max ? LLVMBuildAnd(b, *signs, bits, "") : LLVMBuildOr(b, *signs, bits, "");
  *nans = LLVMBuildOr(b, *nans, unordered(r, a, x), "");
}

static void take(const rows *r, const lanes_of *a, int part)
{
  hl_emitter *e = r->e;
  LLVMValueRef x = hl_emit_raw(e, r->loop->yields[a->yield], part, r->width);
  if (e->mask)
    x = LLVMBuildSelect(e->l.builder, e->mask, x, hl_emit_identity(e, a->combiner, r->width), "");
  if (a->is_extremum) {
    take_extremum(r, a, part, x);
    return;
  }
  LLVMValueRef *sum = carried_at(r, a, 0, part);
  for (int first = 0; first < r->width; first += a->lanes)
    *sum = combine(r, a, *sum, hl_llvm_slice(&e->l, x, first, a->lanes));
}

static void emit_round(rows *r, LLVMValueRef index)
{
  hl_emitter *e = r->e;
  const hl_node *var = r->loop->vars[r->loop->var_count - 1];
  e->width = r->width;
  e->lane_var = var;
  hl_value_set_scalar(e, var, index, HL_NAN_NONE);
  e->values[var->id].is_linear = true;
  e->values[var->id].step = 1;
  hl_emit_block(e, &r->loop->body);
  for (int i = 0; i < r->loop->result_count; i++)
    for (int part = 0; part < r->accumulators[i].parts; part++)
      take(r, &r->accumulators[i], part);
  e->width = 1;
}

/* Loops. */

static bool is_zero(LLVMValueRef x)
{
  return LLVMIsAConstantInt(x) && LLVMConstIntGetSExtValue(x) == 0;
}

/* The masked round at the end, with values that flow around it. */
static void emit_rest(rows *r, LLVMValueRef start_at, LLVMValueRef end)
{
  const hl_llvm *l = &r->e->l;
  LLVMBasicBlockRef before = hl_llvm_here(l);
  LLVMValueRef *old = HL_ARRAY(r->e->arena, r->carried_count + 1, LLVMValueRef);
  for (int i = 0; i < r->carried_count; i++)
    old[i] = r->carried[i];
  hl_llvm_if branch = hl_llvm_if_begin(l, LLVMBuildICmp(l->builder, LLVMIntSLT, start_at, end, ""));
  r->e->mask = hl_emit_tail_mask(r->e, start_at, end, r->width);
  emit_round(r, start_at);
  r->e->mask = NULL;
  LLVMBasicBlockRef after = hl_llvm_here(l);
  hl_llvm_if_end(l, &branch);
  for (int i = 0; i < r->carried_count; i++)
    r->carried[i] = hl_llvm_phi2(l, r->carried[i], after, old[i], before);
}

static void emit_run(rows *r, LLVMValueRef start_at, LLVMValueRef end)
{
  hl_emitter *e = r->e;
  LLVMBuilderRef b = e->l.builder;
  LLVMValueRef count = LLVMBuildSub(b, end, start_at, "");
  LLVMValueRef whole = LLVMBuildAnd(b, count, hl_llvm_i64(&e->l, -r->width), "");
  LLVMValueRef rest = LLVMBuildAdd(b, start_at, whole, "");
  if (!is_zero(whole)) {
    hl_llvm_loop loop;
    hl_llvm_loop_begin(&e->l, e->arena, &loop, start_at, rest, r->width, r->carried,
                       r->carried_count);
    emit_round(r, loop.index);
    hl_llvm_loop_end(&e->l, &loop);
  }
  bool is_whole = r->loop->extents[r->loop->var_count - 1] % r->width == 0 &&
                  !r->loop->limits[r->loop->var_count - 1];
  if (!is_whole && !is_zero(LLVMBuildSub(b, count, whole, "")))
    emit_rest(r, rest, end);
}

/* A block's value in lane (number mod L), identities in the others. */
static LLVMValueRef one_lane(const rows *r, const lanes_of *a, LLVMValueRef value,
                             LLVMValueRef number)
{
  const hl_llvm *l = &r->e->l;
  LLVMValueRef slot = LLVMBuildAnd(l->builder, number, hl_llvm_i64(l, a->lanes - 1), "");
  slot = hl_llvm_splat(l, LLVMBuildTrunc(l->builder, slot, l->i32, ""), a->lanes);
  LLVMValueRef is_it =
      LLVMBuildICmp(l->builder, LLVMIntEQ, hl_llvm_iota(l, l->i32, a->lanes, 0, 1), slot, "");
  return LLVMBuildSelect(l->builder, is_it, hl_llvm_splat(l, value, a->lanes),
                         hl_emit_identity(r->e, a->combiner, a->lanes), "");
}

static void lift(const rows *r, const lanes_of *a, int level, int part, LLVMValueRef number)
{
  LLVMValueRef *low = carried_at(r, a, level, part), *high = carried_at(r, a, level + 1, part);
  LLVMValueRef value = hl_emit_tree(r->e, a->combiner, *low);
  *high = combine(r, a, *high, one_lane(r, a, value, number));
  *low = hl_emit_identity(r->e, a->combiner, a->lanes);
}

/* Above level 0 a block is full only now and then. */
static void lift_if_full(const rows *r, const lanes_of *a, int level, int part, LLVMValueRef number)
{
  LLVMBuilderRef b = r->e->l.builder;
  const hl_llvm *l = &r->e->l;
  int shift = 12 * level;
  LLVMValueRef *low = carried_at(r, a, level, part), *high = carried_at(r, a, level + 1, part);
  LLVMValueRef old_low = *low, old_high = *high;
  LLVMValueRef next = LLVMBuildAdd(b, number, hl_llvm_i64(l, 1), "");
  LLVMValueRef rest = LLVMBuildAnd(b, next, hl_llvm_i64(l, (INT64_C(1) << shift) - 1), "");
  LLVMValueRef full = LLVMBuildICmp(b, LLVMIntEQ, rest, hl_llvm_i64(l, 0), "");
  lift(r, a, level, part, LLVMBuildLShr(b, number, hl_llvm_i64(l, shift), ""));
  *high = LLVMBuildSelect(b, full, *high, old_high, "");
  *low = LLVMBuildSelect(b, full, *low, old_low, "");
}

static void end_block(const rows *r, LLVMValueRef number)
{
  for (int i = 0; i < r->loop->result_count; i++) {
    const lanes_of *a = &r->accumulators[i];
    for (int part = 0; part < a->parts && a->levels > 1; part++) {
      lift(r, a, 0, part, number);
      for (int level = 1; level + 1 < a->levels; level++)
        lift_if_full(r, a, level, part, number);
    }
  }
}

static void emit_blocks(rows *r, LLVMValueRef count)
{
  const hl_llvm *l = &r->e->l;
  hl_llvm_loop blocks;
  hl_llvm_loop_begin(l, r->e->arena, &blocks, hl_llvm_i64(l, 0), count, HL_ROW_BLOCK, r->carried,
                     r->carried_count);
  LLVMValueRef end = LLVMBuildAdd(l->builder, blocks.index, hl_llvm_i64(l, HL_ROW_BLOCK), "");
  bool is_whole = LLVMIsAConstantInt(count) && LLVMConstIntGetSExtValue(count) % HL_ROW_BLOCK == 0;
  if (!is_whole)
    end = hl_llvm_call2(l, "llvm.smin", end, count);
  emit_run(r, blocks.index, end);
  end_block(r, LLVMBuildLShr(l->builder, blocks.index, hl_llvm_i64(l, 12), ""));
  hl_llvm_loop_end(l, &blocks);
}

static void emit_loops(rows *r, int k)
{
  hl_emitter *e = r->e;
  LLVMValueRef count = hl_emit_extent(e, r->loop, k), zero = hl_llvm_i64(&e->l, 0);
  if (k == r->loop->var_count - 1) {
    if (r->has_blocks)
      emit_blocks(r, count);
    else
      emit_run(r, zero, count);
    return;
  }
  hl_llvm_loop loop;
  hl_llvm_loop_begin(&e->l, e->arena, &loop, zero, count, 1, r->carried, r->carried_count);
  hl_value_set_scalar(e, r->loop->vars[k], loop.index, HL_NAN_NONE);
  emit_loops(r, k + 1);
  hl_llvm_loop_end(&e->l, &loop);
}

/* Values. */

static LLVMValueRef fold_lanes(const rows *r, LLVMValueRef x, bool is_and)
{
  (void)r;
  return hl_llvm_call1(&r->e->l, is_and ? "llvm.vector.reduce.and" : "llvm.vector.reduce.or", x);
}

static LLVMValueRef best_lane(const rows *r, const lanes_of *a, LLVMValueRef x)
{
  LLVMBuilderRef b = r->e->l.builder;
  LLVMRealPredicate wins = a->combiner->combine == HL_LOOP_MAX ? LLVMRealOGT : LLVMRealOLT;
  for (int h = hl_llvm_lanes(x) / 2; h >= 1; h /= 2) {
    LLVMValueRef low = hl_llvm_slice(&r->e->l, x, 0, h), high = hl_llvm_slice(&r->e->l, x, h, h);
    x = LLVMBuildSelect(b, LLVMBuildFCmp(b, wins, low, high, ""), low, high, "");
  }
  return x;
}

static LLVMValueRef finish_extremum(const rows *r, const lanes_of *a, int part)
{
  const hl_llvm *l = &r->e->l;
  LLVMBuilderRef b = l->builder;
  LLVMValueRef best = best_lane(r, a, *carried_at(r, a, 0, part));
  LLVMTypeRef integer = hl_llvm_int_like(l, LLVMTypeOf(best));
  LLVMValueRef signs =
      fold_lanes(r, *carried_at(r, a, 1, part), a->combiner->combine == HL_LOOP_MAX);
  LLVMValueRef nans = fold_lanes(r, *carried_at(r, a, 2, part), false);
  uint64_t sign_bit = UINT64_C(1) << (hl_llvm_scalar_bits(integer) - 1);
  LLVMValueRef zero = LLVMBuildAnd(b, signs, hl_llvm_int(integer, sign_bit), "");
  zero = LLVMBuildBitCast(b, zero, LLVMTypeOf(best), "");
  LLVMValueRef is_zero_best =
      LLVMBuildFCmp(b, LLVMRealOEQ, best, hl_llvm_float(LLVMTypeOf(best), 0), "");
  best = LLVMBuildSelect(b, is_zero_best, zero, best, "");
  LLVMValueRef has_nan = LLVMBuildICmp(b, LLVMIntNE, nans, LLVMConstNull(integer), "");
  LLVMValueRef nan = hl_llvm_bits(l, LLVMTypeOf(best), hl_float_nan_bits(a->combiner->type));
  return LLVMBuildSelect(b, has_nan, nan, best, "");
}

static LLVMValueRef finish(const rows *r, const lanes_of *a, int part)
{
  if (a->is_extremum)
    return finish_extremum(r, a, part);
  for (int level = 1; level + 1 < a->levels; level++) {
    LLVMValueRef blocks = hl_llvm_i64(&r->e->l, hl_loop_count(r->loop) >> 12);
    if (r->loop->limits[0])
      blocks = LLVMBuildLShr(r->e->l.builder, hl_emit_extent(r->e, r->loop, 0),
                             hl_llvm_i64(&r->e->l, 12), "");
    lift(r, a, level, part,
         LLVMBuildLShr(r->e->l.builder, blocks, hl_llvm_i64(&r->e->l, 12 * level), ""));
  }
  return hl_emit_tree(r->e, a->combiner, *carried_at(r, a, a->levels - 1, part));
}

bool hl_emit_vector_reduce(hl_emitter *e, const hl_node *node)
{
  rows r = {.e = e, .node = node, .loop = node->loop};
  if (!can_do(e, node->loop))
    return false;
  r.width = choose_width(e, node->loop);
  if (r.width < 4)
    return false;
  start(&r);
  emit_loops(&r, 0);
  for (int i = 0; i < r.loop->result_count; i++) {
    const lanes_of *a = &r.accumulators[i];
    hl_value value = {.parts = HL_ARRAY(e->arena, a->parts, LLVMValueRef),
                      .part_count = a->parts,
                      .nan = is_float(a->combiner->type) ? HL_NAN_DIRTY : HL_NAN_NONE};
    for (int part = 0; part < a->parts; part++)
      value.parts[part] = finish(&r, a, part);
    hl_emit_set_result(e, node, i, value);
  }
  return true;
}
