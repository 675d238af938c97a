/* infer_shape - ops that make data, move it, or give it another shape (spec section 8.3). Rule
 * labels stand at each function. */
#include "infer.h"

#include "limits.h"

#include <string.h>

const hl_shape *hl_infer_stated(hl_infer *infer, const hl_instruction *ins)
{
  (void)infer;
  return ins->shape;
}

/* iota-c1: numbers only; iota-c2: rank at least 1; iota-c3: the dimension is in range. */
const hl_shape *hl_infer_iota(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *shape = ins->shape;
  int64_t dim = hl_attr_int(ins, HL_ATTR_IOTA_DIMENSION, 0);
  bool is_good = true;
  if (!hl_shape_is_array(shape) || shape->element_type == HL_PRED)
    is_good = hl_error(infer->diag, hl_place_shape(ins), HL_RULE_IOTA_C1,
                       "'iota' yields an array of numbers, not %s", hl_say(infer, shape));
  else if (!shape->rank)
    is_good =
        hl_error(infer->diag, hl_place_shape(ins), HL_RULE_IOTA_C2,
                 "'iota' needs a dimension to count along; %s has none", hl_say(infer, shape));
  else if (dim < 0 || dim >= shape->rank)
    is_good = hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_IOTA_DIMENSION), HL_RULE_IOTA_C3,
                       "iota_dimension %lld is no dimension of %s, which has rank %d",
                       (long long)dim, hl_say(infer, shape), shape->rank);
  return is_good ? shape : NULL;
}

static void help_broadcast(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0), *result = ins->shape;
  int64_t list[HL_LIMIT_RANK], kept[HL_LIMIT_RANK];
  int n = 0;
  hl_placing p = {.small = x, .large = result, .is_exact = true};
  if (hl_only_placement(&p, list)) {
    hl_help(infer->diag, "write dimensions={%s}", hl_say_ints(infer, x->rank, list));
    return;
  }
  for (int i = 0; i < x->rank; i++)
    if (x->dimensions[i] != 1)
      kept[n++] = x->dimensions[i];
  p.small = hl_shape_new(infer->arena, x->element_type, n, kept);
  if (n < x->rank && hl_only_placement(&p, list))
    hl_help(infer->diag,
            "a size of 1 is never stretched: write %s broadcast(%s reshape(%s)), dimensions={%s}",
            hl_say(infer, result), hl_say(infer, p.small), ins->operands[0]->name,
            hl_say_ints(infer, n, list));
}

/* broadcast-c3: the sizes are equal. */
static bool check_broadcast_sizes(hl_infer *infer, const hl_instruction *ins, const hl_shape *x,
                                  hl_ints list)
{
  for (int i = 0; i < list.count; i++) {
    int64_t size = ins->shape->dimensions[list.values[i]];
    if (x->dimensions[i] == size)
      continue;
    return hl_error(infer->diag, hl_place_attr_entry(ins, HL_ATTR_DIMENSIONS, i),
                    HL_RULE_BROADCAST_C3,
                    "operand dimension %d has size %lld; result dimension %lld has size %lld", i,
                    (long long)x->dimensions[i], (long long)list.values[i], (long long)size);
  }
  return true;
}

/* broadcast-c1: one entry of `dimensions` for each operand dimension; -c2: each names a result
 * dimension; -c4: none twice; -c5: the result is an array of the operand's type and at least its
 * rank. */
const hl_shape *hl_infer_broadcast(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0), *result = ins->shape;
  hl_ints list = hl_attr_ints(ins, HL_ATTR_DIMENSIONS);
  if (!hl_shape_is_array(result) || result->element_type != x->element_type ||
      result->rank < x->rank) {
    hl_error(infer->diag, hl_place_shape(ins), HL_RULE_BROADCAST_C5,
             "'broadcast' of %s yields an array of type %s and of at least rank %d, not %s",
             hl_say(infer, x), hl_type_name(x->element_type), x->rank, hl_say(infer, result));
    return NULL;
  }
  bool is_good = hl_check_length(infer, ins, HL_ATTR_DIMENSIONS, x->rank, hl_say(infer, x),
                                 HL_RULE_BROADCAST_C1) &&
                 hl_check_range(infer, ins, HL_ATTR_DIMENSIONS, result->rank, "the result",
                                HL_RULE_BROADCAST_C2) &&
                 hl_check_distinct(infer, ins, HL_ATTR_DIMENSIONS, HL_RULE_BROADCAST_C4) &&
                 check_broadcast_sizes(infer, ins, x, list);
  if (!is_good)
    help_broadcast(infer, ins);
  return is_good ? result : NULL;
}

