/* test_literal - the float formats against what their values say themselves, stored elements, and
 * their text. */
#include "ir/literal.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static hl_arena *arena;

static void setup(void)
{
  arena = hl_arena_new(NULL);
}

static void teardown(void)
{
  hl_arena_free(arena);
}

/* Formats whose values can all be tried, with bits from their definitions (ml_dtypes agrees). */
static const struct {
  hl_element_type type;
  uint64_t one, infinity, minus_infinity, nan, minus_zero;
  double max;
} formats[] = {
    {HL_F4E2M1FN, 0x2, 0x7, 0xf, 0x8, 0x8, 6},
    {HL_F6E2M3FN, 0x8, 0x1f, 0x3f, 0x20, 0x20, 7.5},
    {HL_F6E3M2FN, 0xc, 0x1f, 0x3f, 0x20, 0x20, 28},
    {HL_F8E3M4, 0x30, 0x70, 0xf0, 0x78, 0x80, 15.5},
    {HL_F8E4M3, 0x38, 0x78, 0xf8, 0x7c, 0x80, 240},
    {HL_F8E4M3B11FNUZ, 0x58, 0x80, 0x80, 0x80, 0, 30},
    {HL_F8E4M3FN, 0x38, 0x7f, 0xff, 0x7f, 0x80, 448},
    {HL_F8E4M3FNUZ, 0x40, 0x80, 0x80, 0x80, 0, 240},
    {HL_F8E5M2, 0x3c, 0x7c, 0xfc, 0x7e, 0x80, 57344},
    {HL_F8E5M2FNUZ, 0x40, 0x80, 0x80, 0x80, 0, 57344},
    {HL_F8E8M0FNU, 0x7f, 0xff, 0xff, 0xff, 0xff, 0x1p127},
    {HL_F16, 0x3c00, 0x7c00, 0xfc00, 0x7e00, 0x8000, 65504},
    {HL_BF16, 0x3f80, 0x7f80, 0xff80, 0x7fc0, 0x8000, 0x1.fep127},
    {HL_F32, 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x80000000, 0x1.fffffep127},
    {HL_F64, 0x3ff0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
     0x8000000000000000, 0x1.fffffffffffffp1023},
};

START_TEST(formats_have_their_special_values)
{
  hl_element_type type = formats[_i].type;
  ck_assert_uint_eq(hl_float_encode(type, 1), formats[_i].one);
  ck_assert_uint_eq(hl_float_encode(type, HUGE_VAL), formats[_i].infinity);
  /* The sign of a NaN that stands for an overflow is nobody's business. */
  if (isnan(hl_float_decode(type, formats[_i].minus_infinity)))
    ck_assert(isnan(hl_float_decode(type, hl_float_encode(type, -HUGE_VAL))));
  else
    ck_assert_uint_eq(hl_float_encode(type, -HUGE_VAL), formats[_i].minus_infinity);
  ck_assert_uint_eq(hl_float_encode(type, (double)NAN), formats[_i].nan);
  ck_assert_uint_eq(hl_float_nan_bits(type), formats[_i].nan);
  ck_assert_uint_eq(hl_float_encode(type, -0.0), formats[_i].minus_zero);
  ck_assert_double_eq(hl_float_max_finite(type), formats[_i].max);
  ck_assert_int_eq(hl_float_has_infinity(type),
                   isinf(hl_float_decode(type, formats[_i].infinity)) != 0);
  if (type != HL_F8E8M0FNU)
    ck_assert_uint_eq(hl_float_encode(type, 0), 0);
}
END_TEST

/* Between two neighbours the middle goes to even bits, everything else to the nearer one. */
static void check_between(hl_element_type type, uint64_t bits)
{
  double low = hl_float_decode(type, bits), high = hl_float_decode(type, bits + 1);
  double middle = low + (high - low) / 2;
  uint64_t even = type == HL_F8E8M0FNU || bits % 2 ? bits + 1 : bits;
  ck_assert_uint_eq(hl_float_encode(type, middle), even);
  ck_assert_uint_eq(hl_float_encode(type, nextafter(middle, low)), bits);
  ck_assert_uint_eq(hl_float_encode(type, nextafter(middle, high)), bits + 1);
}

