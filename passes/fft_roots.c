/* fft_roots - sines and cosines of fractions of the circle.
 *
 * Requires: 8 n fits int64_t. Cost: two series an eighth of the circle; the other seven are mirror images.
 * A number here is an unevaluated sum of two doubles, good for about 100 bits: rounding it is rounding the exact value, for
 * these numbers come that close to the middle of two floats only where they are 0, 1 or 1/2.
 */
#include "fft_roots.h"

#include <math.h>
#include <string.h>

typedef struct sum_of_two {
  double big, small;
} sum_of_two;

static sum_of_two renormalised(double big, double small)
{
  double sum = big + small;
  return (sum_of_two){sum, small - (sum - big)};
}

static sum_of_two times(sum_of_two x, sum_of_two y)
{
  double big = x.big * y.big;
  return renormalised(big, fma(x.big, y.big, -big) + (x.big * y.small + x.small * y.big));
}

static sum_of_two over(sum_of_two x, double y)
{
  double big = x.big / y;
  return renormalised(big, (fma(-big, y, x.big) + x.small) / y);
}

/* 1 - x */
static sum_of_two one_minus(sum_of_two x)
{
  double big = 1 - x.big;
  return renormalised(big, ((1 - big) - x.big) - x.small);
}

/* 1 - y/(a(a+1)) (1 - y/((a+2)(a+3)) (1 - ...)): the cosine of sqrt(y) for a = 1; times sqrt(y) its sine for a = 2. y < 0.62 needs
 * 14 factors for 2^-110. */
static sum_of_two nested_series(sum_of_two y, int a)
{
  enum { FACTORS = 14 };
  sum_of_two value = {1, 0};
  for (int i = FACTORS - 1; i >= 0; i--) {
    int first = a + 2 * i;
    value = one_minus(times(over(y, (double)(first * (first + 1))), value));
  }
  return value;
}

/* To the float nearest the sum: a double in the middle of two floats leans to the side of the rest. */
static float to_float(sum_of_two x)
{
  uint64_t bits;
  memcpy(&bits, &x.big, sizeof bits);
  bool is_middle = (bits & 0x1fffffff) == 0x10000000;
  if (is_middle && x.small != 0)
    x.big = nextafter(x.big, x.small > 0 ? 2 : -2);
  return (float)x.big;
}

static void put(hl_element_type part, void *list, int64_t at, double sign, sum_of_two x)
{
  if (part == HL_F64)
    ((double *)list)[at] = x.big == 0 ? 0 : sign * x.big;
  else
    ((float *)list)[at] = x.big == 0 ? 0 : (float)sign * to_float(x);
}

typedef struct roots {
  hl_element_type part;
  int64_t n;
  void *re, *im;
} roots;

/* exp(-2 pi i k / n) = cosine - i sine where k lies in quarter `quarter` and is `rest` / 4 n behind its start. */
static void put_root(const roots *r, int64_t k, int64_t quarter, sum_of_two cosine, sum_of_two sine)
{
  static const double re_sign[4] = {1, -1, -1, 1}, im_sign[4] = {-1, -1, 1, 1};
  bool is_swapped = quarter % 2;
  put(r->part, r->re, k, re_sign[quarter], is_swapped ? sine : cosine);
  put(r->part, r->im, k, im_sign[quarter], is_swapped ? cosine : sine);
}

/* All k whose angle is a quarter turn times q + rest / n or q - rest / n, for the rest in [0, n / 2]: those with 4 k = q n + rest or
 * 4 k = q n - rest. */
static void put_images(const roots *r, int64_t rest, sum_of_two cosine, sum_of_two sine)
{
  for (int64_t quarter = 0; quarter < 4; quarter++) {
    int64_t ahead = quarter * r->n + rest, behind = (quarter + 1) * r->n - rest;
    if (ahead % 4 == 0)
      put_root(r, ahead / 4, quarter, cosine, sine);
    if (behind % 4 == 0 && rest > 0)
      put_root(r, behind / 4, quarter, sine, cosine);
  }
}

static bool is_needed(int64_t n, int64_t rest)
{
  for (int64_t quarter = 0; quarter < 4; quarter++)
    if ((quarter * n + rest) % 4 == 0 || (quarter * n + n - rest) % 4 == 0)
      return true;
  return false;
}

void hl_fft_roots(hl_element_type part, int64_t n, void *re, void *im)
{
  static const sum_of_two half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  roots r = {part, n, re, im};
  for (int64_t rest = 0; rest <= n / 2; rest++) {
    if (!is_needed(n, rest))
      continue;
    sum_of_two angle = over(times(half_pi, (sum_of_two){(double)rest, 0}), (double)n);
    sum_of_two square = times(angle, angle);
    sum_of_two sine = times(angle, nested_series(square, 2));
    put_images(&r, rest, rest ? nested_series(square, 1) : (sum_of_two){1, 0}, sine);
  }
}
