/* lower_topk.c - topk (numerics.md rule 11): few out of many are selected (lower_select.c); else the records (key, index)
 * of each line are sorted and only the first k of each merged run kept, so that the cost is n log k.
 *
 * The key of a float is the integer that sorts like it, with one zero and one NaN, above all else.
 */
#include "lower_sort.h"
#include "lower_whole.h"

#include "../ir/limits.h"

enum { KEY, INDEX, FIELDS };

static hl_element_type key_type(hl_element_type type)
{
  if (hl_is_float(type))
    return hl_wide_type(type) == HL_F64 ? HL_S64 : HL_S32;
  return type == HL_PRED ? HL_U8 : hl_wide_type(type);
}

static hl_node *key_of(hl_puller *p, hl_node *x)
{
  hl_element_type type = key_type(x->type);
  if (!hl_is_float(x->type))
    return hl_put_convert(p, type, x);
  hl_node *wide = hl_widen(p, x), *key = hl_put(p, HL_LOOP_ORDER, type, 1, &wide);
  hl_node *is_zero = hl_put_binary(p, HL_LOOP_EQ, wide, hl_put_float(p, wide->type, 0));
  key = hl_put_select(p, is_zero, hl_put_int(p, type, 0), key);
  hl_node *most = hl_put_int(p, type, type == HL_S64 ? INT64_MAX : INT32_MAX);
  return hl_put_select(p, hl_put_is_nan(p, wide), most, key);
}

/* The key of element i: the larger it is, the sooner the element comes. */
static hl_node *rank_of(hl_puller *p, const hl_topk *top, hl_index i)
{
  const hl_instruction *operand = top->ins->operands[0];
  top->at[operand->shape->rank - 1] = i;
  hl_node *key = key_of(p, hl_pull(p, operand, 0, top->at).re);
  bool is_largest = hl_attr_int(top->ins, HL_ATTR_LARGEST, 1) != 0;
  return is_largest ? key : hl_put_unary(p, HL_LOOP_NOT, key);
}

/* Equal keys stay in the order of their indices, as the sort is stable. */
static hl_node *ranks_first(hl_puller *p, const hl_sorter *s, const hl_value *right,
                            const hl_value *left)
{
  (void)s;
  return hl_put_binary(p, HL_LOOP_GT, right[KEY].re, left[KEY].re);
}

static void load_keys(hl_puller *p, const hl_sorter *s, const hl_topk *top)
{
  hl_index i;
  hl_open_for(p, s->n, &i);
  hl_node *number = hl_put_convert(p, HL_S32, hl_index_value(p, i));
  hl_put_store(p, s->scratch[KEY], i, (hl_value){rank_of(p, top, i), NULL});
  hl_put_store(p, s->scratch[INDEX], i, (hl_value){number, NULL});
  hl_close_for(p);
}

/* All sorted, but for what no longer can be among the first k. */
static hl_selected sort_first(hl_puller *p, const hl_topk *top)
{
  hl_buffer *scratch[FIELDS];
  hl_sorter s = {.ins = top->ins,
                 .n = top->n,
                 .keep = top->k,
                 .count = FIELDS,
                 .scratch = scratch,
                 .comes_before = ranks_first};
  scratch[KEY] = hl_new_sort_scratch(p, &s, "keys", top->type);
  scratch[INDEX] = hl_new_sort_scratch(p, &s, "places", HL_S32);
  load_keys(p, &s, top);
  return (hl_selected){scratch[INDEX], hl_put_merge_sort(p, &s)};
}

static void store_first(hl_puller *p, const hl_topk *top, hl_selected selected)
{
  const hl_shape *shape = top->ins->shape->tuple_shapes[0];
  hl_buffer **leaves = p->leaves[top->ins->scratch];
  hl_index i;
  hl_open_for(p, top->k, &i);
  top->at[shape->rank - 1] = i;
  hl_index to = hl_index_flatten(p, shape, top->at);
  hl_value number = hl_put_load_here(p, selected.places, hl_index_add(p, selected.start, i));
  hl_node *place = hl_put_convert(p, HL_S64, number.re);
  hl_facts_of(place)->low = 0;
  hl_facts_of(place)->high = top->n - 1;
  top->at[shape->rank - 1] = hl_index_node(p, place);
  hl_put_store(p, leaves[0], to, hl_pull(p, top->ins->operands[0], 0, top->at));
  hl_put_store(p, leaves[1], to, number);
  hl_close_for(p);
}

void hl_build_topk(hl_puller *p, const hl_instruction *ins)
{
  const hl_shape *shape = ins->operands[0]->shape;
  int last = shape->rank - 1;
  hl_index at[HL_LIMIT_RANK];
  hl_topk top = {.ins = ins,
                 .n = shape->dimensions[last],
                 .k = ins->shape->tuple_shapes[0]->dimensions[last],
                 .type = key_type(shape->element_type),
                 .at = at,
                 .key = rank_of};
  int opened = hl_open_lines(p, shape, last, at);
  store_first(p, &top, hl_selects_few(&top) ? hl_put_selection(p, &top) : sort_first(p, &top));
  hl_close_all(p, opened);
}
