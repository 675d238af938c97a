/* test_module - the op tables, and building and changing the HLO IR: links, users, names, effects.
 */
#include "ir/module.h"

#include <check.h>
#include <string.h>

static hl_arena *arena;
static hl_module *module;
static hl_computation *entry;
static const hl_shape *scalar;

static void setup(void)
{
  arena = hl_arena_new(NULL);
  module = hl_module_new(arena, "m");
  entry = module->entry = hl_module_add_computation(module, "entry");
  scalar = hl_shape_scalar(arena, HL_F32);
}

static void teardown(void)
{
  hl_arena_free(arena);
}

static hl_instruction *make(hl_computation *c, hl_opcode opcode, const char *name, int count,
                            hl_instruction *const *operands)
{
  hl_instruction *made = hl_instruction_new(c, NULL, opcode, name, scalar, count, operands, NULL);
  c->root = made;
  return made;
}

static hl_instruction *parameter(hl_computation *c, const char *name)
{
  hl_instruction *made = make(c, HL_OP_PARAMETER, name, 0, NULL);
  size_t capacity = (size_t)c->parameter_count;
  c->parameters =
      hl_arena_grow(arena, c->parameters, &capacity, capacity + 1, sizeof *c->parameters);
  made->parameter_number = c->parameter_count++;
  c->parameters[made->parameter_number] = made;
  return made;
}

static hl_instruction *binary(hl_computation *c, hl_opcode opcode, const char *name,
                              hl_instruction *a, hl_instruction *b)
{
  return make(c, opcode, name, 2, (hl_instruction *[]){a, b});
}

/* Both directions of every list agree, and users are exactly the readers. */
static void check_links(const hl_computation *c)
{
  int count = 0;
  for (const hl_instruction *i = c->first; i; i = i->next, count++) {
    ck_assert_ptr_eq(i->next ? i->next->previous : c->last, i);
    for (int k = 0; k < i->operand_count; k++) {
      int seen = 0;
      for (int u = 0; u < i->operands[k]->user_count; u++)
        seen += i->operands[k]->users[u] == i;
      ck_assert_int_eq(seen, 1);
    }
  }
  ck_assert_int_eq(count, c->instruction_count);
}

START_TEST(op_names_lead_back)
{
  for (int i = 0; i < HL_OP_COUNT; i++) {
    const hl_op_info *info = hl_op_info_of((hl_opcode)i);
    ck_assert_int_eq(hl_op_by_name(info->name, strlen(info->name)), i);
    ck_assert_int_le(info->min_operands, info->max_operands);
    for (int k = 0; k < info->attr_count; k++) {
      const char *name = hl_attr_name(info->attrs[k].id);
      ck_assert_int_eq(hl_attr_for_op((hl_opcode)i, name, strlen(name)), info->attrs[k].id);
      ck_assert(hl_attr_exists(name, strlen(name)));
    }
  }
  ck_assert_int_eq(hl_op_by_name("ad", 2), HL_OP_COUNT);
  ck_assert_int_eq(hl_op_by_name("", 0), HL_OP_COUNT);
}
END_TEST

START_TEST(rows_count_their_attributes)
{
  ck_assert_int_eq(hl_op_info_of(HL_OP_NEGATE)->attr_count, 0);
  ck_assert_int_eq(hl_op_info_of(HL_OP_ADD)->attr_count, 1);
  ck_assert_int_eq(hl_op_info_of(HL_OP_COMPARE)->attr_count, 3);
  ck_assert(hl_op_info_of(HL_OP_COMPARE)->attrs[1].is_required);
  ck_assert(!hl_op_info_of(HL_OP_COMPARE)->attrs[2].is_required);
  ck_assert_int_eq(hl_attr_for_op(HL_OP_NEGATE, "metadata", 8), HL_ATTR_METADATA);
  ck_assert_int_eq(hl_attr_for_op(HL_OP_NEGATE, "dimensions", 10), HL_ATTR_COUNT);
  ck_assert_int_eq(hl_attr_for_op(HL_OP_DOT, "algorithm", 9), HL_ATTR_ALGORITHM);
  ck_assert_int_eq(hl_attr_for_op(HL_OP_RNG_BIT_GENERATOR, "algorithm", 9), HL_ATTR_RNG_ALGORITHM);
}
END_TEST

