/* infer_elementwise - ops that work element by element, and the broadcasting of the hlo-lite
 * dialect (spec section 7).
 *
 *   binary-type     both operands have one element type
 *   binary-rank     operands of different rank name the places of the smaller one's dimensions
 *   binary-size     two sizes are equal or one of them is 1
 *   bcast-dims-c1   one entry for each dimension of the smaller operand
 *   bcast-dims-c2   each entry names a dimension of the larger operand
 *   bcast-dims-c3   entries ascend strictly
 *   bcast-dims-c4   the sizes that meet are equal or one of them is 1
 *   bcast-dims-c5   operands of equal rank: no list, or the identity
 *   dialect-xla     XLA's text has no implicit broadcasting
 * and the rules named at each function below.
 */
#include "infer.h"

#include "limits.h"

const hl_shape *hl_infer_unary(hl_infer *infer, const hl_instruction *ins)
{
  (void)infer;
  return hl_operand_shape(ins, 0);
}

const hl_shape *hl_infer_same(hl_infer *infer, const hl_instruction *ins)
{
  (void)infer;
  return hl_operand_shape(ins, 0);
}

static const hl_shape *with_type(hl_infer *infer, const hl_shape *shape, hl_element_type type)
{
  return shape->element_type == type ? shape : hl_shape_with_type(infer->arena, shape, type);
}

const hl_shape *hl_infer_abs(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  return with_type(infer, x, hl_component_type(x->element_type));
}

const hl_shape *hl_infer_real_imag(hl_infer *infer, const hl_instruction *ins)
{
  return hl_infer_abs(infer, ins);
}

const hl_shape *hl_infer_is_finite(hl_infer *infer, const hl_instruction *ins)
{
  return with_type(infer, hl_operand_shape(ins, 0), HL_PRED);
}

/* convert-c1: the result is an array; its dimensions are the operand's. */
const hl_shape *hl_infer_convert(hl_infer *infer, const hl_instruction *ins)
{
  if (!hl_shape_is_array(ins->shape)) {
    hl_error(infer->diag, hl_place_shape(ins), HL_RULE_CONVERT_C1,
             "'convert' yields an array; the result is written %s", hl_say(infer, ins->shape));
    return NULL;
  }
  return with_type(infer, hl_operand_shape(ins, 0), ins->shape->element_type);
}

static bool check_bits(hl_infer *infer, const hl_instruction *ins, hl_attr_id id, int64_t least,
                       hl_rule rule)
{
  int64_t bits = hl_attr_int(ins, id, 0);
  if (bits >= least)
    return true;
  return hl_error(infer->diag, hl_place_attr(ins, id), rule, "%s is %lld; it must be at least %lld",
                  hl_attr_name(id), (long long)bits, (long long)least);
}

/* reduce-precision-c1: exponent_bits >= 1; reduce-precision-c2: mantissa_bits >= 0. */
const hl_shape *hl_infer_reduce_precision(hl_infer *infer, const hl_instruction *ins)
{
  bool is_good = check_bits(infer, ins, HL_ATTR_EXPONENT_BITS, 1, HL_RULE_REDUCE_PRECISION_C1) &&
                 check_bits(infer, ins, HL_ATTR_MANTISSA_BITS, 0, HL_RULE_REDUCE_PRECISION_C2);
  return is_good ? hl_operand_shape(ins, 0) : NULL;
}

static bool sizes_meet(int64_t a, int64_t b)
{
  return a == b || a == 1 || b == 1;
}

static int64_t merged_size(int64_t a, int64_t b)
{
  return a == 1 ? b : a;
}

/* The dimensions that a vector fits, as "{0} or {1}". */
static const char *say_vector_lists(hl_infer *infer, const hl_placing *p)
{
  hl_str out = {.arena = infer->arena};
  for (int i = 0; i < p->large->rank; i++)
    if (sizes_meet(p->small->dimensions[0], p->large->dimensions[i]))
      hl_str_printf(&out, "%s{%d}", out.length ? " or " : "", i);
  return hl_str_text(&out);
}

