/* simplify_move - rules for copy, convert, select, slice, pad, concatenate and reverse: they keep
 * bits, so they are exact. */
#include "simplify.h"

#include "../ir/limits.h"

#include <string.h>

/* copy(x) -> x: values have no place here, buffers are planned later. */
static hl_instruction *copy_of_value(hl_instruction *ins)
{
  return ins->operands[0];
}

/* convert(x) -> x, when the type is the same: a move (numerics rule 2). */
static hl_instruction *convert_to_itself(hl_instruction *ins)
{
  hl_instruction *x = ins->operands[0];
  return x->shape->element_type == ins->shape->element_type ? x : NULL;
}

/* bitcast-convert(x) -> x, when the type is the same. */
static hl_instruction *bitcast_convert_to_itself(hl_instruction *ins)
{
  return convert_to_itself(ins);
}

/* bitcast-convert(bitcast-convert(x)) -> bitcast-convert(x) or x, when all three have one width. */
static hl_instruction *bitcast_convert_twice(hl_instruction *ins)
{
  hl_instruction *inner = ins->operands[0];
  if (inner->opcode != HL_OP_BITCAST_CONVERT)
    return NULL;
  hl_instruction *x = inner->operands[0];
  int bits = hl_type_bits(ins->shape->element_type);
  if (hl_type_bits(inner->shape->element_type) != bits ||
      hl_type_bits(x->shape->element_type) != bits)
    return NULL;
  return x->shape->element_type == ins->shape->element_type ? x
                                                            : hl_make_again(ins, ins->shape, &x);
}

/* Whether every value of one type is a value of the other. */
static bool is_lossless(hl_element_type from, hl_element_type to)
{
  hl_type_class a = hl_type_class_of(from), b = hl_type_class_of(to);
  int in = hl_type_bits(from), out = hl_type_bits(to);
  if (a == HL_CLASS_PRED)
    return b != HL_CLASS_COMPLEX && out >= 8 && to != HL_F8E8M0FNU;
  if (a == HL_CLASS_FLOAT && b == HL_CLASS_FLOAT)
    return (to == HL_F32 && in <= 16) || (to == HL_F64 && in <= 32);
  if ((a == HL_CLASS_SIGNED || a == HL_CLASS_UNSIGNED) && b == HL_CLASS_FLOAT)
    return (to == HL_F32 && in <= 16) || (to == HL_F64 && in <= 32);
  if (a == b)
    return in < out && a != HL_CLASS_COMPLEX;
  return a == HL_CLASS_UNSIGNED && b == HL_CLASS_SIGNED && in < out;
}

/* From integer through float to another integer a value out of range saturates; without the float
 * it would wrap. */
static bool saturates(hl_element_type from, hl_element_type middle, hl_element_type to)
{
  return hl_is_integral(from) && hl_is_float(middle) && from != to && !hl_is_float(to);
}

/* convert(convert(x)) -> convert(x), when the inner one loses nothing. Back to a float type the
 * pair still makes a moved NaN canonical, so that one stays. */
static hl_instruction *convert_twice(hl_instruction *ins)
{
  const hl_instruction *inner = ins->operands[0];
  if (inner->opcode != HL_OP_CONVERT)
    return NULL;
  hl_instruction *x = inner->operands[0];
  hl_element_type from = x->shape->element_type, to = ins->shape->element_type;
  hl_element_type middle = inner->shape->element_type;
  if (!is_lossless(from, middle) || saturates(from, middle, to) || hl_is_complex(to) ||
      (from == to && hl_is_float(to)))
    return NULL;
  return from == to ? x : hl_make_again(ins, ins->shape, &x);
}

/* select(true, x, y) -> x; select(false, x, y) -> y */
static hl_instruction *select_decided(hl_instruction *ins)
{
  const hl_literal *selector = hl_splat_of(ins->operands[0]);
  if (!selector)
    return NULL;
  return ins->operands[hl_literal_get_int(selector, 0) ? 1 : 2];
}

/* select(p, x, x) -> x */
static hl_instruction *select_of_same(hl_instruction *ins)
{
  return ins->operands[1] == ins->operands[2] ? ins->operands[1] : NULL;
}

/* select(not p, x, y) -> select(p, y, x) */
static hl_instruction *select_of_not(hl_instruction *ins)
{
  const hl_instruction *p = ins->operands[0];
  if (p->opcode != HL_OP_NOT)
    return NULL;
  hl_instruction *operands[3] = {p->operands[0], ins->operands[2], ins->operands[1]};
  return hl_make_again(ins, ins->shape, operands);
}

static const hl_slice_dim *slice_dims(const hl_instruction *ins)
{
  return hl_attr_find(ins, HL_ATTR_SLICE)->slice.dims;
}

