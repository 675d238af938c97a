/* fuse.c - decides which instructions are written to memory, and which unit (kernel) writes them.
 *
 * Requires: explicit broadcasts, no calls. Keeps: the module; only instruction->scratch is set (its position).
 * Cost: one walk from the root upwards; merging siblings looks at a bounded number of instructions each time.
 *
 * Everything starts as part of its users' kernels: an instruction is computed where its elements are needed. It is stored instead when
 *   - its array is wanted as such (results, operands of while and conditional),
 *   - it is a reduction or product whose result is not one value per outer iteration of its one user kernel,
 *   - computing it again for several kernels, or again and again along a broadcast, costs more than writing it once,
 *   - the kernel would become too deep or too long.
 * Kernels that read the same value over the same domain become one with several roots.
 */
#include "fuse.h"

#include "../ir/limits.h"
#include "fuse_kinds.h"

#include <string.h>

enum {
  MAX_DEPTH = 200,      /* of inlined operands: lowering recurses that deep */
  MAX_INLINED = 1500,   /* instructions in one kernel */
  MAX_ROOTS = 16,       /* results of one kernel */
  MAX_UNITS = 4,        /* kernels that may each compute an instruction again */
  PATH_BUDGET = 400,    /* instructions looked at to prove that two kernels may become one */
  SMALL_ELEMENTS = 32768,
  FEW = 4,              /* values that a reduction may have to be computed again like plain operations */
  MAX_REPEATS = 4,      /* from which on a dear value is stored, not computed again */
  LARGE_ELEMENTS = 1 << 24, /* larger arrays are worth fusing at -O0, too: memory may not hold them */
  MAX_UPDATED_USERS = 16 /* looked at before an array is updated in place */
};

/* Contexts that are no single loop; FIRST_KEPT and below: the one place where a kept row is computed. */
enum { SEVERAL = -1, UNKNOWN = -2, FIRST_KEPT = -3 };

typedef struct info {
  hl_instruction *ins;
  bool is_decided, is_stored, is_wanted; /* wanted: as an array in memory */
  hl_stored_for reason;                  /* HL_FUSED until it is stored; when wanted, what for */
  bool is_update;                        /* of a window, in place */
  bool in_reduce, in_dot, in_whole;
  bool in_spread;                        /* a user, or a user's, puts its elements apart */
  int units[MAX_UNITS], unit_count;      /* where it is evaluated */
  int context;                           /* the reduce whose loop evaluates it: its position + 1; 0: the root's; or below */
  int depth, cost, leaves;
  int64_t pulls;                         /* how often an element is asked for, all in all: of the user that asks most */
  int8_t *map;                           /* per dimension; only meaningful with one unit */
} info;

typedef struct fuser {
  hl_arena *arena;
  const hl_lower_options *options;
  hl_fusion_plan *plan;
  info *infos;
  hl_unit *units;
  int *leader;                           /* of merged units */
  int unit_count;
  size_t unit_capacity, leader_capacity;
  int *stamp, stamp_now;
  bool has_effects; /* then no kernels are joined: that could turn their order around */
} fuser;

static info *info_of(fuser *f, const hl_instruction *ins)
{
  return &f->infos[ins->scratch];
}

/* Values that a reduction has for a result. */
static int64_t values_of(const hl_instruction *reduce)
{
  int64_t results = hl_elements(reduce->shape);
  return results ? hl_elements(reduce->operands[0]->shape) / results : 0;
}

/* A reduction of a few values, all in all no more work than two functions. */
static bool is_short(fuser *f, const hl_instruction *ins)
{
  if (ins->opcode != HL_OP_REDUCE || ins->operand_count != 2)
    return false;
  int64_t count = values_of(ins);
  return count > 1 && count <= FEW && count * (info_of(f, ins->operands[0])->cost + 1) <= 2 * HL_MATH_COST;
}

