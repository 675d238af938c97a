/* loop_quads.c - products of bytes, four at a time.
 *
 *   for i: for j: add k in 0..K: convert.s32(l[i,k]) * convert.s32(r[k,j])
 *
 * becomes, where both operands are s8 and each is used often,
 *
 *   for i: for k in 0..K/4: %l.quads[i,k] := the four bytes l[i,4*k] ... l[i,4*k+3]
 *   for k in 0..K/4: for j: %r.quads[k,j] := likewise
 *   for i: for j: add k in 0..K/4: dot4(%l.quads[i,k], %r.quads[k,j])
 *
 * for which processors have instructions. Keeps: every value; sums of integers may be in any order.
 */
#include "loop_copy.h"
#include "loop_product.h"

enum { QUAD = 4, LEAST_USES = 4, LEAST_DEPTH = 16 };

typedef struct quads {
  hl_program *program;
  hl_step *step; /* the product's */
  const hl_product *p;
  hl_node *product; /* l * r in the reduce */
} quads;

static bool is_byte(const hl_node *side)
{
  return side->op == HL_LOOP_CONVERT && side->type == HL_S32 && side->operands[0]->type == HL_S8;
}

static bool suits(const hl_product *p)
{
  const hl_loop *reduce = p->reduce->loop;
  const hl_node *product = reduce->yields[0];
  if (p->depth != 2 || p->rows != 0 || reduce->var_count != 1 || product->op != HL_LOOP_MUL ||
      product->type != HL_S32 || !is_byte(product->operands[0]) || !is_byte(product->operands[1]))
    return false;
  hl_use_count uses = hl_count_uses(&p->reduce->loop->body, reduce->vars[0]);
  return uses.plain == 0 && reduce->extents[0] % QUAD == 0 && reduce->extents[0] >= LEAST_DEPTH &&
         hl_product_extent(p, 0) >= LEAST_USES && hl_product_extent(p, 1) >= LEAST_USES;
}

/* Whether bytes that follow each other in the reduce lie side by side. */
static bool is_along(const quads *q, const hl_node *value)
{
  return value->op == HL_LOOP_LOAD &&
         hl_stride_of(value->access, hl_loop_var(q->p->reduce, 0)) == 1;
}

static hl_node *shifted_byte(hl_loop_builder *at, hl_node *byte, int place)
{
  hl_node *x = hl_loop_convert(at, HL_S32, byte);
  if (place < QUAD - 1)
    x = hl_loop_binary(at, HL_LOOP_AND, x, hl_loop_const_int(at, HL_S32, 255));
  return place ? hl_loop_binary(at, HL_LOOP_SHL, x, hl_loop_const_int(at, HL_S32, 8 * place)) : x;
}

static hl_node *copy_quad(const quads *q, hl_copying *c, hl_node *value)
{
  hl_node *quad = NULL;
  for (c->place = 0; c->place < QUAD; c->place++) {
    hl_copy_block(c, &q->step->kernel->body);
    for (int i = 0; i < q->p->depth; i++)
      hl_copy_block(c, &q->p->loops[i]->loop->body);
    hl_copy_block(c, &q->p->reduce->loop->body);
    hl_node *byte = shifted_byte(&c->at, hl_copied(c, value), c->place);
    quad = quad ? hl_loop_binary(&c->at, HL_LOOP_OR, quad, byte) : byte;
  }
  return quad;
}

static hl_buffer *quad_buffer(const quads *q, int64_t outer, int64_t inner)
{
  int64_t *dims = HL_ARRAY(q->program->arena, 2, int64_t);
  dims[0] = outer;
  dims[1] = inner;
  hl_buffer buffer = {.name = hl_arena_printf(q->program->arena, "%s.quads", q->step->kernel->name),
                      .kind = HL_BUFFER_TEMP,
                      .type = HL_S32,
                      .rank = 2,
                      .dimensions = dims,
                      .bytes = outer * inner * hl_type_bytes(HL_S32),
                      .offset = -1};
  return hl_program_add_buffer(q->program, buffer);
}

/* Element [outer, inner] of the array of quads. */
static hl_access *quad_access(const quads *q, hl_param *param, hl_node *outer, hl_node *inner)
{
  hl_access *access = hl_access_new(q->program->arena, param, 0);
  hl_access_add(q->program->arena, access, outer, param->dimensions[1]);
  hl_access_add(q->program->arena, access, inner, 1);
  return access;
}

static hl_copying start_copy(const quads *q, hl_step *front, const hl_node *value)
{
  hl_loop_builder at = {front->kernel, &front->kernel->body};
  hl_copying c = hl_copy_start(q->step, front, at, value);
  hl_copy_need(&c, &q->p->reduce->loop->body);
  for (int i = q->p->depth; i-- > 0;)
    hl_copy_need(&c, &q->p->loops[i]->loop->body);
  hl_copy_need(&c, &q->step->kernel->body);
  c.cut = hl_loop_var(q->p->reduce, 0);
  return c;
}

/* A step in front packs one side, which the loop `across` runs over; the side becomes a load of it.
 */
static void pack_side(quads *q, hl_node **side, hl_node *across)
{
  hl_node *value = (*side)->operands[0], *reduce = q->p->reduce, *body = reduce->loop->body.first;
  bool along = is_along(q, value);
  hl_node *loops[2] = {along ? across : reduce, along ? reduce : across};
  int64_t depth = reduce->loop->extents[0] / QUAD, count = across->loop->extents[0];
  hl_buffer *buffer = quad_buffer(q, along ? count : depth, along ? depth : count);
  hl_step *front = q->step;
  q->step = hl_step_split(q->program, front, ".quads");
  hl_copying c = start_copy(q, front, value);
  for (int i = 0; i < 2; i++)
    hl_copy_loop(&c, loops[i], 0)->loop->extents[0] = loops[i] == reduce ? depth : count;
  hl_node *outer = hl_loop_var(loops[0], 0), *inner = hl_loop_var(loops[1], 0);
  hl_node *quad = copy_quad(q, &c, value);
  hl_param *to = hl_step_add_param(front, buffer, HL_PARAM_OUT);
  hl_loop_store(&c.at, quad_access(q, to, hl_copied(&c, outer), hl_copied(&c, inner)), quad, NULL);
  hl_kernel_cse(front->kernel);
  hl_loop_builder at = {q->step->kernel, &reduce->loop->body};
  hl_param *from = hl_step_add_param(q->step, buffer, HL_PARAM_IN);
  *side = hl_loop_load(&at, quad_access(q, from, outer, inner), NULL, NULL);
  hl_node_remove(*side);
  hl_node_insert_before(*side, body);
}

hl_step *hl_cut_quads(hl_program *program, hl_step *step, const hl_product *p)
{
  if (!suits(p))
    return step;
  quads q = {.program = program, .step = step, .p = p, .product = p->reduce->loop->yields[0]};
  bool is_first = p->across == &q.product->operands[0];
  pack_side(&q, &q.product->operands[is_first ? 1 : 0], p->loops[0]);
  pack_side(&q, &q.product->operands[is_first ? 0 : 1], p->loops[1]);
  q.product->op = HL_LOOP_DOT4;
  p->reduce->loop->extents[0] /= QUAD;
  hl_kernel_dce(q.step->kernel);
  hl_prune_params(q.step);
  return q.step;
}
