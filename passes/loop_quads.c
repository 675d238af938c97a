/* loop_quads.c - products of bytes, four at a time.
 *
 *   for i: for j: add k in 0..K: convert.s32(l[i,k]) * convert.s32(r[k,j])
 *
 * becomes, where the operands are s8 or u8 and each is used often,
 *
 *   for i: for j: add k in 0..K/4: dot4(quad(l, i, k), quad(r, j, k))
 *
 * where quad is the four bytes of iterations 4k to 4k + 3 as one number: for which processors have
 * instructions. One side of dot4 is unsigned and the other signed. Where both are alike, the bytes
 * of r are moved by 128, and 128 times the sum of a row of l is taken off what comes out, or put
 * to it. Bytes of l that lie side by side stay where they are, else a step in front packs them; r
 * is for loop_pack.c to pack. Iterations that the last quad lacks count as zero.
 *
 * Keeps: every value; sums of integers may be in any order, and wrap.
 */
#include "loop_copy.h"
#include "loop_product.h"

enum { QUAD = 4, LEAST_USES = 4, LEAST_DEPTH = 16, HALF = 128 };

typedef struct quads {
  hl_program *program;
  hl_step *step; /* the product's */
  const hl_product *p;
  hl_node *reduce, *product; /* l * r in it */
  hl_node *var;              /* the innermost of the reduce */
  int64_t depth;             /* its iterations as they were */
  int row, column;           /* operands of the product: l and r */
} quads;

/* The bytes of a side. */
static hl_node *byte_of(const quads *q, int side)
{
  return q->product->operands[side]->operands[0];
}

static bool is_byte(const hl_node *side)
{
  return side->op == HL_LOOP_CONVERT &&
         (side->operands[0]->type == HL_S8 || side->operands[0]->type == HL_U8);
}

static bool suits(const hl_product *p)
{
  const hl_loop *reduce = p->reduce->loop;
  const hl_node *product = reduce->yields[0];
  if (p->rows < 0 || product->op != HL_LOOP_MUL || hl_type_bits(product->type) != 32 ||
      !is_byte(product->operands[0]) || !is_byte(product->operands[1]))
    return false;
  int last = reduce->var_count - 1;
  hl_use_count uses = hl_count_uses(&p->reduce->loop->body, reduce->vars[last]);
  return uses.plain == 0 && reduce->extents[last] >= LEAST_DEPTH &&
         hl_product_extent(p, p->rows) >= LEAST_USES &&
         hl_product_extent(p, p->columns) >= LEAST_USES;
}

static hl_node *s32(hl_loop_builder *at, int64_t value)
{
  return hl_loop_const_int(at, HL_S32, value);
}

/* --- the bytes of a quad --- */

typedef struct quad_bytes {
  hl_copying *copy;
  hl_node *value;
  hl_node *guard;   /* of the places that the last quad may lack */
  hl_node *filling; /* that it has there */
  int64_t guarded_from;
} quad_bytes;

static void guard_load(hl_loop_builder *at, hl_node *load, const quad_bytes *b)
{
  hl_node **operands = HL_ARRAY(at->kernel->arena, 2, hl_node *), *guard = b->guard;
  operands[0] = guard;
  operands[1] = load->operand_count ? load->operands[1] : NULL;
  if (load->operand_count) {
    operands[0] = hl_loop_binary(at, HL_LOOP_AND, load->operands[0], guard);
    hl_node_remove(operands[0]);
    hl_node_insert_before(operands[0], load);
  } else {
    operands[1] = hl_loop_const(at, load->type, 0);
    hl_node_remove(operands[1]);
    hl_node_insert_before(operands[1], load);
  }
  load->operands = operands;
  load->operand_count = 2;
}

/* What was copied behind `last` is there only where the guard holds. */
static hl_node *guard_copies(hl_loop_builder *at, hl_node *last, hl_node *byte, const quad_bytes *b)
{
  for (hl_node *node = last ? last->next : at->at->first; node; node = node->next)
    if (node->op == HL_LOOP_LOAD)
      guard_load(at, node, b);
  return hl_loop_select(at, b->guard, byte, b->filling);
}

static hl_node *shifted_byte(hl_loop_builder *at, hl_node *byte, int place)
{
  hl_node *x = hl_loop_convert(at, HL_S32, hl_loop_convert(at, HL_U8, byte));
  return place ? hl_loop_binary(at, HL_LOOP_SHL, x, s32(at, 8 * place)) : x;
}

