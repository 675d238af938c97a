/* lower_radix.c - sort by the digits of its keys, the least significant digit first: each pass counts the digits, turns
 * the counts into places and moves the records there. That is stable, as numerics.md rule 11 wants it.
 *
 * A record is what the operands hold; keys are computed from it again in every pass, so that nothing but the operands
 * moves. Where nobody reads in order what a key is computed from, as in argsort, the key moves in its place. The first
 * pass reads the operands, the last one writes the results, those between them use the two halves of the scratch arrays
 * in turn. A single long line is cut into parts with counts of their own: the parts are what threads
 * share out, and records of equal digits stay in the order of the parts.
 */
#include "lower_sort.h"
#include "lower_whole.h"

#include "../ir/limits.h"

enum {
  PART_ELEMENTS = 1 << 17,
  MAX_PARTS = 16,
  MAX_PASSES = 16,
  WIDE_DIGIT = 11, /* bits; of long lines: the counts of a pass still fit the first cache */
  DIGIT = 8,
  LONG_LINE = 1 << 16
};

typedef struct pass {
  const hl_sort_key *key;
  int shift, bits;
} pass;

typedef struct record {
  hl_value *values;                /* of the operands */
  hl_node *keys[HL_MAX_SORT_KEYS]; /* where keys move */
} record;

typedef struct radix {
  const hl_instruction *ins;
  hl_sort_keys keys;
  pass passes[MAX_PASSES];
  int pass_count, count;
  int64_t n, parts, places; /* places: counts of a pass and a part */
  int dim;
  hl_index *at; /* the line; at[dim] is set on the way */
  bool *is_wanted; /* operands whose results are read */
  bool keeps_keys;
  hl_buffer **line, *counts, *keys_line[HL_MAX_SORT_KEYS];
} radix;

/* --- keys --- */

static int key_bits(const hl_sort_key *key)
{
  return hl_type_bytes(hl_wide_type(key->value->shape->element_type) == HL_PRED
                           ? HL_U8
                           : key->value->shape->element_type) * 8;
}

static hl_element_type bits_type(int bits)
{
  return bits == 8 ? HL_U8 : bits == 16 ? HL_U16 : bits == 32 ? HL_U32 : HL_U64;
}

/* A float as the signed integer that sorts like it. */
static hl_node *order_of(hl_puller *p, const hl_sort_key *key, hl_node *x)
{
  if (!key->is_total) {
    hl_node *wide = hl_widen(p, x);
    hl_node *is_zero = hl_put_binary(p, HL_LOOP_EQ, wide, hl_put_float(p, wide->type, 0));
    x = hl_put_select(p, is_zero, hl_put_float(p, x->type, 0), x);
  }
  return hl_put_order(p, x);
}

/* The value that a record's key is made of. */
static hl_node *key_value(hl_puller *p, const radix *r, const hl_sort_key *key, const hl_value *values)
{
  hl_value *args = HL_ARRAY(p->arena, 2 * r->count, hl_value);
  for (int k = 0; k < 2 * r->count; k++)
    args[k] = values[k / 2];
  return hl_pull_region_value(p, key->value, args).re;
}

/* The key of a record as the unsigned integer that sorts like it. */
static hl_node *key_of(hl_puller *p, const radix *r, const hl_sort_key *key, const hl_value *values)
{
  hl_node *x = key_value(p, r, key, values);
  int bits = key_bits(key);
  uint64_t flip = key->is_descending ? UINT64_MAX >> (64 - bits) : 0;
  if (hl_is_float(x->type))
    x = order_of(p, key, x);
  else
    x = x->type == HL_PRED ? hl_put_convert(p, HL_U8, x) : hl_widen(p, x);
  if (hl_type_class_of(x->type) == HL_CLASS_SIGNED)
    flip ^= UINT64_C(1) << (bits - 1);
  hl_element_type type = bits_type(bits);
  if (x->type != type)
    x = hl_put(p, HL_LOOP_BITCAST, type, 1, &x);
  return flip ? hl_put_binary(p, HL_LOOP_XOR, x, hl_put_const(p, type, flip)) : x;
}

