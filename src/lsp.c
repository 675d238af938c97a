/* lsp - the server: which message is which, the documents that are open, and what is said
 * unasked. What is asked about a place in a text is answered in lsp_answers.c. */
#include "lsp_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Error codes of JSON-RPC and of the protocol. */
enum { PARSE_ERROR = -32700, INVALID_REQUEST = -32600, UNKNOWN_METHOD = -32601, INTERNAL_ERROR = -32603, NOT_READY = -32002 };

hl_lsp *hl_lsp_new(hl_lsp_send *send, void *user)
{
  hl_lsp *server = calloc(1, sizeof *server);
  if (!server)
    return NULL;
  server->send = send;
  server->user = user;
  return server;
}

static void free_document(hl_document *d)
{
  hl_arena_free(d->arena);
  free(d->uri);
  free(d);
}

void hl_lsp_free(hl_lsp *server)
{
  if (!server)
    return;
  while (server->documents) {
    hl_document *next = server->documents->next;
    free_document(server->documents);
    server->documents = next;
  }
  free(server);
}

bool hl_lsp_has_ended(const hl_lsp *server, int *status)
{
  *status = server->has_shut_down ? 0 : 1;
  return server->has_ended;
}

/* ---- saying something ---- */

/* Takes the message over. */
static void say(hl_lsp *server, json_t *message)
{
  json_object_set_new(message, "jsonrpc", json_string("2.0"));
  char *text = json_dumps(message, JSON_COMPACT);
  if (text)
    server->send(server->user, text, strlen(text));
  free(text);
  json_decref(message);
}

static void reply(hl_lsp *server, json_t *id, json_t *result)
{
  say(server, json_pack("{s:O, s:o}", "id", id, "result", result ? result : json_null()));
}

/* The same with a result that is text already. */
static void reply_text(hl_lsp *server, json_t *id, const char *result)
{
  static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":";
  char *number = json_dumps(id, JSON_COMPACT | JSON_ENCODE_ANY);
  size_t size = sizeof head + (number ? strlen(number) : 0) + strlen(result) + sizeof ",\"result\":}";
  char *text = number ? malloc(size) : NULL;
  if (text) {
    int length = snprintf(text, size, "%s%s,\"result\":%s}", head, number, result);
    server->send(server->user, text, (size_t)length);
  }
  free(text);
  free(number);
}

static void reply_error(hl_lsp *server, json_t *id, int code, const char *text)
{
  json_t *error = json_pack("{s:i, s:s}", "code", code, "message", text);
  say(server, json_pack("{s:O, s:o}", "id", id ? id : json_null(), "error", error));
}

static void publish(hl_lsp *server, const hl_document *d)
{
  json_t *list = json_array();
  for (const hl_diagnostic *g = d->source ? d->diag.first : NULL; g; g = g->next)
    json_array_append_new(list, hl_lsp_diagnostic(server, d, g));
  json_t *params = json_pack("{s:s, s:o}", "uri", d->uri, "diagnostics", list);
  say(server, json_pack("{s:s, s:o}", "method", "textDocument/publishDiagnostics", "params", params));
}

/* ---- documents ---- */

static hl_document **find_document(hl_lsp *server, const char *uri)
{
  hl_document **at = &server->documents;
  while (*at && strcmp((*at)->uri, uri) != 0)
    at = &(*at)->next;
  return at;
}

static void set_text(hl_lsp *server, const char *uri, const json_t *text)
{
  hl_document **at = find_document(server, uri);
  if (!json_is_string(text))
    return;
  if (!*at) {
    hl_document *made = calloc(1, sizeof *made);
    char *copy = strdup(uri);
    if (!made || !copy) {
      free(made);
      free(copy);
      longjmp(server->guard.env, 1);
    }
    made->uri = copy;
    *at = made;
  }
  hl_document_set(*at, &server->guard, json_string_value(text), json_string_length(text));
  publish(server, *at);
}

static const char *uri_of(const json_t *params)
{
  const char *uri = json_string_value(json_object_get(json_object_get(params, "textDocument"), "uri"));
  return uri ? uri : "";
}

static void did_open(hl_lsp *server, json_t *params)
{
  set_text(server, uri_of(params), json_object_get(json_object_get(params, "textDocument"), "text"));
}

/* The whole text each time: the last change is what counts. */
static void did_change(hl_lsp *server, json_t *params)
{
  const json_t *changes = json_object_get(params, "contentChanges");
  const json_t *last = json_array_get(changes, json_array_size(changes) - 1);
  set_text(server, uri_of(params), json_object_get(last, "text"));
}

