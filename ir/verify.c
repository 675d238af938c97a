/* verify - the rules of HLO: structure here, shapes and attributes of each op through hl_infer_of
 * (infer_*.c).
 *
 * One walk in definition order. An instruction with a fault is marked; its users and callers stay
 * silent, except that a written result shape is believed further on.
 */
#include "infer.h"

#include "limits.h"

#include <string.h>

hl_infer_fn *hl_infer_of(hl_opcode opcode)
{
  static hl_infer_fn *const table[HL_OP_COUNT] = {
#define HL_OP(id, name, min, max, types, flags, stage, infer, family, ...)                         \
  [HL_OP_##id] = hl_infer_##infer,
#include "ops.def"
  };
  return table[opcode];
}

/* Values of hl_instruction.scratch and hl_computation.scratch. */
enum { GOOD, FAULTY, CALLED_ASYNC, CALLED, UNSEEN };

/* The line of the op's example that has the op. */
static void help_by_example(hl_infer *infer, const hl_instruction *ins)
{
  const char *example = hl_op_notes_of(ins->opcode)->example, *call = hl_arena_printf(infer->diag->arena, " %s(", hl_op_info_of(ins->opcode)->name);
  const char *found = strstr(example, call), *begin = found;
  while (begin && begin > example && begin[-1] != '\n')
    begin--;
  if (!begin)
    return;
  begin += strspn(begin, " ");
  hl_help(infer->diag, "for example: %.*s", (int)strcspn(begin, "\n"), begin);
}

static bool check_arity(hl_infer *infer, const hl_instruction *ins)
{
  const hl_op_info *info = hl_op_info_of(ins->opcode);
  int count = ins->operand_count;
  if (count >= info->min_operands && count <= info->max_operands)
    return true;
  bool is_short = count < info->min_operands && ins->places;
  hl_range at = is_short ? ins->places->lparen : hl_place_operand(ins, info->max_operands);
  const char *bound = info->max_operands == HL_ANY ? "at least " : "";
  hl_error(infer->diag, at, HL_RULE_OP_ARITY, "'%s' takes %s%d operand%s; %d given", hl_say_op(ins), bound, info->min_operands,
           info->min_operands == 1 ? "" : "s", count);
  help_by_example(infer, ins);
  return false;
}

static bool check_operand_shapes(hl_infer *infer, const hl_instruction *ins)
{
  const hl_places *places = ins->places;
  for (int i = 0; places && places->operand_shapes && i < ins->operand_count; i++) {
    const hl_shape *written = places->operand_shapes[i], *shape = hl_operand_shape(ins, i);
    if (!written || hl_shape_equal(written, shape))
      continue;
    hl_error(infer->diag, hl_place_operand(ins, i), HL_RULE_OPERAND_SHAPE, "'%s' is %s, not %s",
             ins->operands[i]->name, hl_say(infer, shape), hl_say(infer, written));
    hl_help(infer->diag, "write %s %s, or leave the shape out", hl_say(infer, shape),
            ins->operands[i]->name);
    return false;
  }
  return true;
}

static bool check_required_attrs(hl_infer *infer, const hl_instruction *ins)
{
  const hl_op_info *info = hl_op_info_of(ins->opcode);
  for (int i = 0; i < info->attr_count; i++)
    if (info->attrs[i].is_required && !hl_attr_find(ins, info->attrs[i].id)) {
      hl_error(infer->diag, hl_place_opcode(ins), HL_RULE_ATTR_MISSING, "'%s' needs %s", hl_say_op(ins), hl_attr_name(info->attrs[i].id));
      help_by_example(infer, ins);
      return false;
    }
  return true;
}

/* "integers, floats or complex numbers" for a set of types. */
static const char *say_types(hl_infer *infer, unsigned types)
{
  static const struct {
    unsigned type;
    const char *name;
  } names[] = {{HL_T_PRED, "pred"},
               {HL_T_INTEGRAL, "integers"},
               {HL_T_SIGNED, "signed integers"},
               {HL_T_FLOAT, "floats"},
               {HL_T_COMPLEX, "complex numbers"}};
  hl_str out = {.arena = infer->arena};
  if (types == HL_T_F32_F64)
    return "f32 or f64";
  if ((types & HL_T_ARRAY) == HL_T_ARRAY)
    return "arrays";
  unsigned left = types;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if ((left & names[i].type) != names[i].type)
      continue;
    left &= ~names[i].type;
    hl_str_printf(&out, "%s%s", out.length ? left ? ", " : " or " : "", names[i].name);
  }
  return hl_str_text(&out);
}

