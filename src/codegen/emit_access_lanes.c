/* emit_access_lanes.c - vectors from and to memory.
 *
 * Neighbours are one load, small steps a few loads and shuffles, the rest a gather. What a mask
 * leaves out is not touched: where the target has no masked instruction, LLVM would make a branch
 * for each lane, so lanes that are out read the parameter's first element instead.
 */
#include "emit_access.h"

enum { LINE = 64 };

static unsigned element_align(const hl_param *param)
{
  return (unsigned)hl_type_bytes(param->type);
}

static LLVMValueRef reverse(hl_emitter *e, LLVMValueRef x)
{
  int lanes[HL_MAX_LANES], n = hl_llvm_lanes(x);
  for (int i = 0; i < n; i++)
    lanes[i] = n - 1 - i;
  return hl_llvm_shuffle(&e->l, x, NULL, lanes, n);
}

/* The first element in memory of a vector whose lanes lie `step` = ±1 apart. */
static LLVMValueRef vector_start(hl_emitter *e, const hl_param *param, const hl_address *at)
{
  if (at->step > 0)
    return at->pointer;
  LLVMTypeRef type = hl_llvm_memory_type(&e->l, param->type, 1);
  LLVMValueRef back = hl_llvm_i64(&e->l, 1 - e->width);
  return LLVMBuildGEP2(e->l.builder, type, at->pointer, &back, 1, "");
}

static LLVMValueRef lane_pointers(hl_emitter *e, const hl_param *param, const hl_address *at)
{
  LLVMTypeRef type = hl_llvm_memory_type(&e->l, param->type, 1);
  LLVMValueRef lanes = at->lanes ? at->lanes : hl_llvm_iota(&e->l, e->l.i64, e->width, 0, at->step);
  return LLVMBuildGEP2(e->l.builder, type, at->pointer, &lanes, 1, "");
}

static bool is_contiguous(const hl_address *at)
{
  return !at->lanes && (at->step == 1 || at->step == -1);
}

/* Lanes of one masked instruction, a register of the target. LLVM 19 divides wider ones for AVX2 and takes a half whose mask is known
 * to be empty for one whose mask is full: it reads, or changes, what was masked. */
static int masked_lanes(const hl_emitter *e, const hl_param *param)
{
  int lanes = e->target->vector_bytes / hl_type_bytes(param->type);
  return lanes > 0 && lanes < e->width ? lanes : e->width;
}

static LLVMValueRef part_of(hl_emitter *e, LLVMValueRef x, int first, int count)
{
  return count == e->width ? x : hl_llvm_slice(&e->l, x, first, count);
}

/* Not in bounds where all is masked. */
static LLVMValueRef part_pointer(hl_emitter *e, const hl_param *param, LLVMValueRef pointer, int first)
{
  LLVMTypeRef element = hl_llvm_memory_type(&e->l, param->type, 1);
  LLVMValueRef index = hl_llvm_i64(&e->l, first);
  return first ? LLVMBuildGEP2(e->l.builder, element, pointer, &index, 1, "") : pointer;
}

/* The chunks, a power of two of them, become one vector in the first. */
static LLVMValueRef join_chunks(hl_emitter *e, LLVMValueRef *chunks, int count)
{
  for (; count > 1; count /= 2)
    for (int i = 0; i < count / 2; i++)
      chunks[i] = hl_llvm_concat(&e->l, chunks[2 * i], chunks[2 * i + 1]);
  return chunks[0];
}

static LLVMValueRef masked_load(hl_emitter *e, const hl_param *param, LLVMValueRef pointer, LLVMValueRef mask)
{
  int n = masked_lanes(e, param);
  LLVMTypeRef type = hl_llvm_memory_type(&e->l, param->type, n), types[2] = {type, e->l.ptr};
  LLVMValueRef chunks[HL_MAX_LANES];
  for (int i = 0; i < e->width / n; i++) {
    LLVMValueRef args[4] = {part_pointer(e, param, pointer, i * n), hl_llvm_int(e->l.i32, element_align(param)),
                            part_of(e, mask, i * n, n), LLVMConstNull(type)};
    chunks[i] = hl_llvm_intrinsic(&e->l, "llvm.masked.load", types, 2, args, 4);
  }
  return join_chunks(e, chunks, e->width / n);
}

