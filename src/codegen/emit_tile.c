/* emit_tile.c - squares of lanes and iterations that lie side by side in memory, transposed in
 * registers.
 *
 *   x[i, k], lanes i far apart, iterations k side by side:   row r of the square is x[r, k ..
 * k+n-1], one vector load; transposed, row p is iteration k + p for all lanes.
 *
 * The iterations are those of a jammed loop (emit_jam.c), those of a reduction (a dot of two rows,
 * the sum over a point's coordinates) or those of a fold (a scan of lines). Reductions and folds
 * then run n iterations a round, and what a fold stores goes back through a square of its own.
 */
#include "emit_access.h"
#include "emit_reduce.h"

#include <string.h>

/* What a load or store in the body of a REDUCE or FOLD has to do with a round of iterations. */
struct hl_tile {
  LLVMValueRef *parts; /* by iteration, in memory's type */
  hl_address at;       /* the element of the first iteration */
  int count;           /* iterations: fewer than lanes in the last round of a line */
  bool is_backward;    /* iterations go down in memory */
};

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
  int64_t step = hl_stride_of(access, lanes);
  return load->op == HL_LOOP_LOAD && load->operand_count == 0 && (step > 1 || step < -1) &&
         hl_stride_of(access, parts) == 1 && varies_by_var_alone(e, access, parts) &&
         hl_emit_tile_size(e, access->param->type) > 0;
}

/* One step of a transposition: of the units of `unit` elements of two rows, those in the first half
 * of each `group` elements alternate in *a, those in the second half in *b. */
static void zip_rows(hl_emitter *e, LLVMValueRef *a, LLVMValueRef *b, int n, int unit, int group)
{
  int low[HL_MAX_JAM], high[HL_MAX_JAM];
  for (int i = 0; i < n; i++) {
    int at = i % group, from = at / (2 * unit) * unit + at % unit + i / group * group;
    low[i] = from + (at / unit % 2 ? n : 0);
    high[i] = low[i] + group / 2;
  }
  LLVMValueRef x = hl_llvm_shuffle(&e->l, *a, *b, low, n);
  *b = hl_llvm_shuffle(&e->l, *a, *b, high, n);
  *a = x;
}

/* Of the units of two rows, the even ones go to *a and the odd ones to *b, those of the first row
 * first. */
static void unzip_rows(hl_emitter *e, LLVMValueRef *a, LLVMValueRef *b, int n, int unit)
{
  int even[HL_MAX_JAM], odd[HL_MAX_JAM];
  for (int i = 0; i < n; i++) {
    even[i] = i / unit * 2 * unit + i % unit;
    odd[i] = even[i] + unit;
  }
  LLVMValueRef x = hl_llvm_shuffle(&e->l, *a, *b, even, n);
  *b = hl_llvm_shuffle(&e->l, *a, *b, odd, n);
  *a = x;
}

/* The bits of i below `high`, in reverse order, beside those above. */
static int reverse_low_bits(int i, int high)
{
  int result = i & -high;
  for (int up = 1, down = high / 2; up < high; up *= 2, down /= 2)
    result |= i & up ? down : 0;
  return result;
}

/* The instruction selector looks through chains of shuffles for others to take their place, in time
 * exponential in the length of the chain. What lies behind a fence it does not see; the fence
 * itself is no code. */
static void fence_rows(hl_emitter *e, LLVMValueRef *rows, int n)
{
  for (int i = 0; i < n && e->target->family == HL_FAMILY_X86_64; i++)
    rows[i] = hl_llvm_call1(&e->l, "llvm.arithmetic.fence", rows[i]);
}

static void cast_rows(hl_emitter *e, LLVMValueRef *rows, int n, LLVMTypeRef element)
{
  for (int i = 0; i < n; i++)
    rows[i] = LLVMBuildBitCast(e->l.builder, rows[i], hl_llvm_vector(element, n), "");
}

/* Steps within 16 bytes, then steps of 16 bytes: registers have one instruction for each. The first
 * leave the columns in the order of reversed bits. Elements of 32 or 64 bits. */
