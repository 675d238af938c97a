/* loop_parse_expr.c - expressions and accesses of the loop IR's text. */
#include "loop_parser.h"

#include <string.h>

enum { MAX_ARGUMENTS = 3 };

hl_node *hl_lookup(hl_loop_parser *p, hl_word name)
{
  const hl_binding *binding = hl_map_get(&p->names, name.text, name.length);
  return binding ? binding->node : NULL;
}

/* Accesses. */

static hl_node *parse_atom(hl_loop_parser *p);

static hl_node *parse_index(hl_loop_parser *p)
{
  hl_node *index = parse_atom(p);
  if (index && index->type != HL_S64) {
    hl_parse_fail(p, "an index is s64, this is %s", hl_type_name(index->type));
    return NULL;
  }
  return index;
}

/* [number *] index, or a number; times `scale`, which carries the sign and the dimension's stride.
 */
static bool parse_term(hl_loop_parser *p, hl_access *access, int64_t scale)
{
  int64_t number = 1;
  char c = hl_peek_char(p);
  if (c >= '0' && c <= '9') {
    if (!hl_read_int(p, &number))
      return false;
    if (!hl_mul_i64(number, scale, &scale))
      return hl_parse_fail(p, "the subscript does not fit 64 bits");
    if (!hl_accept(p, "*"))
      return hl_add_i64(access->constant, scale, &access->constant) ||
             hl_parse_fail(p, "the subscript does not fit 64 bits");
  }
  hl_node *index = parse_index(p);
  if (index)
    hl_access_add(p->arena, access, index, scale);
  return index != NULL;
}

static bool parse_sum(hl_loop_parser *p, hl_access *access, int64_t stride)
{
  bool is_negative = hl_accept(p, "-");
  for (;;) {
    if (!parse_term(p, access, is_negative ? -stride : stride))
      return false;
    is_negative = hl_accept(p, "-");
    if (!is_negative && !hl_accept(p, "+"))
      return true;
  }
}

static bool parse_subscripts(hl_loop_parser *p, hl_access *access)
{
  const hl_param *param = access->param;
  int64_t stride = param->count;
  if (hl_accept(p, "@"))
    return parse_sum(p, access, 1);
  for (int k = 0; k < param->rank; k++) {
    if (k > 0 && !hl_expect(p, ","))
      return false;
    stride = param->dimensions[k] ? stride / param->dimensions[k] : 0;
    if (!parse_sum(p, access, stride))
      return false;
  }
  return true;
}

hl_access *hl_parse_access(hl_loop_parser *p)
{
  hl_accept(p, "%");
  const char *name = hl_read_name(p);
  if (!name)
    return NULL;
  hl_param *param = hl_map_get(&p->params, name, strlen(name));
  if (!param) {
    hl_parse_fail(p, "the kernel has no parameter %%%s", name);
    return NULL;
  }
  hl_access *access = hl_access_new(p->arena, param, 0);
  if (!hl_open(p, "[")) {
    hl_parse_fail(p, "expected '['");
    return NULL;
  }
  return parse_subscripts(p, access) && hl_close(p, "]") ? access : NULL;
}

/* Calls. */

/* What a function's name stands for. */
typedef struct function {
  hl_loop_op op;
  hl_math_fn math;      /* MATH */
  hl_element_type type; /* CONVERT and BITCAST */
  int arity;
} function;

/* name.type */
static bool is_typed(hl_word word, const char *name, hl_element_type *type)
{
  size_t length = strlen(name);
  if (word.length <= length || memcmp(word.text, name, length) != 0 || word.text[length] != '.')
    return false;
  *type = hl_type_by_name(word.text + length + 1, word.length - length - 1);
  return *type != HL_TYPE_COUNT;
}

static bool find_op(hl_word word, function *callee)
{
  static const int arities[] = {
#define HL_LOOP_OP(id, name, arity, types) arity,
#include "loop_ops.def"
  };
  for (int op = 0; op < HL_LOOP_MATH; op++) {
    if (!hl_word_is(word, hl_loop_op_name((hl_loop_op)op)))
      continue;
    callee->op = (hl_loop_op)op;
    callee->arity = arities[op];
    return op != HL_LOOP_CONVERT && op != HL_LOOP_BITCAST;
  }
  return false;
}

static bool find_math(hl_loop_parser *p, hl_word word, function *callee)
{
  for (int fn = 0; fn < HL_MATH_COUNT; fn++) {
    if (!hl_word_is(word, hl_math_text(p->arena, (hl_math_fn)fn)))
      continue;
    callee->op = HL_LOOP_MATH;
    callee->math = (hl_math_fn)fn;
    callee->arity = hl_math_arity(callee->math);
    return true;
  }
  return false;
}

static bool find_callee(hl_loop_parser *p, hl_word word, function *callee)
{
  callee->arity = 1;
  if (is_typed(word, hl_loop_op_name(HL_LOOP_CONVERT), &callee->type))
    callee->op = HL_LOOP_CONVERT;
  else if (is_typed(word, hl_loop_op_name(HL_LOOP_BITCAST), &callee->type))
    callee->op = HL_LOOP_BITCAST;
  else
    return find_op(word, callee) || find_math(p, word, callee);
  return true;
}

static bool parse_arguments(hl_loop_parser *p, const function *callee, hl_node **arguments)
{
  for (int i = 0; i < callee->arity; i++) {
    if (i > 0 && !hl_expect(p, ","))
      return false;
    arguments[i] = hl_parse_expr(p);
    if (!arguments[i])
      return false;
  }
  return true;
}

