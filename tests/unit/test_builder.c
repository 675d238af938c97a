/* test_builder - modules from C, through hlo_lite.h alone: what is built, NumPy's broadcasting, and errors as values. */
#include <check.h>
#include <glob.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "src/hlo_lite.h"

enum { MAX_RANK = 8, MAX_VALUES = 4096 };

static hlo_context *context;
static hlo_builder *b;

static void setup(void)
{
  context = hlo_context_new();
  b = hlo_builder_new(context, "test");
  ck_assert_ptr_nonnull(b);
}

static void teardown(void)
{
  hlo_builder_free(b);
  hlo_context_free(context);
}

#define SIZES(...) ((const int64_t[]){__VA_ARGS__})

static hlo_value *f32(const char *name, int rank, const int64_t *sizes)
{
  return hlo_parameter(b, name, "f32", rank, sizes);
}

static void starts_again(void)
{
  hlo_builder_free(b);
  b = hlo_builder_new(context, "test");
}

/* Compiles what was built and calls it; results in the order of the root's tuple. */
static void run(hlo_value *root, const void *const *arguments, void *const *results)
{
  hlo_module *module = hlo_build(b, root);
  ck_assert_msg(module != NULL, "%s", hlo_messages(context));
  hlo_options options = hlo_default_options();
  options.opt_level = 1;
  options.threads = 1;
  hlo_executable *e = hlo_compile(context, module, &options);
  ck_assert_msg(e != NULL, "%s", hlo_messages(context));
  void *workspace = aligned_alloc(64, (hlo_workspace_bytes(e) + 64) / 64 * 64);
  ck_assert_int_eq(hlo_execute(e, arguments, results, workspace), 0);
  free(workspace);
  hlo_executable_free(e);
  hlo_module_free(module);
}

/* The builder has failed, and the messages hold these words. */
static void fails_with(const char *words)
{
  ck_assert_ptr_null(hlo_build(b, NULL));
  ck_assert_msg(strstr(hlo_messages(context), words) != NULL, "wanted: %s\ngot: %s", words, hlo_messages(context));
  ck_assert_uint_eq(hlo_message_count(context), 1);
  starts_again();
}

/* ---- modules ---- */

START_TEST(builds_what_it_says)
{
  hlo_value *x = f32("x", 2, SIZES(2, 3)), *bias = f32("bias", 1, SIZES(3));
  hlo_module *module = hlo_build(b, hlo_add(x, bias));
  ck_assert_msg(module != NULL, "%s", hlo_messages(context));
  ck_assert_str_eq(hlo_module_text(context, module), "HloModule test\n\nENTRY main {\n  x = f32[2,3] parameter(0)\n"
                                                     "  bias = f32[3] parameter(1)\n"
                                                     "  ROOT add.0 = f32[2,3] add(x, bias), broadcast_dimensions={1}\n}\n");
  hlo_module_free(module);
  ck_assert_ptr_null(hlo_exp(x)); /* it is built */
}
END_TEST

START_TEST(tells_what_values_are)
{
  hlo_value *x = f32("x", 2, SIZES(2, 3)), *pair[] = {x, x};
  ck_assert_str_eq(hlo_value_name(x), "x");
  ck_assert_str_eq(hlo_value_type(x), "f32");
  ck_assert_int_eq(hlo_value_rank(x), 2);
  ck_assert_int_eq(hlo_value_dimensions(x)[1], 3);
  ck_assert_str_eq(hlo_value_type(hlo_tuple(b, 2, pair)), "tuple");
  ck_assert_ptr_null(hlo_value_type(NULL));
  ck_assert_ptr_null(hlo_value_dimensions(NULL));
}
END_TEST

START_TEST(makes_every_opcode_from_text)
{
  hlo_value *x = f32("x", 2, SIZES(2, 3)), *w = f32("w", 2, SIZES(3, 4));
  hlo_value *y = hlo_emit(b, "product = dot(%v, %v), lhs_contracting_dims={%d}, rhs_contracting_dims=%D", x, w, 1, 1, SIZES(0));
  ck_assert_msg(y != NULL, "%s", hlo_messages(context));
  ck_assert_str_eq(hlo_value_name(y), "product");
  hlo_value *z = hlo_emit(b, "(f32[2,4], s64[%l]) custom-call(%v, w), custom_call_target=\"%s\"", (int64_t)7, y, "100%");
  ck_assert_msg(z != NULL, "%s", hlo_messages(context));
  ck_assert_str_eq(hlo_value_type(z), "tuple");
  ck_assert_ptr_nonnull(strstr(hlo_value_name(z), "custom-call"));
  ck_assert_ptr_nonnull(hlo_emit(b, "neg = negate(sine(product))"));
}
END_TEST

START_TEST(loops_and_branches)
{
  hlo_value *n = hlo_parameter(b, "n", "s32", 0, NULL), *one = hlo_scalar(b, "s64", 1);
  hlo_begin(b, "goes on");
  hlo_value *state = hlo_emit(b, "(s32[], s64[]) parameter(0)");
  hlo_value *left = hlo_element(state, 0);
  hlo_computation *condition = hlo_end(b, hlo_greater(left, hlo_scalar(b, "s32", 0)));
  hlo_begin(b, "body");
  state = hlo_emit(b, "(s32[], s64[]) parameter(0)");
  hlo_value *less = hlo_subtract(hlo_element(state, 0), hlo_scalar(b, "s32", 1));
  hlo_value *next[] = {less, hlo_multiply(hlo_element(state, 1), hlo_scalar(b, "s64", 3))};
  hlo_computation *body = hlo_end(b, hlo_tuple(b, 2, next));
  hlo_value *start[] = {n, one};
  hlo_value *end = hlo_emit(b, "while(%v), condition=%c, body=%c", hlo_tuple(b, 2, start), condition, body);
  const int32_t count = 20;
  int64_t power = 0;
  run(hlo_element(end, 1), (const void *[]){&count}, (void *[]){&power});
  ck_assert_int_eq(power, 3486784401);
}
END_TEST

