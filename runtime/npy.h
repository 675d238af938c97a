/* npy.h - NumPy's .npy arrays, from and to memory and files.
 *
 * Read: format versions 1.0, 2.0 and 3.0; the types b1, i1 i2 i4 i8, u1 u2 u4 u8, f2 f4 f8, c8 c16,
 * V1 and V2, of either byte order, in C or Fortran order. Whatever the file says, the array in
 * memory is little endian and row-major. As NumPy does, bytes behind the data are ignored.
 * Written: what numpy.save writes for a C-contiguous array, to the byte.
 */
#ifndef HL_NPY_H
#define HL_NPY_H

#include "io.h"

#include <stdint.h>

enum {
  HL_NPY_MAX_RANK = 64,
  HL_NPY_MAX_HEADER = 2048 /* room for what hl_npy_header writes */
};

typedef struct hl_npy {
  char kind;      /* 'b' bool, 'i', 'u', 'f', 'c' complex, 'V' raw bytes */
  int item_bytes; /* of the whole complex number, where kind is 'c' */
  int rank;
  int64_t dims[HL_NPY_MAX_RANK];
  void *data; /* aligned to 64 */
  size_t bytes;
  void *owner; /* what hl_npy_free frees; NULL when the data belongs to somebody else */
} hl_npy;

/* Reads an array from `bytes` of memory into memory of its own. */
bool hl_npy_read(const void *memory, size_t bytes, hl_npy *out, hl_io_error *e);

/* Reads a file. Messages begin with the path. */
bool hl_npy_load(const char *path, hl_npy *out, hl_io_error *e);

/* Frees the data of an array that was read. Fine for one that is all zero. */
void hl_npy_free(hl_npy *a);

/* Writes the header that stands before the data of `a` to `out` (HL_NPY_MAX_HEADER bytes); returns
 * its length, a multiple of 64. */
size_t hl_npy_header(const hl_npy *a, char *out);

/* Writes a file, whole or not at all. */
bool hl_npy_save(const char *path, const hl_npy *a, hl_io_error *e);

/* Sets *bytes to the size of an array; false when it overflows or a dimension is negative. */
bool hl_npy_size(const int64_t *dims, int rank, int item_bytes, size_t *bytes);

#endif