static hl_node *make_call(hl_loop_parser *p, const function *callee, hl_node *const *arguments)
{
  hl_loop_op op = callee->op;
  if (op == HL_LOOP_CONVERT || op == HL_LOOP_BITCAST)
    return hl_loop_op_node(&p->b, op, callee->type, 1, arguments);
  if (op == HL_LOOP_MATH)
    return hl_loop_math(&p->b, callee->math, callee->arity, arguments);
  if (op == HL_LOOP_SELECT)
    return hl_loop_select(&p->b, arguments[0], arguments[1], arguments[2]);
  if (callee->arity == 1)
    return hl_loop_unary(&p->b, op, arguments[0]);
  if (callee->arity == 2)
    return hl_loop_binary(&p->b, op, arguments[0], arguments[1]);
  return hl_loop_op_node(&p->b, op, arguments[0]->type, callee->arity, arguments);
}

/* The numbers behind the operand: reduce_precision(x, 8, 7). */
static bool parse_precision(hl_loop_parser *p, hl_node *node)
{
  int64_t exponent_bits, mantissa_bits;
  if (!hl_expect(p, ",") || !hl_read_int(p, &exponent_bits) || !hl_expect(p, ",") ||
      !hl_read_int(p, &mantissa_bits))
    return false;
  if (exponent_bits < 1 || exponent_bits > 64 || mantissa_bits > 64)
    return hl_parse_fail(p, "no such precision");
  node->precision.exponent_bits = (int)exponent_bits;
  node->precision.mantissa_bits = (int)mantissa_bits;
  return true;
}

static hl_node *parse_call(hl_loop_parser *p, hl_word word)
{
  function callee = {0};
  hl_node *arguments[MAX_ARGUMENTS];
  if (!find_callee(p, word, &callee)) {
    hl_parse_fail(p, "there is no function '%s'", hl_word_copy(p, word));
    return NULL;
  }
  if (!hl_open(p, "(") || !parse_arguments(p, &callee, arguments))
    return NULL;
  hl_node *node = make_call(p, &callee, arguments);
  if (node->op == HL_LOOP_PRECISION && !parse_precision(p, node))
    return NULL;
  return hl_close(p, ")") ? node : NULL;
}

/* Atoms and operators. */

/* The rest of (guard ? %x[i] : other). */
static hl_node *parse_guarded_load(hl_loop_parser *p, hl_node *guard)
{
  if (hl_peek_char(p) != '%') {
    hl_parse_fail(p, "expected a load");
    return NULL;
  }
  hl_access *access = hl_parse_access(p);
  if (!access || !hl_expect(p, ":"))
    return NULL;
  hl_node *other = hl_parse_expr(p);
  return other ? hl_loop_load(&p->b, access, guard, other) : NULL;
}

static hl_node *parse_parentheses(hl_loop_parser *p)
{
  hl_node *node = hl_parse_expr(p);
  if (node && hl_accept(p, "?"))
    node = parse_guarded_load(p, node);
  return node && hl_close(p, ")") ? node : NULL;
}

static hl_node *parse_const(hl_loop_parser *p)
{
  hl_element_type type;
  uint64_t bits;
  return hl_read_typed_const(p, &type, &bits) ? hl_loop_const(&p->b, type, bits) : NULL;
}

static bool is_const_word(hl_word word)
{
  return hl_word_is(word, "true") || hl_word_is(word, "false") || hl_word_is(word, "inf") ||
         hl_word_is(word, "nan");
}

static hl_node *parse_word(hl_loop_parser *p)
{
  hl_word word = hl_peek_word(p);
  if (word.length == 0 || is_const_word(word))
    return parse_const(p);
  if (word.text[word.length] == '(') {
    p->at += word.length;
    return parse_call(p, word);
  }
  hl_node *node = hl_lookup(p, word);
  if (node)
    p->at += word.length;
  else
    hl_parse_fail(p, "'%s' is not defined here", hl_word_copy(p, word));
  return node;
}

static hl_node *parse_load(hl_loop_parser *p)
{
  hl_access *access = hl_parse_access(p);
  return access ? hl_loop_load(&p->b, access, NULL, NULL) : NULL;
}

static hl_node *parse_atom(hl_loop_parser *p)
{
  hl_node *node = NULL;
  if (!hl_enter(p))
    return NULL;
  if (hl_open(p, "("))
    node = parse_parentheses(p);
  else if (hl_peek_char(p) == '%')
    node = parse_load(p);
  else
    node = parse_word(p);
  hl_leave(p);
  return node;
}

static const hl_infix *accept_infix(hl_loop_parser *p, hl_precedence precedence)
{
  hl_peek_char(p);
  const hl_infix *infix = hl_infix_at(p->source->text + p->at);
  if (!infix || infix->precedence != precedence)
    return NULL;
  p->at += strlen(infix->text);
  return infix;
}

static hl_node *parse_infix(hl_loop_parser *p, hl_precedence precedence)
{
  if (precedence == HL_BINDS_ATOM)
    return parse_atom(p);
  hl_node *left = parse_infix(p, precedence + 1);
  const hl_infix *infix;
  while (left && (infix = accept_infix(p, precedence))) {
    hl_node *right = parse_infix(p, precedence + 1);
    left = right ? hl_loop_binary(&p->b, infix->op, left, right) : NULL;
    if (precedence == HL_BINDS_COMPARE)
      break;
  }
  return left;
}

hl_node *hl_parse_expr(hl_loop_parser *p)
{
  return parse_infix(p, HL_BINDS_COMPARE);
}
