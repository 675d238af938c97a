/* lower_radix.c - sort of lines by the digits of an integer key, least significant first: stable, and
 * linear in the line (Knuth, The Art of Computer Programming, volume 3, section 5.2.5).
 *
 * One walk over the line counts the digits of all passes. Each pass then turns its counts into
 * places, and moves the records to the other half of the scratch arrays in the order in which they
 * lie. The key is computed again in each pass: cheaper than moving it along.
 */
#include "lower_radix.h"

#include "same.h"

enum { SHORT_DIGIT = 8, LONG_DIGIT = 11, LONG_LINE = 8192, SEARCH = 64 };

/* --- the comparator --- */

/* A search for where two expressions differ but in which of two records they read. */
typedef struct mirror {
  int left, right; /* parameters that stand for each other, -1: none yet */
  int budget;      /* instructions to look at */
} mirror;

static bool mirrors(mirror *m, const hl_instruction *a, const hl_instruction *b)
{
  if (m->budget-- <= 0 || a->opcode != b->opcode || a->operand_count != b->operand_count)
    return false;
  if (a->opcode == HL_OP_PARAMETER) {
    if (m->left < 0) {
      m->left = (int)a->parameter_number;
      m->right = (int)b->parameter_number;
    }
    return a->parameter_number == m->left && b->parameter_number == m->right;
  }
  if (!hl_instruction_same(a, b))
    return false;
  for (int i = 0; i < a->operand_count; i++)
    if (!mirrors(m, a->operands[i], b->operands[i]))
      return false;
  return true;
}

/* Integers and pred are in order as they are; floats only by totalOrder. */
static bool is_ordered(const hl_instruction *compare)
{
  hl_element_type type = compare->operands[0]->shape->element_type;
  if (hl_is_float(type))
    return hl_type_bits(type) >= 16 &&
           hl_attr_int(compare, HL_ATTR_TYPE, HL_COMPARE_FLOAT) == HL_COMPARE_TOTALORDER;
  return hl_is_integral(type) || type == HL_PRED;
}

static bool find_key(const hl_instruction *sort, hl_radix *r)
{
  const hl_instruction *root = hl_attr_computation(sort, HL_ATTR_TO_APPLY)->root;
  mirror m = {-1, -1, SEARCH};
  if (root->opcode != HL_OP_COMPARE || !is_ordered(root) ||
      !mirrors(&m, root->operands[0], root->operands[1]) || m.left < 0 || (m.left ^ 1) != m.right)
    return false;
  int64_t direction = hl_attr_int(root, HL_ATTR_DIRECTION, HL_EQ);
  if (direction != HL_LT && direction != HL_GT)
    return false;
  hl_element_type type = root->operands[0]->shape->element_type;
  *r = (hl_radix){.key = root->operands[0],
                  .is_total_order = hl_is_float(type),
                  .is_descending = (direction == HL_GT) != (m.left > m.right),
                  .is_signed = hl_is_float(type) || hl_type_class_of(type) == HL_CLASS_SIGNED,
                  .key_bits = type == HL_PRED ? 1 : hl_type_bits(type)};
  return true;
}

bool hl_radix_plan(hl_puller *p, const hl_sorter *s, hl_radix *r)
{
  if (!find_key(s->ins, r) || s->n > INT32_MAX)
    return false;
  int most = s->n >= LONG_LINE ? LONG_DIGIT : SHORT_DIGIT;
  r->passes = (r->key_bits + most - 1) / most;
  r->digit_bits = (r->key_bits + r->passes - 1) / r->passes;
  int64_t counts = (int64_t)r->passes << r->digit_bits;
  if (counts > 16 * s->n) /* a merge is done sooner */
    return false;
  r->counts = hl_new_work_buffer(p, "counts", HL_S32, counts, true);
  return true;
}

/* --- digits --- */

static hl_node *int_const(hl_puller *p, int64_t value)
{
  return hl_put_int(p, HL_S64, value);
}

/* The key of a record as a number from 0 to 2^key_bits - 1, in an s64. */
static hl_node *key_of(hl_puller *p, const hl_sorter *s, const hl_radix *r, const hl_value *record)
{
  hl_value *args = HL_ARRAY(p->arena, 2 * s->count, hl_value);
  for (int k = 0; k < s->count; k++)
    args[2 * k] = args[2 * k + 1] = record[k];
  hl_node *key = hl_pull_region_value(p, r->key, args).re;
  if (r->is_total_order)
    key = hl_put_order(p, key);
  key = hl_put_convert(p, HL_S64, key);
  if (!r->is_signed)
    return key;
  int64_t least = r->key_bits == 64 ? INT64_MIN : -(INT64_C(1) << (r->key_bits - 1));
  return hl_put_binary(p, HL_LOOP_SUB, key, int_const(p, least));
}

