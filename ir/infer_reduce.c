/* infer_reduce - ops that run a computation over elements: reduce, map, sort, scan, and topk (spec
 * section 8.4). */
#include "infer.h"

#include "limits.h"

#include <string.h>

/* An even count of operands: inputs with the same dimensions, then an initial scalar of each one's
 * type. */
static bool check_pairs(hl_infer *infer, const hl_instruction *ins, hl_rule rule)
{
  int n = ins->operand_count / 2;
  if (ins->operand_count % 2)
    return hl_error(infer->diag, ins->places ? ins->places->lparen : ins->range, rule,
                    "'%s' takes inputs and as many initial values; %d operand%s given",
                    hl_say_op(ins), ins->operand_count, ins->operand_count == 1 ? "" : "s");
  for (int i = 0; i < n; i++)
    if (!hl_check_dimensions(infer, ins, i, 0, rule))
      return false;
  for (int i = 0; i < n; i++)
    if (!hl_check_scalar(infer, ins, n + i, hl_operand_shape(ins, i)->element_type, rule))
      return false;
  return true;
}

/* The callee of n inputs takes n accumulators, then n elements, and yields n accumulators. */
static bool check_reducer(hl_infer *infer, const hl_instruction *ins, int n, hl_rule rule)
{
  const hl_shape **scalars = HL_ARRAY(infer->arena, 2 * n, const hl_shape *);
  for (int i = 0; i < n; i++)
    scalars[i] = scalars[n + i] =
        hl_shape_scalar(infer->arena, hl_operand_shape(ins, i)->element_type);
  const hl_shape *result = n == 1 ? scalars[0] : hl_shape_tuple(infer->arena, n, scalars);
  return hl_check_callee(infer, ins, HL_ATTR_TO_APPLY, 2 * n, scalars, result, rule);
}

/* One array of these sizes for each of the first n operands, in a tuple if there are several. */
static const hl_shape *arrays_like_inputs(hl_infer *infer, const hl_instruction *ins, int n,
                                          int rank, const int64_t *sizes)
{
  const hl_shape **shapes = HL_ARRAY(infer->arena, n, const hl_shape *);
  for (int i = 0; i < n; i++) {
    shapes[i] = hl_make_array(infer, ins, hl_operand_shape(ins, i)->element_type, rank, sizes);
    if (!shapes[i])
      return NULL;
  }
  return n == 1 ? shapes[0] : hl_shape_tuple(infer->arena, n, shapes);
}

/* reduce-c1: inputs and initial values; -c2: dimensions in range; -c3: none twice; -c4: the callee.
 */
const hl_shape *hl_infer_reduce(hl_infer *infer, const hl_instruction *ins)
{
  if (!check_pairs(infer, ins, HL_RULE_REDUCE_C1))
    return NULL;
  const hl_shape *x = hl_operand_shape(ins, 0);
  if (!hl_check_range(infer, ins, HL_ATTR_DIMENSIONS, x->rank, hl_say(infer, x),
                      HL_RULE_REDUCE_C2) ||
      !hl_check_distinct(infer, ins, HL_ATTR_DIMENSIONS, HL_RULE_REDUCE_C3) ||
      !check_reducer(infer, ins, ins->operand_count / 2, HL_RULE_REDUCE_C4))
    return NULL;
  int64_t sizes[HL_LIMIT_RANK];
  int rank = 0;
  for (int i = 0; i < x->rank; i++)
    if (!hl_list_has(hl_attr_ints(ins, HL_ATTR_DIMENSIONS), i))
      sizes[rank++] = x->dimensions[i];
  return arrays_like_inputs(infer, ins, ins->operand_count / 2, rank, sizes);
}

/* reduce-window-c1: inputs and initial values; -c2: the window has the inputs' rank; -c3: the
 * callee. */
const hl_shape *hl_infer_reduce_window(hl_infer *infer, const hl_instruction *ins)
{
  if (!check_pairs(infer, ins, HL_RULE_REDUCE_WINDOW_C1))
    return NULL;
  const hl_shape *x = hl_operand_shape(ins, 0);
  if (hl_window_rank(ins) != x->rank) {
    hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_WINDOW), HL_RULE_REDUCE_WINDOW_C2,
             "the window has rank %d; the operand %s has rank %d", hl_window_rank(ins),
             hl_say(infer, x), x->rank);
    return NULL;
  }
  int64_t sizes[HL_LIMIT_RANK];
  if (!hl_window_sizes(infer, ins, x->dimensions, sizes) ||
      !check_reducer(infer, ins, ins->operand_count / 2, HL_RULE_REDUCE_WINDOW_C3))
    return NULL;
  return arrays_like_inputs(infer, ins, ins->operand_count / 2, x->rank, sizes);
}

/* map-c1: arrays of the same dimensions; -c2: dimensions are all of them in order; -c3: the callee
 * takes and yields scalars. */
