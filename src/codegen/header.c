/* header - the C header of a compiled program, and its description for executables: design
 * section 7. */
#include "header.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

const char *hl_c_type(hl_element_type type)
{
  static const char *const ints[][2] = {{"int8_t", "uint8_t"},
                                        {"int16_t", "uint16_t"},
                                        {"int32_t", "uint32_t"},
                                        {"int64_t", "uint64_t"}};
  hl_element_type part = hl_component_type(type);
  if (part == HL_F32)
    return "float";
  if (part == HL_F64)
    return "double";
  int bytes = hl_type_bytes(type), width = 0;
  for (; bytes > 1; bytes /= 2)
    width++;
  return ints[width][hl_type_class_of(type) != HL_CLASS_SIGNED];
}

/* Text from outside inside a comment: one line, and nothing that ends the comment. */
static void add_harmless(hl_str *out, const char *text)
{
  for (; *text; text++)
    hl_str_add_char(out, (unsigned char)*text < ' ' ||
                                 (*text == '/' && out->length && out->text[out->length - 1] == '*')
                             ? '?'
                             : *text);
}

static void add_upper(hl_str *out, const char *text)
{
  for (; *text; text++)
    hl_str_add_char(out, (char)toupper((unsigned char)*text));
}

static void print_head(hl_str *out, const hl_header_options *o)
{
  hl_str_add(out, "/* ");
  add_harmless(out, o->file);
  hl_str_printf(out, " - written by hlo-lite %s from ", o->version);
  add_harmless(out, o->source);
  hl_str_printf(out, ", for %s, cpu %s", o->target->triple, o->target->cpu);
  if (*o->target->features && !o->target->is_native_cpu)
    hl_str_printf(out, " %s", o->target->features);
  hl_str_add(out, ". */\n");
}

static void print_guard(hl_str *out, const char *symbol, const char *directive)
{
  hl_str_printf(out, "#%s ", directive);
  add_upper(out, symbol);
  hl_str_add(out, "_H\n");
}

/* Where an argument comes from in HLO: "x", "p{1,0}". */
static void add_origin(hl_str *out, const hl_port *port)
{
  hl_str_add(out, port->hlo_name);
  for (int i = 0; i < port->path_count; i++)
    hl_str_printf(out, "%s%" PRId64 "%s", i ? "," : "{", port->path[i],
                  i + 1 == port->path_count ? "}" : "");
  hl_str_add(out, ": ");
}

/* The result that may lie in the memory of an argument (input_output_alias), or -1. */
static int alias_of(const hl_interface *members, const hl_member *argument)
{
  for (int i = 0; i < members->result_count; i++)
    if (members->results[i].port->buffer->alias == argument->port->buffer)
      return i;
  return -1;
}

/* The declaration, and the start of the comment behind it. */
static void print_declaration(hl_str *out, const hl_member *member, const char *qualifier,
                              int width)
{
  const char *type = hl_c_type(member->port->shape->element_type);
  const char *text = hl_arena_printf(out->arena, "%s%s *%s;", qualifier, type, member->name);
  hl_str_printf(out, "  %-*s /* ", width, text);
}

static void print_size(hl_str *out, const hl_member *member)
{
  hl_str_printf(out, "%s  %" PRId64 " bytes", hl_shape_text(out->arena, member->port->shape),
                member->bytes);
}

static int member_width(const hl_member *members, int count, const char *qualifier)
{
  size_t width = 0;
  for (int i = 0; i < count; i++) {
    const char *type = hl_c_type(members[i].port->shape->element_type);
    size_t length = strlen(qualifier) + strlen(" *;") + strlen(type) + strlen(members[i].name);
    width = length > width ? length : width;
  }
  return width > 40 ? 40 : (int)width;
}

static void print_arguments(hl_str *out, const hl_interface *members, const char *symbol)
{
  int width = member_width(members->arguments, members->argument_count, "const ");
  hl_str_printf(out, "typedef struct %s_args {\n", symbol);
  for (int i = 0; i < members->argument_count; i++) {
    const hl_member *member = &members->arguments[i];
    int alias = alias_of(members, member);
    print_declaration(out, member, alias < 0 ? "const " : "", width);
    add_origin(out, member->port);
    print_size(out, member);
    if (alias >= 0)
      hl_str_printf(out, "; result%d may be the same memory", alias);
    hl_str_add(out, " */\n");
  }
  if (!members->argument_count)
    hl_str_add(out, "  const void *unused; /* the function has no arguments */\n");
  hl_str_printf(out, "} %s_args;\n", symbol);
}

static void print_results(hl_str *out, const hl_interface *members, const char *symbol)
{
  int width = member_width(members->results, members->result_count, "");
  hl_str_printf(out, "typedef struct %s_results {\n", symbol);
  for (int i = 0; i < members->result_count; i++) {
    print_declaration(out, &members->results[i], "", width);
    print_size(out, &members->results[i]);
    hl_str_add(out, " */\n");
  }
  if (!members->result_count)
    hl_str_add(out, "  void *unused; /* the function has no results */\n");
  hl_str_printf(out, "} %s_results;\n", symbol);
}

static bool is_called(const hl_call **calls, int count, const char *symbol)
{
  for (int i = 0; i < count; i++)
    if (!strcmp(calls[i]->symbol, symbol))
      return true;
  return false;
}

