/* lint - what is legal and still rarely meant: warnings that can be switched one by one. */
#ifndef HL_LINT_H
#define HL_LINT_H

#include "diag.h"
#include "module.h"

typedef enum hl_lint_id {
  HL_LINT_UNUSED_PARAMETER,
  HL_LINT_UNUSED_COMPUTATION,
  HL_LINT_DEAD_PARAMETER,
  HL_LINT_REDUCE_INIT,
  HL_LINT_OUTER_PRODUCT,
  HL_LINT_F64_CONSTANT,
  HL_LINT_COUNT
} hl_lint_id;

/* The rule whose label is the warning's name. */
hl_rule hl_lint_rule(hl_lint_id lint);

/* Reports what is found in a verified module. Bit i of `warnings` switches lint i on, of `errors` makes it an
 * error. */
void hl_lint(const hl_module *module, unsigned warnings, unsigned errors, hl_diag *diag);

#endif
