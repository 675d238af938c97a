/* print - canonical HLO text: names without '%', no operand shapes, layouts where they are not the
 * default.
 *
 * What is printed reads back as the same module; printing that gives the same text.
 */
#include "print.h"

#include <inttypes.h>
#include <string.h>

/* --- words --- */

/* Words that would not be read as names without '%'. */
static bool is_reserved(const char *name)
{
  static const char *const reserved[] = {
      "true",        "false",      "inf",        "nan",           "HloModule",
      "ENTRY",       "ROOT",       "FileNames",  "FunctionNames", "FileLocations",
      "StackFrames", "maximal",    "replicated", "manual",        "last_tile_dim_replicate",
      "shard_as",    "shard_like", "unknown",    "unreduced"};
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    if (!strcmp(name, reserved[i]))
      return true;
  return hl_type_by_name(name, strlen(name)) != HL_TYPE_COUNT;
}

static void print_name(hl_str *out, const char *name)
{
  if (is_reserved(name))
    hl_str_add_char(out, '%');
  hl_str_add(out, name);
}

static void print_int(hl_str *out, int64_t value)
{
  char digits[24], *at = digits + sizeof digits;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do
    *--at = (char)('0' + rest % 10);
  while (rest /= 10);
  if (value < 0)
    *--at = '-';
  hl_str_add_n(out, at, (size_t)(digits + sizeof digits - at));
}

static void print_string(hl_str *out, const char *text)
{
  hl_str_add_char(out, '"');
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      hl_str_add_char(out, '\\');
    if (c < ' ' || c == 0x7f)
      hl_str_printf(out, "\\%03o", c);
    else
      hl_str_add_char(out, *text);
  }
  hl_str_add_char(out, '"');
}

static void print_ints(hl_str *out, hl_ints list)
{
  hl_str_add_char(out, '{');
  for (int i = 0; i < list.count; i++) {
    hl_str_add(out, i ? "," : "");
    print_int(out, list.values[i]);
  }
  hl_str_add_char(out, '}');
}

/* --- literals --- */

/* Elements from `at` on, in the braces of dimension `level` and those inside; returns the element
 * behind them. */
static int64_t print_level(hl_str *out, const hl_literal *literal, int level, int64_t at)
{
  const hl_shape *shape = literal->shape;
  if (level == shape->rank) {
    hl_literal_print_element(out, literal, at);
    return at + 1;
  }
  hl_str_add_char(out, '{');
  for (int64_t i = 0; i < shape->dimensions[level]; i++) {
    if (i)
      hl_str_add(out, ", ");
    at = print_level(out, literal, level + 1, at);
  }
  hl_str_add_char(out, '}');
  return at;
}

void hl_literal_print(hl_str *out, const hl_literal *literal)
{
  if (literal->shape->element_type != HL_TUPLE) {
    if (literal->is_elided)
      hl_str_add(out, "{...}");
    else
      print_level(out, literal, 0, 0);
    return;
  }
  hl_str_add_char(out, '(');
  for (int i = 0; i < literal->shape->tuple_count; i++) {
    hl_str_add(out, i ? ", " : "");
    hl_literal_print(out, literal->elements[i]);
  }
  hl_str_add_char(out, ')');
}

/* --- attributes --- */

static void print_word(hl_str *out, hl_attr_id id, int64_t index)
{
  size_t length;
  const char *word = hl_attr_word(id, index, &length);
  if (word)
    hl_str_add_n(out, word, length);
}

static void print_words(hl_str *out, hl_attr_id id, hl_ints list)
{
  hl_str_add_char(out, '{');
  for (int i = 0; i < list.count; i++) {
    hl_str_add(out, i ? "," : "");
    print_word(out, id, list.values[i]);
  }
  hl_str_add_char(out, '}');
}

static void print_double(hl_str *out, double value)
{
  const hl_shape shape = {.element_type = HL_F64};
  const hl_literal literal = {.shape = &shape, .data = &value};
  hl_literal_print_element(out, &literal, 0);
}

static void print_lists(hl_str *out, const hl_ints *lists, int count)
{
  hl_str_add_char(out, '{');
  for (int i = 0; i < count; i++) {
    hl_str_add(out, i ? "," : "");
    print_ints(out, lists[i]);
  }
  hl_str_add_char(out, '}');
}

