/* loop_pack.c - products by blocks, with one operand packed.
 *
 *   for b: for i in 0..M: for j in 0..N: dot k: l[b,i,k], r[b,k,j]
 *
 * becomes
 *
 *   for b
 *     for p: for k: for c in 0..P: %r.packed[p,k,c] := r[b,k,P*p+c]
 *     for p: for i: for c in 0..P: dot k: l[b,i,k], %r.packed[p,k,c]
 *
 * A panel of P columns is 128 bytes wide and stays in the second cache while all rows use it: its
 * lines lie side by side, and an operand that is transposed, converted, padded or computed is so
 * once and not once a row; a convolution finds its patches laid out. Small ones are packed by each
 * worker into scratch, large ones, and those that are one for all b, by a step in front.
 *
 * Requires: coalesced loops, none of them scheduled. Keeps: every value; the order of each sum.
 */
#include "loop_copy.h"
#include "loop_product.h"

#include <string.h>

enum {
  PANEL_BYTES = 128,
  ROW_BLOCK = 64,  /* rows that a thread takes, or half of them */
  MANY_ROWS = 256, /* from which on threads share rows and not panels */
  FEW_PANELS = 8,
  NEAR_BYTES = 512,        /* rows no farther apart need no packing */
  REUSE_VECTORS = 32,      /* uses that pay for packing what can be loaded as vectors */
  REUSE_REPEATED = 16,     /* the same in a loop */
  REUSE = 4,               /* and what can not */
  SCRATCH_BYTES = 1 << 19, /* most for a worker */
  ROWS_BYTES = 1 << 18,    /* rows that stay in the second cache beside a panel */
  PACKED_BYTES = 1 << 28   /* most in all */
};

typedef struct axis {
  hl_node *loop;
  int var;
} axis;

enum { MAX_AXES = HL_PRODUCT_LOOPS + HL_PRODUCT_VARS + 2 };

typedef struct packing {
  hl_program *program;
  hl_step *step;
  hl_product p;
  hl_element_type type;
  int64_t block; /* rows that the caller wants; 0: as pays */
  int64_t all_columns;
  int64_t lanes, panels, depth; /* of the packed array: columns of a panel, panels, rows */
  uint64_t own;                 /* loops that the operand depends on, columns aside */
  bool is_shared;               /* by all workers: packed by a step in front */
  hl_node *outer[HL_PRODUCT_LOOPS];
  int outer_count, own_count; /* own ones come first */
  hl_node *rows, *columns,
      *panel;          /* loops of the nest as it becomes; columns alone is never NULL */
  axis axes[MAX_AXES]; /* of the packed array: own loops where it is shared, panel, reduce, columns
                        */
  int axis_count;
} packing;

static bool is_own(const packing *k, int loop)
{
  return k->own >> loop & 1;
}

/* --- what pays --- */

static int64_t extents_of(const packing *k, bool own)
{
  int64_t count = 1;
  for (int i = 0; i < k->p.columns; i++)
    if (is_own(k, i) == own)
      count *= hl_product_extent(&k->p, i);
  return count;
}

static bool is_vector(const packing *k)
{
  const hl_node *value = *k->p.across;
  return value->op == HL_LOOP_LOAD && value->operand_count == 0 &&
         hl_stride_of(value->access, hl_loop_var(k->p.loops[k->p.columns], 0)) == 1;
}

static bool is_near(const packing *k)
{
  const hl_loop *reduce = k->p.reduce->loop;
  int64_t stride = hl_stride_of((*k->p.across)->access, reduce->vars[reduce->var_count - 1]);
  return stride >= 0 && stride * hl_type_bytes(k->type) <= NEAR_BYTES;
}

static int64_t panel_bytes(const packing *k)
{
  return k->panels * k->depth * k->lanes * hl_type_bytes(k->type);
}

/* What is packed in front of a step that is run again and again may leave the loop. */
static bool pays(const packing *k, bool repeats)
{
  int64_t uses = extents_of(k, false);
  if (k->lanes < 4 || k->depth < 2 || panel_bytes(k) > PACKED_BYTES / extents_of(k, true))
    return false;
  if (is_vector(k))
    return !is_near(k) && uses >= (repeats && k->is_shared ? REUSE_REPEATED : REUSE_VECTORS);
  return uses >= REUSE;
}

