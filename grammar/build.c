/* build - instructions from their parts: opcode, operands, nested calls, the sugar for async ops.
 */
#include "parser.h"
#include "../ir/limits.h"

#include <inttypes.h>
#include <string.h>

hl_value *hl_build_head(hl_parser *p, hl_range root, hl_range name)
{
  hl_value *head = hl_value_new(p, HL_V_HEAD, name);
  head->is_root = root.begin != HL_NO_OFFSET;
  p->scope->defining = name;
  if (head->is_root && p->scope->has_root)
    hl_error(p->diag, root, HL_RULE_ROOT_DUPLICATE, "a second ROOT in this computation");
  p->scope->has_root = p->scope->has_root || head->is_root;
  hl_range word = {name.begin + 1, name.end};
  if (p->text[name.begin] == '%' &&
      hl_type_by_name(p->text + word.begin, word.end - word.begin) != HL_TYPE_COUNT)
    hl_error(p->diag, name, HL_RULE_NAME_TYPE,
             "'%s' is a type and cannot name an instruction, not even after '%%'",
             hl_range_text(p, word));
  return head;
}

hl_value *hl_build_inline_head(hl_parser *p, hl_range root, hl_range name)
{
  hl_open_inline(p);
  return hl_build_head(p, root, name);
}

hl_value *hl_build_call(hl_parser *p, hl_range range, const hl_value *shape, hl_range opcode,
                        hl_value *payload)
{
  hl_value *call = hl_value_add(hl_value_new(p, HL_V_CALL, opcode), payload);
  call->range = (hl_range){opcode.begin, range.end};
  call->name_range = opcode;
  call->shape = shape ? shape->shape : NULL;
  call->shape_range = shape ? shape->range : HL_NO_RANGE;
  return call;
}

hl_value *hl_build_operand(hl_parser *p, hl_range range, const hl_value *shape, hl_range name)
{
  hl_value *operand = hl_value_new(p, HL_V_OPERAND, range);
  operand->name_range = name;
  operand->shape = shape ? shape->shape : NULL;
  operand->instruction = hl_find_operand(p, name, p->scope->defining);
  return operand;
}

/* --- opcodes --- */

/* `X-start`, `X-update` and `X-done` of an op X that has no such ops of its own. */
typedef struct async_form {
  const char *suffix;
  hl_opcode opcode;
} async_form;

static const async_form async_forms[] = {
    {"-start", HL_OP_ASYNC_START}, {"-update", HL_OP_ASYNC_UPDATE}, {"-done", HL_OP_ASYNC_DONE}};

static bool may_be_async(hl_opcode op)
{
  static const hl_opcode others[] = {
      HL_OP_ALL_GATHER, HL_OP_ALL_REDUCE, HL_OP_COLLECTIVE_PERMUTE, HL_OP_COPY,
      HL_OP_SEND,       HL_OP_RECV,       HL_OP_ASYNC_START,        HL_OP_ASYNC_UPDATE,
      HL_OP_ASYNC_DONE, HL_OP_PARAMETER,  HL_OP_CONSTANT,           HL_OP_COUNT};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (op == others[i])
      return false;
  return true;
}

/* The opcode; for sugar the async op, and *wrapped is X, else HL_OP_COUNT. */
static hl_opcode find_opcode(const hl_parser *p, hl_range name, hl_opcode *wrapped)
{
  const char *text = p->text + name.begin;
  size_t length = name.end - name.begin;
  hl_opcode op = hl_op_by_name(text, length);
  *wrapped = HL_OP_COUNT;
  for (size_t i = 0; op == HL_OP_COUNT && i < sizeof async_forms / sizeof *async_forms; i++) {
    size_t suffix = strlen(async_forms[i].suffix);
    if (length <= suffix || memcmp(text + length - suffix, async_forms[i].suffix, suffix) != 0)
      continue;
    *wrapped = hl_op_by_name(text, length - suffix);
    return may_be_async(*wrapped) ? async_forms[i].opcode : HL_OP_COUNT;
  }
  return op;
}

static void report_opcode(hl_parser *p, hl_range name)
{
  const char *text = hl_range_text(p, name);
  hl_error(p->diag, name, HL_RULE_OPCODE_UNKNOWN, "unknown opcode '%s'", text);
  hl_suggest(p, hl_op_suggest(text));
}

/* --- making instructions --- */

/* An instruction in the making; `is_faulty` after any error in it. */
typedef struct draft {
  hl_parser *p;
  const hl_value *call;
  hl_opcode opcode, wrapped;
  const char *name; /* "" until the computation ends */
  hl_range user;    /* the name, HL_NO_RANGE for nested ones */
  hl_instruction **operands;
  hl_attr *attrs;
  int operand_count, attr_count;
  bool is_faulty;
} draft;

