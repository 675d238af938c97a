/* patterns - attribute values with a writing of their own: slices, windows, padding, dimension
 * labels, replica groups. */
#include "parser.h"
#include "../ir/limits.h"

#include <inttypes.h>
#include <string.h>

/* --- slices --- */

bool hl_read_slice(hl_parser *p, const hl_value *value, hl_attr *out)
{
  if (value->kind != HL_V_LIST)
    return hl_value_error(p, value, "a list of ranges such as {[0:2], [1:8:2]}");
  hl_slice_dim *dims = HL_ARRAY(p->arena, value->count, hl_slice_dim);
  hl_range *ranges = HL_ARRAY(p->arena, (size_t)value->count * 3, hl_range);
  int i = 0;
  for (const hl_value *v = value->first; v; v = v->next, i++) {
    if (v->kind != HL_V_SLICE)
      return hl_value_error(p, v, "a range such as [0:2]");
    const hl_value *limit = v->first->next, *stride = limit->next;
    dims[i].stride = 1;
    if (!hl_value_int64(p, v->first, &dims[i].start) || !hl_value_int64(p, limit, &dims[i].limit) ||
        (stride && !hl_value_int64(p, stride, &dims[i].stride)))
      return false;
    ranges[3 * i] = v->first->range;
    ranges[3 * i + 1] = limit->range;
    ranges[3 * i + 2] = stride ? stride->range : limit->range;
  }
  out->slice.dims = dims;
  out->slice.count = value->count;
  out->entry_ranges = ranges;
  out->entry_count = 3 * value->count;
  return true;
}

/* --- numbers joined by letters: 3x3, 0_1x-1_0 --- */

/* The numbers of a token with their places and the letter behind each. */
typedef struct number {
  int64_t value;
  hl_range range;
  char behind;
} number;

typedef struct numbers {
  number *items;
  int count;
} numbers;

static bool read_numbers(hl_parser *p, hl_range range, numbers *out)
{
  out->items = HL_ARRAY(p->arena, (range.end - range.begin + 1) / 2 + 1, number);
  out->count = 0;
  for (uint32_t at = range.begin; at < range.end; at++) {
    hl_range digits = {at, at + (p->text[at] == '-')};
    while (digits.end < range.end && p->text[digits.end] >= '0' && p->text[digits.end] <= '9')
      digits.end++;
    number *item = &out->items[out->count++];
    if (!hl_value_int64(p, hl_value_int(p, digits), &item->value))
      return false;
    item->range = digits;
    at = digits.end;
    item->behind = at < range.end ? p->text[at] : 'x';
  }
  return true;
}

/* --- padding --- */

/* One dimension: low_high or low_high_interior; returns the place behind it. */
static const number *read_pair(const number *at, hl_padding_dim *dim, hl_range ranges[3])
{
  dim->low = at[0].value;
  dim->high = at[1].value;
  bool has_interior = at[1].behind == '_';
  dim->interior = has_interior ? at[2].value : 0;
  ranges[0] = at[0].range;
  ranges[1] = at[1].range;
  ranges[2] = at[has_interior ? 2 : 1].range;
  return at + (has_interior ? 3 : 2);
}

static int count_dims(const numbers *list)
{
  int count = 0;
  for (int i = 0; i < list->count; i++)
    count += list->items[i].behind == 'x';
  return count;
}

bool hl_read_padding(hl_parser *p, const hl_value *value, hl_attr *out)
{
  numbers list;
  if (value->kind != HL_V_PAD)
    return hl_value_error(p, value, "padding such as 0_1x1_0");
  if (!read_numbers(p, value->range, &list))
    return false;
  int count = count_dims(&list);
  hl_padding_dim *dims = HL_ARRAY(p->arena, count, hl_padding_dim);
  hl_range *ranges = HL_ARRAY(p->arena, 3 * (size_t)count, hl_range);
  const number *at = list.items;
  for (int i = 0; i < count; i++)
    at = read_pair(at, &dims[i], ranges + 3 * i);
  out->padding.dims = dims;
  out->padding.count = count;
  out->entry_ranges = ranges;
  out->entry_count = 3 * count;
  return true;
}

/* --- windows --- */