START_TEST(regions_are_made_once)
{
  hlo_computation *sum = hlo_region(b, "add", "f32");
  ck_assert_ptr_nonnull(sum);
  ck_assert_ptr_eq(hlo_region(b, "add", "f32"), sum);
  ck_assert_ptr_ne(hlo_region(b, "add", "f64"), sum);
  ck_assert_ptr_null(hlo_region(b, "exponential", "f32"));
}
END_TEST

START_TEST(constants_are_copied)
{
  float values[] = {1.5f, -0.0f, INFINITY, 4}, y[8];
  int8_t nibbles[] = {-8, 7};
  hlo_value *c = hlo_constant(b, "f32", 2, SIZES(2, 2), values);
  memset(values, 0, sizeof values);
  hlo_value *full = hlo_full(b, "f32", 2, SIZES(2, 2), 2.5);
  hlo_value *both[] = {c, full};
  ck_assert_ptr_nonnull(hlo_constant(b, "s4", 1, SIZES(2), nibbles));
  run(hlo_concatenate(2, both, -1), NULL, (void *[]){y});
  const float want[] = {1.5f, -0.0f, 2.5f, 2.5f, INFINITY, 4, 2.5f, 2.5f};
  ck_assert_mem_eq(y, want, sizeof want);
}
END_TEST

START_TEST(aliases_join_equal_shapes_alone)
{
  hlo_value *x = f32("x", 1, SIZES(3)), *small = f32("small", 1, SIZES(1));
  hlo_value *y = hlo_add(x, small);
  hlo_alias(b, 0, x);
  hlo_module *module = hlo_build(b, y);
  ck_assert_msg(module != NULL, "%s", hlo_messages(context));
  ck_assert_ptr_nonnull(strstr(hlo_module_text(context, module), "input_output_alias={ {}: (0, {}, may-alias) }"));
  hlo_module_free(module);
  starts_again();
  x = f32("x", 1, SIZES(3));
  small = f32("small", 1, SIZES(1));
  y = hlo_add(x, small);
  hlo_alias(b, 0, small);
  ck_assert_ptr_null(hlo_build(b, y));
  fails_with("result 0, f32[3], cannot be written into 'small', f32[1]");
}
END_TEST

/* ---- every module of the examples, line by line ---- */

/* "HloModule name, attributes" */
static void start_module(char *line)
{
  char *name = line + strlen("HloModule "), *end = name + strcspn(name, ",");
  bool has_attributes = *end == ',';
  *end = '\0';
  hlo_builder_free(b);
  b = hlo_builder_new(context, name);
  if (has_attributes)
    hlo_header(b, end + 2);
}

/* "name {" or "ENTRY name {" */
static void start_computation(char *line, bool is_entry)
{
  char *name = is_entry ? line + strlen("ENTRY ") : line;
  name[strcspn(name, " ")] = '\0';
  if (is_entry)
    hlo_name_entry(b, name);
  else
    hlo_begin(b, name);
}

static void add_line(char *line, bool *is_entry)
{
  size_t length = strlen(line);
  if (!strncmp(line, "HloModule", 9)) {
    start_module(line);
  } else if (!strcmp(line, "}")) {
    if (!*is_entry)
      ck_assert_msg(hlo_end(b, NULL) != NULL, "%s", hlo_messages(context));
  } else if (length && line[length - 1] == '{' && line[0] != ' ') {
    *is_entry = !strncmp(line, "ENTRY", 5);
    start_computation(line, *is_entry);
  } else if (length) {
    ck_assert_msg(hlo_emit(b, "%s", line + 2) != NULL, "%s", hlo_messages(context));
  }
}

static const char *read_text(const char *path)
{
  static char text[1 << 20];
  FILE *file = fopen(path, "r");
  ck_assert_ptr_nonnull(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

/* A module as `hlo-lite fmt` writes it, without comments; NULL when it has faults. */
static char *canonical(const char *text, size_t size)
{
  hlo_module *stored = hlo_parse(context, "stored.hlo", text, size);
  char *copy = stored ? strdup(hlo_module_text(context, stored)) : NULL;
  hlo_module_free(stored);
  return copy;
}

/* Takes the text over. */
static void rebuilds(const char *path, char *want)
{
  char *lines = strdup(want);
  bool is_entry = false;
  for (char *line = lines; line;) {
    char *end = strchr(line, '\n');
    if (end)
      *end = '\0';
    add_line(line, &is_entry);
    line = end ? end + 1 : NULL;
  }
  hlo_module *made = hlo_build(b, NULL);
  ck_assert_msg(made != NULL, "%s: %s", path, hlo_messages(context));
  ck_assert_str_eq(hlo_module_text(context, made), want);
  free(want);
  free(lines);
  hlo_module_free(made);
}

START_TEST(rebuilds_the_examples)
{
  glob_t found;
  ck_assert_int_eq(glob(HL_SOURCE_DIR "/examples/*.hlo", 0, NULL, &found), 0);
  ck_assert_int_eq(glob(HL_SOURCE_DIR "/examples/jax/*.hlo", GLOB_APPEND, NULL, &found), 0);
  ck_assert_int_eq(glob(HL_SOURCE_DIR "/examples/cortex-m/*.hlo", GLOB_APPEND, NULL, &found), 0);
  ck_assert_uint_ge(found.gl_pathc, 13);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    const char *text = read_text(found.gl_pathv[i]);
    char *want = canonical(text, strlen(text));
    ck_assert_msg(want != NULL, "%s", hlo_messages(context));
    rebuilds(found.gl_pathv[i], want);
  }
  globfree(&found);
}
END_TEST

/* Every legal case of a file of tests/ops; how many there are. */
static int rebuild_cases(const char *path)
{
  static const char mark[] = "\n// -----";
  int count = 0;
  for (const char *text = read_text(path); text;) {
    const char *end = strstr(text, mark);
    char *want = canonical(text, end ? (size_t)(end - text) : strlen(text));
    if (want) {
      rebuilds(path, want);
      count++;
    }
    text = end ? strchr(end + 1, '\n') : NULL;
  }
  return count;
}

/* A file each: so every op can be built, and prints as if it had been read. */
START_TEST(rebuilds_every_op)
{
  glob_t found;
  ck_assert_int_eq(glob(HL_SOURCE_DIR "/tests/ops/*.hlo", 0, NULL, &found), 0);
  ck_assert_uint_ge(found.gl_pathc, 120);
  for (size_t i = 0; i < found.gl_pathc; i++)
    ck_assert_msg(rebuild_cases(found.gl_pathv[i]) > 0, "%s has no legal case", found.gl_pathv[i]);
  globfree(&found);
}
END_TEST

/* ---- NumPy's broadcasting (tests/builder/numpy.txt) ---- */

typedef struct table_row {
  char function[32], message[200];
  int x_rank, y_rank, rank;
  int64_t x[MAX_RANK], y[MAX_RANK], sizes[MAX_RANK];
  int count;
  float values[256];
} table_row;

typedef hlo_value *binary_function(hlo_value *x, hlo_value *y);

static binary_function *function_of(const char *name)
{
#define F(name) {#name, hlo_##name}
  static const struct {
    const char *name;
    binary_function *function;
  } all[] = {F(add),     F(subtract), F(multiply), F(divide),    F(remainder), F(fmod),       F(power),   F(arctan2),
             F(maximum), F(minimum),  F(equal),    F(not_equal), F(less),      F(less_equal), F(greater), F(greater_equal)};
#undef F
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(all[i].name, name))
      return all[i].function;
  ck_abort_msg("no function %s", name);
}