/* What one element costs when everything below is computed on the way, up to loads: an estimate from above. */
static void estimate(fuser *f, info *x)
{
  hl_instruction *ins = x->ins;
  int64_t times = is_short(f, ins) ? values_of(ins) : 1;
  if (hl_is_given(ins) || (hl_is_heavy(ins) && times == 1) || hl_is_control(ins) || hl_is_whole(ins)) {
    x->leaves = 1;
    return;
  }
  int64_t cost = hl_is_heavy(ins) ? times : hl_own_cost(ins), leaves = 0;
  for (int i = 0; i < ins->operand_count; i++) {
    cost += times * info_of(f, ins->operands[i])->cost;
    leaves += times * info_of(f, ins->operands[i])->leaves;
  }
  x->cost = cost > 10000 ? 10000 : (int)cost;
  x->leaves = leaves > 10000 ? 10000 : (int)leaves;
}

/* The loops that write x, when it is stored. */
static const hl_shape *domain_of(const info *x)
{
  return x->is_update ? x->ins->operands[1]->shape : hl_domain_of(x->ins);
}

/* --- units --- */

static int unit_leader(fuser *f, int unit)
{
  while (f->leader[unit] != unit)
    unit = f->leader[unit] = f->leader[f->leader[unit]];
  return unit;
}

static void add_root(fuser *f, hl_unit *unit, hl_instruction *root)
{
  unit->roots = hl_arena_grow(f->arena, unit->roots, &unit->root_capacity,
                              (size_t)unit->root_count + 1, sizeof *unit->roots);
  unit->roots[unit->root_count++] = root;
}

static void add_reduce(fuser *f, hl_unit *unit, hl_inlined reduce)
{
  unit->reduces = hl_arena_grow(f->arena, unit->reduces, &unit->reduce_capacity,
                                (size_t)unit->reduce_count + 1, sizeof *unit->reduces);
  unit->reduces[unit->reduce_count++] = reduce;
}

static int new_unit(fuser *f, hl_unit_kind kind, hl_instruction *root)
{
  int id = f->unit_count++;
  f->units = hl_arena_grow(f->arena, f->units, &f->unit_capacity, (size_t)id + 1, sizeof *f->units);
  f->leader = hl_arena_grow(f->arena, f->leader, &f->leader_capacity, (size_t)id + 1,
                            sizeof *f->leader);
  const info *x = info_of(f, root);
  f->units[id] = (hl_unit){.kind = kind, .domain = domain_of(x)};
  f->leader[id] = id;
  add_root(f, &f->units[id], root);
  return id;
}

/* --- gathering what the users say --- */

static void join_map(const info *x, int8_t *map, const int8_t *other)
{
  for (int d = 0; d < hl_domain_of(x->ins)->rank; d++)
    if (map[d] != other[d])
      map[d] = HL_MAP_OTHER;
}

static bool add_unit_of(info *x, int unit)
{
  for (int i = 0; i < x->unit_count; i++)
    if (x->units[i] == unit)
      return true;
  if (x->unit_count == MAX_UNITS)
    return false;
  x->units[x->unit_count++] = unit;
  return true;
}

static bool is_worth_caching(const info *x)
{
  return !x->is_stored && x->context == SEVERAL && x->cost >= HL_MATH_COST && x->unit_count == 1;
}

/* The loop that a user evaluates its operand in. A user whose row is kept evaluates its operands once. */
static int context_through(const info *user, int operand)
{
  if (is_worth_caching(user))
    return FIRST_KEPT - (int)user->ins->scratch;
  bool opens_loop = hl_is_contraction(user->ins) ||
                    (user->ins->opcode == HL_OP_REDUCE && operand < user->ins->operand_count / 2);
  return opens_loop ? (int)user->ins->scratch + 1 : user->context;
}

static void join_context(info *x, int context)
{
  if (x->context == UNKNOWN)
    x->context = context;
  else if (x->context != context)
    x->context = SEVERAL;
}

/* How often a user asks for elements of its operand. */
static int64_t pulls_through(const info *user, int operand)
{
  bool is_reduced = user->ins->opcode == HL_OP_REDUCE && operand < user->ins->operand_count / 2;
  int64_t times = is_reduced ? values_of(user->ins) : 1, pulls;
  return hl_mul_i64(user->pulls, times, &pulls) ? pulls : INT64_MAX;
}

