/* lower_select.c - topk of few out of many, without a sort.
 *
 * The line is cut into interleaved groups; at least k elements reach the k-th largest of the groups' maxima, and mostly
 * few more do. A second walk looks for these a block at a time, then a smaller one, and puts each into a list of the k best: what is less
 * moves one place down, all places at once, from one half of the list's memory to the other.
 */
#include "lower_sort.h"
#include "lower_whole.h"

#include "../ir/limits.h"

enum {
  LANES = 64,  /* groups are a multiple of it */
  MOST = 128,  /* places of a list */
  LEAST_EACH = 8 /* elements of a group */
};

typedef struct selection {
  const hl_topk *top;
  int64_t n, k, groups;
  hl_element_type type; /* of keys */
  hl_node *threshold;
  hl_buffer *maxima, *ranked; /* a group each */
  hl_buffer *keys, *places; /* the list: two halves of k + 1, the first of them above all others */
} selection;

static hl_node *int_const(hl_puller *p, int64_t value)
{
  return hl_put_int(p, HL_S64, value);
}

static hl_node *key_at(hl_puller *p, const selection *s, hl_index i)
{
  return s->top->key(p, s->top, i);
}

static int64_t extreme_key(const selection *s, bool is_most)
{
  int bits = hl_type_bytes(s->type) * 8;
  bool is_signed = hl_type_class_of(s->type) == HL_CLASS_SIGNED;
  int64_t most = is_signed ? INT64_MAX >> (64 - bits) : (int64_t)(UINT64_MAX >> (64 - bits));
  return is_most ? most : is_signed ? -most - 1 : 0;
}

/* --- the threshold --- */

static void store_maxima(hl_puller *p, const selection *s)
{
  int64_t rows = s->n / s->groups;
  hl_combiner largest = {.order = HL_ORDER_FREE, .combine = HL_LOOP_MAX, .type = s->type};
  hl_index group, row;
  hl_open_for(p, s->groups, &group);
  hl_open_loop loop = hl_open_reduce(p, p->scope, 1, &rows, 1, &largest, &row);
  hl_node *key = key_at(p, s, hl_index_add(p, hl_index_scale(p, row, s->groups, 0), group));
  hl_close_loop(p, &loop, 1, &key);
  hl_put_store(p, s->maxima, group, (hl_value){hl_put_result(p, loop.node, 0), NULL});
  hl_close_for(p);
}

/* How many maxima are at least as large. */
static hl_node *count_above(hl_puller *p, const selection *s, hl_node *maximum)
{
  hl_combiner sum = {.order = HL_ORDER_FREE, .combine = HL_LOOP_ADD, .type = HL_S32};
  hl_index other;
  hl_open_loop loop = hl_open_reduce(p, p->scope, 1, &s->groups, 1, &sum, &other);
  hl_node *is_above = hl_put_binary(p, HL_LOOP_GE, hl_put_load_here(p, s->maxima, other).re, maximum);
  hl_node *one = hl_put_convert(p, HL_S32, is_above);
  hl_close_loop(p, &loop, 1, &one);
  return hl_put_result(p, loop.node, 0);
}

/* The k-th largest maximum: the largest of those that k are at least as large as. */
static hl_node *find_threshold(hl_puller *p, const selection *s)
{
  hl_combiner largest = {.order = HL_ORDER_FREE, .combine = HL_LOOP_MAX, .type = s->type};
  hl_index group;
  hl_open_for(p, s->groups, &group);
  hl_node *maximum = hl_put_load_here(p, s->maxima, group).re;
  hl_node *is_low = hl_put_binary(p, HL_LOOP_GE, count_above(p, s, maximum), hl_put_int(p, HL_S32, s->k));
  maximum = hl_put_select(p, is_low, maximum, hl_put_int(p, s->type, extreme_key(s, false)));
  hl_put_store(p, s->ranked, group, (hl_value){maximum, NULL});
  hl_close_for(p);
  hl_open_loop loop = hl_open_reduce(p, p->scope, 1, &s->groups, 1, &largest, &group);
  maximum = hl_put_load_here(p, s->ranked, group).re;
  hl_close_loop(p, &loop, 1, &maximum);
  return hl_put_result(p, loop.node, 0);
}