static int read_sizes(char *text, int64_t *sizes)
{
  int rank = 0;
  for (char *at = text; *text != '-' && at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    sizes[rank++] = strtoll(at, NULL, 10);
  return rank;
}

static void read_row(char *line, table_row *r)
{
  *r = (table_row){.rank = -1};
  line[strcspn(line, "\n")] = '\0';
  snprintf(r->function, sizeof r->function, "%s", strtok(line, " "));
  r->x_rank = read_sizes(strtok(NULL, " "), r->x);
  r->y_rank = read_sizes(strtok(NULL, " "), r->y);
  char *word = strtok(NULL, " ");
  if (!strcmp(word, "error")) {
    snprintf(r->message, sizeof r->message, "%s", strtok(NULL, ""));
    return;
  }
  r->rank = read_sizes(word, r->sizes);
  for (word = strtok(NULL, " "); word; word = strtok(NULL, " "))
    r->values[r->count++] = strtof(word, NULL);
}

static int64_t elements(int rank, const int64_t *sizes)
{
  int64_t n = 1;
  for (int i = 0; i < rank; i++)
    n *= sizes[i];
  return n;
}

/* What generate.py fills arrays with. */
static hlo_value *filled(int rank, const int64_t *sizes, double start, double step, bool is_positive)
{
  static float values[MAX_VALUES];
  int64_t n = elements(rank, sizes);
  for (int64_t i = 0; i < n; i++) {
    double v = start + step * (double)i;
    v = i % 2 ? -v : v;
    values[i] = (float)(is_positive ? fabs(v) : v);
  }
  return hlo_constant(b, "f32", rank, sizes, values);
}

static hlo_value *make_row(const table_row *r)
{
  bool is_power = !strcmp(r->function, "power");
  hlo_value *x = filled(r->x_rank, r->x, 0.5, 0.75, is_power);
  hlo_value *y = filled(r->y_rank, r->y, 2.0, is_power ? 0.5 : -0.5, false);
  return function_of(r->function)(x, y);
}

static void compare_row(const table_row *r, const float *got)
{
  for (int i = 0; i < r->count; i++) {
    float want = r->values[i];
    bool is_same = got[i] == want || (isnan(got[i]) && isnan(want)) || fabsf(got[i] - want) <= 4e-7f * fabsf(want);
    ck_assert_msg(is_same, "%s: value %d is %.9g, not %.9g", r->function, i, (double)got[i], (double)want);
    ck_assert_int_eq(got[i] == 0 && signbit(got[i]), want == 0 && signbit(want));
  }
}

enum { GROUP = 48 };

/* Many rows in one module: compiling each would take long. */
static void run_group(const table_row *rows, int count)
{
  static float results[GROUP][256];
  hlo_value *values[GROUP];
  void *places[GROUP];
  starts_again();
  for (int i = 0; i < count; i++) {
    values[i] = make_row(&rows[i]);
    ck_assert_msg(values[i] != NULL, "%s", hlo_messages(context));
    ck_assert_int_eq(hlo_value_rank(values[i]), rows[i].rank);
    for (int k = 0; k < rows[i].rank; k++)
      ck_assert_int_eq(hlo_value_dimensions(values[i])[k], rows[i].sizes[k]);
    values[i] = hlo_convert(values[i], "f32"); /* comparisons give pred */
    places[i] = results[i];
  }
  run(hlo_tuple(b, count, values), NULL, places);
  for (int i = 0; i < count; i++)
    compare_row(&rows[i], results[i]);
}

START_TEST(agrees_with_numpy)
{
  static table_row rows[GROUP];
  static char line[8192];
  int count = 0, legal = 0, illegal = 0;
  FILE *file = fopen(HL_SOURCE_DIR "/tests/builder/numpy.txt", "r");
  ck_assert_ptr_nonnull(file);
  while (fgets(line, sizeof line, file)) {
    read_row(line, &rows[count]);
    if (rows[count].rank < 0) {
      starts_again();
      ck_assert_ptr_null(make_row(&rows[count]));
      fails_with(rows[count].message);
      illegal++;
      continue;
    }
    legal++;
    if (++count == GROUP) {
      run_group(rows, count);
      count = 0;
    }
  }
  fclose(file);
  run_group(rows, count);
  ck_assert_int_ge(legal, 500);
  ck_assert_int_ge(illegal, 200);
}
END_TEST

START_TEST(broadcasts_shapes)
{
  const int64_t a[] = {2, 1, 5}, c[] = {3, 1}, d[] = {5}, bad[] = {4};
  const int64_t *all[] = {a, c, d, bad};
  const int ranks[] = {3, 2, 1, 1};
  int64_t out[64];
  ck_assert_int_eq(hlo_broadcast_shapes(3, ranks, all, out), 3);
  ck_assert_int_eq(out[0], 2);
  ck_assert_int_eq(out[1], 3);
  ck_assert_int_eq(out[2], 5);
  ck_assert_int_eq(hlo_broadcast_shapes(4, ranks, all, out), -1);
  ck_assert_int_eq(hlo_broadcast_shapes(0, NULL, NULL, out), 0);
}
END_TEST

START_TEST(broadcasts_arrays)
{
  hlo_value *x = f32("x", 2, SIZES(2, 1)), *y = f32("y", 1, SIZES(3)), *z = f32("z", 0, NULL), *in[] = {x, y, z}, *out[3];
  ck_assert_int_eq(hlo_broadcast_arrays(3, in, out), 0);
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(hlo_value_rank(out[i]), 2);
    ck_assert_int_eq(hlo_value_dimensions(out[i])[0], 2);
    ck_assert_int_eq(hlo_value_dimensions(out[i])[1], 3);
  }
  ck_assert_int_eq(hlo_broadcast_arrays(0, NULL, NULL), 0);
  hlo_value *bad[] = {y, f32("w", 1, SIZES(4))};
  ck_assert_int_eq(hlo_broadcast_arrays(2, bad, out), 1);
  ck_assert_ptr_null(out[0]);
  ck_assert_ptr_null(out[1]);
  fails_with("hlo_broadcast_arrays: operands could not be broadcast together with shapes (3,) (4,): 3 against 4 in dimension 0");
}
END_TEST

