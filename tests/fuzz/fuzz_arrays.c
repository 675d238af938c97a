/* fuzz_arrays - any bytes as a .npy file, as a .npz archive, and as the text of values. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/npy.h"
#include "runtime/values.h"
#include "runtime/zip.h"

static void *copy_of(const uint8_t *data, size_t size)
{
  char *copy = malloc(size + 1);
  if (!copy)
    abort();
  memcpy(copy, data, size);
  copy[size] = '\0';
  return copy;
}

static void read_npy(const uint8_t *data, size_t size)
{
  hl_npy array;
  hl_io_error error;
  if (hl_npy_read(data, size, &array, &error))
    hl_npy_free(&array);
}

static void read_npz(const uint8_t *data, size_t size)
{
  hl_zip archive;
  hl_io_error error;
  bool is_open = hl_zip_open_memory(&archive, copy_of(data, size), size, &error);
  for (size_t i = 0; is_open && i < archive.count; i++) {
    hl_npy array;
    if (hl_zip_read(&archive, &archive.members[i], &array, &error))
      hl_npy_free(&array);
  }
  hl_zip_close(&archive);
}

static void read_values(const uint8_t *data, size_t size)
{
  static const char *const types[] = {"pred", "s4", "u8", "s64", "f16", "bf16", "f32", "f64", "f8e5m2", "c64", "c128"};
  char *text = copy_of(data, size);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    unsigned char item[16];
    const char *at = text;
    while (hl_value_parse(hl_value_type_find(types[i]), &at, item))
      ;
  }
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  read_npy(data, size);
  read_npz(data, size);
  read_values(data, size);
  return 0;
}
