/* rewrite - what the passes share: making instructions, looking through them, and which
 * computations they may touch. */
#include "rewrite.h"

#include "../ir/limits.h"

#include <string.h>

hl_arena *hl_arena_of(const hl_instruction *ins)
{
  return ins->computation->module->arena;
}

static bool same_dimensions(const hl_shape *shape, int rank, const int64_t *dimensions)
{
  return shape->rank == rank &&
         (rank == 0 || !memcmp(shape->dimensions, dimensions, (size_t)rank * sizeof *dimensions));
}

static hl_instruction *make_unary(hl_instruction *origin, hl_opcode opcode, hl_instruction *operand,
                                  int rank, const int64_t *dimensions)
{
  const hl_shape *shape =
      hl_shape_new(hl_arena_of(origin), operand->shape->element_type, rank, dimensions);
  return hl_instruction_new(origin->computation, origin, opcode, NULL, shape, 1, &operand, origin);
}

hl_instruction *hl_make_reshape(hl_instruction *origin, hl_instruction *operand, int rank,
                                const int64_t *dimensions)
{
  if (same_dimensions(operand->shape, rank, dimensions))
    return operand;
  return make_unary(origin, HL_OP_RESHAPE, operand, rank, dimensions);
}

hl_instruction *hl_make_broadcast(hl_instruction *origin, hl_instruction *operand, int rank,
                                  const int64_t *dimensions, const int64_t *positions)
{
  bool is_identity = same_dimensions(operand->shape, rank, dimensions);
  for (int i = 0; i < operand->shape->rank && is_identity; i++)
    is_identity = positions[i] == i;
  if (is_identity)
    return operand;
  hl_instruction *made = make_unary(origin, HL_OP_BROADCAST, operand, rank, dimensions);
  hl_instruction_add_ints(made, HL_ATTR_DIMENSIONS, operand->shape->rank, positions);
  return made;
}

hl_instruction *hl_make_transpose(hl_instruction *origin, hl_instruction *operand,
                                  const int64_t *permutation)
{
  const hl_shape *in = operand->shape;
  int64_t dimensions[HL_LIMIT_RANK];
  bool is_identity = true;
  for (int i = 0; i < in->rank; i++) {
    dimensions[i] = in->dimensions[permutation[i]];
    is_identity = is_identity && permutation[i] == i;
  }
  if (is_identity)
    return operand;
  hl_instruction *made = make_unary(origin, HL_OP_TRANSPOSE, operand, in->rank, dimensions);
  hl_instruction_add_ints(made, HL_ATTR_DIMENSIONS, in->rank, permutation);
  return made;
}

hl_instruction *hl_make_slice(hl_instruction *origin, hl_instruction *operand,
                              const hl_slice_dim *dims)
{
  const hl_shape *in = operand->shape;
  int64_t dimensions[HL_LIMIT_RANK];
  for (int i = 0; i < in->rank; i++)
    dimensions[i] = (dims[i].limit - dims[i].start + dims[i].stride - 1) / dims[i].stride;
  if (same_dimensions(in, in->rank, dimensions))
    return operand; /* as many elements as there are: it can only be all of them in order */
  hl_instruction *made = make_unary(origin, HL_OP_SLICE, operand, in->rank, dimensions);
  hl_attr attr = {.id = HL_ATTR_SLICE, .name_range = HL_NO_RANGE, .value_range = HL_NO_RANGE};
  attr.slice.dims = hl_arena_memdup(hl_arena_of(origin), dims, (size_t)in->rank * sizeof *dims);
  attr.slice.count = in->rank;
  hl_instruction_add_attr(made, &attr);
  return made;
}

hl_instruction *hl_make_reverse(hl_instruction *origin, hl_instruction *operand, int count,
                                const int64_t *dimensions)
{
  if (count == 0)
    return operand;
  hl_instruction *made =
      make_unary(origin, HL_OP_REVERSE, operand, operand->shape->rank, operand->shape->dimensions);
  hl_instruction_add_ints(made, HL_ATTR_DIMENSIONS, count, dimensions);
  return made;
}

hl_instruction *hl_make_constant(hl_instruction *origin, const hl_literal *literal)
{
  hl_instruction *made = hl_instruction_new(origin->computation, origin, HL_OP_CONSTANT, NULL,
                                            literal->shape, 0, NULL, origin);
  made->literal = literal;
  return made;
}

hl_instruction *hl_make_splat(hl_instruction *origin, const hl_literal *scalar)
{
  return hl_make_broadcast(origin, hl_make_constant(origin, scalar), origin->shape->rank,
                           origin->shape->dimensions, NULL);
}

