/* eval_main - runs a module by the reference evaluator alone, or lowered by the interpreter of the loop IR: the command line of
 * `hlo-lite run`, for tests/matrix.sh and for runners of cases.
 *
 *   eval_main run [--loops] module.hlo [x.npy ...] -o DIR/ [other options: ignored]
 *   eval_main check module.hlo
 */
#include "grammar/parse.h"
#include "ir/eval.h"
#include "ir/verify.h"
#include "runtime/npy.h"
#include "runtime/values.h"
#include "src/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_ARGS = 4096, MOST_PATH = 4096 };

typedef struct command {
  const char *module, *out;
  const char *args[MOST_ARGS];
  int arg_count;
  bool loops;
} command;

static command parse_command(int argc, char **argv)
{
  command c = {.module = NULL};
  for (int i = 2; i < argc; i++) {
    if (!strcmp(argv[i], "-o") && i + 1 < argc)
      c.out = argv[++i];
    else if (!strcmp(argv[i], "--loops"))
      c.loops = true;
    else if (argv[i][0] != '-' && !c.module)
      c.module = argv[i];
    else if (argv[i][0] != '-' && c.arg_count < MOST_ARGS)
      c.args[c.arg_count++] = argv[i];
  }
  return c;
}

static int show(hl_arena *arena, const hl_diag *diag)
{
  hl_str text = {.arena = arena};
  hl_diag_render(diag, (hl_render_options){false, false}, &text);
  fputs(hl_str_text(&text), stderr);
  return 1;
}

static int fail(const char *text)
{
  fprintf(stderr, "error: %s\n", text);
  return 1;
}

static hl_module *load_module(hl_arena *arena, const char *path, hl_diag *diag)
{
  void *text;
  size_t bytes;
  hl_io_error error;
  if (!hl_io_read(path, &text, &bytes, &error)) {
    fail(error.text);
    return NULL;
  }
  diag->source = hl_source_new(arena, path, text, bytes);
  free(text);
  hl_module *module = hl_parse(arena, diag->source, diag);
  return module && hl_verify(module, (hl_verify_options){0}, diag) ? module : NULL;
}

/* Appends the leaves of a parameter's shape. */
static int leaf_shapes(const hl_shape *shape, const hl_shape **out, int count)
{
  for (int i = 0; i < shape->tuple_count; i++)
    count = leaf_shapes(shape->tuple_shapes[i], out, count);
  if (hl_shape_is_array(shape) && count < MOST_ARGS)
    out[count++] = shape;
  return count;
}

static const hl_literal *load_argument(hl_arena *arena, const hl_shape *shape, const char *path)
{
  hl_npy npy;
  hl_io_error error;
  if (!hl_npy_load(path, &npy, &error)) {
    fail(error.text);
    return NULL;
  }
  hl_literal *literal = hl_literal_new(arena, shape);
  const hl_value_type *type = hl_value_type_find(hl_type_name(shape->element_type));
  bool fits = type && hl_value_accepts(type, &npy) && npy.bytes == (size_t)hl_shape_bytes(shape);
  if (fits && literal->data)
    memcpy(literal->data, npy.data, npy.bytes);
  hl_npy_free(&npy);
  return fits ? literal : NULL;
}

static bool save(const char *folder, int number, const hl_literal *literal)
{
  char path[MOST_PATH];
  hl_io_error error;
  const hl_shape *shape = literal->shape;
  hl_npy npy = {.rank = shape->rank, .data = literal->data, .bytes = (size_t)hl_shape_bytes(shape)};
  for (int i = 0; i < shape->rank; i++)
    npy.dims[i] = shape->dimensions[i];
  hl_value_set_npy_type(hl_value_type_find(hl_type_name(shape->element_type)), &npy);
  snprintf(path, sizeof path, "%s/%d.npy", folder, number);
  return hl_npy_save(path, &npy, &error) || !fail(error.text);
}

/* The program of -O2, interpreted. */
static bool interpret(hl_arena *arena, const command *c, const hl_literal *const *args, const hl_literal *const *results, int count)
{
  hl_guard guard;
  hl_session s;
  hl_session_options options = {.code = {.opt_level = 2}};
  const void **arguments = HL_ARRAY(arena, c->arg_count + 1, const void *);
  void **outputs = HL_ARRAY(arena, count + 1, void *);
  const char *why = NULL;
  for (int i = 0; i < c->arg_count; i++)
    arguments[i] = args[i]->data;
  for (int i = 0; i < count; i++)
    outputs[i] = results[i]->data;
  if (setjmp(guard.env))
    return false;
  hl_session_open(&s, &guard, &options);
  bool ok = hl_session_read(&s, c->module) && hl_session_load(&s, NULL) && hl_session_build(&s) &&
            !(why = hl_program_check(arena, s.program)) && hl_program_eval(arena, s.program, arguments, outputs);
  if (!ok)
    fail(why ? why : s.text ? s.text : s.diag.last ? s.diag.last->text : "the interpreter stopped");
  hl_session_close(&s);
  return ok;
}

static const hl_literal **new_results(hl_arena *arena, const hl_module *module, int *count)
{
  const hl_shape *shapes[MOST_ARGS];
  *count = leaf_shapes(module->entry->root->shape, shapes, 0);
  const hl_literal **results = HL_ARRAY(arena, *count + 1, const hl_literal *);
  for (int i = 0; i < *count; i++)
    results[i] = hl_literal_new(arena, shapes[i]);
  return results;
}

static int run(hl_arena *arena, const hl_module *module, const command *c, hl_diag *diag)
{
  const hl_shape *shapes[MOST_ARGS];
  const hl_literal *args[MOST_ARGS];
  const hl_literal **results;
  int count = 0, result_count;
  for (int i = 0; i < module->entry->parameter_count; i++)
    count = leaf_shapes(module->entry->parameters[i]->shape, shapes, count);
  if (count != c->arg_count)
    return fail("wrong number of arguments");
  for (int i = 0; i < count; i++)
    if (!(args[i] = load_argument(arena, shapes[i], c->args[i])))
      return fail("an argument does not fit");
  if (c->loops)
    results = new_results(arena, module, &result_count);
  if (c->loops && !interpret(arena, c, args, results, result_count))
    return 1;
  if (!c->loops && !hl_eval_module(arena, module, args, &results, &result_count, diag))
    return show(arena, diag);
  if (c->out)
    mkdir(c->out, 0777); /* where it exists, that is as good */
  for (int i = 0; c->out && i < result_count; i++)
    if (!save(c->out, i, results[i]))
      return 1;
  return 0;
}

int main(int argc, char **argv)
{
  if (argc < 3)
    return 2;
  command c = parse_command(argc, argv);
  hl_arena *arena = hl_arena_new(NULL);
  hl_diag diag = {.arena = arena};
  hl_module *module = load_module(arena, c.module, &diag);
  int status = module ? 0 : show(arena, &diag);
  if (module && !strcmp(argv[1], "run"))
    status = run(arena, module, &c, &diag);
  hl_arena_free(arena);
  return status;
}
