/* loop_support.h - what the tests of the loop IR share: texts to programs and back. */
#ifndef LOOP_SUPPORT_H
#define LOOP_SUPPORT_H

#include "ir/loop.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static hl_arena *arena;

static inline void open_arena(void)
{
  arena = hl_arena_new(NULL);
}

static inline void close_arena(void)
{
  hl_arena_free(arena);
}

/* The program of a text; NULL, and the rendered diagnostics in *message. */
static inline hl_program *parse_text(const char *text, const char **message)
{
  hl_source *source = hl_source_new(arena, "test", text, strlen(text));
  hl_diag diag = {.arena = arena, .source = source};
  hl_program *program = hl_program_parse(arena, source, &diag);
  hl_str out = {.arena = arena};
  hl_diag_render(&diag, (hl_render_options){0}, &out);
  *message = hl_str_text(&out);
  return program;
}

static inline hl_program *parse_good(const char *text)
{
  const char *message;
  hl_program *program = parse_text(text, &message);
  ck_assert_msg(program != NULL, "%s", message);
  return program;
}

static inline const char *print_program(const hl_program *program)
{
  hl_str out = {.arena = arena};
  hl_program_print(&out, program);
  return hl_str_text(&out);
}

static inline int run_suite(Suite *suite)
{
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}

#endif
