/* parse - HLO text to module. */
#ifndef HL_PARSE_H
#define HL_PARSE_H

#include "../ir/module.h"

/* Parses source into a module in the arena; syntax, names, attributes and literals are checked,
 * shapes are not (see hl_verify). Returns NULL after at least one error was reported to diag.
 * diag->source must be source. The text is scanned in place: nothing else may read it meanwhile,
 * and afterwards it is as it was. */
hl_module *hl_parse(hl_arena *arena, const hl_source *source, hl_diag *diag);

#endif
