/* share.c - decides which values of a computation lie in the same memory, so that what updates an
 * array writes into it.
 *
 * A value is a leaf of a stored instruction. It may take the place of another one when every unit
 * that reads that one runs before: where the order of the units does not say so yet, it is changed,
 * if no unit depends on its own result then. Joined are
 *   - an updated array and the operand of dynamic-update-slice and scatter,
 *   - the state of a loop, or the result of a conditional, and what it starts from,
 *   - a result and the memory it has to be in; in a loop body that is the state of the step before.
 * What is not joined has memory of its own and is copied.
 *
 * A unit that itself reads what it overwrites is let through here where it may be right; lowering
 * looks at its accesses. Requires: a plan whose units stand in an order that respects dependencies.
 * Keeps: that they do; the order of effects. Cost: one walk over what each unit computes; changes
 * of the order stop when they have cost too much.
 */
#include "share.h"

#include "lower_whole.h"

#include <string.h>

enum { ORDER_BUDGET = 1 << 22 }; /* units and edges looked at to change the order */

typedef struct value {
  hl_instruction *ins; /* NULL: memory of a parameter */
  int leaf;
  int writer; /* a unit; NOBODY: there from the start */
  int *readers;
  int reader_count;
  size_t reader_capacity;
  bool is_wanted; /* the root reads it */
  bool is_fixed;  /* must not be overwritten */
  int uses;       /* leaves of the state that `loop` starts from */
  int head, tail; /* of a leader: the first and the last value in this memory */
} value;

enum { NOBODY = -1 };

typedef struct edge {
  struct edge *next;
  int to;
} edge;

typedef struct sharer {
  const hl_share_request *request;
  hl_arena *arena;
  hl_fusion_plan *plan;
  hl_sharing *sharing;
  int *first;
  value *values;
  int value_count;
  hl_map given;       /* buffers of parameters: to value + 1 */
  int *unit_of;       /* per instruction: the unit whose root it is */
  hl_unit **units;    /* by number: as the plan had them */
  int *order, *place; /* units by place, and places by unit */
  edge **later;       /* per unit: units that must run after it, beside those that read it */
  bool *is_later;
  int64_t spent;
  const hl_instruction *loop; /* the one that was asked about last, and the values it starts from */
  const int *loop_from;
  int *stamp, stamp_now; /* per instruction */
  hl_instruction **stack;
  size_t stack_capacity;
} sharer;

/* --- values --- */

static bool is_written(const sharer *s, const hl_instruction *ins)
{
  const hl_placement *placement = hl_placement_of(s->plan, ins);
  return placement->is_stored && !placement->is_dead && placement->unit;
}

/* The value of a parameter whose memory this is; -1: none. */
static int given_at(sharer *s, hl_buffer *const *place)
{
  return (int)(uintptr_t)hl_map_get(&s->given, (const char *)place, sizeof *place) - 1;
}

/* The value of a leaf of a parameter; one for all leaves with the same memory. */
static int value_given(sharer *s, const hl_instruction *ins, int leaf)
{
  hl_buffer *const *place = &s->request->parameters[ins->parameter_number][leaf];
  return given_at(s, place);
}

/* The value that leaf `leaf` of ins is; -1 when it is not stored, or constant. */
static int value_of(sharer *s, hl_instruction *ins, int leaf)
{
  ins = hl_leaf_source(s->request->facts, ins, &leaf);
  if (ins->opcode == HL_OP_PARAMETER)
    return value_given(s, ins, leaf);
  return s->first[ins->scratch] < 0 ? -1 : s->first[ins->scratch] + leaf;
}

static int add_value(sharer *s, value v)
{
  int id = s->value_count++;
  v.head = v.tail = id;
  s->values[id] = v;
  s->sharing->leader[id] = id;
  return id;
}