static void draft_operands(draft *d, hl_places *places)
{
  hl_parser *p = d->p;
  const hl_value *list = d->call->first;
  bool has_shapes = false;
  int count = list->count, i = 0;
  d->operands = HL_ARRAY(p->arena, count, hl_instruction *);
  d->operand_count = count;
  hl_range *ranges = HL_ARRAY(p->arena, count, hl_range);
  for (const hl_value *v = list->first; v; v = v->next, i++) {
    ranges[i] = v->range;
    d->operands[i] = v->instruction;
    d->is_faulty =
        d->is_faulty || !v->instruction || v->instruction == p->poison || v->shape == p->bad_shape;
    has_shapes = has_shapes || v->shape;
  }
  places->operands = ranges;
  if (!has_shapes)
    return;
  const hl_shape **shapes = HL_ARRAY(p->arena, count, const hl_shape *);
  i = 0;
  for (const hl_value *v = list->first; v; v = v->next)
    shapes[i++] = v->shape;
  places->operand_shapes = shapes;
}

/* The number of a parameter, -1 after an error. */
static int64_t read_parameter_number(draft *d)
{
  hl_parser *p = d->p;
  const hl_value *payload = d->call->first;
  hl_range end = {d->call->range.end - 1, d->call->range.end};
  if (payload->kind != HL_V_INT)
    hl_error(p->diag, payload->count ? payload->first->range : end, HL_RULE_OP_PAYLOAD,
             "a parameter wants its number");
  else if (payload->is_negative)
    hl_error(p->diag, payload->range, HL_RULE_PARAMETER_NUMBER,
             "a parameter number cannot be negative");
  else if (payload->magnitude > INT32_MAX)
    hl_error(p->diag, payload->range, HL_RULE_PARAMETER_NUMBER,
             "parameter number %" PRIu64 " is too large", payload->magnitude);
  else
    return (int64_t)payload->magnitude;
  d->is_faulty = true;
  return -1;
}

/* Whether the parentheses hold what the op wants there. */
static void draft_payload(draft *d, hl_places *places)
{
  const hl_value *payload = d->call->first;
  if (d->opcode == HL_OP_PARAMETER)
    return;
  bool is_literal = payload->kind == HL_V_LITERAL;
  if (d->opcode == HL_OP_CONSTANT) {
    d->is_faulty = d->is_faulty || !is_literal || !payload->literal;
    return;
  }
  if (payload->kind == HL_V_LIST) {
    draft_operands(d, places);
    return;
  }
  hl_error(d->p->diag, payload->range, HL_RULE_OP_PAYLOAD, "'%s' takes operands, found a number",
           hl_op_info_of(d->opcode)->name);
  d->is_faulty = true;
}

static void report_attr(draft *d, hl_range name, hl_opcode op)
{
  hl_parser *p = d->p;
  const hl_op_info *info = hl_op_info_of(op);
  hl_best best = hl_best_start(hl_range_text(p, name));
  for (int i = 0; i < info->attr_count; i++)
    hl_best_try(&best, hl_attr_name(info->attrs[i].id));
  for (int i = 0; i < HL_ATTR_COMMON_LAST; i++)
    hl_best_try(&best, hl_attr_name((hl_attr_id)i));
  hl_error(p->diag, name, HL_RULE_ATTR_UNKNOWN, "'%s' takes no attribute '%s'", info->name,
           best.wanted);
  hl_suggest(p, best.name);
}

static bool is_given(const draft *d, hl_attr_id id)
{
  for (int i = 0; i < d->attr_count; i++)
    if (d->attrs[i].id == id)
      return true;
  return false;
}

/* The attributes of X stand on `X-start`. */
static hl_attr_id find_attr(const draft *d, hl_range name)
{
  const char *text = d->p->text + name.begin;
  size_t length = name.end - name.begin;
  bool is_wrapped = d->opcode == HL_OP_ASYNC_START && d->wrapped != HL_OP_COUNT;
  hl_attr_id id = is_wrapped ? hl_attr_for_op(d->wrapped, text, length) : HL_ATTR_COUNT;
  if (id == HL_ATTR_COUNT)
    id = hl_attr_for_op(d->opcode, text, length);
  return is_wrapped && id == HL_ATTR_CALLS ? HL_ATTR_COUNT : id;
}

