/* hlotest_values.c - the arrays of ARG and EXPECT lines: from text, and compared with results. */
#include "hlotest.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads "f32[2,3]", with a layout behind it or not; NULL when there is no such thing. */
static const char *parse_shape(const char *text, shape *s)
{
  char name[24];
  int used = 0;
  if (sscanf(text, "%23[a-z0-9][%n", name, &used) != 1 || used == 0)
    return NULL;
  *s = (shape){.type = hl_value_type_find(name), .items = 1};
  for (text += used; s->type && *text != ']'; text += *text == ',') {
    char *end = NULL;
    int64_t size = strtoll(text, &end, 10);
    if (end == text || s->rank == HL_NPY_MAX_RANK)
      return NULL;
    s->dims[s->rank++] = size;
    s->items *= (size_t)size;
    text = end;
  }
  if (!s->type)
    return NULL;
  text++;
  return *text == '{' && (isdigit((unsigned char)text[1]) || text[1] == ':') ? strchr(text, '}') + 1
                                                                             : text;
}

/* Appends the array shapes of a shape that may be a tuple. */
static void flatten_shapes(const char *text, shape *list, int *count)
{
  int depth = 0;
  do {
    text += strspn(text, " ,\t\n");
    if (*text == '(' || *text == ')') {
      depth += *text == '(' ? 1 : -1;
      text++;
    } else if (strncmp(text, "/*", 2) == 0) {
      text = strstr(text, "*/");
      text = text ? text + 2 : NULL;
    } else if (*count < MOST_ARRAYS) {
      text = parse_shape(text, &list[*count]);
      *count += text != NULL;
    }
  } while (text && depth > 0 && *text);
}

/* The shape of the instruction whose right side ends at `at`: what follows the "=" before it. */
static void shapes_before(const char *begin, const char *at, shape *list, int *count)
{
  while (at > begin && at[-1] != '=')
    at--;
  if (at > begin)
    flatten_shapes(skip_blanks(at), list, count);
}

static const char *entry_of(const char *module)
{
  const char *entry = strstr(module, "ENTRY");
  return entry ? entry : module;
}

/* The entry's parameters, as written; a test needs no more of the language than that. */
int parameter_shapes(const char *module, shape *list)
{
  const char *entry = entry_of(module);
  int count = 0;
  for (int i = 0; i < MOST_ARRAYS; i++) {
    char *word = format(" parameter(%d)", i);
    const char *at = strstr(entry, word);
    free(word);
    if (!at)
      break;
    shapes_before(entry, at, list, &count);
  }
  return count;
}

int result_shapes(const char *module, shape *list)
{
  int count = 0;
  const char *root = strstr(entry_of(module), "ROOT ");
  const char *equal = root ? strchr(root, '=') : NULL;
  if (equal)
    flatten_shapes(skip_blanks(equal + 1), list, &count);
  return count;
}

/* Reads values in row-major order; braces and commas only part them, "..." repeats the last. */
static bool parse_values(const char *text, const shape *s, char *out)
{
  size_t item = (size_t)s->type->item_bytes, count = 0;
  for (;;) {
    text += strspn(text, "{}, \t\r");
    if (*text == '\0')
      return count == s->items;
    if (strncmp(text, "...", 3) == 0 && count > 0) {
      for (; count < s->items; count++)
        memcpy(out + count * item, out + (count - 1) * item, item);
      text += 3;
    } else if (count == s->items || !hl_value_parse(s->type, &text, out + count++ * item)) {
      return false;
    }
  }
}

/* Makes the array that an ARG or EXPECT line tells; `known` is its shape in the module, or NULL. */
bool make_array(test_case *c, const value_text *v, const shape *known, hl_npy *a)
{
  shape s;
  hl_io_error e;
  const char *text = skip_blanks(v->text), *values = parse_shape(text, &s);
  if (!values && known) {
    s = *known;
    values = text;
  }
  if (!values) {
    fault(c, "needs a shape: %s", v->text);
    return false;
  }
  *a = (hl_npy){.rank = s.rank, .bytes = s.items * (size_t)s.type->item_bytes};
  memcpy(a->dims, s.dims, sizeof s.dims);
  hl_value_set_npy_type(s.type, a);
  a->data = a->owner = checked(hl_io_alloc(a->bytes, &e));
  if (parse_values(values, &s, a->data))
    return true;
  fault(c, "does not hold %zu values of %s: %s", s.items, s.type->name, v->text);
  hl_npy_free(a);
  return false;
}

