/* eval_norm - batch-norm-training, -inference and -grad (numerics rule 14): mean = sum / n,
 * variance = sum((x - mean)^2) / n, sums by rule 4 over all dimensions but the feature's from +0;
 * every other step is one op that rounds to the element type.
 *
 *   training, inference:  y = (x - mean) * rsqrt(variance + epsilon) * scale + offset
 *   grad:  grad_offset = sum(grad), c = sum(grad * (x - mean)), r = rsqrt(variance + epsilon),
 * grad_scale = c * r, grad_x = scale * r / n * ((n * grad - grad_offset) - (x - mean) * (c /
 * (variance + epsilon)))
 */
#include "eval_internal.h"

typedef struct norm {
  hl_eval *e;
  const hl_shape *shape;
  hl_element_type type;
  int64_t feature, features, inner; /* elements between neighbours of the feature dimension */
  hl_scalar epsilon, count;
} norm;

static norm norm_of(hl_eval *e, const hl_instruction *ins, const hl_shape *shape)
{
  norm n = {.e = e, .shape = shape, .type = shape->element_type, .inner = 1};
  const hl_attr *epsilon = hl_attr_find(ins, HL_ATTR_EPSILON);
  n.feature = hl_attr_int(ins, HL_ATTR_FEATURE_INDEX, 0);
  n.features = shape->dimensions[n.feature];
  for (int d = (int)n.feature + 1; d < shape->rank; d++)
    n.inner *= shape->dimensions[d];
  int64_t count = n.features ? hl_shape_elements(shape) / n.features : 0;
  n.epsilon = hl_scalar_of_double(n.type, epsilon->f);
  n.count = hl_scalar_of_double(n.type, (double)count);
  return n;
}

static hl_scalar op(const norm *n, hl_opcode opcode, hl_scalar x, hl_scalar y)
{
  return hl_scalar_binary(opcode, n->type, x, y);
}

static int64_t feature_of(const norm *n, int64_t i)
{
  return i / n->inner % n->features;
}

static void sum_features(const norm *n, const hl_literal *x, hl_literal *sums)
{
  hl_sum_all_but(x, n->feature, sums);
}

static hl_scalar inverse_root(const norm *n, hl_scalar variance)
{
  return hl_scalar_unary(HL_OP_RSQRT, n->type, op(n, HL_OP_ADD, variance, n->epsilon));
}

static hl_literal *normalised(const norm *n, const hl_literal *const *operands,
                              const hl_literal *mean, const hl_literal *variance)
{
  hl_literal *y = hl_eval_new(n->e, n->shape);
  int64_t total = hl_shape_elements(n->shape);
  for (int64_t i = 0; i < total; i++) {
    int64_t f = feature_of(n, i);
    hl_scalar centred =
        op(n, HL_OP_SUBTRACT, hl_scalar_load(operands[0], i), hl_scalar_load(mean, f));
    hl_scalar unit = op(n, HL_OP_MULTIPLY, centred, inverse_root(n, hl_scalar_load(variance, f)));
    hl_scalar scaled = op(n, HL_OP_MULTIPLY, unit, hl_scalar_load(operands[1], f));
    hl_scalar_store(y, i, op(n, HL_OP_ADD, scaled, hl_scalar_load(operands[2], f)));
  }
  return y;
}

static void divide_by_count(const norm *n, hl_literal *sums)
{
  for (int64_t f = 0; f < n->features; f++)
    hl_scalar_store(sums, f, op(n, HL_OP_DIVIDE, hl_scalar_load(sums, f), n->count));
}

