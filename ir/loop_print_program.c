/* loop_print_program.c - the text of a program: its buffers, its kernels in the order of their
 * first use, its steps. */
#include "loop_text.h"

#include <string.h>

enum { INDENT = 2 };

typedef struct program_printer {
  hl_str *out;
  const hl_program *program;
  const char **buffer_names;
  hl_map buffer_numbers; /* a buffer's address: where its name stands in buffer_names */
  const char **kernel_names;
  hl_map kernel_numbers; /* a kernel's address: where it stands in kernels */
  const hl_kernel **kernels;
  int kernel_count;
} program_printer;

/* Numbers by address; 0 is no value of a map, so they are kept plus one. */
static void set_number(hl_map *map, const void *const *address, int number)
{
  hl_map_set(map, (const char *)address, sizeof *address, (void *)(intptr_t)(number + 1));
}

static int number_of(const hl_map *map, const void *address)
{
  return (int)(intptr_t)hl_map_get(map, (const char *)&address, sizeof address) - 1;
}

static void name_all(program_printer *p)
{
  hl_arena *arena = p->out->arena;
  int count = p->program->buffer_count;
  const char **names = HL_ARRAY(arena, count, const char *);
  for (int i = 0; i < count; i++) {
    names[i] = p->program->buffers[i]->name;
    set_number(&p->buffer_numbers, (const void *const *)&p->program->buffers[i], i);
  }
  p->buffer_names = hl_distinct_names(arena, count, names);
  p->kernels = hl_program_kernels(arena, p->program, &p->kernel_count);
  names = HL_ARRAY(arena, p->kernel_count, const char *);
  for (int i = 0; i < p->kernel_count; i++) {
    names[i] = p->kernels[i]->name;
    set_number(&p->kernel_numbers, (const void *const *)&p->kernels[i], i);
  }
  p->kernel_names = hl_distinct_names(arena, p->kernel_count, names);
}

static void print_buffer_name(program_printer *p, const hl_buffer *buffer)
{
  hl_str_add_char(p->out, '%');
  hl_print_word(p->out, p->buffer_names[number_of(&p->buffer_numbers, buffer)]);
}

/* Buffers. */

static void print_data(hl_str *out, const hl_buffer *buffer)
{
  hl_element_type type = hl_component_type(buffer->type);
  size_t bytes = (size_t)hl_type_bytes(type);
  int64_t count = buffer->bytes / (int64_t)bytes;
  if (count > HL_PRINTED_CONSTANT_LIMIT) {
    hl_str_printf(out, " = elided %lld bytes crc 0x%08x", (long long)buffer->bytes,
                  hl_crc32(buffer->data, (size_t)buffer->bytes));
    return;
  }
  hl_str_add(out, " = {");
  for (int64_t i = 0; i < count; i++) {
    uint64_t bits = 0;
    memcpy(&bits, (const char *)buffer->data + (size_t)i * bytes, bytes);
    hl_str_add(out, i ? ", " : "");
    hl_const_print_bare(out, type, bits);
  }
  hl_str_add_char(out, '}');
}

static void print_buffer(program_printer *p, int number)
{
  static const char *const kinds[] = {"argument", "result", "constant", "temp"};
  const hl_buffer *buffer = p->program->buffers[number];
  hl_str_printf(p->out, "%*s%s ", INDENT, "", kinds[buffer->kind]);
  if (buffer->kind == HL_BUFFER_ARGUMENT || buffer->kind == HL_BUFFER_RESULT)
    hl_str_printf(p->out, "%d ", buffer->index);
  hl_print_declaration(p->out, p->buffer_names[number], buffer->type, buffer->rank,
                       buffer->dimensions);
  if (buffer->alias) {
    hl_str_add(p->out, " alias ");
    print_buffer_name(p, buffer->alias);
  }
  if (buffer->kind == HL_BUFFER_CONSTANT)
    print_data(p->out, buffer);
  if (buffer->is_per_worker)
    hl_str_add(p->out, " per worker");
  if (buffer->kind == HL_BUFFER_TEMP && buffer->offset >= 0)
    hl_str_printf(p->out, " at %lld", (long long)buffer->offset);
  hl_str_add_char(p->out, '\n');
}

/* Steps. */

static void print_steps(program_printer *p, const hl_steps *steps, int columns);

static void print_head(program_printer *p, const char *word, int columns)
{
  hl_str_printf(p->out, "%*s%s\n", columns, "", word);
}

static void print_kernel_step(program_printer *p, const hl_step *step)
{
  hl_str_add(p->out, "kernel ");
  hl_print_word(p->out, p->kernel_names[number_of(&p->kernel_numbers, step->kernel)]);
  hl_str_add_char(p->out, '(');
  for (int i = 0; i < step->kernel->param_count; i++) {
    hl_str_add(p->out, i ? ", " : "");
    print_buffer_name(p, step->buffers[i]);
  }
  hl_str_add(p->out, ")\n");
}

