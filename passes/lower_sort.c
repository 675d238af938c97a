/* lower_sort.c - sort: top-down merge sort of each line (numerics.md rule 11), its levels from the
 * lowest up.
 *
 * At depth d there are 2^d segments. A segment is halved into floor and ceil of its half, so
 * segment j of depth d has floor((n + r) / 2^d) elements, r the d bits of j read backwards: sizes
 * and starts are counted along, no recursion is needed. Merging a level moves the line from one
 * half of the scratch arrays to the other.
 */
#include "lower_sort.h"
#include "lower_whole.h"

#include "../ir/limits.h"

static hl_node *int_const(hl_puller *p, int64_t value)
{
  return hl_put_int(p, HL_S64, value);
}

static hl_node *add(hl_puller *p, hl_node *x, hl_node *y)
{
  return hl_put_binary(p, HL_LOOP_ADD, x, y);
}

static hl_node *sub(hl_puller *p, hl_node *x, hl_node *y)
{
  return hl_put_binary(p, HL_LOOP_SUB, x, y);
}

static hl_node *shifted(hl_puller *p, hl_loop_op op, hl_node *x, hl_node *amount)
{
  return hl_put_binary(p, op, x, amount);
}

static hl_node *bit_and(hl_puller *p, hl_node *x, hl_node *y)
{
  return hl_put_binary(p, HL_LOOP_AND, x, y);
}

static hl_node *lesser(hl_puller *p, const hl_sorter *s, hl_node *x)
{
  return s->keep < s->n ? hl_put_binary(p, HL_LOOP_MIN, x, int_const(p, s->keep)) : x;
}

/* --- merging two runs --- */

typedef struct run {
  hl_node *next, *end; /* element numbers */
} run;

static hl_node *is_left(hl_puller *p, run r)
{
  return hl_put_binary(p, HL_LOOP_LT, r.next, r.end);
}

/* The record at a run's head; memory is touched only where there is one. */
static void load_head(hl_puller *p, const hl_sorter *s, hl_node *source, run r, hl_node *exists,
                      hl_value *record)
{
  hl_node *outer = p->guard;
  hl_index at = hl_index_add(p, hl_index_node(p, source), hl_index_node(p, r.next));
  p->guard = hl_put_both(p, outer, exists);
  for (int k = 0; k < s->count; k++)
    record[k] = hl_put_load_here(p, s->scratch[k], at);
  p->guard = outer;
}

static void store_record(hl_puller *p, const hl_sorter *s, hl_index at, const hl_value *record)
{
  for (int k = 0; k < s->count; k++)
    hl_put_store(p, s->scratch[k], at, record[k]);
}

/* One element of the merged run; gives whether it came from the right. */
static hl_node *merge_one(hl_puller *p, const hl_sorter *s, hl_node *source, run left, run right,
                          hl_index to)
{
  hl_value *a = HL_ARRAY(p->arena, s->count, hl_value), *b = HL_ARRAY(p->arena, s->count, hl_value);
  hl_node *has_left = is_left(p, left), *has_right = is_left(p, right);
  load_head(p, s, source, right, has_right, a);
  load_head(p, s, source, left, has_left, b);
  hl_node *takes_right = bit_and(p, has_right, s->comes_before(p, s, a, b));
  takes_right = hl_put_binary(p, HL_LOOP_OR, takes_right, hl_put_unary(p, HL_LOOP_NOT, has_left));
  for (int k = 0; k < s->count; k++)
    a[k] = hl_put_choice(p, takes_right, a[k], b[k]);
  store_record(p, s, to, a);
  return takes_right;
}

/* Elements of a segment from `begin` on: left half, right half, merged into the same places of the
 * other half of memory. */
typedef struct segment {
  hl_node *source, *target, *begin, *size;
} segment;

static void merge_segment(hl_puller *p, const hl_sorter *s, const segment *g)
{
  hl_node *half = shifted(p, HL_LOOP_SRL, g->size, int_const(p, 1));
  hl_node *middle = add(p, g->begin, half);
  run left = {g->begin, add(p, g->begin, lesser(p, s, half))};
  run right = {middle, add(p, middle, lesser(p, s, sub(p, g->size, half)))};
  hl_index i;
  hl_open_loop loop =
      hl_open_fold(p, p->scope, 1, &s->n, 2, (hl_node *[]){left.next, right.next}, &i);
  loop.node->loop->limits[0] = lesser(p, s, g->size);
  left.next = hl_open_acc(&loop, 0);
  right.next = hl_open_acc(&loop, 1);
  hl_index to =
      hl_index_add(p, hl_index_add(p, hl_index_node(p, g->target), hl_index_node(p, g->begin)), i);
  hl_node *takes_right = merge_one(p, s, g->source, left, right, to), *one = int_const(p, 1);
  hl_node *yields[2] = {hl_put_select(p, takes_right, left.next, add(p, left.next, one)),
                        hl_put_select(p, takes_right, add(p, right.next, one), right.next)};
  hl_close_loop(p, &loop, 2, yields);
}

/* --- segments and levels --- */

static int levels_of(int64_t n)
{
  int levels = 0;
  while (INT64_C(1) << levels < n)
    levels++;
  return levels;
}

/* The d bits of j + 1 read backwards, given those of j: its low ones, now at the top, and the next
 * zero flip. */
