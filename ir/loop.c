/* loop.c - builds the loop IR: programs, kernels, nodes, loops and accesses. */
#include "loop.h"

#include <assert.h>
#include <string.h>

static const char *const op_names[HL_LOOP_OP_COUNT] = {
#define HL_LOOP_OP(id, name, arity, types) name,
#include "loop_ops.def"
    "const", "var", "acc", "load", "store", "for", "reduce", "fold", "if", "result",
};

const char *hl_loop_op_name(hl_loop_op op)
{
  return op_names[op];
}

/* Programs. */

hl_program *hl_program_new(hl_arena *arena, const char *name)
{
  hl_program *program = HL_NEW(arena, hl_program);
  *program = (hl_program){.arena = arena, .name = name, .max_workers = 1};
  return program;
}

hl_buffer *hl_program_add_buffer(hl_program *program, hl_buffer buffer)
{
  size_t count = (size_t)program->buffer_count;
  program->buffers = hl_arena_grow(program->arena, program->buffers, &program->buffer_capacity,
                                   count + 1, sizeof *program->buffers);
  hl_buffer *added = hl_arena_memdup(program->arena, &buffer, sizeof buffer);
  program->buffers[program->buffer_count++] = added;
  return added;
}

hl_step *hl_steps_add(hl_arena *arena, hl_steps *steps, hl_step_kind kind)
{
  hl_step *step = HL_NEW(arena, hl_step);
  step->kind = kind;
  step->range = HL_NO_RANGE;
  if (steps->last)
    steps->last->next = step;
  else
    steps->first = step;
  steps->last = step;
  return step;
}

/* Kernels. */

hl_kernel *hl_kernel_new(hl_arena *arena, const char *name)
{
  hl_kernel *kernel = HL_NEW(arena, hl_kernel);
  *kernel = (hl_kernel){.arena = arena, .name = name, .range = HL_NO_RANGE, .current = HL_NO_RANGE};
  return kernel;
}

static int64_t product(int rank, const int64_t *dimensions)
{
  int64_t count = 1;
  for (int i = 0; i < rank; i++)
    count *= dimensions[i];
  return count;
}

hl_param *hl_kernel_add_param(hl_kernel *kernel, const char *name, hl_direction_of_param direction,
                              hl_element_type type, int rank, const int64_t *dimensions)
{
  hl_param *param = HL_NEW(kernel->arena, hl_param);
  size_t bytes = (size_t)rank * sizeof *dimensions;
  *param = (hl_param){
      .name = name,
      .direction = direction,
      .type = type,
      .rank = rank,
      .dimensions = rank > 0 ? hl_arena_memdup(kernel->arena, dimensions, bytes) : NULL,
      .count = product(rank, dimensions),
  };
  kernel->params = hl_arena_grow(kernel->arena, kernel->params, &kernel->param_capacity,
                                 (size_t)kernel->param_count + 1, sizeof *kernel->params);
  kernel->params[kernel->param_count++] = param;
  return param;
}

/* Nodes. */

static hl_node *new_node(hl_kernel *kernel, hl_loop_op op, hl_element_type type)
{
  hl_node *node = HL_NEW(kernel->arena, hl_node);
  node->op = op;
  node->type = type;
  node->id = kernel->next_id++;
  node->range = kernel->current;
  return node;
}

static void set_operands(hl_kernel *kernel, hl_node *node, int count, hl_node *const *operands)
{
  node->operand_count = count;
  node->operands = HL_ARRAY(kernel->arena, count, hl_node *);
  for (int i = 0; i < count; i++)
    node->operands[i] = operands[i];
}

void hl_node_append(hl_node *node, hl_block *block)
{
  node->block = block;
  node->previous = block->last;
  node->next = NULL;
  if (block->last)
    block->last->next = node;
  else
    block->first = node;
  block->last = node;
}

static hl_node *add_node(hl_loop_builder *b, hl_loop_op op, hl_element_type type)
{
  hl_node *node = new_node(b->kernel, op, type);
  hl_node_append(node, b->at);
  return node;
}

void hl_node_remove(hl_node *node)
{
  hl_block *block = node->block;
  if (node->previous)
    node->previous->next = node->next;
  else
    block->first = node->next;
  if (node->next)
    node->next->previous = node->previous;
  else
    block->last = node->previous;
  node->block = NULL;
  node->previous = node->next = NULL;
}

void hl_node_insert_before(hl_node *node, hl_node *before)
{
  assert(!node->block);
  node->block = before->block;
  node->next = before;
  node->previous = before->previous;
  if (before->previous)
    before->previous->next = node;
  else
    before->block->first = node;
  before->previous = node;
}

/* Constants. */

hl_node *hl_loop_const(hl_loop_builder *b, hl_element_type type, uint64_t bits)
{
  hl_node *node = add_node(b, HL_LOOP_CONST, type);
  node->bits = bits;
  return node;
}

