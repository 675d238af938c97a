/* lower.c - a module to a program: buffers and steps for every reachable computation.
 *
 * Requires: see lower.h. Keeps: the order of side effects; values are pure.
 * A tuple has no memory of its own: it is the list of its leaves' buffers. A while keeps its state in buffers of its own, which the
 * body's results are copied to when all of them are there.
 */
#include "../ir/limits.h"
#include "lower_call.h"
#include "lower_kernel.h"
#include "lower_whole.h"

#include <string.h>

typedef struct lowerer {
  hl_arena *arena;
  const hl_lower_options *options;
  hl_program *program;
} lowerer;

/* One computation on its way; buffers of tuples are flattened. */
typedef struct frame {
  lowerer *l;
  hl_computation *computation;
  hl_fusion_plan *plan;
  hl_buffer ***leaves;
  hl_memo **memo;
  hl_steps *steps;
} frame;

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

/* --- buffers --- */

static hl_buffer *new_buffer(lowerer *l, const char *name, hl_buffer_kind kind,
                             const hl_shape *shape)
{
  if (!hl_shape_is_array(shape))
    return NULL;
  hl_buffer buffer = {.name = name, .kind = kind, .type = shape->element_type,
                      .rank = shape->rank, .dimensions = shape->dimensions,
                      .bytes = hl_shape_bytes(shape), .offset = -1};
  return hl_program_add_buffer(l->program, buffer);
}

static hl_buffer **temp_leaves(lowerer *l, const char *name, const hl_shape *shape)
{
  int n = hl_leaf_count(shape);
  hl_buffer **leaves = HL_ARRAY(l->arena, n + 1, hl_buffer *);
  for (int i = 0; i < n; i++)
    leaves[i] = new_buffer(l, name, HL_BUFFER_TEMP, hl_leaf_shape(shape, i));
  return leaves;
}

static hl_buffer **constant_leaves(lowerer *l, const hl_instruction *ins)
{
  hl_buffer **leaves = temp_leaves(l, ins->name, ins->shape);
  int n = hl_leaf_count(ins->shape);
  for (int i = 0; i < n; i++) {
    const hl_literal *literal = ins->literal;
    int leaf = i;
    while (literal->shape->element_type == HL_TUPLE) {
      int k = 0;
      while (leaf >= hl_leaf_count(literal->shape->tuple_shapes[k]))
        leaf -= hl_leaf_count(literal->shape->tuple_shapes[k++]);
      literal = literal->elements[k];
    }
    if (leaves[i]) {
      leaves[i]->kind = HL_BUFFER_CONSTANT;
      leaves[i]->data = literal->data;
    }
  }
  return leaves;
}

static hl_buffer **tuple_leaves(frame *f, const hl_instruction *ins)
{
  hl_buffer **leaves = HL_ARRAY(f->l->arena, hl_leaf_count(ins->shape) + 1, hl_buffer *);
  int n = 0;
  for (int i = 0; i < ins->operand_count; i++) {
    hl_buffer **from = f->leaves[ins->operands[i]->scratch];
    int count = hl_leaf_count(ins->operands[i]->shape);
    for (int k = 0; k < count; k++)
      leaves[n + k] = from ? from[k] : NULL;
    n += count;
  }
  return leaves;
}

static hl_buffer **element_leaves(frame *f, const hl_instruction *ins)
{
  const hl_instruction *tuple = ins->operands[0];
  hl_buffer **from = f->leaves[tuple->scratch];
  int index = (int)hl_attr_int(ins, HL_ATTR_INDEX, 0);
  return from ? from + hl_leaf_offset(tuple->shape, index) : NULL;
}

/* The instruction that makes leaf `leaf` of ins, and which leaf of it, through tuples and their elements. */
static hl_instruction *leaf_source(hl_instruction *ins, int *leaf)
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
    } else {
      return ins;
    }
  }
}

/* Values that a unit of this computation writes may be written straight into a target. */
static bool is_written_here(const frame *f, const hl_instruction *ins)
{
  return hl_placement_of(f->plan, ins)->is_stored && ins->opcode != HL_OP_PARAMETER &&
         ins->opcode != HL_OP_CONSTANT;
}

