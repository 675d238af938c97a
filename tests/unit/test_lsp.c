/* test_lsp - the language server, driven as an editor drives it: messages in, messages out. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/lsp.h"

static hl_lsp *server;
static char said[1 << 20]; /* all that was sent since the last message, a line each */
static size_t said_length;
static int next_id;

static void take(void *user, const char *json, size_t size)
{
  (void)user;
  ck_assert_uint_lt(said_length + size + 2, sizeof said);
  memcpy(said + said_length, json, size);
  said_length += size;
  said[said_length++] = '\n';
  said[said_length] = '\0';
}

static void receive(const char *json)
{
  said_length = 0;
  said[0] = '\0';
  hl_lsp_receive(server, json, strlen(json));
}

/* Sends what the format makes; the answer is in `said`. */
static void ask(const char *method, const char *params)
{
  static char message[1 << 16];
  snprintf(message, sizeof message, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}", ++next_id, method, params);
  receive(message);
}

static void tell(const char *method, const char *params)
{
  static char message[1 << 16];
  snprintf(message, sizeof message, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":%s}", method, params);
  receive(message);
}

#define HAS(text) ck_assert_msg(strstr(said, text) != NULL, "wanted %s\ngot %s", text, said)
#define HAS_NOT(text) ck_assert_msg(strstr(said, text) == NULL, "%s in %s", text, said)

#define URI "\"textDocument\":{\"uri\":\"file:///m.hlo\"}"
#define AT(line, character) "{" URI ",\"position\":{\"line\":" #line ",\"character\":" #character "}}"

static const char *const head = "HloModule m\\n\\nsum {\\n  a = f32[] parameter(0)\\n  b = f32[] parameter(1)\\n  ROOT s = f32[] add(a, b)\\n}\\n\\n"
                                "ENTRY main {\\n  x = f32[2,3] parameter(0)\\n  bias = f32[3] parameter(1)\\n";

/* The text with this line for its last instruction. */
static void change(const char *last)
{
  char params[4096];
  snprintf(params, sizeof params, "{" URI ",\"contentChanges\":[{\"text\":\"%s%s\\n}\\n\"}]}", head, last);
  tell("textDocument/didChange", params);
}

static void setup(void)
{
  server = hl_lsp_new(take, NULL);
  ck_assert_ptr_nonnull(server);
  ask("initialize", "{\"capabilities\":{}}");
  HAS("\"positionEncoding\":\"utf-16\"");
  tell("textDocument/didOpen", "{\"textDocument\":{\"uri\":\"file:///m.hlo\",\"text\":\"\"}}");
}

static void teardown(void)
{
  hl_lsp_free(server);
}

