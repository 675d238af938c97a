/* same - when two instructions are written alike, names and places aside. */
#include "same.h"

#include <string.h>

enum { SAMPLE_BYTES = 256 }; /* of a literal: a hash need not read megabytes */

uint64_t hl_hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
  const unsigned char *p = data;
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
  return hash ^ hash >> 29;
}

static uint64_t hash_int(uint64_t hash, int64_t value)
{
  return hl_hash_bytes(hash, &value, sizeof value);
}

static uint64_t hash_shape(uint64_t hash, const hl_shape *shape)
{
  hash = hash_int(hash, shape->element_type);
  if (shape->rank)
    hash = hl_hash_bytes(hash, shape->dimensions, (size_t)shape->rank * sizeof *shape->dimensions);
  return hash_int(hash, shape->tuple_count);
}

static uint64_t hash_literal(uint64_t hash, const hl_literal *literal)
{
  if (!literal || !literal->data)
    return hash;
  size_t bytes = (size_t)hl_shape_bytes(literal->shape);
  return hl_hash_bytes(hash, literal->data, bytes < SAMPLE_BYTES ? bytes : SAMPLE_BYTES);
}

/* Attributes that inform, or that order what is ordered already. */
static bool only_informs(const hl_attr *attr)
{
  return attr->id < HL_ATTR_COMMON_LAST || attr->id == HL_ATTR_INFERRED_DIMENSION ||
         attr->id == HL_ATTR_OPERAND_PRECISION;
}

uint64_t hl_instruction_hash(const hl_instruction *ins)
{
  uint64_t hash = hash_int(UINT64_C(0xcbf29ce484222325), ins->opcode);
  hash = hash_shape(hash, ins->shape);
  hash = hash_literal(hash, ins->literal);
  hash = hash_int(hash, ins->parameter_number);
  uint64_t attrs = 0; /* in any order */
  for (int i = 0; i < ins->attr_count; i++) {
    const hl_attr *attr = &ins->attrs[i];
    if (only_informs(attr))
      continue;
    uint64_t one = hash_int(0, attr->id);
    if (hl_attr_kind_of(attr->id) == HL_KIND_INTS && attr->ints.count)
      one = hl_hash_bytes(one, attr->ints.values, (size_t)attr->ints.count * sizeof(int64_t));
    if (hl_attr_kind_of(attr->id) == HL_KIND_INT || hl_attr_kind_of(attr->id) == HL_KIND_ENUM)
      one = hash_int(one, attr->i);
    attrs += one;
  }
  return hash_int(hash, (int64_t)attrs);
}

static bool same_ints(hl_ints a, hl_ints b)
{
  return a.count == b.count &&
         (a.count == 0 || !memcmp(a.values, b.values, (size_t)a.count * sizeof *a.values));
}

static bool same_lists(const hl_attr *a, const hl_attr *b)
{
  if (a->lists.count != b->lists.count)
    return false;
  for (int i = 0; i < a->lists.count; i++)
    if (!same_ints(a->lists.values[i], b->lists.values[i]))
      return false;
  return true;
}

static bool same_slice(const hl_attr *a, const hl_attr *b)
{
  for (int i = 0; i < a->slice.count; i++) {
    hl_slice_dim x = a->slice.dims[i], y = b->slice.dims[i];
    if (x.start != y.start || x.limit != y.limit || x.stride != y.stride)
      return false;
  }
  return a->slice.count == b->slice.count;
}

static bool same_padding(const hl_attr *a, const hl_attr *b)
{
  for (int i = 0; i < a->padding.count; i++) {
    hl_padding_dim x = a->padding.dims[i], y = b->padding.dims[i];
    if (x.low != y.low || x.high != y.high || x.interior != y.interior)
      return false;
  }
  return true;
}

