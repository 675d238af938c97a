/* cmd_reduce_edits - the edits of `hlo-lite reduce`: one function each, over a range of places.
 *
 * Places are counted in text order: of most edits they are the instructions. */
#include "reduce.h"

#include "ir/limits.h"
#include "passes/rewrite.h"

#include <string.h>

enum { MAX_ZEROS = 4096, MAX_SIZES = 64, SIZE_STEPS = 3 };

typedef struct range {
  int first, count;
} range;

static bool is_in(range r, int place)
{
  return place >= r.first && place - r.first < r.count;
}

typedef bool edit_instruction(hl_instruction *ins);

/* From the last to the first, because an edit may take its instruction away. */
static bool each_instruction(hl_module *module, range r, edit_instruction *edit)
{
  bool changed = false;
  int place = (int)hl_module_size(module);
  for (hl_computation *c = module->last; c; c = c->previous)
    for (hl_instruction *ins = c->last, *previous; ins; ins = previous) {
      previous = ins->previous;
      if (is_in(r, --place))
        changed = edit(ins) || changed;
    }
  return changed;
}

static void replace(hl_instruction *ins, hl_instruction *with)
{
  hl_replace_all_uses(ins, with);
  if (hl_is_dead(ins))
    hl_instruction_remove(ins);
}

/* The header speaks of parameters and results that are no longer the same. */
static void forget_interface(hl_module *module)
{
  module->alias_count = 0;
  module->entry_layout_parameters = NULL;
  module->entry_layout_count = 0;
  module->entry_layout_result = NULL;
}

static void forget_signature(hl_computation *c)
{
  c->signature_result = NULL;
  c->signature_parameters = NULL;
  c->signature_parameter_count = 0;
}

/* ---- the entry and its root ---- */

static bool move_entry(hl_module *module, range r)
{
  int place = 0;
  for (hl_computation *c = module->first; c; c = c->next)
    if (place++ == r.first && c != module->entry) {
      module->entry = c;
      forget_interface(module);
      return true;
    }
  return false;
}

static bool move_root(hl_instruction *ins)
{
  hl_computation *c = ins->computation;
  hl_instruction *old = c->root;
  bool is_entry = c == c->module->entry;
  if (ins == old || (!is_entry && !hl_shape_equal(ins->shape, old->shape)))
    return false;
  c->root = ins;
  forget_signature(c);
  if (is_entry)
    forget_interface(c->module);
  return true;
}

static bool drop_results(hl_module *module, range r)
{
  hl_computation *c = module->entry;
  hl_instruction *old = c->root;
  hl_instruction **kept = HL_ARRAY(module->arena, old->operand_count + 1, hl_instruction *);
  const hl_shape **shapes = HL_ARRAY(module->arena, old->operand_count + 1, const hl_shape *);
  int count = 0;
  for (int i = 0; i < old->operand_count; i++)
    if (!is_in(r, i)) {
      shapes[count] = old->operands[i]->shape;
      kept[count++] = old->operands[i];
    }
  const hl_shape *shape = hl_shape_tuple(module->arena, count, shapes);
  replace(old, hl_instruction_new(c, old, HL_OP_TUPLE, NULL, shape, count, kept, old));
  forget_interface(module);
  forget_signature(c);
  return true;
}

static int count_entry(const hl_module *module)
{
  int count = 0;
  for (const hl_instruction *ins = module->entry->first; ins; ins = ins->next)
    count++;
  return count;
}

/* What stays is marked 1, and 2 where it was the root or something that goes used it. Returns how many those are. */
static int mark_results(hl_computation *c, int first)
{
  int place = 0, count = 0;
  for (hl_instruction *ins = c->first; ins; ins = ins->next)
    ins->scratch = place++ < first || ins->opcode == HL_OP_PARAMETER;
  for (hl_instruction *ins = c->first; ins; ins = ins->next) {
    hl_instruction_remove_attr(ins, HL_ATTR_CONTROL_PREDECESSORS); /* it may name what goes */
    for (int i = 0; !ins->scratch && i < ins->operand_count; i++)
      if (ins->operands[i]->scratch)
        ins->operands[i]->scratch = 2;
  }
  if (c->root->scratch)
    c->root->scratch = 2;
  for (const hl_instruction *ins = c->first; ins; ins = ins->next)
    count += ins->scratch == 2;
  return count;
}

