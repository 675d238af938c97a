/* test_loop.c - the loop IR: what the builders make, what the check finds, and that parse(print(p))
 * prints the same. */
#include "loop_support.h"

#include "ir/limits.h"

#include <dirent.h>
#include <stdlib.h>

/* Builders. */

static hl_kernel *kernel;
static hl_loop_builder b;
static hl_param *x, *y;

/* kernel k(in %x: f32[8,16], out %y: f32[8,16]) */
static void new_kernel(void)
{
  open_arena();
  kernel = hl_kernel_new(arena, "k");
  b = (hl_loop_builder){.kernel = kernel, .at = &kernel->body};
  const int64_t dimensions[2] = {8, 16};
  x = hl_kernel_add_param(kernel, "x", HL_PARAM_IN, HL_F32, 2, dimensions);
  y = hl_kernel_add_param(kernel, "y", HL_PARAM_OUT, HL_F32, 2, dimensions);
}

static hl_node *load_at(hl_node *i, int64_t stride, int64_t constant)
{
  hl_access *access = hl_access_new(arena, x, constant);
  if (i)
    hl_access_add(arena, access, i, stride);
  return hl_loop_load(&b, access, NULL, NULL);
}

static hl_node *store_at(hl_node *i, int64_t stride, hl_node *value)
{
  hl_access *access = hl_access_new(arena, y, 0);
  if (i)
    hl_access_add(arena, access, i, stride);
  return hl_loop_store(&b, access, value, NULL);
}

static void expect_text(const char *body)
{
  const char *fault = hl_kernel_check(arena, kernel);
  ck_assert_msg(fault == NULL, "%s", fault);
  hl_str out = {.arena = arena};
  hl_kernel_print(&out, kernel);
  ck_assert_str_eq(
      hl_str_text(&out),
      hl_arena_printf(arena, "kernel k(in %%x: f32[8,16], out %%y: f32[8,16])\n%s", body));
}

static void expect_fault(const char *words)
{
  const char *fault = hl_kernel_check(arena, kernel);
  ck_assert_msg(fault && strstr(fault, words), "%s, not %s", fault ? fault : "no fault", words);
}

START_TEST(accesses_merge_terms)
{
  hl_node *loop = hl_loop_for(&b, HL_MODE_SERIAL, 8, NULL);
  hl_node *i = hl_loop_var(loop, 0);
  hl_access *access = hl_access_new(arena, x, 3);
  hl_access_add(arena, access, i, 16);
  hl_access_add(arena, access, i, 1);
  ck_assert(access->term_count == 1 && access->terms[0].stride == 17);
  hl_access_add(arena, access, i, -17);
  ck_assert(access->term_count == 0);
  hl_access_add(arena, access, i, 0);
  ck_assert(access->term_count == 0);
}
END_TEST

START_TEST(constants_are_stored_forms)
{
  ck_assert(hl_loop_const_int(&b, HL_S32, -1)->bits == 0xffffffff);
  ck_assert(hl_loop_const_int(&b, HL_S4, 9)->bits == 0xf9);
  ck_assert(hl_loop_const_int(&b, HL_U8, 257)->bits == 1);
  ck_assert(hl_loop_const_int(&b, HL_PRED, 256)->bits == 1);
  ck_assert(hl_loop_const_int(&b, HL_BF16, 1)->bits == 0x3f80);
  ck_assert(hl_loop_const_float(&b, HL_F64, -0.0)->bits == UINT64_C(1) << 63);
  expect_text("");
}
END_TEST

START_TEST(result_types_follow_from_ops)
{
  hl_node *v = load_at(NULL, 0, 0);
  ck_assert(hl_loop_binary(&b, HL_LOOP_LT, v, v)->type == HL_PRED);
  ck_assert(hl_loop_unary(&b, HL_LOOP_IS_FINITE, v)->type == HL_PRED);
  ck_assert(hl_loop_unary(&b, HL_LOOP_ORDER, v)->type == HL_S32);
  ck_assert(hl_loop_convert(&b, HL_F32, v) == v);
  ck_assert(hl_loop_convert(&b, HL_S8, v)->type == HL_S8);
}
END_TEST

