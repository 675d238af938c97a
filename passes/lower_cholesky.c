/* lower_cholesky - cholesky by left-looking columns (numerics.md rule 14).
 *
 * Column j of the factor L needs the columns before it: L[j][j] = sqrt(a[j][j] - sum over k < j of |L[j][k]|^2), and below it
 * L[i][j] = (a[i][j] - sum of L[i][k] conj(L[j][k])) / L[j][j]. Work memory holds the columns one after the other, so that the loop over
 * i walks them at stride 1. A pivot that is not positive makes the whole result NaN: what is computed after it does no harm.
 * The upper form is the lower one of the transposed matrix.
 */
#include "lower_linalg.h"
#include "lower_whole.h"

typedef struct cholesky {
  hl_puller *p;
  const hl_instruction *ins;
  hl_element_type type;
  int64_t n;
  bool is_lower;
  hl_index batch;
  hl_work_matrix columns; /* row j: column j of L */
} cholesky;

/* Element (row, column) of the lower form. */
static hl_value element(const cholesky *c, hl_index row, hl_index column)
{
  const hl_instruction *a = c->ins->operands[0];
  const hl_shape *shape = a->shape;
  hl_index *index = HL_ARRAY(c->p->arena, shape->rank, hl_index);
  hl_shape batches = {.rank = shape->rank - 2, .dimensions = shape->dimensions};
  hl_index_unflatten(c->p, &batches, c->batch, index);
  index[shape->rank - 2] = c->is_lower ? row : column;
  index[shape->rank - 1] = c->is_lower ? column : row;
  return hl_pull(c->p, a, 0, index);
}

/* L[row][k] and conj(L[pivot][k]) */
typedef struct rows {
  const cholesky *c;
  hl_index row, pivot;
} rows;

static void pair_of_rows(const hl_factors *factors, hl_index k, hl_value *l, hl_value *r)
{
  const rows *both = factors->context;
  *l = hl_work_load(&both->c->columns, k, both->row);
  *r = hl_conjugate(both->c->p, hl_work_load(&both->c->columns, k, both->pivot));
}

/* a[row][j] minus what the columns before j give. */
static hl_value remainder_of(const cholesky *c, hl_index row, hl_index j)
{
  rows both = {c, row, j};
  hl_factors factors = {.pair = pair_of_rows, .context = &both, .most = c->n, .count = j};
  return hl_minus_products(c->p, c->type, element(c, row, j), &factors);
}

static hl_value put_pivot(const cholesky *c, hl_index j)
{
  hl_node *square = remainder_of(c, j, j).re, *wide = hl_widen(c->p, square);
  hl_value pivot = {hl_put_convert(c->p, square->type, hl_put_unary(c->p, HL_LOOP_SQRT, wide)), NULL};
  if (hl_is_complex(c->type))
    pivot.im = hl_put_float(c->p, square->type, 0);
  hl_work_store(&c->columns, j, j, pivot);
  return pivot;
}

static void factor(const cholesky *c)
{
  hl_puller *p = c->p;
  hl_index j, below;
  hl_open_ordered(p, c->n, &j);
  hl_value pivot = put_pivot(c, j);
  if (c->n > 1) {
    hl_node *left = hl_index_value(p, hl_index_scale(p, j, -1, c->n - 1));
    hl_open_for(p, c->n - 1, &below)->loop->limits[0] = left;
    hl_index i = hl_index_scale(p, hl_index_add(p, j, below), 1, 1);
    hl_value value = hl_put_hlo_binary(p, HL_OP_DIVIDE, c->type, remainder_of(c, i, j), pivot);
    hl_work_store(&c->columns, j, i, value);
    hl_close_for(p);
  }
  hl_close_for(p);
}

/* Whether all pivots are positive. */
static hl_node *is_definite(const cholesky *c)
{
  hl_puller *p = c->p;
  hl_combiner combiner = {.order = HL_ORDER_FREE, .combine = HL_LOOP_AND, .type = HL_PRED};
  hl_index j;
  hl_open_loop loop = hl_open_reduce(p, p->scope, 1, &c->n, 1, &combiner, &j);
  hl_node *pivot = hl_widen(p, hl_work_load(&c->columns, j, j).re);
  hl_node *is_positive = hl_put_binary(p, HL_LOOP_GT, pivot, hl_put_float(p, pivot->type, 0));
  hl_close_loop(p, &loop, 1, &is_positive);
  return hl_put_result(p, loop.node, 0);
}

static hl_value filled(const cholesky *c, uint64_t bits)
{
  hl_node *part = hl_put_const(c->p, hl_component_type(c->type), bits);
  return (hl_value){part, hl_is_complex(c->type) ? part : NULL};
}

static void store_result(const cholesky *c)
{
  hl_puller *p = c->p;
  hl_index i, j;
  hl_node *definite = is_definite(c);
  hl_open_for(p, c->n, &i);
  hl_open_for(p, c->n, &j);
  bool never;
  hl_node *is_inside = hl_index_within(p, hl_index_add(p, i, hl_index_scale(p, j, -1, 0)), 0, c->n, &never);
  hl_value value = hl_work_load(&c->columns, j, i);
  if (is_inside)
    value = hl_put_choice(p, is_inside, value, filled(c, 0));
  value = hl_put_choice(p, definite, value, filled(c, hl_float_nan_bits(hl_component_type(c->type))));
  hl_index row = hl_index_add(p, hl_index_scale(p, c->batch, c->n, 0), c->is_lower ? i : j);
  hl_index at = hl_index_add(p, hl_index_scale(p, row, c->n, 0), c->is_lower ? j : i);
  hl_put_store(p, p->leaves[c->ins->scratch][0], at, value);
  hl_close_for(p);
  hl_close_for(p);
}

/* The loop over batches is there for one of them too: what is outermost in a kernel must not be ordered. */
void hl_build_cholesky(hl_puller *p, const hl_instruction *ins)
{
  const hl_shape *shape = ins->shape;
  int64_t n = shape->dimensions[shape->rank - 1], batches = hl_shape_elements(shape) / (n * n);
  cholesky c = {.p = p, .ins = ins, .type = shape->element_type, .n = n,
                .is_lower = hl_attr_int(ins, HL_ATTR_LOWER, 0)};
  c.columns = hl_work_matrix_new(p, c.type, batches, n, n);
  hl_open_for(p, batches, &c.batch);
  hl_work_matrix_at(&c.columns, c.batch, n);
  factor(&c);
  store_result(&c);
  hl_close_for(p);
}
