/* print - canonical HLO text. parse(print(m)) == m is a tested law. */
#ifndef HL_PRINT_H
#define HL_PRINT_H

#include "module.h"

void hl_module_print(hl_str *out, const hl_module *module);
void hl_computation_print(hl_str *out, const hl_computation *computation);
/* One instruction without indentation or newline: name = shape opcode(operands), attributes */
void hl_instruction_print(hl_str *out, const hl_instruction *instruction);
void hl_literal_print(hl_str *out, const hl_literal *literal);

#endif