static void print_copy(program_printer *p, const hl_step *step)
{
  hl_str_add(p->out, "copy ");
  print_buffer_name(p, step->buffers[0]);
  hl_str_add(p->out, " := ");
  print_buffer_name(p, step->buffers[1]);
  hl_str_add_char(p->out, '\n');
}

static void print_while(program_printer *p, const hl_step *step, int columns)
{
  hl_str_add(p->out, "while ");
  print_buffer_name(p, step->selector);
  hl_str_add_char(p->out, '\n');
  print_head(p, "condition", columns + INDENT);
  print_steps(p, &step->condition, columns + 2 * INDENT);
  print_head(p, "body", columns + INDENT);
  print_steps(p, &step->body, columns + 2 * INDENT);
}

static void print_conditional(program_printer *p, const hl_step *step, int columns)
{
  hl_str_add(p->out, "conditional ");
  print_buffer_name(p, step->selector);
  hl_str_add_char(p->out, '\n');
  for (int i = 0; i < step->branch_count; i++) {
    print_head(p, "branch", columns + INDENT);
    print_steps(p, &step->branches[i], columns + 2 * INDENT);
  }
}

static void print_call_value(program_printer *p, const hl_call_value *value)
{
  static const char *const words[] = {"read ", "write ", "update ", "int ", "char "};
  hl_str_add(p->out, words[value->kind]);
  if (value->kind == HL_CALL_INT)
    hl_str_printf(p->out, "%lld", (long long)value->number);
  else if (value->kind == HL_CALL_CHAR)
    hl_print_word(p->out, (const char[]){(char)value->number, '\0'});
  else
    print_buffer_name(p, value->buffer);
  if (value->step)
    hl_str_printf(p->out, " step %lld", (long long)value->step);
}

static void print_call(program_printer *p, const hl_step *step)
{
  const hl_call *call = step->call;
  hl_str_add(p->out, call->is_fortran ? "fortran " : "call ");
  hl_print_word(p->out, call->symbol);
  hl_str_add_char(p->out, '(');
  for (int i = 0; i < call->value_count; i++) {
    hl_str_add(p->out, i ? ", " : "");
    print_call_value(p, &call->values[i]);
  }
  hl_str_add_char(p->out, ')');
  if (call->rounds > 1)
    hl_str_printf(p->out, " rounds %lld", (long long)call->rounds);
  if (call->config_bytes) {
    hl_str_add(p->out, " config ");
    hl_print_word(p->out, hl_arena_strndup(p->out->arena, call->config, call->config_bytes));
  }
  hl_str_add_char(p->out, '\n');
}

static void print_steps(program_printer *p, const hl_steps *steps, int columns)
{
  for (const hl_step *step = steps->first; step; step = step->next) {
    hl_str_printf(p->out, "%*s", columns, "");
    switch (step->kind) {
    case HL_STEP_KERNEL:
      print_kernel_step(p, step);
      break;
    case HL_STEP_COPY:
      print_copy(p, step);
      break;
    case HL_STEP_WHILE:
      print_while(p, step, columns);
      break;
    case HL_STEP_CONDITIONAL:
      print_conditional(p, step, columns);
      break;
    case HL_STEP_CALL:
      print_call(p, step);
    }
  }
}

static void print_program_head(program_printer *p)
{
  const hl_program *program = p->program;
  hl_str_add(p->out, "program ");
  hl_print_word(p->out, program->name);
  hl_str_add_char(p->out, '\n');
  for (int i = 0; i < program->buffer_count; i++)
    print_buffer(p, i);
  if (program->workspace_bytes > 0)
    hl_str_printf(p->out, "%*sworkspace %lld\n", INDENT, "", (long long)program->workspace_bytes);
  if (program->max_workers > 1)
    hl_str_printf(p->out, "%*sworkers %d\n", INDENT, "", program->max_workers);
}

void hl_program_print(hl_str *out, const hl_program *program)
{
  hl_arena *arena = out->arena;
  program_printer p = {
      .out = out,
      .program = program,
      .buffer_numbers = {.arena = arena},
      .kernel_numbers = {.arena = arena},
  };
  name_all(&p);
  print_program_head(&p);
  for (int i = 0; i < p.kernel_count; i++) {
    hl_str_add_char(out, '\n');
    hl_kernel_print_as(out, p.kernels[i], p.kernel_names[i]);
  }
  hl_str_add(out, "\nsteps\n");
  print_steps(&p, &program->steps, INDENT);
}
