/* emit_access.c - loads and stores of the loop IR: guards, masks and the types of memory.
 *
 * In a VECTOR loop the stride of the access over the lanes decides: 0 is a scalar, anything else a
 * vector (emit_access_lanes.c).
 */
#include "emit_access.h"

static unsigned element_align(const hl_param *param)
{
  return (unsigned)hl_type_bytes(param->type);
}

LLVMValueRef hl_emit_from_memory(hl_emitter *e, hl_element_type type, LLVMValueRef x)
{
  if (type == HL_PRED)
    return LLVMBuildICmp(e->l.builder, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
  return hl_is_integral(type) && hl_type_bits(type) < 8 ? hl_emit_convert(e, HL_U8, type, x) : x;
}

LLVMValueRef hl_emit_to_memory(hl_emitter *e, hl_element_type type, LLVMValueRef x)
{
  if (type != HL_PRED)
    return x;
  return LLVMBuildZExt(e->l.builder, x, hl_llvm_memory_type(&e->l, type, hl_llvm_lanes(x)), "");
}

static LLVMValueRef load_scalar(hl_emitter *e, const hl_param *param, LLVMValueRef pointer)
{
  LLVMValueRef x =
      LLVMBuildLoad2(e->l.builder, hl_llvm_memory_type(&e->l, param->type, 1), pointer, "");
  LLVMSetAlignment(x, element_align(param));
  return hl_emit_from_memory(e, param->type, x);
}

/* Lanes that differ: `mask` NULL loads all. */
static LLVMValueRef load_lanes(hl_emitter *e, const hl_param *param, const hl_address *at,
                               LLVMValueRef mask)
{
  return hl_emit_from_memory(e, param->type, hl_emit_load_lanes(e, param, at, mask));
}

static LLVMValueRef any_lane(hl_emitter *e, LLVMValueRef mask)
{
  return hl_llvm_call1(&e->l, "llvm.vector.reduce.or", mask);
}

/* One element that is there when `condition` holds: else the parameter's first element is read in
 * its place and not used. */
static LLVMValueRef load_scalar_if(hl_emitter *e, const hl_param *param, LLVMValueRef pointer,
                                   LLVMValueRef condition)
{
  LLVMValueRef first = hl_emit_param_pointer(e, param);
  return load_scalar(e, param, LLVMBuildSelect(e->l.builder, condition, pointer, first, ""));
}

/* A guard that is one for all lanes is a branch around the vector load. */
static LLVMValueRef load_lanes_if(hl_emitter *e, const hl_param *param, const hl_address *at,
                                  LLVMValueRef condition, LLVMValueRef other)
{
  LLVMBasicBlockRef before = hl_llvm_here(&e->l);
  hl_llvm_if branch = hl_llvm_if_begin(&e->l, condition);
  LLVMValueRef x = load_lanes(e, param, at, e->mask);
  LLVMBasicBlockRef end = hl_llvm_here(&e->l);
  hl_llvm_if_end(&e->l, &branch);
  return hl_llvm_phi2(&e->l, x, end, other, before);
}

static LLVMValueRef joined_mask(hl_emitter *e, LLVMValueRef guard)
{
  return e->mask ? LLVMBuildAnd(e->l.builder, e->mask, guard, "") : guard;
}

static LLVMValueRef load_guarded(hl_emitter *e, const hl_node *node, int part, const hl_address *at,
                                 int lanes)
{
  const hl_param *param = node->access->param;
  int guard_lanes = hl_emit_lane_count(e, node->operands, 1);
  LLVMValueRef guard = hl_emit_raw(e, node->operands[0], part, guard_lanes);
  LLVMValueRef other = hl_emit_clean(e, node->operands[1], part, lanes);
  if (param->count == 0)
    return other;
  if (hl_address_is_scalar(at)) {
    LLVMValueRef reads = guard_lanes > 1 ? any_lane(e, joined_mask(e, guard)) : guard;
    LLVMValueRef x = hl_llvm_splat(&e->l, load_scalar_if(e, param, at->pointer, reads), lanes);
    return LLVMBuildSelect(e->l.builder, guard, x, other, "");
  }
  if (guard_lanes == 1)
    return load_lanes_if(e, param, at, guard, other);
  return LLVMBuildSelect(e->l.builder, guard, load_lanes(e, param, at, joined_mask(e, guard)),
                         other, "");
}

static LLVMValueRef load_row(hl_emitter *e, const hl_node *node, const hl_address *at)
{
  LLVMValueRef x = load_lanes(e, node->access->param, at, e->mask);
  if (e->prefetch[node->id] && !e->mask)
    hl_emit_prefetch(e, node, at->pointer);
  return x;
}

static int load_parts(hl_emitter *e, const hl_node *node)
{
  int parts = hl_emit_part_count(e, node->operands, node->operand_count);
  for (int i = 0; i < node->access->term_count; i++) {
    int own = e->values[node->access->terms[i].index->id].part_count;
    parts = own > parts ? own : parts;
  }
  return parts;
}

void hl_emit_load(hl_emitter *e, const hl_node *node)
{
  hl_value value = {.part_count = load_parts(e, node), .nan = HL_NAN_MOVED};
  if (hl_emit_open_tile(e, node) || hl_emit_jam_tile(e, node))
    return;
  value.parts = HL_ARRAY(e->arena, value.part_count, LLVMValueRef);
  for (int part = 0; part < value.part_count; part++) {
    hl_address at = hl_emit_address(e, node->access, part);
    bool is_wide = !hl_address_is_scalar(&at) ||
                   hl_emit_lane_count(e, node->operands, node->operand_count) > 1;
    value.is_vector = is_wide;
    if (node->operand_count)
      value.parts[part] = load_guarded(e, node, part, &at, is_wide ? e->width : 1);
    else if (is_wide)
      value.parts[part] = load_row(e, node, &at);
    else
      value.parts[part] = load_scalar(e, node->access->param, at.pointer);
  }
  hl_value_set(e, node, value);
}

/* Stores. */

static void store_scalar(hl_emitter *e, const hl_param *param, LLVMValueRef pointer, LLVMValueRef x)
{
  LLVMValueRef store = LLVMBuildStore(e->l.builder, hl_emit_to_memory(e, param->type, x), pointer);
  LLVMSetAlignment(store, element_align(param));
}

static void store_part(hl_emitter *e, const hl_node *node, int part, LLVMValueRef guard)
{
  const hl_param *param = node->access->param;
  hl_address at = hl_emit_address(e, node->access, part);
  LLVMValueRef mask = guard ? joined_mask(e, guard) : e->mask;
  bool is_wide = mask || !hl_address_is_scalar(&at) || hl_emit_lane_count(e, node->operands, 1) > 1;
  LLVMValueRef x = hl_emit_clean(e, node->operands[0], part, is_wide ? e->width : 1);
  if (!is_wide)
    store_scalar(e, param, at.pointer, x);
  else
    hl_emit_store_lanes(e, param, &at, hl_emit_to_memory(e, param->type, x), mask);
}

/* A guard that is one for all lanes is a branch. */
static void store_guarded(hl_emitter *e, const hl_node *node, int part)
{
  int lanes = hl_emit_lane_count(e, node->operands + 1, 1);
  LLVMValueRef guard = hl_emit_raw(e, node->operands[1], part, lanes);
  if (lanes > 1) {
    store_part(e, node, part, guard);
    return;
  }
  hl_llvm_if branch = hl_llvm_if_begin(&e->l, guard);
  store_part(e, node, part, NULL);
  hl_llvm_if_end(&e->l, &branch);
}

/* Parts a whole number of registers apart are aligned alike. */
static bool parts_align(const hl_emitter *e, const hl_access *access, int parts)
{
  int64_t stride = 0;
  for (int i = 0; i < access->term_count && parts > 1; i++) {
    const hl_term *term = &access->terms[i];
    if (term->index == e->jam_var)
      stride = term->stride;
    else if (e->variance[term->index->id] & HL_VARIES_BY_PART)
      return false;
  }
  return stride * hl_type_bytes(access->param->type) % e->target->vector_bytes == 0;
}

static bool emit_streaming(hl_emitter *e, const hl_node *node, int parts)
{
  const hl_param *param = node->access->param;
  LLVMValueRef pointers[HL_MAX_JAM], values[HL_MAX_JAM];
  if (!node->is_streaming || node->operand_count > 1 || e->width == 1)
    return false;
  for (int part = 0; part < parts; part++) {
    hl_address at = hl_emit_address(e, node->access, part);
    if (!hl_emit_streams(e, node, &at) || !parts_align(e, node->access, parts))
      return false;
    LLVMValueRef x = hl_emit_clean(e, node->operands[0], part, e->width);
    pointers[part] = at.pointer;
    values[part] = hl_emit_to_memory(e, param->type, x);
  }
  hl_emit_store_streaming(e, param, pointers, values, parts);
  return true;
}

void hl_emit_store(hl_emitter *e, const hl_node *node)
{
  int parts = load_parts(e, node);
  if (hl_emit_fill_tile(e, node) || emit_streaming(e, node, parts))
    return;
  for (int part = 0; part < parts; part++) {
    if (node->operand_count > 1)
      store_guarded(e, node, part);
    else
      store_part(e, node, part, NULL);
  }
}
