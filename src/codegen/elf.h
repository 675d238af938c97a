/* elf - what the driver asks of an object that was just emitted. */
#ifndef HL_ELF_H
#define HL_ELF_H

#include "../../ir/arena.h"

/* The names of the symbols that a little-endian ELF object leaves undefined and refers to weakly,
 * or not weakly, in the arena; *count of them. */
const char **hl_elf_undefined(hl_arena *arena, const void *object, size_t size, bool is_weak,
                              int *count);

#endif