static bool is_allowed(unsigned types, const hl_shape *shape)
{
  if (types == HL_T_F32_F64)
    return shape->element_type == HL_F32 || shape->element_type == HL_F64;
  return hl_shape_is_array(shape) && types & 1u << hl_type_class_of(shape->element_type);
}

static bool check_types(hl_infer *infer, const hl_instruction *ins)
{
  unsigned types = hl_op_info_of(ins->opcode)->types;
  for (int i = 0; types && i < ins->operand_count; i++) {
    const hl_shape *shape = hl_operand_shape(ins, i);
    if (!is_allowed(types, shape))
      return hl_error(infer->diag, hl_place_operand(ins, i), HL_RULE_OP_TYPE,
                      "'%s' takes %s; operand %d is %s", hl_say_op(ins), say_types(infer, types), i,
                      hl_say(infer, shape));
  }
  return true;
}

/* Ops whose shape is written by XLA's choice alone. */
static bool follows_from_operands(hl_opcode opcode)
{
  return opcode == HL_OP_SLICE || opcode == HL_OP_DYNAMIC_SLICE || opcode == HL_OP_DYNAMIC_UPDATE_SLICE;
}

static bool check_shape_is_there(hl_infer *infer, const hl_instruction *ins)
{
  if (ins->shape || !(hl_op_info_of(ins->opcode)->flags & HL_STATED))
    return true;
  if (infer->options.infers_stated && follows_from_operands(ins->opcode))
    return true;
  return hl_error(infer->diag, hl_place_opcode(ins), HL_RULE_SHAPE_MISSING,
                  "the result shape of '%s' does not follow from its operands and must be written",
                  hl_say_op(ins));
}

/* A shape that is not written is bounded by no text: tuples of tuples double with each instruction.
 */
static bool check_tuple_limits(hl_infer *infer, const hl_instruction *ins, const hl_shape *inferred)
{
  if (inferred->tuple_depth > HL_LIMIT_NESTING)
    return hl_error(infer->diag, hl_place_opcode(ins), HL_RULE_LIMIT,
                    "the result of '%s' nests tuples more than %d deep", hl_say_op(ins),
                    HL_LIMIT_NESTING);
  if (inferred->tuple_leaves > HL_LIMIT_TUPLE_LEAVES)
    return hl_error(infer->diag, hl_place_opcode(ins), HL_RULE_LIMIT,
                    "the result of '%s' is a tuple of %lld arrays; the limit is %d", hl_say_op(ins),
                    (long long)inferred->tuple_leaves, HL_LIMIT_TUPLE_LEAVES);
  return true;
}

/* The dimensions over which a reduce would yield the array that is written, "{1}", as many as its text has: it does not say
 * whether the shape or the dimensions were meant. NULL: none would. */
static const char *dimensions_for(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *written = ins->shape;
  if (ins->opcode != HL_OP_REDUCE || written->element_type == HL_TUPLE)
    return NULL;
  const hl_shape *x = hl_operand_shape(ins, 0);
  const char *list = "", *comma = "";
  int kept = 0;
  for (int i = 0; i < x->rank; i++)
    if (kept < written->rank && x->dimensions[i] == written->dimensions[kept]) {
      kept++;
    } else {
      list = hl_arena_printf(infer->arena, "%s%s%d", list, comma, i);
      comma = ",";
    }
  bool fits = kept == written->rank && x->rank - kept == hl_attr_ints(ins, HL_ATTR_DIMENSIONS).count;
  return fits && x->element_type == written->element_type ? hl_arena_printf(infer->arena, "{%s}", list) : NULL;
}

