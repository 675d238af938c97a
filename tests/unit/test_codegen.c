/* test_codegen.c - compiled code against the loop interpreter, to the bit: each program at every
 * level, for several CPUs.
 *
 * Arguments are numbers of ordinary size with NaNs of all kinds, infinities, zeros and denormals
 * among them.
 */
#include "loop_support.h"

#include "src/codegen/codegen.h"
#include "src/codegen/jit.h"

#include <elf.h>
#include <math.h>
#include <pthread.h>
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
  bool is_extra; /* for loops alone: it changes nothing in how an operation is emitted */
} setting;

static const setting settings[] = {
    {"x86-64-v3", 0, false, false}, {"x86-64-v3", 1, false, true}, {"x86-64-v2", 2, true, false},
    {"x86-64-v3", 2, false, false}, {"x86-64-v3", 3, true, true},  {"x86-64-v4", 2, false, true},
    {"native", 2, true, false},     {"native", 3, false, true},    {"x86-64", 1, false, false},
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
  hl_jit_module *module = hl_jit_load(jit, arena, code->data, code->size, "test", NULL, 0, &error);
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

static void check_program(const char *text, bool with_extra)
{
  hl_program *program = parse_good(text);
  program->max_workers = 3;
  plan(program);
  memory m = make_memory(program);
  ck_assert(hl_program_eval(arena, program, (const void *const *)m.arguments, m.expected));
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    if (runs_here(settings[i].cpu) && (with_extra || !settings[i].is_extra))
      check_setting(program, &m, &settings[i], text);
}

/* Each operation on vectors: SIZE elements, most of them random. */

typedef struct operation {
  const char *types, *expression;
} operation;

static const operation operations[] = {
    {"s8 s16 s32 s64 u8 u64", "x + y"},
    {"s8 s16 s32 s64 u8 u64", "x * y - x"},
    {"s8 s16 s32 s64 u8 u64", "x / y"},
    {"s8 s16 s32 s64 u8 u64", "rem(x, y)"},
    {"s8 s16 s32 s64 u8 u64", "ipow(x, y)"},
    {"s8 s16 s32 s64 u8 u64", "xor(shl(x, y), sra(x, y))"},
    {"s8 s16 s32 s64 u8 u64", "srl(x, y)"},
    {"s8 s16 s32 s64 u8 u64", "max(x, min(y, x + y))"},
    {"s8 s16 s32 s64 u8 u64", "and(or(x, y), not(x))"},
    {"s8 s16 s32 s64 u8 u64", "sign(x) + abs(y) - neg(x)"},
    {"s8 s16 s32 s64 u8 u64", "popcnt(x) + clz(y)"},
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

static const char *const sizes[] = {"3", "333"};

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
  check_program(hl_str_text(&text), false);
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
  check_program(hl_str_text(&text), false);
}
END_TEST

/* Loops: each text is run for each of its sizes, N standing for one of them and M for N - 1. */

typedef struct loop_case {
  const char *sizes, *text;
} loop_case;

#define ROW_SIZES                                                                                  \
  "0 1 2 3 31 32 33 63 64 65 100 255 256 257 1000 1023 1024 1025 4095 4096 4097 8200"
#define LARGE_SIZES "12288 65536 65537 70001"

static const loop_case loop_cases[] = {
    {"5 16 35 64", "kernel t(in %x: f32[9,1100], in %w: f32[N,1100], in %p: f32[9,16], in %q: "
                   "f32[N,16], in %u: f64[N,24], in %n: s32[1], out %y: f32[9,N], out %z: "
                   "f32[9,N], out %v: f64[N], out %m: f32[N])\n"
                   "  l = convert.s64(%n[0]) + 700\n"
                   "  parallel i in 0..9\n"
                   "    vector j in 0..N\n"
                   "      s, t = dot, col add k in 0..1100: %x[i,k], %w[j,k], %x[i,k] * %w[j,k]\n"
                   "      %y[i,j] := s + t\n"
                   "  parallel i in 0..9\n"
                   "    vector j in 0..N\n"
                   "      s = row add k in 0..16: (%p[i,k] - %q[j,k]) * (%p[i,k] - %q[j,k])\n"
                   "      %z[i,j] := s\n"
                   "  vector j in 0..N\n"
                   "    s, t = row add, max h, k in 0..2, 0..24: %u[j,k], %u[j,k]\n"
                   "    %v[j] := s * t\n"
                   "    r, x = row add, min k in 0..min(1100, l): %w[j,k], %w[j,k]\n"
                   "    %m[j] := r - x\n"},
    {"3 16 40 100", "kernel t(in %x: s32[N,9], in %y: s32[9,N], out %z: s32[N,N], out %w: s32[N])\n"
                    "  for i in 0..N jam 4\n"
                    "    vector j in 0..N\n"
                    "      s = add k in 0..9: dot4(%x[i,k], %y[k,j])\n"
                    "      %z[i,j] := s\n"
                    "  for i in 0..N: %w[i] := dot4(%x[i,0], %y[1,i]) - dot4(%x[i,2], %x[i,3])\n"},
    {"5 16 35", "kernel t(in %x: f32[9,N,1100], in %v: f32[1100], in %w: f32[1100,9], out %y: "
                "f32[9,N], out %z: f32[9,N])\n"
                "  parallel i in 0..9\n"
                "    vector j in 0..N\n"
                "      s = dot k in 0..1100: %x[i,j,k], %v[k]\n"
                "      %y[i,j] := s\n"
                "  parallel i in 0..9\n"
                "    vector j in 0..N\n"
                "      s = dot k in 0..1100: %w[k,i], %x[i,j,k]\n"
                "      %z[i,j] := s\n"},
    {"16 40 300", "kernel t(in %x: f32[N,N], in %w: f64[N,N], in %s: s32[N,N], out %y: f32[N,N], "
                  "out %z: f64[N,N], out %r: s32[N,N])\n"
                  "  parallel i in 0..N grain 5\n"
                  "    vector j in 0..N: %y[i,j] :=! %x[j,i] + %x[i,j]\n"
                  "  parallel i in 0..N\n"
                  "    vector j in 0..N: %z[i,j] := %w[M-j,i]\n"
                  "  for i in 0..N jam 8\n"
                  "    vector j in 0..N: %r[i,j] := %s[j,i]\n"},
    {"2048", "kernel t(in %x: f32[300,N], out %y: f32[N,300])\n"
             "  parallel i in 0..N\n"
             "    vector j in 0..300: %y[i,j] := %x[j,i] * 2.0\n"},
    {"5 64 70", "kernel t(in %x: f32[N,40], in %w: f32[40,N], in %b: f32[N,N,6], out %y: f32[N,N], "
                "out %z: f32[N,N])\n"
                "  parallel i in 0..N grain 3\n"
                "    vector j in 0..N\n"
                "      s = dot k in 0..40: %x[i,k], %w[k,j]\n"
                "      %y[i,j] := max(s, 0.0)\n"
                "  parallel i in 0..N\n"
                "    vector j in 0..N\n"
                "      s = dot k in 0..6: %b[i,j,k], %w[k,j]\n"
                "      %z[i,j] := s\n"},
    {"5 64 100 333", "kernel t(in %x: f32[N,6], in %n: s64[N], in %k: s32[N], out %y: f32[N,6], "
                     "out %z: s64[4,N], out %w: f32[N], out "
                     "%q: pred[3,N], out %u: f64[N])\n"
                     "  vector i in 0..N\n"
                     "    %w[i] := %x[@ 6*(i / 3)+(rem(i, 3))] + convert.f32(i * 7 - 100)\n"
                     "    %u[i] := convert.f64(rem(i * i, 37)) + convert.f64(%n[i])\n"
                     "    %z[0,i] := (i * 5 + 3) / 7\n"
                     "    %z[1,i] := rem(3 - i * 2, 5) - %n[i]\n"
                     "    %z[2,i] := max(i - 50, min(convert.s64(%k[i]), 4)) * 1000000000\n"
                     "    %z[3,i] := neg(i / 2) * 4611686018427387904 + %n[i]\n"
                     "    %q[0,i] := i >= 17\n"
                     "    %q[1,i] := i * 3 == rem(i, 7) + 12\n"
                     "    %q[2,i] := i < %n[i]\n"
                     "  vector j in 0..N\n"
                     "    for c in 0..6: %y[j,c] := %x[j,5-c] * 2.0\n"},
    {ROW_SIZES " " LARGE_SIZES,
     "kernel t(in %x: f32[N], in %w: f64[N], out %y: f32[3], out %z: f64[3])\n"
     "  a, b, c = row add, col add, dot i in 0..N\n"
     "    x = %x[i]\n"
     "    yield x, x, x, %x[M-i]\n"
     "  d, e, f = row mul, col add, dot i in 0..N\n"
     "    x = %w[i]\n"
     "    yield x, x, x, %w[M-i]\n"
     "  %y[0] := a\n  %y[1] := b\n  %y[2] := c\n"
     "  %z[0] := d\n  %z[1] := e\n  %z[2] := f\n"},
    {ROW_SIZES " " LARGE_SIZES,
     "kernel t(in %x: f32[N], in %w: f64[N], out %y: f32[4], out %z: f64[4])\n"
     "  a, b, c, d = vector row add, max, min, row mul i in 0..N\n"
     "    x = %x[i]\n"
     "    yield x, x, x, x\n"
     "  e, f, g, h = vector row add, max, min, row mul i in 0..N\n"
     "    x = %w[i]\n"
     "    yield x, x, x, x * 1.5:f64\n"
     "  %y[0] := a\n  %y[1] := b\n  %y[2] := c\n  %y[3] := d\n"
     "  %z[0] := e\n  %z[1] := f\n  %z[2] := g\n  %z[3] := h\n"},
    {ROW_SIZES, "kernel t(in %x: f32[N], in %w: f64[N], out %y: f32[1], out %z: f64[1])\n"
                "  a, b = vector row add, row add i in 0..N: %x[M-i], %w[i]\n"
                "  %y[0] := a\n  %z[0] := b\n"},
    {ROW_SIZES,
     "kernel t(in %x: s32[N], in %w: u8[N], in %p: pred[N], out %y: s32[5], out %z: u8[3], out %q: "
     "pred[3])\n"
     "  a, b, c, d, e = vector add, mul, max, min, xor i in 0..N\n"
     "    x = %x[i]\n"
     "    yield x, x + 1:s32, x, x, x\n"
     "  f, g, h = vector add, max, min i in 0..N: %w[i], %w[i], %w[i]\n"
     "  o, p, q = vector or, and, xor i in 0..N: %p[i], %p[i], %p[i]\n"
     "  %y[0] := a\n  %y[1] := b\n  %y[2] := c\n  %y[3] := d\n  %y[4] := e\n"
     "  %z[0] := f\n  %z[1] := g\n  %z[2] := h\n"
     "  %q[0] := o\n  %q[1] := p\n  %q[2] := q\n"},
    {"1 5 32 100 4096 4097 9000",
     "kernel t(in %x: f32[N], in %n: s32[1], out %y: f32[4])\n"
     "  n = convert.s64(%n[0]) + 31\n"
     "  a, b = vector row add, max i in 0..min(N, n): %x[i], %x[i]\n"
     "  c, d = row add, col add i in 0..min(N, n + 5000): %x[i], %x[i]\n"
     "  %y[0] := a\n  %y[1] := b\n  %y[2] := c\n  %y[3] := d\n"},
    {"1 3 4 5 64 130",
     "kernel t(in %x: f32[7,N,5], out %y: f32[N], out %z: f32[N], out %d: f32[N], out %m: f32[N])\n"
     "  vector i in 0..N\n"
     "    a, b, c, m = row add, col add, dot, max j, k in 0..7, 0..5\n"
     "      x = %x[j,i,k]\n"
     "      yield x, x, x, x, x\n"
     "    %y[i] := a\n    %z[i] := b\n    %d[i] := c\n    %m[i] := m\n"},
    {"32 64 96", "kernel t(in %x: f32[9,N], out %y: f32[4])\n"
                 "  a, b = vector row add, max i, j in 0..9, 0..N: %x[i,j], %x[i,j]\n"
                 "  c, d = row add, min i, j in 0..9, 0..N: %x[i,j], %x[i,j]\n"
                 "  %y[0] := a\n  %y[1] := b\n  %y[2] := c\n  %y[3] := d\n"},
    {"3 40 100 700", "kernel t(in %x: f32[3,N,7], out %y: f32[4], out %z: s64[1])\n"
                     "  a, b, c = row add, col add, dot i, j, k in 0..3, 0..N, 0..7\n"
                     "    x = %x[i,j,k]\n"
                     "    yield x, x, x, x\n"
                     "  d, n = max, add i, j in 0..3, 0..min(N, 50): %x[i,j,3], i + j\n"
                     "  %y[0] := a\n  %y[1] := b\n  %y[2] := c\n  %y[3] := d\n  %z[0] := n\n"},
    {"1 2 7 8 9 33 70", "kernel t(in %x: f32[N,11], in %w: f32[11,N], out %y: f32[N,N])\n"
                        "  for i in 0..N jam 4\n"
                        "    vector j in 0..N\n"
                        "      s = dot k in 0..11: %x[i,k], %w[k,j]\n"
                        "      %y[i,j] := s\n"},
    {"2 5 9", "kernel t(in %x: f32[N,2050], in %w: f32[2050,N], out %y: f32[N,N], out %r: f32[N])\n"
              "  for i in 0..N jam 3\n"
              "    vector j in 0..N\n"
              "      s, t = dot, col add k in 0..2050: %x[i,k], %w[k,j], %x[i,k] - %w[k,j]\n"
              "      %y[i,j] := s + t\n"
              "  for i in 0..N jam 2\n"
              "    s, m = vector row add, max k in 0..2050: %x[i,k], %x[i,k]\n"
              "    %r[i] := s - m\n"},
    {"1 2 5 64 100 1000",
     "kernel t(in %x: f32[N], in %b: bf16[N], in %s: s8[N], out %y: f32[2,N], out %z: bf16[2,N], "
     "out %t: s8[N,3])\n"
     "  vector i in 0..N\n"
     "    %y[0,M-i] := %x[i]\n"
     "    %y[1,i] := convert.f32(i) + %x[M-i]\n"
     "    %z[0,i] := %b[M-i]\n"
     "    %z[1,M-i] := convert.bf16(convert.f32(%b[i]) + %x[i])\n"
     "    %t[i,0] := %s[i]\n    %t[i,2] := convert.s8(i)\n    %t[M-i,1] := %s[M-i]\n"},
    {"4 5 64 129", "kernel t(in %x: f32[N,3], in %h: f16[N,2], in %n: s64[N], out %y: f32[N], out "
                   "%z: f16[N,2], out %w: "
                   "f32[N,N])\n"
                   "  vector i in 0..N\n"
                   "    %y[i] := %x[i,0] + %x[i,1] * %x[i,2]\n"
                   "    %z[@ 2*i] := %h[i,1]\n    %z[@ 2*i+1] := %h[i,0]\n"
                   "  for j in 0..N\n"
                   "    vector i in 0..N\n"
                   "      k = max(0, min(M, %n[i]))\n"
                   "      %w[i,j] := %x[@ 3*k] + %x[j,(rem(i, 3))]\n"},
    {"2 6 64 200", "kernel t(in %x: f32[N], in %p: pred[N], in %b: u8[N], out %y: f32[N], out %z: "
                   "u8[N], inout %w: f32[N])\n"
                   "  vector i in 0..N\n"
                   "    p = %p[i]\n"
                   "    %y[i] := (and(i >= 2, i < 5) ? %x[i-2] : 9.0)\n"
                   "    %z[i] := (p ? %b[M-i] : 7:u8)\n"
                   "    %w[i] := %x[i] when p\n"
                   "    if i > 3\n"
                   "      %w[i] := %x[i-3] + 1.0\n"
                   "      if p: %w[i] := 2.0\n"
                   "    else: %w[i] := 3.0 when i == 0\n"},
    {"2 6 64 200", "kernel t(in %x: f32[N,N], in %p: pred[N], out %y: f32[N,N])\n"
                   "  for j in 0..N\n"
                   "    p = %p[j]\n"
                   "    vector i in 0..N\n"
                   "      q = (j > 0 ? %x[j-1,i] : 1.5)\n"
                   "      if p: %y[j,i] := q\n"
                   "      else: %y[j,i] := (p ? %x[j,i] : 3.0) + q\n"},
    {"1 5 64 300", "kernel t(in %x: f32[N], out %y: f32[N], out %v: f32[2], out %n: s64[1])\n"
                   "  v, n = fold i in 0..N from b = -inf, k = 0\n"
                   "    x = %x[i]\n"
                   "    is_better = or(x > b, x != x)\n"
                   "    yield select(is_better, x, b), select(is_better, i, k)\n"
                   "  s = fold i in 0..N from a = 0.25: a * 0.5 + %x[i]\n"
                   "  %v[0] := v\n  %v[1] := s\n  %n[0] := n\n"
                   "  vector i in 0..N\n"
                   "    t, u = fold j, k in 0..2, 0..3 from a = %x[i], c = 1.0\n"
                   "      yield neg(c), a + convert.f32(j + k)\n"
                   "    %y[i] := t + u\n"},
    /* which NaN a fold starts from is seen, or is not */
    {"1 5 64 300", "kernel t(in %x: f32[4,N], in %n: s32[1], out %y: f32[6,N], out %z: f32[3,N])\n"
                   "  n = convert.s64(%n[0])\n"
                   "  vector i in 0..N\n"
                   "    a = fold j in 0..3 from s = %x[3,i]: s + %x[j,i]\n"
                   "    b = fold j in 0..3 from s = %x[3,i]: select(%x[j,i] > 0.0, s + %x[j,i], s)\n"
                   "    c = fold j in 0..min(3, n - 1) from s = %x[3,i]: s * %x[j,i]\n"
                   "    d = fold j in 0..3 from s = %x[3,i]\n"
                   "      %z[j,i] := s\n"
                   "      yield s - %x[j,i]\n"
                   "    e, f = fold j in 0..3 from s = %x[3,i], t = %x[2,i]: t + %x[j,i], s\n"
                   "    %y[0,i] := a\n    %y[1,i] := b\n    %y[2,i] := c\n"
                   "    %y[3,i] := d\n    %y[4,i] := e\n    %y[5,i] := f\n"},
    {"1 5 64 300", "kernel t(in %x: f32[5,N], out %y: f32[5,N], scratch %t: f32[N])\n"
                   "  parallel i in 0..5 grain 2\n"
                   "    m = vector max j in 0..N: %x[i,j]\n"
                   "    s = vector row add j in 0..N\n"
                   "      e = exp(%x[i,j] - m)\n"
                   "      %t[j] := e\n"
                   "      yield e\n"
                   "    vector j in 0..N: %y[i,j] :=! %t[j] / s\n"},
    {"1 16 17 1000", "kernel t(in %x: f32[N], in %w: f64[N], out %y: f32[N], out %z: f64[N])\n"
                     "  parallel i in 0..1\n"
                     "    vector j in 0..N\n"
                     "      %y[j] :=! %x[j] * 2.0\n"
                     "      %z[j] :=! %w[j] + convert.f64(%x[j])\n"},
    {"1 9 100", "kernel t(in %x: f32[N,N], in %k: s32[1], out %y: f32[N,N], out %z: f32[N])\n"
                "  n = convert.s64(%k[0])\n"
                "  c = convert.f32(n) * 0.5\n"
                "  parallel i in 0..N grain 3: %z[i] := c + %x[i,i]\n"
                "  parallel i in 0..N\n"
                "    vector j in 0..min(N, n + i): %y[i,j] := %x[j,i] + c\n"
                "    vector j in 0..N: %y[i,j] := c when j >= n + i\n"},
    {"3 64", "program p\n"
             "  argument 0 %x: f32[N]\n"
             "  argument 1 %n: s32[]\n"
             "  result 0 %y: f32[N]\n"
             "  result 1 %z: f32[N]\n"
             "  constant %c: f32[3] = {1.5, -0.0, nan}\n"
             "  temp %p: pred[] at 0\n"
             "  temp %i: s32[] at 64\n"
             "  temp %a: f32[N] at 128\n"
             "  workspace 512\n"
             "kernel test(in %i: s32[], out %p: pred[])\n"
             "  %p[] := %i[] < 5:s32\n"
             "kernel step(inout %i: s32[], inout %a: f32[N])\n"
             "  vector j in 0..N: %a[j] := %a[j] * 0.5 + 1.0\n"
             "  %i[] := %i[] + 1:s32\n"
             "kernel start(out %i: s32[])\n"
             "  %i[] := 0:s32\n"
             "kernel one(in %c: f32[3], in %a: f32[N], out %y: f32[N])\n"
             "  vector j in 0..N: %y[j] := %a[j] + %c[0]\n"
             "kernel two(in %c: f32[3], in %a: f32[N], out %y: f32[N])\n"
             "  vector j in 0..N: %y[j] := %a[j] * %c[1]\n"
             "steps\n"
             "  kernel start(%i)\n"
             "  copy %a := %x\n"
             "  while %p\n"
             "    condition\n"
             "      kernel test(%i, %p)\n"
             "    body\n"
             "      kernel step(%i, %a)\n"
             "  conditional %n\n"
             "    branch\n"
             "      kernel one(%c, %a, %y)\n"
             "    branch\n"
             "      kernel two(%c, %a, %y)\n"
             "    branch\n"
             "      copy %y := %a\n"
             "  conditional %p\n"
             "    branch\n"
             "      copy %z := %x\n"
             "    branch\n"
             "      kernel one(%c, %x, %z)\n"},
};

static bool is_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static const char *with_size(const char *text, long n)
{
  hl_str out = {.arena = arena};
  for (const char *at = text; *at; at++) {
    bool is_alone = (at == text || !is_word(at[-1])) && !is_word(at[1]);
    if (is_alone && *at == 'N')
      hl_str_printf(&out, "%ld", n);
    else if (is_alone && *at == 'M')
      hl_str_printf(&out, "%ld", n - 1);
    else
      hl_str_add_char(&out, *at);
  }
  return hl_str_text(&out);
}

START_TEST(loops_of_each_size)
{
  const loop_case *c = &loop_cases[_i];
  for (const char *at = c->sizes; *at;) {
    char *end;
    long n = strtol(at, &end, 10);
    state = (uint64_t)n;
    check_program(with_size(c->text, n), true);
    hl_arena_reset(arena);
    at = end + (*end == ' ');
  }
}
END_TEST

/* The ABI and the edges of the interface. */

static const char add_text[] = "kernel k(in %x: f32[100], out %y: f32[100], scratch %t: f32[100])\n"
                               "  vector i in 0..100: %t[i] := %x[i] * 1.0000001\n"
                               "  vector i in 0..100: %y[i] := %t[i] * 0.3\n";

static hl_program *planned(const char *text)
{
  hl_program *program = parse_good(text);
  program->max_workers = 2;
  plan(program);
  return program;
}

START_TEST(workspace_is_checked)
{
  hl_program *program = planned(add_text);
  hl_codegen_options options = options_of(&settings[3]);
  hl_code code;
  hl_jit_module *module = build(program, &options, &code);
  memory m = make_memory(program);
  char *workspace = block_of(program->workspace_bytes);
  hl_jit_entry *entry = hl_jit_module_entry(module);
  ck_assert_uint_eq(hl_jit_module_workspace_bytes(module), (uint64_t)program->workspace_bytes);
  ck_assert_int_eq(entry(m.arguments, m.actual, NULL), 1);
  ck_assert_int_eq(entry(m.arguments, m.actual, workspace + 32), 1);
  ck_assert_int_eq(entry(m.arguments, m.actual, workspace), 0);
  hl_jit_unload(module);
  free(code.data);
}
END_TEST

/* Rounding up, flushing denormals: neither shows, and both are there again afterwards. */
START_TEST(floating_environment_is_kept)
{
  hl_program *program =
      planned("kernel k(in %x: f32[64], out %y: f32[64])\n"
              "  parallel b in 0..4\n"
              "    vector i in 0..16: %y[@ 16*b+i] := %x[@ 16*b+i] * 1e-40 + 0.1\n");
  hl_codegen_options options = options_of(&settings[6]);
  hl_code code;
  hl_jit_module *module = build(program, &options, &code);
  memory m = make_memory(program);
  const unsigned odd = 0x1f80 | 0x8040 | 0x4000;
  ck_assert(hl_program_eval(arena, program, (const void *const *)m.arguments, m.expected));
  unsigned old = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(odd);
  int status = hl_jit_module_entry(module)(m.arguments, m.actual, NULL);
  unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(old);
  ck_assert_int_eq(status, 0);
  ck_assert_uint_eq(after & 0xffc0, odd);
  ck_assert(!memcmp(m.expected[0], m.actual[0], 64 * sizeof(float)));
  hl_jit_unload(module);
  free(code.data);
}
END_TEST

typedef struct symbol_count {
  int global, weak_undefined, undefined;
} symbol_count;

static symbol_count count_symbols(const hl_code *code)
{
  symbol_count count = {0, 0, 0};
  const char *bytes = code->data;
  const Elf64_Ehdr *header = code->data;
  const Elf64_Shdr *sections = (const void *)(bytes + header->e_shoff);
  for (int i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB)
      continue;
    const Elf64_Sym *symbols = (const void *)(bytes + sections[i].sh_offset);
    for (size_t k = 1; k < sections[i].sh_size / sizeof *symbols; k++) {
      int bind = ELF64_ST_BIND(symbols[k].st_info);
      bool is_undefined = symbols[k].st_shndx == SHN_UNDEF;
      count.global += bind == STB_GLOBAL && !is_undefined;
      count.weak_undefined += bind == STB_WEAK && is_undefined;
      count.undefined += bind == STB_GLOBAL && is_undefined;
    }
  }
  return count;
}

