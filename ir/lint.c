/* lint - what is legal and still rarely meant. Labels: unused-parameter, unused-computation, dead-parameter,
 * reduce-init, outer-product, f64-constant. */
#include "lint.h"

#include "broadcasts.h"

#include <math.h>
#include <stdio.h>

typedef struct linter {
  const hl_module *module;
  unsigned warnings, errors;
  hl_diag *diag;
} linter;

hl_rule hl_lint_rule(hl_lint_id lint)
{
  return HL_RULE_UNUSED_PARAMETER + (hl_rule)lint;
}

/* False where the warning is switched off. */
static bool report(linter *l, hl_lint_id lint, hl_range range, const char *text)
{
  unsigned bit = 1u << lint;
  if (l->errors & bit)
    hl_error(l->diag, range, hl_lint_rule(lint), "%s", text);
  else if (l->warnings & bit)
    hl_warning(l->diag, range, hl_lint_rule(lint), "%s", text);
  return (l->warnings | l->errors) & bit;
}

/* ---- what nothing needs ---- */

/* Marks what the root and instructions with effects depend on; users stand behind their operands. */
static void mark_needed(const hl_computation *c)
{
  for (hl_instruction *ins = c->first; ins; ins = ins->next)
    ins->scratch = ins == c->root || (ins->opcode != HL_OP_PARAMETER && hl_has_side_effect(ins));
  for (hl_instruction *ins = c->last; ins; ins = ins->previous)
    for (int i = 0; ins->scratch && i < ins->operand_count; i++)
      ins->operands[i]->scratch = true;
}

static void lint_parameters(linter *l)
{
  const hl_computation *entry = l->module->entry;
  mark_needed(entry);
  for (int i = 0; i < entry->parameter_count; i++) {
    const hl_instruction *p = entry->parameters[i];
    if (p->scratch)
      continue;
    char text[256];
    snprintf(text, sizeof text, p->user_count ? "no result depends on parameter '%.200s'"
                                              : "parameter '%.200s' is not used",
             p->name);
    report(l, p->user_count ? HL_LINT_DEAD_PARAMETER : HL_LINT_UNUSED_PARAMETER, p->range, text);
  }
}

/* Callers stand behind their callees, so one walk back finds what the entry reaches. */
static void lint_computations(linter *l)
{
  for (hl_computation *c = l->module->first; c; c = c->next)
    c->scratch = c == l->module->entry;
  for (hl_computation *c = l->module->last; c; c = c->previous) {
    if (!c->scratch) {
      report(l, HL_LINT_UNUSED_COMPUTATION, c->name_range, "the computation is never called");
      continue;
    }
    for (const hl_instruction *ins = c->first; ins; ins = ins->next) {
      int count = hl_called_computations(ins, NULL, 0);
      hl_computation **called = HL_ARRAY(l->diag->arena, count + 1, hl_computation *);
      hl_called_computations(ins, called, count);
      for (int i = 0; i < count; i++)
        called[i]->scratch = true;
    }
  }
}

/* ---- reductions ---- */

/* The least, or most, that an element of the type can be; of floats, the finite one counts too. */
static bool is_bound(const hl_literal *x, bool is_low)
{
  hl_element_type type = x->shape->element_type;
  if (hl_is_float(type)) {
    double value = hl_literal_get_double(x, 0), most = hl_float_max_finite(type);
    return is_low ? value <= -most : value >= most;
  }
  int bits = hl_type_bits(type);
  uint64_t value = (uint64_t)hl_literal_get_int(x, 0), all = UINT64_MAX >> (64 - bits);
  bool is_signed = hl_type_name(type)[0] == 's';
  uint64_t low = is_signed ? UINT64_C(1) << (bits - 1) : 0;
  return (value & all) == (is_low ? low : all ^ low);
}

