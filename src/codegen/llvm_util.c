/* llvm_util.c - types, constants, attributes, intrinsics and control flow, in terms of LLVM-C. */
#include "llvm_util.h"

#include <string.h>

void hl_llvm_init(hl_llvm *l, const char *module_name)
{
  memset(l, 0, sizeof *l);
  l->context = LLVMContextCreate();
  LLVMContextSetDiscardValueNames(l->context, 1);
  l->module = LLVMModuleCreateWithNameInContext(module_name, l->context);
  l->builder = LLVMCreateBuilderInContext(l->context);
  l->i1 = LLVMInt1TypeInContext(l->context);
  l->i8 = LLVMInt8TypeInContext(l->context);
  l->i16 = LLVMInt16TypeInContext(l->context);
  l->i32 = LLVMInt32TypeInContext(l->context);
  l->i64 = LLVMInt64TypeInContext(l->context);
  l->f32 = LLVMFloatTypeInContext(l->context);
  l->f64 = LLVMDoubleTypeInContext(l->context);
  l->ptr = LLVMPointerTypeInContext(l->context, 0);
  l->nothing = LLVMVoidTypeInContext(l->context);
}

void hl_llvm_dispose(hl_llvm *l)
{
  if (!l->context)
    return;
  LLVMDisposeBuilder(l->builder);
  LLVMDisposeModule(l->module);
  LLVMContextDispose(l->context);
  l->context = NULL;
}

LLVMTypeRef hl_llvm_vector(LLVMTypeRef type, int lanes)
{
  return lanes == 1 ? type : LLVMVectorType(type, (unsigned)lanes);
}

LLVMTypeRef hl_llvm_type(const hl_llvm *l, hl_element_type type, int lanes)
{
  LLVMTypeRef scalar = type == HL_PRED  ? l->i1
                       : type == HL_F32 ? l->f32
                       : type == HL_F64
                           ? l->f64
                           : LLVMIntTypeInContext(l->context, 8u * (unsigned)hl_type_bytes(type));
  return hl_llvm_vector(scalar, lanes);
}

LLVMTypeRef hl_llvm_memory_type(const hl_llvm *l, hl_element_type type, int lanes)
{
  return type == HL_PRED ? hl_llvm_vector(l->i8, lanes) : hl_llvm_type(l, type, lanes);
}

static bool is_vector(LLVMTypeRef type)
{
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind;
}

static LLVMTypeRef scalar_of(LLVMTypeRef type)
{
  return is_vector(type) ? LLVMGetElementType(type) : type;
}

int hl_llvm_lanes(LLVMValueRef value)
{
  LLVMTypeRef type = LLVMTypeOf(value);
  return is_vector(type) ? (int)LLVMGetVectorSize(type) : 1;
}

int hl_llvm_scalar_bits(LLVMTypeRef type)
{
  LLVMTypeRef scalar = scalar_of(type);
  switch (LLVMGetTypeKind(scalar)) {
  case LLVMFloatTypeKind:
    return 32;
  case LLVMDoubleTypeKind:
    return 64;
  case LLVMHalfTypeKind:
    return 16;
  default:
    return (int)LLVMGetIntTypeWidth(scalar);
  }
}

LLVMTypeRef hl_llvm_int_like(const hl_llvm *l, LLVMTypeRef type)
{
  LLVMTypeRef scalar = LLVMIntTypeInContext(l->context, (unsigned)hl_llvm_scalar_bits(type));
  return is_vector(type) ? LLVMVectorType(scalar, LLVMGetVectorSize(type)) : scalar;
}

/* The same constant in each lane. */
static LLVMValueRef constant_splat(LLVMTypeRef type, LLVMValueRef scalar)
{
  if (!is_vector(type))
    return scalar;
  LLVMValueRef lanes[1024];
  unsigned n = LLVMGetVectorSize(type);
  for (unsigned i = 0; i < n && i < 1024; i++)
    lanes[i] = scalar;
  return LLVMConstVector(lanes, n);
}

LLVMValueRef hl_llvm_int(LLVMTypeRef type, uint64_t value)
{
  return constant_splat(type, LLVMConstInt(scalar_of(type), value, 0));
}

LLVMValueRef hl_llvm_float(LLVMTypeRef type, double value)
{
  return constant_splat(type, LLVMConstReal(scalar_of(type), value));
}

