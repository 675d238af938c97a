/* lower_reduce.c - elements of reduce, in the order that numerics.md rules 3, 4 and 5 define. */
#include "lower_complex_reduce.h"

#include <string.h>

/* The reduced dimensions that matter, split as rule 4 does. */
typedef struct reduced {
  int run[64], rest[64];
  int run_count, rest_count;
  bool is_reduced[64];
} reduced;

static reduced split_dims(const hl_instruction *ins)
{
  const hl_shape *shape = ins->operands[0]->shape;
  hl_ints dims = hl_attr_ints(ins, HL_ATTR_DIMENSIONS);
  reduced r = {0};
  for (int i = 0; i < dims.count; i++)
    r.is_reduced[dims.values[i]] = true;
  bool in_run = true;
  int tail[64], tail_count = 0;
  for (int d = shape->rank; d-- > 0;) {
    if (shape->dimensions[d] == 1)
      continue;
    in_run = in_run && r.is_reduced[d];
    if (in_run)
      tail[tail_count++] = d;
  }
  while (tail_count)
    r.run[r.run_count++] = tail[--tail_count];
  for (int d = 0; d < shape->rank; d++)
    if (r.is_reduced[d] && shape->dimensions[d] != 1 && (!r.run_count || d < r.run[0]))
      r.rest[r.rest_count++] = d;
  return r;
}

/* The operand's index: kept dimensions from the result's index, reduced ones 0 until loops set them. */
static hl_index *operand_index(hl_puller *p, const hl_instruction *ins, const reduced *r,
                               const hl_index *index)
{
  int rank = ins->operands[0]->shape->rank, kept = 0;
  hl_index *at = HL_ARRAY(p->arena, rank + 1, hl_index);
  for (int d = 0; d < rank; d++)
    at[d] = r->is_reduced[d] ? hl_index_constant(0) : index[kept++];
  return at;
}

static void set_vars(hl_index *at, int count, const int *dims, const hl_index *vars)
{
  for (int i = 0; i < count; i++)
    at[dims[i]] = vars[i];
}

static void extents_of(const hl_shape *shape, int count, const int *dims, int64_t *extents)
{
  for (int i = 0; i < count; i++)
    extents[i] = shape->dimensions[dims[i]];
}

/* One reduction over `dims`: around what `inner` dims give by ROW, when there are any. */
typedef struct nest {
  const hl_instruction *ins;
  hl_scope *scope;
  hl_index *at;
  hl_combiner combiner;
} nest;

/* The parts of complex numbers are summed together, each on its own. */
static hl_value reduce_over(hl_puller *p, const nest *n, hl_scope *in, hl_order order, int count,
                            const int *dims, int inner_count, const int *inner)
{
  const hl_instruction *operand = n->ins->operands[0];
  int64_t extents[64] = {0};
  hl_index vars[64];
  extents_of(operand->shape, count, dims, extents);
  int parts = hl_is_complex(operand->shape->element_type) ? 2 : 1;
  hl_combiner combiner = n->combiner;
  combiner.order = order;
  combiner.has_half_lanes = order == HL_ORDER_ROW && parts == 2;
  hl_combiner combiners[2] = {combiner, combiner};
  hl_open_loop loop = hl_open_reduce(p, in, count, extents, parts, combiners, vars);
  set_vars(n->at, count, dims, vars);
  hl_value x = inner_count ? reduce_over(p, n, p->scope, HL_ORDER_ROW, inner_count, inner, 0, NULL)
                           : hl_put_parts(p, combiner.type, hl_pull(p, operand, 0, n->at));
  hl_close_loop(p, &loop, parts, (hl_node *[]){x.re, x.im});
  return (hl_value){hl_put_result(p, loop.node, 0), parts == 2 ? hl_put_result(p, loop.node, 1) : NULL};
}

static hl_loop_op combine_op(hl_opcode opcode)
{
  switch (opcode) {
  case HL_OP_ADD: return HL_LOOP_ADD;
  case HL_OP_MULTIPLY: return HL_LOOP_MUL;
  case HL_OP_MAXIMUM: return HL_LOOP_MAX;
  case HL_OP_MINIMUM: return HL_LOOP_MIN;
  case HL_OP_AND: return HL_LOOP_AND;
  case HL_OP_OR: return HL_LOOP_OR;
  case HL_OP_XOR: return HL_LOOP_XOR;
  default: return HL_LOOP_OP_COUNT;
  }
}

