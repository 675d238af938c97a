/* zip.c - zip archives of .npy arrays (.npz), as far as no library is needed.
 *
 * The layout is PKWARE's APPNOTE: local header and data of each member, then the central directory,
 * then its end record, which is found from the back of the file. Offsets and sizes that do not fit
 * into 32 bits stand as 0xffffffff and in full in a zip64 record (extra field 1). All numbers are
 * little endian and untrusted: each is checked against the file before it is used.
 */
#include "zip.h"

#include <stdlib.h>
#include <string.h>

enum {
  LOCAL_MAGIC = 0x04034b50,
  ENTRY_MAGIC = 0x02014b50,
  END_MAGIC = 0x06054b50,
  END64_MAGIC = 0x06064b50,
  LOCATOR_MAGIC = 0x07064b50,
  LOCAL_BYTES = 30,
  ENTRY_BYTES = 46,
  END_BYTES = 22,
  END64_BYTES = 56,
  LOCATOR_BYTES = 20,
  MOST_COMMENT_BYTES = 65535,
  STORED = 0,
  DEFLATED = 8,
  ENCRYPTED_FLAG = 1,
  UTF8_FLAG = 0x800,
  DATE_1980 = 0x21,
  MOST_INFLATION = 1100 /* deflate reaches 1032 */
};

static const uint64_t in_zip64 = 0xffffffff;

/* ---- CRC-32 ---- */

void hl_crc_init(hl_crc_table *t)
{
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
    t->rows[0][byte] = crc;
  }
  for (int row = 1; row < 8; row++)
    for (int byte = 0; byte < 256; byte++) {
      uint32_t before = t->rows[row - 1][byte];
      t->rows[row][byte] = before >> 8 ^ t->rows[0][before & 0xff];
    }
}

uint32_t hl_crc(const hl_crc_table *t, uint32_t crc, const void *data, size_t bytes)
{
  const unsigned char *p = data;
  crc = ~crc;
  for (; bytes >= 8; bytes -= 8, p += 8) {
    uint32_t sum = 0;
    for (unsigned i = 0; i < 4; i++)
      sum ^= t->rows[7 - i][p[i] ^ (crc >> (8 * i) & 0xff)] ^ t->rows[3 - i][p[4 + i]];
    crc = sum;
  }
  for (; bytes > 0; bytes--, p++)
    crc = crc >> 8 ^ t->rows[0][(crc ^ *p) & 0xff];
  return ~crc;
}

/* ---- reading ---- */

static uint64_t number(const unsigned char *p, int bytes)
{
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; i--)
    value = value << 8 | p[i];
  return value;
}

/* Where the central directory lies. */
typedef struct directory {
  uint64_t offset, bytes, count;
} directory;

static const unsigned char *find_end(const hl_zip *z)
{
  if (z->bytes < END_BYTES)
    return NULL;
  const unsigned char *last = z->memory + z->bytes - END_BYTES;
  size_t most = z->bytes - END_BYTES;
  most = most < MOST_COMMENT_BYTES ? most : MOST_COMMENT_BYTES;
  for (size_t back = 0; back <= most; back++)
    if (number(last - back, 4) == END_MAGIC && number(last - back + 20, 2) == back)
      return last - back;
  return NULL;
}

/* The zip64 end record, whose place the locator just before the end record names; NULL if none. */
static const unsigned char *find_end64(const hl_zip *z, const unsigned char *end)
{
  if (end - z->memory < LOCATOR_BYTES || number(end - LOCATOR_BYTES, 4) != LOCATOR_MAGIC)
    return NULL;
  uint64_t offset = number(end - LOCATOR_BYTES + 8, 8);
  if (z->bytes < END64_BYTES || offset > z->bytes - END64_BYTES)
    return NULL;
  return number(z->memory + offset, 4) == END64_MAGIC ? z->memory + offset : NULL;
}

static bool find_directory(const hl_zip *z, directory *d, hl_io_error *e)
{
  const unsigned char *end = find_end(z);
  if (!end)
    return hl_io_fail(e, "not a zip archive, or truncated");
  const unsigned char *end64 = find_end64(z, end);
  d->count = end64 ? number(end64 + 32, 8) : number(end + 10, 2);
  d->bytes = end64 ? number(end64 + 40, 8) : number(end + 12, 4);
  d->offset = end64 ? number(end64 + 48, 8) : number(end + 16, 4);
  if (d->offset > z->bytes || d->bytes > z->bytes - d->offset || d->count > d->bytes / ENTRY_BYTES)
    return hl_io_fail(e, "the archive's directory lies outside the file");
  return true;
}

