/* hoist.c - steps of a loop that compute the same each time round go in front of it.
 *
 *   while p: kernel t(%w, %packed); kernel dot(%x, %packed, %y)   ->   kernel t(%w, %packed); while
 * p: kernel dot(...)
 *
 * A kernel does so when nothing in the loop writes what it reads, nothing else at all writes what
 * it writes (else that would be lost where the loop does not run once), and nothing reads that
 * before the kernel runs. Kernels are total, so one that would never have run does no harm.
 * Requires: unplanned buffers; first_step and last_step are free for counting. Keeps: every value.
 */
#include "schedule.h"

#include "../ir/str.h"

static bool is_written(const hl_param *param)
{
  return param->direction == HL_PARAM_OUT || param->direction == HL_PARAM_INOUT;
}

static void count_buffer(hl_buffer *buffer, int writes)
{
  buffer->first_step += writes;
  buffer->last_step = 0;
}

static void count_steps(hl_steps *steps, int writes);

/* In each buffer: first_step, the steps that write it; last_step, whether one has read it so far.
 */
static void count_step(hl_step *step, int writes)
{
  for (int i = 0; step->kind == HL_STEP_KERNEL && i < step->kernel->param_count; i++)
    count_buffer(step->buffers[i], is_written(step->kernel->params[i]) ? writes : 0);
  for (int i = 0; step->kind == HL_STEP_CALL && i < step->call->value_count; i++)
    if (step->call->values[i].buffer)
      count_buffer(step->call->values[i].buffer,
                   step->call->values[i].kind == HL_CALL_READ ? 0 : writes);
  if (step->kind == HL_STEP_COPY) {
    count_buffer(step->buffers[0], writes);
    count_buffer(step->buffers[1], 0);
  }
  count_steps(&step->condition, writes);
  count_steps(&step->body, writes);
  for (int i = 0; i < step->branch_count; i++)
    count_steps(&step->branches[i], writes);
}

static void count_steps(hl_steps *steps, int writes)
{
  for (hl_step *step = steps->first; step; step = step->next)
    count_step(step, writes);
}

static void read_steps(hl_steps *steps);

static void read_step(hl_step *step)
{
  for (int i = 0; step->kind == HL_STEP_KERNEL && i < step->kernel->param_count; i++)
    if (step->kernel->params[i]->direction != HL_PARAM_OUT)
      step->buffers[i]->last_step = 1;
  for (int i = 0; step->kind == HL_STEP_CALL && i < step->call->value_count; i++)
    if (step->call->values[i].buffer)
      step->call->values[i].buffer->last_step = 1;
  if (step->kind == HL_STEP_COPY)
    step->buffers[1]->last_step = 1;
  if (step->selector)
    step->selector->last_step = 1;
  read_steps(&step->condition);
  read_steps(&step->body);
  for (int i = 0; i < step->branch_count; i++)
    read_steps(&step->branches[i]);
}

static void read_steps(hl_steps *steps)
{
  for (hl_step *step = steps->first; step; step = step->next)
    read_step(step);
}

/* Per buffer of the program: how often steps write it. */
typedef struct written {
  hl_buffer *buffer; /* the key */
  int times;
} written;

static void note_write(hl_map *writes, hl_buffer *buffer)
{
  written *w = hl_map_get(writes, (const char *)&buffer, sizeof buffer);
  if (!w) {
    w = HL_NEW(writes->arena, written);
    w->buffer = buffer;
    hl_map_set(writes, (const char *)&w->buffer, sizeof w->buffer, w);
  }
  w->times++;
}

static void note_writes(hl_map *writes, const hl_steps *steps)
{
  for (const hl_step *step = steps->first; step; step = step->next) {
    for (int i = 0; step->kind == HL_STEP_KERNEL && i < step->kernel->param_count; i++)
      if (is_written(step->kernel->params[i]))
        note_write(writes, step->buffers[i]);
    for (int i = 0; step->kind == HL_STEP_CALL && i < step->call->value_count; i++)
      if (step->call->values[i].buffer && step->call->values[i].kind != HL_CALL_READ)
        note_write(writes, step->call->values[i].buffer);
    if (step->kind == HL_STEP_COPY)
      note_write(writes, step->buffers[0]);
    note_writes(writes, &step->condition);
    note_writes(writes, &step->body);
    for (int i = 0; i < step->branch_count; i++)
      note_writes(writes, &step->branches[i]);
  }
}

static bool is_written_once(const hl_map *writes, hl_buffer *buffer)
{
  const written *w = hl_map_get(writes, (const char *)&buffer, sizeof buffer);
  return w && w->times == 1;
}

static bool is_invariant(const hl_map *writes, const hl_step *step)
{
  if (step->kind != HL_STEP_KERNEL)
    return false;
  for (int i = 0; i < step->kernel->param_count; i++) {
    hl_buffer *buffer = step->buffers[i];
    switch (step->kernel->params[i]->direction) {
    case HL_PARAM_IN:
      if (buffer->first_step > 0)
        return false;
      break;
    case HL_PARAM_OUT:
      if (buffer->kind != HL_BUFFER_TEMP || !is_written_once(writes, buffer) || buffer->last_step)
        return false;
      break;
    case HL_PARAM_INOUT:
      return false;
    case HL_PARAM_SCRATCH:
      break;
    }
  }
  return true;
}

/* Moves what is invariant from the list to *to, and returns where the next one goes. */
static hl_step **take_invariant(const hl_map *writes, hl_steps *steps, hl_step **to)
{
  for (hl_step **link = &steps->first; *link;) {
    hl_step *step = *link;
    if (!is_invariant(writes, step)) {
      read_step(step);
      link = &step->next;
      continue;
    }
    count_step(step, -1);
    *link = step->next;
    step->next = *to;
    *to = step;
    to = &step->next;
  }
  steps->last = NULL;
  for (hl_step *step = steps->first; step; step = step->next)
    steps->last = step;
  return to;
}

/* `link` names the loop; afterwards it names what came in front of it. Returns the loop's place. */
static hl_step **hoist_from(const hl_map *writes, hl_step **link)
{
  hl_step *loop = *link;
  count_step(loop, 1);
  if (loop->selector)
    loop->selector->last_step = 1;
  link = take_invariant(writes, &loop->condition, link);
  link = take_invariant(writes, &loop->body, link);
  count_step(loop, -1);
  return link;
}

static void hoist_steps(const hl_map *writes, hl_steps *steps)
{
  for (hl_step **link = &steps->first; *link; link = &(*link)->next) {
    hl_step *step = *link;
    hoist_steps(writes, &step->condition);
    hoist_steps(writes, &step->body);
    for (int i = 0; i < step->branch_count; i++)
      hoist_steps(writes, &step->branches[i]);
    if (step->kind == HL_STEP_WHILE)
      link = hoist_from(writes, link);
  }
}

void hl_hoist_steps(hl_program *program)
{
  hl_map writes = {.arena = program->arena};
  note_writes(&writes, &program->steps);
  hoist_steps(&writes, &program->steps);
}
