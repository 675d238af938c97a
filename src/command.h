/* command - what the files of the command share: subcommands, messages, outputs. */
#ifndef HL_COMMAND_H
#define HL_COMMAND_H

#include "options.h"
#include "session.h"

#include "runtime/io.h"

#include <stdio.h>

/* A subcommand: takes its options, returns an exit status. Out of memory jumps to the guard. */
typedef int hl_command_fn(const hl_options *options, hl_arena *arena, hl_guard *guard);
hl_command_fn hl_command_check, hl_command_fmt, hl_command_opt, hl_command_ops, hl_command_compile,
    hl_command_run, hl_command_shapes, hl_command_lsp, hl_command_explain, hl_command_bench, hl_command_extract,
    hl_command_reduce,
    hl_command_graph;

typedef struct hl_command {
  hl_command_id id;
  const char *name;
  hl_command_fn *run;
  int min_inputs, max_inputs;
  const char *usage;
  const char *sentence;
  const char *examples; /* one a line; they run in the folder of the examples */
} hl_command;

/* Subcommand number `index` in the order of the help; NULL behind the last. */
const hl_command *hl_command_at(int index);
/* NULL: there is none. */
const hl_command *hl_command_by_name(const char *name);
/* The one whose name is close to it; NULL. */
const hl_command *hl_command_suggest(const char *name);
const char *hl_command_name(hl_command_id id);

/* What the whole command does, and one of its subcommands. */
void hl_help_print_usage(hl_arena *arena, FILE *out);
void hl_help_print(hl_arena *arena, const hl_command *command);

/* What may stand in the place of the last of the words behind "hlo-lite", one a line, with a tab and what it
 * is: for the completions of shells. */
int hl_command_complete(hl_arena *arena, int count, char *const *words);

/* "hlo-lite: error: ..." on standard error; returns the status. */
int hl_complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Opens a session with what the options say about code, dumps and times. */
void hl_command_open(hl_session *s, const hl_options *options, hl_guard *guard);
/* Shows diagnostics and the fault, closes the session, returns the exit status. */
int hl_command_close(hl_session *s, const hl_options *options);
/* Read, parse, fill constants, verify. */
bool hl_command_load(hl_session *s, const hl_options *options, const char *path);

/* Writes to a file, whole or not at all, or to standard output with path NULL or "-". False: the
 * message was shown. */
bool hl_command_write(const char *path, const void *data, size_t size);

/* Marks the passes of --disable-passes; false with *error (arena text) when one is unknown or code
 * cannot do without it. */
bool hl_command_disabled(hl_arena *arena, const char *list, bool *is_disabled, const char **error);

/* The passes of "a,b,c"; NULL with *error (arena text). */
hl_pass_id *hl_command_passes(hl_arena *arena, const char *list, int *count, const char **error);

#endif
