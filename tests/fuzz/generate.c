/* generate - choices, shapes and operands of generated modules. */
#include "generate.h"

#include <stdio.h>
#include <string.h>

int choose(generator *g, int limit)
{
  if (g->size == 0 || limit < 2)
    return 0;
  g->size--;
  return *g->data++ % limit;
}

bool toss(generator *g, int one_in)
{
  return choose(g, one_in) == 1;
}

/* ---- types and shapes ---- */

typedef struct type_row {
  const char *name;
  int bits;
  unsigned classes;
} type_row;

#define HL_TYPE(id, name, bits, bytes, class) {name, bits, 1u << HL_CLASS_##class},
static const type_row types[] = {
#include "ir/types.def"
};
enum { ARRAY_TYPES = sizeof types / sizeof *types - 2 }; /* the last are token and opaque */

static const type_row *row_of(const char *type)
{
  for (int i = 0; i < ARRAY_TYPES; i++)
    if (type && !strcmp(types[i].name, type))
      return &types[i];
  return &types[0];
}

unsigned class_of(const char *type)
{
  return row_of(type)->classes;
}

int bits_of(const char *type)
{
  return row_of(type)->bits;
}

/* Half of the time one that models use. */
const char *choose_type(generator *g, unsigned classes)
{
  static const char *const usual[] = {"f32", "s32", "pred", "f64", "bf16", "u8", "s8", "u32", "f16", "c64", "s64"};
  for (int i = 0; i < 4; i++) {
    const char *type = CHOOSE_OF(g, usual);
    if (class_of(type) & classes)
      return type;
  }
  int at = choose(g, ARRAY_TYPES);
  while (!(types[at].classes & classes))
    at = (at + 1) % ARRAY_TYPES;
  return types[at].name;
}

generated_shape shape_of(const hlo_value *value)
{
  const char *type = hlo_value_type(value);
  generated_shape shape = {type ? type : "pred", hlo_value_rank(value), {0}}; /* after an error there are no values */
  if (shape.rank > GENERATE_RANK)
    shape.rank = 0;
  for (int i = 0; i < shape.rank; i++)
    shape.sizes[i] = hlo_value_dimensions(value)[i];
  return shape;
}

int64_t element_count(const generated_shape *shape)
{
  int64_t count = 1;
  for (int i = 0; i < shape->rank; i++)
    count *= shape->sizes[i];
  return count;
}

const char *shape_text(const generated_shape *shape)
{
  static char texts[4][160];
  static int turn;
  char *text = texts[turn++ % 4];
  int length = snprintf(text, 160, "%s[", shape->type);
  for (int i = 0; i < shape->rank; i++)
    length += snprintf(text + length, (size_t)(160 - length), "%s%d", i ? "," : "", (int)shape->sizes[i]);
  snprintf(text + length, (size_t)(160 - length), "]");
  return text;
}

static generated_shape choose_shape(generator *g, unsigned classes, int least_rank)
{
  static const int ranks[] = {2, 1, 2, 3, 0, 1, 2, 3, 4, 2, 5, 6, 7};
  static const int sizes[] = {3, 4, 5, 8, 1, 2, 7, 16, 17, 0, 33, 64, 130, 31, 6};
  generated_shape shape = {choose_type(g, classes), CHOOSE_OF(g, ranks), {0}};
  if (shape.rank < least_rank)
    shape.rank = least_rank;
  int64_t left = GENERATE_ELEMENTS / 4;
  for (int i = 0; i < shape.rank; i++) {
    int64_t size = CHOOSE_OF(g, sizes);
    if (size == 0 && !toss(g, 4))
      size = 2;
    shape.sizes[i] = size > left ? 1 : size;
    left /= size > 1 ? shape.sizes[i] : 1;
  }
  return shape;
}

/* ---- operands ---- */

static hlo_value *scalar(generator *g, const char *type)
{
  static const char *const texts[] = {"1", "0", "2", "3", "1", "0"};
  static const char *const reals[] = {"1", "0", "-0", "0.5", "-2", "inf", "nan", "3", "-1"};
  const char *text = CHOOSE_OF(g, texts);
  if (bits_of(type) < 4)
    text = choose(g, 2) && class_of(type) != HL_T_SIGNED ? "1" : "0";
  if (class_of(type) == HL_T_COMPLEX)
    return hlo_emit(g->builder, "%s[] constant((%s, %s))", type, CHOOSE_OF(g, reals), CHOOSE_OF(g, reals));
  if (class_of(type) == HL_T_FLOAT && bits_of(type) > 8)
    text = CHOOSE_OF(g, reals);
  else if (class_of(type) == HL_T_FLOAT)
    text = "1";
  return hlo_emit(g->builder, "%s[] constant(%s)", type, text);
}

static hlo_value *computed(generator *g, const generated_shape *shape)
{
  bool counts = shape->rank > 0 && !(class_of(shape->type) & HL_T_PRED) && choose(g, 2);
  if (counts)
    return hlo_emit(g->builder, "%s iota(), iota_dimension=%d", shape_text(shape), choose(g, shape->rank));
  hlo_value *one = scalar(g, shape->type);
  return shape->rank ? hlo_emit(g->builder, "%s broadcast(%v), dimensions={}", shape_text(shape), one) : one;
}

static hlo_value *new_value(generator *g, const generated_shape *shape)
{
  if (g->depth == 0 && choose(g, 4))
    return hlo_parameter(g->builder, NULL, shape->type, shape->rank, shape->sizes);
  return computed(g, shape);
}