LLVMValueRef hl_llvm_bits(const hl_llvm *l, LLVMTypeRef type, uint64_t bits)
{
  LLVMTypeRef scalar = scalar_of(type);
  LLVMValueRef integer = LLVMConstInt(hl_llvm_int_like(l, scalar), bits, 0);
  return constant_splat(type, LLVMConstBitCast(integer, scalar));
}

LLVMValueRef hl_llvm_i64(const hl_llvm *l, int64_t value)
{
  return LLVMConstInt(l->i64, (unsigned long long)value, 1);
}

LLVMValueRef hl_llvm_iota(const hl_llvm *l, LLVMTypeRef element, int lanes, int64_t start,
                          int64_t step)
{
  (void)l;
  LLVMValueRef values[1024];
  for (int i = 0; i < lanes && i < 1024; i++)
    values[i] = LLVMConstInt(element, (unsigned long long)(start + step * i), 1);
  return LLVMConstVector(values, (unsigned)lanes);
}

LLVMValueRef hl_llvm_shuffle(const hl_llvm *l, LLVMValueRef a, LLVMValueRef b, const int *lanes,
                             int count)
{
  LLVMValueRef mask[1024];
  for (int i = 0; i < count && i < 1024; i++)
    mask[i] = lanes[i] < 0 ? LLVMGetPoison(l->i32) : LLVMConstInt(l->i32, (unsigned)lanes[i], 0);
  return LLVMBuildShuffleVector(l->builder, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)),
                                LLVMConstVector(mask, (unsigned)count), "");
}

LLVMValueRef hl_llvm_splat(const hl_llvm *l, LLVMValueRef scalar, int lanes)
{
  if (lanes == 1)
    return scalar;
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), (unsigned)lanes);
  if (LLVMIsConstant(scalar))
    return constant_splat(type, scalar);
  LLVMValueRef first = LLVMBuildInsertElement(l->builder, LLVMGetPoison(type), scalar,
                                              LLVMConstInt(l->i32, 0, 0), "");
  return LLVMBuildShuffleVector(l->builder, first, LLVMGetPoison(type),
                                LLVMConstNull(LLVMVectorType(l->i32, (unsigned)lanes)), "");
}

LLVMValueRef hl_llvm_slice(const hl_llvm *l, LLVMValueRef vector, int first, int count)
{
  if (count == hl_llvm_lanes(vector))
    return vector;
  if (count == 1)
    return LLVMBuildExtractElement(l->builder, vector, LLVMConstInt(l->i32, (unsigned)first, 0),
                                   "");
  int lanes[1024];
  for (int i = 0; i < count && i < 1024; i++)
    lanes[i] = first + i;
  return hl_llvm_shuffle(l, vector, NULL, lanes, count);
}

LLVMValueRef hl_llvm_concat(const hl_llvm *l, LLVMValueRef a, LLVMValueRef b)
{
  int lanes[1024], n = hl_llvm_lanes(a) + hl_llvm_lanes(b);
  for (int i = 0; i < n && i < 1024; i++)
    lanes[i] = i;
  return hl_llvm_shuffle(l, a, b, lanes, n);
}

LLVMValueRef hl_llvm_intrinsic(const hl_llvm *l, const char *name, const LLVMTypeRef *types,
                               int type_count, const LLVMValueRef *args, int arg_count)
{
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMTypeRef overloads[4];
  LLVMValueRef values[8];
  if (type_count)
    memcpy(overloads, types, (size_t)type_count * sizeof *types);
  if (arg_count)
    memcpy(values, args, (size_t)arg_count * sizeof *args);
  LLVMValueRef callee = LLVMGetIntrinsicDeclaration(l->module, id, overloads, (size_t)type_count);
  LLVMTypeRef type = LLVMIntrinsicGetType(l->context, id, overloads, (size_t)type_count);
  LLVMValueRef call = LLVMBuildCall2(l->builder, type, callee, values, (unsigned)arg_count, "");
  if (l->fast_math && LLVMCanValueUseFastMathFlags(call))
    LLVMSetFastMathFlags(call, l->fast_math);
  return call;
}