START_TEST(results_stand_behind_their_loop)
{
  const hl_combiner combiners[2] = {{HL_ORDER_FREE, HL_LOOP_MAX, HL_F32},
                                    {HL_ORDER_ROW, HL_LOOP_ADD, HL_F32}};
  hl_node *loop = hl_loop_reduce(&b, 2, (const int64_t[]){8, 16}, 2, combiners);
  b.at = &loop->loop->body;
  hl_access *access = hl_access_new(arena, x, 0);
  hl_access_add(arena, access, hl_loop_var(loop, 0), 16);
  hl_access_add(arena, access, hl_loop_var(loop, 1), 1);
  hl_node *v = hl_loop_load(&b, access, NULL, NULL);
  hl_loop_set_yields(kernel, loop, 2, (hl_node *[]){v, v});
  b.at = &kernel->body;
  hl_node *one = hl_loop_const_float(&b, HL_F32, 1);
  hl_node *sum = hl_loop_result(&b, loop, 1), *most = hl_loop_result(&b, loop, 0);
  ck_assert(hl_loop_result(&b, loop, 1) == sum);
  store_at(NULL, 0,
           hl_loop_binary(&b, HL_LOOP_SUB, hl_loop_binary(&b, HL_LOOP_MUL, most, one), sum));
  expect_text("  v0, v1 = max, row add i, j in 0..8, 0..16\n"
              "    v2 = %x[i,j]\n"
              "    yield v2, v2\n"
              "  %y[0,0] := v0 * 1.0 - v1\n");
}
END_TEST

START_TEST(nodes_move)
{
  hl_node *one = hl_loop_const_float(&b, HL_F32, 1);
  hl_node *a = store_at(NULL, 0, one), *c = hl_loop_unary(&b, HL_LOOP_NEG, one);
  hl_node_remove(c);
  hl_node_insert_before(c, a);
  hl_node_remove(one);
  hl_node_insert_before(one, c);
  ck_assert(kernel->body.first == one && kernel->body.last == a);
  expect_text("  v0 = neg(1.0)\n  %y[0,0] := 1.0\n");
}
END_TEST

/* A load stays before a store that may change what it reads; what has no load moves. */
START_TEST(no_load_moves_past_a_store)
{
  hl_node *v = load_at(NULL, 0, 0), *w = load_at(NULL, 0, 1);
  hl_node *one = hl_loop_const_float(&b, HL_F32, 1);
  hl_node *sum = hl_loop_binary(&b, HL_LOOP_ADD, w, one);
  store_at(NULL, 0, one);
  store_at(NULL, 0, hl_loop_binary(&b, HL_LOOP_ADD, v, sum));
  expect_text("  v0 = %x[0,0]\n"
              "  v1 = %x[0,1] + 1.0\n"
              "  %y[0,0] := 1.0\n"
              "  %y[0,0] := v0 + v1\n");
}
END_TEST

/* A value used inside a loop is not computed there. */
START_TEST(no_value_moves_into_a_loop)
{
  hl_node *v = hl_loop_unary(&b, HL_LOOP_SQRT, load_at(NULL, 0, 0));
  hl_node *loop = hl_loop_for(&b, HL_MODE_VECTOR, 128, NULL);
  b.at = &loop->loop->body;
  store_at(hl_loop_var(loop, 0), 1, v);
  expect_text("  v0 = sqrt(%x[0,0])\n"
              "  vector i in 0..128: %y[@ i] := v0\n");
}
END_TEST

START_TEST(long_chain_prints)
{
  enum { LENGTH = 100000 };
  hl_node *v = load_at(NULL, 0, 0);
  for (int i = 0; i < LENGTH; i++)
    v = hl_loop_unary(&b, HL_LOOP_NEG, v);
  store_at(NULL, 0, v);
  hl_str out = {.arena = arena};
  hl_kernel_print(&out, kernel);
  ck_assert(out.length > 5 * LENGTH);
  hl_program *program = parse_good(hl_str_text(&out));
  const char *printed = print_program(program);
  ck_assert_ptr_nonnull(strstr(printed, hl_str_text(&out)));
}
END_TEST

START_TEST(names_are_made_different)
{
  hl_kernel_add_param(kernel, "x", HL_PARAM_IN, HL_F32, 0, NULL);
  hl_str out = {.arena = arena};
  hl_kernel_print(&out, kernel);
  ck_assert_str_eq(hl_str_text(&out),
                   "kernel k(in %x: f32[8,16], out %y: f32[8,16], in %x.2: f32[])\n");
}
END_TEST