static void draft_attrs(draft *d, const hl_value *attrs)
{
  hl_parser *p = d->p;
  d->attrs = HL_ARRAY(p->arena, attrs->count, hl_attr);
  for (const hl_value *v = attrs->first; v; v = v->next) {
    hl_attr_id id = find_attr(d, v->name_range);
    hl_attr *attr = &d->attrs[d->attr_count];
    *attr = (hl_attr){.id = id, .name_range = v->name_range, .value_range = v->first->range};
    bool is_good = false;
    if (id == HL_ATTR_COUNT)
      report_attr(d, v->name_range, d->wrapped != HL_OP_COUNT ? d->wrapped : d->opcode);
    else if (is_given(d, id))
      hl_error(p->diag, v->name_range, HL_RULE_ATTR_DUPLICATE, "'%s' is given twice",
               hl_attr_name(id));
    else
      is_good = hl_read_attr(p, d->user, v->first, attr);
    d->attr_count += is_good;
    d->is_faulty = d->is_faulty || !is_good;
  }
}

static hl_places *make_places(draft *d)
{
  hl_places *places = HL_NEW(d->p->arena, hl_places);
  const hl_value *call = d->call;
  uint32_t lparen = hl_skip_blanks(d->p, call->name_range.end);
  *places = (hl_places){.name = d->user,
                        .shape = call->shape_range,
                        .opcode = call->name_range,
                        .call = call->range,
                        .lparen = {lparen, lparen + 1},
                        .end = {call->range.end, call->range.end}};
  return places;
}

static hl_instruction *make(hl_parser *p, hl_computation *c, const draft *d, hl_places *places)
{
  hl_instruction *i = hl_instruction_new(c, NULL, d->opcode, d->name, d->call->shape,
                                         d->operand_count, d->operands, NULL);
  i->attrs = d->attrs;
  i->attr_count = d->attr_count;
  i->places = places;
  i->range = d->call->range;
  if (++p->instruction_count > HL_LIMIT_INSTRUCTIONS)
    hl_stop(p, i->range, "a module has more than %d instructions", HL_LIMIT_INSTRUCTIONS);
  return i;
}

/* --- async sugar --- */

static bool is_async_shape(const draft *d)
{
  const hl_shape *shape = d->call->shape;
  return shape && shape->tuple_count >= 2 && shape->tuple_shapes[0]->element_type == HL_TUPLE &&
         shape->tuple_shapes[0]->tuple_count == d->operand_count;
}

/* The attributes but the thread belong to the wrapped op; the async-start gets its callee. */
static void move_attrs(const draft *d, draft *inner, draft *start, hl_computation *body)
{
  hl_arena *arena = d->p->arena;
  inner->attrs = HL_ARRAY(arena, d->attr_count, hl_attr);
  inner->attr_count = 0;
  start->attrs = HL_ARRAY(arena, d->attr_count + 1, hl_attr);
  start->attr_count = 1;
  hl_computation **callee = HL_NEW(arena, hl_computation *);
  *callee = body;
  start->attrs[0] =
      (hl_attr){.id = HL_ATTR_CALLS, .name_range = HL_NO_RANGE, .value_range = HL_NO_RANGE};
  start->attrs[0].computations.values = callee;
  start->attrs[0].computations.count = 1;
  for (int i = 0; i < d->attr_count; i++) {
    bool is_outer = d->attrs[i].id == HL_ATTR_ASYNC_EXECUTION_THREAD;
    draft *to = is_outer ? start : inner;
    to->attrs[to->attr_count++] = d->attrs[i];
  }
}

/* X-start(a, b) is async-start(a, b) of a computation that holds X alone. */
static hl_instruction *make_async_start(hl_parser *p, const draft *d, hl_places *places)
{
  const char *name = hl_arena_printf(p->arena, "wrapped_%s", hl_op_info_of(d->wrapped)->name);
  hl_computation *body = hl_module_add_computation(p->module, name);
  p->unnamed = hl_arena_grow(p->arena, p->unnamed, &p->unnamed_capacity, p->unnamed_count + 1,
                             sizeof *p->unnamed);
  p->unnamed[p->unnamed_count++] = body;
  draft inner = *d, start = *d;
  hl_value call = *d->call;
  move_attrs(d, &inner, &start, body);
  inner.operands = body->parameters = HL_ARRAY(p->arena, d->operand_count, hl_instruction *);
  body->parameter_count = d->operand_count;
  for (int i = 0; i < d->operand_count; i++) {
    const char *parameter = hl_arena_printf(p->arena, "param_%d", i);
    const hl_shape *shape = d->call->shape->tuple_shapes[0]->tuple_shapes[i];
    body->parameters[i] =
        hl_instruction_new(body, NULL, HL_OP_PARAMETER, parameter, shape, 0, NULL, NULL);
    body->parameters[i]->parameter_number = i;
    body->parameters[i]->range = places->operands[i];
  }
  call.shape = d->call->shape->tuple_shapes[1];
  inner.call = &call;
  inner.opcode = d->wrapped;
  inner.name = "wrapped";
  body->root = make(p, body, &inner, places);
  hl_instruction *made = make(p, p->scope->computation, &start, places);
  made->async_wrapped = hl_op_info_of(d->wrapped)->name;
  return made;
}

