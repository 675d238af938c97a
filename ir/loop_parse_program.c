/* loop_parse_program.c - programs of the loop IR's text: buffers, kernels, steps.
 *
 * A text of kernels alone is a program too: the parameters of one name are one buffer, an argument
 * when the first kernel that has it reads it, else a result; scratch becomes temps; the kernels run
 * in the order of the text.
 */
#include "loop_parser.h"

#include "limits.h"

#include <string.h>

static hl_buffer *find_buffer(hl_loop_parser *p, const char *name)
{
  return hl_map_get(&p->buffers, name, strlen(name));
}

static hl_buffer *add_buffer(hl_loop_parser *p, hl_buffer buffer)
{
  if (find_buffer(p, buffer.name)) {
    hl_parse_fail(p, "there are two buffers %%%s", buffer.name);
    return NULL;
  }
  hl_buffer *added = hl_program_add_buffer(p->program, buffer);
  hl_map_set(&p->buffers, buffer.name, strlen(buffer.name), added);
  return added;
}

static hl_buffer *read_buffer(hl_loop_parser *p)
{
  if (!hl_expect(p, "%"))
    return NULL;
  const char *name = hl_read_name(p);
  hl_buffer *buffer = name ? find_buffer(p, name) : NULL;
  if (name && !buffer)
    hl_parse_fail(p, "the program has no buffer %%%s", name);
  return buffer;
}

/* Buffers. */

static bool parse_data(hl_loop_parser *p, hl_buffer *buffer)
{
  hl_element_type type = hl_component_type(buffer->type);
  int64_t bytes = hl_type_bytes(type), count = buffer->bytes / bytes;
  if (!hl_expect(p, "="))
    return false;
  if (hl_accept_word(p, "elided"))
    return hl_parse_fail(p, "the data of this constant was not printed");
  if (!hl_open(p, "{"))
    return hl_parse_fail(p, "expected '{'");
  unsigned char *data = hl_arena_alloc(p->arena, (size_t)buffer->bytes);
  for (int64_t i = 0; i < count; i++) {
    uint64_t bits;
    if ((i > 0 && !hl_expect(p, ",")) || !hl_read_const_of(p, type, &bits))
      return false;
    memcpy(data + i * bytes, &bits, (size_t)bytes);
  }
  buffer->data = data;
  return hl_close(p, "}");
}

static bool parse_temp_place(hl_loop_parser *p, hl_buffer *buffer)
{
  if (hl_accept_word(p, "per")) {
    buffer->is_per_worker = true;
    if (!hl_expect_word(p, "worker"))
      return false;
  }
  return !hl_accept_word(p, "at") || hl_read_int(p, &buffer->offset);
}

/* The parts behind a declaration, by kind. */
static bool parse_rest(hl_loop_parser *p, hl_buffer *buffer)
{
  switch (buffer->kind) {
  case HL_BUFFER_RESULT:
    return !hl_accept_word(p, "alias") || (buffer->alias = read_buffer(p));
  case HL_BUFFER_CONSTANT:
    return parse_data(p, buffer);
  case HL_BUFFER_TEMP:
    return parse_temp_place(p, buffer);
  default:
    return true;
  }
}

static hl_buffer buffer_of(hl_buffer_kind kind, const hl_declaration *d)
{
  return (hl_buffer){
      .name = d->name,
      .kind = kind,
      .type = d->type,
      .rank = d->rank,
      .dimensions = d->dimensions,
      .bytes = d->count * hl_type_bytes(d->type),
      .offset = -1,
  };
}

static bool parse_buffer(hl_loop_parser *p, hl_buffer_kind kind)
{
  int64_t index = 0;
  hl_declaration d;
  bool is_numbered = kind == HL_BUFFER_ARGUMENT || kind == HL_BUFFER_RESULT;
  if ((is_numbered && !hl_read_int(p, &index)) || !hl_parse_declaration(p, &d))
    return false;
  if (d.count * hl_type_bytes(d.type) > (int64_t)HL_LIMIT_LITERAL_BYTES &&
      kind == HL_BUFFER_CONSTANT)
    return hl_parse_fail(p, "the constant is too large");
  hl_buffer buffer = buffer_of(kind, &d);
  buffer.index = index <= INT32_MAX ? (int)index : -1;
  return parse_rest(p, &buffer) && add_buffer(p, buffer) && hl_expect_line_end(p);
}

