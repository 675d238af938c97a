/* test_codegen.c - compiled code against the loop interpreter, to the bit: each program at every
 * level, for several CPUs.
 *
 * Arguments are numbers of ordinary size with NaNs of all kinds, infinities, zeros and denormals
 * among them.
 */
#include "loop_support.h"

#include "src/codegen/codegen.h"
#include "src/codegen/jit.h"

#include <math.h>
#include <stdlib.h>

static hl_jit *jit;

/* Splits a loop in pieces of one grain and hands out workers from the top: what a pool may do. */
static void scattered_for(void (*body)(void *, int64_t, int64_t, int32_t), void *context, int64_t n,
                          int64_t grain, int32_t max_workers)
{
  int32_t worker = max_workers - 1;
  for (int64_t at = (n - 1) / grain * grain; at >= 0; at -= grain) {
    body(context, at, at + grain < n ? at + grain : n, worker);
    worker = worker > 0 ? worker - 1 : max_workers - 1;
  }
}

static void open_all(void)
{
  const char *error;
  open_arena();
  jit = hl_jit_new(arena, scattered_for, &error);
  ck_assert_msg(jit != NULL, "%s", error);
}

static void close_all(void)
{
  hl_jit_free(jit);
  close_arena();
}

/* Data. */

static uint64_t state;