/* Where the counter of the key's digit lies. */
static hl_index counter_of(hl_puller *p, const hl_radix *r, hl_node *key, int pass)
{
  int64_t mask = (INT64_C(1) << r->digit_bits) - 1, base = (int64_t)pass << r->digit_bits;
  hl_node *digit = hl_put_binary(p, HL_LOOP_SRL, key, int_const(p, (int64_t)pass * r->digit_bits));
  digit = hl_put_binary(p, HL_LOOP_AND, digit, int_const(p, mask));
  if (r->is_descending)
    digit = hl_put_binary(p, HL_LOOP_XOR, digit, int_const(p, mask));
  hl_facts_of(digit)->low = 0;
  hl_facts_of(digit)->high = mask;
  return hl_index_add(p, hl_index_node(p, digit), hl_index_constant(base));
}

static hl_node *count_at(hl_puller *p, const hl_radix *r, hl_index at)
{
  return hl_put_load_here(p, r->counts, at).re;
}

static void set_count(hl_puller *p, const hl_radix *r, hl_index at, hl_node *count)
{
  hl_put_store(p, r->counts, at, (hl_value){count, NULL});
}

static hl_node *one_more(hl_puller *p, hl_node *count)
{
  return hl_put_binary(p, HL_LOOP_ADD, count, hl_put_int(p, HL_S32, 1));
}

/* --- the sort --- */

static void load_record(hl_puller *p, const hl_sorter *s, hl_index at, hl_value *record)
{
  for (int k = 0; k < s->count; k++)
    record[k] = hl_put_load_here(p, s->scratch[k], at);
}

static void clear_counts(hl_puller *p, const hl_radix *r)
{
  hl_index i;
  hl_open_for(p, (int64_t)r->passes << r->digit_bits, &i);
  set_count(p, r, i, hl_put_int(p, HL_S32, 0));
  hl_close_for(p);
}

static void count_digits(hl_puller *p, const hl_sorter *s, const hl_radix *r)
{
  hl_value *record = HL_ARRAY(p->arena, s->count, hl_value);
  hl_index i;
  hl_open_loop loop = hl_open_sequence(p, 1, &s->n, &i);
  load_record(p, s, i, record);
  hl_node *key = key_of(p, s, r, record);
  for (int pass = 0; pass < r->passes; pass++) {
    hl_index at = counter_of(p, r, key, pass);
    set_count(p, r, at, one_more(p, count_at(p, r, at)));
  }
  hl_close_sequence(p, &loop);
}

/* A digit's count becomes the place of its first record. */
static void make_places(hl_puller *p, const hl_radix *r, int pass)
{
  int64_t digits = INT64_C(1) << r->digit_bits;
  hl_node *place = hl_put_int(p, HL_S32, 0);
  hl_index i;
  hl_open_loop loop = hl_open_fold(p, p->scope, 1, &digits, 1, &place, &i);
  hl_index at = hl_index_add(p, i, hl_index_constant(pass * digits));
  hl_node *count = count_at(p, r, at);
  place = hl_open_acc(&loop, 0);
  set_count(p, r, at, place);
  place = hl_put_binary(p, HL_LOOP_ADD, place, count);
  hl_close_loop(p, &loop, 1, &place);
}

static void move_records(hl_puller *p, const hl_sorter *s, const hl_radix *r, int pass)
{
  hl_value *record = HL_ARRAY(p->arena, s->count, hl_value);
  hl_index i, source = hl_index_constant(pass % 2 ? s->n : 0), target = hl_index_constant(pass % 2 ? 0 : s->n);
  hl_open_loop loop = hl_open_sequence(p, 1, &s->n, &i);
  load_record(p, s, hl_index_add(p, source, i), record);
  hl_index at = counter_of(p, r, key_of(p, s, r, record), pass);
  hl_node *count = count_at(p, r, at), *place = hl_put_convert(p, HL_S64, count);
  set_count(p, r, at, one_more(p, count));
  hl_facts_of(place)->low = 0;
  hl_facts_of(place)->high = s->n - 1;
  hl_index to = hl_index_add(p, target, hl_index_node(p, place));
  for (int k = 0; k < s->count; k++)
    hl_put_store(p, s->scratch[k], to, record[k]);
  hl_close_sequence(p, &loop);
}

hl_index hl_put_radix_sort(hl_puller *p, const hl_sorter *s, const hl_radix *r)
{
  clear_counts(p, r);
  count_digits(p, s, r);
  for (int pass = 0; pass < r->passes; pass++) {
    make_places(p, r, pass);
    move_records(p, s, r, pass);
  }
  return hl_index_constant(r->passes % 2 ? s->n : 0);
}
