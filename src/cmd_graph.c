/* cmd_graph - `hlo-lite graph`: a module as a drawing, optimised and with its kernels as boxes where
 * it can be compiled, else as it stands. */
#include "command.h"

#include "graph.h"

#include <string.h>

static bool ends_with(const char *text, const char *end)
{
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && !strcmp(text + length - tail, end);
}

static hl_format format_of(const hl_options *options)
{
  if (options->format != HL_FORMAT_BY_NAME)
    return options->format;
  if (options->output && ends_with(options->output, ".html"))
    return HL_FORMAT_HTML;
  return options->output && ends_with(options->output, ".svg") ? HL_FORMAT_SVG : HL_FORMAT_DOT;
}

/* A module that cannot be compiled has no kernels, but a drawing all the same. */
static bool find_kernels(hl_session *s, hl_explanation *e)
{
  hl_diag diag = {.arena = s->arena, .source = s->diag.source};
  if (!hl_check_compilable(s->module, &diag))
    return true;
  if (!hl_session_build(s))
    return false;
  hl_explain_steps(e);
  return true;
}

static void print(const hl_graph *graph, hl_format format, hl_str *out)
{
  if (format == HL_FORMAT_HTML)
    hl_graph_html(graph, out);
  else if (format == HL_FORMAT_SVG)
    hl_graph_svg(graph, out);
  else
    hl_graph_dot(graph, out);
}

int hl_command_graph(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  (void)arena;
  hl_session s;
  bool is_written = true;
  hl_command_open(&s, options, guard);
  hl_explanation e = {.session = &s, .arena = s.arena};
  hl_str text = {.arena = s.arena};
  if (hl_command_load(&s, options, options->inputs[0]) && find_kernels(&s, &e)) {
    hl_graph graph;
    hl_graph_make(&graph, &e);
    print(&graph, format_of(options), &text);
    is_written = hl_command_write(options->output, hl_str_text(&text), text.length);
  }
  int status = hl_command_close(&s, options);
  return is_written ? status : HL_EXIT_INPUT;
}
