/* emit_reduce.c - reductions as nests of scalar loops; around them may be vector and jammed loops.
 *
 * There are as many accumulators as parts, each a vector where the yields are, on as many levels as
 * the order has blocks inside blocks (numerics rules 4 and 8). Level 0 is carried from iteration to
 * iteration. A level that is full is joined to the next and starts at the identity again. At
 * the end all levels are joined, lowest first: joining an identity changes nothing, so that a last
 * block needs no test.
 *
 * The lanes of ROW are an array on the stack, or values where the loop is written out. Long rows
 * take emit_reduce_vector.c instead.
 */
#include "emit_reduce.h"

enum { MAX_LEVELS = 8 };

typedef struct accumulator {
  const hl_combiner *combiner;
  int yield, lanes, parts, levels;
  int64_t block;        /* elements of a block of level 0; 0: none */
  int first;            /* in carried: parts of level 0 */
  LLVMValueRef *memory; /* ROW: by part, levels of L lanes */
  LLVMValueRef *upper;  /* others: by part, levels 1 and above */
  LLVMValueRef *slots;  /* ROW written out: by part, L lanes; NULL where none has come */
} accumulator;

int hl_block_levels(int64_t count, int64_t block)
{
  int levels = 1;
  for (int64_t held = block; held < count && levels < MAX_LEVELS; levels++)
    held = held > INT64_MAX / block ? INT64_MAX : held * block;
  return levels;
}

int64_t hl_loop_count(const hl_loop *loop)
{
  int64_t count = 1;
  for (int i = 0; i < loop->var_count; i++)
    count *= loop->extents[i];
  return count;
}

int hl_first_yield(const hl_loop *loop, int index)
{
  int at = 0;
  for (int i = 0; i < index; i++)
    at += loop->combiners[i].order == HL_ORDER_DOT ? 2 : 1;
  return at;
}

void hl_emit_set_result(hl_emitter *e, const hl_node *node, int index, hl_value value)
{
  for (const hl_node *n = node->next; n && n->op == HL_LOOP_RESULT; n = n->next)
    if (n->operands[0] == node && n->index == index)
      hl_value_set(e, n, value);
}

/* Identities. */

static uint64_t float_identity(hl_element_type type, hl_loop_op op)
{
  uint64_t infinity = type == HL_F64 ? UINT64_C(0x7ff0000000000000) : 0x7f800000;
  uint64_t sign = type == HL_F64 ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
  switch (op) {
  case HL_LOOP_ADD:
    return sign;
  case HL_LOOP_MUL:
    return hl_float_encode(type, 1);
  case HL_LOOP_MAX:
    return infinity | sign;
  default: /* MIN */
    return infinity;
  }
}

static uint64_t int_identity(hl_element_type type, hl_loop_op op)
{
  bool is_signed = hl_type_class_of(type) == HL_CLASS_SIGNED;
  uint64_t ones = UINT64_MAX >> (64 - hl_type_bits(type));
  uint64_t top = is_signed ? ones >> 1 : ones;
  switch (op) {
  case HL_LOOP_MUL:
    return 1;
  case HL_LOOP_MAX:
    return is_signed ? ~top & ones : 0;
  case HL_LOOP_MIN:
    return top;
  case HL_LOOP_AND:
    return ones;
  default: /* ADD, OR, XOR */
    return 0;
  }
}

LLVMValueRef hl_emit_identity(hl_emitter *e, const hl_combiner *combiner, int lanes)
{
  LLVMTypeRef type = hl_llvm_type(&e->l, combiner->type, lanes);
  if (combiner->order == HL_ORDER_DOT)
    return LLVMConstNull(type);
  if (combiner->type == HL_F32 || combiner->type == HL_F64)
    return hl_llvm_bits(&e->l, type, float_identity(combiner->type, combiner->combine));
  return hl_llvm_int(type, int_identity(combiner->type, combiner->combine));
}

static LLVMValueRef combine(hl_emitter *e, const hl_combiner *c, LLVMValueRef a, LLVMValueRef b)
{
  return hl_emit_combine(e, c->combine, c->type, a, b);
}

