/* test_emit_math - compiled mathematical functions give the bits of the evaluator, whatever the
 * number of lanes.
 *
 * One module with a loop for every function, type and number of lanes is compiled for this machine,
 * once as it is and once after LLVM's scalar passes; numbers of every exponent go through both
 * sides.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "ir/eval_math.h"
#include "src/codegen/emit_math.h"

enum { CHUNK = 4096, F32_STEP = 20011, F64_COUNT = 200000 };

typedef void kernel(const void *x, const void *y, void *out, int64_t n);

/* The forms of every function: type, lanes, and whether the module is optimised. */
static const struct {
  bool is_f64, is_optimised;
  unsigned lanes;
} forms[] = {{false, true, 1}, {false, true, 16}, {false, false, 16}, {false, true, 64},
             {true, true, 1},  {true, true, 8},   {true, false, 8},   {true, true, 16}};

enum { FORMS = sizeof forms / sizeof *forms };

static LLVMTargetMachineRef machine;
static LLVMOrcLLJITRef jit;

static void must(LLVMErrorRef error)
{
  if (!error)
    return;
  char *text = LLVMGetErrorMessage(error);
  fprintf(stderr, "%s\n", text);
  LLVMDisposeErrorMessage(text);
  abort();
}

static void kernel_name(char *name, size_t size, int form, int fn)
{
  snprintf(name, size, "kernel_%d_%s", form, hl_math_name((hl_math_fn)fn));
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
  kernel_name(name, sizeof name, form, (int)fn);
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

static void compile(LLVMModuleRef module, bool is_optimised)
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
        machine, options));
  LLVMDisposePassBuilderOptions(options);
  LLVMMemoryBufferRef object = NULL;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &text, &object))
    abort();
  must(LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), object));
}

static void build_form(int form)
{
  LLVMContextRef context = LLVMContextCreate();
  char name[32];
  snprintf(name, sizeof name, "form%d", form);
  hl_math_emitter e = {context, LLVMModuleCreateWithNameInContext(name, context),
                       LLVMCreateBuilderInContext(context), forms[form].lanes, forms[form].is_f64};
  char *triple = LLVMGetDefaultTargetTriple();
  LLVMSetTarget(e.module, triple);
  LLVMDisposeMessage(triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetModuleDataLayout(e.module, layout);
  LLVMDisposeTargetData(layout);
  for (int fn = 0; fn < HL_MATH_COUNT; fn++)
    build_kernel(&e, form, (hl_math_fn)fn);
  compile(e.module, forms[form].is_optimised);
  LLVMDisposeBuilder(e.builder);
  LLVMDisposeModule(e.module);
  LLVMContextDispose(context);
}

static void create_machine(void)
{
  char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName(),
       *features = LLVMGetHostCPUFeatures();
  char *text = NULL;
  LLVMTargetRef target = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &text))
    abort();
  machine = LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelDefault,
                                    LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMDisposeMessage(triple);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
}

static void setup(void)
{
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  create_machine();
  must(LLVMOrcCreateLLJIT(&jit, NULL));
  for (int form = 0; form < FORMS; form++)
    build_form(form);
}

static void teardown(void)
{
  must(LLVMOrcDisposeLLJIT(jit));
  LLVMDisposeTargetMachine(machine);
}

static uint64_t next_random(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  return z ^ z >> 31;
}

/* Apart, since each of Check's assertions is a system call even when it holds. */
static void differs(hl_math_fn fn, double x, double y, double got, double want)
{
  ck_abort_msg("%s(%a, %a) = %a, the evaluator has %a", hl_math_name(fn), x, y, got, want);
}

/* The kernel's result for one chunk against the evaluator's; both NaN is equal. */
static void compare_f32(hl_math_fn fn, kernel *run, const float *x, const float *y)
{
  static float out[CHUNK];
  run(x, y, out, CHUNK);
  for (int i = 0; i < CHUNK; i++) {
    float want = hl_math_eval_f32(fn, (float[]){x[i], y[i]});
    if (memcmp(&want, &out[i], sizeof want) != 0 && (want == want || out[i] == out[i]))
      differs(fn, (double)x[i], (double)y[i], (double)out[i], (double)want);
  }
}