static void print_slice(hl_str *out, const hl_attr *attr)
{
  hl_str_add_char(out, '{');
  for (int i = 0; i < attr->slice.count; i++) {
    const hl_slice_dim *dim = &attr->slice.dims[i];
    hl_str_add(out, i ? ", [" : "[");
    print_int(out, dim->start);
    hl_str_add_char(out, ':');
    print_int(out, dim->limit);
    if (dim->stride != 1) {
      hl_str_add_char(out, ':');
      print_int(out, dim->stride);
    }
    hl_str_add_char(out, ']');
  }
  hl_str_add_char(out, '}');
}

static void print_padding(hl_str *out, const hl_attr *attr)
{
  bool has_interior = false;
  for (int i = 0; i < attr->padding.count; i++)
    has_interior = has_interior || attr->padding.dims[i].interior;
  for (int i = 0; i < attr->padding.count; i++) {
    const hl_padding_dim *dim = &attr->padding.dims[i];
    hl_str_add(out, i ? "x" : "");
    print_int(out, dim->low);
    hl_str_add_char(out, '_');
    print_int(out, dim->high);
    if (has_interior) {
      hl_str_add_char(out, '_');
      print_int(out, dim->interior);
    }
  }
}

typedef int64_t window_field(const hl_window_dim *dim);

static int64_t field_size(const hl_window_dim *dim)
{
  return dim->size;
}

static int64_t field_stride(const hl_window_dim *dim)
{
  return dim->stride;
}

static int64_t field_lhs_dilate(const hl_window_dim *dim)
{
  return dim->base_dilation;
}

static int64_t field_rhs_dilate(const hl_window_dim *dim)
{
  return dim->window_dilation;
}

static int64_t field_reversal(const hl_window_dim *dim)
{
  return dim->window_reversal;
}

/* ` name=1x2`, left out where all have the default. */
static void print_sizes(hl_str *out, const hl_attr *window, const char *name, window_field *field,
                        int64_t otherwise)
{
  bool is_default = true;
  for (int i = 0; i < window->window.count; i++)
    is_default = is_default && field(&window->window.dims[i]) == otherwise;
  if (is_default)
    return;
  for (int i = 0; i < window->window.count; i++) {
    hl_str_add(out, i ? "x" : name);
    print_int(out, field(&window->window.dims[i]));
  }
}

static void print_pads(hl_str *out, const hl_attr *window)
{
  bool is_default = true;
  for (int i = 0; i < window->window.count; i++)
    is_default =
        is_default && !window->window.dims[i].padding_low && !window->window.dims[i].padding_high;
  for (int i = 0; i < window->window.count && !is_default; i++) {
    hl_str_add(out, i ? "x" : " pad=");
    print_int(out, window->window.dims[i].padding_low);
    hl_str_add_char(out, '_');
    print_int(out, window->window.dims[i].padding_high);
  }
}

static void print_window(hl_str *out, const hl_attr *window)
{
  hl_str_add_char(out, '{');
  print_sizes(out, window, "size=", field_size, INT64_MIN); /* never left out */
  print_sizes(out, window, " stride=", field_stride, 1);
  print_pads(out, window);
  print_sizes(out, window, " lhs_dilate=", field_lhs_dilate, 1);
  print_sizes(out, window, " rhs_dilate=", field_rhs_dilate, 1);
  print_sizes(out, window, " rhs_reversal=", field_reversal, 0);
  hl_str_add_char(out, '}');
}

/* One part of dim_labels; '?' stands for a dimension that has no label. */
static void print_labels(hl_str *out, const char letters[2], const int positions[2],
                         const int *spatial, int count)
{
  int length = (positions[0] > positions[1] ? positions[0] : positions[1]) + 1;
  for (int i = 0; i < count; i++)
    length = spatial[i] >= length ? spatial[i] + 1 : length;
  for (int at = 0; at < length; at++) {
    char c = at == positions[0] ? letters[0] : at == positions[1] ? letters[1] : '?';
    for (int i = 0; i < count; i++)
      c = spatial[i] == at ? (char)('0' + i) : c;
    hl_str_add_char(out, c);
  }
}

static void print_dim_labels(hl_str *out, const hl_dim_labels *l)
{
  const int input[2] = {l->input_batch, l->input_feature};
  const int kernel[2] = {l->kernel_input_feature, l->kernel_output_feature};
  const int output[2] = {l->output_batch, l->output_feature};
  print_labels(out, "bf", input, l->input_spatial, l->spatial_count);
  hl_str_add_char(out, '_');
  print_labels(out, "io", kernel, l->kernel_spatial, l->spatial_count);
  hl_str_add(out, "->");
  print_labels(out, "bf", output, l->output_spatial, l->spatial_count);
}