/* Whether any lane is true, or all are: one look at all bits together. */
static LLVMValueRef emit_any_or_all(hl_emitter *e, bool is_all, LLVMValueRef lanes)
{
  LLVMBuilderRef b = e->l.builder;
  LLVMTypeRef type = LLVMIntTypeInContext(e->l.context, (unsigned)hl_llvm_lanes(lanes));
  LLVMValueRef bits = LLVMBuildBitCast(b, lanes, type, "");
  LLVMValueRef none = is_all ? LLVMConstAllOnes(type) : LLVMConstNull(type);
  return LLVMBuildICmp(b, is_all ? LLVMIntEQ : LLVMIntNE, bits, none, "");
}

LLVMValueRef hl_emit_tree(hl_emitter *e, const hl_combiner *combiner, LLVMValueRef lanes)
{
  int n = hl_llvm_lanes(lanes);
  bool is_any = combiner->combine == HL_LOOP_OR, is_all = combiner->combine == HL_LOOP_AND;
  if (n > 1 && combiner->type == HL_PRED && (is_any || is_all))
    return emit_any_or_all(e, is_all, lanes);
  for (int h = n / 2; h >= 1; h /= 2) {
    LLVMValueRef low = hl_llvm_slice(&e->l, lanes, 0, h), high = hl_llvm_slice(&e->l, lanes, h, h);
    lanes = combine(e, combiner, low, high);
  }
  return lanes;
}

/* Accumulators. */

static bool carries(const hl_emitter *e, const hl_node *node, uint8_t bit)
{
  return e->variance[node->id] & bit;
}

static int64_t block_of(hl_order order)
{
  return order == HL_ORDER_ROW   ? HL_ROW_BLOCK
         : order == HL_ORDER_COL ? HL_COL_BLOCK
         : order == HL_ORDER_DOT ? HL_DOT_BLOCK
                                 : 0;
}

/* A dot has two levels at most: its block sums are added in one chain. */
static void plan_levels(accumulator *a, int64_t count)
{
  int64_t block = block_of(a->combiner->order);
  a->levels = block ? hl_block_levels(count, block) : 1;
  if (a->combiner->order == HL_ORDER_DOT && a->levels > 2)
    a->levels = 2;
  a->block = a->levels > 1 ? block : 0;
}

static accumulator plan_accumulator(hl_emitter *e, const hl_loop *loop, int index)
{
  accumulator a = {.combiner = &loop->combiners[index], .lanes = 1, .parts = 1};
  a.yield = hl_first_yield(loop, index);
  int yields = a.combiner->order == HL_ORDER_DOT ? 2 : 1;
  for (int i = 0; i < yields; i++) {
    if (e->width > 1 && carries(e, loop->yields[a.yield + i], HL_VARIES_BY_LANE))
      a.lanes = e->width;
    if (e->jam > 1 && carries(e, loop->yields[a.yield + i], HL_VARIES_BY_PART))
      a.parts = e->jam;
  }
  plan_levels(&a, hl_loop_count(loop));
  return a;
}

static accumulator *accumulator_at(const hl_nest *n, int index)
{
  return (accumulator *)n->context + index;
}

static LLVMValueRef *carried_at(const hl_nest *n, const accumulator *a, int part)
{
  return &n->carried[a->first + part];
}

/* The array of ROW. */

static LLVMTypeRef lane_type(hl_emitter *e, const accumulator *a)
{
  return hl_llvm_type(&e->l, a->combiner->type, a->lanes);
}

static LLVMValueRef lane_pointer(const hl_nest *n, const accumulator *a, int level, int part,
                                 LLVMValueRef slot)
{
  const hl_llvm *l = &n->e->l;
  int lanes = hl_row_lanes(a->combiner);
  LLVMValueRef at = LLVMBuildAnd(l->builder, slot, hl_llvm_i64(l, lanes - 1), "");
  at = LLVMBuildAdd(l->builder, at, hl_llvm_i64(l, (int64_t)level * lanes), "");
  return hl_llvm_gep(l, lane_type(n->e, a), a->memory[part], at);
}

