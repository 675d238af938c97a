/* lower_lapack - custom calls of LAPACK as calls of its Fortran routines (LP64), one a batch.
 *
 * What a routine updates is copied to the result first. Sizes of work arrays are fixed formulas, at least what the routines'
 * documentation asks for, with room for blocks of 32 columns where they can use them: nothing is asked or allocated at run time.
 */
#include "lower_call.h"

#include "../ir/custom.h"

enum { MOST_VALUES = 24, BLOCK = 32 };

typedef struct lapack {
  const hl_call_site *site;
  hl_lapack l;
  hl_call *call;
  int64_t m, n, k;
} lapack;

/* ---- arguments, in the order of the routine ---- */

static void add_int(lapack *c, int64_t value)
{
  hl_add_call_value(c->call, (hl_call_value){.kind = HL_CALL_INT, .number = value});
}

/* Leading dimensions are at least 1. */
static void add_leading(lapack *c, int64_t rows)
{
  add_int(c, rows > 1 ? rows : 1);
}

static void add_option(lapack *c, const char *key)
{
  hl_add_call_value(c->call, (hl_call_value){.kind = HL_CALL_CHAR, .number = hl_custom_option(c->site->ins, key, 'N')});
}

/* An array of one part for each batch. */
static void add_array(lapack *c, hl_call_value_kind kind, hl_buffer *buffer)
{
  int64_t step = c->l.batches ? buffer->bytes / c->l.batches : 0;
  hl_add_call_value(c->call, (hl_call_value){.kind = kind, .buffer = buffer, .step = c->l.batches > 1 ? step : 0});
}

static void add_operand(lapack *c, int index)
{
  add_array(c, HL_CALL_READ, c->site->operands[index][0]);
}

static void add_result(lapack *c, int index)
{
  add_array(c, HL_CALL_WRITE, c->site->results[index]);
}

static hl_buffer *new_temp(lapack *c, const char *name, hl_element_type type, int64_t count)
{
  int64_t *dimensions = HL_NEW(c->site->arena, int64_t);
  *dimensions = count > 1 ? count : 1;
  hl_buffer buffer = {.name = hl_arena_printf(c->site->arena, "%s.%s", c->site->ins->name, name), .kind = HL_BUFFER_TEMP,
                      .type = type, .rank = 1, .dimensions = dimensions, .bytes = *dimensions * hl_type_bytes(type), .offset = -1};
  return hl_program_add_buffer(c->site->program, buffer);
}

/* Work memory, the same for all batches; with its length behind it. */
static void add_work(lapack *c, const char *name, hl_element_type type, int64_t count)
{
  hl_add_call_value(c->call, (hl_call_value){.kind = HL_CALL_WRITE, .buffer = new_temp(c, name, type, count)});
}

static void add_sized_work(lapack *c, const char *name, hl_element_type type, int64_t count)
{
  add_work(c, name, type, count);
  add_int(c, count > 1 ? count : 1);
}

/* Where a target has no result for it, what the routine says of its success is dropped. */
static void add_info(lapack *c, int result)
{
  if (result >= 0)
    add_result(c, result);
  else
    add_work(c, "info", HL_S32, 1);
}

static void copy(lapack *c, hl_buffer *to, hl_buffer *from)
{
  hl_step *step = hl_steps_add(c->site->arena, c->site->steps, HL_STEP_COPY);
  step->buffers = HL_ARRAY(c->site->arena, 2, hl_buffer *);
  step->buffers[0] = to;
  step->buffers[1] = from;
}

/* Operand `operand` in the memory of result `result`, for the routine to update. */
static void begin_on_copy(lapack *c, int result, int operand)
{
  copy(c, c->site->results[result], c->site->operands[operand][0]);
}

static void begin_call(lapack *c)
{
  c->call = hl_add_call(c->site, c->l.symbol, MOST_VALUES);
  c->call->is_fortran = true;
  c->call->rounds = c->l.batches;
}

static void add_updated(lapack *c, int result, int64_t rows)
{
  add_array(c, HL_CALL_UPDATE, c->site->results[result]);
  add_leading(c, rows);
}

static hl_element_type part(const lapack *c)
{
  return hl_component_type(c->l.type);
}

static bool is_complex(const lapack *c)
{
  return hl_is_complex(c->l.type);
}

static int64_t size(const lapack *c, char letter)
{
  return c->l.sizes[letter - 'a'];
}

