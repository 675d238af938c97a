/* lower_fft - fft: transforms along one dimension after the other, the last first (numerics.md rule 14).
 *
 * An array is seen as [outer, n, inner] around the dimension. With several outer parts their loop is the outermost, and the numbers of
 * one part go through all passes before the next; else the passes are loops of their own.
 */
#include "lower_fft.h"
#include "lower_whole.h"

enum { FFT, IFFT, RFFT, IRFFT };

/* The op on its way. */
typedef struct transform {
  hl_puller *p;
  const hl_instruction *ins;
  const hl_shape *shape; /* of the complex numbers: the result's, for IRFFT the operand's */
  hl_element_type part;
  bool is_inverse;
} transform;

/* One dimension of it. */
typedef struct along {
  const transform *t;
  int64_t outer, n, inner;
  hl_index line; /* in [0, outer) */
} along;

static along along_of(const transform *t, int dimension, int64_t n)
{
  along a = {.t = t, .outer = 1, .n = n, .inner = 1};
  for (int d = 0; d < t->shape->rank; d++)
    if (d != dimension)
      *(d < dimension ? &a.outer : &a.inner) *= t->shape->dimensions[d];
  return a;
}

/* ---- where numbers come from and go to ---- */

/* An array of the program: [outer, size, inner], with the size that its own dimension has. */
typedef struct array {
  const along *a;
  hl_buffer *buffer;            /* or, for loads, */
  const hl_instruction *operand;
  int64_t size;
  hl_node *divisor; /* NULL: none */
} array;

static hl_index flat_place(hl_puller *p, const array *x, hl_index position, hl_index i)
{
  hl_index row = hl_index_add(p, hl_index_scale(p, x->a->line, x->size, 0), position);
  return hl_index_add(p, hl_index_scale(p, row, x->a->inner, 0), i);
}

static hl_value load_array(hl_puller *p, const hl_fft_end *end, hl_index position, hl_index i)
{
  const array *x = end->context;
  hl_index flat = flat_place(p, x, position, i);
  if (x->buffer)
    return hl_put_load_here(p, x->buffer, flat);
  hl_index *index = HL_ARRAY(p->arena, x->operand->shape->rank + 1, hl_index);
  hl_index_unflatten(p, x->operand->shape, flat, index);
  hl_value value = hl_pull(p, x->operand, 0, index);
  if (!value.im)
    value.im = hl_put_float(p, value.re->type, 0);
  return value;
}

static void store_array(hl_puller *p, const hl_fft_end *end, hl_index position, hl_index i, hl_value value)
{
  const array *x = end->context;
  if (x->divisor) {
    value.re = hl_put_div(p, value.re, x->divisor);
    value.im = hl_put_div(p, value.im, x->divisor);
  }
  if (!hl_is_complex(x->buffer->type))
    value.im = NULL;
  hl_put_store(p, x->buffer, flat_place(p, x, position, i), value);
}

static hl_fft_end end_of(const array *x)
{
  return (hl_fft_end){.load = load_array, .store = store_array, .context = x};
}

/* ---- one dimension ---- */

static void close_line(const along *a)
{
  if (a->outer > 1)
    hl_close_for(a->t->p);
}

static hl_node *divisor_of(const along *a)
{
  return a->t->is_inverse ? hl_put_float(a->t->p, a->t->part, (double)a->n) : NULL;
}

/* Complex to complex, of equal sizes. */
static void transform_along(const transform *t, int dimension, array from, array to)
{
  along a = along_of(t, dimension, t->shape->dimensions[dimension]);
  hl_fft *f = hl_fft_new(t->p, t->part, t->is_inverse, a.outer, a.n, a.inner);
  hl_fft_open(t->p, a.outer, &a.line);
  from.a = to.a = &a;
  from.size = to.size = a.n;
  to.divisor = divisor_of(&a);
  hl_fft_end source = end_of(&from), target = end_of(&to);
  hl_fft_run(f, a.line, &source, &target);
  close_line(&a);
}

/* The dimensions before the last one that are transformed, from the operand or `buffer` in place. */
static void transform_others(const transform *t, int count, const hl_instruction *operand, hl_buffer *buffer)
{
  int last = t->shape->rank - 1;
  for (int d = last - 1; d > last - count; d--) {
    bool is_first = operand && d == last - 1;
    array from = {.operand = is_first ? operand : NULL, .buffer = is_first ? NULL : buffer};
    transform_along(t, d, from, (array){.buffer = buffer});
  }
}

/* Copies numbers begin .. end-1 of a line. */
static void copy_line(const along *a, int64_t count, const hl_fft_end *from, const hl_fft_end *to)
{
  hl_index k, zero = hl_index_constant(0);
  bool is_open = hl_fft_open(a->t->p, count, &k);
  to->store(a->t->p, to, k, zero, from->load(a->t->p, from, k, zero));
  if (is_open)
    hl_close_for(a->t->p);
}

