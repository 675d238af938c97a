/* cmd_expected - results beside those of --expected, and the elements that lie farthest apart.
 *
 * Two elements agree when they are equal, when both are NaN, when |a - b| <= atol + rtol * |b|, or when at most
 * --ulp numbers of their type lie between them. Of a complex number each part counts as an element. */
#include "inputs.h"

#include "npz.h"
#include "progress.h"

#include "runtime/print.h"
#include "runtime/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SHOWN = 5, SHAPE_TEXT = 160 };

typedef struct element {
  size_t index;
  double have, want, apart; /* apart: |have - want|, infinite where it is no number */
  double ulps;
} element;

/* What one result has to say. */
typedef struct comparison {
  const hl_options *options;
  const hlo_exe_array *array;
  const hl_value_type *type; /* of an element: of a part, where the array is complex */
  const char *have, *want;
  size_t count, wrong;
  element worst[SHOWN]; /* the farthest first */
  int shown;
} comparison;

static double number(const hl_value_type *t, const void *item)
{
  char text[HL_VALUE_TEXT];
  float single;
  double result;
  if (t->kind == 'f' && t->bits == 32) {
    memcpy(&single, item, sizeof single);
    return (double)single;
  }
  if (t->kind == 'f' && t->bits == 64) {
    memcpy(&result, item, sizeof result);
    return result;
  }
  hl_value_format(t, item, text);
  return t->kind == 'p' ? !strcmp(text, "true") : strtod(text, NULL);
}

/* The place of a float among those of its type, in their order. */
static double place(const hl_value_type *t, const void *item)
{
  uint64_t bits = 0, sign = UINT64_C(1) << (t->bits - 1);
  memcpy(&bits, item, (size_t)t->item_bytes);
  return bits & sign ? -(double)(bits & ~sign) : (double)bits;
}

static element element_at(const comparison *c, size_t index)
{
  const hl_value_type *t = c->type;
  const char *have = c->have + index * (size_t)t->item_bytes;
  const char *want = c->want + index * (size_t)t->item_bytes;
  element e = {.index = index, .have = number(t, have), .want = number(t, want)};
  e.apart = e.have == e.want ? 0 : fabs(e.have - e.want);
  if (isnan(e.have) && isnan(e.want))
    e.apart = 0;
  else if (isnan(e.apart))
    e.apart = INFINITY;
  e.ulps = t->kind == 'f' && e.apart > 0 ? fabs(place(t, have) - place(t, want)) : e.apart;
  return e;
}

static bool agrees(const comparison *c, const element *e)
{
  const hl_options *o = c->options;
  bool is_number = !isnan(e->have) && !isnan(e->want);
  return e->apart == 0 || (is_number && e->ulps <= o->ulp) ||
         (isfinite(e->apart) && e->apart <= o->atol + o->rtol * fabs(e->want));
}

static void keep(comparison *c, const element *e)
{
  int at = c->shown < SHOWN ? c->shown++ : SHOWN - 1;
  if (at == SHOWN - 1 && c->wrong > SHOWN && !(e->apart > c->worst[at].apart))
    return;
  for (; at > 0 && e->apart > c->worst[at - 1].apart; at--)
    c->worst[at] = c->worst[at - 1];
  c->worst[at] = *e;
}

static void compare(comparison *c)
{
  size_t item = (size_t)c->type->item_bytes;
  for (size_t i = 0; i < c->count; i++) {
    if (!memcmp(c->have + i * item, c->want + i * item, item))
      continue;
    element e = element_at(c, i);
    if (agrees(c, &e))
      continue;
    c->wrong++;
    keep(c, &e);
  }
}

