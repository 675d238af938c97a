/* eval_convolution - convolution (numerics rule 9): for each place of the window the patch under it
 * is laid out as one row of terms, in the order of k, and contracted with the kernel's row of each
 * output feature. */
#include "eval_contract.h"
#include "eval_window.h"

/* An input or kernel as terms, with the strides of its named dimensions: batch and feature of the
 * input, input and output feature of the kernel. */
typedef struct array {
  hl_term *terms;
  int64_t outer, feature;
  int64_t spatial[HL_LIMIT_RANK];
} array;

typedef struct convolution {
  const hl_instruction *ins;
  const hl_dim_labels *labels;
  hl_element_type accumulator;
  hl_window window;
  hl_shape output_spatial; /* the spatial dimensions alone, in window order */
  int64_t input_sizes[HL_LIMIT_RANK], output_sizes[HL_LIMIT_RANK], output_strides[HL_LIMIT_RANK];
  array input, kernel;
  int64_t features, outputs,
      batches; /* input features of a group, all output features, result batches */
  int64_t feature_groups, batch_groups;
  int64_t k; /* length of a row */
  hl_term *patch, *rows;
  bool *skip;
} convolution;

/* Where the named dimensions of an array stand. */
typedef struct naming {
  int outer, feature;
  const int *spatial;
} naming;

static array array_of(hl_eval *e, const convolution *c, const hl_literal *literal, naming names)
{
  const hl_shape *shape = literal->shape;
  int64_t strides[HL_LIMIT_RANK], total = hl_shape_elements(shape);
  array a = {.terms = hl_eval_scratch(e, total, sizeof *a.terms)};
  for (int64_t i = 0; i < total; i++)
    a.terms[i] = hl_term_of(c->accumulator, shape->element_type, hl_scalar_load(literal, i));
  hl_row_major(shape, strides);
  a.outer = strides[names.outer];
  a.feature = strides[names.feature];
  for (int d = 0; d < c->labels->spatial_count; d++)
    a.spatial[d] = strides[names.spatial[d]];
  return a;
}

static void describe(convolution *c, const hl_literal *const *operands)
{
  const hl_dim_labels *l = c->labels;
  const hl_shape *x = operands[0]->shape, *kernel = operands[1]->shape;
  int64_t strides[HL_LIMIT_RANK];
  hl_row_major(c->ins->shape, strides);
  for (int d = 0; d < l->spatial_count; d++) {
    c->input_sizes[d] = x->dimensions[l->input_spatial[d]];
    c->output_sizes[d] = c->ins->shape->dimensions[l->output_spatial[d]];
    c->output_strides[d] = strides[l->output_spatial[d]];
  }
  c->output_spatial = (hl_shape){.rank = l->spatial_count, .dimensions = c->output_sizes};
  c->feature_groups = hl_attr_int(c->ins, HL_ATTR_FEATURE_GROUP_COUNT, 1);
  c->batch_groups = hl_attr_int(c->ins, HL_ATTR_BATCH_GROUP_COUNT, 1);
  c->features = kernel->dimensions[l->kernel_input_feature];
  c->outputs = kernel->dimensions[l->kernel_output_feature];
  c->batches = x->dimensions[l->input_batch] / c->batch_groups;
  c->k = c->window.taps * c->features;
}

/* Steps a position of the window; false after the last. */
static bool next_tap(const hl_window *window, int64_t *tap)
{
  const hl_shape shape = {.rank = window->rank, .dimensions = window->sizes};
  return hl_index_next(&shape, tap);
}

/* The kernel's row of an output feature, taps as they lie on the input. */
static void lay_out_row(const convolution *c, int64_t output, hl_term *row)
{
  int64_t tap[HL_LIMIT_RANK] = {0};
  if (!c->k)
    return;
  do {
    int64_t at = output * c->kernel.outer;
    for (int d = 0; d < c->window.rank; d++) {
      bool is_flipped = c->window.dims[d].window_reversal;
      at += (is_flipped ? c->window.sizes[d] - 1 - tap[d] : tap[d]) * c->kernel.spatial[d];
    }
    for (int64_t i = 0; i < c->features; i++)
      *row++ = c->kernel.terms[at + i * c->kernel.feature];
  } while (next_tap(&c->window, tap));
}

