/* test_api - the public library, used as a program uses it: through hlo_lite.h alone. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "src/hlo_lite.h"

static hlo_context *context;

static void setup(void)
{
  context = hlo_context_new();
  ck_assert_ptr_nonnull(context);
}

static void teardown(void)
{
  hlo_context_free(context);
}

static hlo_module *parse(const char *text)
{
  return hlo_parse(context, "t.hlo", text, strlen(text));
}

static const char bias[] = "HloModule bias\nENTRY e {\n  x = f32[2,3] parameter(0)\n"
                           "  b = f32[3] parameter(1)\n"
                           "  ROOT y = f32[2,3] add(x, b), broadcast_dimensions={1}\n}\n";

static hlo_executable *compile(const char *text, const hlo_options *options)
{
  hlo_module *module = parse(text);
  ck_assert_msg(module != NULL, "%s", hlo_messages(context));
  hlo_executable *made = hlo_compile(context, module, options);
  ck_assert_msg(made != NULL, "%s", hlo_messages(context));
  hlo_module_free(module);
  return made;
}

START_TEST(runs_at_every_level)
{
  const float x[6] = {1, 2, 3, 4, 5, 6}, b[3] = {10, 20, 30};
  const float want[6] = {11, 22, 33, 14, 25, 36};
  hlo_options options = hlo_default_options();
  options.opt_level = _i;
  options.threads = 1;
  hlo_executable *e = compile(bias, &options);
  float y[6] = {0};
  const void *arguments[] = {x, b};
  void *results[] = {y};
  _Alignas(64) static char workspace[256];
  ck_assert_uint_le(hlo_workspace_bytes(e), sizeof workspace);
  ck_assert_int_eq(hlo_execute(e, arguments, results, workspace), 0);
  ck_assert_mem_eq(y, want, sizeof want);
  hlo_executable_free(e);
}
END_TEST

START_TEST(describes_itself)
{
  hlo_executable *e = compile(bias, NULL);
  ck_assert_uint_eq(hlo_argument_count(e), 2);
  ck_assert_uint_eq(hlo_result_count(e), 1);
  hlo_array b = hlo_argument(e, 1), y = hlo_result(e, 0);
  ck_assert_str_eq(b.name, "b");
  ck_assert_str_eq(b.type, "f32");
  ck_assert_int_eq(b.rank, 1);
  ck_assert_int_eq(b.dimensions[0], 3);
  ck_assert_uint_eq(b.bytes, 12);
  ck_assert_str_eq(y.name, "result0");
  ck_assert_int_eq(y.dimensions[1], 3);
  ck_assert_ptr_null(hlo_result(e, 1).name);
  ck_assert_str_eq(hlo_signature(e), "(x: f32[2,3], b: f32[3]) -> f32[2,3]");
  hlo_executable_free(e);
}
END_TEST

START_TEST(calls_with_a_workspace_of_its_own)
{
  const float x[6] = {1, 2, 3, 4, 5, 6}, b[3] = {10, 20, 30}, want[6] = {11, 22, 33, 14, 25, 36};
  float y[6];
  hlo_executable *e = compile(bias, NULL);
  ck_assert_int_eq(hlo_call(e, (const void *[]){x, b}, (void *[]){y}), 0);
  ck_assert_mem_eq(y, want, sizeof want);
  hlo_executable_free(e);
}
END_TEST

/* What a linker takes, and its header. */
START_TEST(compiles_objects)
{
  static const struct {
    const char *target;
    unsigned char bits, machine; /* of the ELF header */
    const char *words;
  } all[] = {{NULL, 2, 0, "bias_2(const bias_2_args"},
             {"aarch64-linux-gnu", 2, 183, "for aarch64-unknown-linux-gnu, cpu generic"},
             {"thumbv7em-none-eabihf", 1, 40, "const float *b;"},
             {"riscv64-linux-gnu", 2, 243, "#define BIAS_2_WORKSPACE_BYTES"}};
  hlo_module *module = parse(bias);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    hlo_options options = hlo_default_options();
    options.target = all[i].target;
    hlo_object object;
    ck_assert_msg(hlo_compile_object(context, module, "bias 2", &options, &object) == 0, "%s", hlo_messages(context));
    const unsigned char *bytes = object.bytes;
    ck_assert_uint_gt(object.size, 64);
    ck_assert_mem_eq(bytes, "\177ELF", 4);
    ck_assert_uint_eq(bytes[4], all[i].bits);
    ck_assert(!all[i].machine || bytes[18] == all[i].machine);
    ck_assert_msg(strstr(object.header, all[i].words) != NULL, "%s", object.header);
    ck_assert_msg(!strstr(object.header, "hlo_parallel_for"), "%s", object.header);
  }
  hlo_options options = hlo_default_options();
  options.target = "m88k-none";
  hlo_object object;
  ck_assert_int_eq(hlo_compile_object(context, module, "bias", &options, &object), 1);
  ck_assert_ptr_nonnull(strstr(hlo_messages(context), "unknown target 'm88k-none'"));
  ck_assert_uint_eq(object.size, 0);
  hlo_module_free(module);
}
END_TEST