static packing plan(hl_program *program, hl_step *step, const hl_product *p)
{
  packing k = {.program = program, .step = step, .p = *p, .type = (*p->across)->type};
  int64_t lanes = PANEL_BYTES / hl_type_bytes(k.type);
  k.all_columns = hl_product_extent(p, p->columns);
  k.lanes = lanes < k.all_columns ? lanes : k.all_columns;
  k.panels = (k.all_columns + k.lanes - 1) / k.lanes;
  k.depth = hl_product_depth(p);
  k.own = hl_product_uses(p, *p->across) & ((UINT64_C(1) << p->columns) - 1);
  k.is_shared = !k.own || panel_bytes(&k) > SCRATCH_BYTES;
  return k;
}

/* --- blocks --- */

/* Values between the loops go to where they are used. */
static void sink_values(packing *k)
{
  hl_node *first = k->columns->loop->body.first;
  for (int i = 0; i < k->p.columns; i++)
    for (hl_node *node = k->p.loops[i]->loop->body.first, *next; node; node = next) {
      next = node->next;
      if (node == k->p.loops[i + 1])
        continue;
      hl_node_remove(node);
      hl_node_insert_before(node, first);
    }
}

static void move_to_end(hl_node *node, hl_block *block)
{
  hl_node_remove(node);
  hl_node_append(node, block);
}

static void add_outer(packing *k, bool own)
{
  for (int i = 0; i < k->p.columns; i++)
    if (i != k->p.rows && is_own(k, i) == own)
      k->outer[k->outer_count++] = k->p.loops[i];
}

/* The longest of the first loops is outermost: threads share it. */
static void order_outer(packing *k)
{
  int longest = 0;
  add_outer(k, true);
  k->own_count = k->outer_count;
  add_outer(k, false);
  int count = k->block ? 0 : k->own_count ? k->own_count : k->outer_count;
  for (int i = 1; i < count; i++)
    if (k->outer[i]->loop->extents[0] > k->outer[longest]->loop->extents[0])
      longest = i;
  if (longest == 0)
    return;
  hl_node *first = k->outer[longest];
  memmove(&k->outer[1], &k->outer[0], (size_t)longest * sizeof *k->outer);
  k->outer[0] = first;
}

static void nest(packing *k)
{
  hl_block *at = &k->p.kernel->body;
  for (int i = 0; i < k->outer_count; i++) {
    move_to_end(k->outer[i], at);
    at = &k->outer[i]->loop->body;
  }
  if (k->rows) {
    move_to_end(k->rows, at);
    at = &k->rows->loop->body;
  }
  move_to_end(k->columns, at);
}

/* A size not far below `size` that divides the rows, if there is one. */
static int64_t even_block(int64_t rows, int64_t size)
{
  for (int64_t s = size; s >= size / 2 && s >= 8; s -= 8)
    if (rows % s == 0)
      return s;
  return size;
}

static int64_t row_block(const packing *k)
{
  int64_t rows = k->rows->loop->extents[0], row = k->depth * hl_type_bytes(k->type);
  if (k->block)
    return k->block;
  if (k->outer_count == 0 && rows < MANY_ROWS && k->panels >= FEW_PANELS)
    return rows;
  if (k->outer_count > 0 && rows * row <= ROWS_BYTES)
    return rows;
  return even_block(rows, rows >= 16 * ROW_BLOCK ? ROW_BLOCK : ROW_BLOCK / 2);
}

/* rows { panels { columns } } -> panels { rows { columns } } */
static void exchange(packing *k)
{
  move_to_end(k->panel, k->rows->block);
  move_to_end(k->rows, &k->panel->loop->body);
  move_to_end(k->columns, &k->rows->loop->body);
}

/* Columns of a strip for few rows, which is not packed: as much of a line of memory as the
 * accumulators allow. */
