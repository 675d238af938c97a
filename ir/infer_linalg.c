/* infer_linalg - linear algebra, Fourier transforms, random numbers, batch normalisation (spec
 * section 8.10). */
#include "infer.h"

#include "limits.h"

#include <string.h>

/* The last two dimensions are equal. */
static bool check_square(hl_infer *infer, const hl_instruction *ins, hl_rule rule)
{
  const hl_shape *a = hl_operand_shape(ins, 0);
  return (a->rank >= 2 && a->dimensions[a->rank - 1] == a->dimensions[a->rank - 2]) ||
         hl_error(infer->diag, hl_place_operand(ins, 0), rule,
                  "'%s' takes square matrices [...,n,n]; the operand is %s", hl_say_op(ins),
                  hl_say(infer, a));
}

/* cholesky-c1: square matrices. */
const hl_shape *hl_infer_cholesky(hl_infer *infer, const hl_instruction *ins)
{
  return check_square(infer, ins, HL_RULE_CHOLESKY_C1) ? hl_operand_shape(ins, 0) : NULL;
}

/* triangular-solve-c1: square matrices; -c2: b has a's type, rank, batches, and its shared
 * dimension. */
const hl_shape *hl_infer_triangular_solve(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *a = hl_operand_shape(ins, 0), *b = hl_operand_shape(ins, 1);
  if (!check_square(infer, ins, HL_RULE_TRIANGULAR_SOLVE_C1) ||
      !hl_check_same_type(infer, ins, 1, 0, HL_RULE_TRIANGULAR_SOLVE_C2))
    return NULL;
  bool is_good = b->rank == a->rank;
  for (int i = 0; is_good && i < a->rank - 2; i++)
    is_good = a->dimensions[i] == b->dimensions[i];
  int shared = a->rank - (hl_attr_int(ins, HL_ATTR_LEFT_SIDE, 0) ? 2 : 1);
  if (is_good && b->dimensions[shared] == a->dimensions[a->rank - 1])
    return b;
  hl_error(infer->diag, hl_place_operand(ins, 1), HL_RULE_TRIANGULAR_SOLVE_C2,
           "b is %s; with a of %s its batches and dimension %d must agree with a's",
           hl_say(infer, b), hl_say(infer, a), shared);
  return NULL;
}

enum { FFT, IFFT, RFFT, IRFFT };

/* fft-c2: fft_length has 1 to 3 entries, not more than the operand's rank, none negative. */
static bool check_fft_lengths(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  hl_ints lengths = hl_attr_ints(ins, HL_ATTR_FFT_LENGTH);
  if (lengths.count < 1 || lengths.count > 3 || lengths.count > x->rank)
    return hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_FFT_LENGTH), HL_RULE_FFT_C2,
                    "fft_length has %d entries; it takes 1 to 3 and not more than the rank of %s",
                    lengths.count, hl_say(infer, x));
  for (int i = 0; i < lengths.count; i++)
    if (lengths.values[i] < 0)
      return hl_error(infer->diag, hl_place_attr_entry(ins, HL_ATTR_FFT_LENGTH, i), HL_RULE_FFT_C2,
                      "fft_length %lld is negative", (long long)lengths.values[i]);
  return true;
}

/* fft-c3: lengths are the operand's last sizes; of IRFFT's last one the operand has length / 2 + 1.
 */
static bool check_fft_sizes(hl_infer *infer, const hl_instruction *ins, int64_t kind)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  hl_ints lengths = hl_attr_ints(ins, HL_ATTR_FFT_LENGTH);
  for (int i = 0; i < lengths.count; i++) {
    int64_t size = x->dimensions[x->rank - lengths.count + i], length = lengths.values[i];
    bool is_half = kind == IRFFT && i == lengths.count - 1;
    int64_t want = is_half ? (length ? length / 2 + 1 : 0) : length;
    if (size != want)
      return hl_error(infer->diag, hl_place_attr_entry(ins, HL_ATTR_FFT_LENGTH, i), HL_RULE_FFT_C3,
                      "fft_length %lld needs size %lld in dimension %d of %s", (long long)length,
                      (long long)want, x->rank - lengths.count + i, hl_say(infer, x));
  }
  return true;
}

/* fft-c1: RFFT takes f32 or f64, the others complex. */
const hl_shape *hl_infer_fft(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  int64_t kind = hl_attr_int(ins, HL_ATTR_FFT_TYPE, FFT), sizes[HL_LIMIT_RANK];
  bool is_real = x->element_type == HL_F32 || x->element_type == HL_F64;
  if (kind == RFFT ? !is_real : !hl_is_complex(x->element_type)) {
    hl_error(infer->diag, hl_place_operand(ins, 0), HL_RULE_FFT_C1,
             "an fft of this type takes %s; the operand is %s",
             kind == RFFT ? "f32 or f64" : "complex numbers", hl_say(infer, x));
    return NULL;
  }
  if (!check_fft_lengths(infer, ins) || !check_fft_sizes(infer, ins, kind))
    return NULL;
  if (kind == FFT || kind == IFFT)
    return x;
  int64_t length =
      hl_attr_ints(ins, HL_ATTR_FFT_LENGTH).values[hl_attr_ints(ins, HL_ATTR_FFT_LENGTH).count - 1];
  memcpy(sizes, x->dimensions, (size_t)x->rank * sizeof *sizes);
  sizes[x->rank - 1] = kind == IRFFT ? length : length ? length / 2 + 1 : 0;
  hl_element_type complex = x->element_type == HL_F32 ? HL_C64 : HL_C128;
  return hl_make_array(infer, ins, kind == RFFT ? complex : hl_component_type(x->element_type),
                       x->rank, sizes);
}