/* Faults that text cannot have. */

START_TEST(check_wants_definitions_first)
{
  hl_node *v = load_at(NULL, 0, 0);
  hl_node *s = store_at(NULL, 0, v);
  hl_node_remove(s);
  hl_node_insert_before(s, v);
  expect_fault("not visible");
}
END_TEST

START_TEST(check_wants_values_of_its_block)
{
  hl_node *loop = hl_loop_for(&b, HL_MODE_SERIAL, 8, NULL);
  b.at = &loop->loop->body;
  hl_node *v = load_at(hl_loop_var(loop, 0), 1, 0);
  b.at = &kernel->body;
  store_at(NULL, 0, v);
  expect_fault("not visible");
}
END_TEST

START_TEST(check_wants_results_behind_their_loop)
{
  hl_node *one = hl_loop_const_float(&b, HL_F32, 1);
  hl_node *loop = hl_loop_fold(&b, 1, (const int64_t[]){3}, 1, &one);
  hl_loop_set_yields(kernel, loop, 1, &loop->loop->accs[0]);
  hl_node *result = hl_loop_result(&b, loop, 0);
  expect_text("  v0 = fold i in 0..3 from a0 = 1.0: a0\n");
  hl_node *two = hl_loop_const_float(&b, HL_F32, 2);
  hl_node_remove(two);
  hl_node_insert_before(two, result);
  expect_fault("behind its reduce or fold");
}
END_TEST

START_TEST(check_wants_links_and_ids)
{
  hl_node *one = hl_loop_const_float(&b, HL_F32, 1), *two = hl_loop_const_float(&b, HL_F32, 2);
  two->previous = NULL;
  expect_fault("links");
  two->previous = one;
  two->id = one->id;
  expect_fault("id");
}
END_TEST

START_TEST(check_wants_stored_constants)
{
  hl_loop_const(&b, HL_S8, 0x100);
  expect_fault("stored form");
}
END_TEST

/* Faults of texts: of the syntax, and of what the check finds. The message must hold the words. */

typedef struct bad_text {
  const char *text, *words;
} bad_text;

#define KERNEL "kernel k(in %x: f32[4], out %y: f32[4], in %n: s64[], in %p: pred[])\n"

