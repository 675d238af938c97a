/* cmd_extract - `hlo-lite extract --root NAME`: what one instruction is computed from, as a module of its
 * own.
 *
 * The instruction becomes the root of its computation, and that the entry; what neither needs goes, and the
 * parameters that are left are numbered anew in their order. Instructions with effects stay only where the root
 * depends on them. */
#include "command.h"

#include "ir/print.h"

#include <string.h>

/* The last of that name: names are unique in a computation, and the entry stands at the end. */
static hl_instruction *find_instruction(const hl_module *module, const char *name)
{
  name += *name == '%';
  for (hl_computation *c = module->last; c; c = c->previous)
    for (hl_instruction *ins = c->first; ins; ins = ins->next)
      if (!strcmp(ins->name, name))
        return ins;
  return NULL;
}

static const char *closest_name(const hl_module *module, const char *name)
{
  const char *best = NULL;
  size_t least = 3;
  for (const hl_computation *c = module->last; c; c = c->previous)
    for (const hl_instruction *ins = c->first; ins; ins = ins->next) {
      size_t distance = hl_edit_distance(name, ins->name, least - 1);
      if (distance < least) {
        least = distance;
        best = ins->name;
      }
    }
  return best;
}

/* Users stand behind their operands: one walk back marks the cone, and removes what is outside it. */
static void cut_computation(hl_computation *c, hl_instruction *root)
{
  c->root = root;
  for (hl_instruction *ins = c->first; ins; ins = ins->next)
    ins->scratch = ins == root;
  for (hl_instruction *ins = c->last; ins; ins = ins->previous)
    for (int i = 0; ins->scratch && i < ins->operand_count; i++)
      ins->operands[i]->scratch = true;
  for (hl_instruction *ins = c->last, *previous; ins; ins = previous) {
    previous = ins->previous;
    hl_instruction_remove_attr(ins, HL_ATTR_CONTROL_PREDECESSORS); /* it may name what goes */
    if (!ins->scratch && ins->opcode != HL_OP_PARAMETER)
      hl_instruction_remove(ins);
  }
}

static void cut_parameters(hl_computation *c)
{
  int kept = 0;
  for (int i = 0; i < c->parameter_count; i++) {
    hl_instruction *p = c->parameters[i];
    if (!p->scratch) {
      hl_instruction_remove(p);
      continue;
    }
    p->parameter_number = kept;
    c->parameters[kept++] = p;
  }
  c->parameter_count = kept;
  c->signature_result = NULL;
  c->signature_parameters = NULL;
  c->signature_parameter_count = 0;
}

/* Callers stand behind their callees. */
static void cut_module(hl_module *module, hl_arena *arena)
{
  for (hl_computation *c = module->first; c; c = c->next)
    c->scratch = c == module->entry;
  for (hl_computation *c = module->last, *previous; c; c = previous) {
    previous = c->previous;
    if (!c->scratch) {
      hl_module_remove_computation(module, c);
      continue;
    }
    for (const hl_instruction *ins = c->first; ins; ins = ins->next) {
      int count = hl_called_computations(ins, NULL, 0);
      hl_computation **called = HL_ARRAY(arena, count + 1, hl_computation *);
      hl_called_computations(ins, called, count);
      for (int i = 0; i < count; i++)
        called[i]->scratch = true;
    }
  }
}

/* Attributes of the header that speak of the old parameters and results go. */
static void extract(hl_session *s, hl_instruction *root)
{
  hl_module *module = s->module;
  module->entry = root->computation;
  module->alias_count = 0;
  module->kept_attribute_count = 0;
  module->entry_layout_parameters = NULL;
  module->entry_layout_count = 0;
  module->entry_layout_result = NULL;
  cut_computation(module->entry, root);
  cut_parameters(module->entry);
  cut_module(module, s->scratch);
}

static bool extract_named(hl_session *s, const char *name)
{
  hl_instruction *root = find_instruction(s->module, name);
  const char *closest = root ? NULL : closest_name(s->module, name);
  if (root)
    extract(s, root);
  else if (closest)
    hl_session_input_fault(s, "no instruction is called '%s'; did you mean '%s'?", name, closest);
  else
    hl_session_input_fault(s, "no instruction is called '%s'", name);
  return root != NULL;
}

int hl_command_extract(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  (void)arena;
  hl_session s;
  bool is_written = true;
  if (!options->root)
    return hl_complain(HL_EXIT_USAGE, "extract needs the name of an instruction: --root NAME");
  hl_command_open(&s, options, guard);
  if (hl_command_load(&s, options, options->inputs[0]) && extract_named(&s, options->root)) {
    hl_str text = {.arena = s.arena};
    hl_module_print(&text, s.module);
    is_written = hl_command_write(options->output, hl_str_text(&text), text.length);
  }
  int status = hl_command_close(&s, options);
  return status == HL_EXIT_DONE && !is_written ? HL_EXIT_INPUT : status;
}
