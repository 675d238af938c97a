/* loop_calls - what the steps of a program call: kernels, and functions outside. */
#include "loop.h"
#include "str.h"

#include <string.h>

typedef struct search {
  hl_arena *arena;
  const hl_call **calls;
  const hl_kernel **kernels;
  hl_map seen;
  int count; /* of either */
  size_t capacity;
} search;

static bool is_known(const search *s, const char *symbol)
{
  for (int i = 0; i < s->count; i++)
    if (!strcmp(s->calls[i]->symbol, symbol))
      return true;
  return false;
}

static void add_call(search *s, const hl_step *step)
{
  if (step->kind != HL_STEP_CALL || is_known(s, step->call->symbol))
    return;
  s->calls = hl_arena_grow(s->arena, s->calls, &s->capacity, (size_t)s->count + 1, sizeof *s->calls);
  s->calls[s->count++] = step->call;
}

static void add_kernel(search *s, const hl_step *step)
{
  if (step->kind != HL_STEP_KERNEL)
    return;
  const hl_kernel **key = HL_NEW(s->arena, const hl_kernel *);
  *key = step->kernel;
  if (hl_map_get(&s->seen, (const char *)key, sizeof *key))
    return;
  hl_map_set(&s->seen, (const char *)key, sizeof *key, s);
  s->kernels = hl_arena_grow(s->arena, s->kernels, &s->capacity, (size_t)s->count + 1, sizeof *s->kernels);
  s->kernels[s->count++] = step->kernel;
}

static void walk(search *s, const hl_steps *steps, void (*visit)(search *s, const hl_step *step))
{
  for (const hl_step *step = steps->first; step; step = step->next) {
    visit(s, step);
    walk(s, &step->condition, visit);
    walk(s, &step->body, visit);
    for (int i = 0; i < step->branch_count; i++)
      walk(s, &step->branches[i], visit);
  }
}

const hl_call **hl_program_calls(hl_arena *arena, const hl_program *program, int *count)
{
  search s = {.arena = arena};
  walk(&s, &program->steps, add_call);
  *count = s.count;
  return s.calls;
}

const hl_kernel **hl_program_kernels(hl_arena *arena, const hl_program *program, int *count)
{
  search s = {.arena = arena, .seen.arena = arena};
  walk(&s, &program->steps, add_kernel);
  *count = s.count;
  return s.kernels;
}