/* --- the list --- */

static void clear_list(hl_puller *p, const selection *s)
{
  hl_index i;
  hl_open_for(p, 2 * (s->k + 1), &i);
  hl_put_store(p, s->keys, i, (hl_value){hl_put_int(p, s->type, extreme_key(s, true)), NULL});
  hl_put_store(p, s->places, i, (hl_value){hl_put_int(p, HL_S32, 0), NULL});
  hl_close_for(p);
}

/* A list as it is: where it begins, and how many it holds. */
typedef struct list {
  hl_node *begin, *count;
} list;

/* Place `rank` of the new list: what stands there stays, or the new one comes, or the one above moves down. */
static void put_rank(hl_puller *p, const selection *s, list l, hl_node *target, hl_index rank, hl_node *key, hl_node *place)
{
  hl_node *number = hl_index_value(p, rank);
  hl_index above = hl_index_add(p, hl_index_node(p, l.begin), rank), here = hl_index_scale(p, above, 1, 1);
  hl_node *old = hl_put_load_here(p, s->keys, here).re, *higher = hl_put_load_here(p, s->keys, above).re;
  hl_node *stays = hl_put_both(p, hl_put_binary(p, HL_LOOP_LT, number, l.count), hl_put_binary(p, HL_LOOP_GE, old, key));
  hl_node *fits = hl_put_both(p, hl_put_binary(p, HL_LOOP_LE, number, l.count), hl_put_binary(p, HL_LOOP_GE, higher, key));
  hl_index to = hl_index_scale(p, hl_index_add(p, hl_index_node(p, target), rank), 1, 1);
  key = hl_put_select(p, stays, old, hl_put_select(p, fits, key, higher));
  hl_node *moved = hl_put_select(p, fits, place, hl_put_load_here(p, s->places, above).re);
  place = hl_put_select(p, stays, hl_put_load_here(p, s->places, here).re, moved);
  hl_put_store(p, s->keys, to, (hl_value){key, NULL});
  hl_put_store(p, s->places, to, (hl_value){place, NULL});
}

static void insert(hl_puller *p, const selection *s, list l, hl_node *target, hl_node *key, hl_index i)
{
  hl_node *place = hl_put_convert(p, HL_S32, hl_index_value(p, i));
  hl_index rank;
  hl_open_for(p, s->k, &rank);
  put_rank(p, s, l, target, rank, key, place);
  hl_close_for(p);
}

/* Whether the list has room, or the key is above its last one. */
static hl_node *is_wanted(hl_puller *p, const selection *s, list l, hl_node *key)
{
  hl_index last = hl_index_scale(p, hl_index_node(p, l.begin), 1, s->k);
  hl_node *is_better = hl_put_binary(p, HL_LOOP_GT, key, hl_put_load_here(p, s->keys, last).re);
  hl_node *has_room = hl_put_binary(p, HL_LOOP_LT, l.count, int_const(p, s->k));
  return hl_put_both(p, hl_put_binary(p, HL_LOOP_GE, key, s->threshold), hl_put_binary(p, HL_LOOP_OR, has_room, is_better));
}

/* The list after element i. */
static list with_element(hl_puller *p, const selection *s, list l, hl_index i)
{
  hl_node *key = key_at(p, s, i), *wanted = is_wanted(p, s, l, key);
  hl_node *target = hl_put_binary(p, HL_LOOP_SUB, int_const(p, s->k + 1), l.begin);
  hl_node *more = hl_put_binary(p, HL_LOOP_ADD, l.count, int_const(p, 1));
  hl_open_if(p, wanted);
  insert(p, s, l, target, key, i);
  hl_close_if(p);
  more = hl_put_binary(p, HL_LOOP_MIN, more, int_const(p, s->k));
  return (list){hl_put_select(p, wanted, target, l.begin), hl_put_select(p, wanted, more, l.count)};
}

