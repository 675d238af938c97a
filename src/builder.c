/* builder - modules from C, instruction by instruction: the core that all builder functions use.
 *
 * Every instruction is written as the line of HLO text that it will be, read by the parser and
 * checked by the verifier on the spot: so whatever the language has can be built, under the same
 * rules and with the same messages. The finished module is printed and read once more, like any
 * other text.
 */
#include "builder_internal.h"

#include "ir/print.h"
#include "runtime/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct alias {
  int output;
  const hl_instruction *parameter;
  struct alias *next;
} alias;

struct hlo_builder {
  hlo_context *context;
  hl_session session; /* arena and diagnostics */
  hl_lines *lines;
  hl_computation **open; /* the entry, then those inside each other */
  size_t open_count, open_capacity;
  int *parameter_counts; /* of the open ones */
  size_t parameter_capacity;
  hl_map regions; /* "add f32" to hlo_computation */
  alias *aliases;
  const char *header; /* further attributes of the module, "" or ", a=b" */
  const char *calling; /* the function that the user called, while it calls others; NULL */
  bool has_failed, is_built;
};

/* ---- errors ---- */

static hlo_value *fail(hlo_builder *b)
{
  b->has_failed = true;
  hl_api_begin(b->context);
  hl_api_collect(b->context, &b->session);
  return NULL;
}

static hlo_value *out_of_memory(hlo_builder *b)
{
  b->has_failed = true;
  hl_api_run_out_of_memory(b->context);
  return NULL;
}

/* What messages name. */
static const char *name_of_call(const hlo_builder *b, const char *caller)
{
  return b->calling ? b->calling : caller;
}

static hlo_value *report(hlo_builder *b, const char *caller, const char *format, va_list arguments)
{
  char text[1024];
  vsnprintf(text, sizeof text, format, arguments);
  b->session.diag.source = NULL;
  hl_error(&b->session.diag, HL_NO_RANGE, HL_RULE_BUILDER, "%s: %s", name_of_call(b, caller), text);
  return fail(b);
}

hlo_value *hl_build_error(hlo_builder *b, const char *caller, const char *format, ...)
{
  if (b->has_failed)
    return NULL;
  if (setjmp(b->context->guard.env))
    return out_of_memory(b);
  va_list arguments;
  va_start(arguments, format);
  report(b, caller, format, arguments);
  va_end(arguments);
  return NULL;
}

static hl_computation *top(const hlo_builder *b)
{
  return b->open[b->open_count - 1];
}

/* Whether the call may be made at all. */
static bool can_go_on(hlo_builder *b, const char *caller)
{
  if (b->is_built && !b->has_failed)
    hl_build_error(b, caller, "the module is built");
  return !b->has_failed;
}

/* Whether the value may stand among the operands of what is made now. */
static bool belongs(hlo_builder *b, const char *caller, const hlo_value *value)
{
  if (!value)
    hl_build_error(b, caller, "a value is NULL");
  else if (value->builder != b)
    hl_build_error(b, caller, "a value belongs to another builder");
  else if (value->instruction->computation != top(b))
    hl_build_error(b, caller, "'%s' belongs to '%s'; '%s' is open", value->instruction->name,
                   value->instruction->computation->name, top(b)->name);
  return !b->has_failed;
}

hlo_builder *hl_builder_of(const char *caller, int count, hlo_value *const *values)
{
  hlo_builder *b = NULL;
  for (int i = 0; i < count && !b; i++)
    b = values[i] ? values[i]->builder : NULL;
  for (int i = 0; b && i < count; i++)
    if (!can_go_on(b, caller) || !belongs(b, caller, values[i]))
      return NULL;
  return b;
}

hl_build_call hl_build_begin_in(const char *name, hlo_builder *b)
{
  hl_build_call call = {b, b->calling};
  b->calling = name_of_call(b, name);
  return call;
}

hl_build_call hl_build_begin(const char *name, int count, hlo_value *const *values)
{
  hlo_builder *b = hl_builder_of(name, count, values);
  return b ? hl_build_begin_in(name, b) : (hl_build_call){NULL, NULL};
}