static void transpose(hl_emitter *e, LLVMValueRef *rows, int n)
{
  LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(rows[0]));
  int bytes = hl_llvm_scalar_bits(element) / 8, chunk = 16 / bytes < n ? 16 / bytes : n;
  LLVMValueRef columns[HL_MAX_JAM];
  cast_rows(e, rows, n, bytes == 8 ? e->l.f64 : e->l.f32);
  for (int d = 1; d < n; d *= 2) {
    for (int i = 0; i < n; i++) {
      if (!(i & d) && d < chunk)
        zip_rows(e, &rows[i], &rows[i + d], n, d, chunk);
      else if (!(i & d))
        unzip_rows(e, &rows[i], &rows[i + d], n, chunk);
    }
    fence_rows(e, rows, n);
  }
  for (int i = 0; i < n; i++)
    columns[reverse_low_bits(i, chunk)] = rows[i];
  memcpy(rows, columns, (size_t)n * sizeof *rows);
  cast_rows(e, rows, n, element);
}

static LLVMValueRef is_lane_there(hl_emitter *e, int i)
{
  return LLVMBuildExtractElement(e->l.builder, e->mask, hl_llvm_int(e->l.i32, (uint64_t)i), "");
}

/* Where the part of lane `i` begins in memory; that of the first one where it is not there. */
static LLVMValueRef row_pointer(hl_emitter *e, const hl_param *param, const hl_tile *tile, int i)
{
  int64_t back = tile->is_backward ? tile->count - 1 : 0;
  LLVMValueRef first = hl_llvm_i64(&e->l, -back),
               offset = hl_llvm_i64(&e->l, i * tile->at.step - back);
  if (e->mask)
    offset = LLVMBuildSelect(e->l.builder, is_lane_there(e, i), offset, first, "");
  return LLVMBuildGEP2(e->l.builder, hl_llvm_memory_type(&e->l, param->type, 1), tile->at.pointer,
                       &offset, 1, "");
}

/* The rows are as many pointers; that they go with the index of one loop is hidden from LLVM, which
 * would look for the cheapest way to count them all together. */
static hl_address address_of(hl_emitter *e, const hl_access *access)
{
  hl_address at = hl_emit_address(e, access, 0);
  at.pointer = hl_llvm_call1(&e->l, "llvm.strip.invariant.group", at.pointer);
  return at;
}

/* The lanes of a row that are iterations; NULL: all. */
static LLVMValueRef row_mask(hl_emitter *e, const hl_tile *tile)
{
  LLVMValueRef lanes[HL_MAX_LANES];
  if (tile->count == e->width)
    return NULL;
  for (int i = 0; i < e->width; i++)
    lanes[i] = hl_llvm_int(e->l.i1, i < tile->count);
  return LLVMConstVector(lanes, (unsigned)e->width);
}

/* `ahead`: bytes from each row to the line to ask for; 0: none. */
static void load_rows(hl_emitter *e, const hl_param *param, const hl_tile *tile, int64_t ahead,
                      LLVMValueRef *rows)
{
  LLVMValueRef mask = row_mask(e, tile);
  for (int i = 0; i < e->width; i++) {
    hl_address row = {.pointer = row_pointer(e, param, tile, i), .step = 1};
    if (ahead)
      hl_emit_prefetch_at(e, row.pointer, ahead);
    rows[i] = hl_emit_load_lanes(e, param, &row, mask);
  }
}

/* Squares of elements below 32 bits go through registers of these. */
static void resize_rows(hl_emitter *e, LLVMValueRef *rows, LLVMTypeRef element)
{
  LLVMTypeRef type = hl_llvm_vector(element, e->width);
  for (int i = 0; i < e->width; i++)
    rows[i] = LLVMBuildIntCast2(e->l.builder, rows[i], type, false, "");
}

static void transpose_elements(hl_emitter *e, const hl_param *param, LLVMValueRef *rows)
{
  bool is_narrow = hl_type_bytes(param->type) < 4;
  if (is_narrow)
    resize_rows(e, rows, e->l.i32);
  transpose(e, rows, e->width);
  if (is_narrow)
    resize_rows(e, rows, hl_llvm_memory_type(&e->l, param->type, 1));
}

