/* parts - divides a program into parts that are compiled at once. */
#define _GNU_SOURCE /* CPU_COUNT */
#include "parts.h"
#include "emit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
  MAX_PARTS = 16,
  MAX_THREADS = 16,
  STACK_BYTES = 16 << 20, /* LLVM recurses on long chains of values */
  /* Costs are microseconds, roughly: what a function costs anyway, a loop with its tails, an
   * instruction of a body, a step of the entry; a part, which pays for setting LLVM up again (1,500),
   * is worth it from PART_COST on. */
  FUNCTION_COST = 600,
  LOOP_COST = 1500,
  INSTRUCTION_COST = 30,
  STEP_COST = 20,
  PART_COST = 30000
};

/* Nesting is that of the kernel's loops. */
static int64_t count_loops(const hl_block *block)
{
  int64_t count = 0;
  for (const hl_node *node = block->first; node; node = node->next) {
    if (node->op == HL_LOOP_IF)
      count += count_loops(&node->branch->then) + count_loops(&node->branch->otherwise);
    else if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD)
      count += 1 + count_loops(&node->loop->body);
  }
  return count;
}

static int64_t cost_of(const hl_kernel *kernel)
{
  return FUNCTION_COST + LOOP_COST * count_loops(&kernel->body) +
         INSTRUCTION_COST * hl_emit_cost(&kernel->body);
}

static int64_t add_kernel(hl_emitter *e, hl_parts *parts, const hl_step *step)
{
  hl_str key = hl_emit_kernel_key(e, step);
  if (hl_map_get(&parts->by_key, key.text, key.length))
    return 0;
  hl_part_kernel *kernel = HL_NEW(e->arena, hl_part_kernel);
  kernel->step = step;
  kernel->number = parts->kernel_count++;
  kernel->name = hl_arena_printf(e->arena, "part.kernel.%d", kernel->number);
  kernel->cost = cost_of(step->kernel);
  if (parts->last)
    parts->last->next = kernel;
  else
    parts->first = kernel;
  parts->last = kernel;
  hl_map_set(&parts->by_key, key.text, key.length, kernel);
  return kernel->cost;
}

/* Adds the kernels of the steps; what they cost, and the steps with them. Nesting is that of the
 * text's whiles and conditionals. */
static int64_t add_kernels(hl_emitter *e, hl_parts *parts, const hl_steps *steps, int64_t *glue)
{
  int64_t cost = 0;
  for (const hl_step *step = steps->first; step; step = step->next) {
    *glue += STEP_COST;
    if (step->kind == HL_STEP_KERNEL)
      cost += add_kernel(e, parts, step);
    else if (step->kind == HL_STEP_WHILE)
      cost += add_kernels(e, parts, &step->condition, glue) +
              add_kernels(e, parts, &step->body, glue);
    else if (step->kind == HL_STEP_CONDITIONAL)
      for (int i = 0; i < step->branch_count; i++)
        cost += add_kernels(e, parts, &step->branches[i], glue);
  }
  return cost;
}

/* The dearest first; equal ones in their order. */
static int by_cost(const void *a, const void *b)
{
  const hl_part_kernel *x = *(hl_part_kernel *const *)a, *y = *(hl_part_kernel *const *)b;
  if (x->cost != y->cost)
    return x->cost < y->cost ? 1 : -1;
  return x->number < y->number ? -1 : 1;
}

/* Each kernel to the part that has least so far. */
static void divide(hl_emitter *e, hl_parts *parts, int64_t glue)
{
  hl_part_kernel **order = HL_ARRAY(e->arena, parts->kernel_count, hl_part_kernel *);
  int64_t load[MAX_PARTS] = {glue};
  int n = 0;
  for (hl_part_kernel *kernel = parts->first; kernel; kernel = kernel->next)
    order[n++] = kernel;
  qsort(order, (size_t)n, sizeof *order, by_cost);
  for (int i = 0; i < n; i++) {
    int best = 0;
    for (int part = 1; part < parts->count; part++)
      if (load[part] < load[best])
        best = part;
    order[i]->part = best;
    load[best] += order[i]->cost;
  }
}

hl_parts *hl_parts_plan(hl_emitter *e)
{
  hl_parts *parts = HL_NEW(e->arena, hl_parts);
  int64_t glue = 0;
  parts->by_key.arena = e->arena;
  int64_t count = (add_kernels(e, parts, &e->program->steps, &glue) + glue) / PART_COST;
  if (count > parts->kernel_count)
    count = parts->kernel_count;
  if (count < 2)
    return NULL;
  parts->count = count < MAX_PARTS ? (int)count : MAX_PARTS;
  divide(e, parts, glue);
  return parts;
}

/* Threads. */

typedef struct crew {
  void (*work)(void *context, int part);
  void *context;
  int count;
  atomic_int next;
} crew;

static void *take_parts(void *context)
{
  crew *c = context;
  for (int part; (part = atomic_fetch_add(&c->next, 1)) < c->count;)
    c->work(c->context, part);
  return NULL;
}

static int processors(void)
{
  cpu_set_t set;
  int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return count < MAX_THREADS ? count : MAX_THREADS;
}

/* Where no thread can be had, those that there are do the work: at least the caller's. */
void hl_parts_run(int count, void (*work)(void *context, int part), void *context)
{
  crew c = {.work = work, .context = context, .count = count};
  pthread_t threads[MAX_THREADS];
  pthread_attr_t attributes;
  int wanted = processors() - 1, started = 0;
  atomic_init(&c.next, 0);
  if (pthread_attr_init(&attributes) == 0) {
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (started < wanted && started < count - 1 &&
           pthread_create(&threads[started], &attributes, take_parts, &c) == 0)
      started++;
    pthread_attr_destroy(&attributes);
  }
  take_parts(&c);
  for (int i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
}
