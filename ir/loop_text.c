/* loop_text.c - the words, operators and constants of the loop IR's text form. */
#include "loop_text.h"

#include <stdio.h>
#include <string.h>

static const hl_infix infixes[] = {
    {HL_LOOP_ADD, "+", HL_BINDS_ADD},     {HL_LOOP_SUB, "-", HL_BINDS_ADD},
    {HL_LOOP_MUL, "*", HL_BINDS_MUL},     {HL_LOOP_DIV, "/", HL_BINDS_MUL},
    {HL_LOOP_EQ, "==", HL_BINDS_COMPARE}, {HL_LOOP_NE, "!=", HL_BINDS_COMPARE},
    {HL_LOOP_GE, ">=", HL_BINDS_COMPARE}, {HL_LOOP_LE, "<=", HL_BINDS_COMPARE},
    {HL_LOOP_GT, ">", HL_BINDS_COMPARE},  {HL_LOOP_LT, "<", HL_BINDS_COMPARE},
};

#define INFIX_COUNT (sizeof infixes / sizeof infixes[0])

const hl_infix *hl_infix_of(hl_loop_op op)
{
  for (size_t i = 0; i < INFIX_COUNT; i++)
    if (infixes[i].op == op)
      return &infixes[i];
  return NULL;
}

/* The table has each operator before its own prefixes. */
const hl_infix *hl_infix_at(const char *text)
{
  for (size_t i = 0; i < INFIX_COUNT; i++)
    if (!strncmp(text, infixes[i].text, strlen(infixes[i].text)))
      return &infixes[i];
  return NULL;
}

const char *hl_math_text(hl_arena *arena, hl_math_fn fn)
{
  const char *name = hl_math_name(fn);
  for (int op = 0; op < HL_LOOP_CONST; op++)
    if (!strcmp(hl_loop_op_name((hl_loop_op)op), name))
      return hl_arena_printf(arena, "math.%s", name);
  return name;
}

const char *hl_direction_word(hl_direction_of_param direction)
{
  static const char *const words[] = {"in", "out", "inout", "scratch"};
  return words[direction];
}

const char *hl_mode_word(hl_loop_mode mode)
{
  static const char *const words[] = {"for", "parallel", "vector"};
  return words[mode];
}

const char *hl_order_word(hl_order order)
{
  static const char *const words[] = {"", "row", "col", "dot"};
  return words[order];
}

void hl_const_print_bare(hl_str *out, hl_element_type type, uint64_t bits)
{
  hl_shape shape = {.element_type = type};
  hl_literal literal = {.shape = &shape, .data = &bits};
  size_t start = out->length;
  hl_literal_print_element(out, &literal, 0);
  if (hl_is_float(type) && !strpbrk(out->text + start, ".en")) /* inf and nan have an n */
    hl_str_add(out, ".0");
}

void hl_const_print(hl_str *out, hl_element_type type, uint64_t bits)
{
  hl_const_print_bare(out, type, bits);
  if (type != HL_PRED && type != HL_F32 && type != HL_S64)
    hl_str_printf(out, ":%s", hl_type_name(type));
}

static bool is_word(const char *name)
{
  static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
  return *name && name[strspn(name, word)] == '\0';
}

void hl_print_word(hl_str *out, const char *name)
{
  if (is_word(name)) {
    hl_str_add(out, name);
    return;
  }
  hl_str_add_char(out, '"');
  for (const char *c = name; *c; c++) {
    if (*c == '"' || *c == '\\')
      hl_str_add_char(out, '\\');
    hl_str_add_char(out, *c);
  }
  hl_str_add_char(out, '"');
}

static const char *distinct_name(hl_map *taken, const char *name)
{
  const char *result = name;
  for (int i = 2; hl_map_get(taken, result, strlen(result)); i++)
    result = hl_arena_printf(taken->arena, "%s.%d", name, i);
  return result;
}

const char **hl_distinct_names(hl_arena *arena, int count, const char *const *names)
{
  const char **result = HL_ARRAY(arena, count, const char *);
  hl_map taken = {.arena = arena};
  for (int i = 0; i < count; i++) {
    result[i] = distinct_name(&taken, names[i]);
    hl_map_set(&taken, result[i], strlen(result[i]), &result[i]);
  }
  return result;
}

void hl_print_declaration(hl_str *out, const char *name, hl_element_type type, int rank,
                          const int64_t *dimensions)
{
  hl_str_add_char(out, '%');
  hl_print_word(out, name);
  hl_str_printf(out, ": %s[", hl_type_name(type));
  for (int i = 0; i < rank; i++)
    hl_str_printf(out, "%s%lld", i ? "," : "", (long long)dimensions[i]);
  hl_str_add_char(out, ']');
}

uint32_t hl_crc32(const void *data, size_t bytes)
{
  const unsigned char *byte = data;
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < bytes; i++) {
    crc ^= byte[i];
    for (int k = 0; k < 8; k++)
      crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
  }
  return ~crc;
}