/* Collects units, maps, depth and contexts from one user; false when there are too many units. */
static bool join_user(fuser *f, info *x, hl_instruction *user_ins)
{
  info *user = info_of(f, user_ins);
  if (!user->is_decided || !user->unit_count)
    return true;
  for (int i = 0; i < user_ins->operand_count; i++) {
    if (user_ins->operands[i] != x->ins)
      continue;
    bool fits = true;
    for (int u = 0; u < user->unit_count; u++)
      fits &= add_unit_of(x, unit_leader(f, user->units[u]));
    if (!fits)
      return false;
    int8_t *map = user->is_update && i == 1 ? hl_arena_memdup(f->arena, user->map, (size_t)user_ins->shape->rank)
                                            : hl_operand_map(f->arena, user_ins, i, user->map);
    if (x->map)
      join_map(x, x->map, map);
    else
      x->map = map;
    int depth = user->is_stored ? 1 : user->depth + 1;
    x->depth = depth > x->depth ? depth : x->depth;
    x->pulls = pulls_through(user, i) > x->pulls ? pulls_through(user, i) : x->pulls;
    x->in_reduce |= user->in_reduce ||
                    (user_ins->opcode == HL_OP_REDUCE && i < user_ins->operand_count / 2);
    x->in_dot |= user->in_dot || hl_is_contraction(user_ins);
    x->in_whole |= user->in_whole || hl_is_whole(user_ins);
    x->in_spread |= !user->is_stored && (user->in_spread || hl_is_spread(user_ins));
    join_context(x, context_through(user, i));
  }
  return true;
}

/* --- merging kernels --- */

static bool push_roots(fuser *f, const hl_instruction *ins, hl_instruction **stack, int *top,
                       const hl_unit *not_this)
{
  const info *x = info_of(f, ins);
  if (!x->is_stored || !x->unit_count)
    return true;
  const hl_unit *unit = &f->units[unit_leader(f, x->units[0])];
  if (unit == not_this)
    return false;
  for (int i = 0; i < unit->root_count && *top < PATH_BUDGET; i++)
    if (f->stamp[unit->roots[i]->scratch] != f->stamp_now)
      stack[(*top)++] = unit->roots[i];
  return *top < PATH_BUDGET;
}

/* Whether unit `from` may depend on unit `to` (also when the search ran out of budget). */
static bool may_depend(fuser *f, const hl_unit *from, const hl_unit *to)
{
  hl_instruction *stack[PATH_BUDGET + 64];
  int top = 0, seen = 0;
  int64_t least = INT64_MAX;
  for (int i = 0; i < to->root_count; i++)
    least = to->roots[i]->scratch < least ? to->roots[i]->scratch : least;
  f->stamp_now++;
  for (int i = 0; i < from->root_count; i++)
    stack[top++] = from->roots[i];
  while (top) {
    hl_instruction *ins = stack[--top];
    if (f->stamp[ins->scratch] == f->stamp_now)
      continue;
    f->stamp[ins->scratch] = f->stamp_now;
    if (++seen > PATH_BUDGET)
      return true;
    for (int i = 0; i < ins->operand_count; i++) {
      hl_instruction *operand = ins->operands[i];
      if (operand->scratch < least || f->stamp[operand->scratch] == f->stamp_now)
        continue;
      if (top >= PATH_BUDGET || !push_roots(f, operand, stack, &top, to))
        return true;
      stack[top++] = operand;
    }
  }
  return false;
}

static bool may_merge(fuser *f, int a, int b)
{
  const hl_unit *x = &f->units[a], *y = &f->units[b];
  if (x->kind != HL_UNIT_KERNEL || y->kind != HL_UNIT_KERNEL ||
      x->root_count + y->root_count > MAX_ROOTS ||
      x->inlined_count + y->inlined_count > MAX_INLINED / 4)
    return false;
  if (hl_is_contraction(x->roots[0]) || hl_is_contraction(y->roots[0]) || hl_is_whole(x->roots[0]) || hl_is_whole(y->roots[0]) || x->roots[0]->opcode == HL_OP_CONCATENATE ||
      y->roots[0]->opcode == HL_OP_CONCATENATE)
    return false;
  return hl_shape_same_dimensions(x->domain, y->domain) &&
         !may_depend(f, x, y) && !may_depend(f, y, x);
}

