/* test_npy.c - .npy arrays: what is read, what is refused, what is written; values as text. */
#define _GNU_SOURCE
#include "runtime/npy.h"
#include "runtime/print.h"
#include "runtime/values.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files made by hand ---- */

static unsigned char file[70000];

/* Version `version`.0 with this header text and these data; returns the size. */
static size_t make_file(int version, const char *text, const void *data, size_t bytes)
{
  size_t length = strlen(text), n = version == 1 ? 10 : 12;
  memcpy(file, "\x93NUMPY", 6);
  file[6] = (unsigned char)version;
  file[7] = 0;
  for (size_t i = 8; i < n; i++)
    file[i] = (unsigned char)(length >> (8 * (i - 8)));
  memcpy(file + n, text, length);
  if (bytes > 0)
    memcpy(file + n + length, data, bytes);
  return n + length + bytes;
}

static hl_npy array;
static hl_io_error error;

static void forget(void)
{
  hl_npy_free(&array);
}

/* Reads an exact copy, so that AddressSanitizer sees a read beyond the end. */
static bool read_file(size_t bytes)
{
  void *copy = malloc(bytes ? bytes : 1);
  ck_assert_ptr_nonnull(copy);
  memcpy(copy, file, bytes);
  bool ok = hl_npy_read(copy, bytes, &array, &error);
  free(copy);
  return ok;
}

static const unsigned char count16[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static const struct {
  const char *text;
  char kind;
  int item_bytes, rank;
  size_t bytes;
  unsigned char first[16];
} good[] = {
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n",
     'f',
     4,
     2,
     16,
     {1, 2, 3, 4, 5}},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n",
     'f',
     4,
     2,
     16,
     {1, 2, 3, 4, 9, 10, 11, 12, 5, 6, 7, 8, 13}},
    {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", 'f', 4, 1, 8, {4, 3, 2, 1, 8, 7}},
    {"{'descr': '>c8', 'fortran_order': False, 'shape': (2,)}", 'c', 8, 1, 16, {4, 3, 2, 1, 8, 7}},
    {"{'descr': '>i2', 'fortran_order': True, 'shape': (2,2)}",
     'i',
     2,
     2,
     8,
     {2, 1, 6, 5, 4, 3, 8, 7}},
    {"{\"shape\":(4L,),\"fortran_order\":False,\"descr\":\"|u1\"}", 'u', 1, 1, 4, {1, 2, 3, 4}},
    {"{'descr':'|b1','fortran_order':False,'shape':()}", 'b', 1, 0, 1, {1}},
    {"{'descr':'?','fortran_order':False,'shape':(1,1,1,)}", 'b', 1, 3, 1, {1}},
    {"{'descr':'=i8','fortran_order':False,'shape':(2,)}", 'i', 8, 1, 16, {1, 2}},
    {"{'descr':'|V2','fortran_order':False,'shape':(3,)}", 'V', 2, 1, 6, {1, 2, 3}},
    {"{'descr':'>V1','fortran_order':False,'shape':(3,)}", 'V', 1, 1, 3, {1, 2, 3}},
    {"{'descr':'<c16','fortran_order':False,'shape':(1,)}", 'c', 16, 1, 16, {1, 2, 3}},
    {"{'descr':'f2','fortran_order':False,'shape':(00,7)}", 'f', 2, 2, 0, {0}},
    {"{'descr':'<f4','fortran_order':True,'shape':(9223372036854775807,9223372036854775807,0)}",
     'f',
     4,
     3,
     0,
     {0}},
    {"  {\n'descr'\t: '<u4' ,\r\n 'fortran_order' : False , 'shape' : ( 1 , ) , }   \n",
     'u',
     4,
     1,
     4,
     {1, 2, 3, 4}},
};

START_TEST(reads)
{
  for (int version = 1; version <= 3; version++) {
    ck_assert_msg(read_file(make_file(version, good[_i].text, count16, 16)), "%s", error.text);
    ck_assert_int_eq(array.kind, good[_i].kind);
    ck_assert_int_eq(array.item_bytes, good[_i].item_bytes);
    ck_assert_int_eq(array.rank, good[_i].rank);
    ck_assert_uint_eq(array.bytes, good[_i].bytes);
    ck_assert_uint_eq((uintptr_t)array.data % 64, 0);
    size_t known = 0;
    while (known < 16 && known < array.bytes && good[_i].first[known])
      known++;
    ck_assert_mem_eq(array.data, good[_i].first, known);
    hl_npy_free(&array);
  }
}
END_TEST

