/* eval_linalg - cholesky and triangular-solve (numerics rule 14): left-looking columns, inner
 * products by rule 8, each step rounded to the element type. */
#include "eval_contract.h"

#include <math.h>

/* A batch of matrices: one of them, read and written by row and column. */
typedef struct matrix {
  hl_literal *data;
  hl_element_type type, accumulator;
  int64_t base, row_stride, column_stride;
} matrix;

static hl_scalar get(const matrix *m, int64_t row, int64_t column)
{
  return hl_scalar_load(m->data, m->base + row * m->row_stride + column * m->column_stride);
}

static void set(const matrix *m, int64_t row, int64_t column, hl_scalar value)
{
  hl_scalar_store(m->data, m->base + row * m->row_stride + column * m->column_stride, value);
}

static hl_scalar conjugate(hl_element_type type, hl_scalar x)
{
  if (hl_is_complex(type))
    x.im ^= UINT64_C(1) << (hl_type_bits(hl_component_type(type)) - 1);
  return x;
}

static hl_scalar arithmetic(const matrix *m, hl_opcode op, hl_scalar x, hl_scalar y)
{
  return hl_scalar_binary(op, m->type, x, y);
}

/* A part of a row. */
typedef struct span {
  int64_t row, begin, end;
} span;

/* The elements as terms, conjugated or not. */
static void take(const matrix *m, span part, bool is_conjugated, hl_term *terms)
{
  for (int64_t k = part.begin; k < part.end; k++) {
    hl_scalar x = get(m, part.row, k);
    *terms++ = hl_term_of(m->accumulator, m->type, is_conjugated ? conjugate(m->type, x) : x);
  }
}

/* start - sum of l[k] * r[k] */
static hl_scalar minus_product(const matrix *m, hl_scalar start, const hl_term *l, const hl_term *r,
                               int64_t n)
{
  hl_scalar sum = hl_contract(m->accumulator, l, r, NULL, n);
  return arithmetic(m, HL_OP_SUBTRACT, start, hl_scalar_convert(m->type, m->accumulator, sum));
}

static hl_element_type wide_type(hl_element_type type)
{
  return hl_accumulator_type(type);
}

/* ---- cholesky ---- */

/* Column j of the factor below the diagonal of m, which it replaces; false when the pivot is not
 * positive. */
static bool factor_column(const matrix *m, int64_t n, int64_t j, hl_term *row, hl_term *pivot_row)
{
  hl_element_type part = hl_component_type(m->type);
  take(m, (span){j, 0, j}, true, pivot_row);
  take(m, (span){j, 0, j}, false, row);
  hl_scalar square =
      hl_scalar_part(minus_product(m, get(m, j, j), row, pivot_row, j).re); /* real by definition */
  if (!(hl_scalar_double(part, square) > 0))
    return false;
  hl_scalar pivot = hl_scalar_unary(HL_OP_SQRT, part, square);
  set(m, j, j, pivot);
  for (int64_t i = j + 1; i < n; i++) {
    take(m, (span){i, 0, j}, false, row);
    set(m, i, j,
        arithmetic(m, HL_OP_DIVIDE, minus_product(m, get(m, i, j), row, pivot_row, j), pivot));
  }
  return true;
}

static void fill(const matrix *m, int64_t n, hl_scalar value, bool is_upper_only)
{
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = is_upper_only ? i + 1 : 0; j < n; j++)
      set(m, i, j, value);
}

static void factor(const matrix *m, int64_t n, hl_term *row, hl_term *pivot_row)
{
  uint64_t nan = hl_float_nan_bits(hl_component_type(m->type));
  for (int64_t j = 0; j < n; j++)
    if (!factor_column(m, n, j, row, pivot_row)) {
      fill(m, n, (hl_scalar){nan, hl_is_complex(m->type) ? nan : 0}, false);
      return;
    }
  fill(m, n, (hl_scalar){0, 0}, true);
}

/* The upper form is the lower one of the transpose: a = u^H u is a^T = (u^T)(u^T)^H, conjugates
 * aside, which a hermitian a takes care of. */
