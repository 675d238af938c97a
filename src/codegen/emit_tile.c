/* emit_tile.c - squares of lanes and iterations that lie side by side in memory, transposed in
 * registers.
 *
 *   x[i, k], lanes i far apart, iterations k side by side:   row r of the square is x[r, k ..
 * k+n-1], one vector load; transposed, row p is iteration k + p for all lanes.
 *
 * The iterations are those of a jammed loop (emit_jam.c) or those of a reduction: a dot of two
 * rows, the sum over a point's coordinates. The reduction then runs n iterations a round.
 */
#include "emit_access.h"
#include "emit_reduce.h"

static int64_t stride_of(const hl_access *access, const hl_node *index)
{
  for (int i = 0; i < access->term_count; i++)
    if (access->terms[i].index == index)
      return access->terms[i].stride;
  return 0;
}

/* Every index but `var` is one for all parts. */
static bool varies_by_var_alone(const hl_emitter *e, const hl_access *access, const hl_node *var)
{
  for (int i = 0; i < access->term_count; i++)
    if (access->terms[i].index != var &&
        (e->variance[access->terms[i].index->id] & HL_VARIES_BY_PART))
      return false;
  return true;
}

int hl_emit_tile_size(const hl_emitter *e, hl_element_type type)
{
  int bytes = hl_type_bytes(type), lanes = e->target->vector_bytes / bytes;
  return bytes < 4 || lanes < 4 ? 0 : lanes > HL_MAX_JAM ? HL_MAX_JAM : lanes;
}

bool hl_emit_is_tile(const hl_emitter *e, const hl_node *load, const hl_node *parts,
                     const hl_node *lanes)
{
  const hl_access *access = load->access;
  int64_t step = stride_of(access, lanes);
  return load->op == HL_LOOP_LOAD && load->operand_count == 0 && (step > 1 || step < -1) &&
         stride_of(access, parts) == 1 && varies_by_var_alone(e, access, parts) &&
         hl_emit_tile_size(e, access->param->type) > 0;
}

/* One step of Eklundh's transposition: blocks of d x d off the diagonal change places. */
static void exchange_blocks(hl_emitter *e, LLVMValueRef *a, LLVMValueRef *b, int n, int d)
{
  int upper[HL_MAX_JAM], lower[HL_MAX_JAM];
  for (int i = 0; i < n; i++) {
    upper[i] = i & d ? n + i - d : i;
    lower[i] = i & d ? n + i : i + d;
  }
  LLVMValueRef x = hl_llvm_shuffle(&e->l, *a, *b, upper, n);
  *b = hl_llvm_shuffle(&e->l, *a, *b, lower, n);
  *a = x;
}

/* The instruction selector looks through chains of shuffles for others to take their place, in time
 * exponential in the length of the chain. What lies behind a fence it does not see; the fence
 * itself is no code. */
static LLVMValueRef fence(hl_emitter *e, LLVMValueRef row)
{
  LLVMTypeRef type = LLVMTypeOf(row);
  LLVMTypeRef lane = hl_llvm_scalar_bits(type) == 64 ? e->l.f64 : e->l.f32;
  LLVMTypeRef floats = LLVMVectorType(lane, LLVMGetVectorSize(type));
  if (e->target->family != HL_FAMILY_X86_64)
    return row;
  row = LLVMBuildBitCast(e->l.builder, row, floats, "");
  row = hl_llvm_call1(&e->l, "llvm.arithmetic.fence", row);
  return LLVMBuildBitCast(e->l.builder, row, type, "");
}

static void load_rows(hl_emitter *e, const hl_param *param, const hl_address *at, bool prefetches,
                      LLVMValueRef *rows)
{
  LLVMTypeRef type = hl_llvm_memory_type(&e->l, param->type, e->width);
  LLVMTypeRef element = hl_llvm_memory_type(&e->l, param->type, 1);
  int bytes = hl_type_bytes(param->type);
  for (int i = 0; i < e->width; i++) {
    LLVMValueRef offset = hl_llvm_i64(&e->l, i * at->step);
    LLVMValueRef row = LLVMBuildGEP2(e->l.builder, element, at->pointer, &offset, 1, "");
    rows[i] = LLVMBuildLoad2(e->l.builder, type, row, "");
    LLVMSetAlignment(rows[i], (unsigned)bytes);
    if (prefetches)
      hl_emit_prefetch_at(e, row, at->step * HL_TILE_BLOCK * bytes);
  }
}

