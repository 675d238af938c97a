/* loop_eval_kernel.c - runs one kernel node by node; every access is checked against its parameter.
 */
#include "loop_eval.h"

#include <string.h>

/* What a loop needs while it runs; one a FOR, REDUCE or FOLD node. */
typedef struct loop_state {
  int64_t *ends;            /* of each variable: the smaller of extent and limit */
  hl_reduction *reductions; /* REDUCE */
  uint64_t *results;        /* REDUCE, FOLD */
  uint64_t *next;           /* FOLD: the yields, before they replace the carried values */
} loop_state;

struct hl_frame {
  hl_arena *arena;
  const hl_kernel *kernel;
  uint64_t *values;       /* by node id */
  int *param_numbers;     /* by node id of loads and stores */
  loop_state **loops;     /* by node id */
  unsigned char **memory; /* by parameter */
};

/* Preparation. */

static int number_of_param(const hl_kernel *kernel, const hl_param *param)
{
  int number = 0;
  while (kernel->params[number] != param)
    number++;
  return number;
}

static loop_state *new_loop_state(hl_arena *arena, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  loop_state *state = HL_NEW(arena, loop_state);
  state->ends = HL_ARRAY(arena, loop->var_count, int64_t);
  state->results = HL_ARRAY(arena, loop->result_count, uint64_t);
  if (node->op == HL_LOOP_FOLD)
    state->next = HL_ARRAY(arena, loop->result_count, uint64_t);
  if (node->op == HL_LOOP_REDUCE)
    state->reductions = HL_ARRAY(arena, loop->result_count, hl_reduction);
  for (int i = 0; state->reductions && i < loop->result_count; i++)
    state->reductions[i] = (hl_reduction){.arena = arena, .combiner = &loop->combiners[i]};
  return state;
}

static void prepare_block(hl_frame *f, const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next) {
    switch (node->op) {
    case HL_LOOP_CONST:
      f->values[node->id] = node->bits;
      break;
    case HL_LOOP_LOAD:
    case HL_LOOP_STORE:
      f->param_numbers[node->id] = number_of_param(f->kernel, node->access->param);
      break;
    case HL_LOOP_FOR:
    case HL_LOOP_REDUCE:
    case HL_LOOP_FOLD:
      f->loops[node->id] = new_loop_state(f->arena, node);
      prepare_block(f, &node->loop->body);
      break;
    case HL_LOOP_IF:
      prepare_block(f, &node->branch->then);
      prepare_block(f, &node->branch->otherwise);
      break;
    default:
      break;
    }
  }
}

hl_frame *hl_frame_new(hl_arena *arena, const hl_kernel *kernel)
{
  hl_frame *f = HL_NEW(arena, hl_frame);
  *f = (hl_frame){
      .arena = arena,
      .kernel = kernel,
      .values = HL_ARRAY(arena, kernel->next_id, uint64_t),
      .param_numbers = HL_ARRAY(arena, kernel->next_id, int),
      .loops = HL_ARRAY(arena, kernel->next_id, loop_state *),
      .memory = HL_ARRAY(arena, kernel->param_count, unsigned char *),
  };
  prepare_block(f, &kernel->body);
  return f;
}

/* Memory. */

static uint64_t value_of(const hl_frame *f, const hl_node *node)
{
  return f->values[node->id];
}

/* The element's place, or NULL outside the parameter; sums wrap like the compiled code's. */
static unsigned char *place_of(const hl_frame *f, const hl_node *node)
{
  const hl_access *access = node->access;
  uint64_t element = (uint64_t)access->constant;
  for (int i = 0; i < access->term_count; i++)
    element += (uint64_t)access->terms[i].stride * value_of(f, access->terms[i].index);
  if (element >= (uint64_t)access->param->count)
    return NULL;
  return f->memory[f->param_numbers[node->id]] +
         element * (uint64_t)hl_type_bytes(access->param->type);
}

static bool load(hl_frame *f, const hl_node *node)
{
  if (node->operand_count > 0 && !value_of(f, node->operands[0])) {
    f->values[node->id] = value_of(f, node->operands[1]);
    return true;
  }
  const unsigned char *place = place_of(f, node);
  uint64_t bits = 0;
  if (!place)
    return false;
  memcpy(&bits, place, (size_t)hl_type_bytes(node->type));
  f->values[node->id] = node->type == HL_PRED ? bits != 0 : bits;
  return true;
}

static bool store(hl_frame *f, const hl_node *node)
{
  if (node->operand_count > 1 && !value_of(f, node->operands[1]))
    return true;
  unsigned char *place = place_of(f, node);
  if (!place)
    return false;
  uint64_t bits = value_of(f, node->operands[0]);
  memcpy(place, &bits, (size_t)hl_type_bytes(node->access->param->type));
  return true;
}

/* Loops. */

