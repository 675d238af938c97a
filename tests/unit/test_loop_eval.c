/* test_loop_eval.c - the loop interpreter: every op in the corners, the orders of sums at block
 * borders against plain C, control flow. */
#include "loop_support.h"

#include <math.h>
#include <stdlib.h>

static void run(const hl_program *program, const void *const *arguments, void *const *results)
{
  ck_assert(hl_program_eval(arena, program, arguments, results));
}

/* Scalar ops: an expression, and the constant that it must equal to the bit. */

typedef struct scalar_case {
  const char *type, *expression, *expected;
} scalar_case;

static const scalar_case scalar_cases[] = {
    {"s8", "100:s8 + 100:s8", "-56:s8"},
    {"u8", "3:u8 - 5:u8", "254:u8"},
    {"s32", "65536:s32 * 65536:s32 + 7:s32", "7:s32"},
    {"s32", "7:s32 / 0:s32", "-1:s32"},
    {"u32", "7:u32 / 0:u32", "4294967295:u32"},
    {"u64", "18446744073709551615:u64 / 10:u64", "1844674407370955161:u64"},
    {"s64", "-9223372036854775808 / -1", "-9223372036854775808"},
    {"s8", "-128:s8 / -1:s8", "-128:s8"},
    {"s32", "-7:s32 / 2:s32", "-3:s32"},
    {"s32", "rem(-7:s32, 2:s32)", "-1:s32"},
    {"s32", "rem(-7:s32, 0:s32)", "-7:s32"},
    {"s64", "rem(-9223372036854775808, -1)", "0"},
    {"s32", "ipow(3:s32, 5:s32)", "243:s32"},
    {"s32", "ipow(-1:s32, -3:s32)", "-1:s32"},
    {"s32", "ipow(0:s32, -1:s32)", "0:s32"},
    {"s32", "ipow(0:s32, 0:s32)", "1:s32"},
    {"u8", "ipow(3:u8, 200:u8)", "161:u8"},
    {"s8", "shl(1:s8, 7:s8)", "-128:s8"},
    {"s8", "shl(1:s8, 8:s8)", "0:s8"},
    {"s8", "shl(1:s8, -1:s8)", "0:s8"},
    {"s8", "sra(-128:s8, 100:s8)", "-1:s8"},
    {"u8", "sra(128:u8, 1:u8)", "192:u8"},
    {"u8", "sra(128:u8, 9:u8)", "255:u8"},
    {"s8", "srl(-128:s8, 7:s8)", "1:s8"},
    {"u64", "srl(18446744073709551615:u64, 64:u64)", "0:u64"},
    {"s8", "abs(-128:s8)", "-128:s8"},
    {"u8", "neg(1:u8)", "255:u8"},
    {"s32", "sign(-5:s32)", "-1:s32"},
    {"s16", "popcnt(-1:s16)", "16:s16"},
    {"s16", "clz(0:s16)", "16:s16"},
    {"u32", "clz(1:u32)", "31:u32"},
    {"u8", "not(1:u8)", "254:u8"},
    {"u8", "xor(12:u8, 10:u8)", "6:u8"},
    {"pred", "not(true)", "false"},
    {"pred", "true + true", "true"},
    {"pred", "true * false", "false"},
    {"pred", "max(true, false)", "true"},
    {"pred", "true > false", "true"},
    {"pred", "255:u8 > 1:u8", "true"},
    {"pred", "-1:s8 > 1:s8", "false"},
    {"pred", "nan == nan", "false"},
    {"pred", "nan != 1.0", "true"},
    {"pred", "-0.0 == 0.0", "true"},
    {"pred", "is_finite(inf)", "false"},
    {"f32", "max(-0.0, 0.0)", "0.0"},
    {"f32", "min(0.0, -0.0)", "-0.0"},
    {"f32", "max(nan(0x1), 1.0)", "nan"},
    {"f32", "min(1.0, -nan)", "nan"},
    {"f32", "inf - inf", "nan"},
    {"f32", "nan(0x1) + 1.0", "nan"},
    {"f32", "neg(nan(0x1))", "-nan(0x1)"},
    {"f32", "abs(-nan(0x1))", "nan(0x1)"},
    {"f32", "select(true, nan(0x1), 1.0)", "nan(0x1)"},
    {"f32", "sign(-0.0)", "-0.0"},
    {"f32", "sign(nan(0x1))", "nan"},
    {"f32", "floor(nan(0x1))", "nan"},
    {"f32", "ceil(-0.5)", "-0.0"},
    {"f32", "rne(2.5)", "2.0"},
    {"f32", "rna(2.5)", "3.0"},
    {"f32", "rem(5.5, -2.0)", "1.5"},
    {"f32", "rem(-0.0, 1.0)", "-0.0"},
    {"f32", "rem(1.0, inf)", "1.0"},
    {"f32", "rem(1.0, 0.0)", "nan"},
    {"f32", "math.sqrt(2.0)", "1.41421354"},
    {"f32", "sqrt(-0.0)", "-0.0"},
    {"f32", "1.0 / 3.0", "0.333333343"},
    {"f64", "1.0:f64 / 3.0:f64", "0.33333333333333331:f64"},
    {"f32", "1e-45 / 2.0", "0.0"},
    {"f32", "1e-38 * 1e-5", "1e-43"},
    {"f32", "fma(4097.0, 4097.0, -16785408.0)", "1.0"},
    {"f64", "fma(134217729.0:f64, 134217729.0:f64, -18014398777917440.0:f64)", "1.0:f64"},
    {"s32", "order(-nan)", "-2143289345:s32"},
    {"s32", "order(-0.0)", "-1:s32"},
    {"s32", "order(0.0)", "0:s32"},
    {"s8", "order(-0.0:f8e5m2)", "-1:s8"},
    {"s32", "convert.s32(3e9)", "2147483647:s32"},
    {"s32", "convert.s32(-3e9)", "-2147483648:s32"},
    {"s32", "convert.s32(nan)", "0:s32"},
    {"s32", "convert.s32(-1.9)", "-1:s32"},
    {"u64", "convert.u64(1e30)", "18446744073709551615:u64"},
    {"u64", "convert.u64(1.5e19)", "15000000520515485696:u64"},
    {"u8", "convert.u8(-5.0)", "0:u8"},
    {"s4", "convert.s4(100.0)", "7:s4"},
    {"s4", "convert.s4(9:s32)", "-7:s4"},
    {"u4", "convert.u4(31:s32)", "15:u4"},
    {"pred", "convert.pred(nan)", "true"},
    {"pred", "convert.pred(-0.0)", "false"},
    {"pred", "convert.pred(256:s32)", "true"},
    {"f32", "convert.f32(true)", "1.0"},
    {"f32", "convert.f32(16777217:s32)", "16777216.0"},
    {"f32", "convert.f32(-1:s4)", "-1.0"},
    {"f32", "convert.f32(18446744073709551615:u64)", "1.84467441e19"},
    /* 2^53 + 2^45 + 1: by way of double it would be a tie, and go down to even */
    {"bf16", "convert.bf16(9042383626829825)", "9077567998918656.0:bf16"},
    {"bf16", "convert.bf16(1.00390625)", "1.0:bf16"},
    {"bf16", "convert.bf16(1.01171875)", "1.015625:bf16"},
    {"bf16", "convert.bf16(1.00390625000001:f64)", "1.0078125:bf16"},
    {"f16", "convert.f16(65519.0)", "65504.0:f16"},
    {"f16", "convert.f16(65520.0)", "inf:f16"},
    {"f8e4m3fn", "convert.f8e4m3fn(465.0)", "nan:f8e4m3fn"},
    {"f32", "convert.f32(nan(0x1):bf16)", "nan"},
    {"bf16", "select(true, -nan(0x1):bf16, 1.0:bf16)", "-nan(0x1):bf16"},
    {"u32", "bitcast.u32(-0.0)", "2147483648:u32"},
    {"f32", "bitcast.f32(2143289345:s32)", "nan(0x400001)"},
    {"f32", "reduce_precision(1.2345678, 8, 7)", "1.234375"},
    {"f32", "reduce_precision(65520.0, 5, 10)", "inf"},
    {"f32", "reduce_precision(-1e-5, 5, 10)", "-0.0"},
    {"f32", "reduce_precision(nan(0x1), 5, 0)", "nan"},
    {"f32", "reduce_precision(1e-44, 8, 23)", "1e-44"},
    {"bf16", "reduce_precision(1.0078125:bf16, 8, 6)", "1.0:bf16"},
    {"f64", "reduce_precision(1.00390625:f64, 11, 7)", "1.0:f64"},
};

