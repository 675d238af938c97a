/* eval_complex_math - functions of complex numbers.
 *
 * All compute in f64 with the real functions of ir/math.def, c64 too, and round each part once at
 * the end. The formulas are those of Kahan, "Branch cuts for complex elementary functions" (1987),
 * with the special values of C's Annex G where they are stated below. */
#include "eval_complex.h"
#include "eval_math.h"

#include <math.h>

typedef hl_pair pair;

/* Beyond it exp(x) may overflow although a product with it does not. */
static const double LARGE_EXPONENT = 700;

static double magnitude(pair z)
{
  double x = fabs(z.re), y = fabs(z.im), a = x > y ? x : y, b = x > y ? y : x;
  if (isinf(x) || isinf(y))
    return (double)INFINITY;
  if (isnan(x) || isnan(y))
    return (double)NAN;
  if (a == 0)
    return 0;
  double r = b / a;
  return a * sqrt(1 + r * r);
}

/* s * exp(x), where exp alone may overflow. */
static double times_exp(double s, double x)
{
  if (x <= LARGE_EXPONENT)
    return s * hl_math_exp_f64(x);
  double half = hl_math_exp_f64(x / 2);
  return s * half * half;
}

static double times_cosh(double s, double x)
{
  return fabs(x) <= LARGE_EXPONENT ? s * hl_math_cosh_f64(x) : times_exp(s / 2, fabs(x));
}

static double times_sinh(double s, double x)
{
  return fabs(x) <= LARGE_EXPONENT ? s * hl_math_sinh_f64(x)
                                   : times_exp(copysign(s, s * x) / 2, fabs(x));
}

/* A zero imaginary part stays one even beside an infinity; the direction of exp(-inf + i inf) does
 * not matter. */
static pair exponential(pair z)
{
  if (z.im == 0)
    return (pair){hl_math_exp_f64(z.re), z.im};
  if (isinf(z.re) && !isfinite(z.im))
    return z.re < 0 ? (pair){0, 0} : (pair){z.re, (double)NAN};
  return (pair){times_exp(hl_math_cos_f64(z.im), z.re), times_exp(hl_math_sin_f64(z.im), z.re)};
}

/* cos(y) - 1 = -2 sin(y/2)^2 */
static pair exponential_minus_one(pair z)
{
  if (z.im == 0)
    return (pair){hl_math_expm1_f64(z.re), z.im};
  if (!(fabs(z.re) < 1))
    return (pair){exponential(z).re - 1, exponential(z).im};
  double half = hl_math_sin_f64(z.im / 2);
  double re = hl_math_expm1_f64(z.re) * hl_math_cos_f64(z.im) - 2 * half * half;
  return (pair){re, times_exp(hl_math_sin_f64(z.im), z.re)};
}

/* x^2 + y^2 - 1, each square as the sum of two doubles. */
static double square_minus_one(double x, double y)
{
  double xx = x * x, yy = y * y;
  return ((xx - 1) + yy) + (fma(x, x, -xx) + fma(y, y, -yy));
}

/* log |z|; near 1 by log1p, where the sum of squares cancels. */
static double log_magnitude(pair z)
{
  double x = fabs(z.re), y = fabs(z.im), a = x > y ? x : y, b = x > y ? y : x;
  if (isinf(x) || isinf(y))
    return (double)INFINITY;
  if (isnan(x) || isnan(y))
    return (double)NAN;
  if (a == 0)
    return -(double)INFINITY;
  if (a >= 0.5 && a <= 1.5)
    return hl_math_log1p_f64(square_minus_one(a, b)) / 2;
  double r = b / a;
  return hl_math_log_f64(a) + hl_math_log1p_f64(r * r) / 2;
}

static pair logarithm(pair z)
{
  return (pair){log_magnitude(z), hl_math_atan2_f64(z.im, z.re)};
}

static pair logarithm_plus_one(pair z)
{
  pair sum = {1 + z.re, z.im};
  if (!(fabs(z.re) < 0.5 && fabs(z.im) < 0.5))
    return logarithm(sum);
  double squares = z.re * z.re + z.im * z.im;
  return (pair){hl_math_log1p_f64(2 * z.re + squares) / 2, hl_math_atan2_f64(z.im, sum.re)};
}

/* A power of two that brings z to a size whose squares and sums stay in range; its square root is
 * exact. */
static double root_scale(pair z)
{
  double x = fabs(z.re), y = fabs(z.im), a = x > y ? x : y;
  return a > 0x1p1000 ? 0x1p-4 : a < 0x1p-1000 ? 0x1p200 : 1;
}

static pair square_root(pair z)
{
  if (z.re == 0 && z.im == 0)
    return (pair){0, z.im};
  if (isinf(z.im))
    return (pair){(double)INFINITY, z.im};
  if (isinf(z.re) && z.re > 0)
    return (pair){z.re, isnan(z.im) ? z.im : copysign(0, z.im)};
  if (isinf(z.re))
    return isnan(z.im) ? (pair){z.im, z.im} : (pair){0, copysign((double)INFINITY, z.im)};
  double scale = root_scale(z);
  pair s = {z.re * scale, z.im * scale};
  double t = sqrt((fabs(s.re) + magnitude(s)) / 2), other = fabs(s.im) / (2 * t),
         back = 1 / sqrt(scale);
  if (s.re >= 0)
    return (pair){t * back, copysign(other, z.im) * back};
  return (pair){other * back, copysign(t, z.im) * back};
}

static pair reciprocal_root(pair z)
{
  return hl_complex_divide(HL_F64, (pair){1, 0}, square_root(z));
}