static void give_targets(frame *f, hl_buffer **targets)
{
  hl_instruction *root = f->computation->root;
  int n = hl_leaf_count(root->shape);
  for (int i = 0; targets && i < n; i++) {
    int leaf = i;
    hl_instruction *source = leaf_source(root, &leaf);
    if (!targets[i] || targets[i]->alias || !is_written_here(f, source))
      continue;
    hl_buffer **place = &f->leaves[source->scratch][leaf];
    if ((*place)->kind == HL_BUFFER_TEMP && (*place)->index == 0) {
      *place = targets[i];
      if (targets[i]->kind == HL_BUFFER_TEMP)
        targets[i]->index = -1; /* given: another leaf of the same value must be copied */
    }
  }
}

static void make_leaves(frame *f, hl_buffer **const *parameters, hl_buffer **targets)
{
  for (hl_instruction *ins = f->computation->first; ins; ins = ins->next) {
    const hl_placement *placement = hl_placement_of(f->plan, ins);
    if (placement->is_dead || !placement->is_stored)
      continue;
    if (ins->opcode == HL_OP_PARAMETER)
      f->leaves[ins->scratch] = parameters[ins->parameter_number];
    else if (ins->opcode == HL_OP_CONSTANT && !hl_literal_is_splat(ins->literal))
      f->leaves[ins->scratch] = constant_leaves(f->l, ins);
    else
      f->leaves[ins->scratch] = temp_leaves(f->l, ins->name, ins->shape);
  }
  give_targets(f, targets);
  for (hl_instruction *ins = f->computation->first; ins; ins = ins->next) {
    if (ins->opcode == HL_OP_TUPLE)
      f->leaves[ins->scratch] = tuple_leaves(f, ins);
    else if (ins->opcode == HL_OP_GET_TUPLE_ELEMENT)
      f->leaves[ins->scratch] = element_leaves(f, ins);
  }
}

static void add_copy(frame *f, hl_buffer *to, hl_buffer *from)
{
  if (!to || !from || to == from || to->bytes == 0)
    return;
  hl_step *step = hl_steps_add(f->l->arena, f->steps, HL_STEP_COPY);
  step->buffers = HL_ARRAY(f->l->arena, 2, hl_buffer *);
  step->buffers[0] = to;
  step->buffers[1] = from;
}

/* --- kernels --- */

/* Reductions inside the kernel come first and in their own order, so that a row which one of them leaves is there for all that follow. */
static void pull_reduces(hl_puller *p, const hl_unit *unit, const hl_index *index)
{
  for (int i = unit->reduce_count; i-- > 0;) {
    const hl_instruction *ins = unit->reduces[i].instruction;
    const hl_shape *shape = hl_leaf_shape(ins->shape, 0);
    hl_index *at = HL_ARRAY(p->arena, shape->rank + 1, hl_index);
    for (int d = 0; d < shape->rank; d++)
      at[d] = unit->reduces[i].map[d] < 0 ? hl_index_constant(0) : index[unit->reduces[i].map[d]];
    hl_pull(p, ins, 0, at);
  }
}

/* All values come before all stores: reductions with nothing between them can share a loop. */
static void store_roots(hl_puller *p, const hl_unit *unit, const hl_index *index)
{
  int count = 0;
  for (int r = 0; r < unit->root_count; r++)
    count += hl_leaf_count(unit->roots[r]->shape);
  hl_value *values = HL_ARRAY(p->arena, count, hl_value);
  pull_reduces(p, unit, index);
  int n = 0;
  for (int r = 0; r < unit->root_count; r++) {
    for (int leaf = 0; leaf < hl_leaf_count(unit->roots[r]->shape); leaf++)
      values[n++] = hl_pull(p, unit->roots[r], leaf, index);
  }
  n = 0;
  for (int r = 0; r < unit->root_count; r++) {
    const hl_instruction *root = unit->roots[r];
    hl_note_origin(p, root);
    for (int leaf = 0; leaf < hl_leaf_count(root->shape); leaf++) {
      hl_index offset = hl_index_flatten(p, hl_leaf_shape(root->shape, leaf), index);
      hl_put_store(p, p->leaves[root->scratch][leaf], offset, values[n++]);
    }
  }
}

