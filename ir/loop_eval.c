/* loop_eval.c - the interpreter of loop IR programs: the memory of the buffers, and the steps. */
#include "loop_eval.h"

#include <string.h>

typedef struct evaluator {
  hl_arena *arena;
  hl_map memory; /* a buffer's address: its bytes */
  hl_map frames; /* a kernel's address: its frame */
} evaluator;

static unsigned char *memory_of(const evaluator *e, const hl_buffer *buffer)
{
  return hl_map_get(&e->memory, (const char *)&buffer, sizeof buffer);
}

/* Temps begin as junk, as a workspace may. */
static unsigned char *new_temp(evaluator *e, const hl_buffer *buffer)
{
  unsigned char *bytes = hl_arena_alloc(e->arena, (size_t)buffer->bytes);
  memset(bytes, 0xa5, (size_t)buffer->bytes);
  return bytes;
}

/* The map has no room for NULL; what has no elements is never accessed. */
static void *never_null(evaluator *e, const void *memory)
{
  return memory ? (void *)(uintptr_t)memory : hl_arena_alloc(e->arena, 1);
}

static void set_memory(evaluator *e, hl_buffer **slot, const void *const *arguments,
                       void *const *results)
{
  const hl_buffer *buffer = *slot;
  const void *memory = NULL;
  switch (buffer->kind) {
  case HL_BUFFER_ARGUMENT:
    memory = arguments[buffer->index];
    break;
  case HL_BUFFER_RESULT:
    memory = results[buffer->index];
    break;
  case HL_BUFFER_CONSTANT:
    memory = buffer->data;
    break;
  case HL_BUFFER_TEMP:
    memory = new_temp(e, buffer);
    break;
  }
  hl_map_set(&e->memory, (const char *)slot, sizeof *slot, never_null(e, memory));
}

static hl_frame *frame_of(evaluator *e, const hl_step *step)
{
  const char *key = (const char *)&step->kernel;
  hl_frame *frame = hl_map_get(&e->frames, key, sizeof step->kernel);
  if (!frame) {
    frame = hl_frame_new(e->arena, step->kernel);
    hl_map_set(&e->frames, key, sizeof step->kernel, frame);
  }
  return frame;
}

static bool run_steps(evaluator *e, const hl_steps *steps);

static bool run_kernel(evaluator *e, const hl_step *step)
{
  hl_frame *frame = frame_of(e, step);
  unsigned char **memory = hl_frame_memory(frame);
  for (int i = 0; i < step->kernel->param_count; i++)
    memory[i] = memory_of(e, step->buffers[i]);
  return hl_frame_run(frame);
}

static bool run_while(evaluator *e, const hl_step *step)
{
  const unsigned char *selector = memory_of(e, step->selector);
  for (;;) {
    if (!run_steps(e, &step->condition))
      return false;
    if (!*selector)
      return true;
    if (!run_steps(e, &step->body))
      return false;
  }
}

static bool run_conditional(evaluator *e, const hl_step *step)
{
  const unsigned char *selector = memory_of(e, step->selector);
  int32_t branch = *selector ? 0 : 1;
  if (step->selector->type != HL_PRED)
    memcpy(&branch, selector, sizeof branch);
  if (branch < 0 || branch >= step->branch_count)
    branch = step->branch_count - 1;
  return run_steps(e, &step->branches[branch]);
}

static bool run_step(evaluator *e, const hl_step *step)
{
  switch (step->kind) {
  case HL_STEP_KERNEL:
    return run_kernel(e, step);
  case HL_STEP_COPY:
    memmove(memory_of(e, step->buffers[0]), memory_of(e, step->buffers[1]),
            (size_t)step->buffers[0]->bytes);
    return true;
  case HL_STEP_WHILE:
    return run_while(e, step);
  case HL_STEP_CALL: /* of code outside: the interpreter has none */
    return false;
  default:
    return run_conditional(e, step);
  }
}

static bool run_steps(evaluator *e, const hl_steps *steps)
{
  for (const hl_step *step = steps->first; step; step = step->next)
    if (!run_step(e, step))
      return false;
  return true;
}

bool hl_program_eval(hl_arena *arena, const hl_program *program, const void *const *arguments,
                     void *const *results)
{
  evaluator e = {.arena = arena, .memory = {.arena = arena}, .frames = {.arena = arena}};
  if (hl_program_check(arena, program))
    return false;
  for (int i = 0; i < program->buffer_count; i++)
    set_memory(&e, &program->buffers[i], arguments, results);
  return run_steps(&e, &program->steps);
}