/* Those that are marked 2, as a tuple at the end, or the one. */
static hl_instruction *gather_results(hl_computation *c, int count)
{
  hl_arena *arena = c->module->arena;
  hl_instruction **results = HL_ARRAY(arena, count + 1, hl_instruction *);
  const hl_shape **shapes = HL_ARRAY(arena, count + 1, const hl_shape *);
  int taken = 0;
  for (hl_instruction *ins = c->first; ins; ins = ins->next)
    if (ins->scratch == 2) {
      shapes[taken] = ins->shape;
      results[taken++] = ins;
    }
  if (count == 1)
    return results[0];
  hl_instruction *tuple =
      hl_instruction_new(c, NULL, HL_OP_TUPLE, NULL, hl_shape_tuple(arena, count, shapes), count, results, NULL);
  tuple->scratch = 1;
  return tuple;
}

/* A range from 0 stands for as many places at the end of the entry: half of them, then half of those, and so on come to the
 * place behind what is looked for. */
static bool cut_tail(hl_module *module, range r)
{
  hl_computation *c = module->entry;
  int places = count_entry(module);
  if (r.first > 0 || r.count >= places)
    return false;
  c->root = gather_results(c, mark_results(c, places - r.count));
  for (hl_instruction *ins = c->last, *previous; ins; ins = previous) {
    previous = ins->previous;
    if (!ins->scratch)
      hl_instruction_remove(ins);
  }
  forget_interface(module);
  forget_signature(c);
  return true;
}

/* ---- parameters ---- */

static bool make_parameter(hl_instruction *ins)
{
  hl_computation *c = ins->computation;
  if (c != c->module->entry || ins->opcode == HL_OP_PARAMETER)
    return false;
  size_t count = (size_t)c->parameter_count;
  hl_instruction **parameters = HL_ARRAY(c->module->arena, count + 1, hl_instruction *);
  if (count)
    memcpy(parameters, c->parameters, count * sizeof *parameters);
  hl_instruction *made = hl_instruction_new(c, c->first, HL_OP_PARAMETER, NULL, ins->shape, 0, NULL, ins);
  made->parameter_number = c->parameter_count;
  parameters[c->parameter_count++] = made;
  c->parameters = parameters;
  replace(ins, made);
  forget_interface(c->module);
  forget_signature(c);
  return true;
}

static bool drop_unused(hl_module *module, range r)
{
  hl_computation *c = module->entry;
  int kept = 0, count = c->parameter_count;
  for (int i = 0; i < count; i++) {
    hl_instruction *p = c->parameters[i];
    if (is_in(r, i) && hl_is_dead(p)) {
      hl_instruction_remove(p);
      continue;
    }
    p->parameter_number = kept;
    c->parameters[kept++] = p;
  }
  c->parameter_count = kept;
  if (kept == count)
    return false;
  forget_interface(module);
  forget_signature(c);
  return true;
}

/* ---- instructions ---- */

static bool drop_dead(hl_instruction *ins)
{
  if (!hl_is_dead(ins) || ins->opcode == HL_OP_PARAMETER)
    return false;
  hl_instruction_remove(ins);
  return true;
}

static bool take_operand(hl_instruction *ins)
{
  for (int i = 0; i < ins->operand_count; i++)
    if (hl_shape_equal(ins->operands[i]->shape, ins->shape)) {
      replace(ins, ins->operands[i]);
      return true;
    }
  return false;
}

static bool take_last_operand(hl_instruction *ins)
{
  for (int i = ins->operand_count - 1; i > 0; i--)
    if (hl_shape_equal(ins->operands[i]->shape, ins->shape)) {
      replace(ins, ins->operands[i]);
      return true;
    }
  return false;
}

static bool take_element(hl_instruction *ins)
{
  int64_t index = hl_attr_int(ins, HL_ATTR_INDEX, -1);
  if (ins->opcode != HL_OP_GET_TUPLE_ELEMENT || ins->operands[0]->opcode != HL_OP_TUPLE || index < 0 ||
      index >= ins->operands[0]->operand_count)
    return false;
  replace(ins, ins->operands[0]->operands[index]);
  return true;
}

