/* loop_stream.c - a row times a matrix that no cache holds.
 *
 *   for c in 0..N: dot k in 0..K: x[k], w[k,c]
 *
 * becomes, for panels of columns that threads share,
 *
 *   for p
 *     for c in 0..P: %sums[c] := 0
 *     for s in 0..K/8: for c in 0..P: %sums[c] := fold k in 0..8 from %sums[c]: fma(x[8*s+k], w[8*s+k,P*p+c], acc)
 *     for c in 0..P: 0 + %sums[c]
 *
 * The sums stay in the first cache, and memory is read in 8 long runs at a time, which the processor sees and fetches ahead. Sums
 * that stay in registers allow a few vectors of columns only, so that each line of the matrix is read in short pieces far apart:
 * a third slower; 16 runs of half the length are a tenth slower. Where K has several blocks, %totals takes the sums of each.
 *
 * Requires: coalesced loops, none of them scheduled. Keeps: every value; the order of each sum.
 */
#include "loop_copy.h"
#include "loop_product.h"
#include "lower_dot.h"

enum {
  LEAST_BYTES = 1 << 20, /* of the matrix: smaller ones stay in the second cache */
  LEAST_COLUMNS = 256,
  RUN_BYTES = 6144, /* of a line of the matrix, at most */
  FEW_PANELS = 2,   /* for the threads to share */
  PANEL_UNIT = 64,  /* columns: whole vectors */
  STEP = 8          /* lines read at a time */
};

typedef struct streaming {
  hl_program *program;
  hl_step *step;
  const hl_product *p;
  hl_element_type type;                       /* of the sums */
  int64_t depth, blocks;                      /* depth: terms of a sum */
  hl_node *panel;
  hl_loop_builder at;      /* in the panel, in front of the columns */
  hl_param *sums, *totals; /* totals: NULL where there is one block */
} streaming;

/* --- where it pays --- */

typedef struct matrix_search {
  const hl_node *column, *along;
  const hl_param *found; /* columns side by side, lines apart */
  bool suits;            /* no load takes columns apart */
} matrix_search;

static void look_for_matrix(void *user, hl_node *node)
{
  matrix_search *s = user;
  if (node->op != HL_LOOP_LOAD)
    return;
  int64_t stride = hl_stride_of(node->access, s->column), line = hl_stride_of(node->access, s->along);
  s->suits &= (stride == 0 || stride == 1) && node->operand_count == 0;
  if (stride == 1 && line >= LEAST_COLUMNS)
    s->found = node->access->param;
}

static const hl_param *find_matrix(const hl_product *p)
{
  matrix_search s = {hl_loop_var(p->loops[0], 0), hl_loop_var(p->reduce, 0), NULL, true};
  hl_block_walk(&p->reduce->loop->body, look_for_matrix, &s);
  return s.suits ? s.found : NULL;
}

static bool suits(const hl_product *p)
{
  const hl_loop *reduce = p->reduce->loop;
  if (p->depth != 1 || p->loops[0]->loop->limits[0] || reduce->var_count != 1 ||
      reduce->combiners[0].order != HL_ORDER_DOT || reduce->extents[0] % STEP != 0 ||
      hl_product_extent(p, 0) < LEAST_COLUMNS)
    return false;
  const hl_param *matrix = find_matrix(p);
  return matrix && reduce->extents[0] * hl_product_extent(p, 0) * hl_type_bytes(matrix->type) >= LEAST_BYTES;
}

/* Panels of one width, an even number where that is not far away: two threads then end together. */
static int64_t panel_width(const hl_product *p)
{
  int64_t columns = hl_product_extent(p, 0);
  int64_t most = RUN_BYTES / hl_type_bytes(find_matrix(p)->type);
  int64_t panels = (columns + most - 1) / most;
  panels = panels < FEW_PANELS ? FEW_PANELS : panels + panels % 2;
  int64_t width = (columns + panels - 1) / panels;
  return (width + PANEL_UNIT - 1) / PANEL_UNIT * PANEL_UNIT;
}

/* --- loops --- */

/* A loop over the columns of the panel; at goes on inside. */
static hl_node *column_loop(const streaming *s, hl_loop_builder *at)
{
  const hl_loop *columns = s->p->loops[0]->loop;
  hl_node *loop = hl_loop_for(at, HL_MODE_SERIAL, columns->extents[0], columns->limits[0]);
  at->at = &loop->loop->body;
  return loop;
}

static hl_access *row_access(const streaming *s, hl_param *row, hl_node *column)
{
  hl_access *access = hl_access_new(s->program->arena, row, 0);
  hl_access_add(s->program->arena, access, column, 1);
  return access;
}

static hl_node *load_row(const streaming *s, hl_loop_builder *at, hl_param *row, hl_node *column)
{
  return hl_loop_load(at, row_access(s, row, column), NULL, NULL);
}

static hl_param *add_row(const streaming *s, const char *suffix)
{
  int64_t *dims = HL_ARRAY(s->program->arena, 1, int64_t);
  dims[0] = s->p->loops[0]->loop->extents[0];
  hl_buffer buffer = {.name = hl_arena_printf(s->program->arena, "%s.%s", s->p->kernel->name, suffix),
                      .kind = HL_BUFFER_TEMP,
                      .type = s->type,
                      .rank = 1,
                      .dimensions = dims,
                      .bytes = dims[0] * hl_type_bytes(s->type),
                      .is_per_worker = true,
                      .offset = -1};
  return hl_step_add_param(s->step, hl_program_add_buffer(s->program, buffer), HL_PARAM_SCRATCH);
}

