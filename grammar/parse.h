/* parse - HLO text to module. */
#ifndef HL_PARSE_H
#define HL_PARSE_H

#include "../ir/module.h"

/* What names are made of: the first byte, and all others. */
bool hl_is_word_start(char c);
bool hl_is_word_byte(char c);

/* Parses source into a module in the arena; syntax, names, attributes and literals are checked,
 * shapes are not (see hl_verify). Returns NULL after at least one error was reported to diag.
 * diag->source must be source. The text is scanned in place: nothing else may read it meanwhile,
 * and afterwards it is as it was. */
hl_module *hl_parse(hl_arena *arena, const hl_source *source, hl_diag *diag);

/* The same, but a module comes out whatever the text holds, with the instructions that could be read:
 * for editors. *is_whole: there was no error. NULL: not even a text. */
hl_module *hl_parse_partial(hl_arena *arena, const hl_source *source, hl_diag *diag,
                            bool *is_whole);

/* A module whose instructions come one by one (lines.c): computations are opened and closed, each
 * line goes into the one opened last. Closing it ends its names. */
typedef struct hl_lines hl_lines;

hl_lines *hl_lines_new(hl_arena *arena, const char *module_name);
hl_module *hl_lines_module(const hl_lines *lines);
/* Opens a computation; a name that another one has is made a fresh one. */
hl_computation *hl_lines_open(hl_lines *lines, const char *name);
/* Gives an open computation another name, or a fresh one if it is taken. */
void hl_lines_rename(hl_lines *lines, hl_computation *computation, const char *name);
/* Reads "name = opcode(operands), attributes" with names of the open computation and of closed
 * ones, as hl_parse does: shapes are not checked. The instruction, NULL after an error. */
hl_instruction *hl_lines_read(hl_lines *lines, const hl_source *line, hl_diag *diag);
/* A constant of the literal's shape in the open computation, with a fresh name. */
hl_instruction *hl_lines_constant(hl_lines *lines, const hl_literal *literal);
/* Closes the computation opened last; root NULL: the one that a line called ROOT, or the last. NULL
 * after an error: it has no instruction, or parameter numbers are wrong. */
hl_computation *hl_lines_close(hl_lines *lines, hl_instruction *root, hl_diag *diag);

#endif
