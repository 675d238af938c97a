/* emit_prefetch.c - kernels that go over a row more than once: which loads call for the next row.
 *
 * The first loop of an iteration waits for memory, the loops after it compute on what is in cache
 * and leave memory idle. So where a later loop reads the same row again, it asks for the row of the
 * next iteration. (Softmax of 4096 columns on Zen 4: 5.0 to 3.2 ms.) A prefetch of what lies behind
 * the array is harmless.
 */
#include "emit_access.h"

enum {
  LARGE_BYTES = 4 << 20, /* smaller arrays stay in cache anyway */
  LINE_BYTES = 64
};

typedef struct row_load {
  const hl_node *load;
  int loop; /* number among the iteration's loops */
} row_load;

typedef struct rows {
  hl_emitter *e;
  const hl_node *outer; /* the parallel loop's variable */
  row_load *loads;
  size_t count, capacity;
} rows;

/* A row of a large array: neighbours along the inner variable, the next row one step of the outer
 * on. */
static bool is_row(const rows *r, const hl_node *load, const hl_node *inner)
{
  const hl_access *access = load->access;
  int64_t bytes = access->param->count * hl_type_bytes(access->param->type);
  return load->operand_count == 0 && access->param->direction == HL_PARAM_IN &&
         bytes >= LARGE_BYTES && access->term_count == 2 && hl_stride_of(access, inner) == 1 &&
         hl_stride_of(access, r->outer) > 1;
}

static void collect(rows *r, const hl_node *node, int loop)
{
  const hl_node *inner = node->loop->vars[node->loop->var_count - 1];
  for (const hl_node *n = node->loop->body.first; n; n = n->next) {
    if (n->op != HL_LOOP_LOAD || !is_row(r, n, inner))
      continue;
    r->loads = hl_arena_grow(r->e->arena, r->loads, &r->capacity, r->count + 1, sizeof *r->loads);
    r->loads[r->count++] = (row_load){n, loop};
  }
}

static bool is_same_row(const rows *r, const hl_node *a, const hl_node *b)
{
  return a->access->param == b->access->param && a->access->constant == b->access->constant &&
         hl_stride_of(a->access, r->outer) == hl_stride_of(b->access, r->outer);
}

/* The second loop that reads a row is the one that calls for the next. */
static void choose(rows *r)
{
  for (size_t i = 0; i < r->count; i++) {
    const row_load *late = &r->loads[i];
    int earlier = 0;
    for (size_t k = 0; k < i; k++)
      if (r->loads[k].loop < late->loop && is_same_row(r, r->loads[k].load, late->load))
        earlier = r->e->prefetch[r->loads[k].load->id] ? 2 : earlier ? earlier : 1;
    if (earlier == 1)
      r->e->prefetch[late->load->id] = hl_stride_of(late->load->access, r->outer);
  }
}

void hl_emit_plan_prefetch(hl_emitter *e, const hl_loop *parallel)
{
  rows r = {.e = e, .outer = parallel->vars[0]};
  int loops = 0;
  if (e->options->opt_level < 2 || e->target->family != HL_FAMILY_X86_64)
    return;
  for (const hl_node *node = parallel->body.first; node; node = node->next)
    if ((node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE) &&
        node->loop->mode == HL_MODE_VECTOR)
      collect(&r, node, loops++);
  choose(&r);
}

/* Pieces of lines of a large array, the next one far behind: the processor does not see where they
 * go on. */
void hl_emit_plan_line_prefetch(hl_emitter *e, const hl_loop *reduce, bool does)
{
  enum { AHEAD = 8, FAR_BYTES = 512 };
  const hl_node *inner = reduce->vars[reduce->var_count - 1];
  for (const hl_node *n = reduce->body.first; n; n = n->next) {
    if (n->op != HL_LOOP_LOAD || n->operand_count || n->access->param->direction != HL_PARAM_IN)
      continue;
    int64_t stride = hl_stride_of(n->access, inner), bytes = hl_type_bytes(n->access->param->type);
    if (stride * bytes >= FAR_BYTES && n->access->param->count * bytes >= LARGE_BYTES)
      e->prefetch[n->id] = does ? AHEAD * stride : 0;
  }
}

