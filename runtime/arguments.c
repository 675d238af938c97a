/* arguments.c - the arrays of a call, from files and to files. */
#define _GNU_SOURCE
#include "arguments.h"

#include "print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SHAPE_TEXT = 120, PATH_TEXT = 160 };

/* ---- arguments ---- */

static bool ends_with(const char *text, const char *end)
{
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static const char *npy_text(const hl_npy *a, char *out, size_t size)
{
  char type[16];
  snprintf(type, sizeof type, "%c%d", a->kind, a->item_bytes);
  hlo_exe_array shape = {.type = type, .rank = a->rank, .dims = a->dims};
  return hl_array_shape_text(&shape, out, size);
}

static bool has_shape(const hl_npy *a, const hlo_exe_array *param)
{
  if (a->rank != param->rank)
    return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dims[i] != param->dims[i])
      return false;
  return true;
}

/* A parameter and where its array was found, for messages. */
typedef struct place {
  const hl_argument_source *source;
  int index;
  const char *where;
} place;

static const char *what_of(const hl_argument_source *s)
{
  return s->what ? s->what : "parameter";
}

static bool check_array(const place *p, const hl_npy *a, hl_io_error *e)
{
  char have[SHAPE_TEXT], want[SHAPE_TEXT];
  const hlo_exe_array *param = &p->source->params[p->index];
  const hl_value_type *type = hl_value_type_find(param->type);
  if (!type)
    return hl_io_fail(e, "%s %d has type %s, which no file can hold", what_of(p->source), p->index,
                      param->type);
  if (!hl_value_accepts(type, a) || !has_shape(a, param))
    return hl_io_fail(e, "%.*s: holds NumPy %s, but %s %d, %.60s, is %s", PATH_TEXT, p->where,
                      npy_text(a, have, sizeof have), what_of(p->source), p->index, param->name,
                      hl_array_shape_text(param, want, sizeof want));
  int64_t unfit = hl_value_find_unfit(type, a->data, a->bytes / (size_t)a->item_bytes);
  return unfit < 0 || hl_io_fail(e, "%.*s: value %lld does not fit into %s", PATH_TEXT, p->where,
                                 (long long)unfit, param->type);
}

/* By name; by number where the archive is all that there is. */
static const hl_zip_member *find_member(const hl_argument_source *s, const hl_zip *z, int index)
{
  char numbered[32];
  const hlo_exe_array *param = &s->params[index];
  snprintf(numbered, sizeof numbered, "arr_%d", index);
  const hl_zip_member *m = hl_zip_find(z, param->name);
  if (!m && param->hlo_name)
    m = hl_zip_find(z, param->hlo_name);
  return m || s->path_count > 1 ? m : hl_zip_find(z, numbered);
}

static bool load_file(const hl_argument_source *s, int index, const char *path, hl_npy *array, hl_io_error *e)
{
  place p = {s, index, path};
  return hl_npy_load(path, array, e) && check_array(&p, array, e);
}

static bool load_member(const hl_argument_source *s, int index, const hl_zip *z, const hl_zip_member *m, hl_npy *array,
                        hl_io_error *e)
{
  hl_io_error why;
  place p = {s, index, s->paths[0]};
  if (!hl_zip_read(z, m, array, &why))
    return hl_io_fail(e, "%.*s: %.300s", PATH_TEXT, s->paths[0], why.text);
  return check_array(&p, array, e);
}

/* What the archive does not name comes from the files behind it, in order. */
static bool load_members(const hl_argument_source *s, const hl_zip *z, hl_npy *arrays,
                         hl_io_error *e)
{
  int next = 1;
  for (int i = 0; i < s->param_count; i++) {
    const hl_zip_member *m = find_member(s, z, i);
    if (!m && s->path_count == 1)
      return hl_io_fail(e, "%.*s: no member '%.80s' or 'arr_%d'", PATH_TEXT, s->paths[0],
                        s->params[i].name, i);
    if (!m && next == s->path_count)
      return hl_io_fail(e, "%.*s: no member '%.80s', and no file is left for it", PATH_TEXT, s->paths[0],
                        s->params[i].name);
    bool ok = m ? load_member(s, i, z, m, &arrays[i], e) : load_file(s, i, s->paths[next++], &arrays[i], e);
    if (!ok)
      return false;
  }
  return next == s->path_count || hl_io_fail(e, "%.*s: every argument has an array already", PATH_TEXT, s->paths[next]);
}

static bool load_archive(const hl_argument_source *s, hl_npy *arrays, hl_io_error *e)
{
  hl_zip z;
  bool ok = hl_zip_open(&z, s->paths[0], s->inflate, e) && load_members(s, &z, arrays, e);
  hl_zip_close(&z);
  return ok;
}

static bool load_files(const hl_argument_source *s, hl_npy *arrays, hl_io_error *e)
{
  if (s->path_count != s->param_count)
    return hl_io_fail(e, "the module %s %d %s%s, not %d", s->what ? "has" : "takes", s->param_count,
                      s->what ? s->what : "argument", s->param_count == 1 ? "" : "s", s->path_count);
  for (int i = 0; i < s->param_count; i++)
    if (!load_file(s, i, s->paths[i], &arrays[i], e))
      return false;
  return true;
}

static bool make_random(const hl_argument_source *s, hl_npy *arrays, hl_io_error *e)
{
  for (int i = 0; i < s->param_count; i++) {
    const hlo_exe_array *param = &s->params[i];
    const hl_value_type *type = hl_value_type_find(param->type);
    if (!type)
      return hl_io_fail(e, "parameter %d has type %s, which has no values", i, param->type);
    hl_npy *a = &arrays[i];
    a->bytes = (size_t)param->bytes;
    a->data = a->owner = hl_io_alloc(a->bytes, e);
    if (!a->data)
      return false;
    size_t items = a->bytes / (size_t)type->item_bytes;
    hl_value_fill_random(type, s->seed + (uint64_t)i, a->data, items);
  }
  return true;
}

