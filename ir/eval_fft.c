/* eval_fft - fft (numerics rule 14), along one dimension after the other, the last first.
 *
 * A transform of n points is p transforms of n / p = m points, of every p-th element each: F_0 to F_(p-1). p is 4 where it divides n, else
 * the smallest prime factor up to 31. With w(t) = exp(-2 pi i t), parts correctly rounded and zeros positive:
 *   t_r = F_r[k] * w(r k / n), a complex multiply (none for r = 0 or m = 1);  X[k + q m] = sum over r of t_r * w(r q / p), which is
 *   p = 2:  t_0 + t_1, t_0 - t_1
 *   p = 4:  a = t_0 + t_2, b = t_0 - t_2, c = t_1 + t_3, d = t_1 - t_3: a + c, b - i d, a - c, b + i d
 *   p odd:  s_r = t_r + t_(p-r), d_r = t_r - t_(p-r) for r up to (p - 1) / 2; X_0 = t_0 + s_1 + s_2 + ...
 *           M = t_0, then M = fma(cos(2 pi r q / p), s_r, M); E = sin(2 pi q / p) * d_1, then E = fma(sin(2 pi r q / p), d_r, E),
 *           r ascending; X_q = M - i E, X_(p-q) = M + i E
 * A length without such a factor is done by Bluestein's convolution on the next power of two that is at least 2 n - 1. Inverse
 * transforms conjugate w, exchange +i and -i, and divide by n at the end. */
#include "eval_complex.h"

#include <math.h>

typedef hl_pair pair;

enum { LARGEST_FACTOR = 31 };

/* ---- w(t), through a sum of two doubles ---- */

typedef struct twice {
  double high, low;
} twice;

static twice quick_sum(double a, double b)
{
  double s = a + b;
  return (twice){s, b - (s - a)};
}

static twice sum(twice x, twice y)
{
  double s = x.high + y.high, v = s - x.high;
  double error = (x.high - (s - v)) + (y.high - v);
  return quick_sum(s, error + x.low + y.low);
}

static twice product(twice x, twice y)
{
  double p = x.high * y.high;
  return quick_sum(p, fma(x.high, y.high, -p) + x.high * y.low + x.low * y.high);
}

static twice quotient(twice x, double y)
{
  double q = x.high / y;
  double rest = fma(-q, y, x.high) + x.low;
  return quick_sum(q, rest / y);
}

/* The Taylor series of sin (from x) or cos (from 1) for |x| <= pi / 4; 30 terms leave less than
 * 2^-106. */
static twice series(twice x, bool is_sine)
{
  twice term = is_sine ? x : (twice){1, 0}, result = term, square = product(x, x);
  for (int k = is_sine ? 2 : 1; k < 30; k += 2) {
    term = quotient(product(term, square), -(double)(k * (k + 1)));
    result = sum(result, term);
  }
  return result;
}

/* One rounding of high + low to the component type. */
static double rounded(hl_element_type part, twice x)
{
  if (part == HL_F64)
    return x.high;
  double odd = x.high; /* round to odd, then to f32 */
  int64_t bits = hl_scalar_int(HL_S64, hl_scalar_of_double(HL_F64, odd));
  if (x.low != 0 && bits % 2 == 0)
    odd = nextafter(odd, x.low > 0 ? (double)INFINITY : -(double)INFINITY);
  return (double)(float)odd;
}

/* exp(-2 pi i k / n) for 0 <= k < n: the eighth of the circle that k lies in is brought to the
 * first. */
static pair root_of_unity(hl_element_type part, int64_t k, int64_t n)
{
  static const twice half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  int64_t quarter = 4 * k / n, rest = 4 * k % n; /* the angle is (quarter + rest / n) * pi / 2 */
  bool is_mirrored = 2 * rest > n;
  twice angle =
      quotient(product(half_pi, (twice){(double)(is_mirrored ? n - rest : rest), 0}), (double)n);
  double s = rest ? rounded(part, series(angle, true)) : 0,
         c = rest ? rounded(part, series(angle, false)) : 1;
  double cosine = is_mirrored ? s : c, sine = is_mirrored ? c : s;
  const pair roots[4] = {{cosine, -sine}, {-sine, -cosine}, {-cosine, sine}, {sine, cosine}};
  return (pair){roots[quarter].re + 0, roots[quarter].im + 0}; /* + 0: no minus zero */
}

