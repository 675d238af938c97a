/* infer_control - calls, loops, branches, asynchronous forms, and what talks to the world (spec
 * sections 8.8 and 9). */
#include "infer.h"

/* call-c1: the operands fit the callee's parameters. */
const hl_shape *hl_infer_call(hl_infer *infer, const hl_instruction *ins)
{
  const hl_computation *callee = hl_callee(ins, HL_ATTR_TO_APPLY, 0);
  return hl_check_arguments(infer, ins, callee, HL_RULE_CALL_C1) ? callee->root->shape : NULL;
}

/* fusion-c1: the operands fit the fused computation's parameters. */
const hl_shape *hl_infer_fusion(hl_infer *infer, const hl_instruction *ins)
{
  const hl_computation *callee = hl_callee(ins, HL_ATTR_CALLS, 0);
  return hl_check_arguments(infer, ins, callee, HL_RULE_FUSION_C1) ? callee->root->shape : NULL;
}

static bool takes_one(hl_infer *infer, const hl_instruction *ins, hl_attr_id id, hl_rule rule)
{
  const hl_computation *callee = hl_callee(ins, id, 0);
  return callee->parameter_count == 1 ||
         hl_error(infer->diag, hl_place_attr_entry(ins, id, 0), rule,
                  "'%s' takes %d parameters; the %s of '%s' takes 1", callee->name,
                  callee->parameter_count, hl_attr_name(id), hl_say_op(ins));
}

/* while-c3: initial value, condition and body agree on the loop's shape; the one that stands alone
 * is at fault. */
static bool check_loop_shapes(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *init = hl_operand_shape(ins, 0);
  const hl_shape *tested = hl_callee(ins, HL_ATTR_CONDITION, 0)->parameters[0]->shape;
  const hl_shape *carried = hl_callee(ins, HL_ATTR_BODY, 0)->parameters[0]->shape;
  if (!hl_shape_equal(init, tested) && !hl_shape_equal(init, carried))
    return hl_error(infer->diag, hl_place_operand(ins, 0), HL_RULE_WHILE_C3,
                    "the initial value is %s; the body takes %s", hl_say(infer, init),
                    hl_say(infer, carried));
  hl_attr_id id = hl_shape_equal(init, tested) ? HL_ATTR_BODY : HL_ATTR_CONDITION;
  const hl_shape *other = id == HL_ATTR_BODY ? carried : tested;
  return hl_shape_equal(init, other) ||
         hl_error(infer->diag, hl_place_attr_entry(ins, id, 0), HL_RULE_WHILE_C3,
                  "'%s' takes %s; the loop carries %s", hl_callee(ins, id, 0)->name,
                  hl_say(infer, other), hl_say(infer, init));
}

static bool yields(hl_infer *infer, const hl_instruction *ins, hl_attr_id id, const hl_shape *shape,
                   hl_rule rule)
{
  const hl_computation *callee = hl_callee(ins, id, 0);
  return hl_shape_equal(callee->root->shape, shape) ||
         hl_error(infer->diag, hl_place_attr_entry(ins, id, 0), rule,
                  "'%s' yields %s; the %s of 'while' yields %s", callee->name,
                  hl_say(infer, callee->root->shape), hl_attr_name(id), hl_say(infer, shape));
}

/* while-c1: condition and body take one parameter; -c2: the condition yields pred[]; -c4: the body
 * yields what it takes. */
const hl_shape *hl_infer_while(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *init = hl_operand_shape(ins, 0);
  bool is_good = takes_one(infer, ins, HL_ATTR_CONDITION, HL_RULE_WHILE_C1) &&
                 takes_one(infer, ins, HL_ATTR_BODY, HL_RULE_WHILE_C1) &&
                 yields(infer, ins, HL_ATTR_CONDITION, hl_shape_scalar(infer->arena, HL_PRED),
                        HL_RULE_WHILE_C2) &&
                 check_loop_shapes(infer, ins) &&
                 yields(infer, ins, HL_ATTR_BODY, init, HL_RULE_WHILE_C4);
  return is_good ? init : NULL;
}

typedef struct branches {
  const hl_computation *callees[2]; /* of a pred selector */
  int count;
  bool is_pred;
} branches;

static const hl_computation *branch_of(const hl_instruction *ins, const branches *b, int i)
{
  return b->is_pred ? b->callees[i] : hl_callee(ins, HL_ATTR_BRANCH_COMPUTATIONS, i);
}

