/* print.c - arrays as text for people.
 *
 * The same walk runs twice: once to measure the widest value shown, once to print. It recurses over
 * dimensions, of which there are at most HL_NPY_MAX_RANK. */
#include "print.h"

#include <string.h>

enum { EDGE_ITEMS = 3, MOST_SHOWN = 1000, LINE_WIDTH = 100 };

typedef struct printer {
  FILE *out; /* NULL while measuring */
  const hlo_exe_array *array;
  const hl_value_type *type;
  const char *data;
  size_t stride[HL_NPY_MAX_RANK]; /* items */
  bool is_cut;
  int width; /* of the widest value */
  int column;
} printer;

const char *hl_array_shape_text(const hlo_exe_array *a, char *out, size_t size)
{
  size_t n = (size_t)snprintf(out, size, "%s[", a->type);
  for (int i = 0; i < a->rank && n < size; i++)
    n += (size_t)snprintf(out + n, size - n, i ? ",%lld" : "%lld", (long long)a->dims[i]);
  if (n < size)
    snprintf(out + n, size - n, "]");
  return out;
}

static void put(printer *p, const char *text)
{
  if (!p->out)
    return;
  const char *line = strrchr(text, '\n');
  fputs(text, p->out);
  p->column = line ? (int)strlen(line + 1) : p->column + (int)strlen(text);
}

static void new_line(printer *p, int indent)
{
  put(p, "\n");
  for (int i = 0; i < indent; i++)
    put(p, " ");
}

/* Columns are aligned where there are rows below each other. */
static void put_item(printer *p, size_t index)
{
  char text[HL_VALUE_TEXT];
  int length = (int)hl_value_format(p->type, p->data + index * (size_t)p->type->item_bytes, text);
  if (!p->out) {
    p->width = length > p->width ? length : p->width;
    return;
  }
  for (int i = length; p->array->rank > 1 && i < p->width; i++)
    put(p, " ");
  put(p, text);
}

/* The index after `i` in a dimension: the middle of a cut array is left out. */
static int64_t next_shown(const printer *p, int64_t i, int64_t size)
{
  bool at_gap = p->is_cut && i + 1 == EDGE_ITEMS && size > 2 * EDGE_ITEMS;
  return at_gap ? size - EDGE_ITEMS : i + 1;
}

static void put_row(printer *p, size_t offset, int indent)
{
  int64_t size = p->array->dims[p->array->rank - 1];
  put(p, "{");
  for (int64_t i = 0, before = -1; i < size; before = i, i = next_shown(p, i, size)) {
    if (i > 0)
      put(p, i > before + 1 ? ", ..., " : ", ");
    if (i > 0 && p->column + p->width > LINE_WIDTH)
      new_line(p, indent + 1);
    put_item(p, offset + (size_t)i);
  }
  put(p, "}");
}

static void put_level(printer *p, int dim, size_t offset)
{
  int indent = 2 * (dim + 1);
  if (dim == p->array->rank - 1) {
    put_row(p, offset, indent - 2);
    return;
  }
  int64_t size = p->array->dims[dim];
  put(p, "{");
  for (int64_t i = 0, before = -1; i < size; before = i, i = next_shown(p, i, size)) {
    if (i > 0)
      put(p, ",");
    if (i > before + 1) {
      new_line(p, indent);
      put(p, "...,");
    }
    new_line(p, indent);
    put_level(p, dim + 1, offset + (size_t)i * p->stride[dim]);
  }
  new_line(p, indent - 2);
  put(p, "}");
}

static void put_values(printer *p)
{
  if (p->array->rank == 0)
    put_item(p, 0);
  else if (p->array->bytes == 0)
    put(p, "{}");
  else
    put_level(p, 0, 0);
}

void hl_array_print(FILE *out, const hlo_exe_array *a, const void *data)
{
  char shape[512];
  printer p = {.array = a, .type = hl_value_type_find(a->type), .data = data};
  size_t items = 1;
  for (int i = a->rank - 1; i >= 0; i--) {
    p.stride[i] = items;
    items *= (size_t)a->dims[i];
  }
  p.is_cut = items > MOST_SHOWN;
  put_values(&p);
  p.out = out;
  put(&p, hl_array_shape_text(a, shape, sizeof shape));
  put(&p, " ");
  put_values(&p);
  put(&p, "\n");
}