/* Where the count of a record's digit stands. */
static hl_index digit_of(hl_puller *p, const radix *r, const pass *d, const record *x)
{
  hl_node *key = r->keeps_keys ? x->keys[d->key - r->keys.keys] : key_of(p, r, d->key, x->values);
  if (d->shift)
    key = hl_put_binary(p, HL_LOOP_SRL, key, hl_put_int(p, key->type, d->shift));
  hl_node *digit = hl_put_convert(p, HL_S64, hl_put_binary(p, HL_LOOP_AND, key, hl_put_int(p, key->type, (1 << d->bits) - 1)));
  hl_facts_of(digit)->low = 0;
  hl_facts_of(digit)->high = (1 << d->bits) - 1;
  return hl_index_node(p, digit);
}

/* --- records --- */

/* Where a pass leaves the line: an offset into the scratch arrays. */
static int64_t half_of(const radix *r, int number)
{
  return number % 2 ? r->n : 0;
}

/* Record i of the line as a pass finds it. */
static record load_record(hl_puller *p, radix *r, int number, hl_index i)
{
  record x = {.values = HL_ARRAY(p->arena, r->count, hl_value)};
  hl_index from = hl_index_scale(p, i, 1, half_of(r, number + 1));
  r->at[r->dim] = i;
  for (int k = 0; k < r->count; k++)
    if (number && r->is_wanted[k])
      x.values[k] = hl_put_load_here(p, r->line[k], from);
    else /* from the second pass on nothing depends on it */
      x.values[k] = hl_pull(p, r->ins->operands[k], 0, r->at);
  for (int k = 0; k < r->keys.count && r->keeps_keys; k++)
    x.keys[k] = hl_put_load_here(p, r->keys_line[k], from).re;
  return x;
}

static void store_in_result(hl_puller *p, radix *r, hl_index to, const record *x)
{
  r->at[r->dim] = to;
  hl_index at = hl_index_flatten(p, r->ins->operands[0]->shape, r->at);
  for (int k = 0; k < r->count; k++)
    if (r->is_wanted[k])
      hl_put_store(p, p->leaves[r->ins->scratch][k], at, x->values[k]);
}

static void store_record(hl_puller *p, radix *r, int number, hl_index to, const record *x)
{
  hl_index at = hl_index_scale(p, to, 1, half_of(r, number));
  if (number == r->pass_count - 1) {
    store_in_result(p, r, to, x);
    return;
  }
  for (int k = 0; k < r->count; k++)
    if (r->is_wanted[k])
      hl_put_store(p, r->line[k], at, x->values[k]);
  for (int k = 0; k < r->keys.count && r->keeps_keys; k++)
    hl_put_store(p, r->keys_line[k], at, (hl_value){x->keys[k], NULL});
}

/* Keys that move, before the first pass. */
static void store_keys(hl_puller *p, radix *r)
{
  hl_value *values = HL_ARRAY(p->arena, r->count, hl_value);
  hl_index i;
  hl_open_for(p, r->n, &i);
  r->at[r->dim] = i;
  for (int k = 0; k < r->count; k++)
    values[k] = hl_pull(p, r->ins->operands[k], 0, r->at);
  for (int k = 0; k < r->keys.count; k++)
    hl_put_store(p, r->keys_line[k], hl_index_scale(p, i, 1, half_of(r, 1)),
                 (hl_value){key_of(p, r, &r->keys.keys[k], values), NULL});
  hl_close_for(p);
}

/* --- a pass --- */

/* The places of a part's counts; those of each pass where all are counted at once. */
static hl_index counts_at(hl_puller *p, const radix *r, int number, hl_index part)
{
  return hl_index_scale(p, part, r->places, r->parts == 1 ? number * r->places : 0);
}

/* The count at a place, as an element number; it is stored in few bytes. */
static hl_node *load_count(hl_puller *p, const radix *r, hl_index place)
{
  return hl_put_load_here(p, r->counts, place).re;
}

static void store_count(hl_puller *p, const radix *r, hl_index place, hl_node *count)
{
  hl_put_store(p, r->counts, place, (hl_value){count, NULL});
}

static hl_node *next_count(hl_puller *p, hl_node *count)
{
  return hl_put_binary(p, HL_LOOP_ADD, count, hl_put_int(p, count->type, 1));
}

static void clear_counts(hl_puller *p, const radix *r, hl_index from, int64_t count)
{
  hl_index i;
  hl_open_for(p, count, &i);
  store_count(p, r, hl_index_add(p, from, i), hl_put_int(p, r->counts->type, 0));
  hl_close_for(p);
}

