/* inputs - arguments of `run` beyond files: as text, and filled; and results to compare with. */
#ifndef HL_INPUTS_H
#define HL_INPUTS_H

#include "runner.h"

/* Arguments as the options say: files, text by name, random numbers or another filling. */
bool hl_inputs_load(hl_runner *r, hl_guard *guard);

/* Compares the results with those of --expected; reports the worst elements on standard error. */
bool hl_expected_compare(hl_runner *r);

#endif
