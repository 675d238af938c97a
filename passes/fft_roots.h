/* fft_roots - the factors of Fourier transforms, exactly. */
#ifndef HL_FFT_ROOTS_H
#define HL_FFT_ROOTS_H

#include "../ir/literal.h"

/* Parts of exp(-2 pi i k / n) for k = 0 .. n-1, each correctly rounded to f32 or f64 (`part`); zeros are positive. re and im have
 * room for n values of that type. */
void hl_fft_roots(hl_element_type part, int64_t n, void *re, void *im);

#endif