START_TEST(small_formats_round_to_nearest_even)
{
  hl_element_type type = formats[_i].type;
  if (hl_type_bits(type) > 16)
    return;
  uint64_t top = hl_float_encode(type, formats[_i].max);
  for (uint64_t bits = 0; bits <= top; bits++) {
    double value = hl_float_decode(type, bits);
    ck_assert_uint_eq(hl_float_encode(type, value), bits);
    if (type != HL_F8E8M0FNU && bits)
      ck_assert_double_eq(hl_float_decode(type, hl_float_encode(type, -value)), -value);
    if (bits < top)
      check_between(type, bits);
  }
}
END_TEST

START_TEST(overflow_begins_half_a_step_above_the_largest)
{
  ck_assert_uint_eq(hl_float_encode(HL_F16, 65519), 0x7bff);
  ck_assert_uint_eq(hl_float_encode(HL_F16, 65520), 0x7c00);
  ck_assert_uint_eq(hl_float_encode(HL_F8E4M3FN, 464), 0x7e);
  ck_assert_uint_eq(hl_float_encode(HL_F8E4M3FN, 465), 0x7f);
  ck_assert_uint_eq(hl_float_encode(HL_F8E4M3FN, 1e300), 0x7f);
  ck_assert_uint_eq(hl_float_encode(HL_F4E2M1FN, -1e300), 0xf);
  ck_assert_uint_eq(hl_float_encode(HL_F32, 0x1p-150), 0);
  ck_assert_uint_eq(hl_float_encode(HL_F32, -0x1.1p-150), 0x80000001);
}
END_TEST

START_TEST(f32_rounds_as_the_machine_does)
{
  uint64_t state = 1;
  for (int i = 0; i < 100000; i++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double value = ldexp((double)(int64_t)state, (int)(state >> 33) % 300 - 150 - 63);
    float rounded = (float)value;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    ck_assert_uint_eq(hl_float_encode(HL_F32, value), bits);
    ck_assert_double_eq(hl_float_decode(HL_F32, bits), (double)rounded);
  }
}
END_TEST

static hl_literal *vector(hl_element_type type, int64_t size)
{
  return hl_literal_new(arena, hl_shape_new(arena, type, 1, &size));
}

static const struct {
  hl_element_type type;
  int64_t in, out;
} integers[] = {
    {HL_S4, 7, 7},
    {HL_S4, 8, -8},
    {HL_S4, -9, 7},
    {HL_U4, -1, 15},
    {HL_S1, 1, -1},
    {HL_U2, 7, 3},
    {HL_S8, 200, -56},
    {HL_U8, -1, 255},
    {HL_PRED, 1, 1},
    {HL_S64, INT64_MIN, INT64_MIN},
    {HL_U32, -1, 4294967295},
};

START_TEST(integers_wrap_and_extend)
{
  hl_literal *literal = vector(integers[_i].type, 3);
  hl_literal_set_int(literal, 1, integers[_i].in);
  ck_assert_int_eq(hl_literal_get_int(literal, 1), integers[_i].out);
  ck_assert_int_eq(hl_literal_get_int(literal, 0), 0);
  ck_assert_int_eq(hl_literal_get_int(literal, 2), 0);
}
END_TEST

START_TEST(doubles_go_through_the_type)
{
  hl_literal *literal = vector(HL_BF16, 2);
  hl_literal_set_double(literal, 1, 257);
  ck_assert_double_eq(hl_literal_get_double(literal, 1), 256);
  ck_assert_uint_eq(hl_literal_get_bits(literal, 1), 0x4380);
  hl_literal *wide = vector(HL_U64, 1);
  hl_literal_set_int(wide, 0, -1);
  ck_assert_double_eq(hl_literal_get_double(wide, 0), 0x1p64);
}
END_TEST

