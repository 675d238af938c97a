/* test_eval_ops.c - the reference evaluator: small modules of the ops that move, search, draw,
 * transform or wrap; results worked out by hand, taken from the language reference (random bits) or
 * from NumPy (transforms). */
#include "grammar/parse.h"
#include "ir/eval.h"
#include "ir/verify.h"

#include <check.h>
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

/* All elements of all results: "1 2 | 3". */
static const char *evaluate(const char *text)
{
  const hl_literal **results;
  hl_str out = {.arena = arena};
  int count;
  diag.source = hl_source_new(arena, "t.hlo", text, strlen(text));
  hl_module *module = hl_parse(arena, diag.source, &diag);
  ck_assert_msg(module && hl_verify(module, (hl_verify_options){0}, &diag), "%s\n%s", text,
                messages());
  ck_assert_msg(hl_eval_module(arena, module, NULL, &results, &count, &diag), "%s\n%s", text,
                messages());
  for (int k = 0; k < count; k++) {
    int64_t total = hl_shape_elements(results[k]->shape);
    hl_str_add(&out, k ? " |" : "");
    for (int64_t i = 0; i < total; i++) {
      hl_str_add(&out, i || k ? " " : "");
      hl_literal_print_element(&out, results[k], i);
    }
  }
  return hl_str_text(&out);
}

#define MODULE "HloModule t\n"
#define SUM "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
#define LESS                                                                                       \
  "less { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = pred[] compare(a, b), "           \
  "direction=LT }\n"

