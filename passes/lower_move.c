/* lower_move.c - elements of instructions that make or move data: all of them only change the index. */
#include "lower_kernel.h"

#include <string.h>

static hl_index *new_index(hl_puller *p, const hl_instruction *operand)
{
  return HL_ARRAY(p->arena, operand->shape->rank + 1, hl_index);
}

/* Inside a region parameters are the region's arguments; others are stored and never come here. */
hl_value hl_lower_parameter(hl_puller *p, const hl_instruction *ins, int leaf,
                            const hl_index *index)
{
  (void)leaf, (void)index;
  return p->region_args[ins->parameter_number];
}

/* Only constants whose elements are all alike come here; the others are stored. */
hl_value hl_lower_constant(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf, (void)index;
  hl_element_type type = ins->shape->element_type, part = hl_component_type(type);
  hl_value value = {hl_put_const(p, part, hl_literal_get_bits(ins->literal, 0)), NULL};
  if (hl_is_complex(type))
    value.im = hl_put_const(p, part, hl_literal_get_bits(ins->literal, 1));
  return value;
}

hl_value hl_lower_iota(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf;
  int64_t dim = hl_attr_int(ins, HL_ATTR_IOTA_DIMENSION, 0);
  hl_node *x = hl_index_value(p, index[dim]);
  hl_element_type type = ins->shape->element_type, part = hl_component_type(type);
  hl_value value = {hl_put_convert(p, part, x), NULL};
  if (hl_is_complex(type))
    value.im = hl_put_const(p, part, 0);
  return value;
}

hl_value hl_lower_broadcast(hl_puller *p, const hl_instruction *ins, int leaf,
                            const hl_index *index)
{
  const hl_instruction *operand = ins->operands[0];
  hl_ints dims = hl_attr_ints(ins, HL_ATTR_DIMENSIONS);
  hl_index *at = new_index(p, operand);
  for (int i = 0; i < operand->shape->rank; i++)
    at[i] = index[dims.values[i]];
  return hl_pull(p, operand, leaf, at);
}

/* Dimensions of size 1 apart, are the shapes the same? Then no arithmetic is needed. */
static bool reshape_by_ones(const hl_shape *from, const hl_shape *to, const hl_index *index,
                            hl_index *at)
{
  int t = 0;
  for (int f = 0; f < from->rank; f++) {
    at[f] = hl_index_constant(0);
    if (from->dimensions[f] == 1)
      continue;
    while (t < to->rank && to->dimensions[t] == 1)
      t++;
    if (t == to->rank || to->dimensions[t] != from->dimensions[f])
      return false;
    at[f] = index[t++];
  }
  return true;
}

hl_value hl_lower_reshape(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  const hl_instruction *operand = ins->operands[0];
  hl_index *at = new_index(p, operand);
  if (!reshape_by_ones(operand->shape, ins->shape, index, at))
    hl_index_unflatten(p, operand->shape, hl_index_flatten(p, ins->shape, index), at);
  return hl_pull(p, operand, leaf, at);
}

hl_value hl_lower_transpose(hl_puller *p, const hl_instruction *ins, int leaf,
                            const hl_index *index)
{
  const hl_instruction *operand = ins->operands[0];
  hl_ints dims = hl_attr_ints(ins, HL_ATTR_DIMENSIONS);
  hl_index *at = new_index(p, operand);
  for (int i = 0; i < operand->shape->rank; i++)
    at[dims.values[i]] = index[i];
  return hl_pull(p, operand, leaf, at);
}

hl_value hl_lower_slice(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  const hl_instruction *operand = ins->operands[0];
  const hl_attr *slice = hl_attr_find(ins, HL_ATTR_SLICE);
  hl_index *at = new_index(p, operand);
  for (int i = 0; i < operand->shape->rank; i++)
    at[i] = hl_index_scale(p, index[i], slice->slice.dims[i].stride, slice->slice.dims[i].start);
  return hl_pull(p, operand, leaf, at);
}

hl_value hl_lower_reverse(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  const hl_instruction *operand = ins->operands[0];
  hl_ints dims = hl_attr_ints(ins, HL_ATTR_DIMENSIONS);
  hl_index *at = new_index(p, operand);
  memcpy(at, index, (size_t)operand->shape->rank * sizeof *at);
  for (int i = 0; i < dims.count; i++) {
    int64_t d = dims.values[i];
    at[d] = hl_index_scale(p, index[d], -1, operand->shape->dimensions[d] - 1);
  }
  return hl_pull(p, operand, leaf, at);
}