/* reshape-c1: an array of the operand's type with as many elements. */
const hl_shape *hl_infer_reshape(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0), *result = ins->shape;
  if (hl_shape_is_array(result) && result->element_type == x->element_type &&
      hl_shape_elements(result) == hl_shape_elements(x))
    return result;
  if (hl_shape_is_array(result) && result->element_type == x->element_type)
    hl_error(infer->diag, hl_place_shape(ins), HL_RULE_RESHAPE_C1,
             "'reshape' of %s with %lld elements to %s with %lld elements", hl_say(infer, x),
             (long long)hl_shape_elements(x), hl_say(infer, result),
             (long long)hl_shape_elements(result));
  else
    hl_error(infer->diag, hl_place_shape(ins), HL_RULE_RESHAPE_C1,
             "'reshape' of %s yields an array of type %s, not %s", hl_say(infer, x),
             hl_type_name(x->element_type), hl_say(infer, result));
  return NULL;
}

/* The bits an element takes where bytes are reinterpreted: a pred is a byte. */
static int64_t stored_bits(hl_element_type type)
{
  return type == HL_PRED ? 8 : hl_type_bits(type);
}

/* bitcast-c1: an array of as many bytes. */
const hl_shape *hl_infer_bitcast(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0), *result = ins->shape;
  int64_t from = 0, to = 0;
  bool fits = hl_shape_is_array(result) &&
              hl_mul_i64(hl_shape_elements(x), stored_bits(x->element_type), &from) &&
              hl_mul_i64(hl_shape_elements(result), stored_bits(result->element_type), &to);
  if (fits && from == to)
    return result;
  hl_error(infer->diag, hl_place_shape(ins), HL_RULE_BITCAST_C1,
           "'bitcast' of %s yields an array of as many bytes, not %s", hl_say(infer, x),
           hl_say(infer, result));
  return NULL;
}

/* Widening: the operand's last dimension holds the parts of one result element and vanishes. */
static const hl_shape *bitcast_wider(hl_infer *infer, const hl_instruction *ins, hl_element_type to,
                                     int64_t factor)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  if (x->rank && x->dimensions[x->rank - 1] == factor)
    return hl_make_array(infer, ins, to, x->rank - 1, x->dimensions);
  /* With the operand's own dimensions written, the result is at fault, else the operand. */
  bool is_result = hl_shape_same_dimensions(x, ins->shape);
  hl_error(
      infer->diag, is_result ? hl_place_shape(ins) : hl_place_operand(ins, 0),
      HL_RULE_BITCAST_CONVERT_C2,
      "'bitcast-convert' of %s to %s needs a last dimension of %lld, which becomes one element",
      hl_say(infer, x), hl_type_name(to), (long long)factor);
  return NULL;
}

static const hl_shape *bitcast_narrower(hl_infer *infer, const hl_instruction *ins,
                                        hl_element_type to, int64_t factor)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  int64_t sizes[HL_LIMIT_RANK + 1];
  if (x->rank)
    memcpy(sizes, x->dimensions, (size_t)x->rank * sizeof *sizes);
  sizes[x->rank] = factor;
  return hl_make_array(infer, ins, to, x->rank + 1, sizes);
}

/* bitcast-convert-c1: both or neither complex, one width a multiple of the other; -c2: widening by
 * k needs a last dimension of k. */