static hl_range branch_place(const hl_instruction *ins, const branches *b, int i)
{
  if (!b->is_pred)
    return hl_place_attr_entry(ins, HL_ATTR_BRANCH_COMPUTATIONS, i);
  return hl_place_attr_entry(ins, i ? HL_ATTR_FALSE_COMPUTATION : HL_ATTR_TRUE_COMPUTATION, 0);
}

/* conditional-c2: the attributes are those of the selector's type. */
static bool check_branch_attrs(hl_infer *infer, const hl_instruction *ins, bool is_pred)
{
  static const hl_attr_id two[] = {HL_ATTR_TRUE_COMPUTATION, HL_ATTR_FALSE_COMPUTATION};
  static const hl_attr_id many[] = {HL_ATTR_BRANCH_COMPUTATIONS};
  const hl_attr_id *wanted = is_pred ? two : many, *other = is_pred ? many : two;
  const char *type = is_pred ? "pred" : "s32";
  for (int i = 0; i < (is_pred ? 1 : 2); i++)
    if (hl_attr_find(ins, other[i]))
      return hl_error(infer->diag, hl_place_attr_name(ins, other[i]), HL_RULE_CONDITIONAL_C2,
                      "a selector of type %s goes with %s, not with %s", type,
                      is_pred ? "true_computation and false_computation" : "branch_computations",
                      hl_attr_name(other[i]));
  for (int i = 0; i < (is_pred ? 2 : 1); i++)
    if (!hl_attr_find(ins, wanted[i]))
      return hl_error(infer->diag, hl_place_opcode(ins), HL_RULE_ATTR_MISSING,
                      "'conditional' on %s needs %s", type, hl_attr_name(wanted[i]));
  return true;
}

/* conditional-c3: one operand a branch. */
static bool check_branch_count(hl_infer *infer, const hl_instruction *ins, const branches *b)
{
  int given = ins->operand_count - 1;
  if (given == b->count && b->count > 0)
    return true;
  hl_range at = hl_place_attr(ins, HL_ATTR_BRANCH_COMPUTATIONS);
  if (b->is_pred)
    at = given > b->count ? hl_place_operand(ins, b->count + 1)
         : ins->places    ? ins->places->lparen
                          : ins->range;
  return hl_error(infer->diag, at, HL_RULE_CONDITIONAL_C3, "%d branch%s and %d branch operand%s",
                  b->count, b->count == 1 ? "" : "es", given, given == 1 ? "" : "s");
}

/* conditional-c4: a branch takes its operand; conditional-c5: all branches yield the same shape. */
static bool check_branch(hl_infer *infer, const hl_instruction *ins, const branches *b, int i)
{
  const hl_computation *callee = branch_of(ins, b, i), *first = branch_of(ins, b, 0);
  const hl_shape *given = hl_operand_shape(ins, i + 1);
  if (callee->parameter_count != 1)
    return hl_error(infer->diag, branch_place(ins, b, i), HL_RULE_CONDITIONAL_C4,
                    "branch '%s' takes %d parameters, not 1", callee->name,
                    callee->parameter_count);
  if (!hl_shape_equal(given, callee->parameters[0]->shape))
    return hl_error(infer->diag, hl_place_operand(ins, i + 1), HL_RULE_CONDITIONAL_C4,
                    "the operand of branch %d is %s; '%s' takes %s", i, hl_say(infer, given),
                    callee->name, hl_say(infer, callee->parameters[0]->shape));
  if (!hl_shape_equal(callee->root->shape, first->root->shape))
    return hl_error(infer->diag, branch_place(ins, b, i), HL_RULE_CONDITIONAL_C5,
                    "branch '%s' yields %s; '%s' yields %s", callee->name,
                    hl_say(infer, callee->root->shape), first->name,
                    hl_say(infer, first->root->shape));
  return true;
}