/* The loops of one dimension; the index is the sum of their parts. */
static int open_dimension(hl_puller *p, const hl_domain *domain, int d, hl_index *index)
{
  int opened = 0;
  *index = hl_index_constant(0);
  for (int part = 0; part < domain->counts[d]; part++) {
    hl_index one;
    hl_node *loop = hl_open_for(p, domain->parts[d][part], &one);
    hl_facts *facts = hl_facts_of(hl_loop_var(loop, 0));
    facts->dim = d;
    facts->part = part;
    *index = hl_index_add(p, hl_index_scale(p, *index, domain->parts[d][part], 0), one);
    opened++;
  }
  return opened;
}

/* Loops over a domain; returns how many were opened. */
static int open_domain(hl_puller *p, const hl_domain *domain, int rank, hl_index *index)
{
  int opened = 0;
  for (int d = 0; d < rank; d++)
    opened += open_dimension(p, domain, d, &index[d]);
  return opened;
}

static hl_domain domain_of(hl_arena *arena, const hl_shape *shape)
{
  hl_domain domain = {.wanted_dim = -1};
  domain.counts = HL_ARRAY(arena, shape->rank + 1, int);
  domain.parts = hl_arena_array(arena, (size_t)shape->rank + 1, sizeof *domain.parts);
  for (int d = 0; d < shape->rank; d++) {
    domain.counts[d] = shape->dimensions[d] != 1;
    domain.parts[d][0] = shape->dimensions[d];
  }
  return domain;
}

/* Splits the loop that was asked for. */
static void refine(hl_domain *domain)
{
  int64_t *parts = domain->parts[domain->wanted_dim];
  int at = domain->wanted_part, *count = &domain->counts[domain->wanted_dim];
  memmove(&parts[at + 1], &parts[at], (size_t)(*count - at) * sizeof *parts);
  parts[at] /= domain->wanted_inner;
  parts[at + 1] = domain->wanted_inner;
  ++*count;
  domain->wanted_dim = -1;
}

static void close_domain(hl_puller *p, int opened)
{
  while (opened--)
    hl_close_for(p);
}

/* A concatenate that is a root: one nest an operand, no guards. */
static void store_pieces(hl_puller *p, const hl_instruction *root)
{
  int64_t d = hl_attr_ints(root, HL_ATTR_DIMENSIONS).values[0], start = 0;
  hl_index *index = HL_ARRAY(p->arena, root->shape->rank + 1, hl_index);
  for (int i = 0; i < root->operand_count; i++) {
    const hl_instruction *piece = root->operands[i];
    if (hl_shape_elements(piece->shape)) {
      hl_domain domain = domain_of(p->arena, piece->shape);
      int opened = open_domain(p, &domain, piece->shape->rank, index);
      hl_value value = hl_pull(p, piece, 0, index);
      index[d] = hl_index_scale(p, index[d], 1, start);
      hl_put_store(p, p->leaves[root->scratch][0], hl_index_flatten(p, root->shape, index), value);
      close_domain(p, opened);
    }
    start += piece->shape->dimensions[d];
  }
}

static hl_puller puller_for(frame *f, const hl_unit *unit)
{
  hl_arena *arena = f->l->arena;
  hl_puller p = {.arena = arena, .program = f->l->program, .options = f->l->options,
                 .plan = f->plan, .leaves = f->leaves, .memo = f->memo, .unit = unit};
  p.kernel = hl_kernel_new(arena, unit->roots[0]->name);
  p.kernel->range = p.kernel->current = unit->roots[0]->range;
  p.root = HL_NEW(arena, hl_scope);
  p.root->block = &p.kernel->body;
  p.scope = p.root;
  return p;
}

