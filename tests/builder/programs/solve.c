/* A x = y for a positive definite A: Cholesky and two triangular solves. */
#include "program.h"

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "solve");
  hlo_value *a = hlo_parameter(b, "a", "f64", 2, S(3, 3)), *y = hlo_parameter(b, "y", "f64", 1, S(3));
  hlo_value *l = hlo_emit(b, "cholesky(%v), lower=true", a);
  hlo_value *z = hlo_emit(b, "triangular-solve(%v, %v), left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE",
                          l, hlo_unsqueeze(y, 1));
  z = hlo_emit(b, "triangular-solve(%v, %v), left_side=true, lower=true, unit_diagonal=false, transpose_a=TRANSPOSE", l, z);
  hlo_executable *e = compile(context, b, hlo_squeeze(z, 1));
  const double as[] = {4, 2, 0, 2, 5, 1, 0, 1, 3}, ys[] = {8, 15, 11};
  double x[3];
  call(e, (const void *[]){as, ys}, (void *[]){x});
  printf("x %.6f %.6f %.6f\n", x[0], x[1], x[2]);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
x 1.000000 2.000000 3.000000
*/