static hl_node *both(hl_puller *p, hl_node *x, hl_node *y)
{
  return !x ? y : !y ? x : hl_put_binary(p, HL_LOOP_AND, x, y);
}

/* `inside` holds where x may be read at all; elsewhere the value is otherwise, or nobody asks when that has no value. */
static hl_value pull_where(hl_puller *p, hl_node *inside, const hl_instruction *x,
                           const hl_index *at, hl_value otherwise)
{
  if (!inside)
    return hl_pull(p, x, 0, at);
  hl_node *outer = p->guard;
  p->guard = both(p, outer, inside);
  hl_value value = hl_pull(p, x, 0, at);
  p->guard = outer;
  if (!otherwise.re)
    return value;
  value.re = hl_put_select(p, inside, value.re, otherwise.re);
  if (value.im)
    value.im = hl_put_select(p, inside, value.im, otherwise.im);
  return value;
}

/* The place along one dimension before padding, and where it is real. */
static hl_node *unpad(hl_puller *p, hl_padding_dim pad, int64_t size, hl_index x, hl_index *at,
                      bool *never)
{
  int64_t step = pad.interior + 1, span = size ? (size - 1) * step + 1 : 0;
  x = hl_index_scale(p, x, 1, -pad.low);
  hl_node *inside = hl_index_within(p, x, 0, span, never);
  if (step == 1 || *never) {
    *at = x;
    return inside;
  }
  hl_index rest;
  hl_index_divide(p, x, step, at, &rest);
  int64_t low, high;
  hl_index_range(rest, &low, &high);
  if (low == 0 && high == 0)
    return inside;
  hl_node *hit = hl_put_binary(p, HL_LOOP_EQ, hl_index_value(p, rest), hl_put_int(p, HL_S64, 0));
  return both(p, inside, hit);
}

hl_value hl_lower_pad(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf;
  const hl_instruction *operand = ins->operands[0];
  const hl_attr *padding = hl_attr_find(ins, HL_ATTR_PADDING);
  hl_value otherwise = hl_pull(p, ins->operands[1], 0, NULL);
  hl_index *at = new_index(p, operand);
  hl_node *inside = NULL;
  for (int d = 0; d < operand->shape->rank; d++) {
    bool never;
    hl_node *here = unpad(p, padding->padding.dims[d], operand->shape->dimensions[d], index[d],
                          &at[d], &never);
    if (never)
      return otherwise;
    inside = both(p, inside, here);
  }
  return pull_where(p, inside, operand, at, otherwise);
}

static hl_value zero_of(hl_puller *p, hl_element_type type)
{
  hl_node *zero = hl_put_const(p, hl_component_type(type), 0);
  return (hl_value){zero, hl_is_complex(type) ? zero : NULL};
}

hl_value hl_lower_concatenate(hl_puller *p, const hl_instruction *ins, int leaf,
                              const hl_index *index)
{
  (void)leaf;
  int64_t d = hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0], end = ins->shape->dimensions[d];
  hl_value value = {NULL, NULL};
  for (int i = ins->operand_count; i-- > 0;) {
    const hl_instruction *operand = ins->operands[i];
    int64_t size = operand->shape->dimensions[d], start = end - size;
    end = start;
    bool never;
    hl_node *inside = hl_index_within(p, index[d], start, start + size, &never);
    if (never || size == 0)
      continue;
    hl_index *at = new_index(p, operand);
    memcpy(at, index, (size_t)operand->shape->rank * sizeof *at);
    at[d] = hl_index_scale(p, index[d], 1, -start);
    value = pull_where(p, inside, operand, at, value);
    if (!inside)
      break;
  }
  /* Of nothing but empty operands, in a loop that never runs. */
  return value.re ? value : zero_of(p, ins->shape->element_type);
}

/* A bitcast without layouts that matter is a reshape (expand-bitcasts rewrote the others). */
hl_value hl_lower_bitcast(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  return hl_lower_reshape(p, ins, leaf, index);
}
