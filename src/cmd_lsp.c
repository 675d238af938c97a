/* cmd_lsp - `hlo-lite lsp`: the language server on standard input and output, each message behind a
 * Content-Length header. */
#include "command.h"
#include "lsp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HEADER = 1024, MAX_MESSAGE = 256 << 20 };

static void send(void *user, const char *json, size_t size)
{
  FILE *out = user;
  fprintf(out, "Content-Length: %zu\r\n\r\n", size);
  fwrite(json, 1, size, out);
  fflush(out);
}

/* The bytes of the next message, -1 at the end of input or when there is no such header. */
static long read_header(void)
{
  static const char name[] = "Content-Length:";
  char line[MAX_HEADER];
  long size = -1;
  while (fgets(line, sizeof line, stdin)) {
    if (!strcmp(line, "\r\n") || !strcmp(line, "\n"))
      return size;
    if (!strncmp(line, name, sizeof name - 1))
      size = strtol(line + sizeof name - 1, NULL, 10);
  }
  return -1;
}

int hl_command_lsp(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  (void)options;
  (void)arena;
  hl_lsp *server = hl_lsp_new(send, stdout);
  int status = HL_EXIT_INPUT;
  if (!server)
    longjmp(guard->env, 1);
  for (long size; !hl_lsp_has_ended(server, &status) && (size = read_header()) >= 0;) {
    char *message = size <= MAX_MESSAGE ? malloc((size_t)size + 1) : NULL;
    if (!message || fread(message, 1, (size_t)size, stdin) != (size_t)size) {
      free(message);
      break;
    }
    hl_lsp_receive(server, message, (size_t)size);
    free(message);
  }
  hl_lsp_free(server);
  return status;
}