/* Offers the list to write when only one fits, judged with the written result shape first. */
static void help_with_list(hl_infer *infer, const hl_instruction *ins, hl_placing p)
{
  int64_t list[HL_LIMIT_RANK];
  bool may_use_result =
      ins->shape && hl_shape_is_array(ins->shape) && ins->shape->rank == p.large->rank;
  p.result = may_use_result ? ins->shape : NULL;
  bool is_found = hl_only_placement(&p, list);
  p.result = NULL;
  is_found = is_found || hl_only_placement(&p, list);
  const hl_instruction *small =
      hl_operand_shape(ins, 0) == p.small ? ins->operands[0] : ins->operands[1];
  const char *call = hl_say_call(infer, ins),
             *dims = is_found ? hl_say_ints(infer, p.small->rank, list) : "";
  if (p.small->rank == 1) {
    const char *lists = say_vector_lists(infer, &p),
               *plural = p.small->dimensions[0] == 1 ? "" : "s";
    if (is_found)
      hl_help(infer->diag,
              "%s's %lld element%s fit%s dimension %s: write %s, broadcast_dimensions={%s}",
              small->name, (long long)p.small->dimensions[0], plural, *plural ? "" : "s", dims,
              call, dims);
    else if (*lists)
      hl_help(infer->diag, "say where %s's %lld element%s go%s: broadcast_dimensions=%s",
              small->name, (long long)p.small->dimensions[0], plural, *plural ? "" : "es", lists);
  } else if (is_found) {
    hl_help(infer->diag,
            "%s's dimensions %s fit dimensions %s: write %s, broadcast_dimensions={%s}",
            small->name, hl_say_dimensions(infer, p.small), dims, call, dims);
  }
}

/* Stretches ones on both sides; the shapes have one rank. NULL after an error at the op. */
static const hl_shape *stretch(hl_infer *infer, const hl_instruction *ins, const hl_shape *lhs,
                               const hl_shape *rhs)
{
  int64_t sizes[HL_LIMIT_RANK];
  for (int i = 0; i < lhs->rank; i++) {
    int64_t a = lhs->dimensions[i], b = rhs->dimensions[i];
    if (!sizes_meet(a, b)) {
      hl_error(
          infer->diag, hl_place_call(ins), HL_RULE_BINARY_SIZE,
          "operands of '%s' have sizes %lld and %lld in dimension %d and neither is 1 (%s and %s)",
          hl_say_op(ins), (long long)a, (long long)b, i, hl_say(infer, lhs), hl_say(infer, rhs));
      return NULL;
    }
    sizes[i] = merged_size(a, b);
  }
  return hl_make_array(infer, ins, lhs->element_type, lhs->rank, sizes);
}

static bool is_identity(hl_ints list, int rank)
{
  for (int i = 0; i < list.count; i++)
    if (list.values[i] != i)
      return false;
  return list.count == rank;
}

static const hl_shape *infer_equal_rank(hl_infer *infer, const hl_instruction *ins,
                                        const hl_shape *lhs, const hl_shape *rhs)
{
  hl_ints list = hl_attr_ints(ins, HL_ATTR_BROADCAST_DIMENSIONS);
  if (list.count && !is_identity(list, lhs->rank)) {
    hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_BROADCAST_DIMENSIONS), HL_RULE_BCAST_DIMS_C5,
             "operands of '%s' have equal rank %d (%s and %s): broadcast_dimensions may only be "
             "the identity, not {%s}",
             hl_say_op(ins), lhs->rank, hl_say(infer, lhs), hl_say(infer, rhs),
             hl_say_ints(infer, list.count, list.values));
    hl_help(infer->diag, "leave it out: write %s", hl_say_call(infer, ins));
    return NULL;
  }
  if (hl_shape_same_dimensions(lhs, rhs))
    return lhs;
  return stretch(infer, ins, lhs, rhs);
}

/* bcast-dims-c1, or binary-rank when there is no list at all. */
static bool check_list_length(hl_infer *infer, const hl_instruction *ins, const hl_placing *p)
{
  const hl_attr *attr = hl_attr_find(ins, HL_ATTR_BROADCAST_DIMENSIONS);
  int count = attr ? attr->ints.count : 0;
  const hl_shape *lhs = hl_operand_shape(ins, 0), *rhs = hl_operand_shape(ins, 1);
  if (count == p->small->rank)
    return true;
  if (!attr) {
    hl_error(infer->diag, hl_place_call(ins), HL_RULE_BINARY_RANK,
             "operands of '%s' have ranks %d and %d (%s and %s) and no broadcast_dimensions",
             hl_say_op(ins), lhs->rank, rhs->rank, hl_say(infer, lhs), hl_say(infer, rhs));
    help_with_list(infer, ins, *p);
    return false;
  }
  hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_BROADCAST_DIMENSIONS), HL_RULE_BCAST_DIMS_C1,
           "broadcast_dimensions has %d entr%s; the smaller operand %s has rank %d", count,
           count == 1 ? "y" : "ies", hl_say(infer, p->small), p->small->rank);
  if (p->small->rank)
    help_with_list(infer, ins, *p);
  else
    hl_help(infer->diag, "a scalar needs no list: write %s", hl_say_call(infer, ins));
  return false;
}

