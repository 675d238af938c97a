/* test_verify - the verifier: the broadcasting tables of the language, exact messages, order and
 * silence, shapes that are left out, and what is legal but cannot be compiled. Each rule's place is
 * tested in tests/verify.
 */
#include "grammar/parse.h"
#include "ir/verify.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static hl_arena *arena;
static hl_diag diag;
static hl_module *module;

static void setup(void)
{
  arena = hl_arena_new(NULL);
  diag = (hl_diag){.arena = arena};
}

static void teardown(void)
{
  hl_arena_free(arena);
}

static bool verify(const char *text, bool dialect_xla)
{
  diag.source = hl_source_new(arena, "t.hlo", text, strlen(text));
  module = hl_parse(arena, diag.source, &diag);
  return module && hl_verify(module, (hl_verify_options){.dialect_xla = dialect_xla}, &diag);
}

static const char *messages(void)
{
  hl_str text = {.arena = arena};
  hl_diag_render(&diag, (hl_render_options){0}, &text);
  return hl_str_text(&text);
}

/* The heads of all diagnostics, without source lines. */
static const char *heads(void)
{
  hl_str out = {.arena = arena};
  for (const char *line = messages(); *line; line += strcspn(line, "\n") + 1)
    if (*line != ' ')
      hl_str_printf(&out, "%.*s\n", (int)strcspn(line, "\n"), line);
  return hl_str_text(&out);
}

/* Sizes of both operands, the list ("-": none), and the sizes of the result, NULL when illegal,
 * then with the rule. */
static const struct {
  const char *lhs, *rhs, *list, *result, *rule;
} broadcasts[] = {
    {"2,3", "", "-", "2,3", NULL},
    {"2,3", "", "", "2,3", NULL},
    {"", "1", "-", "1", NULL},
    {"2,3", "3", "1", "2,3", NULL},
    {"2", "2,3", "0", "2,3", NULL},
    {"2,3,4", "2,4", "0,2", "2,3,4", NULL},
    {"2,3,4", "2,1", "0,2", "2,3,4", NULL},
    {"2,1,4", "2,3", "0,1", "2,3,4", NULL},
    {"1,2", "4", "0", "4,2", NULL},
    {"4,3,1", "1,2", "1,2", "4,3,2", NULL},
    {"2,1", "1,3", "-", "2,3", NULL},
    {"2,1", "1,3", "0,1", "2,3", NULL},
    {"0,3", "1,3", "-", "0,3", NULL},
    {"2,3", "3", "-", NULL, "binary-rank"},
    {"2,3", "3", "", NULL, "bcast-dims-c1"},
    {"2,3", "3", "0", NULL, "bcast-dims-c4"},
    {"2,3", "3", "0,1", NULL, "bcast-dims-c1"},
    {"2,3", "3", "2", NULL, "bcast-dims-c2"},
    {"2,3", "3", "-1", NULL, "bcast-dims-c2"},
    {"3,4,3", "3,3", "2,0", NULL, "bcast-dims-c3"},
    {"3,3,3", "3,3", "0,0", NULL, "bcast-dims-c3"},
    {"3,3", "3,3", "1,0", NULL, "bcast-dims-c5"},
    {"3,3", "3,3", "1", NULL, "bcast-dims-c5"},
    {"2,3", "", "0", NULL, "bcast-dims-c1"},
    {"2,3", "2,4", "-", NULL, "binary-size"},
    {"0", "2", "-", NULL, "binary-size"},
};

START_TEST(broadcasting_is_as_the_language_says)
{
  char list[64] = "", text[512];
  if (strcmp(broadcasts[_i].list, "-"))
    snprintf(list, sizeof list, ", broadcast_dimensions={%s}", broadcasts[_i].list);
  snprintf(text, sizeof text,
           "ENTRY e { a = f32[%s] parameter(0) b = f32[%s] parameter(1) ROOT r = add(a, b)%s }",
           broadcasts[_i].lhs, broadcasts[_i].rhs, list);
  bool is_good = verify(text, false);
  ck_assert_msg(is_good == (broadcasts[_i].result != NULL), "%s\n%s", text, messages());
  if (is_good) {
    const char *want = hl_arena_printf(arena, "f32[%s]", broadcasts[_i].result);
    ck_assert_str_eq(hl_shape_text(arena, module->entry->root->shape), want);
  } else {
    ck_assert_str_eq(hl_rule_label(diag.first->rule), broadcasts[_i].rule);
  }
}
END_TEST