static void add_given(sharer *s, const hl_instruction *ins)
{
  int n = hl_leaf_count(ins->shape);
  for (int i = 0; i < n; i++) {
    hl_buffer **place = &s->request->parameters[ins->parameter_number][i];
    if (!*place || hl_map_get(&s->given, (const char *)place, sizeof *place))
      continue;
    int id = add_value(s, (value){.writer = NOBODY, .is_fixed = true});
    s->sharing->buffers[id] = *place;
    hl_map_set(&s->given, (const char *)place, sizeof *place, (void *)(uintptr_t)(id + 1));
  }
}

static void number_values(sharer *s)
{
  const hl_computation *c = s->request->computation;
  int n = 0;
  for (hl_instruction *ins = c->first; ins; ins = ins->next)
    if (ins->opcode == HL_OP_PARAMETER || is_written(s, ins))
      n += hl_leaf_count(ins->shape);
  s->values = HL_ARRAY(s->arena, n + 1, value);
  s->sharing->leader = HL_ARRAY(s->arena, n + 1, int);
  s->sharing->buffers = HL_ARRAY(s->arena, n + 1, hl_buffer *);
  for (hl_instruction *ins = c->first; ins; ins = ins->next) {
    s->first[ins->scratch] = -1;
    if (ins->opcode == HL_OP_PARAMETER)
      add_given(s, ins);
    if (ins->opcode == HL_OP_PARAMETER || !is_written(s, ins))
      continue;
    s->first[ins->scratch] = s->value_count;
    for (int i = 0; i < hl_leaf_count(ins->shape); i++)
      add_value(s, (value){.ins = ins, .leaf = i, .writer = s->unit_of[ins->scratch]});
  }
}

static int leader_of(sharer *s, int id)
{
  int *leader = s->sharing->leader;
  while (leader[id] != id)
    id = leader[id] = leader[leader[id]];
  return id;
}

/* The values of all leaves, in order. */
static int *flat_values(sharer *s, hl_instruction *ins, int *out)
{
  if (ins->opcode == HL_OP_TUPLE) {
    for (int i = 0; i < ins->operand_count; i++)
      out = flat_values(s, ins->operands[i], out);
    return out;
  }
  for (int i = 0; i < hl_leaf_count(ins->shape); i++)
    *out++ = value_of(s, ins, i);
  return out;
}

static int *values_of(sharer *s, hl_instruction *ins)
{
  int *values = HL_ARRAY(s->arena, hl_leaf_count(ins->shape) + 1, int);
  flat_values(s, ins, values);
  return values;
}

/* --- what units read --- */

typedef struct reading {
  sharer *s;
  int unit;
  int wanted; /* a value whose reading is asked for; -1: all are noted */
  bool is_found;
  int top;
} reading;

static void note(reading *r, int id)
{
  value *v = &r->s->values[id];
  r->is_found |= id == r->wanted;
  if (r->wanted >= 0 || (v->reader_count && v->readers[v->reader_count - 1] == r->unit))
    return;
  v->readers = hl_arena_grow(r->s->arena, v->readers, &v->reader_capacity,
                             (size_t)v->reader_count + 1, sizeof *v->readers);
  v->readers[v->reader_count++] = r->unit;
}

static void push(reading *r, hl_instruction *ins)
{
  sharer *s = r->s;
  if (s->stamp[ins->scratch] == s->stamp_now)
    return;
  s->stamp[ins->scratch] = s->stamp_now;
  s->stack =
      hl_arena_grow(s->arena, s->stack, &s->stack_capacity, (size_t)r->top + 1, sizeof *s->stack);
  s->stack[r->top++] = ins;
}

/* A leaf is read, or computed on the way; what the unit computes as another root is not read. */
static void read_leaf(reading *r, hl_instruction *ins, int leaf)
{
  sharer *s = r->s;
  ins = hl_leaf_source(s->request->facts, ins, &leaf);
  int id = value_of(s, ins, leaf);
  if (id >= 0 && s->values[id].writer != r->unit)
    note(r, id);
  else if (id < 0)
    push(r, ins);
}