static uint64_t bits_of(const char *type, const char *expression)
{
  uint64_t bits = 0;
  const char *text =
      hl_arena_printf(arena, "kernel t(out %%y: %s[])\n  %%y[] := %s\n", type, expression);
  run(parse_good(text), NULL, (void *[]){&bits});
  return bits;
}

START_TEST(scalar_op)
{
  const scalar_case *c = &scalar_cases[_i];
  uint64_t bits = bits_of(c->type, c->expression), expected = bits_of(c->type, c->expected);
  ck_assert_msg(bits == expected, "%s is 0x%llx, not %s", c->expression, (unsigned long long)bits,
                c->expected);
}
END_TEST

/* Orders of sums, against the rules written once more in plain C. */

static float numbers[70000];

static void fill_numbers(void)
{
  uint32_t state = 1;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    state = state * 1664525u + 1013904223u;
    numbers[i] = (float)((int32_t)state) * 0x1p-20f;
  }
}

static float plain_row(const float *x, int n)
{
  float lanes[32], blocks[32];
  if (n > 4096) {
    int count = 0;
    for (int i = 0; i < n; i += 4096)
      blocks[count++] = plain_row(x + i, n - i < 4096 ? n - i : 4096);
    return plain_row(blocks, count);
  }
  for (int l = 0; l < 32; l++) {
    lanes[l] = -0.0f;
    for (int t = l; t < n; t += 32)
      lanes[l] += x[t];
  }
  for (int h = 16; h >= 1; h /= 2)
    for (int l = 0; l < h; l++)
      lanes[l] += lanes[l + h];
  return lanes[0];
}