enum { SIZE, STRIDE, PAD, LHS_DILATE, RHS_DILATE, RHS_REVERSAL, FIELDS, PER_DIM = 7 };

static const char *const field_names[FIELDS] = {"size",       "stride",     "pad",
                                                "lhs_dilate", "rhs_dilate", "rhs_reversal"};

typedef struct window {
  const hl_value *fields[FIELDS]; /* the values, NULL where absent */
  numbers lists[FIELDS];
} window;

static int find_field(const hl_parser *p, hl_range name)
{
  for (int i = 0; i < FIELDS; i++)
    if (hl_range_is(p, name, field_names[i]))
      return i;
  return FIELDS;
}

static bool collect_field(hl_parser *p, const hl_value *field, window *w)
{
  int f = find_field(p, field->name_range);
  const hl_value *value = field->first;
  const char *name = hl_range_text(p, field->name_range);
  if (f == FIELDS) {
    hl_best best = hl_best_start(name);
    for (int i = 0; i < FIELDS; i++)
      hl_best_try(&best, field_names[i]);
    hl_error(p->diag, field->name_range, HL_RULE_WINDOW_FIELD, "a window has no field '%s'", name);
    hl_suggest(p, best.name);
    return false;
  }
  if (w->fields[f])
    return hl_error(p->diag, field->name_range, HL_RULE_WINDOW_FIELD, "'%s' is given twice", name);
  bool is_sizes = value->kind == HL_V_INT || value->kind == HL_V_DXD;
  if (f == PAD ? value->kind != HL_V_PAD : !is_sizes)
    return hl_value_error(p, value, f == PAD ? "padding such as 0_1x1_0" : "sizes such as 3x3");
  w->fields[f] = value;
  return read_numbers(p, value->range, &w->lists[f]);
}

static bool check_lengths(hl_parser *p, const hl_value *whole, const window *w)
{
  if (!w->fields[SIZE])
    return !whole->count ||
           hl_error(p->diag, whole->range, HL_RULE_WINDOW_FIELD, "the window has no 'size'");
  int rank = w->lists[SIZE].count;
  for (int f = STRIDE; f < FIELDS; f++) {
    int count = f == PAD ? count_dims(&w->lists[f]) : w->lists[f].count;
    if (w->fields[f] && count != rank)
      return hl_error(p->diag, w->fields[f]->range, HL_RULE_WINDOW_FIELD,
                      "'%s' has %d entr%s, 'size' has %d", field_names[f], count,
                      count == 1 ? "y" : "ies", rank);
  }
  return true;
}

static bool check_pads(hl_parser *p, const window *w)
{
  const numbers *pads = &w->lists[PAD];
  for (int i = 1; i < pads->count; i++)
    if (pads->items[i - 1].behind == '_' && pads->items[i].behind == '_')
      return hl_error(p->diag, pads->items[i + 1].range, HL_RULE_WINDOW_FIELD,
                      "a window has no interior padding");
  return true;
}

/* The number of a field in dimension i, with its place; `otherwise` and the window's place where it
 * is absent. */
static int64_t field_at(const window *w, int field, int i, int64_t otherwise, hl_range *range)
{
  if (!w->fields[field])
    return otherwise;
  *range = w->lists[field].items[i].range;
  return w->lists[field].items[i].value;
}

static bool fill_dim(hl_parser *p, const window *w, int i, hl_window_dim *dim, hl_range *ranges)
{
  for (int k = 0; k < PER_DIM; k++)
    ranges[k] = w->fields[SIZE]->range;
  dim->size = field_at(w, SIZE, i, 1, &ranges[0]);
  dim->stride = field_at(w, STRIDE, i, 1, &ranges[1]);
  dim->padding_low = field_at(w, PAD, 2 * i, 0, &ranges[2]);
  dim->padding_high = field_at(w, PAD, 2 * i + 1, 0, &ranges[3]);
  dim->base_dilation = field_at(w, LHS_DILATE, i, 1, &ranges[4]);
  dim->window_dilation = field_at(w, RHS_DILATE, i, 1, &ranges[5]);
  int64_t reversal = field_at(w, RHS_REVERSAL, i, 0, &ranges[6]);
  dim->window_reversal = reversal == 1;
  return reversal == 0 || reversal == 1 ||
         hl_error(p->diag, ranges[6], HL_RULE_WINDOW_FIELD, "rhs_reversal is 0 or 1, not %" PRId64,
                  reversal);
}