/* conditional-c1: the selector is pred[] or s32[]. */
const hl_shape *hl_infer_conditional(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *selector = hl_operand_shape(ins, 0);
  branches b = {.is_pred = selector->element_type == HL_PRED};
  if (!hl_shape_is_scalar(selector) || (!b.is_pred && selector->element_type != HL_S32)) {
    hl_error(infer->diag, hl_place_operand(ins, 0), HL_RULE_CONDITIONAL_C1,
             "the selector of 'conditional' must be pred[] or s32[]; it is %s",
             hl_say(infer, selector));
    return NULL;
  }
  if (!check_branch_attrs(infer, ins, b.is_pred))
    return NULL;
  if (b.is_pred) {
    b.callees[0] = hl_callee(ins, HL_ATTR_TRUE_COMPUTATION, 0);
    b.callees[1] = hl_callee(ins, HL_ATTR_FALSE_COMPUTATION, 0);
  }
  b.count = b.is_pred ? 2 : hl_attr_find(ins, HL_ATTR_BRANCH_COMPUTATIONS)->computations.count;
  if (!check_branch_count(infer, ins, &b))
    return NULL;
  for (int i = 0; i < b.count; i++)
    if (!check_branch(infer, ins, &b, i))
      return NULL;
  return branch_of(ins, &b, 0)->root->shape;
}

static const hl_shape *operands_tuple(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape **shapes = HL_ARRAY(infer->arena, ins->operand_count, const hl_shape *);
  for (int i = 0; i < ins->operand_count; i++)
    shapes[i] = hl_operand_shape(ins, i);
  return hl_shape_tuple(infer->arena, ins->operand_count, shapes);
}

static bool async_shape_error(hl_infer *infer, const hl_instruction *ins, const char *want)
{
  return hl_error(infer->diag, hl_place_shape(ins), HL_RULE_ASYNC_C1,
                  "'%s-start' yields ((operands), result, ...) with %s, not %s",
                  ins->async_wrapped ? ins->async_wrapped : "async", want,
                  hl_say(infer, ins->shape));
}

/* async-c1: the shape holds the operands and the result; async-c2: the operands fit the callee;
 * async-c4: a callee has one caller (verify.c). */
const hl_shape *hl_infer_async_start(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *shape = ins->shape;
  if (shape->element_type != HL_TUPLE || shape->tuple_count < 2) {
    async_shape_error(infer, ins, "at least two elements");
    return NULL;
  }
  const hl_shape *given = operands_tuple(infer, ins);
  if (!hl_shape_equal(shape->tuple_shapes[0], given)) {
    async_shape_error(infer, ins,
                      hl_arena_printf(infer->arena, "operands %s", hl_say(infer, given)));
    return NULL;
  }
  const hl_computation *callee = hl_callee(ins, HL_ATTR_CALLS, 0);
  if (!hl_check_arguments(infer, ins, callee, HL_RULE_ASYNC_C2))
    return NULL;
  const hl_shape *result = callee->root->shape;
  if (!hl_shape_equal(result, shape->tuple_shapes[1])) {
    async_shape_error(infer, ins,
                      hl_arena_printf(infer->arena, "result %s", hl_say(infer, result)));
    return NULL;
  }
  return shape;
}

/* async-c3: an update or done follows a start or update. */
static bool check_async_operand(hl_infer *infer, const hl_instruction *ins)
{
  const hl_instruction *start = ins->operands[0];
  if (start->opcode == HL_OP_ASYNC_START || start->opcode == HL_OP_ASYNC_UPDATE)
    return true;
  return hl_error(infer->diag, hl_place_operand(ins, 0), HL_RULE_ASYNC_C3,
                  "the operand of '%s' must be an async-start or async-update; '%s' is a %s",
                  hl_op_info_of(ins->opcode)->name, start->name, hl_say_op(start));
}

const hl_shape *hl_infer_async_update(hl_infer *infer, const hl_instruction *ins)
{
  return check_async_operand(infer, ins) ? hl_operand_shape(ins, 0) : NULL;
}

const hl_shape *hl_infer_async_done(hl_infer *infer, const hl_instruction *ins)
{
  return check_async_operand(infer, ins) ? hl_element_shape(hl_operand_shape(ins, 0), 1) : NULL;
}

