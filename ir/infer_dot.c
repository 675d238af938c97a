/* infer_dot - dot, ragged-dot and scaled-dot (spec section 8.5).
 *
 *   dot-c1  operands are of one class: pred, integers, floats or complex; the result is of that or
 * a later one dot-c2  dimensions are in range dot-c3  batch and contracting dimensions of one side
 * are distinct dot-c4  lists of both sides have the same length dot-c5  paired dimensions have the
 * same size dot-c6  operand_precision has one entry an operand
 */
#include "infer.h"

#include "limits.h"

/* The classes of numbers in an order in which a result may be of a later one than the operands. */
static int type_kind(hl_element_type type)
{
  return hl_is_integral(type) ? 1 : hl_is_float(type) ? 2 : hl_is_complex(type) ? 3 : 0;
}

static bool check_result_type(hl_infer *infer, const hl_instruction *ins, hl_rule rule)
{
  hl_element_type to = ins->shape->element_type, from = hl_operand_shape(ins, 0)->element_type;
  bool is_int = hl_is_integral(to) && hl_is_integral(from);
  bool is_good = hl_shape_is_array(ins->shape) && type_kind(to) >= type_kind(from) &&
                 (!is_int || hl_type_bits(to) >= hl_type_bits(from));
  return is_good ||
         hl_error(infer->diag, hl_place_shape(ins), rule, "'%s' of %s and %s cannot yield %s",
                  hl_say_op(ins), hl_say(infer, hl_operand_shape(ins, 0)),
                  hl_say(infer, hl_operand_shape(ins, 1)), hl_say(infer, ins->shape));
}

bool hl_contracted_type(hl_infer *infer, const hl_instruction *ins, hl_rule rule,
                        hl_element_type *type)
{
  hl_element_type lhs = hl_operand_shape(ins, 0)->element_type,
                  rhs = hl_operand_shape(ins, 1)->element_type;
  if (type_kind(lhs) != type_kind(rhs))
    return hl_error(
        infer->diag, hl_place_operand(ins, 1), rule,
        "operands of '%s' must both be pred, integers, floats or complex; they are %s and %s",
        hl_say_op(ins), hl_type_name(lhs), hl_type_name(rhs));
  if (ins->shape) {
    *type = ins->shape->element_type;
    return check_result_type(infer, ins, rule);
  }
  if (lhs != rhs)
    return hl_error(
        infer->diag, hl_place_opcode(ins), rule,
        "the result type of '%s' of %s and %s does not follow from them: write the result shape",
        hl_say_op(ins), hl_type_name(lhs), hl_type_name(rhs));
  *type = lhs;
  return true;
}

typedef struct side {
  int operand;
  hl_attr_id contracting, batch;
} side;

static const side lhs_side = {0, HL_ATTR_LHS_CONTRACTING_DIMS, HL_ATTR_LHS_BATCH_DIMS};
static const side rhs_side = {1, HL_ATTR_RHS_CONTRACTING_DIMS, HL_ATTR_RHS_BATCH_DIMS};

static bool check_side(hl_infer *infer, const hl_instruction *ins, const side *s)
{
  const hl_shape *x = hl_operand_shape(ins, s->operand);
  const char *of = hl_say(infer, x);
  return hl_check_range(infer, ins, s->contracting, x->rank, of, HL_RULE_DOT_C2) &&
         hl_check_range(infer, ins, s->batch, x->rank, of, HL_RULE_DOT_C2) &&
         hl_check_distinct(infer, ins, s->contracting, HL_RULE_DOT_C3) &&
         hl_check_distinct(infer, ins, s->batch, HL_RULE_DOT_C3) &&
         hl_check_disjoint(infer, ins, s->batch, s->contracting, HL_RULE_DOT_C3);
}

static bool check_paired(hl_infer *infer, const hl_instruction *ins, hl_attr_id left,
                         hl_attr_id right)
{
  const hl_shape *lhs = hl_operand_shape(ins, 0), *rhs = hl_operand_shape(ins, 1);
  hl_ints a = hl_attr_ints(ins, left), b = hl_attr_ints(ins, right);
  hl_attr_id later = hl_later_attr(ins, left, right);
  if (a.count != b.count)
    return hl_error(infer->diag, hl_place_attr(ins, later), HL_RULE_DOT_C4,
                    "%s has %d entr%s, %s has %d", hl_attr_name(left), a.count,
                    a.count == 1 ? "y" : "ies", hl_attr_name(right), b.count);
  for (int i = 0; i < a.count; i++) {
    int64_t size = lhs->dimensions[a.values[i]], other = rhs->dimensions[b.values[i]];
    if (size != other)
      return hl_error(infer->diag, hl_place_attr_entry(ins, later, i), HL_RULE_DOT_C5,
                      "dimension %lld of %s has size %lld; dimension %lld of %s has size %lld",
                      (long long)a.values[i], hl_say(infer, lhs), (long long)size,
                      (long long)b.values[i], hl_say(infer, rhs), (long long)other);
  }
  return true;
}

