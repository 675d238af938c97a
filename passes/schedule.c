/* schedule.c - which loops run as vectors, on several threads, interleaved; and past the caches.
 *
 * Requires: a program of serial loops. Keeps: every value and the order of each sum.
 * A kernel on its way: clean up, join reduces, coalesce, split what is too large for one thread, then choose modes.
 */
#include "schedule.h"

#include "loop_chain.h"

enum {
  PARALLEL_WORK = 1 << 16, /* operations a kernel needs before threads pay */
  CHUNK_WORK = 1 << 14,    /* operations one chunk should have */
  FLAT_CHUNK = 1 << 14,    /* iterations of a flat loop that stay together */
  LINES = 16, /* scanned together: registers turned round have as many lanes at most */
  JAM_ROWS = 4,
  LARGE_RESULT = 1 << 20   /* bytes worth a store past the caches */
};

typedef struct schedule {
  const hl_lower_options *options;
  bool fills_caches; /* what comes in and goes out is more than they hold */
} schedule;

/* --- what a loop costs --- */

static int64_t saturated(int64_t a, int64_t b)
{
  int64_t product;
  return hl_mul_i64(a, b, &product) && product < INT64_MAX / 8 ? product : INT64_MAX / 8;
}

static int64_t node_work(const hl_node *node)
{
  switch (node->op) {
  case HL_LOOP_CONST:
  case HL_LOOP_RESULT:
    return 0;
  case HL_LOOP_MATH:
    return 12;
  case HL_LOOP_DIV:
  case HL_LOOP_SQRT:
  case HL_LOOP_REM:
    return 4;
  default:
    return 1;
  }
}

int64_t hl_block_work(const hl_block *block, const void *skip)
{
  int64_t work = 0;
  for (const hl_node *node = block->first; node; node = node->next) {
    int64_t here = skip && node->scratch == skip ? 0 : node_work(node);
    if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD) {
      here = hl_block_work(&node->loop->body, skip) + !skip;
      for (int i = 0; i < node->loop->var_count; i++)
        here = saturated(here, node->loop->extents[i]);
    }
    work = work + here < INT64_MAX / 8 ? work + here : INT64_MAX / 8;
  }
  return work;
}

/* --- vectors --- */

/* How accesses move with an index: next to each other, not at all, or apart. */
typedef struct strides {
  const hl_node *index;
  int64_t unit, none, apart;
} strides;

static void count_strides(void *user, hl_node *node)
{
  strides *s = user;
  if (node->op != HL_LOOP_LOAD && node->op != HL_LOOP_STORE)
    return;
  for (int i = 0; i < node->access->term_count; i++)
    if (node->access->terms[i].index == s->index) {
      s->unit += node->access->terms[i].stride == 1;
      s->apart += node->access->terms[i].stride != 1;
      return;
    }
  s->none++;
}

static strides strides_of(hl_block *block, const hl_node *index)
{
  strides s = {.index = index};
  hl_block_walk(block, count_strides, &s);
  return s;
}

static bool has_inner(const hl_block *block, hl_loop_op op)
{
  for (const hl_node *node = block->first; node; node = node->next)
    if (node->op == op)
      return true;
  return false;
}

/* A reduce over one index whose values lie next to each other, in an order that lanes can follow. */
static bool suits_lanes(hl_node *node)
{
  hl_loop *loop = node->loop;
  if (node->op != HL_LOOP_REDUCE || loop->var_count != 1 || loop->extents[0] < 8 ||
      has_inner(&loop->body, HL_LOOP_REDUCE) || has_inner(&loop->body, HL_LOOP_FOLD))
    return false;
  for (int i = 0; i < loop->result_count; i++)
    if (loop->combiners[i].order != HL_ORDER_ROW && loop->combiners[i].order != HL_ORDER_FREE)
      return false;
  return strides_of(&loop->body, loop->vars[0]).apart == 0;
}

static bool all_inner_suit(hl_block *block)
{
  bool any = false;
  for (hl_node *node = block->first; node; node = node->next) {
    if (node->op == HL_LOOP_FOLD)
      return false;
    if (node->op != HL_LOOP_REDUCE)
      continue;
    any = true;
    if (!suits_lanes(node) && !all_inner_suit(&node->loop->body))
      return false;
  }
  return any;
}

static void vectorize_reduces(hl_block *block)
{
  for (hl_node *node = block->first; node; node = node->next) {
    if (node->op == HL_LOOP_REDUCE && suits_lanes(node))
      node->loop->mode = HL_MODE_VECTOR;
    else if (node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD)
      vectorize_reduces(&node->loop->body);
  }
}

typedef struct row_search {
  const hl_node *var;
  bool is_found;
} row_search;

