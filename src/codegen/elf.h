/* elf - what the driver asks of an object that was just emitted. */
#ifndef HL_ELF_H
#define HL_ELF_H

#include "../../ir/arena.h"

/* The names of symbols that a little-endian ELF object leaves undefined and does not refer to weakly, in the arena; *count of them. */
const char **hl_elf_undefined(hl_arena *arena, const void *object, size_t size, int *count);

#endif
