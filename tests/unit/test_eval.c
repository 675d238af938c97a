/* test_eval.c - the reference evaluator: corner values of single ops, orders of sums, computations.
 */
#include "grammar/parse.h"
#include "ir/eval.h"
#include "ir/verify.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hl_arena *arena;
static hl_diag diag;

static void setup(void)
{
  arena = hl_arena_new(NULL);
  ck_assert_ptr_nonnull(arena);
  diag = (hl_diag){.arena = arena};
}

static void teardown(void)
{
  hl_arena_free(arena);
}

static const char *messages(void)
{
  hl_str text = {.arena = arena};
  hl_diag_render(&diag, (hl_render_options){false, false}, &text);
  return hl_str_text(&text);
}

static const hl_module *load(const char *text)
{
  diag.source = hl_source_new(arena, "t.hlo", text, strlen(text));
  hl_module *module = hl_parse(arena, diag.source, &diag);
  ck_assert_msg(module && hl_verify(module, (hl_verify_options){0}, &diag), "%s\n%s", text,
                messages());
  return module;
}

/* The first result of a module. */
static const hl_literal *evaluate(const char *text, const hl_literal *const *args)
{
  const hl_literal **results;
  int count;
  ck_assert_msg(hl_eval_module(arena, load(text), args, &results, &count, &diag), "%s\n%s", text,
                messages());
  ck_assert_int_ge(count, 1);
  return results[0];
}

static hl_element_type type_of(const char *name)
{
  return hl_type_by_name(name, strlen(name));
}

static const hl_literal *scalar_of_bits(const char *type, uint64_t bits)
{
  hl_literal *literal = hl_literal_new(arena, hl_shape_scalar(arena, type_of(type)));
  hl_literal_set_bits(literal, 0, bits);
  return literal;
}

static uint64_t float_bits(const char *type, double value)
{
  return hl_float_encode(type_of(type), value);
}

/* The bits of op(args...) on scalars of one type; `rest` follows the operands: ")", ", attributes".
 */
static uint64_t apply(const char *op, const char *type, const char *result, const char *rest,
                      int count, const uint64_t *bits)
{
  hl_str text = {.arena = arena};
  const hl_literal *args[3];
  hl_str_add(&text, "HloModule t\nENTRY e {\n");
  for (int i = 0; i < count; i++) {
    hl_str_printf(&text, "  p%d = %s[] parameter(%d)\n", i, type, i);
    args[i] = scalar_of_bits(type, bits[i]);
  }
  hl_str_printf(&text, "  ROOT r = %s[] %s(", result, op);
  for (int i = 0; i < count; i++)
    hl_str_printf(&text, i ? ", p%d" : "p%d", i);
  hl_str_printf(&text, ")%s\n}\n", rest);
  return hl_literal_get_bits(evaluate(hl_str_text(&text), args), 0);
}

/* ---- integers ---- */

