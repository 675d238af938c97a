/* expand_batch_norm - batch-norm-training, -inference and -grad as the arithmetic that defines them:
 *
 *   mean = sum(x) / n, variance = sum((x - mean)^2) / n, sums over all dimensions but the feature's
 *   y = (x - mean) * rsqrt(variance + epsilon) * scale + offset
 *   grad_offset = sum(grad), c = sum(grad * (x - mean)), r = rsqrt(variance + epsilon)
 *   grad_scale = c * r, grad_x = scale * r / n * ((n * grad - grad_offset) - (x - mean) * (c / (variance + epsilon)))
 *
 * Requires: calls are inlined (the sums' regions are new computations).
 * Keeps:    numerics.md rule 14; every step rounds to the element type.
 * Cost:     a fixed number of instructions an op.
 */
#include "expand.h"

#include "../ir/limits.h"

/* One batch-norm on its way: its first operand has `shape`; vectors are of the features. */
typedef struct norm {
  hl_instruction *ins;
  const hl_shape *shape, *vector;
  int64_t feature, others[HL_LIMIT_RANK];
  int other_count;
} norm;

static norm norm_of(hl_instruction *ins)
{
  const hl_shape *shape = ins->operands[0]->shape;
  norm n = {.ins = ins, .shape = shape, .feature = hl_attr_int(ins, HL_ATTR_FEATURE_INDEX, 0)};
  n.vector = hl_shape_new(hl_arena_of(ins), shape->element_type, 1, &shape->dimensions[n.feature]);
  for (int d = 0; d < shape->rank; d++)
    if (d != n.feature)
      n.others[n.other_count++] = d;
  return n;
}

static hl_instruction *spread(const norm *n, hl_instruction *vector)
{
  return hl_make_broadcast(n->ins, vector, n->shape->rank, n->shape->dimensions, &n->feature);
}

static hl_instruction *sum(const norm *n, hl_instruction *x)
{
  return hl_make_sum(n->ins, x, n->other_count, n->others);
}

static double elements_each(const norm *n)
{
  int64_t features = n->shape->dimensions[n->feature];
  return features ? (double)(hl_shape_elements(n->shape) / features) : 0;
}

static hl_instruction *times(const norm *n, hl_instruction *x, hl_instruction *y)
{
  return hl_make_binary(n->ins, HL_OP_MULTIPLY, x, y);
}

static hl_instruction *over(const norm *n, hl_instruction *x, hl_instruction *y)
{
  return hl_make_binary(n->ins, HL_OP_DIVIDE, x, y);
}

static hl_instruction *minus(const norm *n, hl_instruction *x, hl_instruction *y)
{
  return hl_make_binary(n->ins, HL_OP_SUBTRACT, x, y);
}

/* x / n, x a vector */
static hl_instruction *over_count(const norm *n, hl_instruction *x)
{
  return over(n, x, hl_make_filled(n->ins, n->vector, elements_each(n)));
}

static hl_instruction *plus_epsilon(const norm *n, hl_instruction *variance)
{
  double epsilon = hl_attr_find(n->ins, HL_ATTR_EPSILON)->f;
  return hl_make_binary(n->ins, HL_OP_ADD, variance, hl_make_filled(n->ins, n->vector, epsilon));
}

static hl_instruction *inverse_root(const norm *n, hl_instruction *variance)
{
  return hl_make_unary(n->ins, HL_OP_RSQRT, plus_epsilon(n, variance));
}

static hl_instruction *normalised(const norm *n, hl_instruction *centred, hl_instruction *variance)
{
  hl_instruction *unit = times(n, centred, spread(n, inverse_root(n, variance)));
  hl_instruction *scaled = times(n, unit, spread(n, n->ins->operands[1]));
  return hl_make_binary(n->ins, HL_OP_ADD, scaled, spread(n, n->ins->operands[2]));
}

static hl_instruction *training(const norm *n)
{
  hl_instruction *x = n->ins->operands[0];
  hl_instruction *mean = over_count(n, sum(n, x));
  hl_instruction *centred = minus(n, x, spread(n, mean));
  hl_instruction *variance = over_count(n, sum(n, times(n, centred, centred)));
  hl_instruction *y = normalised(n, centred, variance);
  return hl_make_tuple(n->ins, 3, (hl_instruction *[]){y, mean, variance});
}

static hl_instruction *inference(const norm *n)
{
  hl_instruction *const *operands = n->ins->operands;
  return normalised(n, minus(n, operands[0], spread(n, operands[3])), operands[4]);
}

static hl_instruction *gradient(const norm *n)
{
  hl_instruction *const *operands = n->ins->operands;
  hl_instruction *grad = operands[4], *variance = operands[3];
  hl_instruction *centred = minus(n, operands[0], spread(n, operands[2]));
  hl_instruction *grad_offset = sum(n, grad);
  hl_instruction *products = sum(n, times(n, grad, centred));
  hl_instruction *root = inverse_root(n, variance);
  hl_instruction *slope = over(n, products, plus_epsilon(n, variance));
  hl_instruction *whole = times(n, hl_make_filled(n->ins, n->shape, elements_each(n)), grad);
  hl_instruction *rest = minus(n, whole, spread(n, grad_offset));
  hl_instruction *bent = times(n, centred, spread(n, slope));
  rest = minus(n, rest, bent);
  hl_instruction *factor = over_count(n, times(n, operands[1], root));
  hl_instruction *grad_x = times(n, spread(n, factor), rest);
  hl_instruction *grad_scale = times(n, products, root);
  return hl_make_tuple(n->ins, 3, (hl_instruction *[]){grad_x, grad_scale, grad_offset});
}

static hl_instruction *expand(hl_instruction *ins)
{
  norm n = norm_of(ins);
  if (ins->opcode == HL_OP_BATCH_NORM_TRAINING)
    return training(&n);
  return ins->opcode == HL_OP_BATCH_NORM_INFERENCE ? inference(&n) : gradient(&n);
}

bool hl_pass_expand_batch_norm(hl_module *module, hl_pass_context *cx)
{
  static const hl_opcode opcodes[] = {HL_OP_BATCH_NORM_TRAINING, HL_OP_BATCH_NORM_INFERENCE,
                                      HL_OP_BATCH_NORM_GRAD};
  (void)cx;
  return hl_expand_each(module, 3, opcodes, expand);
}