static void build_kernel(hl_puller *p, const hl_unit *unit, hl_domain *domain)
{
  const hl_instruction *root = unit->roots[0];
  if (hl_build_of(root)) {
    hl_build_of(root)(p, root);
  } else if (root->opcode == HL_OP_CONCATENATE) {
    store_pieces(p, root);
  } else {
    int rank = hl_leaf_shape(root->shape, 0)->rank;
    hl_index *index = HL_ARRAY(p->arena, rank + 1, hl_index);
    p->domain = domain;
    int opened = open_domain(p, domain, rank, index);
    store_roots(p, unit, index);
    close_domain(p, opened);
  }
  for (size_t i = 0; i < p->touched_count; i++)
    p->memo[p->touched[i]] = NULL;
}

enum { MAX_REFINEMENTS = 8 };

static void lower_kernel(frame *f, const hl_unit *unit)
{
  const hl_shape *shape = hl_leaf_shape(unit->roots[0]->shape, 0);
  if (hl_shape_elements(shape) == 0)
    return;
  hl_domain domain = domain_of(f->l->arena, shape);
  hl_puller p = puller_for(f, unit);
  build_kernel(&p, unit, &domain);
  for (int i = 0; i < MAX_REFINEMENTS && domain.wanted_dim >= 0; i++) {
    refine(&domain);
    p = puller_for(f, unit);
    build_kernel(&p, unit, &domain);
  }
  hl_step *step = hl_steps_add(f->l->arena, f->steps, HL_STEP_KERNEL);
  step->kernel = p.kernel;
  step->buffers = p.param_buffers;
  step->range = p.kernel->range;
  p.kernel->current = HL_NO_RANGE;
  p.kernel->origins = hl_unit_origins(f->plan, unit, f->l->arena, &p.kernel->origin_count);
}

/* --- computations and control flow --- */

static void lower_computation(lowerer *l, hl_computation *computation, hl_steps *steps,
                              hl_buffer **const *parameters, hl_buffer **targets);

/* The body's results go to temporaries first: the state is read until the last step of the body. */
static void lower_body(frame *f, hl_computation *body, hl_steps *steps, hl_buffer **state,
                       const hl_shape *shape)
{
  int n = hl_leaf_count(shape);
  hl_buffer **next = HL_ARRAY(f->l->arena, n + 1, hl_buffer *);
  for (int i = 0; i < n; i++) {
    int leaf = i;
    const hl_instruction *source = leaf_source(body->root, &leaf);
    bool is_same = source->opcode == HL_OP_PARAMETER && leaf == i;
    next[i] = is_same ? state[i]
                      : new_buffer(f->l, "next", HL_BUFFER_TEMP, hl_leaf_shape(shape, i));
  }
  lower_computation(f->l, body, steps, (hl_buffer **const[]){state}, next);
  frame copies = {.l = f->l, .steps = steps};
  for (int i = 0; i < n; i++)
    add_copy(&copies, state[i], next[i]);
}

static void lower_while(frame *f, hl_instruction *ins)
{
  hl_buffer **state = f->leaves[ins->scratch], **from = f->leaves[ins->operands[0]->scratch];
  int n = hl_leaf_count(ins->shape);
  for (int i = 0; i < n; i++)
    add_copy(f, state[i], from[i]);
  hl_step *step = hl_steps_add(f->l->arena, f->steps, HL_STEP_WHILE);
  step->range = ins->range;
  const hl_shape *pred = hl_shape_scalar(f->l->arena, HL_PRED);
  step->selector = new_buffer(f->l, "condition", HL_BUFFER_TEMP, pred);
  lower_computation(f->l, hl_attr_computation(ins, HL_ATTR_CONDITION), &step->condition,
                    (hl_buffer **const[]){state}, &step->selector);
  lower_body(f, hl_attr_computation(ins, HL_ATTR_BODY), &step->body, state, ins->shape);
}

