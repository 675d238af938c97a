/* Complex numbers: which points of a grid stay small under z -> z z + c. */
#include "program.h"

enum { W = 24, H = 9 };

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "mandel");
  hlo_value *u = hlo_iota(b, "f32", 1, S(W), 0), *v = hlo_iota(b, "f32", 1, S(H), 0);
  hlo_value *re = hlo_subtract(hlo_multiply(u, hlo_scalar(b, "f32", 3.0 / (double)W)), hlo_scalar(b, "f32", 2));
  hlo_value *im = hlo_subtract(hlo_multiply(v, hlo_scalar(b, "f32", 2.0 / (double)(H - 1))), hlo_scalar(b, "f32", 1));
  hlo_value *c = hlo_complex(re, hlo_unsqueeze(im, 1)), *z = c;
  for (int i = 0; i < 12; i++)
    z = hlo_add(hlo_multiply(z, z), c);
  hlo_value *inside = hlo_less(hlo_abs(z), hlo_scalar(b, "f32", 2));
  hlo_executable *e = compile(context, b, inside);
  unsigned char in[H][W];
  call(e, NULL, (void *[]){in});
  for (int y = 0; y < H; y++) {
    for (int x = 0; x < W; x++)
      putchar(in[y][x] ? '#' : '.');
    putchar('\n');
  }
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
................#.......
..............###.......
............#######.....
.......###.#########....
.##################.....
.......###.#########....
............#######.....
..............###.......
................#.......
*/
