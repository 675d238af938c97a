/* values.c - single values of HLO's element types: their forms in memory, in .npy files, in text.
 *
 * Floats narrower than f32 go through double, which holds each of their values exactly; rounding
 * back is done on the bits of the double. What the highest exponent means, by `specials`:
 *   'i'  infinities and NaNs, as in IEEE 754
 *   'n'  a NaN where all bits are ones, else numbers (fn)
 *   'z'  numbers; the pattern of -0 is the only NaN (fnuz)
 *   'f'  numbers; there is no NaN (f4, f6)
 *   'e'  f8e8m0fnu: no sign, no zero, powers of two alone; all ones is NaN
 */
#include "values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hl_value_type types[] = {
    {"pred", 'p', 1, 1, 0, 0, 0, 0},
    {"s1", 's', 1, 1, 0, 0, 0, 0},
    {"s2", 's', 2, 1, 0, 0, 0, 0},
    {"s4", 's', 4, 1, 0, 0, 0, 0},
    {"s8", 's', 8, 1, 0, 0, 0, 0},
    {"s16", 's', 16, 2, 0, 0, 0, 0},
    {"s32", 's', 32, 4, 0, 0, 0, 0},
    {"s64", 's', 64, 8, 0, 0, 0, 0},
    {"u1", 'u', 1, 1, 0, 0, 0, 0},
    {"u2", 'u', 2, 1, 0, 0, 0, 0},
    {"u4", 'u', 4, 1, 0, 0, 0, 0},
    {"u8", 'u', 8, 1, 0, 0, 0, 0},
    {"u16", 'u', 16, 2, 0, 0, 0, 0},
    {"u32", 'u', 32, 4, 0, 0, 0, 0},
    {"u64", 'u', 64, 8, 0, 0, 0, 0},
    {"f4e2m1fn", 'f', 4, 1, 2, 1, 1, 'f'},
    {"f6e2m3fn", 'f', 6, 1, 2, 3, 1, 'f'},
    {"f6e3m2fn", 'f', 6, 1, 3, 2, 3, 'f'},
    {"f8e3m4", 'f', 8, 1, 3, 4, 3, 'i'},
    {"f8e4m3", 'f', 8, 1, 4, 3, 7, 'i'},
    {"f8e4m3b11fnuz", 'f', 8, 1, 4, 3, 11, 'z'},
    {"f8e4m3fn", 'f', 8, 1, 4, 3, 7, 'n'},
    {"f8e4m3fnuz", 'f', 8, 1, 4, 3, 8, 'z'},
    {"f8e5m2", 'f', 8, 1, 5, 2, 15, 'i'},
    {"f8e5m2fnuz", 'f', 8, 1, 5, 2, 16, 'z'},
    {"f8e8m0fnu", 'f', 8, 1, 8, 0, 127, 'e'},
    {"f16", 'f', 16, 2, 5, 10, 15, 'i'},
    {"bf16", 'f', 16, 2, 8, 7, 127, 'i'},
    {"f32", 'f', 32, 4, 0, 0, 0, 0},
    {"f64", 'f', 64, 8, 0, 0, 0, 0},
    {"c64", 'c', 32, 8, 0, 0, 0, 0},
    {"c128", 'c', 64, 16, 0, 0, 0, 0},
};

const hl_value_type *hl_value_type_find(const char *name)
{
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].name, name) == 0)
      return &types[i];
  return NULL;
}

/* ---- .npy ---- */

/* Floats that NumPy has no type for. */
static bool is_stored_as_bits(const hl_value_type *t)
{
  return t->kind == 'f' && (t->bits <= 8 || strcmp(t->name, "bf16") == 0);
}

void hl_value_set_npy_type(const hl_value_type *t, hl_npy *a)
{
  a->item_bytes = t->item_bytes;
  a->kind = t->kind == 'p' ? 'b' : t->kind == 's' ? 'i' : is_stored_as_bits(t) ? 'u' : t->kind;
}

bool hl_value_accepts(const hl_value_type *t, const hl_npy *a)
{
  hl_npy usual = {0};
  hl_value_set_npy_type(t, &usual);
  if (a->item_bytes != usual.item_bytes)
    return false;
  return a->kind == usual.kind || (t->kind == 'p' && a->kind == 'u') ||
         (is_stored_as_bits(t) && a->kind == 'V');
}