static LLVMValueRef load_contiguous(hl_emitter *e, const hl_param *param, const hl_address *at,
                                    LLVMValueRef mask)
{
  LLVMTypeRef type = hl_llvm_memory_type(&e->l, param->type, e->width);
  LLVMValueRef start = vector_start(e, param, at);
  LLVMValueRef ordered = mask && at->step < 0 ? reverse(e, mask) : mask;
  LLVMValueRef x;
  if (ordered) {
    x = masked_load(e, param, start, ordered);
  } else {
    x = LLVMBuildLoad2(e->l.builder, type, start, "");
    LLVMSetAlignment(x, element_align(param));
  }
  return at->step < 0 ? reverse(e, x) : x;
}

/* Strided loads: `step` whole vectors cover a chunk of lanes; the last one ends at the chunk's last
 * lane. */

enum { MAX_STEP = 8 };

/* Lanes of a chunk, so that the shuffles are instructions of the target; 0: no such. */
static int chunk_lanes(const hl_emitter *e, const hl_param *param)
{
  int bytes = hl_type_bytes(param->type);
  if (bytes == 1)
    return 16;
  return (bytes == 2 && !e->features->has_avx512 ? 16 : e->target->vector_bytes) / bytes;
}

static bool is_strided(const hl_emitter *e, const hl_param *param, const hl_address *at,
                       LLVMValueRef mask)
{
  return !mask && !at->lanes && at->step >= 2 && at->step <= MAX_STEP &&
         e->width % chunk_lanes(e, param) == 0;
}

/* The vector at element `start`: its elements from `next` on go to their lanes, lanes before stay.
 */
static LLVMValueRef take_lanes(hl_emitter *e, LLVMValueRef chunk, LLVMValueRef load, int64_t step,
                               int64_t start, int64_t next)
{
  int lanes[HL_MAX_LANES], n = hl_llvm_lanes(load);
  for (int i = 0; i < n; i++) {
    int64_t element = i * step;
    lanes[i] = element >= start + n ? -1 : element < next ? i : n + (int)(element - start);
  }
  return hl_llvm_shuffle(&e->l, chunk, load, lanes, n);
}

static LLVMValueRef load_chunk(hl_emitter *e, const hl_param *param, LLVMValueRef pointer,
                               int64_t step)
{
  int n = chunk_lanes(e, param);
  LLVMTypeRef type = hl_llvm_memory_type(&e->l, param->type, n);
  LLVMTypeRef element = hl_llvm_memory_type(&e->l, param->type, 1);
  LLVMValueRef chunk = LLVMGetPoison(type);
  int64_t last_start = (step - 1) * (n - 1), start = 0; /* nothing behind the last lane is ours to read */
  for (int64_t k = 0; start < last_start; k++) {
    start = k * n < last_start ? k * n : last_start;
    LLVMValueRef at = hl_llvm_gep(&e->l, element, pointer, hl_llvm_i64(&e->l, start));
    LLVMValueRef load = LLVMBuildLoad2(e->l.builder, type, at, "");
    LLVMSetAlignment(load, element_align(param));
    chunk = take_lanes(e, chunk, load, step, start, k * n);
  }
  return chunk;
}

static LLVMValueRef load_strided(hl_emitter *e, const hl_param *param, const hl_address *at)
{
  int n = chunk_lanes(e, param), count = e->width / n;
  LLVMTypeRef element = hl_llvm_memory_type(&e->l, param->type, 1);
  LLVMValueRef chunks[HL_MAX_LANES];
  for (int i = 0; i < count; i++) {
    LLVMValueRef offset = hl_llvm_i64(&e->l, (int64_t)i * n * at->step);
    chunks[i] = load_chunk(e, param, hl_llvm_gep(&e->l, element, at->pointer, offset), at->step);
  }
  return join_chunks(e, chunks, count);
}

static bool has_gather(const hl_emitter *e, const hl_param *param)
{
  return hl_type_bytes(param->type) >= 4 && (e->features->has_avx2 || e->features->has_avx512);
}

static LLVMValueRef all_lanes(hl_emitter *e)
{
  return LLVMConstAllOnes(LLVMVectorType(e->l.i1, (unsigned)e->width));
}

static LLVMValueRef load_gather(hl_emitter *e, const hl_param *param, const hl_address *at,
                                LLVMValueRef mask)
{
  LLVMTypeRef type = hl_llvm_memory_type(&e->l, param->type, e->width);
  LLVMValueRef pointers = lane_pointers(e, param, at);
  if (mask && !has_gather(e, param)) {
    LLVMValueRef first = hl_llvm_splat(&e->l, hl_emit_param_pointer(e, param), e->width);
    pointers = LLVMBuildSelect(e->l.builder, mask, pointers, first, "");
    mask = NULL;
  }
  LLVMTypeRef types[2] = {type, LLVMTypeOf(pointers)};
  LLVMValueRef args[4] = {pointers, hl_llvm_int(e->l.i32, element_align(param)),
                          mask ? mask : all_lanes(e), LLVMConstNull(type)};
  return hl_llvm_intrinsic(&e->l, "llvm.masked.gather", types, 2, args, 4);
}