/* What runs in place of a call, with which operands. A conditional's branch i takes operand i + 1. */
static hl_computation *callee_of(const hl_instruction *ins, bool wants_last, hl_instruction ***arguments)
{
  *arguments = ins->operands;
  if (ins->opcode == HL_OP_CALL)
    return hl_attr_computation(ins, HL_ATTR_TO_APPLY);
  if (ins->opcode == HL_OP_FUSION)
    return hl_attr_computation(ins, HL_ATTR_CALLS);
  if (ins->opcode == HL_OP_WHILE)
    return hl_attr_computation(ins, HL_ATTR_BODY);
  if (ins->opcode != HL_OP_CONDITIONAL)
    return NULL;
  int count = hl_called_computations(ins, NULL, 0), branch = wants_last ? count - 1 : 0;
  hl_computation **called = HL_ARRAY(hl_arena_of(ins), count + 1, hl_computation *);
  hl_called_computations(ins, called, count);
  *arguments += branch + 1;
  return called[branch];
}

static bool inline_callee(hl_instruction *ins, bool wants_last)
{
  hl_instruction **arguments;
  hl_computation *callee = callee_of(ins, wants_last, &arguments);
  if (!callee)
    return false;
  replace(ins, hl_inline_computation(callee, ins->computation, ins, arguments));
  return true;
}

static bool inline_call(hl_instruction *ins)
{
  return inline_callee(ins, false);
}

static bool inline_last(hl_instruction *ins)
{
  return ins->opcode == HL_OP_CONDITIONAL && inline_callee(ins, true);
}

static bool can_be_zero(const hl_shape *shape)
{
  return hl_shape_is_array(shape) && !hl_shape_has_dynamic(shape) && hl_shape_elements(shape) <= MAX_ZEROS;
}

static bool make_zero(hl_instruction *ins)
{
  if (ins->opcode == HL_OP_PARAMETER || ins->opcode == HL_OP_CONSTANT || !can_be_zero(ins->shape))
    return false;
  replace(ins, hl_make_constant(ins, hl_literal_new(hl_arena_of(ins), ins->shape)));
  return true;
}

/* ---- constants ---- */

static bool is_array_constant(const hl_instruction *ins)
{
  return ins->opcode == HL_OP_CONSTANT && hl_shape_is_array(ins->shape);
}

static bool clear_constant(hl_instruction *ins)
{
  if (!is_array_constant(ins) || (ins->literal->is_elided && !can_be_zero(ins->shape)))
    return false;
  ins->literal = hl_literal_new(hl_arena_of(ins), ins->shape);
  return true;
}

static bool flatten_constant(hl_instruction *ins)
{
  if (!is_array_constant(ins) || ins->literal->is_elided || hl_literal_is_splat(ins->literal))
    return false;
  size_t bytes = (size_t)hl_shape_bytes(ins->shape), item = (size_t)hl_type_bytes(ins->shape->element_type);
  hl_literal *literal = hl_literal_new(hl_arena_of(ins), ins->shape);
  for (size_t at = 0; at < bytes; at += item)
    memcpy((char *)literal->data + at, ins->literal->data, item);
  ins->literal = literal;
  return true;
}

/* ---- sizes of dimensions ---- */

/* `from` becomes `to`; from 0: whatever is larger than that. */
typedef struct resize {
  hl_arena *arena;
  int64_t from, to;
} resize;

static int64_t resized(const resize *r, int64_t size)
{
  bool is_it = r->from ? size == r->from : size > r->to;
  return is_it ? r->to : size;
}

static const int64_t *resize_list(const resize *r, int count, const int64_t *sizes)
{
  int64_t *made = HL_ARRAY(r->arena, count + 1, int64_t);
  for (int i = 0; i < count; i++)
    made[i] = resized(r, sizes[i]);
  return made;
}

/* Of arrays and tuples of arrays: deeper tuples keep their sizes. */
static const hl_shape *resize_array(const resize *r, const hl_shape *shape)
{
  if (!hl_shape_is_array(shape) || hl_shape_has_dynamic(shape))
    return shape;
  return hl_shape_new(r->arena, shape->element_type, shape->rank,
                      resize_list(r, shape->rank, shape->dimensions));
}

static const hl_shape *resize_shape(const resize *r, const hl_shape *shape)
{
  if (shape->element_type != HL_TUPLE)
    return resize_array(r, shape);
  const hl_shape **elements = HL_ARRAY(r->arena, shape->tuple_count + 1, const hl_shape *);
  for (int i = 0; i < shape->tuple_count; i++)
    elements[i] = resize_array(r, shape->tuple_shapes[i]);
  return hl_shape_tuple(r->arena, shape->tuple_count, elements);
}

