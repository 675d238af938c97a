/* lower_fft_stages - a Fourier transform of n points as one pass over them a factor of n (numerics.md rule 14; Stockham's order).
 *
 * After the passes of some factors with product l the transforms of the n / l subsequences x[s], x[s + n/l], ... are there, A_s[k] for
 * k < l. The next factor p joins p of them: with rest = n / (l p),
 *   A'_s[k + q l] = sum over r of A_(s + rest r)[k] * w(r k / (l p)) * w(r q / p),   s < rest, q < p
 * Number (s, k) lies at k * rest + s as long as many s are next to each other; there the loop over s is the inner one, which walks
 * memory at stride 1 and shares the factors. Later it lies at s * l + k, and the loop over k is the inner one.
 */
#include "lower_fft.h"

#include "fft_roots.h"

#include <string.h>

enum { ENOUGH_LANES = 16, MOST_PER_WORKER = 1 << 15, LARGEST_FACTOR = 31 };

/* ---- memory ---- */

static hl_index place_in(hl_puller *p, const hl_fft_end *field, hl_index position, hl_index i)
{
  hl_index line = hl_index_add(p, hl_index_scale(p, position, field->inner, 0), i);
  return hl_index_add(p, field->base, line);
}

static hl_value load_field(hl_puller *p, const hl_fft_end *field, hl_index position, hl_index i)
{
  hl_index at = place_in(p, field, position, i);
  hl_node *re = hl_put_load_here(p, field->re, at).re;
  return (hl_value){re, hl_put_load_here(p, field->im, at).re};
}

static void store_field(hl_puller *p, const hl_fft_end *field, hl_index position, hl_index i, hl_value value)
{
  hl_index at = place_in(p, field, position, i);
  hl_put_store(p, field->re, at, (hl_value){value.re, NULL});
  hl_put_store(p, field->im, at, (hl_value){value.im, NULL});
}

hl_fft_end hl_fft_field(hl_puller *p, hl_element_type part, int64_t lines, int64_t n, int64_t inner)
{
  bool is_per_worker = lines > 1 && n * inner <= MOST_PER_WORKER;
  int64_t count = is_per_worker ? n * inner : lines * n * inner;
  hl_fft_end field = {.load = load_field, .store = store_field, .inner = inner, .base = hl_index_constant(0)};
  field.re = hl_new_work_buffer(p, "re", part, count, is_per_worker);
  field.im = hl_new_work_buffer(p, "im", part, count, is_per_worker);
  return field;
}

void hl_fft_field_at(hl_puller *p, hl_fft_end *field, hl_index line, int64_t n)
{
  if (!field->re->is_per_worker)
    field->base = hl_index_scale(p, line, n * field->inner, 0);
}

bool hl_fft_open(hl_puller *p, int64_t extent, hl_index *index)
{
  *index = hl_index_constant(0);
  if (extent == 1)
    return false;
  hl_open_for(p, extent, index);
  return true;
}

static hl_buffer *new_constant(hl_puller *p, hl_element_type part, int64_t count, const void *data)
{
  hl_buffer *buffer = hl_new_work_buffer(p, "root", part, count, false);
  buffer->kind = HL_BUFFER_CONSTANT;
  buffer->data = data;
  return buffer;
}

hl_fft_table hl_fft_table_new(hl_puller *p, hl_element_type part, int64_t count, void *re, void *im)
{
  hl_fft_table table = {new_constant(p, part, count, re), NULL};
  table.im = new_constant(p, part, count, im);
  return table;
}

hl_value hl_fft_entry(hl_puller *p, const hl_fft_table *table, hl_index at)
{
  hl_node *re = hl_put_load(p, table->re, at).re;
  return (hl_value){re, hl_put_load(p, table->im, at).re};
}

/* ---- the passes ---- */

typedef struct stage {
  const hl_fft *f;
  int64_t points, done, rest; /* p, l, n / (l p) */
  bool reads_lines, writes_lines; /* number (s, k) lies at s * l + k there */
  const hl_fft_end *from, *to;
  hl_fft_table roots; /* w(r k / (l p)) at (r - 1) * l + k */
} stage;

static size_t part_bytes(const hl_fft *f)
{
  return (size_t)hl_type_bytes(f->part);
}

static void copy_root(const hl_fft *f, const char *re, const char *im, int64_t from, char *to_re, char *to_im, int64_t to)
{
  size_t bytes = part_bytes(f);
  memcpy(to_re + (size_t)to * bytes, re + (size_t)from * bytes, bytes);
  memcpy(to_im + (size_t)to * bytes, im + (size_t)from * bytes, bytes);
}

/* Conjugates; zeros stay positive. */
static void negate_all(const hl_fft *f, void *im, int64_t count)
{
  for (int64_t i = 0; i < count; i++)
    if (f->part == HL_F64)
      ((double *)im)[i] = 0 - ((double *)im)[i];
    else
      ((float *)im)[i] = 0 - ((float *)im)[i];
}

static hl_fft_table stage_roots(const stage *s)
{
  const hl_fft *f = s->f;
  hl_puller *p = f->p;
  int64_t n = s->points * s->done, count = (s->points - 1) * s->done;
  size_t bytes = part_bytes(f);
  char *re = hl_arena_array(p->arena, (size_t)n, bytes), *im = hl_arena_array(p->arena, (size_t)n, bytes);
  char *table_re = hl_arena_array(p->arena, (size_t)count, bytes);
  char *table_im = hl_arena_array(p->arena, (size_t)count, bytes);
  hl_fft_roots(f->part, n, re, im);
  for (int64_t r = 1; r < s->points; r++)
    for (int64_t k = 0; k < s->done; k++)
      copy_root(f, re, im, r * k, table_re, table_im, (r - 1) * s->done + k);
  if (f->is_inverse)
    negate_all(f, table_im, count);
  return hl_fft_table_new(p, f->part, count, table_re, table_im);
}

