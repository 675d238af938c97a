/* npz.c - .npz archives with zlib behind them. */
#include "npz.h"

#include <limits.h>
#include <zlib.h>

/* zlib counts in unsigned int: both sides are handed over in pieces. */
static uInt piece(size_t left)
{
  return left < UINT_MAX ? (uInt)left : UINT_MAX;
}

static bool inflate_all(z_stream *s, size_t in_bytes, size_t out_bytes)
{
  int status = Z_OK;
  size_t in_left = in_bytes, out_left = out_bytes;
  while (status == Z_OK) {
    uInt in = piece(in_left), out = piece(out_left);
    s->avail_in = in;
    s->avail_out = out;
    status = inflate(s, Z_NO_FLUSH);
    in_left -= in - s->avail_in;
    out_left -= out - s->avail_out;
  }
  return status == Z_STREAM_END && out_left == 0;
}

bool hl_npz_inflate(const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
  z_stream s = {.next_in = (z_const Bytef *)in, .next_out = out};
  if (inflateInit2(&s, -MAX_WBITS) != Z_OK)
    return false;
  bool ok = inflate_all(&s, in_bytes, out_bytes);
  inflateEnd(&s);
  return ok;
}

bool hl_npz_open(hl_zip *z, const char *path, hl_io_error *e)
{
  return hl_zip_open(z, path, hl_npz_inflate, e);
}

bool hl_npz_read(const hl_zip *z, const char *name, hl_npy *out, hl_io_error *e)
{
  const hl_zip_member *m = hl_zip_find(z, name);
  return m ? hl_zip_read(z, m, out, e) : hl_io_fail(e, "the archive has no member '%.200s'", name);
}
