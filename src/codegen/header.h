/* header - the C header of a compiled program. */
#ifndef HL_HEADER_H
#define HL_HEADER_H

#include "codegen.h"
#include "interface.h"

typedef struct hl_header_options {
  const char *file;    /* its own name, for its first line */
  const char *source;  /* the module's file */
  const char *version; /* of hlo-lite */
  const char *symbol;
  const hl_target_info *target;
  bool uses_threads;            /* the object refers to the hook */
  const char *const *undefined; /* symbols that the object takes from the compiler's own library */
  int undefined_count;
} hl_header_options;

void hl_header_print(hl_str *out, const hl_program *program, const hl_header_options *options);

/* The C text that describes a program to runtime/main_exe.c; `declarations` is the text of
 * runtime/hlo_exe.h. */
void hl_description_print(hl_str *out, const hl_program *program, const char *symbol,
                          const char *declarations, size_t length);

/* The C type of an element: "float", "uint16_t". */
const char *hl_c_type(hl_element_type type);

#endif
