/* test_print - the law of the printer: its text reads back as the same module, and prints the same
 * again. */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "grammar/parse.h"
#include "ir/print.h"

static hl_arena *arena;

static void setup(void)
{
  arena = hl_arena_new(NULL);
}

static void teardown(void)
{
  hl_arena_free(arena);
}

static hl_module *load(const char *name, const char *text)
{
  const hl_source *source = hl_source_new(arena, name, text, strlen(text));
  hl_diag diag = {.arena = arena, .source = source};
  hl_module *module = hl_parse(arena, source, &diag);
  if (module)
    return module;
  hl_str out = {.arena = arena};
  hl_diag_render(&diag, (hl_render_options){false, false}, &out);
  ck_abort_msg("%s", hl_str_text(&out));
}

static const char *print(const hl_module *module)
{
  hl_str out = {.arena = arena};
  hl_module_print(&out, module);
  return hl_str_text(&out);
}

/* --- sameness, found without the printer where that is possible --- */

static bool same_text(const char *a, const char *b)
{
  return a == b || (a && b && !strcmp(a, b));
}

static void same_shape(const hl_shape *a, const hl_shape *b)
{
  ck_assert_int_eq(a == NULL, b == NULL);
  if (!a)
    return;
  ck_assert(hl_shape_equal(a, b));
  for (int i = 0; i < a->rank; i++) {
    ck_assert_int_eq(a->is_dynamic && a->is_dynamic[i], b->is_dynamic && b->is_dynamic[i]);
    ck_assert_int_eq(a->minor_to_major ? a->minor_to_major[i] : -1,
                     b->minor_to_major ? b->minor_to_major[i] : -1);
  }
  ck_assert(same_text(a->layout_suffix, b->layout_suffix));
  for (int i = 0; i < a->tuple_count; i++)
    same_shape(a->tuple_shapes[i], b->tuple_shapes[i]);
}

static void same_literal(const hl_literal *a, const hl_literal *b)
{
  ck_assert_int_eq(a == NULL, b == NULL);
  if (!a)
    return;
  ck_assert_int_eq(a->is_elided, b->is_elided);
  ck_assert(a->is_elided || hl_literal_equal(a, b));
}

static const hl_attr *attr_of(const hl_instruction *i, const hl_attr *like)
{
  const hl_attr *attr = hl_attr_find(i, like->id);
  ck_assert_msg(attr != NULL, "%s lost %s", i->name, hl_attr_name(like->id));
  return attr;
}

static void same_attr(const hl_attr *a, const hl_attr *b)
{
  switch (hl_attr_kind_of(a->id)) {
  case HL_KIND_INT:
  case HL_KIND_BOOL:
  case HL_KIND_ENUM:
    ck_assert_int_eq(a->i, b->i);
    break;
  case HL_KIND_INTS:
  case HL_KIND_WORDS:
    ck_assert_int_eq(a->ints.count, b->ints.count);
    for (int i = 0; i < a->ints.count; i++)
      ck_assert_int_eq(a->ints.values[i], b->ints.values[i]);
    break;
  case HL_KIND_RAW:
  case HL_KIND_WORD:
  case HL_KIND_STRING:
  case HL_KIND_METADATA:
    ck_assert_str_eq(a->text, b->text);
    break;
  case HL_KIND_WINDOW:
    ck_assert_int_eq(a->window.count, b->window.count);
    for (int i = 0; i < a->window.count; i++) {
      const hl_window_dim *x = &a->window.dims[i], *y = &b->window.dims[i];
      ck_assert(x->size == y->size && x->stride == y->stride && x->padding_low == y->padding_low);
      ck_assert(x->padding_high == y->padding_high && x->base_dilation == y->base_dilation);
      ck_assert(x->window_dilation == y->window_dilation &&
                x->window_reversal == y->window_reversal);
    }
    break;
  default:
    break; /* the texts are compared */
  }
}

