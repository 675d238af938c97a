/* dot - a module as a graph for graphviz. */
#ifndef HL_DOT_H
#define HL_DOT_H

#include "ir/module.h"

void hl_module_dot(hl_str *out, const hl_module *module);

#endif
