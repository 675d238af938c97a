/* lower_fft_bluestein - Fourier transforms of lengths without small factors, as a convolution of a power of two m >= 2 n - 1:
 * with c_k = w(k^2 / 2n),  X_k = c_k * sum over j of (x_j c_j) conj(c_(k-j)).
 *
 * The transform of the second sequence is the same for all lines: it is made first. */
#include "lower_fft.h"

#include "fft_roots.h"

#include <string.h>

struct hl_bluestein {
  const hl_fft *f; /* whose first factor this is */
  int64_t n, rest, m;
  hl_fft_table chirp;
  hl_fft_end other; /* the transform of the second sequence */
  hl_fft_end a, b;
  hl_fft *forward, *inverse;
};

typedef struct hl_bluestein bluestein;

/* k^2 mod 2n, without overflow: (k+1)^2 - k^2 = 2k + 1. */
static int64_t next_square(int64_t square, int64_t k, int64_t n)
{
  return (square + 2 * k + 1) % (2 * n);
}

/* re and im of c_k in `part`, conjugated or not. */
static void fill_chirp(hl_arena *arena, hl_element_type part, int64_t n, bool is_conjugated, char *re, char *im)
{
  size_t bytes = (size_t)hl_type_bytes(part);
  char *root_re = hl_arena_array(arena, 2 * (size_t)n, bytes), *root_im = hl_arena_array(arena, 2 * (size_t)n, bytes);
  hl_fft_roots(part, 2 * n, root_re, root_im);
  for (int64_t k = 0, square = 0; k < n; square = next_square(square, k, n), k++) {
    memcpy(re + (size_t)k * bytes, root_re + (size_t)square * bytes, bytes);
    memcpy(im + (size_t)k * bytes, root_im + (size_t)square * bytes, bytes);
    if (is_conjugated && part == HL_F64)
      ((double *)im)[k] = 0 - ((double *)im)[k];
    else if (is_conjugated)
      ((float *)im)[k] = 0 - ((float *)im)[k];
  }
}

static hl_fft_table chirp_table(const hl_fft *f, int64_t n)
{
  size_t bytes = (size_t)hl_type_bytes(f->part);
  char *re = hl_arena_array(f->p->arena, (size_t)n, bytes), *im = hl_arena_array(f->p->arena, (size_t)n, bytes);
  fill_chirp(f->p->arena, f->part, n, f->is_inverse, re, im);
  return hl_fft_table_new(f->p, f->part, n, re, im);
}

/* conj(c_j) at j and at m - j, zero between. */
static hl_fft_table other_table(const hl_fft *f, int64_t n, int64_t m)
{
  size_t bytes = (size_t)hl_type_bytes(f->part);
  char *re = hl_arena_array(f->p->arena, (size_t)m, bytes), *im = hl_arena_array(f->p->arena, (size_t)m, bytes);
  fill_chirp(f->p->arena, f->part, n, !f->is_inverse, re, im);
  for (int64_t j = 1; j < n; j++) {
    memcpy(re + (size_t)(m - j) * bytes, re + (size_t)j * bytes, bytes);
    memcpy(im + (size_t)(m - j) * bytes, im + (size_t)j * bytes, bytes);
  }
  return hl_fft_table_new(f->p, f->part, m, re, im);
}

static hl_value load_table(hl_puller *p, const hl_fft_end *end, hl_index position, hl_index i)
{
  (void)i;
  return hl_fft_entry(p, end->context, position);
}

/* Fourier transform of the second sequence, outside the loop over lines. */
static void transform_other(bluestein *b)
{
  hl_puller *p = b->f->p;
  hl_fft_table table = other_table(b->f, b->n, b->m);
  hl_fft_end from = {.load = load_table, .context = &table};
  b->other = hl_fft_field(p, b->f->part, 1, b->m, 1);
  hl_fft_run(hl_fft_new(p, b->f->part, false, 1, b->m, 1), hl_index_constant(0), &from, &b->other);
}

