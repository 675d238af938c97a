/* test_shape - element types, shapes, and sizes in checked arithmetic. */
#include "ir/shape.h"

#include <check.h>
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

START_TEST(names_lead_back_to_types)
{
  for (int i = 0; i < HL_TUPLE; i++) {
    const char *name = hl_type_name((hl_element_type)i);
    ck_assert_int_eq(hl_type_by_name(name, strlen(name)), i);
  }
  ck_assert_int_eq(hl_type_by_name("f3", 2), HL_TYPE_COUNT);
  ck_assert_int_eq(hl_type_by_name("f322", 4), HL_TYPE_COUNT);
  ck_assert_int_eq(hl_type_by_name("tuple", 5), HL_TYPE_COUNT);
  ck_assert_int_eq(hl_type_by_name("", 0), HL_TYPE_COUNT);
}
END_TEST

static const struct {
  hl_element_type type;
  int bits, bytes;
  bool is_integral, is_float, is_complex;
  hl_element_type component;
} types[] = {
    {HL_PRED, 1, 1, false, false, false, HL_PRED},   {HL_S4, 4, 1, true, false, false, HL_S4},
    {HL_U64, 64, 8, true, false, false, HL_U64},     {HL_BF16, 16, 2, false, true, false, HL_BF16},
    {HL_C64, 64, 8, false, false, true, HL_F32},     {HL_C128, 128, 16, false, false, true, HL_F64},
    {HL_TOKEN, 0, 0, false, false, false, HL_TOKEN},
};

START_TEST(types_have_their_traits)
{
  hl_element_type type = types[_i].type;
  ck_assert_int_eq(hl_type_bits(type), types[_i].bits);
  ck_assert_int_eq(hl_type_bytes(type), types[_i].bytes);
  ck_assert_int_eq(hl_is_integral(type), types[_i].is_integral);
  ck_assert_int_eq(hl_is_float(type), types[_i].is_float);
  ck_assert_int_eq(hl_is_complex(type), types[_i].is_complex);
  ck_assert_int_eq(hl_component_type(type), types[_i].component);
}
END_TEST

static const hl_shape *matrix(void)
{
  return hl_shape_new(arena, HL_F32, 2, (const int64_t[]){2, 3});
}

START_TEST(shapes_print_as_in_hlo)
{
  const hl_shape *parts[] = {matrix(), hl_shape_scalar(arena, HL_S32),
                             hl_shape_tuple(arena, 0, NULL)};
  ck_assert_str_eq(hl_shape_text(arena, hl_shape_tuple(arena, 3, parts)), "(f32[2,3], s32[], ())");
  hl_shape shape = *parts[0];
  shape.minor_to_major = (const int64_t[]){0, 1};
  shape.is_dynamic = (const bool[]){true, false};
  ck_assert_str_eq(hl_shape_text(arena, &shape), "f32[<=2,3]");
  hl_str out = {.arena = arena};
  shape.layout_suffix = "T(8,128)";
  hl_shape_print(&out, &shape, true);
  ck_assert_str_eq(hl_str_text(&out), "f32[<=2,3]{0,1:T(8,128)}");
}
END_TEST

START_TEST(long_tuples_are_cut_in_messages)
{
  const hl_shape *parts[100];
  for (int i = 0; i < 100; i++)
    parts[i] = hl_shape_scalar(arena, HL_S8);
  const hl_shape *tuple = hl_shape_tuple(arena, 100, parts);
  const char *text = hl_shape_text(arena, hl_shape_tuple(arena, 1, &tuple));
  ck_assert_str_eq(text + strlen(text) - 13, ", s8[], ...))");
  ck_assert_uint_lt(strlen(text), 300);
  ck_assert_int_eq(tuple->tuple_leaves, 100);
  ck_assert_int_eq(tuple->tuple_depth, 1);
}
END_TEST