static const bad_text bad_texts[] = {
    {"kernel", "expected a name"},
    {"kernel k", "expected '('"},
    {"kernel k(in %x: f33[4])", "element type"},
    {"kernel k(in %x: f32[4)", "expected ','"},
    {"kernel k(in %x: f32[9223372036854775807,3])", "too large"},
    {"kernel k(in %x: f32[4], in %x: f32[4])", "two parameters %x"},
    {"kernel k(in %x: c64[4])", "not of a scalar type"},
    {"kernel k(on %x: f32[4])", "expected in, out"},
    {KERNEL "  %y[0] = 1.0\n", "expected ':='"},
    {KERNEL "  %y[0] := 1.0 2.0\n", "end of the line"},
    {KERNEL "  %y[0,1] := 1.0\n", "expected ']'"},
    {KERNEL "  %z[0] := 1.0\n", "no parameter %z"},
    {KERNEL "  %y[0] := v\n", "'v' is not defined here"},
    {KERNEL "  for i in 0..4: %y[i] := 1.0\n  %y[i] := 1.0\n", "'i' is not defined here"},
    {KERNEL "  %y[0] := foo(1.0)\n", "no function 'foo'"},
    {KERNEL "  %y[0] := exp(1.0, 2.0)\n", "expected ')'"},
    {KERNEL "  %y[0] := (true ? 1.0 : 2.0)\n", "expected a load"},
    {KERNEL "  %y[0] := 300:u8\n", "does not fit u8"},
    {KERNEL "  %y[0] := 1:s1\n", "does not fit s1"},
    {KERNEL "  %y[0] := -2:s1\n", "does not fit s1"},
    {KERNEL "  %y[0] := 2:u1\n", "does not fit u1"},
    {KERNEL "  %y[0] := -9223372036854775809:s64\n", "does not fit s64"},
    {KERNEL "  %y[0] := 18446744073709551616:u64\n", "does not fit u64"},
    {KERNEL "  %y[0] := 1.5:s32\n", "whole numbers"},
    {KERNEL "  %y[0] := 1:pred\n", "true and false"},
    {KERNEL "  %y[0] := 1.0:c64\n", "pairs"},
    {KERNEL "  %y[%x[0]] := 1.0\n", "an index is s64"},
    {KERNEL "  %y[9223372036854775807+1] := 1.0\n", "64 bits"},
    {KERNEL "    %y[0] := 1.0\n  %y[1] := 1.0\n", "column"},
    {KERNEL "  for i in 1..4: %y[i] := 1.0\n", "begins at 0"},
    {KERNEL "  for i, j in 0..4, 0..4: %y[i] := 1.0\n", "one variable"},
    {KERNEL "  a, b = exp(1.0)\n", "several values"},
    {KERNEL "  a, b = max i in 0..4: %x[i]\n", "expected ','"},
    {KERNEL "  a, b = max, dot i in 0..4: %x[i], %x[i]\n", "too few values"},
    {KERNEL "  a = row max i in 0..4: %x[i]\n", "a combiner that cannot be"},
    {KERNEL "  a = max i in 0..4: %x[i], %x[i]\n", "too many yields"},
    {KERNEL "  a = max i in 0..4\n    b = %x[i]\n", "no yield"},
    {KERNEL "  a = max i in 0..4\n", "ends with yield"},
    {KERNEL "  a = fold i in 0..4: %x[i]\n", "expected 'from'"},
    {KERNEL "  a, b = fold i in 0..4 from c = 1.0: c\n", "2 results of 1"},
    {KERNEL "  a = fold i in 0..4 from c = 1.0: i\n", "carried type"},
    {KERNEL "  %y[4] := 1.0\n", "leaves its parameter"},
    {KERNEL "  for i in 0..4: %y[i+1] := 1.0\n", "leaves its parameter"},
    {KERNEL "  for i in 0..4: %y[i] := %x[2-i]\n", "leaves its parameter"},
    {KERNEL "  %x[0] := 1.0\n", "writes an input"},
    {KERNEL "  %y[0] := 1\n", "not the parameter's type"},
    {KERNEL "  %y[0] := 1.0 + 1\n", "different types"},
    {KERNEL "  %y[0] := select(1.0, 1.0, 1.0)\n", "selector"},
    {KERNEL "  %y[0] := convert.f32(1.0:bf16 + 1.0:bf16)\n", "not one that the op takes"},
    {KERNEL "  %y[0] := bitcast.f32(1:s64)\n", "wrong result type"},
    {KERNEL "  %y[0] := and(1.0, 2.0)\n", "not one that the op takes"},
    {KERNEL "  %y[0] := 1.0 when 1.0\n", "the guard is not pred"},
    {KERNEL "  if 1.0: %y[0] := 1.0\n", "not one pred"},
    {KERNEL "  for i in 0..min(4, 1.0): %y[i] := 1.0\n", "limit is not an s64"},
    {KERNEL "  for i in 0..4\n    parallel j in 0..4: %y[j] := 1.0\n", "body alone"},
    {KERNEL "  \001", "expected a name"},
    {KERNEL "steps\n", "end of the text"},
    {"program p\n  result 1 %y: f32[1]\n\nsteps\n", "not numbered from 0"},
    {"program p\n  temp %y: f32[1]\n  temp %y: f32[1]\n\nsteps\n", "two buffers %y"},
    {"program p\n  temp %y: f32[1] at 3\n\nsteps\n", "not aligned"},
    {"program p\n  constant %c: f32[300] = elided 1200 bytes crc 0x00000000\n", "was not printed"},
    {"program p\n  constant %c: f32[2] = {1.0}\n", "expected ','"},
    {"program p\n  note\n", "expected argument"},
    {"program p\n", "expected 'steps'"},
    {"program p\n\nsteps\n  kernel k(%x)\n", "no kernel k"},
    {"program p\n\nsteps\n  copy %a := %b\n", "no buffer %a"},
    {"program p\n\nsteps\n  jump\n", "expected kernel"},
    {"program p\n  argument 0 %a: f32[1]\n\nsteps\n  copy %a := %a\n", "not to be written"},
    {"program p\n  argument 0 %a: f32[1]\n\nsteps\n  while %a\n    condition\n    body\n",
     "not one pred"},
    {"program p\n  argument 0 %a: pred[]\n\nsteps\n  conditional %a\n    branch\n",
     "number of branches"},
    {"program p\n  argument 0 %a: f32[1]\n\nkernel k(in %a: f32[2])\n\nsteps\n  kernel k(%a)\n",
     "size"},
    {"program p\n  argument 0 %a: f32[1]\n\nkernel k(out %a: f32[1])\n\nsteps\n  kernel k(%a)\n",
     "only read"},
};