/* The vectors of as many parts as there are lanes; NULL where lanes do not lie at equal steps. */
static LLVMValueRef *load_tile(hl_emitter *e, const hl_node *load, bool prefetches)
{
  int n = e->width;
  hl_address at = hl_emit_address(e, load->access, 0);
  if (at.lanes)
    return NULL;
  LLVMValueRef *rows = HL_ARRAY(e->arena, n, LLVMValueRef);
  load_rows(e, load->access->param, &at, prefetches, rows);
  for (int d = n / 2; d >= 1; d /= 2) {
    for (int i = 0; i < n; i++)
      if (!(i & d))
        exchange_blocks(e, &rows[i], &rows[i + d], n, d);
    for (int i = 0; i < n && d > 1; i++)
      rows[i] = fence(e, rows[i]);
  }
  return rows;
}

/* Jammed loops. */

bool hl_emit_has_tile(const hl_emitter *e, const hl_loop *loop)
{
  for (const hl_node *node = loop->body.first; node; node = node->next)
    if (node->op == HL_LOOP_LOAD && e->jam == hl_emit_tile_size(e, node->access->param->type) &&
        hl_emit_is_tile(e, node, e->jam_var, loop->vars[0]))
      return true;
  return false;
}

bool hl_emit_jam_tile(hl_emitter *e, const hl_node *load)
{
  if (e->width == 1 || e->width != e->jam || e->mask ||
      e->jam != hl_emit_tile_size(e, load->access->param->type) ||
      !hl_emit_is_tile(e, load, e->jam_var, e->lane_var))
    return false;
  LLVMValueRef *parts = load_tile(e, load, true);
  if (parts)
    hl_value_set(
        e, load,
        (hl_value){.parts = parts, .part_count = e->jam, .is_vector = true, .nan = HL_NAN_MOVED});
  return parts;
}

/* Long bodies stand there once, in a loop over the parts: transposed rows wait for it on the stack.
 */

static bool has_inner(const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next)
    if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD ||
        node->op == HL_LOOP_IF)
      return true;
  return false;
}

bool hl_emit_rolls_tile(const hl_emitter *e, const hl_loop *loop)
{
  enum { ROLLED_COST = 10 };
  return e->jam > 1 && e->options->opt_level < 3 &&
         hl_emit_only_vector_loop(e->jam_var->loop) == loop && hl_emit_has_tile(e, loop) &&
         !has_inner(&loop->body) && hl_emit_cost(&loop->body) >= ROLLED_COST;
}

/* Before the loop. NULL: no tile. */
static LLVMValueRef spill_tile(hl_emitter *e, const hl_node *load)
{
  bool is_tile = load->op == HL_LOOP_LOAD && e->width == e->jam && !e->mask &&
                 e->jam == hl_emit_tile_size(e, load->access->param->type) &&
                 hl_emit_is_tile(e, load, e->jam_var, e->lane_var);
  LLVMValueRef *rows = is_tile ? load_tile(e, load, true) : NULL;
  if (!rows)
    return NULL;
  LLVMTypeRef type = LLVMTypeOf(rows[0]);
  LLVMValueRef stack = hl_llvm_alloca(&e->l, type, e->jam, 64);
  for (int i = 0; i < e->jam; i++)
    LLVMBuildStore(e->l.builder, rows[i], hl_llvm_gep(&e->l, type, stack, hl_llvm_i64(&e->l, i)));
  return stack;
}

/* In it. */
static void fill_tile(hl_emitter *e, const hl_node *load, LLVMValueRef stack, LLVMValueRef part)
{
  LLVMTypeRef type = hl_llvm_memory_type(&e->l, load->access->param->type, e->width);
  LLVMValueRef *row = HL_ARRAY(e->arena, 1, LLVMValueRef);
  *row = LLVMBuildLoad2(e->l.builder, type, hl_llvm_gep(&e->l, type, stack, part), "");
  e->tiles[load->id] = row;
}