/* slice(x) -> x, when it takes everything. */
static hl_instruction *slice_of_all(hl_instruction *ins)
{
  hl_instruction *x = ins->operands[0];
  return hl_shape_same_dimensions(ins->shape, x->shape) ? x : NULL;
}

/* The slice dimension that takes `count` elements from `start` in steps. */
static hl_slice_dim slice_range(int64_t start, int64_t count, int64_t stride)
{
  if (count <= 1) /* a stride that nothing uses could only overflow */
    return (hl_slice_dim){start, start + count, 1};
  return (hl_slice_dim){start, start + (count - 1) * stride + 1, stride};
}

/* slice(slice(x)) -> slice(x) */
static hl_instruction *slice_twice(hl_instruction *ins)
{
  const hl_instruction *inner = ins->operands[0];
  if (inner->opcode != HL_OP_SLICE || hl_shape_elements(ins->shape) == 0)
    return NULL;
  const hl_slice_dim *outer = slice_dims(ins), *first = slice_dims(inner);
  hl_slice_dim dims[HL_LIMIT_RANK];
  for (int i = 0; i < ins->shape->rank; i++) {
    int64_t count = ins->shape->dimensions[i];
    int64_t stride = count > 1 ? first[i].stride * outer[i].stride : 1;
    dims[i] = slice_range(first[i].start + outer[i].start * first[i].stride, count, stride);
  }
  return hl_make_slice(ins, inner->operands[0], dims);
}

/* slice(broadcast(x)) -> broadcast(slice(x)) */
static hl_instruction *slice_of_broadcast(hl_instruction *ins)
{
  const hl_instruction *b = ins->operands[0];
  if (b->opcode != HL_OP_BROADCAST)
    return NULL;
  hl_ints positions = hl_attr_ints(b, HL_ATTR_DIMENSIONS);
  hl_slice_dim dims[HL_LIMIT_RANK];
  for (int i = 0; i < positions.count; i++)
    dims[i] = slice_dims(ins)[positions.values[i]];
  hl_instruction *x = hl_make_slice(ins, b->operands[0], dims);
  return hl_make_broadcast(ins, x, ins->shape->rank, ins->shape->dimensions, positions.values);
}

/* slice(concatenate(..., x, ...)) -> slice(x), when it takes elements of x alone. */
static hl_instruction *slice_of_concatenate(hl_instruction *ins)
{
  const hl_instruction *c = ins->operands[0];
  if (c->opcode != HL_OP_CONCATENATE || hl_shape_elements(ins->shape) == 0)
    return NULL;
  int64_t along = hl_attr_ints(c, HL_ATTR_DIMENSIONS).values[0], base = 0;
  hl_slice_dim dims[HL_LIMIT_RANK];
  memcpy(dims, slice_dims(ins), (size_t)ins->shape->rank * sizeof *dims);
  hl_slice_dim *dim = &dims[along];
  int64_t last = dim->start + (ins->shape->dimensions[along] - 1) * dim->stride;
  for (int i = 0; i < c->operand_count; i++) {
    int64_t end = base + c->operands[i]->shape->dimensions[along];
    if (dim->start >= base && dim->start < end) {
      if (last >= end)
        return NULL;
      *dim = slice_range(dim->start - base, ins->shape->dimensions[along], dim->stride);
      return hl_make_slice(ins, c->operands[i], dims);
    }
    base = end;
  }
  return NULL;
}

static const hl_padding_dim *padding_dims(const hl_instruction *ins)
{
  return hl_attr_find(ins, HL_ATTR_PADDING)->padding.dims;
}

/* Interior padding goes between elements: with fewer than two there is none. */
static bool adds_elements(const hl_padding_dim *dim, int64_t size)
{
  return dim->low > 0 || dim->high > 0 || (dim->interior > 0 && size > 1);
}

/* pad(x) that only takes away -> slice(x); that does nothing -> x */
static hl_instruction *pad_is_slice(hl_instruction *ins)
{
  hl_instruction *x = ins->operands[0];
  const hl_padding_dim *padding = padding_dims(ins);
  hl_slice_dim dims[HL_LIMIT_RANK];
  for (int i = 0; i < x->shape->rank; i++) {
    if (adds_elements(&padding[i], x->shape->dimensions[i]))
      return NULL;
    dims[i] = (hl_slice_dim){-padding[i].low, x->shape->dimensions[i] + padding[i].high, 1};
  }
  return hl_make_slice(ins, x, dims);
}

/* pad(x, value) without elements in x -> broadcast(value) */
static hl_instruction *pad_of_nothing(hl_instruction *ins)
{
  if (hl_shape_elements(ins->operands[0]->shape) != 0)
    return NULL;
  return hl_make_broadcast(ins, ins->operands[1], ins->shape->rank, ins->shape->dimensions, NULL);
}

