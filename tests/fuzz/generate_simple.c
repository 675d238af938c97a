/* generate_simple - elementwise instructions and those that move data. */
#include "generate.h"

#include <stdio.h>
#include <string.h>

/* ---- elementwise ---- */

static bool asks_for_attribute(const hl_op_info *op)
{
  for (int i = 0; i < op->attr_count; i++)
    if (op->attrs[i].is_required)
      return true;
  return false;
}

/* An elementwise op of the table with so many operands and no attribute that must be given. */
static const hl_op_info *choose_elementwise(generator *g, int operands)
{
  int at = choose(g, HL_OP_COUNT);
  for (int i = 0; i < HL_OP_COUNT; i++, at = (at + 1) % HL_OP_COUNT) {
    const hl_op_info *op = hl_op_info_of((hl_opcode)at);
    if ((op->flags & HL_EW) && !(op->flags & HL_STATED) && op->min_operands == operands &&
        op->max_operands == operands && op->types && !asks_for_attribute(op))
      return op;
  }
  return hl_op_info_of(HL_OP_ADD);
}

static hlo_value *of_types(generator *g, unsigned types)
{
  if (!(types & HL_T_F32_F64))
    return any_value(g, types);
  generated_shape shape = shape_of(any_value(g, HL_T_ARRAY));
  shape.type = choose(g, 2) ? "f64" : "f32";
  return value_of(g, &shape);
}

static hlo_value *unary(generator *g)
{
  const hl_op_info *op = choose_elementwise(g, 1);
  return hlo_emit(g->builder, "%s(%v)", op->name, of_types(g, op->types));
}

static hlo_value *binary(generator *g)
{
  const hl_op_info *op = choose_elementwise(g, 2);
  hlo_value *x = of_types(g, op->types);
  generated_shape shape = shape_of(x);
  hlo_value *y = value_of(g, &shape);
  return toss(g, 2) ? hlo_emit(g->builder, "%s(%v, %v)", op->name, y, x) : hlo_emit(g->builder, "%s(%v, %v)", op->name, x, y);
}

/* A vector against one dimension of the other. */
static hlo_value *broadcasting(generator *g)
{
  const hl_op_info *op = choose_elementwise(g, 2);
  if (!(op->flags & HL_BCAST))
    return binary(g);
  hlo_value *x = op->types & HL_T_F32_F64 ? NULL : any_array(g, op->types, 2);
  if (!x)
    return binary(g);
  generated_shape shape = shape_of(x);
  int axis = choose(g, shape.rank);
  hlo_value *y = fresh_value(g, shape.type, 1, &shape.sizes[axis]);
  return hlo_emit(g->builder, "%s(%v, %v), broadcast_dimensions={%d}", op->name, x, y, axis);
}

static hlo_value *compare(generator *g)
{
  static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  hlo_value *x = any_value(g, HL_T_ARRAY);
  generated_shape shape = shape_of(x);
  int count = class_of(shape.type) == HL_T_COMPLEX ? 2 : 6;
  bool total = class_of(shape.type) == HL_T_FLOAT && choose(g, 2);
  return hlo_emit(g->builder, "compare(%v, %v), direction=%s%s", x, value_of(g, &shape), directions[choose(g, count)],
                  total ? ", type=TOTALORDER" : "");
}

static hlo_value *select_arm(generator *g)
{
  hlo_value *x = any_value(g, HL_T_ARRAY);
  generated_shape shape = shape_of(x), mask = shape;
  mask.type = "pred";
  if (toss(g, 4))
    mask.rank = 0;
  return hlo_emit(g->builder, "select(%v, %v, %v)", value_of(g, &mask), x, value_of(g, &shape));
}

static hlo_value *clamp(generator *g)
{
  hlo_value *x = any_value(g, HL_T_REAL);
  generated_shape shape = shape_of(x), bound = shape;
  if (choose(g, 2))
    bound.rank = 0;
  return hlo_emit(g->builder, "clamp(%v, %v, %v)", value_of(g, &bound), x, value_of(g, &bound));
}

static hlo_value *convert(generator *g)
{
  hlo_value *x = any_value(g, HL_T_ARRAY);
  generated_shape shape = shape_of(x);
  shape.type = choose_type(g, class_of(shape.type) == HL_T_COMPLEX ? HL_T_INEXACT : HL_T_ARRAY);
  return hlo_emit(g->builder, "%s convert(%v)", shape_text(&shape), x);
}

