/* lapack - the custom calls that jax.numpy.linalg prints for CPUs: which routine, and whether the arrays fit.
 *
 * A pattern lists operands, then results: a letter for the type and one for each dimension of one batch, in memory order, so that a
 * column-major matrix of m rows and n columns is "nm". Types: x the routine's, r its real part's, c its complex one, i s32. Dimensions are what the first
 * array with the letter has; k is min(m, n), g is n - 1.
 */
#include "custom.h"

#include "limits.h"

#include <string.h>

typedef struct routine {
  const char *name, *complex_name; /* NULL: there is none */
  const char *operands, *results;
  const char *options; /* names in the backend_config, with the letters that each may be */
} routine;

static const routine routines[HL_LAPACK_ROUTINES] = {
    [HL_LAPACK_GETRF] = {"getrf", "getrf", "xnm", "xnm ik i", ""},
    [HL_LAPACK_POTRF] = {"potrf", "potrf", "xnn", "xnn i", "uplo=LU"},
    [HL_LAPACK_GEQRF] = {"geqrf", "geqrf", "xnm", "xnm xk", ""},
    [HL_LAPACK_GEQP3] = {"geqp3", "geqp3", "xnm in", "xnm in xk", ""},
    [HL_LAPACK_ORGQR] = {"orgqr", "ungqr", "xnm xp", "xnm", ""},
    [HL_LAPACK_SYEVD] = {"syevd", "heevd", "xnn", "xnn rn i", "mode=NV uplo=LU"},
    [HL_LAPACK_GESDD] = {"gesdd", "gesdd", "xnm", "xnm rk xum xnv i", "mode=ASN"},
    [HL_LAPACK_TRSM] = {"trsm", "trsm", "xaa xnm", "xnm", "side=LR uplo=LU trans_x=NTC diag=NU"},
    [HL_LAPACK_GEHRD] = {"gehrd", "gehrd", "xnn", "xnn xg i", ""},
    [HL_LAPACK_SYTRD] = {"sytrd", "hetrd", "xnn", "xnn rn rg xg i", "uplo=LU"},
    [HL_LAPACK_GEEV] = {NULL, "geev", "xnn", "xn xnn xnn i", "compute_left=NV compute_right=NV"},
    [HL_LAPACK_REAL_GEEV] = {"geev", NULL, "xnn", "xn xn cnn cnn i", "compute_left=NV compute_right=NV"},
    [HL_LAPACK_GEEV_PARTS] = {"geev.parts", NULL, "xnn", "xn xn xnn xnn i", "compute_left=NV compute_right=NV"},
};

static const struct {
  char letter;
  hl_element_type type;
} types[] = {{'s', HL_F32}, {'d', HL_F64}, {'c', HL_C64}, {'z', HL_C128}};

static hl_element_type type_of_letter(char letter)
{
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].letter == letter)
      return types[i].type;
  return HL_TYPE_COUNT;
}

static const char *name_for(const routine *r, hl_element_type type)
{
  return hl_is_complex(type) ? r->complex_name : r->name;
}

/* The letter's place in "lapack_sgetrf_ffi". */
enum { LETTER_AT = 7 };

hl_lapack_routine hl_lapack_routine_of(const char *target)
{
  size_t length = strlen(target);
  if (strncmp(target, "lapack_", LETTER_AT) != 0 || length < LETTER_AT + 5 || strcmp(target + length - 4, "_ffi") != 0)
    return HL_LAPACK_ROUTINES;
  hl_element_type type = type_of_letter(target[LETTER_AT]);
  size_t name_length = length - LETTER_AT - 5;
  for (int i = 0; type != HL_TYPE_COUNT && i < HL_LAPACK_ROUTINES; i++) {
    const char *name = name_for(&routines[i], type);
    if (name && strlen(name) == name_length && !strncmp(target + LETTER_AT + 1, name, name_length))
      return (hl_lapack_routine)i;
  }
  return HL_LAPACK_ROUTINES;
}

/* ---- shapes ---- */

typedef struct reader {
  hl_arena *arena;
  hl_lapack *out;
  int batch_rank;
  int64_t batch[HL_LIMIT_RANK];
  bool is_known[26];
} reader;