const hl_shape *hl_infer_bitcast_convert(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  hl_element_type from = x->element_type, to = ins->shape->element_type;
  int64_t old_bits = stored_bits(from), new_bits = stored_bits(to);
  bool is_good = hl_shape_is_array(ins->shape) && hl_is_complex(from) == hl_is_complex(to) &&
                 (old_bits % new_bits == 0 || new_bits % old_bits == 0);
  if (!is_good) {
    hl_error(infer->diag, hl_place_shape(ins), HL_RULE_BITCAST_CONVERT_C1,
             "'bitcast-convert' cannot turn %s into %s", hl_say(infer, x),
             hl_say(infer, ins->shape));
    return NULL;
  }
  if (old_bits == new_bits)
    return hl_shape_with_type(infer->arena, x, to);
  if (old_bits < new_bits)
    return bitcast_wider(infer, ins, to, new_bits / old_bits);
  return bitcast_narrower(infer, ins, to, old_bits / new_bits);
}

/* transpose-c1: one entry for each dimension; transpose-c2: a permutation. */
const hl_shape *hl_infer_transpose(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  int64_t sizes[HL_LIMIT_RANK];
  bool is_good = hl_check_length(infer, ins, HL_ATTR_DIMENSIONS, x->rank, hl_say(infer, x),
                                 HL_RULE_TRANSPOSE_C1) &&
                 hl_check_range(infer, ins, HL_ATTR_DIMENSIONS, x->rank, "the operand",
                                HL_RULE_TRANSPOSE_C2) &&
                 hl_check_distinct(infer, ins, HL_ATTR_DIMENSIONS, HL_RULE_TRANSPOSE_C2);
  if (!is_good)
    return NULL;
  for (int i = 0; i < x->rank; i++)
    sizes[i] = x->dimensions[hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[i]];
  return hl_make_array(infer, ins, x->element_type, x->rank, sizes);
}

static bool slice_error(hl_infer *infer, const hl_instruction *ins, int entry, hl_rule rule,
                        const char *text, int64_t size)
{
  const hl_slice_dim *d = &hl_attr_find(ins, HL_ATTR_SLICE)->slice.dims[entry / 3];
  return hl_error(infer->diag, hl_place_attr_entry(ins, HL_ATTR_SLICE, entry), rule,
                  "slice [%lld:%lld:%lld] of dimension %d with size %lld: %s", (long long)d->start,
                  (long long)d->limit, (long long)d->stride, entry / 3, (long long)size, text);
}

static bool check_slice_dim(hl_infer *infer, const hl_instruction *ins, int dim, int64_t size)
{
  const hl_slice_dim *d = &hl_attr_find(ins, HL_ATTR_SLICE)->slice.dims[dim];
  if (d->start < 0)
    return slice_error(infer, ins, 3 * dim, HL_RULE_SLICE_C2, "the start is negative", size);
  if (d->start > d->limit)
    return slice_error(infer, ins, 3 * dim, HL_RULE_SLICE_C2, "the start lies behind the limit",
                       size);
  if (d->limit > size)
    return slice_error(infer, ins, 3 * dim + 1, HL_RULE_SLICE_C3, "the limit exceeds the size",
                       size);
  if (d->stride < 1)
    return slice_error(infer, ins, 3 * dim + 2, HL_RULE_SLICE_C4, "the stride must be at least 1",
                       size);
  return true;
}

/* slice-c1: one range for each dimension; -c2: 0 <= start <= limit; -c3: limit <= size; -c4: stride
 * >= 1. */
const hl_shape *hl_infer_slice(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  const hl_attr *attr = hl_attr_find(ins, HL_ATTR_SLICE);
  int64_t sizes[HL_LIMIT_RANK];
  if (attr->slice.count != x->rank) {
    hl_error(infer->diag, attr->value_range, HL_RULE_SLICE_C1,
             "slice has %d range%s; the operand %s has rank %d", attr->slice.count,
             attr->slice.count == 1 ? "" : "s", hl_say(infer, x), x->rank);
    return NULL;
  }
  for (int i = 0; i < x->rank; i++) {
    if (!check_slice_dim(infer, ins, i, x->dimensions[i]))
      return NULL;
    const hl_slice_dim *d = &attr->slice.dims[i];
    int64_t length = d->limit - d->start;
    sizes[i] = length / d->stride + (length % d->stride != 0);
  }
  return hl_make_array(infer, ins, x->element_type, x->rank, sizes);
}