static void reverse_parts(hl_tile *tile)
{
  for (int i = 0; tile->is_backward && i < tile->count / 2; i++) {
    LLVMValueRef x = tile->parts[i];
    tile->parts[i] = tile->parts[tile->count - 1 - i];
    tile->parts[tile->count - 1 - i] = x;
  }
}

/* The vectors of as many parts as there are lanes. */
static void load_tile(hl_emitter *e, const hl_param *param, hl_tile *tile, int64_t ahead)
{
  tile->parts = HL_ARRAY(e->arena, e->width, LLVMValueRef);
  load_rows(e, param, tile, ahead, tile->parts);
  transpose_elements(e, param, tile->parts);
  reverse_parts(tile);
}

/* Jammed loops. */

/* To the rows of the next block. */
static int64_t next_block(const hl_param *param, const hl_tile *tile)
{
  return tile->at.step * HL_TILE_BLOCK * hl_type_bytes(param->type);
}

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
  hl_tile tile = {.at = address_of(e, load->access), .count = e->width};
  if (tile.at.lanes)
    return false;
  load_tile(e, load->access->param, &tile, next_block(load->access->param, &tile));
  hl_value value = {
      .parts = tile.parts, .part_count = e->jam, .is_vector = true, .nan = HL_NAN_MOVED};
  hl_value_set(e, load, value);
  return true;
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
  if (!is_tile)
    return NULL;
  hl_tile tile = {.at = address_of(e, load->access), .count = e->width};
  if (tile.at.lanes)
    return NULL;
  load_tile(e, load->access->param, &tile, next_block(load->access->param, &tile));
  LLVMTypeRef type = LLVMTypeOf(tile.parts[0]);
  LLVMValueRef stack = hl_llvm_alloca(&e->l, type, e->jam, 64);
  for (int i = 0; i < e->jam; i++)
    LLVMBuildStore(e->l.builder, tile.parts[i],
                   hl_llvm_gep(&e->l, type, stack, hl_llvm_i64(&e->l, i)));
  return stack;
}