static const struct {
  const char *text, *want;
} bad[] = {
    {"", "expected '{'"},
    {"{", "expected a string"},
    {"{}", "needs descr"},
    {"[]", "expected '{'"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", "expected ','"},
    {"{'descr': '<f4', 'fortran_order': False}", "needs descr"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", "needs descr"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", "key 'more'"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "key 'descr'"},
    {"{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", "expected ','"},
    {"{'descr' '<f4', 'fortran_order': False, 'shape': (2,)}", "expected ':'"},
    {"{descr: '<f4', 'fortran_order': False, 'shape': (2,)}", "expected a string"},
    {"{'descr\": '<f4', 'fortran_order': False, 'shape': (2,)}", "expected ':'"},
    {"{'a key that is much longer than any': 1}", "bad string"},
    {"{'descr': 'O', 'fortran_order': False, 'shape': (2,)}", "'O' is not supported"},
    {"{'descr': '<U8', 'fortran_order': False, 'shape': (2,)}", "'<U8' is not supported"},
    {"{'descr': '<f16', 'fortran_order': False, 'shape': (2,)}", "'<f16' is not supported"},
    {"{'descr': '<f', 'fortran_order': False, 'shape': (2,)}", "'<f' is not supported"},
    {"{'descr': '<', 'fortran_order': False, 'shape': (2,)}", "'<' is not supported"},
    {"{'descr': '', 'fortran_order': False, 'shape': (2,)}", "'' is not supported"},
    {"{'descr': '<f4x', 'fortran_order': False, 'shape': (2,)}", "'<f4x' is not supported"},
    {"{'descr': '<f99999999999', 'fortran_order': False, 'shape': (2,)}", "is not supported"},
    {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}", "structured"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "expected True or False"},
    {"{'descr': '<f4', 'fortran_order': Falsey, 'shape': (2,)}", "expected ','"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 2}", "expected '('"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", "no tuple"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 2)}", "expected ','"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", "expected a dimension"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "expected a dimension"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (02,)}", "expected a dimension"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2.,)}", "expected ','"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}", "too large"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}", "overflows"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,4294967296,)}", "overflows"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (5,)}", "truncated: the array has 20"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", "truncated"},
};

START_TEST(refuses)
{
  for (int version = 1; version <= 3; version++) {
    ck_assert(!read_file(make_file(version, bad[_i].text, count16, 16)));
    ck_assert_msg(strstr(error.text, bad[_i].want), "%s", error.text);
  }
}
END_TEST

START_TEST(refuses_other_files)
{
  size_t bytes = make_file(1, good[0].text, count16, 16);
  for (size_t i = 0; i < 8; i++) {
    file[i] ^= 0x40;
    ck_assert(!read_file(bytes));
    file[i] ^= 0x40;
  }
  ck_assert(read_file(bytes));
  forget();
  for (size_t i = 0; i < bytes; i++)
    ck_assert(!read_file(i));
  make_file(2, "", NULL, 0);
  memset(file + 8, 0xff, 4);
  ck_assert(!read_file(sizeof file));
  ck_assert(strstr(error.text, "too long"));
}
END_TEST

START_TEST(limits_rank)
{
  for (int rank = 64; rank <= 65; rank++) {
    char text[400] = "{'descr': '|u1', 'fortran_order': True, 'shape': (";
    for (int i = 0; i < rank; i++)
      strcat(text, "1,");
    strcat(text, ")}");
    ck_assert_int_eq(read_file(make_file(1, text, count16, 1)), rank == 64);
    forget();
  }
  ck_assert(strstr(error.text, "more than 64 dimensions"));
}
END_TEST

/* What NumPy 2.4 writes. The count of blanks is part of the form. */
static const struct {
  hl_npy array;
  const char *text;
  size_t size;
} headers[] = {
    {{'f', 4, 2, {2, 3}, NULL, 24, NULL},
     "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
     128},
    {{'f', 8, 0, {0}, NULL, 8, NULL},
     "{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
     128},
    {{'b', 1, 1, {1}, NULL, 1, NULL},
     "{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }",
     128},
    {{'V', 2, 1, {100000}, NULL, 200000, NULL},
     "{'descr': '|V2', 'fortran_order': False, 'shape': (100000,), }",
     128},
    {{'c', 16, 20, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, NULL, 16, NULL},
     "{'descr': '<c16', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
     "1, "
     "1, 1, 1, 1, 1, 1), }",
     192},
};

