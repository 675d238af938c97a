/* kernels.c - the emitter's functions in loops, compiled for this machine. */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "src/codegen/emit_math.h"

struct math_kernels {
  LLVMTargetMachineRef machine;
  LLVMOrcLLJITRef jit;
};

static void must(LLVMErrorRef error)
{
  if (!error)
    return;
  char *text = LLVMGetErrorMessage(error);
  fprintf(stderr, "%s\n", text);
  LLVMDisposeErrorMessage(text);
  abort();
}

static void kernel_name(char *name, size_t size, int form, hl_math_fn fn)
{
  snprintf(name, size, "kernel_%d_%s", form, hl_math_name(fn));
}

static LLVMValueRef load_lanes(hl_math_emitter *e, LLVMTypeRef scalar, LLVMValueRef from,
                               LLVMValueRef at)
{
  LLVMTypeRef type = e->lanes == 1 ? scalar : LLVMVectorType(scalar, e->lanes);
  LLVMValueRef address = LLVMBuildInBoundsGEP2(e->builder, scalar, from, &at, 1, "");
  LLVMValueRef x = LLVMBuildLoad2(e->builder, type, address, "");
  LLVMSetAlignment(x, 4);
  return x;
}

/* out[at ...] = fn(x[at ...], y[at ...]) */
static void build_body(hl_math_emitter *e, LLVMValueRef function, hl_math_fn fn, LLVMValueRef at)
{
  LLVMTypeRef scalar =
      e->is_f64 ? LLVMDoubleTypeInContext(e->context) : LLVMFloatTypeInContext(e->context);
  LLVMValueRef args[2] = {load_lanes(e, scalar, LLVMGetParam(function, 0), at),
                          load_lanes(e, scalar, LLVMGetParam(function, 1), at)};
  LLVMValueRef r = hl_emit_math(e, fn, args);
  LLVMValueRef address =
      LLVMBuildInBoundsGEP2(e->builder, scalar, LLVMGetParam(function, 2), &at, 1, "");
  LLVMSetAlignment(LLVMBuildStore(e->builder, r, address), 4);
}

/* n is a positive multiple of the lanes. */
static void build_kernel(hl_math_emitter *e, int form, hl_math_fn fn)
{
  char name[64];
  kernel_name(name, sizeof name, form, fn);
  LLVMTypeRef pointer = LLVMPointerTypeInContext(e->context, 0),
              i64 = LLVMInt64TypeInContext(e->context);
  LLVMTypeRef parameters[] = {pointer, pointer, pointer, i64};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), parameters, 4, 0);
  LLVMValueRef function = LLVMAddFunction(e->module, name, type);
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(e->context, function, "entry");
  LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(e->context, function, "body");
  LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(e->context, function, "end");
  LLVMPositionBuilderAtEnd(e->builder, entry);
  LLVMBuildBr(e->builder, body);
  LLVMPositionBuilderAtEnd(e->builder, body);
  LLVMValueRef at = LLVMBuildPhi(e->builder, i64, "");
  build_body(e, function, fn, at);
  LLVMValueRef next = LLVMBuildAdd(e->builder, at, LLVMConstInt(i64, e->lanes, 0), "");
  LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntSLT, next, LLVMGetParam(function, 3), "");
  LLVMBuildCondBr(e->builder, more, body, end);
  LLVMAddIncoming(at, (LLVMValueRef[]){LLVMConstInt(i64, 0, 0), next},
                  (LLVMBasicBlockRef[]){entry, LLVMGetInsertBlock(e->builder)}, 2);
  LLVMPositionBuilderAtEnd(e->builder, end);
  LLVMBuildRetVoid(e->builder);
}

static void compile(math_kernels *k, LLVMModuleRef module, bool is_optimised)
{
  char *text = NULL;
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &text)) {
    fprintf(stderr, "%s\n", text);
    abort();
  }
  LLVMDisposeMessage(text);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  if (is_optimised)
    must(LLVMRunPasses(
        module, "function(sroa,early-cse,instcombine,simplifycfg,loop-mssa(licm),gvn,instcombine)",
        k->machine, options));
  LLVMDisposePassBuilderOptions(options);
  LLVMMemoryBufferRef object = NULL;
  if (LLVMTargetMachineEmitToMemoryBuffer(k->machine, module, LLVMObjectFile, &text, &object))
    abort();
  must(LLVMOrcLLJITAddObjectFile(k->jit, LLVMOrcLLJITGetMainJITDylib(k->jit), object));
}

static void build_form(math_kernels *k, int form, math_form as)
{
  LLVMContextRef context = LLVMContextCreate();
  char name[32];
  snprintf(name, sizeof name, "form%d", form);
  hl_math_emitter e = {context, LLVMModuleCreateWithNameInContext(name, context),
                       LLVMCreateBuilderInContext(context), as.lanes, as.is_f64};
  char *triple = LLVMGetDefaultTargetTriple();
  LLVMSetTarget(e.module, triple);
  LLVMDisposeMessage(triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(k->machine);
  LLVMSetModuleDataLayout(e.module, layout);
  LLVMDisposeTargetData(layout);
  for (int fn = 0; fn < HL_MATH_COUNT; fn++)
    build_kernel(&e, form, (hl_math_fn)fn);
  compile(k, e.module, as.is_optimised);
  LLVMDisposeBuilder(e.builder);
  LLVMDisposeModule(e.module);
  LLVMContextDispose(context);
}

static LLVMTargetMachineRef create_machine(void)
{
  char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName(),
       *features = LLVMGetHostCPUFeatures();
  char *text = NULL;
  LLVMTargetRef target = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &text))
    abort();
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
      target, triple, cpu, features, LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMDisposeMessage(triple);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
  return machine;
}

math_kernels *math_kernels_new(const math_form *forms, int count)
{
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  math_kernels *k = malloc(sizeof *k);
  if (!k)
    abort();
  k->machine = create_machine();
  must(LLVMOrcCreateLLJIT(&k->jit, NULL));
  for (int form = 0; form < count; form++)
    build_form(k, form, forms[form]);
  return k;
}

math_kernel *math_kernels_find(const math_kernels *k, int form, hl_math_fn fn)
{
  char name[64];
  kernel_name(name, sizeof name, form, fn);
  LLVMOrcExecutorAddress address = 0;
  must(LLVMOrcLLJITLookup(k->jit, &address, name));
  return (math_kernel *)(uintptr_t)address;
}

void math_kernels_free(math_kernels *k)
{
  must(LLVMOrcDisposeLLJIT(k->jit));
  LLVMDisposeTargetMachine(k->machine);
  free(k);
}
