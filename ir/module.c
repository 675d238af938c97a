/* module - building and changing the HLO IR. Lists are linked both ways; every instruction knows
 * each of its users once. */
#include "module.h"

#include <inttypes.h>
#include <string.h>

hl_module *hl_module_new(hl_arena *arena, const char *name)
{
  hl_module *module = HL_NEW(arena, hl_module);
  module->arena = arena;
  module->name = name;
  module->frame_tables = "";
  return module;
}

/* The length of a name without the ".N" at its end (up to 9 digits); N + 1 goes to *next, 0 if
 * there is none. */
static size_t split_name(const char *name, uint32_t *next)
{
  size_t length = strlen(name), at = length;
  uint32_t number = 0, unit = 1;
  *next = 0;
  while (at > 0 && length - at < 9 && name[at - 1] >= '0' && name[at - 1] <= '9') {
    number += unit * (uint32_t)(name[--at] - '0');
    unit *= 10;
  }
  if (at == length || at < 2 || name[at - 1] != '.')
    return length;
  *next = number + 1;
  return at - 1;
}

/* Keeps next_id above the number of every name. */
static void note_name(hl_module *module, const char *name)
{
  uint32_t next;
  split_name(name, &next);
  if (next > module->next_id)
    module->next_id = next;
}

const char *hl_fresh_name(hl_module *module, const char *base)
{
  uint32_t unused;
  int length = (int)split_name(base, &unused);
  return hl_arena_printf(module->arena, "%.*s.%" PRIu32, length, base, module->next_id++);
}

hl_computation *hl_module_add_computation(hl_module *module, const char *name)
{
  hl_computation *computation = HL_NEW(module->arena, hl_computation);
  computation->name = name;
  computation->module = module;
  computation->name_range = HL_NO_RANGE;
  computation->signature_result_range = HL_NO_RANGE;
  computation->previous = module->last;
  if (module->last)
    module->last->next = computation;
  else
    module->first = computation;
  module->last = computation;
  note_name(module, name);
  return computation;
}

void hl_module_remove_computation(hl_module *module, hl_computation *computation)
{
  if (computation->previous)
    computation->previous->next = computation->next;
  else
    module->first = computation->next;
  if (computation->next)
    computation->next->previous = computation->previous;
  else
    module->last = computation->previous;
}

/* The caller knows that `user` is not in the list. */
static void append_user(hl_instruction *value, hl_instruction *user)
{
  hl_arena *arena = value->computation->module->arena;
  value->users = hl_arena_grow(arena, value->users, &value->user_capacity,
                               (size_t)value->user_count + 1, sizeof *value->users);
  value->users[value->user_count++] = user;
}

/* The place of a user in the list; looks from both ends, because passes walk in one direction or
 * the other. */
static int user_index(const hl_instruction *value, const hl_instruction *user)
{
  int low = 0, high = value->user_count - 1;
  for (; low <= high; low++, high--) {
    if (value->users[low] == user)
      return low;
    if (value->users[high] == user)
      return high;
  }
  return -1;
}

/* Keeps the order; moves the shorter side, so that taking away either end costs nothing. */
static void drop_user(hl_instruction *value, const hl_instruction *user)
{
  int index = user_index(value, user);
  if (index < 0)
    return;
  hl_instruction **users = value->users;
  if (index < value->user_count / 2) {
    memmove(users + 1, users, (size_t)index * sizeof *users);
    value->users++;
    value->user_capacity--;
  } else {
    memmove(users + index, users + index + 1,
            (size_t)(value->user_count - index - 1) * sizeof *users);
  }
  value->user_count--;
}

static void link_instruction(hl_computation *computation, hl_instruction *before,
                             hl_instruction *instruction)
{
  hl_instruction *previous = before ? before->previous : computation->last;
  instruction->previous = previous;
  instruction->next = before;
  if (previous)
    previous->next = instruction;
  else
    computation->first = instruction;
  if (before)
    before->previous = instruction;
  else
    computation->last = instruction;
  computation->instruction_count++;
}