/* The records of a part, in order. */
static hl_open_loop open_part(hl_puller *p, const radix *r, hl_index part, hl_index *i)
{
  int64_t each = (r->n + r->parts - 1) / r->parts;
  hl_open_loop loop = hl_open_sequence(p, 1, &each, i);
  hl_index start = hl_index_scale(p, part, each, 0);
  if (r->n % each)
    loop.node->loop->limits[0] = hl_index_value(p, hl_index_scale(p, start, -1, r->n));
  *i = hl_index_add(p, start, *i);
  return loop;
}

static void count_digits(hl_puller *p, radix *r, int first, int last, hl_index part)
{
  hl_index i;
  hl_open_loop loop = open_part(p, r, part, &i);
  record x = load_record(p, r, first, i);
  for (int k = first; k < last; k++) {
    hl_index place = hl_index_add(p, counts_at(p, r, k, part), digit_of(p, r, &r->passes[k], &x));
    store_count(p, r, place, next_count(p, load_count(p, r, place)));
  }
  hl_close_sequence(p, &loop);
}

/* Counts become the places where the digits' records begin. */
static void place_digits(hl_puller *p, radix *r, int number)
{
  int64_t extents[2] = {r->places, r->parts};
  hl_node *sum = hl_put_int(p, r->counts->type, 0);
  hl_index vars[2] = {hl_index_constant(0), hl_index_constant(0)};
  hl_open_loop loop = hl_open_fold(p, p->scope, r->parts > 1 ? 2 : 1, extents, 1, &sum, vars);
  hl_index place = hl_index_add(p, counts_at(p, r, number, vars[1]), vars[0]);
  hl_node *count = load_count(p, r, place);
  sum = hl_open_acc(&loop, 0);
  store_count(p, r, place, sum);
  sum = hl_put_binary(p, HL_LOOP_ADD, sum, count);
  hl_close_loop(p, &loop, 1, &sum);
}

static void move_records(hl_puller *p, radix *r, int number, hl_index part)
{
  hl_index i;
  hl_open_loop loop = open_part(p, r, part, &i);
  record x = load_record(p, r, number, i);
  hl_index place = hl_index_add(p, counts_at(p, r, number, part), digit_of(p, r, &r->passes[number], &x));
  hl_node *count = load_count(p, r, place), *to = hl_put_convert(p, HL_S64, count);
  hl_facts_of(to)->low = 0;
  hl_facts_of(to)->high = r->n - 1;
  store_record(p, r, number, hl_index_node(p, to), &x);
  store_count(p, r, place, next_count(p, count));
  hl_close_sequence(p, &loop);
}

static void sort_line(hl_puller *p, radix *r)
{
  hl_index part = hl_index_constant(0);
  clear_counts(p, r, part, r->pass_count * r->places);
  count_digits(p, r, 0, r->pass_count, part);
  for (int k = 0; k < r->pass_count; k++) {
    place_digits(p, r, k);
    move_records(p, r, k, part);
  }
}

/* Loops of their own over the parts: what they count and where they write is apart. */
static void sort_parts(hl_puller *p, radix *r)
{
  hl_index part;
  for (int k = 0; k < r->pass_count; k++) {
    hl_open_for(p, r->parts, &part);
    clear_counts(p, r, counts_at(p, r, k, part), r->places);
    count_digits(p, r, k, k + 1, part);
    hl_close_for(p);
    place_digits(p, r, k);
    hl_open_for(p, r->parts, &part);
    move_records(p, r, k, part);
    hl_close_for(p);
  }
}

/* --- whether, and how --- */

static bool choose_passes(radix *r)
{
  int most = r->n >= LONG_LINE ? WIDE_DIGIT : DIGIT;
  for (int k = r->keys.count; k-- > 0;) {
    int bits = key_bits(&r->keys.keys[k]), digits = (bits + most - 1) / most;
    int each = (bits + digits - 1) / digits;
    for (int d = 0; d < digits; d++) {
      if (r->pass_count == MAX_PASSES)
        return false;
      int shift = d * each, left = bits - shift;
      r->passes[r->pass_count++] = (pass){&r->keys.keys[k], shift, left < each ? left : each};
    }
    if (INT64_C(1) << each > r->places)
      r->places = INT64_C(1) << each;
  }
  return true;
}

