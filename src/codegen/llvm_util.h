/* llvm_util - the few things that LLVM-C makes long: types, constants, attributes, intrinsics,
 * counted loops. */
#ifndef HL_LLVM_UTIL_H
#define HL_LLVM_UTIL_H

#include <stdbool.h>
#include <stdint.h>
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "ir/shape.h"

/* One module under construction. */
typedef struct hl_llvm {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  LLVMTypeRef i1, i8, i16, i32, i64, f32, f64, ptr, nothing;
  LLVMFastMathFlags fast_math;
  LLVMValueRef function; /* that is being emitted */
} hl_llvm;

void hl_llvm_init(hl_llvm *l, const char *module_name);
void hl_llvm_dispose(hl_llvm *l);

/* Registers: i1 for pred, iN for integers and for the bits of floats narrower than f32; lanes 1:
 * scalar. */
LLVMTypeRef hl_llvm_type(const hl_llvm *l, hl_element_type type, int lanes);
LLVMTypeRef hl_llvm_vector(LLVMTypeRef type, int lanes);
/* The integer type as wide as a scalar type, or a vector of it. */
LLVMTypeRef hl_llvm_int_like(const hl_llvm *l, LLVMTypeRef type);
/* Memory: i8 for pred, else as in registers. */
LLVMTypeRef hl_llvm_memory_type(const hl_llvm *l, hl_element_type type, int lanes);
int hl_llvm_lanes(LLVMValueRef value);
int hl_llvm_scalar_bits(LLVMTypeRef type);

/* Constants of a type or of each lane of a vector type. */
LLVMValueRef hl_llvm_int(LLVMTypeRef type, uint64_t value);
LLVMValueRef hl_llvm_float(LLVMTypeRef type, double value);
LLVMValueRef hl_llvm_bits(const hl_llvm *l, LLVMTypeRef type, uint64_t bits);
LLVMValueRef hl_llvm_i64(const hl_llvm *l, int64_t value);
/* <start, start + step, ...> of i`bits`. */
LLVMValueRef hl_llvm_iota(const hl_llvm *l, LLVMTypeRef element, int lanes, int64_t start,
                          int64_t step);

LLVMValueRef hl_llvm_splat(const hl_llvm *l, LLVMValueRef scalar, int lanes);
/* Lanes first .. first + count - 1 as a vector; the scalar for count 1. */
LLVMValueRef hl_llvm_slice(const hl_llvm *l, LLVMValueRef vector, int first, int count);
LLVMValueRef hl_llvm_shuffle(const hl_llvm *l, LLVMValueRef a, LLVMValueRef b, const int *lanes,
                             int count);
LLVMValueRef hl_llvm_concat(const hl_llvm *l, LLVMValueRef a, LLVMValueRef b);

/* An intrinsic overloaded on `type_count` types. */
LLVMValueRef hl_llvm_intrinsic(const hl_llvm *l, const char *name, const LLVMTypeRef *types,
                               int type_count, const LLVMValueRef *args, int arg_count);
/* One overloaded on the type of its first argument alone. */
LLVMValueRef hl_llvm_call1(const hl_llvm *l, const char *name, LLVMValueRef a);
LLVMValueRef hl_llvm_call2(const hl_llvm *l, const char *name, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef hl_llvm_call3(const hl_llvm *l, const char *name, LLVMValueRef a, LLVMValueRef b,
                           LLVMValueRef c);

/* Attributes: index 0 is the return value, 1.. the parameters. */
void hl_llvm_attr(const hl_llvm *l, LLVMValueRef function, unsigned index, const char *name,
                  uint64_t value);
void hl_llvm_function_attr(const hl_llvm *l, LLVMValueRef function, const char *name);
void hl_llvm_attr_text(const hl_llvm *l, LLVMValueRef function, const char *key, const char *value);
void hl_llvm_flag_metadata(const hl_llvm *l, LLVMValueRef instruction, const char *kind);

LLVMBasicBlockRef hl_llvm_block(const hl_llvm *l, const char *name);
void hl_llvm_at(const hl_llvm *l, LLVMBasicBlockRef block);
LLVMBasicBlockRef hl_llvm_here(const hl_llvm *l);
/* Memory on the stack, made once at the start of the function. */
LLVMValueRef hl_llvm_alloca(const hl_llvm *l, LLVMTypeRef type, int64_t count, unsigned align);
LLVMValueRef hl_llvm_gep(const hl_llvm *l, LLVMTypeRef type, LLVMValueRef base, LLVMValueRef index);

/* A value for each way into the block that follows a branch. */
LLVMValueRef hl_llvm_phi2(const hl_llvm *l, LLVMValueRef a, LLVMBasicBlockRef from_a,
                          LLVMValueRef b, LLVMBasicBlockRef from_b);

/* if/else without values: begin leaves the builder in `then`. */
typedef struct hl_llvm_if {
  LLVMBasicBlockRef otherwise, after, then_end;
} hl_llvm_if;
hl_llvm_if hl_llvm_if_begin(const hl_llvm *l, LLVMValueRef condition);
void hl_llvm_if_else(const hl_llvm *l, hl_llvm_if *branch);
/* Ends the branch; one without an else part needs no hl_llvm_if_else. */
void hl_llvm_if_end(const hl_llvm *l, hl_llvm_if *branch);

/* A counted loop, tested at its end: index goes from start by step while it is less than end.
 * `carried` values (in place) become phis at the start of the body; hl_llvm_loop_end takes the next
 * values in the same array and leaves the final ones there. */
typedef struct hl_llvm_loop {
  LLVMBasicBlockRef before, body, after;
  LLVMValueRef index, end, step;
  LLVMValueRef *carried, *phis, *initial;
  int count;
  bool may_be_empty;
} hl_llvm_loop;
void hl_llvm_loop_begin(const hl_llvm *l, hl_arena *arena, hl_llvm_loop *loop, LLVMValueRef start,
                        LLVMValueRef end, int64_t step, LLVMValueRef *carried, int count);
void hl_llvm_loop_end(const hl_llvm *l, hl_llvm_loop *loop);

#endif
