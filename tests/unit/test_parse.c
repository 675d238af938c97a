/* test_parse - what the parser makes of a text: places, names, implicit instructions, constants,
 * limits. The messages and their carets stand in tests/parse. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/parse.h"
#include "ir/limits.h"
#include "ir/print.h"

static hl_arena *arena;
static hl_diag diag;
static const hl_source *source;

static void setup(void)
{
  arena = hl_arena_new(NULL);
}

static void teardown(void)
{
  hl_arena_free(arena);
}

static hl_module *load_bytes(const char *text, size_t size)
{
  source = hl_source_new(arena, "t.hlo", text, size);
  diag = (hl_diag){.arena = arena, .source = source};
  hl_module *module = hl_parse(arena, source, &diag);
  ck_assert_msg(!memcmp(source->text, text, size) && !source->text[size], "the source was changed");
  ck_assert_int_eq(module == NULL, diag.error_count > 0);
  return module;
}

static const char *messages(void)
{
  hl_str out = {.arena = arena};
  hl_diag_render(&diag, (hl_render_options){false, false}, &out);
  return hl_str_text(&out);
}

static hl_module *load(const char *text)
{
  hl_module *module = load_bytes(text, strlen(text));
  ck_assert_msg(module != NULL, "%s", messages());
  return module;
}

static hl_instruction *find(const hl_module *module, const char *name)
{
  for (const hl_computation *c = module->first; c; c = c->next)
    for (hl_instruction *i = c->first; i; i = i->next)
      if (!strcmp(i->name, name))
        return i;
  ck_abort_msg("no instruction %s", name);
}

static const char *at(hl_range range)
{
  if (range.begin == HL_NO_OFFSET)
    return "-";
  return hl_arena_strndup(arena, source->text + range.begin, range.end - range.begin);
}

/* The texts at all entries of an attribute, with '|' between. */
static const char *entries(const hl_attr *attr)
{
  hl_str out = {.arena = arena};
  for (int i = 0; i < attr->entry_count; i++)
    hl_str_printf(&out, "%s%s", i ? "|" : "", at(attr->entry_ranges[i]));
  return hl_str_text(&out);
}

/* --- places --- */

static const char *const placed =
    "HloModule m\n"
    "add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }\n"
    "ENTRY %e (a: f32[5,5]) -> f32[1,1] {\n"
    "  %a = f32[5,5]{1,0} parameter( 0 ), metadata={op_name=\"x\"}\n"
    "  z = f32[] constant(0)\n"
    "  w = f32[2,3] reduce-window(f32[5,5] %a, z), window={size=2x3 stride=2x1 pad=0_1x-1_0}, "
    "to_apply=add\n"
    "  p = f32[9,9] pad(a, z), padding=1_3x0_0_1\n"
    "  c = f32[1,2] slice(%a), slice={[0:1], [1:5:2]}\n"
    "  ROOT %r = f32[1,1] custom-call(c, %a), custom_call_target=\"t\", called_computations={add, "
    "%add}\n"
    "}\n";

START_TEST(places_of_an_instruction)
{
  const hl_places *p = find(load(placed), "w")->places;
  ck_assert_str_eq(at(p->name), "w");
  ck_assert_str_eq(at(p->shape), "f32[2,3]");
  ck_assert_str_eq(at(p->opcode), "reduce-window");
  ck_assert_str_eq(at(p->call), "reduce-window(f32[5,5] %a, z)");
  ck_assert_str_eq(at(p->lparen), "(");
  ck_assert_str_eq(at(p->operands[0]), "f32[5,5] %a");
  ck_assert_str_eq(at(p->operands[1]), "z");
  ck_assert_str_eq(hl_shape_text(arena, p->operand_shapes[0]), "f32[5,5]");
  ck_assert_ptr_null(p->operand_shapes[1]);
  ck_assert_str_eq(at((hl_range){p->end.begin - 3, p->end.end}), "add");
}
END_TEST

START_TEST(places_of_a_signature)
{
  const hl_module *module = load(placed);
  ck_assert_str_eq(module->entry->name, "e");
  ck_assert_str_eq(at(module->entry->name_range), "%e");
  ck_assert_str_eq(module->entry->signature_names[0], "a");
  ck_assert_str_eq(at(module->entry->signature_parameter_ranges[0]), "f32[5,5]");
  ck_assert_str_eq(at(module->entry->signature_result_range), "f32[1,1]");
  ck_assert_str_eq(at(hl_place_payload(module->entry->parameters[0])), " 0 ");
}
END_TEST