/* --- the walk --- */

/* Elements of a block of each level; the last blocks are single elements. */
static const int64_t block_sizes[] = {64, 16, 1};
enum { LEVELS = sizeof block_sizes / sizeof *block_sizes };

/* Elements from `start` to the end of the line, where blocks do not fill it: else NULL. */
static hl_node *left_from(hl_puller *p, const selection *s, hl_index start)
{
  return s->n % block_sizes[0] ? hl_index_value(p, hl_index_scale(p, start, -1, s->n)) : NULL;
}

/* Whether a block holds any that reach the threshold. */
static hl_node *has_any(hl_puller *p, const selection *s, hl_index start, int64_t size)
{
  hl_combiner any = {.order = HL_ORDER_FREE, .combine = HL_LOOP_OR, .type = HL_PRED};
  hl_index i;
  hl_open_loop loop = hl_open_reduce(p, p->scope, 1, &size, 1, &any, &i);
  loop.node->loop->limits[0] = left_from(p, s, start);
  hl_node *reaches = hl_put_binary(p, HL_LOOP_GE, key_at(p, s, hl_index_add(p, start, i)), s->threshold);
  hl_close_loop(p, &loop, 1, &reaches);
  return hl_put_result(p, loop.node, 0);
}

/* How many of the blocks inside a block that begins at `start` are looked at: none where `any` is false. */
static hl_node *limit_of(hl_puller *p, const selection *s, int level, hl_index start, int64_t count, hl_node *any)
{
  hl_node *left = block_sizes[level] == 1 ? left_from(p, s, start) : NULL;
  return any ? hl_put_select(p, any, left ? left : int_const(p, count), int_const(p, 0)) : NULL;
}

/* One block after the other, and into those that hold any; `any`: NULL for the line itself. */
static list walk(hl_puller *p, const selection *s, list l, int level, hl_index start, hl_node *any)
{
  int64_t size = block_sizes[level], all = level ? block_sizes[level - 1] : s->n, count = (all + size - 1) / size;
  hl_index i;
  hl_open_loop loop = hl_open_fold(p, p->scope, 1, &count, 2, (hl_node *[]){l.begin, l.count}, &i);
  loop.node->loop->limits[0] = limit_of(p, s, level, start, count, any);
  l = (list){hl_open_acc(&loop, 0), hl_open_acc(&loop, 1)};
  start = hl_index_add(p, start, hl_index_scale(p, i, size, 0));
  if (level == LEVELS - 1)
    l = with_element(p, s, l, start);
  else
    l = walk(p, s, l, level + 1, start, has_any(p, s, start, size));
  hl_close_loop(p, &loop, 2, (hl_node *[]){l.begin, l.count});
  return (list){hl_put_result(p, loop.node, 0), hl_put_result(p, loop.node, 1)};
}

hl_selected hl_put_selection(hl_puller *p, const hl_topk *top)
{
  selection s = {.top = top, .n = top->n, .k = top->k, .type = top->type};
  s.groups = (3 * s.k / 2 + LANES) / LANES * LANES;
  s.maxima = hl_new_work_buffer(p, "maxima", s.type, s.groups, true);
  s.ranked = hl_new_work_buffer(p, "ranked", s.type, s.groups, true);
  s.keys = hl_new_work_buffer(p, "keys", s.type, 2 * (s.k + 1), true);
  s.places = hl_new_work_buffer(p, "places", HL_S32, 2 * (s.k + 1), true);
  store_maxima(p, &s);
  s.threshold = find_threshold(p, &s);
  clear_list(p, &s);
  hl_node *zero = int_const(p, 0);
  hl_index begin = hl_index_node(p, walk(p, &s, (list){zero, zero}, 0, hl_index_constant(0), NULL).begin);
  return (hl_selected){s.places, hl_index_scale(p, begin, 1, 1)};
}

bool hl_selects_few(const hl_topk *top)
{
  return top->k > 0 && top->k <= MOST && top->n >= LEAST_EACH * (3 * top->k / 2 + LANES);
}