static void resize_slice(const resize *r, hl_attr *attr)
{
  hl_slice_dim *dims =
      hl_arena_memdup(r->arena, attr->slice.dims, (size_t)attr->slice.count * sizeof *dims);
  for (int i = 0; i < attr->slice.count; i++) {
    dims[i].limit = resized(r, dims[i].limit);
    dims[i].start = dims[i].start < dims[i].limit ? dims[i].start : dims[i].limit - 1;
  }
  attr->slice.dims = dims;
}

static void resize_window(const resize *r, hl_attr *attr)
{
  hl_window_dim *dims =
      hl_arena_memdup(r->arena, attr->window.dims, (size_t)attr->window.count * sizeof *dims);
  for (int i = 0; i < attr->window.count; i++)
    dims[i].size = resized(r, dims[i].size);
  attr->window.dims = dims;
}

static void resize_attr(const resize *r, hl_attr *attr)
{
  if (attr->id == HL_ATTR_SLICE)
    resize_slice(r, attr);
  else if (attr->id == HL_ATTR_WINDOW)
    resize_window(r, attr);
  else if (attr->id == HL_ATTR_SLICE_SIZES || attr->id == HL_ATTR_DYNAMIC_SLICE_SIZES)
    attr->ints.values = resize_list(r, attr->ints.count, attr->ints.values);
}

/* A constant keeps its first elements. */
static void resize_literal(const resize *r, hl_instruction *ins)
{
  if (ins->opcode != HL_OP_CONSTANT || ins->literal->is_elided || !hl_shape_is_array(ins->shape))
    return;
  hl_literal *literal = hl_literal_new(r->arena, ins->shape);
  size_t bytes = (size_t)hl_shape_bytes(ins->shape);
  if (bytes)
    memcpy(literal->data, ins->literal->data, bytes);
  ins->literal = literal;
}

static void resize_module(hl_module *module, const resize *r)
{
  for (hl_computation *c = module->first; c; c = c->next) {
    forget_signature(c);
    for (hl_instruction *ins = c->first; ins; ins = ins->next) {
      ins->shape = resize_shape(r, ins->shape);
      resize_literal(r, ins);
      for (int i = 0; i < ins->attr_count; i++)
        resize_attr(r, &ins->attrs[i]);
    }
  }
  forget_interface(module);
}

/* The sizes above 1 that dimensions have, each once; the first of the list is 0: all. */
static int collect_sizes(const hl_module *module, int64_t *sizes)
{
  int count = 0;
  sizes[count++] = 0;
  for (const hl_computation *c = module->first; c; c = c->next)
    for (const hl_instruction *ins = c->first; ins; ins = ins->next)
      for (int i = 0; i < ins->shape->rank && count < MAX_SIZES; i++) {
        int known = 0;
        while (known < count && sizes[known] != ins->shape->dimensions[i])
          known++;
        if (known == count && ins->shape->dimensions[i] > 1)
          sizes[count++] = ins->shape->dimensions[i];
      }
  return count;
}

static int count_sizes(const hl_module *module)
{
  int64_t sizes[MAX_SIZES];
  return SIZE_STEPS * collect_sizes(module, sizes);
}

/* Place 3i + k is size i, made 1, 2 or half as large. */
static bool shrink_size(hl_module *module, range r)
{
  int64_t sizes[MAX_SIZES];
  collect_sizes(module, sizes);
  int64_t size = sizes[r.first / SIZE_STEPS];
  int step = r.first % SIZE_STEPS;
  resize change = {.arena = module->arena, .from = size, .to = step < 2 ? step + 1 : size ? size / 2 : 4};
  if (size && change.to >= size)
    return false;
  resize_module(module, &change);
  return true;
}

/* ---- attributes ---- */

static bool drop_header(hl_module *module, range r)
{
  int kept = 0;
  for (int i = 0; i < module->kept_attribute_count; i++)
    if (!is_in(r, i + 1))
      module->kept_attributes[kept++] = module->kept_attributes[i];
  module->kept_attribute_count = kept;
  if (is_in(r, 0)) {
    forget_interface(module);
    module->is_scheduled = false;
    module->replica_count = module->num_partitions = 0;
    module->frame_tables = "";
  }
  return true;
}

