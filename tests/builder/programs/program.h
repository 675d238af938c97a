/* program.h - what the small programs share. Each is written from hlo_lite.h alone, as a new user writes; what it prints stands at
 * its end. */
#include <hlo_lite.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
#define S(...) ((const int64_t[]){__VA_ARGS__})

/* Ends the module with that root and compiles it; frees the builder. */
static inline hlo_executable *compile(hlo_context *context, hlo_builder *b, hlo_value *root)
{
  hlo_module *module = hlo_build(b, root);
  hlo_executable *e = module ? hlo_compile(context, module, NULL) : NULL;
  if (!e) {
    fputs(hlo_messages(context), stderr);
    exit(1);
  }
  hlo_module_free(module);
  hlo_builder_free(b);
  return e;
}

static inline void call(const hlo_executable *e, const void *const *arguments, void *const *results)
{
  if (hlo_call(e, arguments, results) != 0)
    exit(2);
}

static inline void show(const char *name, const float *v, int n)
{
  printf("%s", name);
  for (int i = 0; i < n; i++)
    printf(" %.4f", (double)v[i]);
  puts("");
}
