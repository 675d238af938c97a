/* test_interface - the C names that modules get, and the header that says them. */
#include <check.h>
#include <string.h>

#include "src/codegen/elf.h"
#include "src/codegen/header.h"

static hl_arena *arena;

static void setup(void)
{
  arena = hl_arena_new(NULL);
}

static void teardown(void)
{
  hl_arena_free(arena);
}

static const struct {
  const char *path, *name;
} files[] = {
    {"model.hlo", "model"},   {"dir.d/my-model.v2.hlo", "my_model_v2"},
    {"7up.hlo", "m_7up"},     {"int.hlo", "m_int"},
    {"class.txt", "m_class"}, {"-", "model"},
    {"<stdin>", "model"},     {".hidden", "_hidden"},
    {"main.hlo", "m_main"},   {"\xc3\xa4.hlo", "__"},
};

START_TEST(names_of_files)
{
  ck_assert_str_eq(hl_c_name(arena, files[_i].path), files[_i].name);
}
END_TEST

static const struct {
  hl_element_type type;
  const char *name;
} types[] = {
    {HL_PRED, "uint8_t"}, {HL_S4, "int8_t"},    {HL_U4, "uint8_t"},    {HL_S8, "int8_t"},
    {HL_S16, "int16_t"},  {HL_U32, "uint32_t"}, {HL_S64, "int64_t"},   {HL_F16, "uint16_t"},
    {HL_F32, "float"},    {HL_F64, "double"},   {HL_BF16, "uint16_t"}, {HL_F8E5M2, "uint8_t"},
    {HL_C64, "float"},    {HL_C128, "double"},
};

START_TEST(types_of_elements)
{
  ck_assert_str_eq(hl_c_type(types[_i].type), types[_i].name);
}
END_TEST

/* A program of arguments with these names and op_names, and one result. */
static hl_program *program_of(int count, const char *const (*names)[2])
{
  hl_program *p = hl_program_new(arena, "p");
  const int64_t dims[] = {2, 3};
  const hl_shape *shape = hl_shape_new(arena, HL_F32, 2, dims);
  p->arguments = HL_ARRAY(arena, count, hl_port);
  for (int i = 0; i < count; i++)
    p->arguments[i] = (hl_port){.hlo_name = names[i][0],
                                .op_name = names[i][1],
                                .number = i,
                                .shape = shape,
                                .buffer = HL_NEW(arena, hl_buffer)};
  p->argument_count = count;
  p->results = HL_NEW(arena, hl_port);
  p->results[0] = (hl_port){.shape = shape, .buffer = HL_NEW(arena, hl_buffer)};
  p->result_count = 1;
  p->max_workers = 1;
  return p;
}

START_TEST(names_of_members)
{
  const char *const names[][2] = {{"x", NULL},    {"w.1", NULL},  {"Arg_2.3", "bias"},
                                  {"for", NULL},  {"w_1", NULL},  {"Arg_5.6", "args[0]"},
                                  {"Arg_6", "d"}, {"Arg_7", "d"}, {"y", "other"}};
  const char *const want[] = {"x",       "w_1",   "bias",  "for_", "w_1_2",
                              "args_0_", "Arg_6", "Arg_7", "y"};
  hl_interface members = hl_interface_of(arena, program_of(9, names));
  ck_assert_int_eq(members.argument_count, 9);
  for (int i = 0; i < 9; i++)
    ck_assert_str_eq(members.arguments[i].name, want[i]);
  ck_assert_str_eq(members.results[0].name, "result0");
  ck_assert_int_eq(members.results[0].bytes, 24);
}
END_TEST

START_TEST(tuples_and_tokens)
{
  const char *const names[][2] = {{"p", NULL}, {"p", NULL}, {"p", NULL}};
  const int64_t paths[][2] = {{0, 0}, {1, 0}, {1, 1}};
  hl_program *p = program_of(3, names);
  for (int i = 0; i < 3; i++) {
    p->arguments[i].number = 0;
    p->arguments[i].path = paths[i];
    p->arguments[i].path_count = i == 0 ? 1 : 2;
  }
  p->arguments[1].buffer = NULL; /* a token */
  hl_interface members = hl_interface_of(arena, p);
  ck_assert_int_eq(members.argument_count, 2);
  ck_assert_str_eq(members.arguments[0].name, "p_0");
  ck_assert_str_eq(members.arguments[1].name, "p_1_1");
  ck_assert_ptr_null(members.arguments[0].hlo_name);
  ck_assert_str_eq(hl_signature(arena, p), "(p_0: f32[2,3], p_1_1: f32[2,3]) -> f32[2,3]");
}
END_TEST

START_TEST(header_text)
{
  const char *const names[][2] = {{"x", NULL}, {"state", NULL}};
  hl_program *p = program_of(2, names);
  p->workspace_bytes = 4096;
  p->results[0].buffer->alias = p->arguments[1].buffer;
  hl_target_info target = {.triple = "x86_64-linux", .cpu = "x86-64-v3", .features = ""};
  hl_header_options o = {
      .file = "step.h", .source = "a*/b.hlo", .version = "9", .symbol = "step", .target = &target};
  hl_str text = {.arena = arena};
  hl_header_print(&text, p, &o);
  const char *const lines[] = {
      "/* step.h - written by hlo-lite 9 from a*?b.hlo, for x86_64-linux, cpu x86-64-v3. */\n",
      "#define STEP_WORKSPACE_BYTES UINT64_C(4096)\n",
      "  const float *x;     /* x: f32[2,3]  24 bytes */\n",
      "  float *state;       /* state: f32[2,3]  24 bytes; result0 may be the same memory */\n",
      "  float *result0; /* f32[2,3]  24 bytes */\n",
      "int step(const step_args *args, const step_results *results, void *workspace);\n",
      "extern const uint64_t step_workspace_bytes;\n",
      "extern const char step_signature[]; /* \"(x: f32[2,3], state: f32[2,3]) -> f32[2,3]\" */\n"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    ck_assert_msg(strstr(hl_str_text(&text), lines[i]) != NULL, "missing: %s\n%s", lines[i],
                  hl_str_text(&text));
  ck_assert_ptr_null(strstr(hl_str_text(&text), "hlo_parallel_for"));
}
END_TEST

START_TEST(damaged_objects_have_no_symbols)
{
  int count;
  unsigned char bytes[200] = {0x7f, 'E', 'L', 'F', 2};
  memset(bytes + 40, 0xff, 30); /* sections far outside */
  hl_elf_undefined(arena, bytes, sizeof bytes, false, &count);
  ck_assert_int_eq(count, 0);
  hl_elf_undefined(arena, "", 0, false, &count);
  ck_assert_int_eq(count, 0);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("interface");
  TCase *t = tcase_create("interface");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_loop_test(t, names_of_files, 0, (int)(sizeof files / sizeof *files));
  tcase_add_loop_test(t, types_of_elements, 0, (int)(sizeof types / sizeof *types));
  tcase_add_test(t, names_of_members);
  tcase_add_test(t, tuples_and_tokens);
  tcase_add_test(t, header_text);
  tcase_add_test(t, damaged_objects_have_no_symbols);
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
