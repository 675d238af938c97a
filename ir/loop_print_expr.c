/* loop_print_expr.c - expressions and accesses of the loop IR as text.
 *
 * An access is flat; its subscripts are found again by dividing each stride by those of the printed
 * dimensions. Any split whose parts add up to the flat access reads back to the same, so the split
 * is chosen for the reader: every subscript stays inside its dimension as far as the loops' extents
 * tell. Where none does, the flat form %x[@ 16*i+j] is printed.
 */
#include "loop_text.h"

#include <inttypes.h>

const char *hl_variable_name(hl_arena *arena, int number)
{
  static const char letters[] = "ijklmnopqrstuw";
  enum { LETTER_COUNT = sizeof letters - 1 };
  char letter = letters[number % LETTER_COUNT];
  return number < LETTER_COUNT ? hl_arena_printf(arena, "%c", letter)
                               : hl_arena_printf(arena, "%c%d", letter, number / LETTER_COUNT);
}

void hl_print_name(hl_kernel_printer *p, const hl_node *node)
{
  int name = p->nodes[node->id].name;
  if (node->op == HL_LOOP_ACC && !p->is_c)
    hl_str_printf(p->out, "a%d", name);
  else if (node->op != HL_LOOP_VAR)
    hl_str_printf(p->out, "v%d", name);
  else
    hl_str_add(p->out, hl_variable_name(p->out->arena, name));
}

/* Subscripts. */

typedef struct subscripts {
  int rank;
  const int64_t *dimensions;
  int64_t *strides;      /* of the dimensions */
  int64_t *constants;    /* one a dimension */
  int64_t *coefficients; /* one a term and dimension, by term */
  int64_t *low, *high;   /* what the terms reach in each dimension, as far as known */
  bool *is_unknown;      /* a computed index stands in the dimension */
  bool is_torn;          /* a variable stands in several dimensions */
} subscripts;

static subscripts new_subscripts(hl_arena *arena, const hl_access *access)
{
  int rank = access->param->rank;
  return (subscripts){
      .rank = rank,
      .dimensions = access->param->dimensions,
      .strides = HL_ARRAY(arena, rank, int64_t),
      .constants = HL_ARRAY(arena, rank, int64_t),
      .coefficients = HL_ARRAY(arena, rank * access->term_count, int64_t),
      .low = HL_ARRAY(arena, rank, int64_t),
      .high = HL_ARRAY(arena, rank, int64_t),
      .is_unknown = HL_ARRAY(arena, rank, bool),
  };
}

/* Row-major strides; false when there are none to divide by. */
static bool set_strides(subscripts *s)
{
  int64_t stride = 1;
  for (int k = s->rank - 1; k >= 0; k--) {
    s->strides[k] = stride;
    if (s->dimensions[k] == 0 || !hl_mul_i64(stride, s->dimensions[k], &stride))
      return false;
  }
  return s->rank > 0;
}

static bool reach(subscripts *s, int k, const hl_node *index, int64_t coefficient)
{
  int64_t extent = index->loop->extents[index->index], distance;
  if (extent == 0)
    return true;
  if (!hl_mul_i64(coefficient, extent - 1, &distance))
    return false;
  int64_t *end = distance < 0 ? &s->low[k] : &s->high[k];
  return hl_add_i64(*end, distance, end);
}

/* A computed index stands in one dimension: its expression is printed once. */
static bool split_term(subscripts *s, const hl_term *term, int64_t *coefficients)
{
  int64_t rest = term->stride;
  int parts = 0;
  bool is_var = term->index->op == HL_LOOP_VAR;
  for (int k = 0; k < s->rank && rest != 0; k++) {
    int64_t coefficient = rest / s->strides[k];
    if (coefficient == 0)
      continue;
    rest -= coefficient * s->strides[k];
    coefficients[k] = coefficient;
    parts++;
    if (!is_var)
      s->is_unknown[k] = true;
    else if (!reach(s, k, term->index, coefficient))
      return false;
  }
  s->is_torn = s->is_torn || parts > 1;
  return is_var || parts == 1;
}

/* How far subscript k with this constant lies outside its dimension. */
static int64_t overhang(const subscripts *s, int k, int64_t constant)
{
  int64_t below = -(s->low[k] + constant), above = s->high[k] + constant - (s->dimensions[k] - 1);
  return (below > 0 ? below : 0) + (above > 0 ? above : 0);
}

/* Outside dimension k one is in the next row: rows that no index counts are no subscripts for a
 * person. */
static bool has_rows(const subscripts *s, int k)
{
  for (int i = 0; i < k; i++)
    if (s->dimensions[i] > 1 && s->low[i] == 0 && s->high[i] == 0 && !s->is_unknown[i])
      return false;
  return true;
}

/* Splits the constant, from the last dimension on, to subscripts inside their dimensions where that
 * can be. */