/* Complex products: the run inside the rest. */
static hl_value reduce_product(hl_puller *p, const nest *n, const reduced *r)
{
  const hl_instruction *operand = n->ins->operands[0];
  hl_scope *saved = p->scope;
  hl_sequence row = {.operand = operand, .at = n->at, .dim_count = r->run_count, .dims = r->run,
                     .lanes = 128 / hl_type_bytes(operand->shape->element_type), .block = 4096};
  hl_sequence col = {.operand = operand, .at = n->at, .dim_count = r->rest_count, .dims = r->rest,
                     .lanes = 1, .block = 256, .inner = r->run_count ? &row : NULL};
  p->scope = n->scope;
  hl_value value = hl_put_complex_product(p, r->rest_count ? &col : &row);
  p->scope = saved;
  return value;
}

/* Sums and products of floats have an order (rule 4); everything else of one op is free (rule 3). */
static hl_value reduce_all(hl_puller *p, const nest *n, const reduced *r)
{
  const hl_instruction *operand = n->ins->operands[0];
  hl_element_type type = operand->shape->element_type;
  hl_loop_op combine = n->combiner.combine;
  bool is_ordered = (hl_is_float(type) || hl_is_complex(type)) &&
                    (combine == HL_LOOP_ADD || combine == HL_LOOP_MUL);
  if (r->run_count + r->rest_count == 0)
    return hl_put_parts(p, n->combiner.type, hl_pull(p, operand, 0, n->at));
  if (is_ordered && hl_is_complex(type) && combine == HL_LOOP_MUL)
    return reduce_product(p, n, r);
  if (is_ordered && r->rest_count)
    return reduce_over(p, n, n->scope, HL_ORDER_COL, r->rest_count, r->rest, r->run_count, r->run);
  if (is_ordered)
    return reduce_over(p, n, n->scope, HL_ORDER_ROW, r->run_count, r->run, 0, NULL);
  int all[64];
  memcpy(all, r->rest, sizeof all);
  memcpy(all + r->rest_count, r->run, (size_t)r->run_count * sizeof *all);
  return reduce_over(p, n, n->scope, HL_ORDER_FREE, r->rest_count + r->run_count, all, 0, NULL);
}

static hl_value reduce_binary(hl_puller *p, const hl_instruction *ins, hl_opcode opcode,
                              const hl_index *index)
{
  hl_element_type type = ins->operands[0]->shape->element_type;
  hl_element_type part = hl_wide_type(hl_component_type(type));
  reduced r = split_dims(ins);
  nest n = {ins, hl_index_scope(p, index, ins->shape->rank), operand_index(p, ins, &r, index), {0}};
  n.combiner = (hl_combiner){HL_ORDER_FREE, combine_op(opcode), part, false};
  hl_value init = hl_put_parts(p, part, hl_pull(p, ins->operands[1], 0, NULL));
  if (hl_is_complex(type) && hl_shape_elements(ins->operands[0]->shape) == 0)
    return hl_put_canonical(p, init);
  hl_value total = reduce_all(p, &n, &r);
  if (hl_is_complex(type))
    return hl_put_complex_binary(p, opcode, init, total);
  return (hl_value){hl_put_convert(p, type, hl_put_binary(p, n.combiner.combine, init.re, total.re)), NULL};
}

/* --- rule 5: any region, in row-major order; the leaves are computed together --- */

/* The reduced dimensions in order; those of size 1 only when there is no other. */
static int folded_dims(const hl_instruction *ins, const reduced *r, int *dims)
{
  const hl_shape *shape = ins->operands[0]->shape;
  int count = 0;
  for (int d = 0; d < shape->rank; d++)
    if (r->is_reduced[d] && shape->dimensions[d] != 1)
      dims[count++] = d;
  for (int d = shape->rank; d-- > 0 && count == 0;)
    if (r->is_reduced[d])
      dims[count++] = d;
  return count;
}

