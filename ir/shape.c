/* shape - element types and the shapes of values. */
#include "shape.h"

#include <inttypes.h>
#include <string.h>

typedef struct type_info {
  const char *name;
  int bits, bytes;
  hl_type_class class;
} type_info;

static const type_info types[HL_TYPE_COUNT] = {
#define HL_TYPE(id, name, bits, bytes, class) [HL_##id] = {name, bits, bytes, HL_CLASS_##class},
#include "types.def"
    [HL_TUPLE] = {"tuple", 0, 0, HL_CLASS_TUPLE},
};

const char *hl_type_name(hl_element_type type)
{
  return types[type].name;
}

int hl_type_bits(hl_element_type type)
{
  return types[type].bits;
}

int hl_type_bytes(hl_element_type type)
{
  return types[type].bytes;
}

hl_type_class hl_type_class_of(hl_element_type type)
{
  return types[type].class;
}

hl_element_type hl_type_by_name(const char *name, size_t length)
{
  for (int i = 0; i < HL_TUPLE; i++)
    if (*types[i].name == *name && !strncmp(types[i].name, name, length) && !types[i].name[length])
      return (hl_element_type)i;
  return HL_TYPE_COUNT;
}

bool hl_is_integral(hl_element_type type)
{
  hl_type_class class = types[type].class;
  return class == HL_CLASS_SIGNED || class == HL_CLASS_UNSIGNED;
}

bool hl_is_float(hl_element_type type)
{
  return types[type].class == HL_CLASS_FLOAT;
}

bool hl_is_complex(hl_element_type type)
{
  return types[type].class == HL_CLASS_COMPLEX;
}

hl_element_type hl_component_type(hl_element_type type)
{
  return type == HL_C64 ? HL_F32 : type == HL_C128 ? HL_F64 : type;
}

const hl_shape *hl_shape_new(hl_arena *arena, hl_element_type type, int rank,
                             const int64_t *dimensions)
{
  hl_shape *shape = HL_NEW(arena, hl_shape);
  shape->element_type = type;
  shape->rank = rank;
  if (rank)
    shape->dimensions = hl_arena_memdup(arena, dimensions, (size_t)rank * sizeof *dimensions);
  return shape;
}

const hl_shape *hl_shape_scalar(hl_arena *arena, hl_element_type type)
{
  return hl_shape_new(arena, type, 0, NULL);
}

/* Leaves stay below overflow because the parts obey the limit, or the text's length does. */
static void count_tuple(hl_shape *tuple)
{
  for (int i = 0; i < tuple->tuple_count; i++) {
    const hl_shape *part = tuple->tuple_shapes[i];
    tuple->tuple_leaves += part->element_type == HL_TUPLE ? part->tuple_leaves : 1;
    if (part->tuple_depth > tuple->tuple_depth)
      tuple->tuple_depth = part->tuple_depth;
    tuple->tuple_has_dynamic = tuple->tuple_has_dynamic || hl_shape_has_dynamic(part);
  }
  tuple->tuple_depth++;
}

const hl_shape *hl_shape_tuple(hl_arena *arena, int count, const hl_shape *const *shapes)
{
  hl_shape *shape = HL_NEW(arena, hl_shape);
  shape->element_type = HL_TUPLE;
  shape->tuple_count = count;
  if (count)
    shape->tuple_shapes = hl_arena_memdup(arena, shapes, (size_t)count * sizeof *shapes);
  count_tuple(shape);
  return shape;
}

const hl_shape *hl_shape_with_type(hl_arena *arena, const hl_shape *shape, hl_element_type type)
{
  hl_shape *copy = HL_NEW(arena, hl_shape);
  *copy = *shape;
  copy->element_type = type;
  return copy;
}

bool hl_shape_is_array(const hl_shape *shape)
{
  return types[shape->element_type].class <= HL_CLASS_COMPLEX;
}

bool hl_shape_is_scalar(const hl_shape *shape)
{
  return hl_shape_is_array(shape) && !shape->rank;
}

bool hl_shape_same_dimensions(const hl_shape *a, const hl_shape *b)
{
  if (a->rank != b->rank)
    return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dimensions[i] != b->dimensions[i])
      return false;
  return true;
}

