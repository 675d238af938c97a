/* decimal - the double nearest to a decimal number, ties to even; independent of locale and
 * rounding mode.
 *
 * A number is m * 10^e. Where m fits 64 bits and |e| <= 27, m * 5^|e| or m / 5^|e| is found exactly
 * in 128 bits, with a sticky bit for the remainder, and rounded once. The rest goes through long
 * arithmetic, which is slow and rare.
 */
#include "parser.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { EXACT_POWER = 27, SHORT_DIGITS = 19, LONG_DIGITS = 800, LIMBS = 256 };

/* The digits of a number without leading zeros, and where the point stands. */
typedef struct decimal {
  const char *digits; /* first one that is not 0; a point may stand between */
  const char *end;    /* of digits and point */
  int64_t count;      /* significant digits */
  int64_t exponent;   /* of ten, behind the last digit */
} decimal;

static double double_of_bits(uint64_t bits)
{
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static int bit_length(wide value)
{
  uint64_t high = (uint64_t)(value >> 64), low = (uint64_t)value;
  return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* value * 2^exponent, a bit more if sticky; value is not 0. */
static double round_once(wide value, int64_t exponent, bool is_sticky)
{
  int bits = bit_length(value);
  int64_t top = bits - 1 + exponent; /* of the leading bit */
  if (top > 1023)
    return double_of_bits(UINT64_C(0x7ff) << 52);
  if (top < -1075)
    return 0;
  bool is_normal = top >= -1022;
  int kept = is_normal ? 53 : 53 - (int)(-1022 - top);
  int dropped = bits - kept;
  uint64_t mantissa;
  if (dropped <= 0) {
    mantissa = (uint64_t)value << -dropped;
  } else {
    wide half = (wide)1 << (dropped - 1), rest = value & (half * 2 - 1);
    mantissa = dropped < 128 ? (uint64_t)(value >> dropped) : 0;
    mantissa += rest > half || (rest == half && (is_sticky || mantissa % 2));
  }
  /* The hidden bit, and a carry out of the mantissa, add to the exponent. */
  return double_of_bits(is_normal ? ((uint64_t)(top + 1022) << 52) + mantissa : mantissa);
}

static const uint64_t powers_of_five[EXACT_POWER + 1] = {
    UINT64_C(1),
    UINT64_C(5),
    UINT64_C(25),
    UINT64_C(125),
    UINT64_C(625),
    UINT64_C(3125),
    UINT64_C(15625),
    UINT64_C(78125),
    UINT64_C(390625),
    UINT64_C(1953125),
    UINT64_C(9765625),
    UINT64_C(48828125),
    UINT64_C(244140625),
    UINT64_C(1220703125),
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125),
};

static double short_decimal(uint64_t mantissa, int64_t exponent)
{
  if (exponent >= 0)
    return round_once((wide)mantissa * powers_of_five[exponent], exponent, false);
  uint64_t divisor = powers_of_five[-exponent];
  int shift = __builtin_clzll(mantissa);
  wide dividend = (wide)(mantissa << shift) << 64;
  wide quotient = dividend / divisor;
  return round_once(quotient, exponent - 64 - shift, quotient * divisor != dividend);
}

/* --- long arithmetic: little-endian limbs of 32 bits --- */

typedef struct big {
  uint32_t limbs[LIMBS];
  int count;
} big;

static void multiply_add(big *n, uint32_t factor, uint32_t add)
{
  uint64_t carry = add;
  for (int i = 0; i < n->count; i++) {
    carry += (uint64_t)n->limbs[i] * factor;
    n->limbs[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry)
    n->limbs[n->count++] = (uint32_t)carry;
}

/* Returns the remainder. */
static uint32_t divide(big *n, uint32_t divisor)
{
  uint64_t rest = 0;
  for (int i = n->count - 1; i >= 0; i--) {
    rest = rest << 32 | n->limbs[i];
    n->limbs[i] = (uint32_t)(rest / divisor);
    rest %= divisor;
  }
  while (n->count && !n->limbs[n->count - 1])
    n->count--;
  return (uint32_t)rest;
}

static void shift_limbs(big *n, int by)
{
  memmove(n->limbs + by, n->limbs, (size_t)n->count * sizeof *n->limbs);
  memset(n->limbs, 0, (size_t)by * sizeof *n->limbs);
  n->count += by;
}

static uint32_t power_of_ten(int64_t exponent)
{
  uint32_t power = 1;
  while (exponent-- > 0)
    power *= 10;
  return power;
}

/* The first LONG_DIGITS digits; *sticky: others than 0 follow. */
static void read_long(const decimal *d, big *n, bool *is_sticky)
{
  int64_t used = 0;
  *is_sticky = false;
  for (const char *c = d->digits; c < d->end; c++) {
    if (*c == '.')
      continue;
    if (used++ < LONG_DIGITS)
      multiply_add(n, 10, (uint32_t)(*c - '0'));
    else
      *is_sticky = *is_sticky || *c != '0';
  }
}

/* n * 10^exponent; returns the power of two that belongs to it. */
static int64_t scale_up(big *n, int64_t exponent)
{
  for (; exponent > 0; exponent -= 9)
    multiply_add(n, power_of_ten(exponent < 9 ? exponent : 9), 0);
  return 0;
}

/* n / 10^exponent. 10^k has less than 3.33 k bits: enough zeros below for a quotient of more than
 * 96 bits. */
static int64_t scale_down(big *n, int64_t exponent, bool *is_sticky)
{
  int need = (int)(exponent * 10 / 3 / 32) + 4 - n->count;
  need = need > 0 ? need : 0;
  shift_limbs(n, need);
  for (; exponent > 0; exponent -= 9)
    *is_sticky |= divide(n, power_of_ten(exponent < 9 ? exponent : 9)) != 0;
  return -32 * (int64_t)need;
}

static double long_decimal(const decimal *d)
{
  big n = {.count = 0};
  bool is_sticky;
  read_long(d, &n, &is_sticky);
  int64_t exponent = d->exponent + (d->count > LONG_DIGITS ? d->count - LONG_DIGITS : 0);
  int64_t scale = exponent >= 0 ? scale_up(&n, exponent) : scale_down(&n, -exponent, &is_sticky);
  wide top = 0;
  int low = n.count > 4 ? n.count - 4 : 0;
  for (int i = n.count - 1; i >= low; i--)
    top = top << 32 | n.limbs[i];
  for (int i = 0; i < low; i++)
    is_sticky = is_sticky || n.limbs[i];
  return round_once(top, scale + 32 * (int64_t)low, is_sticky);
}

/* --- text --- */

static bool is_digit(const char *at, const char *limit)
{
  return at < limit && *at >= '0' && *at <= '9';
}

/* Digits with at most one point among them; returns their value as far as it fits 64 bits. */
static uint64_t scan_digits(const char *text, const char *limit, decimal *d)
{
  uint64_t mantissa = 0;
  const char *point = NULL, *at = text;
  *d = (decimal){.digits = NULL};
  for (; is_digit(at, limit) || (at < limit && *at == '.' && !point); at++) {
    if (*at == '.') {
      point = at;
      continue;
    }
    if (!d->digits && *at != '0')
      d->digits = at;
    if (d->digits && d->count++ < SHORT_DIGITS)
      mantissa = mantissa * 10 + (uint64_t)(*at - '0');
  }
  d->end = at;
  d->exponent = point ? -(at - point - 1) : 0;
  return mantissa;
}

/* e+12; leaves *end where no digit follows. Huge exponents are all alike. */
static int64_t scan_exponent(const char *at, const char *limit, const char **end)
{
  const char *digits = at + 1;
  if (at >= limit || (*at != 'e' && *at != 'E'))
    return 0;
  bool is_negative = digits < limit && *digits == '-';
  digits += digits < limit && (*digits == '-' || *digits == '+');
  if (!is_digit(digits, limit))
    return 0;
  int64_t value = 0;
  for (; is_digit(digits, limit); digits++)
    if (value < INT64_C(1) << 40)
      value = value * 10 + (*digits - '0');
  *end = digits;
  return is_negative ? -value : value;
}

double hl_read_decimal(const char *text, const char *limit, const char **end)
{
  decimal d;
  uint64_t mantissa = scan_digits(text, limit, &d);
  *end = d.end;
  d.exponent += scan_exponent(d.end, limit, end);
  if (!mantissa)
    return 0;
  if (d.count <= SHORT_DIGITS && d.exponent >= -EXACT_POWER && d.exponent <= EXACT_POWER)
    return short_decimal(mantissa, d.exponent);
  if (d.count + d.exponent > 310)
    return double_of_bits(UINT64_C(0x7ff) << 52);
  if (d.count + d.exponent < -345)
    return 0;
  return long_decimal(&d);
}
