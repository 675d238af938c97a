/* literal - constant data: dense row-major elements in their stored form (design section 7: one
 * byte for pred and all types of 8 bits or fewer, uint16_t bits for f16 and bf16, pairs for
 * complex). Small integers are stored sign- or zero-extended in a byte. */
#ifndef HL_LITERAL_H
#define HL_LITERAL_H

#include "shape.h"

typedef struct hl_literal hl_literal;
struct hl_literal {
  const hl_shape *shape;
  void *data;                        /* arrays; NULL when elided or without elements */
  bool is_elided;                    /* printed as {...}: the values are unknown */
  const hl_literal *const *elements; /* tuples */
};

/* A zeroed literal of an array shape (64-byte aligned when large). */
hl_literal *hl_literal_new(hl_arena *arena, const hl_shape *shape);

/* Scalar conversions between stored elements and wide values; index counts elements.
 * as_double: exact value of real floats (NaN payloads lost), integers rounded; set_double rounds
 * once, nearest even. */
double hl_literal_get_double(const hl_literal *literal, int64_t index);
void hl_literal_set_double(hl_literal *literal, int64_t index, double value);
/* Integers and pred: sign- or zero-extended; set wraps. */
int64_t hl_literal_get_int(const hl_literal *literal, int64_t index);
void hl_literal_set_int(hl_literal *literal, int64_t index, int64_t value);
/* Raw stored bits of a real element of at most 64 bits (of one part for complex: index counts
 * parts). */
uint64_t hl_literal_get_bits(const hl_literal *literal, int64_t index);
void hl_literal_set_bits(hl_literal *literal, int64_t index, uint64_t bits);
bool hl_literal_equal(const hl_literal *a, const hl_literal *b); /* same shape and bits */
/* Every element has the same bits (a splat); false for none. */
bool hl_literal_is_splat(const hl_literal *literal);
/* An array of one element's value and type: HLO text of element `index`, e.g. "1.5", "nan", "true",
 * "(1, -inf)"; reads back to the same bits. */
void hl_literal_print_element(hl_str *out, const hl_literal *literal, int64_t index);

/* Float formats: bits <-> double. encode rounds to nearest even with the type's overflow rule (inf,
 * or NaN where it has none: spec 10.3); decode is exact. NaN encodes to the canonical quiet NaN. */
uint64_t hl_float_encode(hl_element_type type, double value);
double hl_float_decode(hl_element_type type, uint64_t bits);
uint64_t hl_float_nan_bits(hl_element_type type); /* canonical NaN */
double hl_float_max_finite(hl_element_type type);
int hl_float_mantissa_bits(hl_element_type type); /* stored ones: 23 for f32 */
bool hl_float_has_infinity(hl_element_type type);

#endif