static void merge(fuser *f, int a, int b)
{
  hl_unit *into = &f->units[a], *from = &f->units[b];
  for (int i = 0; i < from->root_count; i++)
    add_root(f, into, from->roots[i]);
  for (int i = 0; i < from->reduce_count; i++)
    add_reduce(f, into, from->reduces[i]);
  into->inlined_count += from->inlined_count;
  from->root_count = 0;
  f->leader[b] = a;
}

/* Whether all users read x over the same dimensions of their domain: reading it once for all makes sense. */
static bool is_read_alike(const info *x)
{
  for (int d = 0; d < hl_domain_of(x->ins)->rank; d++)
    if (x->map[d] == HL_MAP_OTHER)
      return false;
  return true;
}

static void merge_users(fuser *f, info *x)
{
  if (f->options->opt_level < 1 || f->has_effects || x->unit_count < 2 || hl_elements(x->ins->shape) < 64 ||
      !is_read_alike(x))
    return;
  int first = x->units[0], kept = 1;
  for (int i = 1; i < x->unit_count; i++) {
    if (may_merge(f, first, x->units[i]))
      merge(f, first, x->units[i]);
    else
      x->units[kept++] = x->units[i];
  }
  x->unit_count = kept;
}

/* --- the decision --- */

static const hl_shape *root_shape(fuser *f, int unit)
{
  return f->units[unit].domain;
}

/* How many leading loops x's dimensions are, in order; -1 when they are something else. */
static int leading_loops(fuser *f, const info *x)
{
  const hl_shape *root = root_shape(f, x->units[0]);
  int loop = 0;
  for (int d = 0; d < hl_domain_of(x->ins)->rank; d++) {
    if (x->map[d] == HL_MAP_ONE)
      continue;
    while (loop < root->rank && root->dimensions[loop] == 1)
      loop++;
    if (x->map[d] != loop)
      return -1;
    loop++;
  }
  while (loop < root->rank && root->dimensions[loop] == 1)
    loop++;
  return loop;
}

/* What keeps a reduction or product out of its user's kernel. */
static hl_stored_for heavy_reason(fuser *f, const info *x)
{
  const hl_shape *root = root_shape(f, x->units[0]);
  int loops = leading_loops(f, x);
  if (x->in_dot)
    return HL_STORED_IN_PRODUCT;
  if (loops < 0 && hl_is_contraction(x->ins))
    return HL_STORED_PRODUCT;
  if (loops < 0)
    return is_short(f, x->ins) && x->pulls / MAX_REPEATS < hl_elements(x->ins->shape) ? HL_FUSED : HL_STORED_ORDER;
  bool is_full = loops == root->rank && !x->in_reduce;
  if (hl_is_contraction(x->ins) || is_full)
    return is_full ? HL_FUSED : HL_STORED_PRODUCT;
  int64_t rows = 1, all = hl_elements(hl_domain_of(x->ins->operands[0]));
  for (int d = 0; d < loops; d++)
    rows *= root->dimensions[d];
  if (hl_elements(root) > all)
    all = hl_elements(root);
  if (all <= SMALL_ELEMENTS)
    return HL_FUSED;
  if (rows < 16)
    return HL_STORED_FEW_ROWS;
  return all / rows <= 1 << 18 ? HL_FUSED : HL_STORED_LONG_ROWS;
}

/* A dear value that a broadcast repeats in a loop where it cannot be hoisted. */
static bool is_repeated(fuser *f, const info *x)
{
  if (x->cost < HL_MATH_COST || hl_elements(x->ins->shape) < 2)
    return false;
  for (int i = 0; i < x->ins->user_count; i++) {
    const hl_instruction *user = x->ins->users[i];
    if (user->opcode == HL_OP_BROADCAST &&
        hl_elements(user->shape) >= MAX_REPEATS * hl_elements(x->ins->shape) && leading_loops(f, x) < 0)
      return true;
  }
  return false;
}