START_TEST(errors_are_values)
{
  ck_assert_ptr_null(parse("ENTRY e {\n  x = f32[2,3] parameter(0)\n  b = f32[3] parameter(1)\n"
                           "  ROOT y = f32[2,3] add(x, b)\n}\n"));
  ck_assert_uint_eq(hlo_message_count(context), 1);
  hlo_message m = hlo_message_at(context, 0);
  ck_assert_int_eq(m.is_error, 1);
  ck_assert_uint_eq(m.line, 4);
  ck_assert_uint_gt(m.column, 0);
  ck_assert_uint_gt(m.end_column, m.column);
  ck_assert_ptr_nonnull(m.help);
  ck_assert_ptr_nonnull(strstr(m.help, "broadcast_dimensions={1}"));
  ck_assert_ptr_nonnull(strstr(hlo_messages(context), "t.hlo:4:"));
  ck_assert_str_eq(hlo_message_at(context, 1).text, "");
  /* the next call begins anew */
  hlo_module *module = parse(bias);
  ck_assert_ptr_nonnull(module);
  ck_assert_uint_eq(hlo_message_count(context), 0);
  ck_assert_str_eq(hlo_messages(context), "");
  hlo_module_free(module);
}
END_TEST

START_TEST(refuses_what_cannot_be_compiled)
{
  hlo_module *module = parse("ENTRY e {\n  x = f32[2] parameter(0)\n  t = token[] after-all()\n"
                             "  ROOT y = (f32[2], token[]) infeed(t)\n}\n");
  ck_assert_msg(module != NULL, "%s", hlo_messages(context));
  ck_assert_ptr_null(hlo_compile(context, module, NULL));
  ck_assert_uint_ge(hlo_message_count(context), 1);
  ck_assert_ptr_nonnull(strstr(hlo_messages(context), "infeed"));
  hlo_module_free(module);
}
END_TEST

/* ---- custom calls ---- */

static const char scaled[] = "HloModule m\nENTRY e {\n  x = f32[3] parameter(0)\n"
                             "  y = f32[3] custom-call(x), custom_call_target=\"my scale\", backend_config=\"3\"\n"
                             "  ROOT z = f32[3] add(y, x)\n}\n";

static int scale(void *const *arguments, void *const *results, const char *config, size_t config_bytes)
{
  const float *x = arguments[0];
  float *y = results[0];
  for (int i = 0; i < 3; i++)
    y[i] = x[i] * (float)(config[0] - '0');
  return config_bytes != 1 || x[0] < 0;
}

static const char loose[] = "HloModule loose\nENTRY e {\n  p = pred[8] parameter(0)\n"
                            "  q = pred[] parameter(1)\n  n = s4[4] parameter(2)\n"
                            "  z = u2[4] parameter(3)\n"
                            "  ROOT t = (pred[8], pred[8], pred[], s4[4], u2[4]) tuple(p, p, q, n, z)\n}\n";

/* Any byte but 0 is true, and of small integers their own bits count: results hold the one form,
 * also of what is only moved. */