static bool split_constant(subscripts *s, int64_t constant, bool may_overhang)
{
  for (int k = s->rank - 1; k >= 0; k--) {
    int64_t part = constant;
    if (k > 0) {
      int64_t size = s->dimensions[k];
      part = constant % size < 0 ? constant % size + size : constant % size;
      if (!s->is_unknown[k] && overhang(s, k, part - size) < overhang(s, k, part))
        part -= size;
      constant = (constant - part) / size;
    }
    s->constants[k] = part;
    if (!s->is_unknown[k] && overhang(s, k, part) > 0 && !(may_overhang && has_rows(s, k)))
      return false;
  }
  return true;
}

/* What really runs is less than the extents say. */
static bool is_narrowed(const hl_kernel_printer *p, const hl_node *node)
{
  int unguarded = node->op == HL_LOOP_LOAD ? 0 : 1;
  if (node->operand_count > unguarded || p->if_depth > 0)
    return true;
  for (int i = 0; i < node->access->term_count; i++) {
    const hl_node *index = node->access->terms[i].index;
    if (index->op == HL_LOOP_VAR && index->loop->limits[index->index])
      return true;
  }
  return false;
}

static bool is_far(int64_t value)
{
  return value > INT64_MAX / 4 || value < INT64_MIN / 4;
}

static bool split_access(const hl_access *access, bool may_overhang, subscripts *s)
{
  if (is_far(access->constant) || !set_strides(s))
    return false;
  for (int i = 0; i < access->term_count; i++)
    if (!split_term(s, &access->terms[i], s->coefficients + (int64_t)i * s->rank))
      return false;
  for (int k = 0; k < s->rank; k++)
    if (is_far(s->low[k]) || is_far(s->high[k]) || is_far(s->dimensions[k]))
      return false;
  return split_constant(s, access->constant, may_overhang && !s->is_torn);
}

static void print_sign(hl_str *out, bool is_negative, bool is_first)
{
  if (is_negative)
    hl_str_add_char(out, '-');
  else if (!is_first)
    hl_str_add_char(out, '+');
}