static void find_row(void *user, hl_node *node)
{
  row_search *s = user;
  if (node->op != HL_LOOP_STORE || node->access->param->direction != HL_PARAM_SCRATCH)
    return;
  bool is_apart = false;
  for (int i = 0; i < node->access->term_count; i++)
    is_apart |= node->access->terms[i].index == s->var;
  s->is_found |= !is_apart;
}

/* Whether iterations share a row of scratch: then they cannot run at the same time. */
static bool keeps_row(hl_loop *loop)
{
  row_search s = {loop->vars[0], false};
  hl_block_walk(&loop->body, find_row, &s);
  return s.is_found;
}

static int64_t longest_reduce(const hl_block *block)
{
  int64_t longest = 0;
  for (const hl_node *node = block->first; node; node = node->next)
    if (node->op == HL_LOOP_REDUCE && node->loop->extents[0] > longest)
      longest = node->loop->extents[0];
  return longest;
}

static int64_t stride_in(const hl_access *access, const hl_node *index)
{
  for (int i = 0; i < access->term_count; i++)
    if (access->terms[i].index == index)
      return access->terms[i].stride;
  return 0;
}

/* A store that lanes do side by side, or that goes along the line of its lane: squares of lines are
 * turned round in registers. */
static bool suits_sequence(const hl_node *store, const hl_node *lanes)
{
  const hl_node *owner = store->block->owner;
  int64_t step = stride_in(store->access, lanes), along = 0;
  if (owner->op == HL_LOOP_FOLD)
    along = stride_in(store->access, hl_loop_var(owner, owner->loop->var_count - 1));
  return step == 1 || (step != 0 && (along == 1 || along == -1));
}

typedef struct apart_search {
  const hl_node *var;
  bool is_found, has_lines;
} apart_search;

static void find_apart(void *user, hl_node *node)
{
  apart_search *s = user;
  if (node->op != HL_LOOP_STORE)
    return;
  s->is_found |= !suits_sequence(node, s->var);
  s->has_lines |= stride_in(node->access, s->var) != 1;
}

static apart_search find_sequences(const hl_loop *loop)
{
  apart_search s = {.var = loop->vars[0]};
  for (const hl_node *node = loop->body.first; node; node = node->next)
    if (node->op == HL_LOOP_FOLD)
      hl_block_walk(&node->loop->body, find_apart, &s);
  return s;
}

/* Iterations that write on their way, here and there: lanes would have to take turns. */
static bool has_sequence(const hl_loop *loop)
{
  return find_sequences(loop).is_found;
}

/* An innermost for: lanes along it, or along the reduces inside it when these are long enough to fill them. */
static void vectorize_inner(hl_node *node)
{
  hl_loop *loop = node->loop;
  bool along_reduces = all_inner_suit(&loop->body) && longest_reduce(&loop->body) >= 64;
  if (loop->extents[0] >= 4 && !along_reduces && !loop->is_ordered && !keeps_row(loop) &&
      !has_sequence(loop))
    loop->mode = HL_MODE_VECTOR;
  else
    vectorize_reduces(&loop->body);
}

static void find_for(void *user, hl_node *node)
{
  *(bool *)user |= node->op == HL_LOOP_FOR;
}

static bool has_for(hl_block *block)
{
  bool found = false;
  hl_block_walk(block, find_for, &found);
  return found;
}

static void vectorize(hl_block *block)
{
  for (hl_node *node = block->first; node; node = node->next) {
    if (node->op == HL_LOOP_FOR && !has_for(&node->loop->body)) {
      vectorize_inner(node);
    } else if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_FOLD) {
      vectorize(&node->loop->body);
    } else if (node->op == HL_LOOP_IF) {
      vectorize(&node->branch->then);
      vectorize(&node->branch->otherwise);
    } else if (node->op == HL_LOOP_REDUCE) {
      if (suits_lanes(node))
        node->loop->mode = HL_MODE_VECTOR;
      else
        vectorize_reduces(&node->loop->body);
    }
  }
}

/* --- interleaving: rows of a product share the loads of its columns --- */

static bool is_product(const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next)
    if (node->op == HL_LOOP_REDUCE && (node->loop->combiners[0].order == HL_ORDER_DOT ||
                                       node->loop->yields[0]->op == HL_LOOP_DOT4))
      return true;
  return false;
}

static void interleave(hl_block *block)
{
  for (hl_node *node = block->first; node; node = node->next) {
    if (node->op != HL_LOOP_FOR)
      continue;
    hl_node *inner = node->loop->body.last;
    if (inner && inner->op == HL_LOOP_FOR && inner->loop->mode == HL_MODE_VECTOR &&
        is_product(&inner->loop->body) && node->loop->extents[0] >= JAM_ROWS && !node->loop->is_ordered &&
        node->loop->mode != HL_MODE_PARALLEL)
      node->loop->jam = JAM_ROWS;
    interleave(&node->loop->body);
  }
}