START_TEST(places_of_entries)
{
  hl_module *module = load(placed);
  const hl_attr *window = hl_attr_find(find(module, "w"), HL_ATTR_WINDOW);
  ck_assert_str_eq(at(window->name_range), "window");
  ck_assert_str_eq(at(window->value_range), "{size=2x3 stride=2x1 pad=0_1x-1_0}");
  ck_assert_str_eq(entries(window),
                   "2x3|2x1|0_1x-1_0|-|-|-|2|2|0|1|2x3|2x3|2x3|3|1|-1|0|2x3|2x3|2x3");
  ck_assert_int_eq(window->window.dims[1].padding_low, -1);
  ck_assert_str_eq(entries(hl_attr_find(find(module, "p"), HL_ATTR_PADDING)), "1|3|3|0|0|1");
  ck_assert_str_eq(entries(hl_attr_find(find(module, "c"), HL_ATTR_SLICE)), "0|1|1|1|5|2");
  ck_assert_str_eq(entries(hl_attr_find(find(module, "r"), HL_ATTR_CALLED_COMPUTATIONS)),
                   "add|%add");
  ck_assert_str_eq(hl_attr_find(module->entry->parameters[0], HL_ATTR_METADATA)->text,
                   "{op_name=\"x\"}");
}
END_TEST

/* --- structure --- */

START_TEST(operands_are_linked)
{
  hl_module *module = load("ENTRY e { a = f32[] parameter(1) b = f32[] parameter(0) c = f32[] "
                           "add(a, a) ROOT d = f32[] add(c, b) }");
  const hl_instruction *a = find(module, "a");
  ck_assert_ptr_eq(module->entry->parameters[1], a);
  ck_assert_int_eq(a->user_count, 1);
  ck_assert_str_eq(a->users[0]->name, "c");
  ck_assert_str_eq(module->entry->root->name, "d");
  ck_assert_int_eq(module->entry->instruction_count, 4);
  ck_assert_str_eq(module->name, "e");
}
END_TEST

START_TEST(elements_and_nested_operands)
{
  hl_module *module =
      load("ENTRY e { p = (f32[2], (s32[], f32[3])) parameter(0) negate.7 = f32[2] negate(p#0)\n"
           "ROOT r = f32[3] add(f32[3] negate(p#1#1), p#1#1) }");
  const hl_instruction *r = module->entry->root, *inner = r->operands[0],
                       *element = inner->operands[0];
  ck_assert_int_eq(inner->opcode, HL_OP_NEGATE);
  ck_assert_int_eq(element->opcode, HL_OP_GET_TUPLE_ELEMENT);
  ck_assert_str_eq(hl_shape_text(arena, element->shape), "f32[3]");
  ck_assert_int_eq(hl_attr_int(element, HL_ATTR_INDEX, -1), 1);
  ck_assert_str_eq(hl_shape_text(arena, element->operands[0]->shape), "(s32[], f32[3])");
  ck_assert_str_eq(at(r->places->operands[1]), "p#1#1");
  ck_assert_str_ne(inner->name, "negate.7");
  ck_assert_ptr_ne(element, r->operands[1]);
}
END_TEST

START_TEST(inline_bodies_come_first)
{
  hl_module *module =
      load("f { x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply={ a = f32[] parameter(0)\n"
           "ROOT b = f32[] call(a), to_apply={ ROOT c = f32[] parameter(0) } } }\n"
           "ENTRY e { x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply=f }");
  const char *roots[] = {"c", "b", "y", "y"};
  int i = 0;
  for (const hl_computation *c = module->first; c; c = c->next)
    ck_assert_str_eq(c->root->name, roots[i++]);
  ck_assert_int_eq(i, 4);
  ck_assert_str_eq(module->last->name, "e");
  ck_assert_str_ne(module->first->name, module->first->next->name);
}
END_TEST