static float plain_col(const float *x, int n)
{
  float blocks[300], sum = -0.0f;
  if (n > 256) {
    int count = 0;
    for (int i = 0; i < n; i += 256)
      blocks[count++] = plain_col(x + i, n - i < 256 ? n - i : 256);
    return plain_col(blocks, count);
  }
  for (int t = 0; t < n; t++)
    sum += x[t];
  return sum;
}

/* The product of the numbers with themselves backwards. */
static float plain_dot(const float *x, int n)
{
  float total = 0;
  for (int start = 0; start < n; start += 1024) {
    float sum = 0;
    for (int k = start; k < n && k < start + 1024; k++)
      sum = fmaf(x[k], x[n - 1 - k], sum);
    total += sum;
  }
  return total;
}

static const int lengths[] = {0,    1,    2,    31,   32,   33,   255,  256,   257,   1023,
                              1024, 1025, 4095, 4096, 4097, 8192, 8193, 65536, 65537, 69999};

START_TEST(sums_in_their_orders)
{
  int n = lengths[_i];
  float sums[3];
  const char *text = hl_arena_printf(arena,
                                     "kernel sums(in %%x: f32[%d], out %%y: f32[3])\n"
                                     "  a, b, c = row add, col add, dot i in 0..%d\n"
                                     "    x = %%x[i]\n"
                                     "    yield x, x, x, %%x[%d-i]\n"
                                     "  %%y[0] := a\n"
                                     "  %%y[1] := b\n"
                                     "  %%y[2] := c\n",
                                     n, n, n - 1);
  fill_numbers();
  run(parse_good(text), (const void *[]){numbers}, (void *[]){sums});
  float expected[3] = {plain_row(numbers, n), plain_col(numbers, n), plain_dot(numbers, n)};
  ck_assert_msg(!memcmp(sums, expected, sizeof sums), "%d: %a %a %a, not %a %a %a", n, sums[0],
                sums[1], sums[2], expected[0], expected[1], expected[2]);
}
END_TEST

START_TEST(orders_differ)
{
  fill_numbers();
  ck_assert(plain_row(numbers, 8193) != plain_col(numbers, 8193));
}
END_TEST

START_TEST(empty_reductions_give_identities)
{
  float y[4];
  int32_t z[3];
  run(parse_good("kernel t(out %y: f32[4], out %z: s32[3])\n"
                 "  a, b, c, d = max, row add, col mul, dot i in 0..0: 1.0, 1.0, 1.0, 1.0, 1.0\n"
                 "  e, f, g = min, and, add i in 0..min(4, -1): 1:s32, 1:s32, 1:s32\n"
                 "  %y[0] := a\n  %y[1] := b\n  %y[2] := c\n  %y[3] := d\n"
                 "  %z[0] := e\n  %z[1] := f\n  %z[2] := g\n"),
      NULL, (void *[]){y, z});
  ck_assert(isinf(y[0]) && y[0] < 0);
  ck_assert(y[1] == 0 && signbit(y[1]) && y[2] == 1 && y[3] == 0 && !signbit(y[3]));
  ck_assert(z[0] == INT32_MAX && z[1] == -1 && z[2] == 0);
}
END_TEST