/* major * scale + minor */
static hl_index place(hl_puller *p, hl_index major, int64_t scale, hl_index minor)
{
  return hl_index_add(p, hl_index_scale(p, major, scale, 0), minor);
}

static hl_value load_point(const stage *s, int64_t r, hl_index k, hl_index at, hl_index i)
{
  hl_puller *p = s->f->p;
  hl_index sequence = hl_index_scale(p, at, 1, s->rest * r);
  hl_index position = s->reads_lines ? place(p, sequence, s->done, k) : place(p, k, s->rest * s->points, sequence);
  hl_value x = s->from->load(p, s->from, position, i);
  if (r == 0 || s->done == 1)
    return x;
  hl_index root = hl_index_scale(p, k, 1, (r - 1) * s->done);
  return hl_put_complex_multiply(p, x, hl_fft_entry(p, &s->roots, root));
}

static void store_point(const stage *s, int64_t q, hl_index k, hl_index at, hl_index i, hl_value x)
{
  hl_puller *p = s->f->p;
  hl_index number = hl_index_scale(p, k, 1, q * s->done);
  hl_index position = s->writes_lines ? place(p, at, s->done * s->points, number) : place(p, number, s->rest, at);
  s->to->store(p, s->to, position, i, x);
}

static void join(const stage *s, hl_index k, hl_index at, hl_index i)
{
  hl_value x[LARGEST_FACTOR];
  for (int64_t r = 0; r < s->points; r++)
    x[r] = load_point(s, r, k, at, i);
  hl_fft_butterfly(s->f->p, s->f->part, s->f->is_inverse, s->points, x);
  for (int64_t q = 0; q < s->points; q++)
    store_point(s, q, k, at, i, x[q]);
}

static void run_stage(const stage *s)
{
  hl_puller *p = s->f->p;
  hl_index outer, middle, i;
  int64_t first = s->writes_lines ? s->rest : s->done, second = s->writes_lines ? s->done : s->rest;
  int opened = hl_fft_open(p, first, &outer);
  opened += hl_fft_open(p, second, &middle);
  opened += hl_fft_open(p, s->f->inner, &i);
  join(s, s->writes_lines ? middle : outer, s->writes_lines ? outer : middle, i);
  while (opened--)
    hl_close_for(p);
}

/* ---- the whole ---- */

static int64_t factor_of(int64_t n)
{
  if (n % 4 == 0)
    return 4;
  for (int64_t p = 2; p <= LARGEST_FACTOR; p++)
    if (n % p == 0)
      return p;
  return n;
}

hl_fft *hl_fft_new(hl_puller *p, hl_element_type part, bool is_inverse, int64_t lines, int64_t n, int64_t inner)
{
  hl_fft *f = HL_NEW(p->arena, hl_fft);
  *f = (hl_fft){.p = p, .part = part, .is_inverse = is_inverse, .lines = lines, .n = n, .inner = inner};
  int64_t factors[HL_FFT_MOST_FACTORS], left = n;
  int count = 0;
  for (; left > 1; left /= factors[count - 1])
    factors[count++] = factor_of(left);
  for (int i = 0; i < count; i++)
    f->factors[i] = factors[count - 1 - i];
  f->factor_count = count;
  for (int i = 0; i < 2 && i < count - 1; i++)
    f->temps[i] = hl_fft_field(p, part, lines, n, inner);
  if (count && f->factors[0] > LARGEST_FACTOR)
    f->bluestein = hl_bluestein_new(f, f->factors[0], n / f->factors[0]);
  return f;
}

/* A line of one point. */
static void copy_point(const hl_fft *f, const hl_fft_end *from, const hl_fft_end *to)
{
  hl_index i, zero = hl_index_constant(0);
  bool is_open = hl_fft_open(f->p, f->inner, &i);
  to->store(f->p, to, zero, i, hl_put_canonical(f->p, from->load(f->p, from, zero, i)));
  if (is_open)
    hl_close_for(f->p);
}

void hl_fft_run(const hl_fft *f, hl_index line, const hl_fft_end *from, const hl_fft_end *to)
{
  hl_fft_end temps[2] = {f->temps[0], f->temps[1]};
  stage s = {.f = f, .done = 1, .rest = f->n, .from = from};
  if (f->factor_count == 0)
    copy_point(f, from, to);
  for (int i = 0; i < 2 && i < f->factor_count - 1; i++)
    hl_fft_field_at(f->p, &temps[i], line, f->n);
  for (int i = 0; i < f->factor_count; i++) {
    s.points = f->factors[i];
    s.rest /= s.points;
    s.to = i == f->factor_count - 1 ? to : &temps[i % 2];
    s.writes_lines = s.reads_lines || s.rest * f->inner < ENOUGH_LANES;
    if (i == 0 && f->bluestein) {
      s.writes_lines = false;
      hl_bluestein_run(f->bluestein, line, from, s.to);
    } else {
      if (s.done > 1)
        s.roots = stage_roots(&s);
      run_stage(&s);
    }
    s.done *= s.points;
    s.reads_lines = s.writes_lines;
    s.from = s.to;
  }
}