START_TEST(async_sugar_has_a_body)
{
  hl_module *module = load(
      "ENTRY e { a = f32[4] parameter(0)\n"
      "s = ((f32[4]), f32[2], u32[]) slice-start(a), slice={[0:2]}, async_execution_thread=\"t\"\n"
      "u = ((f32[4]), f32[2], u32[]) slice-update(s) ROOT d = f32[2] slice-done(u) }");
  const hl_instruction *start = find(module, "s");
  const hl_computation *body = hl_attr_computation(start, HL_ATTR_CALLS);
  ck_assert_int_eq(start->opcode, HL_OP_ASYNC_START);
  ck_assert_str_eq(start->async_wrapped, "slice");
  ck_assert_ptr_eq(body, module->first);
  ck_assert_int_eq(body->root->opcode, HL_OP_SLICE);
  ck_assert_str_eq(hl_shape_text(arena, body->root->shape), "f32[2]");
  ck_assert_int_eq(hl_attr_find(body->root, HL_ATTR_SLICE)->slice.dims[0].limit, 2);
  ck_assert_int_eq(body->parameter_count, 1);
  ck_assert_ptr_null(hl_attr_find(start, HL_ATTR_SLICE));
  ck_assert_str_eq(hl_attr_find(start, HL_ATTR_ASYNC_EXECUTION_THREAD)->text, "t");
  ck_assert_int_eq(find(module, "u")->opcode, HL_OP_ASYNC_UPDATE);
  ck_assert_int_eq(module->entry->root->opcode, HL_OP_ASYNC_DONE);
}
END_TEST

START_TEST(replica_groups_of_the_iota_form)
{
  hl_module *module =
      load("add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }\n"
           "ENTRY e { a = f32[4] parameter(0)\n"
           "b = f32[4] all-reduce(a), replica_groups=[2,3]<=[3,2]T(1,0), to_apply=add\n"
           "ROOT c = f32[4] all-reduce(b), replica_groups=mesh['x'=2,'y'=1] {'x'}, to_apply=add }");
  const hl_attr *groups = hl_attr_find(find(module, "b"), HL_ATTR_REPLICA_GROUPS);
  const int64_t wanted[2][3] = {{0, 2, 4}, {1, 3, 5}};
  ck_assert_str_eq(groups->lists.text, "[2,3]<=[3,2]T(1,0)");
  ck_assert_int_eq(groups->lists.count, 2);
  for (int i = 0; i < 2; i++)
    ck_assert_mem_eq(groups->lists.values[i].values, wanted[i], sizeof wanted[i]);
  ck_assert_str_eq(hl_attr_find(module->entry->root, HL_ATTR_REPLICA_GROUPS)->lists.text,
                   "mesh['x'=2,'y'=1] {'x'}");
}
END_TEST

START_TEST(dimension_labels)
{
  hl_module *module = load(
      "ENTRY e { a = f32[1,2,8,8] parameter(0) k = f32[3,3,2,6] parameter(1)\n"
      "ROOT c = f32[1,6,6,6] convolution(a, k), window={size=3x3}, dim_labels=bf10_01io->?b1f0 }");
  const hl_dim_labels *l = hl_attr_find(module->entry->root, HL_ATTR_DIM_LABELS)->labels;
  ck_assert_int_eq(l->spatial_count, 2);
  ck_assert_int_eq(l->input_feature, 1);
  ck_assert_int_eq(l->input_spatial[0], 3);
  ck_assert_int_eq(l->input_spatial[1], 2);
  ck_assert_int_eq(l->kernel_output_feature, 3);
  ck_assert_int_eq(l->output_batch, 1);
  ck_assert_int_eq(l->output_spatial[0], 4);
}
END_TEST