static hlo_value *bitcast_convert(generator *g)
{
  hlo_value *x = any_value(g, HL_T_REAL);
  generated_shape shape = shape_of(x);
  const char *type = choose_type(g, HL_T_REAL);
  if (bits_of(type) != bits_of(shape.type))
    return convert(g);
  shape.type = type;
  return hlo_emit(g->builder, "%s bitcast-convert(%v)", shape_text(&shape), x);
}

static hlo_value *reduce_precision(generator *g)
{
  hlo_value *x = any_value(g, HL_T_FLOAT);
  generated_shape shape = shape_of(x);
  return hlo_emit(g->builder, "%s reduce-precision(%v), exponent_bits=%d, mantissa_bits=%d", shape_text(&shape), x,
                  1 + choose(g, 11), choose(g, 24));
}

static hlo_value *stochastic_convert(generator *g)
{
  generated_shape shape = shape_of(any_value(g, HL_T_ARRAY)), bits = shape;
  shape.type = "f32";
  bits.type = "u32";
  hlo_value *x = value_of(g, &shape), *random = value_of(g, &bits);
  shape.type = choose(g, 2) ? "bf16" : "f16";
  return hlo_emit(g->builder, "%s stochastic-convert(%v, %v)", shape_text(&shape), x, random);
}

static hlo_value *map(generator *g)
{
  hlo_value *x = any_value(g, HL_T_REAL);
  generated_shape shape = shape_of(x);
  int order[GENERATE_RANK + 1];
  char dimensions[64] = "";
  for (int i = 0, at = 0; i < shape.rank; i++)
    at += snprintf(dimensions + at, sizeof dimensions - (size_t)at, "%s%d", i ? "," : "", order[i] = i);
  return hlo_emit(g->builder, "map(%v, %v), dimensions={%s}, to_apply=%c", x, value_of(g, &shape), dimensions,
                  binary_region(g, shape.type));
}

/* ---- moving data ---- */

static hlo_value *broadcast(generator *g)
{
  hlo_value *x = any_value(g, HL_T_ARRAY);
  generated_shape from = shape_of(x), to = {from.type, 0, {0}};
  int64_t dimensions[GENERATE_RANK];
  int64_t left = GENERATE_ELEMENTS / (element_count(&from) + 1);
  for (int i = 0; i <= from.rank; i++) {
    if (to.rank + from.rank - i < GENERATE_RANK && choose(g, 2)) {
      int64_t size = 1 + choose(g, 5);
      to.sizes[to.rank++] = size > left ? 1 : size;
      left /= size;
    }
    if (i < from.rank) {
      dimensions[i] = to.rank;
      to.sizes[to.rank++] = from.sizes[i];
    }
  }
  return hlo_emit(g->builder, "%s broadcast(%v), dimensions=%D", shape_text(&to), x, from.rank, dimensions);
}

/* Two neighbours to one, or one to two. */
static hlo_value *reshape(generator *g)
{
  hlo_value *x = any_value(g, HL_T_ARRAY);
  generated_shape from = shape_of(x), to = {from.type, 0, {0}};
  int at = choose(g, from.rank + 1);
  bool joins = choose(g, 2) && at + 1 < from.rank;
  for (int i = 0; i < from.rank; i++) {
    int64_t size = from.sizes[i];
    if (i == at && joins)
      size *= from.sizes[++i];
    bool splits = i == at && !joins && from.rank < GENERATE_RANK;
    int64_t factor = splits && size % 2 == 0 ? 2 : 1;
    if (splits)
      to.sizes[to.rank++] = size / factor;
    to.sizes[to.rank++] = splits ? factor : size;
  }
  return hlo_emit(g->builder, "%s reshape(%v)", shape_text(&to), x);
}

static hlo_value *transpose(generator *g)
{
  hlo_value *x = any_value(g, HL_T_ARRAY);
  int64_t order[GENERATE_RANK];
  int rank = hlo_value_rank(x);
  for (int i = 0; i < rank; i++) {
    int to = choose(g, i + 1);
    order[i] = order[to];
    order[to] = i;
  }
  return hlo_emit(g->builder, "transpose(%v), dimensions=%D", x, rank, order);
}

static hlo_value *slice(generator *g)
{
  hlo_value *x = any_value(g, HL_T_ARRAY);
  generated_shape shape = shape_of(x);
  char ranges[256] = "";
  for (int i = 0, at = 0; i < shape.rank; i++) {
    int size = (int)shape.sizes[i], start = choose(g, size + 1), stride = 1 + choose(g, 3);
    int limit = start + choose(g, size - start + 1);
    limit = limit == start && size > start ? size : limit;
    at += snprintf(ranges + at, sizeof ranges - (size_t)at, "%s[%d:%d:%d]", i ? ", " : "", start, limit, stride);
    shape.sizes[i] = (limit - start + stride - 1) / stride;
  }
  return hlo_emit(g->builder, "%s slice(%v), slice={%s}", shape_text(&shape), x, ranges);
}

