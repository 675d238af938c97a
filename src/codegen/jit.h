/* jit - objects made by hl_codegen_program, linked into this process. */
#ifndef HL_JIT_H
#define HL_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../ir/arena.h"

typedef struct hl_jit hl_jit; /* the linker: one serves many executables, from several threads */
typedef struct hl_jit_module hl_jit_module; /* one linked object */

/* The entry of a compiled program: design section 7. */
typedef int hl_jit_entry(void *const *arguments, void *const *results, void *workspace);

/* The type of hlo_parallel_for. */
typedef void hl_parallel_for(void (*body)(void *context, int64_t begin, int64_t end,
                                          int32_t worker),
                             void *context, int64_t n, int64_t grain, int32_t max_workers);

/* A linker for this process. `hook` is what the objects' hlo_parallel_for is; NULL: loops run on
 * the calling thread. NULL with *error (text in the arena) when LLVM refuses. */
hl_jit *hl_jit_new(hl_arena *arena, hl_parallel_for *hook, const char **error);
/* From here on debuggers are told of what is linked: gdb then knows the lines of objects that have them. False
 * with *error. */
bool hl_jit_enable_debugging(hl_jit *jit, hl_arena *arena, const char **error);
/* Frees the linker and the modules that are still there; NULL is allowed. */
void hl_jit_free(hl_jit *jit);

/* A function outside that the object calls. */
typedef struct hl_jit_symbol {
  const char *name;
  void *address;
} hl_jit_symbol;

/* Links an object (its bytes are copied) with the functions that it calls. NULL with *error (text in
 * the arena). */
hl_jit_module *hl_jit_load(hl_jit *jit, hl_arena *arena, const void *object, size_t size,
                           const char *symbol, const hl_jit_symbol *symbols, int symbol_count,
                           const char **error);
hl_jit_entry *hl_jit_module_entry(const hl_jit_module *module);
uint64_t hl_jit_module_workspace_bytes(const hl_jit_module *module);
/* Unmaps the code; no call of it may be running. NULL is allowed. */
void hl_jit_unload(hl_jit_module *module);

#endif