static int64_t *size_of(reader *r, char letter)
{
  return &r->out->sizes[letter - 'a'];
}

static void set_size(reader *r, char letter, int64_t size)
{
  *size_of(r, letter) = size;
  r->is_known[letter - 'a'] = true;
  int64_t m = *size_of(r, 'm'), n = *size_of(r, 'n');
  if (letter != 'm' && letter != 'n')
    return;
  *size_of(r, 'k') = m < n ? m : n;
  *size_of(r, 'g') = n > 0 ? n - 1 : 0;
  r->is_known['k' - 'a'] = r->is_known['m' - 'a'] && r->is_known['n' - 'a'];
  r->is_known['g' - 'a'] = r->is_known['n' - 'a'];
}

static bool fits_dimensions(reader *r, const char *pattern, int count, const int64_t *dimensions)
{
  for (int i = 0; i < count; i++) {
    if (!r->is_known[pattern[i] - 'a'])
      set_size(r, pattern[i], dimensions[i]);
    if (*size_of(r, pattern[i]) != dimensions[i] || dimensions[i] > INT32_MAX)
      return false;
  }
  return true;
}

static hl_element_type type_of_pattern(const reader *r, char letter)
{
  if (letter == 'i')
    return HL_S32;
  if (letter == 'c')
    return hl_component_type(r->out->type) == HL_F32 ? HL_C64 : HL_C128;
  return letter == 'r' ? hl_component_type(r->out->type) : r->out->type;
}

/* The first array says what the batches are. */
static bool fits_batch(reader *r, bool is_first, int rank, const int64_t *dimensions)
{
  if (is_first) {
    r->batch_rank = rank;
    memcpy(r->batch, dimensions, (size_t)rank * sizeof *dimensions);
    for (int i = 0; i < rank; i++)
      r->out->batches *= dimensions[i];
  }
  return r->batch_rank == rank && (!rank || !memcmp(r->batch, dimensions, (size_t)rank * sizeof *dimensions));
}

/* Whether the memory of an array of this shape is what the word of the pattern says. */
static bool fits(reader *r, const char *word, bool is_first, const hl_shape *shape)
{
  int count = (int)strcspn(word + 1, " ");
  int64_t permutation[HL_LIMIT_RANK], dimensions[HL_LIMIT_RANK];
  if (!hl_shape_is_array(shape) || shape->element_type != type_of_pattern(r, *word) || shape->rank < count)
    return false;
  hl_memory_order(shape, permutation, dimensions);
  int batch_rank = shape->rank - count;
  return fits_batch(r, is_first, batch_rank, dimensions) && fits_dimensions(r, word + 1, count, dimensions + batch_rank);
}

static const char *next_word(const char *word)
{
  word += strcspn(word, " ");
  return word + strspn(word, " ");
}

static int word_count(const char *text)
{
  int count = 0;
  for (; *text; text = next_word(text))
    count++;
  return count;
}

static const char *read_operands(reader *r, const hl_instruction *ins, const routine *like)
{
  const char *word = like->operands;
  if (ins->operand_count != word_count(word))
    return hl_arena_printf(r->arena, "takes %d operands, not %d", word_count(word), ins->operand_count);
  for (int i = 0; i < ins->operand_count; i++, word = next_word(word)) {
    const hl_shape *constraint = hl_custom_constraint(ins, i), *shape = ins->operands[i]->shape;
    hl_shape plain = *shape;
    plain.minor_to_major = constraint ? constraint->minor_to_major : NULL;
    if (!fits(r, word, i == 0, &plain))
      return hl_arena_printf(r->arena, "cannot take operand %d, %s, in this layout", i, hl_shape_text(r->arena, shape));
  }
  return NULL;
}