static void read_operand(reading *r, hl_instruction *ins)
{
  if (ins->opcode == HL_OP_TUPLE) {
    for (int i = 0; i < ins->operand_count; i++)
      read_operand(r, ins->operands[i]);
    return;
  }
  for (int i = 0; i < hl_leaf_count(ins->shape); i++)
    read_leaf(r, ins, i);
}

static void read_on(reading *r)
{
  while (r->top) {
    const hl_instruction *ins = r->s->stack[--r->top];
    for (int i = 0; i < ins->operand_count; i++)
      read_operand(r, ins->operands[i]);
  }
}

static void note_reads(sharer *s, int unit)
{
  reading r = {.s = s, .unit = unit, .wanted = -1};
  s->stamp_now++;
  for (int i = 0; i < s->units[unit]->root_count; i++) {
    const hl_instruction *root = s->units[unit]->roots[i];
    for (int k = 0; k < root->operand_count; k++)
      read_operand(&r, root->operands[k]);
  }
  read_on(&r);
}

/* Whether the unit of ins reads value `id` otherwise than as operand `but` of ins. */
static bool reads_beside(sharer *s, const hl_instruction *ins, int but, int id)
{
  reading r = {.s = s, .unit = s->unit_of[ins->scratch], .wanted = id};
  s->stamp_now++;
  for (int k = 0; k < ins->operand_count; k++)
    if (k != but)
      read_operand(&r, ins->operands[k]);
  read_on(&r);
  return r.is_found;
}

static void note_wanted(sharer *s)
{
  hl_instruction *root = s->request->computation->root;
  const int *wanted = values_of(s, root);
  for (int i = 0; i < hl_leaf_count(root->shape); i++)
    if (wanted[i] >= 0)
      s->values[wanted[i]].is_wanted = true;
}

/* --- the order of the units --- */

static void add_edge(sharer *s, int from, int to)
{
  edge *e = HL_NEW(s->arena, edge);
  *e = (edge){s->later[from], to};
  s->later[from] = e;
}

static void mark_later(sharer *s, int unit)
{
  for (const edge *e = s->later[unit]; e; e = e->next, s->spent++)
    s->is_later[e->to] = true;
  for (int i = 0; i < s->units[unit]->root_count; i++) {
    const hl_instruction *root = s->units[unit]->roots[i];
    for (int leaf = 0; leaf < hl_leaf_count(root->shape); leaf++) {
      const value *v = &s->values[s->first[root->scratch] + leaf];
      for (int k = 0; k < v->reader_count; k++, s->spent++)
        s->is_later[v->readers[k]] = true;
    }
  }
}

/* Puts all that comes after unit `second` behind unit `first`, which stands later so far. False:
 * first is among it. */
static bool move_behind(sharer *s, int first, int second)
{
  int from = s->place[second], to = s->place[first], count = s->plan->unit_count;
  memset(s->is_later, 0, (size_t)count * sizeof *s->is_later);
  s->is_later[second] = true;
  s->spent += count;
  for (int at = from; at <= to; at++)
    if (s->is_later[s->order[at]])
      mark_later(s, s->order[at]);
  if (s->is_later[first])
    return false;
  int *moved = HL_ARRAY(s->arena, to - from + 1, int), moved_count = 0, at = from;
  for (int i = from; i <= to; i++) {
    if (s->is_later[s->order[i]])
      moved[moved_count++] = s->order[i];
    else
      s->order[at++] = s->order[i];
  }
  for (int i = 0; i < moved_count; i++)
    s->order[at++] = moved[i];
  for (int i = from; i <= to; i++)
    s->place[s->order[i]] = i;
  return true;
}

static bool run_before(sharer *s, int first, int second)
{
  if (s->place[first] > s->place[second] &&
      (s->spent > ORDER_BUDGET || !move_behind(s, first, second)))
    return false;
  add_edge(s, first, second);
  return true;
}

static bool is_effect(const hl_unit *unit)
{
  return unit->kind == HL_UNIT_CONTROL && hl_has_side_effect(unit->roots[0]);
}