/* Real numbers to half of their spectrum: the rest is its mirror image. */
static void real_to_half(const transform *t, int64_t n, hl_buffer *result)
{
  along a = along_of(t, t->shape->rank - 1, n);
  hl_fft *f = hl_fft_new(t->p, t->part, false, a.outer, n, 1);
  hl_fft_end whole = hl_fft_field(t->p, t->part, a.outer, n, 1);
  hl_fft_open(t->p, a.outer, &a.line);
  hl_fft_field_at(t->p, &whole, a.line, n);
  array from = {.a = &a, .operand = t->ins->operands[0], .size = n};
  array to = {.a = &a, .buffer = result, .size = n / 2 + 1};
  hl_fft_end source = end_of(&from), target = end_of(&to);
  hl_fft_run(f, a.line, &source, &whole);
  copy_line(&a, n / 2 + 1, &whole, &target);
  close_line(&a);
}

/* One bin that is real by definition. */
static void store_real_bin(const along *a, int64_t k, const hl_fft_end *from, const hl_fft_end *to)
{
  hl_puller *p = a->t->p;
  hl_index at = hl_index_constant(k), zero = hl_index_constant(0);
  hl_value x = from->load(p, from, at, zero);
  to->store(p, to, at, zero, (hl_value){x.re, hl_put_float(p, a->t->part, 0)});
}

/* The whole spectrum from its half: bins above the middle are the conjugates of those below. */
static void mirror_line(const along *a, const hl_fft_end *half, const hl_fft_end *whole)
{
  hl_puller *p = a->t->p;
  int64_t pairs = (a->n - 1) / 2;
  store_real_bin(a, 0, half, whole);
  if (a->n % 2 == 0)
    store_real_bin(a, a->n / 2, half, whole);
  if (!pairs)
    return;
  hl_index k, zero = hl_index_constant(0);
  bool is_open = hl_fft_open(p, pairs, &k);
  hl_value x = half->load(p, half, hl_index_scale(p, k, 1, 1), zero);
  whole->store(p, whole, hl_index_scale(p, k, 1, 1), zero, x);
  x.im = hl_put_unary(p, HL_LOOP_NEG, x.im);
  whole->store(p, whole, hl_index_scale(p, k, -1, a->n - 1), zero, x);
  if (is_open)
    hl_close_for(p);
}

static void half_to_real(const transform *t, int64_t n, hl_buffer *half, hl_buffer *result)
{
  along a = along_of(t, t->shape->rank - 1, n);
  hl_fft *f = hl_fft_new(t->p, t->part, true, a.outer, n, 1);
  hl_fft_end whole = hl_fft_field(t->p, t->part, a.outer, n, 1);
  hl_fft_open(t->p, a.outer, &a.line);
  hl_fft_field_at(t->p, &whole, a.line, n);
  array from = {.a = &a, .buffer = half, .operand = half ? NULL : t->ins->operands[0], .size = n / 2 + 1};
  array to = {.a = &a, .buffer = result, .size = n, .divisor = divisor_of(&a)};
  hl_fft_end source = end_of(&from), target = end_of(&to);
  mirror_line(&a, &source, &whole);
  hl_fft_run(f, a.line, &whole, &target);
  close_line(&a);
}

/* ---- the op ---- */

static void build_complex(const transform *t, int count, hl_buffer *result)
{
  array from = {.operand = t->ins->operands[0]};
  transform_along(t, t->shape->rank - 1, from, (array){.buffer = result});
  transform_others(t, count, NULL, result);
}

/* Its spectrum must be whole along the other dimensions before the last one is done. */
static void build_real_result(const transform *t, int count, int64_t n, hl_buffer *result)
{
  hl_buffer *half = NULL;
  if (count > 1) {
    hl_buffer buffer = {.name = "spectrum", .kind = HL_BUFFER_TEMP, .type = t->shape->element_type, .rank = t->shape->rank,
                        .dimensions = t->shape->dimensions, .bytes = hl_shape_bytes(t->shape), .offset = -1};
    half = hl_program_add_buffer(t->p->program, buffer);
    transform_others(t, count, t->ins->operands[0], half);
  }
  half_to_real(t, n, half, result);
}

void hl_build_fft(hl_puller *p, const hl_instruction *ins)
{
  int64_t kind = hl_attr_int(ins, HL_ATTR_FFT_TYPE, FFT);
  hl_ints lengths = hl_attr_ints(ins, HL_ATTR_FFT_LENGTH);
  int64_t n = lengths.values[lengths.count - 1];
  hl_buffer *result = p->leaves[ins->scratch][0];
  transform t = {.p = p, .ins = ins, .shape = kind == IRFFT ? ins->operands[0]->shape : ins->shape,
                 .part = hl_component_type(ins->shape->element_type), .is_inverse = kind == IFFT || kind == IRFFT};
  if (kind == IRFFT) {
    build_real_result(&t, lengths.count, n, result);
  } else if (kind == RFFT) {
    real_to_half(&t, n, result);
    transform_others(&t, lengths.count, NULL, result);
  } else {
    build_complex(&t, lengths.count, result);
  }
}