/* Computing a value where a gather reads it costs more than writing it first, at two operations a store and load. */
static bool is_gathered(const info *x)
{
  for (int i = 0; i < x->ins->user_count; i++) {
    const hl_instruction *user = x->ins->users[i];
    if (user->opcode == HL_OP_GATHER && user->operands[0] == x->ins &&
        hl_elements(user->shape) / (x->cost + 2) * x->cost > hl_elements(x->ins->shape))
      return true;
  }
  return false;
}

/* Constants and single loads under another index: nothing is gained by storing them. */
static bool is_free(fuser *f, const info *x)
{
  if (f->options->opt_level < 1)
    return x->ins->opcode == HL_OP_CONSTANT;
  return x->cost == 0 && x->leaves <= 1 && !hl_is_heavy(x->ins) && !hl_is_whole(x->ins) &&
         (x->leaves == 0 || x->ins->opcode != HL_OP_CONCATENATE);
}

/* --- updates in place --- */

/* Whether ins may depend on `on` (also when the search was too long). */
static bool may_use(fuser *f, hl_instruction *ins, const hl_instruction *on)
{
  hl_instruction *stack[PATH_BUDGET];
  int top = 0, seen = 0;
  f->stamp_now++;
  stack[top++] = ins;
  while (top) {
    ins = stack[--top];
    if (ins == on || ++seen > PATH_BUDGET)
      return true;
    for (int i = 0; i < ins->operand_count; i++) {
      hl_instruction *operand = ins->operands[i];
      if (operand->scratch < on->scratch || f->stamp[operand->scratch] == f->stamp_now)
        continue;
      if (top == PATH_BUDGET)
        return true;
      f->stamp[operand->scratch] = f->stamp_now;
      stack[top++] = operand;
    }
  }
  return false;
}

/* Whether nobody needs x's first operand once x is there, as far as its users say. */
static bool ends_with(fuser *f, const hl_instruction *operand, const hl_instruction *ins)
{
  if (operand->user_count > MAX_UPDATED_USERS)
    return false;
  for (int i = 0; i < operand->user_count; i++) {
    hl_instruction *user = operand->users[i];
    if (user != ins && (user == user->computation->root || may_use(f, user, ins)))
      return false;
  }
  return true;
}

/* What is stored anyway is best copied and then updated where the old array has to last. */
static bool is_update(fuser *f, const info *x)
{
  const hl_instruction *ins = x->ins;
  if (ins->opcode != HL_OP_DYNAMIC_UPDATE_SLICE)
    return false;
  int64_t window = hl_elements(ins->operands[1]->shape);
  if (window == 0 || window == hl_elements(ins->shape))
    return false;
  return x->is_wanted ? hl_is_in_memory(ins->operands[0])
                      : hl_is_writable(ins->operands[0]) && ends_with(f, ins->operands[0], ins);
}

/* Reads an array that the kernel it would be computed in updates in an order of its own. */
static bool reads_updated(fuser *f, const info *x)
{
  const hl_instruction *root = f->units[x->units[0]].roots[0];
  if (!x->in_whole || root->opcode != HL_OP_SCATTER)
    return false;
  for (int k = 0; k < root->operand_count / 2; k++)
    for (int i = 0; i < x->ins->operand_count; i++)
      if (x->ins->operands[i] == root->operands[k] && hl_is_writable(root->operands[k]))
        return true;
  return false;
}