static bool check_precision(hl_infer *infer, const hl_instruction *ins)
{
  return !hl_attr_find(ins, HL_ATTR_OPERAND_PRECISION) ||
         hl_check_length(infer, ins, HL_ATTR_OPERAND_PRECISION, 2, "a pair of operands",
                         HL_RULE_DOT_C6);
}

static bool check_dot_lists(hl_infer *infer, const hl_instruction *ins)
{
  return check_side(infer, ins, &lhs_side) && check_side(infer, ins, &rhs_side) &&
         check_paired(infer, ins, HL_ATTR_LHS_BATCH_DIMS, HL_ATTR_RHS_BATCH_DIMS) &&
         check_paired(infer, ins, HL_ATTR_LHS_CONTRACTING_DIMS, HL_ATTR_RHS_CONTRACTING_DIMS) &&
         check_precision(infer, ins);
}

/* Adds the side's dimensions that are neither batch nor contracting nor `skipped`; returns the new
 * count. */
static int add_free(const hl_instruction *ins, const side *s, hl_ints skipped, int64_t *sizes,
                    int count)
{
  const hl_shape *x = hl_operand_shape(ins, s->operand);
  for (int i = 0; i < x->rank; i++)
    if (!hl_list_has(hl_attr_ints(ins, s->contracting), i) &&
        !hl_list_has(hl_attr_ints(ins, s->batch), i) && !hl_list_has(skipped, i))
      sizes[count++] = x->dimensions[i];
  return count;
}

/* Batch, free lhs, free rhs (without `skipped`). */
static int dot_sizes(const hl_instruction *ins, hl_ints skipped, int64_t *sizes)
{
  hl_ints batch = hl_attr_ints(ins, HL_ATTR_LHS_BATCH_DIMS);
  int count = 0;
  for (int i = 0; i < batch.count; i++)
    sizes[count++] = hl_operand_shape(ins, 0)->dimensions[batch.values[i]];
  count = add_free(ins, &lhs_side, (hl_ints){NULL, 0}, sizes, count);
  return add_free(ins, &rhs_side, skipped, sizes, count);
}

const hl_shape *hl_infer_dot(hl_infer *infer, const hl_instruction *ins)
{
  hl_element_type type;
  int64_t sizes[2 * HL_LIMIT_RANK];
  if (!hl_contracted_type(infer, ins, HL_RULE_DOT_C1, &type) || !check_dot_lists(infer, ins))
    return NULL;
  return hl_make_array(infer, ins, type, dot_sizes(ins, (hl_ints){NULL, 0}, sizes), sizes);
}

/* ragged-dot-c1: one ragged dimension; a group dimension of the rhs if it is a free one, else none.
 */
static bool check_ragged_lists(hl_infer *infer, const hl_instruction *ins, bool is_free)
{
  const hl_shape *rhs = hl_operand_shape(ins, 1);
  return hl_check_length(infer, ins, HL_ATTR_RHS_GROUP_DIMS, is_free ? 1 : 0,
                         is_free ? "a free ragged dimension"
                                 : "a batch or contracting ragged dimension",
                         HL_RULE_RAGGED_DOT_C1) &&
         hl_check_range(infer, ins, HL_ATTR_RHS_GROUP_DIMS, rhs->rank, hl_say(infer, rhs),
                        HL_RULE_RAGGED_DOT_C1) &&
         hl_check_disjoint(infer, ins, HL_ATTR_RHS_GROUP_DIMS, HL_ATTR_RHS_BATCH_DIMS,
                           HL_RULE_RAGGED_DOT_C1) &&
         hl_check_disjoint(infer, ins, HL_ATTR_RHS_GROUP_DIMS, HL_ATTR_RHS_CONTRACTING_DIMS,
                           HL_RULE_RAGGED_DOT_C1);
}

/* ragged-dot-c2: group sizes are integers, the number of groups their last dimension and that of
 * the rhs's group dimension. */
