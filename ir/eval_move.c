/* eval_move - ops that make and move data (spec 8.3). Bits of elements are kept. */
#include "eval_internal.h"

#include <string.h>

void hl_row_major(const hl_shape *shape, int64_t *strides)
{
  int64_t stride = 1;
  for (int i = shape->rank - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= shape->dimensions[i];
  }
}

bool hl_index_next(const hl_shape *shape, int64_t *index)
{
  for (int i = shape->rank - 1; i >= 0; i--) {
    if (++index[i] < shape->dimensions[i])
      return true;
    index[i] = 0;
  }
  return false;
}

void hl_axes_add(hl_axes *axes, int64_t size, int64_t stride)
{
  axes->total *= size;
  axes->sizes[axes->count] = size;
  axes->strides[axes->count++] = stride;
}

int64_t hl_axes_offset(const hl_axes *axes, int64_t number)
{
  int64_t offset = 0;
  for (int i = axes->count - 1; i >= 0; i--) {
    offset += number % axes->sizes[i] * axes->strides[i];
    number /= axes->sizes[i];
  }
  return offset;
}

void hl_eval_move(hl_literal *to, int64_t to_index, const hl_literal *from, int64_t from_index)
{
  hl_scalar_store(to, to_index, hl_scalar_load(from, from_index));
}

static int64_t dot_product(int count, const int64_t *a, const int64_t *b)
{
  int64_t sum = 0;
  for (int i = 0; i < count; i++)
    sum += a[i] * b[i];
  return sum;
}

hl_literal *hl_eval_strided(hl_eval *e, const hl_shape *shape, const hl_literal *operand,
                            int64_t offset, const int64_t *strides)
{
  hl_literal *result = hl_eval_new(e, shape);
  int64_t index[HL_LIMIT_RANK] = {0}, total = hl_shape_elements(shape);
  for (int64_t i = 0; i < total; i++) {
    hl_eval_move(result, i, operand, offset + dot_product(shape->rank, index, strides));
    hl_index_next(shape, index);
  }
  return result;
}

/* operand[i] goes to result[offset + sum of strides * i]. */
static void place(hl_literal *result, const hl_literal *operand, int64_t offset,
                  const int64_t *strides)
{
  const hl_shape *shape = operand->shape;
  int64_t index[HL_LIMIT_RANK] = {0}, total = hl_shape_elements(shape);
  for (int64_t i = 0; i < total; i++) {
    hl_eval_move(result, offset + dot_product(shape->rank, index, strides), operand, i);
    hl_index_next(shape, index);
  }
}

const hl_literal *hl_eval_constant(hl_eval *e, const hl_instruction *ins,
                                   const hl_literal *const *operands)
{
  (void)operands;
  return hl_eval_borrow(e, ins->literal);
}

const hl_literal *hl_eval_iota(hl_eval *e, const hl_instruction *ins,
                               const hl_literal *const *operands)
{
  (void)operands;
  hl_literal *result = hl_eval_new(e, ins->shape);
  int64_t dimension = hl_attr_int(ins, HL_ATTR_IOTA_DIMENSION, 0);
  int64_t index[HL_LIMIT_RANK] = {0}, total = hl_shape_elements(ins->shape);
  for (int64_t i = 0; i < total; i++) {
    hl_scalar number = hl_scalar_of_int(HL_S64, index[dimension]);
    hl_scalar_store(result, i, hl_scalar_convert(ins->shape->element_type, HL_S64, number));
    hl_index_next(ins->shape, index);
  }
  return result;
}

const hl_literal *hl_eval_identity(hl_eval *e, const hl_instruction *ins,
                                   const hl_literal *const *operands)
{
  (void)e;
  (void)ins;
  return hl_eval_retain(operands[0]);
}

const hl_literal *hl_eval_broadcast(hl_eval *e, const hl_instruction *ins,
                                    const hl_literal *const *operands)
{
  hl_ints dimensions = hl_attr_ints(ins, HL_ATTR_DIMENSIONS);
  int64_t own[HL_LIMIT_RANK], strides[HL_LIMIT_RANK] = {0};
  hl_row_major(operands[0]->shape, own);
  for (int i = 0; i < dimensions.count; i++)
    strides[dimensions.values[i]] = own[i];
  return hl_eval_strided(e, ins->shape, operands[0], 0, strides);
}

const hl_literal *hl_eval_reshape(hl_eval *e, const hl_instruction *ins,
                                  const hl_literal *const *operands)
{
  hl_literal *result = hl_eval_new(e, ins->shape);
  if (result->data)
    memcpy(result->data, operands[0]->data, (size_t)hl_shape_bytes(ins->shape));
  return result;
}