/* concatenate-c3: same rank, and the same sizes but along the dimension. */
static bool check_concatenated(hl_infer *infer, const hl_instruction *ins, int index, int64_t dim)
{
  const hl_shape *first = hl_operand_shape(ins, 0), *x = hl_operand_shape(ins, index);
  bool is_good = x->rank == first->rank;
  for (int i = 0; is_good && i < x->rank; i++)
    is_good = i == dim || x->dimensions[i] == first->dimensions[i];
  return is_good || hl_error(infer->diag, hl_place_operand(ins, index), HL_RULE_CONCATENATE_C3,
                             "operands 0 and %d of 'concatenate' are %s and %s; they may differ in "
                             "dimension %lld alone",
                             index, hl_say(infer, first), hl_say(infer, x), (long long)dim);
}

/* concatenate-c1: one dimension, in range; concatenate-c2: one element type. */
const hl_shape *hl_infer_concatenate(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *first = hl_operand_shape(ins, 0);
  int64_t sizes[HL_LIMIT_RANK], sum = 0;
  if (!hl_check_length(infer, ins, HL_ATTR_DIMENSIONS, 1, "it", HL_RULE_CONCATENATE_C1) ||
      !hl_check_range(infer, ins, HL_ATTR_DIMENSIONS, first->rank, hl_say(infer, first),
                      HL_RULE_CONCATENATE_C1))
    return NULL;
  int64_t dim = hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0];
  for (int i = 0; i < ins->operand_count; i++) {
    if (!hl_check_same_type(infer, ins, i, 0, HL_RULE_CONCATENATE_C2) ||
        !check_concatenated(infer, ins, i, dim))
      return NULL;
    if (!hl_add_i64(sum, hl_operand_shape(ins, i)->dimensions[dim], &sum)) {
      hl_error(infer->diag, hl_place_opcode(ins), HL_RULE_LIMIT,
               "the size along dimension %lld does not fit in 63 bits", (long long)dim);
      return NULL;
    }
  }
  memcpy(sizes, first->dimensions, (size_t)first->rank * sizeof *sizes);
  sizes[dim] = sum;
  return hl_make_array(infer, ins, first->element_type, first->rank, sizes);
}

/* low + high + size + max(size - 1, 0) * interior, false on overflow. */
static bool padded_size(const hl_padding_dim *d, int64_t size, int64_t *out)
{
  int64_t inner;
  return hl_mul_i64(size > 1 ? size - 1 : 0, d->interior, &inner) &&
         hl_add_i64(inner, size, &inner) && hl_add_i64(inner, d->low, &inner) &&
         hl_add_i64(inner, d->high, out);
}

static bool check_padding_dim(hl_infer *infer, const hl_instruction *ins, int dim, int64_t size,
                              int64_t *out)
{
  const hl_padding_dim *d = &hl_attr_find(ins, HL_ATTR_PADDING)->padding.dims[dim];
  if (d->interior < 0)
    return hl_error(infer->diag, hl_place_attr_entry(ins, HL_ATTR_PADDING, 3 * dim + 2),
                    HL_RULE_PAD_C3, "interior padding %lld of dimension %d is negative",
                    (long long)d->interior, dim);
  if (!padded_size(d, size, out))
    return hl_error(infer->diag, hl_place_attr_entry(ins, HL_ATTR_PADDING, 3 * dim), HL_RULE_LIMIT,
                    "the padded size of dimension %d does not fit in 63 bits", dim);
  if (*out < 0)
    return hl_error(
        infer->diag, hl_place_attr_entry(ins, HL_ATTR_PADDING, 3 * dim + (d->low >= 0)),
        HL_RULE_PAD_C4,
        "padding %lld_%lld_%lld takes more than dimension %d has: %lld elements become %lld",
        (long long)d->low, (long long)d->high, (long long)d->interior, dim, (long long)size,
        (long long)*out);
  return true;
}

