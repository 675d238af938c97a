/* lower_index.c - affine indices, and the division that reshapes need.
 *
 * A quotient that does not come out affine becomes a node q, and the remainder is x - divisor * q: still affine, and when
 * the parts are put together again (the usual case: the array is contiguous) q cancels and x is back.
 */
#include "lower_kernel.h"

hl_index hl_index_constant(int64_t value)
{
  return (hl_index){.constant = value};
}

hl_index hl_index_node(hl_puller *p, hl_node *node)
{
  hl_term *term = HL_NEW(p->arena, hl_term);
  *term = (hl_term){node, 1};
  return (hl_index){.count = 1, .terms = term};
}

hl_index hl_index_scale(hl_puller *p, hl_index x, int64_t factor, int64_t add)
{
  if (factor == 0)
    return hl_index_constant(add);
  if (factor == 1)
    return (hl_index){x.constant + add, x.count, x.terms};
  hl_term *terms = HL_ARRAY(p->arena, x.count, hl_term);
  for (int i = 0; i < x.count; i++)
    terms[i] = (hl_term){x.terms[i].index, x.terms[i].stride * factor};
  return (hl_index){x.constant * factor + add, x.count, terms};
}

hl_index hl_index_add(hl_puller *p, hl_index x, hl_index y)
{
  if (y.count == 0)
    return (hl_index){x.constant + y.constant, x.count, x.terms};
  hl_term *terms = HL_ARRAY(p->arena, x.count + y.count, hl_term);
  int n = 0;
  for (int i = 0; i < x.count; i++)
    terms[n++] = x.terms[i];
  for (int i = 0; i < y.count; i++) {
    int k = 0;
    while (k < x.count && terms[k].index != y.terms[i].index)
      k++;
    if (k < x.count)
      terms[k].stride += y.terms[i].stride;
    else
      terms[n++] = y.terms[i];
  }
  int kept = 0;
  for (int i = 0; i < n; i++)
    if (terms[i].stride != 0)
      terms[kept++] = terms[i];
  return (hl_index){x.constant + y.constant, kept, terms};
}

bool hl_index_equal(hl_index x, hl_index y)
{
  if (x.constant != y.constant || x.count != y.count)
    return false;
  for (int i = 0; i < x.count; i++) {
    int k = 0;
    while (k < y.count && y.terms[k].index != x.terms[i].index)
      k++;
    if (k == y.count || y.terms[k].stride != x.terms[i].stride)
      return false;
  }
  return true;
}

void hl_index_range(hl_index x, int64_t *low, int64_t *high)
{
  *low = *high = x.constant;
  for (int i = 0; i < x.count; i++) {
    const hl_facts *facts = hl_facts_of(x.terms[i].index);
    int64_t stride = x.terms[i].stride;
    *low += stride * (stride > 0 ? facts->low : facts->high);
    *high += stride * (stride > 0 ? facts->high : facts->low);
  }
}

/* The range of a node made from indices, so that later divisions can use it. */
static hl_node *with_range(hl_node *node, int64_t low, int64_t high)
{
  hl_facts_of(node)->low = low;
  hl_facts_of(node)->high = high;
  return node;
}

hl_node *hl_index_value(hl_puller *p, hl_index x)
{
  hl_node *sum = NULL;
  for (int i = 0; i < x.count; i++) {
    hl_node *part = x.terms[i].index;
    if (x.terms[i].stride != 1)
      part = hl_put_binary(p, HL_LOOP_MUL, part, hl_put_int(p, HL_S64, x.terms[i].stride));
    sum = sum ? hl_put_binary(p, HL_LOOP_ADD, sum, part) : part;
  }
  if (!sum)
    sum = hl_put_int(p, HL_S64, x.constant);
  else if (x.constant)
    sum = hl_put_binary(p, HL_LOOP_ADD, sum, hl_put_int(p, HL_S64, x.constant));
  if (x.count == 1 && x.terms[0].stride == 1 && x.constant == 0)
    return sum;
  int64_t low, high;
  hl_index_range(x, &low, &high);
  return with_range(sum, low, high);
}

hl_index hl_index_flatten(hl_puller *p, const hl_shape *shape, const hl_index *index)
{
  hl_index flat = hl_index_constant(0);
  int64_t stride = 1;
  for (int d = shape->rank; d-- > 0;) {
    flat = hl_index_add(p, flat, hl_index_scale(p, index[d], stride, 0));
    stride *= shape->dimensions[d];
  }
  return flat;
}