static const char *read_results(reader *r, const hl_instruction *ins, const routine *like)
{
  const char *word = like->results;
  bool is_tuple = ins->shape->element_type == HL_TUPLE;
  int count = is_tuple ? ins->shape->tuple_count : 1;
  if (count != word_count(word))
    return hl_arena_printf(r->arena, "yields %d arrays, not %d", word_count(word), count);
  for (int i = 0; i < count; i++, word = next_word(word)) {
    const hl_shape *shape = is_tuple ? ins->shape->tuple_shapes[i] : ins->shape;
    if (!fits(r, word, false, shape))
      return hl_arena_printf(r->arena, "cannot yield %s as result %d in this layout", hl_shape_text(r->arena, shape), i);
  }
  return NULL;
}

/* ---- what the routines would end the process for ---- */

static const char *check_options(const reader *r, const hl_instruction *ins, const routine *like)
{
  for (const char *word = like->options; *word; word = next_word(word)) {
    size_t name_length = strcspn(word, "="), length = strcspn(word, " ");
    const char *name = hl_arena_strndup(r->arena, word, name_length);
    int64_t letter = hl_custom_option(ins, name, 0);
    if (letter <= 0 || letter > 127 || !memchr(word + name_length + 1, (int)letter, length - name_length - 1))
      return hl_arena_printf(r->arena, "needs %s, the code of one of the letters %.*s, in its backend_config", name,
                             (int)(length - name_length - 1), word + name_length + 1);
  }
  return NULL;
}

static bool has_good_sizes(reader *r, const hl_instruction *ins)
{
  int64_t m = *size_of(r, 'm'), n = *size_of(r, 'n'), k = *size_of(r, 'k');
  int64_t u = *size_of(r, 'u'), v = *size_of(r, 'v'), low = hl_custom_option(ins, "low", 1);
  int64_t high = hl_custom_option(ins, "high", n);
  switch (r->out->routine) {
  case HL_LAPACK_ORGQR:
    return n <= m && *size_of(r, 'p') <= n;
  case HL_LAPACK_GESDD: {
    int64_t mode = hl_custom_option(ins, "mode", 0);
    return mode == 'A' ? u == m && v == n : mode == 'S' ? u == k && v == k : true;
  }
  case HL_LAPACK_TRSM:
    return *size_of(r, 'a') == (hl_custom_option(ins, "side", 0) == 'L' ? m : n);
  case HL_LAPACK_GEHRD:
    return low >= 1 && high <= n && low <= (high > 1 ? high : 1) && high >= (n < 1 ? n : 1);
  default:
    return true;
  }
}

/* Work arrays of 4 n^2 numbers must be countable in 32 bits. */
static const char *check_sizes(reader *r, const hl_instruction *ins)
{
  enum { LARGEST = 16384, LONGEST = 1 << 24 };
  int64_t m = *size_of(r, 'm'), n = *size_of(r, 'n'), k = m && m < n ? m : n;
  if (!has_good_sizes(r, ins))
    return hl_arena_printf(r->arena, "has arrays whose sizes do not fit together");
  bool has_squares = r->out->routine == HL_LAPACK_SYEVD || r->out->routine == HL_LAPACK_GESDD;
  if (has_squares && k > LARGEST)
    return hl_arena_printf(r->arena, "takes matrices of %d rows or columns at most", LARGEST);
  if (m > LONGEST || n > LONGEST)
    return hl_arena_printf(r->arena, "takes matrices of %d rows and columns at most", LONGEST);
  return NULL;
}

const char *hl_lapack_read(hl_arena *arena, const hl_instruction *ins, hl_lapack *out)
{
  const char *target = hl_attr_find(ins, HL_ATTR_CUSTOM_CALL_TARGET)->text;
  *out = (hl_lapack){.routine = hl_lapack_routine_of(target), .type = type_of_letter(target[LETTER_AT]), .batches = 1};
  const routine *like = &routines[out->routine];
  reader r = {.arena = arena, .out = out};
  const char *name = name_for(like, out->type);
  out->symbol = hl_arena_printf(arena, "%c%.*s_", target[LETTER_AT], (int)strcspn(name, "."), name);
  const char *fault = read_operands(&r, ins, like);
  if (!fault)
    fault = read_results(&r, ins, like);
  if (!fault)
    fault = check_options(&r, ins, like);
  return fault ? fault : check_sizes(&r, ins);
}