static void row_take(const hl_nest *n, const accumulator *a, int level, int part, LLVMValueRef slot,
                     LLVMValueRef x)
{
  LLVMBuilderRef b = n->e->l.builder;
  LLVMValueRef at = lane_pointer(n, a, level, part, slot);
  LLVMValueRef old = LLVMBuildLoad2(b, lane_type(n->e, a), at, "");
  LLVMBuildStore(b, combine(n->e, a->combiner, old, x), at);
}

static void row_clear(const hl_nest *n, const accumulator *a, int level, int part)
{
  LLVMValueRef identity = hl_emit_identity(n->e, a->combiner, a->lanes);
  for (int i = 0; i < hl_row_lanes(a->combiner); i++)
    LLVMBuildStore(n->e->l.builder, identity,
                   lane_pointer(n, a, level, part, hl_llvm_i64(&n->e->l, i)));
}

static LLVMValueRef row_value(const hl_nest *n, const accumulator *a, int level, int part)
{
  LLVMValueRef lanes[64];
  int count = hl_row_lanes(a->combiner);
  for (int i = 0; i < count; i++)
    lanes[i] = LLVMBuildLoad2(n->e->l.builder, lane_type(n->e, a),
                              lane_pointer(n, a, level, part, hl_llvm_i64(&n->e->l, i)), "");
  for (int h = count / 2; h >= 1; h /= 2)
    for (int i = 0; i < h; i++)
      lanes[i] = combine(n->e, a->combiner, lanes[i], lanes[i + h]);
  return lanes[0];
}

/* The same where the element's number is known. */

static LLVMValueRef *slots_of(const accumulator *a, int part)
{
  return a->slots + part * hl_row_lanes(a->combiner);
}

static void slot_take(const hl_nest *n, const accumulator *a, int part, LLVMValueRef x)
{
  LLVMValueRef *slot = slots_of(a, part) + n->unrolled_element % hl_row_lanes(a->combiner);
  *slot = *slot ? combine(n->e, a->combiner, *slot, x) : x;
}

/* Lanes that nothing came into are identities: joining them changes nothing. */
static LLVMValueRef slot_value(const hl_nest *n, const accumulator *a, int part)
{
  LLVMValueRef *lanes = slots_of(a, part);
  for (int h = hl_row_lanes(a->combiner) / 2; h >= 1; h /= 2)
    for (int i = 0; i < h; i++)
      if (lanes[i + h])
        lanes[i] = combine(n->e, a->combiner, lanes[i], lanes[i + h]);
  return lanes[0] ? lanes[0] : hl_emit_identity(n->e, a->combiner, a->lanes);
}

/* Blocks. */

static int64_t power(int64_t base, int exponent)
{
  int64_t result = 1;
  for (int i = 0; i < exponent && result <= INT64_MAX / base; i++)
    result *= base;
  return result;
}

/* Whether `held` elements, a power of two, divide those so far. */
static LLVMValueRef is_full(const hl_nest *n, int64_t held)
{
  const hl_llvm *l = &n->e->l;
  LLVMValueRef rest =
      LLVMBuildAnd(l->builder, n->carried[n->counter], hl_llvm_i64(l, held - 1), "");
  return LLVMBuildICmp(l->builder, LLVMIntEQ, rest, hl_llvm_i64(l, 0), "");
}

/* Levels above 0 are on the stack: one step in hundreds touches them, and the registers are level
 * 0's. Volatile, or they would be carried in registers again. */

static LLVMValueRef upper_pointer(const hl_nest *n, const accumulator *a, int level, int part)
{
  return hl_llvm_gep(&n->e->l, lane_type(n->e, a), a->upper[part],
                     hl_llvm_i64(&n->e->l, level - 1));
}