static const char everything[] =
    "kernel k(in %x: f32[9,40], in %w: f64[9,40], in %h: f16[9,40], in %n: u64[9,40], out %y: "
    "f32[9,40], out %z: f64[9,40], out %g: f16[9,40], out %q: s64[9,40])\n"
    "  parallel i in 0..9\n"
    "    vector j in 0..40\n"
    "      x = %x[i,j]\n"
    "      w = %w[i,j]\n"
    "      %y[i,j] := fma(x, sqrt(x), floor(x)) + rem(x, 3.0) + sin(x) + pow(x, 0.3) + ceil(x) + "
    "convert.f32(%h[i,j])\n"
    "      %z[i,j] := fma(w, sqrt(w), rne(w)) + rem(w, 3.0:f64) + cos(w) + pow(w, 0.3:f64) + "
    "rna(w) + convert.f64(%n[i,j])\n"
    "      %g[i,j] := convert.f16(w)\n"
    "      %q[i,j] := ipow(convert.s64(w), convert.s64(%n[i,j])) / convert.s64(x)\n"
    "kernel c(in %y: f32[9,40], out %o: f32[9,40])\n"
    "  for i in 0..9\n"
    "    for j in 0..40: %o[i,j] := %y[i,j]\n";

/* Nothing but the hook is asked for, whatever the CPU lacks. */
START_TEST(no_library_is_called)
{
  static const char *const cpus[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "znver4"};
  for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
    for (int level = 0; level < 4; level++) {
      bool threads = level > 1;
      hl_codegen_options options = {.cpu = cpus[i],
                                    .opt_level = level,
                                    .threads = threads,
                                    .symbol = "test",
                                    .signature = "()"};
      hl_code code;
      const char *error;
      ck_assert(
          hl_codegen_program(arena, planned(everything), &options, HL_CODE_OBJECT, &code, &error));
      symbol_count count = count_symbols(&code);
      ck_assert_int_eq(count.global, 3);
      ck_assert_int_eq(count.undefined, 0);
      ck_assert_int_eq(count.weak_undefined, threads);
      free(code.data);
    }
  }
}
END_TEST