static const struct {
  const char *op, *type;
  int64_t x, y, want;
} integers[] = {
    {"add", "s8", 127, 1, -128},
    {"subtract", "u8", 0, 1, 255},
    {"multiply", "s32", 65536, 65536, 0},
    {"multiply", "s64", INT64_MIN, -1, INT64_MIN},
    {"divide", "s32", 7, -2, -3},
    {"divide", "s32", 7, 0, -1},
    {"divide", "u32", 7, 0, 4294967295},
    {"divide", "s8", -128, -1, -128},
    {"divide", "s32", INT32_MIN, -1, INT32_MIN},
    {"divide", "s64", INT64_MIN, -1, INT64_MIN},
    {"divide", "u64", -1, 2, INT64_MAX},
    {"divide", "u8", 255, 2, 127},
    {"remainder", "s32", 7, 0, 7},
    {"remainder", "s32", -7, 3, -1},
    {"remainder", "s32", 7, -3, 1},
    {"remainder", "s32", INT32_MIN, -1, 0},
    {"remainder", "s64", INT64_MIN, -1, 0},
    {"remainder", "u64", -1, 10, 5},
    {"remainder", "u8", 200, 0, 200},
    {"power", "s32", 3, 4, 81},
    {"power", "s32", 0, 0, 1},
    {"power", "s32", 2, -1, 0},
    {"power", "s32", 0, -1, 0},
    {"power", "s32", 1, -5, 1},
    {"power", "s32", -1, -5, -1},
    {"power", "s32", -1, -4, 1},
    {"power", "s32", -2, 31, INT32_MIN},
    {"power", "s8", 3, 5, -13},
    {"power", "u8", 2, 255, 0},
    {"power", "u64", 3, -1, -6148914691236517205},
    {"maximum", "s8", -1, 1, 1},
    {"maximum", "u8", 255, 1, 255},
    {"minimum", "u64", -1, 1, 1},
    {"minimum", "s64", -1, 1, -1},
    {"and", "s16", -1, 255, 255},
    {"or", "u16", 256, 1, 257},
    {"xor", "s8", -1, 1, -2},
    {"shift-left", "s32", 1, 31, INT32_MIN},
    {"shift-left", "s32", 1, 32, 0},
    {"shift-left", "s32", 1, -1, 0},
    {"shift-left", "u8", 255, 1, 254},
    {"shift-left", "u8", 1, 8, 0},
    {"shift-left", "s64", 1, 63, INT64_MIN},
    {"shift-left", "u64", 1, 64, 0},
    {"shift-right-logical", "s32", -1, 31, 1},
    {"shift-right-logical", "s32", -1, 32, 0},
    {"shift-right-logical", "s8", -128, 7, 1},
    {"shift-right-logical", "s64", -1, -1, 0},
    {"shift-right-logical", "u64", -1, 63, 1},
    {"shift-right-arithmetic", "s32", -8, 1, -4},
    {"shift-right-arithmetic", "s32", -8, 32, -1},
    {"shift-right-arithmetic", "s32", 8, 32, 0},
    {"shift-right-arithmetic", "s32", -8, -1, -1},
    {"shift-right-arithmetic", "u8", 200, 1, 228},
    {"shift-right-arithmetic", "u8", 200, 8, 255},
    {"shift-right-arithmetic", "u8", 100, 9, 0},
    {"shift-right-arithmetic", "s64", INT64_MIN, 64, -1},
    {"mulhi", "s8", -128, -128, 64},
    {"mulhi", "u8", 255, 255, 254},
    {"mulhi", "s32", -1, 1, -1},
    {"mulhi", "s64", INT64_MIN, INT64_MIN, INT64_C(1) << 62},
    {"mulhi", "s64", -1, 1, -1},
    {"mulhi", "u64", -1, -1, -2},
    {"add", "pred", 1, 1, 1},
    {"multiply", "pred", 1, 0, 0},
    {"maximum", "pred", 1, 0, 1},
    {"minimum", "pred", 1, 0, 0},
    {"xor", "pred", 1, 1, 0},
    {"add", "s4", 7, 1, -8},
    {"divide", "u2", 3, 0, 3},
};

static uint64_t int_bits(const char *type, int64_t value)
{
  hl_literal *literal = hl_literal_new(arena, hl_shape_scalar(arena, type_of(type)));
  hl_literal_set_int(literal, 0, value);
  return hl_literal_get_bits(literal, 0);
}

START_TEST(integer_ops)
{
  const char *type = integers[_i].type;
  uint64_t bits[2] = {int_bits(type, integers[_i].x), int_bits(type, integers[_i].y)};
  ck_assert_uint_eq(apply(integers[_i].op, type, type, "", 2, bits),
                    int_bits(type, integers[_i].want));
}
END_TEST

static const struct {
  const char *op, *type;
  int64_t x, want;
} integer_unaries[] = {
    {"abs", "s8", -128, -128},
    {"abs", "s64", INT64_MIN, INT64_MIN},
    {"abs", "s32", -5, 5},
    {"negate", "u8", 1, 255},
    {"negate", "s32", INT32_MIN, INT32_MIN},
    {"sign", "s16", -7, -1},
    {"sign", "s16", 0, 0},
    {"not", "u16", 1, 65534},
    {"not", "pred", 1, 0},
    {"popcnt", "s8", -1, 8},
    {"popcnt", "s64", INT64_MIN, 1},
    {"count-leading-zeros", "s32", 0, 32},
    {"count-leading-zeros", "u8", 1, 7},
    {"count-leading-zeros", "s64", -1, 0},
};

START_TEST(integer_unary_ops)
{
  const char *type = integer_unaries[_i].type;
  uint64_t bits = int_bits(type, integer_unaries[_i].x);
  ck_assert_uint_eq(apply(integer_unaries[_i].op, type, type, "", 1, &bits),
                    int_bits(type, integer_unaries[_i].want));
}
END_TEST

