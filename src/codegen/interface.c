/* interface - the C names and types of a program's arguments and results.
 *
 * Names come from parameter names, other bytes as `_`; JAX calls them Arg_0.1, and then the op_name
 * of the metadata is better where it is unique. A keyword gets `_`, a name that is taken `_2`,
 * `_3`. Elements of tuples are p_0, p_1_0; results result0, result1.
 */
#include "interface.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of C11 and C++20, so that headers serve both, and names that a program cannot have. */
static const char *const keywords[] = {
    "alignas",      "alignof",      "and",       "and_eq",
    "asm",          "auto",         "bitand",    "bitor",
    "bool",         "break",        "case",      "catch",
    "char",         "char16_t",     "char32_t",  "char8_t",
    "class",        "co_await",     "co_return", "co_yield",
    "compl",        "concept",      "const",     "const_cast",
    "consteval",    "constexpr",    "constinit", "continue",
    "decltype",     "default",      "delete",    "do",
    "double",       "dynamic_cast", "else",      "enum",
    "explicit",     "export",       "extern",    "false",
    "float",        "for",          "friend",    "goto",
    "if",           "inline",       "int",       "long",
    "main",         "mutable",      "namespace", "new",
    "noexcept",     "not",          "not_eq",    "nullptr",
    "operator",     "or",           "or_eq",     "private",
    "protected",    "public",       "register",  "reinterpret_cast",
    "requires",     "restrict",     "return",    "short",
    "signed",       "sizeof",       "static",    "static_assert",
    "static_cast",  "struct",       "switch",    "template",
    "this",         "thread_local", "throw",     "true",
    "try",          "typedef",      "typeid",    "typename",
    "typeof",       "union",        "unsigned",  "using",
    "virtual",      "void",         "volatile",  "wchar_t",
    "while",        "xor",          "xor_eq",    "_Alignas",
    "_Alignof",     "_Atomic",      "_Bool",     "_Complex",
    "_Generic",     "_Imaginary",   "_Noreturn", "_Static_assert",
    "_Thread_local"};

static bool is_keyword(const char *name)
{
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (!strcmp(keywords[i], name))
      return true;
  return false;
}

static bool is_word_byte(char c)
{
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The text with other bytes as `_`, and `m_` before a digit. */
static char *as_identifier(hl_arena *arena, const char *text, size_t length)
{
  bool is_prefixed = length == 0 || isdigit((unsigned char)*text);
  char *name = hl_arena_printf(arena, "%s%.*s", is_prefixed ? "m_" : "", (int)length, text);
  for (char *p = name; *p; p++)
    if (!is_word_byte(*p))
      *p = '_';
  return name;
}

const char *hl_c_name(hl_arena *arena, const char *path)
{
  if (!strcmp(path, "-") || !strcmp(path, "<stdin>"))
    return "model";
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  const char *dot = strrchr(base, '.');
  size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
  const char *name = as_identifier(arena, base, length);
  return is_keyword(name) ? hl_arena_printf(arena, "m_%s", name) : name;
}

/* Arg_0.1 and the like, which JAX writes where it knows nothing better. */
static bool is_anonymous(const char *name)
{
  return !strncmp(name, "Arg_", 4) && isdigit((unsigned char)name[4]);
}

static bool is_unique_op_name(const hl_program *program, const hl_port *port)
{
  for (int i = 0; i < program->argument_count; i++) {
    const hl_port *other = &program->arguments[i];
    if (other->number != port->number && other->op_name && !strcmp(other->op_name, port->op_name))
      return false;
  }
  return true;
}

static const char *argument_base(hl_arena *arena, const hl_program *program, const hl_port *port)
{
  const char *name = port->hlo_name;
  if (is_anonymous(name) && port->op_name && *port->op_name && is_unique_op_name(program, port))
    name = port->op_name;
  hl_str text = {.arena = arena};
  hl_str_add(&text, as_identifier(arena, name, strlen(name)));
  for (int i = 0; i < port->path_count; i++)
    hl_str_printf(&text, "_%" PRId64, port->path[i]);
  if (is_keyword(hl_str_text(&text)))
    hl_str_add_char(&text, '_');
  return hl_str_text(&text);
}

/* base, base_2, base_3, ...: the first that is free; it is taken then. */
static const char *free_name(hl_arena *arena, hl_map *taken, const char *base)
{
  const char *name = base;
  for (int i = 2; hl_map_get(taken, name, strlen(name)); i++)
    name = hl_arena_printf(arena, "%s_%d", base, i);
  hl_map_set(taken, name, strlen(name), taken);
  return name;
}

static hl_member make_member(const hl_port *port, const char *name, const char *hlo_name)
{
  return (hl_member){
      .name = name, .hlo_name = hlo_name, .port = port, .bytes = hl_shape_bytes(port->shape)};
}

hl_interface hl_interface_of(hl_arena *arena, const hl_program *program)
{
  hl_interface made = {.arguments = HL_ARRAY(arena, program->argument_count, hl_member),
                       .results = HL_ARRAY(arena, program->result_count, hl_member)};
  hl_map taken = {.arena = arena};
  for (int i = 0; i < program->argument_count; i++) {
    const hl_port *port = &program->arguments[i];
    if (port->buffer)
      made.arguments[made.argument_count++] =
          make_member(port, free_name(arena, &taken, argument_base(arena, program, port)),
                      port->path_count ? NULL : port->hlo_name);
  }
  for (int i = 0; i < program->result_count; i++) {
    const hl_port *port = &program->results[i];
    if (!port->buffer)
      continue;
    const char *name = hl_arena_printf(arena, "result%d", made.result_count);
    made.results[made.result_count++] = make_member(port, name, NULL);
  }
  return made;
}

const char *hl_signature(hl_arena *arena, const hl_program *program)
{
  hl_interface members = hl_interface_of(arena, program);
  hl_str text = {.arena = arena};
  hl_str_add_char(&text, '(');
  for (int i = 0; i < members.argument_count; i++) {
    hl_str_printf(&text, "%s%s: ", i ? ", " : "", members.arguments[i].name);
    hl_shape_print(&text, members.arguments[i].port->shape, false);
  }
  hl_str_add(&text, ") -> ");
  bool is_tuple = members.result_count != 1;
  hl_str_add(&text, is_tuple ? "(" : "");
  for (int i = 0; i < members.result_count; i++) {
    hl_str_add(&text, i ? ", " : "");
    hl_shape_print(&text, members.results[i].port->shape, false);
  }
  hl_str_add(&text, is_tuple ? ")" : "");
  return hl_str_text(&text);
}
