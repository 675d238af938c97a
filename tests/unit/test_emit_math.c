/* test_emit_math - compiled mathematical functions give the bits of the evaluator, whatever the
 * number of lanes.
 *
 * One module with a loop for every function, type and number of lanes is compiled for this machine,
 * once as it is and once after LLVM's scalar passes; numbers of every exponent go through both
 * sides.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "ir/eval_math.h"
#include "tests/math/kernels.h"

enum { CHUNK = 4096, F32_STEP = 20011, F64_COUNT = 200000 };

/* The forms of every function: type, lanes, and whether the module is optimised. */
static const math_form forms[] = {{false, true, 1},  {false, true, 16}, {false, false, 16},
                                  {false, true, 64}, {true, true, 1},   {true, true, 8},
                                  {true, false, 8},  {true, true, 16}};

enum { FORMS = sizeof forms / sizeof *forms };

static math_kernels *kernels;

static void setup(void)
{
  kernels = math_kernels_new(forms, FORMS);
}

static void teardown(void)
{
  math_kernels_free(kernels);
}

static uint64_t next_random(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  return z ^ z >> 31;
}

/* Apart, since each of Check's assertions is a system call even when it holds. */
static void differs(hl_math_fn fn, double x, double y, double got, double want)
{
  ck_abort_msg("%s(%a, %a) = %a, the evaluator has %a", hl_math_name(fn), x, y, got, want);
}

/* The kernel's result for one chunk against the evaluator's; both NaN is equal. */
static void compare_f32(hl_math_fn fn, math_kernel *run, const float *x, const float *y)
{
  static float out[CHUNK];
  run(x, y, out, CHUNK);
  for (int i = 0; i < CHUNK; i++) {
    float want = hl_math_eval_f32(fn, (float[]){x[i], y[i]});
    if (memcmp(&want, &out[i], sizeof want) != 0 && (want == want || out[i] == out[i]))
      differs(fn, (double)x[i], (double)y[i], (double)out[i], (double)want);
  }
}

static void compare_f64(hl_math_fn fn, math_kernel *run, const double *x, const double *y)
{
  static double out[CHUNK];
  run(x, y, out, CHUNK);
  for (int i = 0; i < CHUNK; i++) {
    double want = hl_math_eval_f64(fn, (double[]){x[i], y[i]});
    if (memcmp(&want, &out[i], sizeof want) != 0 && (want == want || out[i] == out[i]))
      differs(fn, x[i], y[i], out[i], want);
  }
}

static const float corners[] = {0.0F,    1,        2,   3,         0.5F,      1.5F,
                                5,       10,       100, 0x1p-149F, 0x1p-126F, 0x1.fffffep127F,
                                0x1p24F, INFINITY, NAN};

enum { CORNERS = sizeof corners / sizeof *corners };

/* Pairs of corners, with signs, fill the first chunk. */
static float corner(int i)
{
  float c = corners[i % CORNERS];
  return i / CORNERS % 2 ? -c : c;
}

static float second_f32(float x, uint64_t *state)
{
  uint64_t r = next_random(state);
  uint32_t bits = (uint32_t)r;
  float y;
  memcpy(&y, &bits, sizeof y);
  return r >> 62 == 0   ? y
         : r >> 62 == 1 ? (float)(int)(bits % 41) - 20
         : r >> 62 == 2 ? x * 0.125F
                        : 1.7F;
}

static void scan_f32(hl_math_fn fn, math_kernel *run)
{
  static float x[CHUNK], y[CHUNK];
  uint64_t state = 1;
  for (int i = 0; i < CHUNK; i++)
    x[i] = corner(i), y[i] = corner(i / (2 * CORNERS));
  compare_f32(fn, run, x, y);
  for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += (uint64_t)F32_STEP * CHUNK) {
    for (uint64_t i = 0; i < CHUNK; i++) {
      uint32_t pattern = (uint32_t)(bits + i * F32_STEP);
      memcpy(&x[i], &pattern, sizeof pattern);
      y[i] = second_f32(x[i], &state);
    }
    compare_f32(fn, run, x, y);
  }
}

static double sample_f64(uint64_t *state)
{
  uint64_t r = next_random(state), bits = next_random(state);
  double x = (double)(int64_t)bits * 0x1p-63;
  if (r % 4 == 0)
    memcpy(&x, &bits, sizeof x);
  return r % 4 == 1 ? x * 800 : r % 4 == 2 ? (double)((int64_t)bits >> 59) : x;
}

static void scan_f64(hl_math_fn fn, math_kernel *run)
{
  static double x[CHUNK], y[CHUNK];
  uint64_t state = 1;
  for (int i = 0; i < CHUNK; i++)
    x[i] = (double)corner(i), y[i] = (double)corner(i / (2 * CORNERS));
  compare_f64(fn, run, x, y);
  for (int done = 0; done < F64_COUNT; done += CHUNK) {
    for (int i = 0; i < CHUNK; i++)
      x[i] = sample_f64(&state), y[i] = sample_f64(&state);
    compare_f64(fn, run, x, y);
  }
}

START_TEST(compiled_is_evaluated)
{
  int form = _i / HL_MATH_COUNT, fn = _i % HL_MATH_COUNT;
  math_kernel *run = math_kernels_find(kernels, form, (hl_math_fn)fn);
  if (forms[form].is_f64)
    scan_f64((hl_math_fn)fn, run);
  else
    scan_f32((hl_math_fn)fn, run);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("emit_math");
  TCase *t = tcase_create("bits");
  tcase_set_timeout(t, 60);
  tcase_add_unchecked_fixture(t, setup, teardown);
  tcase_add_loop_test(t, compiled_is_evaluated, 0, FORMS * HL_MATH_COUNT);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_set_fork_status(
      r, CK_NOFORK); /* a fork with LLVM in it takes longer than most of these tests */
  srunner_run_all(r, CK_NORMAL);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