static void help_with_result(hl_infer *infer, const hl_instruction *ins, const hl_shape *inferred)
{
  const char *text = hl_say(infer, inferred), *dimensions = dimensions_for(infer, ins);
  if (strstr(text, "..."))
    return;
  if (dimensions)
    hl_help(infer->diag, "write %s, or dimensions=%s for %s", text, dimensions, hl_say(infer, ins->shape));
  else
    hl_help(infer->diag, "write %s", text);
}

/* Where two tuples differ, for the message; the shapes themselves otherwise. */
static bool check_result(hl_infer *infer, const hl_instruction *ins, const hl_shape *inferred)
{
  const hl_shape *written = ins->shape;
  if (!written || hl_shape_equal(written, inferred))
    return true;
  const char *part = "";
  for (int i = 0;
       inferred->tuple_count == written->tuple_count && i < inferred->tuple_count && !*part; i++)
    if (!hl_shape_equal(inferred->tuple_shapes[i], written->tuple_shapes[i]))
      part = hl_arena_printf(infer->arena, ": element %d is %s, not %s", i,
                             hl_say(infer, inferred->tuple_shapes[i]),
                             hl_say(infer, written->tuple_shapes[i]));
  hl_error(infer->diag, hl_place_shape(ins), HL_RULE_RESULT_SHAPE, "'%s' yields %s, not %s%s",
           hl_say_op(ins), hl_say(infer, inferred), hl_say(infer, written), part);
  help_with_result(infer, ins, inferred);
  return false;
}

/* Definition before use: a text cannot break it, a builder or a pass can. */
static bool check_order(hl_infer *infer, const hl_instruction *ins)
{
  for (int i = 0; i < ins->operand_count; i++) {
    const hl_instruction *operand = ins->operands[i];
    if (operand->computation != ins->computation || operand->scratch == UNSEEN)
      return hl_error(infer->diag, hl_place_operand(ins, i), HL_RULE_NAME_ORDER,
                      "'%s' reads '%s', which does not stand before it", ins->name, operand->name);
  }
  for (int i = 0; i < ins->attr_count; i++) {
    const hl_attr *attr = &ins->attrs[i];
    for (int k = 0; hl_holds_computations(attr) && k < attr->computations.count; k++)
      if (attr->computations.values[k]->scratch == UNSEEN)
        return hl_error(infer->diag, hl_place_attr_entry(ins, attr->id, k), HL_RULE_CALLEE_ORDER,
                        "'%s' calls '%s', which does not stand before it", ins->name,
                        attr->computations.values[k]->name);
  }
  return true;
}

/* Whether all that the instruction builds on is known and without fault. */
static bool rests_on_good(const hl_instruction *ins)
{
  for (int i = 0; i < ins->operand_count; i++)
    if (ins->operands[i]->scratch == FAULTY || !ins->operands[i]->shape)
      return false;
  for (int i = 0; i < ins->attr_count; i++) {
    const hl_attr *attr = &ins->attrs[i];
    for (int k = 0; hl_holds_computations(attr) && k < attr->computations.count; k++)
      if (attr->computations.values[k]->scratch == FAULTY)
        return false;
  }
  return true;
}

/* async-c4: a computation that an async-start calls has that one caller. */
static bool check_callers(hl_infer *infer, const hl_instruction *ins)
{
  for (int i = 0; i < ins->attr_count; i++) {
    const hl_attr *attr = &ins->attrs[i];
    bool is_async = ins->opcode == HL_OP_ASYNC_START && attr->id == HL_ATTR_CALLS;
    bool is_ours = ins->opcode != HL_OP_ASYNC_UPDATE && ins->opcode != HL_OP_ASYNC_DONE;
    if (!is_ours || !hl_holds_computations(attr))
      continue;
    for (int k = 0; k < attr->computations.count; k++) {
      hl_computation *callee = attr->computations.values[k];
      if (callee->scratch == CALLED_ASYNC || (is_async && callee->scratch == CALLED))
        return hl_error(infer->diag, hl_place_attr_entry(ins, attr->id, k), HL_RULE_ASYNC_C4,
                        "'%s' is called by an async-start and by another instruction",
                        callee->name);
      callee->scratch = is_async ? CALLED_ASYNC : CALLED;
    }
  }
  return true;
}