/* What a directory entry says, before its place in the file is known. */
typedef struct entry {
  uint64_t packed_bytes, bytes, offset;
} entry;

/* Replaces what stands in the zip64 field: only values that are 0xffffffff, in this order. */
static bool read_zip64(const unsigned char *extra, size_t bytes, entry *n)
{
  uint64_t *const values[] = {&n->bytes, &n->packed_bytes, &n->offset};
  const unsigned char *end = extra + bytes, *field = NULL;
  while (end - extra >= 4) {
    size_t size = number(extra + 2, 2);
    if (size > (size_t)(end - extra - 4))
      return false;
    if (number(extra, 2) == 1) {
      field = extra + 4;
      end = field + size;
      break;
    }
    extra += 4 + size;
  }
  for (int i = 0; i < 3; i++) {
    if (*values[i] != in_zip64 || !field)
      continue;
    if (end - field < 8)
      return false;
    *values[i] = number(field, 8);
    field += 8;
  }
  return true;
}

/* The data begins behind the local header, whose lengths may differ from the directory's. */
static bool place_member(const hl_zip *z, const entry *n, hl_zip_member *m)
{
  if (n->offset > z->bytes || z->bytes - n->offset < LOCAL_BYTES)
    return false;
  const unsigned char *local = z->memory + n->offset;
  size_t room = z->bytes - n->offset - LOCAL_BYTES;
  size_t names = number(local + 26, 2) + number(local + 28, 2);
  if (number(local, 4) != LOCAL_MAGIC || names > room || n->packed_bytes > room - names)
    return false;
  m->packed = local + LOCAL_BYTES + names;
  m->packed_bytes = n->packed_bytes;
  m->bytes = n->bytes;
  return true;
}

static size_t without_npy(const char *name, size_t bytes)
{
  return bytes >= 4 && memcmp(name + bytes - 4, ".npy", 4) == 0 ? bytes - 4 : bytes;
}

/* Reads the entry at *at and moves it to the next one. */
static bool read_entry(const hl_zip *z, const unsigned char **at, const unsigned char *end,
                       hl_zip_member *m)
{
  const unsigned char *p = *at;
  if (end - p < ENTRY_BYTES || number(p, 4) != ENTRY_MAGIC)
    return false;
  size_t name = number(p + 28, 2), extra = number(p + 30, 2), comment = number(p + 32, 2);
  if ((size_t)(end - p - ENTRY_BYTES) < name + extra + comment)
    return false;
  entry n = {number(p + 20, 4), number(p + 24, 4), number(p + 42, 4)};
  bool is_encrypted = number(p + 8, 2) & ENCRYPTED_FLAG;
  m->name = (const char *)p + ENTRY_BYTES;
  m->name_bytes = without_npy(m->name, name);
  m->method = is_encrypted ? -1 : (int)number(p + 10, 2);
  m->crc = (uint32_t)number(p + 16, 4);
  *at = p + ENTRY_BYTES + name + extra + comment;
  return read_zip64(p + ENTRY_BYTES + name, extra, &n) && place_member(z, &n, m);
}

static bool read_directory(hl_zip *z, hl_io_error *e)
{
  directory d = {0};
  if (!find_directory(z, &d, e))
    return false;
  const unsigned char *at = z->memory + d.offset, *end = at + d.bytes;
  z->members = calloc(d.count + 1, sizeof *z->members);
  if (!z->members)
    return hl_io_fail(e, "out of memory");
  for (; z->count < d.count; z->count++)
    if (!read_entry(z, &at, end, &z->members[z->count]))
      return hl_io_fail(e, "entry %zu of the archive's directory is corrupt", z->count);
  return true;
}

bool hl_zip_open_memory(hl_zip *z, void *memory, size_t bytes, hl_io_error *e)
{
  *z = (hl_zip){.memory = memory, .bytes = bytes};
  hl_crc_init(&z->crc);
  return read_directory(z, e);
}

bool hl_zip_open(hl_zip *z, const char *path, hl_inflate *inflate, hl_io_error *e)
{
  void *memory = NULL;
  size_t bytes = 0;
  hl_io_error why;
  *z = (hl_zip){0};
  if (!hl_io_read(path, &memory, &bytes, e))
    return false;
  bool ok = hl_zip_open_memory(z, memory, bytes, &why);
  z->inflate = inflate;
  return ok || hl_io_fail(e, "%.200s: %.300s", path, why.text);
}