/* ---- floats ---- */

#define INF (double)INFINITY
#define NaN (double)NAN

static const struct {
  const char *op, *type;
  double x, y, want;
} floats[] = {
    {"maximum", "f32", -0.0, 0.0, 0.0},
    {"maximum", "f32", 0.0, -0.0, 0.0},
    {"minimum", "f64", -0.0, 0.0, -0.0},
    {"minimum", "f64", 0.0, -0.0, -0.0},
    {"maximum", "f16", NaN, 1, NaN},
    {"minimum", "bf16", 1, NaN, NaN},
    {"maximum", "f32", -INF, INF, INF},
    {"remainder", "f32", 5.5, 2, 1.5},
    {"remainder", "f32", -5.5, 2, -1.5},
    {"remainder", "f32", 5, INF, 5},
    {"remainder", "f32", 5, 0, NaN},
    {"remainder", "f64", INF, 3, NaN},
    {"remainder", "f32", -0.0, 3, -0.0},
    {"remainder", "f32", -4, 2, -0.0},
    {"divide", "f32", 1, 0, INF},
    {"divide", "f32", 1, -0.0, -INF},
    {"divide", "f32", 0, 0, NaN},
    {"subtract", "f32", INF, INF, NaN},
    {"add", "f32", -0.0, 0.0, 0.0},
    {"add", "bf16", 256, 1, 256},
    {"add", "f16", 65504, 16, INF},
    {"add", "f16", 65504, 15, 65504},
    {"multiply", "f32", 0x1p-149, 0.5, 0},
    {"multiply", "f32", 0x1p-126, 0.5, 0x1p-127},
    {"multiply", "f16", 0x1p-14, 0.5, 0x1p-15},
    {"multiply", "f8e5m2", 1.25, 1.25, 1.5},
    {"add", "f8e4m3fn", 448, 448, NaN},
    {"power", "f32", 1, NaN, 1},
    {"power", "f32", NaN, 0, 1},
    {"power", "f32", -0.0, -1, -INF},
    {"power", "f32", -2, 0.5, NaN},
    {"power", "f64", -2, 3, -8},
    {"atan2", "f32", -0.0, 1, -0.0},
};

START_TEST(float_ops)
{
  const char *type = floats[_i].type;
  uint64_t bits[2] = {float_bits(type, floats[_i].x), float_bits(type, floats[_i].y)};
  ck_assert_uint_eq(apply(floats[_i].op, type, type, "", 2, bits),
                    float_bits(type, floats[_i].want));
}
END_TEST

static const struct {
  const char *op, *type;
  double x, want;
} float_unaries[] = {
    {"sign", "f32", -0.0, -0.0},
    {"sign", "f32", -3, -1},
    {"sign", "bf16", NaN, NaN},
    {"sqrt", "f32", -0.0, -0.0},
    {"sqrt", "f32", -1, NaN},
    {"rsqrt", "f32", -0.0, -INF},
    {"rsqrt", "f64", 4, 0.5},
    {"log", "f32", -0.0, -INF},
    {"cbrt", "f64", -8, -2},
    {"floor", "f32", -0.5, -1},
    {"ceil", "f32", -0.5, -0.0},
    {"floor", "f16", -0.0, -0.0},
    {"round-nearest-even", "f32", 2.5, 2},
    {"round-nearest-even", "f32", -0.5, -0.0},
    {"round-nearest-afz", "f32", 2.5, 3},
    {"round-nearest-afz", "f32", 0x1.fffffep-2, 0},
    {"negate", "f8e4m3fnuz", 0, 0},
    {"abs", "f8e4m3fnuz", -2, 2},
};

START_TEST(float_unary_ops)
{
  const char *type = float_unaries[_i].type;
  uint64_t bits = float_bits(type, float_unaries[_i].x);
  ck_assert_uint_eq(apply(float_unaries[_i].op, type, type, "", 1, &bits),
                    float_bits(type, float_unaries[_i].want));
}
END_TEST

