/* link_object.c - a model compiled to an object file and linked like any other.
 *
 *   hlo-lite compile mlp.hlo                 writes mlp.o and mlp.h
 *   cc link_object.c mlp.o -o link_object    no library is needed
 *   ./link_object
 *
 * mlp.hlo is a classifier of points in the plane, trained and printed by JAX (export_mlp.py). The program asks it about a grid
 * of points and draws which of the three classes each belongs to.
 */
#include "mlp.h"

#include <stdio.h>

enum { COLUMNS = 40, ROWS = 20, POINTS = COLUMNS * ROWS, CLASSES = 3 };

static float points[POINTS][2];
static int32_t labels[POINTS];
static float probabilities[POINTS][CLASSES];

/* All temporaries of a call live here. The size is known to the preprocessor; a byte more, because it may be 0. */
static _Alignas(64) unsigned char workspace[MLP_WORKSPACE_BYTES + 1];

/* The square [-1, 1] x [-1, 1], row by row from the top, each point in the middle of its cell. */
static void make_grid(void)
{
  for (int i = 0; i < POINTS; i++) {
    points[i][0] = (2.0f * (float)(i % COLUMNS) + 1) / COLUMNS - 1;
    points[i][1] = 1 - (2.0f * (float)(i / COLUMNS) + 1) / ROWS;
  }
}

static void draw(void)
{
  for (int i = 0; i < POINTS; i++) {
    putchar("ox."[labels[i]]);
    if (i % COLUMNS == COLUMNS - 1)
      putchar('\n');
  }
}

/* The probability of the chosen class at the point where it is lowest: on the border of two classes. */
static double least_sure(void)
{
  double least = 1;
  for (int i = 0; i < POINTS; i++)
    least = probabilities[i][labels[i]] < least ? probabilities[i][labels[i]] : least;
  return least;
}

int main(void)
{
  make_grid();
  mlp_args args = {.points_1 = &points[0][0]};
  mlp_results results = {.result0 = labels, .result1 = &probabilities[0][0]};
  if (mlp(&args, &results, workspace) != 0) {
    fputs("mlp failed\n", stderr);
    return 1;
  }
  printf("mlp%s\n", mlp_signature);
  draw();
  printf("least sure: %.4f\n", least_sure());
  return 0;
}
