/* cmd_shapes - `hlo-lite shapes`: what shapes broadcast to under the rules of NumPy and PyTorch,
 * drawn, and the HLO that says it. All of the output is one module: the drawing is its comment. */
#include "command.h"

#include "ir/limits.h"
#include "ir/shape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct named_shape {
  const char *text; /* as on the command line */
  int rank;
  int64_t sizes[HL_LIMIT_RANK];
} named_shape;

typedef struct alignment {
  hl_arena *arena;
  named_shape *shapes;
  int count;
  named_shape result;
  int widths[HL_LIMIT_RANK]; /* of the columns of the drawing */
  int label_width;
} alignment;

static const char *sizes_text(hl_arena *arena, const named_shape *shape)
{
  hl_str text = {.arena = arena};
  for (int i = 0; i < shape->rank; i++)
    hl_str_printf(&text, "%s%lld", i ? "," : "", (long long)shape->sizes[i]);
  return shape->rank ? hl_str_text(&text) : "()";
}

/* "2,3", and the forms of NumPy, HLO and a scalar: "(2,3)", "(5,)", "[2,3]", "f32[2,3]", "()", "".
 */
static bool read_shape(const char *text, named_shape *shape)
{
  const char *at = text;
  size_t word = strcspn(at, "[");
  *shape = (named_shape){.text = text};
  if (at[word] && hl_type_by_name(at, word) != HL_TYPE_COUNT)
    at += word;
  char close = *at == '(' ? ')' : *at == '[' ? ']' : '\0';
  at += close != '\0';
  while (*at >= '0' && *at <= '9') {
    char *end;
    errno = 0;
    long long size = strtoll(at, &end, 10);
    if (errno || shape->rank == HL_LIMIT_RANK)
      return false;
    shape->sizes[shape->rank++] = size;
    at = end + (*end == ',');
    if (*end != ',')
      break;
    if ((!*at && shape->rank > 1) || (close == ']' && *at == ']'))
      return false;
  }
  return close ? *at == close && !at[1] : !*at;
}

static int missing(const alignment *a, const named_shape *shape)
{
  return a->result.rank - shape->rank;
}

/* The size at dimension d of the result; 0 leading ones: -1. */
static int64_t size_at(const alignment *a, const named_shape *shape, int d)
{
  int own = d - missing(a, shape);
  return own < 0 ? -1 : shape->sizes[own];
}

/* The first shape that makes dimension d of the result something else than 1. */
static const named_shape *maker_of(const alignment *a, int d)
{
  for (int i = 0; i < a->count; i++)
    if (size_at(a, &a->shapes[i], d) >= 0 && size_at(a, &a->shapes[i], d) != 1)
      return &a->shapes[i];
  return NULL;
}

/* The first shape that contradicts dimension d. */
static const named_shape *clash_at(const alignment *a, int d)
{
  const named_shape *maker = maker_of(a, d);
  for (int i = 0; maker && i < a->count; i++) {
    int64_t size = size_at(a, &a->shapes[i], d);
    if (size >= 0 && size != 1 && size != size_at(a, maker, d))
      return &a->shapes[i];
  }
  return NULL;
}

static int digits(int64_t size)
{
  return snprintf(NULL, 0, "%lld", (long long)size);
}

static void align(alignment *a)
{
  a->label_width = snprintf(NULL, 0, "a%d", a->count - 1);
  for (int i = 0; i < a->count; i++)
    a->result.rank = a->shapes[i].rank > a->result.rank ? a->shapes[i].rank : a->result.rank;
  for (int d = 0; d < a->result.rank; d++) {
    const named_shape *maker = maker_of(a, d);
    a->result.sizes[d] = maker ? size_at(a, maker, d) : 1;
    for (int i = 0; i < a->count; i++) {
      int64_t size = size_at(a, &a->shapes[i], d);
      int width = size < 0 ? 1 : digits(size);
      a->widths[d] = width > a->widths[d] ? width : a->widths[d];
    }
  }
}

static void draw_shape(hl_str *out, const alignment *a, const named_shape *shape)
{
  for (int d = 0; d < a->result.rank; d++) {
    int64_t size = size_at(a, shape, d);
    if (size < 0)
      hl_str_printf(out, "  %*s ", a->widths[d], "");
    else
      hl_str_printf(out, "  %*lld%c", a->widths[d], (long long)size,
                    size == 1 && a->result.sizes[d] != 1 ? '*' : ' ');
  }
}

/* Blanks at the ends of lines are for nobody. */
static void end_line(hl_str *out)
{
  while (out->length && out->text[out->length - 1] == ' ')
    out->text[--out->length] = '\0';
  hl_str_add_char(out, '\n');
}

static void draw(hl_str *out, const alignment *a, const char *margin)
{
  for (int i = 0; i < a->count; i++) {
    hl_str_printf(out, "%s  a%-*d", margin, a->label_width - 1, i);
    draw_shape(out, a, &a->shapes[i]);
    end_line(out);
  }
}

