/* eval_complex - complex numbers as pairs of doubles. */
#ifndef HL_EVAL_COMPLEX_H
#define HL_EVAL_COMPLEX_H

#include "eval_internal.h"

typedef struct hl_pair {
  double re, im;
} hl_pair;

/* Arithmetic of rule 13; each step is rounded to the component type, f32 or f64. */
hl_pair hl_complex_add(hl_element_type part, hl_pair x, hl_pair y);
hl_pair hl_complex_multiply(hl_element_type part, hl_pair x, hl_pair y);
hl_pair hl_complex_divide(hl_element_type part, hl_pair x, hl_pair y);

/* Functions in f64. */
hl_pair hl_complex_function(hl_opcode opcode, hl_pair z);
hl_pair hl_complex_power(hl_pair z, hl_pair w);
hl_pair hl_complex_atan2(hl_pair y, hl_pair x);

#endif
