/* scopes - the header, computations and their names: scopes, forward references, what is checked
 * when a scope ends. */
#include "parser.h"

#include <inttypes.h>
#include <string.h>

static hl_range without_percent(const hl_parser *p, hl_range name)
{
  name.begin += p->text[name.begin] == '%';
  return name;
}

static void *look_up(const hl_parser *p, const hl_map *map, hl_range name)
{
  name = without_percent(p, name);
  return hl_map_get(map, p->text + name.begin, name.end - name.begin);
}

static void enter(const hl_parser *p, hl_map *map, hl_range name, void *value)
{
  name = without_percent(p, name);
  hl_map_set(map, p->text + name.begin, name.end - name.begin, value);
}

/* --- header --- */

void hl_build_module_name(hl_parser *p, hl_range name)
{
  p->module->name = hl_name_text(p, name);
}

static const char *const module_attributes[] = {
    "is_scheduled",
    "replica_count",
    "num_partitions",
    "entry_computation_layout",
    "input_output_alias",
    "buffer_donor",
    "alias_passthrough_params",
    "frontend_attributes",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
    "origin_recovery_table",
    "debug_attributes",
};

/* Whether the module knows the attribute and has not got it yet. */
static bool accept_module_attr(hl_parser *p, hl_range name)
{
  bool is_known = false;
  hl_best best = hl_best_start(hl_range_text(p, name));
  for (size_t i = 0; i < sizeof module_attributes / sizeof *module_attributes; i++) {
    is_known = is_known || hl_range_is(p, name, module_attributes[i]);
    hl_best_try(&best, module_attributes[i]);
  }
  if (!is_known) {
    hl_error(p->diag, name, HL_RULE_ATTR_UNKNOWN, "a module has no attribute '%s'", best.wanted);
    hl_suggest(p, best.name);
    return false;
  }
  if (look_up(p, &p->module_attributes, name))
    return hl_error(p->diag, name, HL_RULE_ATTR_DUPLICATE, "'%s' is given twice", best.wanted);
  enter(p, &p->module_attributes, name, p);
  return true;
}

void hl_build_kept_attr(hl_parser *p, hl_range name, hl_range whole)
{
  hl_module *module = p->module;
  name.end--;
  if (!accept_module_attr(p, name))
    return;
  const char **kept = HL_ARRAY(p->arena, module->kept_attribute_count + 1, const char *);
  if (module->kept_attribute_count)
    memcpy(kept, module->kept_attributes, (size_t)module->kept_attribute_count * sizeof *kept);
  kept[module->kept_attribute_count++] = hl_range_text(p, whole);
  module->kept_attributes = kept;
}

static bool read_count(hl_parser *p, const hl_value *value, int64_t *out)
{
  if (!hl_value_int64(p, value, out))
    return false;
  return *out >= 0 ||
         hl_error(p->diag, value->range, HL_RULE_ATTR_VALUE, "a count cannot be negative");
}

void hl_build_module_attr(hl_parser *p, hl_range name, const hl_value *value)
{
  hl_module *module = p->module;
  hl_range token = name;
  name.end--;
  bool is_count = hl_range_is(p, name, "replica_count") || hl_range_is(p, name, "num_partitions");
  if (!is_count && !hl_range_is(p, name, "is_scheduled")) {
    hl_build_kept_attr(p, token, hl_join(token, value->range));
    return;
  }
  if (!accept_module_attr(p, name))
    return;
  if (hl_range_is(p, name, "replica_count"))
    read_count(p, value, &module->replica_count);
  else if (is_count)
    read_count(p, value, &module->num_partitions);
  else if (value->kind == HL_V_BOOL)
    module->is_scheduled = p->text[value->range.begin] == 't';
  else
    hl_value_error(p, value, "true or false");
}

void hl_build_entry_layout(hl_parser *p, hl_range name, const hl_value *parameters,
                           const hl_value *result)
{
  hl_module *module = p->module;
  name.end--;
  if (!accept_module_attr(p, name))
    return;
  int count = parameters->count, i = 0;
  const hl_shape **shapes = HL_ARRAY(p->arena, count, const hl_shape *);
  hl_range *ranges = HL_ARRAY(p->arena, count + 1, hl_range);
  for (const hl_value *shape = parameters->first; shape; shape = shape->next, i++) {
    shapes[i] = shape->shape;
    ranges[i] = shape->range;
  }
  ranges[count] = result->range;
  module->entry_layout_parameters = shapes;
  module->entry_layout_ranges = ranges;
  module->entry_layout_count = count;
  module->entry_layout_result = result->shape;
}

