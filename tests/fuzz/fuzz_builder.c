/* fuzz_builder - bytes as calls of the builder and of hlo_emit: values of any shape in any order, and text in the format. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/hlo_lite.h"

typedef struct input {
  const uint8_t *data;
  size_t size;
} input;

static unsigned take(input *in, unsigned limit)
{
  if (in->size == 0)
    return 0;
  in->size--;
  return *in->data++ % limit;
}

static int64_t sizes[4];

static int take_sizes(input *in)
{
  int rank = (int)take(in, 5);
  for (int i = 0; i < rank; i++)
    sizes[i] = (int64_t)take(in, 6) - (take(in, 16) == 0);
  return rank;
}

enum { VALUES = 16 };

static const char *const types[] = {"f32", "s32", "pred", "bf16", "u8", "c64", "f64", "s4", "nonsense"};

typedef hlo_value *unary(hlo_value *x);
typedef hlo_value *binary(hlo_value *x, hlo_value *y);
static unary *const unaries[] = {hlo_exp, hlo_abs, hlo_negative, hlo_sign, hlo_invert, hlo_isfinite, hlo_square, hlo_relu};
static binary *const binaries[] = {hlo_add,  hlo_divide, hlo_remainder, hlo_power,   hlo_arctan2,
                                   hlo_less, hlo_and,    hlo_maximum,   hlo_matmul, hlo_right_shift, hlo_complex};

/* The rest of the input, as far as it is text, as a format without conversions. */
static hlo_value *emit_text(hlo_builder *b, input *in)
{
  char text[256];
  size_t length = 0;
  while (in->size > 0 && length < sizeof text - 1 && *in->data != 0)
    text[length++] = (char)*in->data++, in->size--;
  text[length] = '\0';
  return hlo_emit(b, "%s", text);
}

static hlo_value *make(hlo_builder *b, input *in, hlo_value **v)
{
  hlo_value *x = v[take(in, VALUES)], *y = v[take(in, VALUES)], *z = v[take(in, VALUES)];
  int axis = (int)take(in, 7) - 3;
  const char *type = types[take(in, sizeof types / sizeof *types)];
  switch (take(in, 18)) {
  case 0: return hlo_parameter(b, take(in, 2) ? "x" : NULL, type, take_sizes(in), sizes);
  case 1: return hlo_scalar(b, type, (double)take(in, 255) - 100);
  case 2: return unaries[take(in, sizeof unaries / sizeof *unaries)](x);
  case 3: return binaries[take(in, sizeof binaries / sizeof *binaries)](x, y);
  case 4: return hlo_where(x, y, z);
  case 5: return hlo_broadcast_to(x, take_sizes(in), sizes);
  case 6: return hlo_view(x, take_sizes(in), sizes);
  case 7: return hlo_repeat(x, take_sizes(in), sizes);
  case 8: return hlo_slice(x, axis, (int64_t)take(in, 9) - 4, (int64_t)take(in, 9) - 4);
  case 9: return hlo_sum(x, 1, &axis, (int)take(in, 2));
  case 10: return hlo_argmax(x, axis, (int)take(in, 2));
  case 11: return hlo_softmax(x, axis);
  case 12: return hlo_attention(x, y, z, NULL);
  case 13: return hlo_concatenate(3, (hlo_value *[]){x, y, z}, axis);
  case 14: return hlo_convert(x, type);
  case 15: return hlo_unsqueeze(x, axis);
  case 16: return hlo_layer_norm(x, y, z, 1e-5);
  default: return emit_text(b, in);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  input in = {data, size};
  hlo_value *values[VALUES] = {NULL}, *last = NULL;
  hlo_context *context = hlo_context_new();
  hlo_builder *b = hlo_builder_new(context, "fuzz");
  for (int i = 0; i < VALUES; i++)
    values[i] = hlo_parameter(b, NULL, types[i % 4], i % 3, (const int64_t[]){3, 2});
  for (int i = 0; in.size > 0 && i < 64; i++) {
    hlo_value *made = make(b, &in, values);
    if (!made)
      break;
    last = values[i % VALUES] = made;
  }
  hlo_module *module = hlo_build(b, last);
  if (!module && hlo_message_count(context) == 0)
    abort(); /* refused without a word */
  hlo_module_free(module);
  hlo_builder_free(b);
  hlo_context_free(context);
  return 0;
}