int64_t hl_value_find_unfit(const hl_value_type *t, const void *items, size_t count)
{
  if (t->bits >= 8 || t->kind == 'p')
    return -1;
  const unsigned char *bytes = items;
  unsigned room = 1u << t->bits, shift = t->kind == 's' ? room / 2 : 0;
  for (size_t i = 0; i < count; i++)
    if (((bytes[i] + shift) & 0xff) >= room)
      return (int64_t)i;
  return -1;
}

/* ---- narrow floats ---- */

static double from_bits(uint64_t bits)
{
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t to_bits(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static const uint64_t double_infinity = UINT64_C(0x7ff0000000000000);
static const uint64_t double_nan = UINT64_C(0x7ff8000000000000);

/* 2^exponent, which must be that of a normal double. */
static double power_of_two(int exponent)
{
  return from_bits((uint64_t)(exponent + 1023) << 52);
}

static unsigned sign_mask(const hl_value_type *t)
{
  return t->specials == 'e' ? 0 : 1u << (t->bits - 1);
}

/* The pattern of +inf, or of the smallest NaN where there is no infinity; the patterns of finite
 * values lie below. One more than all patterns where everything is finite. */
static unsigned first_special(const hl_value_type *t)
{
  unsigned all = t->specials == 'e' ? 0xff : sign_mask(t) - 1;
  if (t->specials == 'i')
    return all & ~((1u << t->mantissa_bits) - 1);
  return t->specials == 'n' || t->specials == 'e' ? all : all + 1;
}

static bool is_nan(const hl_value_type *t, unsigned pattern)
{
  unsigned magnitude = pattern & ~sign_mask(t);
  if (t->specials == 'z')
    return pattern == sign_mask(t);
  return t->specials == 'i' ? magnitude > first_special(t) : magnitude >= first_special(t);
}

static double decode(const hl_value_type *t, unsigned pattern)
{
  unsigned magnitude = pattern & ~sign_mask(t);
  uint64_t sign = pattern & sign_mask(t) ? UINT64_C(1) << 63 : 0;
  if (is_nan(t, pattern))
    return from_bits(double_nan | (t->specials == 'z' ? 0 : sign));
  if (t->specials == 'i' && magnitude == first_special(t))
    return from_bits(double_infinity | sign);
  if (t->specials == 'e')
    return power_of_two((int)pattern - t->bias);
  int exponent = (int)(magnitude >> t->mantissa_bits);
  unsigned fraction = magnitude & ((1u << t->mantissa_bits) - 1);
  if (exponent > 0)
    fraction |= 1u << t->mantissa_bits;
  else
    exponent = 1;
  double value = fraction * power_of_two(exponent - t->bias - t->mantissa_bits);
  return from_bits(to_bits(value) | sign);
}

static unsigned nan_pattern(const hl_value_type *t, unsigned sign)
{
  if (t->specials == 'i')
    return sign | first_special(t) | 1u << (t->mantissa_bits - 1);
  if (t->specials == 'f')
    return sign_mask(t); /* no NaN: -0, as XLA has it */
  return t->specials == 'z' ? sign_mask(t) : sign | first_special(t);
}

/* What a finite value too large rounds to. */
static unsigned overflow_pattern(const hl_value_type *t, unsigned sign)
{
  return t->specials == 'i'   ? sign | first_special(t)
         : t->specials == 'f' ? sign | (first_special(t) - 1)
                              : nan_pattern(t, sign);
}

/* significand · 2^-shift, to nearest even. */
static uint64_t round_shift(uint64_t significand, int shift)
{
  if (shift > 60)
    return 0;
  uint64_t kept = significand >> shift, rest = significand & ((UINT64_C(1) << shift) - 1);
  uint64_t half = (UINT64_C(1) << shift) / 2;
  return kept + (rest > half || (rest == half && (kept & 1)));
}

/* The pattern of a finite magnitude, before overflow is looked at: patterns of one sign are ordered
 * as their values, so that a carry of the rounding runs into the exponent by itself. */
static uint64_t round_magnitude(const hl_value_type *t, uint64_t bits)
{
  int exponent = (int)(bits >> 52) - 1023;
  uint64_t significand = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
  if (t->specials == 'e') { /* exponents alone; ties go up */
    int64_t pattern = exponent + t->bias + (significand >= UINT64_C(3) << 51);
    return pattern < 0 ? 0 : (uint64_t)pattern;
  }
  int least = 1 - t->bias; /* the exponent of subnormals */
  int shift = 52 - t->mantissa_bits + (exponent < least ? least - exponent : 0);
  uint64_t above = exponent < least ? 0 : (uint64_t)(exponent - least);
  return (above << t->mantissa_bits) + round_shift(significand, shift);
}

static unsigned encode(const hl_value_type *t, double value)
{
  uint64_t bits = to_bits(value), magnitude = bits & ~(UINT64_C(1) << 63);
  unsigned sign = bits >> 63 ? sign_mask(t) : 0;
  if (magnitude > double_infinity)
    return nan_pattern(t, sign);
  if (t->specials == 'e' && (bits >> 63 || magnitude == 0))
    return nan_pattern(t, 0);
  if (magnitude == double_infinity)
    return overflow_pattern(t, sign);
  uint64_t pattern = magnitude == 0 ? 0 : round_magnitude(t, magnitude);
  if (pattern >= first_special(t))
    return overflow_pattern(t, sign);
  return pattern == 0 && t->specials == 'z' ? 0 : sign | (unsigned)pattern;
}

/* ---- items ---- */

static bool is_native(const hl_value_type *t)
{
  return t->bits >= 32;
}

/* Part 1 is the imaginary one. */
static double load_float(const hl_value_type *t, const void *item, int part)
{
  const char *at = (const char *)item + (t->kind == 'c' ? part * t->item_bytes / 2 : 0);
  unsigned pattern = 0;
  float single;
  double wide;
  if (t->bits == 64) {
    memcpy(&wide, at, sizeof wide);
    return wide;
  }
  if (t->bits == 32) {
    memcpy(&single, at, sizeof single);
    return (double)single;
  }
  memcpy(&pattern, at, (size_t)t->item_bytes);
  return decode(t, pattern);
}

/* Rounds to the type. */
static void store_float(const hl_value_type *t, void *item, int part, double value)
{
  char *at = (char *)item + (t->kind == 'c' ? part * t->item_bytes / 2 : 0);
  float single = (float)value;
  unsigned pattern = is_native(t) ? 0 : encode(t, value);
  if (t->bits == 64)
    memcpy(at, &value, sizeof value);
  else if (t->bits == 32)
    memcpy(at, &single, sizeof single);
  else
    memcpy(at, &pattern, (size_t)t->item_bytes);
}

static int64_t load_signed(const hl_value_type *t, const void *item)
{
  uint64_t bits = 0;
  memcpy(&bits, item, (size_t)t->item_bytes);
  int unused = 64 - 8 * t->item_bytes;
  return (int64_t)(bits << unused) >> unused;
}

static uint64_t load_unsigned(const hl_value_type *t, const void *item)
{
  uint64_t bits = 0;
  memcpy(&bits, item, (size_t)t->item_bytes);
  return bits;
}

/* ---- random ---- */

static uint64_t split_mix(uint64_t seed, uint64_t i)
{
  uint64_t z = seed + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

/* In [-1, 1), a multiple of 2^-23: exact in f32 too. A type without sign gets the magnitude. */
static double random_float(const hl_value_type *t, uint64_t seed, uint64_t i)
{
  double value = -1.0 + (double)(split_mix(seed, i) >> 40) * (2.0 / 16777216.0);
  return t->specials == 'e' && value < 0 ? -value : value;
}

static uint64_t random_limit(const hl_value_type *t)
{
  int value_bits = t->kind == 's' ? t->bits - 1 : t->bits;
  return value_bits >= 4 ? 10 : UINT64_C(1) << value_bits;
}

void hl_value_fill_random(const hl_value_type *t, uint64_t seed, void *items, size_t count)
{
  char *at = items;
  for (size_t i = 0; i < count; i++, at += t->item_bytes) {
    if (t->kind == 'c') {
      store_float(t, at, 0, random_float(t, seed, 2 * i));
      store_float(t, at, 1, random_float(t, seed, 2 * i + 1));
    } else if (t->kind == 'f') {
      store_float(t, at, 0, random_float(t, seed, i));
    } else {
      uint64_t value = ((split_mix(seed, i) >> 32) * random_limit(t)) >> 32;
      memcpy(at, &value, (size_t)t->item_bytes);
    }
  }
}

/* ---- text ---- */

/* The value that `text` rounds to in the type, as a double. */
static double read_back(const hl_value_type *t, const char *text)
{
  if (t->bits == 32)
    return (double)strtof(text, NULL);
  double value = strtod(text, NULL);
  return is_native(t) ? value : decode(t, encode(t, value));
}

/* As few significant digits as read back right; positional where people read that best, unless it
 * would show digits that are not the shortest of a large number. */
static size_t format_float(const hl_value_type *t, double value, char *out)
{
  size_t room = HL_VALUE_TEXT / 2;
  if (value != value || value - value != 0) {
    const char *sign = to_bits(value) >> 63 ? "-" : "";
    return (size_t)snprintf(out, room, "%s%s", sign, value != value ? "nan" : "inf");
  }
  int digits = 0;
  do
    snprintf(out, room, "%.*e", digits++, value);
  while (digits < 17 && to_bits(read_back(t, out)) != to_bits(value));
  int exponent = atoi(strchr(out, 'e') + 1), decimals = digits - 1 - exponent;
  bool is_exact = decimals >= 0 || exponent < 7 || to_bits(strtod(out, NULL)) == to_bits(value);
  if (exponent < -4 || exponent > 15 || !is_exact)
    return strlen(out);
  return (size_t)snprintf(out, room, "%.*f", decimals > 0 ? decimals : 0, value);
}

size_t hl_value_format(const hl_value_type *t, const void *item, char *out)
{
  if (t->kind == 'p')
    return (size_t)snprintf(out, HL_VALUE_TEXT, load_unsigned(t, item) ? "true" : "false");
  if (t->kind == 's')
    return (size_t)snprintf(out, HL_VALUE_TEXT, "%lld", (long long)load_signed(t, item));
  if (t->kind == 'u')
    return (size_t)snprintf(out, HL_VALUE_TEXT, "%llu", (unsigned long long)load_unsigned(t, item));
  if (t->kind == 'f')
    return format_float(t, load_float(t, item, 0), out);
  char real[HL_VALUE_TEXT / 2], imaginary[HL_VALUE_TEXT / 2];
  format_float(t, load_float(t, item, 0), real);
  format_float(t, load_float(t, item, 1), imaginary);
  return (size_t)snprintf(out, HL_VALUE_TEXT, "(%.36s, %.36s)", real, imaginary);
}

static void skip_blanks(const char **text)
{
  *text += strspn(*text, " \t\r\n");
}

static bool take(const char **text, const char *word)
{
  size_t n = strlen(word);
  skip_blanks(text);
  if (strncmp(*text, word, n) != 0)
    return false;
  *text += n;
  return true;
}

static bool parse_pred(const char **text, void *item)
{
  unsigned char value = take(text, "true") || take(text, "1");
  if (!value && !take(text, "false") && !take(text, "0"))
    return false;
  memcpy(item, &value, 1);
  return true;
}

static bool parse_signed(const hl_value_type *t, const char **text, void *item)
{
  char *end = NULL;
  errno = 0;
  int64_t value = strtoll(*text, &end, 10), most = (int64_t)((UINT64_C(1) << (t->bits - 1)) - 1);
  if (end == *text || errno != 0 || value > most || value < -most - 1)
    return false;
  memcpy(item, &value, (size_t)t->item_bytes);
  *text = end;
  return true;
}

static bool parse_unsigned(const hl_value_type *t, const char **text, void *item)
{
  char *end = NULL;
  errno = 0;
  uint64_t value = strtoull(*text, &end, 10);
  if (end == *text || errno != 0 || **text == '-' || (t->bits < 64 && value >> t->bits))
    return false;
  memcpy(item, &value, (size_t)t->item_bytes);
  *text = end;
  return true;
}

static bool parse_float(const hl_value_type *t, const char **text, void *item, int part)
{
  char *end = NULL;
  double value = t->bits == 32 ? (double)strtof(*text, &end) : strtod(*text, &end);
  if (end == *text)
    return false;
  store_float(t, item, part, value);
  *text = end;
  return true;
}

bool hl_value_parse(const hl_value_type *t, const char **text, void *item)
{
  skip_blanks(text);
  switch (t->kind) {
  case 'p':
    return parse_pred(text, item);
  case 's':
    return parse_signed(t, text, item);
  case 'u':
    return parse_unsigned(t, text, item);
  case 'f':
    return parse_float(t, text, item, 0);
  default:
    return take(text, "(") && parse_float(t, text, item, 0) && take(text, ",") &&
           parse_float(t, text, item, 1) && take(text, ")");
  }
}