static void verify_instruction(hl_infer *infer, hl_instruction *ins)
{
  bool is_in_order = check_order(infer, ins);
  ins->scratch = GOOD;
  if (is_in_order && !rests_on_good(ins))
    return;
  const hl_shape *shape = NULL;
  if (is_in_order && check_arity(infer, ins) && check_operand_shapes(infer, ins) &&
      check_required_attrs(infer, ins) && check_types(infer, ins) &&
      check_shape_is_there(infer, ins) && check_callers(infer, ins))
    shape = hl_infer_of(ins->opcode)(infer, ins);
  if (!shape || !check_tuple_limits(infer, ins, shape) || !check_result(infer, ins, shape)) {
    ins->scratch = FAULTY;
    return;
  }
  if (!ins->shape)
    ins->shape = shape;
}

static void check_signature(hl_infer *infer, const hl_computation *c)
{
  if (!c->signature_result)
    return;
  if (c->signature_parameter_count != c->parameter_count) {
    int extra = c->parameter_count < c->signature_parameter_count ? c->parameter_count : -1;
    hl_range at = extra >= 0 ? c->signature_parameter_ranges[extra] : c->signature_result_range;
    hl_error(infer->diag, at, HL_RULE_SIGNATURE,
             "the signature of '%s' has %d parameter%s; the computation has %d", c->name,
             c->signature_parameter_count, c->signature_parameter_count == 1 ? "" : "s",
             c->parameter_count);
    return;
  }
  for (int i = 0; i < c->parameter_count; i++)
    if (!hl_shape_equal(c->signature_parameters[i], c->parameters[i]->shape)) {
      hl_error(infer->diag, c->signature_parameter_ranges[i], HL_RULE_SIGNATURE,
               "the signature says %s; parameter %d is %s",
               hl_say(infer, c->signature_parameters[i]), i,
               hl_say(infer, c->parameters[i]->shape));
      return;
    }
  if (c->root->scratch == GOOD && c->root->shape &&
      !hl_shape_equal(c->signature_result, c->root->shape))
    hl_error(infer->diag, c->signature_result_range, HL_RULE_SIGNATURE,
             "the signature says %s; the root is %s", hl_say(infer, c->signature_result),
             hl_say(infer, c->root->shape));
}

static void verify_computation(hl_infer *infer, hl_computation *c)
{
  for (hl_instruction *ins = c->first; ins; ins = ins->next)
    verify_instruction(infer, ins);
  bool is_known = c->root->scratch == GOOD && c->root->shape;
  for (int i = 0; i < c->parameter_count; i++)
    is_known = is_known && c->parameters[i]->shape;
  c->scratch = is_known ? GOOD : FAULTY;
  if (is_known)
    check_signature(infer, c);
}

bool hl_verify_added(const hl_computation *after, hl_instruction *first, hl_verify_options options,
                     hl_diag *diag)
{
  hl_infer infer = {first->computation->module->arena, diag, options};
  int before = diag->error_count;
  for (hl_computation *c = after->next; c; c = c->next)
    verify_computation(&infer, c);
  for (hl_instruction *ins = first; ins; ins = ins->next)
    verify_instruction(&infer, ins);
  return diag->error_count == before && !diag->suppressed;
}

static void check_entry_layout(hl_infer *infer, const hl_module *module)
{
  const hl_computation *entry = module->entry;
  const hl_range *ranges = module->entry_layout_ranges;
  int count = module->entry_layout_count;
  if (!module->entry_layout_result || entry->scratch == FAULTY)
    return;
  if (count != entry->parameter_count) {
    hl_error(infer->diag,
             count > entry->parameter_count ? ranges[entry->parameter_count] : ranges[count],
             HL_RULE_ENTRY_LAYOUT, "entry_computation_layout has %d parameter%s; the entry has %d",
             count, count == 1 ? "" : "s", entry->parameter_count);
    return;
  }
  for (int i = 0; i < count; i++)
    if (!hl_shape_equal(module->entry_layout_parameters[i], entry->parameters[i]->shape)) {
      hl_error(infer->diag, ranges[i], HL_RULE_ENTRY_LAYOUT,
               "entry_computation_layout says %s; parameter %d is %s",
               hl_say(infer, module->entry_layout_parameters[i]), i,
               hl_say(infer, entry->parameters[i]->shape));
      return;
    }
  if (!hl_shape_equal(module->entry_layout_result, entry->root->shape))
    hl_error(infer->diag, ranges[count], HL_RULE_ENTRY_LAYOUT,
             "entry_computation_layout says %s; the root is %s",
             hl_say(infer, module->entry_layout_result), hl_say(infer, entry->root->shape));
}