static void keep_effects_in_order(sharer *s)
{
  int last = NOBODY;
  for (int i = 0; i < s->plan->unit_count; i++) {
    if (!is_effect(s->units[i]))
      continue;
    if (last != NOBODY)
      add_edge(s, last, i);
    last = i;
  }
}

/* --- joining --- */

static void count_uses(sharer *s, int change)
{
  for (int i = 0; s->loop && i < hl_leaf_count(s->loop->shape); i++)
    if (s->loop_from[i] >= 0)
      s->values[s->loop_from[i]].uses += change;
}

static const int *values_of_loop(sharer *s, const hl_instruction *ins)
{
  if (s->loop == ins)
    return s->loop_from;
  count_uses(s, -1);
  s->loop = ins;
  s->loop_from = values_of(s, ins->operands[0]);
  count_uses(s, 1);
  return s->loop_from;
}

/* A loop may start from w where it stands as the state of that leaf alone. */
static bool loop_may_update(sharer *s, int w, const value *v)
{
  return values_of_loop(s, v->ins)[v->leaf] == w && s->values[w].uses == 1;
}

/* The unit that writes v reads w: whether v may take w's place all the same. */
static bool may_update(sharer *s, int w, int id)
{
  const value *v = &s->values[id];
  const hl_instruction *ins = v->ins;
  bool is_operand = ins->opcode == HL_OP_SCATTER && value_of(s, ins->operands[v->leaf], 0) == w;
  if (ins->opcode == HL_OP_WHILE)
    return loop_may_update(s, w, v);
  if (ins->opcode == HL_OP_CONDITIONAL)
    return true; /* the branches decide for themselves: they see one memory */
  if (hl_build_of(ins))
    return is_operand && !reads_beside(s, ins, v->leaf, w);
  if (hl_placement_of(s->plan, ins)->is_update)
    return value_of(s, ins->operands[0], 0) == w;
  return ins->opcode != HL_OP_CUSTOM_CALL;
}

static bool readers_run_before(sharer *s, int w, int id)
{
  const value *old = &s->values[w];
  int writer = s->values[id].writer;
  if (old->writer == writer || (old->writer != NOBODY && !run_before(s, old->writer, writer)))
    return false;
  for (int i = 0; i < old->reader_count; i++)
    if (old->readers[i] == writer ? !may_update(s, w, id) : !run_before(s, old->readers[i], writer))
      return false;
  return true;
}

/* v, the first value in its memory, takes the place of w, the last one in its own. */
static void join(sharer *s, int w, int v)
{
  if (w < 0 || v < 0)
    return;
  int a = leader_of(s, w), b = leader_of(s, v);
  hl_buffer **buffers = s->sharing->buffers;
  if (a == b || s->values[a].tail != w || s->values[b].head != v || s->values[w].is_wanted ||
      s->values[w].is_fixed || s->values[v].writer == NOBODY || (buffers[a] && buffers[b]) ||
      !readers_run_before(s, w, v))
    return;
  s->sharing->leader[b] = a;
  s->values[a].tail = s->values[b].tail;
  buffers[a] = buffers[a] ? buffers[a] : buffers[b];
}

static void join_updates(sharer *s, const hl_instruction *ins)
{
  if (hl_placement_of(s->plan, ins)->is_update)
    join(s, value_of(s, ins->operands[0], 0), s->first[ins->scratch]);
  for (int k = 0; ins->opcode == HL_OP_SCATTER && k < ins->operand_count / 2; k++)
    join(s, value_of(s, ins->operands[k], 0), s->first[ins->scratch] + k);
}

static void join_loop(sharer *s, const hl_instruction *ins)
{
  const int *from = values_of_loop(s, ins);
  for (int i = 0; i < hl_leaf_count(ins->shape); i++)
    if (!hl_leaf_is_kept(s->request->facts, hl_attr_computation(ins, HL_ATTR_BODY), i))
      join(s, from[i], s->first[ins->scratch] + i);
}