static void same_instruction(const hl_instruction *a, const hl_instruction *b)
{
  ck_assert_str_eq(a->name, b->name);
  ck_assert_int_eq(a->opcode, b->opcode);
  same_shape(a->shape, b->shape);
  ck_assert_int_eq(a->operand_count, b->operand_count);
  for (int i = 0; i < a->operand_count; i++)
    ck_assert_str_eq(a->operands[i]->name, b->operands[i]->name);
  ck_assert_int_eq(a->user_count, b->user_count);
  ck_assert_int_eq(a->attr_count, b->attr_count);
  for (int i = 0; i < a->attr_count; i++)
    same_attr(&a->attrs[i], attr_of(b, &a->attrs[i]));
  same_literal(a->literal, b->literal);
  ck_assert_int_eq(a->parameter_number, b->parameter_number);
  ck_assert(same_text(a->async_wrapped, b->async_wrapped));
}

/* The bodies of `X-start` get new names; all else keeps its own. */
static void same_computation(const hl_computation *a, const hl_computation *b)
{
  if (strncmp(a->name, "wrapped_", 8) != 0)
    ck_assert_str_eq(a->name, b->name);
  ck_assert_int_eq(a->instruction_count, b->instruction_count);
  const hl_instruction *i = a->first, *k = b->first;
  for (; i && k; i = i->next, k = k->next)
    same_instruction(i, k);
  ck_assert_str_eq(a->root->name, b->root->name);
  ck_assert(same_text(a->execution_thread, b->execution_thread));
}

static void same_module(const hl_module *a, const hl_module *b)
{
  ck_assert_str_eq(a->name, b->name);
  ck_assert_str_eq(a->entry->name, b->entry->name);
  ck_assert_int_eq(a->is_scheduled, b->is_scheduled);
  ck_assert_int_eq(a->replica_count, b->replica_count);
  ck_assert_int_eq(a->num_partitions, b->num_partitions);
  ck_assert_int_eq(a->alias_count, b->alias_count);
  ck_assert_str_eq(a->frame_tables, b->frame_tables);
  same_shape(a->entry_layout_result, b->entry_layout_result);
  ck_assert_int_eq(a->kept_attribute_count, b->kept_attribute_count);
  const hl_computation *x = a->first, *y = b->first;
  for (; x && y; x = x->next, y = y->next)
    same_computation(x, y);
  ck_assert(!x && !y);
}

static void check_law(const char *name, const char *text)
{
  hl_module *module = load(name, text);
  const char *first = print(module);
  hl_module *again = load("printed", first);
  same_module(module, again);
  ck_assert_str_eq(first, print(again));
}

/* --- modules of the tests --- */

static const char *slurp(const char *path)
{
  FILE *file = fopen(path, "rb");
  ck_assert_msg(file != NULL, "%s", path);
  hl_str text = {.arena = arena};
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
    hl_str_add_n(&text, part, n);
  fclose(file);
  return hl_str_text(&text);
}

/* This file's folder, as the compiler was told it, with `relative` behind. */
static const char *beside(const char *relative)
{
  const char *slash = strrchr(__FILE__, '/');
  return hl_arena_printf(arena, "%.*s/%s", slash ? (int)(slash - __FILE__) : 1,
                         slash ? __FILE__ : ".", relative);
}

static const char *const folders[] = {"../verify/ok", "../../examples"};

START_TEST(law_holds_for_files)
{
  const char *folder = beside(folders[_i]);
  DIR *dir = opendir(folder);
  ck_assert_msg(dir != NULL, "%s", folder);
  int count = 0;
  for (const struct dirent *entry; (entry = readdir(dir));) {
    const char *dot = strrchr(entry->d_name, '.');
    if (!dot || strcmp(dot, ".hlo") != 0)
      continue;
    const char *path = hl_arena_printf(arena, "%s/%s", folder, entry->d_name);
    check_law(path, slurp(path));
    count++;
  }
  closedir(dir);
  ck_assert_int_gt(count, 0);
}
END_TEST

