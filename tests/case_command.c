/* case_command.c - how a stored case is run: what stands in its meta.json, as words for a shell.
 *
 *   case_command CASE-FOLDER WORK-FOLDER
 *
 * Prints a line for each spelling of the module: its path, the paths of its arguments, and flags,
 * as `hlo-lite run` takes them. Arguments that are stored as a recipe (a generator and its numbers)
 * are written to the work folder. A case that is not run prints nothing.
 */
#include "runtime/npy.h"
#include "runtime/values.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 4096 };

/* ---- JSON, as far as it is needed: values are pointers into a text that is well formed ---- */

static const char *skip_blanks(const char *at)
{
  return at + strspn(at, " \t\r\n");
}

static const char *skip_string(const char *at)
{
  for (at++; *at && *at != '"'; at++)
    at += *at == '\\' && at[1];
  return *at ? at + 1 : at;
}

static const char *skip_value(const char *at)
{
  int depth = 0;
  for (at = skip_blanks(at); *at; at = skip_blanks(at)) {
    if (depth == 0 && strchr(",]}", *at))
      break;
    depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
    at = *at == '"' ? skip_string(at) : at + 1;
  }
  return at;
}

/* The first item of a list or the first key of an object; NULL where it is empty or something else.
 */
static const char *first_item(const char *value, char open)
{
  if (!value || *value != open)
    return NULL;
  value = skip_blanks(value + 1);
  return strchr("]}", *value) ? NULL : value;
}

static const char *next_item(const char *value)
{
  value = skip_value(value);
  return *value == ',' ? skip_blanks(value + 1) : NULL;
}

/* The value of a key of an object, or NULL. */
static const char *find(const char *object, const char *key)
{
  size_t n = strlen(key);
  for (const char *at = first_item(object, '{'); at;) {
    const char *value = skip_blanks(skip_string(at));
    if (*value == ':')
      value = skip_blanks(value + 1);
    if (strncmp(at + 1, key, n) == 0 && at[n + 1] == '"')
      return value;
    at = next_item(value);
  }
  return NULL;
}

/* Copies a string without escapes; empty where there is none. */
static const char *text_of(const char *value, char *out)
{
  size_t n = value && *value == '"' ? strcspn(value + 1, "\"") : 0;
  n = n < MOST_TEXT ? n : MOST_TEXT - 1;
  if (n > 0)
    memcpy(out, value + 1, n);
  out[n] = '\0';
  return out;
}

static double number_of(const char *object, const char *key)
{
  const char *value = find(object, key);
  return value ? strtod(value, NULL) : 0;
}

/* ---- recipes ---- */

static void fail(const char *what, const char *more)
{
  fprintf(stderr, "case_command: error: %s %s\n", what, more);
  exit(3);
}

typedef struct recipe {
  char generator; /* its first letter: 'c' const, 'i' iota, 'r' randint, 'u' uniform */
  uint64_t seed;
  double lo, hi, value, start, step;
} recipe;

static recipe read_recipe(const char *argument)
{
  char name[MOST_TEXT];
  const char *seed = find(argument, "seed");
  recipe r = {
      .seed = seed ? strtoull(seed, NULL, 10) : 0,
      .lo = number_of(argument, "lo"),
      .hi = number_of(argument, "hi"),
      .value = number_of(argument, "value"),
      .start = number_of(argument, "start"),
      .step = number_of(argument, "step"),
  };
  r.generator = text_of(find(argument, "gen"), name)[0];
  if (!strchr("ciru", r.generator) || !*name)
    fail("unknown generator", name);
  return r;
}

