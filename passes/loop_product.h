/* loop_product.h - a product in a perfect nest of loops, found: which loops run over which operand.
 */
#ifndef HL_LOOP_PRODUCT_H
#define HL_LOOP_PRODUCT_H

#include "schedule.h"

enum { HL_PRODUCT_LOOPS = 16, HL_PRODUCT_VARS = 8 };

/* for ...: for r: for c: reduce k: l * r, where c runs over one operand alone. Loops from outside
 * in. */
typedef struct hl_product {
  hl_kernel *kernel;
  hl_node *loops[HL_PRODUCT_LOOPS];
  int depth;
  hl_node *reduce;
  hl_node **across; /* where the reduce names the operand that the columns run over */
  int columns;      /* the innermost loop */
  int rows;         /* the last loop over the other operand alone, -1: none */
  uint64_t *uses;   /* by node id: the loops that a value depends on; HL_USES_REDUCE */
} hl_product;

#define HL_USES_REDUCE (UINT64_C(1) << 63)

/* The one FOR of a block in which all else is values, if its iterations may run in any order; NULL:
 * there is none. */
hl_node *hl_only_loop(const hl_block *block);

/* Whether the kernel is such a nest and nothing else. */
bool hl_find_product(hl_kernel *kernel, hl_product *p);

static inline uint64_t hl_product_uses(const hl_product *p, const hl_node *node)
{
  return p->uses[node->id];
}

static inline int64_t hl_product_extent(const hl_product *p, int loop)
{
  return loop < 0 ? 1 : p->loops[loop]->loop->extents[0];
}

/* Elements of the reduce. */
int64_t hl_product_depth(const hl_product *p);

/* loop_quads.c: a product of bytes takes them by fours, which steps in front pack. Returns the
 * product's step. */
hl_step *hl_cut_quads(hl_program *program, hl_step *step, const hl_product *p);

/* loop_stream.c: a row times a large matrix is cut so that memory is read in long runs. Returns
 * whether it was. */
bool hl_stream_product(hl_program *program, hl_step *step, const hl_product *p);

#endif