static bool has_stride(const hl_access *access, int64_t stride)
{
  for (int i = 0; i < access->term_count; i++)
    if (access->terms[i].stride == stride)
      return true;
  return false;
}

/* Whole rows that are taken some at a time and are shorter than a page: the processor loses sight
 * of them at each end. Each asks for the row in its place in the next such group, where a loop goes
 * there. (Sums of 256 columns of f32 on Zen 4: 26 to 38 GB/s. Pieces of longer rows, as those of
 * the matrices of a GPT-2 step: a loss of 5 %.) */
void hl_emit_plan_group_prefetch(hl_emitter *e, const hl_loop *fold)
{
  enum { FAR_BYTES = 512, PAGE = 4096 };
  if (e->options->opt_level < 2 || e->width == 1 || fold->var_count != 1)
    return;
  int64_t row = e->lane_var->loop->extents[0];
  for (const hl_node *n = fold->body.first; n; n = n->next) {
    if (n->op != HL_LOOP_LOAD || n->operand_count || n->access->param->direction != HL_PARAM_IN)
      continue;
    int64_t stride = hl_stride_of(n->access, fold->vars[0]),
            bytes = hl_type_bytes(n->access->param->type);
    int64_t group = stride * fold->extents[0];
    if (stride == row && row * bytes >= FAR_BYTES && row * bytes < PAGE &&
        has_stride(n->access, group) && n->access->param->count * bytes >= LARGE_BYTES)
      e->prefetch[n->id] = group;
  }
}

void hl_emit_prefetch_at(hl_emitter *e, LLVMValueRef pointer, int64_t bytes)
{
  LLVMTypeRef type = e->l.ptr;
  LLVMValueRef offset = hl_llvm_i64(&e->l, bytes);
  LLVMValueRef args[4] = {LLVMBuildGEP2(e->l.builder, e->l.i8, pointer, &offset, 1, ""),
                          hl_llvm_int(e->l.i32, 0), hl_llvm_int(e->l.i32, 2),
                          hl_llvm_int(e->l.i32, 1)};
  if (e->target->family == HL_FAMILY_X86_64)
    hl_llvm_intrinsic(&e->l, "llvm.prefetch", &type, 1, args, 4);
}

/* One instruction for each cache line. */
static void ask_for_lines(hl_emitter *e, LLVMValueRef pointer, int64_t from, int64_t bytes)
{
  for (int64_t line = 0; line < bytes; line += LINE_BYTES)
    hl_emit_prefetch_at(e, pointer, from + line);
}

/* --- rows that an index from memory chooses ---
 *
 *   for i: v0 = %ids[i]; vector j: %result[i,j] := %x[v0,j]
 *
 * asks for %x[ids[i + 2]]: only the indices say where it lies. (64 K rows of 1 KB on Zen 4: 37 to
 * 44 GB/s.) */

enum { MOST_INDEX_NODES = 32, AHEAD_BYTES = 2048, MOST_AHEAD = 16, MOST_ROW_BYTES = 2048 };

typedef struct chosen_row {
  const hl_loop *loop;  /* over the rows */
  const hl_node *load;  /* of the row */
  const hl_node *inner; /* over its elements */
  bool *needed;         /* by node id: nodes of the loop's body that the address is made of */
  int count;
  bool reads_index; /* from memory */
  bool is_plain;    /* nothing but arithmetic and loads of what the kernel does not write */
} chosen_row;

static void need(chosen_row *r, const hl_node *node)
{
  if (node->block != &r->loop->body || r->needed[node->id] || !r->is_plain)
    return;
  r->needed[node->id] = true;
  r->is_plain =
      ++r->count <= MOST_INDEX_NODES && (node->op < HL_LOOP_VAR || node->op == HL_LOOP_LOAD);
  if (node->op == HL_LOOP_LOAD) {
    r->is_plain = r->is_plain && node->access->param->direction == HL_PARAM_IN;
    r->reads_index = true;
    for (int i = 0; i < node->access->term_count; i++)
      need(r, node->access->terms[i].index);
  }
  for (int i = 0; i < node->operand_count; i++)
    need(r, node->operands[i]);
}

