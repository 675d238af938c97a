/* eval_bitcast - the same bits read as another type or in another order (spec 8.3). */
#include "eval_internal.h"

#include <string.h>

/* Bits of an element; pred counts as the byte it is stored in. */
static int width_of(hl_element_type type)
{
  return type == HL_PRED ? 8 : hl_type_bits(type);
}

/* The bits of one element as one little-endian number. */
typedef struct wide {
  uint64_t low, high;
} wide;

static wide wide_of(hl_element_type type, hl_scalar value)
{
  if (type == HL_C64)
    return (wide){value.re | value.im << 32, 0};
  return (wide){value.re, value.im};
}

static hl_scalar scalar_of(hl_element_type type, wide bits)
{
  if (type == HL_C64)
    return (hl_scalar){(uint32_t)bits.low, bits.low >> 32};
  if (hl_is_complex(type))
    return (hl_scalar){bits.low, bits.high};
  if (hl_is_float(type))
    return hl_scalar_part(
        hl_type_bits(type) < 64 ? bits.low & ((UINT64_C(1) << hl_type_bits(type)) - 1) : bits.low);
  return type == HL_PRED ? hl_scalar_part((bits.low & 0xff) != 0)
                         : hl_scalar_of_int(type, (int64_t)bits.low);
}

static wide shifted_right(wide bits, int count)
{
  if (count >= 64)
    return (wide){bits.high >> (count - 64), 0};
  return count ? (wide){bits.low >> count | bits.high << (64 - count), bits.high >> count} : bits;
}

static wide shifted_left(wide bits, int count)
{
  if (count >= 64)
    return (wide){0, bits.low << (count - 64)};
  return count ? (wide){bits.low << count, bits.high << count | bits.low >> (64 - count)} : bits;
}

/* One element becomes several: the lowest bits come first. */
static void split(hl_literal *result, const hl_literal *operand, int64_t parts)
{
  hl_element_type from = operand->shape->element_type, to = result->shape->element_type;
  int64_t count = hl_shape_elements(result->shape);
  for (int64_t i = 0; i < count; i++) {
    wide bits = wide_of(from, hl_scalar_load(operand, i / parts));
    hl_scalar_store(result, i,
                    scalar_of(to, shifted_right(bits, (int)(i % parts) * width_of(to))));
  }
}

static void join(hl_literal *result, const hl_literal *operand, int64_t parts)
{
  hl_element_type from = operand->shape->element_type, to = result->shape->element_type;
  int width = width_of(from);
  int64_t count = hl_shape_elements(result->shape);
  for (int64_t i = 0; i < count; i++) {
    wide whole = {0, 0};
    for (int64_t part = 0; part < parts; part++) {
      wide bits = wide_of(from, hl_scalar_load(operand, i * parts + part));
      if (width < 64)
        bits.low &= (UINT64_C(1) << width) - 1;
      bits = shifted_left(bits, (int)part * width);
      whole = (wide){whole.low | bits.low, whole.high | bits.high};
    }
    hl_scalar_store(result, i, scalar_of(to, whole));
  }
}

static void reinterpret(hl_literal *result, const hl_literal *operand)
{
  int64_t from = hl_shape_elements(operand->shape), to = hl_shape_elements(result->shape);
  if (to > from)
    split(result, operand, to / from);
  else if (to)
    join(result, operand, from / to);
}

const hl_literal *hl_eval_bitcast_convert(hl_eval *e, const hl_instruction *ins,
                                          const hl_literal *const *operands)
{
  hl_literal *result = hl_eval_new(e, ins->shape);
  reinterpret(result, operands[0]);
  return result;
}

/* The dimension that lies at `place` from the slowest in memory. */
static int64_t physical_dimension(const hl_shape *shape, int place)
{
  return shape->minor_to_major ? shape->minor_to_major[shape->rank - 1 - place] : place;
}

/* The shape whose row-major order is the memory order of a layout. */
static hl_shape physical_shape(const hl_shape *shape, int64_t *dimensions)
{
  for (int i = 0; i < shape->rank; i++)
    dimensions[i] = shape->dimensions[physical_dimension(shape, i)];
  return (hl_shape){
      .element_type = shape->element_type, .rank = shape->rank, .dimensions = dimensions};
}

const hl_literal *hl_eval_bitcast(hl_eval *e, const hl_instruction *ins,
                                  const hl_literal *const *operands)
{
  const hl_shape *from = ins->operands[0]->shape, *to = ins->shape;
  int64_t from_sizes[HL_LIMIT_RANK], to_sizes[HL_LIMIT_RANK], own[HL_LIMIT_RANK],
      strides[HL_LIMIT_RANK] = {0};
  hl_shape from_physical = physical_shape(from, from_sizes),
           to_physical = physical_shape(to, to_sizes);
  hl_row_major(from, own);
  for (int i = 0; i < from->rank; i++)
    strides[i] = own[physical_dimension(from, i)];
  hl_literal *bytes = hl_eval_strided(e, &from_physical, operands[0], 0, strides);
  hl_literal *result = hl_eval_new(e, &to_physical);
  reinterpret(result, bytes);
  hl_row_major(&to_physical, own);
  for (int i = 0; i < to->rank; i++)
    strides[physical_dimension(to, i)] = own[i];
  hl_literal *logical = hl_eval_strided(e, to, result, 0, strides);
  hl_eval_release(e, bytes);
  hl_eval_release(e, result);
  return logical;
}