static bool parse_workers(hl_loop_parser *p)
{
  int64_t workers;
  if (!hl_read_int(p, &workers))
    return false;
  if (workers < 1 || workers > INT32_MAX)
    return hl_parse_fail(p, "no such number of workers");
  p->program->max_workers = (int)workers;
  return true;
}

static bool parse_program_line(hl_loop_parser *p)
{
  if (hl_accept_word(p, "argument"))
    return parse_buffer(p, HL_BUFFER_ARGUMENT);
  if (hl_accept_word(p, "result"))
    return parse_buffer(p, HL_BUFFER_RESULT);
  if (hl_accept_word(p, "constant"))
    return parse_buffer(p, HL_BUFFER_CONSTANT);
  if (hl_accept_word(p, "temp"))
    return parse_buffer(p, HL_BUFFER_TEMP);
  if (hl_accept_word(p, "workspace"))
    return hl_read_int(p, &p->program->workspace_bytes) && hl_expect_line_end(p);
  if (hl_accept_word(p, "workers"))
    return parse_workers(p) && hl_expect_line_end(p);
  return hl_parse_fail(p, "expected argument, result, constant, temp, workspace or workers");
}

/* Steps. */

static bool parse_steps(hl_loop_parser *p, hl_steps *steps, int outer);

static bool parse_kernel_step(hl_loop_parser *p, hl_steps *steps)
{
  const char *name = hl_read_name(p);
  if (!name)
    return false;
  hl_kernel *kernel = hl_map_get(&p->kernels, name, strlen(name));
  if (!kernel)
    return hl_parse_fail(p, "there is no kernel %s", name);
  if (!hl_open(p, "("))
    return hl_parse_fail(p, "expected '('");
  hl_step *step = hl_steps_add(p->arena, steps, HL_STEP_KERNEL);
  step->kernel = kernel;
  step->buffers = HL_ARRAY(p->arena, kernel->param_count, hl_buffer *);
  for (int i = 0; i < kernel->param_count; i++)
    if ((i > 0 && !hl_expect(p, ",")) || !(step->buffers[i] = read_buffer(p)))
      return false;
  return hl_close(p, ")") && hl_expect_line_end(p);
}

static bool parse_copy(hl_loop_parser *p, hl_steps *steps)
{
  hl_step *step = hl_steps_add(p->arena, steps, HL_STEP_COPY);
  step->buffers = HL_ARRAY(p->arena, 2, hl_buffer *);
  return (step->buffers[0] = read_buffer(p)) && hl_expect(p, ":=") &&
         (step->buffers[1] = read_buffer(p)) && hl_expect_line_end(p);
}

/* A line of one word, deeper than `outer`, and the steps below it. */
static bool parse_part(hl_loop_parser *p, const char *word, int outer, hl_steps *steps)
{
  int column = hl_next_line(p);
  if (column <= outer)
    return hl_parse_fail(p, "expected '%s'", word);
  return hl_expect_word(p, word) && hl_expect_line_end(p) && parse_steps(p, steps, column);
}

static bool parse_while(hl_loop_parser *p, hl_steps *steps, int column)
{
  hl_step *step = hl_steps_add(p->arena, steps, HL_STEP_WHILE);
  step->selector = read_buffer(p);
  return step->selector && hl_expect_line_end(p) &&
         parse_part(p, "condition", column, &step->condition) &&
         parse_part(p, "body", column, &step->body);
}

static bool parse_conditional(hl_loop_parser *p, hl_steps *steps, int column)
{
  size_t capacity = 0;
  hl_step *step = hl_steps_add(p->arena, steps, HL_STEP_CONDITIONAL);
  step->selector = read_buffer(p);
  if (!step->selector || !hl_expect_line_end(p))
    return false;
  while (hl_next_line(p) > column) {
    step->branches = hl_arena_grow(p->arena, step->branches, &capacity,
                                   (size_t)step->branch_count + 1, sizeof *step->branches);
    if (!parse_part(p, "branch", column, &step->branches[step->branch_count++]))
      return false;
  }
  return true;
}

static bool parse_signed(hl_loop_parser *p, int64_t *value)
{
  bool is_negative = hl_accept(p, "-");
  if (!hl_read_int(p, value))
    return false;
  *value = is_negative ? -*value : *value;
  return true;
}

