/* expand - makers of the instructions that composite ops consist of. */
#include "expand.h"

#include "../ir/limits.h"

static bool is_one_of(hl_opcode opcode, int count, const hl_opcode *opcodes)
{
  for (int i = 0; i < count; i++)
    if (opcodes[i] == opcode)
      return true;
  return false;
}

bool hl_expand_each(hl_module *module, int count, const hl_opcode *opcodes, hl_expand_fn *expand)
{
  bool changed = false;
  hl_instruction *next;
  for (hl_computation *c = module->first; c; c = c->next)
    for (hl_instruction *ins = c->first; ins; ins = next) {
      next = ins->next;
      hl_instruction *value = !opcodes || is_one_of(ins->opcode, count, opcodes) ? expand(ins) : NULL;
      if (!value)
        continue;
      hl_replace_all_uses(ins, value);
      hl_instruction_remove(ins);
      changed = true;
    }
  return changed;
}

/* ---- elementwise ---- */

static hl_instruction *make(hl_instruction *origin, hl_opcode opcode, const hl_shape *shape,
                            int count, hl_instruction *const *operands)
{
  return hl_instruction_new(origin->computation, origin, opcode, NULL, shape, count, operands,
                            origin);
}

static const hl_shape *typed(hl_instruction *origin, const hl_shape *like, hl_element_type type)
{
  return hl_shape_new(hl_arena_of(origin), type, like->rank, like->dimensions);
}

hl_instruction *hl_make_unary(hl_instruction *origin, hl_opcode opcode, hl_instruction *x)
{
  return make(origin, opcode, typed(origin, x->shape, x->shape->element_type), 1, &x);
}

hl_instruction *hl_make_binary(hl_instruction *origin, hl_opcode opcode, hl_instruction *x,
                               hl_instruction *y)
{
  return make(origin, opcode, typed(origin, x->shape, x->shape->element_type), 2,
              (hl_instruction *[]){x, y});
}

hl_instruction *hl_make_select(hl_instruction *origin, hl_instruction *pred, hl_instruction *x,
                               hl_instruction *y)
{
  return make(origin, HL_OP_SELECT, typed(origin, x->shape, x->shape->element_type), 3,
              (hl_instruction *[]){pred, x, y});
}

hl_instruction *hl_make_convert(hl_instruction *origin, hl_element_type type, hl_instruction *x)
{
  if (x->shape->element_type == type)
    return x;
  return make(origin, HL_OP_CONVERT, typed(origin, x->shape, type), 1, &x);
}

hl_instruction *hl_make_compare(hl_instruction *origin, hl_direction direction, hl_instruction *x,
                                hl_instruction *y)
{
  hl_instruction *made = make(origin, HL_OP_COMPARE, typed(origin, x->shape, HL_PRED), 2,
                              (hl_instruction *[]){x, y});
  hl_attr attr = {.id = HL_ATTR_DIRECTION,
                  .name_range = HL_NO_RANGE,
                  .value_range = HL_NO_RANGE,
                  .i = direction};
  hl_instruction_add_attr(made, &attr);
  return made;
}

/* ---- constants and moves ---- */

static hl_instruction *filled(hl_instruction *origin, const hl_shape *like,
                              const hl_literal *scalar)
{
  return hl_make_broadcast(origin, hl_make_constant(origin, scalar), like->rank, like->dimensions,
                           NULL);
}

hl_instruction *hl_make_filled_int(hl_instruction *origin, const hl_shape *like,
                                   hl_element_type type, int64_t value)
{
  hl_arena *arena = hl_arena_of(origin);
  hl_literal *scalar = hl_literal_new(arena, hl_shape_scalar(arena, type));
  hl_literal_set_int(scalar, 0, value);
  return filled(origin, like, scalar);
}

hl_instruction *hl_make_filled(hl_instruction *origin, const hl_shape *like, double value)
{
  hl_arena *arena = hl_arena_of(origin);
  hl_literal *scalar = hl_literal_new(arena, hl_shape_scalar(arena, like->element_type));
  hl_literal_set_double(scalar, 0, value);
  return filled(origin, like, scalar);
}

hl_instruction *hl_make_concatenate(hl_instruction *origin, int64_t dimension, int count,
                                    hl_instruction *const *parts)
{
  const hl_shape *first = parts[0]->shape;
  int64_t sizes[HL_LIMIT_RANK];
  for (int d = 0; d < first->rank; d++)
    sizes[d] = first->dimensions[d];
  for (int i = 1; i < count; i++)
    sizes[dimension] += parts[i]->shape->dimensions[dimension];
  const hl_shape *shape =
      hl_shape_new(hl_arena_of(origin), first->element_type, first->rank, sizes);
  hl_instruction *made = make(origin, HL_OP_CONCATENATE, shape, count, parts);
  hl_instruction_add_ints(made, HL_ATTR_DIMENSIONS, 1, &dimension);
  return made;
}

hl_instruction *hl_make_iota(hl_instruction *origin, hl_element_type type, int64_t size)
{
  const hl_shape *shape = hl_shape_new(hl_arena_of(origin), type, 1, &size);
  hl_instruction *made = make(origin, HL_OP_IOTA, shape, 0, NULL);
  hl_attr attr = {
      .id = HL_ATTR_IOTA_DIMENSION, .name_range = HL_NO_RANGE, .value_range = HL_NO_RANGE};
  hl_instruction_add_attr(made, &attr);
  return made;
}