START_TEST(bad_text_is_reported_once)
{
  const char *message;
  const bad_text *bad = &bad_texts[_i];
  ck_assert_msg(parse_text(bad->text, &message) == NULL, "accepted: %s", bad->text);
  ck_assert_msg(strstr(message, bad->words) != NULL, "%s, not %s", message, bad->words);
  const char *error = strstr(message, "error: ");
  ck_assert(error && !strstr(error + 1, "error: "));
}
END_TEST

/* The head and the tail, with `part` in between many times. */
static const char *repeated(const char *head, const char *part, int count, const char *tail)
{
  hl_str text = {.arena = arena};
  hl_str_add(&text, head);
  for (int i = 0; i < count; i++)
    hl_str_add(&text, part);
  hl_str_add(&text, tail);
  return text.text;
}

START_TEST(nesting_has_a_limit)
{
  enum { DEEP = 100000 };
  const char *message;
  ck_assert(!parse_text(repeated(KERNEL "  %y[0] := ", "(", DEEP, "1.0\n"), &message));
  ck_assert_ptr_nonnull(strstr(message, "[limit]"));
  ck_assert(!parse_text(repeated(KERNEL "  ", "if %p[]: ", DEEP, "%y[0] := 1.0\n"), &message));
  ck_assert_ptr_nonnull(strstr(message, "[limit]"));
  ck_assert(!parse_text(repeated(KERNEL "  %y[0] := ", "neg(", DEEP, "1.0\n"), &message));
  ck_assert_ptr_nonnull(strstr(message, "[limit]"));
}
END_TEST

/* Every prefix of a good text is a program or a message. */
START_TEST(cut_texts_end_well)
{
  const char *message;
  static const char text[] =
      KERNEL "  v0, _ = row add, max i, j in 0..4, 0..min(4, %n[]): 1.0, nan(0x1)\n"
             "  if %p[]: %y[0] :=! (%p[] ? %x[@ 3] : v0) when true\n"
             "  else\n"
             "    for i in 0..4 jam 2: %y[3-i] := convert.f32(1:s32)\n";
  parse_good(text);
  for (size_t length = 0; length < sizeof text; length++)
    parse_text(hl_arena_strndup(arena, text, length), &message);
}
END_TEST

/* parse(print(p)) prints the same. */

static void expect_same(const char *text)
{
  ck_assert_str_eq(print_program(parse_good(text)), text);
}

static char *read_file(const char *path)
{
  FILE *file = fopen(path, "rb");
  ck_assert_msg(file != NULL, "%s", path);
  char *text = hl_arena_alloc(arena, 1 << 16);
  ck_assert(fread(text, 1, (1 << 16) - 1, file) > 0);
  fclose(file);
  return text;
}

/* tests/loops, beside the folder of this file. */
static const char *loops_folder(void)
{
  const char *end = strstr(__FILE__, "unit/test_loop.c");
  return hl_arena_printf(arena, "%.*sloops", (int)(end - __FILE__), __FILE__);
}

START_TEST(stored_texts_print_the_same)
{
  int count = 0;
  const char *folder = loops_folder();
  DIR *directory = opendir(folder);
  ck_assert_msg(directory != NULL, "%s", folder);
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (!strstr(entry->d_name, ".loops"))
      continue;
    expect_same(read_file(hl_arena_printf(arena, "%s/%s", folder, entry->d_name)));
    count++;
  }
  closedir(directory);
  ck_assert_int_ge(count, 6);
}
END_TEST

