/* loop_chain.c - finds steps that hand rows to each other: attention.
 *
 *   for b: for i: for j: %s[b,i,j] := dot k: q[b,i,k], k[b,j,k]                   a product
 *   for b: for i: ... for j: %t[b,i,j] := exp(%s[b,i,j] - most) / sum             what is done to
 * rows for b: for i: for d: %o[b,i,d] := dot j: %t[b,i,j], v[b,j,d]                  a product of
 * them
 *
 * %s and %t grow with the square of a length, but nobody else reads them, and a row of each is made
 * of one row of the one before. loop_chain_join.c lets a block of rows go through all steps.
 *
 * The steps must run over the same rows: in loops that can be cut until they are alike, and with
 * accesses that reach one row alone. It pays when the arrays between them do not fit the caches,
 * and the other operands of the products do, which each block reads anew.
 */
#include "loop_chain.h"

#include "loop_copy.h"

enum {
  REACH = 8,                    /* steps looked at for the one that reads a link */
  LEAST_LINK_BYTES = 1 << 20,   /* what is kept from memory */
  OPERAND_BYTES = 1 << 18,      /* stays in the second cache */
  LONG_OPERAND_BYTES = 1 << 22, /* or in the last one, where the links would not */
  BLOCK_BYTES = 1 << 15,        /* of links a block has: the first cache */
  LONG_BLOCK_BYTES = 1 << 19,
  LEAST_BLOCK = 8,
  MOST_BLOCK = 64,
  MOST_DEPTH = 1 << 13 /* longer sums are cut otherwise */
};

/* --- users of buffers --- */

static void count_one(hl_buffer *buffer)
{
  if (buffer)
    buffer->first_step++;
}

static void count_steps(const hl_steps *steps);

static void count_step(const hl_step *step)
{
  for (int i = 0; step->kind == HL_STEP_KERNEL && i < step->kernel->param_count; i++)
    count_one(step->buffers[i]);
  for (int i = 0; step->kind == HL_STEP_COPY && i < 2; i++)
    count_one(step->buffers[i]);
  for (int i = 0; step->kind == HL_STEP_CALL && i < step->call->value_count; i++)
    count_one(step->call->values[i].buffer);
  count_one(step->selector);
  count_steps(&step->condition);
  count_steps(&step->body);
  for (int i = 0; i < step->branch_count; i++)
    count_steps(&step->branches[i]);
}

static void count_steps(const hl_steps *steps)
{
  for (const hl_step *step = steps->first; step; step = step->next)
    count_step(step);
}

void hl_count_users(hl_program *program)
{
  count_steps(&program->steps);
}

void hl_forget_users(hl_program *program)
{
  for (int i = 0; i < program->buffer_count; i++)
    program->buffers[i]->first_step = 0;
}

/* --- which steps --- */

static hl_param *param_for(const hl_step *step, const hl_buffer *buffer)
{
  for (int i = 0; i < step->kernel->param_count; i++)
    if (step->buffers[i] == buffer)
      return step->kernel->params[i];
  return NULL;
}

static bool is_same_memory(const hl_buffer *a, const hl_buffer *b)
{
  return a == b || a->alias == b || b->alias == a;
}

/* Whether neither of two kernels writes what the other one uses; `but` does not count. */
static bool is_apart(const hl_step *a, const hl_step *b, const hl_buffer *but)
{
  for (int i = 0; i < a->kernel->param_count; i++)
    for (int j = 0; j < b->kernel->param_count; j++) {
      bool is_read = a->kernel->params[i]->direction == HL_PARAM_IN &&
                     b->kernel->params[j]->direction == HL_PARAM_IN;
      if (!is_read && a->buffers[i] != but && is_same_memory(a->buffers[i], b->buffers[j]))
        return false;
    }
  return true;
}

static bool is_link(const hl_step *step, int param)
{
  const hl_buffer *buffer = step->buffers[param];
  return step->kernel->params[param]->direction == HL_PARAM_OUT && buffer->kind == HL_BUFFER_TEMP &&
         !buffer->is_per_worker && buffer->first_step == 2 &&
         buffer->bytes >= LEAST_LINK_BYTES / HL_CHAIN_PARTS;
}

static bool is_apart_from_all(const hl_chain *c, const hl_step *step, const hl_buffer *link)
{
  for (int i = 0; i < c->count; i++)
    if (!is_apart(c->parts[i].step, step, link))
      return false;
  return true;
}

/* The step that reads the link, if all steps before it may come before the chain; and it is apart
 * from the chain but for the link. */
static hl_step *reader_of(const hl_chain *c, const hl_buffer *link)
{
  hl_step *step = c->parts[c->count - 1].step->next;
  for (int i = 0; step && step->kind == HL_STEP_KERNEL && i < REACH; i++, step = step->next) {
    const hl_param *param = param_for(step, link);
    if (param)
      return param->direction == HL_PARAM_IN && is_apart_from_all(c, step, link) ? step : NULL;
    if (!is_apart_from_all(c, step, NULL))
      return NULL;
  }
  return NULL;
}

