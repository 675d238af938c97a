/* npz.h - .npz archives with zlib behind them: what runtime/zip.h reads and writes, and deflated
 * members. */
#ifndef HL_NPZ_H
#define HL_NPZ_H

#include "runtime/zip.h"

/* The inflater for hl_zip_open and hl_arguments_load. */
hl_inflate hl_npz_inflate;

/* Opens an .npz whose members may be stored or deflated. Use hl_zip_find and hl_zip_read on it, and
 * hl_zip_close in any case. Archives are written by hl_zip_create. */
bool hl_npz_open(hl_zip *z, const char *path, hl_io_error *e);

/* Reads one member; false with a message when there is none of that name. */
bool hl_npz_read(const hl_zip *z, const char *name, hl_npy *out, hl_io_error *e);

#endif
