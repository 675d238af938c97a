/* command - what the files of the command share: subcommands, messages, outputs. */
#ifndef HL_COMMAND_H
#define HL_COMMAND_H

#include "options.h"
#include "session.h"

#include "runtime/io.h"

/* A subcommand: takes its options, returns an exit status. Out of memory jumps to the guard. */
typedef int hl_command_fn(const hl_options *options, hl_arena *arena, hl_guard *guard);
hl_command_fn hl_command_check, hl_command_fmt, hl_command_opt, hl_command_ops, hl_command_compile,
    hl_command_run, hl_command_shapes, hl_command_lsp, hl_command_explain, hl_command_bench, hl_command_extract,
    hl_command_reduce,
    hl_command_graph;

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
