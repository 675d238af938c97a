/* test_diag - places in a text, and how diagnostics are rendered. */
#include "ir/diag.h"

#include <check.h>
#include <string.h>

static hl_arena *arena;
static hl_diag diag;

static void setup(void)
{
  arena = hl_arena_new(NULL);
  diag = (hl_diag){.arena = arena};
}

static void teardown(void)
{
  hl_arena_free(arena);
}

static const hl_source *open_text(const char *text)
{
  diag.source = hl_source_new(arena, "t.hlo", text, strlen(text));
  return diag.source;
}

static const char *render(hl_render_options options)
{
  hl_str out = {.arena = arena};
  hl_diag_render(&diag, options, &out);
  return hl_str_text(&out);
}

static const char *plain(void)
{
  return render((hl_render_options){0});
}

static const struct {
  const char *text;
  uint32_t offset, line, column;
} positions[] = {
    {"", 0, 1, 1},       {"ab", 0, 1, 1},      {"ab", 1, 1, 2},        {"ab", 2, 1, 1},
    {"ab\n", 2, 1, 3},   {"ab\n", 3, 2, 1},    {"ab\ncd", 3, 2, 1},    {"ab\ncd", 4, 2, 2},
    {"ab\ncd", 5, 2, 1}, {"\n\n\nx", 2, 3, 1}, {"\n\n\nx\n", 5, 5, 1}, {"a\r\nb", 3, 2, 1},
};

START_TEST(offsets_have_lines_and_columns)
{
  hl_position at = hl_source_position(open_text(positions[_i].text), positions[_i].offset);
  ck_assert_uint_eq(at.line, positions[_i].line);
  ck_assert_uint_eq(at.column, positions[_i].column);
}
END_TEST

START_TEST(lines_come_without_their_ends)
{
  size_t length;
  const hl_source *source = open_text("one\r\n\ntwo");
  ck_assert_uint_eq(source->line_count, 3);
  ck_assert_mem_eq(hl_source_line(source, 1, &length), "one", 3);
  ck_assert_uint_eq(length, 3);
  hl_source_line(source, 2, &length);
  ck_assert_uint_eq(length, 0);
  ck_assert_mem_eq(hl_source_line(source, 3, &length), "two", 3);
  ck_assert_uint_eq(length, 3);
  ck_assert_mem_eq(source->text + source->size, "\0\0", 2);
}
END_TEST

static const struct {
  const char *text;
  hl_range range;
  const char *want;
} renderings[] = {
    {"add(a, b)", {0, 9}, "t.hlo:1:1: error: m [syntax]\n    1 | add(a, b)\n      | ^~~~~~~~~\n"},
    {"x\n  y\n", {4, 4}, "t.hlo:2:3: error: m [syntax]\n    2 |   y\n      |   ^\n"},
    {"x\n", {2, 2}, "t.hlo:2:1: error: m [syntax]\n    2 | \n      | ^\n"},
    {"\ta\tbc", {3, 5}, "t.hlo:1:4: error: m [syntax]\n    1 | \ta\tbc\n      | \t \t^~\n"},
    {"ab(\ncd)", {1, 7}, "t.hlo:1:2: error: m [syntax]\n    1 | ab(\n      |  ^~\n"},
    {"\"\xc3\xa4\" x",
     {5, 6},
     "t.hlo:1:6: error: m [syntax]\n    1 | \"\xc3\xa4\" x\n      |     ^\n"},
    {"\x1b[31m\xff x",
     {7, 8},
     "t.hlo:1:8: error: m [syntax]\n    1 | ?[31m? x\n      |        ^\n"},
    {"a", {HL_NO_OFFSET, HL_NO_OFFSET}, "t.hlo: error: m [syntax]\n"},
};

START_TEST(the_caret_stands_below_its_place)
{
  open_text(renderings[_i].text);
  ck_assert(!hl_error(&diag, renderings[_i].range, HL_RULE_SYNTAX, "%s", "m"));
  ck_assert_str_eq(plain(), renderings[_i].want);
}
END_TEST

START_TEST(a_file_without_text_has_no_place)
{
  hl_error(&diag, HL_NO_RANGE, HL_RULE_SYNTAX, "cannot read it");
  ck_assert_str_eq(plain(), "error: cannot read it [syntax]\n");
}
END_TEST

START_TEST(a_long_line_is_cut_around_the_caret)
{
  size_t size = 1000000;
  char *text = hl_arena_alloc(arena, size + 1);
  memset(text, 'x', size);
  text[500000] = '!';
  diag.source = hl_source_new(arena, "t.hlo", text, size);
  hl_error(&diag, (hl_range){500000, 500001}, HL_RULE_SYNTAX, "m");
  const char *out = plain(), *line = strchr(out, '\n') + 1, *caret = strchr(line, '\n') + 1;
  ck_assert_uint_lt(strlen(out), 500);
  ck_assert_mem_eq(line, "    1 | ...x", 12);
  ck_assert_int_eq(line[strchr(caret, '^') - caret], '!');
}
END_TEST

