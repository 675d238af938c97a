/* loop_copy.c - copies of values into other loops, and steps in front for what they compute. */
#include "loop_copy.h"

#include <string.h>

hl_copying hl_copy_start(const hl_step *from, hl_step *to, hl_loop_builder at, const hl_node *value)
{
  hl_arena *arena = from->kernel->arena;
  hl_copying c = {.from = from, .to = to, .at = at};
  c.made = HL_ARRAY(arena, from->kernel->next_id, hl_node *);
  c.needed = HL_ARRAY(arena, from->kernel->next_id, bool);
  c.needed[value->id] = true;
  return c;
}

void hl_copy_need(const hl_copying *c, const hl_block *block)
{
  for (const hl_node *node = block->last; node; node = node->previous) {
    if (!c->needed[node->id])
      continue;
    for (int i = 0; i < node->operand_count; i++)
      c->needed[node->operands[i]->id] = true;
    for (int i = 0; node->op == HL_LOOP_LOAD && i < node->access->term_count; i++)
      c->needed[node->access->terms[i].index->id] = true;
  }
}

hl_node *hl_copied(const hl_copying *c, hl_node *node)
{
  return c->made[node->id] ? c->made[node->id] : node;
}

static hl_param *param_of(const hl_copying *c, hl_param *param)
{
  const hl_kernel *to = c->to->kernel, *from = c->from->kernel;
  if (to == from)
    return param;
  int at = 0;
  while (from->params[at] != param)
    at++;
  for (int i = 0; i < to->param_count; i++)
    if (c->to->buffers[i] == c->from->buffers[at])
      return to->params[i];
  hl_param *copy = hl_step_add_param(c->to, c->from->buffers[at], HL_PARAM_IN);
  copy->rank = param->rank;
  copy->dimensions = param->dimensions;
  copy->type = param->type;
  copy->count = param->count;
  return copy;
}

static hl_access *copy_access(const hl_copying *c, const hl_access *access)
{
  hl_arena *arena = c->at.kernel->arena;
  hl_access *copy = hl_access_new(arena, param_of(c, access->param), access->constant);
  for (int i = 0; i < access->term_count; i++) {
    hl_term term = access->terms[i];
    bool is_cut = term.index == c->cut;
    copy->constant += is_cut ? term.stride * c->place : 0;
    hl_access_add(arena, copy, hl_copied(c, term.index), is_cut ? 4 * term.stride : term.stride);
  }
  return copy;
}

static void copy_node(hl_copying *c, hl_node *node)
{
  hl_arena *arena = c->at.kernel->arena;
  hl_node *copy = hl_arena_memdup(arena, node, sizeof *node);
  copy->id = c->at.kernel->next_id++;
  copy->operands = HL_ARRAY(arena, node->operand_count + 1, hl_node *);
  for (int i = 0; i < node->operand_count; i++)
    copy->operands[i] = hl_copied(c, node->operands[i]);
  if (node->op == HL_LOOP_LOAD)
    copy->access = copy_access(c, node->access);
  copy->block = NULL;
  copy->previous = copy->next = NULL;
  hl_node_append(copy, c->at.at);
  c->made[node->id] = copy;
}

void hl_copy_block(hl_copying *c, const hl_block *block)
{
  for (hl_node *node = block->first; node; node = node->next)
    if (c->needed[node->id])
      copy_node(c, node);
}

hl_node *hl_copy_loop(hl_copying *c, const hl_node *loop, int var)
{
  hl_node *copy = hl_loop_for(&c->at, HL_MODE_SERIAL, loop->loop->extents[var], NULL);
  c->made[hl_loop_var(loop, var)->id] = hl_loop_var(copy, 0);
  c->at.at = &copy->loop->body;
  return copy;
}

hl_param *hl_step_add_param(hl_step *step, hl_buffer *buffer, hl_direction_of_param direction)
{
  hl_kernel *kernel = step->kernel;
  hl_buffer **buffers = HL_ARRAY(kernel->arena, kernel->param_count + 1, hl_buffer *);
  if (kernel->param_count)
    memcpy(buffers, step->buffers, (size_t)kernel->param_count * sizeof *buffers);
  buffers[kernel->param_count] = buffer;
  step->buffers = buffers;
  return hl_kernel_add_param(kernel, buffer->name, direction, buffer->type, buffer->rank,
                             buffer->dimensions);
}

hl_step *hl_step_split(hl_program *program, hl_step *step, const char *suffix)
{
  hl_kernel *kernel = step->kernel;
  hl_step *behind = HL_NEW(program->arena, hl_step);
  *behind = *step;
  step->next = behind;
  const char *name = hl_arena_printf(program->arena, "%s%s", kernel->name, suffix);
  step->kernel = hl_kernel_new(program->arena, name);
  step->kernel->range = kernel->range;
  return behind;
}