/* Moves and sign changes keep a payload; arithmetic makes the canonical NaN. */
static const struct {
  const char *op;
  uint64_t x, want;
} nans[] = {
    {"negate", 0x7fc00001, 0xffc00001},
    {"abs", 0xff800001, 0x7f800001},
    {"copy", 0xff800001, 0xff800001},
    {"convert", 0xffc00001, 0xffc00001},
    {"reshape", 0xffc00001, 0xffc00001},
    {"floor", 0xffc00001, 0x7fc00000},
    {"sign", 0xffc00000, 0x7fc00000},
    {"exponential", 0xffc00001, 0x7fc00000},
    {"round-nearest-even", 0xff800001, 0x7fc00000},
};

START_TEST(nan_bits)
{
  ck_assert_uint_eq(apply(nans[_i].op, "f32", "f32", "", 1, &nans[_i].x), nans[_i].want);
}
END_TEST

START_TEST(nan_of_reduce_precision)
{
  uint64_t nan = 0xffc00001;
  ck_assert_uint_eq(
      apply("reduce-precision", "f32", "f32", ", exponent_bits=5, mantissa_bits=0", 1, &nan),
      0x7fc00000);
}
END_TEST

/* ---- comparisons ---- */

static const struct {
  const char *attributes;
  double x, y;
  bool want;
} comparisons[] = {
    {", direction=EQ", NaN, NaN, false},
    {", direction=NE", NaN, NaN, true},
    {", direction=GE", NaN, 1, false},
    {", direction=EQ", -0.0, 0.0, true},
    {", direction=LT", -0.0, 0.0, false},
    {", direction=LT, type=TOTALORDER", -0.0, 0.0, true},
    {", direction=GT, type=TOTALORDER", NaN, INF, true},
    {", direction=EQ, type=TOTALORDER", NaN, NaN, true},
    {", direction=LT, type=TOTALORDER", -INF, -3, true},
    {", direction=LT, type=TOTALORDER", -3, -2, true},
};

START_TEST(compares)
{
  uint64_t bits[2] = {float_bits("f32", comparisons[_i].x), float_bits("f32", comparisons[_i].y)};
  ck_assert_uint_eq(apply("compare", "f32", "pred", comparisons[_i].attributes, 2, bits),
                    comparisons[_i].want);
}
END_TEST

START_TEST(unsigned_and_signed_compare)
{
  uint64_t bits[2] = {255, 1};
  ck_assert_uint_eq(apply("compare", "u8", "pred", ", direction=GT", 2, bits), 1);
  ck_assert_uint_eq(apply("compare", "s8", "pred", ", direction=GT", 2, bits), 0);
}
END_TEST

static const struct {
  double low, x, high, want;
} clamps[] = {
    {0, 5, 3, 3},     {0, -5, 3, 0},    {4, 5, 3, 3},        {NaN, 1, 2, NaN},
    {0, NaN, 2, NaN}, {0, 1, NaN, NaN}, {0.0, -0.0, 1, 0.0},
};

START_TEST(clamp_values)
{
  uint64_t bits[3] = {float_bits("f32", clamps[_i].low), float_bits("f32", clamps[_i].x),
                      float_bits("f32", clamps[_i].high)};
  ck_assert_uint_eq(apply("clamp", "f32", "f32", "", 3, bits), float_bits("f32", clamps[_i].want));
}
END_TEST

/* ---- conversions ---- */

