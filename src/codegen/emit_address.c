/* emit_address.c - where an affine access goes: the element of lane 0 and the steps to the others.
 */
#include "emit_access.h"

static int param_index(const hl_emitter *e, const hl_param *param)
{
  int i = 0;
  while (e->kernel->params[i] != param)
    i++;
  return i;
}

LLVMValueRef hl_emit_param_pointer(hl_emitter *e, const hl_param *param)
{
  return e->pointers[param_index(e, param)];
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

/* Offsets of 32 bits where index * stride is small: sums of a few of them do not overflow. */
static LLVMValueRef lane_offsets(hl_emitter *e, const hl_term *term, int part)
{
  enum { SMALL = 1 << 27 };
  LLVMBuilderRef b = e->l.builder;
  hl_interval r = e->ranges[term->index->id];
  int64_t low, high;
  bool is_small = hl_emit_fits_i32(e, term->index) && hl_mul_i64(r.low, term->stride, &low) &&
                  hl_mul_i64(r.high, term->stride, &high) && low > -SMALL && low < SMALL &&
                  high > -SMALL && high < SMALL;
  LLVMValueRef index = is_small ? hl_emit_narrow(e, term->index, part, e->width)
                                : hl_emit_raw(e, term->index, part, e->width);
  LLVMValueRef stride = hl_llvm_int(LLVMTypeOf(index), (uint64_t)term->stride);
  return LLVMBuildMul(b, index, stride, "");
}

static LLVMValueRef widened(hl_emitter *e, LLVMValueRef lanes, LLVMTypeRef type)
{
  return LLVMTypeOf(lanes) == type ? lanes : LLVMBuildSExt(e->l.builder, lanes, type, "");
}

static void add_lanes(hl_emitter *e, hl_address *at, LLVMValueRef lanes)
{
  LLVMTypeRef wide = hl_llvm_vector(e->l.i64, e->width);
  if (!at->lanes) {
    at->lanes = lanes;
    return;
  }
  LLVMTypeRef type = LLVMTypeOf(at->lanes) == LLVMTypeOf(lanes) ? LLVMTypeOf(lanes) : wide;
  at->lanes = LLVMBuildAdd(e->l.builder, widened(e, at->lanes, type), widened(e, lanes, type), "");
}

static void add_term(hl_emitter *e, const hl_access *access, const hl_term *term, int part,
                     hl_address *at)
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
  add_lanes(e, at, lane_offsets(e, term, part));
}

hl_address hl_emit_address(hl_emitter *e, const hl_access *access, int part)
{
  hl_address at = {.pointer = hl_emit_param_pointer(e, access->param)};
  const hl_term **terms = HL_ARRAY(e->arena, access->term_count + 1, const hl_term *);
  for (int i = 0; i < access->term_count; i++)
    terms[i] = &access->terms[i];
  sort_by_depth(terms, access->term_count);
  for (int i = 0; i < access->term_count; i++)
    add_term(e, access, terms[i], part, &at);
  if (access->constant != 0)
    at.pointer = step_pointer(e, access, at.pointer, hl_llvm_i64(&e->l, access->constant));
  if (at.lanes && at.step)
    add_lanes(e, &at, hl_llvm_iota(&e->l, e->l.i64, e->width, 0, at.step));
  return at;
}

bool hl_address_is_scalar(const hl_address *at)
{
  return !at->lanes && at->step == 0;
}