hl_instruction *hl_instruction_new(hl_computation *computation, hl_instruction *before,
                                   hl_opcode opcode, const char *name, const hl_shape *shape,
                                   int count, hl_instruction *const *operands,
                                   const hl_instruction *origin)
{
  hl_module *module = computation->module;
  hl_instruction *instruction = HL_NEW(module->arena, hl_instruction);
  instruction->opcode = opcode;
  instruction->name = name ? name : hl_fresh_name(module, hl_op_info_of(opcode)->name);
  instruction->shape = shape;
  instruction->computation = computation;
  instruction->operand_count = count;
  instruction->range = origin ? origin->range : HL_NO_RANGE;
  if (count)
    instruction->operands =
        hl_arena_memdup(module->arena, operands, (size_t)count * sizeof *operands);
  for (int i = 0; i < count; i++) {
    hl_instruction *operand = operands[i];
    /* It can only stand last in the list, because it is new. */
    if (!operand->user_count || operand->users[operand->user_count - 1] != instruction)
      append_user(operand, instruction);
  }
  if (name)
    note_name(module, name);
  link_instruction(computation, before, instruction);
  return instruction;
}

hl_attr *hl_instruction_add_attr(hl_instruction *instruction, const hl_attr *attr)
{
  size_t count = (size_t)instruction->attr_count;
  hl_attr *attrs = HL_ARRAY(instruction->computation->module->arena, count + 1, hl_attr);
  if (count)
    memcpy(attrs, instruction->attrs, count * sizeof *attrs);
  attrs[count] = *attr;
  instruction->attrs = attrs;
  instruction->attr_count++;
  return &attrs[count];
}

hl_attr *hl_instruction_add_ints(hl_instruction *instruction, hl_attr_id id, int count,
                                 const int64_t *values)
{
  hl_attr attr = {.id = id, .name_range = HL_NO_RANGE, .value_range = HL_NO_RANGE};
  attr.ints.count = count;
  if (count)
    attr.ints.values = hl_arena_memdup(instruction->computation->module->arena, values,
                                       (size_t)count * sizeof *values);
  return hl_instruction_add_attr(instruction, &attr);
}

void hl_instruction_remove_attr(hl_instruction *instruction, hl_attr_id id)
{
  int kept = 0;
  for (int i = 0; i < instruction->attr_count; i++)
    if (instruction->attrs[i].id != id)
      instruction->attrs[kept++] = instruction->attrs[i];
  instruction->attr_count = kept;
}

void hl_instruction_remove(hl_instruction *instruction)
{
  hl_computation *computation = instruction->computation;
  for (int i = 0; i < instruction->operand_count; i++)
    drop_user(instruction->operands[i], instruction);
  if (instruction->previous)
    instruction->previous->next = instruction->next;
  else
    computation->first = instruction->next;
  if (instruction->next)
    instruction->next->previous = instruction->previous;
  else
    computation->last = instruction->previous;
  computation->instruction_count--;
}

static bool uses(const hl_instruction *user, const hl_instruction *value)
{
  for (int i = 0; i < user->operand_count; i++)
    if (user->operands[i] == value)
      return true;
  return false;
}

void hl_replace_operand(hl_instruction *user, int index, hl_instruction *with)
{
  hl_instruction *old = user->operands[index];
  if (old == with)
    return;
  if (!uses(user, with))
    append_user(with, user);
  user->operands[index] = with;
  if (!uses(user, old))
    drop_user(old, user);
}

void hl_replace_all_uses(hl_instruction *old, hl_instruction *with)
{
  if (old == with)
    return;
  int kept = 0; /* `with` itself may read old: it goes on doing so */
  for (int u = 0; u < old->user_count; u++) {
    hl_instruction *user = old->users[u];
    if (user == with) {
      old->users[kept++] = user;
      continue;
    }
    if (!uses(user, with))
      append_user(with, user);
    for (int i = 0; i < user->operand_count; i++)
      if (user->operands[i] == old)
        user->operands[i] = with;
  }
  old->user_count = kept;
  if (old->computation->root == old)
    old->computation->root = with;
}

/* Control predecessors name instructions of the same computation, so the copies take copies. */
static void copy_attrs(hl_instruction *copy, const hl_instruction *from,
                       hl_instruction *const *copies)
{
  hl_arena *arena = copy->computation->module->arena;
  copy->attr_count = from->attr_count;
  if (from->attr_count)
    copy->attrs =
        hl_arena_memdup(arena, from->attrs, (size_t)from->attr_count * sizeof *from->attrs);
  for (int i = 0; i < copy->attr_count; i++) {
    hl_attr *attr = &copy->attrs[i];
    if (hl_attr_kind_of(attr->id) != HL_KIND_INSTRUCTIONS)
      continue;
    hl_instruction **values = HL_ARRAY(arena, attr->instructions.count, hl_instruction *);
    for (int k = 0; k < attr->instructions.count; k++)
      values[k] = copies[attr->instructions.values[k]->scratch];
    attr->instructions.values = values;
  }
}

