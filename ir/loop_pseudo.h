/* loop_pseudo - kernels as C-like pseudo-code, for people alone: nothing reads it back. */
#ifndef HL_LOOP_PSEUDO_H
#define HL_LOOP_PSEUDO_H

#include "loop.h"

typedef struct hl_pseudo_line {
  int depth; /* blocks around it */
  const char *text;
  const char *note;       /* how a loop runs, what order a sum has; NULL: nothing to say */
  const hl_range *ranges; /* the HLO it came from, in text order, each once */
  int range_count;
} hl_pseudo_line;

typedef struct hl_pseudo {
  hl_arena *arena;
  hl_pseudo_line *lines;
  int count;
  size_t capacity;
} hl_pseudo;

/* Appends the kernel: its head, its statements, a closing brace. */
void hl_kernel_pseudo(hl_pseudo *out, const hl_kernel *kernel);

#endif