START_TEST(help_follows_and_order_is_the_texts)
{
  open_text("first\nsecond\n");
  hl_error(&diag, (hl_range){6, 12}, HL_RULE_LIMIT, "two");
  hl_help(&diag, "do %d", 2);
  hl_warning(&diag, (hl_range){0, 5}, HL_RULE_SYNTAX, "one");
  hl_error(&diag, (hl_range){6, 7}, HL_RULE_SYNTAX, "three");
  ck_assert_str_eq(plain(),
                   "t.hlo:1:1: warning: one [syntax]\n    1 | first\n      | ^~~~~\n"
                   "t.hlo:2:1: error: two [limit]\n    2 | second\n      | ^~~~~~\nhelp: do 2\n"
                   "t.hlo:2:1: error: three [syntax]\n    2 | second\n      | ^\n");
  ck_assert_int_eq(diag.error_count, 2);
  ck_assert_int_eq(diag.warning_count, 1);
}
END_TEST

START_TEST(errors_end_at_twenty_with_a_count)
{
  open_text("text");
  for (int i = 0; i < 23; i++) {
    hl_error(&diag, (hl_range){0, 1}, HL_RULE_SYNTAX, "number %d", i);
    hl_help(&diag, "help %d", i);
  }
  const char *out = plain();
  ck_assert_int_eq(diag.error_count, 20);
  ck_assert_ptr_nonnull(strstr(out, "number 19"));
  ck_assert_ptr_nonnull(strstr(out, "help: help 19"));
  ck_assert_ptr_null(strstr(out, "number 20"));
  ck_assert_ptr_null(strstr(out, "help 20"));
  ck_assert_ptr_nonnull(strstr(out, "\n3 more errors not shown\n"));
}
END_TEST

START_TEST(colour_wraps_the_same_text)
{
  open_text("ab");
  hl_error(&diag, (hl_range){1, 2}, HL_RULE_SYNTAX, "m");
  ck_assert_str_eq(render((hl_render_options){.color = true}),
                   "\033[1mt.hlo:1:2: \033[0m\033[1;31merror:\033[0m \033[1mm\033[0m [syntax]\n"
                   "    1 | ab\n      |  \033[1;32m^\033[0m\n");
}
END_TEST

START_TEST(json_is_an_array_of_objects)
{
  open_text("ab\ncd\n");
  hl_error(&diag, (hl_range){1, 5}, HL_RULE_SYNTAX, "a \"quoted\"\tname\xff\xc3\xa4");
  hl_warning(&diag, HL_NO_RANGE, HL_RULE_LIMIT, "w");
  hl_help(&diag, "h");
  ck_assert_str_eq(
      render((hl_render_options){.json = true}),
      "[{\"file\": \"t.hlo\", \"line\": 1, \"column\": 2, \"end_line\": 2, \"end_column\": 3, "
      "\"severity\": \"error\", \"rule\": \"syntax\", "
      "\"message\": \"a \\\"quoted\\\"\\u0009name\\ufffd\xc3\xa4\", \"help\": null},\n"
      " {\"file\": \"t.hlo\", \"line\": null, \"column\": null, \"end_line\": null, "
      "\"end_column\": null, "
      "\"severity\": \"warning\", \"rule\": \"limit\", \"message\": \"w\", \"help\": \"h\"}]\n");
  diag = (hl_diag){.arena = arena};
  ck_assert_str_eq(render((hl_render_options){.json = true}), "[]\n");
}
END_TEST

START_TEST(labels_are_unique)
{
  for (int i = 0; i < HL_RULE_COUNT; i++) {
    ck_assert_ptr_nonnull(hl_rule_sentence((hl_rule)i));
    for (int k = 0; k < i; k++)
      ck_assert_str_ne(hl_rule_label((hl_rule)i), hl_rule_label((hl_rule)k));
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("diag");
  TCase *t = tcase_create("diag");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_loop_test(t, offsets_have_lines_and_columns, 0,
                      (int)(sizeof positions / sizeof *positions));
  tcase_add_test(t, lines_come_without_their_ends);
  tcase_add_loop_test(t, the_caret_stands_below_its_place, 0,
                      (int)(sizeof renderings / sizeof *renderings));
  tcase_add_test(t, a_file_without_text_has_no_place);
  tcase_add_test(t, a_long_line_is_cut_around_the_caret);
  tcase_add_test(t, help_follows_and_order_is_the_texts);
  tcase_add_test(t, errors_end_at_twenty_with_a_count);
  tcase_add_test(t, colour_wraps_the_same_text);
  tcase_add_test(t, json_is_an_array_of_objects);
  tcase_add_test(t, labels_are_unique);
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