typedef struct refused_case {
  const char *triple, *cpu, *features, *message;
} refused_case;

static const refused_case refused_cases[] = {
    {"x86_64-pc-windows-msvc", NULL, NULL,
     "target 'x86_64-pc-windows-msvc' does not use ELF objects; only ELF targets are supported"},
    {"arm64-apple-macosx", NULL, NULL,
     "target 'arm64-apple-macosx' does not use ELF objects; only ELF targets are supported"},
    {"aarch64_be-linux-gnu", NULL, NULL,
     "target 'aarch64_be-unknown-linux-gnu' is big-endian; only little-endian targets are "
     "supported"},
    {"sparc-linux", NULL, NULL,
     "unknown target 'sparc-unknown-linux': x86_64, aarch64, arm, thumb, riscv32 and riscv64 are "
     "supported"},
    {NULL, "pentium9", NULL, "unknown cpu 'pentium9' for target 'x86_64-pc-linux-gnu'"},
    {"aarch64-linux-gnu", "znver4", NULL,
     "unknown cpu 'znver4' for target 'aarch64-unknown-linux-gnu'"},
    {NULL, NULL, "+avx3",
     "unknown feature '+avx3': features are written +name or -name, with commas between"},
    {NULL, NULL, "avx2",
     "unknown feature 'avx2': features are written +name or -name, with commas between"},
};