/* A path into a tuple. */
static bool read_index(hl_parser *p, const hl_value *list, hl_ints *out)
{
  int64_t *values = HL_ARRAY(p->arena, list->count, int64_t);
  int i = 0;
  for (const hl_value *v = list->first; v; v = v->next, i++)
    if (!read_count(p, v, &values[i]))
      return false;
  *out = (hl_ints){values, list->count};
  return true;
}

static bool read_alias(hl_parser *p, const hl_value *value, hl_alias *out)
{
  const hl_value *output = value->first, *parameter = output->next;
  hl_range kind = value->name_range;
  bool is_written = kind.end > kind.begin;
  out->range = value->range;
  out->is_must = is_written && hl_range_is(p, kind, "must-alias");
  if (is_written && !out->is_must && !hl_range_is(p, kind, "may-alias"))
    return hl_error(p->diag, kind, HL_RULE_ATTR_VALUE,
                    "unknown kind of alias '%s', expected may-alias or must-alias",
                    hl_range_text(p, kind));
  return read_index(p, output, &out->output_index) && read_count(p, parameter, &out->parameter) &&
         read_index(p, parameter->next, &out->parameter_index);
}

void hl_build_aliases(hl_parser *p, hl_range name, const hl_value *aliases)
{
  name.end--;
  if (!accept_module_attr(p, name))
    return;
  hl_alias *list = HL_ARRAY(p->arena, aliases->count, hl_alias);
  int count = 0;
  for (const hl_value *alias = aliases->first; alias; alias = alias->next)
    if (read_alias(p, alias, &list[count]))
      count++;
  p->module->aliases = list;
  p->module->alias_count = count;
}

void hl_build_tables(hl_parser *p, hl_range range)
{
  p->module->frame_tables = hl_range_text(p, range);
}

/* --- names --- */

void hl_define(hl_parser *p, hl_range name, hl_instruction *instruction)
{
  p->scope->is_faulty = p->scope->is_faulty || instruction == p->poison;
  if (look_up(p, &p->scope->names, name)) {
    if (instruction != p->poison)
      hl_error(p->diag, name, HL_RULE_NAME_DUPLICATE, "'%s' is defined twice in this computation",
               hl_name_text(p, name));
    return;
  }
  enter(p, &p->scope->names, name, instruction);
}

void hl_poison_name(hl_parser *p, hl_range name)
{
  if (p->scope && name.begin != HL_NO_OFFSET && !look_up(p, &p->scope->names, name))
    enter(p, &p->scope->names, name, p->poison);
}

static void note_unresolved(hl_parser *p, hl_unresolved_list *list, hl_range name, hl_range user)
{
  hl_unresolved *u = HL_NEW(p->arena, hl_unresolved);
  *u = (hl_unresolved){name, user, NULL};
  *(list->last ? &list->last->next : &list->first) = u;
  list->last = u;
}

hl_instruction *hl_find_operand(hl_parser *p, hl_range name, hl_range user)
{
  hl_instruction *found = look_up(p, &p->scope->names, name);
  if (!found)
    note_unresolved(p, &p->scope->unresolved, name, user);
  return found;
}

hl_computation *hl_find_callee(hl_parser *p, hl_range name)
{
  hl_computation *found = look_up(p, &p->computations, name);
  if (!found)
    note_unresolved(p, &p->unresolved_calls, name, p->scope->computation->name_range);
  return found;
}

static bool is_same_name(const hl_parser *p, hl_range a, hl_range b)
{
  a = without_percent(p, a);
  b = without_percent(p, b);
  return a.end - a.begin == b.end - b.begin &&
         !memcmp(p->text + a.begin, p->text + b.begin, a.end - a.begin);
}

static bool wants_suggestion(const hl_parser *p)
{
  return p->diag->error_count < HL_MAX_ERRORS;
}

