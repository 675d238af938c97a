/* loop_plan.c - decides which values of a kernel are printed inside the expression that uses them.
 *
 * The decision depends on structure alone: uses, blocks, sizes, and the writing statements between
 * a load and its use; not on the order of the values in a block. So a kernel that was read from its
 * text, where operands stand right before their user, is decided in the same way and prints the
 * same.
 */
#include "loop_text.h"

/* Ops of a nested expression: keeps lines readable and the recursion over expressions flat. */
enum { MAX_NESTED_SIZE = 16 };

typedef struct planner {
  hl_node_text *nodes;
  int epoch;
} planner;

typedef void visit_use(planner *p, const hl_node *user, const hl_node *used);

/* The values that a node uses in its own block: operands, indices and limits. */
static void visit_uses(planner *p, const hl_node *node, visit_use *visit)
{
  if (node->op == HL_LOOP_RESULT)
    return;
  for (int i = 0; i < node->operand_count; i++)
    visit(p, node, node->operands[i]);
  if (node->op == HL_LOOP_LOAD || node->op == HL_LOOP_STORE)
    for (int i = 0; i < node->access->term_count; i++)
      visit(p, node, node->access->terms[i].index);
  if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD)
    for (int i = 0; i < node->loop->var_count; i++)
      if (node->loop->limits[i])
        visit(p, node, node->loop->limits[i]);
}

static void add_use(planner *p, const hl_block *block, const hl_node *used)
{
  hl_node_text *text = &p->nodes[used->id];
  text->uses++;
  text->use_block = block;
  text->use_epoch = p->epoch;
}

static void note_use(planner *p, const hl_node *user, const hl_node *used)
{
  add_use(p, user->block, used);
}

static bool count_block(planner *p, const hl_block *block);

/* Returns whether the node writes. */
static bool count_node(planner *p, const hl_node *node)
{
  p->nodes[node->id].epoch = p->epoch;
  visit_uses(p, node, note_use);
  if (node->op == HL_LOOP_IF) {
    bool then_writes = count_block(p, &node->branch->then);
    return count_block(p, &node->branch->otherwise) || then_writes;
  }
  if (node->op != HL_LOOP_FOR && node->op != HL_LOOP_REDUCE && node->op != HL_LOOP_FOLD)
    return node->op == HL_LOOP_STORE;
  bool writes = count_block(p, &node->loop->body);
  for (int i = 0; i < node->loop->yield_count; i++)
    add_use(p, &node->loop->body, node->loop->yields[i]);
  return writes;
}

static bool count_block(planner *p, const hl_block *block)
{
  bool writes = false;
  for (const hl_node *node = block->first; node; node = node->next) {
    if (!count_node(p, node))
      continue;
    writes = true;
    p->epoch++;
  }
  return writes;
}

static void take_in(planner *p, const hl_node *user, const hl_node *used)
{
  hl_node_text *text = &p->nodes[user->id];
  const hl_node_text *operand = &p->nodes[used->id];
  if (!operand->is_nested)
    return;
  text->size += operand->size;
  text->has_load = text->has_load || operand->has_load;
}

static void nest_block(planner *p, const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next) {
    hl_node_text *text = &p->nodes[node->id];
    text->size = 1;
    text->has_load = node->op == HL_LOOP_LOAD;
    visit_uses(p, node, take_in);
    text->is_nested = (node->op < HL_LOOP_CONST || node->op == HL_LOOP_LOAD) && text->uses == 1 &&
                      text->use_block == block && text->size <= MAX_NESTED_SIZE &&
                      (!text->has_load || text->use_epoch == text->epoch);
    if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD)
      nest_block(p, &node->loop->body);
    if (node->op == HL_LOOP_IF) {
      nest_block(p, &node->branch->then);
      nest_block(p, &node->branch->otherwise);
    }
  }
}

hl_node_text *hl_plan_text(hl_arena *arena, const hl_kernel *kernel)
{
  planner p = {.nodes = HL_ARRAY(arena, kernel->next_id, hl_node_text)};
  count_block(&p, &kernel->body);
  nest_block(&p, &kernel->body);
  return p.nodes;
}
