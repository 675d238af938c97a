/* comparator.c - takes comparators apart: compare(f(x), f(y)), and of several keys
 * or(x1 < y1, and(x1 == y1, rest)).
 *
 * Whatever f is, the order by f(x) is a strict weak one if the compare is one. So f is not looked at: the two sides
 * only have to be the same expression, one of the first record and one of the second. Every instruction gets the
 * number of the first one that is like it but for the record it takes its parameters from.
 */
#include "comparator.h"

#include "same.h"

enum {
  MAX_INSTRUCTIONS = 128,
  NEITHER = 0, /* which records an instruction depends on */
  FIRST = 1,
  SECOND = 2
};

typedef struct likeness {
  const hl_instruction *all[MAX_INSTRUCTIONS];
  int number[MAX_INSTRUCTIONS], records[MAX_INSTRUCTIONS];
} likeness;

static bool is_alike(const likeness *l, const hl_instruction *a, const hl_instruction *b)
{
  if (a->opcode == HL_OP_PARAMETER && b->opcode == HL_OP_PARAMETER)
    return a->parameter_number / 2 == b->parameter_number / 2;
  if (!hl_instruction_same(a, b))
    return false;
  for (int i = 0; i < a->operand_count; i++)
    if (l->number[a->operands[i]->scratch] != l->number[b->operands[i]->scratch])
      return false;
  return true;
}

static int number_of(const likeness *l, const hl_instruction *ins)
{
  int n = 0;
  while (l->all[n] != ins && !is_alike(l, l->all[n], ins))
    n++;
  return n;
}

static int records_of(const likeness *l, const hl_instruction *ins)
{
  if (ins->opcode == HL_OP_PARAMETER)
    return ins->parameter_number % 2 ? SECOND : FIRST;
  int records = NEITHER;
  for (int i = 0; i < ins->operand_count; i++)
    records |= l->records[ins->operands[i]->scratch];
  return records;
}

static bool number_all(likeness *l, const hl_computation *region)
{
  if (region->instruction_count > MAX_INSTRUCTIONS)
    return false;
  int n = 0;
  for (hl_instruction *ins = region->first; ins; ins = ins->next) {
    ins->scratch = n;
    l->all[n] = ins;
    l->number[n] = number_of(l, ins);
    l->records[n] = records_of(l, ins);
    n++;
  }
  return true;
}

/* A compare of one expression of both records: the key of its left operand. */
static bool is_key(const likeness *l, const hl_instruction *ins, hl_sort_key *key)
{
  if (ins->opcode != HL_OP_COMPARE)
    return false;
  const hl_instruction *x = ins->operands[0], *y = ins->operands[1];
  hl_element_type type = x->shape->element_type;
  int records = l->records[x->scratch];
  if (l->number[x->scratch] != l->number[y->scratch] || hl_is_complex(type) ||
      (records != FIRST && records != SECOND) || l->records[y->scratch] != FIRST + SECOND - records)
    return false;
  *key = (hl_sort_key){.value = x, .side = records == FIRST ? 0 : 1};
  key->is_total = !hl_is_float(type) || hl_attr_int(ins, HL_ATTR_TYPE, HL_COMPARE_FLOAT) == HL_COMPARE_TOTALORDER;
  return true;
}

static bool is_strict_key(const likeness *l, const hl_instruction *ins, hl_sort_key *key)
{
  if (!is_key(l, ins, key))
    return false;
  int64_t direction = hl_attr_int(ins, HL_ATTR_DIRECTION, HL_EQ);
  key->is_descending = (direction == HL_GT) != (key->side == 1);
  return direction == HL_LT || direction == HL_GT;
}

/* The rest of and(x == y, rest), where x and y are what the key compares. */
static const hl_instruction *rest_of(const likeness *l, const hl_instruction *both, const hl_sort_key *key)
{
  for (int i = 0; both->opcode == HL_OP_AND && i < 2; i++) {
    hl_sort_key equal;
    const hl_instruction *ins = both->operands[i];
    if (is_key(l, ins, &equal) && hl_attr_int(ins, HL_ATTR_DIRECTION, HL_EQ) == HL_EQ &&
        l->number[equal.value->scratch] == l->number[key->value->scratch] && equal.is_total == key->is_total)
      return both->operands[1 - i];
  }
  return NULL;
}

/* or(key, and(equal, rest)) adds the key and gives the rest; NULL: it is not that. */
static const hl_instruction *take_key(const likeness *l, const hl_instruction *ins, hl_sort_key *key)
{
  const hl_instruction *rest = NULL;
  for (int i = 0; ins->opcode == HL_OP_OR && i < 2 && !rest; i++)
    if (is_strict_key(l, ins->operands[i], key))
      rest = rest_of(l, ins->operands[1 - i], key);
  return rest;
}

bool hl_comparator_keys(hl_arena *arena, const hl_computation *region, hl_sort_keys *keys)
{
  likeness *l = HL_NEW(arena, likeness);
  keys->count = 0;
  if (!number_all(l, region))
    return false;
  const hl_instruction *ins = region->root;
  while (ins && keys->count < HL_MAX_SORT_KEYS) {
    hl_sort_key *key = &keys->keys[keys->count++];
    if (is_strict_key(l, ins, key))
      return true;
    ins = take_key(l, ins, key);
  }
  return false;
}