static void did_close(hl_lsp *server, json_t *params)
{
  hl_document **at = find_document(server, uri_of(params)), *d = *at;
  if (!d)
    return;
  *at = d->next;
  d->diag.first = NULL;
  publish(server, d);
  free_document(d);
}

/* ---- the life of the server ---- */

static void choose_encoding(hl_lsp *server, const json_t *params)
{
  const json_t *general = json_object_get(json_object_get(params, "capabilities"), "general");
  const json_t *encodings = json_object_get(general, "positionEncodings"), *one;
  size_t i;
  json_array_foreach((json_t *)encodings, i, one)
    if (json_is_string(one) && !strcmp(json_string_value(one), "utf-8"))
      server->is_utf8 = true;
}

static json_t *initialize(hl_lsp *server, json_t *params)
{
  choose_encoding(server, params);
  server->is_ready = true;
  json_t *able = json_pack(
      "{s:s, s:i, s:b, s:b, s:b, s:b, s:b, s:b, s:{s:[s,s,s]}, s:{s:[s]}}", "positionEncoding",
      server->is_utf8 ? "utf-8" : "utf-16", "textDocumentSync", 1, "hoverProvider", 1,
      "definitionProvider", 1, "referencesProvider", 1, "renameProvider", 1, "documentSymbolProvider", 1,
      "documentFormattingProvider", 1, "completionProvider", "triggerCharacters", " ", "(", ",",
      "codeActionProvider", "codeActionKinds", "quickfix");
  json_t *info = json_pack("{s:s, s:s}", "name", "hlo-lite", "version", HL_VERSION);
  return json_pack("{s:o, s:o}", "capabilities", able, "serverInfo", info);
}

static json_t *shut_down(hl_lsp *server, json_t *params)
{
  (void)params;
  server->has_shut_down = true;
  return json_null();
}

static void leave(hl_lsp *server, json_t *params)
{
  (void)params;
  server->has_ended = true;
}

/* ---- messages ---- */

typedef json_t *answer_fn(hl_lsp *server, json_t *params);
typedef struct request {
  const char *method;
  answer_fn *answer;
} request;

typedef void notice_fn(hl_lsp *server, json_t *params);
typedef struct notice {
  const char *method;
  notice_fn *take;
} notice;

static const request requests[] = {
    {"initialize", initialize},
    {"shutdown", shut_down},
    {"textDocument/hover", hl_lsp_hover},
    {"textDocument/definition", hl_lsp_definition},
    {"textDocument/references", hl_lsp_references},
    {"textDocument/rename", hl_lsp_rename},
    {"textDocument/documentSymbol", hl_lsp_symbols},
    {"textDocument/formatting", hl_lsp_formatting},
    {"textDocument/completion", hl_lsp_completion},
    {"textDocument/codeAction", hl_lsp_code_actions},
};

static const notice notices[] = {
    {"textDocument/didOpen", did_open},
    {"textDocument/didChange", did_change},
    {"textDocument/didClose", did_close},
    {"exit", leave},
};

static void take_request(hl_lsp *server, json_t *id, const char *method, json_t *params)
{
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
    if (strcmp(requests[i].method, method) != 0)
      continue;
    if (i > 0 && !server->is_ready) {
      reply_error(server, id, NOT_READY, "initialize comes first");
      return;
    }
    server->refusal = server->written = NULL;
    json_t *result = requests[i].answer(server, params);
    if (server->refusal)
      reply_error(server, id, INVALID_REQUEST, server->refusal);
    else if (server->written)
      reply_text(server, id, server->written);
    else
      reply(server, id, result);
    return;
  }
  reply_error(server, id, UNKNOWN_METHOD, method);
}

static void take_notice(hl_lsp *server, const char *method, json_t *params)
{
  for (size_t i = 0; i < sizeof notices / sizeof *notices; i++)
    if (!strcmp(notices[i].method, method))
      notices[i].take(server, params);
}

static void take_message(hl_lsp *server, json_t *message)
{
  const char *method = json_string_value(json_object_get(message, "method"));
  json_t *id = json_object_get(message, "id"), *params = json_object_get(message, "params");
  if (!method && id)
    return; /* an answer to us, who ask nothing */
  if (!method)
    reply_error(server, NULL, INVALID_REQUEST, "no method");
  else if (setjmp(server->guard.env))
    reply_error(server, id, INTERNAL_ERROR, "out of memory");
  else if (id)
    take_request(server, id, method, params);
  else
    take_notice(server, method, params);
}

void hl_lsp_receive(hl_lsp *server, const char *json, size_t size)
{
  json_error_t error;
  json_t *message = json_loadb(json, size, JSON_REJECT_DUPLICATES, &error);
  if (message)
    take_message(server, message);
  else
    reply_error(server, NULL, PARSE_ERROR, error.text);
  json_decref(message);
}
