/* builder_internal - what the files of the builder share. */
#ifndef HL_BUILDER_INTERNAL_H
#define HL_BUILDER_INTERNAL_H

#include "api_internal.h"
#include "grammar/parse.h"
#include "ir/limits.h"

#include <stdarg.h>

struct hlo_value {
  hlo_builder *builder;
  hl_instruction *instruction;
};

struct hlo_computation {
  hlo_builder *builder;
  hl_computation *computation;
};

/* hlo_emit for the functions on top; `caller` is what messages name. */
hlo_value *hl_build_line(hlo_builder *builder, const char *caller, const char *format, ...);
/* Reports an error of a call; always NULL. */
hlo_value *hl_build_error(hlo_builder *builder, const char *caller, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The builder if it can go on with these values, else NULL: one failed before, or a value is NULL or
 * of another builder. */
hlo_builder *hl_builder_of(const char *caller, int count, hlo_value *const *values);
/* "(2,3)" as NumPy writes it, in the builder's memory; "" when there is none. */
const char *hl_say_sizes(hlo_builder *builder, int rank, const int64_t *sizes);

static inline const hl_shape *hl_shape_of(const hlo_value *value)
{
  return value->instruction->shape;
}

/* A function made of others. While it runs, messages name it and not those inside: the one that the
 * user called. The builder is NULL, and nothing has begun, if a value is missing (reported). */
typedef struct hl_build_call {
  hlo_builder *builder;
  const char *outer; /* what was called before */
} hl_build_call;
hl_build_call hl_build_begin(const char *name, int count, hlo_value *const *values);
/* The same without values; the builder may not be NULL. */
hl_build_call hl_build_begin_in(const char *name, hlo_builder *builder);
/* Gives the result. */
hlo_value *hl_build_end(hl_build_call call, hlo_value *result);

/* "%x, %y", NULL when out of memory. */
const char *hl_build_names(hlo_builder *builder, int count, hlo_value *const *values);
/* An array operand, or an error. */
bool hl_build_wants_array(const char *caller, hlo_value *x);
/* Floats or complex numbers, or an error. */
bool hl_build_wants_floats(const char *caller, hlo_value *x);
/* A type that compares, or an error. */
bool hl_build_wants_order(const char *caller, hlo_value *x);
/* The scalar of x's type, which has an order, that loses against all others. */
hlo_value *hl_build_extreme(const hlo_value *x, bool is_max);
/* axis of [-rank, rank) as a number from 0, or -1 after an error. */
int hl_build_axis(const char *caller, hlo_value *x, int axis, int rank);
/* A scalar of x's type. */
hlo_value *hl_build_like(const hlo_value *x, double value);

#endif