START_TEST(moves_leave_one_form)
{
  hlo_options options = hlo_default_options();
  options.opt_level = _i;
  hlo_executable *e = compile(loose, &options);
  const uint8_t p[8] = {0, 1, 2, 255, 128, 0, 16, 3}, want[8] = {0, 1, 1, 1, 1, 0, 1, 1};
  const uint8_t q = 2, one = 1, z[4] = {0, 3, 5, 0xfe}, small[4] = {0, 3, 1, 2};
  const int8_t n[4] = {7, -8, 0x17, 0x48}, four[4] = {7, -8, 7, -8};
  uint8_t p1[8], p2[8], q1, z1[4];
  int8_t n1[4];
  void *results[] = {p1, p2, &q1, n1, z1};
  _Alignas(64) static char workspace[256];
  ck_assert_int_eq(hlo_execute(e, (const void *[]){p, &q, n, z}, results, workspace), 0);
  ck_assert_mem_eq(p1, want, sizeof want);
  ck_assert_mem_eq(p2, want, sizeof want);
  ck_assert_uint_eq(q1, one);
  ck_assert_mem_eq(n1, four, sizeof four);
  ck_assert_mem_eq(z1, small, sizeof small);
  hlo_executable_free(e);
}
END_TEST

START_TEST(calls_functions_of_the_program)
{
  const float x[3] = {1, 2, 3}, bad[3] = {-1, 0, 0};
  float y[3];
  ck_assert_int_eq(hlo_set_custom_call(context, "other", scale), 0);
  ck_assert_int_eq(hlo_set_custom_call(context, "my scale", scale), 0);
  hlo_executable *e = compile(scaled, NULL);
  void *results[] = {y}, *workspace = aligned_alloc(64, hlo_workspace_bytes(e) + 64);
  ck_assert_int_eq(hlo_execute(e, (const void *[]){x}, results, workspace), 0);
  for (int i = 0; i < 3; i++)
    ck_assert_float_eq(y[i], 4 * x[i]);
  ck_assert_int_eq(hlo_execute(e, (const void *[]){bad}, results, workspace), 2);
  free(workspace);
  hlo_executable_free(e);
}
END_TEST

START_TEST(refuses_unknown_targets)
{
  ck_assert_int_eq(hlo_set_custom_call(context, "my scale", scale), 0);
  ck_assert_int_eq(hlo_set_custom_call(context, "my scale", NULL), 0);
  hlo_module *module = parse(scaled);
  ck_assert_ptr_nonnull(module);
  ck_assert_ptr_null(hlo_compile(context, module, NULL));
  hlo_message message = hlo_message_at(context, 0);
  ck_assert_uint_eq(message.line, 4);
  ck_assert_ptr_nonnull(strstr(message.text, "my scale"));
  hlo_module_free(module);
}
END_TEST

START_TEST(refuses_an_unknown_cpu)
{
  hlo_module *module = parse(bias);
  hlo_options options = hlo_default_options();
  options.cpu = "no-such-cpu";
  ck_assert_ptr_null(hlo_compile(context, module, &options));
  ck_assert_ptr_nonnull(strstr(hlo_messages(context), "no-such-cpu"));
  hlo_module_free(module);
}
END_TEST

START_TEST(prints_modules)
{
  hlo_module *module = parse(bias);
  const char *text = hlo_module_text(context, module);
  ck_assert_ptr_nonnull(strstr(text, "broadcast_dimensions={1}"));
  ck_assert_ptr_eq(hlo_module_text(context, module), text);
  hlo_module *again = parse(text);
  ck_assert_ptr_nonnull(again);
  ck_assert_str_eq(hlo_module_text(context, again), text);
  hlo_module_free(again);
  hlo_module_free(module);
}
END_TEST

/* Rows of a softmax: a workspace, and threads of the pool. */
static const char softmax[] =
    "HloModule softmax\n"
    "greatest {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
    "  ROOT c = f32[] maximum(a, b)\n}\n"
    "total {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
    "ENTRY e {\n  x = f32[256,512] parameter(0)\n  low = f32[] constant(-inf)\n"
    "  m = f32[256] reduce(x, low), dimensions={1}, to_apply=greatest\n"
    "  ms = f32[256,512] broadcast(m), dimensions={0}\n  d = f32[256,512] subtract(x, ms)\n"
    "  e = f32[256,512] exponential(d)\n  z = f32[] constant(0)\n"
    "  s = f32[256] reduce(e, z), dimensions={1}, to_apply=total\n"
    "  ss = f32[256,512] broadcast(s), dimensions={0}\n"
    "  ROOT y = f32[256,512] divide(e, ss)\n}\n";