static uint64_t magnitude(int64_t value)
{
  return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static void print_index(hl_kernel_printer *p, const hl_node *index)
{
  bool is_const = index->op == HL_LOOP_CONST; /* a bare number is part of the access */
  if (is_const)
    hl_str_add_char(p->out, '(');
  hl_print_value(p, index, HL_BINDS_ATOM);
  if (is_const)
    hl_str_add_char(p->out, ')');
}

static void print_number(hl_str *out, int64_t number, bool is_first)
{
  print_sign(out, number < 0, is_first);
  hl_str_printf(out, "%" PRIu64, magnitude(number));
}

/* sum of coefficient * index + constant; the coefficients of one subscript lie `step` apart. */
typedef struct sum {
  const hl_access *access;
  const int64_t *coefficients;
  int step;
  int64_t constant;
} sum;

static int64_t coefficient_of(const sum *s, int term)
{
  return s->coefficients[(int64_t)term * s->step];
}

static bool begins_negative(const sum *s)
{
  for (int i = 0; i < s->access->term_count; i++)
    if (coefficient_of(s, i) != 0)
      return coefficient_of(s, i) < 0;
  return false;
}

/* The constant stands last, but 15-j rather than -j+15. */
static void print_sum(hl_kernel_printer *p, const sum *s)
{
  bool is_constant_first = s->constant > 0 && begins_negative(s), is_first = !is_constant_first;
  if (is_constant_first)
    print_number(p->out, s->constant, true);
  for (int i = 0; i < s->access->term_count; i++) {
    int64_t coefficient = coefficient_of(s, i);
    if (coefficient == 0)
      continue;
    print_sign(p->out, coefficient < 0, is_first);
    if (magnitude(coefficient) != 1)
      hl_str_printf(p->out, "%" PRIu64 "*", magnitude(coefficient));
    print_index(p, s->access->terms[i].index);
    is_first = false;
  }
  if (is_first || (s->constant != 0 && !is_constant_first))
    print_number(p->out, s->constant, is_first);
}

static void print_flat(hl_kernel_printer *p, const hl_access *access)
{
  int64_t *strides = HL_ARRAY(p->out->arena, access->term_count, int64_t);
  for (int i = 0; i < access->term_count; i++)
    strides[i] = access->terms[i].stride;
  hl_str_add(p->out, p->is_c ? "[" : "[@ ");
  print_sum(p, &(sum){access, strides, 1, access->constant});
  hl_str_add_char(p->out, ']');
}

/* Large strides first, else in their order: what is read back has its terms in the order of the
 * text. */
static hl_access sorted_access(hl_arena *arena, const hl_access *access)
{
  hl_access sorted = *access;
  sorted.terms = HL_ARRAY(arena, access->term_count, hl_term);
  for (int i = 0; i < access->term_count; i++) {
    hl_term term = access->terms[i];
    int at = i;
    for (; at > 0 && magnitude(sorted.terms[at - 1].stride) < magnitude(term.stride); at--)
      sorted.terms[at] = sorted.terms[at - 1];
    sorted.terms[at] = term;
  }
  return sorted;
}

static void print_subscripts(hl_kernel_printer *p, const hl_node *node)
{
  hl_access access = sorted_access(p->out->arena, node->access);
  if (access.param->rank == 0 && access.term_count == 0 && access.constant == 0) {
    hl_str_add(p->out, p->is_c ? "" : "[]");
    return;
  }
  subscripts s = new_subscripts(p->out->arena, &access);
  if (!split_access(&access, is_narrowed(p, node), &s)) {
    print_flat(p, &access);
    return;
  }
  for (int k = 0; k < s.rank; k++) {
    hl_str_add(p->out, !k ? "[" : p->is_c ? "][" : ",");
    print_sum(p, &(sum){&access, s.coefficients + k, s.rank, s.constants[k]});
  }
  hl_str_add_char(p->out, ']');
}

void hl_print_access(hl_kernel_printer *p, const hl_node *node)
{
  int number = 0;
  while (p->kernel->params[number] != node->access->param)
    number++;
  if (p->is_c) {
    hl_str_printf(p->out, node->access->param->rank ? "%s" : "*%s", p->params[number]);
  } else {
    hl_str_add_char(p->out, '%');
    hl_print_word(p->out, p->params[number]);
  }
  print_subscripts(p, node);
}

/* Expressions. */

static void print_load(hl_kernel_printer *p, const hl_node *node)
{
  if (node->operand_count == 0) {
    hl_print_access(p, node);
    return;
  }
  hl_str_add_char(p->out, '(');
  hl_print_value(p, node->operands[0], HL_BINDS_COMPARE);
  hl_str_add(p->out, " ? ");
  hl_print_access(p, node);
  hl_str_add(p->out, " : ");
  hl_print_value(p, node->operands[1], HL_BINDS_COMPARE);
  hl_str_add_char(p->out, ')');
}

static void print_infix(hl_kernel_printer *p, const hl_node *node, const hl_infix *infix,
                        hl_precedence at_least)
{
  bool is_chain = infix->precedence != HL_BINDS_COMPARE;
  hl_precedence left = infix->precedence + (is_chain ? 0 : 1);
  bool needs_parentheses = infix->precedence < at_least;
  if (needs_parentheses)
    hl_str_add_char(p->out, '(');
  hl_print_value(p, node->operands[0], left);
  hl_str_printf(p->out, " %s ", infix->text);
  hl_print_value(p, node->operands[1], infix->precedence + 1);
  if (needs_parentheses)
    hl_str_add_char(p->out, ')');
}

static void print_choice(hl_kernel_printer *p, const hl_node *node)
{
  hl_str_add_char(p->out, '(');
  hl_print_value(p, node->operands[0], HL_BINDS_COMPARE);
  hl_str_add(p->out, " ? ");
  hl_print_value(p, node->operands[1], HL_BINDS_COMPARE);
  hl_str_add(p->out, " : ");
  hl_print_value(p, node->operands[2], HL_BINDS_COMPARE);
  hl_str_add_char(p->out, ')');
}

static void print_cast(hl_kernel_printer *p, const hl_node *node)
{
  hl_str_printf(p->out, "(%s)", hl_type_name(node->type));
  hl_print_value(p, node->operands[0], HL_BINDS_ATOM);
}

static void print_call(hl_kernel_printer *p, const hl_node *node)
{
  if (node->op == HL_LOOP_MATH)
    hl_str_add(p->out, hl_math_text(p->out->arena, node->math));
  else
    hl_str_add(p->out, hl_loop_op_name(node->op));
  if (node->op == HL_LOOP_CONVERT || node->op == HL_LOOP_BITCAST)
    hl_str_printf(p->out, ".%s", hl_type_name(node->type));
  for (int i = 0; i < node->operand_count; i++) {
    hl_str_add(p->out, i ? ", " : "(");
    hl_print_value(p, node->operands[i], HL_BINDS_COMPARE);
  }
  if (node->op == HL_LOOP_PRECISION)
    hl_str_printf(p->out, ", %d, %d", node->precision.exponent_bits, node->precision.mantissa_bits);
  hl_str_add_char(p->out, ')');
}

void hl_print_expression(hl_kernel_printer *p, const hl_node *node, hl_precedence at_least)
{
  const hl_infix *infix = hl_infix_of(node->op);
  if (node->op == HL_LOOP_LOAD)
    print_load(p, node);
  else if (infix)
    print_infix(p, node, infix, at_least);
  else if (p->is_c && node->op == HL_LOOP_SELECT)
    print_choice(p, node);
  else if (p->is_c && node->op == HL_LOOP_CONVERT)
    print_cast(p, node);
  else
    print_call(p, node);
}

void hl_print_value(hl_kernel_printer *p, const hl_node *node, hl_precedence at_least)
{
  if (node->op == HL_LOOP_CONST && p->is_c)
    hl_const_print_bare(p->out, node->type, node->bits);
  else if (node->op == HL_LOOP_CONST)
    hl_const_print(p->out, node->type, node->bits);
  else if (p->nodes[node->id].is_nested)
    hl_print_expression(p, node, at_least);
  else
    hl_print_name(p, node);
}