START_TEST(bad_targets_are_named)
{
  const refused_case *c = &refused_cases[_i];
  hl_codegen_options options = {
      .triple = c->triple, .cpu = c->cpu, .features = c->features, .symbol = "t"};
  hl_target_info info;
  hl_code code;
  const char *error = NULL;
  ck_assert(!hl_target_resolve(arena, &options, &info, &error));
  ck_assert_str_eq(error, c->message);
  ck_assert(!hl_codegen_program(arena, planned(add_text), &options, HL_CODE_OBJECT, &code, &error));
  ck_assert_str_eq(error, c->message);
}
END_TEST

START_TEST(facts_of_targets)
{
  hl_target_info info;
  const char *error;
  hl_codegen_options options = {.symbol = "t"};
  ck_assert(hl_target_resolve(arena, &options, &info, &error));
  ck_assert(!strcmp(info.cpu, "x86-64-v3") && info.vector_bytes == 32 && info.has_fma &&
            !info.is_freestanding);
  options.features = "-fma,-avx2";
  ck_assert(hl_target_resolve(arena, &options, &info, &error) && info.vector_bytes == 16 &&
            !info.has_fma);
  options = (hl_codegen_options){.triple = "thumbv7em-none-eabi", .cpu = "cortex-m4"};
  ck_assert(hl_target_resolve(arena, &options, &info, &error));
  ck_assert(info.is_freestanding && info.has_f32 && !info.has_f64 && info.pointer_bytes == 4);
  options = (hl_codegen_options){.triple = "aarch64-linux-gnu"};
  ck_assert(hl_target_resolve(arena, &options, &info, &error) && info.vector_bytes == 16 &&
            info.has_fma);
  options = (hl_codegen_options){.triple = "riscv64-linux-gnu"};
  ck_assert(hl_target_resolve(arena, &options, &info, &error) && info.vector_bytes == 0 &&
            info.has_fma);
}
END_TEST

