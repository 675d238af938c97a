/* eval_contract - the sums of products of dot and convolution (numerics rules 8 and 9). */
#include "eval_contract.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1024 };

hl_element_type hl_contraction_type(const hl_instruction *ins)
{
  hl_element_type types[3] = {ins->operands[0]->shape->element_type,
                              ins->operands[1]->shape->element_type, ins->shape->element_type};
  bool is_double = false;
  size_t length;
  const hl_attr *algorithm = hl_attr_find(ins, HL_ATTR_ALGORITHM);
  if (types[2] == HL_PRED) /* how many are true */
    return HL_S64;
  if (hl_is_integral(types[2]))
    return types[2];
  for (int i = 0; i < 3; i++)
    is_double |= hl_computes_in_double(types[i]);
  if (hl_is_complex(types[2]))
    return is_double ? HL_C128 : HL_C64;
  if (algorithm) {
    const char *word = hl_attr_word(HL_ATTR_ALGORITHM, algorithm->i, &length);
    is_double |= length == strlen("dot_f64_f64_f64") && !memcmp(word, "dot_f64_f64_f64", length);
  }
  return is_double ? HL_F64 : HL_F32;
}

hl_term hl_term_of(hl_element_type accumulator, hl_element_type type, hl_scalar value)
{
  hl_scalar wide = hl_scalar_convert(accumulator, type, value);
  hl_element_type part = hl_component_type(accumulator);
  if (part == HL_F32)
    return (hl_term){
        .f32 = {hl_scalar_float(part, wide), hl_scalar_float(part, hl_scalar_part(wide.im))}};
  if (part == HL_F64)
    return (hl_term){
        .f64 = {hl_scalar_double(part, wide), hl_scalar_double(part, hl_scalar_part(wide.im))}};
  return (hl_term){.integer = (uint64_t)hl_scalar_int(accumulator, wide)};
}

static bool is_skipped(const bool *skip, int64_t k)
{
  return skip && skip[k];
}

static hl_scalar contract_int(hl_element_type type, const hl_term *l, const hl_term *r,
                              const bool *skip, int64_t n)
{
  uint64_t total = 0;
  for (int64_t k = 0; k < n; k++)
    if (!is_skipped(skip, k))
      total += l[k].integer * r[k].integer;
  return hl_scalar_of_int(type, (int64_t)total);
}

static int64_t block_end(int64_t begin, int64_t n)
{
  return n - begin < BLOCK ? n : begin + BLOCK;
}

static hl_scalar contract_f32(const hl_term *l, const hl_term *r, const bool *skip, int64_t n)
{
  float total = 0;
  for (int64_t begin = 0; begin < n; begin += BLOCK) {
    float s = 0;
    for (int64_t k = begin; k < block_end(begin, n); k++)
      if (!is_skipped(skip, k))
        s = fmaf(l[k].f32[0], r[k].f32[0], s);
    total = total + s;
  }
  return hl_scalar_of_float(HL_F32, total);
}

static hl_scalar contract_f64(const hl_term *l, const hl_term *r, const bool *skip, int64_t n)
{
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += BLOCK) {
    double s = 0;
    for (int64_t k = begin; k < block_end(begin, n); k++)
      if (!is_skipped(skip, k))
        s = fma(l[k].f64[0], r[k].f64[0], s);
    total = total + s;
  }
  return hl_scalar_of_double(HL_F64, total);
}

static hl_scalar contract_c64(const hl_term *l, const hl_term *r, const bool *skip, int64_t n)
{
  float total_re = 0, total_im = 0;
  for (int64_t begin = 0; begin < n; begin += BLOCK) {
    float re = 0, im = 0;
    for (int64_t k = begin; k < block_end(begin, n); k++) {
      if (is_skipped(skip, k))
        continue;
      re = fmaf(l[k].f32[0], r[k].f32[0], re);
      re = fmaf(-l[k].f32[1], r[k].f32[1], re);
      im = fmaf(l[k].f32[0], r[k].f32[1], im);
      im = fmaf(l[k].f32[1], r[k].f32[0], im);
    }
    total_re = total_re + re;
    total_im = total_im + im;
  }
  return (hl_scalar){hl_scalar_of_float(HL_F32, total_re).re,
                     hl_scalar_of_float(HL_F32, total_im).re};
}

static hl_scalar contract_c128(const hl_term *l, const hl_term *r, const bool *skip, int64_t n)
{
  double total_re = 0, total_im = 0;
  for (int64_t begin = 0; begin < n; begin += BLOCK) {
    double re = 0, im = 0;
    for (int64_t k = begin; k < block_end(begin, n); k++) {
      if (is_skipped(skip, k))
        continue;
      re = fma(l[k].f64[0], r[k].f64[0], re);
      re = fma(-l[k].f64[1], r[k].f64[1], re);
      im = fma(l[k].f64[0], r[k].f64[1], im);
      im = fma(l[k].f64[1], r[k].f64[0], im);
    }
    total_re = total_re + re;
    total_im = total_im + im;
  }
  return (hl_scalar){hl_scalar_of_double(HL_F64, total_re).re,
                     hl_scalar_of_double(HL_F64, total_im).re};
}

hl_scalar hl_contract(hl_element_type accumulator, const hl_term *l, const hl_term *r,
                      const bool *skip, int64_t n)
{
  switch (accumulator) {
  case HL_F32:
    return contract_f32(l, r, skip, n);
  case HL_F64:
    return contract_f64(l, r, skip, n);
  case HL_C64:
    return contract_c64(l, r, skip, n);
  case HL_C128:
    return contract_c128(l, r, skip, n);
  default:
    return contract_int(accumulator, l, r, skip, n);
  }
}