/* The stored form of an integer: wrapped to its width, extended to its bytes. */
static uint64_t stored_int(hl_element_type type, int64_t value)
{
  int unused = 64 - hl_type_bits(type);
  uint64_t shifted = (uint64_t)value << unused;
  uint64_t wide = hl_type_class_of(type) == HL_CLASS_SIGNED ? (uint64_t)((int64_t)shifted >> unused)
                                                            : shifted >> unused;
  return wide & (UINT64_MAX >> (64 - 8 * hl_type_bytes(type)));
}

hl_node *hl_loop_const_int(hl_loop_builder *b, hl_element_type type, int64_t value)
{
  if (hl_is_float(type))
    return hl_loop_const_float(b, type, (double)value);
  if (type == HL_PRED)
    return hl_loop_const(b, type, value != 0);
  return hl_loop_const(b, type, stored_int(type, value));
}

hl_node *hl_loop_const_float(hl_loop_builder *b, hl_element_type type, double value)
{
  return hl_loop_const(b, type, hl_float_encode(type, value));
}

/* Operations. */

hl_node *hl_loop_op_node(hl_loop_builder *b, hl_loop_op op, hl_element_type type, int count,
                         hl_node *const *operands)
{
  hl_node *node = add_node(b, op, type);
  set_operands(b->kernel, node, count, operands);
  return node;
}

static hl_element_type signed_of_width(int bytes)
{
  switch (bytes) {
  case 1:
    return HL_S8;
  case 2:
    return HL_S16;
  case 4:
    return HL_S32;
  default:
    return HL_S64;
  }
}

static hl_element_type result_type(hl_loop_op op, hl_element_type operand)
{
  switch (op) {
  case HL_LOOP_EQ:
  case HL_LOOP_NE:
  case HL_LOOP_GE:
  case HL_LOOP_GT:
  case HL_LOOP_LE:
  case HL_LOOP_LT:
  case HL_LOOP_IS_FINITE:
    return HL_PRED;
  case HL_LOOP_ORDER:
    return signed_of_width(hl_type_bytes(operand));
  default:
    return operand;
  }
}

hl_node *hl_loop_unary(hl_loop_builder *b, hl_loop_op op, hl_node *x)
{
  return hl_loop_op_node(b, op, result_type(op, x->type), 1, &x);
}

hl_node *hl_loop_binary(hl_loop_builder *b, hl_loop_op op, hl_node *x, hl_node *y)
{
  return hl_loop_op_node(b, op, result_type(op, x->type), 2, (hl_node *[]){x, y});
}

hl_node *hl_loop_select(hl_loop_builder *b, hl_node *pred, hl_node *x, hl_node *y)
{
  return hl_loop_op_node(b, HL_LOOP_SELECT, x->type, 3, (hl_node *[]){pred, x, y});
}

hl_node *hl_loop_convert(hl_loop_builder *b, hl_element_type type, hl_node *x)
{
  if (x->type == type)
    return x;
  return hl_loop_op_node(b, HL_LOOP_CONVERT, type, 1, &x);
}

hl_node *hl_loop_math(hl_loop_builder *b, hl_math_fn fn, int count, hl_node *const *operands)
{
  hl_node *node = hl_loop_op_node(b, HL_LOOP_MATH, operands[0]->type, count, operands);
  node->math = fn;
  return node;
}

/* Accesses. */

hl_access *hl_access_new(hl_arena *arena, hl_param *param, int64_t constant)
{
  hl_access *access = HL_NEW(arena, hl_access);
  *access = (hl_access){.param = param, .constant = constant};
  return access;
}

void hl_access_drop(hl_access *access, int at)
{
  access->term_count--;
  for (int i = at; i < access->term_count; i++)
    access->terms[i] = access->terms[i + 1];
}

void hl_access_add(hl_arena *arena, hl_access *access, hl_node *index, int64_t stride)
{
  for (int i = 0; i < access->term_count; i++) {
    if (access->terms[i].index != index)
      continue;
    access->terms[i].stride = (int64_t)((uint64_t)access->terms[i].stride + (uint64_t)stride);
    if (access->terms[i].stride == 0)
      hl_access_drop(access, i);
    return;
  }
  if (stride == 0)
    return;
  access->terms = hl_arena_grow(arena, access->terms, &access->term_capacity,
                                (size_t)access->term_count + 1, sizeof *access->terms);
  access->terms[access->term_count++] = (hl_term){.index = index, .stride = stride};
}

int64_t hl_stride_of(const hl_access *access, const hl_node *index)
{
  for (int i = 0; i < access->term_count; i++)
    if (access->terms[i].index == index)
      return access->terms[i].stride;
  return 0;
}

