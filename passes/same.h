/* same - when two instructions or two computations are written alike, names and places aside. */
#ifndef HL_SAME_H
#define HL_SAME_H

#include "../ir/module.h"

/* FNV-1a, well mixed in its low bits. */
uint64_t hl_hash_bytes(uint64_t hash, const void *data, size_t bytes);

/* Opcode, shape, literal, marks and attributes without those that only inform; not the operands.
 * Equal ones hash alike. */
uint64_t hl_instruction_hash(const hl_instruction *ins);
bool hl_instruction_same(const hl_instruction *a, const hl_instruction *b);

#endif
