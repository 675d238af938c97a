/* eval_internal - what the files of the evaluator share: values and their memory, scalars,
 * elements, regions. */
#ifndef HL_EVAL_INTERNAL_H
#define HL_EVAL_INTERNAL_H

#include "eval.h"
#include "limits.h"

/* ---- the state of one evaluation (eval_memory.c) ---- */

/* A call whose body is being evaluated, so that a parameter can be followed to what the caller
 * passed, as inlining would. */
typedef struct hl_scope {
  const hl_instruction *call;
  const struct hl_scope *parent;
} hl_scope;

/* Values are literals with a count of owners; they and all scratch memory hang on one list, so that
 * a failure anywhere can leave through the guard: the entry frees the list. Failures are memory, a
 * limit, and ops that cannot be evaluated. */
typedef struct hl_eval {
  hl_guard guard;
  hl_eval_limits limits;
  int64_t steps;
  int depth; /* of nested computations */
  struct hl_cell *cells;
  hl_arena *plans; /* what lives until the end */
  hl_map plan_of;
  const hl_scope *scope;
  const hl_eval_host *host;    /* NULL: none */
  uint64_t rng_state[2];       /* of rng-get-and-update-state, low half first */
  const hl_instruction *where; /* being evaluated, for the message */
  const char *reason;          /* of the failure */
} hl_eval;

/* A family's evaluator: the result belongs to the caller, the operands stay with theirs. */
typedef const hl_literal *hl_eval_fn(hl_eval *e, const hl_instruction *ins,
                                     const hl_literal *const *operands);
/* The op's evaluator, or NULL. */
hl_eval_fn *hl_eval_function(hl_opcode opcode);

/* Makes e ready; false when out of memory. Its end frees every value that is left. */
bool hl_eval_begin(hl_eval *e, hl_eval_limits limits);
void hl_eval_end(hl_eval *e);
/* Leaves the evaluation through the guard. */
_Noreturn void hl_eval_stop(hl_eval *e, const char *reason);
/* Counts steps against the limit. */
void hl_eval_charge(hl_eval *e, int64_t steps);

/* A new value: an array of zeros, or a tuple whose elements are to be set. */
hl_literal *hl_eval_new(hl_eval *e, const hl_shape *shape);
/* Another owner; returns the value. */
const hl_literal *hl_eval_retain(const hl_literal *value);
/* One owner less; without any the value is freed. NULL is allowed. */
void hl_eval_release(hl_eval *e, const hl_literal *value);
/* A tuple of these values; takes them over. */
const hl_literal *hl_eval_tuple_of(hl_eval *e, const hl_shape *shape,
                                   const hl_literal *const *elements);
/* The result of a variadic op: the tuple of one value for each operand, or the only one. Takes over
 * the values and the list, which is scratch memory. */
const hl_literal *hl_eval_results(hl_eval *e, const hl_instruction *ins, hl_literal **values);
/* A value over a literal from outside, which must outlive it; data is shared. */
const hl_literal *hl_eval_borrow(hl_eval *e, const hl_literal *literal);
/* Zeroed scratch memory, and its end. */
void *hl_eval_scratch(hl_eval *e, int64_t count, size_t size);
void hl_eval_drop(hl_eval *e, void *scratch);

/* Families that others fall back on. */
hl_eval_fn hl_eval_identity, hl_eval_topk;

/* ---- scalars (eval_scalar.c) ---- */

/* An element in its stored form, re alone but for complex types: raw bits; pred 0 or 1. */
typedef struct hl_scalar {
  uint64_t re, im;
} hl_scalar;

hl_scalar hl_scalar_load(const hl_literal *literal, int64_t index);
void hl_scalar_store(hl_literal *literal, int64_t index, hl_scalar value);
/* Integers and pred, sign- or zero-extended. */
int64_t hl_scalar_int(hl_element_type type, hl_scalar value);
/* Wraps to an integer type; pred takes the lowest bit. */
hl_scalar hl_scalar_of_int(hl_element_type type, int64_t value);
/* Real floating values, exactly; float only for types that fit into it. */
double hl_scalar_double(hl_element_type type, hl_scalar value);
float hl_scalar_float(hl_element_type type, hl_scalar value);
/* Rounded once to a real floating type; NaN becomes the canonical one. */
hl_scalar hl_scalar_of_double(hl_element_type type, double value);
hl_scalar hl_scalar_of_float(hl_element_type type, float value);
/* One part of a complex value as a value of its component type. */
hl_scalar hl_scalar_part(uint64_t bits);
/* NaN parts of inexact types become the canonical NaN; other values stay. */
hl_scalar hl_scalar_canonical(hl_element_type type, hl_scalar value);
/* Whether the type computes in double rather than in float. */
bool hl_computes_in_double(hl_element_type type);
/* The accumulator of rule 4: f32 for the floats that fit into it, else the type itself. */
hl_element_type hl_accumulator_type(hl_element_type type);

