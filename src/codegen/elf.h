/* elf - what is asked of objects that were just emitted. */
#ifndef HL_ELF_H
#define HL_ELF_H

#include "../../ir/arena.h"

/* The names of the symbols that a little-endian ELF object leaves undefined and refers to weakly,
 * or not weakly, in the arena; *count of them. */
const char **hl_elf_undefined(hl_arena *arena, const void *object, size_t size, bool is_weak,
                              int *count);

typedef struct hl_elf_part {
  const void *data;
  size_t size;
} hl_elf_part;

/* elf_merge.c: several 64-bit relocatable objects as one, *data malloc'ed. Hidden symbols become
 * local. False with *error. */
bool hl_elf_merge(hl_arena *arena, const hl_elf_part *objects, int count, void **data, size_t *size,
                  const char **error);

#endif
