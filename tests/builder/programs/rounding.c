/* Functions of one number at points whose results are exact, the parts of complex numbers, and the
 * kernel that computes them. */
#include "program.h"

enum { POINTS = 4, FUNCTIONS = 7 };

static void print_row(const float *row)
{
  for (int i = 0; i < POINTS; i++)
    printf(i ? " %g" : "%g", (double)row[i]);
  printf("\n");
}

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "rounding");
  hlo_value *x = hlo_parameter(b, "x", "f32", 1, S(POINTS)), *c = hlo_complex(x, hlo_negative(x));
  hlo_value *out[] = {hlo_sign(x),
                      hlo_floor(x),
                      hlo_ceil(x),
                      hlo_cbrt(hlo_multiply(x, hlo_square(x))),
                      hlo_real(c),
                      hlo_imag(c),
                      hlo_convert(hlo_isfinite(x), "f32")};
  hlo_executable *e = compile(context, b, hlo_tuple(b, FUNCTIONS, out));
  float in[POINTS] = {-1.5f, 0.0f, 2.25f, INFINITY}, rows[FUNCTIONS][POINTS];
  void *results[FUNCTIONS];
  for (int i = 0; i < FUNCTIONS; i++)
    results[i] = rows[i];
  call(e, (const void *[]){in}, results);
  for (int i = 0; i < FUNCTIONS; i++)
    print_row(rows[i]);
  printf("named %d, beyond the last %d\n", hlo_kernel_name(e, 0) != NULL,
         hlo_kernel_name(e, hlo_kernel_count(e)) != NULL);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
-1 0 1 1
-2 0 2 inf
-1 0 3 inf
-1.5 0 2.25 inf
-1.5 0 2.25 inf
1.5 -0 -2.25 -inf
1 1 1 0
named 1, beyond the last 0
*/
