/* custom - targets of custom calls, their options and symbols (spec section 9). */
#include "custom.h"

#include "device.h"

#include <stdlib.h>
#include <string.h>

static const char *target_of(const hl_instruction *ins)
{
  return hl_attr_find(ins, HL_ATTR_CUSTOM_CALL_TARGET)->text;
}

/* A '*' at the end stands for anything. */
static bool is_one_of(const char *target, const char *const *patterns)
{
  for (; *patterns; patterns++) {
    size_t length = strlen(*patterns);
    bool is_open = (*patterns)[length - 1] == '*';
    if (is_open ? !strncmp(target, *patterns, length - 1) : !strcmp(target, *patterns))
      return true;
  }
  return false;
}

static bool is_foreign(const char *target)
{
  static const char *const patterns[] = {
      "__*",         "te_*",           "triton*",  "xla_ffi_python*", "xla_python*", "cu_*",
      "cublas*",     "cuda*",          "cudnn*",   "cufft*",          "cusolver*",   "cusparse*",
      "hipsolver*",  "PadToStatic",    "SetBound", "SliceToDynamic",  "GetRngSeed",  "AllocateBuffer",
      "tpu_*",       "mosaic*",        "Mosaic*",  "lapack_*",        NULL};
  return is_one_of(target, patterns);
}

hl_custom_kind hl_custom_kind_of(const hl_instruction *ins)
{
  const char *target = target_of(ins);
  if (hl_is_annotation_target(target))
    return HL_CUSTOM_ANNOTATION;
  if (!strcmp(target, "TopK"))
    return HL_CUSTOM_TOPK;
  if (hl_lapack_routine_of(target) != HL_LAPACK_ROUTINES)
    return HL_CUSTOM_LAPACK;
  return is_foreign(target) ? HL_CUSTOM_FOREIGN : HL_CUSTOM_USER;
}

/* The comparator ends in a compare of the two values, or of numbers in the same order. */
bool hl_custom_topk_is_largest(const hl_instruction *ins)
{
  const hl_computation *comparator = hl_attr_computation(ins, HL_ATTR_CALLED_COMPUTATIONS);
  if (!comparator)
    comparator = hl_attr_computation(ins, HL_ATTR_TO_APPLY);
  if (!comparator || comparator->root->opcode != HL_OP_COMPARE)
    return true;
  int64_t direction = hl_attr_int(comparator->root, HL_ATTR_DIRECTION, HL_GT);
  return direction != HL_LT && direction != HL_LE;
}

const char *hl_custom_symbol(hl_arena *arena, const char *target)
{
  char *symbol = hl_arena_printf(arena, "hlo_custom_%s", target);
  for (char *c = symbol; *c; c++) {
    bool is_word = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
    if (!is_word)
      *c = '_';
  }
  return symbol;
}

/* ---- the backend_config ---- */

static const char *config_text(const hl_instruction *ins)
{
  const hl_attr *attr = hl_attr_find(ins, HL_ATTR_BACKEND_CONFIG);
  return attr ? attr->text : "";
}

/* The byte behind a backslash; *text is left on its last character. */
static char escaped(const char **text)
{
  static const char names[] = "ntr", bytes[] = "\n\t\r";
  const char *name = strchr(names, **text);
  if (name && *name)
    return bytes[name - names];
  if (**text < '0' || **text > '7')
    return **text;
  int value = 0, digits = 0;
  for (; digits < 3 && **text >= '0' && **text <= '7'; digits++, ++*text)
    value = 8 * value + (**text - '0');
  --*text;
  return (char)value;
}

const char *hl_custom_config(hl_arena *arena, const hl_instruction *ins, size_t *bytes)
{
  const char *text = config_text(ins);
  *bytes = strlen(text);
  if (*text != '"')
    return text;
  hl_str content = {.arena = arena};
  for (text++; *text && *text != '"'; text++) {
    if (*text == '\\' && text[1]) {
      text++;
      hl_str_add_char(&content, escaped(&text));
    } else {
      hl_str_add_char(&content, *text);
    }
  }
  *bytes = content.length;
  return hl_str_text(&content);
}

static bool is_word_byte(char c)
{
  return c == '_' || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

int64_t hl_custom_option(const hl_instruction *ins, const char *key, int64_t otherwise)
{
  const char *text = config_text(ins);
  size_t length = strlen(key);
  for (const char *at = strstr(text, key); at; at = strstr(at + length, key)) {
    const char *end = at + length;
    if ((at > text && is_word_byte(at[-1])) || is_word_byte(*end))
      continue;
    end += strspn(end, " \"=:");
    char *rest;
    long long value = strtoll(end, &rest, 10);
    if (rest != end)
      return value;
  }
  return otherwise;
}

/* ---- layouts ---- */

void hl_memory_order(const hl_shape *shape, int64_t *permutation, int64_t *dimensions)
{
  for (int i = 0; i < shape->rank; i++) {
    permutation[i] = shape->minor_to_major ? shape->minor_to_major[shape->rank - 1 - i] : i;
    dimensions[i] = shape->dimensions[permutation[i]];
  }
}

const hl_shape *hl_custom_constraint(const hl_instruction *ins, int i)
{
  const hl_attr *attr = hl_attr_find(ins, HL_ATTR_OPERAND_LAYOUT_CONSTRAINTS);
  return attr ? attr->shapes.values[i] : NULL;
}
