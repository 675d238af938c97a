/* npy.c - NumPy's .npy arrays, from and to memory and files.
 *
 * A file is 6 magic bytes, two of version, a little-endian header length (2 bytes in version 1,
 * else 4), and the header: a Python dictionary display with the keys descr, fortran_order and
 * shape, each once, in any order. The parser takes what ast.literal_eval takes of such a display,
 * and the L behind integers that Python 2 wrote.
 */
#include "npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 6, PREAMBLE_BYTES = 10, MOST_HEADER_BYTES = 65535, GROWTH_DIGITS = 21 };

static const char magic[] = "\x93NUMPY";

typedef struct header {
  hl_npy array; /* without data */
  bool is_fortran, is_big_endian;
  size_t data_offset;
} header;

/* ---- the header's text ---- */

typedef struct cursor {
  const char *at, *end;
  hl_io_error *error;
} cursor;

static void skip_blanks(cursor *c)
{
  while (c->at < c->end && strchr(" \t\r\n\f", *c->at) && *c->at)
    c->at++;
}

/* Takes `symbol`, after blanks, if it is next. */
static bool take(cursor *c, char symbol)
{
  skip_blanks(c);
  if (c->at == c->end || *c->at != symbol)
    return false;
  c->at++;
  return true;
}

static bool want(cursor *c, char symbol)
{
  return take(c, symbol) || hl_io_fail(c->error, "malformed .npy header: expected '%c'", symbol);
}

static bool take_word(cursor *c, const char *word)
{
  size_t n = strlen(word);
  skip_blanks(c);
  if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
    return false;
  c->at += n;
  return true;
}

/* A quoted string of printable ASCII without escapes, copied into `out`. */
static bool read_string(cursor *c, char *out, size_t size)
{
  skip_blanks(c);
  char quote = c->at < c->end ? *c->at : '\0';
  if (quote != '\'' && quote != '"')
    return hl_io_fail(c->error, "malformed .npy header: expected a string");
  const char *begin = ++c->at;
  while (c->at < c->end && *c->at != quote && *c->at != '\\' && *c->at >= ' ' && *c->at <= '~')
    c->at++;
  size_t n = (size_t)(c->at - begin);
  if (c->at == c->end || *c->at != quote || n >= size)
    return hl_io_fail(c->error, "malformed .npy header: bad string");
  memcpy(out, begin, n);
  out[n] = '\0';
  c->at++;
  return true;
}

static bool is_digit(char symbol)
{
  return symbol >= '0' && symbol <= '9';
}

static bool read_dimension(cursor *c, int64_t *out)
{
  skip_blanks(c);
  int64_t value = 0;
  const char *begin = c->at;
  for (; c->at < c->end && is_digit(*c->at); c->at++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *c->at - '0', &value))
      return hl_io_fail(c->error, "dimension is too large");
  bool has_leading_zero = c->at - begin > 1 && *begin == '0' && value != 0;
  if (c->at == begin || has_leading_zero)
    return hl_io_fail(c->error, "malformed .npy header: expected a dimension, 0 or more");
  if (c->at < c->end && *c->at == 'L')
    c->at++;
  *out = value;
  return true;
}

/* A tuple: one dimension needs its comma, as in Python. */
static bool read_shape(cursor *c, hl_npy *a)
{
  bool comma = true;
  if (!want(c, '('))
    return false;
  for (a->rank = 0; !take(c, ')'); a->rank++) {
    if (!comma)
      return want(c, ',');
    if (a->rank == HL_NPY_MAX_RANK)
      return hl_io_fail(c->error, "more than %d dimensions", HL_NPY_MAX_RANK);
    if (!read_dimension(c, &a->dims[a->rank]))
      return false;
    comma = take(c, ',');
  }
  if (a->rank == 1 && !comma)
    return hl_io_fail(c->error, "malformed .npy header: the shape is no tuple");
  return true;
}

static bool is_supported(char kind, int bytes)
{
  static const struct {
    char kind;
    const char *sizes; /* as bytes */
  } kinds[] = {{'b', "\1"},      {'i', "\1\2\4\10"}, {'u', "\1\2\4\10"},
               {'f', "\2\4\10"}, {'c', "\10\20"},    {'V', "\1\2"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].kind == kind)
      return bytes > 0 && bytes <= 16 && strchr(kinds[i].sizes, bytes);
  return false;
}

/* [<>|=] KIND BYTES, or "?", another spelling of b1. */
static bool read_type(cursor *c, header *h)
{
  char text[32];
  skip_blanks(c);
  if (c->at < c->end && *c->at == '[')
    return hl_io_fail(c->error, "structured .npy types are not supported");
  if (!read_string(c, text, sizeof text))
    return false;
  const char *p = text + (*text && strchr("<>|=", *text) ? 1 : 0);
  int bytes = 0;
  if (strcmp(p, "?") == 0)
    p = "b1";
  for (const char *d = p + (*p != '\0'); bytes < 100 && *d; d++)
    bytes = is_digit(*d) ? 10 * bytes + (*d - '0') : 100;
  if (!is_supported(*p, bytes))
    return hl_io_fail(c->error, "type '%s' is not supported", text);
  h->array.kind = *p;
  h->array.item_bytes = bytes;
  h->is_big_endian = *text == '>' && *p != 'V';
  return true;
}

