/* loop_calls - the functions outside that a program calls. */
#include "loop.h"

#include <string.h>

typedef struct search {
  hl_arena *arena;
  const hl_call **calls;
  int count;
  size_t capacity;
} search;

static bool is_known(const search *s, const char *symbol)
{
  for (int i = 0; i < s->count; i++)
    if (!strcmp(s->calls[i]->symbol, symbol))
      return true;
  return false;
}

static void find_in(search *s, const hl_steps *steps)
{
  for (const hl_step *step = steps->first; step; step = step->next) {
    if (step->kind == HL_STEP_CALL && !is_known(s, step->call->symbol)) {
      s->calls = hl_arena_grow(s->arena, s->calls, &s->capacity, (size_t)s->count + 1, sizeof *s->calls);
      s->calls[s->count++] = step->call;
    }
    find_in(s, &step->condition);
    find_in(s, &step->body);
    for (int i = 0; i < step->branch_count; i++)
      find_in(s, &step->branches[i]);
  }
}

const hl_call **hl_program_calls(hl_arena *arena, const hl_program *program, int *count)
{
  search s = {.arena = arena};
  find_in(&s, &program->steps);
  *count = s.count;
  return s.calls;
}
