/* jit.c - a program that reads HLO text, compiles it in memory and calls it.
 *
 *   cc jit.c $(pkg-config --cflags --libs hlo_lite) -o jit
 *   ./jit
 *
 * The first text has a fault, to show that an error is a value: where it is, what it is, and what to write instead.
 */
#include <hlo_lite.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char faulty[] = "HloModule bias_add\n"
                             "\n"
                             "ENTRY main {\n"
                             "  x = f32[2,3] parameter(0)\n"
                             "  bias = f32[3] parameter(1)\n"
                             "  ROOT y = f32[2,3] add(x, bias)\n"
                             "}\n";

static const char right[] = "HloModule bias_add\n"
                            "\n"
                            "ENTRY main {\n"
                            "  x = f32[2,3] parameter(0)\n"
                            "  bias = f32[3] parameter(1)\n"
                            "  ROOT y = f32[2,3] add(x, bias), broadcast_dimensions={1}\n"
                            "}\n";

/* The module as machine code in memory; NULL: the context's messages say why not. */
static hlo_executable *compile(hlo_context *context, const char *text)
{
  hlo_module *module = hlo_parse(context, "bias_add.hlo", text, strlen(text));
  if (!module)
    return NULL;
  hlo_executable *executable = hlo_compile(context, module, NULL);
  hlo_module_free(module);
  return executable;
}

static void show_messages(const hlo_context *context)
{
  for (size_t i = 0; i < hlo_message_count(context); i++) {
    hlo_message m = hlo_message_at(context, i);
    printf("line %u, column %u: %s [%s]\n", m.line, m.column, m.text, m.rule);
    if (m.help)
      printf("help: %s\n", m.help);
  }
}

static int call(const hlo_executable *bias_add)
{
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, bias[3] = {10, 20, 30}, y[2][3];
  const void *arguments[] = {x, bias};
  void *results[] = {y};
  void *workspace = aligned_alloc(64, (hlo_workspace_bytes(bias_add) / 64 + 1) * 64);
  int status = workspace ? hlo_execute(bias_add, arguments, results, workspace) : 1;
  for (int i = 0; status == 0 && i < 2; i++)
    printf("%g %g %g\n", y[i][0], y[i][1], y[i][2]);
  free(workspace);
  return status;
}

int main(void)
{
  hlo_context *context = hlo_context_new();
  if (!context)
    return 1;
  if (!compile(context, faulty))
    show_messages(context);

  hlo_executable *bias_add = compile(context, right);
  if (!bias_add)
    show_messages(context);
  hlo_context_free(context); /* executables outlive their context */
  if (!bias_add)
    return 1;
  printf("bias_add%s\n", hlo_signature(bias_add));
  int status = call(bias_add);
  hlo_executable_free(bias_add);
  return status;
}