START_TEST(header_attributes)
{
  hl_module *module = load("HloModule m, is_scheduled=true, replica_count=2, "
                           "entry_computation_layout={(f32[2,3]{0,1})->(f32[])},\n"
                           "input_output_alias={ {0,1}: (0, {2}, must-alias), {}: (1, {}) }, "
                           "alias_passthrough_params=true\n"
                           "FileNames\n1 \"a\"\n\nENTRY e { ROOT a = f32[] parameter(0) }");
  ck_assert(module->is_scheduled);
  ck_assert_int_eq(module->replica_count, 2);
  ck_assert_int_eq(module->entry_layout_count, 1);
  ck_assert_int_eq(module->entry_layout_parameters[0]->minor_to_major[0], 0);
  ck_assert_str_eq(at(module->entry_layout_ranges[1]), "(f32[])");
  ck_assert_int_eq(module->alias_count, 2);
  ck_assert(module->aliases[0].is_must && !module->aliases[1].is_must);
  ck_assert_int_eq(module->aliases[0].output_index.values[1], 1);
  ck_assert_str_eq(module->kept_attributes[0], "alias_passthrough_params=true");
  ck_assert_str_eq(module->frame_tables, "FileNames\n1 \"a\"");
}
END_TEST

/* --- constants --- */

/* A constant's type, its text, and the bits of its parts. */
static const struct {
  const char *shape, *text;
  uint64_t bits[4];
} constants[] = {
    {"f32[4]", "{1, -0, -.5, 1.5e1}", {0x3f800000, 0x80000000, 0xbf000000, 0x41700000}},
    {"f32[4]",
     "{nan, -nan, nan(0x1), -nan(0x7fffff)}",
     {0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff}},
    {"f32[2]", "{1e-45, 3.4028235e38}", {1, 0x7f7fffff}},
    {"f32[2]", "{16777217, 16777219}", {0x4b800000, 0x4b800002}},
    /* read as f64 first, which is half way between two f32 (language reference, section 4) */
    {"f32[2]", "{1.00000017881393432617187499, 1.0000001788139341}", {0x3f800002, 0x3f800001}},
    {"f64[3]", "{0.1, 9007199254740993, 5e-324}", {0x3fb999999999999a, 0x4340000000000000, 1}},
    {"f64[1]", "{2.2250738585072011e-308}", {0x000fffffffffffff}},
    {"f16[3]", "{65519, 6e-8, -inf}", {0x7bff, 1, 0xfc00}},
    {"bf16[3]", "{1.00390625, 1.01171875, -nan}", {0x3f80, 0x3f82, 0xffc0}},
    {"f8e4m3fn[4]", "{464, -448, nan, -nan}", {0x7e, 0xfe, 0x7f, 0xff}},
    {"f8e5m2fnuz[2]", "{-0, -nan}", {0, 0x80}},
    {"f8e8m0fnu[3]", "{1, 2, nan}", {127, 128, 255}},
    {"f4e2m1fn[2]", "{6, -0.5}", {7, 9}},
    {"pred[4]", "{true, false, 7, 0}", {1, 0, 1, 0}},
    {"s4[2]", "{-8, 7}", {0xf8, 7}},
    {"u4[1]", "{15}", {15}},
    {"s64[2]",
     "{-9223372036854775808, 9223372036854775807}",
     {0x8000000000000000, 0x7fffffffffffffff}},
    {"u64[1]", "{18446744073709551615}", {0xffffffffffffffff}},
    {"c64[1]", "{(nan, -inf)}", {0x7fc00000, 0xff800000}},
    {"c128[]", "( 1 , -2.5 )", {0x3ff0000000000000, 0xc004000000000000}},
    {"s16[2,2]", "{ { 1, 2 }, /*i0=1*/ { 3, // x\n 4 } }", {1, 2, 3, 4}},
};

START_TEST(constants_are_read)
{
  const char *text = hl_arena_printf(arena, "ENTRY e { ROOT c = %s constant(%s) }",
                                     constants[_i].shape, constants[_i].text);
  const hl_literal *literal = load(text)->entry->root->literal;
  const hl_shape *shape = literal->shape;
  int64_t count = hl_shape_elements(shape) * (hl_is_complex(shape->element_type) ? 2 : 1);
  for (int64_t i = 0; i < count; i++)
    ck_assert_uint_eq(hl_literal_get_bits(literal, i), constants[_i].bits[i]);
}
END_TEST

