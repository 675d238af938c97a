/* parts - which kernels of a program are compiled together.
 *
 * A large program is compiled in several parts at once, each a module of its own, whose objects are
 * merged. How it is divided depends on the program alone, so the object is the same for any number
 * of threads and processors.
 */
#ifndef HL_PARTS_H
#define HL_PARTS_H

#include "../../ir/loop.h"

/* A kernel that is emitted once, in its part; the name by which other parts call it. */
typedef struct hl_part_kernel {
  const hl_step *step; /* the first with it */
  const char *name;
  int number; /* in the order of the steps */
  int64_t cost;
  int part;
  struct hl_part_kernel *next;
} hl_part_kernel;

typedef struct hl_parts {
  int count; /* part 0 has the entry */
  hl_part_kernel *first, *last;
  int kernel_count;
  hl_map by_key;
} hl_parts;

struct hl_emitter;

/* The parts of the emitter's program; NULL where it is small. Needs the program, options and arena
 * of the emitter. */
hl_parts *hl_parts_plan(struct hl_emitter *e);

/* Runs work(context, 0 .. count - 1), several at once where there are processors. */
void hl_parts_run(int count, void (*work)(void *context, int part), void *context);

#endif
