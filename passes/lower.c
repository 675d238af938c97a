/* lower.c - a module to a program: buffers and steps for every reachable computation.
 *
 * Requires: see lower.h. Keeps: the order of side effects; values are pure.
 * A tuple has no memory of its own: it is the list of its leaves' buffers. The state of a while is one list of buffers, which its body
 * reads and leaves its results in; share.c says what is written there at once, the rest is copied when all of it is there.
 */
#include "../ir/limits.h"
#include "lower_call.h"
#include "lower_moves.h"
#include "lower_unit.h"
#include "share.h"

#include <string.h>

typedef struct lowerer {
  hl_arena *arena;
  const hl_lower_options *options;
  hl_program *program;
  hl_leaf_facts facts;
} lowerer;

/* One computation on its way; buffers of tuples are flattened. */
typedef struct frame {
  lowerer *l;
  hl_computation *computation;
  hl_fusion_plan *plan;
  hl_sharing *sharing;
  hl_buffer ***leaves;
  hl_memo **memo;
  hl_steps *steps;
} frame;

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

static bool is_kept(lowerer *l, const hl_instruction *ins, int leaf)
{
  return ins->opcode == HL_OP_WHILE &&
         hl_leaf_is_kept(&l->facts, hl_attr_computation(ins, HL_ATTR_BODY), leaf);
}

/* The memory of what a unit writes. A loop that only carries an array has it where it was. */
static hl_buffer **stored_leaves(frame *f, const hl_instruction *ins)
{
  int n = hl_leaf_count(ins->shape);
  hl_buffer **leaves = HL_ARRAY(f->l->arena, n + 1, hl_buffer *);
  for (int i = 0; i < n; i++) {
    hl_buffer **place = hl_shared_place(f->sharing, ins, i);
    if (is_kept(f->l, ins, i)) {
      leaves[i] = f->leaves[ins->operands[0]->scratch][i];
      continue;
    }
    if (!*place)
      *place = new_buffer(f->l, ins->name, HL_BUFFER_TEMP, hl_leaf_shape(ins->shape, i));
    leaves[i] = *place;
  }
  return leaves;
}

/* Tokens are one leaf without memory, whoever makes them. */
static void make_leaves(frame *f, hl_buffer **const *parameters)
{
  for (hl_instruction *ins = f->computation->first; ins; ins = ins->next) {
    const hl_placement *placement = hl_placement_of(f->plan, ins);
    if (ins->shape->element_type == HL_TOKEN)
      f->leaves[ins->scratch] = HL_NEW(f->l->arena, hl_buffer *);
    else if (ins->opcode == HL_OP_TUPLE)
      f->leaves[ins->scratch] = tuple_leaves(f, ins);
    else if (ins->opcode == HL_OP_GET_TUPLE_ELEMENT)
      f->leaves[ins->scratch] = element_leaves(f, ins);
    else if (placement->is_dead || !placement->is_stored)
      continue;
    else if (ins->opcode == HL_OP_PARAMETER)
      f->leaves[ins->scratch] = parameters[ins->parameter_number];
    else if (placement->unit)
      f->leaves[ins->scratch] = stored_leaves(f, ins);
    else
      f->leaves[ins->scratch] = constant_leaves(f->l, ins);
  }
}

/* --- computations and control flow --- */

static void lower_computation(lowerer *l, hl_computation *computation, hl_steps *steps,
                              hl_buffer **const *parameters, hl_buffer **targets);

static void lower_while(frame *f, hl_instruction *ins)
{
  hl_buffer **state = f->leaves[ins->scratch], **from = f->leaves[ins->operands[0]->scratch];
  int n = hl_leaf_count(ins->shape);
  for (int i = 0; i < n; i++)
    hl_add_copy(f->l->program, f->steps, state[i], from[i]);
  hl_step *step = hl_steps_add(f->l->arena, f->steps, HL_STEP_WHILE);
  step->range = ins->range;
  const hl_shape *pred = hl_shape_scalar(f->l->arena, HL_PRED);
  step->selector = new_buffer(f->l, "condition", HL_BUFFER_TEMP, pred);
  hl_buffer **const parameters[] = {state};
  lower_computation(f->l, hl_attr_computation(ins, HL_ATTR_CONDITION), &step->condition, parameters,
                    &step->selector);
  lower_computation(f->l, hl_attr_computation(ins, HL_ATTR_BODY), &step->body, parameters, state);
}

static void lower_conditional(frame *f, hl_instruction *ins)
{
  hl_step *step = hl_steps_add(f->l->arena, f->steps, HL_STEP_CONDITIONAL);
  step->range = ins->range;
  step->selector = f->leaves[ins->operands[0]->scratch][0];
  step->branch_count = ins->operand_count - 1;
  step->branches = HL_ARRAY(f->l->arena, step->branch_count, hl_steps);
  for (int i = 0; i < step->branch_count; i++) {
    hl_buffer **argument = f->leaves[ins->operands[i + 1]->scratch];
    lower_computation(f->l, hl_branch_of(ins, i), &step->branches[i], (hl_buffer **const[]){argument},
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

static void lower_kernel(frame *f, const hl_unit *unit)
{
  hl_kernel_site site = {.arena = f->l->arena, .program = f->l->program, .options = f->l->options,
                         .plan = f->plan, .leaves = f->leaves, .memo = f->memo, .steps = f->steps};
  hl_lower_kernel(&site, unit);
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

static void lower_computation(lowerer *l, hl_computation *computation, hl_steps *steps,
                              hl_buffer **const *parameters, hl_buffer **targets)
{
  frame f = {.l = l, .computation = computation, .steps = steps};
  f.plan = hl_fuse(l->arena, computation, l->options);
  f.leaves = HL_ARRAY(l->arena, computation->instruction_count + 1, hl_buffer **);
  f.memo = HL_ARRAY(l->arena, computation->instruction_count + 1, hl_memo *);
  f.sharing = hl_share(&(hl_share_request){.arena = l->arena, .computation = computation, .plan = f.plan,
                                           .facts = &l->facts, .parameters = parameters, .targets = targets});
  make_leaves(&f, parameters);
  for (int i = 0; i < f.plan->unit_count; i++)
    lower_unit(&f, f.plan->units[i]);
  hl_add_moves(l->program, steps, hl_leaf_count(computation->root->shape), targets,
               f.leaves[computation->root->scratch]);
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
  const hl_instruction *source = hl_leaf_source(NULL, (hl_instruction *)(uintptr_t)ins, &leaf);
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
  lowerer l = {arena, options, hl_program_new(arena, module->name), hl_leaf_facts_new(arena)};
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