static hlo_value *concatenate(generator *g)
{
  hlo_value *x = any_array(g, HL_T_ARRAY, 1);
  generated_shape shape = shape_of(x), other = shape;
  int axis = choose(g, shape.rank);
  other.sizes[axis] = choose(g, 6);
  hlo_value *y = value_of(g, &other);
  if (choose(g, 2))
    return hlo_emit(g->builder, "concatenate(%v, %v), dimensions={%d}", x, y, axis);
  return hlo_emit(g->builder, "concatenate(%v, %v, %v), dimensions={%d}", y, x, x, axis);
}

static hlo_value *pad(generator *g)
{
  hlo_value *x = any_value(g, HL_T_ARRAY);
  generated_shape shape = shape_of(x);
  char padding[256] = "";
  for (int i = 0, at = 0; i < shape.rank; i++) {
    int size = (int)shape.sizes[i], low = choose(g, 4) - 1, high = choose(g, 4) - 1, inside = toss(g, 4);
    int whole = size + (size > 1 ? (size - 1) * inside : 0);
    low = whole + low + high < 0 ? 1 : low;
    high = whole + low + high < 0 ? 1 : high;
    at += snprintf(padding + at, sizeof padding - (size_t)at, "%s%d_%d_%d", i ? "x" : "", low, high, inside);
  }
  generated_shape value = {shape.type, 0, {0}};
  if (shape.rank == 0)
    return transpose(g);
  return hlo_emit(g->builder, "pad(%v, %v), padding=%s", x, value_of(g, &value), padding);
}

static hlo_value *reverse(generator *g)
{
  hlo_value *x = any_array(g, HL_T_ARRAY, 1);
  return hlo_emit(g->builder, "reverse(%v), dimensions={%d}", x, choose(g, hlo_value_rank(x)));
}

/* ", %i" for each dimension. */
static const char *start_names(generator *g, int rank)
{
  static char text[GENERATE_RANK * 80];
  static const char *const types[] = {"s32", "s64", "u32", "s8", "u8"};
  const char *type = CHOOSE_OF(g, types);
  text[0] = '\0';
  for (int i = 0, at = 0; i < rank; i++) {
    hlo_value *start = small_scalar(g, type, 9);
    at += snprintf(text + at, sizeof text - (size_t)at, ", %s", start ? hlo_value_name(start) : "");
  }
  return text;
}

void choose_part(generator *g, generated_shape *shape)
{
  for (int i = 0; i < shape->rank; i++)
    shape->sizes[i] -= shape->sizes[i] > 0 ? choose(g, (int)shape->sizes[i]) : 0;
}

static hlo_value *dynamic_slice(generator *g)
{
  hlo_value *x = any_array(g, HL_T_ARRAY, 1);
  generated_shape shape = shape_of(x);
  choose_part(g, &shape);
  return hlo_emit(g->builder, "%s dynamic-slice(%v%s), dynamic_slice_sizes=%D", shape_text(&shape), x,
                  start_names(g, shape.rank), shape.rank, shape.sizes);
}

static hlo_value *dynamic_update_slice(generator *g)
{
  hlo_value *x = any_array(g, HL_T_ARRAY, 1);
  generated_shape shape = shape_of(x), part = shape;
  choose_part(g, &part);
  hlo_value *update = value_of(g, &part);
  return hlo_emit(g->builder, "%s dynamic-update-slice(%v, %v%s)", shape_text(&shape), x, update, start_names(g, shape.rank));
}

static hlo_value *passing(generator *g)
{
  static const char *const ops[] = {"copy", "opt-barrier", "get-dimension-size"};
  hlo_value *x = any_array(g, HL_T_ARRAY, 1);
  int op = choose(g, 3);
  return hlo_emit(g->builder, "%s(%v)%s", ops[op], x, op == 2 ? ", dimensions={0}" : "");
}

instruction_maker *const simple_makers[] = {
    unary, unary, binary, binary, binary, broadcasting, compare, select_arm, clamp, convert, bitcast_convert,
    reduce_precision, stochastic_convert, map, broadcast, reshape, transpose, slice, concatenate, pad, reverse,
    dynamic_slice, dynamic_update_slice, passing};
const int simple_maker_count = sizeof simple_makers / sizeof *simple_makers;
