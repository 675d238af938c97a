/* emit_variance.c - which values differ between the iterations of a loop that runs several at once.
 *
 * A fixpoint, since a fold's carried value differs when the value it is replaced by does. Bodies
 * are walked in order; each round can only set bits, so it ends; nests are shallow and one or two
 * rounds are the rule.
 */
#include "emit.h"

typedef struct walk {
  hl_emitter *e;
  const hl_node *var;
  uint8_t bit;
  bool changed;
} walk;

static bool varies(const walk *w, const hl_node *node)
{
  return w->e->variance[node->id] & w->bit;
}

static void mark(walk *w, const hl_node *node, bool does)
{
  if (!does || varies(w, node))
    return;
  w->e->variance[node->id] |= w->bit;
  w->changed = true;
}

static bool any_varies(const walk *w, hl_node *const *nodes, int count)
{
  for (int i = 0; i < count; i++)
    if (nodes[i] && varies(w, nodes[i]))
      return true;
  return false;
}

static bool access_varies(const walk *w, const hl_access *access)
{
  for (int i = 0; i < access->term_count; i++)
    if (varies(w, access->terms[i].index))
      return true;
  return false;
}

static void walk_block(walk *w, const hl_block *block);

static void walk_loop(walk *w, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  if (node->op == HL_LOOP_FOLD)
    for (int i = 0; i < loop->result_count; i++)
      mark(w, loop->accs[i], varies(w, node->operands[i]) || varies(w, loop->yields[i]));
  walk_block(w, &loop->body);
}

/* Yields of the combiners before this one: a dot has two. */
static int first_yield(const hl_loop *loop, int index)
{
  int at = 0;
  for (int i = 0; i < index; i++)
    at += loop->combiners[i].order == HL_ORDER_DOT ? 2 : 1;
  return at;
}

static bool result_varies(const walk *w, const hl_node *node)
{
  const hl_node *owner = node->operands[0];
  const hl_loop *loop = owner->loop;
  if (owner->op == HL_LOOP_FOLD)
    return varies(w, loop->accs[node->index]);
  int at = first_yield(loop, node->index);
  bool is_dot = loop->combiners[node->index].order == HL_ORDER_DOT;
  return any_varies(w, loop->yields + at, is_dot ? 2 : 1);
}

static void walk_node(walk *w, const hl_node *node)
{
  switch (node->op) {
  case HL_LOOP_CONST:
  case HL_LOOP_STORE:
    break;
  case HL_LOOP_LOAD:
    mark(w, node,
         access_varies(w, node->access) || any_varies(w, node->operands, node->operand_count));
    break;
  case HL_LOOP_FOR:
  case HL_LOOP_REDUCE:
  case HL_LOOP_FOLD:
    walk_loop(w, node);
    break;
  case HL_LOOP_IF:
    walk_block(w, &node->branch->then);
    walk_block(w, &node->branch->otherwise);
    break;
  case HL_LOOP_RESULT:
    mark(w, node, result_varies(w, node));
    break;
  default:
    mark(w, node, any_varies(w, node->operands, node->operand_count));
  }
}

static void walk_block(walk *w, const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next)
    walk_node(w, node);
}

static void clear_block(hl_emitter *e, const hl_block *block, uint8_t bit)
{
  for (const hl_node *node = block->first; node; node = node->next) {
    e->variance[node->id] &= (uint8_t)~bit;
    if (node->op == HL_LOOP_IF) {
      clear_block(e, &node->branch->then, bit);
      clear_block(e, &node->branch->otherwise, bit);
    } else if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD) {
      for (int i = 0; node->op == HL_LOOP_FOLD && i < node->loop->result_count; i++)
        e->variance[node->loop->accs[i]->id] &= (uint8_t)~bit;
      for (int i = 0; i < node->loop->var_count; i++)
        e->variance[node->loop->vars[i]->id] &= (uint8_t)~bit;
      clear_block(e, &node->loop->body, bit);
    }
  }
}

void hl_emit_variance(hl_emitter *e, const hl_loop *loop, uint8_t bit)
{
  walk w = {.e = e, .var = loop->vars[loop->var_count - 1], .bit = bit, .changed = true};
  clear_block(e, &loop->body, bit);
  e->variance[w.var->id] |= bit;
  while (w.changed) {
    w.changed = false;
    walk_block(&w, &loop->body);
  }
}

void hl_emit_forget_variance(hl_emitter *e, const hl_loop *loop, uint8_t bit)
{
  clear_block(e, &loop->body, bit);
  e->variance[loop->vars[0]->id] &= (uint8_t)~bit;
}

static bool limits_vary(hl_emitter *e, const hl_loop *loop, uint8_t bit)
{
  for (int i = 0; i < loop->var_count; i++)
    if (loop->limits && loop->limits[i] && (e->variance[loop->limits[i]->id] & bit))
      return true;
  return false;
}

bool hl_emit_control_varies(hl_emitter *e, const hl_block *block, uint8_t bit, bool with_branches)
{
  for (const hl_node *node = block->first; node; node = node->next) {
    if (node->op == HL_LOOP_IF) {
      if ((with_branches && (e->variance[node->operands[0]->id] & bit)) ||
          hl_emit_control_varies(e, &node->branch->then, bit, with_branches) ||
          hl_emit_control_varies(e, &node->branch->otherwise, bit, with_branches))
        return true;
    } else if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD) {
      if (limits_vary(e, node->loop, bit) ||
          hl_emit_control_varies(e, &node->loop->body, bit, with_branches))
        return true;
    }
  }
  return false;
}