hl_instruction *hl_make_again_at(const hl_instruction *ins, hl_instruction *before,
                                 const hl_shape *shape, hl_instruction *const *operands)
{
  hl_instruction *made = hl_instruction_new(before->computation, before, ins->opcode, NULL, shape,
                                            ins->operand_count, operands, ins);
  for (int i = 0; i < ins->attr_count; i++)
    hl_instruction_add_attr(made, &ins->attrs[i]);
  made->power_form = ins->power_form;
  made->literal = ins->literal;
  return made;
}

hl_instruction *hl_make_again(hl_instruction *ins, const hl_shape *shape,
                              hl_instruction *const *operands)
{
  return hl_make_again_at(ins, ins, shape, operands);
}

const hl_literal *hl_splat_of(const hl_instruction *ins)
{
  while (ins->opcode == HL_OP_BROADCAST || ins->opcode == HL_OP_RESHAPE)
    ins = ins->operands[0];
  if (ins->opcode != HL_OP_CONSTANT || !hl_shape_is_array(ins->shape) || ins->literal->is_elided)
    return NULL;
  return hl_literal_is_splat(ins->literal) ? ins->literal : NULL;
}

hl_instruction *hl_broadcast_scalar(const hl_instruction *ins)
{
  bool is_it = ins->opcode == HL_OP_BROADCAST && ins->operands[0]->shape->rank == 0;
  return is_it ? ins->operands[0] : NULL;
}

bool hl_is_dead(const hl_instruction *ins)
{
  return ins->user_count == 0 && ins != ins->computation->root;
}

/* The next dimension at or after *i that is not 1; -1 past the last. */
static int64_t next_size(const hl_shape *shape, int *i)
{
  while (*i < shape->rank && shape->dimensions[*i] == 1)
    ++*i;
  return *i < shape->rank ? shape->dimensions[(*i)++] : -1;
}

bool hl_differ_in_ones(const hl_shape *a, const hl_shape *b)
{
  int i = 0, j = 0;
  int64_t size;
  do {
    size = next_size(a, &i);
    if (size != next_size(b, &j))
      return false;
  } while (size >= 0);
  return true;
}

/* Calls f(computation, user) for every computation that an instruction calls. */
static void each_callee(const hl_instruction *ins, void (*f)(hl_computation *, void *), void *user)
{
  for (int i = 0; i < ins->attr_count; i++) {
    const hl_attr *attr = &ins->attrs[i];
    for (int k = 0; hl_holds_computations(attr) && k < attr->computations.count; k++)
      f(attr->computations.values[k], user);
  }
}

static void set_mark(hl_computation *computation, void *mark)
{
  computation->scratch = *(const int64_t *)mark;
}

static bool runs_flow(hl_opcode opcode)
{
  return opcode == HL_OP_WHILE || opcode == HL_OP_CONDITIONAL || opcode == HL_OP_CALL;
}

void hl_mark_flow(hl_module *module)
{
  const int64_t flow = 1, region = 0;
  for (hl_computation *c = module->first; c; c = c->next)
    c->scratch = c == module->entry;
  /* Callers stand behind their callees, so going backwards meets each caller first. */
  for (hl_computation *c = module->last; c; c = c->previous)
    for (hl_instruction *ins = c->first; ins; ins = ins->next)
      if (runs_flow(ins->opcode))
        each_callee(ins, set_mark, (void *)&flow);
  for (hl_computation *c = module->last; c; c = c->previous)
    for (hl_instruction *ins = c->first; ins; ins = ins->next)
      if (!runs_flow(ins->opcode))
        each_callee(ins, set_mark, (void *)&region);
}

bool hl_rewrite_flow(hl_module *module, bool (*rewrite)(hl_instruction *))
{
  bool changed = false;
  hl_instruction *next;
  hl_mark_flow(module);
  for (hl_computation *c = module->first; c; c = c->next)
    for (hl_instruction *ins = c->scratch ? c->first : NULL; ins; ins = next) {
      next = ins->next;
      changed = rewrite(ins) || changed;
    }
  return changed;
}

bool hl_drop_unreached(hl_module *module)
{
  const int64_t reached = 1;
  bool changed = false;
  for (hl_computation *c = module->first; c; c = c->next)
    c->scratch = c == module->entry;
  hl_computation *previous;
  for (hl_computation *c = module->last; c; c = previous) {
    previous = c->previous;
    if (c->scratch) {
      for (hl_instruction *ins = c->first; ins; ins = ins->next)
        each_callee(ins, set_mark, (void *)&reached);
    } else {
      hl_module_remove_computation(module, c);
      changed = true;
    }
  }
  return changed;
}

int64_t hl_module_size(const hl_module *module)
{
  int64_t size = 0;
  for (const hl_computation *c = module->first; c; c = c->next)
    size += c->instruction_count;
  return size;
}