START_TEST(words_are_counted_from_zero)
{
  size_t length;
  const char *word = hl_attr_word(HL_ATTR_DIRECTION, HL_LT, &length);
  ck_assert(length == 2 && !memcmp(word, "LT", 2));
  word = hl_attr_word(HL_ATTR_TYPE, HL_COMPARE_TOTALORDER, &length);
  ck_assert(length == 10 && !memcmp(word, "TOTALORDER", 10));
  ck_assert_ptr_null(hl_attr_word(HL_ATTR_DIRECTION, 6, &length));
  ck_assert_ptr_null(hl_attr_word(HL_ATTR_DIMENSIONS, 0, &length));
}
END_TEST

static const struct {
  const char *name, *want;
} suggestions[] = {
    {"exp", "exponential"},   {"sub", "subtract"}, {"dynamic_slice", "dynamic-slice"},
    {"mulitply", "multiply"}, {"ad", "add"},       {"transpos", "transpose"},
    {"frobnicate", NULL},     {"", NULL},
};

START_TEST(misspelt_ops_are_recognised)
{
  const char *got = hl_op_suggest(suggestions[_i].name);
  if (suggestions[_i].want)
    ck_assert_pstr_eq(got, suggestions[_i].want);
  else
    ck_assert_ptr_null(got);
}
END_TEST

START_TEST(users_stand_once)
{
  hl_instruction *a = parameter(entry, "a");
  hl_instruction *s = binary(entry, HL_OP_ADD, "s", a, a);
  binary(entry, HL_OP_MULTIPLY, "p", a, s);
  check_links(entry);
  ck_assert_int_eq(a->user_count, 2);
  ck_assert_ptr_eq(a->users[0], s);
}
END_TEST

START_TEST(fresh_names_meet_no_other)
{
  hl_instruction *a = parameter(entry, "add.7");
  ck_assert_str_eq(hl_fresh_name(module, "x"), "x.8");
  ck_assert_str_eq(hl_fresh_name(module, "add.7"), "add.9");
  ck_assert_str_eq(hl_fresh_name(module, "v1"), "v1.10");
  ck_assert_str_eq(binary(entry, HL_OP_ADD, NULL, a, a)->name, "add.11");
  hl_module_add_computation(module, "region.20");
  ck_assert_str_eq(hl_fresh_name(module, "y.1234567890"), "y.1234567890.21");
}
END_TEST

START_TEST(operands_are_replaced_one_by_one)
{
  hl_instruction *a = parameter(entry, "a"), *b = parameter(entry, "b");
  hl_instruction *s = binary(entry, HL_OP_ADD, "s", a, a);
  hl_replace_operand(s, 0, b);
  check_links(entry);
  ck_assert_int_eq(a->user_count, 1);
  ck_assert_int_eq(b->user_count, 1);
  hl_replace_operand(s, 1, b);
  check_links(entry);
  ck_assert_int_eq(a->user_count, 0);
  ck_assert_int_eq(b->user_count, 1);
}
END_TEST

START_TEST(all_uses_are_replaced)
{
  hl_instruction *a = parameter(entry, "a"), *b = parameter(entry, "b");
  hl_instruction *s = binary(entry, HL_OP_ADD, "s", a, b), *t = binary(entry, HL_OP_ADD, "t", s, s);
  hl_instruction *n = make(entry, HL_OP_NEGATE, "n", 1, &s);
  entry->root = s;
  hl_replace_all_uses(s, a);
  check_links(entry);
  ck_assert_ptr_eq(entry->root, a);
  ck_assert_int_eq(s->user_count, 0);
  ck_assert_ptr_eq(t->operands[1], a);
  ck_assert_ptr_eq(n->operands[0], a);
  ck_assert_int_eq(a->user_count, 3);
}
END_TEST

START_TEST(a_wrapper_keeps_reading_what_it_replaces)
{
  hl_instruction *a = parameter(entry, "a");
  hl_instruction *n = make(entry, HL_OP_NEGATE, "n", 1, &a),
                 *w = make(entry, HL_OP_ABS, "w", 1, &a);
  entry->root = a;
  hl_replace_all_uses(a, w);
  check_links(entry);
  ck_assert_ptr_eq(w->operands[0], a);
  ck_assert_ptr_eq(n->operands[0], w);
  ck_assert_ptr_eq(entry->root, w);
}
END_TEST

/* Taking users away from either end, or from the middle, keeps the order of the rest. */
START_TEST(users_leave_in_any_order)
{
  enum { COUNT = 100 };
  hl_instruction *a = parameter(entry, "a"), *made[COUNT];
  for (int i = 0; i < COUNT; i++)
    made[i] = make(entry, HL_OP_NEGATE, NULL, 1, &a);
  for (int i = 0; i < 10; i++) {
    hl_instruction_remove(made[i]);
    hl_instruction_remove(made[COUNT - 1 - i]);
    hl_instruction_remove(made[45 + (i % 2 ? i : -i)]);
    check_links(entry);
  }
  ck_assert_int_eq(a->user_count, COUNT - 30);
  for (int i = 1; i < a->user_count; i++)
    ck_assert_str_ne(a->users[i - 1]->name, a->users[i]->name);
  for (int i = 0; i < COUNT; i++)
    make(entry, HL_OP_NEGATE, NULL, 1, &a);
  check_links(entry);
}
END_TEST