hlo_value *fresh_value(generator *g, const char *type, int rank, const int64_t *sizes)
{
  generated_shape shape = {type, rank, {0}};
  memcpy(shape.sizes, sizes, (size_t)rank * sizeof *sizes);
  return new_value(g, &shape);
}

static bool is_small(const hlo_value *value)
{
  generated_shape shape = shape_of(value);
  return element_count(&shape) <= GENERATE_ELEMENTS;
}

hlo_value *any_array(generator *g, unsigned classes, int least_rank)
{
  int start = choose(g, GENERATE_POOL);
  for (int i = 0; i < g->count; i++) {
    hlo_value *value = g->pool[(start + i) % g->count];
    if (hlo_value_rank(value) >= least_rank && (class_of(hlo_value_type(value)) & classes) && is_small(value))
      return value;
  }
  generated_shape shape = choose_shape(g, classes, least_rank);
  return new_value(g, &shape);
}

hlo_value *any_value(generator *g, unsigned classes)
{
  return any_array(g, classes, 0);
}

static bool same_shape(const generated_shape *a, const generated_shape *b)
{
  return !strcmp(a->type, b->type) && a->rank == b->rank &&
         !memcmp(a->sizes, b->sizes, (size_t)a->rank * sizeof *a->sizes);
}

hlo_value *value_of(generator *g, const generated_shape *shape)
{
  int start = choose(g, GENERATE_POOL);
  for (int i = 0; i < g->count; i++) {
    hlo_value *value = g->pool[(start + i) % g->count];
    generated_shape have = shape_of(value);
    if (same_shape(&have, shape))
      return value;
  }
  return new_value(g, shape);
}

hlo_value *small_scalar(generator *g, const char *type, int limit)
{
  if (g->depth == 0 && choose(g, 2))
    return hlo_parameter(g->builder, NULL, type, 0, NULL);
  int least = class_of(type) == HL_T_SIGNED ? -1 : 0;
  return hlo_emit(g->builder, "%s[] constant(%d)", type, choose(g, limit - least) + least);
}

/* ---- regions ---- */

hlo_computation *binary_region(generator *g, const char *type)
{
  static const char *const real[] = {"add", "maximum", "multiply", "minimum"};
  static const char *const logical[] = {"and", "or", "xor"};
  static const char *const complex[] = {"add", "multiply"};
  unsigned classes = class_of(type);
  const char *op = classes == HL_T_PRED ? CHOOSE_OF(g, logical) : classes == HL_T_COMPLEX ? CHOOSE_OF(g, complex)
                                                                                            : CHOOSE_OF(g, real);
  return hlo_region(g->builder, op, type);
}

/* By the first operand, in one of the forms that programs use. */
hlo_computation *comparator_of(generator *g, int count, hlo_value *const *operands)
{
  const char *type = hlo_value_type(operands[0]);
  const char *direction = choose(g, 2) ? "GT" : "LT";
  hlo_value *first = NULL, *second = NULL;
  hlo_begin(g->builder, NULL);
  for (int i = 0; i < count; i++) {
    hlo_value *a = hlo_parameter(g->builder, NULL, hlo_value_type(operands[i]), 0, NULL);
    hlo_value *b = hlo_parameter(g->builder, NULL, hlo_value_type(operands[i]), 0, NULL);
    first = first ? first : a;
    second = second ? second : b;
  }
  hlo_value *less = hlo_emit(g->builder, "compare(%v, %v), direction=%s%s", first, second, direction,
                             class_of(type) == HL_T_FLOAT ? ", type=TOTALORDER" : "");
  return hlo_end(g->builder, less);
}

/* ---- modules ---- */

/* What is a tuple or of too high a rank is not for others. */
static void add_to_pool(generator *g, hlo_value *value)
{
  const char *type = hlo_value_type(value);
  if (!type || !strcmp(type, "tuple") || !strcmp(type, "token") || hlo_value_rank(value) > GENERATE_RANK)
    return;
  if (g->count == GENERATE_POOL) {
    g->pool[choose(g, GENERATE_POOL)] = value;
    return;
  }
  g->pool[g->count++] = value;
}

static hlo_value *make_instruction(generator *g)
{
  int kind = choose(g, 16);
  if (kind < 10)
    return simple_makers[choose(g, simple_maker_count)](g);
  if (kind < 14 || g->depth > 1)
    return window_makers[choose(g, window_maker_count)](g);
  return control_makers[choose(g, control_maker_count)](g);
}

void generate_instructions(generator *g, int count)
{
  for (int i = 0; i < count && (g->size > 0 || g->count == 0); i++)
    add_to_pool(g, make_instruction(g));
}

hlo_module *generate_module(hlo_context *context, const uint8_t *data, size_t size)
{
  generator g = {.data = data, .size = size, .builder = hlo_builder_new(context, "generated")};
  generate_instructions(&g, 2 + choose(&g, 30));
  int results = 1 + choose(&g, 4);
  hlo_value *chosen[4];
  for (int i = 0; i < results; i++)
    chosen[i] = g.count ? g.pool[i == 0 ? g.count - 1 : choose(&g, g.count)] : scalar(&g, "f32");
  hlo_value *root = results == 1 ? chosen[0] : hlo_tuple(g.builder, results, chosen);
  hlo_module *module = hlo_build(g.builder, root);
  hlo_builder_free(g.builder);
  return module;
}