/* The quad, from copies of `blocks`, the innermost last. */
static hl_node *put_quad(quad_bytes *b, hl_block *const *blocks, int count)
{
  hl_loop_builder *at = &b->copy->at;
  hl_node *quad = NULL;
  for (int place = 0; place < QUAD; place++) {
    hl_node *last = at->at->last;
    b->copy->place = place;
    for (int i = 0; i < count; i++)
      hl_copy_block(b->copy, blocks[i]);
    hl_node *byte = hl_copied(b->copy, b->value);
    if (place >= b->guarded_from)
      byte = guard_copies(at, last, byte, b);
    byte = shifted_byte(at, byte, place);
    quad = quad ? hl_loop_binary(at, HL_LOOP_OR, quad, byte) : byte;
  }
  return quad;
}

/* Guards where the depth is no multiple of four; `index` is the number of the quad. */
static quad_bytes start_bytes(const quads *q, hl_copying *c, hl_node *value, hl_node *index,
                              int64_t filling)
{
  quad_bytes b = {.copy = c, .value = value, .guarded_from = QUAD};
  if (q->depth % QUAD == 0)
    return b;
  b.guarded_from = q->depth % QUAD;
  hl_node *whole = hl_loop_const_int(&c->at, HL_S64, q->depth / QUAD);
  b.guard = hl_loop_binary(&c->at, HL_LOOP_LT, index, whole);
  b.filling = hl_loop_const_int(&c->at, value->type, filling);
  return b;
}

/* --- in the product's own body --- */

static void splice(hl_block *from, hl_block *to)
{
  for (hl_node *node = from->first, *next; node; node = next) {
    next = node->next;
    hl_node_remove(node);
    hl_node_append(node, to);
  }
}

static hl_node *put_in_body(quads *q, int side, bool is_moved)
{
  hl_block *body = &q->reduce->loop->body, front = {.owner = q->reduce};
  hl_node *value = byte_of(q, side);
  hl_copying c = hl_copy_start(q->step, q->step, (hl_loop_builder){q->step->kernel, &front}, value);
  hl_copy_need(&c, body);
  c.cut = q->var;
  quad_bytes b = start_bytes(q, &c, value, q->var, is_moved ? -HALF : 0);
  hl_node *quad = put_quad(&b, &body, 1);
  if (is_moved)
    quad = hl_loop_binary(&c.at, HL_LOOP_XOR, quad, s32(&c.at, (int32_t)0x80808080));
  splice(&front, body);
  return quad;
}

/* --- in steps in front --- */

enum { MAX_AXES = HL_PRODUCT_LOOPS + HL_PRODUCT_VARS };

/* An array over loops that a side depends on, and over the reduce. */
typedef struct array {
  hl_node *loops[MAX_AXES];
  int vars[MAX_AXES], count;
} array;

static void add_axis(array *a, hl_node *loop, int var)
{
  a->loops[a->count] = loop;
  a->vars[a->count++] = var;
}

static void add_rows(const quads *q, array *a, bool is_last)
{
  uint64_t uses = hl_product_uses(q->p, byte_of(q, q->row));
  for (int i = 0; i < q->p->columns; i++)
    if (uses >> i & 1 && (i == q->p->rows) == is_last)
      add_axis(a, q->p->loops[i], 0);
}

static void add_depth(const quads *q, array *a)
{
  for (int i = 0; i < q->reduce->loop->var_count; i++)
    add_axis(a, q->reduce, i);
}

static int64_t axis_extent(const quads *q, const array *a, int i)
{
  hl_node *var = hl_loop_var(a->loops[i], a->vars[i]);
  return var == q->var ? (q->depth + QUAD - 1) / QUAD : a->loops[i]->loop->extents[a->vars[i]];
}

static hl_buffer *array_buffer(const quads *q, const array *a, const char *suffix)
{
  int64_t *dims = HL_ARRAY(q->program->arena, a->count + 1, int64_t), count = 1;
  for (int i = 0; i < a->count; i++)
    count *= dims[i] = axis_extent(q, a, i);
  hl_buffer buffer = {.name =
                          hl_arena_printf(q->program->arena, "%s%s", q->step->kernel->name, suffix),
                      .kind = HL_BUFFER_TEMP,
                      .type = HL_S32,
                      .rank = a->count,
                      .dimensions = dims,
                      .bytes = count * hl_type_bytes(HL_S32),
                      .offset = -1};
  return hl_program_add_buffer(q->program, buffer);
}

