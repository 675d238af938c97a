/* lower_kernel.c - nodes in their scopes, loops, loads and the element memo of one kernel.
 *
 * Keeps: every node stands in the outermost block that knows its operands, before the loop that is
 * being built there.
 */
#include "lower_kernel.h"

#include "fuse_kinds.h"
#include "loop_edit.h"

#include <string.h>

/* One known element of an instruction, or the reduce that computes several leaves of it. */
struct hl_memo {
  hl_memo *next;
  const hl_index *index;
  int leaf;
  hl_node *guard;
  hl_scope *scope;
  hl_value value;
};

/* A row of an instruction's elements that a finished loop left in scratch memory. The index of the
 * row is `outer`: leading dimensions [0, split) as they were in the scope `owner`; scratch holds
 * the dimensions from split on. */
struct hl_row_cache {
  hl_row_cache *next;
  const hl_instruction *instruction;
  const hl_index *outer;
  int split;
  hl_scope *owner;
  hl_scope *writer; /* the scope of the loop that fills it */
  bool is_ready;    /* that loop is complete: what is hoisted before it must not read the row */
  hl_buffer *buffer;
};

hl_facts *hl_facts_of(const hl_node *node)
{
  return node->scratch;
}

static hl_loop_builder builder_at(hl_puller *p, hl_scope *scope)
{
  return (hl_loop_builder){p->kernel, scope->block};
}

/* A node that was made at the end of the scope's block: gives it its place and facts. */
static hl_node *settle(hl_puller *p, hl_scope *scope, hl_node *node)
{
  if (scope->before) {
    hl_node_remove(node);
    hl_node_insert_before(node, scope->before);
  }
  hl_facts *facts = HL_NEW(p->arena, hl_facts);
  facts->scope = scope;
  facts->low = INT64_MIN / 4;
  facts->high = INT64_MAX / 4;
  facts->dim = -1;
  node->scratch = facts;
  return node;
}

static hl_scope *scope_of_operands(hl_puller *p, int count, hl_node *const *operands)
{
  hl_scope *deepest = p->root;
  for (int i = 0; i < count; i++)
    if (hl_facts_of(operands[i])->scope->depth > deepest->depth)
      deepest = hl_facts_of(operands[i])->scope;
  return deepest;
}

hl_node *hl_put(hl_puller *p, hl_loop_op op, hl_element_type type, int count,
                hl_node *const *operands)
{
  hl_scope *scope = scope_of_operands(p, count, operands);
  hl_loop_builder b = builder_at(p, scope);
  return settle(p, scope, hl_loop_op_node(&b, op, type, count, operands));
}

hl_node *hl_put_unary(hl_puller *p, hl_loop_op op, hl_node *x)
{
  return hl_put(p, op, op == HL_LOOP_IS_FINITE ? HL_PRED : x->type, 1, &x);
}

hl_node *hl_put_binary(hl_puller *p, hl_loop_op op, hl_node *x, hl_node *y)
{
  bool is_compare = op >= HL_LOOP_EQ && op <= HL_LOOP_LT;
  return hl_put(p, op, is_compare ? HL_PRED : x->type, 2, (hl_node *[]){x, y});
}

hl_node *hl_put_select(hl_puller *p, hl_node *pred, hl_node *x, hl_node *y)
{
  return hl_put(p, HL_LOOP_SELECT, x->type, 3, (hl_node *[]){pred, x, y});
}

hl_node *hl_put_convert(hl_puller *p, hl_element_type type, hl_node *x)
{
  return x->type == type ? x : hl_put(p, HL_LOOP_CONVERT, type, 1, &x);
}

hl_node *hl_put_math(hl_puller *p, hl_math_fn fn, int count, hl_node *const *operands)
{
  hl_scope *scope = scope_of_operands(p, count, operands);
  hl_loop_builder b = builder_at(p, scope);
  return settle(p, scope, hl_loop_math(&b, fn, count, operands));
}

hl_node *hl_put_const(hl_puller *p, hl_element_type type, uint64_t bits)
{
  hl_loop_builder b = builder_at(p, p->root);
  hl_node *node = settle(p, p->root, hl_loop_const(&b, type, bits));
  if (type == HL_S64)
    hl_facts_of(node)->low = hl_facts_of(node)->high = (int64_t)bits;
  return node;
}

