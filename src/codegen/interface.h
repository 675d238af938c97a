/* interface - the C names and types of a program's arguments and results: what header, run and
 * executables agree on. */
#ifndef HL_INTERFACE_H
#define HL_INTERFACE_H

#include "../../ir/loop.h"

/* An argument or result as the C function has it; tokens have none. */
typedef struct hl_member {
  const char *name;     /* of the structure's member */
  const char *hlo_name; /* of the parameter when it is no tuple, else NULL */
  const hl_port *port;
  int64_t bytes;
} hl_member;

typedef struct hl_interface {
  hl_member *arguments, *results;
  int argument_count, result_count;
} hl_interface;

/* Works the names out. Lives in the arena. */
hl_interface hl_interface_of(hl_arena *arena, const hl_program *program);

/* The C name for a module file: its stem with other bytes as `_`, `m_` before a digit or a keyword;
 * "model" for standard input. */
const char *hl_c_name(hl_arena *arena, const char *path);

/* "(x: f32[8,784]) -> f32[8,10]" */
const char *hl_signature(hl_arena *arena, const hl_program *program);

#endif
