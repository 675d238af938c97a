/* infer_window - window arithmetic, and the ops that slide one with labels or selection:
 * convolution, select-and-scatter (spec sections 8.4 and 8.6).
 *
 *   window-c1  sizes, strides and dilations are at least 1
 *   window-c2  the padded operand has no negative size
 */
#include "infer.h"

#include "limits.h"

#include <string.h>

int hl_window_rank(const hl_instruction *ins)
{
  const hl_attr *attr = hl_attr_find(ins, HL_ATTR_WINDOW);
  return attr ? attr->window.count : 0;
}

static hl_range window_place(const hl_instruction *ins, int dim, int field)
{
  return hl_place_attr_entry(ins, HL_ATTR_WINDOW,
                             HL_WINDOW_FIRST_NUMBER + HL_WINDOW_FIELDS * dim + field);
}

static bool check_positive(hl_infer *infer, const hl_instruction *ins, int dim, int field,
                           int64_t value)
{
  static const char *const names[HL_WINDOW_FIELDS] = {
      [HL_WINDOW_SIZE] = "size",
      [HL_WINDOW_STRIDE] = "stride",
      [HL_WINDOW_BASE_DILATION] = "lhs_dilate",
      [HL_WINDOW_DILATION] = "rhs_dilate",
  };
  return value >= 1 || hl_error(infer->diag, window_place(ins, dim, field), HL_RULE_WINDOW_C1,
                                "window %s %lld of dimension %d must be at least 1", names[field],
                                (long long)value, dim);
}

/* (n - 1) * k + 1, 0 for n = 0; false on overflow. */
static bool dilated(int64_t n, int64_t k, int64_t *out)
{
  if (n == 0) {
    *out = 0;
    return true;
  }
  return hl_mul_i64(n - 1, k, out) && hl_add_i64(*out, 1, out);
}

static bool window_size(hl_infer *infer, const hl_instruction *ins, int dim, int64_t size,
                        int64_t *out)
{
  const hl_window_dim *w = &hl_attr_find(ins, HL_ATTR_WINDOW)->window.dims[dim];
  int64_t base, window;
  if (!check_positive(infer, ins, dim, HL_WINDOW_SIZE, w->size) ||
      !check_positive(infer, ins, dim, HL_WINDOW_STRIDE, w->stride) ||
      !check_positive(infer, ins, dim, HL_WINDOW_BASE_DILATION, w->base_dilation) ||
      !check_positive(infer, ins, dim, HL_WINDOW_DILATION, w->window_dilation))
    return false;
  if (!dilated(size, w->base_dilation, &base) || !hl_add_i64(base, w->padding_low, &base) ||
      !hl_add_i64(base, w->padding_high, &base) || !dilated(w->size, w->window_dilation, &window))
    return hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_WINDOW), HL_RULE_LIMIT,
                    "the window over dimension %d of size %lld does not fit in 63 bits", dim,
                    (long long)size);
  if (base < 0)
    return hl_error(
        infer->diag, window_place(ins, dim, w->padding_low < 0 ? HL_WINDOW_LOW : HL_WINDOW_HIGH),
        HL_RULE_WINDOW_C2,
        "padding %lld_%lld takes more than window dimension %d has: its size becomes %lld",
        (long long)w->padding_low, (long long)w->padding_high, dim, (long long)base);
  *out = base == 0 || window > base ? 0 : (base - window) / w->stride + 1;
  return true;
}

bool hl_window_sizes(hl_infer *infer, const hl_instruction *ins, const int64_t *sizes, int64_t *out)
{
  for (int i = 0; i < hl_window_rank(ins); i++)
    if (!window_size(infer, ins, i, sizes[i], &out[i]))
      return false;
  return true;
}

static bool check_selecting_callees(hl_infer *infer, const hl_instruction *ins,
                                    hl_element_type type)
{
  const hl_shape *scalar = hl_shape_scalar(infer->arena, type);
  const hl_shape *pair[] = {scalar, scalar};
  return hl_check_callee(infer, ins, HL_ATTR_SELECT, 2, pair,
                         hl_shape_scalar(infer->arena, HL_PRED), HL_RULE_SELECT_AND_SCATTER_C4) &&
         hl_check_callee(infer, ins, HL_ATTR_SCATTER, 2, pair, scalar,
                         HL_RULE_SELECT_AND_SCATTER_C5);
}

/* select-and-scatter-c1: of arrays; -c2: the window has the operand's rank; -c3: the source has the
 * windowed sizes and the operand's type, the initial value is a scalar of it; -c4: select takes two
 * scalars and yields pred[]; -c5: scatter takes and yields scalars. */