static const struct {
  const char *from;
  double x; /* a float, or a whole number of an integer type */
  const char *to;
  double want;
} conversions[] = {
    {"f32", 2.9, "s32", 2},
    {"f32", -2.9, "s32", -2},
    {"f32", 127.9, "s8", 127},
    {"f32", 128, "s8", 127},
    {"f32", -128.9, "s8", -128},
    {"f32", -129, "s8", -128},
    {"f32", -1, "u8", 0},
    {"f32", 255.9, "u8", 255},
    {"f32", 256, "u8", 255},
    {"f32", 0x1p31, "s32", 2147483647},
    {"f32", -0x1p31, "s32", -2147483648.0},
    {"f32", 0x1p32, "u32", 4294967295},
    {"f64", INF, "s16", 32767},
    {"f64", -INF, "s16", -32768},
    {"f32", NaN, "s32", 0},
    {"f32", NaN, "u8", 0},
    {"f32", 9, "s4", 7},
    {"f32", -9, "s4", -8},
    {"f32", 5, "u2", 3},
    {"f32", NaN, "pred", 1},
    {"f32", 0.3, "pred", 1},
    {"f32", -0.0, "pred", 0},
    {"s32", 2, "pred", 1},
    {"s32", 300, "u8", 44},
    {"s32", -1, "u16", 65535},
    {"u8", 200, "s8", -56},
    {"pred", 1, "f32", 1},
    {"pred", 1, "s8", 1},
    {"s32", 16777217, "f32", 16777216},
    {"s32", 16777219, "f32", 16777220},
    {"u32", 4294967295, "f32", 4294967296},
    {"s32", 65519, "f16", 65504},
    {"s32", 65520, "f16", INF},
    {"s32", 257, "bf16", 256},
    {"s32", 259, "bf16", 260},
    {"f64", 1 + 0x1p-24, "f32", 1},
    {"f64", 1 + 0x1p-24 + 0x1p-52, "f32", 1 + 0x1p-23},
    {"f64", 1 + 0x1p-8 + 0x1p-50, "bf16", 1 + 0x1p-7}, /* through f32 it would be a tie */
    {"f64", 1 + 0x1p-11 + 0x1p-50, "f16", 1 + 0x1p-10},
    {"f64", 65519.99, "f16", 65504},
    {"f64", 65520, "f16", INF},
    {"f32", 464, "f8e4m3fn", 448},
    {"f32", 465, "f8e4m3fn", NaN},
    {"f32", -INF, "f8e4m3fn", NaN},
    {"f32", 61440, "f8e5m2", INF},
    {"f32", 61439, "f8e5m2", 57344},
    {"bf16", 0x1p-133, "f32", 0x1p-133},
    {"f32", 0x1p-133, "bf16", 0x1p-133},
    {"f32", 0x1p-150, "f16", 0},
    {"f16", 0x1p-24, "f64", 0x1p-24},
};

static uint64_t value_bits(const char *type, double value)
{
  return hl_is_float(type_of(type)) ? float_bits(type, value) : int_bits(type, (int64_t)value);
}

START_TEST(converts)
{
  uint64_t bits = value_bits(conversions[_i].from, conversions[_i].x);
  ck_assert_uint_eq(apply("convert", conversions[_i].from, conversions[_i].to, "", 1, &bits),
                    value_bits(conversions[_i].to, conversions[_i].want));
}
END_TEST

/* 64-bit integers, whose values doubles do not hold. */
static const struct {
  const char *from;
  int64_t x;
  const char *to;
  uint64_t want;
} long_conversions[] = {
    {"s64", INT64_MAX, "f32", 0x5f000000},
    {"s64", INT64_MIN, "f32", 0xdf000000},
    {"u64", -1, "f32", 0x5f800000},
    {"u64", -1, "f64", 0x43f0000000000000},
    {"s64", (INT64_C(1) << 53) + 1, "f64", 0x4340000000000000},
    {"s64", (INT64_C(1) << 40) + (INT64_C(1) << 32) + 1, "bf16",
     0x5381}, /* rounded once: above the tie */
    {"s64", (INT64_C(1) << 40) + (INT64_C(1) << 32), "bf16", 0x5380},
    {"s64", (INT64_C(1) << 62) + (INT64_C(1) << 38) + 1, "f32", 0x5e800001},
    {"f64", 0x43e0000000000000, "s64", INT64_MAX},
    {"f64", 0x43dfffffffffffff, "s64", 0x7ffffffffffffc00},
    {"f64", (int64_t)0xc3e0000000000000, "s64", 0x8000000000000000},
    {"f64", 0x43f0000000000000, "u64", UINT64_MAX},
    {"f64", 0x43efffffffffffff, "u64", 0xfffffffffffff800},
};

START_TEST(converts_long)
{
  uint64_t bits = (uint64_t)long_conversions[_i].x;
  ck_assert_uint_eq(
      apply("convert", long_conversions[_i].from, long_conversions[_i].to, "", 1, &bits),
      long_conversions[_i].want);
}
END_TEST