static const hl_literal *training(const norm *n, const hl_instruction *ins,
                                  const hl_literal *const *operands)
{
  hl_literal *mean = hl_eval_new(n->e, ins->shape->tuple_shapes[1]),
             *variance = hl_eval_new(n->e, ins->shape->tuple_shapes[2]);
  hl_literal *squares = hl_eval_new(n->e, n->shape);
  int64_t total = hl_shape_elements(n->shape);
  sum_features(n, operands[0], mean);
  divide_by_count(n, mean);
  for (int64_t i = 0; i < total; i++) {
    hl_scalar centred = op(n, HL_OP_SUBTRACT, hl_scalar_load(operands[0], i),
                           hl_scalar_load(mean, feature_of(n, i)));
    hl_scalar_store(squares, i, op(n, HL_OP_MULTIPLY, centred, centred));
  }
  sum_features(n, squares, variance);
  divide_by_count(n, variance);
  hl_eval_release(n->e, squares);
  hl_literal *y = normalised(n, operands, mean, variance);
  return hl_eval_tuple_of(n->e, ins->shape, (const hl_literal *const[]){y, mean, variance});
}

/* operands: x, scale, mean, variance, grad. centred_sums: sum(grad * (x - mean)). */
static hl_scalar grad_of(const norm *n, const hl_literal *const *operands, int64_t i,
                         const hl_literal *grad_offset, const hl_literal *centred_sums)
{
  int64_t f = feature_of(n, i);
  hl_scalar variance = hl_scalar_load(operands[3], f), scale = hl_scalar_load(operands[1], f);
  hl_scalar centred =
      op(n, HL_OP_SUBTRACT, hl_scalar_load(operands[0], i), hl_scalar_load(operands[2], f));
  hl_scalar slope =
      op(n, HL_OP_DIVIDE, hl_scalar_load(centred_sums, f), op(n, HL_OP_ADD, variance, n->epsilon));
  hl_scalar whole = op(n, HL_OP_MULTIPLY, n->count, hl_scalar_load(operands[4], i));
  hl_scalar rest =
      op(n, HL_OP_SUBTRACT, op(n, HL_OP_SUBTRACT, whole, hl_scalar_load(grad_offset, f)),
         op(n, HL_OP_MULTIPLY, centred, slope));
  hl_scalar factor =
      op(n, HL_OP_DIVIDE, op(n, HL_OP_MULTIPLY, scale, inverse_root(n, variance)), n->count);
  return op(n, HL_OP_MULTIPLY, factor, rest);
}

static const hl_literal *gradient(const norm *n, const hl_instruction *ins,
                                  const hl_literal *const *operands)
{
  hl_literal *grad_x = hl_eval_new(n->e, n->shape),
             *grad_scale = hl_eval_new(n->e, ins->shape->tuple_shapes[1]);
  hl_literal *grad_offset = hl_eval_new(n->e, ins->shape->tuple_shapes[2]),
             *products = hl_eval_new(n->e, n->shape);
  int64_t total = hl_shape_elements(n->shape);
  for (int64_t i = 0; i < total; i++) {
    hl_scalar centred = op(n, HL_OP_SUBTRACT, hl_scalar_load(operands[0], i),
                           hl_scalar_load(operands[2], feature_of(n, i)));
    hl_scalar_store(products, i, op(n, HL_OP_MULTIPLY, hl_scalar_load(operands[4], i), centred));
  }
  sum_features(n, operands[4], grad_offset);
  sum_features(n, products, grad_scale); /* not scaled yet */
  for (int64_t i = 0; i < total; i++)
    hl_scalar_store(grad_x, i, grad_of(n, operands, i, grad_offset, grad_scale));
  for (int64_t f = 0; f < n->features; f++)
    hl_scalar_store(grad_scale, f,
                    op(n, HL_OP_MULTIPLY, hl_scalar_load(grad_scale, f),
                       inverse_root(n, hl_scalar_load(operands[3], f))));
  hl_eval_release(n->e, products);
  return hl_eval_tuple_of(n->e, ins->shape,
                          (const hl_literal *const[]){grad_x, grad_scale, grad_offset});
}

const hl_literal *hl_eval_batch_norm(hl_eval *e, const hl_instruction *ins,
                                     const hl_literal *const *operands)
{
  norm n = norm_of(e, ins, operands[0]->shape);
  if (ins->opcode == HL_OP_BATCH_NORM_TRAINING)
    return training(&n, ins, operands);
  if (ins->opcode == HL_OP_BATCH_NORM_INFERENCE)
    return normalised(&n, operands, operands[3], operands[4]);
  return gradient(&n, ins, operands);
}