hl_node *hl_put_int(hl_puller *p, hl_element_type type, int64_t value)
{
  int bits = hl_type_bytes(type) * 8;
  uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  return hl_put_const(p, type, type == HL_PRED ? value != 0 : (uint64_t)value & mask);
}

hl_node *hl_put_float(hl_puller *p, hl_element_type type, double value)
{
  return hl_put_const(p, type, hl_float_encode(type, value));
}

/* --- memory --- */

static hl_param *param_of(hl_puller *p, hl_buffer *buffer, hl_direction_of_param direction)
{
  int n = p->kernel->param_count;
  if (buffer->is_per_worker)
    direction = HL_PARAM_SCRATCH;
  for (int i = 0; i < n; i++)
    if (p->param_buffers[i] == buffer) {
      hl_param *param = p->kernel->params[i];
      if (param->direction != direction && param->direction != HL_PARAM_SCRATCH)
        param->direction = HL_PARAM_INOUT;
      return param;
    }
  bool is_complex = hl_is_complex(buffer->type);
  int rank = buffer->rank + (is_complex ? 1 : 0);
  int64_t *dims = HL_ARRAY(p->arena, rank + 1, int64_t);
  if (buffer->rank)
    memcpy(dims, buffer->dimensions, (size_t)buffer->rank * sizeof *dims);
  if (is_complex)
    dims[buffer->rank] = 2;
  p->param_buffers = hl_arena_grow(p->arena, p->param_buffers, &p->param_capacity, (size_t)n + 1,
                                   sizeof *p->param_buffers);
  p->param_buffers[n] = buffer;
  return hl_kernel_add_param(p->kernel, buffer->name, direction, hl_component_type(buffer->type),
                             rank, dims);
}

static hl_access *access_of(hl_puller *p, hl_param *param, hl_index offset)
{
  hl_access *access = hl_access_new(p->arena, param, offset.constant);
  for (int i = 0; i < offset.count; i++)
    hl_access_add(p->arena, access, offset.terms[i].index, offset.terms[i].stride);
  return access;
}

static hl_scope *deeper(hl_scope *a, hl_scope *b)
{
  return a->depth > b->depth ? a : b;
}

static hl_node *load_part(hl_puller *p, hl_param *param, hl_index offset, hl_scope *least)
{
  hl_scope *scope = deeper(least, hl_index_scope(p, &offset, 1));
  hl_node *otherwise = NULL;
  if (p->guard) {
    scope = deeper(scope, hl_facts_of(p->guard)->scope);
    otherwise = hl_put_const(p, param->type, 0);
  }
  hl_loop_builder b = builder_at(p, scope);
  return settle(p, scope, hl_loop_load(&b, access_of(p, param, offset), p->guard, otherwise));
}

/* An array without elements is read in loops without iterations alone; hoisted out of them it must
 * not be read. */
static hl_value load_nothing(hl_puller *p, hl_element_type type)
{
  hl_element_type part = hl_component_type(type);
  hl_node *zero = hl_put_const(p, part, 0);
  return (hl_value){zero, hl_is_complex(type) ? zero : NULL};
}

static hl_value load(hl_puller *p, hl_buffer *buffer, hl_index offset, hl_scope *least)
{
  if (buffer->bytes == 0)
    return load_nothing(p, buffer->type);
  hl_param *param = param_of(p, buffer, HL_PARAM_IN);
  if (!hl_is_complex(buffer->type))
    return (hl_value){load_part(p, param, offset, least), NULL};
  hl_value value;
  value.re = load_part(p, param, hl_index_scale(p, offset, 2, 0), least);
  value.im = load_part(p, param, hl_index_scale(p, offset, 2, 1), least);
  return value;
}

hl_value hl_put_load(hl_puller *p, hl_buffer *buffer, hl_index offset)
{
  return load(p, buffer, offset, p->root);
}

hl_value hl_put_load_here(hl_puller *p, hl_buffer *buffer, hl_index offset)
{
  return load(p, buffer, offset, p->scope);
}

static void store_part(hl_puller *p, hl_param *param, hl_index offset, hl_node *value)
{
  hl_loop_builder b = builder_at(p, p->scope);
  settle(p, p->scope, hl_loop_store(&b, access_of(p, param, offset), value, NULL));
}