/* A text and all that is said about it. */
static const struct {
  const char *text, *want;
} cases[] = {
    {"ENTRY e { a = f32[2] parameter(0) ROOT s = f32[2] add(a, a) }", ""},
    {"ENTRY e {\n  a = f32[2,3] parameter(0)\n  b = f32[3] parameter(1)\n  ROOT s = f32[2,3] "
     "add(a, b)\n}",
     "t.hlo:4:21: error: operands of 'add' have ranks 2 and 1 (f32[2,3] and f32[3]) and no "
     "broadcast_dimensions "
     "[binary-rank]\n"
     "help: b's 3 elements fit dimension 1: write add(a, b), broadcast_dimensions={1}\n"},
    /* The written result tells which of two fitting lists is meant. */
    {"ENTRY e {\n  a = f32[1,3] parameter(0)\n  b = f32[3] parameter(1)\n  ROOT s = f32[3,3] "
     "add(a, b)\n}",
     "t.hlo:4:21: error: operands of 'add' have ranks 2 and 1 (f32[1,3] and f32[3]) and no "
     "broadcast_dimensions "
     "[binary-rank]\n"
     "help: b's 3 elements fit dimension 0: write add(a, b), broadcast_dimensions={0}\n"},
    {"ENTRY e {\n  a = f32[2,3] parameter(0)\n  b = f32[4] parameter(1)\n  ROOT s = f32[2,3] "
     "add(a, b)\n}",
     "t.hlo:4:21: error: operands of 'add' have ranks 2 and 1 (f32[2,3] and f32[4]) and no "
     "broadcast_dimensions "
     "[binary-rank]\n"},
    /* Two faults; the user of the first stays silent, and its written shape is believed below. */
    {"ENTRY e {\n  a = f32[2] parameter(0)\n  b = f32[3] negate(a)\n  c = f32[9] negate(b)\n  d = "
     "f32[9] negate(c)\n"
     "  ROOT s = f32[2] and(a, a)\n}",
     "t.hlo:3:7: error: 'negate' yields f32[2], not f32[3] [result-shape]\nhelp: write f32[2]\n"
     "t.hlo:6:23: error: 'and' takes pred or integers; operand 0 is f32[2] [op-type]\n"},
    /* A reduce of a wrong shape or over wrong dimensions: both are told, where as many dimensions yield what is written. */
    {"f {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT s = add(x, y)\n}\n"
     "ENTRY e {\n  a = f32[4,8] parameter(0)\n  z = f32[] constant(0)\n"
     "  ROOT r = f32[4] reduce(a, z), dimensions={0}, to_apply=f\n}",
     "t.hlo:9:12: error: 'reduce' yields f32[8], not f32[4] [result-shape]\n"
     "help: write f32[8], or dimensions={1} for f32[4]\n"},
    {"f {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT s = add(x, y)\n}\n"
     "ENTRY e {\n  a = f32[4,8] parameter(0)\n  z = f32[] constant(0)\n"
     "  ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=f\n}",
     "t.hlo:9:12: error: 'reduce' yields f32[8], not f32[] [result-shape]\n"
     "help: write f32[8]\n"},
    {"f {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT s = add(x, y)\n}\n"
     "ENTRY e {\n  a = f32[4,8] parameter(0)\n  z = f32[] constant(0)\n"
     "  ROOT r = s32[4] reduce(a, z), dimensions={0}, to_apply=f\n}",
     "t.hlo:9:12: error: 'reduce' yields f32[8], not s32[4] [result-shape]\n"
     "help: write f32[8]\n"},
    {"f {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT s = add(x, y)\n}\n"
     "ENTRY e {\n  a = f32[4,8] parameter(0)\n  z = f32[] constant(0)\n"
     "  ROOT r = f32[8,4] reduce(a, z), dimensions={0}, to_apply=f\n}",
     "t.hlo:9:12: error: 'reduce' yields f32[8], not f32[8,4] [result-shape]\n"
     "help: write f32[8]\n"},
    /* Nothing is known of a value whose shape was left out and cannot be inferred. */
    {"ENTRY e {\n  a = f32[2] parameter(0)\n  b = convert(a)\n  c = f32[9] negate(b)\n  ROOT d = "
     "tuple(c, b)\n}",
     "t.hlo:3:7: error: the result shape of 'convert' does not follow from its operands and must "
     "be written "
     "[shape-missing]\n"},
    /* A callee with a faulty root silences its callers. */
    {"f {\n  x = f32[] parameter(0)\n  ROOT y = s32[] negate(x)\n}\n"
     "ENTRY e {\n  a = f32[] parameter(0)\n  ROOT r = f32[] call(a), to_apply=f\n}",
     "t.hlo:3:12: error: 'negate' yields f32[], not s32[] [result-shape]\nhelp: write f32[]\n"},
    {"ENTRY e {\n  a = f32[1,3] parameter(0)\n  ROOT r = f32[2,3] broadcast(a), "
     "dimensions={0,1}\n}",
     "t.hlo:3:47: error: operand dimension 0 has size 1; result dimension 0 has size 2 "
     "[broadcast-c3]\n"
     "help: a size of 1 is never stretched: write f32[2,3] broadcast(f32[3] reshape(a)), "
     "dimensions={1}\n"},
    {"ENTRY e {\n  ROOT c = f32[3] constant({...})\n}",
     "t.hlo:2:28: warning: the values of constant 'c' were left out when it was printed "
     "[literal-elided]\n"
     "help: print the module in full with as_hlo_text(print_large_constants=True)\n"},
    {"ENTRY e {\n  c = f32[3] constant({...})\n  d = f32[3] constant({...})\n  ROOT s = f32[3] "
     "add(c, d)\n}",
     "t.hlo:2:23: warning: the values of constant 'c' were left out when it was printed, and those "
     "of 1 more "
     "[literal-elided]\n"
     "help: print the module in full with as_hlo_text(print_large_constants=True)\n"},
    {"ENTRY e {\n  a = f32[4294967296,65536] parameter(0)\n"
     "  ROOT r = concatenate(a, a, a, a, a, a, a, a, a), dimensions={1}\n}",
     ""},
    {"ENTRY e {\n  a = f32[4294967296,65536] parameter(0)\n  b = f32[65536] parameter(1)\n"
     "  ROOT r = dot(a, b)\n}",
     "t.hlo:4:12: error: the result of 'dot', f32[4294967296,65536,65536], has more bytes than fit "
     "in 63 bits [limit]\n"},
    {"ENTRY e {\n  a = s32[2] parameter(0)\n  ROOT r = pred[2] compare(a, a), direction=LT, "
     "type=FLOAT\n}",
     "t.hlo:3:54: error: type=FLOAT does not fit operands of type s32 [compare-c1]\n"
     "help: write type=SIGNED or leave it out\n"},
};

