/* emit_key.c - what a kernel's code depends on, as bytes: kernels with equal keys share one
 * function.
 *
 * Nodes are numbered in the order in which they are met, parameters by position; names and sizes
 * that the code does not show are left out. Equal layers of a model then compile once.
 */
#include "emit.h"

#include <string.h>

typedef struct key {
  hl_emitter *e;
  hl_str bytes;
  int *numbers; /* by node id, from 1 */
  int count;
} key;

static void put(key *k, int64_t value)
{
  hl_str_add_n(&k->bytes, (const char *)&value, sizeof value);
}

static void number(key *k, const hl_node *node)
{
  k->numbers[node->id] = ++k->count;
}

static void put_nodes(key *k, hl_node *const *nodes, int count)
{
  put(k, count);
  for (int i = 0; i < count; i++)
    put(k, nodes[i] ? k->numbers[nodes[i]->id] : 0);
}

static void put_access(key *k, const hl_access *access)
{
  int param = 0;
  while (k->e->kernel->params[param] != access->param)
    param++;
  put(k, param);
  put(k, access->constant);
  put(k, access->term_count);
  for (int i = 0; i < access->term_count; i++) {
    put(k, k->numbers[access->terms[i].index->id]);
    put(k, access->terms[i].stride);
  }
}

static void put_block(key *k, const hl_block *block);

static void put_loop(key *k, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  put(k, loop->mode);
  put(k, loop->grain);
  put(k, loop->jam);
  put(k, loop->result_count);
  put_nodes(k, loop->limits, loop->limits ? loop->var_count : 0);
  for (int i = 0; i < loop->var_count; i++) {
    number(k, loop->vars[i]);
    put(k, loop->extents[i]);
  }
  for (int i = 0; i < loop->result_count; i++) {
    if (node->op == HL_LOOP_FOLD)
      number(k, loop->accs[i]);
    if (node->op == HL_LOOP_FOLD)
      continue;
    put(k, loop->combiners[i].order);
    put(k, loop->combiners[i].combine);
    put(k, loop->combiners[i].type);
    put(k, hl_row_lanes(&loop->combiners[i]));
  }
  put_block(k, &loop->body);
  put_nodes(k, loop->yields, loop->yield_count);
}

static void put_payload(key *k, const hl_node *node)
{
  switch (node->op) {
  case HL_LOOP_CONST:
    put(k, (int64_t)node->bits);
    break;
  case HL_LOOP_LOAD:
  case HL_LOOP_STORE:
    put_access(k, node->access);
    put(k, node->is_streaming);
    break;
  case HL_LOOP_FOR:
  case HL_LOOP_REDUCE:
  case HL_LOOP_FOLD:
    put_loop(k, node);
    break;
  case HL_LOOP_IF:
    put_block(k, &node->branch->then);
    put_block(k, &node->branch->otherwise);
    break;
  case HL_LOOP_RESULT:
    put(k, node->index);
    break;
  case HL_LOOP_MATH:
    put(k, node->math);
    break;
  case HL_LOOP_PRECISION:
    put(k, node->precision.exponent_bits);
    put(k, node->precision.mantissa_bits);
    break;
  default:
    break;
  }
}

/* Nesting is that of the kernel's loops. */
static void put_block(key *k, const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next) {
    number(k, node);
    put(k, node->op);
    put(k, node->type);
    put_nodes(k, node->operands, node->operand_count);
    put_payload(k, node);
  }
  put(k, -1);
}

/* Requires what enter_kernel sets: alignments and whether parameters are disjoint. */
hl_str hl_emit_key(hl_emitter *e, const hl_step *step)
{
  const hl_kernel *kernel = step->kernel;
  key k = {
      .e = e, .bytes = {.arena = e->arena}, .numbers = HL_ARRAY(e->arena, kernel->next_id, int)};
  put(&k, e->is_disjoint);
  put(&k, e->options->debug ? step->number : -1); /* kernels of other lines are other functions */
  put(&k, kernel->param_count);
  for (int i = 0; i < kernel->param_count; i++) {
    const hl_param *param = kernel->params[i];
    put(&k, param->direction);
    put(&k, param->type);
    put(&k, param->count);
    put(&k, e->aligns[i]);
    put(&k, step->buffers[i]->is_per_worker ? step->buffers[i]->bytes : -1);
  }
  put_block(&k, &kernel->body);
  return k.bytes;
}