static void store(hl_puller *p, hl_buffer *buffer, hl_direction_of_param direction, hl_index offset,
                  hl_value value)
{
  hl_param *param = param_of(p, buffer, direction);
  bool is_complex = value.im != NULL;
  store_part(p, param, is_complex ? hl_index_scale(p, offset, 2, 0) : offset, value.re);
  if (is_complex)
    store_part(p, param, hl_index_scale(p, offset, 2, 1), value.im);
}

void hl_put_store(hl_puller *p, hl_buffer *buffer, hl_index offset, hl_value value)
{
  store(p, buffer, HL_PARAM_OUT, offset, value);
}

hl_buffer *hl_new_work_buffer(hl_puller *p, const char *what, hl_element_type type, int64_t count,
                              bool is_per_worker)
{
  hl_buffer work = {.name = hl_arena_printf(p->arena, "%s.%s", p->kernel->name, what),
                    .kind = HL_BUFFER_TEMP,
                    .type = type,
                    .rank = 1,
                    .dimensions = hl_arena_memdup(p->arena, &count, sizeof count),
                    .bytes = count * hl_type_bytes(type),
                    .offset = -1,
                    .is_per_worker = is_per_worker};
  return hl_program_add_buffer(p->program, work);
}

/* --- loops --- */

static hl_scope *scope_new(hl_puller *p, hl_scope *parent, hl_block *block)
{
  hl_scope *scope = HL_NEW(p->arena, hl_scope);
  *scope = (hl_scope){.parent = parent, .block = block, .depth = parent->depth + 1};
  return scope;
}

/* Loop indices live in the scope of the body. */
static void settle_vars(hl_puller *p, const hl_loop *loop, hl_scope *scope, hl_index *vars)
{
  for (int i = 0; i < loop->var_count; i++) {
    hl_facts *facts = HL_NEW(p->arena, hl_facts);
    *facts = (hl_facts){.scope = scope, .low = 0, .high = loop->extents[i] - 1, .dim = -1};
    loop->vars[i]->scratch = facts;
    vars[i] = hl_index_node(p, loop->vars[i]);
  }
}

hl_node *hl_open_for(hl_puller *p, int64_t extent, hl_index *index)
{
  hl_loop_builder b = builder_at(p, p->scope);
  hl_node *node = settle(p, p->scope, hl_loop_for(&b, HL_MODE_SERIAL, extent, NULL));
  p->scope->before = node;
  p->scope = scope_new(p, p->scope, &node->loop->body);
  settle_vars(p, node->loop, p->scope, index);
  return node;
}

void hl_close_for(hl_puller *p)
{
  p->scope = p->scope->parent;
  p->scope->before = NULL;
}

void hl_open_if(hl_puller *p, hl_node *pred)
{
  hl_loop_builder b = builder_at(p, p->scope);
  hl_node *node = settle(p, p->scope, hl_loop_if(&b, pred));
  p->scope->before = node;
  p->scope = scope_new(p, p->scope, &node->branch->then);
}

void hl_close_if(hl_puller *p)
{
  hl_close_for(p);
}

/* What a loop reads where a guard holds needs the guard's own scope. */
static hl_scope *within_guard(const hl_puller *p, hl_scope *in)
{
  return p->guard ? deeper(in, hl_facts_of(p->guard)->scope) : in;
}

static hl_open_loop open_loop(hl_puller *p, hl_scope *in, hl_node *node, hl_index *vars)
{
  hl_open_loop open = {.node = settle(p, in, node), .outer = in, .saved = p->scope};
  open.saved_before = in->before;
  in->before = node;
  p->scope = scope_new(p, in, &node->loop->body);
  settle_vars(p, node->loop, p->scope, vars);
  return open;
}

hl_open_loop hl_open_reduce(hl_puller *p, hl_scope *in, int count, const int64_t *extents,
                            int result_count, const hl_combiner *combiners, hl_index *vars)
{
  in = within_guard(p, in);
  hl_loop_builder b = builder_at(p, in);
  return open_loop(p, in, hl_loop_reduce(&b, count, extents, result_count, combiners), vars);
}

hl_open_loop hl_open_fold(hl_puller *p, hl_scope *in, int count, const int64_t *extents,
                          int result_count, hl_node *const *inits, hl_index *vars)
{
  in = within_guard(p, in);
  hl_loop_builder b = builder_at(p, in);
  hl_node *node = hl_loop_fold(&b, count, extents, result_count, inits);
  hl_open_loop open = open_loop(p, in, node, vars);
  for (int i = 0; i < result_count; i++) {
    hl_facts *facts = HL_NEW(p->arena, hl_facts);
    *facts = (hl_facts){.scope = p->scope, .low = INT64_MIN / 4, .high = INT64_MAX / 4};
    node->loop->accs[i]->scratch = facts;
  }
  return open;
}