void hl_zip_close(hl_zip *z)
{
  free(z->members);
  free(z->memory);
  z->members = NULL;
  z->memory = NULL;
  z->count = 0;
}

const hl_zip_member *hl_zip_find(const hl_zip *z, const char *name)
{
  size_t bytes = strlen(name);
  for (size_t i = z->count; i-- > 0;)
    if (z->members[i].name_bytes == bytes && memcmp(z->members[i].name, name, bytes) == 0)
      return &z->members[i];
  return NULL;
}

/* Unpacks into `out`, of m->bytes. */
static bool unpack(const hl_zip *z, const hl_zip_member *m, void *out, hl_io_error *e)
{
  bool is_stored = m->method == STORED && m->packed_bytes == m->bytes;
  if (is_stored && m->bytes > 0)
    memcpy(out, m->packed, m->bytes);
  else if (!is_stored && !z->inflate(m->packed, m->packed_bytes, out, m->bytes))
    return hl_io_fail(e, "its compressed data is corrupt");
  if (hl_crc(&z->crc, 0, out, m->bytes) != m->crc)
    return hl_io_fail(e, "its checksum is wrong");
  return true;
}

static bool can_unpack(const hl_zip *z, const hl_zip_member *m, hl_io_error *e)
{
  if (m->method == STORED && m->packed_bytes == m->bytes)
    return true;
  if (m->method == DEFLATED && !z->inflate)
    return hl_io_fail(e, "it is compressed; this program reads what numpy.savez writes");
  if (m->method == STORED || (m->method == DEFLATED && m->bytes / MOST_INFLATION > m->packed_bytes))
    return hl_io_fail(e, "its size is corrupt");
  return m->method == DEFLATED || hl_io_fail(e, "it is encrypted or packed in an unknown way");
}

static bool read_member(const hl_zip *z, const hl_zip_member *m, hl_npy *out, hl_io_error *e)
{
  if (!can_unpack(z, m, e))
    return false;
  void *memory = hl_io_alloc(m->bytes, e);
  if (!memory)
    return false;
  bool ok = unpack(z, m, memory, e) && hl_npy_read(memory, m->bytes, out, e);
  free(memory);
  return ok;
}

bool hl_zip_read(const hl_zip *z, const hl_zip_member *m, hl_npy *out, hl_io_error *e)
{
  hl_io_error why;
  if (read_member(z, m, out, &why))
    return true;
  int shown = m->name_bytes < 100 ? (int)m->name_bytes : 100;
  return hl_io_fail(e, "member '%.*s': %.400s", shown, m->name, why.text);
}

/* ---- writing ---- */

bool hl_zip_create(hl_zip_writer *w, const char *path, hl_io_error *e)
{
  *w = (hl_zip_writer){0};
  hl_crc_init(&w->crc);
  return hl_output_open(&w->output, path, e);
}

static unsigned char *put(unsigned char *p, uint64_t value, int bytes)
{
  for (int i = 0; i < bytes; i++, value >>= 8)
    *p++ = (unsigned char)value;
  return p;
}

static uint64_t short_form(uint64_t value)
{
  return value < in_zip64 ? value : in_zip64;
}

static void emit(hl_zip_writer *w, const void *data, size_t bytes)
{
  hl_output_write(&w->output, data, bytes);
  w->offset += bytes;
}

static unsigned char *directory_room(hl_zip_writer *w, size_t bytes)
{
  if (w->directory_room - w->directory_bytes < bytes) {
    size_t room = 2 * w->directory_room + bytes;
    unsigned char *larger = realloc(w->directory, room);
    if (!larger) {
      w->out_of_memory = true;
      return NULL;
    }
    w->directory = larger;
    w->directory_room = room;
  }
  return w->directory + w->directory_bytes;
}

/* A member being written: stored, so that it has one size. */
typedef struct written {
  const char *name; /* without .npy */
  uint32_t crc;
  uint64_t bytes, offset;
} written;

/* The fields that the local header and the directory entry share, from "version needed" to the
 * length of the name. */
static unsigned char *put_common(unsigned char *p, const written *m)
{
  p = put(p, m->bytes < in_zip64 ? 20 : 45, 2);
  p = put(p, UTF8_FLAG, 2);
  p = put(p, STORED, 2);
  p = put(p, 0, 2);
  p = put(p, DATE_1980, 2);
  p = put(p, m->crc, 4);
  p = put(p, short_form(m->bytes), 4);
  p = put(p, short_form(m->bytes), 4);
  return put(p, strlen(m->name) + 4, 2);
}

