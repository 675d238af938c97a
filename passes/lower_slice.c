/* lower_slice.c - elements of dynamic-slice and dynamic-update-slice. */
#include "lower_slice.h"

#include "lower_region.h"

#include "../ir/limits.h"

/* What is too large for s64 is too large for any dimension. */
static hl_node *as_s64(hl_puller *p, hl_node *x, int64_t most)
{
  if (x->type == HL_U64)
    x = hl_put_binary(p, HL_LOOP_MIN, x, hl_put_int(p, HL_U64, most));
  return hl_put_convert(p, HL_S64, x);
}

hl_index hl_put_clamped(hl_puller *p, hl_node *x, int64_t most)
{
  if (most == 0)
    return hl_index_constant(0);
  x = hl_put_binary(p, HL_LOOP_MIN, as_s64(p, x, most), hl_put_int(p, HL_S64, most));
  x = hl_put_binary(p, HL_LOOP_MAX, x, hl_put_int(p, HL_S64, 0));
  hl_facts_of(x)->low = 0;
  hl_facts_of(x)->high = most;
  return hl_index_node(p, x);
}

void hl_put_start(hl_puller *p, const hl_instruction *ins, int first, const hl_shape *window,
                  hl_index *start)
{
  const hl_shape *shape = ins->operands[0]->shape;
  bool is_vector = ins->operand_count > first && ins->operands[first]->shape->rank == 1;
  for (int d = 0; d < shape->rank; d++) {
    hl_index at = hl_index_constant(d);
    hl_node *x = is_vector ? hl_pull(p, ins->operands[first], 0, &at).re
                           : hl_pull(p, ins->operands[first + d], 0, NULL).re;
    start[d] = hl_put_clamped(p, x, shape->dimensions[d] - window->dimensions[d]);
  }
}

hl_value hl_lower_dynamic_slice(hl_puller *p, const hl_instruction *ins, int leaf,
                                const hl_index *index)
{
  (void)leaf;
  int rank = ins->shape->rank;
  hl_index start[HL_LIMIT_RANK], *at = HL_ARRAY(p->arena, rank + 1, hl_index);
  hl_put_start(p, ins, 1, ins->shape, start);
  for (int d = 0; d < rank; d++)
    at[d] = hl_index_add(p, start[d], index[d]);
  return hl_pull(p, ins->operands[0], 0, at);
}

/* The update where the element lies in its window. Where that is one element wide, it is that one in any case. */
hl_value hl_lower_dynamic_update_slice(hl_puller *p, const hl_instruction *ins, int leaf,
                                       const hl_index *index)
{
  (void)leaf;
  const hl_instruction *update = ins->operands[1];
  int rank = ins->shape->rank;
  hl_index start[HL_LIMIT_RANK], *at = HL_ARRAY(p->arena, rank + 1, hl_index);
  hl_node *inside = NULL;
  bool may_miss = false;
  if (hl_shape_elements(update->shape) == 0)
    return hl_pull(p, ins->operands[0], 0, index);
  hl_put_start(p, ins, 2, update->shape, start);
  for (int d = 0; d < rank; d++) {
    bool never;
    at[d] = hl_index_add(p, index[d], hl_index_scale(p, start[d], -1, 0));
    hl_node *here = hl_index_within(p, at[d], 0, update->shape->dimensions[d], &never);
    inside = hl_put_both(p, inside, here);
    may_miss |= here && update->shape->dimensions[d] > 1;
    if (update->shape->dimensions[d] == 1)
      at[d] = hl_index_constant(0);
  }
  hl_value value = may_miss ? hl_pull_if(p, inside, update, 0, at) : hl_pull(p, update, 0, at);
  return inside ? hl_put_either(p, inside, value, hl_pull(p, ins->operands[0], 0, index)) : value;
}
