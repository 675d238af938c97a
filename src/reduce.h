/* reduce - the edits that make a module smaller. Each leaves a module that may be illegal: whoever asks for one verifies. */
#ifndef HL_REDUCE_H
#define HL_REDUCE_H

#include "ir/module.h"

/* In the order in which they are best tried: what takes away most stands first. */
typedef enum hl_reduction {
  HL_REDUCE_ENTRY,       /* a computation becomes the entry */
  HL_REDUCE_TAIL,        /* instructions at the end of the entry go; what they used becomes its results */
  HL_REDUCE_RESULTS,     /* elements of the tuple that is the entry's root go */
  HL_REDUCE_PARAMETERS,  /* instructions of the entry become parameters */
  HL_REDUCE_UNUSED,      /* parameters of the entry that nothing uses go */
  HL_REDUCE_ROOT,        /* another instruction becomes the root */
  HL_REDUCE_DEAD,        /* instructions that nothing uses go, effects or not */
  HL_REDUCE_OPERAND,     /* an instruction is replaced by its first operand of the same shape */
  HL_REDUCE_LAST_OPERAND,
  HL_REDUCE_ELEMENT,     /* get-tuple-element of a tuple: the element */
  HL_REDUCE_INLINE,      /* what a call, a fusion, a loop or the first branch does, in its place */
  HL_REDUCE_LAST_BRANCH,
  HL_REDUCE_ZERO,        /* an instruction is replaced by zeros */
  HL_REDUCE_SIZES,       /* a size of dimensions becomes smaller everywhere */
  HL_REDUCE_CONSTANTS,   /* constants become zeros */
  HL_REDUCE_SPLATS,      /* constants become their first element everywhere */
  HL_REDUCE_HEADER,      /* attributes of the module go */
  HL_REDUCE_METADATA,    /* attributes that every instruction may have go */
  HL_REDUCE_ATTRIBUTES,  /* so does any other */
  HL_REDUCE_COUNT
} hl_reduction;

/* How many places there are for it. */
int hl_reduce_places(const hl_module *module, hl_reduction reduction);
/* Does it at the places [first, first + count); false: there is nothing to do. */
bool hl_reduce_at(hl_module *module, hl_reduction reduction, int first, int count);
/* Whether it is worth the try at many places at once. */
bool hl_reduce_takes_many(hl_reduction reduction);

/* Removes what nothing uses, but parameters and what has effects. */
void hl_reduce_sweep(hl_module *module);

#endif
