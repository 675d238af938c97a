/* eval_run - evaluates computations: instructions in order, each value freed after its last use;
 * regions on scalars.
 *
 * A plan is made once for each computation: the instructions that the root needs, with their
 * operands as numbers. A region whose instructions are all elementwise scalars runs on one array of
 * scalars; any other runs as a computation on literals. */
#include "eval_internal.h"

#include <string.h>

enum { MOST_DEPTH = 1000 }; /* of computations that call each other */

typedef struct step {
  const hl_instruction *ins;
  const int *operands; /* numbers of steps */
  int uses;            /* by needed steps, and one by the root; 0: not needed */
  hl_element element;  /* in scalar plans */
} step;

typedef struct plan {
  const hl_computation *computation; /* its address is the key in plan_of */
  step *steps;
  int count, root;
  int most_operands;
  bool is_scalar;
} plan;

/* ---- plans ---- */

static void number_operands(hl_arena *arena, const hl_map *step_of, const plan *p, step *s)
{
  int *operands = HL_ARRAY(arena, s->ins->operand_count, int);
  for (int i = 0; i < s->ins->operand_count; i++) {
    const hl_instruction *operand = s->ins->operands[i];
    operands[i] =
        (int)((const step *)hl_map_get(step_of, (const char *)&operand, sizeof operand) - p->steps);
  }
  s->operands = operands;
}

/* Whoever reads it: drawing random numbers, here or in a callee, moves their state on. */
static bool has_effect(const step *s)
{
  hl_opcode op = s->ins->opcode;
  if (op == HL_OP_RNG || op == HL_OP_RNG_GET_AND_UPDATE_STATE)
    return true;
  return hl_called_computations(s->ins, NULL, 0) > 0 && hl_has_side_effect(s->ins);
}

/* Operands stand before their users, so one walk backwards from the root finds all that is needed.
 */
static void count_uses(plan *p)
{
  p->steps[p->root].uses = 1;
  for (int i = p->count - 1; i >= 0; i--) {
    const step *s = &p->steps[i];
    if (!s->uses && !has_effect(s))
      continue;
    for (int k = 0; k < s->ins->operand_count; k++)
      p->steps[s->operands[k]].uses++;
    if (s->ins->operand_count > p->most_operands)
      p->most_operands = s->ins->operand_count;
  }
}

static bool is_scalar_move(hl_opcode opcode)
{
  return opcode == HL_OP_RESHAPE || opcode == HL_OP_BROADCAST || opcode == HL_OP_TRANSPOSE;
}

static bool is_scalar_step(const plan *p, int number)
{
  const hl_instruction *ins = p->steps[number].ins;
  if (ins->opcode == HL_OP_TUPLE)
    return number == p->root;
  bool is_known = ins->opcode == HL_OP_PARAMETER ||
                  (ins->opcode == HL_OP_CONSTANT && !ins->literal->is_elided) ||
                  hl_is_element(ins->opcode) || is_scalar_move(ins->opcode);
  return is_known && hl_shape_is_scalar(ins->shape);
}

/* Everything is a scalar: then no operand can be a tuple, and the root is a scalar or a tuple of
 * scalars. */
static bool is_scalar_plan(const plan *p)
{
  for (int i = 0; i < p->count; i++)
    if (p->steps[i].uses && !is_scalar_step(p, i))
      return false;
  return true;
}

static plan *make_plan(hl_eval *e, const hl_computation *computation)
{
  plan *p = HL_NEW(e->plans, plan);
  hl_map step_of = {.arena = e->plans};
  *p = (plan){.computation = computation,
              .steps = HL_ARRAY(e->plans, computation->instruction_count, step)};
  for (const hl_instruction *ins = computation->first; ins; ins = ins->next) {
    step *s = &p->steps[p->count];
    s->ins = ins;
    number_operands(e->plans, &step_of, p, s);
    hl_map_set(&step_of, (const char *)&s->ins, sizeof s->ins, s);
    if (ins == computation->root)
      p->root = p->count;
    p->count++;
  }
  count_uses(p);
  p->is_scalar = is_scalar_plan(p);
  for (int i = 0; p->is_scalar && i < p->count; i++)
    if (p->steps[i].uses && hl_is_element(p->steps[i].ins->opcode))
      p->steps[i].element = hl_element_of(e, p->steps[i].ins);
  return p;
}

static const plan *plan_of(hl_eval *e, const hl_computation *computation)
{
  plan *p = hl_map_get(&e->plan_of, (const char *)&computation, sizeof computation);
  const hl_scope *scope = e->scope;
  if (!p) {
    e->scope = NULL; /* a region's parameters are nobody's */
    p = make_plan(e, computation);
    e->scope = scope;
    hl_map_set(&e->plan_of, (const char *)&p->computation, sizeof p->computation, p);
  }
  return p;
}

/* ---- computations ---- */

/* The values of one run of a plan. */
typedef struct frame {
  const plan *plan;
  const hl_literal *const *args;
  const hl_literal **values;
  const hl_literal **operands; /* of the step that runs */
  int *uses_left;
} frame;

