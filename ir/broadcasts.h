/* broadcasts - how operands are repeated to fill a result: implicit stretching and the op broadcast. */
#ifndef HL_BROADCASTS_H
#define HL_BROADCASTS_H

#include "module.h"

/* Where an operand lies in its user's result. Texts and arrays live in the arena that was given. */
typedef struct hl_stretch {
  const hl_instruction *user;
  int operand;
  bool is_explicit;         /* the user is a broadcast */
  int rank, result_rank;
  const int64_t *positions; /* a dimension of the operand: the dimension of the result that it lies on */
  const bool *is_stretched; /* a dimension of the operand: it has size 1 and grows */
  const int64_t *strides;   /* a dimension of the result: elements from one to the next; 0: they repeat */
} hl_stretch;

/* False: the operand has the result's dimensions, or the op stretches nothing. Requires a verified instruction. */
bool hl_stretch_of(hl_arena *arena, const hl_instruction *user, int operand, hl_stretch *stretch);

/* A binary op whose operands pair each element of one with each of the other along dimensions of equal size, where the arrays that
 * were meant have different ranks: f32[5] with f32[5,1]. Operands that are explicit broadcasts are looked through. */
bool hl_is_accidental_outer(const hl_instruction *ins);
/* The array behind an operand: what explicit broadcasts and reshapes that only add or drop 1s read. */
const hl_instruction *hl_stretch_source(const hl_instruction *operand);

#endif