static LLVMValueRef load_upper(const hl_nest *n, const accumulator *a, int level, int part)
{
  LLVMValueRef load =
      LLVMBuildLoad2(n->e->l.builder, lane_type(n->e, a), upper_pointer(n, a, level, part), "");
  LLVMSetVolatile(load, 1);
  return load;
}

static void store_upper(const hl_nest *n, const accumulator *a, int level, int part, LLVMValueRef x)
{
  LLVMSetVolatile(LLVMBuildStore(n->e->l.builder, x, upper_pointer(n, a, level, part)), 1);
}

static void join_upper(const hl_nest *n, const accumulator *a, int level, int part,
                       LLVMValueRef low)
{
  LLVMValueRef high = load_upper(n, a, level, part);
  store_upper(n, a, level, part, combine(n->e, a->combiner, high, low));
}

static void flush_carried(const hl_nest *n, const accumulator *a)
{
  const hl_llvm *l = &n->e->l;
  LLVMValueRef identity = hl_emit_identity(n->e, a->combiner, a->lanes);
  LLVMValueRef full = is_full(n, a->block);
  LLVMBasicBlockRef before = hl_llvm_here(l);
  hl_llvm_if branch = hl_llvm_if_begin(l, full);
  for (int part = 0; part < a->parts; part++)
    join_upper(n, a, 1, part, *carried_at(n, a, part));
  hl_llvm_if_end(l, &branch);
  for (int part = 0; part < a->parts; part++) {
    LLVMValueRef *low = carried_at(n, a, part);
    *low = hl_llvm_phi2(l, identity, branch.then_end, *low, before);
  }
}

static void flush_upper(const hl_nest *n, const accumulator *a, int level)
{
  const hl_llvm *l = &n->e->l;
  hl_llvm_if branch = hl_llvm_if_begin(l, is_full(n, power(a->block, level + 1)));
  for (int part = 0; part < a->parts; part++) {
    join_upper(n, a, level + 1, part, load_upper(n, a, level, part));
    store_upper(n, a, level, part, hl_emit_identity(n->e, a->combiner, a->lanes));
  }
  hl_llvm_if_end(l, &branch);
}

/* The block that has just ended has number (elements so far - 1) / its size. */
static void flush_row_level(const hl_nest *n, const accumulator *a, int level)
{
  const hl_llvm *l = &n->e->l;
  int64_t held = power(a->block, level + 1);
  hl_llvm_if branch = hl_llvm_if_begin(l, is_full(n, held));
  LLVMValueRef last = LLVMBuildSub(l->builder, n->carried[n->counter], hl_llvm_i64(l, 1), "");
  LLVMValueRef number = LLVMBuildUDiv(l->builder, last, hl_llvm_i64(l, held), "");
  for (int part = 0; part < a->parts; part++) {
    row_take(n, a, level + 1, part, number, row_value(n, a, level, part));
    row_clear(n, a, level, part);
  }
  hl_llvm_if_end(l, &branch);
}

static void flush(hl_nest *n)
{
  for (int i = 0; i < n->loop->result_count; i++) {
    const accumulator *a = accumulator_at(n, i);
    for (int level = 0; level + 1 < a->levels; level++) {
      if (a->memory)
        flush_row_level(n, a, level);
      else if (level == 0)
        flush_carried(n, a);
      else
        flush_upper(n, a, level);
    }
  }
}

/* The body, once. */

static LLVMValueRef take_dot(const hl_nest *n, const accumulator *a, int part, LLVMValueRef sum)
{
  hl_emitter *e = n->e;
  LLVMValueRef l = hl_emit_raw(e, n->loop->yields[a->yield], part, a->lanes);
  LLVMValueRef r = hl_emit_raw(e, n->loop->yields[a->yield + 1], part, a->lanes);
  if (a->combiner->type == HL_F32 || a->combiner->type == HL_F64)
    return hl_emit_fma(e, l, r, sum);
  return LLVMBuildAdd(e->l.builder, sum, LLVMBuildMul(e->l.builder, l, r, ""), "");
}

