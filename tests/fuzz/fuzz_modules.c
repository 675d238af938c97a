/* fuzz_modules - bytes to a valid module, an -O level, passes left out, a CPU and arguments: what the code computes between guard
 * pages, and what the interpreter of the loop IR does, is held against the reference evaluator, bit by bit. */
#include "generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/eval.h"
#include "runtime/hlo_runtime.h"
#include "src/codegen/interface.h"
#include "src/codegen/jit.h"
#include "src/guarded.h"
#include "src/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 6, MOST_ARRAYS = 512 };

/* One compilation, its memory and what should come out. */
typedef struct trial {
  const char *text;
  hl_session_options options;
  bool at_start; /* of the pages */
  uint64_t random;
  hl_guarded arguments[MOST_ARRAYS], results[MOST_ARRAYS], workspace;
  int argument_count, result_count;
} trial;

/* The module and how it is compiled. */
static void describe(const trial *t, FILE *out)
{
  fprintf(out, "// -O%d --cpu=%s workers=%d, without:", t->options.code.opt_level,
          t->options.code.cpu ? t->options.code.cpu : "(default)", t->options.max_workers);
  for (int i = 0; i < HL_PASS_COUNT; i++)
    if (t->options.disabled_passes[i])
      fprintf(out, " %s", hl_pass_name((hl_pass_id)i));
  fprintf(out, "\n%s\n", t->text ? t->text : "");
}

static void fail(const trial *t, const char *what)
{
  fprintf(stderr, "%s\n", what);
  describe(t, stderr);
  abort();
}

/* FUZZ_TEXT names a file that always has the module under test: after a crash, too. */
static void record(const trial *t)
{
  const char *path = getenv("FUZZ_TEXT");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file)
    return;
  describe(t, file);
  fclose(file);
}

/* ---- arguments ---- */