/* Integers in the order of the floats, so that their difference counts units in the last place. */
static int64_t ordered(const char *at, int bytes)
{
  int64_t bits = 0;
  memcpy(&bits, at, (size_t)bytes);
  uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
  bool is_negative = (uint64_t)bits & sign;
  return is_negative ? -(int64_t)((uint64_t)bits & (sign - 1)) : bits;
}

static bool is_close(const hl_npy *want, const hl_npy *got, size_t at, int ulps)
{
  int part = want->kind == 'c' ? want->item_bytes / 2 : want->item_bytes;
  const char *w = (const char *)want->data + at, *g = (const char *)got->data + at;
  for (int i = 0; i < want->item_bytes; i += part) {
    int64_t a = ordered(w + i, part), b = ordered(g + i, part);
    uint64_t apart = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
    if (memcmp(w + i, g + i, (size_t)part) != 0 && apart > (uint64_t)ulps)
      return false;
  }
  return true;
}

/* Part `index` of an array of f32, f64 or of complex numbers of such parts. */
static double part_at(const hl_npy *a, size_t index)
{
  float narrow = 0;
  double wide = 0;
  if (a->item_bytes == (a->kind == 'c' ? 16 : 8))
    memcpy(&wide, (const double *)a->data + index, sizeof wide);
  else
    memcpy(&narrow, (const float *)a->data + index, sizeof narrow);
  return wide + (double)narrow;
}

static double largest_part(const hl_npy *a, size_t count)
{
  double largest = 0;
  for (size_t i = 0; i < count; i++) {
    double size = fabs(part_at(a, i));
    largest = isfinite(size) ? fmax(largest, size) : largest;
  }
  return largest;
}

/* Faults where results are further from `want` than a share of its largest value. */
static void compare_by_share(test_case *c, const hl_npy *want, const hl_npy *got, double share,
                             const char *what)
{
  int parts = want->kind == 'c' ? 2 : 1, bytes = want->item_bytes / parts;
  if ((want->kind != 'f' && want->kind != 'c') || bytes < 4) {
    fault(c, "%s: only f32, f64, c64 and c128 can be compared by a share", what);
    return;
  }
  size_t count = want->bytes / (size_t)bytes;
  double most = share * largest_part(want, count);
  for (size_t i = 0; i < count; i++) {
    double w = part_at(want, i), g = part_at(got, i);
    if (fabs(w - g) <= most || w == g || (isnan(w) && isnan(g)))
      continue;
    fault(c, "%s: number %zu is %.9g, not %.9g", what, i, g, w);
    return;
  }
}

/* Compares a result with the expected array. `type` is for the message; NULL prints no values. */
void compare(test_case *c, const hl_npy *want, const hl_npy *got, const value_text *v,
             const char *what)
{
  size_t item = (size_t)want->item_bytes;
  if (want->kind != got->kind || want->item_bytes != got->item_bytes || want->rank != got->rank ||
      memcmp(want->dims, got->dims, sizeof *want->dims * (size_t)want->rank) != 0) {
    fault(c, "%s: type or shape differs", what);
    return;
  }
  if (v && v->share > 0) {
    compare_by_share(c, want, got, v->share, what);
    return;
  }
  for (size_t at = 0; at < want->bytes; at += item)
    if (!is_close(want, got, at, v ? v->ulps : 0)) {
      uint64_t w = 0, g = 0;
      memcpy(&w, (const char *)want->data + at, item < 8 ? item : 8);
      memcpy(&g, (const char *)got->data + at, item < 8 ? item : 8);
      fault(c, "%s: value %zu has bits 0x%llx, not 0x%llx", what, at / item, (unsigned long long)g,
            (unsigned long long)w);
      return;
    }
}
