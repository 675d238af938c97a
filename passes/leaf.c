/* leaf.c - arrays inside tuples. Recursion follows the nesting of types and of computations only.
 */
#include "leaf.h"

#include <string.h>

enum { ORIGIN_STEPS = 4096 }; /* updates looked through */

int hl_leaf_count(const hl_shape *shape)
{
  if (shape->element_type != HL_TUPLE)
    return 1;
  int n = 0;
  for (int i = 0; i < shape->tuple_count; i++)
    n += hl_leaf_count(shape->tuple_shapes[i]);
  return n;
}

int hl_leaf_offset(const hl_shape *shape, int index)
{
  int n = 0;
  for (int i = 0; i < index; i++)
    n += hl_leaf_count(shape->tuple_shapes[i]);
  return n;
}

const hl_shape *hl_leaf_shape(const hl_shape *shape, int leaf)
{
  while (shape->element_type == HL_TUPLE) {
    int i = 0;
    while (leaf >= hl_leaf_count(shape->tuple_shapes[i]))
      leaf -= hl_leaf_count(shape->tuple_shapes[i++]);
    shape = shape->tuple_shapes[i];
  }
  return shape;
}

hl_computation *hl_branch_of(const hl_instruction *conditional, int i)
{
  const hl_attr *list = hl_attr_find(conditional, HL_ATTR_BRANCH_COMPUTATIONS);
  if (list)
    return list->computations.values[i];
  return hl_attr_computation(conditional, i ? HL_ATTR_FALSE_COMPUTATION : HL_ATTR_TRUE_COMPUTATION);
}

hl_leaf_facts hl_leaf_facts_new(hl_arena *arena)
{
  return (hl_leaf_facts){.arena = arena, .kept = {.arena = arena}, .origins = {.arena = arena}};
}

static bool carries(hl_leaf_facts *facts, const hl_instruction *ins, int leaf)
{
  return facts && ins->opcode == HL_OP_WHILE &&
         hl_leaf_is_kept(facts, hl_attr_computation(ins, HL_ATTR_BODY), leaf);
}

hl_instruction *hl_leaf_source(hl_leaf_facts *facts, hl_instruction *ins, int *leaf)
{
  for (;;) {
    if (ins->opcode == HL_OP_TUPLE) {
      int i = 0;
      while (*leaf >= hl_leaf_count(ins->operands[i]->shape))
        *leaf -= hl_leaf_count(ins->operands[i++]->shape);
      ins = ins->operands[i];
    } else if (ins->opcode == HL_OP_GET_TUPLE_ELEMENT) {
      *leaf += hl_leaf_offset(ins->operands[0]->shape, (int)hl_attr_int(ins, HL_ATTR_INDEX, 0));
      ins = ins->operands[0];
    } else if (carries(facts, ins, *leaf)) {
      ins = ins->operands[0];
    } else {
      return ins;
    }
  }
}

bool hl_leaf_is_kept(hl_leaf_facts *facts, const hl_computation *body, int leaf)
{
  bool *kept = hl_map_get(&facts->kept, body->name, strlen(body->name));
  if (!kept) {
    int n = hl_leaf_count(body->root->shape);
    kept = HL_ARRAY(facts->arena, n + 1, bool);
    for (int i = 0; i < n; i++) {
      int from = i;
      const hl_instruction *source = hl_leaf_source(facts, body->root, &from);
      kept[i] = source->opcode == HL_OP_PARAMETER && from == i;
    }
    hl_map_set(&facts->kept, body->name, strlen(body->name), kept);
  }
  return kept[leaf];
}

/* The operand that an instruction's leaf is an updated form of, and its leaf; NULL: none. */
static hl_instruction *updated_by(hl_leaf_facts *facts, hl_instruction *ins, int *leaf)
{
  switch (ins->opcode) {
  case HL_OP_DYNAMIC_UPDATE_SLICE:
  case HL_OP_WHILE:
    return ins->operands[0];
  case HL_OP_SCATTER: {
    int k = *leaf;
    *leaf = 0;
    return ins->operands[k];
  }
  case HL_OP_CONDITIONAL:
    for (int b = 0; b + 1 < ins->operand_count; b++) {
      int from = hl_leaf_origin(facts, hl_branch_of(ins, b), *leaf);
      if (from < 0)
        continue;
      *leaf = from;
      return ins->operands[b + 1];
    }
    return NULL;
  default:
    return NULL;
  }
}

static int find_origin(hl_leaf_facts *facts, hl_instruction *ins, int leaf)
{
  for (int i = 0; ins && i < ORIGIN_STEPS; i++) {
    ins = hl_leaf_source(facts, ins, &leaf);
    if (ins->opcode == HL_OP_PARAMETER)
      return leaf;
    ins = updated_by(facts, ins, &leaf);
  }
  return -1;
}

int hl_leaf_origin(hl_leaf_facts *facts, const hl_computation *computation, int leaf)
{
  int *origins = hl_map_get(&facts->origins, computation->name, strlen(computation->name));
  if (!origins) {
    int n = hl_leaf_count(computation->root->shape);
    origins = HL_ARRAY(facts->arena, n + 1, int);
    for (int i = 0; i < n; i++)
      origins[i] = find_origin(facts, computation->root, i);
    hl_map_set(&facts->origins, computation->name, strlen(computation->name), origins);
  }
  return origins[leaf];
}