static bool sums_dot4(const hl_nest *n, const accumulator *a)
{
  return a->combiner->order == HL_ORDER_FREE && a->combiner->combine == HL_LOOP_ADD &&
         n->loop->yields[a->yield]->op == HL_LOOP_DOT4;
}

/* An instruction that multiplies bytes also adds to a sum. */
static LLVMValueRef take_dot4(const hl_nest *n, const accumulator *a, int part, LLVMValueRef sum)
{
  hl_node *const *sides = n->loop->yields[a->yield]->operands;
  return hl_emit_dot4(n->e, sum, hl_emit_raw(n->e, sides[0], part, a->lanes),
                      hl_emit_raw(n->e, sides[1], part, a->lanes));
}

static void take(const hl_nest *n, const accumulator *a, int part)
{
  LLVMValueRef *sum = a->memory || a->slots ? NULL : carried_at(n, a, part);
  if (a->combiner->order == HL_ORDER_DOT) {
    *sum = take_dot(n, a, part, *sum);
    return;
  }
  if (sums_dot4(n, a)) {
    *sum = take_dot4(n, a, part, *sum);
    return;
  }
  LLVMValueRef x = hl_emit_raw(n->e, n->loop->yields[a->yield], part, a->lanes);
  if (a->slots)
    slot_take(n, a, part, x);
  else if (a->memory)
    row_take(n, a, 0, part, n->element, x);
  else
    *sum = combine(n->e, a->combiner, *sum, x);
}

static void emit_body(hl_nest *n)
{
  hl_emit_block(n->e, &n->loop->body);
  for (int i = 0; i < n->loop->result_count; i++)
    for (int part = 0; part < accumulator_at(n, i)->parts; part++)
      take(n, accumulator_at(n, i), part);
}

/* Reductions. */

static void start_row(hl_nest *n, accumulator *a)
{
  hl_emitter *e = n->e;
  if (n->is_unrolled) {
    a->slots = HL_ARRAY(e->arena, a->parts * hl_row_lanes(a->combiner), LLVMValueRef);
    return;
  }
  int slots = a->levels * hl_row_lanes(a->combiner);
  a->memory = HL_ARRAY(e->arena, a->parts, LLVMValueRef);
  for (int part = 0; part < a->parts; part++) {
    a->memory[part] = hl_llvm_alloca(&e->l, lane_type(e, a), slots, 64);
    for (int level = 0; level < a->levels; level++)
      row_clear(n, a, level, part);
  }
}

static void start_upper(hl_nest *n, accumulator *a)
{
  hl_emitter *e = n->e;
  LLVMValueRef identity = hl_emit_identity(e, a->combiner, a->lanes);
  a->upper = HL_ARRAY(e->arena, a->parts, LLVMValueRef);
  for (int part = 0; part < a->parts; part++) {
    a->upper[part] = hl_llvm_alloca(&e->l, lane_type(e, a), a->levels - 1, 64);
    for (int level = 1; level < a->levels; level++)
      store_upper(n, a, level, part, identity);
  }
}

static void start_accumulator(hl_nest *n, accumulator *a)
{
  if (a->combiner->order == HL_ORDER_ROW) {
    start_row(n, a);
    return;
  }
  a->first = n->carried_count;
  n->carried_count += a->parts;
  for (int i = a->first; i < n->carried_count; i++)
    n->carried[i] = hl_emit_identity(n->e, a->combiner, a->lanes);
  if (a->levels > 1)
    start_upper(n, a);
}

/* Plans the accumulators; returns how many carried values they may need. */
static int plan_reduce(hl_nest *n)
{
  int capacity = 1;
  for (int i = 0; i < n->loop->result_count; i++) {
    accumulator *a = accumulator_at(n, i);
    *a = plan_accumulator(n->e, n->loop, i);
    capacity += a->parts;
    if (a->block && (n->block == 0 || a->block < n->block))
      n->block = a->block;
  }
  return capacity;
}

static bool has_row(const hl_loop *loop)
{
  for (int i = 0; i < loop->result_count; i++)
    if (loop->combiners[i].order == HL_ORDER_ROW)
      return true;
  return false;
}