/* spec 10.3 */
hl_scalar hl_scalar_convert(hl_element_type to, hl_element_type from, hl_scalar value);
/* spec 10.4, computed in float or double */
hl_scalar hl_scalar_reduce_precision(hl_element_type type, hl_scalar value, int64_t exponent_bits,
                                     int64_t mantissa_bits);

/* ---- elementwise ops on scalars ---- */

/* Ops of one type (eval_unary.c, eval_binary.c, eval_complex.c); type is that of the operands. */
hl_scalar hl_scalar_unary(hl_opcode opcode, hl_element_type type, hl_scalar x);
hl_scalar hl_scalar_binary(hl_opcode opcode, hl_element_type type, hl_scalar x, hl_scalar y);
hl_scalar hl_complex_unary(hl_opcode opcode, hl_element_type type, hl_scalar x);
hl_scalar hl_complex_binary(hl_opcode opcode, hl_element_type type, hl_scalar x, hl_scalar y);
bool hl_scalar_compare(hl_direction direction, hl_comparison how, hl_element_type type, hl_scalar x,
                       hl_scalar y);

/* An elementwise instruction made ready to be applied to scalars (eval_element.c). */
typedef struct hl_element {
  const hl_instruction *ins;
  hl_element_type type, result_type; /* of operand 0 (of the arms for select) and of the result */
  bool has_exponent;                 /* a power of rule 12 */
  double exponent;
  hl_direction direction;
  hl_comparison comparison;
  int64_t exponent_bits, mantissa_bits;
} hl_element;

/* Whether the op is elementwise on scalars, so that hl_element_apply can do it. */
bool hl_is_element(hl_opcode opcode);
hl_element hl_element_of(hl_eval *e, const hl_instruction *ins);
hl_scalar hl_element_apply(const hl_element *element, const hl_scalar *args);
/* The family function of all of them. */
hl_eval_fn hl_eval_elementwise;

/* An instruction within nested calls. */
typedef struct hl_site {
  const hl_instruction *ins;
  const hl_scope *scope;
} hl_site;

/* What stands in the place of a call or a parameter once calls are inlined. */
hl_site hl_site_inlined(hl_eval *e, hl_site at);

/* ---- computations and regions (eval_run.c) ---- */

/* The root's value for these parameters, which stay with the caller. */
const hl_literal *hl_eval_computation(hl_eval *e, const hl_computation *computation,
                                      const hl_literal *const *args);

/* A computation on scalars, called once an element. */
typedef struct hl_region hl_region;
hl_region *hl_region_open(hl_eval *e, const hl_computation *computation);
void hl_region_close(hl_region *region);
void hl_region_call(hl_region *region, const hl_scalar *args, hl_scalar *results);
/* The binary op that the region exactly is, of its two parameters, calls looked through;
 * HL_OP_COUNT if it is not. */
hl_opcode hl_region_op(const hl_region *region);

/* Sums by rule 4 over all dimensions but one, from +0 (eval_reduce.c). */
void hl_sum_all_but(const hl_literal *x, int64_t dimension, hl_literal *sums);

/* ---- random bits (eval_rng.c) ---- */

/* Philox numbers from block first, a 128-bit counter with the high half `upper`, on; returns how
 * many blocks they take. */
int64_t hl_philox_fill(hl_literal *bits, uint64_t key, uint64_t first, uint64_t upper);
/* Adds to the state of rng-get-and-update-state. */
void hl_rng_advance(hl_eval *e, uint64_t delta);

/* ---- walking arrays (eval_move.c) ---- */

/* Row-major strides in elements. */
void hl_row_major(const hl_shape *shape, int64_t *strides);
/* Steps a multi-index row-major; false when it was the last. */
bool hl_index_next(const hl_shape *shape, int64_t *index);
/* result[i] = operand[offset + sum of strides * i]. */
hl_literal *hl_eval_strided(hl_eval *e, const hl_shape *shape, const hl_literal *operand,
                            int64_t offset, const int64_t *strides);
/* Moves one element. */
void hl_eval_move(hl_literal *to, int64_t to_index, const hl_literal *from, int64_t from_index);

/* A list of dimensions with their strides, walked by one row-major number; begins as HL_NO_AXES. */
typedef struct hl_axes {
  int count;
  int64_t total;
  int64_t sizes[HL_LIMIT_RANK], strides[HL_LIMIT_RANK];
} hl_axes;

#define HL_NO_AXES ((hl_axes){.total = 1})
void hl_axes_add(hl_axes *axes, int64_t size, int64_t stride);
int64_t hl_axes_offset(const hl_axes *axes, int64_t number);

#endif