START_TEST(diagnoses)
{
  bool is_good = verify(cases[_i].text, false);
  ck_assert_str_eq(heads(), cases[_i].want);
  ck_assert_int_eq(is_good, strstr(cases[_i].want, "error:") == NULL);
}
END_TEST

START_TEST(at_most_twenty_errors)
{
  hl_str text = {.arena = arena};
  hl_str_add(&text, "ENTRY e {\n  a = f32[2] parameter(0)\n");
  for (int i = 0; i < 30; i++)
    hl_str_printf(&text, "  b%d = f32[3] negate(a)\n", i);
  hl_str_add(&text, "}\n");
  ck_assert(!verify(hl_str_text(&text), false));
  ck_assert_int_eq(diag.error_count, 20);
  ck_assert_int_eq(diag.suppressed, 10);
}
END_TEST

START_TEST(a_long_chain_is_no_recursion)
{
  hl_str text = {.arena = arena};
  hl_str_add(&text, "ENTRY e {\n  v0 = f32[2] parameter(0)\n");
  for (int i = 1; i < 100000; i++)
    hl_str_printf(&text, "  v%d = negate(v%d)\n", i, i - 1);
  hl_str_add(&text, "}\n");
  ck_assert_msg(verify(hl_str_text(&text), false), "%s", messages());
  ck_assert_str_eq(hl_shape_text(arena, module->entry->root->shape), "f32[2]");
}
END_TEST