/* Steps of both ways to sort, by what one takes: a place of a digit, a record moved; a record merged. */
static bool is_worth_it(const radix *r)
{
  int64_t levels = 0;
  while (INT64_C(1) << levels < r->n)
    levels++;
  return r->pass_count * (r->places / r->n + 3) < 6 * levels;
}

static bool takes_all_floats(const hl_sort_keys *keys)
{
  for (int k = 0; k < keys->count; k++)
    if (!keys->keys[k].is_total)
      return false;
  return true;
}

static bool plan(hl_puller *p, const hl_instruction *ins, radix *r)
{
  const hl_shape *shape = ins->operands[0]->shape;
  r->ins = ins;
  r->count = ins->operand_count;
  r->dim = (int)hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0];
  r->n = shape->dimensions[r->dim];
  return r->n > 1 && r->n < INT32_MAX &&
         hl_comparator_keys(p->arena, hl_attr_computation(ins, HL_ATTR_TO_APPLY), &r->keys) &&
         takes_all_floats(&r->keys) && choose_passes(r) && is_worth_it(r);
}

static int64_t parts_of(const hl_puller *p, const radix *r)
{
  int64_t parts = r->n / PART_ELEMENTS;
  if (hl_shape_elements(r->ins->operands[0]->shape) > r->n || p->options->max_workers < 2 || parts < 2)
    return 1;
  return parts < MAX_PARTS ? parts : MAX_PARTS;
}

static bool is_read(const hl_instruction *ins, int leaf)
{
  for (int i = 0; i < ins->user_count; i++) {
    const hl_instruction *user = ins->users[i];
    if (user->opcode != HL_OP_GET_TUPLE_ELEMENT)
      return true;
    if (hl_attr_int(user, HL_ATTR_INDEX, 0) == leaf && (user->user_count || user == user->computation->root))
      return true;
  }
  return ins == ins->computation->root;
}

static bool is_compared(const hl_computation *region, int operand)
{
  for (const hl_instruction *ins = region->first; ins; ins = ins->next)
    if (ins->opcode == HL_OP_PARAMETER && ins->parameter_number / 2 == operand && ins->user_count)
      return true;
  return false;
}

static void note_needs(hl_puller *p, radix *r)
{
  r->is_wanted = HL_ARRAY(p->arena, r->count, bool);
  for (int k = 0; k < r->count; k++) {
    r->is_wanted[k] = is_read(r->ins, k);
    r->keeps_keys |= !r->is_wanted[k] && is_compared(hl_attr_computation(r->ins, HL_ATTR_TO_APPLY), k);
  }
}

static void make_scratch(hl_puller *p, radix *r)
{
  bool is_per_worker = r->parts == 1;
  int64_t halves = r->pass_count > 2 ? 2 : r->pass_count - 1;
  int64_t rows = is_per_worker ? r->pass_count : r->parts;
  r->counts = hl_new_work_buffer(p, "counts", HL_S32, rows * r->places, is_per_worker);
  r->line = HL_ARRAY(p->arena, r->count, hl_buffer *);
  for (int k = 0; k < r->keys.count && r->keeps_keys; k++)
    r->keys_line[k] = hl_new_work_buffer(p, "keys", bits_type(key_bits(&r->keys.keys[k])), 2 * r->n, is_per_worker);
  for (int k = 0; k < r->count; k++)
    if (halves && r->is_wanted[k])
      r->line[k] = hl_new_work_buffer(p, "line", r->ins->operands[k]->shape->element_type, halves * r->n, is_per_worker);
}

bool hl_put_radix_sort(hl_puller *p, const hl_instruction *ins)
{
  radix *r = HL_NEW(p->arena, radix);
  if (!plan(p, ins, r))
    return false;
  note_needs(p, r);
  r->at = HL_ARRAY(p->arena, HL_LIMIT_RANK, hl_index);
  r->parts = parts_of(p, r);
  make_scratch(p, r);
  int opened = hl_open_lines(p, ins->operands[0]->shape, r->dim, r->at);
  if (r->keeps_keys)
    store_keys(p, r);
  if (r->parts == 1)
    sort_line(p, r);
  else
    sort_parts(p, r);
  hl_close_all(p, opened);
  return true;
}