START_TEST(writes_headers_of_numpy)
{
  char text[HL_NPY_MAX_HEADER];
  size_t size = hl_npy_header(&headers[_i].array, text);
  size_t length = strlen(headers[_i].text);
  ck_assert_uint_eq(size, headers[_i].size);
  ck_assert_mem_eq(text, "\x93NUMPY\1\0", 8);
  ck_assert_uint_eq((unsigned char)text[8] + 256u * (unsigned char)text[9], size - 10);
  ck_assert_mem_eq(text + 10, headers[_i].text, length);
  for (size_t i = 10 + length; i < size - 1; i++)
    ck_assert_int_eq(text[i], ' ');
  ck_assert_int_eq(text[size - 1], '\n');
}
END_TEST

START_TEST(largest_header_fits)
{
  hl_npy a = {.kind = 'c', .item_bytes = 16, .rank = HL_NPY_MAX_RANK};
  for (int i = 0; i < a.rank; i++)
    a.dims[i] = INT64_MAX;
  char text[HL_NPY_MAX_HEADER];
  size_t size = hl_npy_header(&a, text);
  ck_assert_uint_eq(size % 64, 0);
  ck_assert_int_eq(text[size - 1], '\n');
}
END_TEST

/* ---- files on disk ---- */

static char folder[] = "/tmp/hl-npy-XXXXXX", path[100];

static void make_folder(void)
{
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/a.npy", folder);
}

static void remove_folder(void)
{
  unlink(path);
  ck_assert_msg(rmdir(folder) == 0, "something was left in %s", folder);
}

static void put_file(const void *data, size_t bytes)
{
  FILE *f = fopen(path, "wb");
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_eq(fwrite(data, 1, bytes, f), bytes);
  fclose(f);
}

START_TEST(saves_and_loads)
{
  float values[6] = {1, -2, 3.5f, -0.0f, INFINITY, NAN};
  hl_npy a = {'f', 4, 2, {2, 3}, values, sizeof values, NULL};
  ck_assert(hl_npy_save(path, &a, &error));
  ck_assert(hl_npy_load(path, &array, &error));
  ck_assert_int_eq(array.dims[1], 3);
  ck_assert_mem_eq(array.data, values, sizeof values);
  ck_assert_uint_eq((uintptr_t)array.data % 64, 0);
  forget();
}
END_TEST

/* Old files align data to 16 bytes or not at all; Fortran order takes the way through a copy. */
START_TEST(loads_what_reads)
{
  size_t bytes = make_file(1, good[_i].text, count16, 16);
  put_file(file, bytes);
  hl_npy loaded;
  ck_assert(read_file(bytes));
  ck_assert(hl_npy_load(path, &loaded, &error));
  ck_assert_uint_eq(loaded.bytes, array.bytes);
  ck_assert_mem_eq(loaded.data, array.data, array.bytes);
  ck_assert_uint_eq((uintptr_t)loaded.data % 64, 0);
  hl_npy_free(&loaded);
  forget();
}
END_TEST

START_TEST(faults_name_the_path)
{
  ck_assert(!hl_npy_load("/nonexistent/x.npy", &array, &error));
  ck_assert_str_eq(error.text, "cannot open /nonexistent/x.npy: No such file or directory");
  put_file("", 0);
  ck_assert(!hl_npy_load(path, &array, &error));
  ck_assert(strstr(error.text, path) && strstr(error.text, "not a .npy file"));
  ck_assert(!hl_npy_load(folder, &array, &error));
  hl_npy none = {.kind = 'u', .item_bytes = 1, .rank = 1};
  ck_assert(!hl_npy_save("/nonexistent/x.npy", &none, &error));
  ck_assert_str_eq(error.text, "cannot write /nonexistent/x.npy: No such file or directory");
}
END_TEST

START_TEST(failed_write_leaves_nothing)
{
  hl_output o;
  ck_assert(hl_output_open(&o, path, &error));
  hl_output_write(&o, "half", 4);
  hl_output_cancel(&o);
  ck_assert_int_ne(access(path, F_OK), 0);
  ck_assert(hl_output_open(&o, "/dev/full", &error));
  hl_output_write(&o, "x", 1);
  ck_assert(!hl_output_close(&o, &error));
  ck_assert(strstr(error.text, "No space left"));
  ck_assert_int_eq(access("/dev/full", F_OK), 0);
}
END_TEST