/* Symbols of the compiler's own library: undefined, but no calls of the module. */
static void print_helpers(hl_str *out, const hl_program *program, const hl_header_options *o)
{
  int count, printed = 0;
  const hl_call **calls = hl_program_calls(out->arena, program, &count);
  for (int i = 0; i < o->undefined_count; i++)
    if (!is_called(calls, count, o->undefined[i]))
      hl_str_printf(out, "%s%s", printed++ ? ", " : "\n   Needs of the compiler's own library: ", o->undefined[i]);
  hl_str_add(out, printed ? "." : "");
}

static void print_contract(hl_str *out, const hl_program *program, const hl_header_options *o)
{
  hl_str_add(out,
             "\n/* Row-major dense arrays, aligned as their element type (64 is faster); workspace "
             "aligned to "
             "64 bytes. Returns 0;\n   1 when workspace is NULL or misaligned; 2 when a custom "
             "call failed. "
             "Allocates nothing. Calls with their own\n   results and workspace may run at once.");
  if (o->uses_threads)
    hl_str_printf(out,
                  " Uses up to %d threads through hlo_parallel_for (hlo_runtime.h) where the\n   "
                  "program links one, else the calling thread.",
                  program->max_workers);
  print_helpers(out, program, o);
  hl_str_add(out, " */\n");
}

/* What the program must define, and link. */
static void print_calls(hl_str *out, const hl_program *program)
{
  int count;
  bool has_lapack = false;
  const hl_call **calls = hl_program_calls(out->arena, program, &count);
  for (int i = 0; i < count; i++) {
    has_lapack = has_lapack || calls[i]->is_fortran;
    if (calls[i]->is_fortran)
      continue;
    hl_str_add(out, "\n/* The program defines this, for the custom call \"");
    add_harmless(out, calls[i]->target);
    hl_str_printf(out,
                  "\". 0 is success. */\nint %s(void *const *args, void *const *results, const char *config, size_t "
                  "config_bytes);\n",
                  calls[i]->symbol);
  }
  if (!has_lapack)
    return;
  hl_str_add(out, "\n/* Link with -llapack -lblas (LP64):");
  for (int i = 0; i < count; i++)
    if (calls[i]->is_fortran)
      hl_str_printf(out, " %s", calls[i]->symbol);
  hl_str_add(out, " */\n");
}

static bool has_user_calls(hl_arena *arena, const hl_program *program)
{
  int count;
  const hl_call **calls = hl_program_calls(arena, program, &count);
  for (int i = 0; i < count; i++)
    if (!calls[i]->is_fortran)
      return true;
  return false;
}

void hl_header_print(hl_str *out, const hl_program *program, const hl_header_options *o)
{
  hl_interface members = hl_interface_of(out->arena, program);
  print_head(out, o);
  print_guard(out, o->symbol, "ifndef");
  print_guard(out, o->symbol, "define");
  hl_str_add(out, has_user_calls(out->arena, program) ? "#include <stddef.h>\n" : "");
  hl_str_add(out, "#include <stdint.h>\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n#define ");
  add_upper(out, o->symbol);
  hl_str_printf(out, "_WORKSPACE_BYTES UINT64_C(%" PRId64 ")\n\n", program->workspace_bytes);
  print_arguments(out, &members, o->symbol);
  print_results(out, &members, o->symbol);
  print_contract(out, program, o);
  hl_str_printf(out, "int %s(const %s_args *args, const %s_results *results, void *workspace);\n",
                o->symbol, o->symbol, o->symbol);
  hl_str_printf(
      out, "extern const uint64_t %s_workspace_bytes;\nextern const char %s_signature[]; /* \"",
      o->symbol, o->symbol);
  hl_str_add(out, hl_signature(out->arena, program));
  hl_str_add(out, "\" */\n");
  print_calls(out, program);
  hl_str_add(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

static void describe_array(hl_str *out, const hl_member *member)
{
  const hl_shape *shape = member->port->shape;
  hl_str_printf(out, "  {\"%s\", ", member->name);
  if (member->hlo_name)
    hl_str_printf(out, "\"%s\", ", member->hlo_name);
  else
    hl_str_add(out, "0, ");
  hl_str_printf(out, "\"%s\", %d, ", hl_type_name(shape->element_type), shape->rank);
  if (shape->rank == 0)
    hl_str_add(out, "0, ");
  for (int i = 0; i < shape->rank; i++)
    hl_str_printf(out, "%s%" PRId64 "%s", i ? ", " : "(const int64_t[]){", shape->dimensions[i],
                  i + 1 == shape->rank ? "}, " : "");
  hl_str_printf(out, "%" PRId64 "u},\n", member->bytes);
}

/* One entry more than there are, because C has no empty arrays. */
static void describe_arrays(hl_str *out, const char *name, const hl_member *members, int count)
{
  hl_str_printf(out, "static const hlo_exe_array %s[] = {\n", name);
  for (int i = 0; i < count; i++)
    describe_array(out, &members[i]);
  hl_str_add(out, "  {0}};\n");
}

void hl_description_print(hl_str *out, const hl_program *program, const char *symbol,
                          const char *declarations, size_t length)
{
  hl_interface members = hl_interface_of(out->arena, program);
  hl_str_add_n(out, declarations, length);
  hl_str_printf(out, "int %s(void *const *args, void *const *results, void *workspace);\n", symbol);
  describe_arrays(out, "args", members.arguments, members.argument_count);
  describe_arrays(out, "results", members.results, members.result_count);
  hl_str_printf(
      out,
      "const hlo_exe_description hlo_exe_model = {\"%s\", %d, %d, args, results, %s, %" PRId64
      "u};\n",
      symbol, members.argument_count, members.result_count, symbol, program->workspace_bytes);
}
