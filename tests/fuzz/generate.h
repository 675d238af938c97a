/* generate - bytes to a valid module: any op on any type it takes, ranks 0 to 7, sizes 0 and 1, control flow. */
#ifndef HL_GENERATE_H
#define HL_GENERATE_H

#include <stddef.h>
#include <stdint.h>

#include "ir/op.h"
#include "src/hlo_lite.h"

enum { GENERATE_POOL = 48, GENERATE_RANK = 7, GENERATE_ELEMENTS = 3000 };

typedef struct generated_shape {
  const char *type;
  int rank;
  int64_t sizes[GENERATE_RANK];
} generated_shape;

typedef struct generator {
  const uint8_t *data; /* what is left of the choices */
  size_t size;
  hlo_builder *builder;
  hlo_value *pool[GENERATE_POOL]; /* of the open computation */
  int count;
  int depth; /* of computations around it */
} generator;

/* The module that the bytes choose; NULL with messages in the context: a fault of the generator or of the rules. */
hlo_module *generate_module(hlo_context *context, const uint8_t *data, size_t size);

/* ---- for the files that make instructions ---- */

/* A number of [0, limit); 0 when the choices are used up. */
int choose(generator *g, int limit);
bool toss(generator *g, int one_in);
#define CHOOSE_OF(g, table) (table)[choose(g, (int)(sizeof(table) / sizeof *(table)))]
const char *choose_type(generator *g, unsigned classes);
unsigned class_of(const char *type); /* HL_T_... */
int bits_of(const char *type);

generated_shape shape_of(const hlo_value *value);
int64_t element_count(const generated_shape *shape);
/* "f32[2,3]", until the fourth call after. */
const char *shape_text(const generated_shape *shape);

/* A value of these classes: one of the pool, or a new one. */
hlo_value *any_value(generator *g, unsigned classes);
/* The same, of at least that rank, at most that many elements. */
hlo_value *any_array(generator *g, unsigned classes, int least_rank);
hlo_value *value_of(generator *g, const generated_shape *shape);
/* A part of the shape: no size grows. */
void choose_part(generator *g, generated_shape *shape);
/* Made for this use: numbers without a zero among the sizes. */
hlo_value *fresh_value(generator *g, const char *type, int rank, const int64_t *sizes);
hlo_value *small_scalar(generator *g, const char *type, int limit);
/* (a, b) -> op(a, b) on scalars of the type, an op that the type has. */
hlo_computation *binary_region(generator *g, const char *type);
hlo_computation *comparator_of(generator *g, int count, hlo_value *const *operands);

/* One instruction (or a few), whose value goes into the pool. */
typedef hlo_value *instruction_maker(generator *g);
extern instruction_maker *const simple_makers[], *const window_makers[], *const control_makers[];
extern const int simple_maker_count, window_maker_count, control_maker_count;
/* Fills the open computation with some instructions. */
void generate_instructions(generator *g, int count);

#endif
