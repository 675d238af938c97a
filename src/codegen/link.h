/* link - shared libraries and executables, by the system's linker and C compiler, without a shell.
 */
#ifndef HL_LINK_H
#define HL_LINK_H

#include "../../ir/arena.h"

typedef struct hl_link_input {
  const char *name; /* of the file that it becomes: "model.o" */
  const void *data;
  size_t size;
} hl_link_input;

typedef struct hl_link {
  const char *tool;   /* the program to run: ld, cc */
  const char *output; /* appears whole or not at all */
  const hl_link_input
      *inputs; /* written beside the output for the time of linking, then named in order */
  int input_count;
  const char *const *options;   /* before the inputs; NULL at the end */
  const char *const *libraries; /* behind them; NULL at the end */
} hl_link;

/* Runs `tool options -o OUTPUT inputs libraries`. False with *error (arena text), and no output. */
bool hl_link_run(hl_arena *arena, const hl_link *link, const char **error);

#endif