/* Each tuple holds the one before twice; the last would hold 2^40 arrays. */
START_TEST(tuples_do_not_grow_without_end)
{
  hl_str text = {.arena = arena};
  hl_str_add(&text, "ENTRY e {\n  t0 = f32[2] parameter(0)\n");
  for (int i = 1; i <= 40; i++)
    hl_str_printf(&text, "  t%d = tuple(t%d, t%d)\n", i, i - 1, i - 1);
  hl_str_add(&text, "}\n");
  ck_assert(!verify(hl_str_text(&text), false));
  ck_assert_str_eq(heads(),
                   "t.hlo:23:9: error: the result of 'tuple' is a tuple of 2097152 arrays; "
                   "the limit is 1048576 [limit]\n");
}
END_TEST

START_TEST(tuples_do_not_nest_without_end)
{
  hl_str text = {.arena = arena};
  hl_str_add(&text, "ENTRY e {\n  t0 = f32[2] parameter(0)\n");
  for (int i = 1; i <= 100000; i++)
    hl_str_printf(&text, "  t%d = tuple(t%d)\n", i, i - 1);
  hl_str_add(&text, "}\n");
  ck_assert(!verify(hl_str_text(&text), false));
  ck_assert_str_eq(
      heads(),
      "t.hlo:259:10: error: the result of 'tuple' nests tuples more than 256 deep [limit]\n");
}
END_TEST

/* What passes and builders could do wrong, and a text cannot. */
START_TEST(definitions_stand_before_their_uses)
{
  ck_assert(verify(
      "f { x = f32[] parameter(0) ROOT y = f32[] negate(x) }\n"
      "ENTRY e { a = f32[] parameter(0) b = f32[] negate(a) ROOT c = f32[] call(b), to_apply=f }",
      false));
  hl_instruction *b = module->entry->first->next, *call = b->next;
  hl_replace_operand(b, 0, call);
  ck_assert(!hl_verify(module, (hl_verify_options){0}, &diag));
  ck_assert_str_eq(hl_rule_label(diag.last->rule), "name-order");
  hl_replace_operand(b, 0, module->first->parameters[0]);
  ck_assert(!hl_verify(module, (hl_verify_options){0}, &diag));
  ck_assert_str_eq(hl_rule_label(diag.last->rule), "name-order");
  hl_replace_operand(b, 0, module->entry->first);
  hl_computation *entry = module->entry;
  call->attrs[0].computations.values = &entry;
  ck_assert(!hl_verify(module, (hl_verify_options){0}, &diag));
  ck_assert_str_eq(hl_rule_label(diag.last->rule), "callee-order");
}
END_TEST

/* Ops whose result shape follows from operands and attributes, as the last instruction of an entry.
 */
