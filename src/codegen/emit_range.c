/* emit_range.c - between which bounds the integers of a kernel lie: indices are s64 by definition
 * and small in fact.
 *
 * A vector of s64 that fits 32 bits is computed in 32: half the registers, and divisions by
 * constants that vectors of 64 bits do not have. The bounds are those of the text alone: extents,
 * constants and types.
 */
#include "emit.h"

static const hl_interval everything = {INT64_MIN, INT64_MAX};

static hl_interval type_interval(hl_element_type type)
{
  int bits = hl_type_bits(type);
  if (type == HL_PRED)
    return (hl_interval){0, 1};
  if (!hl_is_integral(type) || bits == 64)
    return everything;
  if (hl_type_class_of(type) == HL_CLASS_UNSIGNED)
    return (hl_interval){0, (INT64_C(1) << bits) - 1};
  return (hl_interval){-(INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)) - 1};
}

static hl_interval hull(hl_interval a, hl_interval b)
{
  return (hl_interval){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

static hl_interval sum(hl_interval a, hl_interval b)
{
  hl_interval r;
  return hl_add_i64(a.low, b.low, &r.low) && hl_add_i64(a.high, b.high, &r.high) ? r : everything;
}

static hl_interval negative(hl_interval a)
{
  return a.low == INT64_MIN ? everything : (hl_interval){-a.high, -a.low};
}

static hl_interval product(hl_interval a, hl_interval b)
{
  int64_t p[4];
  if (!hl_mul_i64(a.low, b.low, &p[0]) || !hl_mul_i64(a.low, b.high, &p[1]) ||
      !hl_mul_i64(a.high, b.low, &p[2]) || !hl_mul_i64(a.high, b.high, &p[3]))
    return everything;
  return hull(hull((hl_interval){p[0], p[0]}, (hl_interval){p[1], p[1]}),
              hull((hl_interval){p[2], p[2]}, (hl_interval){p[3], p[3]}));
}

/* Of x / y and of x rem y: no larger than x, and -1 for x / 0. */
static hl_interval magnitude(hl_interval a)
{
  if (a.low == INT64_MIN)
    return everything;
  int64_t m = a.high > -a.low ? a.high : -a.low;
  return (hl_interval){-(m > 1 ? m : 1), m > 1 ? m : 1};
}

static hl_interval quotient(hl_interval a, hl_interval b)
{
  return a.low >= 0 && b.low > 0 ? (hl_interval){a.low / b.high, a.high / b.low} : magnitude(a);
}

static hl_interval rest(hl_interval a, hl_interval b)
{
  if (b.low <= 0)
    return magnitude(a);
  int64_t most = b.high - 1;
  return (hl_interval){a.low < 0 ? -most : 0, a.low >= 0 && a.high < most ? a.high : most};
}

static hl_interval converted(const hl_node *node, hl_interval from)
{
  hl_interval limits = type_interval(node->type);
  bool is_int = node->operands[0]->type == HL_PRED || hl_is_integral(node->operands[0]->type);
  bool is_wide = node->operands[0]->type == HL_U64;
  return is_int && !is_wide && from.low >= limits.low && from.high <= limits.high ? from : limits;
}

static hl_interval of_signed(const hl_node *node, hl_interval a, hl_interval b)
{
  switch (node->op) {
  case HL_LOOP_ADD:
    return sum(a, b);
  case HL_LOOP_SUB:
    return sum(a, negative(b));
  case HL_LOOP_MUL:
    return product(a, b);
  case HL_LOOP_DIV:
    return quotient(a, b);
  case HL_LOOP_REM:
    return rest(a, b);
  case HL_LOOP_NEG:
    return negative(a);
  case HL_LOOP_ABS:
    return magnitude(a);
  case HL_LOOP_MAX:
    return (hl_interval){a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
  case HL_LOOP_MIN:
    return (hl_interval){a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
  default:
    return everything;
  }
}

/* What does not fit the type has wrapped. */
static hl_interval of_op(hl_emitter *e, const hl_node *node)
{
  hl_interval limits = type_interval(node->type), a = everything, b = everything;
  if (node->operand_count > 0)
    a = b = e->ranges[node->operands[0]->id];
  if (node->operand_count > 1)
    b = e->ranges[node->operands[1]->id];
  if (node->op == HL_LOOP_SELECT)
    return hull(b, e->ranges[node->operands[2]->id]);
  if (node->op == HL_LOOP_CONVERT)
    return converted(node, a);
  if (hl_type_class_of(node->type) != HL_CLASS_SIGNED)
    return limits;
  hl_interval r = of_signed(node, a, b);
  return r.low < limits.low || r.high > limits.high ? limits : r;
}

static hl_interval of_const(const hl_node *node)
{
  int unused = 64 - 8 * hl_type_bytes(node->type);
  int64_t value = (int64_t)(node->bits << unused) >> unused;
  if (hl_type_class_of(node->type) != HL_CLASS_SIGNED)
    return type_interval(node->type);
  return (hl_interval){value, value};
}

static void plan_block(hl_emitter *e, const hl_block *block);

static void plan_loop(hl_emitter *e, const hl_loop *loop, bool is_fold)
{
  for (int i = 0; i < loop->var_count; i++)
    e->ranges[loop->vars[i]->id] =
        (hl_interval){0, loop->extents[i] > 0 ? loop->extents[i] - 1 : 0};
  for (int i = 0; is_fold && i < loop->result_count; i++)
    e->ranges[loop->accs[i]->id] = type_interval(loop->accs[i]->type);
  plan_block(e, &loop->body);
}

static void plan_block(hl_emitter *e, const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next) {
    switch (node->op) {
    case HL_LOOP_CONST:
      e->ranges[node->id] = of_const(node);
      break;
    case HL_LOOP_LOAD:
    case HL_LOOP_RESULT:
      e->ranges[node->id] = type_interval(node->type);
      break;
    case HL_LOOP_FOR:
    case HL_LOOP_REDUCE:
    case HL_LOOP_FOLD:
      plan_loop(e, node->loop, node->op == HL_LOOP_FOLD);
      break;
    case HL_LOOP_IF:
      plan_block(e, &node->branch->then);
      plan_block(e, &node->branch->otherwise);
      break;
    case HL_LOOP_STORE:
      break;
    default:
      e->ranges[node->id] = of_op(e, node);
    }
  }
}

void hl_emit_plan_ranges(hl_emitter *e, const hl_kernel *kernel)
{
  e->ranges = HL_ARRAY(e->arena, kernel->next_id, hl_interval);
  plan_block(e, &kernel->body);
}

bool hl_emit_fits_i32(const hl_emitter *e, const hl_node *node)
{
  hl_interval r = e->ranges[node->id];
  return node->type == HL_S64 && r.low > INT32_MIN && r.high < INT32_MAX;
}