/* ---- shapes, reductions, layers against values worked out by hand ---- */

static const float ramp[6] = {1, 2, 3, 4, 5, 6};

/* One result of one f32[2,3] argument. */
static void gives(hlo_value *value, const float *want, int count)
{
  float got[64];
  ck_assert_msg(value != NULL, "%s", hlo_messages(context));
  ck_assert_int_eq(elements(hlo_value_rank(value), hlo_value_dimensions(value)), count);
  run(hlo_convert(value, "f32"), (const void *[]){ramp}, (void *[]){got});
  for (int i = 0; i < count; i++)
    ck_assert_msg(fabsf(got[i] - want[i]) <= 1e-6f * fabsf(want[i]), "value %d is %.9g, not %.9g", i, (double)got[i],
                  (double)want[i]);
  starts_again();
}

#define GIVES(expression, ...)                                                                                                     \
  do {                                                                                                                             \
    hlo_value *x = f32("x", 2, SIZES(2, 3));                                                                                       \
    const float want[] = {__VA_ARGS__};                                                                                            \
    gives(expression, want, sizeof want / sizeof *want);                                                                           \
  } while (0)

START_TEST(views)
{
  GIVES(hlo_transpose(x, NULL), 1, 4, 2, 5, 3, 6);
  GIVES(hlo_transpose(x, (const int[]){-2, 1}), 1, 2, 3, 4, 5, 6);
  GIVES(hlo_view(x, 2, SIZES(3, -1)), 1, 2, 3, 4, 5, 6);
  GIVES(hlo_slice(x, -1, -2, 100), 2, 3, 5, 6);
  GIVES(hlo_slice(x, 0, 1, 2), 4, 5, 6);
  GIVES(hlo_repeat(x, 3, SIZES(2, 1, 2)), 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6, 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6);
  GIVES(hlo_broadcast_to(hlo_slice(x, 1, 0, 1), 3, SIZES(2, 2, 2)), 1, 1, 4, 4, 1, 1, 4, 4);
  GIVES(hlo_expand(hlo_slice(x, 0, 0, 1), 2, SIZES(2, -1)), 1, 2, 3, 1, 2, 3);
  GIVES(hlo_squeeze(hlo_unsqueeze(x, -1), 2), 1, 2, 3, 4, 5, 6);
  GIVES(hlo_where(hlo_greater(x, hlo_scalar(b, "f32", 3)), x, hlo_scalar(b, "f32", -1)), -1, -1, -1, 4, 5, 6);
  GIVES(hlo_clip(x, hlo_scalar(b, "f32", 2), hlo_constant(b, "f32", 1, SIZES(3), (const float[]){3, 4, 5})), 2, 2, 3, 3, 4, 5);
  GIVES(hlo_clip(x, NULL, NULL), 1, 2, 3, 4, 5, 6);
}
END_TEST

START_TEST(takes)
{
  GIVES(hlo_take(x, hlo_constant(b, "s32", 1, SIZES(3), (const int32_t[]){2, -3, 9}), 1), 3, 1, 3, 6, 4, 6);
  GIVES(hlo_take(x, hlo_constant(b, "u8", 2, SIZES(1, 2), (const uint8_t[]){1, 0}), 0), 4, 5, 6, 1, 2, 3);
  GIVES(hlo_take(hlo_unsqueeze(x, 0), hlo_scalar(b, "s64", -1), -2), 4, 5, 6);
  hlo_take(f32("x", 1, SIZES(3)), f32("y", 0, NULL), 0);
  fails_with("hlo_take: the indices 'y' are f32; wanted integers");
  hlo_take(f32("x", 1, SIZES(0)), hlo_scalar(b, "s32", 0), 0);
  fails_with("hlo_take: cannot take from an empty axis");
  hlo_take(f32("x", 1, SIZES(3)), hlo_scalar(b, "s32", 0), 1);
  fails_with("hlo_take: axis 1 is out of bounds");
}
END_TEST