/* Why a value that nobody wants in memory is written there; HL_FUSED: it is worth inlining. */
static hl_stored_for reason_to_store(fuser *f, const info *x, bool fits)
{
  const hl_instruction *ins = x->ins;
  if (x->depth > MAX_DEPTH)
    return HL_STORED_DEPTH;
  if (x->unit_count && reads_updated(f, x))
    return HL_STORED_IN_WHOLE;
  if (is_free(f, x))
    return HL_FUSED;
  if (!fits)
    return HL_STORED_MANY;
  if (f->options->opt_level < 1 && hl_elements(ins->shape) <= LARGE_ELEMENTS)
    return HL_STORED_LEVEL;
  if (!x->unit_count)
    return HL_STORED_UNUSED;
  if (x->in_dot && !hl_is_view(ins))
    return HL_STORED_IN_PRODUCT;
  if (x->in_whole && (x->cost > HL_CHEAP || hl_is_heavy(ins)))
    return HL_STORED_IN_WHOLE;
  if (ins->opcode == HL_OP_CONCATENATE && ins->operand_count > 2)
    return HL_STORED_PIECES;
  if (is_gathered(x))
    return HL_STORED_GATHERED;
  if (x->in_spread && hl_is_spread(ins))
    return HL_STORED_SPREAD;
  if (x->unit_count > 1)
    return !hl_is_heavy(ins) && x->cost <= HL_CHEAP && x->leaves <= 3 ? HL_FUSED : HL_STORED_SHARED;
  if (f->units[x->units[0]].inlined_count > MAX_INLINED)
    return HL_STORED_LENGTH;
  if (hl_is_heavy(ins))
    return heavy_reason(f, x);
  return is_repeated(f, x) ? HL_STORED_REPEATED : HL_FUSED;
}

static void want(fuser *f, hl_instruction *ins, hl_stored_for reason)
{
  info_of(f, ins)->is_wanted = true;
  info_of(f, ins)->reason = reason;
}

static void store(fuser *f, info *x, hl_stored_for reason)
{
  x->reason = reason;
  int unit = new_unit(f, hl_is_control(x->ins) ? HL_UNIT_CONTROL : HL_UNIT_KERNEL, x->ins);
  x->is_stored = true;
  x->unit_count = 1;
  x->units[0] = unit;
  x->depth = 0;
  x->context = 0;
  x->in_reduce = x->in_dot = x->in_whole = false;
  x->map = hl_identity_map(f->arena, domain_of(x));
  x->pulls = hl_elements(domain_of(x));
}

static void inline_in_units(fuser *f, const info *x)
{
  for (int i = 0; i < x->unit_count; i++)
    f->units[x->units[i]].inlined_count++;
  if (hl_is_heavy(x->ins) && leading_loops(f, x) >= 0)
    add_reduce(f, &f->units[x->units[0]], (hl_inlined){x->ins, x->map});
}

/* A wanted array that one kernel computes on the way, element for element of its own results: it becomes one of them. */
static bool joins_its_user(fuser *f, const info *x, bool fits)
{
  if (!fits || f->options->opt_level < 1 || f->has_effects || x->unit_count != 1 || x->in_reduce || x->in_dot ||
      x->in_whole || x->depth > MAX_DEPTH || hl_is_whole(x->ins) || hl_is_control(x->ins) || !x->map)
    return false;
  const hl_unit *unit = &f->units[x->units[0]];
  return unit->kind == HL_UNIT_KERNEL && unit->root_count < MAX_ROOTS &&
         unit->inlined_count < MAX_INLINED && !hl_is_whole(unit->roots[0]) &&
         unit->roots[0]->opcode != HL_OP_CONCATENATE &&
         hl_shape_same_dimensions(hl_domain_of(x->ins), root_shape(f, x->units[0])) &&
         leading_loops(f, x) == root_shape(f, x->units[0])->rank;
}

static void join_user_unit(fuser *f, info *x)
{
  hl_unit *unit = &f->units[x->units[0]];
  add_root(f, unit, x->ins);
  unit->inlined_count++;
  x->is_stored = true;
  x->context = 0;
  x->map = hl_identity_map(f->arena, hl_domain_of(x->ins));
  x->pulls = hl_elements(x->ins->shape);
}

/* What the users in one unit alone say of x; false: one of them is in others, too. */
static bool gather_unit(fuser *f, const info *x, int unit, info *seen)
{
  *seen = (info){.ins = x->ins, .context = UNKNOWN, .cost = x->cost, .leaves = x->leaves};
  for (int i = 0; i < x->ins->user_count; i++) {
    const info *user = info_of(f, x->ins->users[i]);
    bool is_in = false;
    for (int u = 0; user->is_decided && u < user->unit_count; u++)
      is_in |= unit_leader(f, user->units[u]) == unit;
    if (is_in && (user->unit_count > 1 || !join_user(f, seen, x->ins->users[i])))
      return false;
  }
  return true;
}