/* ---- sums ---- */

static void move_before(hl_module *module, hl_computation *computation, hl_computation *before)
{
  hl_computation *previous = before->previous;
  module->last = computation->previous; /* it was the last */
  module->last->next = NULL;
  computation->previous = previous;
  computation->next = before;
  before->previous = computation;
  if (previous)
    previous->next = computation;
  else
    module->first = computation;
}

hl_computation *hl_make_computation(hl_computation *before, const char *base, int count,
                                    const hl_shape *const *parameters)
{
  hl_module *module = before->module;
  hl_computation *made = hl_module_add_computation(module, hl_fresh_name(module, base));
  move_before(module, made, before);
  made->parameters = HL_ARRAY(module->arena, count + 1, hl_instruction *);
  made->parameter_count = count;
  for (int i = 0; i < count; i++) {
    made->parameters[i] =
        hl_instruction_new(made, NULL, HL_OP_PARAMETER, NULL, parameters[i], 0, NULL, NULL);
    made->parameters[i]->parameter_number = i;
  }
  return made;
}

void hl_set_callee(hl_instruction *ins, hl_attr_id id, int count, hl_computation *const *callees)
{
  hl_attr attr = {.id = id, .name_range = HL_NO_RANGE, .value_range = HL_NO_RANGE};
  attr.computations.values =
      hl_arena_memdup(hl_arena_of(ins), callees, (size_t)count * sizeof(hl_computation *));
  attr.computations.count = count;
  hl_instruction_remove_attr(ins, id);
  hl_instruction_add_attr(ins, &attr);
}

static hl_computation *make_region(hl_module *module, hl_opcode opcode, hl_element_type type)
{
  const hl_shape *scalar = hl_shape_scalar(module->arena, type);
  hl_computation *region = hl_make_computation(module->first, hl_op_info_of(opcode)->name, 2,
                                               (const hl_shape *[]){scalar, scalar});
  region->root = hl_instruction_new(region, NULL, opcode, NULL, scalar, 2, region->parameters, NULL);
  return region;
}

/* The dimensions of x without those that are reduced. */
static const hl_shape *reduced_shape(hl_instruction *x, int count, const int64_t *dimensions)
{
  int64_t kept[HL_LIMIT_RANK];
  int rank = 0;
  for (int d = 0; d < x->shape->rank; d++) {
    bool is_reduced = false;
    for (int i = 0; i < count; i++)
      is_reduced = is_reduced || dimensions[i] == d;
    if (!is_reduced)
      kept[rank++] = x->shape->dimensions[d];
  }
  return hl_shape_new(hl_arena_of(x), x->shape->element_type, rank, kept);
}

static hl_instruction *make_reduce(hl_instruction *origin, hl_opcode opcode, hl_instruction *x, hl_instruction *init, int count,
                                   const int64_t *dimensions)
{
  hl_instruction *made = make(origin, HL_OP_REDUCE, reduced_shape(x, count, dimensions), 2,
                              (hl_instruction *[]){x, init});
  hl_instruction_add_ints(made, HL_ATTR_DIMENSIONS, count, dimensions);
  hl_computation *region = make_region(origin->computation->module, opcode, x->shape->element_type);
  hl_set_callee(made, HL_ATTR_TO_APPLY, 1, &region);
  return made;
}

static const hl_shape *scalar_like(hl_instruction *x)
{
  return hl_shape_scalar(hl_arena_of(x), x->shape->element_type);
}

hl_instruction *hl_make_sum(hl_instruction *origin, hl_instruction *x, int count,
                            const int64_t *dimensions)
{
  hl_instruction *zero = hl_make_filled(origin, scalar_like(x), 0);
  return make_reduce(origin, HL_OP_ADD, x, zero, count, dimensions);
}

hl_instruction *hl_make_greatest(hl_instruction *origin, hl_instruction *x, int64_t least, int count,
                                 const int64_t *dimensions)
{
  hl_instruction *init = hl_make_filled_int(origin, scalar_like(x), x->shape->element_type, least);
  return make_reduce(origin, HL_OP_MAXIMUM, x, init, count, dimensions);
}

/* ---- tuples ---- */

hl_instruction *hl_make_tuple(hl_instruction *origin, int count, hl_instruction *const *elements)
{
  hl_arena *arena = hl_arena_of(origin);
  const hl_shape **shapes = HL_ARRAY(arena, count + 1, const hl_shape *);
  for (int i = 0; i < count; i++)
    shapes[i] = elements[i]->shape;
  return make(origin, HL_OP_TUPLE, hl_shape_tuple(arena, count, shapes), count, elements);
}

hl_instruction *hl_make_element(hl_instruction *origin, hl_instruction *tuple, int index)
{
  hl_instruction *made =
      make(origin, HL_OP_GET_TUPLE_ELEMENT, tuple->shape->tuple_shapes[index], 1, &tuple);
  hl_attr attr = {
      .id = HL_ATTR_INDEX, .name_range = HL_NO_RANGE, .value_range = HL_NO_RANGE, .i = index};
  hl_instruction_add_attr(made, &attr);
  return made;
}