static void clear(const streaming *s, hl_loop_builder at, hl_param *row)
{
  hl_node *loop = column_loop(s, &at);
  hl_node *zero = hl_loop_const_float(&at, s->type, 0);
  hl_loop_store(&at, row_access(s, row, hl_loop_var(loop, 0)), zero, NULL);
}

/* What the fold does with one line, copied from the product. */
static void fill_fold(const streaming *s, hl_node *fold, hl_node *column)
{
  hl_node *reduce = s->p->reduce, *columns = s->p->loops[0], **sides = reduce->loop->yields;
  hl_loop_builder inside = {s->p->kernel, &fold->loop->body};
  hl_copying c = hl_copy_start(s->step, s->step, inside, sides[0]);
  c.needed[sides[1]->id] = true;
  hl_copy_need(&c, &reduce->loop->body);
  hl_copy_need(&c, &columns->loop->body);
  c.made[hl_loop_var(reduce, 0)->id] = hl_loop_var(fold, 0);
  c.made[hl_loop_var(columns, 0)->id] = column;
  hl_copy_block(&c, &columns->loop->body);
  hl_copy_block(&c, &reduce->loop->body);
  hl_node *operands[3] = {hl_copied(&c, sides[0]), hl_copied(&c, sides[1]), fold->loop->accs[0]};
  hl_node *sum = hl_loop_op_node(&c.at, HL_LOOP_FMA, s->type, 3, operands);
  hl_loop_set_yields(s->p->kernel, fold, 1, &sum);
}

/* Adds the lines of block `block` (NULL: the only one) to the sums, some at a time. */
static void add_lines(const streaming *s, hl_loop_builder at, hl_node *block)
{
  hl_kernel *kernel = s->p->kernel;
  int64_t lines = STEP, steps = s->depth / STEP, in_block = HL_DOT_BLOCK / STEP;
  hl_node *limit = NULL;
  if (block && steps % in_block) {
    hl_node *all = hl_loop_const_int(&at, HL_S64, steps), *each = hl_loop_const_int(&at, HL_S64, in_block);
    limit = hl_loop_binary(&at, HL_LOOP_SUB, all, hl_loop_binary(&at, HL_LOOP_MUL, block, each));
  }
  hl_node *step = hl_loop_for(&at, HL_MODE_SERIAL, block ? in_block : steps, limit);
  step->loop->is_ordered = true;
  at.at = &step->loop->body;
  hl_node *column = hl_loop_var(column_loop(s, &at), 0);
  hl_node *before = load_row(s, &at, s->sums, column);
  hl_node *fold = hl_loop_fold(&at, 1, &lines, 1, &before);
  fill_fold(s, fold, column);
  hl_offset_var(kernel, fold->loop, 0, hl_loop_var(step, 0), STEP);
  if (block)
    hl_offset_var(kernel, fold->loop, 0, block, HL_DOT_BLOCK);
  hl_node *after = hl_loop_result(&at, fold, 0);
  hl_loop_store(&at, row_access(s, s->sums, column), after, NULL);
}

static void add_to_totals(const streaming *s, hl_loop_builder at)
{
  hl_node *column = hl_loop_var(column_loop(s, &at), 0);
  hl_node *total = load_row(s, &at, s->totals, column), *sum = load_row(s, &at, s->sums, column);
  total = hl_loop_binary(&at, HL_LOOP_ADD, total, sum);
  hl_loop_store(&at, row_access(s, s->totals, column), total, NULL);
}

static void add_blocks(const streaming *s)
{
  hl_loop_builder at = s->at;
  if (!s->totals) {
    clear(s, at, s->sums);
    add_lines(s, at, NULL);
    return;
  }
  clear(s, at, s->totals);
  hl_node *block = hl_loop_for(&at, HL_MODE_SERIAL, s->blocks, NULL);
  block->loop->is_ordered = true;
  at.at = &block->loop->body;
  clear(s, at, s->sums);
  add_lines(s, at, hl_loop_var(block, 0));
  add_to_totals(s, at);
}

/* The columns take their sums from the row. The total starts at +0, so that no sum is -0. */
static void replace_reduce(const streaming *s)
{
  hl_node *columns = s->p->loops[0], *result = s->p->reduce->next;
  hl_loop_builder at = {s->p->kernel, &columns->loop->body};
  hl_node *last = columns->loop->body.last;
  hl_node *value = load_row(s, &at, s->totals ? s->totals : s->sums, hl_loop_var(columns, 0));
  if (!s->totals)
    value = hl_loop_binary(&at, HL_LOOP_ADD, hl_loop_const_float(&at, s->type, 0), value);
  for (hl_node *node = last->next, *next; node; node = next) {
    next = node->next;
    hl_node_remove(node);
    hl_node_insert_before(node, s->p->reduce);
  }
  hl_replace_value(&columns->loop->body, result, value);
  hl_kernel_dce(s->p->kernel);
}

bool hl_stream_product(hl_program *program, hl_step *step, const hl_product *p)
{
  if (!suits(p))
    return false;
  streaming s = {.program = program,
                 .step = step,
                 .p = p,
                 .type = p->reduce->loop->combiners[0].type,
                 .depth = p->reduce->loop->extents[0]};
  s.blocks = (s.depth + HL_DOT_BLOCK - 1) / HL_DOT_BLOCK;
  hl_node *columns = p->loops[0];
  s.panel = hl_split_for(p->kernel, columns, panel_width(p));
  s.at = (hl_loop_builder){p->kernel, &s.panel->loop->body};
  s.sums = add_row(&s, "sums");
  s.totals = s.blocks > 1 ? add_row(&s, "totals") : NULL;
  hl_node_remove(columns);
  add_blocks(&s);
  hl_node_append(columns, &s.panel->loop->body);
  replace_reduce(&s);
  return true;
}
