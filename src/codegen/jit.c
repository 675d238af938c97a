/* jit.c - links objects into this process through ORC.
 *
 * The objects are those that an ahead-of-time compilation writes, so both run the same
 * instructions. Each has its own name space (a JITDylib), so that several may define the same
 * symbols; dropping its resource tracker unmaps it. ORC is safe to call from several threads; the
 * counter that makes names is the one thing of ours that they share.
 */
#include "jit.h"
#include "emit.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/LLJITUtils.h>
#include <llvm-c/Orc.h>

struct hl_jit {
  LLVMOrcLLJITRef lljit;
  hl_parallel_for *hook;
  atomic_int next;
};

struct hl_jit_module {
  LLVMOrcResourceTrackerRef tracker;
  hl_jit_entry *entry;
  uint64_t workspace_bytes;
};

/* What hlo_parallel_for is where nobody gave one. */
static void run_inline(void (*body)(void *context, int64_t begin, int64_t end, int32_t worker),
                       void *context, int64_t n, int64_t grain, int32_t max_workers)
{
  (void)grain;
  (void)max_workers;
  if (n > 0)
    body(context, 0, n, 0);
}

/* Consumes the error; false where there was one. */
static bool succeeded(hl_arena *arena, LLVMErrorRef failure, const char **error)
{
  if (!failure)
    return true;
  char *message = LLVMGetErrorMessage(failure);
  *error = hl_arena_strndup(arena, message, strlen(message));
  LLVMDisposeErrorMessage(message);
  return false;
}

/* Errors come back from the calls that meet them; ORC would print them as well. */
static void drop_error(void *context, LLVMErrorRef failure)
{
  (void)context;
  LLVMConsumeError(failure);
}

hl_jit *hl_jit_new(hl_arena *arena, hl_parallel_for *hook, const char **error)
{
  hl_target_initialise(hl_target_host_family());
  hl_jit *jit = malloc(sizeof *jit);
  *error = "out of memory";
  if (!jit)
    return NULL;
  jit->hook = hook ? hook : run_inline;
  atomic_init(&jit->next, 0);
  if (!succeeded(arena, LLVMOrcCreateLLJIT(&jit->lljit, NULL), error)) {
    free(jit);
    return NULL;
  }
  LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(jit->lljit), drop_error,
                                          NULL);
  return jit;
}

bool hl_jit_enable_debugging(hl_jit *jit, hl_arena *arena, const char **error)
{
  return succeeded(arena, LLVMOrcLLJITEnableDebugSupport(jit->lljit), error);
}

void hl_jit_free(hl_jit *jit)
{
  if (!jit)
    return;
  LLVMConsumeError(LLVMOrcDisposeLLJIT(jit->lljit));
  free(jit);
}

static bool define_hook(hl_jit *jit, LLVMOrcJITDylibRef library, hl_arena *arena,
                        const char **error)
{
  hl_parallel_for *hook = jit->hook;
  LLVMOrcCSymbolMapPair pair = {.Name =
                                    LLVMOrcLLJITMangleAndIntern(jit->lljit, "hlo_parallel_for")};
  memcpy(&pair.Sym.Address, &hook, sizeof hook);
  pair.Sym.Flags.GenericFlags =
      LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
  return succeeded(arena, LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(&pair, 1)), error);
}

static LLVMOrcJITDylibRef new_library(hl_jit *jit, hl_arena *arena, const char **error)
{
  char name[32];
  snprintf(name, sizeof name, "module%d", atomic_fetch_add(&jit->next, 1));
  LLVMOrcExecutionSessionRef session = LLVMOrcLLJITGetExecutionSession(jit->lljit);
  LLVMOrcJITDylibRef library = LLVMOrcExecutionSessionCreateBareJITDylib(session, name);
  return define_hook(jit, library, arena, error) ? library : NULL;
}

/* LLJIT looks up in its main library alone; the session's own lookup links what it finds and then
 * calls back. */
typedef struct lookup {
  LLVMErrorRef failure;
  uint64_t addresses[2];
} lookup;

static void take_addresses(LLVMErrorRef failure, LLVMOrcCSymbolMapPairs found, size_t count,
                           void *context)
{
  lookup *result = context;
  result->failure = failure;
  for (size_t i = 0; !failure && i < count; i++) {
    const char *name = LLVMOrcSymbolStringPoolEntryStr(found[i].Name);
    size_t length = strlen(name), suffix = strlen("_workspace_bytes");
    bool is_bytes = length > suffix && !strcmp(name + length - suffix, "_workspace_bytes");
    result->addresses[is_bytes] = found[i].Sym.Address;
  }
}