START_TEST(pools)
{
  GIVES(hlo_max_pool2d(hlo_view(x, 4, SIZES(1, 1, 2, 3)), 2, 1, 0), 5, 6);
  GIVES(hlo_max_pool2d(hlo_negative(hlo_view(x, 4, SIZES(1, 2, 1, 3))), 2, 0, 1), -1, -2, -4, -5);
  GIVES(hlo_avg_pool2d(hlo_view(x, 4, SIZES(1, 1, 2, 3)), 2, 1, 0), 3, 4);
  GIVES(hlo_avg_pool2d(hlo_view(x, 4, SIZES(1, 2, 1, 3)), 2, 0, 1), 0.25f, 1.25f, 1, 2.75f);
  GIVES(hlo_max_pool2d(hlo_convert(hlo_negative(hlo_view(x, 4, SIZES(1, 2, 1, 3))), "s8"), 2, 0, 1), -1, -2, -4, -5);
  GIVES(hlo_max_pool2d(hlo_convert(hlo_negative(hlo_view(x, 4, SIZES(1, 2, 1, 3))), "f8e4m3fn"), 2, 0, 1), -1, -2, -4, -5);
  hlo_max_pool2d(hlo_parameter(b, "z", "c128", 4, SIZES(1, 1, 2, 3)), 2, 0, 0);
  fails_with("hlo_max_pool2d: 'z' is c128, which has no order");
  hlo_max_pool2d(f32("x", 3, SIZES(1, 2, 3)), 2, 0, 0);
  fails_with("hlo_max_pool2d: x has 3 dimensions; wanted 4");
  hlo_avg_pool2d(f32("x", 4, SIZES(1, 1, 2, 3)), 3, 0, 0);
  fails_with("hlo_avg_pool2d: the kernel (3,3) does not fit into pictures (2,3)");
  hlo_max_pool2d(f32("x", 4, SIZES(1, 1, 2, 3)), 2, -1, 0);
  fails_with("hlo_max_pool2d:1:");
}
END_TEST

START_TEST(products)
{
  GIVES(hlo_matmul(x, hlo_transpose(x, NULL)), 14, 32, 32, 77);
  GIVES(hlo_matmul(x, hlo_full(b, "f32", 1, SIZES(3), 1)), 6, 15);
  GIVES(hlo_matmul(hlo_full(b, "f32", 1, SIZES(2), 1), x), 5, 7, 9);
  GIVES(hlo_matmul(hlo_full(b, "f32", 3, SIZES(2, 1, 2), 1), x), 5, 7, 9, 5, 7, 9);
  GIVES(hlo_matmul(hlo_full(b, "f32", 1, SIZES(2), 1), hlo_unsqueeze(x, 0)), 5, 7, 9);
  GIVES(hlo_linear(x, hlo_full(b, "f32", 2, SIZES(2, 3), 2), hlo_full(b, "f32", 1, SIZES(2), 1)), 13, 13, 31, 31);
}
END_TEST

START_TEST(reductions)
{
  const int last = -1, both[] = {0, 1};
  GIVES(hlo_sum(x, 1, &last, 0), 6, 15);
  GIVES(hlo_sum(x, 0, NULL, 1), 21);
  GIVES(hlo_sum(x, 0, both, 0), 1, 2, 3, 4, 5, 6);
  GIVES(hlo_prod(x, 2, both, 0), 720);
  GIVES(hlo_max(x, 1, both, 0), 4, 5, 6);
  GIVES(hlo_min(hlo_convert(x, "s8"), 1, &last, 1), 1, 4);
  GIVES(hlo_mean(x, 1, &last, 0), 2, 5);
  GIVES(hlo_var(x, 1, &last, 1, 0), 1, 1);
  GIVES(hlo_var(x, 0, NULL, 0, 0), 35.0f / 12);
  GIVES(hlo_argmax(hlo_fmod(x, hlo_scalar(b, "f32", 4)), -1, 0), 2, 2);
  GIVES(hlo_argmin(hlo_fmod(x, hlo_scalar(b, "f32", 4)), 0, 1), 1, 1, 1);
  GIVES(hlo_argmax(hlo_divide(hlo_subtract(x, x), hlo_fmod(x, hlo_scalar(b, "f32", 2))), 1, 0), 1, 0);
  GIVES(hlo_any(hlo_greater(x, hlo_scalar(b, "f32", 3)), 1, &last, 0), 0, 1);
  GIVES(hlo_all(hlo_greater(x, hlo_scalar(b, "f32", 3)), 1, &last, 0), 0, 1);
}
END_TEST

START_TEST(layers)
{
  const float e0 = expf(-2), e1 = expf(-1), sum = e0 + e1 + 1;
  GIVES(hlo_relu(hlo_subtract(x, hlo_scalar(b, "f32", 4))), 0, 0, 0, 0, 1, 2);
  GIVES(hlo_gelu(hlo_slice(x, 0, 0, 1), 1), 0.8413447f, 1.9544997f, 2.9959502f);
  GIVES(hlo_gelu(hlo_slice(x, 0, 0, 1), 0), 0.8411920f, 1.9545977f, 2.9963627f);
  GIVES(hlo_softmax(x, -1), e0 / sum, e1 / sum, 1 / sum, e0 / sum, e1 / sum, 1 / sum);
  GIVES(hlo_exp(hlo_log_softmax(x, 1)), e0 / sum, e1 / sum, 1 / sum, e0 / sum, e1 / sum, 1 / sum);
  GIVES(hlo_layer_norm(x, hlo_full(b, "f32", 1, SIZES(3), 2), hlo_full(b, "f32", 1, SIZES(3), 10), 0), 7.5505103f, 10, 12.4494897f,
        7.5505103f, 10, 12.4494897f);
  GIVES(hlo_mse(x, hlo_scalar(b, "f32", 3)), 19.0f / 6);
  GIVES(hlo_cross_entropy(x, hlo_constant(b, "s64", 1, SIZES(2), (const int64_t[]){2, 2})), 0.40760596f);
  GIVES(hlo_conv2d(hlo_view(x, 4, SIZES(1, 1, 2, 3)), hlo_full(b, "f32", 4, SIZES(1, 1, 2, 2), 1), hlo_full(b, "f32", 1, SIZES(1), 1),
                   NULL),
        13, 17);
  const hlo_conv2d_options padded = {.stride = {1, 2}, .padding = {1, 0}, .groups = 1};
  GIVES(hlo_conv2d(hlo_view(x, 4, SIZES(1, 1, 2, 3)), hlo_full(b, "f32", 4, SIZES(1, 1, 2, 2), 1), NULL, &padded), 3, 12, 9);
}
END_TEST