/* pad(broadcast(value), value) -> broadcast(value) */
static hl_instruction *pad_of_same(hl_instruction *ins)
{
  if (hl_broadcast_scalar(ins->operands[0]) != ins->operands[1])
    return NULL;
  return hl_make_broadcast(ins, ins->operands[1], ins->shape->rank, ins->shape->dimensions, NULL);
}

/* concatenate(x) -> x; operands without elements go. */
static hl_instruction *concatenate_of_few(hl_instruction *ins)
{
  if (ins->operand_count == 1)
    return ins->operands[0];
  int64_t along = hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0];
  int kept = 0, one = 0;
  for (int i = 0; i < ins->operand_count; i++)
    if (ins->operands[i]->shape->dimensions[along]) {
      kept++;
      one = i;
    }
  if (kept == ins->operand_count)
    return NULL;
  if (kept <= 1)
    return ins->operands[one];
  hl_arena *arena = hl_arena_of(ins);
  hl_instruction **operands = HL_ARRAY(arena, kept, hl_instruction *);
  kept = 0;
  for (int i = 0; i < ins->operand_count; i++)
    if (ins->operands[i]->shape->dimensions[along])
      operands[kept++] = ins->operands[i];
  hl_instruction *made = hl_instruction_new(ins->computation, ins, HL_OP_CONCATENATE, NULL,
                                            ins->shape, kept, operands, ins);
  hl_instruction_add_ints(made, HL_ATTR_DIMENSIONS, 1, &along);
  return made;
}

/* reverse(x) -> x or over fewer dimensions, when some have at most one element;
 * reverse(broadcast(x)) -> broadcast(reverse(x)) */
static hl_instruction *reverse_of_ones(hl_instruction *ins)
{
  hl_ints reversed = hl_attr_ints(ins, HL_ATTR_DIMENSIONS);
  int64_t dims[HL_LIMIT_RANK];
  int count = 0;
  for (int i = 0; i < reversed.count; i++)
    if (ins->shape->dimensions[reversed.values[i]] > 1)
      dims[count++] = reversed.values[i];
  return count && count == reversed.count ? NULL
                                          : hl_make_reverse(ins, ins->operands[0], count, dims);
}

static hl_instruction *reverse_of_broadcast(hl_instruction *ins)
{
  const hl_instruction *b = ins->operands[0];
  if (b->opcode != HL_OP_BROADCAST)
    return NULL;
  hl_ints positions = hl_attr_ints(b, HL_ATTR_DIMENSIONS),
          reversed = hl_attr_ints(ins, HL_ATTR_DIMENSIONS);
  int64_t dims[HL_LIMIT_RANK];
  int count = 0;
  for (int i = 0; i < positions.count; i++)
    for (int k = 0; k < reversed.count; k++)
      if (reversed.values[k] == positions.values[i])
        dims[count++] = i;
  hl_instruction *x = hl_make_reverse(ins, b->operands[0], count, dims);
  return hl_make_broadcast(ins, x, ins->shape->rank, ins->shape->dimensions, positions.values);
}

/* reverse(reverse(x)) -> x, over the same dimensions. */
static hl_instruction *reverse_twice(hl_instruction *ins)
{
  const hl_instruction *inner = ins->operands[0];
  if (inner->opcode != HL_OP_REVERSE)
    return NULL;
  hl_ints a = hl_attr_ints(ins, HL_ATTR_DIMENSIONS), b = hl_attr_ints(inner, HL_ATTR_DIMENSIONS);
  bool is_same =
      a.count == b.count && !memcmp(a.values, b.values, (size_t)a.count * sizeof *a.values);
  return is_same ? inner->operands[0] : NULL;
}

const hl_simplify_rule hl_simplify_move_rules[] = {
    {HL_OP_COPY, copy_of_value},
    {HL_OP_CONVERT, convert_to_itself},
    {HL_OP_CONVERT, convert_twice},
    {HL_OP_BITCAST_CONVERT, bitcast_convert_to_itself},
    {HL_OP_BITCAST_CONVERT, bitcast_convert_twice},
    {HL_OP_SELECT, select_decided},
    {HL_OP_SELECT, select_of_same},
    {HL_OP_SELECT, select_of_not},
    {HL_OP_SLICE, slice_of_all},
    {HL_OP_SLICE, slice_twice},
    {HL_OP_SLICE, slice_of_broadcast},
    {HL_OP_SLICE, slice_of_concatenate},
    {HL_OP_PAD, pad_of_nothing},
    {HL_OP_PAD, pad_is_slice},
    {HL_OP_PAD, pad_of_same},
    {HL_OP_CONCATENATE, concatenate_of_few},
    {HL_OP_REVERSE, reverse_of_ones},
    {HL_OP_REVERSE, reverse_of_broadcast},
    {HL_OP_REVERSE, reverse_twice},
    {HL_OP_COUNT, NULL},
};