static bool check_groups(hl_infer *infer, const hl_instruction *ins, bool is_free)
{
  const hl_shape *groups = hl_operand_shape(ins, 2), *rhs = hl_operand_shape(ins, 1);
  if (!hl_check_integral(infer, ins, 2, HL_RULE_RAGGED_DOT_C2))
    return false;
  if (!groups->rank)
    return hl_error(infer->diag, hl_place_operand(ins, 2), HL_RULE_RAGGED_DOT_C2,
                    "group sizes must have a dimension; they are %s", hl_say(infer, groups));
  int64_t count = groups->dimensions[groups->rank - 1];
  if (is_free && rhs->dimensions[hl_attr_ints(ins, HL_ATTR_RHS_GROUP_DIMS).values[0]] != count)
    return hl_error(infer->diag, hl_place_operand(ins, 2), HL_RULE_RAGGED_DOT_C2,
                    "group sizes %s do not fit the groups of %s", hl_say(infer, groups),
                    hl_say(infer, rhs));
  return true;
}

/* As dot; a ragged contracting dimension puts the groups first, a free one takes the rhs's group
 * dimension away. */
const hl_shape *hl_infer_ragged_dot(hl_infer *infer, const hl_instruction *ins)
{
  hl_element_type type;
  for (int i = 0; i < 2; i++)
    if (!hl_check_array(infer, ins, i, HL_RULE_DOT_C1))
      return NULL;
  if (!hl_contracted_type(infer, ins, HL_RULE_DOT_C1, &type) || !check_dot_lists(infer, ins) ||
      !hl_check_length(infer, ins, HL_ATTR_LHS_RAGGED_DIMS, 1, "it", HL_RULE_RAGGED_DOT_C1) ||
      !hl_check_range(infer, ins, HL_ATTR_LHS_RAGGED_DIMS, hl_operand_shape(ins, 0)->rank,
                      "the lhs", HL_RULE_RAGGED_DOT_C1))
    return NULL;
  int64_t ragged = hl_attr_ints(ins, HL_ATTR_LHS_RAGGED_DIMS).values[0],
          sizes[2 * HL_LIMIT_RANK + 1];
  bool is_contracting = hl_list_has(hl_attr_ints(ins, HL_ATTR_LHS_CONTRACTING_DIMS), ragged);
  bool is_free = !is_contracting && !hl_list_has(hl_attr_ints(ins, HL_ATTR_LHS_BATCH_DIMS), ragged);
  if (!check_ragged_lists(infer, ins, is_free) || !check_groups(infer, ins, is_free))
    return NULL;
  const hl_shape *groups = hl_operand_shape(ins, 2);
  sizes[0] = groups->dimensions[groups->rank - 1];
  int first = is_contracting ? 0 : 1;
  int count = 1 + dot_sizes(ins, hl_attr_ints(ins, HL_ATTR_RHS_GROUP_DIMS), sizes + 1);
  return hl_make_array(infer, ins, type, count - first, sizes + first);
}

/* scaled-dot-c1: a scale has its operand's rank and sizes that divide the operand's. */
static bool check_scale(hl_infer *infer, const hl_instruction *ins, int index)
{
  const hl_shape *x = hl_operand_shape(ins, index), *scale = hl_operand_shape(ins, index + 2);
  bool is_good = scale->rank == 0 || scale->rank == x->rank;
  for (int i = 0; is_good && i < scale->rank; i++)
    is_good = scale->dimensions[i] > 0 ? x->dimensions[i] % scale->dimensions[i] == 0
                                       : x->dimensions[i] == 0;
  return is_good || hl_error(infer->diag, hl_place_operand(ins, index + 2), HL_RULE_SCALED_DOT_C1,
                             "a scale %s does not divide its operand %s", hl_say(infer, scale),
                             hl_say(infer, x));
}

/* scaled-dot-c2: floats alone. */
static bool check_floats(hl_infer *infer, const hl_instruction *ins)
{
  for (int i = 0; i < 4; i++)
    if (!hl_is_float(hl_operand_shape(ins, i)->element_type))
      return hl_error(infer->diag, hl_place_operand(ins, i), HL_RULE_SCALED_DOT_C2,
                      "operands of '%s' must be floats; operand %d is %s", hl_say_op(ins), i,
                      hl_say(infer, hl_operand_shape(ins, i)));
  return !ins->shape || hl_is_float(ins->shape->element_type) ||
         hl_error(infer->diag, hl_place_shape(ins), HL_RULE_SCALED_DOT_C2,
                  "the result of '%s' must be of floats; it is %s", hl_say_op(ins),
                  hl_say(infer, ins->shape));
}

const hl_shape *hl_infer_scaled_dot(hl_infer *infer, const hl_instruction *ins)
{
  if (!check_floats(infer, ins))
    return NULL;
  if (!check_scale(infer, ins, 0) || !check_scale(infer, ins, 1))
    return NULL;
  return hl_infer_dot(infer, ins);
}