static hl_node *next_reversed(hl_puller *p, hl_node *reversed, hl_node *j, hl_node *ones)
{
  hl_node *next = add(p, j, int_const(p, 1));
  hl_node *lowest = bit_and(p, next, hl_put_unary(p, HL_LOOP_NEG, next));
  hl_node *count = sub(p, int_const(p, 64), hl_put_unary(p, HL_LOOP_CLZ, lowest));
  hl_node *kept = shifted(p, HL_LOOP_SRL, ones, count);
  return hl_put_binary(p, HL_LOOP_XOR, reversed, hl_put_binary(p, HL_LOOP_XOR, ones, kept));
}

static void merge_level(hl_puller *p, const hl_sorter *s, hl_node *depth, hl_node *source,
                        hl_node *target)
{
  hl_node *one = int_const(p, 1), *zero = int_const(p, 0);
  hl_node *segments = shifted(p, HL_LOOP_SHL, one, depth), *ones = sub(p, segments, one);
  int64_t most = INT64_C(1) << (levels_of(s->n) - 1);
  hl_index j;
  hl_open_loop loop = hl_open_fold(p, p->scope, 1, &most, 2, (hl_node *[]){zero, zero}, &j);
  loop.node->loop->limits[0] = segments;
  segment g = {source, target, hl_open_acc(&loop, 0), NULL};
  hl_node *reversed = hl_open_acc(&loop, 1);
  g.size = shifted(p, HL_LOOP_SRL, add(p, int_const(p, s->n), reversed), depth);
  merge_segment(p, s, &g);
  hl_node *yields[2] = {add(p, g.begin, g.size),
                        next_reversed(p, reversed, hl_index_value(p, j), ones)};
  hl_close_loop(p, &loop, 2, yields);
}

hl_index hl_put_merge_sort(hl_puller *p, const hl_sorter *s)
{
  int64_t levels = levels_of(s->n);
  hl_node *source = int_const(p, 0);
  hl_index level;
  if (levels == 0)
    return hl_index_constant(0);
  hl_open_loop loop = hl_open_fold(p, p->scope, 1, &levels, 1, &source, &level);
  source = hl_open_acc(&loop, 0);
  hl_node *target = sub(p, int_const(p, s->n), source);
  merge_level(p, s, hl_index_value(p, hl_index_scale(p, level, -1, levels - 1)), source, target);
  hl_close_loop(p, &loop, 1, &target);
  return hl_index_node(p, hl_put_result(p, loop.node, 0));
}

hl_buffer *hl_new_sort_scratch(hl_puller *p, const hl_sorter *s, const char *what,
                               hl_element_type type)
{
  return hl_new_work_buffer(p, what, type, 2 * s->n, true);
}

/* --- sort --- */

static hl_node *comparator_says(hl_puller *p, const hl_sorter *s, const hl_value *right,
                                const hl_value *left)
{
  hl_value *args = HL_ARRAY(p->arena, 2 * s->count, hl_value), verdict;
  for (int k = 0; k < s->count; k++) {
    args[2 * k] = right[k];
    args[2 * k + 1] = left[k];
  }
  hl_pull_region(p, hl_attr_computation(s->ins, HL_ATTR_TO_APPLY), args, &verdict);
  return verdict.re;
}

static void load_line(hl_puller *p, const hl_sorter *s, int64_t dim, hl_index *at)
{
  hl_index i;
  hl_open_for(p, s->n, &i);
  at[dim] = i;
  for (int k = 0; k < s->count; k++)
    hl_put_store(p, s->scratch[k], i, hl_pull(p, s->ins->operands[k], 0, at));
  hl_close_for(p);
}

static void store_line(hl_puller *p, const hl_sorter *s, int64_t dim, hl_index *at, hl_index start)
{
  hl_index i;
  hl_open_for(p, s->n, &i);
  at[dim] = i;
  hl_index to = hl_index_flatten(p, s->ins->operands[0]->shape, at),
           from = hl_index_add(p, start, i);
  for (int k = 0; k < s->count; k++)
    hl_put_store(p, p->leaves[s->ins->scratch][k], to, hl_put_load_here(p, s->scratch[k], from));
  hl_close_for(p);
}

static void merge_lines(hl_puller *p, const hl_instruction *ins)
{
  const hl_shape *shape = ins->operands[0]->shape;
  int64_t dim = hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0], n = shape->dimensions[dim];
  hl_sorter s = {
      .ins = ins, .n = n, .keep = n, .count = ins->operand_count, .comes_before = comparator_says};
  hl_index at[HL_LIMIT_RANK];
  s.scratch = HL_ARRAY(p->arena, s.count, hl_buffer *);
  for (int k = 0; k < s.count; k++)
    s.scratch[k] = hl_new_sort_scratch(p, &s, "line", ins->operands[k]->shape->element_type);
  int opened = hl_open_lines(p, shape, (int)dim, at);
  load_line(p, &s, dim, at);
  store_line(p, &s, dim, at, hl_put_merge_sort(p, &s));
  hl_close_all(p, opened);
}

void hl_build_sort(hl_puller *p, const hl_instruction *ins)
{
  if (!hl_put_radix_sort(p, ins))
    merge_lines(p, ins);
}
