/* lower_bitcast.c - elements of bitcast-convert: the bits of wide elements are those of several narrow ones, lowest first. */
#include "lower_complex.h"

#include <string.h>

/* Bits an element counts as; pred is a byte here. */
static int width_of(hl_element_type type)
{
  return type == HL_PRED ? 8 : hl_type_bits(type);
}

static hl_element_type unsigned_of(int bits)
{
  return bits <= 8 ? HL_U8 : bits == 16 ? HL_U16 : bits == 32 ? HL_U32 : HL_U64;
}

static hl_element_type small_unsigned(int bits)
{
  return bits == 1 ? HL_U1 : bits == 2 ? HL_U2 : HL_U4;
}

static bool is_small_int(hl_element_type type)
{
  return hl_is_integral(type) && hl_type_bits(type) < 8;
}

static hl_node *put_bitcast(hl_puller *p, hl_element_type type, hl_node *x)
{
  return x->type == type ? x : hl_put(p, HL_LOOP_BITCAST, type, 1, &x);
}

/* The bits as an unsigned number of at least 8. */
static hl_node *bits_of(hl_puller *p, hl_node *x)
{
  int bits = hl_type_bits(x->type);
  if (x->type == HL_PRED)
    return hl_put_convert(p, HL_U8, x);
  if (is_small_int(x->type))
    return hl_put_convert(p, HL_U8, hl_put_convert(p, small_unsigned(bits), x));
  return put_bitcast(p, unsigned_of(bits), x);
}

/* Its inverse; what stands above the type's width does not count. */
static hl_node *value_of(hl_puller *p, hl_element_type type, hl_node *bits)
{
  bits = hl_put_convert(p, unsigned_of(hl_type_bits(type)), bits);
  if (type == HL_PRED || is_small_int(type))
    return hl_put_convert(p, type, bits);
  if (hl_type_bits(type) < 8)
    bits = hl_put_binary(p, HL_LOOP_AND, bits, hl_put_int(p, HL_U8, (1 << hl_type_bits(type)) - 1));
  return put_bitcast(p, type, bits);
}

/* Part `last` of a wide element. */
static hl_node *narrow_part(hl_puller *p, hl_element_type type, hl_node *wide, hl_index last)
{
  hl_node *bits = bits_of(p, wide);
  hl_node *amount = hl_index_value(p, hl_index_scale(p, last, width_of(type), 0));
  bits = hl_put_binary(p, HL_LOOP_SRL, bits, hl_put_convert(p, bits->type, amount));
  return value_of(p, type, bits);
}

static hl_node *join_bits(hl_puller *p, hl_element_type type, int count, hl_node *const *parts)
{
  hl_element_type to = unsigned_of(width_of(type));
  hl_node *sum = NULL;
  for (int k = 0; k < count; k++) {
    hl_node *part = hl_put_convert(p, to, bits_of(p, parts[k]));
    if (k)
      part = hl_put_binary(p, HL_LOOP_SHL, part, hl_put_int(p, to, k * width_of(parts[k]->type)));
    sum = sum ? hl_put_binary(p, HL_LOOP_OR, sum, part) : part;
  }
  return value_of(p, type, sum);
}

enum { MOST_PARTS = 64 };

static hl_value join_parts(hl_puller *p, const hl_instruction *ins, hl_index *at)
{
  const hl_instruction *operand = ins->operands[0];
  int last = operand->shape->rank - 1, count = (int)operand->shape->dimensions[last];
  hl_element_type type = ins->shape->element_type;
  hl_node *parts[MOST_PARTS];
  hl_value halves[2];
  for (int k = 0; k < count; k++) {
    at[last] = hl_index_constant(k);
    hl_value part = hl_pull(p, operand, 0, at);
    parts[k] = part.re;
    halves[k % 2] = part;
  }
  if (!hl_is_complex(type))
    return (hl_value){join_bits(p, type, count, parts), NULL};
  return (hl_value){join_bits(p, HL_F64, 2, (hl_node *[]){halves[0].re, halves[0].im}),
                    join_bits(p, HL_F64, 2, (hl_node *[]){halves[1].re, halves[1].im})};
}

/* Half of a c128: one of its parts, as a pair. */
static hl_value half_of_pair(hl_puller *p, hl_value x, hl_index last)
{
  hl_node *is_first = hl_put_binary(p, HL_LOOP_EQ, hl_index_value(p, last), hl_put_int(p, HL_S64, 0));
  hl_node *part = hl_put_select(p, is_first, x.re, x.im);
  return (hl_value){narrow_part(p, HL_F32, part, hl_index_constant(0)),
                    narrow_part(p, HL_F32, part, hl_index_constant(1))};
}

hl_value hl_lower_bitcast_convert(hl_puller *p, const hl_instruction *ins, int leaf,
                                  const hl_index *index)
{
  (void)leaf;
  const hl_instruction *operand = ins->operands[0];
  hl_element_type from = operand->shape->element_type, type = ins->shape->element_type;
  if (width_of(from) < width_of(type)) {
    hl_index *at = HL_ARRAY(p->arena, operand->shape->rank + 1, hl_index);
    memcpy(at, index, (size_t)ins->shape->rank * sizeof *at);
    return join_parts(p, ins, at);
  }
  hl_value x = hl_pull(p, operand, 0, index);
  bool is_narrower = width_of(from) > width_of(type);
  if (from == type)
    return x;
  if (is_narrower && x.im)
    return half_of_pair(p, x, index[operand->shape->rank]);
  if (is_narrower)
    return (hl_value){narrow_part(p, type, x.re, index[operand->shape->rank]), NULL};
  return (hl_value){value_of(p, type, bits_of(p, x.re)), NULL};
}