START_TEST(control_characters_stay_out_of_messages)
{
  hl_io_fail(&error, "a\x1b[1m\nb");
  ck_assert_str_eq(error.text, "a?[1m?b");
}
END_TEST

/* ---- values ---- */

/* Text, the bits it reads as, and the text that is printed (NULL: the same). */
static const struct {
  const char *type, *text;
  uint64_t bits;
  const char *printed;
} texts[] = {
    {"pred", "true", 1, NULL},
    {"pred", "0", 0, "false"},
    {"s4", "-8", 0xf8, NULL},
    {"s8", "127", 127, NULL},
    {"s64", "-9223372036854775808", UINT64_C(1) << 63, NULL},
    {"u64", "18446744073709551615", UINT64_MAX, NULL},
    {"u2", "3", 3, NULL},
    {"f32", "0.1", 0x3dcccccd, NULL},
    {"f32", "-0", 0x80000000, NULL},
    {"f32", "16777216", 0x4b800000, "16777216"},
    {"f32", "1e15", 0x58635fa9, "1e+15"},
    {"f32", "123456792", 0x4ceb79a3, "1.2345679e+08"},
    {"f32", "1e-45", 1, "1e-45"},
    {"f32", "0.0001", 0x38d1b717, NULL},
    {"f32", "nan", 0x7fc00000, NULL},
    {"f32", "-inf", 0xff800000, NULL},
    {"f64", "0.1", UINT64_C(0x3fb999999999999a), NULL},
    {"f64", "1e308", UINT64_C(0x7fe1ccf385ebc8a0), "1e+308"},
    {"f16", "65504", 0x7bff, "65504"},
    {"f16", "65519", 0x7bff, "65504"},
    {"f16", "65520", 0x7c00, "inf"},
    {"f16", "6e-8", 1, "6e-08"},
    {"f16", "2.9e-8", 0, "0"},
    {"f16", "0.3333", 0x3555, "0.3333"},
    {"bf16", "1.00390625", 0x3f80, "1"},
    {"bf16", "1.01171875", 0x3f82, "1.016"},
    {"bf16", "-0", 0x8000, NULL},
    {"bf16", "nan", 0x7fc0, NULL},
    {"f8e4m3fn", "448", 0x7e, NULL},
    {"f8e4m3fn", "464", 0x7e, "448"},
    {"f8e4m3fn", "465", 0x7f, "nan"},
    {"f8e4m3fn", "-inf", 0xff, "-nan"},
    {"f8e5m2", "inf", 0x7c, NULL},
    {"f8e5m2fnuz", "-0", 0, "0"},
    {"f8e4m3b11fnuz", "1e9", 0x80, "nan"},
    {"f8e8m0fnu", "0.75", 127, "1"},
    {"f8e8m0fnu", "0", 255, "nan"},
    {"f8e8m0fnu", "-1", 255, "nan"},
    {"f4e2m1fn", "5", 6, "4"},
    {"f4e2m1fn", "-100", 15, "-6"},
    {"f6e3m2fn", "28", 0x1f, NULL},
};

START_TEST(text_and_bits)
{
  const hl_value_type *t = hl_value_type_find(texts[_i].type);
  uint64_t item = 0;
  const char *text = texts[_i].text;
  char printed[HL_VALUE_TEXT];
  ck_assert(hl_value_parse(t, &text, &item));
  ck_assert_str_eq(text, "");
  ck_assert_uint_eq(item & (UINT64_MAX >> (64 - 8 * t->item_bytes)),
                    texts[_i].bits & (UINT64_MAX >> (64 - 8 * t->item_bytes)));
  size_t length = hl_value_format(t, &item, printed);
  ck_assert_uint_eq(length, strlen(printed));
  ck_assert_str_eq(printed, texts[_i].printed ? texts[_i].printed : texts[_i].text);
}
END_TEST

START_TEST(complex_values)
{
  const hl_value_type *t = hl_value_type_find("c64");
  float item[2];
  char printed[HL_VALUE_TEXT];
  const char *text = " (1.5, -inf),";
  ck_assert(hl_value_parse(t, &text, item));
  ck_assert_str_eq(text, ",");
  hl_value_format(t, item, printed);
  ck_assert_str_eq(printed, "(1.5, -inf)");
  double wide[2] = {-2.2250738585072014e-308, -1.7976931348623157e+308};
  hl_value_format(hl_value_type_find("c128"), wide, printed);
  ck_assert_str_eq(printed, "(-2.2250738585072014e-308, -1.7976931348623157e+308)");
}
END_TEST

