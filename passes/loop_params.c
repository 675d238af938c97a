/* loop_params.c - parameters that a kernel no longer needs. */
#include "schedule.h"

typedef struct search {
  const hl_param *param;
  bool is_used;
} search;

static void look(void *user, hl_node *node)
{
  search *s = user;
  if (node->op == HL_LOOP_LOAD || node->op == HL_LOOP_STORE)
    s->is_used |= node->access->param == s->param;
}

void hl_prune_params(hl_step *step)
{
  hl_kernel *kernel = step->kernel;
  hl_buffer **buffers = HL_ARRAY(kernel->arena, kernel->param_count + 1, hl_buffer *);
  int kept = 0;
  for (int i = 0; i < kernel->param_count; i++) {
    search s = {kernel->params[i], false};
    hl_block_walk(&kernel->body, look, &s);
    if (!s.is_used)
      continue;
    buffers[kept] = step->buffers[i];
    kernel->params[kept++] = kernel->params[i];
  }
  kernel->param_count = kept;
  step->buffers = buffers;
}