static void draw_result(hl_str *out, const alignment *a)
{
  bool any = false;
  for (int i = 0; i < a->count; i++)
    for (int d = 0; d < a->result.rank; d++)
      any = any || (size_at(a, &a->shapes[i], d) == 1 && a->result.sizes[d] != 1);
  hl_str_printf(out, "//   %*s", a->label_width, "");
  for (int d = 0; d < a->result.rank; d++)
    hl_str_printf(out, "  %.*s ", a->widths[d], "--------------------");
  end_line(out);
  hl_str_printf(out, "//   %*s", a->label_width, "");
  draw_shape(out, a, &a->result);
  hl_str_add(out, any ? "   (* stretches)" : "");
  end_line(out);
}

/* Says where dimension d has two sizes; returns the exit status. */
static int complain_of_clash(const alignment *a, int d)
{
  const named_shape *maker = maker_of(a, d), *other = clash_at(a, d);
  hl_str text = {.arena = a->arena};
  hl_complain(HL_EXIT_INPUT,
              "shapes %s and %s do not broadcast: dimension %d of the result would be %lld and "
              "%lld",
              sizes_text(a->arena, maker), sizes_text(a->arena, other), d,
              (long long)size_at(a, maker, d), (long long)size_at(a, other, d));
  draw(&text, a, "");
  hl_str_printf(&text, "  %*s", a->label_width, "");
  for (int k = 0; k <= d; k++)
    hl_str_printf(&text, "  %*s%s", a->widths[k] - 1, "", k == d ? "^" : "  ");
  fprintf(stderr, "%s\n", hl_str_text(&text));
  return HL_EXIT_INPUT;
}

/* How an operand of this rank lies in a result of that rank: on its last dimensions. */
static void add_dimensions(hl_str *out, int rank, int result_rank)
{
  hl_str_add(out, ", broadcast_dimensions={");
  for (int i = 0; i < rank; i++)
    hl_str_printf(out, "%s%d", i ? "," : "", result_rank - rank + i);
  hl_str_add_char(out, '}');
}

static void add_array(hl_str *out, const named_shape *shape)
{
  hl_str_printf(out, "f32[%s]", shape->rank ? sizes_text(out->arena, shape) : "");
}

/* sum := sum + shape, as NumPy has it. */
static void add_sum(hl_str *out, alignment *a, int i, named_shape *sum)
{
  alignment pair = {.arena = a->arena, .shapes = (named_shape[]){*sum, a->shapes[i]}, .count = 2};
  align(&pair);
  int lesser = sum->rank < a->shapes[i].rank ? sum->rank : a->shapes[i].rank;
  hl_str_printf(out, "  %s", i == a->count - 1 ? "ROOT " : "");
  hl_str_printf(out, "sum%d = ", i);
  add_array(out, &pair.result);
  hl_str_printf(out, i == 1 ? " add(a0, a%d)" : " add(sum%2$d, a%1$d)", i, i - 1);
  if (sum->rank != a->shapes[i].rank)
    add_dimensions(out, lesser, pair.result.rank);
  hl_str_add_char(out, '\n');
  *sum = pair.result;
}

static void add_module(hl_str *out, alignment *a)
{
  named_shape sum = a->shapes[0];
  hl_str_add(out, "HloModule shapes\n\nENTRY main {\n");
  for (int i = 0; i < a->count; i++) {
    hl_str_printf(out, "  %sa%d = ", a->count == 1 ? "ROOT " : "", i);
    add_array(out, &a->shapes[i]);
    hl_str_printf(out, " parameter(%d)\n", i);
  }
  for (int i = 1; i < a->count; i++)
    add_sum(out, a, i, &sum);
  hl_str_add(out, "}\n");
}

static bool read_all(alignment *a, const hl_options *options)
{
  a->shapes = HL_ARRAY(a->arena, options->input_count, named_shape);
  for (a->count = 0; a->count < options->input_count; a->count++)
    if (!read_shape(options->inputs[a->count], &a->shapes[a->count])) {
      hl_complain(HL_EXIT_USAGE, "'%s' is no shape: write sizes as 2,1,5 and a scalar as ()",
                  options->inputs[a->count]);
      return false;
    }
  return true;
}

int hl_command_shapes(const hl_options *options, hl_arena *arena, hl_guard *guard)
{
  (void)guard;
  alignment a = {.arena = arena};
  hl_str text = {.arena = arena};
  if (!read_all(&a, options))
    return HL_EXIT_USAGE;
  align(&a);
  for (int d = a.result.rank; d-- > 0;)
    if (clash_at(&a, d))
      return complain_of_clash(&a, d);
  if (!hl_shape_fits(HL_F32, a.result.rank, a.result.sizes))
    return hl_complain(HL_EXIT_INPUT, "an array of %s has more bytes than can be counted",
                       sizes_text(arena, &a.result));
  hl_str_printf(&text, "// The result is %s:\n//\n", sizes_text(arena, &a.result));
  draw(&text, &a, "// ");
  draw_result(&text, &a);
  hl_str_add_char(&text, '\n');
  add_module(&text, &a);
  return hl_command_write(options->output, hl_str_text(&text), text.length) ? HL_EXIT_DONE
                                                                            : HL_EXIT_INPUT;
}