hlo_value *hl_build_end(hl_build_call call, hlo_value *result)
{
  call.builder->calling = call.outer;
  return result;
}

const char *hl_say_sizes(hlo_builder *b, int rank, const int64_t *sizes)
{
  if (setjmp(b->context->guard.env)) {
    out_of_memory(b);
    return "";
  }
  hl_str text = {.arena = b->session.arena};
  hl_str_add_char(&text, '(');
  for (int i = 0; i < rank; i++)
    hl_str_printf(&text, i ? ",%" PRId64 : "%" PRId64, sizes[i]);
  hl_str_add(&text, rank == 1 ? ",)" : ")");
  return hl_str_text(&text);
}

bool hl_build_wants_array(const char *caller, hlo_value *x)
{
  if (hl_shape_is_array(hl_shape_of(x)))
    return true;
  hl_build_error(x->builder, caller, "'%s' is no array", x->instruction->name);
  return false;
}

bool hl_build_wants_floats(const char *caller, hlo_value *x)
{
  hl_element_type type = hl_shape_of(x)->element_type;
  if (!hl_build_wants_array(caller, x))
    return false;
  if (hl_is_float(type) || hl_is_complex(type))
    return true;
  hl_build_error(x->builder, caller, "'%s' is %s; convert it with hlo_convert", hlo_value_name(x),
                 hlo_value_type(x));
  return false;
}

int hl_build_axis(const char *caller, hlo_value *x, int axis, int rank)
{
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  hl_build_error(x->builder, caller, "axis %d is out of bounds for array of dimension %d", axis, rank);
  return -1;
}

/* ---- lines ---- */

static void add_list(hl_str *line, int count, const int64_t *values)
{
  hl_str_add_char(line, '{');
  for (int i = 0; i < count; i++)
    hl_str_printf(line, i ? ",%" PRId64 : "%" PRId64, values[i]);
  hl_str_add_char(line, '}');
}

/* One conversion of hlo_emit's format. */
static bool add_argument(hlo_builder *b, const char *caller, hl_str *line, char conversion,
                         va_list *arguments)
{
  if (conversion == 'v') {
    const hlo_value *value = va_arg(*arguments, hlo_value *);
    if (!belongs(b, caller, value))
      return false;
    hl_str_printf(line, "%%%s", value->instruction->name);
  } else if (conversion == 'c') {
    const hlo_computation *c = va_arg(*arguments, hlo_computation *);
    if (!c || c->builder != b) {
      hl_build_error(b, caller, c ? "a computation belongs to another builder" : "a computation is NULL");
      return false;
    }
    hl_str_printf(line, "%%%s", c->computation->name);
  } else if (conversion == 't') {
    const hlo_value *value = va_arg(*arguments, hlo_value *);
    if (!value || value->builder != b) {
      hl_build_error(b, caller, value ? "a value belongs to another builder" : "a value is NULL");
      return false;
    }
    hl_str_add(line, hl_shape_text(b->session.arena, hl_shape_of(value)));
  } else if (conversion == 's') {
    const char *text = va_arg(*arguments, const char *);
    hl_str_add(line, text ? text : "");
  } else if (conversion == 'd') {
    hl_str_printf(line, "%d", va_arg(*arguments, int));
  } else if (conversion == 'l') {
    hl_str_printf(line, "%" PRId64, va_arg(*arguments, int64_t));
  } else if (conversion == 'D') {
    int count = va_arg(*arguments, int);
    add_list(line, count, va_arg(*arguments, const int64_t *));
  } else if (conversion == '%') {
    hl_str_add_char(line, '%');
  } else {
    hl_build_error(b, caller, "the format has no conversion '%%%c'", conversion);
    return false;
  }
  return true;
}

/* Whether the line begins with "name =". */
static bool has_name(const char *line)
{
  return line[strcspn(line, "=(")] == '=';
}

/* The opcode of a line without name: the word before its parenthesis, behind a shape if one is
 * written. */