START_TEST(attributes_are_added_and_found)
{
  hl_instruction *a = parameter(entry, "a"), *r = make(entry, HL_OP_REVERSE, "r", 1, &a);
  ck_assert_ptr_null(hl_attr_find(r, HL_ATTR_DIMENSIONS));
  ck_assert_int_eq(hl_attr_ints(r, HL_ATTR_DIMENSIONS).count, 0);
  ck_assert_int_eq(hl_attr_int(r, HL_ATTR_INDEX, -5), -5);
  hl_instruction_add_ints(r, HL_ATTR_DIMENSIONS, 2, (const int64_t[]){4, 5});
  hl_instruction_add_attr(r, &(hl_attr){.id = HL_ATTR_INDEX, .i = 3});
  ck_assert_int_eq(hl_attr_ints(r, HL_ATTR_DIMENSIONS).values[1], 5);
  ck_assert_int_eq(hl_attr_int(r, HL_ATTR_INDEX, -5), 3);
  hl_instruction_remove_attr(r, HL_ATTR_DIMENSIONS);
  ck_assert_ptr_null(hl_attr_find(r, HL_ATTR_DIMENSIONS));
  ck_assert_int_eq(hl_attr_int(r, HL_ATTR_INDEX, -5), 3);
}
END_TEST

static hl_computation *adder(const char *name, bool is_swapped)
{
  hl_computation *c = hl_module_add_computation(module, name);
  hl_instruction *x = parameter(c, "x"), *y = parameter(c, "y");
  binary(c, HL_OP_SUBTRACT, "s", is_swapped ? y : x, is_swapped ? x : y);
  return c;
}

START_TEST(binary_regions_are_seen)
{
  bool is_swapped;
  hl_computation *c = adder("f", false);
  ck_assert_int_eq(hl_region_binary(c, &is_swapped), HL_OP_SUBTRACT);
  ck_assert(!is_swapped);
  ck_assert_int_eq(hl_region_binary(adder("g", true), &is_swapped), HL_OP_SUBTRACT);
  ck_assert(is_swapped);
  binary(c, HL_OP_ADD, "t", c->root, c->parameters[1]);
  ck_assert_int_eq(hl_region_binary(c, NULL), HL_OP_COUNT);
  binary(c, HL_OP_ADD, "u", c->parameters[1], c->parameters[1]);
  ck_assert_int_eq(hl_region_binary(c, NULL), HL_OP_COUNT);
  binary(c, HL_OP_COMPARE, "v", c->parameters[0], c->parameters[1]);
  ck_assert_int_eq(hl_region_binary(c, NULL), HL_OP_COUNT);
}
END_TEST

START_TEST(inlining_copies_with_fresh_names)
{
  hl_computation *f = adder("f", true);
  hl_instruction *a = parameter(entry, "a"), *b = parameter(entry, "b");
  hl_instruction *last = make(entry, HL_OP_NEGATE, "n", 1, &a);
  f->first->scratch = 77;
  hl_instruction *root = hl_inline_computation(f, entry, last, (hl_instruction *[]){a, b});
  check_links(entry);
  ck_assert_int_eq(f->first->scratch, 77);
  ck_assert_ptr_eq(root->operands[0], b);
  ck_assert_ptr_eq(root->operands[1], a);
  ck_assert_ptr_eq(root->next, last);
  ck_assert_str_ne(root->name, "s");
  ck_assert_ptr_eq(root->computation, entry);
  ck_assert_int_eq(f->instruction_count, 3);
}
END_TEST

START_TEST(inlining_an_identity_gives_the_argument)
{
  hl_computation *f = hl_module_add_computation(module, "f");
  parameter(f, "x");
  hl_instruction *a = parameter(entry, "a");
  ck_assert_ptr_eq(hl_inline_computation(f, entry, NULL, &a), a);
  ck_assert_int_eq(entry->instruction_count, 1);
}
END_TEST

static void add_callee(hl_instruction *call, hl_computation *callee)
{
  hl_computation **values = HL_ARRAY(arena, 1, hl_computation *);
  values[0] = callee;
  hl_instruction_add_attr(call, &(hl_attr){.id = HL_ATTR_TO_APPLY, .computations = {values, 1}});
}

