/* test_npz.c - .npz archives, and arguments and results that come from them and go to them. */
#define _GNU_SOURCE
#include "runtime/arguments.h"
#include "src/npz.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "/tmp/hl-npz-XXXXXX", path[100];
static hl_io_error error;
static hl_zip zip;
static hl_npy array;

static void set_up(void)
{
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/a.npz", folder);
}

static void tear_down(void)
{
  hl_zip_close(&zip);
  hl_npy_free(&array);
  unlink(path);
  ck_assert_msg(rmdir(folder) == 0, "something was left in %s", folder);
}

/* An archive of one-dimensional f32 arrays; array i is i, i+1, ... and has `items` items. */
static void write_archive(const char *const *names, int count, int64_t items)
{
  hl_zip_writer w;
  float *data = malloc(sizeof *data * (size_t)items);
  ck_assert(data && hl_zip_create(&w, path, &error));
  for (int i = 0; i < count; i++) {
    hl_npy a = {'f', 4, 1, {items}, data, 4 * (size_t)items, NULL};
    for (int64_t j = 0; j < items; j++)
      data[j] = (float)(i + j);
    hl_zip_add(&w, names[i], &a);
  }
  ck_assert_msg(hl_zip_finish(&w, &error), "%s", error.text);
  free(data);
}

START_TEST(what_is_written_is_read)
{
  static const char *const names[] = {"x", "a/b", ""};
  write_archive(names, 3, 1000);
  ck_assert_msg(hl_npz_open(&zip, path, &error), "%s", error.text);
  ck_assert_uint_eq(zip.count, 3);
  for (int i = 0; i < 3; i++) {
    ck_assert_msg(hl_npz_read(&zip, names[i], &array, &error), "%s", error.text);
    ck_assert_int_eq(array.dims[0], 1000);
    ck_assert(((float *)array.data)[999] == (float)(i + 999));
    hl_npy_free(&array);
  }
  ck_assert(!hl_npz_read(&zip, "y", &array, &error));
  ck_assert_str_eq(error.text, "the archive has no member 'y'");
}
END_TEST

START_TEST(last_of_equal_names_counts)
{
  static const char *const names[] = {"x", "x"};
  write_archive(names, 2, 1);
  ck_assert(hl_npz_open(&zip, path, &error) && hl_npz_read(&zip, "x", &array, &error));
  ck_assert(*(float *)array.data == 1);
}
END_TEST

START_TEST(more_members_than_16_bits_count)
{
  enum { MANY = 66000 };
  static char texts[MANY][16];
  static const char *names[MANY];
  for (int i = 0; i < MANY; i++) {
    snprintf(texts[i], sizeof texts[i], "m%d", i);
    names[i] = texts[i];
  }
  write_archive(names, MANY, 1);
  ck_assert_msg(hl_npz_open(&zip, path, &error), "%s", error.text);
  ck_assert_uint_eq(zip.count, MANY);
  ck_assert(hl_npz_read(&zip, "m65999", &array, &error));
  ck_assert(*(float *)array.data == 65999);
}
END_TEST

/* ---- archives made by hand ---- */

static unsigned char bytes[4096];
static size_t size;

static void put(uint64_t value, int count)
{
  for (int i = 0; i < count; i++, value >>= 8)
    bytes[size++] = (unsigned char)value;
}

static void put_bytes(const void *data, size_t count)
{
  memcpy(bytes + size, data, count);
  size += count;
}

/* How the one member "x.npy" is told of. */
typedef struct recipe {
  bool is_deflated, is_zip64, has_descriptor;
  unsigned flags, method_xor, crc_xor;
  int size_change;
} recipe;

static size_t make_npy(unsigned char *out)
{
  static const float data[] = {1, 2, 3, 4};
  hl_npy a = {.kind = 'f', .item_bytes = 4, .rank = 1, .dims = {4}};
  size_t n = hl_npy_header(&a, (char *)out);
  memcpy(out + n, data, sizeof data);
  return n + sizeof data;
}