START_TEST(attention)
{
  const int64_t sizes[] = {2, 3};
  hlo_value *x = f32("x", 2, sizes);
  hlo_value *causal = hlo_greater_equal(hlo_iota(b, "s32", 2, SIZES(2, 2), 0), hlo_iota(b, "s32", 2, SIZES(2, 2), 1));
  const double a = exp((32 - 77) / sqrt(3)), w = a / (1 + a);
  const float want[] = {1, 2, 3, (float)(w * 1 + (1 - w) * 4), (float)(w * 2 + (1 - w) * 5), (float)(w * 3 + (1 - w) * 6)};
  gives(hlo_attention(x, x, x, causal), want, 6);
  x = f32("x", 2, sizes);
  gives(hlo_attention(x, x, x, hlo_constant(b, "f32", 2, SIZES(2, 2), (const float[]){0, -INFINITY, 0, 0})), want, 6);
}
END_TEST

/* ---- errors ---- */

START_TEST(errors_name_the_call)
{
  hlo_exp(hlo_parameter(b, "x", "s32", 1, SIZES(2)));
  fails_with("hlo_exp:1:30: error: 'exponential' takes floats or complex numbers; operand 0 is s32[2]");
  hlo_emit(b, "dot(%v, %v), lhs_contractin_dims={1}", f32("x", 2, SIZES(2, 2)), f32("y", 2, SIZES(2, 2)));
  fails_with("did you mean 'lhs_contracting_dims'?");
  hlo_add(f32("x", 2, SIZES(2, 3)), f32("y", 1, SIZES(4)));
  fails_with("shapes (2,3) (4,): 3 against 4 in dimension 1 of the result");
  hlo_add(f32("x", 0, NULL), hlo_scalar(b, "f64", 1));
  fails_with("hlo_add: operands are f32 and f64; convert one with hlo_convert");
  hlo_expand(f32("x", 2, SIZES(2, 3)), 2, SIZES(2, 6));
  fails_with("the expanded size (6) must match the existing size (3) in dimension 1");
  hlo_broadcast_to(f32("x", 2, SIZES(2, 3)), 2, SIZES(2, 6));
  fails_with("cannot broadcast shape (2,3) to (2,6)");
  hlo_view(f32("x", 2, SIZES(2, 3)), 2, SIZES(4, -1));
  fails_with("cannot reshape array of size 6 into shape (4,-1)");
  hlo_sum(f32("x", 2, SIZES(2, 3)), 1, (const int[]){2}, 0);
  fails_with("axis 2 is out of bounds for array of dimension 2");
  hlo_sum(f32("x", 2, SIZES(2, 3)), 2, (const int[]){1, -1}, 0);
  fails_with("duplicate value -1 in axes");
  hlo_max(f32("x", 1, SIZES(0)), 0, NULL, 0);
  fails_with("zero-size array to reduction operation maximum which has no identity");
  hlo_mean(hlo_parameter(b, "x", "s32", 1, SIZES(2)), 0, NULL, 0);
  fails_with("'x' is s32; convert it with hlo_convert");
  hlo_matmul(f32("x", 2, SIZES(2, 3)), f32("y", 2, SIZES(2, 3)));
  fails_with("shapes (2,3) and (2,3) do not multiply");
  hlo_scalar(b, "u8", 256);
  fails_with("hlo_scalar: 256 does not fit u8");
  hlo_parameter(b, "x", "f33", 0, NULL);
  fails_with("there is no element type 'f33'");
  hlo_parameter(b, "x", "f32", 65, NULL);
  fails_with("a rank of 65; the limit is 64");
  hlo_parameter(b, "x", "f32", 2, SIZES(INT64_MAX, 8));
  fails_with("hlo_parameter:1:");
  hlo_constant(b, "s4", 1, SIZES(2), (const int8_t[]){1, 100});
  fails_with("hlo_constant: element 1 does not fit s4");
  hlo_emit(b, "add(%x, %y)");
  fails_with("the format has no conversion '%x'");
  hlo_emit(b, "");
  fails_with("hlo_emit");
  hlo_emit(b, "x = add(");
  fails_with("hlo_emit");
  hlo_tuple(b, 1, (hlo_value *[]){NULL});
  fails_with("a value is NULL");
}
END_TEST

static hlo_value *s32(void)
{
  return hlo_parameter(b, "n", "s32", 2, SIZES(2, 3));
}