/* The part of a shape that a path of tuple indices names, or NULL. */
static const hl_shape *shape_at(const hl_shape *shape, hl_ints path)
{
  for (int i = 0; shape && i < path.count; i++) {
    int64_t index = path.values[i];
    shape = index >= 0 && index < shape->tuple_count ? shape->tuple_shapes[index] : NULL;
  }
  return shape;
}

static bool check_alias(hl_infer *infer, const hl_module *module, const hl_alias *alias)
{
  const hl_computation *entry = module->entry;
  if (alias->parameter < 0 || alias->parameter >= entry->parameter_count)
    return hl_error(infer->diag, alias->range, HL_RULE_ALIAS,
                    "there is no parameter %lld; the entry has %d", (long long)alias->parameter,
                    entry->parameter_count);
  const hl_shape *output = shape_at(entry->root->shape, alias->output_index);
  const hl_shape *input =
      shape_at(entry->parameters[alias->parameter]->shape, alias->parameter_index);
  if (!output)
    return hl_error(infer->diag, alias->range, HL_RULE_ALIAS, "the result %s has no part {%s}",
                    hl_say(infer, entry->root->shape),
                    hl_say_ints(infer, alias->output_index.count, alias->output_index.values));
  if (!input)
    return hl_error(
        infer->diag, alias->range, HL_RULE_ALIAS, "parameter %lld, %s, has no part {%s}",
        (long long)alias->parameter, hl_say(infer, entry->parameters[alias->parameter]->shape),
        hl_say_ints(infer, alias->parameter_index.count, alias->parameter_index.values));
  return hl_shape_equal(output, input) || hl_error(infer->diag, alias->range, HL_RULE_ALIAS,
                                                   "the result's part is %s; the parameter's is %s",
                                                   hl_say(infer, output), hl_say(infer, input));
}

/* One warning, however many there are. */
static void warn_elided(hl_infer *infer, const hl_module *module)
{
  const hl_instruction *first = NULL;
  int count = 0;
  for (const hl_computation *c = module->first; c; c = c->next)
    for (const hl_instruction *ins = c->first; ins; ins = ins->next)
      if (ins->literal && ins->literal->is_elided) {
        first = first ? first : ins;
        count++;
      }
  if (!first)
    return;
  const char *others =
      count == 1 ? "" : hl_arena_printf(infer->arena, ", and those of %d more", count - 1);
  hl_warning(infer->diag, hl_place_payload(first), HL_RULE_LITERAL_ELIDED,
             "the values of constant '%s' were left out when it was printed%s", first->name,
             others);
  hl_help(infer->diag, "print the module in full with as_hlo_text(print_large_constants=True)");
}

static void mark_unseen(hl_module *module)
{
  for (hl_computation *c = module->first; c; c = c->next) {
    c->scratch = UNSEEN;
    for (hl_instruction *ins = c->first; ins; ins = ins->next)
      ins->scratch = UNSEEN;
  }
}

bool hl_verify(hl_module *module, hl_verify_options options, hl_diag *diag)
{
  hl_infer infer = {module->arena, diag, options};
  int before = diag->error_count;
  mark_unseen(module);
  for (hl_computation *c = module->first; c; c = c->next)
    verify_computation(&infer, c);
  check_entry_layout(&infer, module);
  for (int i = 0; module->entry->scratch != FAULTY && i < module->alias_count; i++)
    check_alias(&infer, module, &module->aliases[i]);
  warn_elided(&infer, module);
  return diag->error_count == before && !diag->suppressed;
}
