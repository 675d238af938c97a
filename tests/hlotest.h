/* hlotest.h - what the parts of the text-test runner share: hlotest.c runs cases, hlotest_case.c
 * reads them, hlotest_values.c makes and compares arrays. */
#ifndef HL_HLOTEST_H
#define HL_HLOTEST_H

#include "runtime/npy.h"
#include "runtime/values.h"

#include <stdbool.h>
#include <stdio.h>

enum { MOST_ARRAYS = 64, MOST_DIAGNOSTICS = 64, MOST_NOTES = 32 };

/* An error or warning, wanted or reported. Lines count from 1 in the case's text. */
typedef struct diagnostic {
  bool is_warning, is_matched;
  int line, column;
  char label[64];
} diagnostic;

/* An ARG or EXPECT line: the text behind the word. */
typedef struct value_text {
  const char *text;
  int ulps;     /* EXPECT~N */
  double share; /* EXPECT~1e-5: of the largest value of the array */
} value_text;

/* One case: the lines [begin, end) of a file. */
typedef struct test_case {
  const char *path;
  char **lines;
  int begin, end;
  const char *command; /* of the RUN line that holds */
  bool has_text, has_out;
  int exit_status; /* -1: by the diagnostics */
  diagnostic wanted[MOST_DIAGNOSTICS];
  int wanted_count;
  value_text args[MOST_ARRAYS], expected[MOST_ARRAYS];
  int arg_count, expected_count;
  const char *notes[MOST_NOTES]; /* STDERR lines */
  int note_count;
  char *module;      /* the text, without directives */
  char *faults;      /* why it fails; empty: it passes */
  char *out, *error; /* what the last process printed */
} test_case;

/* ---- hlotest_case.c ---- */

/* `memory`, or the end of the program when it is NULL. */
void *checked(void *memory);
char *format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
/* Frees *text and puts the longer one in its place. */
void append(char **text, const char *more);
/* Adds a line to the reasons why the case fails. */
void fault(test_case *c, const char *pattern, ...) __attribute__((format(printf, 2, 3)));
/* A whole file, ended by a NUL; NULL if it cannot be read. */
char *read_text(const char *path);
/* Cuts the text into lines, in place; the array ends with NULL and is the caller's. */
char **split_lines(char *text, int *count);
const char *skip_blanks(const char *text);
/* The text behind `word` if the line begins with it, after blanks; else NULL. */
const char *behind(const char *line, const char *word);
bool is_separator(const char *line);

/* Reads the directives of the lines [begin, end) and the module between them. *command is the RUN
 * line that holds so far, and moves. */
void read_case(test_case *c, const char **command);
/* Whether the lines hold a case, and not only a RUN line and comments. */
bool is_case(const test_case *c);
void free_case(test_case *c);

/* Compares what the program printed with the OUT lines. */
void check_output(test_case *c);
/* Writes the lines of the case, with OUT lines as the program printed them now. */
void write_updated(const test_case *c, FILE *to);

/* ---- hlotest_values.c ---- */

typedef struct shape {
  const hl_value_type *type;
  int rank;
  int64_t dims[HL_NPY_MAX_RANK];
  size_t items;
} shape;

/* The shapes of the entry's parameters or results, tuples flattened, as the text states them; at
 * most MOST_ARRAYS. They return how many. */
int parameter_shapes(const char *module, shape *list);
int result_shapes(const char *module, shape *list);

/* Makes the array that an ARG or EXPECT line tells; `known` is its shape in the module, or NULL. */
bool make_array(test_case *c, const value_text *v, const shape *known, hl_npy *a);

/* Faults unless the arrays are equal, or as close as `v` allows; NULL: bit for bit. */
void compare(test_case *c, const hl_npy *want, const hl_npy *got, const value_text *v,
             const char *what);

#endif
