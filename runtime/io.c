/* io.c - errors, memory and whole files for the readers and writers of arrays. */
#define _GNU_SOURCE
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool hl_io_fail(hl_io_error *e, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(e->text, sizeof e->text, format, arguments);
  va_end(arguments);
  for (char *p = e->text; *p; p++) /* names come from files: no control characters in messages */
    *p = (unsigned char)*p < ' ' || *p == 127 ? '?' : *p;
  return false;
}

void *hl_io_alloc(size_t bytes, hl_io_error *e)
{
  size_t rounded = bytes > 0 ? (bytes + 63) & ~(size_t)63 : 64;
  void *memory = rounded < bytes || bytes > PTRDIFF_MAX ? NULL : aligned_alloc(64, rounded);
  if (!memory)
    hl_io_fail(e, "out of memory: %zu bytes", bytes);
  return memory;
}

/* ---- reading ---- */

static bool fail_path(hl_io_error *e, const char *verb, const char *path, int code)
{
  return hl_io_fail(e, "cannot %s %s: %s", verb, path, strerror(code));
}

typedef struct growing {
  unsigned char *data;
  size_t size, room;
} growing;

static bool make_room(growing *g, size_t room, hl_io_error *e)
{
  unsigned char *larger = hl_io_alloc(room, e);
  if (!larger)
    return false;
  if (g->size > 0)
    memcpy(larger, g->data, g->size);
  free(g->data);
  g->data = larger;
  g->room = room;
  return true;
}

/* Reads to the end. A regular file's size is room enough, plus a byte that finds the end. */
static bool read_all(int file, const char *path, growing *g, hl_io_error *e)
{
  struct stat info;
  size_t guess = 1 << 16;
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
    guess = (size_t)info.st_size + 1;
  for (;;) {
    if (g->size == g->room && !make_room(g, g->room ? 2 * g->room : guess, e))
      return false;
    ssize_t got = read(file, g->data + g->size, g->room - g->size);
    if (got == 0)
      return true;
    if (got > 0)
      g->size += (size_t)got;
    else if (errno != EINTR)
      return fail_path(e, "read", path, errno);
  }
}

bool hl_io_read(const char *path, void **data, size_t *bytes, hl_io_error *e)
{
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return fail_path(e, "open", path, errno);
  growing g = {0};
  bool ok = read_all(file, path, &g, e);
  close(file);
  if (!ok) {
    free(g.data);
    return false;
  }
  *data = g.data;
  *bytes = g.size;
  return true;
}

/* ---- writing ---- */

static bool is_special(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* A new file beside the path, with the permissions that the path itself would get. */
static bool open_temporary(hl_output *o)
{
  size_t room = strlen(o->path) + 40;
  o->temporary = malloc(room);
  if (!o->temporary)
    return false;
  for (int i = 0; i < 1000; i++) {
    snprintf(o->temporary, room, "%s.%ld.%d.tmp", o->path, (long)getpid(), i);
    o->file = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (o->file >= 0 || errno != EEXIST)
      break;
  }
  return o->file >= 0;
}

bool hl_output_open(hl_output *o, const char *path, hl_io_error *e)
{
  *o = (hl_output){.path = path, .file = -1};
  bool ok = false;
  if (is_special(path)) {
    o->file = open(path, O_WRONLY | O_CLOEXEC);
    ok = o->file >= 0;
  } else {
    ok = open_temporary(o);
  }
  if (ok)
    return true;
  int code = errno;
  free(o->temporary);
  o->temporary = NULL;
  return fail_path(e, "write", path, code);
}

void hl_output_write(hl_output *o, const void *data, size_t bytes)
{
  const char *from = data;
  while (bytes > 0 && !o->fault) {
    ssize_t put = write(o->file, from, bytes);
    if (put >= 0) {
      from += put;
      bytes -= (size_t)put;
    } else if (errno != EINTR) {
      o->fault = errno;
    }
  }
}

bool hl_output_close(hl_output *o, hl_io_error *e)
{
  if (close(o->file) != 0 && !o->fault)
    o->fault = errno;
  o->file = -1;
  if (!o->fault && o->temporary && rename(o->temporary, o->path) != 0)
    o->fault = errno;
  int fault = o->fault;
  if (!fault) {
    free(o->temporary);
    o->temporary = NULL;
    return true;
  }
  hl_output_cancel(o);
  return fail_path(e, "write", o->path, fault);
}

void hl_output_cancel(hl_output *o)
{
  if (o->file >= 0)
    close(o->file);
  if (o->temporary)
    unlink(o->temporary);
  free(o->temporary);
  o->temporary = NULL;
  o->file = -1;
}