enum { CELLS = 256 * 512, CALLERS = 4, CALLS = 10 };

typedef struct caller {
  const hlo_executable *executable;
  const float *x;
  float *y;
  int status;
} caller;

static void *call_often(void *data)
{
  caller *c = data;
  size_t bytes = hlo_workspace_bytes(c->executable);
  void *workspace = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
  const void *arguments[] = {c->x};
  void *results[] = {c->y};
  for (int i = 0; i < CALLS; i++)
    c->status |= hlo_execute(c->executable, arguments, results, workspace);
  free(workspace);
  return NULL;
}

START_TEST(executables_are_shared)
{
  hlo_executable *e = compile(softmax, NULL);
  hlo_context_free(context); /* executables outlive it */
  context = NULL;
  float *x = malloc(CELLS * sizeof *x);
  for (int i = 0; i < CELLS; i++)
    x[i] = (float)(i * 7919 % 1000) / 100;
  caller callers[CALLERS];
  pthread_t threads[CALLERS];
  for (int i = 0; i < CALLERS; i++) {
    callers[i] = (caller){.executable = e, .x = x, .y = malloc(CELLS * sizeof *x)};
    ck_assert_int_eq(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
  }
  for (int i = 0; i < CALLERS; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < CALLERS; i++) {
    ck_assert_int_eq(callers[i].status, 0);
    ck_assert_mem_eq(callers[i].y, callers[0].y, CELLS * sizeof *x);
  }
  for (int i = 0; i < CALLERS; i++)
    free(callers[i].y);
  free(x);
  hlo_executable_free(e);
}
END_TEST

START_TEST(refuses_a_bad_workspace)
{
  hlo_executable *e = compile(softmax, NULL);
  ck_assert_uint_gt(hlo_workspace_bytes(e), 0);
  float *x = calloc(CELLS, sizeof *x), *y = calloc(CELLS, sizeof *y);
  const void *arguments[] = {x};
  void *results[] = {y};
  ck_assert_int_eq(hlo_execute(e, arguments, results, NULL), 1);
  ck_assert_int_eq(hlo_execute(e, arguments, results, (void *)((uintptr_t)64 + 4)), 1);
  free(x);
  free(y);
  hlo_executable_free(e);
}
END_TEST

START_TEST(a_bound_for_the_workspace)
{
  hlo_executable *e = compile(softmax, NULL);
  hlo_options options = hlo_default_options();
  options.max_workspace_bytes = hlo_workspace_bytes(e);
  hlo_executable_free(e);
  hlo_executable_free(compile(softmax, &options));
  options.max_workspace_bytes--;
  hlo_module *module = parse(softmax);
  ck_assert_ptr_null(hlo_compile(context, module, &options));
  ck_assert_ptr_nonnull(strstr(hlo_messages(context), "bytes, more than the"));
  hlo_module_free(module);
}
END_TEST

START_TEST(several_live_at_once)
{
  hlo_executable *made[3];
  for (int i = 0; i < 3; i++)
    made[i] = compile(i == 1 ? softmax : bias, NULL);
  const float x[6] = {1, 2, 3, 4, 5, 6}, b[3] = {1, 1, 1};
  const void *arguments[] = {x, b};
  hlo_executable_free(made[0]);
  float y[6];
  void *results[] = {y};
  ck_assert_int_eq(hlo_execute(made[2], arguments, results, NULL), 0);
  ck_assert(y[5] == 7);
  hlo_executable_free(made[1]);
  hlo_executable_free(made[2]);
  hlo_executable_free(NULL);
  hlo_module_free(NULL);
}
END_TEST

#ifdef CAN_FAIL_ALLOCATIONS
/* Each allocation of parsing and printing fails in turn: always a message, never a crash, and the
 * context is as good as before. */
START_TEST(memory_may_run_out)
{
  hlo_module *module = NULL;
  const char *text = NULL;
  long n = 0;
  for (; !text && n < 10000; n++) {
    allocations_left = n;
    module = parse(softmax);
    text = module ? hlo_module_text(context, module) : NULL;
    allocations_left = -1;
    if (text)
      break;
    ck_assert_uint_eq(hlo_message_count(context), 1);
    ck_assert_str_eq(hlo_message_at(context, 0).text, "out of memory");
    ck_assert_str_eq(hlo_messages(context), "error: out of memory\n");
    hlo_module_free(module);
  }
  ck_assert_int_gt(n, 3);
  ck_assert_ptr_nonnull(text);
  hlo_module_free(module);
}
END_TEST

/* Compilation likewise, at every level. */
START_TEST(memory_may_run_out_in_compilation)
{
  hlo_options options = hlo_default_options();
  options.opt_level = _i;
  hlo_module *module = parse(softmax);
  hlo_executable *made = NULL;
  long n = 0;
  for (; !made && n < 10000; n++) {
    blocks_left = n;
    made = hlo_compile(context, module, &options);
    blocks_left = -1;
    if (!made)
      ck_assert_str_eq(hlo_messages(context), "error: out of memory\n");
  }
  ck_assert_int_gt(n, 3);
  ck_assert_ptr_nonnull(made);
  hlo_executable_free(made);
  hlo_module_free(module);
}
END_TEST
#endif

enum { COMPILERS = 4, MODULES = 10000, WARM = 500 };

static void *compile_some(void *data)
{
  const hlo_options *options = data;
  hlo_context *own = hlo_context_new();
  hlo_module *module = hlo_parse(own, "t.hlo", softmax, strlen(softmax));
  long failures = !module;
  for (int i = 0; i < 3 && module; i++) {
    hlo_executable *e = hlo_compile(own, module, options);
    failures += !e;
    hlo_executable_free(e);
  }
  hlo_module_free(module);
  hlo_context_free(own);
  return (void *)failures;
}

START_TEST(several_compile_at_once)
{
  pthread_t threads[COMPILERS];
  hlo_options options[COMPILERS];
  for (int i = 0; i < COMPILERS; i++) {
    options[i] = hlo_default_options();
    options[i].opt_level = i;
    ck_assert_int_eq(pthread_create(&threads[i], NULL, compile_some, &options[i]), 0);
  }
  for (int i = 0; i < COMPILERS; i++) {
    void *failures;
    pthread_join(threads[i], &failures);
    ck_assert_ptr_null(failures);
  }
}
END_TEST

/* KiB of this process that are in memory. */
static long resident(void)
{
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  ck_assert_ptr_nonnull(file);
  ck_assert_int_eq(fscanf(file, "%*d %ld", &pages), 1);
  fclose(file);
  return pages * 4;
}

START_TEST(modules_leave_nothing)
{
  long before = 0;
  for (int i = 0; i < MODULES; i++) {
    hlo_module *module = parse(i % 2 ? softmax : bias);
    ck_assert_ptr_nonnull(module);
    if (i % 100 == 0)
      hlo_executable_free(compile(bias, NULL));
    hlo_module_free(module);
    if (i == WARM)
      before = resident();
  }
  ck_assert_int_lt(resident() - before, 4096);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("api");
  TCase *t = tcase_create("api");
  tcase_set_timeout(t, 30);
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_loop_test(t, runs_at_every_level, 0, 4);
  tcase_add_test(t, describes_itself);
  tcase_add_test(t, calls_with_a_workspace_of_its_own);
  tcase_add_test(t, compiles_objects);
  tcase_add_test(t, errors_are_values);
  tcase_add_test(t, refuses_what_cannot_be_compiled);
  tcase_add_test(t, refuses_an_unknown_cpu);
  tcase_add_test(t, prints_modules);
  tcase_add_test(t, calls_functions_of_the_program);
  tcase_add_loop_test(t, moves_leave_one_form, 0, 3);
  tcase_add_test(t, refuses_unknown_targets);
  tcase_add_test(t, executables_are_shared);
  tcase_add_test(t, refuses_a_bad_workspace);
  tcase_add_test(t, a_bound_for_the_workspace);
  tcase_add_test(t, several_live_at_once);
#ifdef CAN_FAIL_ALLOCATIONS
  tcase_add_test(t, memory_may_run_out);
  tcase_add_loop_test(t, memory_may_run_out_in_compilation, 0, 4);
#endif
  tcase_add_test(t, several_compile_at_once);
#ifdef CAN_FAIL_ALLOCATIONS /* sanitizers keep what was freed for a while */
  tcase_add_test(t, modules_leave_nothing);
#endif
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