static void report_operand(hl_parser *p, const hl_scope *scope, const hl_unresolved *u)
{
  const char *name = hl_name_text(p, u->range);
  if (u->user.begin != HL_NO_OFFSET && is_same_name(p, u->range, u->user)) {
    hl_error(p->diag, u->range, HL_RULE_NAME_ORDER, "'%s' uses itself", name);
    return;
  }
  if (look_up(p, &scope->names, u->range)) {
    hl_error(p->diag, u->range, HL_RULE_NAME_ORDER, "'%s' is used before it is defined", name);
    return;
  }
  hl_best best = hl_best_start(name);
  for (const hl_instruction *i = scope->computation->first; i && wants_suggestion(p); i = i->next)
    hl_best_try(&best, i->name);
  hl_error(p->diag, u->range, HL_RULE_NAME_UNKNOWN, "no instruction '%s' in this computation",
           name);
  hl_suggest(p, best.name);
}

static void report_call(hl_parser *p, const hl_unresolved *u)
{
  const char *name = hl_name_text(p, u->range);
  bool is_own = u->user.begin != HL_NO_OFFSET && is_same_name(p, u->range, u->user);
  if (is_own || look_up(p, &p->computations, u->range)) {
    hl_error(p->diag, u->range, HL_RULE_CALLEE_ORDER,
             is_own ? "'%s' calls itself" : "'%s' is called before it is defined", name);
    hl_help(p->diag, "a called computation must be defined above its caller");
    return;
  }
  hl_best best = hl_best_start(name);
  for (const hl_computation *c = p->module->first; c && wants_suggestion(p); c = c->next)
    hl_best_try(&best, c->name);
  hl_error(p->diag, u->range, HL_RULE_CALLEE_UNKNOWN, "no computation '%s' in this module", name);
  hl_suggest(p, best.name);
}

/* --- computations --- */

static void read_signature(hl_parser *p, hl_computation *c, const hl_value *signature)
{
  int count = signature->count, i = 0;
  const hl_shape **shapes = HL_ARRAY(p->arena, count, const hl_shape *);
  const char **names = HL_ARRAY(p->arena, count, const char *);
  hl_range *ranges = HL_ARRAY(p->arena, count, hl_range);
  for (const hl_value *v = signature->first; v; v = v->next, i++) {
    shapes[i] = v->first->shape;
    names[i] = hl_range_text(p, v->name_range);
    ranges[i] = v->first->range;
  }
  c->signature_result = signature->shape;
  c->signature_result_range = signature->shape_range;
  c->signature_parameters = shapes;
  c->signature_names = names;
  c->signature_parameter_ranges = ranges;
  c->signature_parameter_count = count;
}

static hl_scope *open_scope(hl_parser *p, const char *name)
{
  hl_scope *scope = HL_NEW(p->arena, hl_scope);
  scope->outer = p->scope;
  scope->names.arena = p->arena;
  scope->computation = hl_module_add_computation(p->module, name);
  scope->nesting = p->nesting;
  scope->braces = p->braces;
  p->scope = scope;
  return scope;
}

void hl_open_computation(hl_parser *p, hl_range entry, hl_range name, const hl_value *signature)
{
  hl_computation *c = open_scope(p, hl_name_text(p, name))->computation;
  c->name_range = name;
  if (signature)
    read_signature(p, c, signature);
  if (look_up(p, &p->computations, name))
    hl_error(p->diag, name, HL_RULE_NAME_DUPLICATE, "a second computation is named '%s'", c->name);
  if (entry.begin == HL_NO_OFFSET)
    return;
  if (p->module->entry)
    hl_error(p->diag, entry, HL_RULE_ENTRY_DUPLICATE,
             "a second ENTRY: '%s' is the entry of this module", p->module->entry->name);
  p->module->entry = c;
}

void hl_open_inline(hl_parser *p)
{
  hl_scope *scope = open_scope(p, "");
  scope->is_inline = true;
  p->unnamed = hl_arena_grow(p->arena, p->unnamed, &p->unnamed_capacity, p->unnamed_count + 1,
                             sizeof *p->unnamed);
  p->unnamed[p->unnamed_count++] = scope->computation;
}