static const struct {
  const char *text, *want;
} cases[] = {
    /* moving data */
    {MODULE "ENTRY e { x = s32[2] constant({1, 2}) z = s32[] constant(9) ROOT r = s32[5] pad(x, "
            "z), padding=-1_2_2 }\n",
     "9 9 2 9 9"},
    {MODULE "ENTRY e { x = s32[5] constant({0, 1, 2, 3, 4}) s = s32[2] slice(x), slice={[1:5:3]} "
            "ROOT r = s32[2] reverse(s), dimensions={0} }\n",
     "4 1"},
    {MODULE "ENTRY e { x = s32[2,2] constant({{1, 2}, {3, 4}}) y = s32[2,1] constant({{5}, {6}})\n"
            "  ROOT r = s32[2,3] concatenate(x, y), dimensions={1} }\n",
     "1 2 5 3 4 6"},
    {MODULE "ENTRY e { x = f32[] constant(1) ROOT r = u8[4] bitcast-convert(x) }\n", "0 0 128 63"},
    {MODULE "ENTRY e { x = u8[2,4] constant({{0, 0, 128, 63}, {0, 0, 0, 64}}) ROOT r = f32[2] "
            "bitcast-convert(x) }\n",
     "1 2"},
    {MODULE "ENTRY e { x = s8[2] constant({-1, 33}) ROOT r = s4[2,2] bitcast-convert(x) }\n",
     "-1 -1 1 2"},
    {MODULE "ENTRY e { x = c64[1] constant({(1, 2)}) y = u64[1] constant({4611686019492741120}) z "
            "= c64[1] convert(y)\n"
            "  ROOT r = (c64[1], f32[1]) tuple(x, f32[1] imag(z)) }\n",
     "(1, 2) | 0"},
    {MODULE "ENTRY e { x = s32[2,3] constant({{1, 2, 3}, {4, 5, 6}}) i = s32[] constant(-1) j = "
            "s32[] constant(9)\n"
            "  ROOT r = s32[1,2] dynamic-slice(x, i, j), dynamic_slice_sizes={1,2} }\n",
     "2 3"},
    {MODULE "ENTRY e { x = s32[4] constant({1, 2, 3, 4}) u = s32[2] constant({8, 9}) i = u8[] "
            "constant(255)\n"
            "  ROOT r = s32[4] dynamic-update-slice(x, u, i) }\n",
     "1 2 8 9"},
    /* gather, scatter: rows 1 and, clamped, 2; an update out of range is skipped */
    {MODULE
     "ENTRY e { x = s32[3,2] constant({{1, 2}, {3, 4}, {5, 6}}) i = s32[2] constant({1, 7})\n"
     "  ROOT r = s32[2,2] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, "
     "start_index_map={0}, index_vector_dim=1, slice_sizes={1,2} }\n",
     "3 4 5 6"},
    {MODULE "last { a = s32[] parameter(0) ROOT b = s32[] parameter(1) }\n"
            "ENTRY e { x = s32[3] constant({1, 2, 3}) i = s32[3] constant({2, -1, 2}) u = s32[3] "
            "constant({7, 8, 9})\n"
            "  ROOT r = s32[3] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
            "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=last }\n",
     "1 2 9"},
    /* order */
    {MODULE LESS "ENTRY e { x = s32[4] constant({3, 1, 2, 1}) ROOT r = s32[4] sort(x), "
                 "dimensions={0}, to_apply=less }\n",
     "1 1 2 3"},
    {MODULE "ENTRY e { x = f32[5] constant({1, nan, -0, 0, inf}) ROOT r = (f32[4], s32[4]) "
            "topk(x), k=4, largest=true }\n",
     "nan inf 1 -0 | 1 4 0 2"},
    {MODULE "ENTRY e { x = u64[3] constant({1, 18446744073709551615, 0}) ROOT r = (u64[2], s32[2]) "
            "topk(x), k=2, largest=false }\n",
     "0 1 | 2 0"},
    /* windows: padding contributes nothing, init once */
    {MODULE SUM "ENTRY e { x = f32[3] constant({1, 2, 3}) i = f32[] constant(10)\n"
                "  ROOT r = f32[4] reduce-window(x, i), window={size=2 pad=1_1}, to_apply=add }\n",
     "11 13 15 13"},
    {MODULE SUM "ENTRY e { x = f32[4] constant({1, 2, 3, 4}) i = f32[] constant(0)\n"
                "  ROOT r = f32[4] reduce-window(x, i), window={size=4 pad=0_3}, to_apply=add }\n",
     "10 9 7 4"},
    {MODULE "two { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2) d = s32[] "
            "parameter(3)\n"
            "  s = s32[] add(a, c) m = s32[] maximum(b, d) ROOT t = (s32[], s32[]) tuple(s, m) }\n"
            "ENTRY e { x = s32[4] constant({1, 2, 3, 4}) z = s32[] constant(0)\n"
            "  ROOT r = (s32[2], s32[2]) reduce-window(x, x, z, z), window={size=2 stride=2}, "
            "to_apply=two }\n",
     "3 7 | 2 4"},
    {MODULE SUM "ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), "
                "direction=GE }\n"
                "ENTRY e { x = f32[4] constant({1, 3, 3, 2}) s = f32[2] constant({10, 20}) z = "
                "f32[] constant(0)\n"
                "  ROOT r = f32[4] select-and-scatter(x, s, z), window={size=2 stride=2}, "
                "select=ge, scatter=add }\n",
     "0 10 20 0"},
    {MODULE
     "ENTRY e { x = f32[1,1,4] constant({{{1, 2, 3, 4}}}) k = f32[1,1,2] constant({{{1, 10}}})\n"
     "  ROOT r = f32[1,1,3] convolution(x, k), window={size=2}, dim_labels=bf0_oi0->bf0 }\n",
     "21 32 43"},
    {MODULE
     "ENTRY e { x = f32[1,1,4] constant({{{1, 2, 3, 4}}}) k = f32[1,1,2] constant({{{1, 10}}})\n"
     "  ROOT r = f32[1,1,3] convolution(x, k), window={size=2 rhs_reversal=1}, "
     "dim_labels=bf0_oi0->bf0 }\n",
     "12 23 34"},
    /* scans and dots */
    {MODULE "f { x = s32[] parameter(0) c = s32[] parameter(1) s = s32[] add(x, c) ROOT t = "
            "(s32[], s32[]) tuple(s, s) }\n"
            "ENTRY e { x = s32[3] constant({1, 2, 3}) z = s32[] constant(10)\n"
            "  ROOT r = (s32[3], s32[]) scan(x, z), dimensions={0}, num_carries=1, "
            "is_reverse=true, to_apply=f }\n",
     "16 15 13 | 16"},
    {MODULE "ENTRY e { x = f32[3,1] constant({{1}, {2}, {3}}) y = f32[2,1,1] constant({{{10}}, "
            "{{100}}}) g = s32[2] constant({1, 1})\n"
            "  ROOT r = f32[3,1] ragged-dot(x, y, g), lhs_contracting_dims={1}, "
            "rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0} }\n",
     "10 200 0"},
    {MODULE "ENTRY e { x = f32[3] constant({1, 2, 3}) y = f32[3] constant({10, 10, 10}) g = s32[2] "
            "constant({1, 2})\n"
            "  ROOT r = f32[2] ragged-dot(x, y, g), lhs_contracting_dims={0}, "
            "rhs_contracting_dims={0}, lhs_ragged_dims={0} }\n",
     "10 50"},
    /* linear algebra */
    {MODULE "ENTRY e { a = f32[2,2] constant({{4, 99}, {2, 10}}) ROOT r = f32[2,2] cholesky(a), "
            "lower=true }\n",
     "2 0 1 3"},
    {MODULE "ENTRY e { a = f32[2,2] constant({{4, 2}, {99, 10}}) ROOT r = f32[2,2] cholesky(a), "
            "lower=false }\n",
     "2 1 0 3"},
    {MODULE "ENTRY e { a = f32[2,2] constant({{1, 0}, {2, 1}}) ROOT r = f32[2,2] cholesky(a), "
            "lower=true }\n",
     "nan nan nan nan"},
    {MODULE "ENTRY e { a = f32[2,2] constant({{2, 99}, {1, 4}}) b = f32[2,1] constant({{2}, {9}})\n"
            "  ROOT r = f32[2,1] triangular-solve(a, b), left_side=true, lower=true, "
            "unit_diagonal=false, transpose_a=NO_TRANSPOSE }\n",
     "1 2"},
    {MODULE "ENTRY e { a = f32[2,2] constant({{2, 99}, {1, 4}}) b = f32[1,2] constant({{4, 8}})\n"
            "  ROOT r = f32[1,2] triangular-solve(a, b), left_side=false, lower=true, "
            "unit_diagonal=false, transpose_a=NO_TRANSPOSE }\n",
     "1 2"},
    {MODULE "ENTRY e { a = f32[2,2] constant({{2, 99}, {1, 4}}) b = f32[2,1] constant({{4}, {8}})\n"
            "  ROOT r = f32[2,1] triangular-solve(a, b), left_side=true, lower=true, "
            "unit_diagonal=false, transpose_a=TRANSPOSE }\n",
     "1 2"},
    {MODULE "ENTRY e { x = c64[4] constant({(1, 0), (2, 0), (3, 0), (4, 0)}) ROOT r = c64[4] "
            "fft(x), fft_type=FFT, fft_length={4} }\n",
     "(10, 0) (-2, 2) (-2, 0) (-2, -2)"},
    {MODULE "ENTRY e { x = c64[3] constant({(10, 5), (-2, 2), (-2, 7)}) ROOT r = f32[4] fft(x), "
            "fft_type=IRFFT, fft_length={4} }\n",
     "1 2 3 4"},
    /* random bits: the vectors of the language reference */
    {MODULE "ENTRY e { s = u64[2] constant({1, 2}) ROOT r = (u64[2], u32[5]) rng-bit-generator(s), "
            "algorithm=rng_three_fry }\n",
     "1 5 | 43444564 2150618427 3979645651 3745730563 1672743891"},
    {MODULE "ENTRY e { s = u64[2] constant({1, 2}) ROOT r = (u64[2], u32[2,3]) "
            "rng-bit-generator(s), algorithm=rng_three_fry }\n",
     "1 5 | 43444564 3979645651 1672743891 2150618427 3745730563 4240503393"},
    {MODULE "ENTRY e { s = u64[2] constant({1, 2}) ROOT r = (u64[2], u64[3]) rng-bit-generator(s), "
            "algorithm=rng_three_fry }\n",
     "1 5 | 9236835810183407956 16087790271692313299 18212823393184779219"},
    {MODULE "ENTRY e { s = u64[3] constant({1, 2, 3}) ROOT r = (u64[3], u32[5]) "
            "rng-bit-generator(s), algorithm=rng_philox }\n",
     "1 4 3 | 4031113034 1366700262 495645701 3051723414 89414891"},
    {MODULE "ENTRY e { s = u64[2] constant({1, 2}) ROOT r = (u64[2], u32[5]) rng-bit-generator(s), "
            "algorithm=rng_default }\n",
     "1 4 | 2100602697 2847456232 2074354647 800269529 1828267006"},
    {MODULE "ENTRY e { a = u64[2] rng-get-and-update-state(), delta=4 ROOT r = u64[2] "
            "rng-get-and-update-state(), delta=4 }\n",
     "117515161 0"},
    {MODULE "ENTRY e { x = f32[3] constant({1.25, 1.25, -1.75}) u = u32[3] constant({1073741823, "
            "1073741824, 0})\n"
            "  ROOT r = s8[3] stochastic-convert(x, u) }\n",
     "2 1 -2"},
    {MODULE "ENTRY e { x = f32[3] constant({1.00390625, 1.00390625, inf}) u = u32[3] "
            "constant({2147483647, 2147483648, 0})\n"
            "  ROOT r = bf16[3] stochastic-convert(x, u) }\n",
     "1.01 1 inf"}, /* 1 + 2^-7 */
    /* normalisation */
    {MODULE "ENTRY e { x = f32[2,1] constant({{1}, {3}}) s = f32[1] constant({2}) o = f32[1] "
            "constant({5})\n"
            "  ROOT r = (f32[2,1], f32[1], f32[1]) batch-norm-training(x, s, o), epsilon=0, "
            "feature_index=1 }\n",
     "3 7 | 2 | 1"},
    {MODULE
     "ENTRY e { x = f32[2,1] constant({{1}, {3}}) s = f32[1] constant({2}) o = f32[1] "
     "constant({5}) m = f32[1] constant({1}) v = f32[1] constant({4})\n"
     "  ROOT r = f32[2,1] batch-norm-inference(x, s, o, m, v), epsilon=0, feature_index=1 }\n",
     "5 7"},
    {MODULE "ENTRY e { x = f32[2,1] constant({{1}, {3}}) s = f32[1] constant({2}) m = f32[1] "
            "constant({2}) v = f32[1] constant({1}) g = f32[2,1] constant({{1}, {2}})\n"
            "  ROOT r = (f32[2,1], f32[1], f32[1]) batch-norm-grad(x, s, m, v, g), epsilon=0, "
            "feature_index=1 }\n",
     "0 0 | 1 | 3"},
    /* wrappers */
    {MODULE "f { x = s32[] parameter(0) ROOT y = s32[] negate(x) }\n"
            "ENTRY e { x = s32[] constant(3) s = ((s32[]), s32[]) async-start(x), calls=f ROOT r = "
            "s32[] async-done(s), calls=f }\n",
     "-3"},
    {MODULE "f { x = s32[] parameter(0) ROOT y = s32[] negate(x) }\nENTRY e { x = s32[] "
            "constant(3) ROOT r = s32[] fusion(x), kind=kLoop, calls=f }\n",
     "-3"},
    {MODULE "ENTRY e { x = s32[2] constant({3, 4}) ROOT r = s32[2] custom-call(x), "
            "custom_call_target=\"Sharding\" }\n",
     "3 4"},
    {MODULE "ENTRY e { x = s32[2] constant({3, 4}) ROOT r = s32[] get-dimension-size(x), "
            "dimensions={0} }\n",
     "2"},
    {MODULE "sum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }\n"
            "ENTRY e { x = s32[2] constant({3, 4}) ROOT r = s32[2] all-reduce(x), "
            "replica_groups={{0}}, to_apply=sum }\n",
     "3 4"},
    {MODULE "ENTRY e { x = s32[2] constant({3, 4}) ROOT r = s32[2] collective-permute(x), "
            "source_target_pairs={{0,0}} }\n",
     "3 4"},
    {MODULE "ENTRY e { ROOT r = u32[] replica-id() }\n", "0"},
    {MODULE "ENTRY e { x = s32[] constant(3) t = token[] after-all() y = s32[] add-dependency(x, "
            "t) ROOT r = s32[] opt-barrier(y) }\n",
     "3"},
    /* complex */
    {MODULE "ENTRY e { x = c64[] constant((3, 4)) ROOT r = f32[] abs(x) }\n", "5"},
    {MODULE "ENTRY e { x = c64[] constant((-4, 0)) ROOT r = c64[] sqrt(x) }\n", "(0, 2)"},
    {MODULE "ENTRY e { x = c64[] constant((1, 2)) y = c64[] constant((3, 4)) ROOT r = c64[] "
            "multiply(x, y) }\n",
     "(-5, 10)"},
    {MODULE "ENTRY e { x = c64[] constant((1, 1)) y = c64[] constant((0, 0)) ROOT r = c64[] "
            "divide(x, y) }\n",
     "(inf, inf)"},
    {MODULE "ENTRY e { x = c64[] constant((0, 0)) y = c64[] constant((0, 0)) ROOT r = c64[] "
            "divide(x, y) }\n",
     "(nan, nan)"},
};

START_TEST(evaluates)
{
  ck_assert_str_eq(evaluate(cases[_i].text), cases[_i].want);
}
END_TEST

START_TEST(iota_rounds)
{
  const char *got = evaluate(MODULE "ENTRY e { ROOT r = bf16[258] iota(), iota_dimension=0 }\n");
  ck_assert_ptr_nonnull(strstr(got, " 254 255 256 256"));
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("eval_ops");
  TCase *t = tcase_create("eval_ops");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_loop_test(t, evaluates, 0, (int)(sizeof cases / sizeof *cases));
  tcase_add_test(t, iota_rounds);
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