/* pad-c1: the padding value is a scalar of the operand's type; -c2: one entry for each dimension;
 * -c3: interior >= 0; -c4: no negative size. */
const hl_shape *hl_infer_pad(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  const hl_attr *attr = hl_attr_find(ins, HL_ATTR_PADDING);
  int64_t sizes[HL_LIMIT_RANK];
  if (!hl_check_scalar(infer, ins, 1, x->element_type, HL_RULE_PAD_C1))
    return NULL;
  if (attr->padding.count != x->rank) {
    hl_error(infer->diag, attr->value_range, HL_RULE_PAD_C2,
             "padding has %d entr%s; the operand %s has rank %d", attr->padding.count,
             attr->padding.count == 1 ? "y" : "ies", hl_say(infer, x), x->rank);
    return NULL;
  }
  for (int i = 0; i < x->rank; i++)
    if (!check_padding_dim(infer, ins, i, x->dimensions[i], &sizes[i]))
      return NULL;
  return hl_make_array(infer, ins, x->element_type, x->rank, sizes);
}

/* reverse-c1: dimensions in range; reverse-c2: none twice. */
const hl_shape *hl_infer_reverse(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  bool is_good = hl_check_range(infer, ins, HL_ATTR_DIMENSIONS, x->rank, hl_say(infer, x),
                                HL_RULE_REVERSE_C1) &&
                 hl_check_distinct(infer, ins, HL_ATTR_DIMENSIONS, HL_RULE_REVERSE_C2);
  return is_good ? x : NULL;
}

/* tuple-c1: as many elements as the written shape has. */
const hl_shape *hl_infer_tuple(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape **shapes = HL_ARRAY(infer->arena, ins->operand_count, const hl_shape *);
  for (int i = 0; i < ins->operand_count; i++)
    shapes[i] = hl_operand_shape(ins, i);
  int written = ins->shape && ins->shape->element_type == HL_TUPLE ? ins->shape->tuple_count
                                                                   : ins->operand_count;
  if (written != ins->operand_count) {
    bool is_short = ins->operand_count < written && ins->places;
    hl_error(infer->diag, is_short ? ins->places->lparen : hl_place_operand(ins, written),
             HL_RULE_TUPLE_C1, "the shape %s has %d element%s; 'tuple' has %d operand%s",
             hl_say(infer, ins->shape), written, written == 1 ? "" : "s", ins->operand_count,
             ins->operand_count == 1 ? "" : "s");
    return NULL;
  }
  return hl_shape_tuple(infer->arena, ins->operand_count, shapes);
}

/* get-tuple-element-c1: of a tuple; get-tuple-element-c2: the index is in range. */
const hl_shape *hl_infer_get_tuple_element(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  int64_t index = hl_attr_int(ins, HL_ATTR_INDEX, 0);
  if (x->element_type != HL_TUPLE) {
    hl_error(infer->diag, hl_place_operand(ins, 0), HL_RULE_GET_TUPLE_ELEMENT_C1,
             "'get-tuple-element' takes a tuple; the operand is %s", hl_say(infer, x));
    return NULL;
  }
  if (index < 0 || index >= x->tuple_count) {
    hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_INDEX), HL_RULE_GET_TUPLE_ELEMENT_C2,
             "index %lld is outside the tuple %s of %d element%s", (long long)index,
             hl_say(infer, x), x->tuple_count, x->tuple_count == 1 ? "" : "s");
    return NULL;
  }
  return x->tuple_shapes[index];
}

const hl_shape *hl_infer_copy_start(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  return hl_shape_tuple(infer->arena, 3,
                        (const hl_shape *[]){x, x, hl_shape_scalar(infer->arena, HL_U32)});
}

