/* shape - element types and the shapes of values. Shapes are immutable once made and live in an
 * arena. */
#ifndef HL_SHAPE_H
#define HL_SHAPE_H

#include "str.h"

typedef enum hl_element_type {
#define HL_TYPE(id, name, bits, bytes, class) HL_##id,
#include "types.def"
  HL_TUPLE,
  HL_TYPE_COUNT
} hl_element_type;

typedef enum hl_type_class {
  HL_CLASS_PRED,
  HL_CLASS_SIGNED,
  HL_CLASS_UNSIGNED,
  HL_CLASS_FLOAT,
  HL_CLASS_COMPLEX,
  HL_CLASS_TOKEN,
  HL_CLASS_OPAQUE,
  HL_CLASS_TUPLE
} hl_type_class;

const char *hl_type_name(hl_element_type type);
int hl_type_bits(hl_element_type type);
int hl_type_bytes(hl_element_type type);
hl_type_class hl_type_class_of(hl_element_type type);
/* The type with this name, or HL_TYPE_COUNT. */
hl_element_type hl_type_by_name(const char *name, size_t length);
bool hl_is_integral(hl_element_type type); /* signed or unsigned, not pred */
bool hl_is_float(hl_element_type type);    /* floating, not complex */
bool hl_is_complex(hl_element_type type);
/* f32 for c64, f64 for c128; the type itself otherwise. */
hl_element_type hl_component_type(hl_element_type type);

typedef struct hl_shape hl_shape;
struct hl_shape {
  hl_element_type element_type; /* HL_TUPLE for tuples */
  int rank;
  const int64_t *dimensions;
  const bool *is_dynamic;        /* per dimension, `<=N`; NULL when none is */
  const int64_t *minor_to_major; /* NULL: default (descending) or not written */
  const char *layout_suffix;     /* text after ':' in the layout, kept for printing; NULL */
  int tuple_count;
  const hl_shape *const *tuple_shapes;
  /* Of tuples, counted when they are made: nesting and arrays, so that neither must be walked. */
  int tuple_depth;
  int64_t tuple_leaves;
  bool tuple_has_dynamic;
};

const hl_shape *hl_shape_new(hl_arena *arena, hl_element_type type, int rank,
                             const int64_t *dimensions);
const hl_shape *hl_shape_scalar(hl_arena *arena, hl_element_type type);
const hl_shape *hl_shape_tuple(hl_arena *arena, int count, const hl_shape *const *shapes);
const hl_shape *hl_shape_with_type(hl_arena *arena, const hl_shape *shape, hl_element_type type);

bool hl_shape_is_array(const hl_shape *shape);  /* neither tuple, token nor opaque */
bool hl_shape_is_scalar(const hl_shape *shape); /* array of rank 0 */
/* Equal types and dimensions, recursively; layouts are not compared. */
bool hl_shape_equal(const hl_shape *a, const hl_shape *b);
bool hl_shape_same_dimensions(const hl_shape *a, const hl_shape *b);
bool hl_shape_has_dynamic(const hl_shape *shape);
/* Elements of an array; shapes are checked when made, so this cannot overflow. */
int64_t hl_shape_elements(const hl_shape *shape);
/* Stored bytes of an array (elements * hl_type_bytes). */
int64_t hl_shape_bytes(const hl_shape *shape);
/* Whether element and byte counts fit int64_t (every partial product too). */
bool hl_shape_fits(hl_element_type type, int rank, const int64_t *dimensions);
/* Checked arithmetic: false on overflow. */
bool hl_mul_i64(int64_t a, int64_t b, int64_t *out);
bool hl_add_i64(int64_t a, int64_t b, int64_t *out);

/* Text as in HLO: f32[2,3], with_layout adds {1,0}. hl_shape_text gives arena text without layout,
 * for messages: a long tuple ends with "...". */
void hl_shape_print(hl_str *out, const hl_shape *shape, bool with_layout);
const char *hl_shape_text(hl_arena *arena, const hl_shape *shape);

#endif
