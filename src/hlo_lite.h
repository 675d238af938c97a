/* hlo_lite.h - HLO modules in a C program: parse and verify text, print it, compile it in memory,
 * and call it.
 *
 *   hlo_context *context = hlo_context_new();
 *   hlo_module *module = hlo_parse(context, "add.hlo", text, strlen(text));
 *   hlo_executable *add = module ? hlo_compile(context, module, NULL) : NULL;
 *   if (!add)
 *     fputs(hlo_messages(context), stderr);
 *   else
 *     hlo_execute(add, arguments, results, workspace);
 *
 * Every handle is opaque and freed by its own function, which takes NULL too. Nothing is printed
 * and nothing ends the process; a function that fails returns NULL or a nonzero number, and the
 * context says why. A context and its modules belong to one thread at a time. Executables are
 * immutable: any thread may call them, several at once, and they outlive the context that made
 * them. There is no global state.
 *
 * C11 or C++11. Link with -lhlo_lite (pkg-config hlo_lite).
 */
#ifndef HLO_LITE_H
#define HLO_LITE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HLO_API __attribute__((visibility("default")))
#else
#define HLO_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hlo_context hlo_context;
typedef struct hlo_module hlo_module;
typedef struct hlo_executable hlo_executable;

/* The version of the library: "0.1.0". */
HLO_API const char *hlo_version(void);

/* NULL: out of memory. */
HLO_API hlo_context *hlo_context_new(void);
/* Frees the context. Its modules must have been freed; its executables live on. */
HLO_API void hlo_context_free(hlo_context *context);

/* ---- what went wrong ---- */

typedef struct hlo_message {
  int is_error;                  /* 0: a warning */
  uint32_t line, column;         /* from 1, columns in bytes; 0: no place in the text */
  uint32_t end_line, end_column; /* of the byte behind the last that is meant */
  const char *rule;              /* the label in docs/language.md, "" if none: "binary-rank" */
  const char *text;
  const char *help; /* what to write instead; NULL if nothing is plausible */
} hlo_message;

/* Errors and warnings of the last call that took this context, in text order. The texts live until
 * the next such call. */
HLO_API size_t hlo_message_count(const hlo_context *context);
/* Message `index`; one without text past the last. */
HLO_API hlo_message hlo_message_at(const hlo_context *context, size_t index);
/* All of them as the command shows them, with the lines they mean; "" if there are none. */
HLO_API const char *hlo_messages(const hlo_context *context);

/* ---- modules ---- */

/* Parses and verifies `size` bytes of HLO text; `name` stands in messages. NULL: the messages say
 * why. */
HLO_API hlo_module *hlo_parse(hlo_context *context, const char *name, const char *text,
                              size_t size);
HLO_API void hlo_module_free(hlo_module *module);
/* The module as canonical text, which lives as long as the module. NULL: out of memory. */
HLO_API const char *hlo_module_text(hlo_context *context, hlo_module *module);

/* ---- custom calls ---- */

/* Gives the function that custom calls of a target call, in what the context compiles from now on; NULL takes it away again. It has
 * the form of hlo_custom_call in hlo_runtime.h: arguments and results are dense and row-major, or in the layouts that the module
 * writes; 0 is success. Targets without one call the process's function hlo_custom_TARGET; those of LAPACK the system's library.
 * Returns 0, or 1 when out of memory. */
HLO_API int hlo_set_custom_call(hlo_context *context, const char *target,
                                int (*function)(void *const *arguments, void *const *results,
                                                const char *config, size_t config_bytes));

/* ---- compilation ---- */

typedef struct hlo_options {
  int opt_level;                               /* 0 to 3; no level changes a bit of the results */
  int threads;                                 /* most threads of one call; 1: only the caller's */
  const char *cpu;                             /* LLVM's name; NULL or "native": this machine */
  const char *features;                        /* "+avx2,-fma" or NULL */
  int fast_math, fp_contract, flush_denormals; /* each gives up the promise of bits */
} hlo_options;

/* What hlo_compile takes NULL for: level 2, up to 16 threads, this machine. */
HLO_API hlo_options hlo_default_options(void);

/* Machine code in memory. The module may be freed afterwards. NULL: the messages say why. */
HLO_API hlo_executable *hlo_compile(hlo_context *context, const hlo_module *module,
                                    const hlo_options *options);
/* No call of it may be running. */
HLO_API void hlo_executable_free(hlo_executable *executable);

/* ---- calls ---- */

/* An argument or result: dense and row-major, tuples flattened in order, tokens left out. Elements
 * are stored as in generated headers: pred is a byte, f16 and bf16 are uint16_t, complex numbers
 * are pairs. */
typedef struct hlo_array {
  const char *name; /* C name: "x", "result0" */
  const char *type; /* "f32" */
  int rank;
  const int64_t *dimensions;
  size_t bytes;
} hlo_array;

HLO_API size_t hlo_argument_count(const hlo_executable *executable);
HLO_API size_t hlo_result_count(const hlo_executable *executable);
/* The array `index`, one without name past the last. */
HLO_API hlo_array hlo_argument(const hlo_executable *executable, size_t index);
HLO_API hlo_array hlo_result(const hlo_executable *executable, size_t index);
/* "(x: f32[8,784]) -> f32[8,10]" */
HLO_API const char *hlo_signature(const hlo_executable *executable);
/* Bytes of the workspace that each call needs; it must be aligned to 64 bytes, may be NULL when
 * this is 0, and need not be cleared. */
HLO_API size_t hlo_workspace_bytes(const hlo_executable *executable);

/* Calls it. Results must not overlap with anything. Allocates nothing. Returns 0; 1: the workspace
 * is NULL or misaligned; 2: a custom call failed. Calls with their own results and workspace may
 * run at once. */
HLO_API int hlo_execute(const hlo_executable *executable, const void *const *arguments,
                        void *const *results, void *workspace);

#ifdef __cplusplus
}
#endif

#endif