/* Whether combining with x changes nothing; true also where that is not known. */
static bool is_identity(hl_opcode op, const hl_literal *x)
{
  bool is_pred = x->shape->element_type == HL_PRED;
  if (hl_is_complex(x->shape->element_type))
    return true;
  switch (op) {
  case HL_OP_ADD:
  case HL_OP_OR:
  case HL_OP_XOR:
    return hl_literal_get_double(x, 0) == 0;
  case HL_OP_MULTIPLY:
    return hl_literal_get_double(x, 0) == 1;
  case HL_OP_AND:
    return is_pred ? hl_literal_get_int(x, 0) == 1 : hl_literal_get_int(x, 0) == -1 || is_bound(x, false);
  case HL_OP_MAXIMUM:
    return is_bound(x, true);
  case HL_OP_MINIMUM:
    return is_bound(x, false);
  default:
    return true;
  }
}

/* The op of a region that is one op on its two parameters; else one without an identity. */
static hl_opcode region_op(const hl_computation *region)
{
  const hl_instruction *root = region->root;
  bool is_simple = region->parameter_count == 2 && root->operand_count == 2 &&
                   root->operands[0]->opcode == HL_OP_PARAMETER &&
                   root->operands[1]->opcode == HL_OP_PARAMETER &&
                   root->operands[0] != root->operands[1];
  return is_simple ? root->opcode : HL_OP_SUBTRACT;
}

static void lint_reduce(linter *l, const hl_instruction *ins)
{
  hl_computation *region;
  bool is_reduce = ins->opcode == HL_OP_REDUCE || ins->opcode == HL_OP_REDUCE_WINDOW;
  if (!is_reduce || ins->operand_count != 2 || hl_called_computations(ins, &region, 1) != 1)
    return;
  const hl_literal *init = ins->operands[1]->literal;
  if (ins->operands[1]->opcode != HL_OP_CONSTANT || !init || init->is_elided)
    return;
  hl_opcode op = region_op(region);
  if (is_identity(op, init))
    return;
  hl_str value = {.arena = l->diag->arena};
  hl_literal_print_element(&value, init, 0);
  const char *text = hl_arena_printf(l->diag->arena, "the initial value %s is not the identity of %s",
                                     hl_str_text(&value), hl_op_info_of(op)->name);
  report(l, HL_LINT_REDUCE_INIT, hl_place_operand(ins, 1), text);
}

/* ---- shapes and types ---- */

static void lint_outer(linter *l, const hl_instruction *ins)
{
  if (!hl_is_accidental_outer(ins))
    return;
  hl_arena *arena = l->diag->arena;
  const hl_shape *left = hl_stretch_source(ins->operands[0])->shape;
  const hl_shape *right = hl_stretch_source(ins->operands[1])->shape;
  const char *text =
      hl_arena_printf(arena, "each element of %s meets each of %s: an outer product",
                      hl_shape_text(arena, left), hl_shape_text(arena, right));
  if (report(l, HL_LINT_OUTER_PRODUCT, ins->range, text))
    hl_help(l->diag, "reshape one to the dimensions of the other where they were to meet in pairs");
}

static bool takes(const hl_module *module, hl_element_type type)
{
  const hl_computation *entry = module->entry;
  for (int i = 0; i < entry->parameter_count; i++)
    if (entry->parameters[i]->shape->element_type == type)
      return true;
  return false;
}

static void lint_f64(linter *l, const hl_instruction *ins)
{
  if (ins->opcode == HL_OP_CONSTANT && ins->shape->element_type == HL_F64)
    report(l, HL_LINT_F64_CONSTANT, ins->range, "a constant of f64 in a module of f32");
}

void hl_lint(const hl_module *module, unsigned warnings, unsigned errors, hl_diag *diag)
{
  linter l = {module, warnings, errors, diag};
  bool is_f32 = takes(module, HL_F32) && !takes(module, HL_F64);
  lint_parameters(&l);
  lint_computations(&l);
  for (const hl_computation *c = module->first; c; c = c->next)
    for (const hl_instruction *ins = c->first; ins; ins = ins->next) {
      lint_reduce(&l, ins);
      lint_outer(&l, ins);
      if (is_f32)
        lint_f64(&l, ins);
    }
}