static size_t pack(const unsigned char *in, size_t in_bytes, unsigned char *out, size_t room)
{
  z_stream s = {.next_in = (z_const Bytef *)in, .avail_in = (uInt)in_bytes};
  s.next_out = out;
  s.avail_out = (uInt)room;
  ck_assert_int_eq(deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  ck_assert_int_eq(deflate(&s, Z_FINISH), Z_STREAM_END);
  deflateEnd(&s);
  return room - s.avail_out;
}

/* The fields that both headers share, method to the length of the name. */
static void put_common(const recipe *r, uint32_t crc, uint64_t packed, uint64_t whole)
{
  put((r->is_deflated ? 8 : 0) ^ r->method_xor, 2);
  put(0, 4);
  put(crc, 4);
  put(packed, 4);
  put(whole, 4);
  put(5, 2);
}

static void make_archive(const recipe *r)
{
  unsigned char npy[HL_NPY_MAX_HEADER], packed[512];
  size_t npy_bytes = make_npy(npy), packed_bytes = npy_bytes;
  if (r->is_deflated)
    packed_bytes = pack(npy, npy_bytes, packed, sizeof packed);
  uint32_t crc = (uint32_t)crc32(0, npy, (uInt)npy_bytes) ^ r->crc_xor;
  size_t whole = npy_bytes + (size_t)r->size_change;
  unsigned flags = r->flags | (r->has_descriptor ? 8 : 0);
  size = 0;
  put(0x04034b50, 4);
  put(20, 2);
  put(flags, 2);
  if (r->has_descriptor)
    put_common(r, 0, 0, 0);
  else
    put_common(r, crc, packed_bytes, whole);
  put(0, 2);
  put_bytes("x.npy", 5);
  put_bytes(r->is_deflated ? packed : npy, packed_bytes);
  size_t directory = size;
  put(0x02014b50, 4);
  put(20 | 20 << 16, 4);
  put(flags, 2);
  put_common(r, crc, r->is_zip64 ? 0xffffffff : packed_bytes, r->is_zip64 ? 0xffffffff : whole);
  put(r->is_zip64 ? 28 : 0, 2);
  put(0, 10);
  put(r->is_zip64 ? 0xffffffff : 0, 4);
  put_bytes("x.npy", 5);
  if (r->is_zip64) {
    put(1 | 24 << 16, 4);
    put(whole, 8);
    put(packed_bytes, 8);
    put(0, 8);
  }
  size_t directory_bytes = size - directory;
  put(0x06054b50, 4);
  put(0, 4);
  put(1 | 1 << 16, 4);
  put(directory_bytes, 4);
  put(directory, 4);
  put(0, 2);
}

/* Opens a copy of exactly `count` bytes. */
static bool open_bytes(size_t count)
{
  void *copy = malloc(count ? count : 1);
  memcpy(copy, bytes, count);
  bool ok = hl_zip_open_memory(&zip, copy, count, &error);
  zip.inflate = hl_npz_inflate;
  return ok;
}

static bool read_bytes(size_t count)
{
  bool ok = open_bytes(count) && hl_npz_read(&zip, "x", &array, &error);
  hl_zip_close(&zip);
  return ok;
}

static const recipe fine[] = {
    {0},
    {.is_deflated = true},
    {.is_zip64 = true},
    {.has_descriptor = true},
    {.is_deflated = true, .is_zip64 = true, .has_descriptor = true, .flags = 0x800},
};

START_TEST(reads_each_form)
{
  make_archive(&fine[_i]);
  ck_assert_msg(read_bytes(size), "%s", error.text);
  ck_assert_uint_eq(array.bytes, 16);
  ck_assert(((float *)array.data)[3] == 4);
}
END_TEST

static const struct {
  recipe r;
  const char *want;
} corrupt[] = {
    {{.crc_xor = 1}, "member 'x': its checksum is wrong"},
    {{.is_deflated = true, .crc_xor = 1}, "its checksum is wrong"},
    {{.is_deflated = true, .size_change = 1}, "its compressed data is corrupt"},
    {{.is_deflated = true, .size_change = -1}, "its compressed data is corrupt"},
    {{.size_change = 1}, "its size is corrupt"},
    {{.is_deflated = true, .size_change = 1 << 30}, "its size is corrupt"},
    {{.flags = 1}, "it is encrypted or packed in an unknown way"},
    {{.method_xor = 12}, "it is encrypted or packed in an unknown way"},
};

START_TEST(refuses_corrupt_members)
{
  make_archive(&corrupt[_i].r);
  ck_assert(!read_bytes(size));
  ck_assert_msg(strstr(error.text, corrupt[_i].want), "%s", error.text);
}
END_TEST

/* Cut anywhere, and with any byte changed: a result or a message, which sanitizers watch. */
START_TEST(any_bytes)
{
  make_archive(&fine[4]);
  for (size_t i = 0; i < size; i++)
    ck_assert(!read_bytes(i));
  for (size_t i = 0; i < size; i++)
    for (unsigned char change = 1; change; change = (unsigned char)(change << 1)) {
      bytes[i] ^= change;
      if (read_bytes(size))
        hl_npy_free(&array);
      bytes[i] ^= change;
    }
  ck_assert(read_bytes(size));
}
END_TEST

START_TEST(comment_at_the_end)
{
  make_archive(&fine[0]);
  bytes[size - 2] = 3;
  put_bytes("abc", 3);
  ck_assert_msg(read_bytes(size), "%s", error.text);
}
END_TEST

START_TEST(compressed_needs_an_inflater)
{
  make_archive(&fine[1]);
  ck_assert(open_bytes(size));
  zip.inflate = NULL;
  ck_assert(!hl_npz_read(&zip, "x", &array, &error));
  ck_assert(strstr(error.text, "compressed"));
}
END_TEST

/* ---- arguments and results ---- */

static const int64_t d3[] = {3}, d4[] = {4};
static const hlo_exe_array params[] = {{"x", NULL, "f32", 1, d3, 12},
                                       {"Arg_1", "Arg_1.2", "f32", 1, d3, 12}};

static bool load(const char *const *paths, int count, hl_arguments *a)
{
  hl_argument_source s = {.params = params, .param_count = 2, .paths = paths, .path_count = count};
  s.inflate = hl_npz_inflate;
  return hl_arguments_load(&s, a, &error);
}

static const struct {
  const char *names[3];
  float first, second;
} namings[] = {{{"x", "Arg_1"}, 0, 1},
               {{"Arg_1.2", "x"}, 1, 0},
               {{"arr_0", "arr_1"}, 0, 1},
               {{"arr_1", "arr_0", "Arg_1"}, 1, 2},
               {{"Arg_1", "Arg_1.2", "x"}, 2, 0}};

START_TEST(members_by_name_or_number)
{
  const char *paths[] = {path};
  hl_arguments a;
  write_archive(namings[_i].names, namings[_i].names[2] ? 3 : 2, 3);
  ck_assert_msg(load(paths, 1, &a), "%s", error.text);
  ck_assert(*(float *)a.data[0] == namings[_i].first);
  ck_assert(*(float *)a.data[1] == namings[_i].second);
  hl_arguments_free(&a);
}
END_TEST

START_TEST(arguments_must_fit)
{
  static const char *const one[] = {"x"}, *const both[] = {"x", "Arg_1"};
  const char *paths[] = {path, path, path};
  hl_arguments a;
  write_archive(one, 1, 3);
  ck_assert(!load(paths, 1, &a));
  ck_assert(strstr(error.text, "no member 'Arg_1' or 'arr_1'"));
  hl_arguments_free(&a);
  write_archive(both, 2, 4);
  ck_assert(!load(paths, 1, &a));
  ck_assert(strstr(error.text, "holds NumPy f4[4], but parameter 0, x, is f32[3]"));
  hl_arguments_free(&a);
}
END_TEST

/* What the archive does not name comes from the files behind it. */
START_TEST(archives_and_files_together)
{
  static const char *const one[] = {"x"}, *const both[] = {"x", "Arg_1"}, *const numbered[] = {"x", "arr_1"};
  const char *paths[] = {path, path, path}, *files[] = {"a.npy", "b.npy", "c.npy"};
  hl_arguments a;
  write_archive(one, 1, 3);
  ck_assert(!load(paths, 2, &a));
  ck_assert_msg(strstr(error.text, "not a .npy file") != NULL, "%s", error.text);
  hl_arguments_free(&a);
  write_archive(numbered, 2, 3);
  ck_assert(!load(paths, 2, &a)); /* numbers count only where there are no files */
  ck_assert_msg(strstr(error.text, "not a .npy file") != NULL, "%s", error.text);
  hl_arguments_free(&a);
  write_archive(both, 2, 3);
  ck_assert(!load(paths, 2, &a));
  ck_assert_msg(strstr(error.text, "every argument has an array already") != NULL, "%s", error.text);
  hl_arguments_free(&a);
  ck_assert(!load(files, 3, &a));
  ck_assert_str_eq(error.text, "the module takes 2 arguments, not 3");
  hl_arguments_free(&a);
}
END_TEST

START_TEST(random_arguments)
{
  hl_argument_source s = {.params = params, .param_count = 2, .is_random = true, .seed = 7};
  hl_arguments a, b;
  ck_assert(hl_arguments_load(&s, &a, &error));
  s.seed = 8;
  ck_assert(hl_arguments_load(&s, &b, &error));
  ck_assert_mem_eq(a.data[1], b.data[0], 12);
  ck_assert_mem_ne(a.data[0], a.data[1], 12);
  hl_arguments_free(&a);
  hl_arguments_free(&b);
}
END_TEST

static float values[] = {1, 2, 3, 4};
static int8_t flags[] = {1, 0, 0, 1};
static void *result_data[] = {values, flags};
static const hlo_exe_array results[] = {{"result0", NULL, "f32", 1, d4, 16},
                                        {"result1", NULL, "pred", 1, d4, 4}};
static const hl_results both_results = {results, 2, result_data};

START_TEST(results_into_a_folder)
{
  char out[130], name[150];
  snprintf(out, sizeof out, "%s/p/q/", folder);
  ck_assert_msg(hl_results_write(&both_results, out, &error), "%s", error.text);
  snprintf(name, sizeof name, "%s1.npy", out);
  ck_assert(hl_npy_load(name, &array, &error));
  ck_assert_int_eq(array.kind, 'b');
  ck_assert_mem_eq(array.data, flags, 4);
  unlink(name);
  snprintf(name, sizeof name, "%s0.npy", out);
  ck_assert_int_eq(unlink(name), 0);
  ck_assert_int_eq(rmdir(out), 0);
  snprintf(out, sizeof out, "%s/p", folder);
  ck_assert_int_eq(rmdir(out), 0);
}
END_TEST

START_TEST(results_into_an_archive)
{
  ck_assert_msg(hl_results_write(&both_results, path, &error), "%s", error.text);
  ck_assert(hl_npz_open(&zip, path, &error) && hl_npz_read(&zip, "result0", &array, &error));
  ck_assert_mem_eq(array.data, values, sizeof values);
}
END_TEST

static const struct {
  const char *path;
  int count;
  hl_result_form form;
} outputs[] = {{"out/", 2, HL_RESULTS_FOLDER}, {"/tmp", 2, HL_RESULTS_FOLDER},
               {"x.npz", 2, HL_RESULTS_NPZ},   {"x.npy", 1, HL_RESULTS_NPY},
               {"x.npy", 2, HL_RESULTS_BAD},   {"x.txt", 1, HL_RESULTS_BAD},
               {"", 1, HL_RESULTS_BAD},        {"-", 2, HL_RESULTS_PRINTED},
               {"./-", 1, HL_RESULTS_BAD}};

START_TEST(output_forms)
{
  ck_assert_int_eq(hl_result_form_of(outputs[_i].path, outputs[_i].count, &error),
                   outputs[_i].form);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof *(table))

int main(void)
{
  Suite *suite = suite_create("npz");
  TCase *t = tcase_create("npz");
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_set_timeout(t, 20);
  tcase_add_test(t, what_is_written_is_read);
  tcase_add_test(t, last_of_equal_names_counts);
  tcase_add_test(t, more_members_than_16_bits_count);
  tcase_add_loop_test(t, reads_each_form, 0, ROWS(fine));
  tcase_add_loop_test(t, refuses_corrupt_members, 0, ROWS(corrupt));
  tcase_add_test(t, any_bytes);
  tcase_add_test(t, comment_at_the_end);
  tcase_add_test(t, compressed_needs_an_inflater);
  tcase_add_loop_test(t, members_by_name_or_number, 0, ROWS(namings));
  tcase_add_test(t, arguments_must_fit);
  tcase_add_test(t, archives_and_files_together);
  tcase_add_test(t, random_arguments);
  tcase_add_test(t, results_into_a_folder);
  tcase_add_test(t, results_into_an_archive);
  tcase_add_loop_test(t, output_forms, 0, ROWS(outputs));
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
