/* lower_linalg.h - what cholesky and triangular-solve share: matrices in work memory and inner products of them. */
#ifndef HL_LOWER_LINALG_H
#define HL_LOWER_LINALG_H

#include "lower_complex.h"

/* A matrix that a kernel works on, re and im apart; one for all batches, one for each, or one a worker. */
typedef struct hl_work_matrix {
  hl_puller *p;
  hl_element_type type; /* of the elements; re and im hold its parts */
  int64_t columns;
  hl_index base;
  hl_buffer *re, *im; /* im: NULL for real types */
} hl_work_matrix;

hl_work_matrix hl_work_matrix_new(hl_puller *p, hl_element_type type, int64_t batches, int64_t rows, int64_t columns);
/* Sets the base for batch number `batch`. */
void hl_work_matrix_at(hl_work_matrix *m, hl_index batch, int64_t rows);
/* Loads stand where they are asked for, behind the stores before them. */
hl_value hl_work_load(const hl_work_matrix *m, hl_index row, hl_index column);
void hl_work_store(const hl_work_matrix *m, hl_index row, hl_index column, hl_value value);

/* Pairs of factors, number k of them; each called once, inside the loop over k. */
typedef struct hl_factors {
  void (*pair)(const struct hl_factors *factors, hl_index k, hl_value *l, hl_value *r);
  const void *context;
  int64_t most;    /* k < most */
  hl_index count;  /* and k < count, which may depend on loops around */
} hl_factors;

/* start - the sum of the products (numerics.md rule 8), both of `type`; the sum has the wide type until then. */
hl_value hl_minus_products(hl_puller *p, hl_element_type type, hl_value start, const hl_factors *factors);

/* A loop whose iterations read what earlier ones wrote. */
hl_node *hl_open_ordered(hl_puller *p, int64_t extent, hl_index *index);

hl_value hl_conjugate(hl_puller *p, hl_value x);

#endif