static const hl_literal *run_step(hl_eval *e, const frame *f, const step *s)
{
  if (s->ins->opcode == HL_OP_PARAMETER)
    return hl_eval_retain(f->args[s->ins->parameter_number]);
  hl_eval_fn *function = hl_eval_function(s->ins->opcode);
  e->where = s->ins;
  if (!function)
    hl_eval_stop(e, "this op has no evaluator");
  hl_eval_charge(e, 1 + (hl_shape_is_array(s->ins->shape) ? hl_shape_elements(s->ins->shape) : 0));
  for (int k = 0; k < s->ins->operand_count; k++)
    f->operands[k] = f->values[s->operands[k]];
  return function(e, s->ins, f->operands);
}

static void end_uses(hl_eval *e, const frame *f, const step *s)
{
  for (int k = 0; k < s->ins->operand_count; k++) {
    int operand = s->operands[k];
    if (--f->uses_left[operand] == 0) {
      hl_eval_release(e, f->values[operand]);
      f->values[operand] = NULL;
    }
  }
}

static const hl_literal *run_plan(hl_eval *e, const plan *p, const hl_literal *const *args)
{
  frame f = {.plan = p, .args = args};
  f.values = hl_eval_scratch(e, p->count, sizeof *f.values);
  f.operands = hl_eval_scratch(e, p->most_operands, sizeof *f.operands);
  f.uses_left = hl_eval_scratch(e, p->count, sizeof *f.uses_left);
  for (int i = 0; i < p->count; i++)
    f.uses_left[i] = p->steps[i].uses;
  for (int i = 0; i < p->count; i++) {
    const step *s = &p->steps[i];
    if (!s->uses && !has_effect(s))
      continue;
    f.values[i] = run_step(e, &f, s);
    end_uses(e, &f, s);
    if (!s->uses)
      hl_eval_release(e, f.values[i]);
  }
  const hl_literal *result = f.values[p->root];
  hl_eval_drop(e, f.values);
  hl_eval_drop(e, f.operands);
  hl_eval_drop(e, f.uses_left);
  return result;
}

/* With scope NULL parameters lead nowhere: the computation is not one that inlining would dissolve.
 */
static const hl_literal *run_in_scope(hl_eval *e, const hl_computation *computation,
                                      const hl_literal *const *args, const hl_scope *scope)
{
  const hl_scope *outer = e->scope;
  const hl_instruction *where = e->where;
  if (++e->depth > MOST_DEPTH)
    hl_eval_stop(e, "computations call each other more than 1000 deep");
  e->scope = scope;
  const hl_literal *result = run_plan(e, plan_of(e, computation), args);
  e->scope = outer;
  e->where = where;
  e->depth--;
  return result;
}

const hl_literal *hl_eval_computation(hl_eval *e, const hl_computation *computation,
                                      const hl_literal *const *args)
{
  return run_in_scope(e, computation, args, NULL);
}

/* ---- control flow ---- */

const hl_literal *hl_eval_call(hl_eval *e, const hl_instruction *ins,
                               const hl_literal *const *operands)
{
  hl_scope scope = {ins, e->scope};
  return run_in_scope(e, hl_attr_computation(ins, HL_ATTR_TO_APPLY), operands, &scope);
}

const hl_literal *hl_eval_fusion(hl_eval *e, const hl_instruction *ins,
                                 const hl_literal *const *operands)
{
  hl_scope scope = {ins, e->scope};
  return run_in_scope(e, hl_attr_computation(ins, HL_ATTR_CALLS), operands, &scope);
}

static bool is_true(hl_eval *e, const hl_computation *condition, const hl_literal *const *state)
{
  const hl_literal *verdict = hl_eval_computation(e, condition, state);
  bool result = hl_scalar_load(verdict, 0).re;
  hl_eval_release(e, verdict);
  return result;
}

const hl_literal *hl_eval_while(hl_eval *e, const hl_instruction *ins,
                                const hl_literal *const *operands)
{
  const hl_computation *condition = hl_attr_computation(ins, HL_ATTR_CONDITION);
  const hl_computation *body = hl_attr_computation(ins, HL_ATTR_BODY);
  const hl_literal *state = hl_eval_retain(operands[0]);
  while (is_true(e, condition, &state)) {
    const hl_literal *next = hl_eval_computation(e, body, &state);
    hl_eval_release(e, state);
    state = next;
  }
  return state;
}

/* An index that is out of range, negative ones too, takes the last branch. */
const hl_literal *hl_eval_conditional(hl_eval *e, const hl_instruction *ins,
                                      const hl_literal *const *operands)
{
  const hl_shape *selector = operands[0]->shape;
  int64_t number = hl_scalar_int(selector->element_type, hl_scalar_load(operands[0], 0));
  if (selector->element_type == HL_PRED) {
    hl_attr_id id = number ? HL_ATTR_TRUE_COMPUTATION : HL_ATTR_FALSE_COMPUTATION;
    return hl_eval_computation(e, hl_attr_computation(ins, id), &operands[number ? 1 : 2]);
  }
  const hl_attr *branches = hl_attr_find(ins, HL_ATTR_BRANCH_COMPUTATIONS);
  if (number < 0 || number >= branches->computations.count)
    number = branches->computations.count - 1;
  return hl_eval_computation(e, branches->computations.values[number], &operands[1 + number]);
}