hl_node *hl_open_acc(hl_open_loop *loop, int index)
{
  return loop->node->loop->accs[index];
}

void hl_close_loop(hl_puller *p, hl_open_loop *loop, int yield_count, hl_node *const *yields)
{
  hl_loop_set_yields(p->kernel, loop->node, yield_count, yields);
  for (hl_row_cache *c = p->caches; c; c = c->next)
    c->is_ready |= c->writer == p->scope;
  p->scope = loop->saved;
  loop->outer->before = loop->saved_before;
}

hl_node *hl_put_result(hl_puller *p, hl_node *loop, int index)
{
  hl_scope *scope = hl_facts_of(loop)->scope;
  hl_loop_builder b = builder_at(p, scope);
  hl_node *node = settle(p, scope, hl_loop_result(&b, loop, index));
  hl_node_place_result(node);
  return node;
}

/* --- row caches --- */

static bool is_inside(const hl_scope *scope, const hl_scope *of)
{
  while (scope && scope->depth > of->depth)
    scope = scope->parent;
  return scope == of;
}

/* Whether dimensions from `split` on are each run through whole by loop vars below `owner`. */
static bool is_whole_row(const hl_instruction *ins, const hl_index *index, int split,
                         const hl_scope *owner)
{
  for (int d = split; d < ins->shape->rank; d++) {
    if (ins->shape->dimensions[d] == 1)
      continue;
    hl_index x = index[d];
    if (x.count != 1 || x.constant != 0 || x.terms[0].stride != 1 ||
        x.terms[0].index->op != HL_LOOP_VAR)
      return false;
    const hl_facts *facts = hl_facts_of(x.terms[0].index);
    if (facts->scope->depth <= owner->depth || facts->high + 1 != ins->shape->dimensions[d])
      return false;
    for (int e = split; e < d; e++)
      if (index[e].count == 1 && index[e].terms[0].index == x.terms[0].index)
        return false;
  }
  return true;
}

/* Where the loop nest around the current scope began that only runs over one row: the scope outside
 * the REDUCE or, for the loops of the kernel itself, NULL: the last loop writes to results, nobody
 * reads a row after it. */
static hl_scope *row_owner(const hl_puller *p)
{
  for (hl_scope *scope = p->scope; scope->parent; scope = scope->parent) {
    hl_loop_op op = scope->block->owner->op;
    if (op == HL_LOOP_REDUCE)
      return scope->parent;
    if (op != HL_LOOP_FOR)
      return NULL;
  }
  return NULL;
}

static hl_index row_offset(hl_puller *p, const hl_instruction *ins, const hl_index *index,
                           int split)
{
  hl_index flat = hl_index_constant(0);
  int64_t stride = 1;
  for (int d = ins->shape->rank; d-- > split;) {
    flat = hl_index_add(p, flat, hl_index_scale(p, index[d], stride, 0));
    stride *= ins->shape->dimensions[d];
  }
  return flat;
}

/* The element out of a row that an earlier loop of the same outer iteration kept. */
static bool load_cached(hl_puller *p, const hl_instruction *ins, const hl_index *index,
                        hl_value *value)
{
  for (hl_row_cache *c = p->caches; c; c = c->next) {
    if (c->instruction != ins || !c->is_ready || !is_inside(p->scope, c->owner))
      continue;
    bool equal = true;
    for (int d = 0; d < c->split; d++)
      equal &= hl_index_equal(index[d], c->outer[d]);
    if (!equal)
      continue;
    *value = load(p, c->buffer, row_offset(p, ins, index, c->split), c->owner);
    return true;
  }
  return false;
}

