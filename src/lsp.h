/* lsp - a language server for HLO text: messages of the Language Server Protocol 3.17 in, replies
 * out. How they travel is the caller's business (cmd_lsp.c). One thread. */
#ifndef HL_LSP_H
#define HL_LSP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct hl_lsp hl_lsp;

/* Takes one message of the server to its client, JSON without its header. */
typedef void hl_lsp_send(void *user, const char *json, size_t size);

/* NULL: out of memory. */
hl_lsp *hl_lsp_new(hl_lsp_send *send, void *user);
void hl_lsp_free(hl_lsp *server);

/* Handles one message of the client; what is to be said goes to `send` before it returns. */
void hl_lsp_receive(hl_lsp *server, const char *json, size_t size);

/* Whether the client said `exit`; *status is then 0 if it said `shutdown` before, else 1. */
bool hl_lsp_has_ended(const hl_lsp *server, int *status);

#endif
