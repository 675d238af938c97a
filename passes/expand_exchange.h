/* expand_exchange - ragged-all-to-all on one device. */
#ifndef HL_EXPAND_EXCHANGE_H
#define HL_EXPAND_EXCHANGE_H

#include "expand.h"

/* Slices of the operand's rows, written into the output one after the other, as a gather of rows. */
hl_instruction *hl_exchange_rows(hl_instruction *ragged_all_to_all);

#endif