/* A constant buffer of the bit patterns first, first + step, ... keeps them through its text. */
static void expect_bits_kept(hl_element_type type, uint64_t first, uint64_t step)
{
  int64_t count = 256;
  size_t bytes = (size_t)hl_type_bytes(type);
  uint64_t mask = hl_type_bits(type) < 64 ? (UINT64_C(1) << hl_type_bits(type)) - 1 : UINT64_MAX;
  unsigned char *data = hl_arena_alloc(arena, 256 * bytes);
  for (int i = 0; i < 256; i++) {
    uint64_t bits = (first + (uint64_t)i * step) & mask;
    memcpy(data + (size_t)i * bytes, &bits, bytes);
  }
  hl_program *program = hl_program_new(arena, "p");
  hl_program_add_buffer(program, (hl_buffer){.name = "c",
                                             .kind = HL_BUFFER_CONSTANT,
                                             .type = type,
                                             .rank = 1,
                                             .dimensions = &count,
                                             .bytes = 256 * (int64_t)bytes,
                                             .data = data});
  const char *text = print_program(program);
  hl_program *again = parse_good(text);
  ck_assert_msg(!memcmp(again->buffers[0]->data, data, 256 * bytes), "%s", text);
}

START_TEST(constants_keep_their_bits)
{
  for (int type = 0; type < HL_TYPE_COUNT; type++) {
    hl_type_class class = hl_type_class_of((hl_element_type)type);
    if (class != HL_CLASS_FLOAT && (class != HL_CLASS_UNSIGNED || type == HL_U1))
      continue;
    if (hl_type_bits((hl_element_type)type) <= 16)
      for (uint64_t first = 0; first < UINT64_C(1) << hl_type_bits((hl_element_type)type);
           first += 256)
        expect_bits_kept((hl_element_type)type, first, 1);
    else
      for (int i = 0; i < 50; i++)
        expect_bits_kept((hl_element_type)type, (uint64_t)i * UINT64_C(0x123456789abcdef),
                         UINT64_C(0x0101010101010101) << i);
  }
}
END_TEST

START_TEST(large_constants_are_elided)
{
  const int64_t count = 300;
  hl_program *program = hl_program_new(arena, "p");
  hl_program_add_buffer(program, (hl_buffer){.name = "c",
                                             .kind = HL_BUFFER_CONSTANT,
                                             .type = HL_U8,
                                             .rank = 1,
                                             .dimensions = &count,
                                             .bytes = count,
                                             .data = hl_arena_alloc(arena, 300)});
  ck_assert_str_eq(print_program(program),
                   "program p\n"
                   "  constant %c: u8[300] = elided 300 bytes crc 0xb5348fd2\n"
                   "\nsteps\n");
}
END_TEST

static void add_builder_tests(TCase *t)
{
  tcase_add_test(t, accesses_merge_terms);
  tcase_add_test(t, constants_are_stored_forms);
  tcase_add_test(t, result_types_follow_from_ops);
  tcase_add_test(t, results_stand_behind_their_loop);
  tcase_add_test(t, nodes_move);
  tcase_add_test(t, no_load_moves_past_a_store);
  tcase_add_test(t, no_value_moves_into_a_loop);
  tcase_add_test(t, long_chain_prints);
  tcase_add_test(t, names_are_made_different);
  tcase_add_test(t, check_wants_definitions_first);
  tcase_add_test(t, check_wants_values_of_its_block);
  tcase_add_test(t, check_wants_results_behind_their_loop);
  tcase_add_test(t, check_wants_links_and_ids);
  tcase_add_test(t, check_wants_stored_constants);
}

int main(void)
{
  Suite *suite = suite_create("loop IR");
  TCase *builders = tcase_create("builders");
  tcase_add_checked_fixture(builders, new_kernel, close_arena);
  add_builder_tests(builders);
  suite_add_tcase(suite, builders);
  TCase *text = tcase_create("text");
  tcase_add_checked_fixture(text, open_arena, close_arena);
  tcase_add_loop_test(text, bad_text_is_reported_once, 0, sizeof bad_texts / sizeof *bad_texts);
  tcase_add_test(text, nesting_has_a_limit);
  tcase_add_test(text, cut_texts_end_well);
  tcase_add_test(text, stored_texts_print_the_same);
  tcase_add_test(text, constants_keep_their_bits);
  tcase_add_test(text, large_constants_are_elided);
  suite_add_tcase(suite, text);
  return run_suite(suite);
}