static void keep_row(hl_puller *p, const hl_instruction *ins, const hl_index *index, hl_value value)
{
  hl_scope *owner = row_owner(p);
  if (!owner || p->guard)
    return;
  int split = 0;
  while (split < ins->shape->rank && hl_index_scope(p, &index[split], 1)->depth <= owner->depth)
    split++;
  if (split == ins->shape->rank || !is_whole_row(ins, index, split, owner))
    return;
  int64_t *dims = HL_ARRAY(p->arena, ins->shape->rank, int64_t);
  int64_t bytes = hl_type_bytes(ins->shape->element_type);
  for (int d = split; d < ins->shape->rank; d++) {
    dims[d - split] = ins->shape->dimensions[d];
    bytes *= dims[d - split];
  }
  if (bytes > 256 * 1024)
    return;
  hl_row_cache *cache = HL_NEW(p->arena, hl_row_cache);
  hl_buffer row = {.name = hl_arena_printf(p->arena, "%s.row", ins->name),
                   .kind = HL_BUFFER_TEMP,
                   .type = ins->shape->element_type,
                   .rank = ins->shape->rank - split,
                   .dimensions = dims,
                   .bytes = bytes,
                   .offset = -1,
                   .is_per_worker = true};
  *cache = (hl_row_cache){.next = p->caches,
                          .instruction = ins,
                          .outer = index,
                          .split = split,
                          .owner = owner,
                          .writer = p->scope,
                          .buffer = hl_program_add_buffer(p->program, row)};
  while (cache->writer->parent != owner)
    cache->writer = cache->writer->parent;
  store(p, cache->buffer, HL_PARAM_SCRATCH, row_offset(p, ins, index, split), value);
  p->caches = cache;
}

/* --- elements --- */

static bool same_place(const hl_memo *m, int rank, const hl_index *index)
{
  for (int d = 0; d < rank; d++)
    if (!hl_index_equal(m->index[d], index[d]))
      return false;
  return true;
}

static hl_memo *find(hl_puller *p, const hl_instruction *ins, int leaf, int rank,
                     const hl_index *index)
{
  int tries = 8; /* enough for the few places one element is read at; more would cost than save */
  for (hl_memo *m = p->memo[ins->scratch]; m && tries; m = m->next, tries--)
    if (m->leaf == leaf && (m->guard == p->guard || !m->guard) && is_inside(p->scope, m->scope) &&
        same_place(m, rank, index))
      return m;
  return NULL;
}

static void remember(hl_puller *p, const hl_instruction *ins, int leaf, int rank,
                     const hl_index *index, hl_value value)
{
  hl_memo *m = HL_NEW(p->arena, hl_memo);
  hl_scope *scope = hl_facts_of(value.re)->scope;
  if (value.im)
    scope = deeper(scope, hl_facts_of(value.im)->scope);
  *m = (hl_memo){.next = p->memo[ins->scratch],
                 .leaf = leaf,
                 .guard = p->guard,
                 .scope = scope,
                 .value = value};
  m->index = hl_arena_memdup(p->arena, index, (size_t)rank * sizeof *index);
  if (!m->next) {
    p->touched = hl_arena_grow(p->arena, p->touched, &p->touched_capacity, p->touched_count + 1,
                               sizeof *p->touched);
    p->touched[p->touched_count++] = ins->scratch;
  }
  p->memo[ins->scratch] = m;
}

enum { WHOLE_LOOP = -1 }; /* the leaf of a memo that holds a loop, not an element */

hl_node *hl_fold_of(hl_puller *p, const hl_instruction *ins, const hl_index *index)
{
  const hl_memo *m = find(p, ins, WHOLE_LOOP, hl_leaf_shape(ins->shape, 0)->rank, index);
  return m ? m->value.re : NULL;
}

void hl_fold_remember(hl_puller *p, const hl_instruction *ins, const hl_index *index, hl_node *loop)
{
  remember(p, ins, WHOLE_LOOP, hl_leaf_shape(ins->shape, 0)->rank, index, (hl_value){loop, NULL});
}