const hl_literal *hl_eval_cholesky(hl_eval *e, const hl_instruction *ins,
                                   const hl_literal *const *operands)
{
  const hl_shape *shape = ins->shape;
  int64_t n = shape->dimensions[shape->rank - 1], total = hl_shape_elements(shape), size = n * n;
  bool is_lower = hl_attr_int(ins, HL_ATTR_LOWER, 0);
  hl_literal *result = hl_eval_new(e, shape);
  hl_term *rows[2] = {hl_eval_scratch(e, n, sizeof **rows), hl_eval_scratch(e, n, sizeof **rows)};
  for (int64_t i = 0; i < total; i++)
    hl_eval_move(result, i, operands[0], i);
  for (int64_t base = 0; base < total; base += size) {
    matrix m = {result, shape->element_type, wide_type(shape->element_type),
                base,   is_lower ? n : 1,    is_lower ? 1 : n};
    factor(&m, n, rows[0], rows[1]);
  }
  hl_eval_drop(e, rows[0]);
  hl_eval_drop(e, rows[1]);
  return result;
}

/* ---- triangular-solve ---- */

enum { NO_TRANSPOSE, TRANSPOSE, ADJOINT };

typedef struct solve {
  matrix a, x; /* a as it is to be used: a x = b, lower or upper; x begins as b */
  int64_t n, columns;
  bool is_lower, is_unit, is_conjugated;
  hl_term *row, *column;
} solve;

static void solve_row(const solve *s, int64_t i)
{
  int64_t begin = s->is_lower ? 0 : i + 1, end = s->is_lower ? i : s->n;
  take(&s->a, (span){i, begin, end}, s->is_conjugated, s->row);
  hl_scalar pivot = s->is_conjugated ? conjugate(s->a.type, get(&s->a, i, i)) : get(&s->a, i, i);
  for (int64_t j = 0; j < s->columns; j++) {
    for (int64_t k = begin; k < end; k++)
      s->column[k - begin] = hl_term_of(s->x.accumulator, s->x.type, get(&s->x, k, j));
    hl_scalar value = minus_product(&s->x, get(&s->x, i, j), s->row, s->column, end - begin);
    set(&s->x, i, j, s->is_unit ? value : arithmetic(&s->x, HL_OP_DIVIDE, value, pivot));
  }
}

/* x a = b is a^T x^T = b^T: transposing swaps the strides and the triangle. */
static void solve_batch(const hl_instruction *ins, solve *s)
{
  bool is_left = hl_attr_int(ins, HL_ATTR_LEFT_SIDE, 0);
  int64_t mode = hl_attr_int(ins, HL_ATTR_TRANSPOSE_A, NO_TRANSPOSE);
  if (is_left == (mode != NO_TRANSPOSE)) {
    s->a.row_stride = 1;
    s->a.column_stride = s->n;
    s->is_lower = !s->is_lower;
  }
  if (!is_left) {
    int64_t stride = s->x.row_stride;
    s->x.row_stride = s->x.column_stride;
    s->x.column_stride = stride;
  }
  s->is_conjugated = mode == ADJOINT;
  for (int64_t i = 0; i < s->n; i++)
    solve_row(s, s->is_lower ? i : s->n - 1 - i);
}

const hl_literal *hl_eval_triangular_solve(hl_eval *e, const hl_instruction *ins,
                                           const hl_literal *const *operands)
{
  const hl_shape *a = operands[0]->shape, *b = ins->shape;
  hl_element_type type = b->element_type;
  int64_t n = a->dimensions[a->rank - 1], total = hl_shape_elements(b),
          width = b->dimensions[b->rank - 1];
  int64_t height = b->dimensions[b->rank - 2], size = width * height;
  bool is_left = hl_attr_int(ins, HL_ATTR_LEFT_SIDE, 0);
  hl_literal *result = hl_eval_new(e, b);
  solve s = {.n = n,
             .columns = is_left ? width : height,
             .is_unit = hl_attr_int(ins, HL_ATTR_UNIT_DIAGONAL, 0)};
  s.row = hl_eval_scratch(e, n, sizeof *s.row);
  s.column = hl_eval_scratch(e, n, sizeof *s.column);
  for (int64_t i = 0; i < total; i++)
    hl_eval_move(result, i, operands[1], i);
  for (int64_t batch = 0; size && batch < total / size; batch++) {
    s.is_lower = hl_attr_int(ins, HL_ATTR_LOWER, 0);
    s.a = (matrix){
        (hl_literal *)operands[0], type, wide_type(type), batch * n * n, n, 1}; /* only read */
    s.x = (matrix){result, type, wide_type(type), batch * size, width, 1};
    solve_batch(ins, &s);
  }
  hl_eval_drop(e, s.row);
  hl_eval_drop(e, s.column);
  return result;
}