static int64_t strip(const packing *k)
{
  int64_t rows = k->rows ? k->rows->loop->extents[0] : 1;
  int64_t lanes = PANEL_BYTES / hl_type_bytes(k->type);
  return rows > 4 ? lanes : rows > 2 ? 2 * lanes : rows > 1 ? 4 * lanes : k->all_columns;
}

static void tile(packing *k, bool packs)
{
  hl_kernel *kernel = k->p.kernel;
  k->rows = k->p.rows < 0 ? NULL : k->p.loops[k->p.rows];
  k->columns = k->p.loops[k->p.columns];
  sink_values(k);
  order_outer(k);
  nest(k);
  if (k->rows && row_block(k) < k->rows->loop->extents[0])
    hl_split_for(kernel, k->rows, row_block(k));
  int64_t width = packs ? k->lanes : strip(k);
  if (width < k->all_columns)
    k->panel = hl_split_for(kernel, k->columns, width);
  if (k->rows && k->panel)
    exchange(k);
}

/* --- the packed array --- */

static void add_axis(packing *k, hl_node *loop, int var)
{
  k->axes[k->axis_count++] = (axis){loop, var};
}

static void list_axes(packing *k)
{
  for (int i = 0; i < k->own_count && k->is_shared; i++)
    add_axis(k, k->outer[i], 0);
  if (k->panel)
    add_axis(k, k->panel, 0);
  for (int i = 0; i < k->p.reduce->loop->var_count; i++)
    add_axis(k, k->p.reduce, i);
  add_axis(k, k->columns, 0);
}

static int64_t axis_extent(const packing *k, int i)
{
  return k->axes[i].loop == k->columns ? k->lanes : k->axes[i].loop->loop->extents[k->axes[i].var];
}

static hl_buffer *packed_buffer(const packing *k)
{
  int64_t *dims = HL_ARRAY(k->program->arena, k->axis_count, int64_t), count = 1;
  for (int i = 0; i < k->axis_count; i++)
    count *= dims[i] = axis_extent(k, i);
  hl_buffer buffer = {.name = hl_arena_printf(k->program->arena, "%s.packed", k->p.kernel->name),
                      .kind = HL_BUFFER_TEMP,
                      .type = k->type,
                      .rank = k->axis_count,
                      .dimensions = dims,
                      .bytes = count * hl_type_bytes(k->type),
                      .is_per_worker = !k->is_shared,
                      .offset = -1};
  return hl_program_add_buffer(k->program, buffer);
}

static hl_access *packed_access(const packing *k, hl_param *packed, const hl_copying *c)
{
  hl_access *access = hl_access_new(k->p.kernel->arena, packed, 0);
  int64_t stride = 1;
  for (int i = k->axis_count - 1; i >= 0; i--) {
    hl_node *index = hl_loop_var(k->axes[i].loop, k->axes[i].var);
    hl_access_add(k->p.kernel->arena, access, c ? hl_copied(c, index) : index, stride);
    stride *= axis_extent(k, i);
  }
  return access;
}

/* Whether elements that follow each other in the reduce lie side by side, and columns do not. */
typedef struct line_search {
  const hl_node *column, *along;
  bool is_found;
} line_search;

static void find_line(void *user, hl_node *node)
{
  line_search *s = user;
  if (node->op != HL_LOOP_LOAD)
    return;
  int64_t stride = hl_stride_of(node->access, s->column);
  s->is_found |= hl_stride_of(node->access, s->along) == 1 && (stride > 1 || stride < -1);
}

static bool is_transposed(const packing *k)
{
  hl_loop *reduce = k->p.reduce->loop;
  line_search s = {hl_loop_var(k->columns, 0), reduce->vars[reduce->var_count - 1], false};
  hl_block_walk(&reduce->body, find_line, &s);
  return s.is_found;
}

/* The last panel may be short; what it lacks is never read. */
static hl_node *copy_limit(const packing *k, hl_copying *c)
{
  if (!k->columns->loop->limits[0])
    return NULL;
  hl_node *lanes = hl_loop_const_int(&c->at, HL_S64, k->lanes);
  hl_node *start =
      hl_loop_binary(&c->at, HL_LOOP_MUL, hl_copied(c, hl_loop_var(k->panel, 0)), lanes);
  hl_node *all = hl_loop_const_int(&c->at, HL_S64, k->all_columns);
  return hl_loop_binary(&c->at, HL_LOOP_SUB, all, start);
}

