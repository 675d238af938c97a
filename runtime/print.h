/* print.h - arrays as text for people. */
#ifndef HL_ARRAY_PRINT_H
#define HL_ARRAY_PRINT_H

#include "hlo_exe.h"
#include "values.h"

#include <stdio.h>

/* Writes "f32[2,3]" and the like, cut off at `size`; returns `out`. */
const char *hl_array_shape_text(const hlo_exe_array *a, char *out, size_t size);

/* Prints the shape and the values, in braces as HLO literals are, one row a line, columns aligned,
 * and a line break. Of more than 1000 values the first and last three of each dimension are shown,
 * as NumPy does. The array's type must be one that hl_value_type_find knows. */
void hl_array_print(FILE *out, const hlo_exe_array *a, const void *data);

#endif