/* "[2,0]", and the part of a complex number. */
static void place_text(const comparison *c, size_t index, char *out, size_t size)
{
  bool is_complex = c->array->type[0] == 'c';
  int64_t indices[HL_NPY_MAX_RANK];
  size_t left = is_complex ? index / 2 : index, length = 1;
  for (int i = c->array->rank - 1; i >= 0; i--) {
    indices[i] = (int64_t)(left % (size_t)c->array->dims[i]);
    left /= (size_t)c->array->dims[i];
  }
  snprintf(out, size, "[");
  for (int i = 0; i < c->array->rank && length < size; i++)
    length += (size_t)snprintf(out + length, size - length, i ? ",%lld" : "%lld",
                               (long long)indices[i]);
  if (length < size)
    snprintf(out + length, size - length, "]%s", !is_complex ? "" : index % 2 ? " im" : " re");
}

static void value_text(const comparison *c, const char *data, size_t index, char *out)
{
  hl_value_format(c->type, data + index * (size_t)c->type->item_bytes, out);
}

static void report(const comparison *c)
{
  char shape[SHAPE_TEXT], where[SHAPE_TEXT], have[HL_VALUE_TEXT], want[HL_VALUE_TEXT];
  hl_progress_clear(c->options->progress);
  fprintf(stderr, "%s %s: %zu of %zu elements differ; the farthest apart:\n", c->array->name,
          hl_array_shape_text(c->array, shape, sizeof shape), c->wrong, c->count);
  fprintf(stderr, "  %-16s %16s %16s %10s %10s %8s\n", "element", "result", "expected", "absolute",
          "relative", "ulp");
  for (int i = 0; i < c->shown; i++) {
    const element *e = &c->worst[i];
    place_text(c, e->index, where, sizeof where);
    value_text(c, c->have, e->index, have);
    value_text(c, c->want, e->index, want);
    fprintf(stderr, "  %-16s %16s %16s %10.3g %10.3g %8.6g\n", where, have, want, e->apart,
            e->apart / fabs(e->want), e->ulps);
  }
}

/* ---- where they come from ---- */

static bool is_folder(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* "a.npy,b.npy", one .npz, or a folder with 0.npy, 1.npy, ... */
static const char **list_paths(const hl_runner *r, int *count)
{
  hl_arena *arena = r->session->arena;
  const char *list = r->options->expected;
  size_t most = strlen(list) + (size_t)r->result_count + 1;
  const char **paths = HL_ARRAY(arena, most, const char *);
  *count = 0;
  if (is_folder(list)) {
    for (; *count < r->result_count; ++*count)
      paths[*count] = hl_arena_printf(arena, "%s/%d.npy", list, *count);
    return paths;
  }
  while (*list) {
    size_t length = strcspn(list, ",");
    paths[(*count)++] = hl_arena_strndup(arena, list, length);
    list += length + (list[length] == ',');
  }
  return paths;
}

static bool compare_all(hl_runner *r, const hl_arguments *expected)
{
  int wrong = 0;
  for (int i = 0; i < r->result_count; i++) {
    const hlo_exe_array *array = &r->results[i];
    const char *type = !strcmp(array->type, "c64") ? "f32" : !strcmp(array->type, "c128") ? "f64" : array->type;
    comparison c = {.options = r->options,
                    .array = array,
                    .type = hl_value_type_find(type),
                    .have = r->result_data[i],
                    .want = expected->data[i]};
    c.count = array->bytes / (size_t)c.type->item_bytes;
    compare(&c);
    if (c.wrong)
      report(&c);
    wrong += c.wrong > 0;
  }
  return !wrong || hl_session_input_fault(r->session, "%d of %d results differ from those expected", wrong,
                                          r->result_count);
}

bool hl_expected_compare(hl_runner *r)
{
  int count;
  hl_io_error e;
  hl_arguments expected = {0};
  const char **paths = list_paths(r, &count);
  hl_argument_source source = {.params = r->results,
                               .param_count = r->result_count,
                               .what = "result",
                               .paths = paths,
                               .path_count = count,
                               .inflate = hl_npz_inflate};
  bool ok = hl_arguments_load(&source, &expected, &e);
  if (!ok)
    hl_session_input_fault(r->session, "--expected: %s", e.text);
  ok = ok && compare_all(r, &expected);
  hl_arguments_free(&expected);
  return ok;
}