static bool parse_call_value(hl_loop_parser *p, hl_call_value *value)
{
  static const char *const words[] = {"read", "write", "update", "int", "char"};
  int kind = 0;
  while (kind < 5 && !hl_accept_word(p, words[kind]))
    kind++;
  *value = (hl_call_value){.kind = (hl_call_value_kind)kind};
  if (kind == 5)
    return hl_parse_fail(p, "expected read, write, update, int or char");
  if (kind == HL_CALL_INT)
    return parse_signed(p, &value->number);
  if (kind == HL_CALL_CHAR) {
    const char *name = hl_read_name(p);
    value->number = name ? name[0] : 0;
    return name != NULL;
  }
  value->buffer = read_buffer(p);
  return value->buffer && (!hl_accept_word(p, "step") || hl_read_int(p, &value->step));
}

static bool parse_call_end(hl_loop_parser *p, hl_call *call)
{
  if (hl_accept_word(p, "rounds") && !hl_read_int(p, &call->rounds))
    return false;
  if (hl_accept_word(p, "config")) {
    call->config = hl_read_name(p);
    if (!call->config)
      return false;
    call->config_bytes = strlen(call->config);
  }
  return hl_expect_line_end(p);
}

static bool parse_call(hl_loop_parser *p, hl_steps *steps, bool is_fortran)
{
  size_t capacity = 0;
  hl_call *call = HL_NEW(p->arena, hl_call);
  *call = (hl_call){.is_fortran = is_fortran, .rounds = 1, .config = "", .range = HL_NO_RANGE};
  hl_steps_add(p->arena, steps, HL_STEP_CALL)->call = call;
  call->symbol = call->target = hl_read_name(p);
  if (!call->symbol || !hl_open(p, "("))
    return call->symbol && hl_parse_fail(p, "expected '('");
  for (; hl_peek_char(p) != ')'; call->value_count++) {
    call->values = hl_arena_grow(p->arena, call->values, &capacity, (size_t)call->value_count + 1, sizeof *call->values);
    if ((call->value_count > 0 && !hl_expect(p, ",")) || !parse_call_value(p, &call->values[call->value_count]))
      return false;
  }
  return hl_close(p, ")") && parse_call_end(p, call);
}

static bool parse_step(hl_loop_parser *p, hl_steps *steps, int column)
{
  if (hl_accept_word(p, "kernel"))
    return parse_kernel_step(p, steps);
  if (hl_accept_word(p, "copy"))
    return parse_copy(p, steps);
  if (hl_accept_word(p, "while"))
    return parse_while(p, steps, column);
  if (hl_accept_word(p, "conditional"))
    return parse_conditional(p, steps, column);
  if (hl_accept_word(p, "call"))
    return parse_call(p, steps, false);
  if (hl_accept_word(p, "fortran"))
    return parse_call(p, steps, true);
  return hl_parse_fail(p, "expected kernel, copy, while, conditional, call or fortran");
}

/* The steps on the lines deeper than `outer`. */
static bool parse_steps(hl_loop_parser *p, hl_steps *steps, int outer)
{
  int column = hl_next_line(p);
  if (!hl_enter(p))
    return false;
  for (int next = column; next > outer; next = hl_next_line(p)) {
    if (next != column)
      return hl_parse_fail(p, "this line is not in the column of its block");
    if (!parse_step(p, steps, column))
      return false;
  }
  hl_leave(p);
  return true;
}

/* Kernels alone. */

static int count_kind(const hl_program *program, hl_buffer_kind kind)
{
  int count = 0;
  for (int i = 0; i < program->buffer_count; i++)
    count += program->buffers[i]->kind == kind;
  return count;
}

static hl_buffer *buffer_for_param(hl_loop_parser *p, const hl_param *param)
{
  static const hl_buffer_kind kinds[] = {HL_BUFFER_ARGUMENT, HL_BUFFER_RESULT, HL_BUFFER_RESULT,
                                         HL_BUFFER_TEMP};
  hl_buffer *buffer = find_buffer(p, param->name);
  if (buffer)
    return buffer;
  hl_declaration d = {param->name, param->type, param->rank, param->dimensions, param->count};
  hl_buffer made = buffer_of(kinds[param->direction], &d);
  made.index = count_kind(p->program, made.kind);
  made.is_per_worker = param->direction == HL_PARAM_SCRATCH;
  return add_buffer(p, made);
}

/* An inout parameter starts with the values of an argument of its own. */
static bool add_initial_copy(hl_loop_parser *p, const hl_param *param, hl_buffer *buffer)
{
  hl_buffer made = *buffer;
  made.name = hl_arena_printf(p->arena, "%s.in", param->name);
  made.kind = HL_BUFFER_ARGUMENT;
  made.index = count_kind(p->program, HL_BUFFER_ARGUMENT);
  hl_buffer *argument = add_buffer(p, made);
  if (!argument)
    return false;
  hl_step *step = hl_steps_add(p->arena, &p->program->steps, HL_STEP_COPY);
  step->buffers = HL_ARRAY(p->arena, 2, hl_buffer *);
  step->buffers[0] = buffer;
  step->buffers[1] = argument;
  return true;
}