static bool run_block(hl_frame *f, const hl_block *block);

/* Sets the variables to the first iteration; false when there is none. */
static bool start(hl_frame *f, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  int64_t *ends = f->loops[node->id]->ends;
  for (int i = 0; i < loop->var_count; i++) {
    ends[i] = loop->extents[i];
    if (loop->limits[i] && (int64_t)value_of(f, loop->limits[i]) < ends[i])
      ends[i] = (int64_t)value_of(f, loop->limits[i]);
    f->values[loop->vars[i]->id] = 0;
    if (ends[i] <= 0)
      return false;
  }
  return true;
}

/* To the next iteration, the last variable fastest. */
static bool step(hl_frame *f, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  for (int i = loop->var_count - 1; i >= 0; i--) {
    uint64_t *value = &f->values[loop->vars[i]->id];
    if ((int64_t)++ * value < f->loops[node->id]->ends[i])
      return true;
    *value = 0;
  }
  return false;
}

/* A worker's scratch may hold anything when an iteration of the parallel loop begins; here it does.
 */
static void spoil_scratch(hl_frame *f)
{
  for (int i = 0; i < f->kernel->param_count; i++) {
    const hl_param *param = f->kernel->params[i];
    if (param->direction == HL_PARAM_SCRATCH)
      memset(f->memory[i], 0xa5, (size_t)param->count * (size_t)hl_type_bytes(param->type));
  }
}

static bool run_for(hl_frame *f, const hl_node *node)
{
  if (!start(f, node))
    return true;
  do {
    if (node->loop->mode == HL_MODE_PARALLEL)
      spoil_scratch(f);
    if (!run_block(f, &node->loop->body))
      return false;
  } while (step(f, node));
  return true;
}

static void add_yields(hl_frame *f, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  int yield = 0;
  for (int i = 0; i < loop->result_count; i++) {
    uint64_t left = value_of(f, loop->yields[yield++]), right = 0;
    if (loop->combiners[i].order == HL_ORDER_DOT)
      right = value_of(f, loop->yields[yield++]);
    hl_reduction_add(&f->loops[node->id]->reductions[i], left, right);
  }
}

static bool run_reduce(hl_frame *f, const hl_node *node)
{
  loop_state *state = f->loops[node->id];
  int count = node->loop->result_count;
  for (int i = 0; i < count; i++)
    hl_reduction_start(&state->reductions[i]);
  for (bool runs = start(f, node); runs; runs = step(f, node)) {
    if (!run_block(f, &node->loop->body))
      return false;
    add_yields(f, node);
  }
  for (int i = 0; i < count; i++)
    state->results[i] = hl_reduction_finish(&state->reductions[i]);
  return true;
}

static bool run_fold(hl_frame *f, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  loop_state *state = f->loops[node->id];
  for (int i = 0; i < loop->result_count; i++)
    f->values[loop->accs[i]->id] = value_of(f, node->operands[i]);
  for (bool runs = start(f, node); runs; runs = step(f, node)) {
    if (!run_block(f, &loop->body))
      return false;
    for (int i = 0; i < loop->result_count; i++)
      state->next[i] = value_of(f, loop->yields[i]);
    for (int i = 0; i < loop->result_count; i++)
      f->values[loop->accs[i]->id] = state->next[i];
  }
  for (int i = 0; i < loop->result_count; i++)
    state->results[i] = f->values[loop->accs[i]->id];
  return true;
}

/* Nodes. */

static bool run_op(hl_frame *f, const hl_node *node)
{
  uint64_t args[3];
  for (int i = 0; i < node->operand_count; i++)
    args[i] = value_of(f, node->operands[i]);
  f->values[node->id] = hl_loop_eval_op(node, args);
  return true;
}

static bool run_node(hl_frame *f, const hl_node *node)
{
  switch (node->op) {
  case HL_LOOP_CONST:
    return true;
  case HL_LOOP_LOAD:
    return load(f, node);
  case HL_LOOP_STORE:
    return store(f, node);
  case HL_LOOP_FOR:
    return run_for(f, node);
  case HL_LOOP_REDUCE:
    return run_reduce(f, node);
  case HL_LOOP_FOLD:
    return run_fold(f, node);
  case HL_LOOP_IF:
    return run_block(f, value_of(f, node->operands[0]) ? &node->branch->then
                                                       : &node->branch->otherwise);
  case HL_LOOP_RESULT:
    f->values[node->id] = f->loops[node->operands[0]->id]->results[node->index];
    return true;
  default:
    return run_op(f, node);
  }
}

static bool run_block(hl_frame *f, const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next)
    if (!run_node(f, node))
      return false;
  return true;
}

unsigned char **hl_frame_memory(hl_frame *frame)
{
  return frame->memory;
}

bool hl_frame_run(hl_frame *frame)
{
  return run_block(frame, &frame->kernel->body);
}
