/* lsp_client HLO_LITE [MODULE] - an editor's session with `hlo-lite lsp` over pipes: open, break, read the diagnostic, apply the fix,
 * save, and the questions in between; prints how long each answer took. Without a module it is one of 3,000 instructions, and
 * every edit must answer within 50 ms (LSP_LIMIT_MS, for slow builds) at best of its rounds. Exit status 1 when an answer is wrong or late. */
#include <jansson.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { INSTRUCTIONS = 3000, ROUNDS = 11 };
static const char uri[] = "file:///session.hlo";

typedef struct client {
  FILE *to, *from;
  pid_t server;
  int next_id;
} client;

static void give_up(const char *why)
{
  fprintf(stderr, "lsp_client: %s\n", why);
  exit(1);
}

/* ---- messages ---- */

static char *text_of(json_t *message)
{
  json_object_set_new(message, "jsonrpc", json_string("2.0"));
  char *text = json_dumps(message, JSON_COMPACT);
  json_decref(message);
  return text;
}

static void send_text(client *c, const char *text)
{
  fprintf(c->to, "Content-Length: %zu\r\n\r\n%s", strlen(text), text);
  fflush(c->to);
}

/* The next message of the server. */
static char *receive(client *c)
{
  size_t size = 0;
  char line[256];
  while (fgets(line, sizeof line, c->from) && strcmp(line, "\r\n") != 0)
    sscanf(line, "Content-Length: %zu", &size);
  char *text = malloc(size + 1);
  if (!text || !size || fread(text, 1, size, c->from) != size)
    give_up("the server stopped");
  text[size] = '\0';
  return text;
}

static double now_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* What the server says to a message, and how long that took: only its own time and the pipe's. */
static json_t *exchange(client *c, json_t *message, double *ms)
{
  char *text = text_of(message);
  double begin = now_ms();
  send_text(c, text);
  char *said = receive(c);
  *ms = now_ms() - begin;
  json_t *reply = json_loads(said, 0, NULL);
  if (!reply)
    give_up("the server sent no JSON");
  free(said);
  free(text);
  return reply;
}

/* The result of a request. */
static json_t *ask(client *c, const char *method, json_t *params, double *ms)
{
  json_t *reply = exchange(c, json_pack("{s:i, s:s, s:o}", "id", ++c->next_id, "method", method, "params", params), ms);
  json_t *result = json_incref(json_object_get(reply, "result"));
  if (!result)
    give_up(method);
  json_decref(reply);
  return result;
}

/* Opens the document or changes its text; the diagnostics that come back. */
static json_t *edit(client *c, const char *text, bool is_new, double *ms)
{
  json_t *params = is_new ? json_pack("{s:{s:s, s:s}}", "textDocument", "uri", uri, "text", text)
                          : json_pack("{s:{s:s}, s:[{s:s}]}", "textDocument", "uri", uri, "contentChanges", "text", text);
  const char *method = is_new ? "textDocument/didOpen" : "textDocument/didChange";
  json_t *notice = exchange(c, json_pack("{s:s, s:o}", "method", method, "params", params), ms);
  json_t *list = json_incref(json_object_get(json_object_get(notice, "params"), "diagnostics"));
  if (!list)
    give_up("an edit without diagnostics");
  json_decref(notice);
  return list;
}