START_TEST(equality_ignores_layouts)
{
  hl_shape other = *matrix();
  other.minor_to_major = (const int64_t[]){0, 1};
  ck_assert(hl_shape_equal(matrix(), &other));
  ck_assert(!hl_shape_equal(matrix(), hl_shape_with_type(arena, matrix(), HL_F64)));
  ck_assert(hl_shape_same_dimensions(matrix(), hl_shape_with_type(arena, matrix(), HL_F64)));
  ck_assert(!hl_shape_equal(matrix(), hl_shape_new(arena, HL_F32, 2, (const int64_t[]){3, 2})));
  ck_assert(!hl_shape_equal(matrix(), hl_shape_new(arena, HL_F32, 1, (const int64_t[]){2})));
  const hl_shape *one = matrix(), *two[] = {matrix(), matrix()};
  const hl_shape *tuple = hl_shape_tuple(arena, 2, two);
  ck_assert(!hl_shape_equal(hl_shape_tuple(arena, 1, &one), tuple));
  ck_assert(hl_shape_equal(tuple, hl_shape_tuple(arena, 2, two)));
}
END_TEST

START_TEST(kinds_of_shapes)
{
  ck_assert(hl_shape_is_array(matrix()) && !hl_shape_is_scalar(matrix()));
  ck_assert(hl_shape_is_scalar(hl_shape_scalar(arena, HL_PRED)));
  ck_assert(!hl_shape_is_array(hl_shape_scalar(arena, HL_TOKEN)));
  ck_assert(!hl_shape_is_scalar(hl_shape_scalar(arena, HL_OPAQUE)));
  ck_assert(!hl_shape_is_array(hl_shape_tuple(arena, 0, NULL)));
  ck_assert(!hl_shape_has_dynamic(matrix()));
  hl_shape dynamic = *matrix();
  dynamic.is_dynamic = (const bool[]){false, true};
  const hl_shape *part = &dynamic;
  ck_assert(hl_shape_has_dynamic(hl_shape_tuple(arena, 1, &part)));
}
END_TEST

static const struct {
  hl_element_type type;
  int rank;
  int64_t dimensions[3];
  bool fits;
} sizes[] = {
    {HL_F32, 0, {0}, true},
    {HL_F32, 2, {INT64_MAX / 4, 1}, true},
    {HL_F32, 1, {INT64_MAX / 4 + 1}, false},
    {HL_PRED, 1, {INT64_MAX}, true},
    {HL_F32, 2, {INT64_C(1) << 32, INT64_C(1) << 32}, false},
    {HL_F32, 3, {0, INT64_C(1) << 32, INT64_C(1) << 32}, false},
    {HL_F32, 2, {0, INT64_C(1) << 60}, true},
};

START_TEST(sizes_are_checked)
{
  ck_assert_int_eq(hl_shape_fits(sizes[_i].type, sizes[_i].rank, sizes[_i].dimensions),
                   sizes[_i].fits);
}
END_TEST

START_TEST(counts)
{
  ck_assert_int_eq(hl_shape_elements(matrix()), 6);
  ck_assert_int_eq(hl_shape_bytes(matrix()), 24);
  ck_assert_int_eq(hl_shape_elements(hl_shape_scalar(arena, HL_F32)), 1);
  ck_assert_int_eq(hl_shape_bytes(hl_shape_new(arena, HL_C128, 1, (const int64_t[]){0})), 0);
  int64_t out;
  ck_assert(hl_mul_i64(INT64_MAX, 1, &out) && out == INT64_MAX);
  ck_assert(!hl_mul_i64(INT64_MIN, -1, &out));
  ck_assert(!hl_add_i64(INT64_MAX, 1, &out));
  ck_assert(hl_add_i64(INT64_MAX, -1, &out) && out == INT64_MAX - 1);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("shape");
  TCase *t = tcase_create("shape");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, names_lead_back_to_types);
  tcase_add_loop_test(t, types_have_their_traits, 0, (int)(sizeof types / sizeof *types));
  tcase_add_test(t, shapes_print_as_in_hlo);
  tcase_add_test(t, long_tuples_are_cut_in_messages);
  tcase_add_test(t, equality_ignores_layouts);
  tcase_add_test(t, kinds_of_shapes);
  tcase_add_loop_test(t, sizes_are_checked, 0, (int)(sizeof sizes / sizeof *sizes));
  tcase_add_test(t, counts);
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
