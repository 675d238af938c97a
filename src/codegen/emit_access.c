/* emit_access.c - loads and stores through affine accesses, scalar, by vectors or by gathering.
 *
 * In a VECTOR loop the stride of the access over the lanes decides: 0 is a scalar, 1 and -1 a
 * vector, anything else and computed indices a gather or scatter. Lanes that a mask leaves out
 * touch no memory.
 */
#include "emit.h"

/* Element address of lane 0, and how the other lanes lie. */
typedef struct address {
  LLVMValueRef pointer;
  int64_t step;
  LLVMValueRef lanes; /* offsets in elements from `pointer`, by lane; NULL: lane * step */
} address;

static int param_index(const hl_emitter *e, const hl_param *param)
{
  int i = 0;
  while (e->kernel->params[i] != param)
    i++;
  return i;
}

/* Loops around the definition of an index. Outer terms are added first, so that they leave inner
 * loops. */
static int depth_of(const hl_node *index)
{
  int depth = index->op == HL_LOOP_VAR || index->op == HL_LOOP_ACC;
  const hl_block *block = depth ? &index->loop->body : index->block;
  for (; block && block->owner; block = block->owner->block)
    depth++;
  return depth;
}

static void sort_by_depth(const hl_term **terms, int count)
{
  for (int i = 1; i < count; i++) {
    const hl_term *term = terms[i];
    int at = i;
    for (; at > 0 && depth_of(terms[at - 1]->index) > depth_of(term->index); at--)
      terms[at] = terms[at - 1];
    terms[at] = term;
  }
}

/* Every partial sum lies inside when nothing is subtracted. */
static bool partial_sums_fit(const hl_access *access)
{
  bool fits = access->constant >= 0;
  for (int i = 0; i < access->term_count; i++)
    fits = fits && access->terms[i].stride > 0 && access->terms[i].index->op == HL_LOOP_VAR;
  return fits;
}

static LLVMValueRef step_pointer(hl_emitter *e, const hl_access *access, LLVMValueRef pointer,
                                 LLVMValueRef offset)
{
  LLVMTypeRef type = hl_llvm_memory_type(&e->l, access->param->type, 1);
  if (partial_sums_fit(access))
    return hl_llvm_gep(&e->l, type, pointer, offset);
  return LLVMBuildGEP2(e->l.builder, type, pointer, &offset, 1, "");
}

static void add_term(hl_emitter *e, const hl_access *access, const hl_term *term, int part,
                     address *at)
{
  LLVMBuilderRef b = e->l.builder;
  const hl_value *value = &e->values[term->index->id];
  LLVMValueRef stride = hl_llvm_i64(&e->l, term->stride);
  if (!value->is_vector) {
    LLVMValueRef offset = LLVMBuildMul(b, hl_emit_raw(e, term->index, part, 1), stride, "");
    at->pointer = step_pointer(e, access, at->pointer, offset);
    at->step += value->is_linear ? term->stride * value->step : 0;
    return;
  }
  LLVMValueRef lanes = LLVMBuildMul(b, hl_emit_raw(e, term->index, part, e->width),
                                    hl_llvm_splat(&e->l, stride, e->width), "");
  at->lanes = at->lanes ? LLVMBuildAdd(b, at->lanes, lanes, "") : lanes;
}

static address address_of(hl_emitter *e, const hl_access *access, int part)
{
  address at = {.pointer = e->pointers[param_index(e, access->param)]};
  const hl_term **terms = HL_ARRAY(e->arena, access->term_count + 1, const hl_term *);
  for (int i = 0; i < access->term_count; i++)
    terms[i] = &access->terms[i];
  sort_by_depth(terms, access->term_count);
  for (int i = 0; i < access->term_count; i++)
    add_term(e, access, terms[i], part, &at);
  if (access->constant != 0)
    at.pointer = step_pointer(e, access, at.pointer, hl_llvm_i64(&e->l, access->constant));
  if (at.lanes && at.step) {
    LLVMValueRef steps = hl_llvm_iota(&e->l, e->l.i64, e->width, 0, at.step);
    at.lanes = LLVMBuildAdd(e->l.builder, at.lanes, steps, "");
  }
  return at;
}