/* bcast-dims-c2 to c4, entry by entry. */
static bool check_list_entry(hl_infer *infer, const hl_instruction *ins, const hl_placing *p,
                             hl_ints list, int i)
{
  int64_t to = list.values[i];
  hl_range at = hl_place_attr_entry(ins, HL_ATTR_BROADCAST_DIMENSIONS, i);
  if (to < 0 || to >= p->large->rank)
    return hl_error(infer->diag, at, HL_RULE_BCAST_DIMS_C2,
                    "%lld is no dimension of the larger operand %s, which has rank %d",
                    (long long)to, hl_say(infer, p->large), p->large->rank);
  if (i > 0 && to <= list.values[i - 1])
    return hl_error(infer->diag, at, HL_RULE_BCAST_DIMS_C3,
                    "broadcast_dimensions must ascend strictly; %lld follows %lld", (long long)to,
                    (long long)list.values[i - 1]);
  int64_t a = p->small->dimensions[i], b = p->large->dimensions[to];
  if (!sizes_meet(a, b))
    return hl_error(
        infer->diag, at, HL_RULE_BCAST_DIMS_C4,
        "dimension %d of %s has size %lld; dimension %lld of %s has size %lld, and neither is 1", i,
        hl_say(infer, p->small), (long long)a, (long long)to, hl_say(infer, p->large),
        (long long)b);
  return true;
}

static const hl_shape *infer_unequal_rank(hl_infer *infer, const hl_instruction *ins,
                                          const hl_placing *p)
{
  if (!check_list_length(infer, ins, p))
    return NULL;
  hl_ints list = hl_attr_ints(ins, HL_ATTR_BROADCAST_DIMENSIONS);
  int64_t sizes[HL_LIMIT_RANK];
  for (int i = 0; i < p->large->rank; i++)
    sizes[i] = p->large->dimensions[i];
  for (int i = 0; i < list.count; i++) {
    if (!check_list_entry(infer, ins, p, list, i)) {
      help_with_list(infer, ins, *p);
      return NULL;
    }
    int64_t *size = &sizes[list.values[i]];
    *size = merged_size(p->small->dimensions[i], *size);
  }
  return hl_make_array(infer, ins, p->large->element_type, p->large->rank, sizes);
}

/* What to write in XLA's dialect for the one operand that must grow: a broadcast, after a reshape
 * where ones are stretched. */
static void help_explicit(hl_infer *infer, const hl_instruction *ins, const hl_shape *result)
{
  int grows = 0, index = 0;
  for (int i = 0; i < 2; i++)
    if (!hl_shape_same_dimensions(hl_operand_shape(ins, i), result)) {
      grows++;
      index = i;
    }
  if (!grows)
    hl_help(infer->diag, "leave broadcast_dimensions out: write %s", hl_say_call(infer, ins));
  if (grows != 1)
    return;
  const hl_shape *x = hl_operand_shape(ins, index);
  hl_ints list = hl_attr_ints(ins, HL_ATTR_BROADCAST_DIMENSIONS);
  int64_t kept[HL_LIMIT_RANK], places[HL_LIMIT_RANK];
  int n = 0;
  for (int i = 0; i < x->rank; i++) {
    int64_t to = list.count ? list.values[i] : i;
    if (x->dimensions[i] == 1 && result->dimensions[to] != 1)
      continue;
    kept[n] = x->dimensions[i];
    places[n++] = to;
  }
  const char *name = ins->operands[index]->name, *type = hl_type_name(x->element_type);
  const char *inner = n == x->rank ? name
                                   : hl_arena_printf(infer->arena, "%s[%s] reshape(%s)", type,
                                                     hl_say_ints(infer, n, kept), name);
  hl_help(infer->diag, "write first %s.full = %s broadcast(%s), dimensions={%s} and use %s.full",
          name, hl_say(infer, with_type(infer, result, x->element_type)), inner,
          hl_say_ints(infer, n, places), name);
}