static uint64_t next_random(void)
{
  uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static uint64_t random_float(hl_element_type type)
{
  static const double specials[] = {0.0,     -0.0,    1.0,   -1.0, 0.5,   1e-41,
                                    -3e-310, 65519.9, 65520, 1e30, -1e300};
  uint64_t r = next_random();
  if (r % 64 == 0)
    return next_random() & (UINT64_MAX >> (64 - hl_type_bits(type)));
  if (r % 64 == 1)
    return hl_float_nan_bits(type) | (next_random() & 1);
  if (r % 64 == 2 && hl_float_has_infinity(type))
    return hl_float_encode(type, r & 64 ? (double)INFINITY : -(double)INFINITY);
  if (r % 16 == 3)
    return hl_float_encode(type, specials[(r >> 8) % (sizeof specials / sizeof *specials)]);
  return hl_float_encode(type, (double)(int64_t)next_random() * 0x1p-60);
}

static uint64_t random_bits(hl_element_type type)
{
  if (hl_is_float(type))
    return random_float(type);
  if (type == HL_PRED)
    return next_random() % 3;
  uint64_t r = next_random();
  return r % 4 == 0   ? next_random() >> 2
         : r % 4 == 1 ? (uint64_t)((int64_t)(r >> 8) % 5 - 2)
                      : (r >> 8) % 9;
}

static void fill(void *data, hl_element_type type, int64_t bytes)
{
  int size = hl_type_bytes(hl_component_type(type));
  for (int64_t at = 0; at < bytes; at += size) {
    uint64_t bits = random_bits(hl_component_type(type));
    memcpy((char *)data + at, &bits, (size_t)size);
  }
}

/* Programs. */

/* One place for each temporary; scratch once for each worker. */
static void plan(hl_program *program)
{
  int64_t at = 0;
  for (int i = 0; i < program->buffer_count; i++) {
    hl_buffer *buffer = program->buffers[i];
    if (buffer->kind != HL_BUFFER_TEMP)
      continue;
    int64_t part = (buffer->bytes + 63) / 64 * 64;
    buffer->offset = at;
    at += part * (buffer->is_per_worker ? program->max_workers : 1);
  }
  program->workspace_bytes = at;
}

typedef struct memory {
  void **arguments, **expected, **actual;
} memory;

static void *block_of(int64_t bytes)
{
  return hl_arena_alloc(arena, (size_t)bytes + 65536); /* 64-aligned when large */
}

static memory make_memory(const hl_program *program)
{
  memory m = {HL_ARRAY(arena, program->argument_count + 1, void *),
              HL_ARRAY(arena, program->result_count + 1, void *),
              HL_ARRAY(arena, program->result_count + 1, void *)};
  for (int i = 0; i < program->buffer_count; i++) {
    const hl_buffer *buffer = program->buffers[i];
    if (buffer->kind == HL_BUFFER_ARGUMENT)
      fill(m.arguments[buffer->index] = block_of(buffer->bytes), buffer->type, buffer->bytes);
    if (buffer->kind != HL_BUFFER_RESULT)
      continue;
    m.expected[buffer->index] = block_of(buffer->bytes);
    m.actual[buffer->index] = block_of(buffer->bytes);
  }
  return m;
}

static const char *where(const hl_buffer *buffer, const void *expected, const void *actual)
{
  int size = hl_type_bytes(hl_component_type(buffer->type));
  int64_t at = 0;
  uint64_t x = 0, y = 0;
  while (!memcmp((const char *)expected + at, (const char *)actual + at, (size_t)size))
    at += size;
  memcpy(&x, (const char *)expected + at, (size_t)size);
  memcpy(&y, (const char *)actual + at, (size_t)size);
  return hl_arena_printf(arena, "%%%s at %lld: 0x%llx, not 0x%llx", buffer->name,
                         (long long)(at / size), (unsigned long long)y, (unsigned long long)x);
}

typedef struct setting {
  const char *cpu;
  int level;
  bool threads;
} setting;

static const setting settings[] = {
    {"x86-64-v3", 0, false}, {"x86-64-v3", 1, false}, {"x86-64-v2", 2, true},
    {"x86-64-v3", 2, false}, {"x86-64-v3", 3, true},  {"x86-64-v4", 2, false},
    {"native", 2, true},     {"native", 3, false},
};

static bool runs_here(const char *cpu)
{
  return strcmp(cpu, "x86-64-v4") || __builtin_cpu_supports("avx512vl");
}

static hl_codegen_options options_of(const setting *s)
{
  return (hl_codegen_options){.cpu = s->cpu,
                              .opt_level = s->level,
                              .threads = s->threads,
                              .symbol = "test",
                              .signature = "()"};
}

static hl_jit_module *build(const hl_program *program, const hl_codegen_options *options,
                            hl_code *code)
{
  const char *error;
  bool ok = hl_codegen_program(arena, program, options, HL_CODE_OBJECT, code, &error);
  ck_assert_msg(ok, "%s", error);
  hl_jit_module *module = hl_jit_load(jit, arena, code->data, code->size, "test", &error);
  ck_assert_msg(module != NULL, "%s", error);
  return module;
}

static void check_setting(const hl_program *program, const memory *m, const setting *s,
                          const char *text)
{
  hl_codegen_options options = options_of(s);
  hl_code code;
  hl_jit_module *module = build(program, &options, &code);
  void *workspace = block_of(program->workspace_bytes);
  for (int i = 0; i < program->buffer_count; i++)
    if (program->buffers[i]->kind == HL_BUFFER_RESULT)
      memset(m->actual[program->buffers[i]->index], 0xa5, (size_t)program->buffers[i]->bytes);
  ck_assert_int_eq(hl_jit_module_entry(module)(m->arguments, m->actual, workspace), 0);
  for (int i = 0; i < program->buffer_count; i++) {
    const hl_buffer *b = program->buffers[i];
    if (b->kind != HL_BUFFER_RESULT ||
        !memcmp(m->expected[b->index], m->actual[b->index], (size_t)b->bytes))
      continue;
    ck_abort_msg("%s -O%d %s\n%s", s->cpu, s->level,
                 where(b, m->expected[b->index], m->actual[b->index]), text);
  }
  hl_jit_unload(module);
  free(code.data);
}

static void check_program(const char *text)
{
  hl_program *program = parse_good(text);
  program->max_workers = 3;
  plan(program);
  memory m = make_memory(program);
  ck_assert(hl_program_eval(arena, program, (const void *const *)m.arguments, m.expected));
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    if (runs_here(settings[i].cpu))
      check_setting(program, &m, &settings[i], text);
}

/* Each operation on vectors: SIZE elements, most of them random. */

typedef struct operation {
  const char *types, *expression;
} operation;

static const operation operations[] = {
    {"s8 s16 s32 s64 u8 u16 u32 u64", "x + y"},
    {"s8 s16 s32 s64 u8 u16 u32 u64", "x * y - x"},
    {"s8 s16 s32 s64 u8 u16 u32 u64", "x / y"},
    {"s8 s16 s32 s64 u8 u16 u32 u64", "rem(x, y)"},
    {"s8 s16 s32 s64 u8 u16 u32 u64", "ipow(x, y)"},
    {"s8 s16 s32 s64 u8 u16 u32 u64", "xor(shl(x, y), sra(x, y))"},
    {"s8 s16 s32 s64 u8 u16 u32 u64", "srl(x, y)"},
    {"s8 s16 s32 s64 u8 u16 u32 u64", "max(x, min(y, x + y))"},
    {"s8 s16 s32 s64 u8 u16 u32 u64", "and(or(x, y), not(x))"},
    {"s8 s16 s32 s64 u8 u16 u32 u64", "sign(x) + abs(y) - neg(x)"},
    {"s8 s16 s32 s64 u8 u16 u32 u64", "popcnt(x) + clz(y)"},
    {"s8 s32 u16 u64 f32 f64 pred", "select(x >= y, x, y)"},
    {"s8 s32 u16 u64 f32 f64 pred", "select(x > y, y, x)"},
    {"s8 s32 u16 u64 f32 f64 pred", "select(or(x == y, x < y), x, y)"},
    {"s8 s32 u16 u64 f32 f64 pred", "select(and(x != y, x <= y), x, y)"},
    {"pred", "xor(and(x, y), or(x, not(y))) + x * y"},
    {"pred", "max(x, y) * min(x, y)"},
    {"f32 f64", "x + y"},
    {"f32 f64", "x - y"},
    {"f32 f64", "x * y"},
    {"f32 f64", "x / y"},
    {"f32 f64", "rem(x, y)"},
    {"f32 f64", "max(x, y)"},
    {"f32 f64", "min(x, y)"},
    {"f32", "max(x, 0.0)"},
    {"f32", "max(x, -0.0)"},
    {"f32", "min(x, 0.0)"},
    {"f32", "min(-0.0, x)"},
    {"f32", "min(6.0, max(x, 0.5))"},
    {"f32", "max(x, nan)"},
    {"f32 f64", "fma(x, y, x)"},
    {"f32 f64", "neg(x + y)"},
    {"f32 f64", "abs(x * y)"},
    {"f32 f64", "select(x < y, x, x + y)"},
    {"f32 f64", "sign(x) + sign(y)"},
    {"f32 f64", "sqrt(x)"},
    {"f32 f64", "floor(x) - ceil(y)"},
    {"f32 f64", "rne(x * y)"},
    {"f32 f64", "rna(x * y)"},
    {"f32", "reduce_precision(x + y, 5, 10)"},
    {"f32", "reduce_precision(x, 8, 7)"},
    {"f32", "reduce_precision(x, 2, 0)"},
    {"f64", "reduce_precision(x, 8, 23)"},
    {"bf16", "reduce_precision(x, 5, 3)"},
    {"f16", "reduce_precision(x, 5, 10)"},
    {"f16 bf16 f8e5m2 f8e4m3fn", "select(convert.f32(x) < convert.f32(y), neg(x), abs(y))"},
    {"f16 bf16 f8e5m2 f8e4m3fn f8e4m3b11fnuz f8e3m4", "convert.T(convert.f32(x) * convert.f32(y))"},
    {"f16 bf16", "convert.T(convert.f64(x) / convert.f64(y))"},
    {"f32", "exp(x) + tanh(y)"},
    {"f64", "log(abs(x)) * erf(y)"},
    {"f32 f64", "pow(abs(x), y)"},
    {"f32", "sin(x) + cos(y)"},
};

static const char *const sizes[] = {"1", "5", "64", "333"};

/* `words` with "T" after a dot replaced by the type. */
static const char *with_type(const char *expression, const char *type)
{
  hl_str out = {.arena = arena};
  for (const char *at = expression; *at; at++) {
    if (at[0] == '.' && at[1] == 'T') {
      hl_str_printf(&out, ".%s", type);
      at++;
    } else {
      hl_str_add_char(&out, *at);
    }
  }
  return hl_str_text(&out);
}

static void check_operation(const char *type, const char *expression, const char *result)
{
  hl_str text = {.arena = arena};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const char *n = sizes[i];
    hl_str_printf(&text,
                  "kernel k%s(in %%x%s: %s[%s], in %%y%s: %s[%s], out %%z%s: %s[%s])\n"
                  "  vector i in 0..%s\n    x = %%x%s[i]\n    y = %%y%s[i]\n    %%z%s[i] := %s\n",
                  n, n, type, n, n, type, n, n, result, n, n, n, n, n, with_type(expression, type));
  }
  check_program(hl_str_text(&text));
}

