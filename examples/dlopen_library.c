/* dlopen_library.c - a model compiled to a shared library and opened at run time.
 *
 *   hlo-lite compile weighted_loss.hlo --emit=shared -o weighted_loss.so
 *   cc dlopen_library.c -o dlopen_library
 *   ./dlopen_library ./weighted_loss.so
 *
 * Nothing of the model is known here when this is compiled, not even its header. That is how other languages call it, too: the function
 * takes an array of pointers to arguments, one of pointers to results, and the workspace.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int model_function(void *const *args, void *const *results, void *workspace);

static void *find(void *library, const char *name)
{
  void *symbol = dlsym(library, name);
  if (!symbol) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return symbol;
}

/* A workspace is aligned to 64 bytes, and aligned_alloc wants a multiple of that. */
static void *new_workspace(uint64_t bytes)
{
  return aligned_alloc(64, ((size_t)bytes / 64 + 1) * 64);
}

int main(int argc, char **argv)
{
  const char *path = argc > 1 ? argv[1] : "./weighted_loss.so";
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  model_function *weighted_loss;
  *(void **)&weighted_loss = find(library, "weighted_loss"); /* as POSIX has it: C knows no such cast */
  const char *signature = find(library, "weighted_loss_signature");
  const uint64_t *workspace_bytes = find(library, "weighted_loss_workspace_bytes");

  float prediction[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
  float target[4][3] = {{1, 2, 2}, {4, 3, 6}, {7, 8, 9}, {14, 11, 12}};
  float weight[4] = {1, 0.5f, 2, 0.5f};
  float loss;
  void *args[] = {prediction, target, weight}, *results[] = {&loss};
  void *workspace = new_workspace(*workspace_bytes);
  if (!workspace || weighted_loss(args, results, workspace) != 0) {
    fputs("weighted_loss failed\n", stderr);
    return 1;
  }
  printf("weighted_loss%s\n", signature);
  printf("loss: %g\n", loss); /* (1·1 + 0.5·4 + 2·0 + 0.5·16) / (3 · 4) */
  free(workspace);
  dlclose(library);
  return 0;
}