/* copy-done-c1: the operand is a copy-start. */
const hl_shape *hl_infer_copy_done(hl_infer *infer, const hl_instruction *ins)
{
  const hl_instruction *start = ins->operands[0];
  if (start->opcode == HL_OP_COPY_START)
    return hl_element_shape(start->shape, 0);
  hl_error(infer->diag, hl_place_operand(ins, 0), HL_RULE_COPY_DONE_C1,
           "the operand of 'copy-done' must be a copy-start; '%s' is a %s", start->name,
           hl_say_op(start));
  return NULL;
}

/* get-dimension-size-c1: one dimension, in range. */
static bool check_one_dimension(hl_infer *infer, const hl_instruction *ins, hl_rule rule)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  return hl_check_length(infer, ins, HL_ATTR_DIMENSIONS, 1, "it", rule) &&
         hl_check_range(infer, ins, HL_ATTR_DIMENSIONS, x->rank, hl_say(infer, x), rule);
}

const hl_shape *hl_infer_get_dimension_size(hl_infer *infer, const hl_instruction *ins)
{
  return check_one_dimension(infer, ins, HL_RULE_GET_DIMENSION_SIZE_C1)
             ? hl_shape_scalar(infer->arena, HL_S32)
             : NULL;
}

/* set-dimension-size-c1: of an array, one dimension, in range; -c2: the size is s32[]. */
const hl_shape *hl_infer_set_dimension_size(hl_infer *infer, const hl_instruction *ins)
{
  if (!hl_check_array(infer, ins, 0, HL_RULE_SET_DIMENSION_SIZE_C1) ||
      !check_one_dimension(infer, ins, HL_RULE_SET_DIMENSION_SIZE_C1) ||
      !hl_check_scalar(infer, ins, 1, HL_S32, HL_RULE_SET_DIMENSION_SIZE_C2))
    return NULL;
  hl_shape *shape = hl_arena_memdup(infer->arena, hl_operand_shape(ins, 0), sizeof *shape);
  bool *is_dynamic = HL_ARRAY(infer->arena, shape->rank, bool);
  if (shape->is_dynamic)
    memcpy(is_dynamic, shape->is_dynamic, (size_t)shape->rank * sizeof *is_dynamic);
  is_dynamic[hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0]] = true;
  shape->is_dynamic = is_dynamic;
  return shape;
}

/* dynamic-reshape-c1: of an array to one of its type and count; dynamic-reshape-c2: one s32[] for
 * each result dimension. */
const hl_shape *hl_infer_dynamic_reshape(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0), *result = ins->shape;
  if (!hl_check_array(infer, ins, 0, HL_RULE_DYNAMIC_RESHAPE_C1))
    return NULL;
  if (!hl_shape_is_array(result) || result->element_type != x->element_type ||
      hl_shape_elements(result) != hl_shape_elements(x) || result->rank != ins->operand_count - 1) {
    hl_error(infer->diag, hl_place_shape(ins), HL_RULE_DYNAMIC_RESHAPE_C1,
             "'dynamic-reshape' of %s with %d sizes cannot yield %s", hl_say(infer, x),
             ins->operand_count - 1, hl_say(infer, result));
    return NULL;
  }
  for (int i = 1; i < ins->operand_count; i++)
    if (!hl_check_scalar(infer, ins, i, HL_S32, HL_RULE_DYNAMIC_RESHAPE_C2))
      return NULL;
  return result;
}

/* add-dependency-c1: on a token. */
const hl_shape *hl_infer_add_dependency(hl_infer *infer, const hl_instruction *ins)
{
  return hl_check_token(infer, ins, 1, HL_RULE_ADD_DEPENDENCY_C1) ? hl_operand_shape(ins, 0) : NULL;
}

/* after-all-c1: tokens only. */
const hl_shape *hl_infer_after_all(hl_infer *infer, const hl_instruction *ins)
{
  for (int i = 0; i < ins->operand_count; i++)
    if (!hl_check_token(infer, ins, i, HL_RULE_AFTER_ALL_C1))
      return NULL;
  return hl_shape_scalar(infer->arena, HL_TOKEN);
}