static const struct {
  const char *body, *shape;
} inferred[] = {
    {"a = c64[2] parameter(0) r = abs(a)", "f32[2]"},
    {"a = c128[2] parameter(0) r = imag(a)", "f64[2]"},
    {"a = f32[2] parameter(0) r = is-finite(a)", "pred[2]"},
    {"a = f32[2] parameter(0) r = complex(a, a)", "c64[2]"},
    {"a = s8[2,3] parameter(0) b = s8[3] parameter(1) r = compare(a, b), direction=LT, "
     "broadcast_dimensions={1}",
     "pred[2,3]"},
    {"p = pred[] parameter(0) a = f16[2] parameter(1) b = f16[] parameter(2) r = select(p, a, b)",
     "f16[2]"},
    {"p = pred[3] parameter(0) a = f16[] parameter(1) r = select(p, a, a)", "f16[3]"},
    {"a = f32[2] parameter(0) b = f32[] parameter(1) r = clamp(a, b, b)", "f32[2]"},
    {"a = f32[2,3,4] parameter(0) r = transpose(a), dimensions={2,0,1}", "f32[4,2,3]"},
    {"a = f32[2,3] parameter(0) r = concatenate(a, a, a), dimensions={1}", "f32[2,9]"},
    {"a = f32[4] parameter(0) b = f32[] parameter(1) r = pad(a, b), padding=1_-2_3", "f32[12]"},
    {"a = f32[0] parameter(0) b = f32[] parameter(1) r = pad(a, b), padding=0_0_3", "f32[0]"},
    {"a = f32[2] parameter(0) b = s32[] parameter(1) r = tuple(a, b)", "(f32[2], s32[])"},
    {"r = tuple()", "()"},
    {"a = (f32[2], s32[]) parameter(0) r = get-tuple-element(a), index=1", "s32[]"},
    {"a = f32[2] parameter(0) r = copy-start(a)", "(f32[2], f32[2], u32[])"},
    {"r = after-all()", "token[]"},
    {"a = f32[2,3] parameter(0) b = f32[3,5] parameter(1) r = dot(a, b), lhs_contracting_dims={1}, "
     "rhs_contracting_dims={0}",
     "f32[2,5]"},
    {"a = f32[7,2,3] parameter(0) b = f32[3,7] parameter(1) r = dot(a, b), lhs_batch_dims={0}, "
     "rhs_batch_dims={1}, "
     "lhs_contracting_dims={2}, rhs_contracting_dims={0}",
     "f32[7,2]"},
    {"a = f32[2] parameter(0) b = f32[3] parameter(1) r = dot(a, b)", "f32[2,3]"},
    {"a = f32[2,9,9,4] parameter(0) k = f32[3,3,2,6] parameter(1) r = convolution(a, k), "
     "window={size=3x3 stride=2x1 pad=1_1x0_0 rhs_dilate=1x2}, dim_labels=b01f_01io->f01b, "
     "feature_group_count=2",
     "f32[6,5,5,2]"},
    {"a = f32[4] parameter(0) r = topk(a), k=2", "(f32[2], s32[2])"},
    {"a = f32[8] parameter(0) r = fft(a), fft_type=RFFT, fft_length={8}", "c64[5]"},
    {"a = c64[5] parameter(0) r = fft(a), fft_type=IRFFT, fft_length={9}", "f32[9]"},
    {"a = f32[3,5] parameter(0) i = s32[7] parameter(1) r = gather(a, i), offset_dims={0}, "
     "collapsed_slice_dims={0}, "
     "start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}",
     "f32[5,7]"},
    {"a = f32[2,5] parameter(0) s = f32[5] parameter(1) r = batch-norm-training(a, s, s), "
     "epsilon=0.1, feature_index=1",
     "(f32[2,5], f32[5], f32[5])"},
};

START_TEST(shapes_left_out_are_inferred)
{
  const char *text = hl_arena_printf(arena, "ENTRY e { %s }", inferred[_i].body);
  ck_assert_msg(verify(text, false), "%s", messages());
  ck_assert_str_eq(hl_shape_text(arena, module->entry->root->shape), inferred[_i].shape);
}
END_TEST