static bool add_kernel_step(hl_loop_parser *p, hl_kernel *kernel)
{
  hl_buffer **buffers = HL_ARRAY(p->arena, kernel->param_count, hl_buffer *);
  for (int i = 0; i < kernel->param_count; i++) {
    const hl_param *param = kernel->params[i];
    bool is_new = !find_buffer(p, param->name);
    buffers[i] = buffer_for_param(p, param);
    if (!buffers[i] ||
        (is_new && param->direction == HL_PARAM_INOUT && !add_initial_copy(p, param, buffers[i])))
      return false;
  }
  hl_step *step = hl_steps_add(p->arena, &p->program->steps, HL_STEP_KERNEL);
  step->kernel = kernel;
  step->buffers = buffers;
  return true;
}

/* Ports: one an argument or result buffer, by number. */

static bool make_ports(hl_loop_parser *p, hl_buffer_kind kind, hl_port **ports, int *count)
{
  *count = count_kind(p->program, kind);
  *ports = HL_ARRAY(p->arena, *count, hl_port);
  for (int i = 0; i < p->program->buffer_count; i++) {
    hl_buffer *buffer = p->program->buffers[i];
    if (buffer->kind != kind)
      continue;
    if (buffer->index < 0 || buffer->index >= *count || (*ports)[buffer->index].buffer)
      return hl_parse_fail(p, "the arguments or results are not numbered from 0");
    (*ports)[buffer->index] = (hl_port){
        .hlo_name = kind == HL_BUFFER_ARGUMENT ? buffer->name : NULL,
        .number = buffer->index,
        .shape = hl_shape_new(p->arena, buffer->type, buffer->rank, buffer->dimensions),
        .buffer = buffer,
    };
  }
  return true;
}

/* The text's sections, each from column 0. */

static bool parse_program_head(hl_loop_parser *p)
{
  const char *name = hl_read_name(p);
  if (!name || !hl_expect_line_end(p))
    return false;
  p->program->name = name;
  int column = hl_next_line(p);
  for (int next = column; next > 0; next = hl_next_line(p)) {
    if (next != column)
      return hl_parse_fail(p, "this line is not in the column of its block");
    if (!parse_program_line(p))
      return false;
  }
  return true;
}

static bool parse_kernels(hl_loop_parser *p, bool are_alone)
{
  while (hl_next_line(p) == 0 && hl_accept_word(p, "kernel")) {
    hl_kernel *kernel = hl_parse_kernel(p);
    if (!kernel)
      return false;
    if (hl_map_get(&p->kernels, kernel->name, strlen(kernel->name)))
      return hl_parse_fail(p, "there are two kernels %s", kernel->name);
    hl_map_set(&p->kernels, kernel->name, strlen(kernel->name), kernel);
    if (are_alone && !add_kernel_step(p, kernel))
      return false;
  }
  return true;
}

static bool parse_text(hl_loop_parser *p)
{
  if (p->source->size > HL_LIMIT_TEXT_BYTES)
    return hl_parse_fail(p, "the text is too long");
  bool has_head = hl_next_line(p) == 0 && hl_accept_word(p, "program");
  if ((has_head && !parse_program_head(p)) || !parse_kernels(p, !has_head))
    return false;
  if (has_head && (!hl_expect_word(p, "steps") || !hl_expect_line_end(p) ||
                   !parse_steps(p, &p->program->steps, 0)))
    return false;
  if (hl_next_line(p) >= 0)
    return hl_parse_fail(p, "expected the end of the text");
  return make_ports(p, HL_BUFFER_ARGUMENT, &p->program->arguments, &p->program->argument_count) &&
         make_ports(p, HL_BUFFER_RESULT, &p->program->results, &p->program->result_count);
}

hl_program *hl_program_parse(hl_arena *arena, const hl_source *source, hl_diag *diag)
{
  hl_loop_parser p = {
      .arena = arena,
      .source = source,
      .diag = diag,
      .program = hl_program_new(arena, "loops"),
      .buffers = {.arena = arena},
      .kernels = {.arena = arena},
  };
  if (!parse_text(&p))
    return NULL;
  const char *fault = hl_program_check(arena, p.program);
  if (!fault)
    return p.program;
  hl_parse_fail(&p, "%s", fault);
  return NULL;
}