static hl_instruction *copy_instruction(const hl_instruction *from, hl_computation *to,
                                        hl_instruction *before, hl_instruction *const *copies)
{
  hl_module *module = to->module;
  hl_instruction **operands = HL_ARRAY(module->arena, from->operand_count, hl_instruction *);
  for (int i = 0; i < from->operand_count; i++)
    operands[i] = copies[from->operands[i]->scratch];
  const char *name = hl_fresh_name(module, from->name);
  hl_instruction *copy = hl_instruction_new(to, before, from->opcode, name, from->shape,
                                            from->operand_count, operands, from);
  copy_attrs(copy, from, copies);
  copy->literal = from->literal;
  copy->async_wrapped = from->async_wrapped;
  copy->power_form = from->power_form;
  return copy;
}

hl_instruction *hl_inline_computation(const hl_computation *from, hl_computation *to,
                                      hl_instruction *before, hl_instruction *const *args)
{
  hl_arena *arena = to->module->arena;
  hl_instruction **copies = HL_ARRAY(arena, from->instruction_count, hl_instruction *);
  int64_t *saved = HL_ARRAY(arena, from->instruction_count,
                            int64_t); /* a pass may use scratch while it inlines */
  int n = 0;
  for (hl_instruction *i = from->first; i; i = i->next, n++) {
    saved[n] = i->scratch;
    i->scratch = n;
    copies[n] = i->opcode == HL_OP_PARAMETER ? args[i->parameter_number]
                                             : copy_instruction(i, to, before, copies);
  }
  hl_instruction *root = copies[from->root->scratch];
  n = 0;
  for (hl_instruction *i = from->first; i; i = i->next)
    i->scratch = saved[n++];
  return root;
}

const hl_attr *hl_attr_find(const hl_instruction *instruction, hl_attr_id id)
{
  for (int i = 0; i < instruction->attr_count; i++)
    if (instruction->attrs[i].id == id)
      return &instruction->attrs[i];
  return NULL;
}

hl_ints hl_attr_ints(const hl_instruction *instruction, hl_attr_id id)
{
  const hl_attr *attr = hl_attr_find(instruction, id);
  return attr ? attr->ints : (hl_ints){NULL, 0};
}

int64_t hl_attr_int(const hl_instruction *instruction, hl_attr_id id, int64_t otherwise)
{
  const hl_attr *attr = hl_attr_find(instruction, id);
  return attr ? attr->i : otherwise;
}

hl_computation *hl_attr_computation(const hl_instruction *instruction, hl_attr_id id)
{
  const hl_attr *attr = hl_attr_find(instruction, id);
  return attr && attr->computations.count ? attr->computations.values[0] : NULL;
}

bool hl_holds_computations(const hl_attr *attr)
{
  hl_attr_kind kind = hl_attr_kind_of(attr->id);
  return kind == HL_KIND_COMPUTATION || kind == HL_KIND_COMPUTATIONS;
}

int hl_called_computations(const hl_instruction *instruction, hl_computation **out, int max)
{
  int count = 0;
  for (int i = 0; i < instruction->attr_count; i++) {
    const hl_attr *attr = &instruction->attrs[i];
    for (int k = 0; hl_holds_computations(attr) && k < attr->computations.count; k++, count++)
      if (count < max)
        out[count] = attr->computations.values[k];
  }
  return count;
}

/* The instruction's own effect, without its callees'. */
static bool has_own_effect(const hl_instruction *instruction)
{
  if (hl_op_info_of(instruction->opcode)->flags & HL_EFF)
    return true;
  if (instruction->opcode == HL_OP_CUSTOM_CALL)
    return hl_attr_int(instruction, HL_ATTR_CUSTOM_CALL_HAS_SIDE_EFFECT, 0) != 0;
  return hl_attr_find(instruction, HL_ATTR_CHANNEL_ID) != NULL;
}