static bool follow(hl_chain *c)
{
  const hl_step *last = c->parts[c->count - 1].step;
  for (int i = 0; i < last->kernel->param_count; i++) {
    hl_step *reader = is_link(last, i) ? reader_of(c, last->buffers[i]) : NULL;
    if (!reader)
      continue;
    c->links[c->count - 1] = last->buffers[i];
    c->parts[c->count++].step = reader;
    return true;
  }
  return false;
}

/* --- the loops over rows --- */

static bool is_plain_loop(const hl_node *node)
{
  return node->op == HL_LOOP_FOR && !node->loop->limits[0] && !node->loop->is_ordered;
}

/* Loops from outside in, each the only one in its block, beside values without effect. */
static void list_loops(hl_chain_part *part)
{
  const hl_block *block = &part->step->kernel->body;
  while (part->depth < HL_CHAIN_LOOPS) {
    hl_node *loop = hl_only_loop(block);
    if (!loop || !is_plain_loop(loop))
      return;
    part->loops[part->depth++] = loop;
    block = &loop->loop->body;
  }
}

/* Outer loops that the operand depends on must be the first ones: it is packed inside them. */
static bool choose_own(hl_chain_part *part, const hl_product *p)
{
  uint64_t uses = hl_product_uses(p, *p->across);
  while (part->own < p->rows && uses >> part->own & 1)
    part->own++;
  for (int i = part->own; i < p->columns; i++)
    if (uses >> i & 1)
      return false;
  return true;
}

static bool suits_product(hl_chain_part *part, const hl_product *p)
{
  int64_t columns = hl_product_extent(p, p->columns), depth = hl_product_depth(p);
  if (p->rows < 0 || p->rows != p->columns - 1 || p->columns > HL_CHAIN_LOOPS ||
      depth > MOST_DEPTH || p->reduce->loop->combiners[0].order != HL_ORDER_DOT)
    return false;
  part->is_product = true;
  part->depth = p->columns;
  part->operand_bytes = columns * depth * hl_type_bytes((*p->across)->type);
  for (int i = 0; i < p->columns; i++)
    part->loops[i] = p->loops[i];
  return choose_own(part, p);
}

static bool look_at(hl_chain_part *part)
{
  hl_product p;
  part->depth = part->own = 0;
  part->is_product = false;
  if (hl_find_product(part->step->kernel, &p))
    return suits_product(part, &p);
  list_loops(part);
  return part->depth > 0;
}

static int64_t rows_of(const hl_chain_part *part)
{
  int64_t rows = 1;
  for (int i = 0; i < part->depth; i++)
    rows *= part->loops[i]->loop->extents[0];
  return rows;
}

/* A part that is no product may have loops inside the rows, too. */
static bool cut_to_rows(hl_chain_part *part, int64_t rows)
{
  int64_t all = 1;
  for (int i = 0; i < part->depth && all < rows; i++) {
    all *= part->loops[i]->loop->extents[0];
    if (all == rows) {
      part->depth = i + 1;
      return true;
    }
  }
  return false;
}

/* Iterations of all loops over rows inside loop k. */
static int64_t inner_rows(const hl_chain_part *part, int k)
{
  int64_t rows = 1;
  for (int i = k + 1; i < part->depth; i++)
    rows *= part->loops[i]->loop->extents[0];
  return rows;
}

/* Cuts the common loops where those of the part end; false: they cross each other. */
static bool refine_by(hl_chain *c, const hl_chain_part *part)
{
  for (int k = 0; k < part->depth; k++) {
    int64_t end = inner_rows(part, k), rest = 1;
    int i = c->depth;
    while (i > 0 && rest < end)
      rest *= c->extents[--i];
    if (rest == end)
      continue;
    int64_t inner = end / (rest / c->extents[i]);
    if (c->depth == HL_CHAIN_LOOPS || end % (rest / c->extents[i]) || c->extents[i] % inner)
      return false;
    for (int j = c->depth++; j > i; j--)
      c->extents[j] = c->extents[j - 1];
    c->extents[i] /= inner;
    c->extents[i + 1] = inner;
  }
  return true;
}

/* Whether each of the part's loops is as long as one or several of the common ones. */
static bool matches(const hl_chain *c, const hl_chain_part *part)
{
  int i = 0;
  for (int k = 0; k < part->depth; k++) {
    int64_t extent = part->loops[k]->loop->extents[0], covered = 1;
    while (i < c->depth && covered < extent)
      covered *= c->extents[i++];
    if (covered != extent)
      return false;
  }
  return i == c->depth;
}

/* --- the links --- */

typedef struct link_check {
  const hl_chain_part *part;
  const hl_param *param;
  int64_t width;
  bool fits;
} link_check;