/* ---- transforms ---- */

typedef struct transform {
  hl_eval *e;
  hl_element_type part;
  bool is_inverse;
  int64_t n; /* the whole length; roots[k] = w(k / n) */
  pair *roots;
} transform;

static transform transform_of(hl_eval *e, hl_element_type part, bool is_inverse, int64_t n)
{
  transform t = {e, part, is_inverse, n, hl_eval_scratch(e, n, sizeof *t.roots)};
  for (int64_t k = 0; k < n; k++)
    t.roots[k] = root_of_unity(part, k, n);
  return t;
}

static pair conjugate(pair x)
{
  return (pair){x.re, x.im == 0 ? x.im : -x.im};
}

/* x * w(k / n), n a divisor of the whole length. */
static pair turned(const transform *t, pair x, int64_t k, int64_t n)
{
  pair root = t->roots[t->n / n * (k % n)];
  return hl_complex_multiply(t->part, x, t->is_inverse ? conjugate(root) : root);
}

static double to_part(hl_element_type part, double x)
{
  return part == HL_F64 ? x : (double)(float)x;
}

static pair plus(const transform *t, pair x, pair y)
{
  return hl_complex_add(t->part, x, y);
}

static pair minus(const transform *t, pair x, pair y)
{
  return (pair){to_part(t->part, x.re - y.re), to_part(t->part, x.im - y.im)};
}

/* x - i y; x + i y in inverse transforms. */
static pair minus_i(const transform *t, pair x, pair y)
{
  double sign = t->is_inverse ? -1 : 1;
  return (pair){to_part(t->part, x.re + sign * y.im), to_part(t->part, x.im - sign * y.re)};
}

static pair plus_i(const transform *t, pair x, pair y)
{
  return minus_i(t, x, (pair){-y.re, -y.im});
}

static double fused(hl_element_type part, double x, double y, double z)
{
  return part == HL_F64 ? fma(x, y, z) : (double)fmaf((float)x, (float)y, (float)z);
}

static pair fused_pair(hl_element_type part, double x, pair y, pair z)
{
  return (pair){fused(part, x, y.re, z.re), fused(part, x, y.im, z.im)};
}

enum { MOST_POINTS = LARGEST_FACTOR };

/* The transforms of p points in place. */
static void butterfly_4(const transform *t, pair *x)
{
  pair a = plus(t, x[0], x[2]), b = minus(t, x[0], x[2]);
  pair c = plus(t, x[1], x[3]), d = minus(t, x[1], x[3]);
  x[0] = plus(t, a, c);
  x[1] = minus_i(t, b, d);
  x[2] = minus(t, a, c);
  x[3] = plus_i(t, b, d);
}

static void butterfly_odd(const transform *t, int64_t p, pair *x)
{
  pair s[MOST_POINTS], d[MOST_POINTS], first = x[0], total = first;
  int64_t half = (p - 1) / 2;
  for (int64_t r = 1; r <= half; r++) {
    s[r] = plus(t, x[r], x[p - r]);
    d[r] = minus(t, x[r], x[p - r]);
    total = plus(t, total, s[r]);
  }
  x[0] = total;
  for (int64_t q = 1; q <= half; q++) {
    pair m = first, e = {0, 0};
    for (int64_t r = 1; r <= half; r++) {
      pair w = root_of_unity(t->part, r * q % p, p); /* cos, -sin */
      m = fused_pair(t->part, w.re, s[r], m);
      e = r == 1 ? (pair){to_part(t->part, -w.im * d[r].re), to_part(t->part, -w.im * d[r].im)}
                 : fused_pair(t->part, -w.im, d[r], e);
    }
    x[q] = minus_i(t, m, e);
    x[p - q] = plus_i(t, m, e);
  }
}

static void butterfly(const transform *t, int64_t p, pair *x)
{
  if (p == 4) {
    butterfly_4(t, x);
  } else if (p == 2) {
    pair difference = minus(t, x[0], x[1]);
    x[0] = plus(t, x[0], x[1]);
    x[1] = difference;
  } else {
    butterfly_odd(t, p, x);
  }
}

static int64_t factor_of(int64_t n)
{
  if (n % 4 == 0)
    return 4;
  for (int64_t p = 2; p <= LARGEST_FACTOR; p++)
    if (n % p == 0)
      return p;
  return n;
}