/* A function made of others is the one that is named. */
START_TEST(errors_name_what_the_user_called)
{
  hlo_value *x = f32("x", 2, SIZES(2, 3));
  hlo_linear(x, f32("w", 2, SIZES(4, 2)), NULL);
  fails_with("hlo_linear: x (2,3) ends with 3 features; weight (4,2) takes 2");
  hlo_linear(f32("x", 1, SIZES(3)), f32("w", 2, SIZES(4, 3)), f32("bias", 1, SIZES(3)));
  fails_with("hlo_linear: the bias has shape (3,); wanted (4,)");
  x = f32("x", 4, SIZES(1, 3, 8, 8));
  hlo_conv2d(x, f32("w", 4, SIZES(4, 2, 3, 3)), NULL, NULL);
  fails_with("hlo_conv2d: x (1,3,8,8) has 3 channels; weight (4,2,3,3) takes 2 in 1 group");
  x = f32("x", 4, SIZES(1, 2, 8, 8));
  hlo_conv2d(x, f32("w", 4, SIZES(4, 2, 9, 9)), f32("bias", 1, SIZES(4)), NULL);
  fails_with("hlo_conv2d: the kernel (9,9) does not fit into pictures (8,8) and their padding");
  const hlo_conv2d_options huge = {.dilation = {INT64_MAX, 1}, .groups = INT64_MAX};
  x = f32("x", 4, SIZES(1, 2, 8, 8));
  hlo_conv2d(x, f32("w", 4, SIZES(4, 2, 3, 3)), NULL, &huge);
  fails_with("hlo_conv2d: x (1,2,8,8) has 2 channels; weight (4,2,3,3) takes 2 in 9223372036854775807 groups");
  hlo_softmax(f32("x", 2, SIZES(2, 3)), 2);
  fails_with("hlo_softmax: axis 2 is out of bounds for array of dimension 2");
  hlo_log_softmax(s32(), 1);
  fails_with("hlo_log_softmax: 'n' is s32; convert it with hlo_convert");
  hlo_gelu(s32(), 1);
  fails_with("hlo_gelu: 'n' is s32; convert it with hlo_convert");
  hlo_layer_norm(f32("x", 2, SIZES(2, 3)), f32("w", 1, SIZES(2)), NULL, 0);
  fails_with("hlo_layer_norm: the weight has shape (2,); wanted (3,)");
  x = f32("x", 2, SIZES(2, 3));
  hlo_attention(x, f32("k", 2, SIZES(2, 4)), x, NULL);
  fails_with("hlo_attention: q (2,3) and k (2,4) differ in their last dimension: 3 against 4");
  x = f32("x", 2, SIZES(2, 3));
  hlo_attention(x, x, x, f32("mask", 2, SIZES(3, 2)));
  fails_with("hlo_attention: operands could not be broadcast together with shapes (2,2) (3,2): 2 against 3 in dimension 0");
  x = f32("x", 2, SIZES(2, 3));
  hlo_mse(x, f32("y", 2, SIZES(3, 2)));
  fails_with("hlo_mse: operands could not be broadcast together with shapes (2,3) (3,2): 2 against 3 in dimension 0");
  x = f32("x", 2, SIZES(2, 3));
  hlo_where(x, x, x);
  fails_with("hlo_where: the condition 'x' is f32; compare it first");
  x = f32("x", 2, SIZES(2, 3));
  hlo_where(hlo_less(x, x), x, f32("y", 1, SIZES(2)));
  fails_with("hlo_where: operands could not be broadcast together with shapes (2,3) (2,): 3 against 2 in dimension 1");
  hlo_var(f32("x", 1, SIZES(3)), 1, (const int[]){3}, 0, 0);
  fails_with("hlo_var: axis 3 is out of bounds");
  hlo_max(hlo_parameter(b, "z", "c64", 1, SIZES(2)), 0, NULL, 0);
  fails_with("hlo_max: 'z' is c64, which has no order");
  hlo_full(b, "s8", 1, SIZES(3), 1000);
  fails_with("hlo_full: 1000 does not fit s8");
  hlo_remainder(hlo_parameter(b, "z", "c64", 1, SIZES(2)), hlo_full(b, "c64", 0, NULL, 1));
  fails_with("hlo_remainder:1:");
  hlo_region(b, "plus", "f32");
  fails_with("hlo_region:1:11: error: unknown opcode 'plus'");
  hlo_region(b, "add", "float");
  fails_with("hlo_region: there is no element type 'float'");
  x = f32("x", 0, NULL);
  hlo_add(hlo_tuple(b, 1, &x), x);
  fails_with("hlo_add: 'tuple.0' is no array");
  hlo_mse(NULL, f32("y", 0, NULL));
  fails_with("hlo_mse: a value is NULL");
}
END_TEST

/* A value that was forgotten is an error, also where no call can know its builder. */
START_TEST(a_root_is_wanted)
{
  f32("x", 0, NULL);
  ck_assert_ptr_null(hlo_build(b, hlo_exp(NULL)));
  fails_with("hlo_build: the root is NULL, and no line of 'main' is called ROOT");
  hlo_emit(b, "ROOT x = f32[] parameter(0)");
  hlo_module *module = hlo_build(b, NULL);
  ck_assert_msg(module != NULL, "%s", hlo_messages(context));
  hlo_module_free(module);
}
END_TEST

START_TEST(shapes_that_follow_are_inferred)
{
  hlo_value *x = f32("x", 2, SIZES(4, 6)), *i = hlo_parameter(b, "i", "s32", 0, NULL);
  hlo_value *y = hlo_emit(b, "dynamic-slice(%v, %v, %v), dynamic_slice_sizes={1,6}", x, i, i);
  ck_assert_msg(y != NULL, "%s", hlo_messages(context));
  ck_assert_int_eq(hlo_value_dimensions(y)[0], 1);
  y = hlo_emit(b, "dynamic-update-slice(%v, %v, %v, %v)", x, y, i, i);
  ck_assert_int_eq(hlo_value_dimensions(y)[0], 4);
  y = hlo_emit(b, "slice(%v), slice={[0:4:3], [1:2]}", y);
  ck_assert_int_eq(hlo_value_dimensions(y)[0], 2);
  hlo_module *module = hlo_build(b, y);
  ck_assert_msg(module != NULL, "%s", hlo_messages(context));
  hlo_module_free(module);
  starts_again();
  ck_assert_ptr_null(hlo_emit(b, "reshape(%v)", f32("x", 1, SIZES(2))));
  fails_with("the result shape of 'reshape' does not follow from its operands");
}
END_TEST

START_TEST(shapes_of_values_are_written)
{
  hlo_value *x = f32("x", 2, SIZES(2, 3)), *pair[] = {x, hlo_scalar(b, "s32", 1)}, *start = hlo_tuple(b, 2, pair);
  hlo_begin(b, "body");
  hlo_value *state = hlo_emit(b, "%t parameter(0)", start);
  ck_assert_msg(state != NULL, "%s", hlo_messages(context));
  ck_assert_str_eq(hlo_value_type(hlo_element(state, 1)), "s32");
  ck_assert_ptr_nonnull(hlo_end(b, state));
  hlo_emit(b, "%t parameter(1)", NULL);
  fails_with("hlo_emit: a value is NULL");
}
END_TEST

