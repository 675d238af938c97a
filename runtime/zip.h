/* zip.h - zip archives of .npy arrays (.npz), as far as no library is needed.
 *
 * Stored members are read and written here; to read deflated ones the caller brings the inflater.
 * zip64 is read, and written where sizes ask for it. Members are found through the central
 * directory, so data descriptors do not matter. */
#ifndef HL_ZIP_H
#define HL_ZIP_H

#include "npy.h"

/* Inflates a raw deflate stream to exactly out_bytes; false when it does not give that. */
typedef bool hl_inflate(const void *in, size_t in_bytes, void *out, size_t out_bytes);

/* Table of the CRC-32 of zip, eight bytes at a time. */
typedef struct hl_crc_table {
  uint32_t rows[8][256];
} hl_crc_table;

void hl_crc_init(hl_crc_table *t);
/* Continues from the CRC of what came before; 0 begins. */
uint32_t hl_crc(const hl_crc_table *t, uint32_t crc, const void *data, size_t bytes);

typedef struct hl_zip_member {
  const char *name; /* in the archive's memory, not ended; ".npy" at its end is left out */
  size_t name_bytes;
  int method; /* 0 stored, 8 deflated */
  uint32_t crc;
  const unsigned char *packed;
  size_t packed_bytes, bytes;
} hl_zip_member;

typedef struct hl_zip {
  unsigned char *memory;
  size_t bytes;
  hl_zip_member *members; /* in the order of the directory */
  size_t count;
  hl_inflate *inflate; /* NULL: deflated members are refused */
  hl_crc_table crc;
} hl_zip;

/* Reads the directory of a file. hl_zip_close also after failure, or on what is all zero. */
bool hl_zip_open(hl_zip *z, const char *path, hl_inflate *inflate, hl_io_error *e);
/* The same from memory that malloc gave; the archive owns it from here on. */
bool hl_zip_open_memory(hl_zip *z, void *memory, size_t bytes, hl_io_error *e);
void hl_zip_close(hl_zip *z);

/* The member of that name, the last if there are several (as for NumPy), or NULL. */
const hl_zip_member *hl_zip_find(const hl_zip *z, const char *name);

/* Unpacks and checks a member that is an array; the result owns its memory. */
bool hl_zip_read(const hl_zip *z, const hl_zip_member *m, hl_npy *out, hl_io_error *e);

/* An archive being written: created, arrays added, finished or cancelled. */
typedef struct hl_zip_writer {
  hl_output output;
  hl_crc_table crc;
  uint64_t offset;
  unsigned char *directory; /* its central directory so far */
  size_t directory_bytes, directory_room, count;
  bool out_of_memory;
} hl_zip_writer;

bool hl_zip_create(hl_zip_writer *w, const char *path, hl_io_error *e);
/* Adds `name`.npy, stored. Faults are kept for hl_zip_finish. */
void hl_zip_add(hl_zip_writer *w, const char *name, const hl_npy *array);
/* Completes the file, whole or not at all. */
bool hl_zip_finish(hl_zip_writer *w, hl_io_error *e);
/* Drops it. */
void hl_zip_cancel(hl_zip_writer *w);

#endif