/* A value for several kernels that one of them computes on the way, and that does not wait for the others: it writes it for all. */
static bool joins_one_user(fuser *f, info *x)
{
  for (int i = 0; i < x->unit_count; i++) {
    info seen;
    bool waits = !gather_unit(f, x, x->units[i], &seen) || !joins_its_user(f, &seen, true);
    for (int k = 0; k < x->unit_count && !waits; k++)
      waits = k != i && may_depend(f, &f->units[x->units[i]], &f->units[x->units[k]]);
    if (waits)
      continue;
    x->units[0] = x->units[i];
    x->unit_count = 1;
    x->in_reduce = x->in_dot = x->in_whole = x->in_spread = false;
    return true;
  }
  return false;
}

static bool is_used(fuser *f, const info *x)
{
  if (x->is_wanted || hl_has_side_effect(x->ins))
    return true;
  for (int i = 0; i < x->ins->user_count; i++) {
    const info *user = info_of(f, x->ins->users[i]);
    if (user->is_decided && (user->unit_count || hl_is_bundle(user->ins)))
      return true;
  }
  return false;
}

static void decide_bundle(fuser *f, info *x)
{
  for (int i = 0; i < x->ins->operand_count; i++)
    if (x->is_wanted)
      want(f, x->ins->operands[i], x->reason);
}

static void store_for(fuser *f, info *x, hl_stored_for reason)
{
  x->reason = reason;
  if (reason == HL_STORED_SHARED && joins_one_user(f, x))
    join_user_unit(f, x);
  else
    store(f, x, reason);
}

/* A bundle passes what its users said through to its operands. */
static void decide(fuser *f, info *x)
{
  hl_instruction *ins = x->ins;
  bool fits = true;
  x->context = UNKNOWN;
  for (int i = 0; i < ins->user_count && fits; i++)
    fits = join_user(f, x, ins->users[i]);
  x->is_decided = ins->shape->element_type != HL_TOKEN && is_used(f, x); /* tokens have no memory */
  if (!x->is_decided)
    return;
  if (x->map && fits)
    merge_users(f, x);
  if (hl_is_bundle(ins)) {
    decide_bundle(f, x);
    return;
  }
  if (hl_is_given(ins)) {
    x->is_stored = true;
    x->unit_count = 0;
    return;
  }
  x->is_update = is_update(f, x);
  hl_stored_for reason = hl_is_control(ins) ? HL_STORED_CONTROL : hl_is_whole(ins) ? HL_STORED_WHOLE : x->reason;
  if (x->is_update)
    reason = HL_STORED_UPDATE;
  if (x->is_wanted && !x->is_update && joins_its_user(f, x, fits))
    join_user_unit(f, x);
  else if (reason != HL_FUSED || (reason = reason_to_store(f, x, fits)) != HL_FUSED)
    store_for(f, x, reason);
  else
    inline_in_units(f, x);
  if (x->is_update)
    want(f, ins->operands[0], HL_STORED_ARGUMENT);
  for (int i = 0; hl_is_control(ins) && i < ins->operand_count; i++)
    want(f, ins->operands[i], HL_STORED_ARGUMENT);
}

static void decide_all(fuser *f, hl_computation *computation)
{
  int64_t n = 0;
  for (hl_instruction *ins = computation->first; ins; ins = ins->next) {
    ins->scratch = n;
    f->infos[n].ins = ins;
    n++;
    estimate(f, info_of(f, ins));
    f->has_effects = f->has_effects || hl_is_effect(ins);
  }
  want(f, computation->root, HL_STORED_RESULT);
  for (hl_instruction *ins = computation->last; ins; ins = ins->previous)
    decide(f, info_of(f, ins));
}

/* --- the plan --- */

static void fill_placements(fuser *f)
{
  for (int i = f->plan->count; i-- > 0;) {
    const info *x = &f->infos[i];
    hl_placement *placement = &f->plan->placements[i];
    *placement = (hl_placement){.instruction = x->ins, .is_stored = x->is_stored,
                                .is_dead = !x->is_decided, .is_update = x->is_update, .reason = x->reason,
                                .is_cached = is_worth_caching(x)};
    if (x->is_stored && x->unit_count)
      placement->unit = &f->units[unit_leader(f, x->units[0])];
  }
}

