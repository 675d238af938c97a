/* cmd_compile - `hlo-lite compile`: a module as native code, or as any stage on the way there. */
#include "command.h"

#include "codegen/header.h"
#include "codegen/link.h"
#include "dot.h"
#include "embed.h"
#include "progress.h"
#include "ir/print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct job {
  hl_session *session;
  const hl_options *options;
  const char *input;
  bool is_written; /* false once an output failed; its message was shown */
} job;

/* The input's name without folder and extension. */
static const char *stem_of(hl_arena *arena, const char *path)
{
  if (!strcmp(path, "-"))
    return "model";
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
  return hl_arena_strndup(arena, base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
}

/* -o, or the stem with an extension in the current folder. */
static const char *output_path(const job *j, const char *extension)
{
  if (j->options->output)
    return j->options->output;
  hl_arena *arena = j->session->arena;
  return hl_arena_printf(arena, "%s%s", stem_of(arena, j->input), extension);
}

/* The header of an object stands beside it. */
static const char *header_path(hl_arena *arena, const char *object)
{
  const char *slash = strrchr(object, '/'), *dot = strrchr(object, '.');
  bool has_extension = dot && dot != object && (!slash || dot > slash + 1);
  return hl_arena_printf(arena, "%.*s.h",
                         (int)(has_extension ? dot - object : (long)strlen(object)), object);
}

static const char *file_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void write_text(job *j, const hl_str *text)
{
  j->is_written = hl_command_write(j->options->output, hl_str_text(text), text->length);
}

static void print_header(job *j, hl_str *text, const char *file, const hl_code *code)
{
  hl_session_header(j->session, file, file_name(j->session->diag.source->name), code, text);
}

static void write_header(job *j, const char *object_path, const hl_code *code)
{
  hl_str text = {.arena = j->session->arena};
  const char *path = header_path(text.arena, object_path);
  print_header(j, &text, file_name(path), code);
  j->is_written = j->is_written && hl_command_write(path, hl_str_text(&text), text.length);
}

static void write_object(job *j, const hl_code *code)
{
  const char *path = output_path(j, ".o");
  j->is_written = hl_command_write(path, code->data, code->size);
  if (strcmp(path, "-") != 0)
    write_header(j, path, code);
}

static bool run_linker(job *j, const hl_link *link)
{
  const char *error = NULL;
  hl_progress_step(j->options->progress, "linking");
  bool is_linked = hl_link_run(j->session->arena, link, &error);
  hl_progress_step(j->options->progress, NULL);
  if (!is_linked)
    hl_complain(HL_EXIT_INPUT, "%s", error);
  return is_linked;
}

/* Linkers write files: for standard output one goes to a folder of its own, and from there. */
static bool link_to_stdout(job *j, hl_link link)
{
  hl_io_error e;
  size_t size;
  void *data = NULL;
  const char *parent = getenv("TMPDIR");
  char *folder = hl_arena_printf(j->session->arena, "%s/hlo-lite-XXXXXX", parent && *parent ? parent : "/tmp");
  if (!mkdtemp(folder)) {
    hl_complain(HL_EXIT_INPUT, "cannot write %s: %s", folder, strerror(errno));
    return false;
  }
  link.output = hl_arena_printf(j->session->arena, "%s/model", folder);
  bool is_linked = run_linker(j, &link), is_read = is_linked && hl_io_read(link.output, &data, &size, &e);
  if (is_linked && !is_read)
    hl_complain(HL_EXIT_INPUT, "%s", e.text);
  unlink(link.output);
  rmdir(folder);
  bool is_written = is_read && hl_command_write("-", data, size);
  free(data);
  return is_written;
}

/* Runs the linker; what it says is the message. */
static void link_output(job *j, const hl_link *link)
{
  j->is_written = !strcmp(link->output, "-") ? link_to_stdout(j, *link) : run_linker(j, link);
}

static hl_link_input embedded(const char *name, const void *begin, const void *end)
{
  return (hl_link_input){name, begin, (size_t)((const char *)end - (const char *)begin)};
}

/* A linker script that adds to the usual one: the three symbols are exported, and with threads the
 * hook, so that a program can put its own in its place. */
static const char *export_script(job *j, bool threads)
{
  const hl_session *s = j->session;
  return hl_arena_printf(
      s->arena, "VERSION { { global: %s; %s_workspace_bytes; %s_signature; %slocal: *; }; }\n",
      s->symbol, s->symbol, s->symbol, threads ? "hlo_parallel_for; " : "");
}

/* The list of libraries with those of LAPACK behind it, by their file names, where the module calls them. */
static const char *const *with_lapack(job *j, const char *const *libraries)
{
  int count, known = 0;
  const hl_call **calls = hl_program_calls(j->session->arena, j->session->program, &count);
  while (libraries && libraries[known])
    known++;
  const char **list = HL_ARRAY(j->session->arena, known + 3, const char *);
  for (int i = 0; i < known; i++)
    list[i] = libraries[i];
  for (int i = 0; i < count; i++)
    if (calls[i]->is_fortran) {
      list[known] = "-l:liblapack.so.3";
      list[known + 1] = "-l:libblas.so.3";
    }
  return list;
}

static void link_shared(job *j, const hl_code *code)
{
  bool threads = hl_session_uses_threads(j->session->arena, code);
  const char *script = export_script(j, threads), *output = output_path(j, ".so");
  hl_link_input inputs[] = {{"exports", script, strlen(script)},
                            {"model.o", code->data, code->size},
                            embedded("pool.o", hl_embed_pool, hl_embed_pool_end),
                            embedded("libc.so.6", hl_embed_libc, hl_embed_libc_end)};
  static const char *const options[] = {"-shared", "-z", "noexecstack", "--build-id=none", NULL};
  hl_link link = {.tool = j->options->linker,
                  .output = output,
                  .inputs = inputs,
                  .input_count = threads ? 4 : 2,
                  .options = options,
                  .libraries = with_lapack(j, NULL)};
  link_output(j, &link);
  if (j->is_written && strcmp(output, "-") != 0)
    write_header(j, output, code);
}

static void link_executable(job *j, const hl_code *code)
{
  hl_session *s = j->session;
  hl_str text = {.arena = s->arena};
  hl_description_print(&text, s->program, s->symbol, hl_embed_exe_header,
                       (size_t)(hl_embed_exe_header_end - hl_embed_exe_header));
  hl_link_input inputs[] = {{"description.c", hl_str_text(&text), text.length},
                            {"model.o", code->data, code->size},
                            embedded("main.o", hl_embed_exe, hl_embed_exe_end)};
  static const char *const libraries[] = {"-lm", "-pthread", NULL};
  hl_link link = {.tool = j->options->cc,
                  .output = output_path(j, ""),
                  .inputs = inputs,
                  .input_count = 3,
                  .libraries = with_lapack(j, libraries)};
  link_output(j, &link);
}

static void write_code(job *j, const hl_code *code)
{
  hl_str text = {.arena = j->session->arena};
  switch (j->options->emit) {
  case HL_EMIT_OBJ:
    write_object(j, code);
    break;
  case HL_EMIT_SHARED:
    link_shared(j, code);
    break;
  case HL_EMIT_EXE:
    link_executable(j, code);
    break;
  case HL_EMIT_HEADER:
    print_header(j, &text,
                 j->options->output ? file_name(j->options->output)
                                    : header_path(text.arena, stem_of(text.arena, j->input)),
                 code);
    write_text(j, &text);
    break;
  case HL_EMIT_LLVM_BC:
    j->is_written = hl_command_write(output_path(j, ".bc"), code->data, code->size);
    break;
  default:
    j->is_written = hl_command_write(j->options->output, code->data, code->size);
  }
}

static hl_code_kind code_kind(hl_emit emit)
{
  switch (emit) {
  case HL_EMIT_ASM:
    return HL_CODE_ASSEMBLY;
  case HL_EMIT_LLVM_IR:
    return HL_CODE_LLVM_IR;
  case HL_EMIT_LLVM_BC:
    return HL_CODE_BITCODE;
  default:
    return HL_CODE_OBJECT;
  }
}

/* What links runs here: the objects inside, the linker and the C library are this machine's. */
static bool can_link(const job *j)
{
  hl_emit emit = j->options->emit;
  hl_target_info host;
  const char *error;
  hl_codegen_options here = {.opt_level = 0};
  bool links = emit == HL_EMIT_SHARED || emit == HL_EMIT_EXE;
  bool has_own_cc = emit == HL_EMIT_EXE && strcmp(j->options->cc, "cc") != 0; /* it knows its machine */
  if (!links || !j->options->target || has_own_cc)
    return true;
  if (!hl_target_resolve(j->session->arena, &here, &host, &error))
    return true;
  const hl_target_info *target = &j->session->target;
  return target->family == host.family && !target->is_freestanding;
}

/* An executable has no place for functions of a program. */
static bool check_calls(job *j)
{
  hl_session *s = j->session;
  int count;
  const hl_call **calls = hl_program_calls(s->arena, s->program, &count);
  for (int i = 0; j->options->emit == HL_EMIT_EXE && i < count; i++) {
    if (calls[i]->is_fortran)
      continue;
    hl_error(&s->diag, calls[i]->range, HL_RULE_COMPILE_OP, "the custom call '%s' is unknown: --emit=exe has no function %s",
             calls[i]->target, calls[i]->symbol);
    hl_help(&s->diag, "a program can define it: --emit=obj or --emit=shared");
    s->fault = HL_FAULT_INPUT;
  }
  return s->fault == HL_FAULT_NONE;
}

static int compile_code(job *j)
{
  hl_session *s = j->session;
  hl_code code = {0};
  if (!hl_session_build(s))
    return HL_EXIT_DONE; /* the session knows */
  if (!can_link(j))
    return hl_complain(HL_EXIT_USAGE,
                       "--emit=%s links for this machine alone, not for %s; --emit=obj does",
                       hl_emit_name(j->options->emit), s->target.triple);
  if (check_calls(j) && hl_session_emit(s, code_kind(j->options->emit), &code))
    write_code(j, &code);
  free(code.data);
  return HL_EXIT_DONE;
}

/* The stages before code. */
static int print_stage(job *j)
{
  hl_session *s = j->session;
  hl_str text = {.arena = s->arena};
  bool is_loops = j->options->emit == HL_EMIT_LOOPS;
  if (!(is_loops ? hl_session_build(s) : hl_session_optimize(s, NULL, 0)))
    return HL_EXIT_DONE;
  if (is_loops)
    hl_program_print(&text, s->program);
  else if (j->options->emit == HL_EMIT_HLO)
    hl_module_print(&text, s->module);
  else
    hl_module_dot(&text, s->module);
  write_text(j, &text);
  return HL_EXIT_DONE;
}

int hl_command_compile(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  (void)arena;
  hl_session s;
  job j = {.session = &s, .options = options, .input = options->inputs[0], .is_written = true};
  hl_emit emit = options->emit;
  bool is_stage = emit == HL_EMIT_LOOPS || emit == HL_EMIT_HLO || emit == HL_EMIT_DOT;
  hl_command_open(&s, options, guard);
  int status = HL_EXIT_DONE;
  if (hl_command_load(&s, options, j.input))
    status = is_stage ? print_stage(&j) : compile_code(&j);
  int fault = hl_command_close(&s, options);
  if (fault != HL_EXIT_DONE)
    return fault;
  return status == HL_EXIT_DONE && !j.is_written ? HL_EXIT_INPUT : status;
}
