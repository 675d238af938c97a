/* fuse_origins.c - what a fusion plan says to people: why values are written to memory, and what each kernel computes. */
#include "fuse.h"

#include <stdlib.h>

const char *hl_stored_text(hl_stored_for reason)
{
  static const char *const texts[] = {
      [HL_STORED_RESULT] = "it is a result",
      [HL_STORED_ARGUMENT] = "a while, conditional or custom call takes it from memory",
      [HL_STORED_CONTROL] = "steps that run apart write it",
      [HL_STORED_WHOLE] = "an algorithm for whole arrays computes it",
      [HL_STORED_UPDATE] = "it is written into the array that it updates",
      [HL_STORED_UNUSED] = "no kernel uses it",
      [HL_STORED_LEVEL] = "-O0 fuses nothing but what memory might not hold",
      [HL_STORED_DEPTH] = "the chain of operations would become too deep for one kernel",
      [HL_STORED_LENGTH] = "the kernel would become too long",
      [HL_STORED_MANY] = "more than four kernels use it",
      [HL_STORED_SHARED] = "several kernels use it, and computing it in each costs more than writing it once",
      [HL_STORED_IN_PRODUCT] = "a product, convolution or window reads each of its elements many times",
      [HL_STORED_IN_WHOLE] = "the algorithm that uses it reads its elements many times",
      [HL_STORED_PIECES] = "its pieces are copied one after the other",
      [HL_STORED_GATHERED] = "a gather would compute it again and again",
      [HL_STORED_SPREAD] = "its holes are spread out again, and most of what a kernel computes would be thrown away",
      [HL_STORED_PRODUCT] = "a product is fused only where its user runs over the same elements in the same order",
      [HL_STORED_ORDER] = "its dimensions are not the outer loops of the kernel that uses it",
      [HL_STORED_FEW_ROWS] = "fusing would leave fewer than 16 rows to share among threads",
      [HL_STORED_LONG_ROWS] = "rows of more than 262144 elements would not stay in the cache",
      [HL_STORED_REPEATED] = "a broadcast would compute it again and again",
  };
  return texts[reason];
}

/* Instructions that people see no work in, and what passes put in for a stretched operand. */
static bool is_work(const hl_instruction *ins)
{
  if (!ins->places && (ins->opcode == HL_OP_BROADCAST || ins->opcode == HL_OP_RESHAPE))
    return false;
  return ins->opcode != HL_OP_PARAMETER && ins->opcode != HL_OP_CONSTANT && ins->opcode != HL_OP_TUPLE &&
         ins->opcode != HL_OP_GET_TUPLE_ELEMENT;
}

static bool is_root(const hl_unit *unit, const hl_instruction *ins)
{
  for (int i = 0; i < unit->root_count; i++)
    if (unit->roots[i] == ins)
      return true;
  return false;
}

typedef struct walk {
  hl_arena *arena;
  const hl_instruction **found;
  int count;
  size_t capacity;
  hl_map seen; /* by position */
} walk;

static void visit(walk *w, const hl_instruction *ins)
{
  if (hl_map_get(&w->seen, (const char *)&ins->scratch, sizeof ins->scratch))
    return;
  hl_map_set(&w->seen, (const char *)&ins->scratch, sizeof ins->scratch, w);
  w->found = hl_arena_grow(w->arena, w->found, &w->capacity, (size_t)w->count + 1, sizeof *w->found);
  w->found[w->count++] = ins;
}

static int by_position(const void *a, const void *b)
{
  const hl_instruction *const *x = a, *const *y = b;
  return ((*x)->scratch > (*y)->scratch) - ((*x)->scratch < (*y)->scratch);
}

const hl_origin *hl_unit_origins(const hl_fusion_plan *plan, const hl_unit *unit, hl_arena *arena, int *count)
{
  walk w = {.arena = arena, .seen = {.arena = arena}};
  for (int i = 0; i < unit->root_count; i++)
    visit(&w, unit->roots[i]);
  for (int at = 0; at < w.count; at++)
    for (int i = 0; i < w.found[at]->operand_count; i++) {
      const hl_instruction *operand = w.found[at]->operands[i];
      if (!hl_placement_of(plan, operand)->is_stored || is_root(unit, operand))
        visit(&w, operand);
    }
  qsort(w.found, (size_t)w.count, sizeof *w.found, by_position);
  hl_origin *origins = HL_ARRAY(arena, w.count + 1, hl_origin);
  *count = 0;
  for (int i = 0; i < w.count; i++) {
    const hl_instruction *ins = w.found[i];
    const char *stored = is_root(unit, ins) ? hl_stored_text(hl_placement_of(plan, ins)->reason) : NULL;
    origins[(*count)++] = (hl_origin){ins->name, hl_op_info_of(ins->opcode)->name, ins->range, stored,
                                      !is_work(ins) && !stored};
  }
  return origins;
}