bool hl_shape_equal(const hl_shape *a, const hl_shape *b)
{
  if (a == b)
    return true;
  if (a->element_type != b->element_type || a->tuple_count != b->tuple_count)
    return false;
  for (int i = 0; i < a->tuple_count; i++)
    if (!hl_shape_equal(a->tuple_shapes[i], b->tuple_shapes[i]))
      return false;
  return hl_shape_same_dimensions(a, b);
}

bool hl_shape_has_dynamic(const hl_shape *shape)
{
  for (int i = 0; shape->is_dynamic && i < shape->rank; i++)
    if (shape->is_dynamic[i])
      return true;
  return shape->tuple_has_dynamic;
}

int64_t hl_shape_elements(const hl_shape *shape)
{
  int64_t count = 1;
  for (int i = 0; i < shape->rank; i++)
    count *= shape->dimensions[i];
  return count;
}

int64_t hl_shape_bytes(const hl_shape *shape)
{
  return hl_shape_elements(shape) * types[shape->element_type].bytes;
}

bool hl_mul_i64(int64_t a, int64_t b, int64_t *out)
{
  return !__builtin_mul_overflow(a, b, out);
}

bool hl_add_i64(int64_t a, int64_t b, int64_t *out)
{
  return !__builtin_add_overflow(a, b, out);
}

/* A size of 0 counts as 1, so that products over any part of the dimensions (strides) fit too. */
bool hl_shape_fits(hl_element_type type, int rank, const int64_t *dimensions)
{
  int64_t bytes = types[type].bytes ? types[type].bytes : 1;
  for (int i = 0; i < rank; i++)
    if (!hl_mul_i64(bytes, dimensions[i] > 1 ? dimensions[i] : 1, &bytes))
      return false;
  return true;
}

static void print_layout(hl_str *out, const hl_shape *shape)
{
  hl_str_add_char(out, '{');
  for (int i = 0; i < shape->rank; i++)
    hl_str_printf(out, "%s%" PRId64, i ? "," : "",
                  shape->minor_to_major ? shape->minor_to_major[i] : shape->rank - 1 - i);
  if (shape->layout_suffix)
    hl_str_printf(out, ":%s", shape->layout_suffix);
  hl_str_add_char(out, '}');
}

static void print_array(hl_str *out, const hl_shape *shape, bool with_layout)
{
  hl_str_printf(out, "%s[", types[shape->element_type].name);
  for (int i = 0; i < shape->rank; i++) {
    const char *bound = shape->is_dynamic && shape->is_dynamic[i] ? "<=" : "";
    hl_str_printf(out, "%s%s%" PRId64, i ? "," : "", bound, shape->dimensions[i]);
  }
  hl_str_add_char(out, ']');
  if (with_layout && (shape->layout_suffix || (shape->minor_to_major && shape->rank)))
    print_layout(out, shape);
}

void hl_shape_print(hl_str *out, const hl_shape *shape, bool with_layout)
{
  if (shape->element_type != HL_TUPLE) {
    print_array(out, shape, with_layout);
    return;
  }
  hl_str_add_char(out, '(');
  for (int i = 0; i < shape->tuple_count; i++) {
    hl_str_add(out, i ? ", " : "");
    hl_shape_print(out, shape->tuple_shapes[i], with_layout);
  }
  hl_str_add_char(out, ')');
}

enum { TEXT_NODES = 32 };

/* *left counts the shapes that may still be shown. */
static void print_head(hl_str *out, const hl_shape *shape, int *left)
{
  --*left;
  if (shape->element_type != HL_TUPLE) {
    print_array(out, shape, false);
    return;
  }
  hl_str_add_char(out, '(');
  for (int i = 0; i < shape->tuple_count; i++) {
    hl_str_add(out, i ? ", " : "");
    if (*left <= 0) {
      hl_str_add(out, "...");
      break;
    }
    print_head(out, shape->tuple_shapes[i], left);
  }
  hl_str_add_char(out, ')');
}

const char *hl_shape_text(hl_arena *arena, const hl_shape *shape)
{
  hl_str out = {.arena = arena};
  int left = TEXT_NODES;
  print_head(&out, shape, &left);
  return hl_str_text(&out);
}
