/* page - what docs/builder.md shows, as a program: prints the module that the page prints, then one of its other parts. */
#include "src/hlo_lite.h"

#include <stdio.h>

static int show(hlo_context *context, hlo_module *module)
{
  if (module)
    printf("%s", hlo_module_text(context, module));
  else
    fputs(hlo_messages(context), stderr);
  hlo_module_free(module);
  return module ? 0 : 1;
}

static int bias_module(hlo_context *context)
{
  hlo_builder *b = hlo_builder_new(context, "bias");
  int64_t sizes[] = {2, 3};
  hlo_value *x = hlo_parameter(b, "x", "f32", 2, sizes);
  hlo_value *bias = hlo_parameter(b, "bias", "f32", 1, &sizes[1]);
  hlo_module *module = hlo_build(b, hlo_add(x, bias));
  hlo_builder_free(b);
  return show(context, module);
}

static int loop_module(hlo_context *context)
{
  hlo_builder *b = hlo_builder_new(context, "loop");
  int64_t sizes[] = {8, 8}, axes[] = {0, 1};
  hlo_value *x = hlo_parameter(b, "x", "f32", 2, sizes), *w = hlo_parameter(b, "w", "f32", 2, sizes);
  hlo_value *zero = hlo_scalar(b, "f32", 0);
  hlo_value *y = hlo_emit(b, "dot(%v, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}", x, w);
  hlo_value *s = hlo_emit(b, "reduce(%v, %v), dimensions=%D, to_apply=%c", x, zero, 2, axes, hlo_region(b, "add", "f32"));
  hlo_value *first[] = {hlo_scalar(b, "s32", 8), hlo_add(s, y)};
  hlo_value *start = hlo_tuple(b, 2, first);
  hlo_begin(b, "body");
  hlo_value *state = hlo_emit(b, "%t parameter(0)", start);
  hlo_value *next[] = {hlo_subtract(hlo_element(state, 0), hlo_scalar(b, "s32", 1)), hlo_square(hlo_element(state, 1))};
  hlo_computation *body = hlo_end(b, hlo_tuple(b, 2, next));
  hlo_begin(b, "more");
  state = hlo_emit(b, "%t parameter(0)", start);
  hlo_computation *more = hlo_end(b, hlo_emit(b, "compare(%v, %v), direction=GT", hlo_element(state, 0), hlo_scalar(b, "s32", 0)));
  hlo_value *end = hlo_emit(b, "while(%v), condition=%c, body=%c", start, more, body);
  hlo_module *module = hlo_build(b, hlo_element(end, 1));
  hlo_builder_free(b);
  return show(context, module);
}

int main(void)
{
  hlo_context *context = hlo_context_new();
  int status = context ? bias_module(context) || loop_module(context) : 1;
  hlo_context_free(context);
  return status;
}