START_TEST(empty_and_elided_constants)
{
  hl_module *module =
      load("ENTRY e { a = f32[2,0,3] constant({{}, {}}) b = f32[0,2] constant({})\n"
           "c = f32[1000000000,4] constant({ ... }) d = f32[12] constant({1, 2, ...})\n"
           "ROOT t = (f32[2], s32[]) constant(({...}, 7)) }");
  ck_assert(!find(module, "a")->literal->is_elided);
  ck_assert(find(module, "c")->literal->is_elided && find(module, "d")->literal->is_elided);
  ck_assert_ptr_null(find(module, "d")->literal->data);
  const hl_literal *tuple = module->entry->root->literal;
  ck_assert(tuple->is_elided && tuple->elements[0]->is_elided && !tuple->elements[1]->is_elided);
  ck_assert_int_eq(hl_literal_get_int(tuple->elements[1], 0), 7);
}
END_TEST

/* Any decimal number is read as the C library reads it. */
START_TEST(decimals_are_exact)
{
  uint64_t state = 88172645463325252u;
  for (int i = 0; i < 20000; i++) {
    char number[64];
    double wanted;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    memcpy(&wanted, &state, sizeof wanted);
    if (!isfinite(wanted))
      continue;
    snprintf(number, sizeof number, "%.*e", i % 20, wanted);
    wanted = strtod(number, NULL);
    if (!isfinite(wanted))
      continue;
    hl_arena_reset(arena);
    const hl_literal *got =
        load(hl_arena_printf(arena, "ENTRY e { ROOT c = f64[] constant(%s) }", number))
            ->entry->root->literal;
    ck_assert_msg(!memcmp(got->data, &wanted, sizeof wanted), "%s", number);
  }
}
END_TEST

START_TEST(strings_are_unescaped)
{
  hl_module *module = load("ENTRY e { ROOT c = f32[] custom-call(), "
                           "custom_call_target='\\x41\\102\\n\\t\\\\\\'\"\\?' }");
  ck_assert_str_eq(hl_attr_find(module->entry->root, HL_ATTR_CUSTOM_CALL_TARGET)->text,
                   "AB\n\t\\'\"?");
}
END_TEST

/* --- what must not break --- */

static const char *repeat(const char *text, int count)
{
  hl_str out = {.arena = arena};
  for (int i = 0; i < count; i++)
    hl_str_add(&out, text);
  return hl_str_text(&out);
}

/* Around a text repeated many times; the label that the only error must have. */
static const struct {
  const char *before, *repeated, *behind, *label;
  int count;
} deep[] = {
    {"ENTRY e { a = ", "(", "", "[limit]", 100000},
    {"ENTRY e { a = f32[] add(", "add(", "", "[limit]", 100000},
    {"ENTRY e { a = f32[] parameter(0), sharding=", "{", "", "[limit]", 100000},
    {"ENTRY e { a = f32[2] transpose(), dimensions=", "{", "", "[limit]", 100000},
    {"ENTRY e { a = f32[] constant(", "{", "", "[literal-nesting]", 100000},
    {"ENTRY e { a = constant(", "(", "", "[literal-shape]", 100000},
    {"ENTRY e { a = f32[] call(), to_apply=", "{ x = f32[] call(), to_apply=", "", "[limit]",
     100000},
    {"ENTRY e { a = f32[", "1,", "1] parameter(0) }", "[limit]", 100000},
    {"ENTRY e { ", "a", " = f32[] parameter(0) }", "[limit]", HL_LIMIT_NAME_BYTES + 1},
    {"ENTRY e { a = f32[] parameter(0) ", "/* ", "", "[lex-comment]", 100000},
    {"ENTRY e { a = f32[] custom-call(), custom_call_target=\"", "\\\"", "", "[lex-string]",
     100000},
};

START_TEST(deep_nesting_is_a_message)
{
  const char *text = hl_arena_printf(arena, "%s%s%s", deep[_i].before,
                                     repeat(deep[_i].repeated, deep[_i].count), deep[_i].behind);
  ck_assert_ptr_null(load_bytes(text, strlen(text)));
  ck_assert_msg(strstr(messages(), deep[_i].label) != NULL, "%s", messages());
}
END_TEST

START_TEST(long_texts_are_read)
{
  hl_str text = {.arena = arena};
  hl_str_add(&text, "ENTRY e {\n v0 = f32[8]{0} parameter(0)\n");
  for (int i = 0; i < 100000; i++)
    hl_str_printf(&text, " v%d = f32[8]{0} add(v%d, v%d)\n", i + 1, i, i);
  hl_str_add(&text, "}\n");
  hl_module *module = load(hl_str_text(&text));
  ck_assert_int_eq(module->entry->instruction_count, 100001);
  ck_assert_ptr_eq(module->entry->root->shape, module->entry->first->shape);
}
END_TEST