static bool is_archive(const hl_argument_source *s)
{
  return s->path_count > 0 && ends_with(s->paths[0], ".npz");
}

bool hl_arguments_load(const hl_argument_source *source, hl_arguments *out, hl_io_error *e)
{
  size_t count = (size_t)source->param_count;
  *out = (hl_arguments){.count = source->param_count};
  out->arrays = calloc(count + 1, sizeof *out->arrays);
  out->data = calloc(count + 1, sizeof *out->data);
  if (!out->arrays || !out->data)
    return hl_io_fail(e, "out of memory");
  bool ok = source->is_random    ? make_random(source, out->arrays, e)
            : is_archive(source) ? load_archive(source, out->arrays, e)
                                 : load_files(source, out->arrays, e);
  for (size_t i = 0; i < count; i++)
    out->data[i] = out->arrays[i].data;
  return ok;
}

void hl_arguments_free(hl_arguments *a)
{
  for (int i = 0; a->arrays && i < a->count; i++)
    hl_npy_free(&a->arrays[i]);
  free(a->arrays);
  free(a->data);
  *a = (hl_arguments){0};
}

/* ---- results ---- */

static bool is_folder(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

hl_result_form hl_result_form_of(const char *path, int count, hl_io_error *e)
{
  if (strcmp(path, "-") == 0)
    return HL_RESULTS_PRINTED;
  if (ends_with(path, "/") || is_folder(path))
    return HL_RESULTS_FOLDER;
  if (ends_with(path, ".npz"))
    return HL_RESULTS_NPZ;
  if (ends_with(path, ".npy") && count == 1)
    return HL_RESULTS_NPY;
  if (ends_with(path, ".npy"))
    hl_io_fail(e, "-o %.*s: there are %d results; name a folder (DIR/) or an .npz", PATH_TEXT, path,
               count);
  else
    hl_io_fail(e, "-o %.*s: results go to a folder (DIR/), an .npz, an .npy or -", PATH_TEXT, path);
  return HL_RESULTS_BAD;
}

/* The array as a file holds it; the data stays the caller's. */
static bool as_npy(const hl_results *r, int index, hl_npy *a, hl_io_error *e)
{
  const hlo_exe_array *result = &r->arrays[index];
  const hl_value_type *type = hl_value_type_find(result->type);
  if (!type || result->rank > HL_NPY_MAX_RANK)
    return hl_io_fail(e, "result %d cannot be written as .npy", index);
  *a = (hl_npy){.rank = result->rank, .data = r->data[index], .bytes = (size_t)result->bytes};
  hl_value_set_npy_type(type, a);
  for (int i = 0; i < a->rank; i++)
    a->dims[i] = result->dims[i];
  return true;
}

/* The folder and those above it. `path` is changed and restored on the way. */
static bool make_folders(char *path, hl_io_error *e)
{
  for (char *p = path + 1; *p; p++) {
    if (*p != '/')
      continue;
    *p = '\0';
    bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
    *p = '/';
    if (!ok)
      return hl_io_fail(e, "cannot make folder %.*s: %s", PATH_TEXT, path, strerror(errno));
  }
  return true;
}

static bool write_folder(const hl_results *r, const char *path, hl_io_error *e)
{
  size_t room = strlen(path) + 40;
  char *file = malloc(room);
  if (!file)
    return hl_io_fail(e, "out of memory");
  int folder = snprintf(file, room, "%s%s", path, ends_with(path, "/") ? "" : "/");
  bool ok = make_folders(file, e);
  for (int i = 0; ok && i < r->count; i++) {
    hl_npy a;
    snprintf(file + folder, room - (size_t)folder, "%d.npy", i);
    ok = as_npy(r, i, &a, e) && hl_npy_save(file, &a, e);
  }
  free(file);
  return ok;
}

static bool write_archive(const hl_results *r, const char *path, hl_io_error *e)
{
  hl_zip_writer w;
  bool ok = hl_zip_create(&w, path, e);
  if (!ok)
    return false;
  for (int i = 0; ok && i < r->count; i++) {
    hl_npy a;
    ok = as_npy(r, i, &a, e);
    if (ok)
      hl_zip_add(&w, r->arrays[i].name, &a);
  }
  if (ok)
    return hl_zip_finish(&w, e);
  hl_zip_cancel(&w);
  return false;
}

static bool write_single(const hl_results *r, const char *path, hl_io_error *e)
{
  hl_npy a;
  return as_npy(r, 0, &a, e) && hl_npy_save(path, &a, e);
}

static bool print_results(const hl_results *r, hl_io_error *e)
{
  for (int i = 0; i < r->count; i++)
    hl_array_print(stdout, &r->arrays[i], r->data[i]);
  return fflush(stdout) == 0 || hl_io_fail(e, "cannot write standard output");
}

bool hl_results_write(const hl_results *r, const char *path, hl_io_error *e)
{
  switch (hl_result_form_of(path, r->count, e)) {
  case HL_RESULTS_FOLDER:
    return write_folder(r, path, e);
  case HL_RESULTS_NPZ:
    return write_archive(r, path, e);
  case HL_RESULTS_NPY:
    return write_single(r, path, e);
  case HL_RESULTS_PRINTED:
    return print_results(r, e);
  default:
    return false;
  }
}