static void lower_conditional(frame *f, hl_instruction *ins)
{
  hl_computation *branches[2] = {hl_attr_computation(ins, HL_ATTR_TRUE_COMPUTATION),
                                 hl_attr_computation(ins, HL_ATTR_FALSE_COMPUTATION)};
  const hl_attr *list = hl_attr_find(ins, HL_ATTR_BRANCH_COMPUTATIONS);
  hl_step *step = hl_steps_add(f->l->arena, f->steps, HL_STEP_CONDITIONAL);
  step->range = ins->range;
  step->selector = f->leaves[ins->operands[0]->scratch][0];
  step->branch_count = ins->operand_count - 1;
  step->branches = HL_ARRAY(f->l->arena, step->branch_count, hl_steps);
  for (int i = 0; i < step->branch_count; i++) {
    hl_computation *branch = list ? list->computations.values[i] : branches[i];
    hl_buffer **argument = f->leaves[ins->operands[i + 1]->scratch];
    lower_computation(f->l, branch, &step->branches[i], (hl_buffer **const[]){argument},
                      f->leaves[ins->scratch]);
  }
}

static void lower_call(frame *f, const hl_instruction *ins)
{
  hl_call_site site = {.arena = f->l->arena, .program = f->l->program, .steps = f->steps, .ins = ins,
                       .results = f->leaves[ins->scratch]};
  site.operands = HL_ARRAY(f->l->arena, ins->operand_count + 1, hl_buffer **);
  for (int i = 0; i < ins->operand_count; i++)
    site.operands[i] = f->leaves[ins->operands[i]->scratch];
  hl_lower_call_step(&site);
}

static void lower_unit(frame *f, hl_unit *unit)
{
  if (unit->kind == HL_UNIT_KERNEL)
    lower_kernel(f, unit);
  else if (unit->roots[0]->opcode == HL_OP_WHILE)
    lower_while(f, unit->roots[0]);
  else if (unit->roots[0]->opcode == HL_OP_CUSTOM_CALL)
    lower_call(f, unit->roots[0]);
  else
    lower_conditional(f, unit->roots[0]);
}

/* What could not be written straight into a target is copied there at the end. */
static void copy_targets(frame *f, hl_buffer **targets)
{
  hl_instruction *root = f->computation->root;
  hl_buffer **from = f->leaves[root->scratch];
  for (int i = 0; i < hl_leaf_count(root->shape); i++)
    add_copy(f, targets[i], from[i]);
}

static void lower_computation(lowerer *l, hl_computation *computation, hl_steps *steps,
                              hl_buffer **const *parameters, hl_buffer **targets)
{
  frame f = {.l = l, .computation = computation, .steps = steps};
  f.plan = hl_fuse(l->arena, computation, l->options);
  f.leaves = HL_ARRAY(l->arena, computation->instruction_count + 1, hl_buffer **);
  f.memo = HL_ARRAY(l->arena, computation->instruction_count + 1, hl_memo *);
  make_leaves(&f, parameters, targets);
  for (int i = 0; i < f.plan->unit_count; i++)
    lower_unit(&f, f.plan->units[i]);
  copy_targets(&f, targets);
}

/* --- control instructions are stored: their elements are loads --- */

static hl_value load_leaf(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  const hl_shape *shape = hl_leaf_shape(ins->shape, leaf);
  return hl_put_load(p, p->leaves[ins->scratch][leaf], hl_index_flatten(p, shape, index));
}

hl_value hl_lower_while(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  return load_leaf(p, ins, leaf, index);
}

hl_value hl_lower_conditional(hl_puller *p, const hl_instruction *ins, int leaf,
                              const hl_index *index)
{
  return load_leaf(p, ins, leaf, index);
}

hl_value hl_lower_call(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  return load_leaf(p, ins, leaf, index);
}

hl_value hl_lower_tuple(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  const hl_instruction *source = leaf_source((hl_instruction *)(uintptr_t)ins, &leaf);
  return hl_pull(p, source, leaf, index);
}

hl_value hl_lower_get_tuple_element(hl_puller *p, const hl_instruction *ins, int leaf,
                                    const hl_index *index)
{
  return hl_lower_tuple(p, ins, leaf, index);
}

/* --- entry --- */

static const char *op_name_of(const hl_instruction *ins)
{
  const hl_attr *metadata = hl_attr_find(ins, HL_ATTR_METADATA);
  return metadata ? metadata->text : NULL;
}