static const struct {
  hl_element_type type;
  uint64_t bits;
  const char *text;
} texts[] = {
    {HL_F32, 0x3fc00000, "1.5"},
    {HL_F32, 0x3dcccccd, "0.1"},
    {HL_F32, 0x3eaaaaab, "0.33333334"},
    {HL_F32, 0x80000000, "-0"},
    {HL_F32, 0x7f7fffff, "3.4028235e+38"},
    {HL_F32, 0x00000001, "1.4013e-45"},
    {HL_F32, 0x7f800000, "inf"},
    {HL_F32, 0xff800000, "-inf"},
    {HL_F32, 0x7fc00000, "nan"},
    {HL_F32, 0xffc00000, "-nan"},
    {HL_F32, 0x7f800001, "nan(0x1)"},
    {HL_F64, 0x3fb999999999999a, "0.1"},
    {HL_F64, 0x3fd5555555555555, "0.3333333333333333"},
    {HL_BF16, 0x4049, "3.14"},
    {HL_F16, 0x3555, "0.3333"},
    {HL_F8E4M3FN, 0x7f, "nan"},
    {HL_F8E4M3FNUZ, 0x80, "nan"},
    {HL_F4E2M1FN, 0x7, "6"},
    {HL_PRED, 1, "true"},
    {HL_PRED, 0, "false"},
    {HL_S8, 0xff, "-1"},
    {HL_U64, UINT64_MAX, "18446744073709551615"},
    {HL_S64, UINT64_C(1) << 63, "-9223372036854775808"},
};

static const char *text_of(const hl_literal *literal, int64_t index)
{
  hl_str out = {.arena = arena};
  hl_literal_print_element(&out, literal, index);
  return hl_str_text(&out);
}

START_TEST(elements_print_short_and_exact)
{
  hl_literal *literal = vector(texts[_i].type, 1);
  hl_literal_set_bits(literal, 0, texts[_i].bits);
  ck_assert_str_eq(text_of(literal, 0), texts[_i].text);
}
END_TEST

START_TEST(complex_elements_have_two_parts)
{
  hl_literal *literal = vector(HL_C64, 2);
  hl_literal_set_double(literal, 2, 1);
  hl_literal_set_double(literal, 3, -HUGE_VAL);
  ck_assert_str_eq(text_of(literal, 1), "(1, -inf)");
  ck_assert_str_eq(text_of(literal, 0), "(0, 0)");
}
END_TEST

START_TEST(printed_f32_reads_back)
{
  hl_literal *literal = vector(HL_F32, 1);
  for (uint64_t bits = 1; bits < 0x7f800000; bits += 999983) {
    hl_literal_set_bits(literal, 0, bits);
    ck_assert_uint_eq(hl_float_encode(HL_F32, strtod(text_of(literal, 0), NULL)), bits);
  }
}
END_TEST

START_TEST(equality_and_splats_go_by_bits)
{
  hl_literal *a = vector(HL_F32, 4), *b = vector(HL_F32, 4);
  ck_assert(hl_literal_equal(a, b) && hl_literal_is_splat(a));
  hl_literal_set_double(b, 3, -0.0);
  ck_assert(!hl_literal_equal(a, b) && !hl_literal_is_splat(b));
  for (int i = 0; i < 4; i++)
    hl_literal_set_bits(a, i, 0x7fc00000);
  ck_assert(hl_literal_is_splat(a));
  ck_assert(hl_literal_equal(a, a));
  ck_assert(!hl_literal_equal(a, vector(HL_F32, 3)));
  ck_assert(!hl_literal_is_splat(vector(HL_F32, 0)));
  ck_assert(hl_literal_equal(vector(HL_F32, 0), vector(HL_F32, 0)));
  b->is_elided = true;
  ck_assert(!hl_literal_equal(b, b));
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("literal");
  TCase *t = tcase_create("literal");
  tcase_add_checked_fixture(t, setup, teardown);
  int count = (int)(sizeof formats / sizeof *formats);
  tcase_add_loop_test(t, formats_have_their_special_values, 0, count);
  tcase_add_loop_test(t, small_formats_round_to_nearest_even, 0, count);
  tcase_add_test(t, overflow_begins_half_a_step_above_the_largest);
  tcase_add_test(t, f32_rounds_as_the_machine_does);
  tcase_add_loop_test(t, integers_wrap_and_extend, 0, (int)(sizeof integers / sizeof *integers));
  tcase_add_test(t, doubles_go_through_the_type);
  tcase_add_loop_test(t, elements_print_short_and_exact, 0, (int)(sizeof texts / sizeof *texts));
  tcase_add_test(t, complex_elements_have_two_parts);
  tcase_add_test(t, printed_f32_reads_back);
  tcase_add_test(t, equality_and_splats_go_by_bits);
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