/* In it. */
static void fill_tile(hl_emitter *e, const hl_node *load, LLVMValueRef stack, LLVMValueRef part)
{
  LLVMTypeRef type = hl_llvm_memory_type(&e->l, load->access->param->type, e->width);
  hl_tile *tile = HL_NEW(e->arena, hl_tile);
  tile->parts = HL_ARRAY(e->arena, 1, LLVMValueRef);
  tile->parts[0] = LLVMBuildLoad2(e->l.builder, type, hl_llvm_gep(&e->l, type, stack, part), "");
  e->tiles[load->id] = tile;
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

/* Reductions and folds. */

/* Iterations of a small body without loops can be loaded for together. */
static bool is_straight(const hl_block *block, bool may_store)
{
  for (const hl_node *node = block->first; node; node = node->next)
    if ((node->op == HL_LOOP_STORE && !may_store) || node->op == HL_LOOP_FOR ||
        node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD || node->op == HL_LOOP_IF)
      return false;
  return true;
}

/* The address of the first iteration must be known before it runs. */
static bool is_known_before(const hl_access *access, const hl_loop *loop, const hl_node *var)
{
  for (int i = 0; i < access->term_count; i++) {
    const hl_node *index = access->terms[i].index;
    if (index != var &&
        (index->block == &loop->body || (index->op == HL_LOOP_ACC && index->loop == loop)))
      return false;
  }
  return true;
}

int hl_emit_reduce_tile(const hl_emitter *e, const hl_loop *loop, const hl_node *lanes)
{
  enum { COST_LIMIT = 12 };
  const hl_node *var = loop->vars[loop->var_count - 1];
  if (e->options->opt_level < 2 || !is_straight(&loop->body, false) ||
      hl_emit_cost(&loop->body) > COST_LIMIT)
    return 0;
  for (const hl_node *node = loop->body.first; node; node = node->next) {
    int size = node->op == HL_LOOP_LOAD ? hl_emit_tile_size(e, node->access->param->type) : 0;
    if (size && loop->extents[loop->var_count - 1] >= size &&
        node->access->param->direction == HL_PARAM_IN && hl_emit_is_tile(e, node, var, lanes) &&
        is_known_before(node->access, loop, var))
      return size;
  }
  return 0;
}

static int first_reduce_tile(const hl_emitter *e, const hl_loop *loop)
{
  for (const hl_node *node = loop->body.first; node; node = node->next) {
    int size = node->op == HL_LOOP_REDUCE ? hl_emit_reduce_tile(e, node->loop, loop->vars[0]) : 0;
    if (size)
      return size;
  }
  return 0;
}

/* A load or store of a fold whose lanes lie apart and whose iterations lie side by side. What is
 * stored so is not read in the kernel, and what is read so is not written. */
static bool is_line(const hl_node *node, const hl_loop *loop, const hl_node *lanes)
{
  const hl_node *var = loop->vars[loop->var_count - 1];
  if (node->op != HL_LOOP_LOAD && node->op != HL_LOOP_STORE)
    return false;
  bool is_load = node->op == HL_LOOP_LOAD;
  const hl_access *access = node->access;
  int64_t step = hl_stride_of(access, lanes), along = hl_stride_of(access, var);
  return node->operand_count == (is_load ? 0 : 1) && (step > 1 || step < -1) &&
         (along == 1 || along == -1) &&
         access->param->direction == (is_load ? HL_PARAM_IN : HL_PARAM_OUT) &&
         is_known_before(access, loop, var);
}

bool hl_emit_is_scan(const hl_emitter *e, const hl_loop *loop, const hl_node *lanes)
{
  enum { COST_LIMIT = 64 };
  bool has_lines = false, has_stores = false;
  if (e->options->opt_level < 2 || !is_straight(&loop->body, true) ||
      hl_emit_cost(&loop->body) > COST_LIMIT)
    return false;
  for (const hl_node *node = loop->body.first; node; node = node->next) {
    has_lines |= is_line(node, loop, lanes);
    has_stores |= node->op == HL_LOOP_STORE;
  }
  return has_lines && (e->is_disjoint || !has_stores);
}

/* Whether lanes would take turns to store: neither side by side nor through squares. */
static bool takes_turns(const hl_emitter *e, const hl_loop *fold, const hl_node *lanes)
{
  bool is_scan = hl_emit_is_scan(e, fold, lanes);
  for (const hl_node *node = fold->body.first; node; node = node->next)
    if (node->op == HL_LOOP_STORE && hl_stride_of(node->access, lanes) != 1 &&
        !(is_scan && is_line(node, fold, lanes)))
      return true;
  return false;
}

/* What the folds of a vector loop ask of it: 0 nothing, 1 that its iterations run one by one, 2
 * that they run as lines. Depth is that of loops. */
static int look_at_folds(const hl_emitter *e, const hl_block *block, const hl_node *lanes)
{
  int found = 0;
  for (const hl_node *node = block->first; node && found != 1; node = node->next) {
    if (node->op != HL_LOOP_FOLD)
      continue;
    int inner = look_at_folds(e, &node->loop->body, lanes);
    if (takes_turns(e, node->loop, lanes))
      inner = 1;
    else if (!inner && hl_emit_is_scan(e, node->loop, lanes))
      inner = 2;
    found = inner ? inner : found;
  }
  return found;
}

bool hl_emit_has_scan(const hl_emitter *e, const hl_loop *loop)
{
  return look_at_folds(e, &loop->body, loop->vars[0]) == 2;
}

int hl_emit_body_tile(const hl_emitter *e, const hl_loop *loop)
{
  int folds = look_at_folds(e, &loop->body, loop->vars[0]);
  int bytes = hl_emit_widest(e, &loop->body),
      lanes = e->target->vector_bytes / (bytes < 4 ? 4 : bytes);
  if (folds != 2)
    return folds ? folds : first_reduce_tile(e, loop);
  return lanes > HL_MAX_JAM ? HL_MAX_JAM : lanes;
}

/* How far to ask ahead in an array that is no longer in cache: rows that the lanes take next or,
 * where these lie far behind, the same ones further on. (A row times a matrix of 50257 rows of 3 KB
 * on Zen 4: 6.5 to 5.4 ms; 4096 rows of 16 KB: the same.) */
static int64_t ask_ahead(const hl_emitter *e, const hl_param *param, const hl_tile *tile)
{
  enum { LARGE = 8 << 20, NEAR = 128 << 10, ALONG = 512 };
  int64_t bytes = hl_type_bytes(param->type), next = tile->at.step * e->width * bytes;
  if (e->options->opt_level < 2 || param->direction != HL_PARAM_IN || param->count * bytes < LARGE)
    return 0;
  return -NEAR < next && next < NEAR ? next : tile->is_backward ? -ALONG : ALONG;
}

static void open_tile(hl_emitter *e, const hl_node *node, const hl_node *var, int count)
{
  hl_tile *tile = HL_NEW(e->arena, hl_tile);
  *tile = (hl_tile){.at = address_of(e, node->access),
                    .count = count,
                    .is_backward = hl_stride_of(node->access, var) < 0};
  if (tile->at.lanes)
    return;
  e->tiles[node->id] = tile;
  if (node->op == HL_LOOP_LOAD)
    load_tile(e, node->access->param, tile, ask_ahead(e, node->access->param, tile));
  else
    tile->parts = HL_ARRAY(e->arena, e->width, LLVMValueRef);
}

void hl_emit_open_tiles(hl_emitter *e, const hl_loop *loop, bool is_fold, int count)
{
  const hl_node *var = loop->vars[loop->var_count - 1];
  for (const hl_node *node = loop->body.first; node; node = node->next)
    if (is_fold ? is_line(node, loop, e->lane_var)
                : node->op == HL_LOOP_LOAD && node->access->param->direction == HL_PARAM_IN &&
                      hl_emit_tile_size(e, node->access->param->type) == e->width &&
                      hl_emit_is_tile(e, node, var, e->lane_var) &&
                      is_known_before(node->access, loop, var))
      open_tile(e, node, var, count);
}

/* A lane that is not there stores where nobody looks. */
static void store_row(hl_emitter *e, const hl_param *param, const hl_tile *tile, int i,
                      LLVMValueRef row)
{
  hl_address at = {.pointer = row_pointer(e, param, tile, i), .step = 1};
  if (e->mask) {
    LLVMTypeRef type = LLVMTypeOf(row);
    LLVMValueRef nowhere = hl_llvm_alloca(&e->l, type, 1, (unsigned)hl_type_bytes(param->type));
    at.pointer = LLVMBuildSelect(e->l.builder, is_lane_there(e, i), at.pointer, nowhere, "");
  }
  hl_emit_store_lanes(e, param, &at, row, row_mask(e, tile));
}

static void store_tile(hl_emitter *e, const hl_param *param, hl_tile *tile)
{
  reverse_parts(tile);
  for (int i = tile->count; i < e->width; i++)
    tile->parts[i] = LLVMGetPoison(LLVMTypeOf(tile->parts[0]));
  transpose_elements(e, param, tile->parts);
  for (int i = 0; i < e->width; i++)
    store_row(e, param, tile, i, tile->parts[i]);
}

void hl_emit_close_tiles(hl_emitter *e, const hl_loop *loop)
{
  for (const hl_node *node = loop->body.first; node; node = node->next) {
    if (node->op == HL_LOOP_STORE && e->tiles[node->id])
      store_tile(e, node->access->param, e->tiles[node->id]);
    e->tiles[node->id] = NULL;
  }
}

bool hl_emit_open_tile(hl_emitter *e, const hl_node *load)
{
  hl_tile *tile = e->tiles[load->id];
  if (!tile)
    return false;
  LLVMValueRef *part = HL_NEW(e->arena, LLVMValueRef);
  *part = hl_emit_from_memory(e, load->access->param->type, tile->parts[e->tile_at]);
  hl_value_set(e, load,
               (hl_value){.parts = part, .part_count = 1, .is_vector = true, .nan = HL_NAN_MOVED});
  return true;
}

bool hl_emit_fill_tile(hl_emitter *e, const hl_node *store)
{
  hl_tile *tile = e->tiles[store->id];
  if (!tile)
    return false;
  LLVMValueRef x = hl_emit_clean(e, store->operands[0], 0, e->width);
  tile->parts[e->tile_at] = hl_emit_to_memory(e, store->access->param->type, x);
  return true;
}
