/* A branch by a predicate, and one by a number. */
#include "program.h"

static hlo_computation *scale(hlo_builder *b, const char *name, double factor)
{
  hlo_begin(b, name);
  hlo_value *x = hlo_parameter(b, "x", "f32", 1, S(2));
  return hlo_end(b, hlo_multiply(x, hlo_scalar(b, "f32", factor)));
}

int main(void)
{
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "branch");
  hlo_value *x = hlo_parameter(b, "x", "f32", 1, S(2)), *n = hlo_parameter(b, "n", "s32", 0, NULL);
  hlo_value *is_big = hlo_greater(hlo_sum(x, 0, NULL, 0), hlo_scalar(b, "f32", 10));
  hlo_value *y = hlo_emit(b, "conditional(%v, %v, %v), true_computation=%c, false_computation=%c", is_big, x, x,
                          scale(b, "big", 0.5), scale(b, "small", 2));
  y = hlo_emit(b, "conditional(%v, %v, %v, %v), branch_computations={%c, %c, %c}", n, y, y, y, scale(b, "zero", 1),
               scale(b, "one", 10), scale(b, "rest", 100));
  hlo_executable *e = compile(context, b, y);
  for (int i = -1; i < 4; i++) {
    float xs[] = {1 + 4 * (float)i, 3}, ys[2];
    int32_t k = i;
    call(e, (const void *[]){xs, &k}, (void *[]){ys});
    show("y", ys, 2);
  }
  hlo_executable_free(e);
  hlo_context_free(context);
}

/* prints
y -600.0000 600.0000
y 2.0000 6.0000
y 100.0000 60.0000
y 450.0000 150.0000
y 650.0000 150.0000
*/
