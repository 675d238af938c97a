/* device - what ops of several devices, and notes to them, mean where there is one. */
#ifndef HL_DEVICE_H
#define HL_DEVICE_H

#include "module.h"

/* A custom call that only annotates its operand, which is its value. */
bool hl_is_annotation(const hl_instruction *custom_call);
/* Whether the target is one of those, be the shapes as they may. */
bool hl_is_annotation_target(const char *target);

bool hl_is_collective(hl_opcode opcode);
/* Whether one device takes part alone, and so gets back what it gives. */
bool hl_is_alone(const hl_instruction *collective);
/* A collective-permute of one device that sends it nothing: its value is zero. */
bool hl_receives_nothing(const hl_instruction *collective);

#endif