static bool find_symbols(hl_jit *jit, LLVMOrcJITDylibRef library, hl_arena *arena,
                         const char *symbol, lookup *result, const char **error)
{
  const char *bytes = hl_arena_printf(arena, "%s_workspace_bytes", symbol);
  LLVMOrcCJITDylibSearchOrderElement order = {library,
                                              LLVMOrcJITDylibLookupFlagsMatchExportedSymbolsOnly};
  LLVMOrcCLookupSetElement symbols[2] = {
      {LLVMOrcLLJITMangleAndIntern(jit->lljit, symbol), LLVMOrcSymbolLookupFlagsRequiredSymbol},
      {LLVMOrcLLJITMangleAndIntern(jit->lljit, bytes), LLVMOrcSymbolLookupFlagsRequiredSymbol}};
  LLVMOrcExecutionSessionLookup(LLVMOrcLLJITGetExecutionSession(jit->lljit),
                                LLVMOrcLookupKindStatic, &order, 1, symbols, 2, take_addresses,
                                result);
  return succeeded(arena, result->failure, error);
}

static LLVMOrcResourceTrackerRef add_object(hl_jit *jit, LLVMOrcJITDylibRef library,
                                            hl_arena *arena, const void *object, size_t size,
                                            const char **error)
{
  LLVMOrcResourceTrackerRef tracker = LLVMOrcJITDylibCreateResourceTracker(library);
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(object, size, "object");
  if (succeeded(arena, LLVMOrcLLJITAddObjectFileWithRT(jit->lljit, tracker, buffer), error))
    return tracker;
  LLVMOrcReleaseResourceTracker(tracker);
  return NULL;
}

static void remove_tracker(LLVMOrcResourceTrackerRef tracker)
{
  LLVMConsumeError(LLVMOrcResourceTrackerRemove(tracker));
  LLVMOrcReleaseResourceTracker(tracker);
}

static hl_jit_module *new_module(LLVMOrcResourceTrackerRef tracker, const lookup *found)
{
  hl_jit_module *module = malloc(sizeof *module);
  const uint64_t *bytes = (const uint64_t *)(uintptr_t)found->addresses[1];
  uintptr_t entry = (uintptr_t)found->addresses[0];
  if (!module)
    return NULL;
  module->tracker = tracker;
  module->workspace_bytes = *bytes;
  memcpy(&module->entry, &entry, sizeof entry);
  return module;
}

static bool define_symbols(hl_jit *jit, LLVMOrcJITDylibRef library, hl_arena *arena,
                           const hl_jit_symbol *symbols, int count, const char **error)
{
  LLVMOrcCSymbolMapPair *pairs = HL_ARRAY(arena, count + 1, LLVMOrcCSymbolMapPair);
  for (int i = 0; i < count; i++) {
    pairs[i].Name = LLVMOrcLLJITMangleAndIntern(jit->lljit, symbols[i].name);
    pairs[i].Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)symbols[i].address;
    pairs[i].Sym.Flags.GenericFlags =
        LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
  }
  return count == 0 ||
         succeeded(arena,
                   LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(pairs, (size_t)count)),
                   error);
}

hl_jit_module *hl_jit_load(hl_jit *jit, hl_arena *arena, const void *object, size_t size,
                           const char *symbol, const hl_jit_symbol *symbols, int symbol_count,
                           const char **error)
{
  lookup found = {NULL, {0, 0}};
  LLVMOrcJITDylibRef library = new_library(jit, arena, error);
  bool is_defined =
      library && define_symbols(jit, library, arena, symbols, symbol_count, error);
  LLVMOrcResourceTrackerRef tracker =
      is_defined ? add_object(jit, library, arena, object, size, error) : NULL;
  if (!tracker)
    return NULL;
  if (!find_symbols(jit, library, arena, symbol, &found, error)) {
    remove_tracker(tracker);
    return NULL;
  }
  hl_jit_module *module = new_module(tracker, &found);
  if (!module) {
    *error = "out of memory";
    remove_tracker(tracker);
  }
  return module;
}

hl_jit_entry *hl_jit_module_entry(const hl_jit_module *module)
{
  return module->entry;
}

uint64_t hl_jit_module_workspace_bytes(const hl_jit_module *module)
{
  return module->workspace_bytes;
}

void hl_jit_unload(hl_jit_module *module)
{
  if (!module)
    return;
  remove_tracker(module->tracker);
  free(module);
}