typedef struct order {
  fuser *f;
  int *state; /* per unit: 0 new, 1 open, 2 done */
  int *stack; /* units being ordered, with what of them was looked at */
  hl_instruction **work;
  size_t work_capacity;
} order;

static void add_dependency(order *o, const info *x, int **out, int *count, size_t *capacity)
{
  *out = hl_arena_grow(o->f->arena, *out, capacity, (size_t)*count + 1, sizeof **out);
  (*out)[(*count)++] = unit_leader(o->f, x->units[0]);
}

/* What has an effect comes behind the one before it in the text. */
static void push_last_effect(order *o, int id, int **out, int *count, size_t *capacity)
{
  const hl_instruction *ins = o->f->units[id].roots[0];
  if (!o->f->has_effects || !hl_is_effect(ins))
    return;
  while ((ins = ins->previous))
    if (hl_is_effect(ins)) {
      add_dependency(o, info_of(o->f, ins), out, count, capacity);
      return;
    }
}

/* The units that unit `id` reads, through everything that is computed inside it. */
static void push_dependencies(order *o, int id, int **out, int *count, size_t *capacity)
{
  fuser *f = o->f;
  int top = 0;
  f->stamp_now++;
  push_last_effect(o, id, out, count, capacity);
  for (int i = 0; i < f->units[id].root_count; i++) {
    o->work = hl_arena_grow(f->arena, o->work, &o->work_capacity, (size_t)top + 1, sizeof *o->work);
    o->work[top++] = f->units[id].roots[i];
  }
  while (top) {
    hl_instruction *ins = o->work[--top];
    for (int i = 0; i < ins->operand_count; i++) {
      hl_instruction *operand = ins->operands[i];
      if (f->stamp[operand->scratch] == f->stamp_now)
        continue;
      f->stamp[operand->scratch] = f->stamp_now;
      const info *x = info_of(f, operand);
      if (!x->is_stored) {
        o->work = hl_arena_grow(f->arena, o->work, &o->work_capacity, (size_t)top + 1,
                                sizeof *o->work);
        o->work[top++] = operand;
      } else if (x->unit_count && unit_leader(f, x->units[0]) != id) {
        add_dependency(o, x, out, count, capacity);
      }
    }
  }
}

/* Depth first with a stack of our own; a unit is emitted after all that it reads. */
static void order_units(fuser *f)
{
  order o = {.f = f, .state = HL_ARRAY(f->arena, f->unit_count + 1, int)};
  int *stack = NULL, top = 0;
  size_t capacity = 0;
  f->plan->units = HL_ARRAY(f->arena, f->unit_count + 1, hl_unit *);
  for (int start = f->unit_count; start-- > 0;) {
    stack = hl_arena_grow(f->arena, stack, &capacity, (size_t)top + 1, sizeof *stack);
    stack[top++] = start;
    while (top) {
      int id = stack[top - 1];
      if (o.state[id] == 0 && f->leader[id] == id) {
        o.state[id] = 1;
        push_dependencies(&o, id, &stack, &top, &capacity);
        continue;
      }
      top--;
      if (o.state[id] == 1) {
        o.state[id] = 2;
        f->plan->units[f->plan->unit_count++] = &f->units[id];
      }
    }
  }
}

hl_fusion_plan *hl_fuse(hl_arena *arena, hl_computation *computation,
                        const hl_lower_options *options)
{
  int n = computation->instruction_count;
  fuser f = {.arena = arena, .options = options, .plan = HL_NEW(arena, hl_fusion_plan)};
  f.infos = HL_ARRAY(arena, n + 1, info);
  f.stamp = HL_ARRAY(arena, n + 1, int);
  f.plan->placements = HL_ARRAY(arena, n + 1, hl_placement);
  f.plan->count = n;
  decide_all(&f, computation);
  fill_placements(&f);
  order_units(&f);
  return f.plan;
}