START_TEST(operation_on_each_type)
{
  const operation *op = &operations[_i];
  for (const char *at = op->types; *at;) {
    size_t length = strcspn(at, " ");
    const char *type = hl_arena_strndup(arena, at, length);
    state = (uint64_t)_i;
    check_operation(type, op->expression, type);
    at += length + (at[length] == ' ');
  }
}
END_TEST

/* Every type to every type. */
static const char *const all_types[] = {
    "pred",     "s8",       "s16",        "s32",        "s64",           "u8",
    "u16",      "u32",      "u64",        "f16",        "bf16",          "f32",
    "f64",      "s4",       "u4",         "u2",         "f8e5m2",        "f8e4m3fn",
    "f8e4m3",   "f8e3m4",   "f8e5m2fnuz", "f8e4m3fnuz", "f8e4m3b11fnuz", "f8e8m0fnu",
    "f4e2m1fn", "f6e2m3fn", "f6e3m2fn"};

START_TEST(convert_to_each_type)
{
  const char *from = all_types[_i];
  hl_str text = {.arena = arena};
  hl_str_printf(&text, "kernel k(in %%x: %s[700]", from);
  size_t count = sizeof all_types / sizeof *all_types;
  for (size_t i = 0; i < count; i++)
    if (i != (size_t)_i)
      hl_str_printf(&text, ", out %%y%d: %s[700]", (int)i, all_types[i]);
  hl_str_add(&text, ")\n");
  for (size_t i = 0; i < count; i++)
    if (i != (size_t)_i)
      hl_str_printf(&text, "  vector i in 0..700: %%y%d[i] := convert.%s(%%x[i])\n", (int)i,
                    all_types[i]);
  check_program(hl_str_text(&text));
}
END_TEST

static Suite *codegen_suite(void)
{
  Suite *suite = suite_create("codegen");
  TCase *t = tcase_create("operations");
  tcase_add_checked_fixture(t, open_all, close_all);
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, operation_on_each_type, 0, (int)(sizeof operations / sizeof *operations));
  tcase_add_loop_test(t, convert_to_each_type, 0, (int)(sizeof all_types / sizeof *all_types));
  suite_add_tcase(suite, t);
  return suite;
}

int main(void)
{
  return run_suite(codegen_suite());
}
