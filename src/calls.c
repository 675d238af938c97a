/* calls - finds the functions that a program calls: given ones, those of libraries and of this process, and LAPACK's. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "calls.h"

#include "ir/custom.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LIBRARIES = 16 };

enum { STATIC_PROGRAM = 1, DYNAMIC_PROGRAM };

/* Of the first object alone, which is the program. */
static int kind_of_program(struct dl_phdr_info *program, size_t size, void *unused)
{
  (void)size;
  (void)unused;
  for (int i = 0; i < program->dlpi_phnum; i++)
    if (program->dlpi_phdr[i].p_type == PT_INTERP)
      return DYNAMIC_PROGRAM;
  return STATIC_PROGRAM;
}

/* A static program can load only libraries for the very C library that it was linked with, and may fall over others. */
static bool is_static(void)
{
  return dl_iterate_phdr(kind_of_program, NULL) == STATIC_PROGRAM;
}

static bool keep_library(hl_calls *calls, void *library)
{
  if (!calls->libraries)
    calls->libraries = calloc(MOST_LIBRARIES, sizeof *calls->libraries);
  if (!calls->libraries || calls->library_count == MOST_LIBRARIES) {
    dlclose(library);
    return false;
  }
  calls->libraries[calls->library_count++] = library;
  return true;
}

/* The path of a library in the list; a name without a slash is one of this folder, as for every other file. */
static const char *path_of(hl_arena *arena, const char *list, size_t length)
{
  const char *folder = memchr(list, '/', length) ? "" : "./";
  return hl_arena_printf(arena, "%s%.*s", folder, (int)length, list);
}

static bool open_libraries(hl_session *s, const char *list, hl_calls *calls)
{
  if (list && *list && is_static())
    return hl_session_input_fault(s, "cannot load %s: this program is linked statically", list);
  while (list && *list) {
    size_t length = strcspn(list, ",");
    void *library = dlopen(path_of(s->arena, list, length), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return hl_session_input_fault(s, "cannot load the library %.*s: %s", (int)length, list, dlerror());
    if (!keep_library(calls, library))
      return hl_session_input_fault(s, "%d libraries are too many", calls->library_count + 1);
    list += length + (list[length] == ',');
  }
  return true;
}

static void *open_lapack(hl_calls *calls)
{
  static const char *const names[] = {"liblapack.so.3", "liblapack.so", "libopenblas.so.0"};
  for (size_t i = 0; !is_static() && i < sizeof names / sizeof *names; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library)
      return keep_library(calls, library) ? library : NULL;
  }
  return NULL;
}

/* Targets may differ where their symbols do not. */
static void *given_function(hl_arena *arena, const hl_call_sources *sources, const char *symbol)
{
  void *address = NULL;
  for (size_t i = 0; i < sources->given_count; i++)
    if (!strcmp(hl_custom_symbol(arena, sources->given[i].target), symbol))
      memcpy(&address, &sources->given[i].function, sizeof address);
  return address;
}

static void *find_function(hl_session *s, const hl_call_sources *sources, const hl_calls *calls, const hl_call *call)
{
  void *address = given_function(s->arena, sources, call->symbol);
  for (int i = 0; !address && i < calls->library_count; i++)
    address = dlsym(calls->libraries[i], call->symbol);
  return address || is_static() ? address : dlsym(RTLD_DEFAULT, call->symbol);
}

static bool missing(hl_session *s, const hl_call *call)
{
  if (call->is_fortran) {
    hl_error(&s->diag, call->range, HL_RULE_COMPILE_OP, "the custom call '%s' needs %s of LAPACK, which this system has not", call->target,
             call->symbol);
    hl_help(&s->diag, is_static() ? "this program is linked statically and loads no libraries"
                                  : "install it: the library is liblapack.so.3, Debian's package liblapack3");
  } else {
    hl_error(&s->diag, call->range, HL_RULE_COMPILE_OP, "the custom call '%s' is unknown: there is no function %s", call->target,
             call->symbol);
  }
  s->fault = HL_FAULT_INPUT;
  return false;
}

bool hl_calls_find(hl_session *s, const hl_call_sources *sources, hl_calls *calls)
{
  int count;
  const hl_call **list = hl_program_calls(s->arena, s->program, &count);
  void *lapack = NULL;
  bool ok = open_libraries(s, sources->libraries, calls), is_complete = true;
  calls->symbols = HL_ARRAY(s->arena, count + 1, hl_jit_symbol);
  for (int i = 0; ok && i < count; i++) {
    if (list[i]->is_fortran && !lapack)
      lapack = open_lapack(calls);
    void *address = list[i]->is_fortran ? (lapack ? dlsym(lapack, list[i]->symbol) : NULL)
                                        : find_function(s, sources, calls, list[i]);
    if (address)
      calls->symbols[calls->symbol_count++] = (hl_jit_symbol){list[i]->symbol, address};
    else
      is_complete = missing(s, list[i]);
  }
  return ok && is_complete;
}

void hl_calls_close(hl_calls *calls)
{
  for (int i = 0; i < calls->library_count; i++)
    dlclose(calls->libraries[i]);
  free(calls->libraries);
  *calls = (hl_calls){.symbols = NULL};
}