static const char *opcode_of(hlo_builder *b, const char *line)
{
  int depth = 0;
  const char *at = line;
  if (*at == '(')
    do
      depth += (*at == '(') - (*at == ')');
    while (*at && (at++, depth > 0));
  const char *open = at + strcspn(at, "("), *word = open;
  while (word > at && word[-1] != ' ')
    word--;
  return word < open && *open ? hl_arena_strndup(b->session.arena, word, (size_t)(open - word)) : "value";
}

static bool format_line(hlo_builder *b, const char *caller, hl_str *line, const char *format,
                        va_list *arguments)
{
  for (const char *c = format; *c; c++)
    if (*c != '%')
      hl_str_add_char(line, *c);
    else if (!add_argument(b, caller, line, *++c, arguments))
      return false;
  return true;
}

/* Reads and checks the line in the open computation; the value of its instruction. */
static hlo_value *add_line(hlo_builder *b, const char *caller, const char *line)
{
  hl_diag *diag = &b->session.diag;
  hl_module *module = hl_lines_module(b->lines);
  const hl_computation *last = module->last;
  const hl_instruction *before = top(b)->last;
  diag->source = hl_source_new(b->session.arena, name_of_call(b, caller), line, strlen(line));
  hl_instruction *made = hl_lines_read(b->lines, diag->source, diag);
  if (!made)
    return fail(b);
  hl_instruction *first = before ? before->next : top(b)->first;
  if (!hl_verify_added(last, first, (hl_verify_options){.infers_stated = true}, diag))
    return fail(b);
  b->parameter_counts[b->open_count - 1] += made->opcode == HL_OP_PARAMETER;
  hlo_value *value = HL_NEW(b->session.arena, hlo_value);
  *value = (hlo_value){b, made};
  return value;
}

static hlo_value *emit(hlo_builder *b, const char *caller, const char *format, va_list *arguments)
{
  if (!can_go_on(b, caller))
    return NULL;
  if (setjmp(b->context->guard.env))
    return out_of_memory(b);
  hl_arena *arena = b->session.arena;
  hl_str text = {.arena = arena};
  if (!format_line(b, caller, &text, format, arguments))
    return NULL;
  const char *line = hl_str_text(&text);
  if (!has_name(line)) {
    const char *name = hl_fresh_name(hl_lines_module(b->lines), opcode_of(b, line));
    line = hl_arena_printf(arena, "%%%s = %s", name, line);
  }
  return add_line(b, caller, line);
}

hlo_value *hlo_emit(hlo_builder *builder, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  hlo_value *value = emit(builder, "hlo_emit", format, &arguments);
  va_end(arguments);
  return value;
}

hlo_value *hl_build_line(hlo_builder *builder, const char *caller, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  hlo_value *value = emit(builder, caller, format, &arguments);
  va_end(arguments);
  return value;
}

/* ---- the module and its computations ---- */

static void open_computation(hlo_builder *b, const char *name)
{
  b->open = hl_arena_grow(b->session.arena, b->open, &b->open_capacity, b->open_count + 1,
                          sizeof *b->open);
  b->parameter_counts = hl_arena_grow(b->session.arena, b->parameter_counts, &b->parameter_capacity,
                                      b->open_count + 1, sizeof *b->parameter_counts);
  b->parameter_counts[b->open_count] = 0;
  b->open[b->open_count] = hl_lines_open(b->lines, name);
  b->open_count++;
}

/* A name that HLO text can hold. */
static const char *legal_name(hlo_builder *b, const char *name, const char *otherwise)
{
  if (!name || !*name)
    return otherwise;
  char *legal = hl_arena_strndup(b->session.arena, name, strlen(name));
  for (char *c = legal; *c; c++)
    if (!hl_is_word_byte(*c))
      *c = '_';
  return hl_is_word_start(legal[0]) ? legal : hl_arena_printf(b->session.arena, "_%s", legal);
}

hlo_builder *hlo_builder_new(hlo_context *context, const char *module_name)
{
  hl_api_begin(context);
  hlo_builder *b = calloc(1, sizeof *b);
  if (!b || setjmp(context->guard.env)) {
    hlo_builder_free(b);
    hl_api_run_out_of_memory(context);
    return NULL;
  }
  b->context = context;
  b->header = "";
  hl_session_options options = {.code.opt_level = 2};
  hl_session_open(&b->session, &context->guard, &options);
  b->regions.arena = b->session.arena;
  b->lines = hl_lines_new(b->session.arena, legal_name(b, module_name, "module"));
  open_computation(b, "main");
  return b;
}