START_TEST(at_most_twenty_errors)
{
  const char *text = hl_arena_printf(arena, "ENTRY e {\n%s}", repeat("  a = f32[] foo()\n", 50));
  ck_assert_ptr_null(load_bytes(text, strlen(text)));
  ck_assert_int_eq(diag.error_count, HL_MAX_ERRORS);
  ck_assert_int_eq(diag.suppressed, 30);
}
END_TEST

START_TEST(nul_bytes_are_refused)
{
  static const char text[] = "ENTRY e { a = f32[] parameter(0), metadata={op_name=\"x\0y\"} }";
  ck_assert_ptr_null(load_bytes(text, sizeof text - 1));
  ck_assert_int_eq(diag.first->rule, HL_RULE_LEX_NUL);
  ck_assert_uint_eq(diag.first->range.begin, 54);
}
END_TEST

/* Every beginning of a text that uses the whole grammar ends in a module or a message. */
START_TEST(cut_anywhere)
{
  static const char text[] =
      "HloModule m, is_scheduled=true, entry_computation_layout={(f32[2]{0})->f32[]}, "
      "input_output_alias={ {0}: (0, {}) }\n"
      "FileNames\n1 \"a\"\nFileLocations\n1 {line=3}\n"
      "f (x: f32[]) -> f32[] { ROOT %x = f32[] parameter(0), metadata={a='b'} }, "
      "execution_thread=\"t\"\n"
      "ENTRY e { a = (f32[2]{0:T(2)}, s32[]) parameter(0) /* c */ b = f32[2] constant({1.5e3, "
      "-nan(0x1)})\n"
      "c = f32[2] add(f32[2] %a#0, negate(b)), control-predecessors={a}\n"
      "w = f32[2] reduce-window(c, b), window={size=2 pad=0_1}, to_apply={ ROOT y = f32[] "
      "parameter(0) }\n"
      "d = f32[2] slice(c), slice={[0:2:1]}, backend_config={\"k\":\"}\"} // end\n"
      "g = f32[2] all-gather(c), replica_groups=[1,2]<=[2]T(0), dimensions={0}\n"
      "ROOT t = f32[] custom-call(d), custom_call_target=\"x\", dim_labels=bf_io->bf }\n";
  for (size_t length = 0; length < sizeof text; length++) {
    hl_arena_reset(arena);
    load_bytes(text, length);
  }
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static TCase *structure_cases(void)
{
  TCase *t = tcase_create("structure");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, places_of_an_instruction);
  tcase_add_test(t, places_of_a_signature);
  tcase_add_test(t, places_of_entries);
  tcase_add_test(t, operands_are_linked);
  tcase_add_test(t, elements_and_nested_operands);
  tcase_add_test(t, inline_bodies_come_first);
  tcase_add_test(t, async_sugar_has_a_body);
  tcase_add_test(t, replica_groups_of_the_iota_form);
  tcase_add_test(t, dimension_labels);
  tcase_add_test(t, header_attributes);
  return t;
}

static TCase *constant_cases(void)
{
  TCase *t = tcase_create("constants");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_set_timeout(t, 30);
  tcase_add_loop_test(t, constants_are_read, 0, COUNT(constants));
  tcase_add_test(t, empty_and_elided_constants);
  tcase_add_test(t, decimals_are_exact);
  tcase_add_test(t, strings_are_unescaped);
  return t;
}

static TCase *limit_cases(void)
{
  TCase *t = tcase_create("limits");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_set_timeout(t, 30);
  tcase_add_loop_test(t, deep_nesting_is_a_message, 0, COUNT(deep));
  tcase_add_test(t, long_texts_are_read);
  tcase_add_test(t, at_most_twenty_errors);
  tcase_add_test(t, nul_bytes_are_refused);
  tcase_add_test(t, cut_anywhere);
  return t;
}

int main(void)
{
  Suite *suite = suite_create("parse");
  suite_add_tcase(suite, structure_cases());
  suite_add_tcase(suite, constant_cases());
  suite_add_tcase(suite, limit_cases());
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