static bool read_bool(cursor *c, bool *out)
{
  *out = take_word(c, "True");
  return *out || take_word(c, "False") ||
         hl_io_fail(c->error, "malformed .npy header: expected True or False");
}

enum { DESCR = 1, FORTRAN_ORDER = 2, SHAPE = 4, ALL_KEYS = 7 };

static unsigned key_bit(const char *key)
{
  return strcmp(key, "descr") == 0           ? DESCR
         : strcmp(key, "fortran_order") == 0 ? FORTRAN_ORDER
         : strcmp(key, "shape") == 0         ? SHAPE
                                             : 0;
}

static bool read_value(cursor *c, unsigned key, header *h)
{
  return key == DESCR           ? read_type(c, h)
         : key == FORTRAN_ORDER ? read_bool(c, &h->is_fortran)
                                : read_shape(c, &h->array);
}

static bool read_dictionary(cursor *c, header *h)
{
  unsigned seen = 0;
  bool comma = true;
  if (!want(c, '{'))
    return false;
  while (!take(c, '}')) {
    char key[16];
    if (!comma)
      return want(c, ',');
    if (!read_string(c, key, sizeof key) || !want(c, ':'))
      return false;
    unsigned bit = key_bit(key);
    if (bit == 0 || (seen & bit))
      return hl_io_fail(c->error, "malformed .npy header: key '%s'", key);
    seen |= bit;
    if (!read_value(c, bit, h))
      return false;
    comma = take(c, ',');
  }
  skip_blanks(c);
  if (seen != ALL_KEYS || c->at != c->end)
    return hl_io_fail(c->error, "malformed .npy header: needs descr, fortran_order and shape");
  return true;
}

/* ---- the file ---- */

bool hl_npy_size(const int64_t *dims, int rank, int item_bytes, size_t *bytes)
{
  bool is_empty = false;
  for (int i = 0; i < rank; i++) {
    if (dims[i] < 0)
      return false;
    is_empty |= dims[i] == 0;
  }
  size_t size = (size_t)item_bytes;
  for (int i = 0; i < rank && !is_empty; i++)
    if (__builtin_mul_overflow(size, (size_t)dims[i], &size) || size > PTRDIFF_MAX)
      return false;
  *bytes = is_empty ? 0 : size;
  return true;
}

/* Finds the header's text: `c` is set to it, and h->data_offset behind it. */
static bool find_header(const unsigned char *m, size_t bytes, cursor *c, header *h)
{
  if (bytes < PREAMBLE_BYTES || memcmp(m, magic, MAGIC_BYTES) != 0)
    return hl_io_fail(c->error, "not a .npy file");
  if (m[6] < 1 || m[6] > 3 || m[7] != 0)
    return hl_io_fail(c->error, ".npy version %d.%d is not supported", m[6], m[7]);
  size_t begin = m[6] == 1 ? PREAMBLE_BYTES : PREAMBLE_BYTES + 2;
  if (bytes < begin)
    return hl_io_fail(c->error, "truncated .npy header");
  size_t length = m[8] | (size_t)m[9] << 8;
  if (m[6] > 1)
    length |= (size_t)m[10] << 16 | (size_t)m[11] << 24;
  if (length > MOST_HEADER_BYTES)
    return hl_io_fail(c->error, ".npy header of %zu bytes is too long", length);
  if (bytes - begin < length)
    return hl_io_fail(c->error, "truncated .npy header");
  c->at = (const char *)m + begin;
  c->end = c->at + length;
  h->data_offset = begin + length;
  return true;
}

static bool read_header(const void *memory, size_t bytes, header *h, hl_io_error *e)
{
  *h = (header){0};
  cursor c = {.error = e};
  if (!find_header(memory, bytes, &c, h) || !read_dictionary(&c, h))
    return false;
  hl_npy *a = &h->array;
  if (!hl_npy_size(a->dims, a->rank, a->item_bytes, &a->bytes))
    return hl_io_fail(e, "the array's size overflows");
  if (bytes - h->data_offset < a->bytes)
    return hl_io_fail(e, "truncated: the array has %zu bytes, the file %zu", a->bytes,
                      bytes - h->data_offset);
  return true;
}

/* Row-major copy of a column-major array. The last dimension is the loop inside; `index` counts
 * through the others, with the source offset kept beside it. */
