/* buffers.c - one offset for every temporary in one workspace.
 *
 * Greedy by size: the largest buffer first, each at the lowest offset that is free during its life (Pisarchyk & Lee, "Efficient Memory
 * Management for Deep Neural Net Inference", 2020).
 * Requires: steps in order of execution. Keeps: the steps. A buffer that a loop around a use defines outside lives through the loop.
 */
#include "lower.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

typedef struct life {
  hl_buffer *buffer;
  int64_t bytes;
  int first, last; /* time of the first write and of the last use */
  int order;
} life;

typedef struct planner {
  hl_program *program;
  life *lives;
  int count, time;
} planner;

static int64_t padded(int64_t bytes)
{
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* buffer->offset holds the number of its life while planning. */
static void use(planner *p, hl_buffer *buffer, int time)
{
  if (!buffer || buffer->kind != HL_BUFFER_TEMP)
    return;
  if (buffer->offset < 0) {
    buffer->offset = p->count;
    int64_t workers = buffer->is_per_worker ? p->program->max_workers : 1;
    p->lives[p->count] = (life){buffer, padded(buffer->bytes) * workers, time, time, p->count};
    p->count++;
  }
  life *l = &p->lives[buffer->offset];
  l->first = time < l->first ? time : l->first;
  l->last = time > l->last ? time : l->last;
}

static void walk_steps(planner *p, hl_steps *steps);

/* What was alive before a loop and is used inside it lives to the loop's end. */
static void extend_through(planner *p, int from)
{
  for (int i = 0; i < p->count; i++)
    if (p->lives[i].first < from && p->lives[i].last >= from)
      p->lives[i].last = p->time;
}

static void walk_step(planner *p, hl_step *step)
{
  int from = p->time++;
  step->number = from;
  switch (step->kind) {
  case HL_STEP_KERNEL:
    for (int i = 0; i < step->kernel->param_count; i++)
      use(p, step->buffers[i], from);
    break;
  case HL_STEP_COPY:
    use(p, step->buffers[0], from);
    use(p, step->buffers[1], from);
    break;
  case HL_STEP_CALL:
    for (int i = 0; i < step->call->value_count; i++)
      use(p, step->call->values[i].buffer, from);
    break;
  case HL_STEP_WHILE:
    walk_steps(p, &step->condition);
    use(p, step->selector, p->time);
    walk_steps(p, &step->body);
    p->time++;
    extend_through(p, from);
    break;
  case HL_STEP_CONDITIONAL:
    use(p, step->selector, from);
    for (int i = 0; i < step->branch_count; i++)
      walk_steps(p, &step->branches[i]);
    break;
  }
}

static void walk_steps(planner *p, hl_steps *steps)
{
  for (hl_step *step = steps->first; step; step = step->next)
    walk_step(p, step);
}

static int by_size(const void *a, const void *b)
{
  const life *x = a, *y = b;
  if (x->bytes != y->bytes)
    return x->bytes < y->bytes ? 1 : -1;
  return x->order - y->order;
}

static bool meet(const life *a, const life *b)
{
  return a->first <= b->last && b->first <= a->last;
}

static int by_offset(const void *a, const void *b)
{
  const life *const *x = a, *const *y = b;
  return ((*x)->buffer->offset > (*y)->buffer->offset) -
         ((*x)->buffer->offset < (*y)->buffer->offset);
}

/* The lowest gap among the placed buffers that are alive at the same time. */
static int64_t lowest_gap(const life *l, const life **placed, int count)
{
  int64_t at = 0;
  for (int i = 0; i < count; i++) {
    if (!meet(l, placed[i]))
      continue;
    if (placed[i]->buffer->offset - at >= l->bytes)
      break;
    int64_t end = placed[i]->buffer->offset + placed[i]->bytes;
    at = end > at ? end : at;
  }
  return at;
}

static void place(planner *p)
{
  const life **placed = HL_ARRAY(p->program->arena, p->count + 1, const life *);
  int count = 0;
  qsort(p->lives, (size_t)p->count, sizeof *p->lives, by_size);
  for (int i = 0; i < p->count; i++)
    p->lives[i].buffer->offset = -1;
  for (int i = 0; i < p->count; i++) {
    life *l = &p->lives[i];
    l->buffer->offset = lowest_gap(l, placed, count);
    l->buffer->first_step = l->first;
    l->buffer->last_step = l->last;
    int64_t end = l->buffer->offset + l->bytes;
    if (end > p->program->workspace_bytes)
      p->program->workspace_bytes = end;
    int k = count++;
    while (k > 0 && by_offset(&placed[k - 1], &(const life *){l}) > 0) {
      placed[k] = placed[k - 1];
      k--;
    }
    placed[k] = l;
  }
}

/* Temporaries that no step uses (their value went straight to a result) are no part of the program. */
static void drop_unused(hl_program *program)
{
  int kept = 0;
  for (int i = 0; i < program->buffer_count; i++) {
    const hl_buffer *buffer = program->buffers[i];
    if (buffer->kind != HL_BUFFER_TEMP || buffer->offset >= 0)
      program->buffers[kept++] = program->buffers[i];
  }
  program->buffer_count = kept;
}

void hl_plan_buffers(hl_program *program)
{
  planner p = {.program = program};
  p.lives = HL_ARRAY(program->arena, program->buffer_count + 1, life);
  walk_steps(&p, &program->steps);
  drop_unused(program);
  place(&p);
}