static void place_parameter(hl_parser *p, hl_computation *c, hl_instruction *i)
{
  int64_t number = i->parameter_number;
  int count = c->parameter_count;
  hl_range place = hl_place_payload(i);
  if (number >= count) {
    if (!p->scope->is_faulty)
      hl_error(p->diag, place, HL_RULE_PARAMETER_NUMBER,
               "parameter number %" PRId64 " of a computation with %d parameter%s", number, count,
               count == 1 ? "" : "s");
    return;
  }
  if (c->parameters[number])
    hl_error(p->diag, place, HL_RULE_PARAMETER_NUMBER, "'%s' is parameter %" PRId64 " already",
             c->parameters[number]->name, number);
  else
    c->parameters[number] = i;
}

/* parameters[] in the order of their numbers; each of 0, 1, ... must be there once. */
static void collect_parameters(hl_parser *p, hl_computation *c)
{
  for (const hl_instruction *i = c->first; i; i = i->next)
    c->parameter_count += i->opcode == HL_OP_PARAMETER;
  c->parameters = HL_ARRAY(p->arena, c->parameter_count, hl_instruction *);
  for (hl_instruction *i = c->first; i; i = i->next)
    if (i->opcode == HL_OP_PARAMETER)
      place_parameter(p, c, i);
}

/* Callees stand before callers: inline bodies were added after the computation that holds them. */
static void move_last(hl_module *module, hl_computation *c)
{
  if (module->last == c)
    return;
  hl_module_remove_computation(module, c);
  c->previous = module->last;
  c->next = NULL;
  module->last->next = c;
  module->last = c;
}

static void report_unresolved(hl_parser *p, const hl_scope *scope)
{
  for (const hl_unresolved *u = scope->unresolved.first; u; u = u->next)
    report_operand(p, scope, u);
}

static void name_implicit(hl_parser *p)
{
  hl_scope *scope = p->scope;
  for (size_t i = 0; i < scope->implicit_count; i++)
    scope->implicit[i]->name =
        hl_fresh_name(p->module, hl_op_info_of(scope->implicit[i]->opcode)->name);
  scope->implicit_count = 0;
}

hl_computation *hl_close_computation(hl_parser *p)
{
  hl_scope *scope = p->scope;
  hl_computation *c = scope->computation;
  name_implicit(p);
  if (!c->root)
    c->root = c->last;
  collect_parameters(p, c);
  report_unresolved(p, scope);
  if (!scope->is_inline && !look_up(p, &p->computations, c->name_range))
    enter(p, &p->computations, c->name_range, c);
  move_last(p->module, c);
  p->scope = scope->outer;
  return c;
}

void hl_build_thread(hl_parser *p, hl_range name, hl_range string)
{
  name.end--;
  hl_computation *c = p->module->last;
  if (!hl_range_is(p, name, "execution_thread"))
    hl_error(p->diag, name, HL_RULE_ATTR_UNKNOWN, "a computation has no attribute '%s'",
             hl_range_text(p, name));
  else if (c->execution_thread)
    hl_error(p->diag, name, HL_RULE_ATTR_DUPLICATE, "'execution_thread' is given twice");
  else
    c->execution_thread = hl_unescape(p, string);
}

static void name_unnamed(hl_parser *p)
{
  for (size_t i = 0; i < p->unnamed_count; i++) {
    const char *base = p->unnamed[i]->name[0] ? p->unnamed[i]->name : "region";
    p->unnamed[i]->name = hl_fresh_name(p->module, base);
  }
  p->unnamed_count = 0;
}

static void report_unresolved_calls(hl_parser *p)
{
  for (const hl_unresolved *u = p->unresolved_calls.first; u; u = u->next)
    report_call(p, u);
  p->unresolved_calls = (hl_unresolved_list){.first = NULL};
}

void hl_finish_line(hl_parser *p)
{
  name_implicit(p);
  report_unresolved(p, p->scope);
  p->scope->unresolved = (hl_unresolved_list){.first = NULL};
  report_unresolved_calls(p);
  name_unnamed(p);
}

bool hl_finish_module(hl_parser *p)
{
  hl_module *module = p->module;
  report_unresolved_calls(p);
  name_unnamed(p);
  if (!module->entry)
    module->entry = module->last;
  if (!module->name && module->entry)
    module->name = module->entry->name;
  return p->diag->error_count == 0;
}