/* The loops that fill the array, at the end of the builder's block; returns the outermost. */
static hl_node *fill(const packing *k, hl_copying *c, hl_param *packed)
{
  hl_node *first = NULL, *loop = NULL, *limit = NULL;
  for (int i = 0; i < k->axis_count; i++) {
    bool is_last = i == k->axis_count - 1;
    if (is_last) {
      loop->loop->jam = is_transposed(k) ? 2 : 0;
      limit = copy_limit(k, c);
    }
    loop = hl_copy_loop(c, k->axes[i].loop, k->axes[i].var);
    first = first ? first : loop;
    loop->loop->limits[0] = is_last ? limit : NULL;
  }
  if (c->at.kernel != k->p.kernel)
    hl_copy_block(c, &k->p.kernel->body);
  hl_copy_block(c, &k->columns->loop->body);
  hl_copy_block(c, &k->p.reduce->loop->body);
  hl_loop_store(&c->at, packed_access(k, packed, c), hl_copied(c, *k->p.across), NULL);
  return first;
}

static hl_copying start_copy(const packing *k, hl_step *step, hl_loop_builder at)
{
  hl_copying c = hl_copy_start(k->step, step, at, *k->p.across);
  hl_copy_need(&c, &k->p.reduce->loop->body);
  hl_copy_need(&c, &k->columns->loop->body);
  hl_copy_need(&c, &k->p.kernel->body);
  return c;
}

/* In the innermost of the loops that the operand depends on, before the rest. */
static hl_param *pack_in_scratch(packing *k)
{
  hl_kernel *kernel = k->p.kernel;
  hl_block *block = &k->outer[k->own_count - 1]->loop->body;
  hl_node *rest = block->last;
  while (rest->op != HL_LOOP_FOR)
    rest = rest->previous;
  hl_param *packed = hl_step_add_param(k->step, packed_buffer(k), HL_PARAM_SCRATCH);
  hl_copying c = start_copy(k, k->step, (hl_loop_builder){kernel, block});
  hl_node *first = fill(k, &c, packed);
  hl_node_remove(first);
  hl_node_insert_before(first, rest);
  return packed;
}

/* The step computes the packed array, and one behind it what the step did. */
static hl_param *pack_in_front(packing *k)
{
  hl_step *front = k->step;
  hl_buffer *buffer = packed_buffer(k);
  k->step = hl_step_split(k->program, front, ".packed");
  hl_copying c = start_copy(k, front, (hl_loop_builder){front->kernel, &front->kernel->body});
  fill(k, &c, hl_step_add_param(front, buffer, HL_PARAM_OUT));
  return hl_step_add_param(k->step, buffer, HL_PARAM_IN);
}

static void pack(packing *k)
{
  hl_kernel *kernel = k->p.kernel;
  list_axes(k);
  hl_param *packed = k->is_shared ? pack_in_front(k) : pack_in_scratch(k);
  hl_block *body = &k->p.reduce->loop->body;
  hl_loop_builder at = {kernel, body};
  hl_node *load = hl_loop_load(&at, packed_access(k, packed, NULL), NULL, NULL);
  hl_node_remove(load);
  if (body->first)
    hl_node_insert_before(load, body->first);
  else
    hl_node_append(load, body);
  *k->p.across = load;
  hl_kernel_dce(kernel);
  hl_prune_params(k->step);
}

hl_step *hl_block_products(hl_program *program, hl_step *step, bool repeats, int64_t rows)
{
  hl_product p;
  if (!hl_find_product(step->kernel, &p))
    return step;
  hl_step *last = hl_cut_quads(program, step, &p);
  if (!hl_find_product(last->kernel, &p))
    return last;
  if (rows == 0 && hl_stream_product(program, last, &p))
    return last;
  packing k = plan(program, last, &p);
  k.block = rows;
  bool packs = pays(&k, repeats);
  tile(&k, packs);
  if (packs)
    pack(&k);
  return k.step;
}