static void start_reduce(hl_nest *n)
{
  n->context = HL_ARRAY(n->e->arena, n->loop->result_count, accumulator);
  n->carried = HL_ARRAY(n->e->arena, plan_reduce(n), LLVMValueRef);
  for (int i = 0; i < n->loop->result_count; i++)
    start_accumulator(n, accumulator_at(n, i));
  if (n->is_unrolled || (!n->block && !has_row(n->loop)))
    return;
  n->counter = n->carried_count++;
  n->carried[n->counter] = hl_llvm_i64(&n->e->l, 0);
}

/* What the last block of each level left behind goes into the level above. */
static LLVMValueRef finish_row(const hl_nest *n, const accumulator *a, int part)
{
  const hl_llvm *l = &n->e->l;
  for (int level = 0; level + 1 < a->levels; level++) {
    LLVMValueRef held = hl_llvm_i64(l, power(a->block, level + 1));
    LLVMValueRef number = LLVMBuildUDiv(l->builder, n->carried[n->counter], held, "");
    row_take(n, a, level + 1, part, number, row_value(n, a, level, part));
  }
  return row_value(n, a, a->levels - 1, part);
}

static LLVMValueRef finish_carried(const hl_nest *n, const accumulator *a, int part)
{
  LLVMValueRef value = *carried_at(n, a, part);
  for (int level = 1; level < a->levels; level++)
    value = combine(n->e, a->combiner, load_upper(n, a, level, part), value);
  /* total = +0 + s: a block of tiny negative products may have come out as -0 */
  if (a->combiner->order == HL_ORDER_DOT && a->levels == 1)
    value = combine(n->e, a->combiner, hl_emit_identity(n->e, a->combiner, a->lanes), value);
  return value;
}

static LLVMValueRef finish(const hl_nest *n, const accumulator *a, int part)
{
  if (a->slots)
    return slot_value(n, a, part);
  return a->memory ? finish_row(n, a, part) : finish_carried(n, a, part);
}

static void finish_reduce(const hl_nest *n, const hl_node *node)
{
  for (int i = 0; i < n->loop->result_count; i++) {
    const accumulator *a = accumulator_at(n, i);
    hl_value value = {.parts = HL_ARRAY(n->e->arena, a->parts, LLVMValueRef),
                      .part_count = a->parts,
                      .is_vector = a->lanes > 1,
                      .nan = HL_NAN_DIRTY};
    for (int part = 0; part < a->parts; part++)
      value.parts[part] = finish(n, a, part);
    hl_emit_set_result(n->e, node, i, value);
  }
}

/* A row of no more than its lanes is a tree of single values. */
static bool unrolls(hl_emitter *e, const hl_loop *loop)
{
  return hl_nest_unrolls(e, loop, has_row(loop) ? 32 : 8);
}

/* A row times columns waits for memory. */
static bool waits_for_memory(const hl_emitter *e, const hl_loop *loop)
{
  return e->options->opt_level >= 2 && e->width > 1 && e->jam == 1 && !e->mask &&
         loop->combiners[0].order == HL_ORDER_DOT;
}

void hl_emit_reduce(hl_emitter *e, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  hl_nest n = {.e = e, .loop = loop, .counter = -1, .body = emit_body, .block_end = flush};
  n.is_unrolled = unrolls(e, loop) && (e->width > 1 || hl_loop_count(loop) <= 8);
  if (!n.is_unrolled && hl_emit_vector_reduce(e, node))
    return;
  n.tile = e->width > 1 && !e->mask ? hl_emit_reduce_tile(e, loop, e->lane_var) : 0;
  n.tile = n.tile == e->width ? n.tile : 0;
  start_reduce(&n);
  if (waits_for_memory(e, loop))
    hl_emit_plan_line_prefetch(e, loop, true);
  hl_nest_emit(&n);
  hl_emit_plan_line_prefetch(e, loop, false);
  finish_reduce(&n, node);
}
