/* every.c - every f32 through every function of one argument.
 *
 *   every [--step N] [--part K/N] [--scalar | --vector] [NAME...]
 *
 * Compiled code must have the evaluator's bits: scalars; vectors of 16 lanes whose lanes are
 * neighbours; vectors of 64 lanes in which numbers of every kind (large, infinite, NaN, zero) stand
 * beside each argument. The evaluator's error is judged by libm in f64 and, near the worst so far,
 * by MPFR, which also checks libm's number for one argument of each block. --part takes the K-th of
 * N parts of the arguments, --step every N-th block of 16384; --vector leaves the scalars out,
 * --scalar does them alone. Exits with 1 when bits differ, a special value is wrong or an error is
 * above 2 ULP.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bulk.h"
#include "kernels.h"
#include "reference.h"
#include "verdict.h"

enum { SCALAR, NEIGHBOURS, MIXED, FORMS };

static const math_form forms[FORMS] = {{false, true, 1}, {false, true, 16}, {false, true, 64}};

/* One function's state; the blocks are too large for a stack. */
typedef struct scan {
  hl_math_fn fn;
  math_kernel *kernels[FORMS];
  hl_worst worst;
  uint64_t arguments, differences, bad_references;
  float x[BULK], want[BULK], got[BULK], mixed[2 * BULK], mixed_got[2 * BULK];
  double reference[BULK], error[BULK];
} scan;

typedef struct request {
  bool scalar, vector;
  unsigned step, part, parts;
  int names;
  char **name;
} request;

static bool same(float a, float b)
{
  return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

static void difference(scan *s, int form, int i, float got)
{
  if (s->differences++ < 10)
    printf("%s(%a) with %u lanes = %a, the evaluator has %a\n", hl_math_name(s->fn),
           (double)s->x[i], forms[form].lanes, (double)got, (double)s->want[i]);
}

/* got[0], got[stride], ... against the evaluator's. */
static void compare(scan *s, int form, const float *got, int stride)
{
  if (stride == 1 && memcmp(got, s->want, sizeof s->want) == 0)
    return;
  for (int i = 0; i < BULK; i++)
    if (!same(got[i * stride], s->want[i]))
      difference(s, form, i, got[i * stride]);
}

/* Each argument between two of other kinds. */
static void run_mixed(scan *s)
{
  static const float others[] = {1e30F, 0.5F, INFINITY, -3e5F, NAN, 0.0F, -2.5F, 0x1p-140F};
  for (int i = 0; i < BULK; i++) {
    s->mixed[2 * i] = others[i * 5 / 8 % 8];
    s->mixed[2 * i + 1] = s->x[i];
  }
  s->kernels[MIXED](s->mixed, s->mixed, s->mixed_got, 2 * BULK);
  compare(s, MIXED, s->mixed_got + 1, 2);
}

/* MPFR's word on one number of the reference, to a millionth of an ULP of f32. */
static void check_reference(scan *s, int i)
{
  double args[2] = {(double)s->x[i], 0}, want = s->reference[i];
  if (!isfinite(want) || fabs(want) >= 0x1p128 || fabs(want) < 0x1p-126)
    return;
  double error = hl_exact_error(s->fn, want, args, true);
  s->bad_references += error > 4;
}

static void judge(scan *s)
{
  hl_bulk_reference(s->fn, s->x, s->reference);
  double most = hl_bulk_errors(s->want, s->reference, s->error);
  check_reference(s, (int)(s->arguments / BULK * 7919 % BULK));
  if (most <= 0.5 + 1e-6 ? most <= s->worst.error : most <= s->worst.error - 1e-6)
    return;
  for (int i = 0; i < BULK; i++) {
    double args[2] = {(double)s->x[i], 0};
    if (s->error[i] > s->worst.error - 1e-6)
      hl_take(&s->worst,
              s->error[i] > 0.49 ? hl_exact_error(s->fn, (double)s->want[i], args, false)
                                 : s->error[i],
              args);
  }
}

static void run_block(scan *s, const request *r, uint32_t first)
{
  for (uint32_t i = 0; i < BULK; i++) {
    uint32_t bits = first + i;
    memcpy(&s->x[i], &bits, sizeof bits);
  }
  hl_bulk_f32(s->fn, s->x, s->x, s->want);
  if (r->scalar) {
    s->kernels[SCALAR](s->x, s->x, s->got, BULK);
    compare(s, SCALAR, s->got, 1);
  }
  if (r->vector) {
    s->kernels[NEIGHBOURS](s->x, s->x, s->got, BULK);
    compare(s, NEIGHBOURS, s->got, 1);
    run_mixed(s);
    judge(s);
  }
  s->arguments += BULK;
}

static bool run_function(scan *s, const request *r, const math_kernels *kernels, hl_math_fn fn)
{
  memset(s, 0, sizeof *s);
  s->fn = fn;
  for (int form = 0; form < FORMS; form++)
    s->kernels[form] = math_kernels_find(kernels, form, fn);
  clock_t start = clock();
  uint64_t blocks = (UINT64_C(1) << 32) / BULK;
  uint64_t from = blocks * (r->part - 1) / r->parts, to = blocks * r->part / r->parts;
  for (uint64_t block = from; block < to; block += r->step)
    run_block(s, r, (uint32_t)(block * BULK));
  printf("%-9s %10" PRIu64 " arguments  %s%s  %.4f ULP at %a  %" PRIu64 " differences  %" PRIu64
         " bad references  %.0f s\n",
         hl_math_name(fn), s->arguments, r->scalar ? "scalar " : "", r->vector ? "vector" : "",
         s->worst.error, s->worst.args[0], s->differences, s->bad_references,
         (double)(clock() - start) / CLOCKS_PER_SEC);
  fflush(stdout);
  return s->differences == 0 && s->bad_references == 0 && s->worst.error <= 2;
}

static request parse(int argc, char **argv)
{
  request r = {.scalar = true, .vector = true, .step = 1, .part = 1, .parts = 1};
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++)
    if (!strcmp(argv[i], "--scalar"))
      r.vector = false;
    else if (!strcmp(argv[i], "--vector"))
      r.scalar = false;
    else if (!strcmp(argv[i], "--step") && i + 1 < argc && atoi(argv[i + 1]) > 0)
      r.step = (unsigned)atoi(argv[++i]);
    else if (strcmp(argv[i], "--part") != 0 || i + 1 == argc ||
             sscanf(argv[++i], "%u/%u", &r.part, &r.parts) != 2 || r.part < 1 || r.part > r.parts)
      exit(2);
  r.names = argc - i;
  r.name = argv + i;
  return r;
}

static bool wanted(const request *r, const char *name)
{
  for (int i = 0; i < r->names; i++)
    if (!strcmp(r->name[i], name))
      return true;
  return r->names == 0;
}

int main(int argc, char **argv)
{
  request r = parse(argc, argv);
  scan *s = malloc(sizeof *s);
  if (!s)
    return 2;
  hl_verdict_start();
  math_kernels *kernels = math_kernels_new(forms, FORMS);
  bool good = true;
  for (int i = 0; i < HL_MATH_COUNT; i++)
    if (hl_math_arity((hl_math_fn)i) == 1 && wanted(&r, hl_math_name((hl_math_fn)i)))
      good = run_function(s, &r, kernels, (hl_math_fn)i) && good;
  math_kernels_free(kernels);
  free(s);
  return good ? 0 : 1;
}