/* ---- regions ---- */

struct hl_region {
  hl_eval *e;
  const plan *plan;
  hl_scalar *slots;
  const hl_literal **args; /* for a plan that is not scalar */
  hl_opcode op;
};

/* A binary op in an op's region, at the end of calls: parameter numbers are those of the outermost
 * computation. */
static hl_opcode exact_op(hl_eval *e, const hl_computation *computation)
{
  hl_site root = hl_site_inlined(e, (hl_site){computation->root, NULL});
  const hl_shape *shape = root.ins->shape;
  if (computation->parameter_count != 2 || root.ins->operand_count != 2 ||
      root.ins->opcode == HL_OP_COMPARE || !(hl_op_info_of(root.ins->opcode)->flags & HL_BCAST) ||
      !hl_shape_is_scalar(shape))
    return HL_OP_COUNT;
  const hl_instruction *x = hl_site_inlined(e, (hl_site){root.ins->operands[0], root.scope}).ins;
  const hl_instruction *y = hl_site_inlined(e, (hl_site){root.ins->operands[1], root.scope}).ins;
  const hl_instruction *first = computation->parameters[0], *second = computation->parameters[1];
  return (x == first && y == second) || (x == second && y == first) ? root.ins->opcode
                                                                    : HL_OP_COUNT;
}

hl_region *hl_region_open(hl_eval *e, const hl_computation *computation)
{
  hl_region *region = hl_eval_scratch(e, 1, sizeof *region);
  region->e = e;
  region->plan = plan_of(e, computation);
  region->slots = hl_eval_scratch(e, region->plan->count, sizeof *region->slots);
  region->args = hl_eval_scratch(e, computation->parameter_count, sizeof *region->args);
  region->op = exact_op(e, computation);
  return region;
}

void hl_region_close(hl_region *region)
{
  hl_eval *e = region->e;
  hl_eval_drop(e, region->slots);
  hl_eval_drop(e, region->args);
  hl_eval_drop(e, region);
}

hl_opcode hl_region_op(const hl_region *region)
{
  return region->op;
}

enum { MOST_ELEMENT_OPERANDS = 3 };

static hl_scalar scalar_step(const hl_region *region, const step *s, const hl_scalar *args)
{
  hl_scalar operands[MOST_ELEMENT_OPERANDS];
  if (s->ins->opcode == HL_OP_PARAMETER)
    return args[s->ins->parameter_number];
  if (s->ins->opcode == HL_OP_CONSTANT)
    return hl_scalar_load(s->ins->literal, 0);
  if (is_scalar_move(s->ins->opcode))
    return region->slots[s->operands[0]];
  for (int k = 0; k < s->ins->operand_count; k++)
    operands[k] = region->slots[s->operands[k]];
  return hl_element_apply(&s->element, operands);
}

static void call_scalar(const hl_region *region, const hl_scalar *args, hl_scalar *results)
{
  const plan *p = region->plan;
  const step *root = &p->steps[p->root];
  bool is_tuple = root->ins->opcode == HL_OP_TUPLE;
  for (int i = 0; i < p->count; i++)
    if (p->steps[i].uses && p->steps[i].ins->opcode != HL_OP_TUPLE)
      region->slots[i] = scalar_step(region, &p->steps[i], args);
  for (int k = 0; is_tuple && k < root->ins->operand_count; k++)
    results[k] = region->slots[root->operands[k]];
  if (!is_tuple)
    results[0] = region->slots[p->root];
}

static void call_literal(const hl_region *region, const hl_scalar *args, hl_scalar *results)
{
  hl_eval *e = region->e;
  const hl_computation *computation = region->plan->computation;
  for (int k = 0; k < computation->parameter_count; k++) {
    hl_literal *arg = hl_eval_new(e, computation->parameters[k]->shape);
    hl_scalar_store(arg, 0, args[k]);
    region->args[k] = arg;
  }
  const hl_literal *value = hl_eval_computation(e, computation, region->args);
  bool is_tuple = value->shape->element_type == HL_TUPLE;
  for (int k = 0; is_tuple && k < value->shape->tuple_count; k++)
    results[k] = hl_scalar_load(value->elements[k], 0);
  if (!is_tuple)
    results[0] = hl_scalar_load(value, 0);
  hl_eval_release(e, value);
  for (int k = 0; k < computation->parameter_count; k++)
    hl_eval_release(e, region->args[k]);
}

void hl_region_call(hl_region *region, const hl_scalar *args, hl_scalar *results)
{
  hl_eval_charge(region->e, region->plan->count);
  if (region->plan->is_scalar)
    call_scalar(region, args, results);
  else
    call_literal(region, args, results);
}