bluestein *hl_bluestein_new(const hl_fft *f, int64_t n, int64_t rest)
{
  bluestein *b = HL_NEW(f->p->arena, bluestein);
  int64_t inner = rest * f->inner;
  *b = (bluestein){.f = f, .n = n, .rest = rest, .m = 1};
  while (b->m < 2 * n - 1)
    b->m *= 2;
  transform_other(b);
  b->chirp = chirp_table(f, n);
  b->a = hl_fft_field(f->p, f->part, f->lines, b->m, inner);
  b->b = hl_fft_field(f->p, f->part, f->lines, b->m, inner);
  b->forward = hl_fft_new(f->p, f->part, false, f->lines, b->m, inner);
  b->inverse = hl_fft_new(f->p, f->part, true, f->lines, b->m, inner);
  return b;
}

/* ---- one set of lines ---- */

/* The index of number i of the transform s: they lie next to each other in a and b. */
static hl_index beside(const bluestein *b, hl_index s, hl_index i)
{
  return hl_index_add(b->f->p, hl_index_scale(b->f->p, s, b->f->inner, 0), i);
}

static int open_all(const bluestein *b, int64_t extent, hl_index *j, hl_index *s, hl_index *i)
{
  int opened = hl_fft_open(b->f->p, extent, j);
  opened += hl_fft_open(b->f->p, b->rest, s);
  return opened + hl_fft_open(b->f->p, b->f->inner, i);
}

static void close_all(const bluestein *b, int opened)
{
  while (opened--)
    hl_close_for(b->f->p);
}

/* a = x c, then zeros. */
static void fill_a(const bluestein *b, const hl_fft_end *from, const hl_fft_end *a)
{
  hl_puller *p = b->f->p;
  hl_index j, s, i;
  int opened = open_all(b, b->n, &j, &s, &i);
  hl_index position = hl_index_add(p, hl_index_scale(p, j, b->rest, 0), s);
  hl_value x = from->load(p, from, position, i);
  a->store(p, a, j, beside(b, s, i), hl_put_complex_multiply(p, x, hl_fft_entry(p, &b->chirp, j)));
  close_all(b, opened);
  opened = open_all(b, b->m - b->n, &j, &s, &i);
  hl_node *zero = hl_put_float(p, b->f->part, 0);
  a->store(p, a, hl_index_scale(p, j, 1, b->n), beside(b, s, i), (hl_value){zero, zero});
  close_all(b, opened);
}

/* X = c y */
static void store_results(const bluestein *b, const hl_fft_end *y, const hl_fft_end *to)
{
  hl_puller *p = b->f->p;
  hl_index k, s, i;
  int opened = open_all(b, b->n, &k, &s, &i);
  hl_value x = hl_put_complex_multiply(p, y->load(p, y, k, beside(b, s, i)), hl_fft_entry(p, &b->chirp, k));
  to->store(p, to, hl_index_add(p, hl_index_scale(p, k, b->rest, 0), s), i, x);
  close_all(b, opened);
}

/* b times the transform of the second sequence. */
typedef struct product {
  const hl_fft_end *b, *other;
} product;

static hl_value load_product(hl_puller *p, const hl_fft_end *end, hl_index position, hl_index i)
{
  const product *both = end->context;
  hl_value x = both->b->load(p, both->b, position, i);
  return hl_put_complex_multiply(p, x, both->other->load(p, both->other, position, hl_index_constant(0)));
}

/* Divided by m. */
typedef struct quotient {
  const hl_fft_end *to;
  hl_node *by;
} quotient;

static void store_quotient(hl_puller *p, const hl_fft_end *end, hl_index position, hl_index i, hl_value x)
{
  const quotient *q = end->context;
  hl_node *re = hl_put_div(p, x.re, q->by);
  q->to->store(p, q->to, position, i, (hl_value){re, hl_put_div(p, x.im, q->by)});
}

void hl_bluestein_run(const bluestein *b, hl_index line, const hl_fft_end *from, const hl_fft_end *to)
{
  hl_fft_end first = b->a, second = b->b;
  hl_fft_field_at(b->f->p, &first, line, b->m);
  hl_fft_field_at(b->f->p, &second, line, b->m);
  fill_a(b, from, &first);
  hl_fft_run(b->forward, line, &first, &second);
  product both = {&second, &b->other};
  quotient divided = {&first, hl_put_float(b->f->p, b->f->part, (double)b->m)};
  hl_fft_end products = {.load = load_product, .context = &both};
  hl_fft_end quotients = {.store = store_quotient, .context = &divided};
  hl_fft_run(b->inverse, line, &products, &quotients);
  store_results(b, &first, to);
}