const hl_shape *hl_infer_select_and_scatter(hl_infer *infer, const hl_instruction *ins)
{
  if (!hl_check_array(infer, ins, 0, HL_RULE_SELECT_AND_SCATTER_C1) ||
      !hl_check_array(infer, ins, 1, HL_RULE_SELECT_AND_SCATTER_C1) ||
      !hl_check_same_type(infer, ins, 1, 0, HL_RULE_SELECT_AND_SCATTER_C3))
    return NULL;
  const hl_shape *x = hl_operand_shape(ins, 0), *source = hl_operand_shape(ins, 1);
  int64_t sizes[HL_LIMIT_RANK];
  if (!hl_check_scalar(infer, ins, 2, x->element_type, HL_RULE_SELECT_AND_SCATTER_C3))
    return NULL;
  if (hl_window_rank(ins) != x->rank) {
    hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_WINDOW), HL_RULE_SELECT_AND_SCATTER_C2,
             "the window has rank %d; the operand %s has rank %d", hl_window_rank(ins),
             hl_say(infer, x), x->rank);
    return NULL;
  }
  if (!hl_window_sizes(infer, ins, x->dimensions, sizes))
    return NULL;
  const hl_shape *windowed = hl_make_array(infer, ins, x->element_type, x->rank, sizes);
  if (!windowed)
    return NULL;
  if (!hl_shape_same_dimensions(windowed, source)) {
    hl_error(infer->diag, hl_place_operand(ins, 1), HL_RULE_SELECT_AND_SCATTER_C3,
             "the source is %s; the window over %s gives %s", hl_say(infer, source),
             hl_say(infer, x), hl_say(infer, windowed));
    return NULL;
  }
  return check_selecting_callees(infer, ins, x->element_type) ? x : NULL;
}

/* Every position in [0, rank) and none twice: positions of one array's dimensions. */
static bool positions_are_distinct(int spatial_count, const int *spatial, int a, int b)
{
  uint64_t seen = 0;
  for (int i = 0; i < spatial_count + 2; i++) {
    int at = i < spatial_count ? spatial[i] : i == spatial_count ? a : b;
    if (at < 0 || at >= spatial_count + 2 || seen & UINT64_C(1) << at)
      return false;
    seen |= UINT64_C(1) << at;
  }
  return true;
}

/* convolution-c2: the ranks are those of dim_labels. */
static bool check_conv_labels(hl_infer *infer, const hl_instruction *ins)
{
  const hl_dim_labels *labels = hl_attr_find(ins, HL_ATTR_DIM_LABELS)->labels;
  int n = labels->spatial_count;
  for (int i = 0; i < 2; i++)
    if (hl_operand_shape(ins, i)->rank != n + 2)
      return hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_DIM_LABELS), HL_RULE_CONVOLUTION_C2,
                      "dim_labels names %d dimensions; operand %d is %s", n + 2, i,
                      hl_say(infer, hl_operand_shape(ins, i)));
  if (!positions_are_distinct(n, labels->input_spatial, labels->input_batch,
                              labels->input_feature) ||
      !positions_are_distinct(n, labels->kernel_spatial, labels->kernel_input_feature,
                              labels->kernel_output_feature) ||
      !positions_are_distinct(n, labels->output_spatial, labels->output_batch,
                              labels->output_feature))
    return hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_DIM_LABELS), HL_RULE_CONVOLUTION_C2,
                    "each letter and each digit stands once in each part of dim_labels");
  if (hl_window_rank(ins) != n)
    return hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_WINDOW), HL_RULE_CONVOLUTION_C3,
                    "the window has rank %d; dim_labels has %d spatial dimension%s",
                    hl_window_rank(ins), n, n == 1 ? "" : "s");
  return true;
}

/* convolution-c3: the window's sizes are the kernel's. */
static bool check_conv_window(hl_infer *infer, const hl_instruction *ins)
{
  const hl_dim_labels *labels = hl_attr_find(ins, HL_ATTR_DIM_LABELS)->labels;
  for (int i = 0; i < labels->spatial_count; i++) {
    int64_t size = hl_attr_find(ins, HL_ATTR_WINDOW)->window.dims[i].size;
    int64_t kernel = hl_operand_shape(ins, 1)->dimensions[labels->kernel_spatial[i]];
    if (size != kernel)
      return hl_error(infer->diag, window_place(ins, i, HL_WINDOW_SIZE), HL_RULE_CONVOLUTION_C3,
                      "window size %lld of spatial dimension %d; the kernel %s has %lld there",
                      (long long)size, i, hl_say(infer, hl_operand_shape(ins, 1)),
                      (long long)kernel);
  }
  return true;
}

/* convolution-c4: group counts are at least 1 and not both above 1. */
static bool check_group_counts(hl_infer *infer, const hl_instruction *ins, int64_t feature_groups,
                               int64_t batch_groups)
{
  if (feature_groups < 1)
    return hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_FEATURE_GROUP_COUNT),
                    HL_RULE_CONVOLUTION_C4, "feature_group_count %lld must be at least 1",
                    (long long)feature_groups);
  if (batch_groups < 1)
    return hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_BATCH_GROUP_COUNT),
                    HL_RULE_CONVOLUTION_C4, "batch_group_count %lld must be at least 1",
                    (long long)batch_groups);
  if (feature_groups > 1 && batch_groups > 1)
    return hl_error(infer->diag,
                    hl_place_attr(ins, hl_later_attr(ins, HL_ATTR_FEATURE_GROUP_COUNT,
                                                     HL_ATTR_BATCH_GROUP_COUNT)),
                    HL_RULE_CONVOLUTION_C4,
                    "feature_group_count %lld and batch_group_count %lld cannot both be above 1",
                    (long long)feature_groups, (long long)batch_groups);
  return true;
}

