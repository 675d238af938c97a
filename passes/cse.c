/* cse - computes equal values once, and keeps one of computations that are written alike.
 *
 * Requires: definition order, so that the first of equal values stands before all users of the
 * others. Keeps:    every value; side effects; regions but for which copy is named. Cost:     one
 * walk with a hash table.
 *
 * JAX prints a region for each reduce: they are shared first, so that equal reduces are found and
 * equal kernels are emitted once.
 */
#include "rewrite.h"

#include "same.h"

typedef struct table {
  void **slots; /* instructions, or computations */
  uint64_t *hashes;
  size_t mask;
} table;

static table table_new(hl_arena *scratch, int64_t count)
{
  size_t size = 16;
  while (size < 2 * (size_t)count)
    size *= 2;
  return (table){HL_ARRAY(scratch, size, void *), HL_ARRAY(scratch, size, uint64_t), size - 1};
}

typedef bool same_fn(const void *a, const void *b);

/* The entry that is the same as `item`; `item` itself, which is now in the table, if there is none.
 */
static void *find_or_add(table *t, uint64_t hash, void *item, same_fn *same)
{
  size_t at = hash & t->mask;
  for (; t->slots[at]; at = (at + 1) & t->mask)
    if (t->hashes[at] == hash && same(t->slots[at], item))
      return t->slots[at];
  t->slots[at] = item;
  t->hashes[at] = hash;
  return item;
}

static bool is_crossed(const hl_instruction *a, const hl_instruction *b)
{
  return hl_op_info_of(a->opcode)->flags & HL_COMM && a->operands[0] == b->operands[1] &&
         a->operands[1] == b->operands[0];
}

static bool same_operands(const hl_instruction *a, const hl_instruction *b)
{
  for (int i = 0; i < a->operand_count; i++)
    if (a->operands[i] != b->operands[i])
      return is_crossed(a, b);
  return true;
}

static bool same_instruction(const void *a, const void *b)
{
  return hl_instruction_same(a, b) && same_operands(a, b);
}

/* Operands count as a set: add(x, y) is add(y, x). */
static uint64_t hash_with_operands(const hl_instruction *ins)
{
  uint64_t operands = 0;
  for (int i = 0; i < ins->operand_count; i++)
    operands += hl_hash_bytes(0, &ins->operands[i], sizeof ins->operands[i]);
  return hl_instruction_hash(ins) ^ operands;
}

static bool may_share(const hl_instruction *ins)
{
  return !hl_is_dead(ins) && ins->opcode != HL_OP_PARAMETER && ins->opcode != HL_OP_CUSTOM_CALL &&
         !hl_has_side_effect(ins);
}

static bool share_instructions(hl_computation *c, hl_arena *scratch)
{
  bool changed = false;
  table t = table_new(scratch, c->instruction_count);
  hl_instruction *next;
  for (hl_instruction *ins = c->first; ins; ins = next) {
    next = ins->next;
    if (!may_share(ins))
      continue;
    hl_instruction *first = find_or_add(&t, hash_with_operands(ins), ins, same_instruction);
    if (first == ins)
      continue;
    hl_replace_all_uses(ins, first);
    hl_instruction_remove(ins);
    changed = true;
  }
  return changed;
}

/* Instructions of both at the same places, reading the same places; scratch holds each one's place.
 */
static bool same_computation(const void *left, const void *right)
{
  const hl_computation *a = left, *b = right;
  if (a->instruction_count != b->instruction_count || a->parameter_count != b->parameter_count ||
      a->root->scratch != b->root->scratch || a->execution_thread || b->execution_thread)
    return false;
  const hl_instruction *y = b->first;
  for (const hl_instruction *x = a->first; x; x = x->next, y = y->next) {
    if (!hl_instruction_same(x, y))
      return false;
    for (int i = 0; i < x->operand_count; i++)
      if (x->operands[i]->scratch != y->operands[i]->scratch)
        return false;
  }
  return true;
}

/* The callees of an instruction, which are firsts already. */
static uint64_t hash_callees(uint64_t hash, const hl_instruction *ins)
{
  for (int i = 0; i < ins->attr_count; i++) {
    const hl_attr *attr = &ins->attrs[i];
    if (hl_holds_computations(attr) && attr->computations.count)
      hash = hl_hash_bytes(hash, attr->computations.values,
                           (size_t)attr->computations.count * sizeof *attr->computations.values);
  }
  return hash;
}

static uint64_t number_and_hash(hl_computation *c)
{
  uint64_t hash = 0;
  int64_t place = 0;
  for (hl_instruction *ins = c->first; ins; ins = ins->next) {
    ins->scratch = place++;
    uint64_t own = hl_instruction_hash(ins);
    hash = hash_callees(hl_hash_bytes(hash, &own, sizeof own), ins);
    for (int i = 0; i < ins->operand_count; i++)
      hash = hl_hash_bytes(hash, &ins->operands[i]->scratch, sizeof ins->operands[i]->scratch);
  }
  return hash;
}

/* Names the first of equal computations in each call; firsts are known before their callers come.
 */
static bool redirect(hl_computation *c, hl_computation *const *firsts)
{
  bool changed = false;
  for (hl_instruction *ins = c->first; ins; ins = ins->next)
    for (int i = 0; i < ins->attr_count; i++) {
      hl_attr *attr = &ins->attrs[i];
      for (int k = 0; hl_holds_computations(attr) && k < attr->computations.count; k++) {
        hl_computation *first = firsts[attr->computations.values[k]->scratch];
        changed = changed || first != attr->computations.values[k];
        attr->computations.values[k] = first;
      }
    }
  return changed;
}

static bool share_computations(hl_module *module, hl_arena *scratch)
{
  int64_t count = 0;
  for (hl_computation *c = module->first; c; c = c->next)
    c->scratch = count++;
  hl_computation **firsts = HL_ARRAY(scratch, count, hl_computation *);
  table t = table_new(scratch, count);
  bool changed = false;
  for (hl_computation *c = module->first; c; c = c->next) {
    changed = redirect(c, firsts) || changed;
    firsts[c->scratch] =
        c == module->entry ? c : find_or_add(&t, number_and_hash(c), c, same_computation);
  }
  return changed;
}

bool hl_pass_cse(hl_module *module, hl_pass_context *cx)
{
  bool changed = share_computations(module, cx->scratch);
  hl_mark_flow(module);
  for (hl_computation *c = module->first; c; c = c->next)
    if (c->scratch)
      changed = share_instructions(c, cx->scratch) || changed;
  return hl_drop_unreached(module) || changed;
}