static const struct {
  const char *type;
  double x;
  int exponent_bits, mantissa_bits;
  double want;
} precisions[] = {
    {"f32", 1 + 0x1p-8, 8, 7, 1},
    {"f32", 1 + 0x1p-8 + 0x1p-23, 8, 7, 1 + 0x1p-7},
    {"f32", 65520, 5, 10, INF},
    {"f32", 65519, 5, 10, 65504},
    {"f32", -65520, 5, 10, -INF},
    {"f32", 0x1p-15, 5, 10, 0},
    {"f32", -0x1p-15, 5, 10, -0.0},
    {"f32", 0x1p-14, 5, 10, 0x1p-14},
    {"f32", 0x1.ffffp-15, 5, 10, 0x1p-14},
    {"f32", 1.5, 8, 0, 2},
    {"f32", 2.5, 8, 0, 2},
    {"f32", 0x1p-149, 8, 23, 0x1p-149},
    {"f64", 1 + 0x1p-11, 5, 10, 1},
    {"f64", 1e300, 11, 52, 1e300},
    {"f16", 1.5, 11, 52, 1.5},
    {"f32", 3, 1, 1, INF},
    {"f32", 1, 1, 1, 0},
};

START_TEST(reduces_precision)
{
  char rest[64];
  const char *type = precisions[_i].type;
  uint64_t bits = float_bits(type, precisions[_i].x);
  snprintf(rest, sizeof rest, ", exponent_bits=%d, mantissa_bits=%d", precisions[_i].exponent_bits,
           precisions[_i].mantissa_bits);
  ck_assert_uint_eq(apply("reduce-precision", type, type, rest, 1, &bits),
                    float_bits(type, precisions[_i].want));
}
END_TEST

/* ---- orders of sums: expected bits are those of the scalar reference in Python ---- */

/* A value whose sums differ in the last bits when the order does. */
static float order_sensitive(uint32_t t)
{
  uint32_t h = t * UINT32_C(2654435761) + 12345;
  return (float)(((h >> 8) / 16777216.0 - 0.4) * (double)(1 << (h >> 3) % 7));
}

static const hl_literal *inputs(int rank, const int64_t *dimensions, uint32_t first)
{
  hl_literal *literal = hl_literal_new(arena, hl_shape_new(arena, HL_F32, rank, dimensions));
  int64_t total = hl_shape_elements(literal->shape);
  for (int64_t i = 0; i < total; i++)
    hl_literal_set_double(literal, i, (double)order_sensitive(first + (uint32_t)i));
  return literal;
}

#define SUM "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"

static const struct {
  int64_t rows, columns; /* rows 0: an array of one dimension */
  const char *result, *dimensions;
  uint32_t want;
} sums[] = {
    {0, 0, "[]", "0", 0x3f000000},     {0, 1, "[]", "0", 0xc02ccc6d},
    {0, 31, "[]", "0", 0x42eb4d9a},    {0, 32, "[]", "0", 0x42cc765e},
    {0, 33, "[]", "0", 0x42d27eee},    {0, 4096, "[]", "0", 0x46051ba6},
    {0, 4097, "[]", "0", 0x46052cdb},  {1, 2, "[2]", "0", 0xc02ccc6d},
    {31, 2, "[2]", "0", 0x42a17962},   {32, 2, "[2]", "0", 0x42a12587},
    {33, 2, "[2]", "0", 0x42b4e1a2},   {256, 2, "[2]", "0", 0x4430d25e},
    {257, 2, "[2]", "0", 0x4430f493},  {4096, 2, "[2]", "0", 0x45d96eea},
    {4097, 2, "[2]", "0", 0x45d98004}, {1, 33, "[]", "0,1", 0x42d27eee},
    {33, 33, "[]", "1,0", 0x452fd16e}, {257, 33, "[]", "0,1", 0x465b57ec},
    {4097, 1, "[1]", "0", 0x46052cdb},
};

START_TEST(orders_of_sums)
{
  const int64_t dimensions[2] = {sums[_i].rows, sums[_i].columns};
  bool is_line = !sums[_i].rows;
  const hl_literal *x = inputs(is_line ? 1 : 2, dimensions + is_line, 0);
  const char *text = hl_arena_printf(
      arena,
      "HloModule t\n" SUM "ENTRY e {\n  x = %s parameter(0)\n  i = f32[] constant(0.5)\n"
      "  ROOT r = f32%s reduce(x, i), dimensions={%s}, to_apply=add\n}\n",
      hl_shape_text(arena, x->shape), sums[_i].result, sums[_i].dimensions);
  ck_assert_uint_eq(hl_literal_get_bits(evaluate(text, &x), 0), sums[_i].want);
}
END_TEST

