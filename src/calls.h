/* calls - where the functions are that a program calls, when it runs in this process. */
#ifndef HL_CALLS_H
#define HL_CALLS_H

#include "codegen/jit.h"
#include "session.h"

/* A function that somebody gave for a target. */
typedef struct hl_given_call {
  const char *target;
  void (*function)(void);
} hl_given_call;

typedef struct hl_call_sources {
  const hl_given_call *given; /* looked at first */
  size_t given_count;
  const char *libraries;      /* paths of shared libraries, with commas between them; NULL: none */
} hl_call_sources;

/* What was found. Close it after the code that calls the functions is gone. */
typedef struct hl_calls {
  hl_jit_symbol *symbols;
  int symbol_count;
  void **libraries; /* malloc'ed, as the loader knows them */
  int library_count;
} hl_calls;

/* Functions of the program that are not given come from the libraries, then from this process; LAPACK comes from the system's library.
 * One that is nowhere is an error at its place. */
bool hl_calls_find(hl_session *s, const hl_call_sources *sources, hl_calls *calls);
void hl_calls_close(hl_calls *calls);

#endif