static bool same_window_dim(const hl_window_dim *x, const hl_window_dim *y)
{
  return x->size == y->size && x->stride == y->stride && x->padding_low == y->padding_low &&
         x->padding_high == y->padding_high && x->base_dilation == y->base_dilation &&
         x->window_dilation == y->window_dilation && x->window_reversal == y->window_reversal;
}

static bool same_window(const hl_attr *a, const hl_attr *b)
{
  if (a->window.count != b->window.count)
    return false;
  for (int i = 0; i < a->window.count; i++)
    if (!same_window_dim(&a->window.dims[i], &b->window.dims[i]))
      return false;
  return true;
}

static bool same_labels(const hl_dim_labels *a, const hl_dim_labels *b)
{
  size_t bytes = (size_t)a->spatial_count * sizeof *a->input_spatial;
  if (a->spatial_count != b->spatial_count || a->input_batch != b->input_batch ||
      a->input_feature != b->input_feature || a->output_batch != b->output_batch ||
      a->output_feature != b->output_feature ||
      a->kernel_input_feature != b->kernel_input_feature ||
      a->kernel_output_feature != b->kernel_output_feature)
    return false;
  return bytes == 0 || (!memcmp(a->input_spatial, b->input_spatial, bytes) &&
                        !memcmp(a->kernel_spatial, b->kernel_spatial, bytes) &&
                        !memcmp(a->output_spatial, b->output_spatial, bytes));
}

static bool same_computations(const hl_attr *a, const hl_attr *b)
{
  if (a->computations.count != b->computations.count)
    return false;
  for (int i = 0; i < a->computations.count; i++)
    if (a->computations.values[i] != b->computations.values[i])
      return false;
  return true;
}

/* Kinds that no instruction which could be shared has are never the same. */
static bool same_value(const hl_attr *a, const hl_attr *b)
{
  switch (hl_attr_kind_of(a->id)) {
  case HL_KIND_INT:
  case HL_KIND_BOOL:
  case HL_KIND_ENUM:
    return a->i == b->i;
  case HL_KIND_FLOAT:
    return !memcmp(&a->f, &b->f, sizeof a->f);
  case HL_KIND_WORD:
  case HL_KIND_STRING:
  case HL_KIND_RAW:
    return !strcmp(a->text, b->text);
  case HL_KIND_INTS:
  case HL_KIND_WORDS:
    return same_ints(a->ints, b->ints);
  case HL_KIND_INTLISTS:
    return same_lists(a, b);
  case HL_KIND_SLICE:
    return same_slice(a, b);
  case HL_KIND_PADDING:
    return same_padding(a, b);
  case HL_KIND_WINDOW:
    return same_window(a, b);
  case HL_KIND_DIM_LABELS:
    return same_labels(a->labels, b->labels);
  case HL_KIND_COMPUTATION:
  case HL_KIND_COMPUTATIONS:
    return same_computations(a, b);
  default:
    return false;
  }
}

static bool same_attrs(const hl_instruction *a, const hl_instruction *b)
{
  int count = 0;
  for (int i = 0; i < a->attr_count; i++) {
    if (only_informs(&a->attrs[i]))
      continue;
    const hl_attr *other = hl_attr_find(b, a->attrs[i].id);
    if (!other || !same_value(&a->attrs[i], other))
      return false;
    count++;
  }
  for (int i = 0; i < b->attr_count; i++)
    count -= !only_informs(&b->attrs[i]);
  return count == 0;
}

static bool same_literal(const hl_literal *a, const hl_literal *b)
{
  if (!a || !b || a->is_elided || b->is_elided)
    return a == b;
  return hl_literal_equal(a, b);
}

bool hl_instruction_same(const hl_instruction *a, const hl_instruction *b)
{
  return a->opcode == b->opcode && a->operand_count == b->operand_count &&
         a->power_form == b->power_form && a->parameter_number == b->parameter_number &&
         hl_shape_equal(a->shape, b->shape) && same_literal(a->literal, b->literal) &&
         same_attrs(a, b);
}