/* Whether what the body computes is a part of the address. */
static bool has_index(const hl_access *access, const hl_block *body)
{
  for (int i = 0; i < access->term_count; i++)
    if (access->terms[i].index->block == body)
      return true;
  return false;
}

static bool is_chosen(hl_emitter *e, chosen_row *r, const hl_node *load, const hl_loop *inner)
{
  const hl_param *param = load->access->param;
  int64_t bytes = hl_type_bytes(param->type);
  if (param->count * bytes < LARGE_BYTES || inner->extents[0] * bytes < LINE_BYTES ||
      hl_stride_of(load->access, inner->vars[0]) != 1 || !has_index(load->access, &r->loop->body))
    return false;
  *r = (chosen_row){.loop = r->loop,
                    .load = load,
                    .inner = inner->vars[0],
                    .needed = HL_ARRAY(e->arena, e->kernel->next_id, bool),
                    .is_plain = true};
  for (int i = 0; i < load->access->term_count; i++)
    need(r, load->access->terms[i].index);
  return r->is_plain && r->reads_index;
}

/* The first such row of the loop. */
static bool find_chosen(hl_emitter *e, chosen_row *r)
{
  for (const hl_node *node = r->loop->body.first; node; node = node->next) {
    if (node->op != HL_LOOP_FOR || node->loop->mode != HL_MODE_VECTOR)
      continue;
    for (const hl_node *n = node->loop->body.first; n; n = n->next)
      if (n->op == HL_LOOP_LOAD && is_chosen(e, r, n, node->loop))
        return true;
  }
  return false;
}

static void emit_index(hl_emitter *e, const chosen_row *r)
{
  for (const hl_node *node = r->loop->body.first; node; node = node->next)
    if (r->needed[node->id] && node->op == HL_LOOP_LOAD)
      hl_emit_load(e, node);
    else if (r->needed[node->id])
      hl_emit_op(e, node);
}

void hl_emit_prefetch_chosen(hl_emitter *e, const hl_loop *loop, LLVMValueRef index)
{
  chosen_row r = {.loop = loop};
  if (e->options->opt_level < 2 || e->width > 1 || e->jam > 1 ||
      e->target->family != HL_FAMILY_X86_64 || (loop->limits && loop->limits[0]) ||
      !find_chosen(e, &r))
    return;
  int64_t row = r.inner->loop->extents[0] * hl_type_bytes(r.load->access->param->type);
  int64_t ahead = AHEAD_BYTES / row;
  ahead = ahead < 2 ? 2 : ahead > MOST_AHEAD ? MOST_AHEAD : ahead;
  LLVMValueRef next = LLVMBuildAdd(e->l.builder, index, hl_llvm_i64(&e->l, ahead), "");
  next = hl_llvm_call2(&e->l, "llvm.smin", next, hl_llvm_i64(&e->l, loop->extents[0] - 1));
  hl_value_set_scalar(e, loop->vars[0], next, HL_NAN_NONE);
  emit_index(e, &r);
  hl_value_set_scalar(e, r.inner, hl_llvm_i64(&e->l, 0), HL_NAN_NONE);
  hl_address at = hl_emit_address(e, r.load->access, 0);
  ask_for_lines(e, at.pointer, 0, row < MOST_ROW_BYTES ? row : MOST_ROW_BYTES);
}

void hl_emit_prefetch(hl_emitter *e, const hl_node *load, LLVMValueRef pointer)
{
  int64_t step = e->prefetch[load->id], bytes = hl_type_bytes(load->access->param->type);
  if (step)
    ask_for_lines(e, pointer, step * bytes, e->width * bytes);
}