/* Callees stand before their callers, so theirs are known; one that a pass put elsewhere counts as
 * having an effect. */
static bool has_effect(const hl_instruction *instruction)
{
  if (has_own_effect(instruction))
    return true;
  for (int i = 0; i < instruction->attr_count; i++) {
    const hl_attr *attr = &instruction->attrs[i];
    for (int k = 0; hl_holds_computations(attr) && k < attr->computations.count; k++)
      if (attr->computations.values[k]->effect != HL_EFFECT_NONE)
        return true;
  }
  return false;
}

static void find_effect(hl_computation *computation)
{
  computation->effect = HL_EFFECT_NONE;
  for (const hl_instruction *i = computation->first; i && computation->effect == HL_EFFECT_NONE;
       i = i->next)
    if (has_effect(i))
      computation->effect = HL_EFFECT_SOME;
}

/* All computations before the given one, in definition order: no recursion along the calls. */
static void find_effects_before(hl_computation *computation)
{
  hl_computation *first = computation;
  while (first->previous && first->previous->effect == HL_EFFECT_UNKNOWN)
    first = first->previous;
  for (hl_computation *c = first; c != computation; c = c->next)
    find_effect(c);
}

bool hl_has_side_effect(const hl_instruction *instruction)
{
  find_effects_before(instruction->computation);
  return has_effect(instruction);
}

static bool is_placed(hl_range range)
{
  return range.begin != HL_NO_OFFSET;
}

hl_range hl_place_call(const hl_instruction *instruction)
{
  return instruction->places && is_placed(instruction->places->call) ? instruction->places->call
                                                                     : instruction->range;
}

hl_range hl_place_payload(const hl_instruction *instruction)
{
  hl_range call = hl_place_call(instruction);
  const hl_places *places = instruction->places;
  return places && is_placed(places->lparen) ? (hl_range){places->lparen.end, call.end - 1} : call;
}

hl_range hl_place_opcode(const hl_instruction *instruction)
{
  return instruction->places && is_placed(instruction->places->opcode) ? instruction->places->opcode
                                                                       : instruction->range;
}

hl_range hl_place_shape(const hl_instruction *instruction)
{
  return instruction->places && is_placed(instruction->places->shape)
             ? instruction->places->shape
             : hl_place_opcode(instruction);
}

hl_range hl_place_operand(const hl_instruction *instruction, int index)
{
  const hl_places *places = instruction->places;
  return places && places->operands && is_placed(places->operands[index])
             ? places->operands[index]
             : hl_place_call(instruction);
}

hl_range hl_place_attr_name(const hl_instruction *instruction, hl_attr_id id)
{
  const hl_attr *attr = hl_attr_find(instruction, id);
  return attr && is_placed(attr->name_range) ? attr->name_range : hl_place_opcode(instruction);
}

hl_range hl_place_attr(const hl_instruction *instruction, hl_attr_id id)
{
  const hl_attr *attr = hl_attr_find(instruction, id);
  return attr && is_placed(attr->value_range) ? attr->value_range : hl_place_opcode(instruction);
}

hl_range hl_place_attr_entry(const hl_instruction *instruction, hl_attr_id id, int entry)
{
  const hl_attr *attr = hl_attr_find(instruction, id);
  if (attr && attr->entry_ranges && entry < attr->entry_count &&
      is_placed(attr->entry_ranges[entry]))
    return attr->entry_ranges[entry];
  return hl_place_attr(instruction, id);
}

hl_opcode hl_region_binary(const hl_computation *region, bool *is_swapped)
{
  const hl_instruction *root = region->root;
  if (region->parameter_count != 2 || root->operand_count != 2 || root->opcode == HL_OP_COMPARE ||
      !(hl_op_info_of(root->opcode)->flags & HL_BCAST))
    return HL_OP_COUNT;
  const hl_instruction *first = region->parameters[0], *second = region->parameters[1];
  bool is_straight = root->operands[0] == first && root->operands[1] == second;
  bool is_crossed = root->operands[0] == second && root->operands[1] == first;
  if (!(is_straight || is_crossed) || !hl_shape_is_scalar(first->shape) ||
      !hl_shape_is_scalar(second->shape))
    return HL_OP_COUNT;
  if (is_swapped)
    *is_swapped = is_crossed;
  return root->opcode;
}