hl_node *hl_loop_load(hl_loop_builder *b, hl_access *access, hl_node *guard, hl_node *otherwise)
{
  hl_node *node = add_node(b, HL_LOOP_LOAD, access->param->type);
  if (guard)
    set_operands(b->kernel, node, 2, (hl_node *[]){guard, otherwise});
  node->access = access;
  return node;
}

hl_node *hl_loop_store(hl_loop_builder *b, hl_access *access, hl_node *value, hl_node *guard)
{
  hl_node *node = add_node(b, HL_LOOP_STORE, HL_TOKEN);
  set_operands(b->kernel, node, guard ? 2 : 1, (hl_node *[]){value, guard});
  node->access = access;
  return node;
}

/* Loops. */

static hl_node *add_loop(hl_loop_builder *b, hl_loop_op op, int var_count, const int64_t *extents)
{
  hl_arena *arena = b->kernel->arena;
  hl_node *node = add_node(b, op, HL_TOKEN);
  hl_loop *loop = HL_NEW(arena, hl_loop);
  *loop = (hl_loop){
      .mode = HL_MODE_SERIAL,
      .grain = 1,
      .jam = 1,
      .var_count = var_count,
      .vars = HL_ARRAY(arena, var_count, hl_node *),
      .extents = HL_ARRAY(arena, var_count, int64_t),
      .limits = HL_ARRAY(arena, var_count, hl_node *),
      .body = {.owner = node},
  };
  node->loop = loop;
  for (int i = 0; i < var_count; i++) {
    loop->extents[i] = extents[i];
    loop->vars[i] = new_node(b->kernel, HL_LOOP_VAR, HL_S64);
    loop->vars[i]->loop = loop;
    loop->vars[i]->index = i;
  }
  return node;
}

hl_node *hl_loop_for(hl_loop_builder *b, hl_loop_mode mode, int64_t extent, hl_node *limit)
{
  hl_node *node = add_loop(b, HL_LOOP_FOR, 1, &extent);
  node->loop->mode = mode;
  node->loop->limits[0] = limit;
  return node;
}

hl_node *hl_loop_reduce(hl_loop_builder *b, int count, const int64_t *extents, int result_count,
                        const hl_combiner *combiners)
{
  hl_node *node = add_loop(b, HL_LOOP_REDUCE, count, extents);
  node->loop->result_count = result_count;
  node->loop->combiners =
      hl_arena_memdup(b->kernel->arena, combiners, (size_t)result_count * sizeof *combiners);
  return node;
}

hl_node *hl_loop_fold(hl_loop_builder *b, int count, const int64_t *extents, int result_count,
                      hl_node *const *inits)
{
  hl_node *node = add_loop(b, HL_LOOP_FOLD, count, extents);
  set_operands(b->kernel, node, result_count, inits);
  hl_loop *loop = node->loop;
  loop->result_count = result_count;
  loop->accs = HL_ARRAY(b->kernel->arena, result_count, hl_node *);
  for (int i = 0; i < result_count; i++) {
    loop->accs[i] = new_node(b->kernel, HL_LOOP_ACC, inits[i]->type);
    loop->accs[i]->loop = loop;
    loop->accs[i]->index = i;
  }
  return node;
}

void hl_loop_set_yields(hl_kernel *kernel, hl_node *loop, int count, hl_node *const *yields)
{
  loop->loop->yield_count = count;
  loop->loop->yields = hl_arena_memdup(kernel->arena, yields, (size_t)count * sizeof(hl_node *));
}

static hl_element_type type_of_result(const hl_node *loop, int index)
{
  return loop->op == HL_LOOP_FOLD ? loop->operands[index]->type : loop->loop->combiners[index].type;
}

/* One node a result, behind the loop in the order of the indices, wherever the builder is by now.
 */
hl_node *hl_loop_result(hl_loop_builder *b, hl_node *loop, int index)
{
  hl_node *behind = loop->next;
  while (behind && behind->op == HL_LOOP_RESULT && behind->index < index)
    behind = behind->next;
  if (behind && behind->op == HL_LOOP_RESULT && behind->index == index)
    return behind;
  hl_node *node = new_node(b->kernel, HL_LOOP_RESULT, type_of_result(loop, index));
  node->index = index;
  set_operands(b->kernel, node, 1, &loop);
  if (behind)
    hl_node_insert_before(node, behind);
  else
    hl_node_append(node, loop->block);
  return node;
}

hl_node *hl_loop_if(hl_loop_builder *b, hl_node *pred)
{
  hl_node *node = add_node(b, HL_LOOP_IF, HL_TOKEN);
  set_operands(b->kernel, node, 1, &pred);
  node->branch = HL_NEW(b->kernel->arena, hl_branch);
  node->branch->then.owner = node->branch->otherwise.owner = node;
  return node;
}

hl_node *hl_loop_var(const hl_node *loop, int index)
{
  return loop->loop->vars[index];
}