static void bluestein(const transform *t, const pair *x, int64_t stride, int64_t n, pair *out);

/* out[0..n) = the transform of x[0], x[stride], ... Recursion is as deep as n has factors. */
static void run(const transform *t, const pair *x, int64_t stride, int64_t n, pair *out)
{
  int64_t p = factor_of(n), m = n / p;
  pair points[MOST_POINTS];
  if (n == 1) {
    out[0] = x[0];
    return;
  }
  if (p > LARGEST_FACTOR) {
    bluestein(t, x, stride, n, out);
    return;
  }
  pair *parts = hl_eval_scratch(t->e, n, sizeof *parts);
  for (int64_t r = 0; r < p; r++)
    run(t, x + r * stride, stride * p, m, parts + r * m);
  for (int64_t k = 0; k < m; k++) {
    for (int64_t r = 0; r < p; r++)
      points[r] = r && m > 1 ? turned(t, parts[r * m + k], r * k, n) : parts[r * m + k];
    butterfly(t, p, points);
    for (int64_t q = 0; q < p; q++)
      out[k + q * m] = points[q];
  }
  hl_eval_drop(t->e, parts);
}

/* k^2 mod 2n, without overflow. */
static int64_t square_mod(int64_t k, int64_t n)
{
  int64_t result = 0;
  for (int64_t step = k, left = k; left; left >>= 1, step = 2 * step % (2 * n))
    if (left & 1)
      result = (result + step) % (2 * n);
  return result;
}

static pair scaled(hl_element_type part, pair x, double n)
{
  x = (pair){x.re / n, x.im / n};
  return part == HL_F64 ? x : (pair){(double)(float)x.re, (double)(float)x.im};
}

/* The cyclic convolution of a and b, of m points, in place of a. */
static void convolve(const transform *t, int64_t m, pair *a, const pair *b)
{
  transform forward = transform_of(t->e, t->part, false, m), inverse = forward;
  pair *fa = hl_eval_scratch(t->e, m, sizeof *fa), *fb = hl_eval_scratch(t->e, m, sizeof *fb);
  inverse.is_inverse = true;
  run(&forward, a, 1, m, fa);
  run(&forward, b, 1, m, fb);
  for (int64_t k = 0; k < m; k++)
    fa[k] = hl_complex_multiply(t->part, fa[k], fb[k]);
  run(&inverse, fa, 1, m, a);
  for (int64_t k = 0; k < m; k++)
    a[k] = scaled(t->part, a[k], (double)m);
  hl_eval_drop(t->e, fa);
  hl_eval_drop(t->e, fb);
  hl_eval_drop(t->e, forward.roots);
}

/* With c_k = w(k^2 / 2n): X_k = c_k * sum over j of (x_j c_j) conj(c_{k-j}); the sum is the inverse transform of the product of
 * two transforms. */
static void bluestein(const transform *t, const pair *x, int64_t stride, int64_t n, pair *out)
{
  int64_t m = 1;
  while (m < 2 * n - 1)
    m *= 2;
  transform chirp = transform_of(t->e, t->part, t->is_inverse, 2 * n);
  pair *a = hl_eval_scratch(t->e, m, sizeof *a), *b = hl_eval_scratch(t->e, m, sizeof *b);
  for (int64_t k = 0; k < n; k++) {
    int64_t place = square_mod(k, n);
    a[k] = turned(&chirp, x[k * stride], place, 2 * n);
    b[k] = t->is_inverse ? chirp.roots[place] : conjugate(chirp.roots[place]);
    b[k ? m - k : 0] = b[k];
  }
  convolve(t, m, a, b);
  for (int64_t k = 0; k < n; k++)
    out[k] = turned(&chirp, a[k], square_mod(k, n), 2 * n);
  hl_eval_drop(t->e, a);
  hl_eval_drop(t->e, b);
  hl_eval_drop(t->e, chirp.roots);
}

/* ---- the op ---- */

enum { FFT, IFFT, RFFT, IRFFT };

/* A complex array that is transformed dimension by dimension. */
typedef struct field {
  pair *values;
  int rank;
  int64_t sizes[HL_LIMIT_RANK];
} field;

static int64_t product_of(const int64_t *sizes, int begin, int end)
{
  int64_t total = 1;
  for (int d = begin; d < end; d++)
    total *= sizes[d];
  return total;
}

