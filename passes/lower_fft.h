/* lower_fft.h - one Fourier transform of many lines at once, inside a kernel. */
#ifndef HL_LOWER_FFT_H
#define HL_LOWER_FFT_H

#include "lower_complex.h"

/* Complex numbers seen as [n, inner]: the lines lie along the first dimension. load and store give and take number (position, i). */
typedef struct hl_fft_end hl_fft_end;
struct hl_fft_end {
  hl_value (*load)(hl_puller *p, const hl_fft_end *end, hl_index position, hl_index i);
  void (*store)(hl_puller *p, const hl_fft_end *end, hl_index position, hl_index i, hl_value value);
  const void *context;
  int64_t inner;
  hl_index base;          /* fields: of the first number */
  hl_buffer *re, *im;
};

/* Memory for numbers of [n, inner], re and im apart. With `lines` > 1 there are that many, one for each value of the index that
 * base is set to, or each worker has its own when they are small. */
hl_fft_end hl_fft_field(hl_puller *p, hl_element_type part, int64_t lines, int64_t n, int64_t inner);
/* Sets the base of a field for line number `line`. */
void hl_fft_field_at(hl_puller *p, hl_fft_end *field, hl_index line, int64_t n);

/* A transform of n points, without the division by n; made before the loop over lines is opened. */
enum { HL_FFT_MOST_FACTORS = 64 };
typedef struct hl_fft {
  hl_puller *p;
  hl_element_type part;
  bool is_inverse;
  int64_t lines, n, inner;
  int factor_count;
  int64_t factors[HL_FFT_MOST_FACTORS]; /* the innermost first; that may be a length that has no factors */
  hl_fft_end temps[2];
  struct hl_bluestein *bluestein; /* for such a length, or NULL */
} hl_fft;

hl_fft *hl_fft_new(hl_puller *p, hl_element_type part, bool is_inverse, int64_t lines, int64_t n, int64_t inner);
/* In the loop over lines, if there is one: `line` is its index. from and to may be the same memory. */
void hl_fft_run(const hl_fft *f, hl_index line, const hl_fft_end *from, const hl_fft_end *to);

/* The transforms of p points, in place. */
void hl_fft_butterfly(hl_puller *p, hl_element_type part, bool is_inverse, int64_t points, hl_value *x);

/* A constant array of complex numbers; re and im are kept. */
typedef struct hl_fft_table {
  hl_buffer *re, *im;
} hl_fft_table;
hl_fft_table hl_fft_table_new(hl_puller *p, hl_element_type part, int64_t count, void *re, void *im);
hl_value hl_fft_entry(hl_puller *p, const hl_fft_table *table, hl_index at);

/* Bluestein's convolution for lengths without small factors (lower_fft_bluestein.c). `rest` transforms lie next to each other: the
 * numbers of one are `rest` apart. */
struct hl_bluestein *hl_bluestein_new(const hl_fft *f, int64_t n, int64_t rest);
void hl_bluestein_run(const struct hl_bluestein *b, hl_index line, const hl_fft_end *from, const hl_fft_end *to);

/* A loop unless the extent is 1; hl_fft_close ends as many as were opened since. */
bool hl_fft_open(hl_puller *p, int64_t extent, hl_index *index);

#endif
