/* One executable, four threads that call it at once, each with its own results. */
#include "program.h"

#include <pthread.h>

enum { N = 1000 };
static hlo_executable *e;

static void *work(void *arg)
{
  static const float scale = 2;
  float *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
  long wrong = 0, id = *(int *)arg;
  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < N; i++)
      x[i] = (float)(i + id + round);
    call(e, (const void *[]){x, &scale}, (void *[]){y});
    for (int i = 0; i < N; i++)
      wrong += y[i] != 2 * x[i];
  }
  free(x);
  free(y);
  return (void *)wrong;
}

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "threads");
  hlo_value *x = hlo_parameter(b, "x", "f32", 1, S(N)), *scale = hlo_parameter(b, "scale", "f32", 0, NULL);
  e = compile(context, b, hlo_multiply(x, scale));
  hlo_context_free(context);
  pthread_t threads[4];
  int ids[4] = {0, 1, 2, 3};
  long wrong = 0;
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, &ids[i]);
  for (int i = 0; i < 4; i++) {
    void *said;
    pthread_join(threads[i], &said);
    wrong += (long)said;
  }
  printf("%ld wrong\n", wrong);
  hlo_executable_free(e);
}

/* prints
0 wrong
*/
