/* session - the one way through the compiler: text, module, passes, loop program, code. The command
 * and the public library use it.
 *
 *   open → read or set text → parse → (constants) → verify → optimize → lower → emit
 *
 * Each step returns false after it has reported: what the input is at fault for stands in `diag`; a
 * value of the options that cannot be used, or a fault of our own, in `text`. */
#ifndef HL_SESSION_H
#define HL_SESSION_H

#include "codegen/codegen.h"
#include "ir/verify.h"
#include "passes/lower.h"
#include "passes/pass.h"

typedef enum hl_fault {
  HL_FAULT_NONE,
  HL_FAULT_INPUT,   /* diagnostics in diag */
  HL_FAULT_OPTION,  /* text says which value cannot be used */
  HL_FAULT_INTERNAL /* text says what we broke */
} hl_fault;

typedef struct hl_session_options {
  hl_codegen_options code; /* symbol and signature are filled in */
  int max_workers; /* most threads of a call; 1: none; 0: 16, but none on targets without a system
                    */
  int64_t max_memory; /* most bytes of workspace; 0: as many as it takes */
  bool dialect_xla;
  bool verify_each;
  bool line_tables; /* -g */
  bool disabled_passes[HL_PASS_COUNT]; /* of those that code can do without */
  const char *name;                    /* C name; NULL: from the source's name */
  /* Hooks for dumps and times; NULL. Steps that are no passes are named "parse", "verify", "lower",
   * "llvm-ir", "llvm-passes" and "llvm-codegen". */
  void (*after_pass)(void *user, const char *pass, const hl_module *module);
  void (*timing)(void *user, const char *step, double seconds);
  void *user;
  /* Told what begins, in words for people, and NULL when it ends; NULL. */
  void (*step)(void *user, const char *step);
  void *step_user;
} hl_session_options;

typedef struct hl_session {
  hl_arena *arena;   /* everything that lives as long as the session */
  hl_arena *scratch; /* of one pass */
  hl_session_options options;
  hl_diag diag;
  hl_fault fault;
  const char *text; /* of OPTION and INTERNAL */
  hl_module *module;
  hl_target_info target;
  hl_program *program;
  const char *symbol; /* C name of the entry */
  void *owned;        /* malloc'ed text while it is copied */
} hl_session;

/* Prepares an empty session. Out of memory, now or later, jumps to the guard; hl_session_close is
 * then safe and due. */
void hl_session_open(hl_session *s, hl_guard *guard, const hl_session_options *options);
void hl_session_close(hl_session *s);

/* Reads a file; "-" is standard input. */
bool hl_session_read(hl_session *s, const char *path);
/* Takes a text of memory; `name` stands in messages. */
bool hl_session_set_text(hl_session *s, const char *name, const char *text, size_t size);
bool hl_session_parse(hl_session *s);
/* Gives constants that were printed as {...} the values of an .npz, by instruction name. After
 * parse, before verify. */
bool hl_session_fill_constants(hl_session *s, const char *path);
bool hl_session_verify(hl_session *s);
/* Parse, constants (path may be NULL) and verify. */
bool hl_session_load(hl_session *s, const char *constants);
/* What compile and run refuse beyond the verifier. Before the passes, so that it stands at its
 * place. */
bool hl_session_check_compilable(hl_session *s);
/* Runs the passes named, or the default pipeline of the level with names NULL. */
bool hl_session_optimize(hl_session *s, const hl_pass_id *passes, int count);
/* Resolves the target and makes the loop program. */
bool hl_session_lower(hl_session *s);
/* check_compilable, optimize, lower. */
bool hl_session_build(hl_session *s);
/* The caller frees code->data. */
bool hl_session_emit(hl_session *s, hl_code_kind kind, hl_code *code);

/* Whether an object refers to the hook of threads. */
bool hl_session_uses_threads(hl_arena *arena, const hl_code *object);
/* The C header of an object that was emitted: `file` is its own name, `source` the module's. */
void hl_session_header(hl_session *s, const char *file, const char *source, const hl_code *object,
                       hl_str *out);

/* Reports a fault of the input that has no place in the text; returns false. */
bool hl_session_input_fault(hl_session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