static unsigned element_align(const hl_param *param)
{
  return (unsigned)hl_type_bytes(param->type);
}

/* Registers to memory and back: pred is a byte there, any but 0 is true; small integers are kept to
 * their width. */
static LLVMValueRef from_memory(hl_emitter *e, hl_element_type type, LLVMValueRef x)
{
  if (type == HL_PRED)
    return LLVMBuildICmp(e->l.builder, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
  return hl_is_integral(type) && hl_type_bits(type) < 8 ? hl_emit_convert(e, HL_U8, type, x) : x;
}

static LLVMValueRef to_memory(hl_emitter *e, hl_element_type type, LLVMValueRef x)
{
  if (type != HL_PRED)
    return x;
  return LLVMBuildZExt(e->l.builder, x, hl_llvm_memory_type(&e->l, type, hl_llvm_lanes(x)), "");
}

static LLVMValueRef reverse(hl_emitter *e, LLVMValueRef x)
{
  int lanes[HL_MAX_LANES], n = hl_llvm_lanes(x);
  for (int i = 0; i < n; i++)
    lanes[i] = n - 1 - i;
  return hl_llvm_shuffle(&e->l, x, NULL, lanes, n);
}

/* The first element in memory of a vector whose lanes lie `step` = ±1 apart. */
static LLVMValueRef vector_start(hl_emitter *e, const hl_param *param, const address *at)
{
  if (at->step > 0)
    return at->pointer;
  LLVMTypeRef type = hl_llvm_memory_type(&e->l, param->type, 1);
  LLVMValueRef back = hl_llvm_i64(&e->l, 1 - e->width);
  return LLVMBuildGEP2(e->l.builder, type, at->pointer, &back, 1, "");
}

static LLVMValueRef lane_pointers(hl_emitter *e, const hl_param *param, const address *at)
{
  LLVMTypeRef type = hl_llvm_memory_type(&e->l, param->type, 1);
  LLVMValueRef lanes = at->lanes ? at->lanes : hl_llvm_iota(&e->l, e->l.i64, e->width, 0, at->step);
  return LLVMBuildGEP2(e->l.builder, type, at->pointer, &lanes, 1, "");
}

static bool is_contiguous(const address *at)
{
  return !at->lanes && (at->step == 1 || at->step == -1);
}

static LLVMValueRef masked_load(hl_emitter *e, LLVMTypeRef type, LLVMValueRef pointer,
                                unsigned align, LLVMValueRef mask)
{
  LLVMTypeRef types[2] = {type, e->l.ptr};
  LLVMValueRef args[4] = {pointer, hl_llvm_int(e->l.i32, align), mask, LLVMConstNull(type)};
  return hl_llvm_intrinsic(&e->l, "llvm.masked.load", types, 2, args, 4);
}

static LLVMValueRef load_contiguous(hl_emitter *e, const hl_param *param, const address *at,
                                    LLVMValueRef mask)
{
  LLVMTypeRef type = hl_llvm_memory_type(&e->l, param->type, e->width);
  LLVMValueRef start = vector_start(e, param, at);
  LLVMValueRef ordered = mask && at->step < 0 ? reverse(e, mask) : mask;
  LLVMValueRef x;
  if (ordered) {
    x = masked_load(e, type, start, element_align(param), ordered);
  } else {
    x = LLVMBuildLoad2(e->l.builder, type, start, "");
    LLVMSetAlignment(x, element_align(param));
  }
  return at->step < 0 ? reverse(e, x) : x;
}

static LLVMValueRef load_gather(hl_emitter *e, const hl_param *param, const address *at,
                                LLVMValueRef mask)
{
  LLVMTypeRef type = hl_llvm_memory_type(&e->l, param->type, e->width);
  LLVMValueRef pointers = lane_pointers(e, param, at);
  LLVMTypeRef types[2] = {type, LLVMTypeOf(pointers)};
  LLVMValueRef all = LLVMConstAllOnes(LLVMVectorType(e->l.i1, (unsigned)e->width));
  LLVMValueRef args[4] = {pointers, hl_llvm_int(e->l.i32, element_align(param)), mask ? mask : all,
                          LLVMConstNull(type)};
  return hl_llvm_intrinsic(&e->l, "llvm.masked.gather", types, 2, args, 4);
}

static LLVMValueRef load_scalar(hl_emitter *e, const hl_param *param, LLVMValueRef pointer)
{
  LLVMValueRef x =
      LLVMBuildLoad2(e->l.builder, hl_llvm_memory_type(&e->l, param->type, 1), pointer, "");
  LLVMSetAlignment(x, element_align(param));
  return from_memory(e, param->type, x);
}

/* Lanes that differ: `mask` NULL loads all. */
static LLVMValueRef load_lanes(hl_emitter *e, const hl_param *param, const address *at,
                               LLVMValueRef mask)
{
  LLVMValueRef x =
      is_contiguous(at) ? load_contiguous(e, param, at, mask) : load_gather(e, param, at, mask);
  return from_memory(e, param->type, x);
}

static bool is_scalar_address(const address *at)
{
  return !at->lanes && at->step == 0;
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
  LLVMValueRef first = e->pointers[param_index(e, param)];
  return load_scalar(e, param, LLVMBuildSelect(e->l.builder, condition, pointer, first, ""));
}

/* A guard that is one for all lanes is a branch around the vector load. */
static LLVMValueRef load_lanes_if(hl_emitter *e, const hl_param *param, const address *at,
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

static LLVMValueRef load_guarded(hl_emitter *e, const hl_node *node, int part, const address *at,
                                 int lanes)
{
  const hl_param *param = node->access->param;
  int guard_lanes = hl_emit_lane_count(e, node->operands, 1);
  LLVMValueRef guard = hl_emit_raw(e, node->operands[0], part, guard_lanes);
  LLVMValueRef other = hl_emit_clean(e, node->operands[1], part, lanes);
  if (param->count == 0)
    return other;
  if (is_scalar_address(at)) {
    LLVMValueRef reads = guard_lanes > 1 ? any_lane(e, joined_mask(e, guard)) : guard;
    LLVMValueRef x = hl_llvm_splat(&e->l, load_scalar_if(e, param, at->pointer, reads), lanes);
    return LLVMBuildSelect(e->l.builder, guard, x, other, "");
  }
  if (guard_lanes == 1)
    return load_lanes_if(e, param, at, guard, other);
  return LLVMBuildSelect(e->l.builder, guard, load_lanes(e, param, at, joined_mask(e, guard)),
                         other, "");
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
  value.parts = HL_ARRAY(e->arena, value.part_count, LLVMValueRef);
  for (int part = 0; part < value.part_count; part++) {
    address at = address_of(e, node->access, part);
    bool is_wide =
        !is_scalar_address(&at) || hl_emit_lane_count(e, node->operands, node->operand_count) > 1;
    value.is_vector = is_wide;
    if (node->operand_count)
      value.parts[part] = load_guarded(e, node, part, &at, is_wide ? e->width : 1);
    else if (is_wide)
      value.parts[part] = load_lanes(e, node->access->param, &at, e->mask);
    else
      value.parts[part] = load_scalar(e, node->access->param, at.pointer);
  }
  hl_value_set(e, node, value);
}

/* Stores. */

static void store_scalar(hl_emitter *e, const hl_param *param, LLVMValueRef pointer, LLVMValueRef x)
{
  LLVMValueRef store = LLVMBuildStore(e->l.builder, to_memory(e, param->type, x), pointer);
  LLVMSetAlignment(store, element_align(param));
}

static void masked_store(hl_emitter *e, LLVMValueRef x, LLVMValueRef pointer, unsigned align,
                         LLVMValueRef mask)
{
  LLVMTypeRef types[2] = {LLVMTypeOf(x), e->l.ptr};
  LLVMValueRef args[4] = {x, pointer, hl_llvm_int(e->l.i32, align), mask};
  hl_llvm_intrinsic(&e->l, "llvm.masked.store", types, 2, args, 4);
}

static LLVMValueRef store_vector(hl_emitter *e, LLVMValueRef x, LLVMValueRef pointer,
                                 unsigned align)
{
  LLVMValueRef store = LLVMBuildStore(e->l.builder, x, pointer);
  LLVMSetAlignment(store, align);
  return store;
}

/* Whole registers past the caches where the address allows it. It does at all rounds of a loop or
 * at none, so the branch costs nothing. */
static void store_streaming(hl_emitter *e, LLVMValueRef x, LLVMValueRef pointer, unsigned align)
{
  LLVMBuilderRef b = e->l.builder;
  unsigned bytes = (unsigned)e->target->vector_bytes;
  LLVMValueRef place = LLVMBuildPtrToInt(b, pointer, e->l.i64, "");
  LLVMValueRef low = LLVMBuildAnd(b, place, hl_llvm_i64(&e->l, bytes - 1), "");
  LLVMValueRef is_aligned = LLVMBuildICmp(b, LLVMIntEQ, low, hl_llvm_i64(&e->l, 0), "");
  hl_llvm_if branch = hl_llvm_if_begin(&e->l, is_aligned);
  hl_llvm_flag_metadata(&e->l, store_vector(e, x, pointer, bytes), "nontemporal");
  hl_llvm_if_else(&e->l, &branch);
  store_vector(e, x, pointer, align);
  hl_llvm_if_end(&e->l, &branch);
  e->has_streamed = true;
}

static bool streams(const hl_emitter *e, const hl_node *node, const address *at)
{
  int bytes = e->width * hl_type_bytes(node->access->param->type);
  return node->is_streaming && at->step > 0 && bytes % e->target->vector_bytes == 0;
}

static void store_contiguous(hl_emitter *e, const hl_node *node, const address *at, LLVMValueRef x,
                             LLVMValueRef mask)
{
  const hl_param *param = node->access->param;
  LLVMValueRef start = vector_start(e, param, at);
  LLVMValueRef ordered = at->step < 0 ? reverse(e, x) : x;
  if (mask) {
    masked_store(e, ordered, start, element_align(param), at->step < 0 ? reverse(e, mask) : mask);
    return;
  }
  if (streams(e, node, at))
    store_streaming(e, ordered, start, element_align(param));
  else
    store_vector(e, ordered, start, element_align(param));
}

static void store_scatter(hl_emitter *e, const hl_param *param, const address *at, LLVMValueRef x,
                          LLVMValueRef mask)
{
  LLVMValueRef pointers = lane_pointers(e, param, at);
  LLVMTypeRef types[2] = {LLVMTypeOf(x), LLVMTypeOf(pointers)};
  LLVMValueRef all = LLVMConstAllOnes(LLVMVectorType(e->l.i1, (unsigned)e->width));
  LLVMValueRef args[4] = {x, pointers, hl_llvm_int(e->l.i32, element_align(param)),
                          mask ? mask : all};
  hl_llvm_intrinsic(&e->l, "llvm.masked.scatter", types, 2, args, 4);
}

static void store_part(hl_emitter *e, const hl_node *node, int part, LLVMValueRef guard)
{
  const hl_param *param = node->access->param;
  address at = address_of(e, node->access, part);
  LLVMValueRef mask = guard ? joined_mask(e, guard) : e->mask;
  bool is_wide = mask || !is_scalar_address(&at) || hl_emit_lane_count(e, node->operands, 1) > 1;
  LLVMValueRef x = hl_emit_clean(e, node->operands[0], part, is_wide ? e->width : 1);
  if (!is_wide)
    store_scalar(e, param, at.pointer, x);
  else if (is_contiguous(&at))
    store_contiguous(e, node, &at, to_memory(e, param->type, x), mask);
  else
    store_scatter(e, param, &at, to_memory(e, param->type, x), mask);
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

void hl_emit_store(hl_emitter *e, const hl_node *node)
{
  int parts = load_parts(e, node);
  for (int part = 0; part < parts; part++) {
    if (node->operand_count > 1)
      store_guarded(e, node, part);
    else
      store_part(e, node, part, NULL);
  }
}