LLVMValueRef hl_emit_load_lanes(hl_emitter *e, const hl_param *param, const hl_address *at,
                                LLVMValueRef mask)
{
  if (is_contiguous(at))
    return load_contiguous(e, param, at, mask);
  return is_strided(e, param, at, mask) ? load_strided(e, param, at)
                                        : load_gather(e, param, at, mask);
}

/* Stores. */

static void masked_store(hl_emitter *e, const hl_param *param, LLVMValueRef x, LLVMValueRef pointer, LLVMValueRef mask)
{
  int n = masked_lanes(e, param);
  for (int i = 0; i < e->width; i += n) {
    LLVMValueRef args[4] = {part_of(e, x, i, n), part_pointer(e, param, pointer, i), hl_llvm_int(e->l.i32, element_align(param)),
                            part_of(e, mask, i, n)};
    LLVMTypeRef types[2] = {LLVMTypeOf(args[0]), e->l.ptr};
    hl_llvm_intrinsic(&e->l, "llvm.masked.store", types, 2, args, 4);
  }
}

static LLVMValueRef store_vector(hl_emitter *e, LLVMValueRef x, LLVMValueRef pointer,
                                 unsigned align)
{
  LLVMValueRef store = LLVMBuildStore(e->l.builder, x, pointer);
  LLVMSetAlignment(store, align);
  return store;
}

/* Lines that are written in pieces would go to memory piece by piece. */
bool hl_emit_streams(const hl_emitter *e, const hl_node *node, const hl_address *at)
{
  int bytes = e->width * hl_type_bytes(node->access->param->type);
  return node->is_streaming && !e->mask && !at->lanes && at->step == 1 && bytes % LINE == 0 &&
         e->target->vector_bytes > 0;
}

/* It is so at all rounds of a loop or at none, so the branch costs nothing. */
void hl_emit_store_streaming(hl_emitter *e, const hl_param *param, const LLVMValueRef *pointers,
                             const LLVMValueRef *values, int count)
{
  LLVMBuilderRef b = e->l.builder;
  unsigned bytes = (unsigned)e->target->vector_bytes;
  LLVMValueRef place = LLVMBuildPtrToInt(b, pointers[0], e->l.i64, "");
  LLVMValueRef low = LLVMBuildAnd(b, place, hl_llvm_i64(&e->l, bytes - 1), "");
  LLVMValueRef is_aligned = LLVMBuildICmp(b, LLVMIntEQ, low, hl_llvm_i64(&e->l, 0), "");
  hl_llvm_if branch = hl_llvm_if_begin(&e->l, is_aligned);
  for (int i = 0; i < count; i++)
    hl_llvm_flag_metadata(&e->l, store_vector(e, values[i], pointers[i], bytes), "nontemporal");
  hl_llvm_if_else(&e->l, &branch);
  for (int i = 0; i < count; i++)
    store_vector(e, values[i], pointers[i], element_align(param));
  hl_llvm_if_end(&e->l, &branch);
  e->has_streamed = true;
}

static void store_contiguous(hl_emitter *e, const hl_param *param, const hl_address *at,
                             LLVMValueRef x, LLVMValueRef mask)
{
  LLVMValueRef start = vector_start(e, param, at);
  LLVMValueRef ordered = at->step < 0 ? reverse(e, x) : x;
  if (mask) {
    masked_store(e, param, ordered, start, at->step < 0 ? reverse(e, mask) : mask);
    return;
  }
  store_vector(e, ordered, start, element_align(param));
}

static void store_scatter(hl_emitter *e, const hl_param *param, const hl_address *at,
                          LLVMValueRef x, LLVMValueRef mask)
{
  LLVMValueRef pointers = lane_pointers(e, param, at);
  LLVMTypeRef types[2] = {LLVMTypeOf(x), LLVMTypeOf(pointers)};
  LLVMValueRef args[4] = {x, pointers, hl_llvm_int(e->l.i32, element_align(param)),
                          mask ? mask : all_lanes(e)};
  hl_llvm_intrinsic(&e->l, "llvm.masked.scatter", types, 2, args, 4);
}

void hl_emit_store_lanes(hl_emitter *e, const hl_param *param, const hl_address *at, LLVMValueRef x,
                         LLVMValueRef mask)
{
  if (is_contiguous(at))
    store_contiguous(e, param, at, x, mask);
  else
    store_scatter(e, param, at, x, mask);
}