const hl_shape *hl_infer_map(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape **scalars = HL_ARRAY(infer->arena, ins->operand_count, const hl_shape *);
  for (int i = 0; i < ins->operand_count; i++) {
    if (!hl_check_dimensions(infer, ins, i, 0, HL_RULE_MAP_C1))
      return NULL;
    scalars[i] = hl_shape_scalar(infer->arena, hl_operand_shape(ins, i)->element_type);
  }
  const hl_shape *x = hl_operand_shape(ins, 0);
  if (hl_attr_find(ins, HL_ATTR_DIMENSIONS) &&
      (!hl_check_length(infer, ins, HL_ATTR_DIMENSIONS, x->rank, hl_say(infer, x),
                        HL_RULE_MAP_C2) ||
       !hl_check_range(infer, ins, HL_ATTR_DIMENSIONS, x->rank, hl_say(infer, x), HL_RULE_MAP_C2) ||
       !hl_check_ascending(infer, ins, HL_ATTR_DIMENSIONS, HL_RULE_MAP_C2)))
    return NULL;
  if (!hl_check_callee(infer, ins, HL_ATTR_TO_APPLY, ins->operand_count, scalars, NULL,
                       HL_RULE_MAP_C3))
    return NULL;
  const hl_computation *callee = hl_callee(ins, HL_ATTR_TO_APPLY, 0);
  if (!hl_shape_is_scalar(callee->root->shape)) {
    hl_error(infer->diag, hl_place_attr_entry(ins, HL_ATTR_TO_APPLY, 0), HL_RULE_MAP_C3,
             "'%s' yields %s; 'map' needs a scalar", callee->name,
             hl_say(infer, callee->root->shape));
    return NULL;
  }
  return hl_make_array(infer, ins, callee->root->shape->element_type, x->rank, x->dimensions);
}

/* sort-c1: arrays of the same dimensions; -c2: one dimension, in range; -c3: the comparator takes
 * two scalars of each operand's type and yields pred[]. */
const hl_shape *hl_infer_sort(hl_infer *infer, const hl_instruction *ins)
{
  int n = ins->operand_count;
  const hl_shape **scalars = HL_ARRAY(infer->arena, 2 * n, const hl_shape *);
  for (int i = 0; i < n; i++) {
    if (!hl_check_dimensions(infer, ins, i, 0, HL_RULE_SORT_C1))
      return NULL;
    scalars[2 * i] = scalars[2 * i + 1] =
        hl_shape_scalar(infer->arena, hl_operand_shape(ins, i)->element_type);
  }
  const hl_shape *x = hl_operand_shape(ins, 0);
  if (!hl_check_length(infer, ins, HL_ATTR_DIMENSIONS, 1, "it", HL_RULE_SORT_C2) ||
      !hl_check_range(infer, ins, HL_ATTR_DIMENSIONS, x->rank, hl_say(infer, x), HL_RULE_SORT_C2) ||
      !hl_check_callee(infer, ins, HL_ATTR_TO_APPLY, 2 * n, scalars,
                       hl_shape_scalar(infer->arena, HL_PRED), HL_RULE_SORT_C3))
    return NULL;
  return arrays_like_inputs(infer, ins, n, x->rank, x->dimensions);
}

/* topk-c1: of an array of rank 1 or more; topk-c2: k lies in 0 to the last size. */
const hl_shape *hl_infer_topk(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  int64_t k = hl_attr_int(ins, HL_ATTR_K, 0), sizes[HL_LIMIT_RANK];
  if (!hl_shape_is_array(x) || !x->rank || hl_is_complex(x->element_type)) {
    hl_error(infer->diag, hl_place_operand(ins, 0), HL_RULE_TOPK_C1,
             "'topk' takes an array of rank 1 or more, not complex; it is %s", hl_say(infer, x));
    return NULL;
  }
  int64_t last = x->dimensions[x->rank - 1];
  if (k < 0 || k > last) {
    hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_K), HL_RULE_TOPK_C2,
             "k is %lld; the last dimension of %s has size %lld", (long long)k, hl_say(infer, x),
             (long long)last);
    return NULL;
  }
  memcpy(sizes, x->dimensions, (size_t)x->rank * sizeof *sizes);
  sizes[x->rank - 1] = k;
  const hl_shape *values = hl_make_array(infer, ins, x->element_type, x->rank, sizes);
  return hl_shape_tuple(
      infer->arena, 2,
      (const hl_shape *[]){values, hl_shape_with_type(infer->arena, values, HL_S32)});
}

/* The array without dimension `dim`. */
static const hl_shape *scan_slice(hl_infer *infer, const hl_shape *x, int64_t dim)
{
  int64_t sizes[HL_LIMIT_RANK];
  int rank = 0;
  for (int i = 0; i < x->rank; i++)
    if (i != dim)
      sizes[rank++] = x->dimensions[i];
  return hl_shape_new(infer->arena, x->element_type, rank, sizes);
}