static const struct {
  int64_t n;
  uint32_t want;
} dots[] = {
    {0, 0},
    {1, 0x3f71b147},
    {1023, 0xc4cc5e65},
    {1024, 0xc4cccacd},
    {1025, 0xc4cd2dba},
    {2049, 0xc59bdae6},
};

START_TEST(blocks_of_dot)
{
  const hl_literal *args[2] = {inputs(1, &dots[_i].n, 0), inputs(1, &dots[_i].n, 7)};
  const char *shape = hl_shape_text(arena, args[0]->shape);
  const char *text = hl_arena_printf(
      arena,
      "HloModule t\nENTRY e {\n  x = %s parameter(0)\n  y = %s parameter(1)\n"
      "  ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n}\n",
      shape, shape);
  ck_assert_uint_eq(hl_literal_get_bits(evaluate(text, args), 0), dots[_i].want);
}
END_TEST

/* ---- modules: each computes one s32 or f32 value without arguments ---- */

#define ENTRY "HloModule t\n"

static const struct {
  const char *text, *want; /* the result as HLO text */
} modules[] = {
    {ENTRY "c { p = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] "
           "constant(10)\n"
           "  ROOT r = pred[] compare(i, n), direction=LT }\n"
           "b { p = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(p), index=0\n"
           "  s = s32[] get-tuple-element(p), index=1 o = s32[] constant(1) j = s32[] add(i, o) t "
           "= s32[] add(s, i)\n"
           "  ROOT r = (s32[], s32[]) tuple(j, t) }\n"
           "ENTRY e { z = s32[] constant(0) t = (s32[], s32[]) tuple(z, z)\n"
           "  w = (s32[], s32[]) while(t), condition=c, body=b ROOT r = s32[] "
           "get-tuple-element(w), index=1 }\n",
     "45"},
    {ENTRY "a { p = s32[] parameter(0) ROOT r = s32[] negate(p) }\nb { p = s32[] parameter(0) ROOT "
           "r = s32[] add(p, p) }\n"
           "ENTRY e { i = s32[] constant(-1) x = s32[] constant(7)\n"
           "  ROOT r = s32[] conditional(i, x, x), branch_computations={a, b} }\n",
     "14"},
    {ENTRY "a { p = s32[] parameter(0) ROOT r = s32[] negate(p) }\nb { p = s32[] parameter(0) ROOT "
           "r = s32[] add(p, p) }\n"
           "ENTRY e { i = pred[] constant(true) x = s32[] constant(7)\n"
           "  ROOT r = s32[] conditional(i, x, x), true_computation=a, false_computation=b }\n",
     "-7"},
    /* a region that is not elementwise: a call of a call, looked through for rule 4 */
    {ENTRY SUM
     "g { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] call(y, x), to_apply=add }\n"
     "ENTRY e { x = f32[3] constant({1, 2, 3}) z = f32[] constant(0)\n"
     "  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=g }\n",
     "6"},
    {ENTRY "f { x = s32[] parameter(0) y = s32[] parameter(1) t = (s32[], s32[]) tuple(x, y)\n"
           "  a = s32[] get-tuple-element(t), index=1 ROOT r = s32[] subtract(a, x) }\n"
           "ENTRY e { x = s32[3] constant({1, 2, 4}) z = s32[] constant(0)\n"
           "  ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=f }\n",
     "3"},
    /* implicit broadcasting, before expansion */
    {ENTRY SUM "ENTRY e { x = f32[2,1] constant({{1}, {2}}) y = f32[3] constant({10, 20, 30})\n"
               "  s = f32[2,3] add(x, y), broadcast_dimensions={1} z = f32[] constant(0)\n"
               "  ROOT r = f32[] reduce(s, z), dimensions={0,1}, to_apply=add }\n",
     "129"},
    /* what the root does not need is not evaluated */
    {ENTRY "ENTRY e { x = s32[] constant(3) t = token[] after-all() y = (s32[], token[]) infeed(t) "
           "ROOT r = s32[] add(x, x) }\n",
     "6"},
    {ENTRY "ENTRY e { x = s32[2,3] constant({{1, 2, 3}, {4, 5, 6}}) y = s32[3,2] bitcast(x) s = "
           "s32[1,1] slice(y), slice={[2:3], [0:1]}\n"
           "  ROOT r = s32[] reshape(s) }\n",
     "5"},
    /* row-major [2,3] read as column-major [3,2]: the transpose */
    {ENTRY
     "ENTRY e { x = s32[2,3]{1,0} constant({{1, 2, 3}, {4, 5, 6}}) y = s32[3,2]{0,1} bitcast(x)\n"
     "  s = s32[1,1] slice(y), slice={[2:3], [0:1]} ROOT r = s32[] reshape(s) }\n",
     "3"},
};

