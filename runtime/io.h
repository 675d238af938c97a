/* io.h - errors, memory and whole files for the readers and writers of arrays.
 *
 * Everything here belongs to the thread that calls it; nothing prints. */
#ifndef HL_IO_H
#define HL_IO_H

#include <stdbool.h>
#include <stddef.h>

/* Why a function returned false. The caller owns it; the text has no line break at the end. */
typedef struct hl_io_error {
  char text[512];
} hl_io_error;

/* Writes the text and returns false. */
bool hl_io_fail(hl_io_error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Memory aligned to 64 bytes, for free(); NULL with the reason in `e`. Zero bytes are legal. */
void *hl_io_alloc(size_t bytes, hl_io_error *e);

/* The whole of a file (or pipe), in memory as hl_io_alloc gives it; the caller frees *data. */
bool hl_io_read(const char *path, void **data, size_t *bytes, hl_io_error *e);

/* A file that appears whole or not at all: it is written under another name beside `path` and
 * renamed at the end. What exists and is no regular file (a pipe, /dev/stdout) is written to as it
 * is. The first fault is kept and reported by hl_output_close. */
typedef struct hl_output {
  const char *path; /* the caller's */
  char *temporary;  /* NULL when writing to the path itself */
  int file;
  int fault; /* errno of the first failure */
} hl_output;

bool hl_output_open(hl_output *o, const char *path, hl_io_error *e);
void hl_output_write(hl_output *o, const void *data, size_t bytes);
/* Ends the file; true when everything, the rename included, has succeeded. Else no file is left. */
bool hl_output_close(hl_output *o, hl_io_error *e);
/* Drops the file. */
void hl_output_cancel(hl_output *o);

#endif