static void print_computations(hl_str *out, const hl_attr *attr)
{
  hl_str_add_char(out, '{');
  for (int i = 0; i < attr->computations.count; i++) {
    hl_str_add(out, i ? ", " : "");
    print_name(out, attr->computations.values[i]->name);
  }
  hl_str_add_char(out, '}');
}

static void print_instructions(hl_str *out, const hl_attr *attr)
{
  hl_str_add_char(out, '{');
  for (int i = 0; i < attr->instructions.count; i++) {
    hl_str_add(out, i ? ", " : "");
    print_name(out, attr->instructions.values[i]->name);
  }
  hl_str_add_char(out, '}');
}

static void print_shapes(hl_str *out, const hl_attr *attr)
{
  hl_str_add_char(out, '{');
  for (int i = 0; i < attr->shapes.count; i++) {
    hl_str_add(out, i ? ", " : "");
    hl_shape_print(out, attr->shapes.values[i], true);
  }
  hl_str_add_char(out, '}');
}

static void print_value(hl_str *out, const hl_attr *attr)
{
  switch (hl_attr_kind_of(attr->id)) {
  case HL_KIND_INT:
    print_int(out, attr->i);
    break;
  case HL_KIND_BOOL:
    hl_str_add(out, attr->i ? "true" : "false");
    break;
  case HL_KIND_FLOAT:
    print_double(out, attr->f);
    break;
  case HL_KIND_ENUM:
    print_word(out, attr->id, attr->i);
    break;
  case HL_KIND_WORDS:
    print_words(out, attr->id, attr->ints);
    break;
  case HL_KIND_STRING:
    print_string(out, attr->text);
    break;
  case HL_KIND_WORD:
  case HL_KIND_RAW:
  case HL_KIND_METADATA:
    hl_str_add(out, attr->text);
    break;
  case HL_KIND_INTS:
    print_ints(out, attr->ints);
    break;
  case HL_KIND_INTLISTS:
    print_lists(out, attr->lists.values, attr->lists.count);
    break;
  case HL_KIND_GROUPS:
    if (attr->lists.text)
      hl_str_add(out, attr->lists.text);
    else
      print_lists(out, attr->lists.values, attr->lists.count);
    break;
  case HL_KIND_SLICE:
    print_slice(out, attr);
    break;
  case HL_KIND_WINDOW:
    print_window(out, attr);
    break;
  case HL_KIND_PADDING:
    print_padding(out, attr);
    break;
  case HL_KIND_DIM_LABELS:
    print_dim_labels(out, attr->labels);
    break;
  case HL_KIND_COMPUTATION:
    print_name(out, attr->computations.values[0]->name);
    break;
  case HL_KIND_COMPUTATIONS:
    print_computations(out, attr);
    break;
  case HL_KIND_INSTRUCTIONS:
    print_instructions(out, attr);
    break;
  case HL_KIND_SHAPE:
    hl_shape_print(out, attr->shapes.values[0], true);
    break;
  case HL_KIND_SHAPES:
    print_shapes(out, attr);
    break;
  }
}

static void print_attr(hl_str *out, const hl_instruction *i, hl_attr_id id)
{
  const hl_attr *attr = hl_attr_find(i, id);
  if (!attr)
    return;
  hl_str_printf(out, ", %s=", hl_attr_name(id));
  print_value(out, attr);
}

/* Those of the op in the order of its row, then those that every op may carry. */
static void print_attrs(hl_str *out, const hl_instruction *i)
{
  const hl_op_info *info = hl_op_info_of(i->opcode);
  for (int k = 0; k < info->attr_count && i->attr_count; k++)
    print_attr(out, i, info->attrs[k].id);
  for (int id = 0; id < HL_ATTR_COMMON_LAST && i->attr_count; id++)
    print_attr(out, i, (hl_attr_id)id);
}

/* --- instructions --- */

/* For `X-start` the computation that holds X alone: its attributes stand on the start, and it is
 * not printed itself. */
static const hl_computation *wrapped_body(const hl_instruction *i)
{
  return i->async_wrapped && i->opcode == HL_OP_ASYNC_START ? hl_attr_computation(i, HL_ATTR_CALLS)
                                                            : NULL;
}

static void print_opcode(hl_str *out, const hl_instruction *i)
{
  const char *name = hl_op_info_of(i->opcode)->name;
  if (!i->async_wrapped) {
    hl_str_add(out, name);
    return;
  }
  hl_str_add(out, i->async_wrapped);
  hl_str_add(out, name + strlen("async"));
}