const hl_literal *hl_eval_transpose(hl_eval *e, const hl_instruction *ins,
                                    const hl_literal *const *operands)
{
  hl_ints permutation = hl_attr_ints(ins, HL_ATTR_DIMENSIONS);
  int64_t own[HL_LIMIT_RANK], strides[HL_LIMIT_RANK] = {0};
  hl_row_major(operands[0]->shape, own);
  for (int i = 0; i < permutation.count; i++)
    strides[i] = own[permutation.values[i]];
  return hl_eval_strided(e, ins->shape, operands[0], 0, strides);
}

const hl_literal *hl_eval_slice(hl_eval *e, const hl_instruction *ins,
                                const hl_literal *const *operands)
{
  const hl_attr *slice = hl_attr_find(ins, HL_ATTR_SLICE);
  int64_t strides[HL_LIMIT_RANK] = {0}, offset = 0;
  hl_row_major(operands[0]->shape, strides);
  for (int i = 0; i < ins->shape->rank; i++) {
    offset += slice->slice.dims[i].start * strides[i];
    strides[i] *= slice->slice.dims[i].stride;
  }
  return hl_eval_strided(e, ins->shape, operands[0], offset, strides);
}

const hl_literal *hl_eval_reverse(hl_eval *e, const hl_instruction *ins,
                                  const hl_literal *const *operands)
{
  hl_ints dimensions = hl_attr_ints(ins, HL_ATTR_DIMENSIONS);
  int64_t strides[HL_LIMIT_RANK] = {0}, offset = 0;
  hl_row_major(operands[0]->shape, strides);
  for (int i = 0; i < dimensions.count; i++) {
    int64_t d = dimensions.values[i];
    offset += (ins->shape->dimensions[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  return hl_eval_strided(e, ins->shape, operands[0], offset, strides);
}

const hl_literal *hl_eval_concatenate(hl_eval *e, const hl_instruction *ins,
                                      const hl_literal *const *operands)
{
  int64_t dimension = hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0];
  int64_t strides[HL_LIMIT_RANK] = {0}, offset = 0;
  hl_literal *result = hl_eval_new(e, ins->shape);
  hl_row_major(ins->shape, strides);
  for (int i = 0; i < ins->operand_count; i++) {
    place(result, operands[i], offset, strides);
    offset += operands[i]->shape->dimensions[dimension] * strides[dimension];
  }
  return result;
}

/* Where index i of the operand lands, or false when negative padding cuts it off. */
static bool padded_index(const hl_instruction *ins, const int64_t *index, int64_t *out)
{
  const hl_padding_dim *dims = hl_attr_find(ins, HL_ATTR_PADDING)->padding.dims;
  for (int d = 0; d < ins->shape->rank; d++) {
    out[d] = dims[d].low + index[d] * (dims[d].interior + 1);
    if (out[d] < 0 || out[d] >= ins->shape->dimensions[d])
      return false;
  }
  return true;
}

const hl_literal *hl_eval_pad(hl_eval *e, const hl_instruction *ins,
                              const hl_literal *const *operands)
{
  hl_literal *result = hl_eval_new(e, ins->shape);
  const hl_shape *from = operands[0]->shape;
  int64_t index[HL_LIMIT_RANK] = {0}, to[HL_LIMIT_RANK] = {0}, strides[HL_LIMIT_RANK] = {0};
  int64_t total = hl_shape_elements(ins->shape), count = hl_shape_elements(from);
  hl_row_major(ins->shape, strides);
  for (int64_t i = 0; i < total; i++)
    hl_eval_move(result, i, operands[1], 0);
  for (int64_t i = 0; i < count; i++) {
    if (padded_index(ins, index, to))
      hl_eval_move(result, dot_product(from->rank, to, strides), operands[0], i);
    hl_index_next(from, index);
  }
  return result;
}

const hl_literal *hl_eval_tuple(hl_eval *e, const hl_instruction *ins,
                                const hl_literal *const *operands)
{
  for (int i = 0; i < ins->operand_count; i++)
    hl_eval_retain(operands[i]);
  return hl_eval_tuple_of(e, ins->shape, operands);
}

const hl_literal *hl_eval_get_tuple_element(hl_eval *e, const hl_instruction *ins,
                                            const hl_literal *const *operands)
{
  (void)e;
  return hl_eval_retain(operands[0]->elements[hl_attr_int(ins, HL_ATTR_INDEX, 0)]);
}