/* The instruction, or the poison after an error. */
static hl_instruction *finish(draft *d, hl_places *places)
{
  hl_parser *p = d->p;
  int64_t number = d->opcode == HL_OP_PARAMETER ? read_parameter_number(d) : 0;
  bool is_sugar = d->opcode == HL_OP_ASYNC_START && d->wrapped != HL_OP_COUNT;
  if (is_sugar && !d->is_faulty && !is_async_shape(d)) {
    hl_range place = d->call->shape ? d->call->shape_range : d->call->name_range;
    hl_error(p->diag, place, HL_RULE_ASYNC_SUGAR,
             "the shape of %s-start must be ((operand shapes), result, ...)",
             hl_op_info_of(d->wrapped)->name);
    d->is_faulty = true;
  }
  if (d->is_faulty || d->call->shape == p->bad_shape)
    return p->poison;
  if (is_sugar)
    return make_async_start(p, d, places);
  hl_instruction *i = make(p, p->scope->computation, d, places);
  i->parameter_number = number;
  i->literal = d->opcode == HL_OP_CONSTANT ? d->call->first->literal : NULL;
  i->async_wrapped = d->wrapped != HL_OP_COUNT ? hl_op_info_of(d->wrapped)->name : NULL;
  return i;
}

static hl_instruction *build(draft *d, const hl_value *attrs)
{
  hl_parser *p = d->p;
  d->opcode = find_opcode(p, d->call->name_range, &d->wrapped);
  if (d->opcode == HL_OP_COUNT) {
    report_opcode(p, d->call->name_range);
    return p->poison;
  }
  hl_places *places = make_places(d);
  draft_payload(d, places);
  if (attrs) {
    draft_attrs(d, attrs);
    places->end.begin = places->end.end = attrs->count ? attrs->range.end : d->call->range.end;
  }
  return finish(d, places);
}

static void note_implicit(hl_parser *p, hl_instruction *i)
{
  hl_scope *s = p->scope;
  s->implicit = hl_arena_grow(p->arena, s->implicit, &s->implicit_capacity, s->implicit_count + 1,
                              sizeof *s->implicit);
  s->implicit[s->implicit_count++] = i;
}

hl_value *hl_build_nested(hl_parser *p, hl_value *call)
{
  draft d = {.p = p, .call = call, .name = "", .user = HL_NO_RANGE};
  hl_value *operand = hl_value_new(p, HL_V_OPERAND, call->range);
  operand->range.begin = call->shape ? call->shape_range.begin : call->range.begin;
  operand->instruction = build(&d, NULL);
  if (operand->instruction != p->poison)
    note_implicit(p, operand->instruction);
  return operand;
}

/* The shape of element `index`, NULL if it is not known yet or not there: then the verifier says
 * so. */
static const hl_shape *element_shape(const hl_instruction *tuple, int64_t index)
{
  const hl_shape *shape = tuple->shape;
  return shape && index >= 0 && index < shape->tuple_count ? shape->tuple_shapes[index] : NULL;
}

hl_value *hl_build_element(hl_parser *p, hl_value *operand, const hl_value *index)
{
  hl_instruction *tuple = operand->instruction;
  int64_t number;
  operand->range.end = index->range.end;
  operand->shape = NULL;
  bool is_good = hl_value_int64(p, index, &number);
  if (!tuple || tuple == p->poison || !is_good) {
    operand->instruction = tuple ? p->poison : NULL;
    return operand;
  }
  hl_instruction *i = hl_instruction_new(p->scope->computation, NULL, HL_OP_GET_TUPLE_ELEMENT, "",
                                         element_shape(tuple, number), 1, &tuple, NULL);
  i->range = operand->range;
  i->attrs = HL_NEW(p->arena, hl_attr);
  i->attr_count = 1;
  *i->attrs =
      (hl_attr){.id = HL_ATTR_INDEX, .name_range = HL_NO_RANGE, .value_range = index->range};
  i->attrs->i = number;
  note_implicit(p, i);
  operand->instruction = i;
  return operand;
}

void hl_build_instruction(hl_parser *p, hl_value *head, hl_value *rhs)
{
  draft d = {.p = p, .call = rhs, .name = hl_name_text(p, head->range), .user = head->range};
  hl_instruction *i = build(&d, rhs->next);
  hl_define(p, head->range, i);
  if (head->is_root && i != p->poison)
    p->scope->computation->root = i;
  if (!p->scope->is_inline)
    hl_values_reset(p);
}

void hl_build_faulty(hl_parser *p, hl_range name)
{
  hl_poison_name(p, name);
  p->scope->is_faulty = true;
  if (!p->scope->is_inline)
    hl_values_reset(p);
}
