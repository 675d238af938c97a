/* lower_gather.c - elements of gather: a start from the indices, clamped so that the slice lies in the operand, and the place
 * inside the slice (spec 8.7).
 */
#include "lower_slice.h"

#include "../ir/limits.h"

typedef struct gather {
  const hl_instruction *ins;
  const hl_shape *from;
  hl_ints offset_dims, collapsed, map, sizes, batching, indices_batching;
  int64_t vector_dim;
} gather;

static gather gather_of(const hl_instruction *ins)
{
  return (gather){.ins = ins,
                  .from = ins->operands[0]->shape,
                  .offset_dims = hl_attr_ints(ins, HL_ATTR_OFFSET_DIMS),
                  .collapsed = hl_attr_ints(ins, HL_ATTR_COLLAPSED_SLICE_DIMS),
                  .map = hl_attr_ints(ins, HL_ATTR_START_INDEX_MAP),
                  .sizes = hl_attr_ints(ins, HL_ATTR_SLICE_SIZES),
                  .batching = hl_attr_ints(ins, HL_ATTR_OPERAND_BATCHING_DIMS),
                  .indices_batching = hl_attr_ints(ins, HL_ATTR_START_INDICES_BATCHING_DIMS),
                  .vector_dim = hl_attr_int(ins, HL_ATTR_INDEX_VECTOR_DIM, 0)};
}

static bool has(hl_ints list, int64_t value)
{
  for (int i = 0; i < list.count; i++)
    if (list.values[i] == value)
      return true;
  return false;
}

/* Entry k of the index vector at a place of the indices; `place` lacks the vector dimension. */
static hl_node *index_entry(hl_puller *p, const gather *g, const hl_index *place, int k)
{
  const hl_instruction *indices = g->ins->operands[1];
  hl_index *at = HL_ARRAY(p->arena, indices->shape->rank + 1, hl_index);
  for (int d = 0, b = 0; d < indices->shape->rank; d++)
    at[d] = d == g->vector_dim ? hl_index_constant(k) : place[b++];
  return hl_pull(p, indices, 0, at).re;
}

/* The start in each dimension of the operand. */
static void find_start(hl_puller *p, const gather *g, const hl_index *place, hl_index *start)
{
  for (int d = 0; d < g->from->rank; d++)
    start[d] = hl_index_constant(0);
  for (int k = 0; k < g->map.count; k++) {
    int64_t d = g->map.values[k];
    start[d] = hl_put_clamped(p, index_entry(p, g, place, k), g->from->dimensions[d] - g->sizes.values[d]);
  }
  for (int k = 0; k < g->batching.count; k++) {
    int64_t d = g->indices_batching.values[k];
    start[g->batching.values[k]] = place[d < g->vector_dim ? d : d - 1];
  }
}

hl_value hl_lower_gather(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  (void)leaf;
  gather g = gather_of(ins);
  hl_index place[HL_LIMIT_RANK], *at = HL_ARRAY(p->arena, g.from->rank + 1, hl_index);
  int batch = 0, inside = 0;
  for (int d = 0; d < ins->shape->rank; d++)
    if (!has(g.offset_dims, d))
      place[batch++] = index[d];
  find_start(p, &g, place, at);
  for (int d = 0; d < g.from->rank; d++)
    if (!has(g.collapsed, d) && !has(g.batching, d))
      at[d] = hl_index_add(p, at[d], index[g.offset_dims.values[inside++]]);
  return hl_pull(p, ins->operands[0], 0, at);
}