/* Open, break, read the diagnostic, apply the fix, close. */
START_TEST(a_session)
{
  change("  ROOT y = f32[2,3] add(x, bias)");
  HAS("textDocument/publishDiagnostics");
  HAS("\"code\":\"binary-rank\"");
  HAS("\"start\":{\"line\":11,\"character\":20},\"end\":{\"line\":11,\"character\":32}");
  HAS("broadcast_dimensions={1}");
  ask("textDocument/codeAction", "{" URI ",\"range\":{\"start\":{\"line\":11,\"character\":0},\"end\":{\"line\":11,\"character\":3}}}");
  HAS("\"newText\":\", broadcast_dimensions={1}\"");
  HAS("\"start\":{\"line\":11,\"character\":32},\"end\":{\"line\":11,\"character\":32}");
  change("  ROOT y = f32[2,3] add(x, bias), broadcast_dimensions={1}");
  HAS("\"diagnostics\":[]");
  tell("textDocument/didClose", "{" URI "}");
  HAS("\"diagnostics\":[]");
  ask("textDocument/hover", AT(9, 2));
  HAS("\"result\":null");
  int status;
  ask("shutdown", "null");
  ck_assert(!hl_lsp_has_ended(server, &status));
  tell("exit", "null");
  ck_assert(hl_lsp_has_ended(server, &status));
  ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(fixes_words_and_shapes)
{
  const char *all = "{" URI ",\"range\":{\"start\":{\"line\":0,\"character\":0},\"end\":{\"line\":99,\"character\":0}}}";
  change("  ROOT y = f32[2,3] negatee(x)");
  ask("textDocument/codeAction", all);
  HAS("\"newText\":\"negate\"");
  change("  ROOT y = f32[2,4] negate(x)");
  ask("textDocument/codeAction", all);
  HAS("\"newText\":\"f32[2,3]\"");
  change("  ROOT y = f32[2,3] add(x, bias), broadcast_dimensions={0}");
  ask("textDocument/codeAction", all);
  HAS("\"newText\":\"broadcast_dimensions={1}\"");
  change("  zero = f32[] constant(0)\\n  ROOT r = f32[3] reduce(x, zero), dimensions={1}, to_apply=sum");
  HAS("write f32[2], or dimensions={0} for f32[3]");
  ask("textDocument/codeAction", all);
  HAS("\"result\":[]");
  change("  ROOT y = f32[2,3] negate(x)");
  ask("textDocument/codeAction", all);
  HAS("\"result\":[]");
}
END_TEST

static const char *const reduce = "  zero = f32[] constant(0)\\n  ROOT r = f32[2] reduce(x, zero), dimensions={1}, to_apply=sum";

START_TEST(hovers)
{
  change(reduce);
  HAS("\"diagnostics\":[]");
  ask("textDocument/hover", AT(12, 29));
  HAS("zero = f32[] constant");
  ask("textDocument/hover", AT(12, 21));
  HAS("**reduce**");
  HAS("`to_apply` (required)");
  HAS("- dimensions are dimensions of the inputs `reduce-c2`");
  ask("textDocument/hover", AT(12, 62));
  HAS("sum (a: f32[], b: f32[]) -> f32[]");
  ask("textDocument/hover", AT(9, 3));
  HAS("x = f32[2,3] parameter");
  HAS("6 elements, 24 bytes; read by 1");
  ask("textDocument/hover", AT(1, 0));
  HAS("\"result\":null");
  ask("textDocument/hover", "{" URI ",\"position\":{\"line\":99999999999,\"character\":-5}}");
  HAS("\"result\":null");
}
END_TEST

/* A shape that is left out, and one that is wrong: what follows from the operands is told. */
START_TEST(hovers_over_inferred_shapes)
{
  change("  y = add(x, bias), broadcast_dimensions={1}\\n  ROOT z = f32[3,3] negate(y)");
  ask("textDocument/hover", AT(11, 2));
  HAS("y = f32[2,3] add");
  ask("textDocument/hover", AT(11, 7));
  HAS("types: pred, signed");
  HAS("`bcast-dims-c1`");
  ask("textDocument/hover", AT(12, 7));
  HAS("z = f32[3,3] negate");
  HAS("follows from the operands: `f32[2,3]`");
  change("  zero = f32[] constant(0)\\n  ROOT r = f32[3] reduce(x, zero), dimensions={1}, to_apply=sum");
  ask("textDocument/hover", AT(12, 7));
  HAS("follows from the operands: `f32[2]`");
  change("  y = add(x, bias), broadcast_dimensions={1}\\n  ROOT z = f32[3,3] negate(y)");
  ask("textDocument/hover", AT(9, 3));
  HAS_NOT("follows");
}
END_TEST

START_TEST(goes_to_definitions_and_uses)
{
  change(reduce);
  ask("textDocument/definition", AT(12, 29));
  HAS("\"start\":{\"line\":11,\"character\":2},\"end\":{\"line\":11,\"character\":6}");
  ask("textDocument/definition", AT(12, 62));
  HAS("\"start\":{\"line\":2,\"character\":0},\"end\":{\"line\":2,\"character\":3}");
  ask("textDocument/references", AT(3, 2));
  HAS("\"line\":5,\"character\":21}");
  HAS_NOT("\"line\":3");
  ask("textDocument/references",
      "{" URI ",\"position\":{\"line\":3,\"character\":2},\"context\":{\"includeDeclaration\":true}}");
  HAS("\"line\":3,\"character\":2}");
}
END_TEST

START_TEST(renames)
{
  change(reduce);
  ask("textDocument/rename", "{" URI ",\"position\":{\"line\":11,\"character\":3},\"newName\":\"start\"}");
  HAS("\"line\":11,\"character\":2}");
  HAS("\"line\":12,\"character\":28}");
  HAS("\"newText\":\"start\"");
  ask("textDocument/rename", "{" URI ",\"position\":{\"line\":11,\"character\":3},\"newName\":\"bias\"}");
  HAS("the name is taken");
  ask("textDocument/rename", "{" URI ",\"position\":{\"line\":11,\"character\":3},\"newName\":\"2x\"}");
  HAS("this is no name");
  ask("textDocument/rename", "{" URI ",\"position\":{\"line\":11,\"character\":3},\"newName\":\"f32\"}");
  HAS("this is no name");
  ask("textDocument/rename", "{" URI ",\"position\":{\"line\":1,\"character\":0},\"newName\":\"z\"}");
  HAS("there is no name here");
}
END_TEST

START_TEST(lists_symbols)
{
  change(reduce);
  ask("textDocument/documentSymbol", "{" URI "}");
  HAS("\"name\":\"sum\",\"kind\":12");
  HAS("\"name\":\"main\",\"kind\":12");
  HAS("\"name\":\"zero\",\"kind\":14");
  HAS("\"detail\":\"f32[2] reduce\"");
}
END_TEST

START_TEST(completes)
{
  change("  y = f32[2,3] add(x, )\\n  ROOT z = f32[2,3] negate(x)");
  ask("textDocument/completion", AT(11, 22));
  HAS("\"label\":\"bias\"");
  HAS_NOT("\"label\":\"a\"");
  change("  y = f32[2,3] \\n  ROOT z = f32[2,3] negate(x)");
  ask("textDocument/completion", AT(11, 15));
  HAS("\"label\":\"exponential\"");
  change("  y = f32[2] reduce(x, x), \\n  ROOT z = f32[2,3] negate(x)");
  ask("textDocument/completion", AT(11, 27));
  HAS("\"label\":\"to_apply\"");
  HAS("\"label\":\"sum\"");
}
END_TEST

START_TEST(formats_what_it_can_print)
{
  change("  ROOT   y = f32[2,3]   negate( x )");
  ask("textDocument/formatting", "{" URI "}");
  HAS("ROOT y = f32[2,3] negate(x)");
  change("  ROOT y = f32[2,3] negate(x) // no comment may be lost");
  ask("textDocument/formatting", "{" URI "}");
  HAS("\"error\"");
  HAS("comments");
  change("  ROOT y = f32[2,3] negate(x, x)");
  ask("textDocument/formatting", "{" URI "}");
  HAS("a text with errors is not formatted");
}
END_TEST

/* What is wrong hides nothing else. */
START_TEST(works_on_broken_texts)
{
  change("  broken = f32[2,3] nonsense(x, ]\\n  ROOT y = f32[2,3] negate(x)");
  HAS("\"severity\":1");
  ask("textDocument/definition", AT(12, 27));
  HAS("\"line\":9,\"character\":2}");
  ask("textDocument/documentSymbol", "{" URI "}");
  HAS("\"name\":\"y\"");
}
END_TEST

/* Columns are UTF-16 units: the umlaut is one, the emoji two. */
START_TEST(counts_columns_as_the_client_does)
{
  change("  /* \xc3\xbc \xf0\x9f\x98\x80 */ ROOT y = f32[2,3] negate(z)");
  HAS("\"start\":{\"line\":11,\"character\":38},\"end\":{\"line\":11,\"character\":39}");
  hl_lsp_free(server);
  server = hl_lsp_new(take, NULL);
  ask("initialize", "{\"capabilities\":{\"general\":{\"positionEncodings\":[\"utf-16\",\"utf-8\"]}}}");
  HAS("\"positionEncoding\":\"utf-8\"");
  tell("textDocument/didOpen", "{\"textDocument\":{\"uri\":\"file:///m.hlo\",\"text\":\"\"}}");
  change("  /* \xc3\xbc \xf0\x9f\x98\x80 */ ROOT y = f32[2,3] negate(z)");
  HAS("\"start\":{\"line\":11,\"character\":41},\"end\":{\"line\":11,\"character\":42}");
}
END_TEST

START_TEST(bad_messages_are_answered)
{
  receive("{nonsense");
  HAS("-32700");
  receive("[]");
  HAS("-32600");
  receive("{\"id\":1}");
  ck_assert_str_eq(said, "");
  ask("textDocument/unheardOf", "{}");
  HAS("-32601");
  ask("textDocument/hover", "{}");
  HAS("\"result\":null");
  ask("textDocument/hover", "[1,2]");
  HAS("\"result\":null");
  ask("textDocument/rename", "{}");
  HAS("\"error\"");
  tell("textDocument/didChange", "{}");
  tell("textDocument/didOpen", "{\"textDocument\":{\"uri\":7,\"text\":7}}");
  tell("textDocument/didClose", "null");
  hl_lsp_free(server);
  server = hl_lsp_new(take, NULL);
  ask("textDocument/hover", AT(0, 0));
  HAS("-32002");
  int status;
  tell("exit", "null");
  ck_assert(hl_lsp_has_ended(server, &status));
  ck_assert_int_eq(status, 1);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("lsp");
  TCase *t = tcase_create("lsp");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, a_session);
  tcase_add_test(t, fixes_words_and_shapes);
  tcase_add_test(t, hovers);
  tcase_add_test(t, hovers_over_inferred_shapes);
  tcase_add_test(t, goes_to_definitions_and_uses);
  tcase_add_test(t, renames);
  tcase_add_test(t, lists_symbols);
  tcase_add_test(t, completes);
  tcase_add_test(t, formats_what_it_can_print);
  tcase_add_test(t, works_on_broken_texts);
  tcase_add_test(t, counts_columns_as_the_client_does);
  tcase_add_test(t, bad_messages_are_answered);
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