/* Double has 16 lanes; a product of a row; limits shorten the row. */
START_TEST(rows_of_f64_and_products)
{
  double x[40], y[2], lanes[16], product = 0;
  for (int i = 0; i < 40; i++)
    x[i] = 1 + 1.0 / (i + 1);
  run(parse_good("kernel t(in %x: f64[40], out %y: f64[2])\n"
                 "  a, b = row mul, row add i in 0..min(40, 37): %x[i], %x[i]\n"
                 "  %y[0] := a\n  %y[1] := b\n"),
      (const void *[]){x}, (void *[]){y});
  for (int pass = 0; pass < 2; pass++) {
    for (int l = 0; l < 16; l++) {
      lanes[l] = pass ? -0.0 : 1;
      for (int t = l; t < 37; t += 16)
        lanes[l] = pass ? lanes[l] + x[t] : lanes[l] * x[t];
    }
    for (int h = 8; h >= 1; h /= 2)
      for (int l = 0; l < h; l++)
        lanes[l] = pass ? lanes[l] + lanes[l + h] : lanes[l] * lanes[l + h];
    product = lanes[0];
    ck_assert(y[pass] == product);
  }
}
END_TEST

/* Kernels as lowering writes them. */

START_TEST(bias_add_has_stride_zero)
{
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, b[3] = {10, 20, 30}, y[2][3];
  run(parse_good("kernel bias(in %x: f32[2,3], in %b: f32[3], out %y: f32[2,3])\n"
                 "  for i in 0..2\n"
                 "    vector j in 0..3: %y[i,j] := %x[i,j] + %b[j]\n"),
      (const void *[]){x, b}, (void *[]){y});
  ck_assert(y[0][0] == 11 && y[0][2] == 33 && y[1][0] == 14 && y[1][2] == 36);
}
END_TEST

START_TEST(transpose_and_reverse)
{
  int16_t x[2][3] = {{1, 2, 3}, {4, 5, 6}}, y[3][2];
  run(parse_good("kernel t(in %x: s16[2,3], out %y: s16[3,2])\n"
                 "  for i in 0..3\n"
                 "    for j in 0..2: %y[i,j] := %x[j,2-i]\n"),
      (const void *[]){x}, (void *[]){y});
  ck_assert(y[0][0] == 3 && y[0][1] == 6 && y[2][0] == 1 && y[2][1] == 4);
}
END_TEST

START_TEST(pad_is_a_guarded_load)
{
  float x[3] = {1, 2, 3}, y[6];
  run(parse_good("kernel pad(in %x: f32[3], out %y: f32[6])\n"
                 "  for i in 0..6: %y[i] := (and(i >= 2, i < 5) ? %x[i-2] : 9.0)\n"),
      (const void *[]){x}, (void *[]){y});
  const float expected[6] = {9, 9, 1, 2, 3, 9};
  ck_assert(!memcmp(y, expected, sizeof y));
}
END_TEST

START_TEST(argmax_is_a_fold)
{
  float x[5] = {1, 7, 3, 7, 0}, best;
  int64_t index;
  run(parse_good("kernel argmax(in %x: f32[5], out %v: f32[], out %n: s64[])\n"
                 "  v, n = fold i in 0..5 from b = -inf, k = 0\n"
                 "    x = %x[i]\n"
                 "    is_better = x > b\n"
                 "    yield select(is_better, x, b), select(is_better, i, k)\n"
                 "  %v[] := v\n"
                 "  %n[] := n\n"),
      (const void *[]){x}, (void *[]){&best, &index});
  ck_assert(best == 7 && index == 1);
}
END_TEST

/* All yields are taken before any carried value changes. */
START_TEST(fold_swaps)
{
  int32_t y[2];
  run(parse_good("kernel t(out %y: s32[2])\n"
                 "  a, b = fold i in 0..3 from p = 1:s32, q = 2:s32: q, p\n"
                 "  %y[0] := a\n  %y[1] := b\n"),
      NULL, (void *[]){y});
  ck_assert(y[0] == 2 && y[1] == 1);
}
END_TEST