START_TEST(runs_modules)
{
  hl_str text = {.arena = arena};
  hl_literal_print_element(&text, evaluate(modules[_i].text, NULL), 0);
  ck_assert_str_eq(hl_str_text(&text), modules[_i].want);
}
END_TEST

/* ---- failures ---- */

START_TEST(missing_evaluator_is_an_error)
{
  const hl_literal **results;
  int count;
  const hl_module *m = load(ENTRY "ENTRY e { t = token[] after-all() y = (s32[], token[]) "
                                  "infeed(t) ROOT r = s32[] get-tuple-element(y), index=0 }\n");
  ck_assert(!hl_eval_module(arena, m, NULL, &results, &count, &diag));
  ck_assert_int_eq(diag.error_count, 1);
}
END_TEST

START_TEST(limits_end_an_evaluation)
{
  const hl_module *m =
      load(ENTRY SUM "ENTRY e { x = f32[100] iota(), iota_dimension=0 z = f32[] constant(0)\n"
                     "  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add }\n");
  const hl_instruction *reduce = m->entry->root, *iota = reduce->operands[0];
  ck_assert_ptr_null(hl_eval_instruction(arena, iota, NULL, (hl_eval_limits){399, 0}));
  const hl_literal *x = hl_eval_instruction(arena, iota, NULL, (hl_eval_limits){400, 0});
  const hl_literal *args[2] = {x, reduce->operands[1]->literal};
  ck_assert_ptr_null(hl_eval_instruction(arena, reduce, args, (hl_eval_limits){0, 100}));
  const hl_literal *sum = hl_eval_instruction(arena, reduce, args, (hl_eval_limits){0, 1000});
  ck_assert_double_eq(hl_literal_get_double(sum, 0), 4950);
}
END_TEST

START_TEST(every_compiled_op_has_an_evaluator)
{
  for (int op = 0; op < HL_OP_COUNT; op++) {
    hl_stage stage = hl_op_info_of((hl_opcode)op)->stage;
    bool has = hl_eval_has((hl_opcode)op);
    ck_assert_msg(has || !hl_stage_compiles(stage), "%s has no evaluator",
                  hl_op_info_of((hl_opcode)op)->name);
    ck_assert(!has || stage != HL_STAGE_refused);
  }
}
END_TEST

#define COUNT(table) (int)(sizeof table / sizeof *table)

int main(void)
{
  Suite *suite = suite_create("eval");
  TCase *t = tcase_create("eval");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_loop_test(t, integer_ops, 0, COUNT(integers));
  tcase_add_loop_test(t, integer_unary_ops, 0, COUNT(integer_unaries));
  tcase_add_loop_test(t, float_ops, 0, COUNT(floats));
  tcase_add_loop_test(t, float_unary_ops, 0, COUNT(float_unaries));
  tcase_add_loop_test(t, nan_bits, 0, COUNT(nans));
  tcase_add_test(t, nan_of_reduce_precision);
  tcase_add_loop_test(t, compares, 0, COUNT(comparisons));
  tcase_add_test(t, unsigned_and_signed_compare);
  tcase_add_loop_test(t, clamp_values, 0, COUNT(clamps));
  tcase_add_loop_test(t, converts, 0, COUNT(conversions));
  tcase_add_loop_test(t, converts_long, 0, COUNT(long_conversions));
  tcase_add_loop_test(t, reduces_precision, 0, COUNT(precisions));
  tcase_add_loop_test(t, orders_of_sums, 0, COUNT(sums));
  tcase_add_loop_test(t, blocks_of_dot, 0, COUNT(dots));
  tcase_add_loop_test(t, runs_modules, 0, COUNT(modules));
  tcase_add_test(t, missing_evaluator_is_an_error);
  tcase_add_test(t, limits_end_an_evaluation);
  tcase_add_test(t, every_compiled_op_has_an_evaluator);
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