static uint64_t next_random(trial *t)
{
  uint64_t z = t->random += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/* A float of some bits, not far from one: sign, exponent near the bias, any mantissa. */
static uint64_t ordinary(uint64_t random, int exponent_bits, int mantissa_bits)
{
  uint64_t bias = ((uint64_t)1 << (exponent_bits - 1)) - 1, exponent = bias - 3 + random % 5;
  uint64_t mantissa = (random >> 8) & (((uint64_t)1 << mantissa_bits) - 1);
  return (random >> 63) << (exponent_bits + mantissa_bits) | exponent << mantissa_bits | mantissa;
}

static uint64_t float_bits(uint64_t random, hl_element_type type)
{
  switch (type) {
  case HL_F32: case HL_C64: return ordinary(random, 8, 23);
  case HL_F64: case HL_C128: return ordinary(random, 11, 52);
  case HL_F16: return ordinary(random, 5, 10);
  case HL_BF16: return ordinary(random, 8, 7);
  default: return random; /* too narrow to leave anything out */
  }
}

static uint64_t element_bits(trial *t, hl_element_type type, int mode)
{
  uint64_t random = next_random(t);
  const char *name = hl_type_name(type);
  unsigned classes = class_of(name);
  int bits = bits_of(name);
  if ((classes & HL_T_INEXACT) && mode)
    random = random % 16 == 0 && mode == 1 ? 0 : float_bits(random, type);
  else if ((classes & HL_T_INTEGRAL) && mode)
    random %= 11;
  if (bits < 8 && classes != HL_T_PRED) {
    random &= ((uint64_t)1 << bits) - 1;
    if (classes == HL_T_SIGNED && random >> (bits - 1))
      random |= ~(uint64_t)0 << bits;
  }
  return random;
}

/* Any bits, or numbers that models have. */
static void fill(trial *t, const hl_shape *shape, hl_guarded *memory)
{
  int mode = (int)(next_random(t) % 4), item = hl_type_bytes(shape->element_type);
  bool is_complex = shape->element_type == HL_C64 || shape->element_type == HL_C128;
  int step = is_complex ? item / 2 : item;
  for (size_t at = 0; at < memory->bytes; at += (size_t)step) {
    uint64_t bits = element_bits(t, shape->element_type, mode);
    memcpy(memory->data + at, &bits, (size_t)step);
  }
}

static hl_guarded array_of(trial *t, const hl_shape *shape)
{
  size_t align = (size_t)hl_type_bytes(shape->element_type);
  return hl_guarded_new((size_t)hl_shape_bytes(shape), align > 8 ? 8 : align, t->at_start);
}

static void allocate(trial *t, const hl_session *s, const hl_interface *members)
{
  t->argument_count = members->argument_count;
  t->result_count = members->result_count;
  if (t->argument_count > MOST_ARRAYS || t->result_count > MOST_ARRAYS)
    fail(t, "too many arrays");
  for (int i = 0; i < t->argument_count; i++) {
    t->arguments[i] = array_of(t, members->arguments[i].port->shape);
    fill(t, members->arguments[i].port->shape, &t->arguments[i]);
  }
  for (int i = 0; i < t->result_count; i++)
    t->results[i] = array_of(t, members->results[i].port->shape);
  t->workspace = hl_guarded_new((size_t)s->program->workspace_bytes, 64, t->at_start);
}

static void release(trial *t)
{
  for (int i = 0; i < t->argument_count; i++)
    hl_guarded_free(&t->arguments[i]);
  for (int i = 0; i < t->result_count; i++)
    hl_guarded_free(&t->results[i]);
  hl_guarded_free(&t->workspace);
}

static void check_canaries(const trial *t)
{
  bool whole = hl_guarded_is_whole(&t->workspace);
  for (int i = 0; i < t->argument_count; i++)
    whole = whole && hl_guarded_is_whole(&t->arguments[i]);
  for (int i = 0; i < t->result_count; i++)
    whole = whole && hl_guarded_is_whole(&t->results[i]);
  if (!whole)
    fail(t, "wrote beside its arrays");
}

/* ---- the two ways ---- */

static const hl_literal *literal_of(hl_arena *arena, const hl_shape *shape, const hl_guarded *memory)
{
  hl_literal *literal = hl_literal_new(arena, shape);
  if (memory->bytes)
    memcpy(literal->data, memory->data, memory->bytes);
  for (size_t i = 0; shape->element_type == HL_PRED && i < memory->bytes; i++)
    ((unsigned char *)literal->data)[i] = ((unsigned char *)literal->data)[i] != 0;
  return literal;
}

static void load(trial *t, hl_session *s)
{
  if (!hl_session_set_text(s, "generated.hlo", t->text, strlen(t->text)) || !hl_session_load(s, NULL))
    fail(t, s->diag.last ? s->diag.last->text : "refused");
}

/* Before the call: it may write into its arguments where the module says so. */
static const hl_literal **evaluate(trial *t, hl_session *fresh, const hl_interface *members)
{
  const hl_literal *arguments[MOST_ARRAYS], **results;
  int count;
  load(t, fresh);
  for (int i = 0; i < t->argument_count; i++)
    arguments[i] = literal_of(fresh->arena, members->arguments[i].port->shape, &t->arguments[i]);
  if (!hl_eval_module(fresh->arena, fresh->module, arguments, &results, &count, &fresh->diag))
    fail(t, fresh->diag.last->text);
  return results;
}

static void call(trial *t, hl_session *s)
{
  void *arguments[MOST_ARRAYS], *results[MOST_ARRAYS];
  const char *error = NULL;
  hl_code code;
  if (!hl_session_emit(s, HL_CODE_OBJECT, &code))
    fail(t, s->text ? s->text : "not emitted");
  hl_jit *jit = hl_jit_new(s->arena, s->program->max_workers > 1 ? hlo_parallel_for : NULL, &error);
  hl_jit_module *module = jit ? hl_jit_load(jit, s->arena, code.data, code.size, s->symbol, NULL, 0, &error) : NULL;
  if (!module)
    fail(t, error);
  for (int i = 0; i < t->argument_count; i++)
    arguments[i] = t->arguments[i].data;
  for (int i = 0; i < t->result_count; i++)
    results[i] = t->results[i].data;
  if (hl_jit_module_entry(module)(arguments, results, t->workspace.data) != 0)
    fail(t, "the function refused its workspace");
  free(code.data);
  hl_jit_unload(module);
  hl_jit_free(jit);
}

static void interpret(trial *t, hl_session *s)
{
  const void *arguments[MOST_ARRAYS];
  void *results[MOST_ARRAYS];
  for (int i = 0; i < t->argument_count; i++)
    arguments[i] = t->arguments[i].data;
  for (int i = 0; i < t->result_count; i++) {
    results[i] = t->results[i].data;
    memset(results[i], 0xee, t->results[i].bytes);
  }
  if (!hl_program_eval(s->arena, s->program, arguments, results))
    fail(t, "the interpreter of the loop IR stopped");
}

static void compare(const trial *t, const hl_literal *const *want, const char *what)
{
  for (int i = 0; i < t->result_count; i++) {
    const unsigned char *have = t->results[i].data, *expected = want[i]->data;
    size_t at = 0;
    while (at < t->results[i].bytes && have[at] == expected[at])
      at++;
    if (at < t->results[i].bytes) {
      fprintf(stderr, "result %d differs at byte %zu: %02x, expected %02x\n", i, at, have[at], expected[at]);
      fail(t, what);
    }
  }
}

static void run(trial *t)
{
  hl_guard guard;
  hl_session session, fresh;
  hl_session_options plain = {.dialect_xla = false};
  if (setjmp(guard.env))
    fail(t, "out of memory");
  hl_session_open(&session, &guard, &t->options);
  hl_session_open(&fresh, &guard, &plain);
  load(t, &session);
  if (!hl_session_build(&session))
    fail(t, session.text ? session.text : session.diag.last->text);
  hl_interface members = hl_interface_of(session.arena, session.program);
  allocate(t, &session, &members);
  const hl_literal **want = evaluate(t, &fresh, &members);
  call(t, &session);
  check_canaries(t);
  compare(t, want, "the code differs from the evaluator");
  interpret(t, &session);
  compare(t, want, "the interpreter of the loop IR differs from the evaluator");
  release(t);
  hl_session_close(&fresh);
  hl_session_close(&session);
}

/* ---- one input ---- */

static void choose_options(trial *t, const uint8_t *header)
{
  static const char *const cpus[] = {"native", "x86-64-v3", "native", "x86-64-v2"};
  t->options.code.opt_level = header[0] % 4;
  t->options.code.cpu = cpus[header[0] / 4 % 4];
  t->options.max_workers = 1 + header[0] / 16 % 3;
  t->options.name = "generated";
  t->options.verify_each = true;
  t->at_start = header[1] & 1;
  for (int i = 0; i < HL_PASS_COUNT; i++)
    t->options.disabled_passes[i] = hl_pass_level((hl_pass_id)i) > 0 && (header[1] >> (1 + i % 7) & 1);
  memcpy(&t->random, header + 2, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static trial t;
  if (size < HEADER)
    return 0;
  memset(&t, 0, sizeof t);
  choose_options(&t, data);
  hlo_context *context = hlo_context_new();
  hlo_module *module = generate_module(context, data + HEADER, size - HEADER);
  if (!module)
    fail(&t, hlo_messages(context));
  t.text = hlo_module_text(context, module);
  record(&t);
  run(&t);
  hlo_module_free(module);
  hlo_context_free(context);
  return 0;
}