/* Splits x into divisor * high + low with 0 <= low < divisor, when the terms fall apart that way. */
static bool split_terms(hl_puller *p, hl_index x, int64_t divisor, hl_index *high, hl_index *low)
{
  int64_t low_constant = x.constant % divisor;
  if (low_constant < 0)
    low_constant += divisor;
  *high = hl_index_constant((x.constant - low_constant) / divisor);
  *low = hl_index_constant(low_constant);
  for (int i = 0; i < x.count; i++) {
    hl_index term = {.count = 1, .terms = &x.terms[i]};
    if (x.terms[i].stride % divisor == 0) {
      hl_term *whole = HL_NEW(p->arena, hl_term);
      *whole = (hl_term){x.terms[i].index, x.terms[i].stride / divisor};
      *high = hl_index_add(p, *high, (hl_index){.count = 1, .terms = whole});
    } else {
      *low = hl_index_add(p, *low, term);
    }
  }
  int64_t least, most;
  hl_index_range(*low, &least, &most);
  return least >= 0 && most < divisor;
}

/* A loop of the roots that a finer split would make divisible: asks for it. */
static void ask_for_split(hl_puller *p, hl_index x, int64_t divisor)
{
  int64_t rest = x.constant % divisor;
  if (!p->domain || p->domain->wanted_dim >= 0)
    return;
  for (int i = 0; i < x.count; i++) {
    const hl_facts *facts = hl_facts_of(x.terms[i].index);
    int64_t stride = x.terms[i].stride, extent = facts->high + 1;
    if (facts->dim < 0 || stride <= 0 || divisor % stride || stride == divisor)
      continue;
    int64_t inner = divisor / stride;
    if ((rest < 0 ? rest + divisor : rest) >= stride)
      continue;
    if (inner >= extent || extent % inner || p->domain->counts[facts->dim] == HL_MAX_PARTS)
      continue;
    p->domain->wanted_dim = facts->dim;
    p->domain->wanted_part = facts->part;
    p->domain->wanted_inner = inner;
    return;
  }
}

void hl_index_divide(hl_puller *p, hl_index x, int64_t divisor, hl_index *quotient, hl_index *remainder)
{
  int64_t low, high;
  hl_index_range(x, &low, &high);
  if (low >= 0 && high < divisor) {
    *quotient = hl_index_constant(0);
    *remainder = x;
    return;
  }
  if (split_terms(p, x, divisor, quotient, remainder))
    return;
  ask_for_split(p, x, divisor);
  hl_node *node = hl_put_binary(p, HL_LOOP_DIV, hl_index_value(p, x), hl_put_int(p, HL_S64, divisor));
  with_range(node, low / divisor, high / divisor);
  *quotient = hl_index_node(p, node);
  *remainder = hl_index_add(p, x, hl_index_scale(p, *quotient, -divisor, 0));
}

void hl_index_unflatten(hl_puller *p, const hl_shape *shape, hl_index flat, hl_index *index)
{
  int64_t stride = hl_shape_elements(shape);
  for (int d = 0; d < shape->rank; d++) {
    if (shape->dimensions[d] == 1 || stride == 0) { /* stride 0: no elements, nobody gets here */
      index[d] = hl_index_constant(0);
      continue;
    }
    stride /= shape->dimensions[d];
    if (stride == 1)
      index[d] = flat;
    else
      hl_index_divide(p, flat, stride, &index[d], &flat);
  }
}

hl_node *hl_index_within(hl_puller *p, hl_index x, int64_t low, int64_t high, bool *never)
{
  int64_t least, most;
  hl_index_range(x, &least, &most);
  *never = most < low || least >= high;
  hl_node *inside = NULL;
  if (least < low)
    inside = hl_put_binary(p, HL_LOOP_GE, hl_index_value(p, x), hl_put_int(p, HL_S64, low));
  if (most >= high) {
    hl_node *below = hl_put_binary(p, HL_LOOP_LT, hl_index_value(p, x), hl_put_int(p, HL_S64, high));
    inside = inside ? hl_put_binary(p, HL_LOOP_AND, inside, below) : below;
  }
  return inside;
}

hl_scope *hl_index_scope(const hl_puller *p, const hl_index *index, int count)
{
  hl_scope *deepest = p->root;
  for (int d = 0; d < count; d++)
    for (int i = 0; i < index[d].count; i++) {
      hl_scope *scope = hl_facts_of(index[d].terms[i].index)->scope;
      if (scope->depth > deepest->depth)
        deepest = scope;
    }
  return deepest;
}