static const struct {
  const char *type, *text;
} no_values[] = {{"s4", "8"},   {"s4", "-9"}, {"u4", "16"},
                 {"u8", "-1"},  {"s8", ""},   {"f32", "x"},
                 {"pred", "2"}, {"c64", "1"}, {"u64", "18446744073709551616"}};

START_TEST(refuses_text)
{
  uint64_t item[2] = {0};
  const char *text = no_values[_i].text;
  ck_assert(!hl_value_parse(hl_value_type_find(no_values[_i].type), &text, item));
}
END_TEST

/* Every pattern of a narrow float prints as text that reads back as the same pattern. */
START_TEST(narrow_floats_round_trip)
{
  static const char *const names[] = {
      "f16",    "bf16",       "f8e3m4",    "f8e4m3",   "f8e4m3fn", "f8e4m3b11fnuz", "f8e4m3fnuz",
      "f8e5m2", "f8e5m2fnuz", "f8e8m0fnu", "f6e2m3fn", "f6e3m2fn", "f4e2m1fn"};
  const hl_value_type *t = hl_value_type_find(names[_i]);
  for (unsigned pattern = 0; pattern < 1u << t->bits; pattern++) {
    char printed[HL_VALUE_TEXT];
    unsigned back = 0;
    const char *text = printed;
    hl_value_format(t, &pattern, printed);
    ck_assert(hl_value_parse(t, &text, &back));
    ck_assert_msg(back == pattern || strstr(printed, "nan"), "%x -> %s -> %x", pattern, printed,
                  back);
  }
}
END_TEST

START_TEST(random_values)
{
  static const uint64_t first = UINT64_C(0xe220a8397b1dcdaf); /* SplitMix64, seed 0 */
  float f[2];
  int8_t s;
  unsigned char narrow[64];
  hl_value_fill_random(hl_value_type_find("f32"), 0, f, 2);
  ck_assert(f[0] == (float)(-1.0 + (double)(first >> 40) / 8388608.0));
  hl_value_fill_random(hl_value_type_find("s8"), 0, &s, 1);
  ck_assert_int_eq(s, (int)(((first >> 32) * 10) >> 32));
  hl_value_fill_random(hl_value_type_find("u2"), 5, narrow, 64);
  ck_assert_int_eq(hl_value_find_unfit(hl_value_type_find("u2"), narrow, 64), -1);
  hl_value_fill_random(hl_value_type_find("s1"), 5, narrow, 64);
  ck_assert_int_eq(hl_value_find_unfit(hl_value_type_find("s1"), narrow, 64), -1);
}
END_TEST

START_TEST(unfit_values)
{
  unsigned char items[] = {7, 0xf8, 8};
  ck_assert_int_eq(hl_value_find_unfit(hl_value_type_find("s4"), items, 2), -1);
  ck_assert_int_eq(hl_value_find_unfit(hl_value_type_find("s4"), items, 3), 2);
  ck_assert_int_eq(hl_value_find_unfit(hl_value_type_find("u4"), items, 3), 1);
  ck_assert_int_eq(hl_value_find_unfit(hl_value_type_find("f4e2m1fn"), items, 3), 1);
  ck_assert_int_eq(hl_value_find_unfit(hl_value_type_find("u8"), items, 3), -1);
}
END_TEST

static const struct {
  const char *type, *kinds; /* what it accepts, the written form first */
} forms[] = {{"pred", "b1 u1"}, {"s4", "i1"},        {"u4", "u1"},          {"bf16", "u2 V2"},
             {"f16", "f2"},     {"f8e5m2", "u1 V1"}, {"f4e2m1fn", "u1 V1"}, {"f32", "f4"},
             {"c64", "c8"},     {"c128", "c16"},     {"s64", "i8"},         {"u16", "u2"}};

START_TEST(npy_forms)
{
  static const char *const all[] = {"b1", "i1", "i2", "i4", "i8", "u1",  "u2", "u4",
                                    "u8", "f2", "f4", "f8", "c8", "c16", "V1", "V2"};
  const hl_value_type *t = hl_value_type_find(forms[_i].type);
  hl_npy written = {0};
  hl_value_set_npy_type(t, &written);
  char name[8];
  snprintf(name, sizeof name, "%c%d", written.kind, written.item_bytes);
  ck_assert_int_eq(strncmp(forms[_i].kinds, name, strlen(name)), 0);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    hl_npy a = {.kind = *all[i], .item_bytes = atoi(all[i] + 1)};
    ck_assert_msg(hl_value_accepts(t, &a) == (strstr(forms[_i].kinds, all[i]) != NULL), "%s",
                  all[i]);
  }
}
END_TEST

