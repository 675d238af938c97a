/* A reduction of one's own: count, mean and squared deviation of each row in one pass, after Chan. */
#include "program.h"

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "fold");
  hlo_value *x = hlo_parameter(b, "x", "f32", 2, S(2, 4));
  hlo_begin(b, "join");
  hlo_value *p[6];
  for (int i = 0; i < 6; i++)
    p[i] = hlo_parameter(b, NULL, "f32", 0, NULL);
  hlo_value *n = hlo_add(p[0], p[3]), *d = hlo_subtract(p[4], p[1]), *safe = hlo_maximum(n, hlo_scalar(b, "f32", 1));
  hlo_value *mean = hlo_add(p[1], hlo_divide(hlo_multiply(d, p[3]), safe));
  hlo_value *m2 = hlo_add(hlo_add(p[2], p[5]), hlo_divide(hlo_multiply(hlo_square(d), hlo_multiply(p[0], p[3])), safe));
  hlo_value *three[] = {n, mean, m2};
  hlo_computation *join = hlo_end(b, hlo_tuple(b, 3, three));
  hlo_value *ones = hlo_full(b, "f32", 2, S(2, 4), 1), *zeros = hlo_full(b, "f32", 2, S(2, 4), 0), *zero = hlo_scalar(b, "f32", 0);
  hlo_value *all =
      hlo_emit(b, "reduce(%v, %v, %v, %v, %v, %v), dimensions={1}, to_apply=%c", ones, x, zeros, zero, zero, zero, join);
  hlo_value *out[] = {hlo_element(all, 1), hlo_divide(hlo_element(all, 2), hlo_element(all, 0)), hlo_var(x, 1, (int[]){1}, 0, 0)};
  hlo_executable *e = compile(context, b, hlo_tuple(b, 3, out));
  const float xs[] = {1, 2, 3, 4, 10, 20, 30, 60};
  float means[2], vars[2], vars2[2];
  call(e, (const void *[]){xs}, (void *[]){means, vars, vars2});
  show("mean", means, 2);
  show("var", vars, 2);
  show("var", vars2, 2);
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
mean 2.5000 30.0000
var 1.2500 350.0000
var 1.2500 350.0000
*/
