/* values - the nodes that the grammar hands from action to action. */
#include "parser.h"

#include <inttypes.h>

hl_range hl_join(hl_range a, hl_range b)
{
  return (hl_range){a.begin, b.end};
}

hl_value *hl_value_new(hl_parser *p, hl_value_kind kind, hl_range range)
{
  if (!p->chunk || p->chunk_used == HL_VALUE_CHUNK) {
    hl_value_chunk *next = p->chunk ? p->chunk->next : p->chunks;
    if (!next) {
      next = HL_NEW(p->arena, hl_value_chunk);
      *(p->chunk ? &p->chunk->next : &p->chunks) = next;
    }
    p->chunk = next;
    p->chunk_used = 0;
  }
  hl_value *value = &p->chunk->values[p->chunk_used++];
  *value = (hl_value){.kind = kind, .range = range};
  return value;
}

void hl_values_reset(hl_parser *p)
{
  p->chunk = p->chunks;
  p->chunk_used = 0;
}

hl_value *hl_value_add(hl_value *list, hl_value *child)
{
  if (list->last)
    list->last->next = child;
  else
    list->first = child;
  list->last = child;
  list->count++;
  list->range.end = child->range.end;
  return list;
}

hl_value *hl_value_list(hl_parser *p, hl_range range, hl_value *first)
{
  hl_value *list = hl_value_new(p, HL_V_LIST, range);
  return first ? hl_value_add(list, first) : list;
}

/* The digits of a decimal integer; false when they exceed 64 bits. */
static bool read_digits(const char *at, const char *end, uint64_t *out)
{
  uint64_t value = 0;
  for (; at < end; at++)
    if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
        __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
      return false;
  *out = value;
  return true;
}

hl_value *hl_value_int(hl_parser *p, hl_range range)
{
  hl_value *value = hl_value_new(p, HL_V_INT, range);
  value->is_negative = p->text[range.begin] == '-';
  const char *digits = p->text + range.begin + value->is_negative;
  bool fits = read_digits(digits, p->text + range.end, &value->magnitude);
  if (!fits || (value->is_negative && value->magnitude > (uint64_t)1 << 63)) {
    hl_error(p->diag, range, HL_RULE_LEX_NUMBER, "this integer does not fit in 64 bits");
    value->magnitude = 0;
  }
  return value;
}

bool hl_value_int64(hl_parser *p, const hl_value *value, int64_t *out)
{
  if (value->kind != HL_V_INT)
    return hl_value_error(p, value, "an integer");
  if (!value->is_negative && value->magnitude > INT64_MAX)
    return hl_error(p->diag, value->range, HL_RULE_ATTR_VALUE,
                    "%" PRIu64 " does not fit in 63 bits", value->magnitude);
  *out = value->is_negative ? (int64_t)(0 - value->magnitude) : (int64_t)value->magnitude;
  return true;
}

hl_value *hl_value_literal(hl_parser *p, hl_range range)
{
  hl_value *value = hl_value_new(p, HL_V_LITERAL, range);
  value->literal = p->literal;
  return value;
}

hl_value *hl_value_attr(hl_parser *p, hl_range name, hl_value *value)
{
  hl_value *attr = hl_value_new(p, HL_V_ATTR, hl_join(name, value->range));
  attr->name_range = (hl_range){name.begin, name.end - 1};
  attr->first = attr->last = value;
  attr->count = 1;
  return attr;
}

hl_value *hl_value_slice(hl_parser *p, hl_range range, hl_value *start, hl_value *limit,
                         hl_value *stride)
{
  hl_value *slice = hl_value_add(hl_value_add(hl_value_new(p, HL_V_SLICE, range), start), limit);
  if (stride)
    hl_value_add(slice, stride);
  slice->range = range;
  return slice;
}

hl_value *hl_value_iota(hl_parser *p, hl_range range, hl_value *dims, hl_value *reshape,
                        hl_value *permutation)
{
  hl_value *iota = hl_value_add(hl_value_add(hl_value_new(p, HL_V_IOTA, range), dims), reshape);
  if (permutation)
    hl_value_add(iota, permutation);
  iota->range = range;
  return iota;
}

hl_value *hl_value_layout(hl_value *order, hl_range range, hl_range suffix)
{
  order->kind = HL_V_LAYOUT;
  order->range = range;
  order->name_range = suffix;
  return order;
}

hl_value *hl_value_inline(hl_parser *p, hl_range range)
{
  hl_value *value = hl_value_new(p, HL_V_COMPUTATION, range);
  value->computation = hl_close_computation(p);
  return value;
}