/* f0 has the effect or not; each following one calls the one before; the last is asked. Depth is no
 * recursion. */
static bool chain_has_effect(hl_opcode opcode)
{
  hl_computation *callee = hl_module_add_computation(module, "f");
  make(callee, opcode, NULL, 0, NULL);
  for (int i = 0; i < 100000; i++) {
    hl_computation *caller = hl_module_add_computation(module, "f");
    add_callee(make(caller, HL_OP_CALL, NULL, 0, NULL), callee);
    callee = caller;
  }
  hl_computation *last = hl_module_add_computation(module, "main");
  hl_instruction *call = make(last, HL_OP_CALL, NULL, 0, NULL);
  add_callee(call, callee);
  return hl_has_side_effect(call);
}

START_TEST(effects_come_through_calls)
{
  ck_assert(chain_has_effect(HL_OP_AFTER_ALL));
  ck_assert(!chain_has_effect(HL_OP_TUPLE));
}
END_TEST

START_TEST(effects_of_single_ops)
{
  hl_instruction *custom = make(entry, HL_OP_CUSTOM_CALL, NULL, 0, NULL);
  ck_assert(!hl_has_side_effect(custom));
  hl_instruction_add_attr(custom, &(hl_attr){.id = HL_ATTR_CUSTOM_CALL_HAS_SIDE_EFFECT, .i = 1});
  ck_assert(hl_has_side_effect(custom));
  hl_instruction *permute = make(entry, HL_OP_COLLECTIVE_PERMUTE, NULL, 0, NULL);
  ck_assert(!hl_has_side_effect(permute));
  hl_instruction_add_attr(permute, &(hl_attr){.id = HL_ATTR_CHANNEL_ID, .i = 1});
  ck_assert(hl_has_side_effect(permute));
}
END_TEST

START_TEST(called_computations_are_listed)
{
  hl_computation *f = adder("f", false), *out[2] = {NULL, NULL};
  hl_instruction *call = make(entry, HL_OP_CALL, NULL, 0, NULL);
  add_callee(call, f);
  ck_assert_int_eq(hl_called_computations(call, out, 2), 1);
  ck_assert_ptr_eq(out[0], f);
  ck_assert_int_eq(hl_called_computations(call, NULL, 0), 1);
  hl_module_remove_computation(module, f);
  ck_assert_ptr_eq(module->last, entry);
  ck_assert_ptr_null(entry->next);
}
END_TEST

START_TEST(places_fall_back)
{
  hl_instruction *a = parameter(entry, "a");
  a->range = (hl_range){3, 9};
  hl_instruction *made = hl_instruction_new(entry, NULL, HL_OP_NEGATE, NULL, scalar, 1, &a, a);
  hl_instruction_add_ints(made, HL_ATTR_DIMENSIONS, 0, NULL);
  ck_assert_uint_eq(hl_place_opcode(made).begin, 3);
  ck_assert_uint_eq(hl_place_shape(made).begin, 3);
  ck_assert_uint_eq(hl_place_operand(made, 0).begin, 3);
  ck_assert_uint_eq(hl_place_attr(made, HL_ATTR_DIMENSIONS).begin, 3);
  ck_assert_uint_eq(hl_place_attr_entry(made, HL_ATTR_INDEX, 4).end, 9);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("module");
  TCase *t = tcase_create("module");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, op_names_lead_back);
  tcase_add_test(t, rows_count_their_attributes);
  tcase_add_test(t, words_are_counted_from_zero);
  tcase_add_loop_test(t, misspelt_ops_are_recognised, 0,
                      (int)(sizeof suggestions / sizeof *suggestions));
  tcase_add_test(t, users_stand_once);
  tcase_add_test(t, fresh_names_meet_no_other);
  tcase_add_test(t, operands_are_replaced_one_by_one);
  tcase_add_test(t, all_uses_are_replaced);
  tcase_add_test(t, a_wrapper_keeps_reading_what_it_replaces);
  tcase_add_test(t, users_leave_in_any_order);
  tcase_add_test(t, attributes_are_added_and_found);
  tcase_add_test(t, binary_regions_are_seen);
  tcase_add_test(t, inlining_copies_with_fresh_names);
  tcase_add_test(t, inlining_an_identity_gives_the_argument);
  tcase_add_test(t, effects_come_through_calls);
  tcase_add_test(t, effects_of_single_ops);
  tcase_add_test(t, called_computations_are_listed);
  tcase_add_test(t, places_fall_back);
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