LLVMValueRef hl_llvm_call1(const hl_llvm *l, const char *name, LLVMValueRef a)
{
  LLVMTypeRef type = LLVMTypeOf(a);
  return hl_llvm_intrinsic(l, name, &type, 1, &a, 1);
}

LLVMValueRef hl_llvm_call2(const hl_llvm *l, const char *name, LLVMValueRef a, LLVMValueRef b)
{
  LLVMTypeRef type = LLVMTypeOf(a);
  return hl_llvm_intrinsic(l, name, &type, 1, (LLVMValueRef[]){a, b}, 2);
}

LLVMValueRef hl_llvm_call3(const hl_llvm *l, const char *name, LLVMValueRef a, LLVMValueRef b,
                           LLVMValueRef c)
{
  LLVMTypeRef type = LLVMTypeOf(a);
  return hl_llvm_intrinsic(l, name, &type, 1, (LLVMValueRef[]){a, b, c}, 3);
}

void hl_llvm_attr(const hl_llvm *l, LLVMValueRef function, unsigned index, const char *name,
                  uint64_t value)
{
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(function, index, LLVMCreateEnumAttribute(l->context, kind, value));
}

enum { FUNCTION_INDEX = LLVMAttributeFunctionIndex };

void hl_llvm_function_attr(const hl_llvm *l, LLVMValueRef function, const char *name)
{
  hl_llvm_attr(l, function, (unsigned)FUNCTION_INDEX, name, 0);
}

void hl_llvm_attr_text(const hl_llvm *l, LLVMValueRef function, const char *key, const char *value)
{
  LLVMAddAttributeAtIndex(function, (unsigned)FUNCTION_INDEX,
                          LLVMCreateStringAttribute(l->context, key, (unsigned)strlen(key), value,
                                                    (unsigned)strlen(value)));
}

void hl_llvm_flag_metadata(const hl_llvm *l, LLVMValueRef instruction, const char *kind)
{
  unsigned id = LLVMGetMDKindIDInContext(l->context, kind, (unsigned)strlen(kind));
  LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(l->i32, 1, 0));
  LLVMMetadataRef node = strcmp(kind, "nontemporal") == 0
                             ? LLVMMDNodeInContext2(l->context, &one, 1)
                             : LLVMMDNodeInContext2(l->context, NULL, 0);
  LLVMSetMetadata(instruction, id, LLVMMetadataAsValue(l->context, node));
}

LLVMBasicBlockRef hl_llvm_block(const hl_llvm *l, const char *name)
{
  return LLVMAppendBasicBlockInContext(l->context, l->function, name);
}

void hl_llvm_at(const hl_llvm *l, LLVMBasicBlockRef block)
{
  LLVMPositionBuilderAtEnd(l->builder, block);
}

LLVMBasicBlockRef hl_llvm_here(const hl_llvm *l)
{
  return LLVMGetInsertBlock(l->builder);
}

LLVMValueRef hl_llvm_alloca(const hl_llvm *l, LLVMTypeRef type, int64_t count, unsigned align)
{
  LLVMBasicBlockRef here = hl_llvm_here(l);
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(l->function);
  LLVMValueRef first = LLVMGetFirstInstruction(entry);
  if (first)
    LLVMPositionBuilderBefore(l->builder, first);
  else
    hl_llvm_at(l, entry);
  LLVMValueRef memory = LLVMBuildAlloca(l->builder, LLVMArrayType2(type, (uint64_t)count), "");
  LLVMSetAlignment(memory, align);
  hl_llvm_at(l, here);
  return memory;
}

LLVMValueRef hl_llvm_gep(const hl_llvm *l, LLVMTypeRef type, LLVMValueRef base, LLVMValueRef index)
{
  return LLVMBuildInBoundsGEP2(l->builder, type, base, &index, 1, "");
}

LLVMValueRef hl_llvm_phi2(const hl_llvm *l, LLVMValueRef a, LLVMBasicBlockRef from_a,
                          LLVMValueRef b, LLVMBasicBlockRef from_b)
{
  LLVMValueRef phi = LLVMBuildPhi(l->builder, LLVMTypeOf(a), "");
  LLVMAddIncoming(phi, (LLVMValueRef[]){a, b}, (LLVMBasicBlockRef[]){from_a, from_b}, 2);
  return phi;
}

