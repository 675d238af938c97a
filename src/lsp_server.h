/* lsp_server - what the files of the language server share. */
#ifndef HL_LSP_SERVER_H
#define HL_LSP_SERVER_H

#include "lsp.h"
#include "lsp_document.h"

#include <jansson.h>

struct hl_lsp {
  hl_lsp_send *send;
  void *user;
  hl_document *documents;
  hl_guard guard;
  bool is_utf8, is_ready, has_shut_down, has_ended;
  const char *written; /* the result as JSON text, of an answer that gave NULL; of the document */
  const char *refusal; /* why the request that is answered cannot be */
};

/* The document of a request, NULL when it is not open. */
hl_document *hl_lsp_document(hl_lsp *server, const json_t *params);

/* Each takes the parameters of a request and gives its result; NULL stands for null. */
json_t *hl_lsp_hover(hl_lsp *server, json_t *params);
json_t *hl_lsp_definition(hl_lsp *server, json_t *params);
json_t *hl_lsp_references(hl_lsp *server, json_t *params);
json_t *hl_lsp_rename(hl_lsp *server, json_t *params);
json_t *hl_lsp_symbols(hl_lsp *server, json_t *params);
json_t *hl_lsp_formatting(hl_lsp *server, json_t *params);
json_t *hl_lsp_completion(hl_lsp *server, json_t *params);
json_t *hl_lsp_code_actions(hl_lsp *server, json_t *params);

json_t *hl_lsp_range(const hl_lsp *server, const hl_document *document, hl_range range);
json_t *hl_lsp_diagnostic(const hl_lsp *server, const hl_document *document,
                          const hl_diagnostic *diagnostic);

#endif