static const char *ir_of(const char *text, const hl_codegen_options *options)
{
  hl_code code;
  const char *error;
  ck_assert_msg(hl_codegen_program(arena, planned(text), options, HL_CODE_LLVM_IR, &code, &error),
                "%s", error);
  const char *ir = hl_arena_strndup(arena, code.data, code.size);
  free(code.data);
  return ir;
}

static int occurrences(const char *text, const char *word)
{
  int count = 0;
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
    count++;
  return count;
}

/* Two layers, the second with other names: one function, called twice. */
START_TEST(equal_kernels_are_emitted_once)
{
  hl_codegen_options options = options_of(&settings[3]);
  const char *ir = ir_of("kernel one(in %x: f32[50], out %a: f32[50])\n"
                         "  vector i in 0..50: %a[i] := exp(%x[i])\n"
                         "kernel two(in %y: f32[50], out %b: f32[50])\n"
                         "  vector j in 0..50: %b[j] := exp(%y[j])\n"
                         "kernel three(in %y: f32[50], out %c: f32[50])\n"
                         "  vector j in 0..50: %c[j] := exp(%y[49-j])\n",
                         &options);
  ck_assert_int_eq(occurrences(ir, "define internal void @kernel"), 2);
  ck_assert_int_eq(occurrences(ir, "call void @kernel"), 3);
}
END_TEST