/* Flattens one parameter or result into ports; `base` already holds number and names. */
static void add_ports(lowerer *l, const hl_shape *shape, hl_port base, hl_buffer_kind kind,
                      hl_port **ports, int *count, size_t *capacity)
{
  int64_t path[HL_LIMIT_NESTING] = {0};
  int n = hl_leaf_count(shape);
  for (int leaf = 0; leaf < n; leaf++) {
    const hl_shape *at = shape;
    int rest = leaf, depth = 0;
    while (at->element_type == HL_TUPLE) {
      int i = 0;
      while (rest >= hl_leaf_count(at->tuple_shapes[i]))
        rest -= hl_leaf_count(at->tuple_shapes[i++]);
      path[depth++] = i;
      at = at->tuple_shapes[i];
    }
    hl_port port = base;
    port.shape = at;
    port.path_count = depth;
    port.path = hl_arena_memdup(l->arena, path, (size_t)depth * sizeof *path);
    port.buffer = new_buffer(l, base.hlo_name, kind, at);
    if (port.buffer)
      port.buffer->index = *count;
    *ports = hl_arena_grow(l->arena, *ports, capacity, (size_t)*count + 1, sizeof **ports);
    (*ports)[(*count)++] = port;
  }
}

static bool same_path(const hl_port *port, hl_ints index)
{
  if (port->path_count != index.count)
    return false;
  return index.count == 0 ||
         memcmp(port->path, index.values, (size_t)index.count * sizeof *index.values) == 0;
}

static void set_aliases(hl_program *program, const hl_module *module)
{
  for (int i = 0; i < module->alias_count; i++) {
    const hl_alias *alias = &module->aliases[i];
    hl_buffer *from = NULL;
    for (int a = 0; a < program->argument_count; a++)
      if (program->arguments[a].number == alias->parameter &&
          same_path(&program->arguments[a], alias->parameter_index))
        from = program->arguments[a].buffer;
    for (int r = 0; r < program->result_count; r++)
      if (same_path(&program->results[r], alias->output_index) && program->results[r].buffer)
        program->results[r].buffer->alias = from;
  }
}

static hl_buffer ***entry_parameters(lowerer *l, hl_module *module)
{
  hl_program *program = l->program;
  hl_computation *entry = module->entry;
  hl_buffer ***parameters = HL_ARRAY(l->arena, entry->parameter_count + 1, hl_buffer **);
  size_t capacity = 0;
  for (int i = 0; i < entry->parameter_count; i++) {
    const hl_instruction *ins = entry->parameters[i];
    hl_port base = {.hlo_name = ins->name, .op_name = op_name_of(ins), .number = i};
    int first = program->argument_count, n = hl_leaf_count(ins->shape);
    add_ports(l, ins->shape, base, HL_BUFFER_ARGUMENT, &program->arguments,
              &program->argument_count, &capacity);
    parameters[i] = HL_ARRAY(l->arena, n + 1, hl_buffer *);
    for (int k = 0; k < n; k++)
      parameters[i][k] = program->arguments[first + k].buffer;
  }
  return parameters;
}

hl_program *hl_lower_module(hl_arena *arena, hl_module *module, const hl_lower_options *options)
{
  lowerer l = {arena, options, hl_program_new(arena, module->name)};
  hl_program *program = l.program;
  program->max_workers = options->max_workers;
  hl_buffer ***parameters = entry_parameters(&l, module);
  size_t capacity = 0;
  add_ports(&l, module->entry->root->shape, (hl_port){.hlo_name = "result"}, HL_BUFFER_RESULT,
            &program->results, &program->result_count, &capacity);
  set_aliases(program, module);
  hl_buffer **targets = HL_ARRAY(arena, program->result_count + 1, hl_buffer *);
  for (int i = 0; i < program->result_count; i++)
    targets[i] = program->results[i].buffer;
  lower_computation(&l, module->entry, &program->steps, parameters, targets);
  return program;
}

hl_program *hl_lower(hl_arena *arena, hl_module *module, const hl_lower_options *options)
{
  hl_program *program = hl_lower_module(arena, module, options);
  hl_schedule(program, options);
  if (options->opt_level >= 1)
    hl_hoist_steps(program);
  hl_plan_buffers(program);
  return program;
}