START_TEST(several_variables_run_row_major)
{
  int64_t y[6] = {0};
  run(parse_good("kernel t(out %y: s64[6])\n"
                 "  n = fold i, j in 0..2, 0..3 from k = 0\n"
                 "    %y[3*i+j] := k\n"
                 "    yield k + 1\n"
                 "  if n != 6: %y[0] := -1\n"),
      NULL, (void *[]){y});
  for (int i = 0; i < 6; i++)
    ck_assert(y[i] == i);
}
END_TEST

START_TEST(stores_with_guards_and_branches)
{
  float y[4] = {8, 8, 8, 8};
  run(parse_good("kernel t(inout %y: f32[4])\n"
                 "  for i in 0..4\n"
                 "    %y[i] := 1.0 when i < 2\n"
                 "    if i == 1: %y[i] := 5.0\n"
                 "    else: %y[3] := 7.0 when i == 3\n"),
      (const void *[]){y}, (void *[]){y});
  ck_assert(y[0] == 1 && y[1] == 5 && y[2] == 8 && y[3] == 7);
}
END_TEST

static const char softmax[] =
    "kernel softmax(in %x: f32[4,100], out %y: f32[4,100], scratch %t: f32[100])\n"
    "  parallel i in 0..4 grain 2\n"
    "    m = vector max j in 0..100: %x[i,j]\n"
    "    s = vector row add j in 0..100\n"
    "      e = exp(%x[i,j] - m)\n"
    "      %t[j] := e\n"
    "      yield e\n"
    "    vector j in 0..100: %y[i,j] :=! %t[j] / s\n";

START_TEST(softmax_rows_sum_to_one)
{
  float y[400];
  fill_numbers();
  for (int i = 0; i < 400; i++)
    numbers[i] *= 0x1p-9f;
  run(parse_good(softmax), (const void *[]){numbers}, (void *[]){y});
  for (int row = 0; row < 4; row++) {
    double sum = 0, scale = y[row * 100] / exp(numbers[row * 100]);
    for (int i = row * 100; i < row * 100 + 100; i++) {
      sum += y[i];
      ck_assert(fabs(y[i] - scale * exp(numbers[i])) <= 1e-5 * y[i]);
    }
    ck_assert(fabs(sum - 1) < 1e-5);
  }
}
END_TEST

/* What one iteration of a parallel loop leaves in scratch, the next must not see. */
START_TEST(scratch_does_not_last)
{
  uint8_t y[3] = {0};
  run(parse_good("kernel t(out %y: u8[3], scratch %t: u8[1])\n"
                 "  parallel i in 0..3\n"
                 "    %y[i] := %t[0]\n"
                 "    %t[0] := 7:u8\n"),
      NULL, (void *[]){y});
  ck_assert(y[1] != 7 && y[2] != 7);
}
END_TEST

START_TEST(pred_reads_any_byte)
{
  uint8_t x[3] = {0, 1, 200}, y[3];
  run(parse_good("kernel t(in %x: pred[3], out %y: pred[3])\n"
                 "  for i in 0..3: %y[i] := %x[i]\n"),
      (const void *[]){x}, (void *[]){y});
  ck_assert(y[0] == 0 && y[1] == 1 && y[2] == 1);
}
END_TEST

/* Accesses that leave their parameter, on each way to memory. */
static const char *const strays[] = {
    "kernel t(in %i: s64[], out %y: f32[4])\n  n = %i[]\n  %y[n] := 1.0\n",
    "kernel t(in %i: s64[], out %y: f32[4])\n  n = %i[]\n  %y[0] := %y[n]\n",
    "kernel t(in %i: s64[], out %y: f32[4])\n  n = %i[]\n  %y[@ 4*n+3] := 1.0 when n == 4\n",
    "kernel t(in %i: s64[], out %y: f32[4])\n  for k in 0..9: if k < %i[] + 1: %y[k] := 1.0\n",
};

START_TEST(stray_access_fails)
{
  float y[4];
  int64_t n = 4;
  ck_assert(!hl_program_eval(arena, parse_good(strays[_i]), (const void *[]){&n}, (void *[]){y}));
}
END_TEST