static int64_t larger(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* ---- the routines ---- */

static void getrf(lapack *c)
{
  add_int(c, c->m);
  add_int(c, c->n);
  add_updated(c, 0, c->m);
  add_result(c, 1);
  add_info(c, 2);
}

static void potrf(lapack *c)
{
  add_option(c, "uplo");
  add_int(c, c->n);
  add_updated(c, 0, c->n);
  add_info(c, 1);
}

static void geqrf(lapack *c)
{
  add_int(c, c->m);
  add_int(c, c->n);
  add_updated(c, 0, c->m);
  add_result(c, 1);
  add_sized_work(c, "work", c->l.type, BLOCK * c->n);
  add_info(c, -1);
}

static void geqp3(lapack *c)
{
  add_int(c, c->m);
  add_int(c, c->n);
  add_updated(c, 0, c->m);
  add_array(c, HL_CALL_UPDATE, c->site->results[1]);
  add_result(c, 2);
  add_sized_work(c, "work", c->l.type, 2 * c->n + BLOCK * (c->n + 1));
  if (is_complex(c))
    add_work(c, "rwork", part(c), 2 * c->n);
  add_info(c, -1);
}

static void orgqr(lapack *c)
{
  add_int(c, c->m);
  add_int(c, c->n);
  add_int(c, size(c, 'p'));
  add_updated(c, 0, c->m);
  add_operand(c, 1);
  add_sized_work(c, "work", c->l.type, BLOCK * c->n);
  add_info(c, -1);
}

static void syevd(lapack *c)
{
  int64_t n = c->n;
  add_option(c, "mode");
  add_option(c, "uplo");
  add_int(c, n);
  add_updated(c, 0, n);
  add_result(c, 1);
  if (is_complex(c)) {
    add_sized_work(c, "work", c->l.type, n * (n + 2 + BLOCK));
    add_sized_work(c, "rwork", part(c), 1 + 5 * n + 2 * n * n);
  } else {
    add_sized_work(c, "work", c->l.type, 1 + (6 + BLOCK) * n + 2 * n * n);
  }
  add_sized_work(c, "iwork", HL_S32, 3 + 5 * n);
  add_info(c, 2);
}

static void gesdd(lapack *c)
{
  int64_t k = c->k, l = larger(c->m, c->n);
  add_option(c, "mode");
  add_int(c, c->m);
  add_int(c, c->n);
  add_updated(c, 0, c->m);
  add_result(c, 1);
  add_result(c, 2);
  add_leading(c, c->m);
  add_result(c, 3);
  add_leading(c, size(c, 'v'));
  add_sized_work(c, "work", c->l.type, 4 * k * k + 8 * k + (1 + BLOCK) * l);
  if (is_complex(c))
    add_work(c, "rwork", part(c), 5 * k * k + 7 * k + 2 * l * k + 2 * k * k);
  add_work(c, "iwork", HL_S32, 8 * k);
  add_info(c, 4);
}

static hl_buffer *one(lapack *c)
{
  hl_shape scalar = {.element_type = c->l.type};
  hl_literal *value = hl_literal_new(c->site->arena, hl_shape_scalar(c->site->arena, scalar.element_type));
  hl_literal_set_double(value, 0, 1);
  hl_buffer *buffer = new_temp(c, "one", c->l.type, 1);
  buffer->kind = HL_BUFFER_CONSTANT;
  buffer->data = value->data;
  return buffer;
}

static void trsm(lapack *c)
{
  add_option(c, "side");
  add_option(c, "uplo");
  add_option(c, "trans_x");
  add_option(c, "diag");
  add_int(c, c->m);
  add_int(c, c->n);
  hl_add_call_value(c->call, (hl_call_value){.kind = HL_CALL_READ, .buffer = one(c)});
  add_operand(c, 0);
  add_leading(c, size(c, 'a'));
  add_updated(c, 0, c->m);
}

static void gehrd(lapack *c)
{
  add_int(c, c->n);
  add_int(c, hl_custom_option(c->site->ins, "low", 1));
  add_int(c, hl_custom_option(c->site->ins, "high", c->n));
  add_updated(c, 0, c->n);
  add_result(c, 1);
  add_sized_work(c, "work", c->l.type, BLOCK * c->n);
  add_info(c, 2);
}

static void sytrd(lapack *c)
{
  add_option(c, "uplo");
  add_int(c, c->n);
  add_updated(c, 0, c->n);
  add_result(c, 1);
  add_result(c, 2);
  add_result(c, 3);
  add_sized_work(c, "work", c->l.type, BLOCK * c->n);
  add_info(c, 4);
}

/* The matrix is not a result. Real matrices have two results for the eigenvalues. */
static void geev(lapack *c, hl_buffer *matrix)
{
  int vectors = is_complex(c) ? 1 : 2;
  add_option(c, "compute_left");
  add_option(c, "compute_right");
  add_int(c, c->n);
  add_array(c, HL_CALL_UPDATE, matrix);
  add_leading(c, c->n);
  for (int i = 0; i < vectors + 2; i++) {
    add_result(c, i);
    if (i >= vectors)
      add_leading(c, c->n);
  }
  add_sized_work(c, "work", c->l.type, (4 + BLOCK) * c->n);
  if (is_complex(c))
    add_work(c, "rwork", part(c), 2 * c->n);
  add_info(c, vectors + 2);
}

typedef void routine_fn(lapack *c);

static routine_fn *const routines[HL_LAPACK_ROUTINES] = {
    [HL_LAPACK_GETRF] = getrf, [HL_LAPACK_POTRF] = potrf, [HL_LAPACK_GEQRF] = geqrf, [HL_LAPACK_GEQP3] = geqp3,
    [HL_LAPACK_ORGQR] = orgqr, [HL_LAPACK_SYEVD] = syevd, [HL_LAPACK_GESDD] = gesdd, [HL_LAPACK_TRSM] = trsm,
    [HL_LAPACK_GEHRD] = gehrd, [HL_LAPACK_SYTRD] = sytrd,
};

/* Without batches nothing is called: all arrays are empty. */
void hl_lower_lapack(const hl_call_site *site)
{
  lapack c = {.site = site};
  if (hl_lapack_read(site->arena, site->ins, &c.l) || c.l.batches == 0)
    return;
  c.m = size(&c, 'm');
  c.n = size(&c, 'n');
  c.k = size(&c, 'k');
  if (c.l.routine == HL_LAPACK_GEEV || c.l.routine == HL_LAPACK_GEEV_PARTS) {
    hl_buffer *operand = site->operands[0][0], *matrix = new_temp(&c, "matrix", c.l.type, c.l.batches * c.n * c.n);
    copy(&c, matrix, operand);
    begin_call(&c);
    geev(&c, matrix);
    return;
  }
  begin_on_copy(&c, 0, c.l.routine == HL_LAPACK_TRSM ? 1 : 0);
  if (c.l.routine == HL_LAPACK_GEQP3)
    begin_on_copy(&c, 1, 1);
  begin_call(&c);
  routines[c.l.routine](&c);
}