static void compare_f64(hl_math_fn fn, kernel *run, const double *x, const double *y)
{
  static double out[CHUNK];
  run(x, y, out, CHUNK);
  for (int i = 0; i < CHUNK; i++) {
    double want = hl_math_eval_f64(fn, (double[]){x[i], y[i]});
    if (memcmp(&want, &out[i], sizeof want) != 0 && (want == want || out[i] == out[i]))
      differs(fn, x[i], y[i], out[i], want);
  }
}

static const float corners[] = {0.0F,    1,        2,   3,         0.5F,      1.5F,
                                5,       10,       100, 0x1p-149F, 0x1p-126F, 0x1.fffffep127F,
                                0x1p24F, INFINITY, NAN};

enum { CORNERS = sizeof corners / sizeof *corners };

/* Pairs of corners, with signs, fill the first chunk. */
static float corner(int i)
{
  float c = corners[i % CORNERS];
  return i / CORNERS % 2 ? -c : c;
}

static float second_f32(float x, uint64_t *state)
{
  uint64_t r = next_random(state);
  uint32_t bits = (uint32_t)r;
  float y;
  memcpy(&y, &bits, sizeof y);
  return r >> 62 == 0   ? y
         : r >> 62 == 1 ? (float)(int)(bits % 41) - 20
         : r >> 62 == 2 ? x * 0.125F
                        : 1.7F;
}

static void scan_f32(hl_math_fn fn, kernel *run)
{
  static float x[CHUNK], y[CHUNK];
  uint64_t state = 1;
  for (int i = 0; i < CHUNK; i++)
    x[i] = corner(i), y[i] = corner(i / (2 * CORNERS));
  compare_f32(fn, run, x, y);
  for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += (uint64_t)F32_STEP * CHUNK) {
    for (uint64_t i = 0; i < CHUNK; i++) {
      uint32_t pattern = (uint32_t)(bits + i * F32_STEP);
      memcpy(&x[i], &pattern, sizeof pattern);
      y[i] = second_f32(x[i], &state);
    }
    compare_f32(fn, run, x, y);
  }
}

static double sample_f64(uint64_t *state)
{
  uint64_t r = next_random(state), bits = next_random(state);
  double x = (double)(int64_t)bits * 0x1p-63;
  if (r % 4 == 0)
    memcpy(&x, &bits, sizeof x);
  return r % 4 == 1 ? x * 800 : r % 4 == 2 ? (double)((int64_t)bits >> 59) : x;
}

static void scan_f64(hl_math_fn fn, kernel *run)
{
  static double x[CHUNK], y[CHUNK];
  uint64_t state = 1;
  for (int i = 0; i < CHUNK; i++)
    x[i] = (double)corner(i), y[i] = (double)corner(i / (2 * CORNERS));
  compare_f64(fn, run, x, y);
  for (int done = 0; done < F64_COUNT; done += CHUNK) {
    for (int i = 0; i < CHUNK; i++)
      x[i] = sample_f64(&state), y[i] = sample_f64(&state);
    compare_f64(fn, run, x, y);
  }
}

START_TEST(compiled_is_evaluated)
{
  int form = _i / HL_MATH_COUNT, fn = _i % HL_MATH_COUNT;
  char name[64];
  kernel_name(name, sizeof name, form, fn);
  LLVMOrcExecutorAddress address = 0;
  must(LLVMOrcLLJITLookup(jit, &address, name));
  kernel *run = (kernel *)(uintptr_t)address;
  if (forms[form].is_f64)
    scan_f64((hl_math_fn)fn, run);
  else
    scan_f32((hl_math_fn)fn, run);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("emit_math");
  TCase *t = tcase_create("bits");
  tcase_set_timeout(t, 60);
  tcase_add_unchecked_fixture(t, setup, teardown);
  tcase_add_loop_test(t, compiled_is_evaluated, 0, FORMS * HL_MATH_COUNT);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_set_fork_status(
      r, CK_NOFORK); /* a fork with LLVM in it takes longer than most of these tests */
  srunner_run_all(r, CK_NORMAL);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