static void print_payload(hl_str *out, const hl_instruction *i)
{
  if (i->opcode == HL_OP_PARAMETER)
    print_int(out, i->parameter_number);
  if (i->opcode == HL_OP_CONSTANT && i->literal)
    hl_literal_print(out, i->literal);
  for (int k = 0; k < i->operand_count; k++) {
    hl_str_add(out, k ? ", " : "");
    print_name(out, i->operands[k]->name);
  }
}

void hl_instruction_print(hl_str *out, const hl_instruction *i)
{
  const hl_computation *body = wrapped_body(i);
  print_name(out, i->name);
  hl_str_add(out, " = ");
  if (i->shape) {
    hl_shape_print(out, i->shape, true);
    hl_str_add_char(out, ' ');
  }
  print_opcode(out, i);
  hl_str_add_char(out, '(');
  print_payload(out, i);
  hl_str_add_char(out, ')');
  if (!body) {
    print_attrs(out, i);
    return;
  }
  print_attrs(out, body->root);
  print_attr(out, i, HL_ATTR_ASYNC_EXECUTION_THREAD);
}

void hl_computation_print(hl_str *out, const hl_computation *c)
{
  hl_str_add(out, c->module && c->module->entry == c ? "ENTRY " : "");
  print_name(out, c->name);
  hl_str_add(out, " {\n");
  for (const hl_instruction *i = c->first; i; i = i->next) {
    hl_str_add(out, i == c->root ? "  ROOT " : "  ");
    hl_instruction_print(out, i);
    hl_str_add_char(out, '\n');
  }
  hl_str_add_char(out, '}');
  if (c->execution_thread) {
    hl_str_add(out, ", execution_thread=");
    print_string(out, c->execution_thread);
  }
  hl_str_add_char(out, '\n');
}

/* --- modules --- */

static void print_aliases(hl_str *out, const hl_module *module)
{
  hl_str_add(out, ", input_output_alias={ ");
  for (int i = 0; i < module->alias_count; i++) {
    const hl_alias *alias = &module->aliases[i];
    hl_str_add(out, i ? ", " : "");
    print_ints(out, alias->output_index);
    hl_str_add(out, ": (");
    print_int(out, alias->parameter);
    hl_str_add(out, ", ");
    print_ints(out, alias->parameter_index);
    hl_str_add(out, alias->is_must ? ", must-alias)" : ", may-alias)");
  }
  hl_str_add(out, " }");
}

static void print_entry_layout(hl_str *out, const hl_module *module)
{
  hl_str_add(out, ", entry_computation_layout={(");
  for (int i = 0; i < module->entry_layout_count; i++) {
    hl_str_add(out, i ? ", " : "");
    hl_shape_print(out, module->entry_layout_parameters[i], true);
  }
  hl_str_add(out, ")->");
  hl_shape_print(out, module->entry_layout_result, true);
  hl_str_add_char(out, '}');
}

static void print_header(hl_str *out, const hl_module *module)
{
  hl_str_add(out, "HloModule ");
  print_name(out, module->name);
  if (module->is_scheduled)
    hl_str_add(out, ", is_scheduled=true");
  if (module->alias_count)
    print_aliases(out, module);
  if (module->entry_layout_result)
    print_entry_layout(out, module);
  if (module->replica_count)
    hl_str_printf(out, ", replica_count=%" PRId64, module->replica_count);
  if (module->num_partitions)
    hl_str_printf(out, ", num_partitions=%" PRId64, module->num_partitions);
  for (int i = 0; i < module->kept_attribute_count; i++)
    hl_str_printf(out, ", %s", module->kept_attributes[i]);
  hl_str_add(out, "\n\n");
  if (*module->frame_tables)
    hl_str_printf(out, "%s\n\n", module->frame_tables);
}

/* The bodies that `X-start` stands for, by name. */
static void find_wrapped(const hl_module *module, hl_map *bodies)
{
  for (const hl_computation *c = module->first; c; c = c->next)
    for (hl_instruction *i = c->first; i; i = i->next) {
      const hl_computation *body = wrapped_body(i);
      if (body)
        hl_map_set(bodies, body->name, strlen(body->name), i);
    }
}

void hl_module_print(hl_str *out, const hl_module *module)
{
  hl_map wrapped = {.arena = out->arena};
  bool is_first = true;
  find_wrapped(module, &wrapped);
  print_header(out, module);
  for (const hl_computation *c = module->first; c; c = c->next) {
    if (hl_map_get(&wrapped, c->name, strlen(c->name)))
      continue;
    hl_str_add(out, is_first ? "" : "\n");
    is_first = false;
    hl_computation_print(out, c);
  }
}