void hlo_builder_free(hlo_builder *builder)
{
  if (!builder)
    return;
  hl_session_close(&builder->session);
  free(builder);
}

void hlo_begin(hlo_builder *b, const char *name)
{
  if (!can_go_on(b, __func__))
    return;
  if (setjmp(b->context->guard.env)) {
    out_of_memory(b);
    return;
  }
  open_computation(b, legal_name(b, name, "region"));
}

/* Whether there is a root: a forgotten value must not make the last instruction the result. */
static bool has_root(hlo_builder *b, const char *caller, const hlo_value *root)
{
  if (root)
    return belongs(b, caller, root);
  if (!top(b)->root)
    hl_build_error(b, caller, "the root is NULL, and no line of '%s' is called ROOT", top(b)->name);
  return !b->has_failed;
}

/* Closes the computation opened last; NULL after an error. */
static hl_computation *close_computation(hlo_builder *b, hlo_value *root)
{
  hl_diag *diag = &b->session.diag;
  diag->source = NULL;
  hl_computation *closed = hl_lines_close(b->lines, root ? root->instruction : NULL, diag);
  b->open_count--;
  return closed;
}

hlo_computation *hlo_end(hlo_builder *b, hlo_value *root)
{
  if (!can_go_on(b, __func__))
    return NULL;
  if (b->open_count == 1) {
    hl_build_error(b, __func__, "no computation was begun; hlo_build ends the entry");
    return NULL;
  }
  if (!has_root(b, __func__, root))
    return NULL;
  if (setjmp(b->context->guard.env)) {
    out_of_memory(b);
    return NULL;
  }
  hlo_computation *made = HL_NEW(b->session.arena, hlo_computation);
  *made = (hlo_computation){b, close_computation(b, root)};
  if (!made->computation)
    fail(b);
  return b->has_failed ? NULL : made;
}

static hlo_computation *make_region(hlo_builder *b, const char *opcode, const char *type)
{
  char name[64];
  snprintf(name, sizeof name, "%.30s_%.20s", opcode, type);
  hlo_begin(b, name);
  hlo_value *x = hlo_parameter(b, "a", type, 0, NULL);
  hlo_value *y = hlo_parameter(b, "b", type, 0, NULL);
  return hlo_end(b, hl_build_line(b, "hlo_region", "%s(%v, %v)", opcode, x, y));
}

hlo_computation *hlo_region(hlo_builder *b, const char *opcode, const char *type)
{
  char key[96];
  int length = snprintf(key, sizeof key, "%.60s %.20s", opcode, type);
  hlo_computation *made = hl_map_get(&b->regions, key, (size_t)length);
  if (made)
    return made;
  hl_build_call call = hl_build_begin_in(__func__, b);
  made = make_region(b, opcode, type);
  hl_build_end(call, NULL);
  if (!made || setjmp(b->context->guard.env))
    return NULL;
  const char *kept = hl_arena_strndup(b->session.arena, key, (size_t)length);
  hl_map_set(&b->regions, kept, (size_t)length, made);
  return made;
}

static void list_aliases(hlo_builder *b, hl_module *module)
{
  int count = 0;
  for (const alias *a = b->aliases; a; a = a->next)
    count++;
  hl_alias *list = HL_ARRAY(b->session.arena, count, hl_alias);
  bool is_tuple = module->entry->root->shape->element_type == HL_TUPLE;
  for (const alias *a = b->aliases; a; a = a->next) {
    int64_t *index = HL_NEW(b->session.arena, int64_t);
    *index = a->output;
    list[--count] = (hl_alias){.output_index = {index, is_tuple},
                               .parameter = a->parameter->parameter_number,
                               .range = HL_NO_RANGE};
    module->alias_count++;
  }
  module->aliases = list;
}

