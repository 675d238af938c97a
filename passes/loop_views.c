/* loop_views.c - parameters are shown with the dimensions that the loops walk.
 *
 * After loops were joined or cut, %x[i,j] reads better than %x[@ 4096*i+j]. Keeps: every access, which is flat; only
 * the printed dimensions change. Where the strides do not divide each other the dimensions stay.
 */
#include "schedule.h"

enum { MAX_STRIDES = 16 };

/* The strides of all accesses to one parameter, descending. */
typedef struct stride_set {
  const hl_param *param;
  int64_t strides[MAX_STRIDES];
  int count;
  bool overflows;
} stride_set;

static void insert(stride_set *s, int64_t stride)
{
  int at = 0;
  stride = stride < 0 ? -stride : stride;
  while (at < s->count && s->strides[at] > stride)
    at++;
  if (at < s->count && s->strides[at] == stride)
    return;
  if (s->count == MAX_STRIDES) {
    s->overflows = true;
    return;
  }
  for (int i = s->count++; i > at; i--)
    s->strides[i] = s->strides[i - 1];
  s->strides[at] = stride;
}

static void collect(void *user, hl_node *node)
{
  stride_set *s = user;
  if ((node->op != HL_LOOP_LOAD && node->op != HL_LOOP_STORE) || node->access->param != s->param)
    return;
  for (int i = 0; i < node->access->term_count; i++)
    insert(s, node->access->terms[i].stride);
}

static void show(hl_arena *arena, hl_param *param, stride_set *s)
{
  insert(s, 1);
  int64_t above = param->count;
  for (int i = 0; i < s->count; i++) {
    if (s->strides[i] == 0 || above % s->strides[i])
      return;
    above = s->strides[i];
  }
  int64_t *dims = HL_ARRAY(arena, s->count, int64_t);
  above = param->count;
  for (int i = 0; i < s->count; i++) {
    dims[i] = above / s->strides[i];
    above = s->strides[i];
  }
  param->rank = s->count;
  param->dimensions = dims;
}

void hl_kernel_show_walks(hl_kernel *kernel)
{
  for (int i = 0; i < kernel->param_count; i++) {
    stride_set s = {.param = kernel->params[i]};
    hl_block_walk(&kernel->body, collect, &s);
    if (s.count && !s.overflows && kernel->params[i]->count)
      show(kernel->arena, kernel->params[i], &s);
  }
}
