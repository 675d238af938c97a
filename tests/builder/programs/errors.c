/* What goes wrong, as values: a builder that failed does nothing more, and says where it failed, once. */
#include "program.h"

typedef hlo_value *maker(hlo_value *x, hlo_value *y);

static hlo_value *shapes(hlo_value *x, hlo_value *y)
{
  return hlo_softmax(hlo_add(x, y), -1);
}

static hlo_value *layer(hlo_value *x, hlo_value *y)
{
  return hlo_relu(hlo_linear(x, hlo_transpose(y, NULL), NULL));
}

static hlo_value *forgotten(hlo_value *x, hlo_value *y)
{
  hlo_value *never_made = NULL;
  return hlo_exp(x == y ? x : never_made);
}

static hlo_value *types(hlo_value *x, hlo_value *y)
{
  return hlo_add(hlo_argmax(x, 1, 0), hlo_sum(y, 1, (int[]){1}, 0));
}

int main(void)
{
  static maker *const makers[] = {shapes, layer, forgotten, types};
  for (int i = 0; i < COUNT(makers); i++) {
    hlo_context *context = hlo_context_new();
    hlo_builder *b = hlo_builder_new(context, "errors");
    hlo_value *x = hlo_parameter(b, "x", "f32", 2, S(2, 3)), *y = hlo_parameter(b, "y", "f32", 2, S(2, 4));
    hlo_module *module = hlo_build(b, makers[i](x, y));
    hlo_message m = hlo_message_at(context, 0);
    printf("%d module, %d message: %s [%s]\n", module != NULL, (int)hlo_message_count(context), m.text, m.rule);
    hlo_builder_free(b);
    hlo_context_free(context);
  }
}

/* prints
0 module, 1 message: hlo_add: operands could not be broadcast together with shapes (2,3) (2,4): 3 against 4 in dimension 1 of the result [builder]
0 module, 1 message: hlo_linear: x (2,3) ends with 3 features; weight (4,2) takes 2 [builder]
0 module, 1 message: hlo_build: the root is NULL, and no line of 'main' is called ROOT [builder]
0 module, 1 message: hlo_add: operands are s64 and f32; convert one with hlo_convert [builder]
*/
