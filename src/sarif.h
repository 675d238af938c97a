/* sarif - diagnostics as a log of SARIF 2.1.0, which code hosts and editors read. */
#ifndef HL_SARIF_H
#define HL_SARIF_H

#include "ir/diag.h"

/* Adds the diagnostics of one input as results, with commas between those in `out`. */
void hl_sarif_add(const hl_diag *diag, hl_str *out);
/* Writes the log around results. */
void hl_sarif_log(const hl_str *results, hl_str *out);

#endif