/* Tuple element `output`, or the result itself; NULL: there is no such. */
static const hl_shape *output_shape(const hl_shape *result, int output)
{
  if (result->element_type != HL_TUPLE)
    return output == 0 ? result : NULL;
  return output >= 0 && output < result->tuple_count ? result->tuple_shapes[output] : NULL;
}

static bool check_aliases(hlo_builder *b, const hl_shape *result)
{
  for (const alias *a = b->aliases; a; a = a->next) {
    const hl_shape *output = output_shape(result, a->output), *input = a->parameter->shape;
    if (!output)
      hl_build_error(b, "hlo_alias", "there is no result %d", a->output);
    else if (!hl_shape_equal(output, input))
      hl_build_error(b, "hlo_alias", "result %d, %s, cannot be written into '%s', %s", a->output,
                     hl_shape_text(b->session.arena, output), a->parameter->name,
                     hl_shape_text(b->session.arena, input));
    if (b->has_failed)
      return false;
  }
  return true;
}

/* The entry ends; the module's text, NULL after an error. */
static const char *finish(hlo_builder *b, hlo_value *root)
{
  hl_module *module = hl_lines_module(b->lines);
  module->entry = close_computation(b, root);
  if (!module->entry) {
    fail(b);
    return NULL;
  }
  if (!check_aliases(b, module->entry->root->shape))
    return NULL;
  list_aliases(b, module);
  hl_str text = {.arena = b->session.arena};
  hl_module_print(&text, module);
  const char *printed = hl_str_text(&text), *line_end = strchr(printed, '\n');
  return hl_arena_printf(b->session.arena, "%.*s%s%s", (int)(line_end - printed), printed, b->header, line_end);
}

void hlo_name_entry(hlo_builder *b, const char *name)
{
  if (!can_go_on(b, __func__))
    return;
  if (setjmp(b->context->guard.env)) {
    out_of_memory(b);
    return;
  }
  hl_lines_rename(b->lines, b->open[0], legal_name(b, name, "main"));
}

void hlo_header(hlo_builder *b, const char *attributes)
{
  if (!can_go_on(b, __func__))
    return;
  if (setjmp(b->context->guard.env)) {
    out_of_memory(b);
    return;
  }
  b->header = hl_arena_printf(b->session.arena, "%s, %s", b->header, attributes);
}

hlo_module *hlo_build(hlo_builder *b, hlo_value *root)
{
  if (!can_go_on(b, __func__))
    return NULL;
  if (b->open_count > 1) {
    hl_build_error(b, __func__, "'%s' is still open", top(b)->name);
    return NULL;
  }
  if (!has_root(b, __func__, root))
    return NULL;
  if (setjmp(b->context->guard.env)) {
    out_of_memory(b);
    return NULL;
  }
  const char *text = finish(b, root);
  b->is_built = true;
  return text ? hlo_parse(b->context, hl_lines_module(b->lines)->name, text, strlen(text)) : NULL;
}

void hlo_alias(hlo_builder *b, int output, hlo_value *parameter)
{
  if (!can_go_on(b, __func__) || !belongs(b, __func__, parameter))
    return;
  if (parameter->instruction->opcode != HL_OP_PARAMETER || b->open_count > 1) {
    hl_build_error(b, __func__, "'%s' is no parameter of the entry", parameter->instruction->name);
    return;
  }
  if (setjmp(b->context->guard.env)) {
    out_of_memory(b);
    return;
  }
  alias *made = HL_NEW(b->session.arena, alias);
  *made = (alias){output, parameter->instruction, b->aliases};
  b->aliases = made;
}

/* ---- sources ---- */

/* "f32[2,3]"; NULL after an error. */
static const char *shape_text(hlo_builder *b, const char *caller, const char *type, int rank,
                              const int64_t *dimensions)
{
  if (!can_go_on(b, caller))
    return NULL;
  if (!type || hl_type_by_name(type, strlen(type)) == HL_TYPE_COUNT) {
    hl_build_error(b, caller, "there is no element type '%s'", type ? type : "");
    return NULL;
  }
  if (rank < 0 || rank > HL_LIMIT_RANK) {
    hl_build_error(b, caller, "a rank of %d; the limit is %d", rank, HL_LIMIT_RANK);
    return NULL;
  }
  if (setjmp(b->context->guard.env)) {
    out_of_memory(b);
    return NULL;
  }
  hl_str text = {.arena = b->session.arena};
  hl_str_printf(&text, "%s[", type);
  for (int i = 0; i < rank; i++)
    hl_str_printf(&text, i ? ",%" PRId64 : "%" PRId64, dimensions[i]);
  hl_str_add_char(&text, ']');
  return hl_str_text(&text);
}