/* Bodies of an entry and what compile says about them. */
static const struct {
  const char *text, *want;
} compilations[] = {
    {"ENTRY e {\n  a = f32[2] parameter(0)\n  ROOT r = f32[2] negate(a)\n}", ""},
    {"ENTRY e {\n  a = f32[<=2] parameter(0)\n  ROOT r = f32[] constant(1)\n}",
     "t.hlo:2:7: error: dynamic dimensions cannot be compiled: 'parameter' yields f32[<=2] "
     "[compile-dynamic]\n"},
    {"ENTRY e {\n  a = opaque[] parameter(0)\n  ROOT r = f32[] constant(1)\n}",
     "t.hlo:2:7: error: parameter 0 of the entry is opaque[]: opaque values cannot be passed "
     "[compile-entry]\n"},
    {"ENTRY e {\n  t = token[] parameter(0)\n  ROOT r = (f32[2], token[]) infeed(t)\n}",
     "t.hlo:3:30: error: 'infeed' cannot be compiled [compile-op]\n"},
    {"ENTRY e {\n  a = f32[2] parameter(0)\n  ROOT r = f32[2] custom-call(a), "
     "custom_call_target=\"__magic\"\n}",
     "t.hlo:3:19: error: the custom call '__magic' cannot be compiled [compile-op]\n"},
    {"ENTRY e {\n  a = f32[2] parameter(0)\n  d = f32[2] custom-call(a), "
     "custom_call_target=\"__magic\"\n"
     "  ROOT r = f32[2] negate(a)\n}",
     ""},
    /* What the entry does not reach does not count. */
    {"f {\n  t = token[] parameter(0)\n  ROOT r = (f32[2], token[]) infeed(t)\n}\nENTRY e {\n  "
     "ROOT a = f32[] parameter(0)\n}",
     ""},
    {"f {\n  t = token[] parameter(0)\n  ROOT r = (f32[2], token[]) infeed(t)\n}\n"
     "g {\n  t = token[] parameter(0)\n  ROOT r = (f32[2], token[]) call(t), to_apply=f\n}\n"
     "ENTRY e {\n  t = token[] parameter(0)\n  ROOT r = (f32[2], token[]) call(t), to_apply=g\n}",
     "t.hlo:3:30: error: 'infeed' cannot be compiled [compile-op]\n"},
};

START_TEST(what_has_no_code_is_refused)
{
  ck_assert_msg(verify(compilations[_i].text, false), "%s", messages());
  bool is_good = hl_check_compilable(module, &diag);
  ck_assert_str_eq(heads(), compilations[_i].want);
  ck_assert_int_eq(is_good, !*compilations[_i].want);
}
END_TEST

START_TEST(elided_constants_are_refused_with_the_remedy)
{
  ck_assert(verify("ENTRY e { ROOT c = f32[3] constant({...}) }", false));
  ck_assert(!hl_check_compilable(module, &diag));
  ck_assert_ptr_nonnull(strstr(messages(), "as_hlo_text(print_large_constants=True)"));
  ck_assert_ptr_nonnull(strstr(messages(), "--constants FILE.npz"));
}
END_TEST

/* The grammar has no sign for interior padding, the C builder has. */
START_TEST(interior_padding_is_not_negative)
{
  ck_assert(verify("ENTRY e { a = f32[4] parameter(0) z = f32[] parameter(1) ROOT r = pad(a, z), "
                   "padding=1_1_1 }",
                   false));
  hl_attr *attr = &module->entry->root->attrs[0];
  attr->padding.dims = &(hl_padding_dim){1, 1, -1};
  ck_assert(!hl_verify(module, (hl_verify_options){0}, &diag));
  ck_assert_str_eq(hl_rule_label(diag.last->rule), "pad-c3");
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("verify");
  TCase *t = tcase_create("verify");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_loop_test(t, broadcasting_is_as_the_language_says, 0,
                      (int)(sizeof broadcasts / sizeof *broadcasts));
  tcase_add_loop_test(t, diagnoses, 0, (int)(sizeof cases / sizeof *cases));
  tcase_add_test(t, at_most_twenty_errors);
  tcase_add_test(t, a_long_chain_is_no_recursion);
  tcase_add_test(t, tuples_do_not_grow_without_end);
  tcase_add_test(t, tuples_do_not_nest_without_end);
  tcase_add_test(t, definitions_stand_before_their_uses);
  tcase_add_loop_test(t, shapes_left_out_are_inferred, 0,
                      (int)(sizeof inferred / sizeof *inferred));
  tcase_add_loop_test(t, what_has_no_code_is_refused, 0,
                      (int)(sizeof compilations / sizeof *compilations));
  tcase_add_test(t, elided_constants_are_refused_with_the_remedy);
  tcase_add_test(t, interior_padding_is_not_negative);
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