static client start(const char *command)
{
  int in[2], out[2];
  client c = {0};
  if (pipe(in) != 0 || pipe(out) != 0 || (c.server = fork()) < 0)
    give_up("no process");
  if (c.server == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    close(in[1]);
    close(out[0]);
    execl(command, command, "lsp", (char *)NULL);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  c.to = fdopen(in[1], "w");
  c.from = fdopen(out[0], "r");
  return c;
}

/* ---- texts ---- */

/* A chain of layers: each multiplies, adds a bias and applies tanh. */
static char *make_module(void)
{
  char *text = malloc(INSTRUCTIONS * 100);
  int length = sprintf(text, "HloModule layers\n\nENTRY main {\n  x = f32[8,64] parameter(0)\n  bias = f32[64] parameter(1)\n");
  const char *before = "x";
  char name[32];
  for (int i = 0; i < INSTRUCTIONS / 3; i++) {
    length += sprintf(text + length, "  product.%d = f32[8,64] multiply(%s, x)\n", i, before);
    length += sprintf(text + length, "  sum.%d = f32[8,64] add(product.%d, bias), broadcast_dimensions={1}\n", i, i);
    length += sprintf(text + length, "  %slayer.%d = f32[8,64] tanh(sum.%d)\n", i == INSTRUCTIONS / 3 - 1 ? "ROOT " : "", i, i);
    snprintf(name, sizeof name, "layer.%d", i);
    before = name;
  }
  strcpy(text + length, "}\n");
  return text;
}

static char *read_file(const char *path)
{
  FILE *f = fopen(path, "rb");
  char *text = malloc(64 << 20);
  size_t size = f && text ? fread(text, 1, (64 << 20) - 1, f) : 0;
  if (!size)
    give_up("no module");
  text[size] = '\0';
  fclose(f);
  return text;
}

/* Where a line and column are. */
static size_t offset_of(const char *text, json_t *position)
{
  const char *at = text;
  for (json_int_t line = json_integer_value(json_object_get(position, "line")); line > 0; line--)
    at = strchr(at, '\n') + 1;
  return (size_t)(at - text) + (size_t)json_integer_value(json_object_get(position, "character"));
}

/* The text with a piece in the place of what stands from begin to end. */
static char *replaced(const char *text, size_t begin, size_t end, const char *piece)
{
  size_t size = strlen(text) + strlen(piece) + 1;
  char *made = malloc(size);
  snprintf(made, size, "%.*s%s%s", (int)begin, text, piece, text + end);
  return made;
}

static char *applied(const char *text, json_t *change)
{
  json_t *range = json_object_get(change, "range");
  return replaced(text, offset_of(text, json_object_get(range, "start")), offset_of(text, json_object_get(range, "end")),
                  json_string_value(json_object_get(change, "newText")));
}

/* ---- times ---- */

static int by_size(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double limit_ms(void)
{
  const char *text = getenv("LSP_LIMIT_MS");
  return text ? atof(text) : 50;
}

/* A line of the table; the best of the rounds. */
static double tell(const char *what, double *ms)
{
  qsort(ms, ROUNDS, sizeof *ms, by_size);
  printf("| %-44s | %6.2f | %6.2f | %6.2f |\n", what, ms[0], ms[ROUNDS / 2], ms[ROUNDS - 1]);
  return ms[0];
}

static bool time_edit(client *c, const char *what, const char *text)
{
  double ms[ROUNDS];
  for (int i = 0; i < ROUNDS; i++)
    json_decref(edit(c, text, false, &ms[i]));
  return tell(what, ms) <= limit_ms();
}

/* The answer of the last round. */
static json_t *time_request(client *c, const char *what, const char *method, json_t *params)
{
  double ms[ROUNDS];
  json_t *answer = NULL;
  for (int i = 0; i < ROUNDS; i++) {
    json_decref(answer);
    answer = ask(c, method, json_incref(params), &ms[i]);
  }
  json_decref(params);
  tell(what, ms);
  return answer;
}

/* ---- the session ---- */

static json_t *about(void)
{
  return json_pack("{s:{s:s}}", "textDocument", "uri", uri);
}

/* A place in the line that holds the words, so far behind their beginning. */
static json_t *place_of(const char *text, const char *words, int behind)
{
  const char *at = strstr(text, words), *line = at;
  int number = 0;
  if (!at)
    give_up(words);
  while (line > text && line[-1] != '\n')
    line--;
  for (const char *p = text; p < line; p++)
    number += *p == '\n';
  return json_pack("{s:i, s:i}", "line", number, "character", (int)(at - line) + behind);
}

static json_t *at_place(const char *text, const char *words, int behind)
{
  json_t *params = about();
  json_object_set_new(params, "position", place_of(text, words, behind));
  return params;
}

static void want(bool is_true, const char *what)
{
  if (!is_true)
    give_up(what);
}

/* Takes one broadcast_dimensions away, reads what is wrong with it, and applies what the server offers: the text is the old one. */
static bool break_and_fix(client *c, const char *text)
{
  static const char gone[] = ", broadcast_dimensions={1}";
  const char *middle = strstr(text + strlen(text) / 2, gone);
  want(middle != NULL, "no broadcast in the module");
  char *broken = replaced(text, (size_t)(middle - text), (size_t)(middle - text) + strlen(gone), "");
  bool is_fast = time_edit(c, "an edit that breaks an instruction", broken);
  double ms;
  json_t *list = edit(c, broken, false, &ms), *first = json_array_get(list, 0);
  want(json_array_size(list) == 1, "one diagnostic was wanted");
  want(!strcmp(json_string_value(json_object_get(first, "code")), "binary-rank"), "another rule than binary-rank");
  json_t *params = about();
  json_object_set(params, "range", json_object_get(first, "range"));
  json_t *actions = time_request(c, "the quick fix of its diagnostic", "textDocument/codeAction", params);
  json_t *changes = json_object_get(json_object_get(json_object_get(json_array_get(actions, 0), "edit"), "changes"), uri);
  want(json_array_size(changes) == 1, "no fix");
  char *fixed = applied(broken, json_array_get(changes, 0));
  want(!strcmp(fixed, text), "the fix gives another text");
  json_decref(actions);
  json_decref(list);
  list = edit(c, fixed, false, &ms);
  want(json_array_size(list) == 0, "a diagnostic is left");
  json_decref(list);
  free(fixed);
  free(broken);
  return is_fast;
}

/* A letter in the middle of a name, as one types. */
static bool type_a_letter(client *c, const char *text)
{
  const char *middle = strchr(text + strlen(text) / 2, '(');
  char *typed = replaced(text, (size_t)(middle - text), (size_t)(middle - text), "x");
  bool is_fast = time_edit(c, "an edit that misspells an opcode", typed);
  free(typed);
  return is_fast;
}

static void questions(client *c, const char *text)
{
  json_t *hover = time_request(c, "hover over an opcode", "textDocument/hover", at_place(text, " add(product.500", 2));
  want(strstr(json_string_value(json_object_get(json_object_get(hover, "contents"), "value")), "**add**") != NULL, "hover");
  json_decref(hover);
  json_t *definition = time_request(c, "definition of an operand", "textDocument/definition", at_place(text, "(product.500", 2));
  want(json_is_object(definition), "definition");
  json_decref(definition);
  json_t *params = at_place(text, "  bias = ", 3);
  json_t *uses = time_request(c, "uses of a value", "textDocument/references", params);
  want(json_array_size(uses) == INSTRUCTIONS / 3, "uses");
  json_decref(uses);
  params = at_place(text, "  bias = ", 3);
  json_object_set_new(params, "newName", json_string("shift"));
  json_t *rename = time_request(c, "rename of a value used 1,000 times", "textDocument/rename", params);
  want(json_array_size(json_object_get(json_object_get(rename, "changes"), uri)) == INSTRUCTIONS / 3 + 1, "rename");
  json_decref(rename);
  json_t *symbols = time_request(c, "outline", "textDocument/documentSymbol", about());
  want(json_array_size(json_object_get(json_array_get(symbols, 0), "children")) == INSTRUCTIONS / 3 * 3 + 2, "symbols");
  json_decref(symbols);
  json_t *names = time_request(c, "completion of names", "textDocument/completion", at_place(text, "(product.500", 1));
  want(json_array_size(names) > INSTRUCTIONS / 3, "completion");
  json_decref(names);
  json_t *edits = time_request(c, "formatting", "textDocument/formatting", about());
  char *formatted = applied(text, json_array_get(edits, 0));
  want(!strcmp(formatted, text), "formatting changes a canonical text");
  free(formatted);
  json_decref(edits);
}

static int end(client *c)
{
  int status = 0;
  double ms;
  char *save = text_of(json_pack("{s:s, s:o}", "method", "textDocument/didSave", "params", about()));
  send_text(c, save);
  free(save);
  json_decref(ask(c, "shutdown", json_null(), &ms));
  send_text(c, "{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}");
  fclose(c->to);
  fclose(c->from);
  waitpid(c->server, &status, 0);
  return status;
}

int main(int argc, char **argv)
{
  if (argc < 2)
    give_up("usage: lsp_client HLO_LITE [MODULE]");
  char *text = argc > 2 ? read_file(argv[2]) : make_module();
  client c = start(argv[1]);
  printf("| ms, %d rounds                                | least  | median | most   |\n", ROUNDS);
  printf("| -------------------------------------------- | ------ | ------ | ------ |\n");
  double ms;
  json_decref(ask(&c, "initialize", json_pack("{s:{}}", "capabilities"), &ms));
  json_t *list = edit(&c, text, true, &ms);
  want(json_array_size(list) == 0, "the module has faults");
  json_decref(list);
  bool is_fast = time_edit(&c, "an edit of a text without faults", text);
  is_fast = type_a_letter(&c, text) && is_fast;
  if (argc == 2) {
    is_fast = break_and_fix(&c, text) && is_fast;
    questions(&c, text);
  } else {
    json_decref(edit(&c, text, false, &ms));
    json_decref(time_request(&c, "outline", "textDocument/documentSymbol", about()));
  }
  int status = end(&c);
  free(text);
  if (!is_fast)
    give_up("an edit was late");
  return status != 0;
}