/* Control flow: the sum 1 + ... + n by a while, then a conditional by its parity. */
static const char control[] = "program control\n"
                              "  argument 0 %n: s32[]\n"
                              "  result 0 %sum: s32[]\n"
                              "  result 1 %word: s32[]\n"
                              "  constant %even: s32[] = {22}\n"
                              "  constant %odd: s32[] = {11}\n"
                              "  temp %i: s32[]\n"
                              "  temp %go: pred[]\n"
                              "  temp %which: s32[]\n"
                              "\n"
                              "kernel begin(out %i: s32[], out %sum: s32[])\n"
                              "  %i[] := 0:s32\n"
                              "  %sum[] := 0:s32\n"
                              "\n"
                              "kernel test(in %i: s32[], in %n: s32[], out %go: pred[])\n"
                              "  %go[] := %i[] < %n[]\n"
                              "\n"
                              "kernel next(inout %i: s32[], inout %sum: s32[])\n"
                              "  v0 = %i[] + 1:s32\n"
                              "  %sum[] := %sum[] + v0\n"
                              "  %i[] := v0\n"
                              "\n"
                              "kernel choose(in %sum: s32[], out %which: s32[])\n"
                              "  %which[] := rem(%sum[], 2:s32) * 9:s32\n"
                              "\n"
                              "steps\n"
                              "  kernel begin(%i, %sum)\n"
                              "  while %go\n"
                              "    condition\n"
                              "      kernel test(%i, %n, %go)\n"
                              "    body\n"
                              "      kernel next(%i, %sum)\n"
                              "  kernel choose(%sum, %which)\n"
                              "  conditional %which\n"
                              "    branch\n"
                              "      copy %word := %even\n"
                              "    branch\n"
                              "      copy %word := %odd\n";

START_TEST(while_and_conditional)
{
  hl_program *program = parse_good(control);
  ck_assert_str_eq(print_program(program), control);
  for (int32_t n = 0; n < 6; n++) {
    int32_t sum, word;
    run(program, (const void *[]){&n}, (void *[]){&sum, &word});
    ck_assert(sum == n * (n + 1) / 2);
    ck_assert(word == (sum % 2 ? 11 : 22));
  }
}
END_TEST

START_TEST(conditional_by_pred)
{
  hl_program *program = parse_good("program t\n"
                                   "  argument 0 %p: pred[]\n"
                                   "  argument 1 %x: f32[2]\n"
                                   "  result 0 %y: f32[2]\n"
                                   "\n"
                                   "kernel zero(out %y: f32[2])\n"
                                   "  for i in 0..2: %y[i] := 0.0\n"
                                   "\n"
                                   "steps\n"
                                   "  conditional %p\n"
                                   "    branch\n"
                                   "      copy %y := %x\n"
                                   "    branch\n"
                                   "      kernel zero(%y)\n");
  float x[2] = {1, 2}, y[2];
  uint8_t p = 1;
  run(program, (const void *[]){&p, x}, (void *[]){y});
  ck_assert(y[0] == 1 && y[1] == 2);
  p = 0;
  run(program, (const void *[]){&p, x}, (void *[]){y});
  ck_assert(y[0] == 0 && y[1] == 0);
}
END_TEST

static void add_kernel_tests(TCase *t)
{
  tcase_add_test(t, bias_add_has_stride_zero);
  tcase_add_test(t, transpose_and_reverse);
  tcase_add_test(t, pad_is_a_guarded_load);
  tcase_add_test(t, argmax_is_a_fold);
  tcase_add_test(t, fold_swaps);
  tcase_add_test(t, several_variables_run_row_major);
  tcase_add_test(t, stores_with_guards_and_branches);
  tcase_add_test(t, softmax_rows_sum_to_one);
  tcase_add_test(t, scratch_does_not_last);
  tcase_add_test(t, pred_reads_any_byte);
  tcase_add_test(t, while_and_conditional);
  tcase_add_test(t, conditional_by_pred);
  tcase_add_loop_test(t, stray_access_fails, 0, sizeof strays / sizeof *strays);
}

int main(void)
{
  Suite *suite = suite_create("loop interpreter");
  TCase *t = tcase_create("eval");
  tcase_add_checked_fixture(t, open_arena, close_arena);
  tcase_add_loop_test(t, scalar_op, 0, sizeof scalar_cases / sizeof *scalar_cases);
  tcase_add_loop_test(t, sums_in_their_orders, 0, sizeof lengths / sizeof *lengths);
  tcase_add_test(t, orders_differ);
  tcase_add_test(t, empty_reductions_give_identities);
  tcase_add_test(t, rows_of_f64_and_products);
  add_kernel_tests(t);
  suite_add_tcase(suite, t);
  return run_suite(suite);
}