/* --- threads --- */

/* Iterations of a vector loop that one thread takes at a time: whole vectors, enough work, at most FLAT_CHUNK. */
static int64_t flat_chunk(int64_t each)
{
  int64_t chunk = 64;
  while (chunk < FLAT_CHUNK && 2 * chunk * each <= 4 * CHUNK_WORK)
    chunk *= 2;
  return chunk;
}

typedef struct scratch_search {
  const hl_param *param; /* NULL: any */
  const hl_param *found;
} scratch_search;

static void find_scratch(void *user, hl_node *node)
{
  scratch_search *s = user;
  if (node->op != HL_LOOP_LOAD && node->op != HL_LOOP_STORE)
    return;
  const hl_param *param = node->access->param;
  if (param->direction == HL_PARAM_SCRATCH && (!s->param || s->param == param))
    s->found = param;
}

static bool touches(hl_node *node, const hl_param *scratch)
{
  scratch_search s = {.param = scratch};
  hl_node_walk(node, find_scratch, &s);
  return s.found;
}

/* Whether the loop and something beside it touch the same scratch. Each worker has its own, so such a loop stays on one. */
static bool shares_scratch(hl_kernel *kernel, hl_node *loop)
{
  for (int i = 0; i < kernel->param_count; i++) {
    const hl_param *param = kernel->params[i];
    if (param->direction != HL_PARAM_SCRATCH || !touches(loop, param))
      continue;
    for (hl_node *other = kernel->body.first; other; other = other->next)
      if (other != loop && touches(other, param))
        return true;
  }
  return false;
}

/* A row times columns waits for memory: lines as long as leave enough of them for the threads. */
static int64_t strip_chunk(const hl_loop *loop)
{
  int64_t chunk = 256;
  while (chunk > 64 && loop->extents[0] < 12 * chunk)
    chunk /= 2;
  return chunk;
}

static int64_t chunk_of(const hl_loop *loop, int64_t each)
{
  if (loop->mode != HL_MODE_VECTOR)
    return JAM_ROWS * 4;
  if (find_sequences(loop).has_lines)
    return LINES;
  return is_product(&loop->body) ? strip_chunk(loop) : flat_chunk(each);
}

static void parallelize(hl_kernel *kernel)
{
  for (hl_node *node = kernel->body.first; node; node = node->next) {
    if (node->op != HL_LOOP_FOR || node->loop->extents[0] < 2 || node->loop->is_ordered ||
        shares_scratch(kernel, node))
      continue;
    int64_t each = hl_block_work(&node->loop->body, NULL) + 1;
    if (saturated(each, node->loop->extents[0]) < PARALLEL_WORK)
      continue;
    if (node->loop->mode == HL_MODE_VECTOR || is_product(&node->loop->body)) {
      int64_t chunk = chunk_of(node->loop, each);
      if (chunk >= node->loop->extents[0])
        continue;
      node = hl_split_for(kernel, node, chunk);
      each = saturated(each, chunk);
    }
    node->loop->mode = HL_MODE_PARALLEL;
    node->loop->grain = each >= CHUNK_WORK ? 1 : (CHUNK_WORK + each - 1) / each;
  }
}

/* --- stores past the caches --- */

typedef struct streamed {
  const hl_param *only; /* NULL: all */
} streamed;

static void stream_node(void *user, hl_node *node)
{
  const streamed *s = user;
  if (node->op != HL_LOOP_STORE || node->access->param->direction != HL_PARAM_OUT ||
      (s->only && s->only != node->access->param))
    return;
  const hl_node *owner = node->block->owner;
  if (!owner || owner->op != HL_LOOP_FOR || owner->loop->mode != HL_MODE_VECTOR)
    return;
  for (int i = 0; i < node->access->term_count; i++)
    if (node->access->terms[i].index == owner->loop->vars[0])
      node->is_streaming = node->access->terms[i].stride == 1;
}

/* A kernel touches no more elements of an array than it has operations: a window of a large one may be small. */
static int64_t touched_bytes(const hl_param *param, int64_t most)
{
  return (param->count < most ? param->count : most) * hl_type_bytes(param->type);
}

/* Results that nothing reads again leave the caches to the rest of a program that fills them. */
static void stream(hl_step *step, const schedule *s)
{
  int64_t bytes = 0, most = hl_block_work(&step->kernel->body, NULL);
  for (int i = 0; i < step->kernel->param_count; i++)
    if (step->kernel->params[i]->direction != HL_PARAM_SCRATCH)
      bytes += touched_bytes(step->kernel->params[i], most);
  streamed all = {NULL};
  if (bytes > s->options->cache_bytes)
    hl_block_walk(&step->kernel->body, stream_node, &all);
  for (int i = 0; s->fills_caches && i < step->kernel->param_count; i++) {
    streamed one = {step->kernel->params[i]};
    if (step->buffers[i]->kind == HL_BUFFER_RESULT && !step->buffers[i]->is_read &&
        touched_bytes(one.only, most) >= LARGE_RESULT)
      hl_block_walk(&step->kernel->body, stream_node, &one);
  }
}

