/* object.c - an emitted module through LLVM's passes and code generator to bytes; the public entry
 * of the emitter.
 *
 * The pipelines are our own and short: what we emit is in SSA form with its vectors, lanes and
 * order of operations already chosen. What is left for LLVM is to find what is common, move what
 * does not change out of loops, and clean up.
 */
#include "elf.h"
#include "clock.h"
#include "emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>

static const char *const pipelines[4] = {
    NULL,
    "function(early-cse,simplifycfg)",
    "function(early-cse<memssa>,instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg)",
    "function(early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),gvn,"
    "instcombine<no-verify-fixpoint>,simplifycfg)",
};

/* Notes what a stage took that began at *start; the next begins now. */
static void note_time(hl_emitter *e, hl_emit_stage stage, double *start)
{
  double end = hl_seconds();
  e->seconds[stage] += end - *start;
  *start = end;
}

static bool fail(hl_emitter *e, const char **error, const char *what, const char *why)
{
  *error = hl_arena_printf(e->arena, "%s: %s", what, why);
  return false;
}

/* LLVM asserts nothing and may do anything with what is malformed: a check for us, not for the
 * user. */
static bool verify(hl_emitter *e, const char **error)
{
#ifdef NDEBUG
  (void)e;
  (void)error;
  return true;
#else
  char *message = NULL;
  bool ok = !LLVMVerifyModule(e->l.module, LLVMReturnStatusAction, &message);
  if (!ok)
    fail(e, error, "invalid LLVM IR", message);
  LLVMDisposeMessage(message);
  return ok;
#endif
}

static bool optimise(hl_emitter *e, const char **error)
{
  const char *pipeline = pipelines[e->options->opt_level];
  if (!pipeline)
    return true;
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef failure = LLVMRunPasses(e->l.module, pipeline, e->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!failure)
    return true;
  char *message = LLVMGetErrorMessage(failure);
  fail(e, error, "LLVM passes", message);
  LLVMDisposeErrorMessage(message);
  return false;
}

static bool take_bytes(hl_emitter *e, hl_code *code, const char *data, size_t size,
                       const char **error)
{
  code->data = malloc(size + 1);
  if (!code->data)
    return fail(e, error, "code", "out of memory");
  memcpy(code->data, data, size);
  ((char *)code->data)[size] = '\0';
  code->size = size;
  return true;
}

static bool take_buffer(hl_emitter *e, hl_code *code, LLVMMemoryBufferRef buffer,
                        const char **error)
{
  bool ok = take_bytes(e, code, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer), error);
  LLVMDisposeMemoryBuffer(buffer);
  return ok;
}

static bool write_machine_code(hl_emitter *e, bool is_text, hl_code *code, const char **error)
{
  LLVMMemoryBufferRef buffer = NULL;
  char *message = NULL;
  LLVMCodeGenFileType type = is_text ? LLVMAssemblyFile : LLVMObjectFile;
  if (LLVMTargetMachineEmitToMemoryBuffer(e->machine, e->l.module, type, &message, &buffer)) {
    fail(e, error, "LLVM code generation", message);
    LLVMDisposeMessage(message);
    return false;
  }
  return take_buffer(e, code, buffer, error);
}

static bool write_ir(hl_emitter *e, hl_code *code, const char **error)
{
  char *text = LLVMPrintModuleToString(e->l.module);
  bool ok = take_bytes(e, code, text, strlen(text), error);
  LLVMDisposeMessage(text);
  return ok;
}

bool hl_object_write(hl_emitter *e, hl_code_kind kind, hl_code *code, const char **error)
{
  double start = hl_seconds();
  if (!verify(e, error) || !optimise(e, error))
    return false;
  note_time(e, HL_EMIT_PASSES, &start);
  if (kind == HL_CODE_LLVM_IR)
    return write_ir(e, code, error);
  if (kind == HL_CODE_BITCODE)
    return take_buffer(e, code, LLVMWriteBitcodeToMemoryBuffer(e->l.module), error);
  bool ok = write_machine_code(e, kind == HL_CODE_ASSEMBLY, code, error);
  note_time(e, HL_EMIT_CODE, &start);
  return ok;
}

static LLVMFastMathFlags fast_flags(const hl_codegen_options *options)
{
  LLVMFastMathFlags flags =
      options->fast_math ? (LLVMFastMathFlags)LLVMFastMathAll : LLVMFastMathNone;
  return options->fp_contract ? flags | (LLVMFastMathFlags)LLVMFastMathAllowContract : flags;
}