static int loop_of(const hl_chain_part *part, const hl_node *index)
{
  for (int k = 0; k < part->depth; k++)
    if (hl_loop_var(part->loops[k], 0) == index)
      return k;
  return -1;
}

static int64_t var_extent(const hl_node *var)
{
  return var->loop->extents[var->index];
}

/* The access is in row (loops over rows) of the array, whatever the other indices are. */
static bool is_in_row(const link_check *l, const hl_access *access)
{
  int64_t last = access->constant;
  int found = 0;
  for (int i = 0; i < access->term_count; i++) {
    const hl_term *term = &access->terms[i];
    int k = loop_of(l->part, term->index);
    if (k >= 0 && term->stride != inner_rows(l->part, k) * l->width)
      return false;
    found += k >= 0;
    if (k >= 0)
      continue;
    if (term->index->op != HL_LOOP_VAR || term->stride < 0)
      return false;
    last += (var_extent(term->index) - 1) * term->stride;
  }
  return found == l->part->depth && access->constant >= 0 && last < l->width;
}

static void check_link(void *user, hl_node *node)
{
  link_check *l = user;
  if ((node->op != HL_LOOP_LOAD && node->op != HL_LOOP_STORE) || node->access->param != l->param)
    return;
  bool is_whole = node->op == HL_LOOP_LOAD || node->operand_count == 1;
  l->fits = l->fits && is_whole && is_in_row(l, node->access);
}

static bool link_fits(const hl_chain_part *part, const hl_buffer *link, int64_t width)
{
  link_check l = {part, param_for(part->step, link), width, true};
  hl_block_walk(&part->step->kernel->body, check_link, &l);
  return l.fits;
}

/* Whether part i reads rows that the part before it writes. */
static bool links_fit(hl_chain *c, int i, int64_t rows)
{
  if (i == 0)
    return true;
  const hl_buffer *link = c->links[i - 1];
  const hl_chain_part *from = &c->parts[i - 1], *to = &c->parts[i];
  int64_t elements = param_for(from->step, link)->count;
  c->widths[i - 1] = elements / rows;
  return elements % rows == 0 && link_fits(from, link, c->widths[i - 1]) &&
         link_fits(to, link, c->widths[i - 1]);
}

/* --- what pays --- */

static int64_t row_bytes(const hl_chain *c)
{
  int64_t bytes = 0;
  for (int i = 0; i + 1 < c->count; i++)
    bytes += c->widths[i] * hl_type_bytes(param_for(c->parts[i].step, c->links[i])->type);
  return bytes;
}

static bool pays(hl_chain *c, const hl_lower_options *options)
{
  int64_t row = row_bytes(c), rows = rows_of(&c->parts[0]), operand = 0;
  bool has_product = false;
  for (int i = 0; i < c->count; i++) {
    const hl_chain_part *part = &c->parts[i];
    has_product |= part->is_product;
    operand = part->operand_bytes > operand && part->is_product ? part->operand_bytes : operand;
  }
  bool is_long = operand > OPERAND_BYTES;
  int64_t bytes = is_long ? LONG_BLOCK_BYTES : BLOCK_BYTES;
  if (!has_product || row == 0 || operand > (is_long ? LONG_OPERAND_BYTES : OPERAND_BYTES) ||
      row * rows < (is_long ? options->cache_bytes : LEAST_LINK_BYTES))
    return false;
  c->block = MOST_BLOCK;
  while (c->block > LEAST_BLOCK && c->block * row > bytes)
    c->block /= 2;
  return c->extents[c->depth - 1] >= 2 * c->block;
}

/* As many parts as fit each other. */
static void trim(hl_chain *c)
{
  int64_t rows = 0;
  int all = c->count, fit = 0;
  for (int i = 0; i < all; i++)
    if (!look_at(&c->parts[i]))
      all = i;
  for (int i = 0; i < all && rows == 0; i++)
    rows = c->parts[i].is_product ? rows_of(&c->parts[i]) : 0;
  c->depth = 1;
  c->extents[0] = rows;
  c->count = all;
  for (; rows && fit < all; fit++) {
    hl_chain_part *part = &c->parts[fit];
    if (!(part->is_product ? rows_of(part) == rows : cut_to_rows(part, rows)) ||
        !refine_by(c, part) || !links_fit(c, fit, rows))
      break;
  }
  c->count = fit;
  for (int i = 0; i < fit; i++)
    if (!matches(c, &c->parts[i]))
      c->count = 0;
}

bool hl_find_chain(hl_step *first, const hl_lower_options *options, hl_chain *chain)
{
  *chain = (hl_chain){.parts = {{.step = first}}, .count = 1};
  while (chain->count < HL_CHAIN_PARTS && follow(chain))
    ;
  if (chain->count > 1)
    trim(chain);
  return chain->count > 1 && pays(chain, options);
}