bool hl_read_window(hl_parser *p, const hl_value *value, hl_attr *out)
{
  window w = {0};
  if (value->kind != HL_V_FIELDS && !(value->kind == HL_V_LIST && !value->count))
    return hl_value_error(p, value, "a window such as {size=3x3 stride=2x2}");
  for (const hl_value *field = value->first; field; field = field->next)
    if (!collect_field(p, field, &w))
      return false;
  if (!check_lengths(p, value, &w) || !check_pads(p, &w))
    return false;
  int rank = w.lists[SIZE].count;
  hl_window_dim *dims = HL_ARRAY(p->arena, rank, hl_window_dim);
  hl_range *ranges = HL_ARRAY(p->arena, FIELDS + PER_DIM * (size_t)rank, hl_range);
  for (int f = 0; f < FIELDS; f++)
    ranges[f] = w.fields[f] ? w.fields[f]->range : HL_NO_RANGE;
  for (int i = 0; i < rank; i++)
    if (!fill_dim(p, &w, i, &dims[i], ranges + FIELDS + PER_DIM * i))
      return false;
  out->window.dims = dims;
  out->window.count = rank;
  out->entry_ranges = ranges;
  out->entry_count = FIELDS + PER_DIM * rank;
  return true;
}

/* --- dimension labels --- */

/* One of the three parts of b01f_01io->b01f. */
typedef struct labels {
  const char *text;
  int length;
  int positions[2]; /* of the two letters */
  int *spatial;     /* by digit */
  int spatial_count;
} labels;

/* Whether each letter stands there once and the digits are 0..n-1; '?' marks a dimension that
 * nothing reads. */
static bool read_labels(hl_parser *p, labels *part, const char *letters)
{
  bool is_seen[10] = {false};
  part->positions[0] = part->positions[1] = -1;
  part->spatial_count = 0;
  part->spatial = HL_ARRAY(p->arena, 10, int);
  for (int i = 0; i < part->length; i++) {
    char c = part->text[i];
    const char *letter = strchr(letters, c);
    if (c == '?')
      continue;
    if (letter ? part->positions[letter - letters] >= 0 : is_seen[c - '0'])
      return false;
    if (letter) {
      part->positions[letter - letters] = i;
      continue;
    }
    is_seen[c - '0'] = true;
    part->spatial[c - '0'] = i;
    part->spatial_count++;
  }
  for (int i = 0; i < part->spatial_count; i++)
    if (!is_seen[i])
      return false;
  return part->positions[0] >= 0 && part->positions[1] >= 0;
}

bool hl_read_dim_labels(hl_parser *p, const hl_value *value, hl_attr *out)
{
  if (value->kind != HL_V_DIM_LABELS)
    return hl_value_error(p, value, "dimension labels such as b01f_01io->b01f");
  const char *text = p->text + value->range.begin;
  int length = (int)(value->range.end - value->range.begin);
  int bar = (int)((const char *)memchr(text, '_', (size_t)length) - text);
  int arrow = (int)((const char *)memchr(text, '-', (size_t)length) - text);
  labels input = {.text = text, .length = bar};
  labels kernel = {.text = text + bar + 1, .length = arrow - bar - 1};
  labels output = {.text = text + arrow + 2, .length = length - arrow - 2};
  if (!read_labels(p, &input, "bf") || !read_labels(p, &kernel, "io") ||
      !read_labels(p, &output, "bf"))
    return hl_error(
        p->diag, value->range, HL_RULE_ATTR_VALUE,
        "each part of dim_labels has its two letters once and the digits 0, 1, ... once each");
  if (input.spatial_count != kernel.spatial_count || input.spatial_count != output.spatial_count)
    return hl_error(p->diag, value->range, HL_RULE_ATTR_VALUE,
                    "the parts of dim_labels have %d, %d and %d spatial dimensions",
                    input.spatial_count, kernel.spatial_count, output.spatial_count);
  hl_dim_labels *made = HL_NEW(p->arena, hl_dim_labels);
  *made = (hl_dim_labels){.spatial_count = input.spatial_count,
                          .input_batch = input.positions[0],
                          .input_feature = input.positions[1],
                          .kernel_input_feature = kernel.positions[0],
                          .kernel_output_feature = kernel.positions[1],
                          .output_batch = output.positions[0],
                          .output_feature = output.positions[1],
                          .input_spatial = input.spatial,
                          .kernel_spatial = kernel.spatial,
                          .output_spatial = output.spatial};
  out->labels = made;
  return true;
}