static void copy_fortran(const hl_npy *a, const unsigned char *from, unsigned char *to)
{
  size_t item = (size_t)a->item_bytes, stride[HL_NPY_MAX_RANK], offset = 0;
  int64_t index[HL_NPY_MAX_RANK] = {0};
  int last = a->rank - 1;
  stride[0] = item;
  for (int i = 1; i <= last; i++)
    stride[i] = stride[i - 1] * (size_t)a->dims[i - 1];
  for (unsigned char *end = to + a->bytes; to < end;) {
    for (int64_t j = 0; j < a->dims[last]; j++, to += item)
      memcpy(to, from + offset + (size_t)j * stride[last], item);
    for (int i = last - 1; i >= 0; i--) {
      offset += stride[i];
      if (++index[i] < a->dims[i])
        break;
      offset -= stride[i] * (size_t)a->dims[i];
      index[i] = 0;
    }
  }
}

static void swap_bytes(hl_npy *a)
{
  size_t part = (size_t)(a->kind == 'c' ? a->item_bytes / 2 : a->item_bytes);
  unsigned char *data = a->data;
  for (size_t at = 0; at < a->bytes; at += part)
    for (size_t i = 0; i < part / 2; i++) {
      unsigned char byte = data[at + i];
      data[at + i] = data[at + part - 1 - i];
      data[at + part - 1 - i] = byte;
    }
}

static bool copy_data(const unsigned char *memory, const header *h, hl_npy *out, hl_io_error *e)
{
  hl_npy a = h->array;
  a.data = a.owner = hl_io_alloc(a.bytes, e);
  if (!a.data)
    return false;
  const unsigned char *from = memory + h->data_offset;
  if (h->is_fortran && a.rank > 1)
    copy_fortran(&a, from, a.data);
  else if (a.bytes > 0)
    memcpy(a.data, from, a.bytes);
  if (h->is_big_endian)
    swap_bytes(&a);
  *out = a;
  return true;
}

bool hl_npy_read(const void *memory, size_t bytes, hl_npy *out, hl_io_error *e)
{
  header h;
  return read_header(memory, bytes, &h, e) && copy_data(memory, &h, out, e);
}

/* Keeps the file's own memory where its data can stay as it is. NumPy aligns data to 64 bytes;
 * older versions to 16, which moves it to the front. */
static bool adopt(unsigned char *memory, size_t bytes, hl_npy *out, hl_io_error *e)
{
  header h;
  if (!read_header(memory, bytes, &h, e))
    return false;
  if (h.is_big_endian || (h.is_fortran && h.array.rank > 1)) {
    bool ok = copy_data(memory, &h, out, e);
    if (ok)
      free(memory);
    return ok;
  }
  bool is_aligned = h.data_offset % 64 == 0;
  if (!is_aligned)
    memmove(memory, memory + h.data_offset, h.array.bytes);
  h.array.data = is_aligned ? memory + h.data_offset : memory;
  h.array.owner = memory;
  *out = h.array;
  return true;
}

bool hl_npy_load(const char *path, hl_npy *out, hl_io_error *e)
{
  void *memory = NULL;
  size_t bytes = 0;
  hl_io_error why;
  if (!hl_io_read(path, &memory, &bytes, e))
    return false;
  if (adopt(memory, bytes, out, &why))
    return true;
  free(memory);
  return hl_io_fail(e, "%.200s: %.300s", path, why.text);
}

void hl_npy_free(hl_npy *a)
{
  free(a->owner);
  *a = (hl_npy){0};
}

/* ---- writing ---- */

/* NumPy leaves blanks so that the first dimension may grow in place to GROWTH_DIGITS digits. */
static int print_dictionary(const hl_npy *a, char *out, size_t size)
{
  char order = a->item_bytes == 1 || a->kind == 'V' ? '|' : '<';
  int n = snprintf(out, size, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (", order,
                   a->kind, a->item_bytes);
  int first = 0;
  for (int i = 0; i < a->rank; i++) {
    int begin = n;
    n += snprintf(out + n, size - (size_t)n, i ? ", %lld" : "%lld", (long long)a->dims[i]);
    first = i == 0 ? n - begin : first;
  }
  n += snprintf(out + n, size - (size_t)n, "%s), }", a->rank == 1 ? "," : "");
  if (a->rank > 0)
    n += snprintf(out + n, size - (size_t)n, "%*s", GROWTH_DIGITS - first, "");
  return n;
}

size_t hl_npy_header(const hl_npy *a, char *out)
{
  size_t n = PREAMBLE_BYTES;
  n += (size_t)print_dictionary(a, out + n, HL_NPY_MAX_HEADER - n);
  size_t blanks = 64 - (n + 1) % 64;
  memset(out + n, ' ', blanks);
  n += blanks;
  out[n++] = '\n';
  size_t length = n - PREAMBLE_BYTES;
  memcpy(out, magic, MAGIC_BYTES);
  out[6] = 1;
  out[7] = 0;
  out[8] = (char)(length & 0xff);
  out[9] = (char)(length >> 8);
  return n;
}

bool hl_npy_save(const char *path, const hl_npy *a, hl_io_error *e)
{
  char text[HL_NPY_MAX_HEADER];
  hl_output o;
  if (!hl_output_open(&o, path, e))
    return false;
  hl_output_write(&o, text, hl_npy_header(a, text));
  hl_output_write(&o, a->data, a->bytes);
  return hl_output_close(&o, e);
}
