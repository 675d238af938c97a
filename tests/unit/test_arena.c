/* test_arena - allocation, its guard, growing text, the name map, the distance between names. */
#include "ir/str.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
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

static bool is_zero(const char *data, size_t bytes)
{
  for (size_t i = 0; i < bytes; i++)
    if (data[i])
      return false;
  return true;
}

/* Sizes around the borders of blocks and of large requests. */
static const size_t sizes[] = {0, 1, 15, 16, 17, 8191, 8192, 8193, 65535, 65536, 65537, 3000000};

START_TEST(memory_is_zero_and_aligned)
{
  size_t bytes = sizes[_i], alignment = bytes >= 65536 ? 64 : 16;
  for (int round = 0; round < 3; round++) {
    char *data = hl_arena_alloc(arena, bytes);
    ck_assert_uint_eq((uintptr_t)data % alignment, 0);
    ck_assert(is_zero(data, bytes));
    memset(data, 0xff, bytes);
    if (round == 1)
      hl_arena_reset(arena);
  }
}
END_TEST

START_TEST(many_small_pieces_do_not_overlap)
{
  char *pieces[5000];
  for (int i = 0; i < 5000; i++) {
    pieces[i] = hl_arena_alloc(arena, 24);
    memset(pieces[i], i & 0xff, 24);
  }
  for (int i = 0; i < 5000; i++)
    for (int k = 0; k < 24; k++)
      ck_assert_int_eq((unsigned char)pieces[i][k], i & 0xff);
  ck_assert_uint_eq(hl_arena_bytes(arena), 5000 * 24);
}
END_TEST

START_TEST(failure_jumps_to_the_guard)
{
  hl_guard guard;
  volatile bool is_back = false;
  hl_arena *small = hl_arena_new(&guard);
  if (setjmp(guard.env))
    is_back = true;
  else
    hl_arena_array(small, SIZE_MAX / 2, 16);
  ck_assert(is_back);
  is_back = false;
  if (setjmp(guard.env))
    is_back = true;
  else
    hl_arena_alloc(small, SIZE_MAX - 100);
  ck_assert(is_back);
  hl_arena_free(small);
  hl_arena_free(NULL);
}
END_TEST

START_TEST(arrays_grow_and_keep_their_elements)
{
  int *numbers = NULL;
  size_t capacity = 0;
  for (int i = 0; i < 1000; i++) {
    numbers = hl_arena_grow(arena, numbers, &capacity, (size_t)i + 1, sizeof *numbers);
    numbers[i] = i;
  }
  ck_assert_uint_eq(capacity, 1024);
  for (int i = 0; i < 1000; i++)
    ck_assert_int_eq(numbers[i], i);
}
END_TEST

START_TEST(copies_end_with_nul)
{
  ck_assert_str_eq(hl_arena_strndup(arena, "abcdef", 3), "abc");
  ck_assert_str_eq(hl_arena_strndup(arena, NULL, 0), "");
  ck_assert_str_eq(hl_arena_printf(arena, "%s-%d", "x", 7), "x-7");
  ck_assert_mem_eq(hl_arena_memdup(arena, "abc", 4), "abc", 4);
}
END_TEST

START_TEST(text_grows)
{
  hl_str s = {.arena = arena};
  ck_assert_str_eq(hl_str_text(&s), "");
  hl_str_add(&s, "ab");
  hl_str_add_char(&s, 'c');
  hl_str_add_n(&s, "defg", 2);
  hl_str_printf(&s, "%d%s", 42, "");
  ck_assert_str_eq(hl_str_text(&s), "abcde42");
  for (int i = 0; i < 1000; i++)
    hl_str_printf(&s, "%d", i % 10);
  ck_assert_uint_eq(s.length, 1007);
  ck_assert_uint_eq(strlen(s.text), 1007);
}
END_TEST

START_TEST(map_finds_what_was_set_last)
{
  hl_map map = {.arena = arena};
  char *keys[3000];
  ck_assert_ptr_null(hl_map_get(&map, "x", 1));
  for (int i = 0; i < 3000; i++) {
    keys[i] = hl_arena_printf(arena, "name.%d", i);
    hl_map_set(&map, keys[i], strlen(keys[i]), keys[i]);
  }
  ck_assert_uint_eq(map.count, 3000);
  for (int i = 0; i < 3000; i++)
    ck_assert_ptr_eq(hl_map_get(&map, keys[i], strlen(keys[i])), keys[i]);
  ck_assert_ptr_null(hl_map_get(&map, "name.3000", 9));
  ck_assert_ptr_null(hl_map_get(&map, "name.1", 5));
  hl_map_set(&map, keys[7], strlen(keys[7]), keys[8]);
  ck_assert_ptr_eq(hl_map_get(&map, "name.7", 6), keys[8]);
  ck_assert_uint_eq(map.count, 3000);
}
END_TEST

static const struct {
  const char *a, *b;
  size_t limit, distance;
} distances[] = {
    {"", "", 2, 0},        {"add", "add", 2, 0},        {"add", "ad", 2, 1},
    {"add", "adds", 2, 1}, {"add", "dad", 2, 1},        {"add", "odd", 2, 1},
    {"add", "sub", 2, 3},  {"kitten", "sitting", 5, 3}, {"kitten", "sitting", 2, 3},
    {"abcdef", "a", 2, 3}, {"", "abc", 5, 3},           {"dynamic_slice", "dynamic-slice", 3, 1},
};

START_TEST(distance_is_known)
{
  ck_assert_uint_eq(hl_edit_distance(distances[_i].a, distances[_i].b, distances[_i].limit),
                    distances[_i].distance);
  ck_assert_uint_eq(hl_edit_distance(distances[_i].b, distances[_i].a, distances[_i].limit),
                    distances[_i].distance);
}
END_TEST

START_TEST(distance_of_long_names_is_over_the_limit)
{
  char name[100];
  memset(name, 'a', sizeof name);
  name[99] = '\0';
  ck_assert_uint_eq(hl_edit_distance(name, name, 3), 4);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("arena");
  TCase *t = tcase_create("arena");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_loop_test(t, memory_is_zero_and_aligned, 0, (int)(sizeof sizes / sizeof *sizes));
  tcase_add_test(t, many_small_pieces_do_not_overlap);
  tcase_add_test(t, failure_jumps_to_the_guard);
  tcase_add_test(t, arrays_grow_and_keep_their_elements);
  tcase_add_test(t, copies_end_with_nul);
  tcase_add_test(t, text_grows);
  tcase_add_test(t, map_finds_what_was_set_last);
  tcase_add_loop_test(t, distance_is_known, 0, (int)(sizeof distances / sizeof *distances));
  tcase_add_test(t, distance_of_long_names_is_over_the_limit);
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
