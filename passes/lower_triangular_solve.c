/* lower_triangular_solve - triangular-solve, one row of the unknowns after the other (numerics.md rule 14).
 *
 * a x = b with a lower triangle: x[i] = (b[i] - sum over k < i of a[i][k] x[k]) / a[i][i], for all columns at once. An upper triangle is
 * solved from its last row on, k ascending from i + 1. x a = b is the same with both sides transposed, which swaps the triangle; so is a
 * transposed a.
 */
#include "lower_linalg.h"
#include "lower_whole.h"

enum { NO_TRANSPOSE, TRANSPOSE, ADJOINT };

typedef struct solve {
  hl_puller *p;
  const hl_instruction *ins;
  hl_element_type type;
  int64_t n, columns;
  bool is_lower, is_unit, is_conjugated;
  bool swaps_a, swaps_b; /* rows and columns of the operand are exchanged */
  hl_index batch;
  hl_work_matrix x;
} solve;

static hl_value element(const solve *s, int operand, hl_index row, hl_index column)
{
  const hl_instruction *from = s->ins->operands[operand];
  const hl_shape *shape = from->shape;
  bool is_swapped = operand ? s->swaps_b : s->swaps_a;
  hl_index *index = HL_ARRAY(s->p->arena, shape->rank, hl_index);
  hl_shape batches = {.rank = shape->rank - 2, .dimensions = shape->dimensions};
  hl_index_unflatten(s->p, &batches, s->batch, index);
  index[shape->rank - 2] = is_swapped ? column : row;
  index[shape->rank - 1] = is_swapped ? row : column;
  return hl_pull(s->p, from, 0, index);
}

static hl_value coefficient(const solve *s, hl_index row, hl_index column)
{
  hl_value a = element(s, 0, row, column);
  return s->is_conjugated ? hl_conjugate(s->p, a) : a;
}

/* Element (i, j) of x: a[i][k] and x[k][j] for the k on this side of the diagonal. */
typedef struct unknown {
  const solve *s;
  hl_index i, j;
} unknown;

static void pair_before(const hl_factors *factors, hl_index k, hl_value *l, hl_value *r)
{
  const unknown *u = factors->context;
  if (!u->s->is_lower)
    k = hl_index_scale(u->s->p, hl_index_add(u->s->p, u->i, k), 1, 1);
  *l = coefficient(u->s, u->i, k);
  *r = hl_work_load(&u->s->x, k, u->j);
}

static void solve_element(const solve *s, hl_index i, hl_index j)
{
  unknown u = {s, i, j};
  hl_factors factors = {.pair = pair_before, .context = &u, .most = s->n};
  factors.count = s->is_lower ? i : hl_index_scale(s->p, i, -1, s->n - 1);
  hl_value value = hl_minus_products(s->p, s->type, element(s, 1, i, j), &factors);
  if (!s->is_unit)
    value = hl_put_hlo_binary(s->p, HL_OP_DIVIDE, s->type, value, coefficient(s, i, i));
  hl_work_store(&s->x, i, j, value);
}

static void solve_batch(const solve *s)
{
  hl_index step, j;
  hl_open_ordered(s->p, s->n, &step);
  hl_index i = s->is_lower ? step : hl_index_scale(s->p, step, -1, s->n - 1);
  hl_open_for(s->p, s->columns, &j);
  solve_element(s, i, j);
  hl_close_for(s->p);
  hl_close_for(s->p);
}

static void store_result(const solve *s)
{
  hl_puller *p = s->p;
  int64_t rows = s->swaps_b ? s->columns : s->n, columns = s->swaps_b ? s->n : s->columns;
  hl_index i, j;
  hl_open_for(p, rows, &i);
  hl_open_for(p, columns, &j);
  hl_value value = s->swaps_b ? hl_work_load(&s->x, j, i) : hl_work_load(&s->x, i, j);
  hl_index row = hl_index_add(p, hl_index_scale(p, s->batch, rows, 0), i);
  hl_put_store(p, p->leaves[s->ins->scratch][0], hl_index_add(p, hl_index_scale(p, row, columns, 0), j), value);
  hl_close_for(p);
  hl_close_for(p);
}

/* The loop over batches is there for one of them too: what is outermost in a kernel must not be ordered. */
void hl_build_triangular_solve(hl_puller *p, const hl_instruction *ins)
{
  const hl_shape *shape = ins->shape;
  bool is_left = hl_attr_int(ins, HL_ATTR_LEFT_SIDE, 0);
  int64_t mode = hl_attr_int(ins, HL_ATTR_TRANSPOSE_A, NO_TRANSPOSE);
  solve s = {.p = p, .ins = ins, .type = shape->element_type, .swaps_b = !is_left, .is_conjugated = mode == ADJOINT,
             .is_unit = hl_attr_int(ins, HL_ATTR_UNIT_DIAGONAL, 0)};
  s.n = shape->dimensions[shape->rank - (is_left ? 2 : 1)];
  s.columns = shape->dimensions[shape->rank - (is_left ? 1 : 2)];
  s.swaps_a = is_left == (mode != NO_TRANSPOSE);
  s.is_lower = (hl_attr_int(ins, HL_ATTR_LOWER, 0) != 0) != s.swaps_a;
  int64_t batches = hl_shape_elements(shape) / (s.n * s.columns);
  s.x = hl_work_matrix_new(p, s.type, batches, s.n, s.columns);
  hl_open_for(p, batches, &s.batch);
  hl_work_matrix_at(&s.x, s.batch, s.n);
  solve_batch(&s);
  store_result(&s);
  hl_close_for(p);
}