static const char *parameter_name(hlo_builder *b, const char *name)
{
  if (setjmp(b->context->guard.env)) {
    out_of_memory(b);
    return NULL;
  }
  hl_module *module = hl_lines_module(b->lines);
  return name && *name ? legal_name(b, name, "") : hl_fresh_name(module, "parameter");
}

hlo_value *hlo_parameter(hlo_builder *b, const char *name, const char *type, int rank,
                         const int64_t *dimensions)
{
  const char *shape = shape_text(b, __func__, type, rank, dimensions);
  name = shape ? parameter_name(b, name) : NULL;
  if (!name)
    return NULL;
  int number = b->parameter_counts[b->open_count - 1];
  return hl_build_line(b, __func__, "%%%s = %s parameter(%d)", name, shape, number);
}

/* A literal over a copy of the elements; NULL: the one at *unfit does not fit its type. */
static const hl_literal *copy_literal(hlo_builder *b, const char *type, int rank,
                                      const int64_t *dimensions, const void *elements, int64_t *unfit)
{
  hl_arena *arena = b->session.arena;
  const int64_t *sizes = rank ? hl_arena_memdup(arena, dimensions, (size_t)rank * sizeof *sizes) : NULL;
  hl_literal *literal =
      hl_literal_new(arena, hl_shape_new(arena, hl_type_by_name(type, strlen(type)), rank, sizes));
  size_t count = (size_t)hl_shape_elements(literal->shape);
  *unfit = count ? hl_value_find_unfit(hl_value_type_find(type), elements, count) : -1;
  if (*unfit >= 0)
    return NULL;
  const unsigned char *from = elements;
  if (literal->shape->element_type == HL_PRED)
    for (size_t i = 0; i < count; i++)
      ((unsigned char *)literal->data)[i] = from[i] != 0;
  else if (count)
    memcpy(literal->data, elements, (size_t)hl_shape_bytes(literal->shape));
  return literal;
}

static hlo_value *add_literal(hlo_builder *b, const hl_literal *literal)
{
  hlo_value *value = HL_NEW(b->session.arena, hlo_value);
  *value = (hlo_value){b, hl_lines_constant(b->lines, literal)};
  return value;
}

hlo_value *hlo_constant(hlo_builder *b, const char *type, int rank, const int64_t *dimensions,
                        const void *elements)
{
  if (!shape_text(b, __func__, type, rank, dimensions))
    return NULL;
  for (int i = 0; i < rank; i++)
    if (dimensions[i] < 0)
      return hl_build_error(b, __func__, "a size of %" PRId64, dimensions[i]);
  hl_element_type code = hl_type_by_name(type, strlen(type));
  if (!hl_value_type_find(type) || !hl_shape_fits(code, rank, dimensions))
    return hl_build_error(b, __func__, "there is no constant of that type and size");
  if (setjmp(b->context->guard.env))
    return out_of_memory(b);
  int64_t unfit;
  const hl_literal *literal = copy_literal(b, type, rank, dimensions, elements, &unfit);
  if (!literal)
    return hl_build_error(b, __func__, "element %" PRId64 " does not fit %s", unfit, type);
  return add_literal(b, literal);
}

/* Whether an integer type, or pred, has the value. */
static bool has_integer(hl_element_type type, double value)
{
  int bits = hl_type_bits(type);
  bool is_signed = hl_type_class_of(type) == HL_CLASS_SIGNED;
  double limit = ldexp(1.0, type == HL_PRED ? 1 : bits - is_signed);
  return value == floor(value) && value < limit && value >= (is_signed ? -limit : 0.0);
}