/* `copy` is NULL in the product. */
static hl_access *array_access(const quads *q, const array *a, hl_param *param,
                               const hl_copying *copy)
{
  hl_access *access = hl_access_new(q->program->arena, param, 0);
  int64_t stride = 1;
  for (int i = a->count; i-- > 0;) {
    hl_node *index = hl_loop_var(a->loops[i], a->vars[i]);
    hl_access_add(q->program->arena, access, copy ? hl_copied(copy, index) : index, stride);
    stride *= axis_extent(q, a, i);
  }
  return access;
}

static hl_copying start_copy(const quads *q, hl_step *front, const hl_node *value)
{
  hl_loop_builder at = {front->kernel, &front->kernel->body};
  hl_copying c = hl_copy_start(q->step, front, at, value);
  hl_copy_need(&c, &q->reduce->loop->body);
  for (int i = q->p->depth; i-- > 0;)
    hl_copy_need(&c, &q->p->loops[i]->loop->body);
  hl_copy_need(&c, &q->step->kernel->body);
  return c;
}

static int list_blocks(const quads *q, hl_block **blocks)
{
  int count = 0;
  blocks[count++] = &q->step->kernel->body;
  for (int i = 0; i < q->p->depth; i++)
    blocks[count++] = &q->p->loops[i]->loop->body;
  blocks[count++] = &q->reduce->loop->body;
  return count;
}

static void open_loops(const quads *q, const array *a, hl_copying *c)
{
  for (int i = 0; i < a->count; i++)
    hl_copy_loop(c, a->loops[i], a->vars[i])->loop->extents[0] = axis_extent(q, a, i);
}

/* The array as the product sees it: an element's load, not yet in a block's right place. */
static hl_node *load_array(const quads *q, const array *a, hl_buffer *buffer, hl_block *block)
{
  hl_loop_builder at = {q->step->kernel, block};
  hl_param *from = hl_step_add_param(q->step, buffer, HL_PARAM_IN);
  return hl_loop_load(&at, array_access(q, a, from, NULL), NULL, NULL);
}

/* Whether bytes that follow each other in the reduce lie side by side. */
static bool is_along(const quads *q, const hl_node *value)
{
  return value->op == HL_LOOP_LOAD && hl_stride_of(value->access, q->var) == 1;
}

static hl_node *pack_rows(quads *q)
{
  hl_node *value = byte_of(q, q->row);
  array a = {.count = 0};
  add_rows(q, &a, false);
  if (is_along(q, value))
    add_rows(q, &a, true);
  add_depth(q, &a);
  if (!is_along(q, value))
    add_rows(q, &a, true);
  hl_buffer *buffer = array_buffer(q, &a, ".quads");
  hl_step *front = q->step;
  q->step = hl_step_split(q->program, front, ".quads");
  hl_copying c = start_copy(q, front, value);
  open_loops(q, &a, &c);
  c.cut = q->var;
  hl_block *blocks[HL_PRODUCT_LOOPS + 2];
  int count = list_blocks(q, blocks);
  quad_bytes b = start_bytes(q, &c, value, hl_copied(&c, q->var), 0);
  hl_node *quad = put_quad(&b, blocks, count);
  hl_param *to = hl_step_add_param(front, buffer, HL_PARAM_OUT);
  hl_loop_store(&c.at, array_access(q, &a, to, &c), quad, NULL);
  hl_kernel_cse(front->kernel);
  return load_array(q, &a, buffer, &q->reduce->loop->body);
}