static void join_conditional(sharer *s, hl_instruction *ins)
{
  int n = hl_leaf_count(ins->shape);
  for (int b = 0; b + 1 < ins->operand_count; b++) {
    const int *from = values_of(s, ins->operands[b + 1]);
    for (int i = 0; i < n; i++) {
      int origin = hl_leaf_origin(s->request->facts, hl_branch_of(ins, b), i);
      if (origin >= 0)
        join(s, from[origin], s->first[ins->scratch] + i);
    }
  }
}

static void join_operands(sharer *s)
{
  for (int u = 0; u < s->plan->unit_count; u++) {
    for (int i = 0; i < s->units[u]->root_count; i++)
      join_updates(s, s->units[u]->roots[i]);
    hl_instruction *ins = s->units[u]->roots[0];
    if (ins->opcode == HL_OP_WHILE)
      join_loop(s, ins);
    else if (ins->opcode == HL_OP_CONDITIONAL)
      join_conditional(s, ins);
  }
}

/* Memory of parameters that a result has to be in may be overwritten. */
static void free_targets(sharer *s)
{
  int n = hl_leaf_count(s->request->computation->root->shape);
  for (int i = 0; i < n; i++) {
    hl_buffer *const *target = &s->request->targets[i];
    int id = *target ? given_at(s, target) : -1;
    if (id >= 0)
      s->values[id].is_fixed = false;
  }
}

static void join_target(sharer *s, int id, hl_buffer *const *target)
{
  int leader = leader_of(s, id), given = given_at(s, target);
  hl_buffer **buffers = s->sharing->buffers;
  if (buffers[leader])
    return;
  if (given >= 0)
    join(s, s->values[leader_of(s, given)].tail, s->values[leader].head);
  else
    buffers[leader] = *target;
}

/* A result that may lie in an argument's memory is copied there at the end, when all have read the
 * argument. */
static void join_targets(sharer *s)
{
  hl_instruction *root = s->request->computation->root;
  const int *results = values_of(s, root);
  for (int i = 0; i < hl_leaf_count(root->shape); i++) {
    hl_buffer *const *target = &s->request->targets[i];
    if (*target && !(*target)->alias && results[i] >= 0 && s->values[results[i]].writer != NOBODY)
      join_target(s, results[i], target);
  }
}

/* --- the whole --- */

static sharer sharer_of(const hl_share_request *request)
{
  hl_arena *arena = request->arena;
  int n = request->plan->count, units = request->plan->unit_count;
  sharer s = {.request = request,
              .arena = arena,
              .plan = request->plan,
              .sharing = HL_NEW(arena, hl_sharing),
              .given = {.arena = arena}};
  s.first = HL_ARRAY(arena, n + 1, int);
  s.stamp = HL_ARRAY(arena, n + 1, int);
  s.unit_of = HL_ARRAY(arena, n + 1, int);
  s.units = hl_arena_memdup(arena, request->plan->units, (size_t)units * sizeof *s.units);
  s.order = HL_ARRAY(arena, units + 1, int);
  s.place = HL_ARRAY(arena, units + 1, int);
  s.later = HL_ARRAY(arena, units + 1, edge *);
  s.is_later = HL_ARRAY(arena, units + 1, bool);
  for (int u = 0; u < units; u++) {
    s.order[u] = s.place[u] = u;
    for (int i = 0; i < s.units[u]->root_count; i++)
      s.unit_of[s.units[u]->roots[i]->scratch] = u;
  }
  return s;
}

hl_sharing *hl_share(const hl_share_request *request)
{
  sharer s = sharer_of(request);
  number_values(&s);
  for (int u = 0; u < s.plan->unit_count; u++)
    note_reads(&s, u);
  note_wanted(&s);
  free_targets(&s);
  keep_effects_in_order(&s);
  join_operands(&s);
  join_targets(&s);
  for (int i = 0; i < s.plan->unit_count; i++)
    s.plan->units[i] = s.units[s.order[i]];
  for (int i = 0; i < s.value_count; i++)
    s.sharing->leader[i] = leader_of(&s, i);
  s.sharing->first = s.first;
  return s.sharing;
}