static const hl_literal *scalar_literal(hlo_builder *b, hl_element_type type, double value)
{
  hl_literal *literal = hl_literal_new(b->session.arena, hl_shape_scalar(b->session.arena, type));
  if (hl_is_float(type) || hl_is_complex(type))
    hl_literal_set_double(literal, 0, value);
  else if (!has_integer(type, value))
    return NULL;
  else if (hl_type_class_of(type) == HL_CLASS_UNSIGNED && value >= 0x1p63)
    hl_literal_set_int(literal, 0, (int64_t)(uint64_t)value);
  else
    hl_literal_set_int(literal, 0, (int64_t)value);
  return literal;
}

hlo_value *hlo_scalar(hlo_builder *b, const char *type, double value)
{
  if (!shape_text(b, __func__, type, 0, NULL))
    return NULL;
  if (!hl_value_type_find(type))
    return hl_build_error(b, __func__, "'%s' has no values", type);
  if (setjmp(b->context->guard.env))
    return out_of_memory(b);
  const hl_literal *literal = scalar_literal(b, hl_type_by_name(type, strlen(type)), value);
  return literal ? add_literal(b, literal) : hl_build_error(b, __func__, "%g does not fit %s", value, type);
}

hlo_value *hl_build_like(const hlo_value *x, double value)
{
  return x ? hlo_scalar(x->builder, hl_type_name(hl_shape_of(x)->element_type), value) : NULL;
}

hlo_value *hlo_full(hlo_builder *b, const char *type, int rank, const int64_t *dimensions,
                    double value)
{
  const char *shape = shape_text(b, __func__, type, rank, dimensions);
  hl_build_call call = hl_build_begin_in(__func__, b);
  hlo_value *scalar = shape ? hlo_scalar(b, type, value) : NULL;
  if (!scalar || rank == 0)
    return hl_build_end(call, scalar);
  return hl_build_end(call, hl_build_line(b, __func__, "%s broadcast(%v), dimensions={}", shape, scalar));
}

hlo_value *hlo_iota(hlo_builder *b, const char *type, int rank, const int64_t *dimensions, int axis)
{
  const char *shape = shape_text(b, __func__, type, rank, dimensions);
  int number = axis < 0 ? axis + rank : axis;
  return shape ? hl_build_line(b, __func__, "%s iota(), iota_dimension=%d", shape, number) : NULL;
}

const char *hl_build_names(hlo_builder *b, int count, hlo_value *const *values)
{
  if (setjmp(b->context->guard.env)) {
    out_of_memory(b);
    return NULL;
  }
  hl_str list = {.arena = b->session.arena};
  for (int i = 0; i < count; i++)
    hl_str_printf(&list, "%s%%%s", i ? ", " : "", values[i]->instruction->name);
  return hl_str_text(&list);
}

hlo_value *hlo_tuple(hlo_builder *b, int count, hlo_value *const *values)
{
  if (!can_go_on(b, __func__))
    return NULL;
  for (int i = 0; i < count; i++)
    if (!belongs(b, __func__, values[i]))
      return NULL;
  const char *names = hl_build_names(b, count, values);
  return names ? hl_build_line(b, __func__, "tuple(%s)", names) : NULL;
}

hlo_value *hlo_element(hlo_value *tuple, int index)
{
  hlo_builder *b = hl_builder_of(__func__, 1, &tuple);
  return b ? hl_build_line(b, __func__, "get-tuple-element(%v), index=%d", tuple, index) : NULL;
}

/* ---- what a value is ---- */

const char *hlo_value_name(const hlo_value *value)
{
  return value ? value->instruction->name : NULL;
}

const char *hlo_value_type(const hlo_value *value)
{
  if (!value)
    return NULL;
  hl_element_type type = hl_shape_of(value)->element_type;
  return type == HL_TUPLE ? "tuple" : hl_type_name(type);
}

int hlo_value_rank(const hlo_value *value)
{
  return value ? hl_shape_of(value)->rank : 0;
}

const int64_t *hlo_value_dimensions(const hlo_value *value)
{
  return value ? hl_shape_of(value)->dimensions : NULL;
}