hl_llvm_if hl_llvm_if_begin(const hl_llvm *l, LLVMValueRef condition)
{
  LLVMBasicBlockRef then = hl_llvm_block(l, "then");
  hl_llvm_if branch = {hl_llvm_block(l, "else"), NULL, NULL};
  LLVMBuildCondBr(l->builder, condition, then, branch.otherwise);
  hl_llvm_at(l, then);
  return branch;
}

void hl_llvm_if_else(const hl_llvm *l, hl_llvm_if *branch)
{
  branch->after = hl_llvm_block(l, "join");
  branch->then_end = hl_llvm_here(l);
  LLVMBuildBr(l->builder, branch->after);
  hl_llvm_at(l, branch->otherwise);
}

void hl_llvm_if_end(const hl_llvm *l, hl_llvm_if *branch)
{
  if (!branch->after) {
    branch->after = branch->otherwise;
    branch->then_end = hl_llvm_here(l);
  }
  LLVMBuildBr(l->builder, branch->after);
  hl_llvm_at(l, branch->after);
}

static bool is_positive_difference(LLVMValueRef start, LLVMValueRef end)
{
  return LLVMIsAConstantInt(start) && LLVMIsAConstantInt(end) &&
         LLVMConstIntGetSExtValue(start) < LLVMConstIntGetSExtValue(end);
}

static void add_phis(const hl_llvm *l, hl_llvm_loop *loop)
{
  for (int i = 0; i < loop->count; i++) {
    loop->initial[i] = loop->carried[i];
    loop->phis[i] = LLVMBuildPhi(l->builder, LLVMTypeOf(loop->carried[i]), "");
    LLVMAddIncoming(loop->phis[i], &loop->initial[i], &loop->before, 1);
    loop->carried[i] = loop->phis[i];
  }
}

void hl_llvm_loop_begin(const hl_llvm *l, hl_arena *arena, hl_llvm_loop *loop, LLVMValueRef start,
                        LLVMValueRef end, int64_t step, LLVMValueRef *carried, int count)
{
  *loop = (hl_llvm_loop){.before = hl_llvm_here(l), .end = end, .carried = carried, .count = count};
  loop->phis = HL_ARRAY(arena, count + 1, LLVMValueRef);
  loop->initial = HL_ARRAY(arena, count + 1, LLVMValueRef);
  loop->body = hl_llvm_block(l, "loop");
  loop->after = hl_llvm_block(l, "after");
  loop->may_be_empty = !is_positive_difference(start, end);
  loop->step = LLVMConstInt(LLVMTypeOf(start), (unsigned long long)step, 1);
  if (loop->may_be_empty)
    LLVMBuildCondBr(l->builder, LLVMBuildICmp(l->builder, LLVMIntSLT, start, end, ""), loop->body,
                    loop->after);
  else
    LLVMBuildBr(l->builder, loop->body);
  hl_llvm_at(l, loop->body);
  loop->index = LLVMBuildPhi(l->builder, LLVMTypeOf(start), "");
  LLVMAddIncoming(loop->index, &start, &loop->before, 1);
  add_phis(l, loop);
}

void hl_llvm_loop_end(const hl_llvm *l, hl_llvm_loop *loop)
{
  LLVMBasicBlockRef latch = hl_llvm_here(l);
  LLVMValueRef next = LLVMBuildNUWAdd(l->builder, loop->index, loop->step, "");
  if (LLVMIsAInstruction(next))
    LLVMSetNSW(next, 1);
  LLVMValueRef more = LLVMBuildICmp(l->builder, LLVMIntSLT, next, loop->end, "");
  LLVMBuildCondBr(l->builder, more, loop->body, loop->after);
  LLVMAddIncoming(loop->index, &next, &latch, 1);
  hl_llvm_at(l, loop->after);
  for (int i = 0; i < loop->count; i++) {
    LLVMAddIncoming(loop->phis[i], &loop->carried[i], &latch, 1);
    LLVMValueRef final = LLVMBuildPhi(l->builder, LLVMTypeOf(loop->phis[i]), "");
    LLVMAddIncoming(final, &loop->carried[i], &latch, 1);
    if (loop->may_be_empty)
      LLVMAddIncoming(final, &loop->initial[i], &loop->before, 1);
    loop->carried[i] = final;
  }
}