static bool start(hl_emitter *e, const char **error)
{
  hl_llvm_init(&e->l, e->options->symbol);
  e->l.fast_math = fast_flags(e->options);
  LLVMSetTarget(e->l.module, e->target->triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(e->machine);
  LLVMSetModuleDataLayout(e->l.module, layout);
  LLVMDisposeTargetData(layout);
  (void)error;
  return true;
}

/* What must be released when memory runs out in the middle. */
typedef struct session {
  hl_emitter emitter;
  hl_guard guard;
  hl_arena *arena;
} session;

static void end_session(session *s)
{
  hl_debug_close(&s->emitter);
  hl_llvm_dispose(&s->emitter.l);
  if (s->emitter.machine)
    LLVMDisposeTargetMachine(s->emitter.machine);
  hl_arena_free(s->arena);
  free(s);
}

/* A program, or part of one, on its way to code. */
typedef struct job {
  const hl_program *program;
  const hl_codegen_options *options;
  hl_code_kind kind;
  const hl_parts *parts; /* NULL: all in one */
  int part;
  hl_code code;
  double seconds[HL_EMIT_STAGES];
  char error[256]; /* "": none */
} job;

static bool emit(session *s, job *j, const char **error)
{
  hl_emitter *e = &s->emitter;
  double begin = hl_seconds();
  hl_target_info *info = HL_NEW(s->arena, hl_target_info);
  hl_features *features = HL_NEW(s->arena, hl_features);
  e->arena = s->arena;
  e->kernels.arena = s->arena;
  e->program = j->program;
  e->options = j->options;
  e->parts = j->parts;
  e->part = j->part;
  e->target = info;
  e->features = features;
  e->width = e->jam = 1;
  e->machine = hl_target_machine(s->arena, j->options, info, features, error);
  if (!e->machine || !start(e, error))
    return false;
  hl_debug_open(e);
  hl_emit_program(e);
  hl_emit_soft_functions(e);
  hl_debug_close(e);
  note_time(e, HL_EMIT_IR, &begin);
  bool ok = hl_object_write(e, j->kind, &j->code, error);
  memcpy(j->seconds, e->seconds, sizeof j->seconds);
  return ok;
}

static void run_job(job *j)
{
  session *s = calloc(1, sizeof *s);
  snprintf(j->error, sizeof j->error, "out of memory");
  if (!s)
    return;
  s->arena = hl_arena_new(&s->guard);
  if (!s->arena || setjmp(s->guard.env)) {
    end_session(s);
    return;
  }
  const char *reason = "out of memory";
  if (emit(s, j, &reason))
    j->error[0] = '\0';
  else
    snprintf(j->error, sizeof j->error, "%s", reason);
  end_session(s);
}

static void run_part(void *context, int part)
{
  run_job((job *)context + part);
}

/* Objects of 64 bits can be merged; those with line tables stay whole. */
static const hl_parts *plan_parts(hl_arena *arena, const job *whole)
{
  hl_target_info info;
  const char *error;
  hl_emitter e = {.arena = arena, .program = whole->program, .options = whole->options};
  if (whole->kind != HL_CODE_OBJECT || whole->options->debug || !hl_target_resolve(arena, whole->options, &info, &error) ||
      info.pointer_bytes != 8)
    return NULL;
  return hl_parts_plan(&e);
}

/* The objects of the parts as one; the first error of theirs, if any. */
static bool merge_parts(hl_arena *arena, const job *jobs, int count, hl_code *code,
                        const char **error)
{
  hl_elf_part *objects = HL_ARRAY(arena, count, hl_elf_part);
  for (int i = 0; i < count; i++) {
    if (jobs[i].error[0]) {
      *error = jobs[i].error;
      return false;
    }
    objects[i] = (hl_elf_part){jobs[i].code.data, jobs[i].code.size};
  }
  return hl_elf_merge(arena, objects, count, &code->data, &code->size, error);
}

/* With a guard of its own: the caller's would lose the objects. */
static bool merge(const job *jobs, int count, hl_code *code, const char **error)
{
  hl_guard guard;
  hl_arena *arena = hl_arena_new(&guard);
  if (!arena || setjmp(guard.env)) {
    hl_arena_free(arena);
    return false;
  }
  bool ok = merge_parts(arena, jobs, count, code, error);
  hl_arena_free(arena);
  return ok;
}

/* Several parts at once: each stage has its share of the time that passed. */
static void tell_times(const job *jobs, int count, double seconds)
{
  static const char *const names[HL_EMIT_STAGES] = {"llvm-ir", "llvm-passes", "llvm-codegen"};
  double sums[HL_EMIT_STAGES] = {0}, all = 0;
  for (int i = 0; i < count; i++)
    for (int stage = 0; stage < HL_EMIT_STAGES; stage++) {
      sums[stage] += jobs[i].seconds[stage];
      all += jobs[i].seconds[stage];
    }
  const hl_codegen_options *options = jobs[0].options;
  for (int stage = 0; stage < HL_EMIT_STAGES && options->timing && all > 0; stage++)
    options->timing(options->timing_user, names[stage], seconds * sums[stage] / all);
}

static bool finish(job *jobs, int count, hl_code *code, const char **error)
{
  if (count == 1 && !jobs[0].error[0]) {
    *code = jobs[0].code;
    return true;
  }
  bool ok = merge(jobs, count, code, error);
  for (int i = 0; i < count; i++)
    free(jobs[i].code.data);
  return ok;
}

bool hl_codegen_program(hl_arena *arena, const hl_program *program,
                        const hl_codegen_options *options, hl_code_kind kind, hl_code *code,
                        const char **error)
{
  job whole = {.program = program, .options = options, .kind = kind};
  const hl_parts *parts = plan_parts(arena, &whole);
  int count = parts ? parts->count : 1;
  job *jobs = HL_ARRAY(arena, count, job);
  for (int i = 0; i < count; i++) {
    jobs[i] = whole;
    jobs[i].parts = parts;
    jobs[i].part = i;
  }
  *code = (hl_code){NULL, 0};
  double start = hl_seconds();
  hl_parts_run(count, run_part, jobs);
  tell_times(jobs, count, hl_seconds() - start);
  const char *reason = "out of memory";
  bool ok = finish(jobs, count, code, &reason);
  *error = ok ? NULL : hl_arena_strndup(arena, reason, strlen(reason));
  return ok;
}

void hl_codegen_on_fatal(void (*handler)(const char *reason))
{
  LLVMResetFatalErrorHandler();
  if (handler)
    LLVMInstallFatalErrorHandler(handler);
}

const char *hl_codegen_llvm_version(void)
{
  return LLVM_VERSION_STRING;
}