static bool check_dialect(hl_infer *infer, const hl_instruction *ins, const hl_shape *result)
{
  if (!infer->options.dialect_xla)
    return true;
  const hl_attr *attr = hl_attr_find(ins, HL_ATTR_BROADCAST_DIMENSIONS);
  const hl_shape *lhs = hl_operand_shape(ins, 0), *rhs = hl_operand_shape(ins, 1);
  bool is_plain = hl_shape_same_dimensions(lhs, result) && hl_shape_same_dimensions(rhs, result);
  if (is_plain && !attr)
    return true;
  hl_error(infer->diag, attr ? attr->name_range : hl_place_call(ins), HL_RULE_DIALECT_XLA,
           "XLA's dialect has no implicit broadcasting: operands of '%s' are %s and %s%s",
           hl_say_op(ins), hl_say(infer, lhs), hl_say(infer, rhs),
           attr ? ", with broadcast_dimensions" : "");
  help_explicit(infer, ins, result);
  return false;
}

/* The shape of a binary op's result, with the operands' element type. */
static const hl_shape *infer_broadcast(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *lhs = hl_operand_shape(ins, 0), *rhs = hl_operand_shape(ins, 1), *result;
  if (!hl_check_same_type(infer, ins, 1, 0, HL_RULE_BINARY_TYPE))
    return NULL;
  if (lhs->rank == rhs->rank) {
    result = infer_equal_rank(infer, ins, lhs, rhs);
  } else {
    hl_placing p = lhs->rank < rhs->rank ? (hl_placing){.small = lhs, .large = rhs}
                                         : (hl_placing){.small = rhs, .large = lhs};
    result = infer_unequal_rank(infer, ins, &p);
  }
  return result && check_dialect(infer, ins, result) ? result : NULL;
}

const hl_shape *hl_infer_binary(hl_infer *infer, const hl_instruction *ins)
{
  return infer_broadcast(infer, ins);
}

const hl_shape *hl_infer_complex(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *parts = infer_broadcast(infer, ins);
  return parts ? with_type(infer, parts, parts->element_type == HL_F32 ? HL_C64 : HL_C128) : NULL;
}

static hl_comparison natural_comparison(hl_element_type type)
{
  switch (hl_type_class_of(type)) {
  case HL_CLASS_SIGNED:
    return HL_COMPARE_SIGNED;
  case HL_CLASS_FLOAT:
  case HL_CLASS_COMPLEX:
    return HL_COMPARE_FLOAT;
  default:
    return HL_COMPARE_UNSIGNED;
  }
}

/* compare-c1: `type` fits the operands. */
static bool check_comparison(hl_infer *infer, const hl_instruction *ins, hl_element_type type)
{
  hl_comparison natural = natural_comparison(type);
  int64_t written = hl_attr_int(ins, HL_ATTR_TYPE, natural);
  if (written == (int64_t)natural || (written == HL_COMPARE_TOTALORDER && hl_is_float(type)))
    return true;
  size_t length, natural_length;
  const char *word = hl_attr_word(HL_ATTR_TYPE, written, &length);
  const char *natural_word = hl_attr_word(HL_ATTR_TYPE, natural, &natural_length);
  hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_TYPE), HL_RULE_COMPARE_C1,
           "type=%.*s does not fit operands of type %s", (int)length, word, hl_type_name(type));
  hl_help(infer->diag, "write type=%.*s or leave it out", (int)natural_length, natural_word);
  return false;
}

/* compare-c2: complex numbers have no order. */
const hl_shape *hl_infer_compare(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *shape = infer_broadcast(infer, ins);
  if (!shape || !check_comparison(infer, ins, shape->element_type))
    return NULL;
  int64_t direction = hl_attr_int(ins, HL_ATTR_DIRECTION, HL_EQ);
  if (hl_is_complex(shape->element_type) && direction != HL_EQ && direction != HL_NE) {
    hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_DIRECTION), HL_RULE_COMPARE_C2,
             "complex numbers (%s) have no order: direction is EQ or NE only",
             hl_type_name(shape->element_type));
    return NULL;
  }
  return with_type(infer, shape, HL_PRED);
}