static bool check_divides(hl_infer *infer, const hl_instruction *ins, hl_attr_id id, int64_t groups,
                          int64_t size, const char *what)
{
  return size % groups == 0 || hl_error(infer->diag, hl_place_attr(ins, id), HL_RULE_CONVOLUTION_C5,
                                        "%s %lld does not divide the %lld %s", hl_attr_name(id),
                                        (long long)groups, (long long)size, what);
}

/* convolution-c5: groups divide features and batch; convolution-c6: the kernel takes the features
 * of one group. */
static bool check_conv_features(hl_infer *infer, const hl_instruction *ins)
{
  const hl_dim_labels *labels = hl_attr_find(ins, HL_ATTR_DIM_LABELS)->labels;
  const int64_t *x = hl_operand_shape(ins, 0)->dimensions,
                *k = hl_operand_shape(ins, 1)->dimensions;
  int64_t groups = hl_attr_int(ins, HL_ATTR_FEATURE_GROUP_COUNT, 1);
  int64_t batch_groups = hl_attr_int(ins, HL_ATTR_BATCH_GROUP_COUNT, 1);
  int64_t features = x[labels->input_feature], kernel = k[labels->kernel_input_feature];
  int64_t outputs = k[labels->kernel_output_feature], batch = x[labels->input_batch];
  if (!check_group_counts(infer, ins, groups, batch_groups) ||
      !check_divides(infer, ins, HL_ATTR_FEATURE_GROUP_COUNT, groups, features, "input features"))
    return false;
  if (features / groups != kernel)
    return hl_error(
        infer->diag, hl_place_operand(ins, 1), HL_RULE_CONVOLUTION_C6,
        "%lld input features in %lld group%s need a kernel of %lld input features; it has %lld",
        (long long)features, (long long)groups, groups == 1 ? "" : "s",
        (long long)(features / groups), (long long)kernel);
  return check_divides(infer, ins, HL_ATTR_FEATURE_GROUP_COUNT, groups, outputs,
                       "kernel output features") &&
         check_divides(infer, ins, HL_ATTR_BATCH_GROUP_COUNT, batch_groups, outputs,
                       "kernel output features") &&
         check_divides(infer, ins, HL_ATTR_BATCH_GROUP_COUNT, batch_groups, batch, "input batches");
}

static bool conv_sizes(hl_infer *infer, const hl_instruction *ins, int64_t *sizes)
{
  const hl_dim_labels *labels = hl_attr_find(ins, HL_ATTR_DIM_LABELS)->labels;
  const int64_t *x = hl_operand_shape(ins, 0)->dimensions,
                *k = hl_operand_shape(ins, 1)->dimensions;
  int64_t from[HL_LIMIT_RANK], to[HL_LIMIT_RANK];
  for (int i = 0; i < labels->spatial_count; i++)
    from[i] = x[labels->input_spatial[i]];
  if (!hl_window_sizes(infer, ins, from, to))
    return false;
  for (int i = 0; i < labels->spatial_count; i++)
    sizes[labels->output_spatial[i]] = to[i];
  sizes[labels->output_batch] =
      x[labels->input_batch] / hl_attr_int(ins, HL_ATTR_BATCH_GROUP_COUNT, 1);
  sizes[labels->output_feature] = k[labels->kernel_output_feature];
  return true;
}

/* convolution-c7: of the standard kind, with dense operands. */
static bool check_conv_kind(hl_infer *infer, const hl_instruction *ins)
{
  const hl_attr *sparsity = hl_attr_find(ins, HL_ATTR_SPARSITY_CONFIG);
  const hl_attr *kind = hl_attr_find(ins, HL_ATTR_CONVOLUTION_KIND);
  if (sparsity)
    return hl_error(infer->diag, sparsity->name_range, HL_RULE_CONVOLUTION_C7,
                    "sparse convolutions are not supported: sparsity_config=%s", sparsity->text);
  return !kind || !strcmp(kind->text, "standard") ||
         hl_error(infer->diag, kind->value_range, HL_RULE_CONVOLUTION_C7,
                  "convolutions of kind '%s' are not supported", kind->text);
}

/* convolution-c1: operands and result of one class of types (hl_contracted_type). */
const hl_shape *hl_infer_convolution(hl_infer *infer, const hl_instruction *ins)
{
  int64_t sizes[HL_LIMIT_RANK];
  hl_element_type type;
  if (!hl_contracted_type(infer, ins, HL_RULE_CONVOLUTION_C1, &type) ||
      !check_conv_kind(infer, ins) || !check_conv_labels(infer, ins) ||
      !check_conv_features(infer, ins) || !check_conv_window(infer, ins) ||
      !conv_sizes(infer, ins, sizes))
    return NULL;
  return hl_make_array(infer, ins, type, hl_operand_shape(ins, 0)->rank, sizes);
}
