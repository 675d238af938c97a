/* arguments.h - the arrays of a call, from files and to files: what `hlo-lite run` and programs
 * written by --emit=exe have in common. */
#ifndef HL_ARGUMENTS_H
#define HL_ARGUMENTS_H

#include "hlo_exe.h"
#include "zip.h"

/* Where arguments come from: as many .npy files as there are parameters, in order; or one .npz, by
 * the names of a parameter or else arr_0, arr_1, ...; or random numbers. */
typedef struct hl_argument_source {
  const hlo_exe_array *params;
  int param_count;
  const char *what; /* for messages: "result"; NULL: "parameter" */
  const char *const *paths;
  int path_count;
  bool is_random; /* parameter p gets the values of seed + p */
  uint64_t seed;
  hl_inflate *inflate; /* for compressed members; may be NULL */
} hl_argument_source;

typedef struct hl_arguments {
  int count;
  void **data; /* one pointer an argument, aligned to 64, never NULL */
  hl_npy *arrays;
} hl_arguments;

/* Reads or makes all arguments, and checks that types and shapes are those of the parameters. Free
 * them with hl_arguments_free, also after failure. */
bool hl_arguments_load(const hl_argument_source *source, hl_arguments *out, hl_io_error *e);
void hl_arguments_free(hl_arguments *a);

typedef struct hl_results {
  const hlo_exe_array *arrays;
  int count;
  void *const *data;
} hl_results;

typedef enum hl_result_form {
  HL_RESULTS_FOLDER, /* "DIR/" or a folder that exists: 0.npy, 1.npy, ... */
  HL_RESULTS_NPZ,    /* by name */
  HL_RESULTS_NPY,    /* one result alone */
  HL_RESULTS_PRINTED, /* "-": as text, on standard output */
  HL_RESULTS_BAD
} hl_result_form;

/* What `-o path` asks for, of `count` results. HL_RESULTS_BAD comes with the reason. */
hl_result_form hl_result_form_of(const char *path, int count, hl_io_error *e);

/* Writes the results to the path, each file whole or not at all. Folders are made. */
bool hl_results_write(const hl_results *r, const char *path, hl_io_error *e);

#endif
