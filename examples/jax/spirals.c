/* spirals.c - a perceptron trained with JAX and flax (train_mlp.py), asked from C: once with its weights as arguments, read from
 * spirals.npz, and once with the weights that were compiled in.
 *
 *   hlo-lite compile spirals.hlo
 *   hlo-lite compile spirals_embedded.hlo
 *   cc spirals.c spirals.o spirals_embedded.o -o spirals
 *   ./spirals                     the map of the classes, and whether the predictions are JAX's
 *   ./spirals 1000                the time of a prediction, over so many
 */
#include "spirals.h"
#include "spirals_embedded.h"
#include "spirals_points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POINTS = WIDTH * HEIGHT, WEIGHTS = 6, ROOM = 1 << 14 };

static float points[POINTS][2], given[POINTS][CLASSES], embedded[POINTS][CLASSES];
static _Alignas(64) unsigned char workspace[SPIRALS_WORKSPACE_BYTES + SPIRALS_EMBEDDED_WORKSPACE_BYTES + 64];

/* ---- weights from a file of np.savez ---- */

static unsigned little(const unsigned char *bytes, int count)
{
  unsigned value = 0;
  for (int i = count - 1; i >= 0; i--)
    value = value << 8 | bytes[i];
  return value;
}

/* The floats of a member that np.savez stored without compression, copied; NULL: there is none. */
static const float *member(const unsigned char *zip, size_t size, const char *name)
{
  size_t length = strlen(name);
  for (size_t at = 0; at + 30 < size && !memcmp(zip + at, "PK\3\4", 4);) {
    unsigned name_length = little(zip + at + 26, 2), extra = little(zip + at + 28, 2), bytes = little(zip + at + 18, 4);
    const unsigned char *file = zip + at + 30, *array = file + name_length + extra;
    if (bytes == 0xffffffff) /* NumPy writes the 64-bit sizes behind the name */
      bytes = little(file + name_length + 12, 4);
    if (name_length == length + 4 && !memcmp(file, name, length)) {
      unsigned head = 10 + little(array + 8, 2);
      float *copy = malloc(bytes - head);
      return copy ? memcpy(copy, array + head, bytes - head) : NULL;
    }
    at = (size_t)(array - zip) + bytes;
  }
  return NULL;
}

/* The members of spirals_args before the points, in their order. */
static const float *weights[WEIGHTS];

static int read_weights(const char *path)
{
  static const char *const names[WEIGHTS] = {"weights_Dense_0_bias",   "weights_Dense_0_kernel", "weights_Dense_1_bias",
                                             "weights_Dense_1_kernel", "weights_Dense_2_bias",   "weights_Dense_2_kernel"};
  static unsigned char zip[ROOM];
  FILE *file = fopen(path, "rb");
  size_t size = file ? fread(zip, 1, sizeof zip, file) : 0;
  if (file)
    fclose(file);
  for (int i = 0; i < WEIGHTS; i++)
    if (!(weights[i] = member(zip, size, names[i])))
      return 0;
  return 1;
}

/* ---- predictions ---- */

static void predict(void)
{
  spirals_args args = {weights[0], weights[1], weights[2], weights[3], weights[4], weights[5], &points[0][0]};
  spirals_results results = {.result0 = &given[0][0]};
  if (spirals(&args, &results, workspace) != 0)
    exit(1);
}

static void predict_embedded(void)
{
  spirals_embedded_args args = {.points = &points[0][0]};
  spirals_embedded_results results = {.result0 = &embedded[0][0]};
  if (spirals_embedded(&args, &results, workspace) != 0)
    exit(1);
}

static float difference(void)
{
  float largest = 0;
  for (int i = 0; i < POINTS * CLASSES; i++) {
    float d = given[i / CLASSES][i % CLASSES] - jax[i / CLASSES][i % CLASSES];
    d = d < 0 ? -d : d;
    largest = d > largest ? d : largest;
  }
  return largest;
}

static void draw(void)
{
  for (int i = 0; i < POINTS; i++) {
    const float *p = given[i];
    putchar(p[0] > p[1] && p[0] > p[2] ? '.' : p[1] > p[2] ? 'o' : '#');
    if (i % WIDTH == WIDTH - 1)
      putchar('\n');
  }
}

static void measure(int rounds)
{
  clock_t start = clock();
  for (int i = 0; i < rounds; i++)
    predict();
  printf("%.1f us for %d points\n", 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC / rounds, POINTS);
}

int main(int argc, char **argv)
{
  for (int i = 0; i < POINTS; i++) {
    points[i][0] = (float)(i % WIDTH - WIDTH / 2) / (WIDTH / 2);
    points[i][1] = (float)(HEIGHT / 2 - i / WIDTH) / (HEIGHT / 2);
  }
  if (!read_weights("spirals.npz")) {
    fputs("spirals.npz has not all weights\n", stderr);
    return 1;
  }
  predict();
  if (argc > 1) {
    measure(atoi(argv[1]));
    return 0;
  }
  predict_embedded();
  draw();
  printf("%s\n", difference() < 2e-6f ? "as JAX said" : "not what JAX said");
  printf("compiled in: %s\n", memcmp(given, embedded, sizeof given) == 0 ? "the same bits" : "other bits");
  for (int i = 0; i < WEIGHTS; i++)
    free((void *)weights[i]);
  return 0;
}