START_TEST(output_is_reproducible)
{
  hl_codegen_options options = options_of(&settings[4]);
  hl_code first, second;
  const char *error;
  ck_assert(
      hl_codegen_program(arena, planned(everything), &options, HL_CODE_OBJECT, &first, &error));
  ck_assert(
      hl_codegen_program(arena, planned(everything), &options, HL_CODE_OBJECT, &second, &error));
  ck_assert_uint_eq(first.size, second.size);
  ck_assert(!memcmp(first.data, second.data, first.size));
  free(first.data);
  free(second.data);
}
END_TEST

/* Code for other machines is made, whatever they lack. */
START_TEST(other_targets)
{
  static const char *const targets[][2] = {
      {"aarch64-linux-gnu", NULL},         {"riscv64-linux-gnu", NULL},
      {"riscv32-none-elf", NULL},          {"thumbv7em-none-eabi", "cortex-m4"},
      {"thumbv6m-none-eabi", "cortex-m0"}, {"armv7-linux-gnueabihf", NULL}};
  static const char *const library[] = {"fmaf\n",   "fma\n",    "sqrt\n",   "sqrtf\n",
                                        "floorf\n", "memset\n", "memcpy\n", "__truncdfhf2\n"};
  for (int level = 0; level < 4; level++) {
    hl_codegen_options options = {
        .triple = targets[_i][0], .cpu = targets[_i][1], .opt_level = level, .symbol = "t"};
    hl_code code;
    const char *error;
    bool ok =
        hl_codegen_program(arena, planned(everything), &options, HL_CODE_ASSEMBLY, &code, &error);
    ck_assert_msg(ok, "%s: %s", targets[_i][0], error);
    for (size_t i = 0; i < sizeof library / sizeof *library; i++)
      ck_assert_msg(!strstr(code.data, library[i]), "%s: %s", targets[_i][0], library[i]);
    free(code.data);
  }
}
END_TEST

