/* codegen - loop programs to machine code, through LLVM; plain C without LLVM's types.
 *
 * Everything here may be called from several threads at once, for different programs. Nothing is
 * printed. Errors are texts in the caller's arena. A fatal error inside LLVM goes to the handler of
 * hl_codegen_on_fatal, which must not return.
 */
#ifndef HL_CODEGEN_H
#define HL_CODEGEN_H

#include "../../ir/loop.h"

typedef enum hl_code_kind {
  HL_CODE_OBJECT,
  HL_CODE_ASSEMBLY,
  HL_CODE_LLVM_IR,
  HL_CODE_BITCODE
} hl_code_kind;

typedef struct hl_codegen_options {
  const char *triple; /* NULL: the host's */
  const char *cpu; /* NULL: the portable baseline of the family (x86-64-v3, generic); "native": this
                      machine's */
  const char *features; /* NULL or LLVM's form: "+avx2,-fma" */
  int opt_level;        /* 0 to 3 */
  bool fast_math; /* --fast-math: reassociate, no NaN, no infinity, reciprocals; bits are no longer
                     promised */
  bool fp_contract;      /* --fp-contract=fast */
  bool ftz;              /* --ftz: denormals are flushed */
  bool threads;          /* parallel loops go through hlo_parallel_for where it is linked */
  const char *symbol;    /* name of the entry: a C identifier */
  const char *signature; /* text of NAME_signature; NULL: empty */
  const hl_source *debug; /* NULL, or the text of which the code gets line tables */
  bool profile; /* the code calls the hl_profile_hook behind its workspace; hl_profile_offset */
  /* Called after each stage: "llvm-ir", "llvm-passes", "llvm-codegen"; NULL. */
  void (*timing)(void *user, const char *stage, double seconds);
  void *timing_user;
} hl_codegen_options;

/* What profiled code calls before and after each kernel, copy and call: the workspace goes on with one. */
typedef struct hl_profile_hook {
  void (*mark)(void *context, int64_t step, int64_t is_end); /* `step`: its number */
  void *context;
} hl_profile_hook;

/* Where the hook of profiled code stands, from the start of the workspace. */
static inline int64_t hl_profile_offset(const hl_program *program)
{
  return (program->workspace_bytes + 63) / 64 * 64;
}

typedef enum hl_target_family {
  HL_FAMILY_X86_64,
  HL_FAMILY_AARCH64,
  HL_FAMILY_ARM,
  HL_FAMILY_RISCV,
  HL_FAMILY_OTHER
} hl_target_family;

/* What passes and the driver may know of the target. */
typedef struct hl_target_info {
  hl_target_family family;
  const char *triple;   /* normalised */
  const char *cpu;      /* resolved: never NULL, never "native" */
  const char *features; /* resolved: "" or LLVM's form; those of this machine for "native" */
  int pointer_bytes;
  int vector_bytes; /* of one register; 0: no vectors */
  int vector_registers;
  bool has_fma;          /* f32 and f64 in hardware */
  bool has_f32, has_f64; /* in hardware, else the compiler's helpers are called */
  bool is_freestanding;  /* no operating system */
  bool is_native_cpu;    /* cpu was "native" */
} hl_target_info;

/* Resolves triple, cpu and features and fills *info (texts in the arena). False with *error: an
 * unknown or unsupported target (not ELF, big endian), cpu or feature name. */
bool hl_target_resolve(hl_arena *arena, const hl_codegen_options *options, hl_target_info *info,
                       const char **error);

typedef struct hl_code {
  void *data; /* malloc'ed: free() it; text kinds are followed by a NUL that is not counted */
  size_t size;
} hl_code;

/* Emits a planned program. Three global symbols: NAME, NAME_workspace_bytes, NAME_signature. False
 * with *error (text in the arena). */
bool hl_codegen_program(hl_arena *arena, const hl_program *program,
                        const hl_codegen_options *options, hl_code_kind kind, hl_code *code,
                        const char **error);

/* Sets, for the process, what a fatal error inside LLVM calls (it must not return); NULL: LLVM
 * prints and exits with 1. */
void hl_codegen_on_fatal(void (*handler)(const char *reason));

/* LLVM's version, e.g. "19.1.7". */
const char *hl_codegen_llvm_version(void);

#endif