static pair sinh_of(pair z)
{
  return (pair){times_sinh(hl_math_cos_f64(z.im), z.re), times_cosh(hl_math_sin_f64(z.im), z.re)};
}

static pair cosh_of(pair z)
{
  return (pair){times_cosh(hl_math_cos_f64(z.im), z.re), times_sinh(hl_math_sin_f64(z.im), z.re)};
}

static pair tanh_of(pair z)
{
  double x = fabs(z.re);
  if (x > 20) {
    double sine = isfinite(z.im) ? hl_math_sin_f64(2 * z.im) : 0;
    return (pair){copysign(1, z.re), 2 * sine * hl_math_exp_f64(-2 * x)};
  }
  double t = hl_math_tan_f64(z.im), s = hl_math_sinh_f64(z.re), beta = 1 + t * t,
         rho = sqrt(1 + s * s), d = 1 + beta * s * s;
  return (pair){beta * rho * s / d, t / d};
}

static pair logistic(pair z)
{
  pair e = exponential((pair){-z.re, -z.im});
  return hl_complex_divide(HL_F64, (pair){1, 0}, (pair){1 + e.re, e.im});
}

/* i z and -i z */
static pair turned(pair z)
{
  return (pair){-z.im, z.re};
}

static pair turned_back(pair z)
{
  return (pair){z.im, -z.re};
}

static pair acos_of(pair z)
{
  pair a = square_root((pair){1 - z.re, -z.im}), b = square_root((pair){1 + z.re, z.im});
  return (pair){2 * hl_math_atan2_f64(a.re, b.re), hl_math_asinh_f64(b.re * a.im - b.im * a.re)};
}

static pair asin_of(pair z)
{
  pair a = square_root((pair){1 - z.re, -z.im}), b = square_root((pair){1 + z.re, z.im});
  return (pair){hl_math_atan2_f64(z.re, a.re * b.re - a.im * b.im),
                hl_math_asinh_f64(a.re * b.im - a.im * b.re)};
}

static pair acosh_of(pair z)
{
  pair a = square_root((pair){z.re - 1, z.im}), b = square_root((pair){z.re + 1, z.im});
  return (pair){hl_math_asinh_f64(a.re * b.re + a.im * b.im), 2 * hl_math_atan2_f64(a.im, b.re)};
}

static pair atanh_of(pair z)
{
  double below = 1 - z.re, square = z.im * z.im;
  double re = hl_math_log1p_f64(4 * z.re / (below * below + square)) / 4;
  return (pair){re, hl_math_atan2_f64(2 * z.im, below * (1 + z.re) - square) / 2};
}

static pair sign_of(pair z)
{
  double m = magnitude(z);
  return m == 0 ? z : (pair){z.re / m, z.im / m};
}

typedef pair function(pair z);

static pair sine(pair z)
{
  return turned_back(sinh_of(turned(z)));
}

static pair cosine(pair z)
{
  return cosh_of(turned(z));
}

static pair tangent(pair z)
{
  return turned_back(tanh_of(turned(z)));
}

static pair asinh_of(pair z)
{
  return turned_back(asin_of(turned(z)));
}

static pair absolute(pair z)
{
  return (pair){magnitude(z), 0};
}

static function *const functions[HL_OP_COUNT] = {
    [HL_OP_ABS] = absolute,
    [HL_OP_SIGN] = sign_of,
    [HL_OP_EXPONENTIAL] = exponential,
    [HL_OP_EXPONENTIAL_MINUS_ONE] = exponential_minus_one,
    [HL_OP_LOG] = logarithm,
    [HL_OP_LOG_PLUS_ONE] = logarithm_plus_one,
    [HL_OP_SQRT] = square_root,
    [HL_OP_RSQRT] = reciprocal_root,
    [HL_OP_TANH] = tanh_of,
    [HL_OP_LOGISTIC] = logistic,
    [HL_OP_SINE] = sine,
    [HL_OP_COSINE] = cosine,
    [HL_OP_TAN] = tangent,
    [HL_OP_SINH] = sinh_of,
    [HL_OP_COSH] = cosh_of,
    [HL_OP_ASIN] = asin_of,
    [HL_OP_ACOS] = acos_of,
    [HL_OP_ASINH] = asinh_of,
    [HL_OP_ACOSH] = acosh_of,
    [HL_OP_ATANH] = atanh_of,
};

hl_pair hl_complex_function(hl_opcode opcode, hl_pair z)
{
  return functions[opcode](z);
}

/* exp(w log z); 0 to the power 0 is 1, to one of positive real part 0. */
hl_pair hl_complex_power(hl_pair z, hl_pair w)
{
  if (w.re == 0 && w.im == 0)
    return (pair){1, 0};
  if (z.re == 0 && z.im == 0 && w.re > 0)
    return (pair){0, 0};
  pair l = logarithm(z);
  double size = w.re * l.re - w.im * l.im, angle = w.re * l.im + w.im * l.re;
  return (pair){times_exp(hl_math_cos_f64(angle), size), times_exp(hl_math_sin_f64(angle), size)};
}

/* -i log((x + i y) / sqrt(x^2 + y^2)) */
hl_pair hl_complex_atan2(hl_pair y, hl_pair x)
{
  pair squares = {x.re * x.re - x.im * x.im + (y.re * y.re - y.im * y.im),
                  2 * (x.re * x.im + y.re * y.im)};
  pair sum = {x.re - y.im, x.im + y.re};
  return turned_back(logarithm(hl_complex_divide(HL_F64, sum, square_root(squares))));
}