static void emit_rolled_body(hl_emitter *e, const hl_loop *loop, LLVMValueRef *stacks,
                             LLVMValueRef part)
{
  int at = 0;
  for (const hl_node *node = loop->body.first; node; node = node->next, at++)
    if (stacks[at])
      fill_tile(e, node, stacks[at], part);
  e->tile_at = 0;
  hl_emit_block(e, &loop->body);
  hl_emit_close_tiles(e, loop);
}

static LLVMValueRef *spill_tiles(hl_emitter *e, const hl_loop *loop)
{
  int count = 0;
  for (const hl_node *node = loop->body.first; node; node = node->next)
    count++;
  LLVMValueRef *stacks = HL_ARRAY(e->arena, count + 1, LLVMValueRef);
  count = 0;
  for (const hl_node *node = loop->body.first; node; node = node->next)
    stacks[count++] = spill_tile(e, node);
  return stacks;
}

void hl_emit_rolled_tile(hl_emitter *e, const hl_loop *loop)
{
  const hl_node *var = e->jam_var;
  hl_value parts = e->values[var->id];
  int jam = e->jam;
  LLVMValueRef *stacks = spill_tiles(e, loop);
  hl_llvm_loop rounds;
  hl_llvm_loop_begin(&e->l, e->arena, &rounds, hl_llvm_i64(&e->l, 0), hl_llvm_i64(&e->l, jam), 1,
                     NULL, 0);
  LLVMValueRef at = LLVMBuildAdd(e->l.builder, parts.parts[0], rounds.index, "");
  e->jam = 1;
  e->jam_var = NULL;
  hl_value_set_scalar(e, var, at, HL_NAN_NONE);
  emit_rolled_body(e, loop, stacks, rounds.index);
  e->jam = jam;
  e->jam_var = var;
  hl_value_set(e, var, parts);
  hl_llvm_loop_end(&e->l, &rounds);
}

/* Reductions. */

/* Iterations of a small body that stores nothing can be loaded for together. */
static bool is_pure(const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next)
    if (node->op == HL_LOOP_STORE || node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE ||
        node->op == HL_LOOP_FOLD || node->op == HL_LOOP_IF)
      return false;
  return true;
}

int hl_emit_reduce_tile(const hl_emitter *e, const hl_loop *loop, const hl_node *lanes)
{
  enum { COST_LIMIT = 12 };
  int inner = loop->var_count - 1;
  if (e->options->opt_level < 2 || !is_pure(&loop->body) || hl_emit_cost(&loop->body) > COST_LIMIT)
    return 0;
  for (const hl_node *node = loop->body.first; node; node = node->next) {
    int size = node->op == HL_LOOP_LOAD ? hl_emit_tile_size(e, node->access->param->type) : 0;
    if (size && loop->extents[inner] >= size && node->access->param->direction == HL_PARAM_IN &&
        hl_emit_is_tile(e, node, loop->vars[inner], lanes))
      return size;
  }
  return 0;
}

int hl_emit_body_tile(const hl_emitter *e, const hl_loop *loop)
{
  for (const hl_node *node = loop->body.first; node; node = node->next) {
    int size = node->op == HL_LOOP_REDUCE ? hl_emit_reduce_tile(e, node->loop, loop->vars[0]) : 0;
    if (size)
      return size;
  }
  return 0;
}

void hl_emit_open_tiles(hl_emitter *e, const hl_loop *loop)
{
  const hl_node *parts = loop->vars[loop->var_count - 1];
  for (const hl_node *node = loop->body.first; node; node = node->next)
    if (node->op == HL_LOOP_LOAD && node->access->param->direction == HL_PARAM_IN &&
        hl_emit_tile_size(e, node->access->param->type) == e->width &&
        hl_emit_is_tile(e, node, parts, e->lane_var))
      e->tiles[node->id] = load_tile(e, node, false);
}

void hl_emit_close_tiles(hl_emitter *e, const hl_loop *loop)
{
  for (const hl_node *node = loop->body.first; node; node = node->next)
    e->tiles[node->id] = NULL;
}

bool hl_emit_open_tile(hl_emitter *e, const hl_node *load)
{
  if (!e->tiles[load->id])
    return false;
  LLVMValueRef *part = &e->tiles[load->id][e->tile_at];
  hl_value_set(e, load,
               (hl_value){.parts = part, .part_count = 1, .is_vector = true, .nan = HL_NAN_MOVED});
  return true;
}