/* Padding wins over holes: a tap in it reads zero and counts. */
static hl_tap tap_offset(const convolution *c, const int64_t *output, const int64_t *tap,
                         int64_t *offset)
{
  hl_tap result = HL_TAP_REAL;
  int64_t input;
  *offset = 0;
  for (int d = 0; d < c->window.rank; d++) {
    hl_tap kind = hl_window_tap(&c->window.dims[d], c->input_sizes[d], output[d], tap[d], &input);
    if (kind == HL_TAP_PADDING)
      return kind;
    if (kind == HL_TAP_HOLE)
      result = kind;
    else
      *offset += input * c->input.spatial[d];
  }
  return result;
}

static void lay_out_patch(const convolution *c, int64_t base, const int64_t *output)
{
  int64_t tap[HL_LIMIT_RANK] = {0}, k = 0, offset;
  if (!c->k)
    return;
  do {
    hl_tap kind = tap_offset(c, output, tap, &offset);
    for (int64_t i = 0; i < c->features; i++, k++) {
      c->skip[k] = kind == HL_TAP_HOLE;
      c->patch[k] = kind == HL_TAP_REAL ? c->input.terms[base + offset + i * c->input.feature]
                                        : (hl_term){.integer = 0};
    }
  } while (next_tap(&c->window, tap));
}

/* All features of one group of outputs at one place of the window. */
static void contract_group(const convolution *c, int64_t group, int64_t base, hl_literal *result)
{
  int64_t groups = c->feature_groups * c->batch_groups, size = c->outputs / groups,
          strides[HL_LIMIT_RANK];
  hl_row_major(c->ins->shape, strides);
  for (int64_t f = group * size; f < (group + 1) * size; f++) {
    hl_scalar sum = hl_contract(c->accumulator, c->patch, c->rows + f * c->k, c->skip, c->k);
    hl_scalar_store(result, base + f * strides[c->labels->output_feature],
                    hl_scalar_convert(c->ins->shape->element_type, c->accumulator, sum));
  }
}

static void contract_batch(const convolution *c, int64_t batch, hl_literal *result)
{
  int64_t output[HL_LIMIT_RANK] = {0}, strides[HL_LIMIT_RANK];
  int64_t places = 1, groups = c->feature_groups * c->batch_groups;
  hl_row_major(c->ins->shape, strides);
  for (int d = 0; d < c->output_spatial.rank; d++)
    places *= c->output_sizes[d];
  for (int64_t i = 0; i < places; i++) {
    int64_t to = batch * strides[c->labels->output_batch];
    for (int d = 0; d < c->output_spatial.rank; d++)
      to += output[d] * c->output_strides[d];
    for (int64_t g = 0; g < groups; g++) { /* only one kind of groups is above 1 */
      int64_t from_batch = c->batch_groups > 1 ? g * c->batches + batch : batch;
      int64_t feature = c->feature_groups > 1 ? g * c->features : 0;
      lay_out_patch(c, from_batch * c->input.outer + feature * c->input.feature, output);
      contract_group(c, g, to, result);
    }
    hl_index_next(&c->output_spatial, output);
  }
}

const hl_literal *hl_eval_convolution(hl_eval *e, const hl_instruction *ins,
                                      const hl_literal *const *operands)
{
  const hl_dim_labels *l = hl_attr_find(ins, HL_ATTR_DIM_LABELS)->labels;
  convolution c = {.ins = ins,
                   .labels = l,
                   .accumulator = hl_contraction_type(ins),
                   .window = hl_window_of(ins, l->spatial_count)};
  int64_t steps;
  describe(&c, operands);
  hl_eval_charge(e, hl_mul_i64(hl_shape_elements(ins->shape), c.k, &steps) ? steps : INT64_MAX);
  hl_literal *result = hl_eval_new(e, ins->shape);
  c.input =
      array_of(e, &c, operands[0], (naming){l->input_batch, l->input_feature, l->input_spatial});
  c.kernel =
      array_of(e, &c, operands[1],
               (naming){l->kernel_output_feature, l->kernel_input_feature, l->kernel_spatial});
  c.rows = hl_eval_scratch(e, c.outputs * c.k, sizeof *c.rows);
  c.patch = hl_eval_scratch(e, c.k, sizeof *c.patch);
  c.skip = hl_eval_scratch(e, c.k, sizeof *c.skip);
  for (int64_t f = 0; f < c.outputs; f++)
    lay_out_row(&c, f, c.rows + f * c.k);
  for (int64_t b = 0; b < c.batches; b++)
    contract_batch(&c, b, result);
  hl_eval_drop(e, c.input.terms);
  hl_eval_drop(e, c.kernel.terms);
  hl_eval_drop(e, c.rows);
  hl_eval_drop(e, c.patch);
  hl_eval_drop(e, c.skip);
  return result;
}