/* One text for each part of the grammar. */
static const char *const texts[] = {
    "ENTRY e { ROOT a = f32[<=8,3]{0,1:T(8,128)E(4)} parameter(0) }",
    "ENTRY e { ROOT a = ((), (f32[2]{0:S(1)}, token[])) parameter(0) }",
    "HloModule %nan, is_scheduled=true, replica_count=2, num_partitions=3, buffer_donor={ (0, {1}) "
    "}\n"
    "StackFrames\n1 {a=1}\nENTRY %true { ROOT %inf = f32[] parameter(0) }, "
    "execution_thread=\"a\\\"b\\n\\x01\"",
    "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[2], u32[]) slice-start(a), "
    "slice={[0:4:2]},\n"
    "async_execution_thread=\"t\" ROOT d = f32[2] slice-done(s) }",
    "ENTRY e { a = f32[4] parameter(0) b = multiply(a, negate(a)) ROOT c = f32[4] call(b), "
    "to_apply={ x = f32[4] parameter(0) } }",
    "ENTRY e { a = f32[3] constant({nan(0x12345), -nan, -0}) b = c64[1] constant({(-nan(0x1), "
    "-inf)})\n"
    "c = f16[2] constant({-nan(0x3ff), 6e-8}) d = f8e4m3fn[2] constant({nan, -nan}) f = f64[] "
    "constant(nan(0xfffffffffffff))\n"
    "g = f8e5m2[] constant(nan(0x1)) ROOT h = s2[2] constant({-2, 1}) }",
    "ENTRY e { a = f32[2,0] constant({{}, {}}) b = f32[12] constant({...}) ROOT c = (f32[1], "
    "pred[]) constant(({1}, true)) }",
    "ENTRY e { a = f32[4] parameter(0) b = f32[4] batch-norm-inference(a, a, a, a, a), "
    "epsilon=1e-05, feature_index=0\n"
    "ROOT c = f32[9] pad(a, b), padding=-1_2_3 }",
    "ENTRY e { a = f32[4] parameter(0) b = f32[4] sort(a), dimensions={0}, is_stable=1, to_apply={ "
    "p = f32[] parameter(0)\n"
    "q = f32[] parameter(1) ROOT r = pred[] compare(p, q), direction=LT, type=TOTALORDER }\n"
    "ROOT c = f32[4] custom-call(b), custom_call_target=\"\\001\\\\\\\"'\", window={size=1x2 "
    "rhs_reversal=0x1}, dim_labels=b?0f_0?io->b0f,\n"
    "operand_layout_constraints={f32[4]{0}}, control-predecessors={a, b}, schedule=SCHEDULE_NONE, "
    "sharding={{replicated}, {manual}} }",
};

START_TEST(law_holds_for_texts)
{
  check_law("text", texts[_i]);
}
END_TEST

START_TEST(one_instruction)
{
  const hl_module *module =
      load("t", "ENTRY e { %a = f32[2,3]{1,0} parameter(0) ROOT %b = f32[3,2]{0,1} "
                "transpose(f32[2,3] %a), metadata={x=1}, dimensions={1,0} }");
  hl_str out = {.arena = arena};
  hl_instruction_print(&out, module->entry->root);
  ck_assert_str_eq(hl_str_text(&out),
                   "b = f32[3,2]{0,1} transpose(a), dimensions={1,0}, metadata={x=1}");
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

int main(void)
{
  Suite *suite = suite_create("print");
  TCase *t = tcase_create("print");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_set_timeout(t, 30);
  tcase_add_loop_test(t, law_holds_for_files, 0, COUNT(folders));
  tcase_add_loop_test(t, law_holds_for_texts, 0, COUNT(texts));
  tcase_add_test(t, one_instruction);
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