static void transform_dimension(hl_eval *e, hl_element_type part, bool is_inverse, field *f, int d)
{
  transform t = transform_of(e, part, is_inverse, f->sizes[d]);
  int64_t n = f->sizes[d], inner = product_of(f->sizes, d + 1, f->rank),
          outer = product_of(f->sizes, 0, d);
  pair *out = hl_eval_scratch(e, n, sizeof *out);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; n && i < inner; i++) {
      pair *line = f->values + o * n * inner + i;
      run(&t, line, inner, n, out);
      for (int64_t k = 0; k < n; k++)
        line[k * inner] = is_inverse ? scaled(part, out[k], (double)n) : out[k];
    }
  hl_eval_drop(e, out);
  hl_eval_drop(e, t.roots);
}

static pair load_pair(const hl_literal *x, int64_t i)
{
  hl_element_type type = x->shape->element_type, part = hl_component_type(type);
  hl_scalar value = hl_scalar_load(x, i);
  return (pair){hl_scalar_double(part, value),
                hl_is_complex(type) ? hl_scalar_double(part, hl_scalar_part(value.im)) : 0};
}

/* The operand with a last dimension of n: the missing half of a real signal's spectrum is the
 * conjugate of the half that is there. */
static field field_of(hl_eval *e, const hl_literal *x, int64_t n)
{
  const hl_shape *shape = x->shape;
  field f = {.rank = shape->rank};
  int64_t width = shape->dimensions[shape->rank - 1];
  for (int d = 0; d < shape->rank; d++)
    f.sizes[d] = d == shape->rank - 1 ? n : shape->dimensions[d];
  int64_t total = product_of(f.sizes, 0, f.rank);
  f.values = hl_eval_scratch(e, total, sizeof *f.values);
  for (int64_t i = 0; i < total; i++)
    if (i % n < width)
      f.values[i] = load_pair(x, i / n * width + i % n);
  return f;
}

/* Bins above the middle mirror those below; the imaginary parts of the first and the middle one do
 * not count. */
static void mirror(field *f)
{
  int64_t n = f->sizes[f->rank - 1], total = product_of(f->sizes, 0, f->rank);
  for (int64_t line = 0; line < total; line += n) {
    f->values[line].im = 0;
    if (n % 2 == 0)
      f->values[line + n / 2].im = 0;
    for (int64_t k = n / 2 + 1; k < n; k++)
      f->values[line + k] = (pair){f->values[line + n - k].re, -f->values[line + n - k].im};
  }
}

static void store_field(const field *f, hl_literal *result)
{
  hl_element_type type = result->shape->element_type, part = hl_component_type(type);
  int64_t total = hl_shape_elements(result->shape),
          width = result->shape->dimensions[result->shape->rank - 1];
  int64_t n = f->sizes[f->rank - 1];
  for (int64_t i = 0; i < total; i++) {
    pair value = f->values[i / width * n + i % width];
    hl_scalar_store(result, i,
                    (hl_scalar){hl_scalar_of_double(part, value.re).re,
                                hl_is_complex(type) ? hl_scalar_of_double(part, value.im).re : 0});
  }
}

/* The last dimension goes first, but last for IRFFT, where its spectrum must be whole along the
 * others. */
const hl_literal *hl_eval_fft(hl_eval *e, const hl_instruction *ins,
                              const hl_literal *const *operands)
{
  int64_t kind = hl_attr_int(ins, HL_ATTR_FFT_TYPE, FFT);
  hl_ints lengths = hl_attr_ints(ins, HL_ATTR_FFT_LENGTH);
  hl_element_type part = hl_component_type(ins->shape->element_type);
  hl_literal *result = hl_eval_new(e, ins->shape);
  int last = ins->shape->rank - 1;
  if (!hl_shape_elements(ins->shape) || !hl_shape_elements(operands[0]->shape))
    return result;
  field f = field_of(e, operands[0], lengths.values[lengths.count - 1]);
  hl_eval_charge(e, product_of(f.sizes, 0, f.rank) * lengths.count);
  for (int d = kind == IRFFT ? last - 1 : last; d > last - lengths.count; d--)
    transform_dimension(e, part, kind == IFFT || kind == IRFFT, &f, d);
  if (kind == IRFFT) {
    mirror(&f);
    transform_dimension(e, part, true, &f, last);
  }
  store_field(&f, result);
  hl_eval_drop(e, f.values);
  return result;
}