enum { RNG_DEFAULT, RNG_THREE_FRY, RNG_PHILOX };

/* rng-bit-generator-c1: the state is u64[2], or u64[3] but for three_fry; -c2: the result is
 * (state, integers). */
const hl_shape *hl_infer_rng_bit_generator(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *state = hl_operand_shape(ins, 0), *shape = ins->shape;
  bool may_be_three = hl_attr_int(ins, HL_ATTR_RNG_ALGORITHM, RNG_DEFAULT) != RNG_THREE_FRY;
  int64_t size = state->rank == 1 ? state->dimensions[0] : 0;
  if (state->element_type != HL_U64 || !(size == 2 || (size == 3 && may_be_three))) {
    hl_error(infer->diag, hl_place_operand(ins, 0), HL_RULE_RNG_BIT_GENERATOR_C1,
             "the state must be u64[2]%s; it is %s", may_be_three ? " or u64[3]" : "",
             hl_say(infer, state));
    return NULL;
  }
  if (shape->element_type != HL_TUPLE || shape->tuple_count != 2 ||
      !hl_is_integral(shape->tuple_shapes[1]->element_type)) {
    hl_error(infer->diag, hl_place_shape(ins), HL_RULE_RNG_BIT_GENERATOR_C2,
             "'rng-bit-generator' yields (state, array of integers), not %s", hl_say(infer, shape));
    return NULL;
  }
  return hl_shape_tuple(infer->arena, 2, (const hl_shape *[]){state, shape->tuple_shapes[1]});
}

/* rng-c2: normal numbers are floating or complex. */
static bool check_distribution(hl_infer *infer, const hl_instruction *ins)
{
  enum { NORMAL = 1 };
  hl_element_type type = ins->shape->element_type;
  return hl_attr_int(ins, HL_ATTR_DISTRIBUTION, 0) != NORMAL || hl_is_float(type) ||
         hl_is_complex(type) ||
         hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_DISTRIBUTION), HL_RULE_RNG_C2,
                  "normal numbers are floating or complex, not %s", hl_say(infer, ins->shape));
}

/* rng-c1: two scalars of the result's type. */
const hl_shape *hl_infer_rng(hl_infer *infer, const hl_instruction *ins)
{
  if (!hl_shape_is_array(ins->shape)) {
    hl_error(infer->diag, hl_place_shape(ins), HL_RULE_RNG_C1, "'rng' yields an array, not %s",
             hl_say(infer, ins->shape));
    return NULL;
  }
  for (int i = 0; i < 2; i++)
    if (!hl_check_scalar(infer, ins, i, ins->shape->element_type, HL_RULE_RNG_C1))
      return NULL;
  return check_distribution(infer, ins) ? ins->shape : NULL;
}

const hl_shape *hl_infer_rng_get_and_update_state(hl_infer *infer, const hl_instruction *ins)
{
  (void)ins;
  return hl_shape_new(infer->arena, HL_U64, 1, (const int64_t[]){2});
}

/* batch-norm-c1: feature_index in range; batch-norm-c2: the vectors hold the feature size, all of
 * one type. */
static bool check_batch_norm(hl_infer *infer, const hl_instruction *ins, int vectors,
                             const hl_shape **vector)
{
  const hl_shape *x = hl_operand_shape(ins, 0);
  int64_t feature = hl_attr_int(ins, HL_ATTR_FEATURE_INDEX, 0);
  if (feature < 0 || feature >= x->rank)
    return hl_error(infer->diag, hl_place_attr(ins, HL_ATTR_FEATURE_INDEX), HL_RULE_BATCH_NORM_C1,
                    "feature_index %lld is no dimension of %s, which has rank %d",
                    (long long)feature, hl_say(infer, x), x->rank);
  *vector = hl_shape_new(infer->arena, x->element_type, 1, &x->dimensions[feature]);
  for (int i = 1; i <= vectors; i++)
    if (!hl_shape_equal(hl_operand_shape(ins, i), *vector))
      return hl_error(infer->diag, hl_place_operand(ins, i), HL_RULE_BATCH_NORM_C2,
                      "operand %d of '%s' must be %s; it is %s", i, hl_say_op(ins),
                      hl_say(infer, *vector), hl_say(infer, hl_operand_shape(ins, i)));
  return true;
}

const hl_shape *hl_infer_batch_norm_training(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *vector;
  if (!check_batch_norm(infer, ins, 2, &vector))
    return NULL;
  return hl_shape_tuple(infer->arena, 3,
                        (const hl_shape *[]){hl_operand_shape(ins, 0), vector, vector});
}

const hl_shape *hl_infer_batch_norm_inference(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *vector;
  return check_batch_norm(infer, ins, 4, &vector) ? hl_operand_shape(ins, 0) : NULL;
}

/* batch-norm-c3: the gradient has the operand's shape. */
const hl_shape *hl_infer_batch_norm_grad(hl_infer *infer, const hl_instruction *ins)
{
  const hl_shape *vector;
  if (!check_batch_norm(infer, ins, 3, &vector) ||
      !hl_check_dimensions(infer, ins, 4, 0, HL_RULE_BATCH_NORM_C3) ||
      !hl_check_same_type(infer, ins, 4, 0, HL_RULE_BATCH_NORM_C3))
    return NULL;
  return hl_shape_tuple(infer->arena, 3,
                        (const hl_shape *[]){hl_operand_shape(ins, 0), vector, vector});
}
