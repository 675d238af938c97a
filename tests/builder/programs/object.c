/* An object file and its header, as `hlo-lite compile` writes them, from a module that was never text; the C compiler links them.
 */
#include "program.h"

static const char caller[] = "#include <stdio.h>\n#include \"scale.h\"\nint main(void)\n{\n"
                             "  const float x[3] = {1, 2, 3}, factor = 10;\n  float y[3];\n"
                             "  scale_args args = {.x = x, .factor = &factor};\n  scale_results results = {.result0 = y};\n"
                             "  if (scale(&args, &results, NULL) != 0)\n    return 1;\n"
                             "  printf(\"%g %g %g\\n\", (double)y[0], (double)y[1], (double)y[2]);\n  return 0;\n}\n";

static void write_file(const char *path, const void *bytes, size_t size)
{
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0)
    exit(3);
}

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "scale");
  hlo_value *x = hlo_parameter(b, "x", "f32", 1, S(3)), *factor = hlo_parameter(b, "factor", "f32", 0, NULL);
  hlo_module *module = hlo_build(b, hlo_multiply(x, factor));
  hlo_object object;
  if (hlo_compile_object(context, module, "scale", NULL, &object) != 0) {
    fputs(hlo_messages(context), stderr);
    return 1;
  }
  write_file("scale.o", object.bytes, object.size);
  write_file("scale.h", object.header, strlen(object.header));
  write_file("caller.c", caller, strlen(caller));
  hlo_module_free(module);
  hlo_builder_free(b);
  hlo_context_free(context);
  return system("${CC:-cc} caller.c scale.o -o caller && ./caller") != 0;
}

/* prints
10 20 30
*/