/* The array with dimension `dim` of size `size` put in. */
static const hl_shape *scan_stack(hl_infer *infer, const hl_instruction *ins, const hl_shape *x,
                                  int64_t dim, int64_t size)
{
  int64_t sizes[HL_LIMIT_RANK + 1];
  int rank = 0;
  for (int i = 0; i <= x->rank; i++) {
    if (i == dim)
      sizes[rank++] = size;
    if (i < x->rank)
      sizes[rank++] = x->dimensions[i];
  }
  return hl_make_array(infer, ins, x->element_type, rank, sizes);
}

/* scan-c1: inputs of one size along the dimension, then num_carries initial values. */
static bool check_scan_operands(hl_infer *infer, const hl_instruction *ins, int64_t *carries)
{
  *carries = hl_attr_int(ins, HL_ATTR_NUM_CARRIES, 0);
  if (*carries < 0 || *carries >= ins->operand_count)
    return hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_NUM_CARRIES), HL_RULE_SCAN_C1,
                    "num_carries is %lld; 'scan' of %d operands has 0 to %d carries", (long long)*carries,
                    ins->operand_count, ins->operand_count - 1);
  if (!hl_check_length(infer, ins, HL_ATTR_DIMENSIONS, 1, "it", HL_RULE_SCAN_C1))
    return false;
  for (int i = 0; i < ins->operand_count - *carries; i++) {
    const hl_shape *x = hl_operand_shape(ins, i), *first = hl_operand_shape(ins, 0);
    if (!hl_check_array(infer, ins, i, HL_RULE_SCAN_C1) ||
        !hl_check_range(infer, ins, HL_ATTR_DIMENSIONS, x->rank, hl_say(infer, x), HL_RULE_SCAN_C1))
      return false;
    int64_t dim = hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0];
    if (x->dimensions[dim] != first->dimensions[dim])
      return hl_error(infer->diag, hl_place_operand(ins, i), HL_RULE_SCAN_C1,
                      "inputs 0 and %d of 'scan' have sizes %lld and %lld along dimension %lld", i,
                      (long long)first->dimensions[dim], (long long)x->dimensions[dim],
                      (long long)dim);
  }
  return true;
}

/* The result: the callee's outputs stacked along the dimension, then the carries. */
static const hl_shape *scan_result(hl_infer *infer, const hl_instruction *ins,
                                   const hl_shape *yield, int64_t carries)
{
  bool is_tuple = yield->element_type == HL_TUPLE;
  int count = is_tuple ? yield->tuple_count : 1;
  int64_t dim = hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0];
  int64_t size = hl_operand_shape(ins, 0)->dimensions[dim];
  const hl_shape **shapes = HL_ARRAY(infer->arena, count, const hl_shape *);
  for (int i = 0; i < count; i++) {
    const hl_shape *part = is_tuple ? yield->tuple_shapes[i] : yield;
    shapes[i] = i < count - carries ? scan_stack(infer, ins, part, dim, size) : part;
    if (!shapes[i])
      return NULL;
  }
  return is_tuple ? hl_shape_tuple(infer->arena, count, shapes) : shapes[0];
}

/* scan-c2: the callee takes a slice of each input and the carries, and yields outputs and the
 * carries. */
const hl_shape *hl_infer_scan(hl_infer *infer, const hl_instruction *ins)
{
  int64_t carries;
  if (!check_scan_operands(infer, ins, &carries))
    return NULL;
  int inputs = ins->operand_count - (int)carries;
  int64_t dim = hl_attr_ints(ins, HL_ATTR_DIMENSIONS).values[0];
  const hl_shape **parameters = HL_ARRAY(infer->arena, ins->operand_count, const hl_shape *);
  for (int i = 0; i < ins->operand_count; i++) {
    const hl_shape *x = hl_operand_shape(ins, i);
    parameters[i] = i < inputs ? scan_slice(infer, x, dim) : x;
  }
  if (!hl_check_callee(infer, ins, HL_ATTR_TO_APPLY, ins->operand_count, parameters, NULL,
                       HL_RULE_SCAN_C2))
    return NULL;
  const hl_shape *yield = hl_callee(ins, HL_ATTR_TO_APPLY, 0)->root->shape;
  int count = yield->element_type == HL_TUPLE ? yield->tuple_count : 1;
  bool is_good = count >= carries;
  for (int i = 0; is_good && i < count; i++) {
    const hl_shape *part = yield->element_type == HL_TUPLE ? yield->tuple_shapes[i] : yield;
    int carry = i - (count - (int)carries);
    is_good = carry < 0 ? hl_shape_is_array(part) && part->rank >= dim
                        : hl_shape_equal(part, parameters[inputs + carry]);
  }
  if (!is_good) {
    hl_error(infer->diag, hl_place_attr_entry(ins, HL_ATTR_TO_APPLY, 0), HL_RULE_SCAN_C2,
             "'%s' yields %s; 'scan' needs arrays of rank %lld or more and, last, its %lld carries",
             hl_callee(ins, HL_ATTR_TO_APPLY, 0)->name, hl_say(infer, yield), (long long)dim,
             (long long)carries);
    return NULL;
  }
  return scan_result(infer, ins, yield, carries);
}
