/* lower_fft_butterfly - Fourier transforms of a few points, written out: 2, 4, or an odd number (numerics.md rule 14). */
#include "lower_fft.h"

#include "fft_roots.h"

typedef struct butterfly {
  hl_puller *p;
  hl_element_type part;
  bool is_inverse;
  int64_t points;
} butterfly;

static hl_value plus(const butterfly *b, hl_value x, hl_value y)
{
  hl_node *re = hl_put_add(b->p, x.re, y.re);
  return (hl_value){re, hl_put_add(b->p, x.im, y.im)};
}

static hl_value minus(const butterfly *b, hl_value x, hl_value y)
{
  hl_node *re = hl_put_sub(b->p, x.re, y.re);
  return (hl_value){re, hl_put_sub(b->p, x.im, y.im)};
}

static hl_value plus_i(const butterfly *b, hl_value x, hl_value y)
{
  hl_node *re = hl_put_sub(b->p, x.re, y.im);
  return (hl_value){re, hl_put_add(b->p, x.im, y.re)};
}

static hl_value minus_i(const butterfly *b, hl_value x, hl_value y)
{
  hl_node *re = hl_put_add(b->p, x.re, y.im);
  return (hl_value){re, hl_put_sub(b->p, x.im, y.re)};
}

static void two_points(const butterfly *b, hl_value *x)
{
  hl_value sum = plus(b, x[0], x[1]);
  x[1] = minus(b, x[0], x[1]);
  x[0] = sum;
}

static void four_points(const butterfly *b, hl_value *x)
{
  hl_value even = plus(b, x[0], x[2]), even_rest = minus(b, x[0], x[2]);
  hl_value odd = plus(b, x[1], x[3]), odd_rest = minus(b, x[1], x[3]);
  hl_value turned = minus_i(b, even_rest, odd_rest), back = plus_i(b, even_rest, odd_rest);
  x[0] = plus(b, even, odd);
  x[2] = minus(b, even, odd);
  x[1] = b->is_inverse ? back : turned;
  x[3] = b->is_inverse ? turned : back;
}

enum { MOST_POINTS = 31 };

/* Cosines and sines of the circle's points. */
typedef struct circle {
  double cosine[MOST_POINTS], sine[MOST_POINTS];
} circle;

static void fill_circle(const butterfly *b, circle *c)
{
  float re[MOST_POINTS], im[MOST_POINTS];
  if (b->part == HL_F64)
    hl_fft_roots(HL_F64, b->points, c->cosine, c->sine);
  else
    hl_fft_roots(HL_F32, b->points, re, im);
  for (int64_t k = 0; k < b->points; k++) {
    c->cosine[k] = b->part == HL_F64 ? c->cosine[k] : (double)re[k];
    c->sine[k] = -(b->part == HL_F64 ? c->sine[k] : (double)im[k]);
  }
}

/* factor * x + y; y without re: none. */
static hl_value add_scaled(const butterfly *b, double factor, hl_value x, hl_value y)
{
  hl_node *f = hl_put_float(b->p, b->part, factor);
  if (!y.re) {
    hl_node *re = hl_put_mul(b->p, f, x.re);
    return (hl_value){re, hl_put_mul(b->p, f, x.im)};
  }
  hl_node *re = hl_put(b->p, HL_LOOP_FMA, b->part, 3, (hl_node *[]){f, x.re, y.re});
  return (hl_value){re, hl_put(b->p, HL_LOOP_FMA, b->part, 3, (hl_node *[]){f, x.im, y.im})};
}

/* Points r and p - r come as their sum and difference. */
static void odd_points(const butterfly *b, hl_value *x)
{
  int64_t p = b->points, half = (p - 1) / 2;
  hl_value first = x[0], sums[MOST_POINTS], differences[MOST_POINTS];
  circle c;
  fill_circle(b, &c);
  for (int64_t r = 1; r <= half; r++) {
    sums[r] = plus(b, x[r], x[p - r]);
    differences[r] = minus(b, x[r], x[p - r]);
    x[0] = plus(b, x[0], sums[r]);
  }
  for (int64_t q = 1; q <= half; q++) {
    hl_value even = first, odd = {NULL, NULL};
    for (int64_t r = 1; r <= half; r++) {
      even = add_scaled(b, c.cosine[r * q % p], sums[r], even);
      odd = add_scaled(b, c.sine[r * q % p], differences[r], odd);
    }
    hl_value turned = minus_i(b, even, odd), back = plus_i(b, even, odd);
    x[q] = b->is_inverse ? back : turned;
    x[p - q] = b->is_inverse ? turned : back;
  }
}

void hl_fft_butterfly(hl_puller *p, hl_element_type part, bool is_inverse, int64_t points, hl_value *x)
{
  butterfly b = {p, part, is_inverse, points};
  if (points == 2)
    two_points(&b, x);
  else if (points == 4)
    four_points(&b, x);
  else
    odd_points(&b, x);
}
