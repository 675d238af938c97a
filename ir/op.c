/* op - the op and attribute tables, made from ops.def and attrs.def, and look-ups by name. */
#include "op.h"

#include <string.h>

/* A list of attributes ends with HL_ATTR_COUNT, so that no list is empty. */
/* clang-format off */
#define REQ(id) {HL_ATTR_##id, true}
#define OPT(id) {HL_ATTR_##id, false}
#define NONE {HL_ATTR_COUNT, false}
/* clang-format on */
#define HL_OP(id, name, min, max, types, flags, stage, infer, family, ...)                         \
  static const hl_attr_use attrs_##id[] = {__VA_ARGS__, {HL_ATTR_COUNT, false}};
#include "ops.def"
#undef REQ
#undef OPT
#undef NONE

/* Whether the list holds NONE alone, as a constant. */
#define REQ(id) 0
#define OPT(id) 0
#define NONE 1
#define FIRST(first, ...) first
#define IS_NONE(...) FIRST(__VA_ARGS__, 0)
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const hl_op_info ops[HL_OP_COUNT] = {
/* clang-format off */
#define HL_OP(id, name, min, max, types, flags, stage, infer, family, ...)                         \
  [HL_OP_##id] = {name, min, max, types, flags, HL_STAGE_##stage, #family,                         \
                  attrs_##id, COUNT(attrs_##id) - 1 - IS_NONE(__VA_ARGS__)},
/* clang-format on */
#include "ops.def"
};
#undef REQ
#undef OPT
#undef NONE

static const unsigned char op_name_lengths[HL_OP_COUNT] = {
#define HL_OP(id, name, ...) [HL_OP_##id] = sizeof name - 1,
#include "ops.def"
};

typedef struct attr_info {
  const char *name;
  size_t length;
  hl_attr_kind kind;
  const char *words;
} attr_info;

static const attr_info attrs[HL_ATTR_COUNT] = {
#define HL_ATTR(id, name, kind, words)                                                             \
  [HL_ATTR_##id] = {name, sizeof name - 1, HL_KIND_##kind, words},
#include "attrs.def"
};

static const hl_op_notes notes[HL_OP_COUNT] = {
#define HL_NOTE(id, meaning, corners, example) [HL_OP_##id] = {meaning, corners, example},
#include "op_notes.def"
};

const hl_op_notes *hl_op_notes_of(hl_opcode opcode)
{
  return &notes[opcode];
}

const hl_op_info *hl_op_info_of(hl_opcode opcode)
{
  return &ops[opcode];
}

hl_opcode hl_op_by_name(const char *name, size_t length)
{
  for (int i = 0; i < HL_OP_COUNT; i++)
    if (op_name_lengths[i] == length && !memcmp(ops[i].name, name, length))
      return (hl_opcode)i;
  return HL_OP_COUNT;
}

/* What people write who come from other libraries. */
static const char *const other_names[][2] = {
    {"cast", "convert"},
    {"ceiling", "ceil"},
    {"clip", "clamp"},
    {"clz", "count-leading-zeros"},
    {"concat", "concatenate"},
    {"cond", "conditional"},
    {"conj", "complex"},
    {"conv", "convolution"},
    {"cos", "cosine"},
    {"div", "divide"},
    {"exp", "exponential"},
    {"expm1", "exponential-minus-one"},
    {"fmod", "remainder"},
    {"gte", "get-tuple-element"},
    {"isfinite", "is-finite"},
    {"log1p", "log-plus-one"},
    {"matmul", "dot"},
    {"max", "maximum"},
    {"min", "minimum"},
    {"mod", "remainder"},
    {"mul", "multiply"},
    {"neg", "negate"},
    {"permute", "transpose"},
    {"popcount", "popcnt"},
    {"pow", "power"},
    {"rem", "remainder"},
    {"rev", "reverse"},
    {"rint", "round-nearest-even"},
    {"round", "round-nearest-even"},
    {"shl", "shift-left"},
    {"shr", "shift-right-logical"},
    {"sigmoid", "logistic"},
    {"sin", "sine"},
    {"sub", "subtract"},
    {"where", "select"},
};

const char *hl_op_suggest(const char *name)
{
  for (int i = 0; i < COUNT(other_names); i++)
    if (!strcmp(name, other_names[i][0]))
      return other_names[i][1];
  size_t limit = strlen(name) < 4 ? 1 : strlen(name) < 8 ? 2 : 3;
  const char *best = NULL;
  for (int i = 0; i < HL_OP_COUNT && limit; i++) {
    size_t distance = hl_edit_distance(name, ops[i].name, limit);
    if (distance > limit)
      continue;
    best = ops[i].name;
    limit = distance - 1; /* only a closer name counts from here */
  }
  return best;
}

const char *hl_attr_name(hl_attr_id id)
{
  return attrs[id].name;
}

hl_attr_kind hl_attr_kind_of(hl_attr_id id)
{
  return attrs[id].kind;
}

const char *hl_attr_word(hl_attr_id id, int64_t index, size_t *length)
{
  const char *word = attrs[id].words;
  for (; index > 0 && *word; index--) {
    word += strcspn(word, " ");
    word += strspn(word, " ");
  }
  *length = strcspn(word, " ");
  return *length && index == 0 ? word : NULL;
}

static bool has_name(hl_attr_id id, const char *name, size_t length)
{
  return attrs[id].length == length && !memcmp(attrs[id].name, name, length);
}

hl_attr_id hl_attr_for_op(hl_opcode opcode, const char *name, size_t length)
{
  for (int i = 0; i < ops[opcode].attr_count; i++)
    if (has_name(ops[opcode].attrs[i].id, name, length))
      return ops[opcode].attrs[i].id;
  for (int i = 0; i < HL_ATTR_COMMON_LAST; i++)
    if (has_name((hl_attr_id)i, name, length))
      return (hl_attr_id)i;
  return HL_ATTR_COUNT;
}

bool hl_attr_exists(const char *name, size_t length)
{
  for (int i = 0; i < HL_ATTR_COUNT; i++)
    if (has_name((hl_attr_id)i, name, length))
      return true;
  return false;
}