static void choose_modes(hl_step *step, const schedule *s)
{
  hl_kernel *kernel = step->kernel;
  vectorize(&kernel->body);
  if (s->options->max_workers > 1)
    parallelize(kernel);
  interleave(&kernel->body);
  stream(step, s);
  hl_kernel_show_walks(kernel);
}

static void prepare(hl_kernel *kernel, const hl_lower_options *options)
{
  hl_kernel_dce(kernel);
  hl_kernel_cse(kernel);
  if (options->opt_level < 1)
    return;
  hl_kernel_write_out(kernel);
  hl_kernel_fuse_reduces(kernel);
  hl_kernel_cse(kernel);
  hl_kernel_coalesce(kernel);
  if (options->opt_level < 2)
    hl_kernel_show_walks(kernel);
}

static void choose_modes_to(hl_step *step, const hl_step *last, const schedule *s)
{
  for (; step != last; step = step->next)
    choose_modes(step, s);
  choose_modes(step, s);
}

/* Returns the step that the kernel ends with: a product may have got a step in front. */
static hl_step *schedule_kernel(hl_program *program, hl_step *step, const schedule *s,
                                bool repeats)
{
  if (s->options->max_workers > 1 && hl_split_reduces(program, step))
    prepare(step->next->kernel, s->options); /* the step that combines comes next, on its own */
  hl_step *last = hl_block_products(program, step, repeats, 0);
  choose_modes_to(step, last, s);
  return last;
}

/* The same for a chain that begins with the step; NULL: others have to come first. */
static hl_step *schedule_chain(hl_program *program, hl_step **first, hl_chain *chain,
                               const schedule *s, bool repeats)
{
  if (hl_gather_chain(first, chain))
    return NULL;
  hl_step *last = hl_join_chain(program, first, chain, repeats);
  choose_modes_to(*first, last, s);
  return last;
}

static void schedule_kernels(hl_program *program, hl_steps *steps, const schedule *s,
                             bool repeats)
{
  for (hl_step **at = &steps->first; *at;) {
    hl_step *last = *at;
    hl_chain chain;
    if (last->kind == HL_STEP_KERNEL)
      last = hl_find_chain(last, s->options, &chain)
                 ? schedule_chain(program, at, &chain, s, repeats)
                 : schedule_kernel(program, last, s, repeats);
    at = last ? &last->next : at;
  }
}

static void schedule_steps(hl_program *program, hl_steps *steps, const schedule *s,
                           bool repeats)
{
  for (hl_step *step = steps->first; step; step = step->next) {
    if (step->kind == HL_STEP_KERNEL)
      prepare(step->kernel, s->options);
    schedule_steps(program, &step->condition, s, true);
    schedule_steps(program, &step->body, s, true);
    for (int i = 0; i < step->branch_count; i++)
      schedule_steps(program, &step->branches[i], s, repeats);
  }
  if (s->options->opt_level >= 2)
    schedule_kernels(program, steps, s, repeats);
}

static void mark_reads(hl_steps *steps)
{
  for (hl_step *step = steps->first; step; step = step->next) {
    for (int i = 0; step->kind == HL_STEP_KERNEL && i < step->kernel->param_count; i++)
      step->buffers[i]->is_read |= step->kernel->params[i]->direction != HL_PARAM_OUT;
    if (step->kind == HL_STEP_COPY)
      step->buffers[1]->is_read = true;
    for (int i = 0; step->kind == HL_STEP_CALL && i < step->call->value_count; i++)
      if (step->call->values[i].buffer)
        step->call->values[i].buffer->is_read = true;
    mark_reads(&step->condition);
    mark_reads(&step->body);
    for (int i = 0; i < step->branch_count; i++)
      mark_reads(&step->branches[i]);
  }
}

static bool fills_caches(const hl_program *program, const hl_lower_options *options)
{
  int64_t bytes = 0;
  for (int i = 0; i < program->buffer_count; i++) {
    hl_buffer_kind kind = program->buffers[i]->kind;
    bytes += kind == HL_BUFFER_ARGUMENT || kind == HL_BUFFER_RESULT ? program->buffers[i]->bytes : 0;
  }
  return bytes > options->cache_bytes;
}

void hl_schedule(hl_program *program, const hl_lower_options *options)
{
  schedule s = {options, fills_caches(program, options)};
  mark_reads(&program->steps);
  hl_count_users(program);
  schedule_steps(program, &program->steps, &s, false);
  hl_forget_users(program);
}
