/* test_lower - programs of level 2, with blocks, packed operands and joined steps, mean what those
 * of level 0 mean: the interpreter of the loop IR, which checks every access, gives equal bits for
 * both.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "ir/loop.h"
#include "src/session.h"

#define REGIONS                                                                                    \
  "most { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT m = f32[] maximum(a, b) }\n"      \
  "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
/* Softmax of s over the last of [2,134,520]. */
#define ROWS                                                                                       \
  "  low = f32[] constant(-inf)\n  zero = f32[] constant(0)\n"                                     \
  "  m = f32[2,134] reduce(s, low), dimensions={2}, to_apply=most\n"                               \
  "  mb = f32[2,134,520] broadcast(m), dimensions={0,1}\n"                                         \
  "  d = f32[2,134,520] subtract(s, mb)\n  e = f32[2,134,520] exponential(d)\n"                    \
  "  t = f32[2,134] reduce(e, zero), dimensions={2}, to_apply=sum\n"                               \
  "  tb = f32[2,134,520] broadcast(t), dimensions={0,1}\n"                                         \
  "  p = f32[2,134,520] divide(e, tb)\n"
#define SCORES                                                                                     \
  "  q = f32[2,134,6] parameter(0)\n  k = f32[2,520,6] parameter(1)\n"                             \
  "  x = f32[2,134,520] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, "                       \
  "lhs_contracting_dims={2}, rhs_contracting_dims={2}\n"
#define VALUES                                                                                     \
  "dot(p, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "                  \
  "rhs_contracting_dims={1}\n"

typedef struct lower_case {
  const char *text;
  const char *scratch; /* what level 2 keeps a block of rows of; NULL: all arrays are whole */
} lower_case;

static const lower_case cases[] = {
    /* a mask by row and column, and a last block of 6 rows */
    {REGIONS "ENTRY e {\n" SCORES "  v = f32[2,520,5] parameter(2)\n"
             "  i = s32[2,134,520] iota(), iota_dimension=1\n"
             "  j = s32[2,134,520] iota(), iota_dimension=2\n"
             "  seen = pred[2,134,520] compare(i, j), direction=GE\n"
             "  no = f32[] constant(-1e9)\n  nb = f32[2,134,520] broadcast(no), dimensions={}\n"
             "  s = f32[2,134,520] select(seen, x, nb)\n" ROWS "  ROOT o = f32[2,134,5] " VALUES
             "}\n",
     "x"},
    /* rows that are coalesced with the batch where nothing asks for their number */
    {REGIONS "ENTRY e {\n" SCORES "  v = f32[2,520,5] parameter(2)\n"
             "  s = f32[2,134,520] negate(x)\n" ROWS "  ROOT o = f32[2,134,5] " VALUES "}\n",
     "x"},
    /* the scores are a result, too, and stay whole; the rest alone is too little to pay */
    {REGIONS "ENTRY e {\n" SCORES "  v = f32[2,520,5] parameter(2)\n"
             "  s = f32[2,134,520] negate(x)\n" ROWS "  o = f32[2,134,5] " VALUES
             "  ROOT r = (f32[2,134,5], f32[2,134,520]) tuple(o, x)\n}\n",
     NULL},
    /* values that depend on all scores: no row of the product is there before */
    {REGIONS "ENTRY e {\n" SCORES "  s = f32[2,134,520] negate(x)\n" ROWS
             "  c = f32[2,134,8] parameter(2)\n"
             "  w = f32[2,520,8] dot(p, c), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
             "  ROOT o = f32[2,134,8] dot(p, w), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={2}, rhs_contracting_dims={1}\n}\n",
     NULL},
    /* bytes by fours: a depth that is no multiple of four, both signed */
    {"ENTRY e {\n  a = s8[3,9,30] parameter(0)\n  b = s8[3,30,41] parameter(1)\n"
     "  c = s8[3,9,30] not(a)\n"
     "  ROOT d = s32[3,9,41] dot(c, b), lhs_batch_dims={0}, rhs_batch_dims={0}, "
     "lhs_contracting_dims={2}, rhs_contracting_dims={1}\n}\n",
     NULL},
};

typedef struct evaluation {
  hl_session session;
  void *results[2];
} evaluation;

static void *number_buffer(const hl_buffer *buffer, uint32_t *seed)
{
  unsigned char *data = calloc((size_t)buffer->bytes + 1, 1);
  for (int64_t i = 0; i < buffer->bytes / hl_type_bytes(buffer->type); i++) {
    *seed = *seed * 1664525 + 1013904223;
    float value = (float)(int32_t)*seed / 2147483648.0F;
    if (buffer->type == HL_F32)
      memcpy(data + 4 * i, &value, sizeof value);
    else
      data[i] = (unsigned char)(*seed >> 24);
  }
  return data;
}

static void evaluate(evaluation *e, const char *text, int level)
{
  hl_session_options options = {.code.opt_level = level, .max_workers = 2, .name = "t"};
  hl_session *s = &e->session;
  hl_session_open(s, NULL, &options);
  ck_assert(hl_session_set_text(s, "t", text, strlen(text)));
  ck_assert(hl_session_load(s, NULL) && hl_session_build(s));
  ck_assert_ptr_null(hl_program_check(s->arena, s->program));
  void *arguments[3] = {NULL};
  uint32_t seed = 7;
  for (int i = 0; i < s->program->argument_count; i++)
    arguments[i] = number_buffer(s->program->arguments[i].buffer, &seed);
  for (int i = 0; i < s->program->result_count; i++)
    e->results[i] = calloc((size_t)s->program->results[i].buffer->bytes, 1);
  ck_assert(hl_program_eval(s->arena, s->program, (const void *const *)arguments, e->results));
  for (int i = 0; i < 3; i++)
    free(arguments[i]);
}

static void forget(evaluation *e)
{
  for (int i = 0; i < 2; i++)
    free(e->results[i]);
  hl_session_close(&e->session);
}

static bool keeps_rows_of(const hl_program *program, const char *name)
{
  for (int i = 0; i < program->buffer_count; i++)
    if (program->buffers[i]->is_per_worker && strcmp(program->buffers[i]->name, name) == 0)
      return true;
  return false;
}

START_TEST(levels_agree)
{
  const lower_case *c = &cases[_i];
  evaluation plain = {.results = {NULL}}, blocked = {.results = {NULL}};
  evaluate(&plain, c->text, 0);
  evaluate(&blocked, c->text, 2);
  const hl_program *program = blocked.session.program;
  for (int i = 0; i < program->result_count; i++)
    ck_assert_mem_eq(plain.results[i], blocked.results[i],
                     (size_t)program->results[i].buffer->bytes);
  if (c->scratch)
    ck_assert_msg(keeps_rows_of(program, c->scratch), "all of %s is stored", c->scratch);
  else
    ck_assert(!keeps_rows_of(program, "x") && !keeps_rows_of(program, "p"));
  forget(&plain);
  forget(&blocked);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("lower");
  TCase *levels = tcase_create("levels");
  tcase_set_timeout(levels, 60);
  tcase_add_loop_test(levels, levels_agree, 0, sizeof cases / sizeof *cases);
  suite_add_tcase(suite, levels);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