/* The user's float flags, each on its own. */
START_TEST(float_flags)
{
  static const char text[] = "kernel k(in %x: f32[64], in %y: f32[64], out %z: f32[64])\n"
                             "  vector i in 0..64: %z[i] := %x[i] * %y[i] + 1.0\n";
  hl_codegen_options options = options_of(&settings[3]);
  const char *plain = ir_of(text, &options);
  ck_assert(!strstr(plain, "fmul contract") && !strstr(plain, "fast") &&
            !strstr(plain, "preserve-sign"));
  ck_assert(strstr(plain, "fcmp uno"));
  options.fp_contract = true;
  ck_assert(strstr(ir_of(text, &options), "fmul contract"));
  options.fp_contract = false;
  options.ftz = true;
  ck_assert(strstr(ir_of(text, &options), "preserve-sign"));
  options.ftz = false;
  options.fast_math = true;
  const char *fast = ir_of(text, &options);
  ck_assert(strstr(fast, "fmul fast") && !strstr(fast, "fcmp uno"));
}
END_TEST

/* Several threads compile, link, run and unload at once. */
static void *work(void *argument)
{
  hl_arena *own = hl_arena_new(NULL);
  const hl_program *program = argument;
  hl_codegen_options options = options_of(&settings[6]);
  float x[100], y[100];
  int64_t wrong = 0;
  for (int i = 0; i < 100; i++)
    x[i] = (float)i;
  for (int round = 0; round < 8; round++) {
    hl_code code;
    const char *error;
    if (!hl_codegen_program(own, program, &options, HL_CODE_OBJECT, &code, &error))
      return (void *)1;
    hl_jit_module *module = hl_jit_load(jit, own, code.data, code.size, "test", NULL, 0, &error);
    free(code.data);
    if (!module || hl_jit_module_entry(module)((void *[]){x}, (void *[]){y}, NULL) != 0)
      return (void *)1;
    for (int i = 0; i < 100; i++)
      wrong += y[i] != x[i] * 2;
    hl_jit_unload(module);
  }
  hl_arena_free(own);
  return wrong ? (void *)1 : NULL;
}