START_TEST(modules_have_names_and_attributes)
{
  hlo_name_entry(b, "a b");
  hlo_header(b, "is_scheduled=true");
  hlo_module *module = hlo_build(b, f32("x", 0, NULL));
  ck_assert_msg(module != NULL, "%s", hlo_messages(context));
  ck_assert_str_eq(hlo_module_text(context, module),
                   "HloModule test, is_scheduled=true\n\nENTRY a_b {\n  ROOT x = f32[] parameter(0)\n}\n");
  hlo_module_free(module);
  starts_again();
  hlo_header(b, "entry_computation_layout={(f32[3])->f32[]}");
  ck_assert_ptr_null(hlo_build(b, f32("x", 0, NULL)));
  ck_assert_ptr_nonnull(strstr(hlo_messages(context), "entry_computation_layout says f32[3]; parameter 0 is f32[]"));
}
END_TEST

START_TEST(computations_keep_their_values)
{
  hlo_value *x = f32("x", 0, NULL);
  hlo_begin(b, "inner");
  f32("x", 0, NULL);
  hlo_exp(x);
  fails_with("'x' belongs to 'main'; 'inner' is open");
  hlo_begin(b, "inner");
  f32("x", 0, NULL);
  fails_with("'inner' is still open");
  hlo_begin(b, "inner");
  hlo_end(b, NULL);
  fails_with("hlo_end: the root is NULL, and no line of 'inner' is called ROOT");
  hlo_end(b, f32("x", 0, NULL));
  fails_with("no computation was begun; hlo_build ends the entry");
  hlo_builder *other = hlo_builder_new(context, "other");
  hlo_emit(b, "negate(%v)", hlo_scalar(other, "f32", 1));
  hlo_builder_free(other);
  fails_with("a value belongs to another builder");
}
END_TEST

START_TEST(a_failed_builder_stays_silent)
{
  hlo_value *x = hlo_exp(hlo_parameter(b, "x", "s32", 0, NULL));
  char *first = strdup(hlo_messages(context));
  ck_assert_ptr_null(x);
  ck_assert_ptr_null(hlo_softmax(hlo_add(x, x), 0));
  ck_assert_ptr_null(hlo_emit(b, "nonsense(%v)", x));
  hlo_begin(b, "inner");
  ck_assert_ptr_null(hlo_end(b, x));
  ck_assert_ptr_null(hlo_build(b, x));
  ck_assert_str_eq(hlo_messages(context), first);
  free(first);
}
END_TEST

START_TEST(odd_names_are_made_legal)
{
  hlo_value *x = f32("2 much: f32[", 0, NULL), *y = f32("f32", 0, NULL);
  ck_assert_str_eq(hlo_value_name(x), "_2_much__f32_");
  ck_assert_ptr_null(y); /* the language has no such name */
  ck_assert_ptr_nonnull(strstr(hlo_messages(context), "is a type"));
}
END_TEST

#ifdef CAN_FAIL_ALLOCATIONS
/* A module with a region, a loop and a constant; true when it was built. */
static bool build_all(void)
{
  hlo_builder *made = hlo_builder_new(context, "all");
  if (!made)
    return false;
  hlo_value *x = hlo_parameter(made, "x", "f32", 2, SIZES(4, 8));
  hlo_value *y = hlo_attention(x, x, x, NULL);
  hlo_value *both[] = {y, hlo_argmax(x, 0, 1), hlo_constant(made, "f32", 1, SIZES(6), ramp)};
  hlo_alias(made, 0, x);
  hlo_module *module = hlo_build(made, hlo_tuple(made, 3, both));
  bool is_made = module != NULL;
  hlo_module_free(module);
  hlo_builder_free(made);
  return is_made;
}

START_TEST(memory_may_run_out)
{
  long n = 0;
  for (bool is_made = false; !is_made && n < 10000; n++) {
    allocations_left = n;
    is_made = build_all();
    allocations_left = -1;
    if (!is_made)
      ck_assert_str_eq(hlo_messages(context), "error: out of memory\n");
  }
  ck_assert_int_gt(n, 5);
  ck_assert_int_lt(n, 10000);
}
END_TEST
#endif

int main(void)
{
  Suite *suite = suite_create("builder");
  TCase *t = tcase_create("builder");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, builds_what_it_says);
  tcase_add_test(t, tells_what_values_are);
  tcase_add_test(t, makes_every_opcode_from_text);
  tcase_add_test(t, loops_and_branches);
  tcase_add_test(t, regions_are_made_once);
  tcase_add_test(t, constants_are_copied);
  tcase_add_test(t, aliases_join_equal_shapes_alone);
  tcase_add_test(t, rebuilds_the_examples);
  tcase_add_test(t, rebuilds_every_op);
  tcase_add_test(t, agrees_with_numpy);
  tcase_add_test(t, broadcasts_shapes);
  tcase_add_test(t, broadcasts_arrays);
  tcase_add_test(t, views);
  tcase_add_test(t, takes);
  tcase_add_test(t, pools);
  tcase_add_test(t, products);
  tcase_add_test(t, reductions);
  tcase_add_test(t, layers);
  tcase_add_test(t, attention);
  tcase_add_test(t, errors_name_the_call);
  tcase_add_test(t, errors_name_what_the_user_called);
  tcase_add_test(t, a_root_is_wanted);
  tcase_add_test(t, shapes_that_follow_are_inferred);
  tcase_add_test(t, shapes_of_values_are_written);
  tcase_add_test(t, modules_have_names_and_attributes);
  tcase_add_test(t, computations_keep_their_values);
  tcase_add_test(t, a_failed_builder_stays_silent);
  tcase_add_test(t, odd_names_are_made_legal);
#ifdef CAN_FAIL_ALLOCATIONS
  tcase_add_test(t, memory_may_run_out);
#endif
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
