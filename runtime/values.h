/* values.h - single values of HLO's element types: their forms in memory, in .npy files, in text.
 *
 * Types are told by their HLO name ("f32", "bf16", "s4"), so that the compiler and the programs
 * that it writes share this code. Memory holds what generated code expects: pred as a byte, 1- to
 * 4-bit integers one a byte (sign-extended), 16-bit and narrower floats as their bits. */
#ifndef HL_VALUES_H
#define HL_VALUES_H

#include "npy.h"

enum { HL_VALUE_TEXT = 80 /* room for the text of any value */ };

typedef struct hl_value_type {
  const char *name;
  char kind; /* 'p' pred, 's', 'u', 'f', 'c' complex */
  int bits;  /* of a value; of the real part, where kind is 'c' */
  int item_bytes;
  /* floats narrower than f32 alone: */
  int exponent_bits, mantissa_bits, bias;
  char specials; /* what the highest exponent means; see values.c */
} hl_value_type;

/* The type of that name, or NULL (token and opaque have no values). */
const hl_value_type *hl_value_type_find(const char *name);

/* Whether an array of a file holds values of this type: pred is b1 or u1; s1, s2, s4 are i1; u1,
 * u2, u4 are u1; bf16 is u2 or V2; floats of 8 bits or fewer are u1 or V1. Shapes are not compared.
 */
bool hl_value_accepts(const hl_value_type *t, const hl_npy *a);

/* Sets kind and item_bytes to what is written for this type: the first named above. */
void hl_value_set_npy_type(const hl_value_type *t, hl_npy *a);

/* The index of the first item whose byte has bits that a 1- to 6-bit type does not use, or -1. */
int64_t hl_value_find_unfit(const hl_value_type *t, const void *items, size_t count);

/* Fills with the values of --random SEED: item i takes SplitMix64 of the seed, number i (complex:
 * 2i and 2i+1). Floats lie in [-1, 1), rounded to nearest; integers are 0 to 9, or less where the
 * type ends; pred is 0 or 1. */
void hl_value_fill_random(const hl_value_type *t, uint64_t seed, void *items, size_t count);

/* Writes the shortest text that reads back as the same value to `out` (HL_VALUE_TEXT bytes);
 * returns its length. NaN is nan or -nan, without payload. */
size_t hl_value_format(const hl_value_type *t, const void *item, char *out);

/* Reads one value and moves *text behind it; false when there is none of this type. Takes what
 * hl_value_format writes, blanks before it, and 0 and 1 for pred. Floats are rounded to nearest. */
bool hl_value_parse(const hl_value_type *t, const char **text, void *item);

#endif
