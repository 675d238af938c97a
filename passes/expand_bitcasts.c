/* expand_bitcasts - a bitcast reads its operand's bytes under another layout: written as transpose,
 * reshape and bitcast-convert.
 *
 * Requires: a verified module in which no pass has exchanged operands for others of a different
 * layout. Keeps:    every value. Cost:     one walk.
 *
 * With the dimensions of the operand put in the order of its layout, major to minor, its elements
 * stand in the order of their bytes. The same holds for the result, whose order is then undone.
 */
#include "expand.h"

#include "../ir/limits.h"

#include <string.h>

/* major_to_minor[k]: the dimension that stands k-th in memory. */
static void memory_order(const hl_shape *shape, int64_t *major_to_minor)
{
  for (int k = 0; k < shape->rank; k++)
    major_to_minor[k] = shape->minor_to_major ? shape->minor_to_major[shape->rank - 1 - k] : k;
}

/* The flat elements of `flat` as elements of another width. */
static hl_instruction *convert_flat(hl_instruction *origin, hl_instruction *flat,
                                    hl_element_type type)
{
  hl_element_type from = flat->shape->element_type;
  if (from == type)
    return flat;
  int64_t in_bytes = hl_type_bytes(from), out_bytes = hl_type_bytes(type);
  int64_t dims[2] = {flat->shape->dimensions[0], 1};
  int rank = 1;
  if (in_bytes > out_bytes) { /* narrowing by k adds a dimension of k */
    dims[1] = in_bytes / out_bytes;
    rank = 2;
  } else if (in_bytes < out_bytes) { /* widening by k takes one away */
    dims[0] /= out_bytes / in_bytes;
    int64_t pairs[2] = {dims[0], out_bytes / in_bytes};
    flat = hl_make_reshape(origin, flat, 2, pairs);
  }
  const hl_shape *shape = hl_shape_new(hl_arena_of(origin), type, rank, dims);
  return hl_instruction_new(origin->computation, origin, HL_OP_BITCAST_CONVERT, NULL, shape, 1,
                            &flat, origin);
}

static hl_instruction *expand(hl_instruction *ins)
{
  hl_instruction *value = ins->operands[0];
  const hl_shape *in = value->shape, *out = ins->shape;
  int64_t order[HL_LIMIT_RANK], inverse[HL_LIMIT_RANK], dims[HL_LIMIT_RANK];
  memory_order(in, order);
  value = hl_make_transpose(ins, value, order);
  if (in->element_type != out->element_type) {
    int64_t count = hl_shape_elements(in);
    value = convert_flat(ins, hl_make_reshape(ins, value, 1, &count), out->element_type);
  }
  memory_order(out, order);
  for (int k = 0; k < out->rank; k++) {
    dims[k] = out->dimensions[order[k]];
    inverse[order[k]] = k;
  }
  value = hl_make_reshape(ins, value, out->rank, dims);
  return hl_make_transpose(ins, value, inverse);
}

bool hl_pass_expand_bitcasts(hl_module *module, hl_pass_context *cx)
{
  static const hl_opcode opcodes[] = {HL_OP_BITCAST};
  (void)cx;
  return hl_expand_each(module, 1, opcodes, expand);
}