/* custom-call-c1: operand_layout_constraints has the shape of each operand. */
const hl_shape *hl_infer_custom_call(hl_infer *infer, const hl_instruction *ins)
{
  const hl_attr *attr = hl_attr_find(ins, HL_ATTR_OPERAND_LAYOUT_CONSTRAINTS);
  if (!attr)
    return ins->shape;
  if (attr->shapes.count != ins->operand_count) {
    hl_error(infer->diag, attr->value_range, HL_RULE_CUSTOM_CALL_C1,
             "%d layout constraint%s for %d operand%s", attr->shapes.count,
             attr->shapes.count == 1 ? "" : "s", ins->operand_count,
             ins->operand_count == 1 ? "" : "s");
    return NULL;
  }
  for (int i = 0; i < ins->operand_count; i++)
    if (!hl_shape_equal(attr->shapes.values[i], hl_operand_shape(ins, i))) {
      hl_error(infer->diag, hl_place_attr_entry(ins, HL_ATTR_OPERAND_LAYOUT_CONSTRAINTS, i),
               HL_RULE_CUSTOM_CALL_C1, "the layout constraint is %s; operand %d is %s",
               hl_say(infer, attr->shapes.values[i]), i, hl_say(infer, hl_operand_shape(ins, i)));
      return NULL;
    }
  return ins->shape;
}

static bool is_tuple_of(const hl_shape *shape, int count)
{
  return shape->element_type == HL_TUPLE && shape->tuple_count == count;
}

static const hl_shape *token(hl_infer *infer)
{
  return hl_shape_scalar(infer->arena, HL_TOKEN);
}

/* infeed-c1: takes a token, yields (data, token). */
const hl_shape *hl_infer_infeed(hl_infer *infer, const hl_instruction *ins)
{
  if (!hl_check_token(infer, ins, 0, HL_RULE_INFEED_C1))
    return NULL;
  const hl_shape *data = is_tuple_of(ins->shape, 2) ? ins->shape->tuple_shapes[0] : ins->shape;
  return hl_shape_tuple(infer->arena, 2, (const hl_shape *[]){data, token(infer)});
}

/* outfeed-c1: takes data and a token, yields a token; outfeed-c2: outfeed_shape is the data's. */
const hl_shape *hl_infer_outfeed(hl_infer *infer, const hl_instruction *ins)
{
  const hl_attr *attr = hl_attr_find(ins, HL_ATTR_OUTFEED_SHAPE);
  if (!hl_check_token(infer, ins, 1, HL_RULE_OUTFEED_C1))
    return NULL;
  if (attr && !hl_shape_equal(attr->shapes.values[0], hl_operand_shape(ins, 0))) {
    hl_error(infer->diag, attr->value_range, HL_RULE_OUTFEED_C2,
             "outfeed_shape is %s; the operand is %s", hl_say(infer, attr->shapes.values[0]),
             hl_say(infer, hl_operand_shape(ins, 0)));
    return NULL;
  }
  return token(infer);
}

/* (data, u32[], token): what send and recv yield. */
static const hl_shape *transfer(hl_infer *infer, const hl_shape *data)
{
  return hl_shape_tuple(
      infer->arena, 3,
      (const hl_shape *[]){data, hl_shape_scalar(infer->arena, HL_U32), token(infer)});
}

/* send-c1: takes data and a token. */
const hl_shape *hl_infer_send(hl_infer *infer, const hl_instruction *ins)
{
  return hl_check_token(infer, ins, 1, HL_RULE_SEND_C1) ? transfer(infer, hl_operand_shape(ins, 0))
                                                        : NULL;
}

/* recv-c1: takes a token. */
const hl_shape *hl_infer_recv(hl_infer *infer, const hl_instruction *ins)
{
  if (!hl_check_token(infer, ins, 0, HL_RULE_RECV_C1))
    return NULL;
  return transfer(infer, is_tuple_of(ins->shape, 3) ? ins->shape->tuple_shapes[0] : ins->shape);
}

/* send-done-c1: follows a send. */
const hl_shape *hl_infer_send_done(hl_infer *infer, const hl_instruction *ins)
{
  return hl_check_follows(infer, ins, HL_OP_SEND, HL_RULE_SEND_DONE_C1) ? token(infer) : NULL;
}

/* recv-done-c1: follows a recv. */
const hl_shape *hl_infer_recv_done(hl_infer *infer, const hl_instruction *ins)
{
  if (!hl_check_follows(infer, ins, HL_OP_RECV, HL_RULE_RECV_DONE_C1))
    return NULL;
  const hl_shape *data = hl_element_shape(hl_operand_shape(ins, 0), 0);
  return data ? hl_shape_tuple(infer->arena, 2, (const hl_shape *[]){data, token(infer)}) : NULL;
}