/* Values as a list of their parts; returns how many there are. */
static int list_parts(int count, const hl_value *values, hl_node **parts)
{
  int n = 0;
  for (int i = 0; i < count; i++) {
    parts[n++] = values[i].re;
    if (values[i].im)
      parts[n++] = values[i].im;
  }
  return n;
}

static hl_open_loop open_region_fold(hl_puller *p, const hl_instruction *ins, hl_scope *scope, int count,
                                     const int *dims, hl_index *vars)
{
  int n = ins->operand_count / 2;
  hl_value *inits = HL_ARRAY(p->arena, n, hl_value);
  hl_node **parts = HL_ARRAY(p->arena, 2 * n, hl_node *);
  int64_t extents[64] = {1};
  for (int i = 0; i < n; i++)
    inits[i] = hl_pull(p, ins->operands[n + i], 0, NULL);
  extents_of(ins->operands[0]->shape, count, dims, extents);
  return hl_open_fold(p, scope, count ? count : 1, extents, list_parts(n, inits, parts), parts, vars);
}

static hl_node *fold_region(hl_puller *p, const hl_instruction *ins, const hl_index *index)
{
  int n = ins->operand_count / 2, dims[64], at_part = 0;
  reduced r = split_dims(ins);
  int count = folded_dims(ins, &r, dims);
  hl_index *at = operand_index(p, ins, &r, index), vars[64];
  hl_value *args = HL_ARRAY(p->arena, 2 * n, hl_value), *next = HL_ARRAY(p->arena, n, hl_value);
  hl_node **yields = HL_ARRAY(p->arena, 2 * n, hl_node *);
  hl_scope *scope = hl_index_scope(p, index, hl_leaf_shape(ins->shape, 0)->rank);
  hl_open_loop loop = open_region_fold(p, ins, scope, count, dims, vars);
  set_vars(at, count, dims, vars);
  for (int i = 0; i < n; i++) {
    args[n + i] = hl_pull(p, ins->operands[i], 0, at);
    args[i].re = hl_open_acc(&loop, at_part++);
    args[i].im = args[n + i].im ? hl_open_acc(&loop, at_part++) : NULL;
  }
  hl_pull_region(p, hl_attr_computation(ins, HL_ATTR_TO_APPLY), args, next);
  hl_close_loop(p, &loop, list_parts(n, next, yields), yields);
  return loop.node;
}

static bool is_moved(const hl_computation *region, int leaf)
{
  const hl_instruction *root = region->root;
  if (root->opcode == HL_OP_TUPLE)
    root = root->operands[leaf];
  return hl_op_info_of(root->opcode)->flags & HL_MOVE;
}

static hl_value result_of_fold(hl_puller *p, const hl_instruction *ins, hl_node *loop, int leaf)
{
  int part = 0;
  for (int i = 0; i < leaf; i++)
    part += hl_is_complex(ins->operands[i]->shape->element_type) ? 2 : 1;
  bool is_complex = hl_is_complex(ins->operands[leaf]->shape->element_type);
  hl_value value = {hl_put_result(p, loop, part), is_complex ? hl_put_result(p, loop, part + 1) : NULL};
  bool is_empty = hl_shape_elements(ins->operands[0]->shape) == 0;
  bool is_arithmetic = !is_empty && !is_moved(hl_attr_computation(ins, HL_ATTR_TO_APPLY), leaf);
  return is_arithmetic ? value : hl_put_canonical(p, value);
}

hl_value hl_lower_reduce(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index)
{
  hl_computation *region = hl_attr_computation(ins, HL_ATTR_TO_APPLY);
  hl_opcode opcode = ins->operand_count == 2 ? hl_region_binary(region, NULL) : HL_OP_COUNT;
  if (opcode != HL_OP_COUNT && combine_op(opcode) != HL_LOOP_OP_COUNT)
    return reduce_binary(p, ins, opcode, index);
  hl_node *loop = hl_fold_of(p, ins, index);
  if (!loop) {
    loop = fold_region(p, ins, index);
    hl_fold_remember(p, ins, index, loop);
  }
  return result_of_fold(p, ins, loop, leaf);
}