/* `factor` times the sums of the rows' bytes, in the product behind its sum. */
static hl_node *sum_rows(quads *q, int64_t factor)
{
  static const hl_combiner sum = {.order = HL_ORDER_FREE, .combine = HL_LOOP_ADD, .type = HL_S32};
  const hl_loop *loop = q->reduce->loop;
  array a = {.count = 0};
  add_rows(q, &a, false);
  add_rows(q, &a, true);
  hl_buffer *buffer = array_buffer(q, &a, ".sums");
  hl_step *front = q->step;
  q->step = hl_step_split(q->program, front, ".sums");
  hl_copying c = start_copy(q, front, byte_of(q, q->row));
  open_loops(q, &a, &c);
  hl_loop_builder outside = c.at;
  hl_node *reduce = hl_loop_reduce(&outside, loop->var_count, loop->extents, 1, &sum);
  for (int i = 0; i < loop->var_count; i++)
    c.made[loop->vars[i]->id] = hl_loop_var(reduce, i);
  c.at.at = &reduce->loop->body;
  hl_block *blocks[HL_PRODUCT_LOOPS + 2];
  for (int i = 0, count = list_blocks(q, blocks); i < count; i++)
    hl_copy_block(&c, blocks[i]);
  hl_node *byte = hl_loop_convert(&c.at, HL_S32, hl_copied(&c, byte_of(q, q->row)));
  hl_loop_set_yields(front->kernel, reduce, 1, &byte);
  hl_node *value = hl_loop_result(&outside, reduce, 0);
  value = hl_loop_binary(&outside, HL_LOOP_MUL, value, s32(&outside, factor));
  hl_param *to = hl_step_add_param(front, buffer, HL_PARAM_OUT);
  hl_loop_store(&outside, array_access(q, &a, to, &c), value, NULL);
  return load_array(q, &a, buffer, q->reduce->block);
}

/* --- the product --- */

static hl_node *result_of(const quads *q)
{
  hl_node *result = q->reduce->next;
  return result && result->op == HL_LOOP_RESULT ? result : NULL;
}

/* What used the sum uses `value`, the sum changed by nodes at the end of its block. */
static void put_behind(hl_node *value, hl_node *behind)
{
  hl_node_remove(value);
  hl_node_insert_before(value, behind);
}

/* The sum is s32 from now on, and `more` is added to it; NULL: nothing. */
static void finish_sum(quads *q, hl_node *more)
{
  hl_node *result = result_of(q), *behind = result->next, *value = result;
  hl_element_type type = result->type;
  hl_loop_builder at = {q->step->kernel, q->reduce->block};
  if (!more && type == HL_S32)
    return;
  hl_node *place = hl_loop_const(&at, type, 0); /* what the uses name for now */
  hl_replace_value(q->reduce->block, result, place);
  result->type = HL_S32;
  if (more) {
    value = hl_loop_binary(&at, HL_LOOP_ADD, value, more);
    put_behind(more, behind);
    put_behind(value, behind);
  }
  if (type != HL_S32) {
    value = hl_loop_convert(&at, type, value);
    put_behind(value, behind);
  }
  hl_replace_value(q->reduce->block, place, value);
  hl_node_remove(place);
}

/* Whether the bytes of rows may be read four at a time where they lie. */
static bool stay_in_place(const quads *q)
{
  const hl_node *value = byte_of(q, q->row);
  return is_along(q, value) && value->operand_count == 0 && q->depth % QUAD == 0;
}

static void cut(quads *q)
{
  hl_loop *loop = q->reduce->loop;
  hl_element_type row = byte_of(q, q->row)->type;
  bool is_alike = row == byte_of(q, q->column)->type;
  hl_node *sums = is_alike ? sum_rows(q, row == HL_S8 ? -HALF : HALF) : NULL;
  hl_node *columns = put_in_body(q, q->column, is_alike);
  hl_node *rows = stay_in_place(q) ? put_in_body(q, q->row, false) : pack_rows(q);
  bool is_row_signed = row == HL_S8;
  hl_loop_builder at = {q->step->kernel, &loop->body};
  loop->yields[0] = hl_loop_op_node(
      &at, HL_LOOP_DOT4, HL_S32, 2,
      (hl_node *[]){is_row_signed ? columns : rows, is_row_signed ? rows : columns});
  loop->combiners[0].type = HL_S32;
  loop->extents[loop->var_count - 1] = (q->depth + QUAD - 1) / QUAD;
  finish_sum(q, sums);
  hl_kernel_dce(q->step->kernel);
  hl_kernel_cse(q->step->kernel);
  hl_prune_params(q->step);
}

hl_step *hl_cut_quads(hl_program *program, hl_step *step, const hl_product *p)
{
  if (!suits(p))
    return step;
  const hl_loop *loop = p->reduce->loop;
  quads q = {.program = program,
             .step = step,
             .p = p,
             .reduce = p->reduce,
             .product = loop->yields[0],
             .var = loop->vars[loop->var_count - 1],
             .depth = loop->extents[loop->var_count - 1]};
  q.column = p->across == &q.product->operands[0] ? 0 : 1;
  q.row = 1 - q.column;
  if (result_of(&q))
    cut(&q);
  return q.step;
}
