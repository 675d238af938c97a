/* cnn.c - a network trained with JAX and flax (train_cnn.py), asked from C: no Python, no runtime, 20 KB of object.
 *
 *   hlo-lite compile cnn.hlo      writes cnn.o and cnn.h
 *   cc cnn.c cnn.o -o cnn
 *   ./cnn                         the pictures with what the network sees in them, beside what JAX said
 *   ./cnn 1000                    the time of a prediction, over so many
 */
#include "cnn.h"
#include "cnn_images.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PICTURES = 8, SIZE = 16, KINDS = 4 };

static const char *const kinds[KINDS] = {"disk", "square", "cross", "stripes"};

static float images[PICTURES][SIZE * SIZE];
static int32_t kind[PICTURES];
static float probability[PICTURES][KINDS];
static _Alignas(64) unsigned char workspace[CNN_WORKSPACE_BYTES + 1];

static void predict(void)
{
  cnn_args args = {.image = &images[0][0]};
  cnn_results results = {.result0 = kind, .result1 = &probability[0][0]};
  if (cnn(&args, &results, workspace) != 0)
    exit(1);
}

/* Two rows of pixels a line of text. */
static void draw(const float *image)
{
  for (int y = 0; y < SIZE; y += 2) {
    for (int x = 0; x < SIZE; x++) {
      float v = (image[y * SIZE + x] + image[(y + 1) * SIZE + x]) / 2;
      putchar(v < 0.25f ? ' ' : v < 0.6f ? '-' : '#');
    }
    putchar('\n');
  }
}

static float difference(void)
{
  float largest = 0;
  for (int i = 0; i < PICTURES * KINDS; i++) {
    float d = probability[i / KINDS][i % KINDS] - jax[i / KINDS][i % KINDS];
    d = d < 0 ? -d : d;
    largest = d > largest ? d : largest;
  }
  return largest;
}

static void measure(int rounds)
{
  clock_t start = clock();
  for (int i = 0; i < rounds; i++)
    predict();
  printf("%.1f us for %d pictures\n", 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC / rounds, PICTURES);
}

int main(int argc, char **argv)
{
  for (int i = 0; i < PICTURES * SIZE * SIZE; i++)
    images[i / (SIZE * SIZE)][i % (SIZE * SIZE)] = (float)pixels[i / (SIZE * SIZE)][i % (SIZE * SIZE)] / 32;
  predict();
  if (argc > 1) {
    measure(atoi(argv[1]));
    return 0;
  }
  for (int i = 0; i < PICTURES; i++) {
    draw(images[i]);
    printf("%s, %.0f %%\n", kinds[kind[i]], 100 * (double)probability[i][kind[i]]);
  }
  printf("%s\n", difference() < 1e-5f ? "as JAX said" : "not what JAX said");
  return 0;
}