/* SplitMix64, number i. */
static uint64_t mix(uint64_t seed, uint64_t i)
{
  uint64_t z = seed + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

static double recipe_item(const recipe *r, uint64_t i)
{
  if (r->generator == 'c')
    return r->value;
  if (r->generator == 'i')
    return r->start + (double)i * r->step;
  uint64_t bits = mix(r->seed, i);
  if (r->generator == 'r')
    return r->lo + (double)(((bits >> 32) * (uint64_t)(r->hi - r->lo)) >> 32);
  return (float)(r->lo + (double)(bits >> 40) * ((r->hi - r->lo) / 16777216.0));
}

/* Rounds to a float type, cuts to an integer, compares with zero for pred. */
static void store(const hl_value_type *t, double value, void *item)
{
  char text[64];
  const char *at = text;
  int64_t whole = t->kind == 'p' ? value != 0 : (int64_t)value;
  float single = (float)value;
  if (strchr("psu", t->kind)) {
    memcpy(item, &whole, (size_t)t->item_bytes); /* little endian, as the files are */
  } else if (t->bits == 32) {
    memcpy(item, &single, sizeof single);
  } else {
    snprintf(text, sizeof text, "%.17g", value);
    hl_value_parse(t, &at, item);
  }
}

static void read_shape(const char *argument, const hl_value_type *t, hl_npy *a)
{
  hl_value_set_npy_type(t, a);
  for (const char *at = first_item(find(argument, "shape"), '['); at; at = next_item(at))
    if (a->rank < HL_NPY_MAX_RANK)
      a->dims[a->rank++] = strtoll(at, NULL, 10);
  if (!hl_npy_size(a->dims, a->rank, a->item_bytes, &a->bytes))
    fail("shape of", argument);
}

static void write_recipe(const char *argument, const char *path)
{
  char name[MOST_TEXT];
  hl_npy a = {0};
  hl_io_error e;
  recipe r = read_recipe(argument);
  const hl_value_type *t = hl_value_type_find(text_of(find(argument, "dtype"), name));
  if (!t || t->kind == 'c')
    fail("no recipe for type", name);
  read_shape(argument, t, &a);
  a.data = hl_io_alloc(a.bytes, &e);
  if (!a.data)
    fail(path, e.text);
  for (size_t i = 0; i < a.bytes / (size_t)a.item_bytes; i++)
    store(t, recipe_item(&r, i), (char *)a.data + i * (size_t)a.item_bytes);
  if (!hl_npy_save(path, &a, &e))
    fail(path, e.text);
  free(a.data);
}

/* ---- cases ---- */

/* Appends the paths of the arguments to `line`, writing those that are recipes. */
static void print_arguments(const char *meta, const char *folder, const char *work, FILE *line)
{
  int i = 0;
  for (const char *at = first_item(find(meta, "args"), '['); at; at = next_item(at), i++) {
    char file[MOST_TEXT], path[2 * MOST_TEXT];
    if (*text_of(find(at, "file"), file)) {
      fprintf(line, " %s/%s", folder, file);
      continue;
    }
    snprintf(path, sizeof path, "%s/arg%d.npy", work, i);
    write_recipe(at, path);
    fprintf(line, " %s", path);
  }
  for (const char *at = first_item(find(meta, "flags"), '['); at; at = next_item(at)) {
    char flag[MOST_TEXT];
    fprintf(line, " %s", text_of(at, flag));
  }
}

/* Cases of other kinds are refused, or compiled only, or have a module that a program makes. */
static bool is_run(const char *meta)
{
  char kind[MOST_TEXT];
  text_of(find(meta, "kind"), kind);
  return !find(meta, "module_gen") &&
         (!*kind || strcmp(kind, "run") == 0 || strcmp(kind, "scale") == 0);
}

static void print_case(const char *meta, const char *folder, const char *work)
{
  char *rest = NULL, file[MOST_TEXT];
  size_t size = 0;
  FILE *line = open_memstream(&rest, &size);
  if (!line)
    fail(folder, "out of memory");
  print_arguments(meta, folder, work, line);
  fclose(line);
  const char *spelling = first_item(find(meta, "files"), '[');
  if (!spelling)
    printf("%s/module.hlo%s\n", folder, rest);
  for (; spelling; spelling = next_item(spelling))
    printf("%s/%s%s\n", folder, text_of(spelling, file), rest);
  free(rest);
}

int main(int argc, char **argv)
{
  char path[MOST_TEXT];
  void *data = NULL;
  size_t bytes = 0;
  hl_io_error e;
  if (argc != 3) {
    fputs("usage: case_command CASE-FOLDER WORK-FOLDER\n", stderr);
    return 2;
  }
  snprintf(path, sizeof path, "%s/meta.json", argv[1]);
  if (!hl_io_read(path, &data, &bytes, &e))
    fail("cannot read", e.text);
  char *meta = calloc(1, bytes + 1);
  if (!meta)
    fail(path, "out of memory");
  memcpy(meta, data, bytes);
  if (is_run(skip_blanks(meta)))
    print_case(skip_blanks(meta), argv[1], argv[2]);
  free(meta);
  free(data);
  return 0;
}