static bool drop_metadata(hl_instruction *ins)
{
  int count = ins->attr_count;
  for (hl_attr_id id = 0; id < HL_ATTR_COMMON_LAST; id++)
    hl_instruction_remove_attr(ins, id);
  return ins->attr_count < count;
}

static int count_attributes(const hl_module *module)
{
  int count = 0;
  for (const hl_computation *c = module->first; c; c = c->next)
    for (const hl_instruction *ins = c->first; ins; ins = ins->next)
      count += ins->attr_count;
  return count;
}

static bool drop_attribute(hl_module *module, range r)
{
  int before = 0;
  for (hl_computation *c = module->first; c; c = c->next)
    for (hl_instruction *ins = c->first; ins; before += ins->attr_count, ins = ins->next)
      if (r.first < before + ins->attr_count) {
        hl_instruction_remove_attr(ins, ins->attrs[r.first - before].id);
        return true;
      }
  return false;
}

/* ---- the table ---- */

static int count_instructions(const hl_module *module)
{
  return (int)hl_module_size(module);
}

static int count_computations(const hl_module *module)
{
  int count = 0;
  for (const hl_computation *c = module->first; c; c = c->next)
    count++;
  return count;
}

static int count_results(const hl_module *module)
{
  const hl_instruction *root = module->entry->root;
  return root->opcode == HL_OP_TUPLE ? root->operand_count : 0;
}

static int count_parameters(const hl_module *module)
{
  return module->entry->parameter_count;
}

static int count_header(const hl_module *module)
{
  return module->kept_attribute_count + 1;
}

/* One of the two functions is there: over the module, or for each instruction. */
typedef struct edit {
  int (*places)(const hl_module *module);
  bool (*module)(hl_module *module, range r);
  edit_instruction *instruction;
  bool takes_many;
} edit;

static const edit edits[HL_REDUCE_COUNT] = {
    [HL_REDUCE_ENTRY] = {count_computations, move_entry, NULL, false},
    [HL_REDUCE_TAIL] = {count_entry, cut_tail, NULL, true},
    [HL_REDUCE_PARAMETERS] = {count_instructions, NULL, make_parameter, true},
    [HL_REDUCE_ROOT] = {count_instructions, NULL, move_root, false},
    [HL_REDUCE_RESULTS] = {count_results, drop_results, NULL, true},
    [HL_REDUCE_UNUSED] = {count_parameters, drop_unused, NULL, true},
    [HL_REDUCE_DEAD] = {count_instructions, NULL, drop_dead, true},
    [HL_REDUCE_OPERAND] = {count_instructions, NULL, take_operand, true},
    [HL_REDUCE_LAST_OPERAND] = {count_instructions, NULL, take_last_operand, true},
    [HL_REDUCE_ELEMENT] = {count_instructions, NULL, take_element, true},
    [HL_REDUCE_INLINE] = {count_instructions, NULL, inline_call, false},
    [HL_REDUCE_LAST_BRANCH] = {count_instructions, NULL, inline_last, false},
    [HL_REDUCE_ZERO] = {count_instructions, NULL, make_zero, true},
    [HL_REDUCE_SIZES] = {count_sizes, shrink_size, NULL, false},
    [HL_REDUCE_CONSTANTS] = {count_instructions, NULL, clear_constant, true},
    [HL_REDUCE_SPLATS] = {count_instructions, NULL, flatten_constant, true},
    [HL_REDUCE_HEADER] = {count_header, drop_header, NULL, true},
    [HL_REDUCE_METADATA] = {count_instructions, NULL, drop_metadata, true},
    [HL_REDUCE_ATTRIBUTES] = {count_attributes, drop_attribute, NULL, false},
};

int hl_reduce_places(const hl_module *module, hl_reduction reduction)
{
  return edits[reduction].places(module);
}

bool hl_reduce_at(hl_module *module, hl_reduction reduction, int first, int count)
{
  const edit *e = &edits[reduction];
  range r = {first, count};
  bool changed = e->module ? e->module(module, r) : each_instruction(module, r, e->instruction);
  return changed;
}

bool hl_reduce_takes_many(hl_reduction reduction)
{
  return edits[reduction].takes_many;
}

void hl_reduce_sweep(hl_module *module)
{
  for (hl_computation *c = module->first; c; c = c->next)
    for (hl_instruction *ins = c->last, *previous; ins; ins = previous) {
      previous = ins->previous;
      if (!hl_has_side_effect(ins))
        drop_dead(ins);
    }
}