/* ---- printing ---- */

static const int64_t counts[1001] = {1, 2, 300, 4, 5, 6};
static const int64_t d3[] = {3}, d23[] = {2, 3}, d122[] = {1, 2, 2}, d03[] = {0, 3},
                     d1001[] = {1001};
static const int64_t d11x91[] = {11, 91};

static const struct {
  hlo_exe_array array;
  const char *text;
} printed[] = {
    {{"x", NULL, "s64", 0, NULL, 8}, "s64[] 1\n"},
    {{"x", NULL, "s64", 1, d3, 24}, "s64[3] {1, 2, 300}\n"},
    {{"x", NULL, "s64", 2, d23, 48}, "s64[2,3] {\n  {  1,   2, 300},\n  {  4,   5,   6}\n}\n"},
    {{"x", NULL, "s64", 3, d122, 32},
     "s64[1,2,2] {\n  {\n    {  1,   2},\n    {300,   4}\n  }\n}\n"},
    {{"x", NULL, "s64", 2, d03, 0}, "s64[0,3] {}\n"},
    {{"x", NULL, "s64", 1, d1001, 8008}, "s64[1001] {1, 2, 300, ..., 0, 0, 0}\n"},
    {{"x", NULL, "s64", 2, d11x91, 8008},
     "s64[11,91] {\n  {  1,   2, 300, ...,   0,   0,   0},\n  {  0,   0,   0, ...,   0,   0,   "
     "0},\n"
     "  {  0,   0,   0, ...,   0,   0,   0},\n  ...,\n  {  0,   0,   0, ...,   0,   0,   0},\n"
     "  {  0,   0,   0, ...,   0,   0,   0},\n  {  0,   0,   0, ...,   0,   0,   0}\n}\n"},
};

static char *print_to_text(const hlo_exe_array *a)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  ck_assert_ptr_nonnull(out);
  hl_array_print(out, a, counts);
  fclose(out);
  return text;
}

START_TEST(prints)
{
  char *text = print_to_text(&printed[_i].array);
  ck_assert_str_eq(text, printed[_i].text);
  free(text);
}
END_TEST

START_TEST(long_rows_wrap)
{
  static const int64_t d100[] = {100};
  hlo_exe_array a = {"x", NULL, "s64", 1, d100, 800};
  char *text = print_to_text(&a), *rest = NULL;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
    ck_assert_uint_le(strlen(line), 104);
  free(text);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof *(table))

static TCase *memory_tests(void)
{
  TCase *t = tcase_create("memory");
  tcase_add_loop_test(t, reads, 0, ROWS(good));
  tcase_add_loop_test(t, refuses, 0, ROWS(bad));
  tcase_add_test(t, refuses_other_files);
  tcase_add_test(t, limits_rank);
  tcase_add_loop_test(t, writes_headers_of_numpy, 0, ROWS(headers));
  tcase_add_test(t, largest_header_fits);
  tcase_add_test(t, control_characters_stay_out_of_messages);
  return t;
}

static TCase *disk_tests(void)
{
  TCase *t = tcase_create("disk");
  tcase_add_checked_fixture(t, make_folder, remove_folder);
  tcase_add_test(t, saves_and_loads);
  tcase_add_loop_test(t, loads_what_reads, 0, ROWS(good));
  tcase_add_test(t, faults_name_the_path);
  tcase_add_test(t, failed_write_leaves_nothing);
  return t;
}

static TCase *value_tests(void)
{
  TCase *t = tcase_create("values");
  tcase_add_loop_test(t, text_and_bits, 0, ROWS(texts));
  tcase_add_test(t, complex_values);
  tcase_add_loop_test(t, refuses_text, 0, ROWS(no_values));
  tcase_add_loop_test(t, narrow_floats_round_trip, 0, 13);
  tcase_add_test(t, random_values);
  tcase_add_test(t, unfit_values);
  tcase_add_loop_test(t, npy_forms, 0, ROWS(forms));
  tcase_add_loop_test(t, prints, 0, ROWS(printed));
  tcase_add_test(t, long_rows_wrap);
  return t;
}

int main(void)
{
  Suite *suite = suite_create("npy");
  suite_add_tcase(suite, memory_tests());
  suite_add_tcase(suite, disk_tests());
  suite_add_tcase(suite, value_tests());
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
