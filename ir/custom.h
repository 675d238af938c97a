/* custom - what the targets of custom calls mean. */
#ifndef HL_CUSTOM_H
#define HL_CUSTOM_H

#include "module.h"

typedef enum hl_custom_kind {
  HL_CUSTOM_ANNOTATION, /* the identity on one device (device.h) */
  HL_CUSTOM_TOPK,       /* as the op topk */
  HL_CUSTOM_LAPACK,
  HL_CUSTOM_FOREIGN, /* of another back end, or without a meaning in a compiled program */
  HL_CUSTOM_USER     /* everything else: a function of the program, hlo_custom_TARGET */
} hl_custom_kind;

hl_custom_kind hl_custom_kind_of(const hl_instruction *custom_call);

/* TopK: whether the largest come first, as its comparator says. */
bool hl_custom_topk_is_largest(const hl_instruction *custom_call);

/* "hlo_custom_" and the target, with other bytes than those of C identifiers as '_'. */
const char *hl_custom_symbol(hl_arena *arena, const char *target);
/* The bytes of the backend_config: a string's content, or what is written between braces. */
const char *hl_custom_config(hl_arena *arena, const hl_instruction *custom_call, size_t *bytes);
/* The number behind `key = ` in the backend_config; `otherwise` where there is none. */
int64_t hl_custom_option(const hl_instruction *custom_call, const char *key, int64_t otherwise);

/* ---- LAPACK: lapack_{s,d,c,z}NAME_ffi ---- */

typedef enum hl_lapack_routine {
  HL_LAPACK_GETRF,
  HL_LAPACK_POTRF,
  HL_LAPACK_GEQRF,
  HL_LAPACK_GEQP3,
  HL_LAPACK_ORGQR, /* ungqr */
  HL_LAPACK_SYEVD, /* heevd */
  HL_LAPACK_GESDD,
  HL_LAPACK_TRSM,
  HL_LAPACK_GEHRD,
  HL_LAPACK_SYTRD, /* hetrd */
  HL_LAPACK_GEEV,       /* of complex matrices */
  HL_LAPACK_REAL_GEEV,  /* of real ones, with complex vectors: a pass makes these of PARTS */
  HL_LAPACK_GEEV_PARTS, /* with the vectors as the routine has them */
  HL_LAPACK_ROUTINES
} hl_lapack_routine;

/* One call: matrices in memory are column-major, batches come one after the other. */
typedef struct hl_lapack {
  hl_lapack_routine routine;
  hl_element_type type;
  const char *symbol; /* the Fortran routine's: "sgetrf_" */
  int64_t batches;
  int64_t sizes[26];  /* of the letters in its pattern: sizes['m' - 'a'] */
} hl_lapack;

/* HL_LAPACK_ROUTINES: the target is none of them. */
hl_lapack_routine hl_lapack_routine_of(const char *target);
/* Reads target, shapes and options. Returns NULL, or what is wrong (arena text). */
const char *hl_lapack_read(hl_arena *arena, const hl_instruction *custom_call, hl_lapack *out);

/* The dimensions of an array in memory, slowest first: those of the shape in the order of its layout; permutation[i] is dimension i's
 * number in the shape. */
void hl_memory_order(const hl_shape *shape, int64_t *permutation, int64_t *dimensions);
/* Operand i's layout constraint, or NULL: row-major. */
const hl_shape *hl_custom_constraint(const hl_instruction *custom_call, int i);

#endif
