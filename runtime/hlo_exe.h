/* hlo_exe.h - how a program written by --emit=exe describes its model to the main() that it links.
 *
 * The compiler generates one object that defines hlo_exe_model; runtime/main_exe.c reads it. */
#ifndef HLO_EXE_H
#define HLO_EXE_H

#include <stdint.h>

/* An argument or result: dense, row-major, as the generated header says. */
typedef struct hlo_exe_array {
  const char *name;     /* member of the C structure: "x", "result0" */
  const char *hlo_name; /* parameter name in the HLO text, a second name in an .npz; may be NULL */
  const char *type;     /* element type in HLO text: "f32" */
  int32_t rank;
  const int64_t *dims; /* `rank` of them; may be NULL when that is 0 */
  uint64_t bytes;
} hlo_exe_array;

typedef struct hlo_exe_description {
  const char *name;
  int32_t arg_count, result_count; /* flattened, without tokens */
  const hlo_exe_array *args, *results;
  /* The generated function, as dlopen and other FFIs call it. */
  int (*entry)(void *const *args, void *const *results, void *workspace);
  uint64_t workspace_bytes;
} hlo_exe_description;

extern const hlo_exe_description hlo_exe_model;

#endif