static hl_lower_fn *lower_of(hl_opcode opcode)
{
#define HL_LOWER_ENTRY_code(family) hl_lower_##family
#define HL_LOWER_ENTRY_whole(family) NULL
#define HL_LOWER_ENTRY_expanded(family) NULL
#define HL_LOWER_ENTRY_later(family) NULL
#define HL_LOWER_ENTRY_refused(family) NULL
  static hl_lower_fn *const table[HL_OP_COUNT] = {
#define HL_OP(id, name, min, max, types, flags, stage, infer, family, ...)                         \
  [HL_OP_##id] = HL_LOWER_ENTRY_##stage(family),
#include "../ir/ops.def"
  };
  return table[opcode];
}

static hl_value compute(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  hl_value value;
  bool is_cached = hl_placement_of(p->plan, ins)->is_cached;
  if (is_cached && load_cached(p, ins, index, &value))
    return value;
  value = lower_of(ins->opcode)(p, ins, leaf, index);
  if (is_cached)
    keep_row(p, ins, index, value);
  return value;
}

/* Bytes that come in and go out. */
static int64_t traffic_of(const hl_program *program)
{
  int64_t bytes = 0;
  for (int i = 0; i < program->buffer_count; i++)
    if (program->buffers[i]->kind == HL_BUFFER_ARGUMENT || program->buffers[i]->kind == HL_BUFFER_RESULT)
      bytes += program->buffers[i]->bytes;
  return bytes;
}

/* A large argument that is copied into a result and updated there (a cache of keys and values): who reads what became of it reads the
 * argument, which the copy just brought into the caches, and the update. The copy can go past the caches then. Not where the argument may be a result,
 * too: its memory may have changed by then. */
static bool is_seen_through(const hl_puller *p, const hl_instruction *ins)
{
  enum { LARGE_BYTES = 1 << 20 };
  const hl_module *module = ins->computation->module;
  if (ins->opcode != HL_OP_DYNAMIC_UPDATE_SLICE || p->options->opt_level < 2 || module->alias_count > 0)
    return false;
  const hl_instruction *from = ins->operands[0], *update = ins->operands[1];
  while (hl_is_view(update) && update->operand_count > 0)
    update = update->operands[0];
  const hl_buffer *buffer = p->leaves[ins->scratch][0];
  return from->opcode == HL_OP_PARAMETER && from->computation == module->entry &&
         hl_placement_of(p->plan, update)->is_stored && buffer->kind == HL_BUFFER_RESULT &&
         buffer->bytes >= LARGE_BYTES && !hl_is_whole(p->unit->roots[0]) &&
         traffic_of(p->program) > p->options->cache_bytes;
}

hl_value hl_pull(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  if (p->region_values)
    return p->region_values[ins->scratch];
  const hl_shape *shape = hl_leaf_shape(ins->shape, leaf);
  hl_memo *known = find(p, ins, leaf, shape->rank, index);
  if (known)
    return known->value;
  hl_value value;
  hl_range outer = p->kernel->current;
  const hl_placement *placement = hl_placement_of(p->plan, ins);
  if (placement->is_stored && placement->unit != p->unit && !is_seen_through(p, ins)) {
    value = hl_put_load(p, p->leaves[ins->scratch][leaf], hl_index_flatten(p, shape, index));
  } else {
    hl_note_origin(p, ins);
    value = compute(p, ins, leaf, index);
  }
  p->kernel->current = outer;
  remember(p, ins, leaf, shape->rank, index, value);
  return value;
}

void hl_note_origin(hl_puller *p, const hl_instruction *ins)
{
  if (ins->range.begin != HL_NO_OFFSET)
    p->kernel->current = ins->range;
}

static void region_results(const hl_computation *region, const hl_value *values, hl_value *results)
{
  const hl_instruction *root = region->root;
  if (root->opcode != HL_OP_TUPLE) {
    results[0] = values[root->scratch];
    return;
  }
  for (int i = 0; i < root->operand_count; i++)
    results[i] = values[root->operands[i]->scratch];
}

/* The values of all instructions of a region but tuples, by their scratch. */
static const hl_value *pull_all(hl_puller *p, const hl_computation *region, const hl_value *args)
{
  const hl_value *outer_values = p->region_values, *outer_args = p->region_args;
  hl_value *values = HL_ARRAY(p->arena, region->instruction_count, hl_value);
  p->region_values = values;
  p->region_args = args;
  hl_range outer = p->kernel->current;
  int64_t n = 0;
  for (hl_instruction *ins = region->first; ins; ins = ins->next) {
    ins->scratch = n++;
    hl_note_origin(p, ins);
    if (ins->opcode != HL_OP_TUPLE)
      values[ins->scratch] = lower_of(ins->opcode)(p, ins, 0, NULL);
  }
  p->kernel->current = outer;
  p->region_values = outer_values;
  p->region_args = outer_args;
  return values;
}

void hl_pull_region(hl_puller *p, hl_computation *region, const hl_value *args, hl_value *results)
{
  region_results(region, pull_all(p, region, args), results);
}

hl_value hl_pull_region_value(hl_puller *p, const hl_instruction *wanted, const hl_value *args)
{
  const hl_value *values = pull_all(p, wanted->computation, args);
  return values[wanted->scratch];
}