/* --- replica groups in the iota form --- */

enum { MOST_DEVICES = 1 << 20 };

/* The product of positive sizes, at most MOST_DEVICES. */
static bool read_sizes(hl_parser *p, const hl_value *list, int64_t *sizes, int64_t *product)
{
  int i = 0;
  *product = 1;
  for (const hl_value *v = list->first; v; v = v->next, i++) {
    if (!hl_value_int64(p, v, &sizes[i]))
      return false;
    if (sizes[i] < 1 || !hl_mul_i64(*product, sizes[i], product) || *product > MOST_DEVICES)
      return hl_error(p->diag, v->range, HL_RULE_ATTR_VALUE, "replica groups have 1 to %d devices",
                      MOST_DEVICES);
  }
  return true;
}

static bool read_permutation(hl_parser *p, const hl_value *list, int rank, int64_t *order)
{
  bool is_seen[HL_LIMIT_RANK] = {false};
  int i = 0;
  for (const hl_value *v = list ? list->first : NULL; v; v = v->next, i++) {
    if (i == rank || v->is_negative || v->magnitude >= (uint64_t)rank || is_seen[v->magnitude])
      return hl_error(p->diag, v->range, HL_RULE_ATTR_VALUE,
                      "T(...) is no permutation of %d dimensions", rank);
    is_seen[v->magnitude] = true;
    order[i] = (int64_t)v->magnitude;
  }
  if (list && i != rank)
    return hl_error(p->diag, list->range, HL_RULE_ATTR_VALUE,
                    "T(...) is no permutation of %d dimensions", rank);
  for (; i < rank; i++)
    order[i] = i;
  return true;
}

/* Counting through the permuted dimensions gives the devices in the order of the groups. */
static void expand(const int64_t *sizes, const int64_t *order, int rank, int64_t *devices)
{
  int64_t strides[HL_LIMIT_RANK], index[HL_LIMIT_RANK] = {0}, stride = 1;
  for (int i = rank - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  for (int64_t n = 0; n < stride; n++) {
    devices[n] = 0;
    for (int i = 0; i < rank; i++)
      devices[n] += index[i] * strides[order[i]];
    for (int i = rank - 1; i >= 0 && ++index[i] == sizes[order[i]]; i--)
      index[i] = 0;
  }
}

bool hl_read_groups(hl_parser *p, const hl_value *value, hl_attr *out)
{
  const hl_value *dims = value->first, *reshape = dims->next, *permutation = reshape->next;
  int64_t shape[2], sizes[HL_LIMIT_RANK], order[HL_LIMIT_RANK], total, count;
  if (dims->count != 2)
    return hl_error(p->diag, value->range, HL_RULE_ATTR_VALUE,
                    "replica groups are [groups,size]<=[...]");
  if (reshape->count > HL_LIMIT_RANK) {
    hl_stop(p, reshape->range, "replica groups have more than %d dimensions", HL_LIMIT_RANK);
    return false;
  }
  if (!read_sizes(p, dims, shape, &total) || !read_sizes(p, reshape, sizes, &count) ||
      !read_permutation(p, permutation, reshape->count, order))
    return false;
  if (total != count)
    return hl_error(p->diag, reshape->range, HL_RULE_ATTR_VALUE,
                    "%" PRId64 " devices in groups for %" PRId64, count, total);
  int64_t *devices = HL_ARRAY(p->arena, total, int64_t);
  hl_ints *lists = HL_ARRAY(p->arena, shape[0], hl_ints);
  expand(sizes, order, reshape->count, devices);
  for (int64_t i = 0; i < shape[0]; i++)
    lists[i] = (hl_ints){devices + i * shape[1], (int)shape[1]};
  out->lists.values = lists;
  out->lists.count = (int)shape[0];
  return true;
}
