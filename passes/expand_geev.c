/* expand_geev - the real routine geev gives a pair of conjugate eigenvectors as two real columns: v(j) = V(j) + i V(j+1) where the
 * eigenvalue has a positive imaginary part, and v(j+1) = V(j) - i V(j+1) behind it; other columns are real.
 */
#include "expand_geev.h"

#include "../ir/custom.h"
#include "../ir/limits.h"

#include <string.h>

/* The results of one call, and the arrays [..., column, row] of its vectors. */
typedef struct eigen {
  hl_instruction *origin, *parts, *imaginary; /* imaginary: of the eigenvalues, spread over the rows */
  int column;                                 /* the dimension */
} eigen;

static hl_instruction *zeros_like(const eigen *e, hl_instruction *x)
{
  return hl_make_filled(e->origin, x->shape, 0);
}

/* Columns begin .. end-1. */
static hl_instruction *columns_of(const eigen *e, hl_instruction *x, int64_t begin, int64_t end)
{
  hl_slice_dim dims[HL_LIMIT_RANK];
  for (int d = 0; d < x->shape->rank; d++)
    dims[d] = (hl_slice_dim){0, x->shape->dimensions[d], 1};
  dims[e->column].start = begin;
  dims[e->column].limit = end;
  return hl_make_slice(e->origin, x, dims);
}

/* Column j + 1 at j, or j - 1; zero where there is none. */
static hl_instruction *shifted(const eigen *e, hl_instruction *x, bool is_next)
{
  int64_t n = x->shape->dimensions[e->column];
  hl_instruction *zero = columns_of(e, zeros_like(e, x), 0, 1);
  hl_instruction *kept = is_next ? columns_of(e, x, 1, n) : columns_of(e, x, 0, n - 1);
  hl_instruction *parts[2] = {is_next ? kept : zero, is_next ? zero : kept};
  return n > 1 ? hl_make_concatenate(e->origin, e->column, 2, parts) : zero;
}

static hl_instruction *joined(const eigen *e, hl_instruction *x)
{
  hl_instruction *zero = zeros_like(e, x), *next = shifted(e, x, true), *last = shifted(e, x, false);
  hl_instruction *is_first = hl_make_compare(e->origin, HL_GT, e->imaginary, zero);
  hl_instruction *is_second = hl_make_compare(e->origin, HL_LT, e->imaginary, zero);
  hl_instruction *re = hl_make_select(e->origin, is_second, last, x);
  hl_instruction *im = hl_make_select(e->origin, is_second, hl_make_unary(e->origin, HL_OP_NEGATE, x), zero);
  im = hl_make_select(e->origin, is_first, next, im);
  hl_element_type type = x->shape->element_type == HL_F32 ? HL_C64 : HL_C128;
  const hl_shape *shape = hl_shape_new(hl_arena_of(x), type, x->shape->rank, x->shape->dimensions);
  return hl_instruction_new(e->origin->computation, e->origin, HL_OP_COMPLEX, NULL, shape, 2, (hl_instruction *[]){re, im},
                            e->origin);
}

static const hl_shape *shape_of_parts(hl_arena *arena, const hl_shape *shape)
{
  const hl_shape *parts[5];
  for (int i = 0; i < 5; i++) {
    const hl_shape *part = shape->tuple_shapes[i];
    parts[i] = hl_shape_new(arena, hl_component_type(part->element_type), part->rank, part->dimensions);
  }
  return hl_shape_tuple(arena, 5, parts);
}

/* "lapack_sgeev_ffi" to "lapack_sgeev.parts_ffi" */
static void rename_target(hl_instruction *ins)
{
  hl_attr attr = *hl_attr_find(ins, HL_ATTR_CUSTOM_CALL_TARGET);
  attr.text = hl_arena_printf(hl_arena_of(ins), "%.*s.parts_ffi", (int)(strlen(attr.text) - 4), attr.text);
  hl_instruction_remove_attr(ins, HL_ATTR_CUSTOM_CALL_TARGET);
  hl_instruction_add_attr(ins, &attr);
}

static hl_instruction *spread(const eigen *e, hl_instruction *values, const hl_shape *like)
{
  int64_t positions[HL_LIMIT_RANK];
  for (int d = 0; d < values->shape->rank; d++)
    positions[d] = d;
  return hl_make_broadcast(e->origin, values, like->rank, like->dimensions, positions);
}

hl_instruction *hl_join_eigenvectors(hl_instruction *ins)
{
  if (hl_lapack_routine_of(hl_attr_find(ins, HL_ATTR_CUSTOM_CALL_TARGET)->text) != HL_LAPACK_REAL_GEEV)
    return ins;
  eigen e = {.origin = ins, .column = ins->operands[0]->shape->rank - 2};
  hl_instruction *results[5];
  e.parts = hl_make_again(ins, shape_of_parts(hl_arena_of(ins), ins->shape), ins->operands);
  rename_target(e.parts);
  for (int i = 0; i < 5; i++)
    results[i] = hl_make_element(ins, e.parts, i);
  e.imaginary = spread(&e, results[1], results[2]->shape);
  results[2] = joined(&e, results[2]);
  results[3] = joined(&e, results[3]);
  hl_instruction *tuple = hl_make_tuple(ins, 5, results);
  hl_instruction_remove(ins);
  return tuple;
}
