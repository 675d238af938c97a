/* lower_moves.h - copies that all happen at once. */
#ifndef HL_LOWER_MOVES_H
#define HL_LOWER_MOVES_H

#include "../ir/loop.h"

/* Adds a copy, unless there is nothing to copy (either is NULL, both are one, no bytes). */
void hl_add_copy(hl_program *program, hl_steps *steps, hl_buffer *to, hl_buffer *from);

/* Adds copies to[i] := from[i] in an order, and through temporaries, that make it seem as if all
 * sources were read first. No two destinations share memory; entries may be NULL. */
void hl_add_moves(hl_program *program, hl_steps *steps, int count, hl_buffer *const *to,
                  hl_buffer *const *from);

#endif