static void put_local(hl_zip_writer *w, const written *m)
{
  unsigned char header[LOCAL_BYTES], extra[20];
  bool is_large = m->bytes >= in_zip64;
  put(put_common(put(header, LOCAL_MAGIC, 4), m), is_large ? sizeof extra : 0, 2);
  put(put(put(put(extra, 1, 2), 16, 2), m->bytes, 8), m->bytes, 8);
  emit(w, header, sizeof header);
  emit(w, m->name, strlen(m->name));
  emit(w, ".npy", 4);
  emit(w, extra, is_large ? sizeof extra : 0);
}

/* The zip64 field of a directory entry, if it needs one. */
static unsigned char *put_zip64(unsigned char *p, const written *m)
{
  if (m->bytes >= in_zip64)
    p = put(put(p, m->bytes, 8), m->bytes, 8);
  if (m->offset >= in_zip64)
    p = put(p, m->offset, 8);
  return p;
}

static void put_entry(hl_zip_writer *w, const written *m)
{
  size_t name_bytes = strlen(m->name);
  unsigned char zip64[24];
  size_t large = (size_t)(put_zip64(zip64, m) - zip64), extra = large ? 4 + large : 0;
  unsigned char *p = directory_room(w, ENTRY_BYTES + name_bytes + 4 + extra);
  if (!p)
    return;
  p = put_common(put(put(p, ENTRY_MAGIC, 4), 45, 2), m);
  p = put(p, extra, 2);
  p = put(p, 0, 2 + 2 + 2 + 4); /* no comment, disk 0, no attributes */
  p = put(p, short_form(m->offset), 4);
  memcpy(p, m->name, name_bytes);
  memcpy(p + name_bytes, ".npy", 4);
  p += name_bytes + 4;
  if (large)
    p = put_zip64(put(put(p, 1, 2), large, 2), m);
  w->directory_bytes = (size_t)(p - w->directory);
  w->count++;
}

void hl_zip_add(hl_zip_writer *w, const char *name, const hl_npy *array)
{
  char text[HL_NPY_MAX_HEADER];
  size_t text_bytes = hl_npy_header(array, text);
  uint32_t crc = hl_crc(&w->crc, 0, text, text_bytes);
  written m = {.name = name,
               .crc = hl_crc(&w->crc, crc, array->data, array->bytes),
               .bytes = text_bytes + array->bytes,
               .offset = w->offset};
  put_local(w, &m);
  emit(w, text, text_bytes);
  emit(w, array->data, array->bytes);
  put_entry(w, &m);
}

static void put_end64(hl_zip_writer *w, uint64_t directory_offset)
{
  unsigned char record[END64_BYTES + LOCATOR_BYTES];
  unsigned char *p = put(put(record, END64_MAGIC, 4), END64_BYTES - 12, 8);
  p = put(put(put(p, 45, 2), 45, 2), 0, 8); /* versions, disks */
  p = put(put(p, w->count, 8), w->count, 8);
  p = put(put(p, w->directory_bytes, 8), directory_offset, 8);
  p = put(put(p, LOCATOR_MAGIC, 4), 0, 4);
  p = put(p, directory_offset + w->directory_bytes, 8);
  put(p, 1, 4);
  emit(w, record, sizeof record);
}

static void put_end(hl_zip_writer *w)
{
  unsigned char record[END_BYTES];
  uint64_t offset = w->offset, count = w->count < 0xffff ? w->count : 0xffff;
  emit(w, w->directory, w->directory_bytes);
  if (count == 0xffff || offset >= in_zip64 || w->directory_bytes >= in_zip64)
    put_end64(w, offset);
  unsigned char *p = put(put(record, END_MAGIC, 4), 0, 4);
  p = put(put(p, count, 2), count, 2);
  p = put(put(p, short_form(w->directory_bytes), 4), short_form(offset), 4);
  put(p, 0, 2);
  emit(w, record, sizeof record);
}

void hl_zip_cancel(hl_zip_writer *w)
{
  free(w->directory);
  w->directory = NULL;
  hl_output_cancel(&w->output);
}

bool hl_zip_finish(hl_zip_writer *w, hl_io_error *e)
{
  if (!w->out_of_memory)
    put_end(w);
  free(w->directory);
  w->directory = NULL;
  if (!w->out_of_memory)
    return hl_output_close(&w->output, e);
  hl_output_cancel(&w->output);
  return hl_io_fail(e, "out of memory");
}