/* All operands that are no scalars have the same dimensions; theirs are the result's. */
static const hl_shape *infer_scalars_stretch(hl_infer *infer, const hl_instruction *ins,
                                             hl_rule rule)
{
  int like = -1;
  for (int i = 0; i < ins->operand_count; i++) {
    if (!hl_operand_shape(ins, i)->rank)
      continue;
    if (like < 0)
      like = i;
    else if (!hl_check_dimensions(infer, ins, i, like, rule))
      return NULL;
  }
  return hl_operand_shape(ins, like < 0 ? 0 : like);
}

/* In XLA's dialect only the operands from `first` to `last` may be scalars beside arrays. */
static bool check_xla_scalars(hl_infer *infer, const hl_instruction *ins, const hl_shape *result,
                              int first, int step)
{
  if (!infer->options.dialect_xla)
    return true;
  for (int i = 0; i < ins->operand_count; i++) {
    bool may_be_scalar = i >= first && (i - first) % step == 0;
    if (may_be_scalar || hl_shape_same_dimensions(hl_operand_shape(ins, i), result))
      continue;
    return hl_error(infer->diag, hl_place_operand(ins, i), HL_RULE_DIALECT_XLA,
                    "XLA's dialect has no implicit broadcasting: operand %d of '%s' is %s, the "
                    "result has dimensions %s",
                    i, hl_say_op(ins), hl_say(infer, hl_operand_shape(ins, i)),
                    hl_say_dimensions(infer, result));
  }
  return true;
}

/* select-c1: the selector is pred; select-c2: the arms have one type; select-c3: scalars aside, all
 * have the same dimensions. */
const hl_shape *hl_infer_select(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *selector = hl_operand_shape(ins, 0), *arm = hl_operand_shape(ins, 1);
  if (selector->element_type != HL_PRED) {
    hl_error(infer->diag, hl_place_operand(ins, 0), HL_RULE_SELECT_C1,
             "the selector of 'select' must be pred; it is %s", hl_say(infer, selector));
    return NULL;
  }
  if (!hl_check_same_type(infer, ins, 2, 1, HL_RULE_SELECT_C2))
    return NULL;
  const hl_shape *shape = infer_scalars_stretch(infer, ins, HL_RULE_SELECT_C3);
  if (!shape || !check_xla_scalars(infer, ins, shape, 0, 3))
    return NULL;
  return with_type(infer, shape, arm->element_type);
}

/* clamp-c1: the three have one type; clamp-c2: scalars aside, all have the same dimensions. */
const hl_shape *hl_infer_clamp(hl_infer *infer, const hl_instruction *ins)
{
  for (int i = 1; i < 3; i++)
    if (!hl_check_same_type(infer, ins, i, 0, HL_RULE_CLAMP_C1))
      return NULL;
  const hl_shape *shape = infer_scalars_stretch(infer, ins, HL_RULE_CLAMP_C2);
  return shape && check_xla_scalars(infer, ins, shape, 0, 2) ? shape : NULL;
}

/* stochastic-convert-c1: floats and unsigned integers of one width and the same dimensions; -c2:
 * the result type is written, a narrower float or an integer. */
const hl_shape *hl_infer_stochastic_convert(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0), *random = hl_operand_shape(ins, 1);
  bool is_good = hl_is_float(x->element_type) &&
                 hl_type_class_of(random->element_type) == HL_CLASS_UNSIGNED &&
                 hl_type_bits(x->element_type) == hl_type_bits(random->element_type);
  if (!is_good) {
    hl_error(infer->diag, hl_place_operand(ins, hl_is_float(x->element_type) ? 1 : 0),
             HL_RULE_STOCHASTIC_CONVERT_C1,
             "'stochastic-convert' takes floats and unsigned integers of the same width; they are "
             "%s and %s",
             hl_say(infer, x), hl_say(infer, random));
    return NULL;
  }
  if (!hl_check_dimensions(infer, ins, 1, 0, HL_RULE_STOCHASTIC_CONVERT_C1))
    return NULL;
  hl_element_type to = ins->shape->element_type;
  if (!hl_is_integral(to) &&
      !(hl_is_float(to) && hl_type_bits(to) < hl_type_bits(x->element_type))) {
    hl_error(infer->diag, hl_place_shape(ins), HL_RULE_STOCHASTIC_CONVERT_C2,
             "'stochastic-convert' of %s yields narrower floats or integers, not %s",
             hl_say(infer, x), hl_say(infer, ins->shape));
    return NULL;
  }
  return with_type(infer, x, to);
}