START_TEST(threads_share_a_linker)
{
  enum { COUNT = 4 };
  pthread_t threads[COUNT];
  hl_program *program =
      planned("kernel k(in %x: f32[100], out %y: f32[100])\n"
              "  parallel b in 0..10 grain 2\n"
              "    vector i in 0..10: %y[@ 10*b+i] := %x[@ 10*b+i] + %x[@ 10*b+i]\n");
  for (int i = 0; i < COUNT; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, work, program), 0);
  for (int i = 0; i < COUNT; i++) {
    void *result;
    pthread_join(threads[i], &result);
    ck_assert(result == NULL);
  }
}
END_TEST

static TCase *add_case(Suite *suite, const char *name)
{
  TCase *t = tcase_create(name);
  tcase_add_checked_fixture(t, open_all, close_all);
  tcase_set_timeout(t, 300);
  suite_add_tcase(suite, t);
  return t;
}

static Suite *codegen_suite(void)
{
  Suite *suite = suite_create("codegen");
  TCase *t = add_case(suite, "operations");
  tcase_add_loop_test(t, operation_on_each_type, 0, (int)(sizeof operations / sizeof *operations));
  tcase_add_loop_test(t, convert_to_each_type, 0, (int)(sizeof all_types / sizeof *all_types));
  t = add_case(suite, "abi");
  tcase_add_test(t, workspace_is_checked);
  tcase_add_test(t, floating_environment_is_kept);
  tcase_add_test(t, no_library_is_called);
  tcase_add_loop_test(t, bad_targets_are_named, 0,
                      (int)(sizeof refused_cases / sizeof *refused_cases));
  tcase_add_test(t, facts_of_targets);
  tcase_add_test(t, equal_kernels_are_emitted_once);
  tcase_add_test(t, output_is_reproducible);
  tcase_add_loop_test(t, other_targets, 0, 6);
  tcase_add_test(t, float_flags);
  tcase_add_test(t, threads_share_a_linker);
  t = add_case(suite, "loops");
  tcase_add_loop_test(t, loops_of_each_size, 0, (int)(sizeof loop_cases / sizeof *loop_cases));
  return suite;
}

int main(void)
{
  return run_suite(codegen_suite());
}
