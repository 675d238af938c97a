/* lower_region.c - values that folds carry, and what regions make of them. */
#include "lower_region.h"

int hl_value_nodes(int count, const hl_value *values, hl_node **nodes)
{
  int n = 0;
  for (int i = 0; i < count; i++) {
    nodes[n++] = values[i].re;
    if (values[i].im)
      nodes[n++] = values[i].im;
  }
  return n;
}

void hl_carried_values(hl_open_loop *loop, int count, const hl_value *like, hl_value *values)
{
  int n = 0;
  for (int i = 0; i < count; i++) {
    bool is_pair = like[i].im != NULL;
    values[i].re = hl_open_acc(loop, n++);
    values[i].im = is_pair ? hl_open_acc(loop, n++) : NULL;
  }
}

void hl_result_values(hl_puller *p, hl_node *loop, int count, const hl_value *like,
                      hl_value *values)
{
  int n = 0;
  for (int i = 0; i < count; i++) {
    bool is_pair = like[i].im != NULL;
    values[i].re = hl_put_result(p, loop, n++);
    values[i].im = is_pair ? hl_put_result(p, loop, n++) : NULL;
  }
}

hl_open_loop hl_open_value_fold(hl_puller *p, hl_scope *in, int dim_count, const int64_t *extents,
                                int count, const hl_value *inits, hl_index *vars)
{
  hl_node **nodes = HL_ARRAY(p->arena, 2 * count, hl_node *);
  int n = hl_value_nodes(count, inits, nodes);
  return hl_open_fold(p, in, dim_count, extents, n, nodes, vars);
}

void hl_close_value_fold(hl_puller *p, hl_open_loop *loop, int count, const hl_value *next,
                         hl_value *results)
{
  hl_node **nodes = HL_ARRAY(p->arena, 2 * count, hl_node *);
  int n = hl_value_nodes(count, next, nodes);
  hl_close_loop(p, loop, n, nodes);
  if (results)
    hl_result_values(p, loop->node, count, next, results);
}

int hl_open_lines(hl_puller *p, const hl_shape *shape, int dim, hl_index *index)
{
  int opened = 0;
  for (int d = 0; d < shape->rank; d++) {
    index[d] = hl_index_constant(0);
    if (d == dim || shape->dimensions[d] == 1)
      continue;
    hl_open_for(p, shape->dimensions[d], &index[d]);
    opened++;
  }
  return opened;
}

int hl_open_all(hl_puller *p, const hl_shape *shape, hl_index *index)
{
  return hl_open_lines(p, shape, -1, index);
}

void hl_close_all(hl_puller *p, int opened)
{
  while (opened--)
    hl_close_for(p);
}

/* A for says that its iterations may run at once; a fold never does, and has to carry something. */
hl_open_loop hl_open_sequence(hl_puller *p, int dim_count, const int64_t *extents, hl_index *vars)
{
  hl_node *nothing = hl_put_int(p, HL_PRED, 0);
  return hl_open_fold(p, p->scope, dim_count, extents, 1, &nothing, vars);
}

void hl_close_sequence(hl_puller *p, hl_open_loop *loop)
{
  hl_node *nothing = hl_open_acc(loop, 0);
  hl_close_loop(p, loop, 1, &nothing);
}

hl_value hl_put_either(hl_puller *p, hl_node *pred, hl_value x, hl_value y)
{
  return pred ? hl_put_choice(p, pred, x, y) : x;
}

hl_value hl_put_widened(hl_puller *p, hl_value x)
{
  return (hl_value){hl_widen(p, x.re), x.im ? hl_widen(p, x.im) : NULL};
}

hl_node *hl_put_both(hl_puller *p, hl_node *x, hl_node *y)
{
  return !x ? y : !y ? x : hl_put_binary(p, HL_LOOP_AND, x, y);
}

hl_value hl_pull_if(hl_puller *p, hl_node *inside, const hl_instruction *operand, int leaf,
                    const hl_index *index)
{
  hl_node *outer = p->guard;
  p->guard = hl_put_both(p, outer, inside);
  hl_value value = hl_pull(p, operand, leaf, index);
  p->guard = outer;
  return value;
}

hl_opcode hl_sum_or_product(const hl_computation *region, hl_element_type type)
{
  if (!hl_is_float(type) && !hl_is_complex(type))
    return HL_OP_COUNT;
  hl_opcode opcode = hl_region_binary(region, NULL);
  return opcode == HL_OP_ADD || opcode == HL_OP_MULTIPLY ? opcode : HL_OP_COUNT;
}

bool hl_is_plain_number(const hl_instruction *ins)
{
  while (ins->opcode == HL_OP_BROADCAST || ins->opcode == HL_OP_RESHAPE)
    ins = ins->operands[0];
  if (ins->opcode != HL_OP_CONSTANT || !hl_is_float(ins->shape->element_type) ||
      !hl_literal_is_splat(ins->literal))
    return false;
  double value = hl_float_decode(ins->shape->element_type, hl_literal_get_bits(ins->literal, 0));
  return value == value;
}
