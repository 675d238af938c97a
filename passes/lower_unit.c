/* lower_unit.c - the kernel of a unit: loops over its domain, with all that is computed on the way.
 *
 * A kernel may write where it also reads (share.c): that is right when each element is read before
 * it is written, which is looked up in the loops once they stand. Where it is not so the results
 * take a detour: they go to memory of their own first.
 */
#include "lower_unit.h"

#include "loop_edit.h"
#include "lower_moves.h"
#include "lower_slice.h"
#include "lower_whole.h"

#include "../ir/limits.h"

#include <string.h>

/* A leaf of a root. */
typedef struct result {
  const hl_instruction *root;
  int leaf;
  bool is_update; /* of a window that lies at `start` */
  hl_index *start;
  hl_value value;
  hl_buffer *place;  /* where it has to be */
  hl_buffer *detour; /* where it goes first; NULL: there */
} result;

typedef struct results {
  const hl_kernel_site *site;
  const hl_unit *unit;
  result *list;
  int count;
} results;

static results results_of(const hl_kernel_site *site, const hl_unit *unit)
{
  results all = {.site = site, .unit = unit};
  for (int r = 0; r < unit->root_count; r++)
    all.count += hl_leaf_count(unit->roots[r]->shape);
  all.list = HL_ARRAY(site->arena, all.count + 1, result);
  result *x = all.list;
  for (int r = 0; r < unit->root_count; r++) {
    const hl_instruction *root = unit->roots[r];
    for (int leaf = 0; leaf < hl_leaf_count(root->shape); leaf++)
      *x++ = (result){.root = root,
                      .leaf = leaf,
                      .is_update = hl_placement_of(site->plan, root)->is_update,
                      .place = site->leaves[root->scratch][leaf]};
  }
  return all;
}

/* Reductions inside the kernel come first and in their own order, so that a row which one of them
 * leaves is there for all that follow. */
static void pull_reduces(hl_puller *p, const hl_unit *unit, const hl_index *index)
{
  for (int i = unit->reduce_count; i-- > 0;) {
    const hl_instruction *ins = unit->reduces[i].instruction;
    const hl_shape *shape = hl_leaf_shape(ins->shape, 0);
    hl_index *at = HL_ARRAY(p->arena, shape->rank + 1, hl_index);
    for (int d = 0; d < shape->rank; d++)
      at[d] = unit->reduces[i].map[d] < 0 ? hl_index_constant(0) : index[unit->reduces[i].map[d]];
    hl_pull(p, ins, 0, at);
  }
}

/* Windows are placed before anything is written. */
static void place_windows(hl_puller *p, results *all)
{
  for (int i = 0; i < all->count; i++) {
    result *x = &all->list[i];
    if (!x->is_update)
      continue;
    x->start = HL_ARRAY(p->arena, HL_LIMIT_RANK, hl_index);
    hl_put_start(p, x->root, 2, x->root->operands[1]->shape, x->start);
  }
}

static void store_result(hl_puller *p, const result *x, hl_buffer *to, const hl_index *index,
                         hl_value value)
{
  const hl_shape *shape = hl_leaf_shape(x->root->shape, x->leaf);
  hl_index at[HL_LIMIT_RANK];
  for (int d = 0; d < shape->rank; d++)
    at[d] = x->is_update ? hl_index_add(p, x->start[d], index[d]) : index[d];
  hl_put_store(p, to, hl_index_flatten(p, shape, at), value);
}

/* All values come before all stores: reductions with nothing between them can share a loop. */
static void store_roots(hl_puller *p, results *all, const hl_index *index)
{
  pull_reduces(p, all->unit, index);
  for (int i = 0; i < all->count; i++) {
    result *x = &all->list[i];
    x->value = x->is_update ? hl_pull(p, x->root->operands[1], 0, index)
                            : hl_pull(p, x->root, x->leaf, index);
  }
  for (int i = 0; i < all->count; i++) {
    const result *x = &all->list[i];
    hl_note_origin(p, x->root);
    if (x->detour)
      hl_put_store(p, x->detour, hl_index_flatten(p, all->unit->domain, index), x->value);
    else
      store_result(p, x, x->place, index, x->value);
  }
}

/* The loops of one dimension; the index is the sum of their parts. */
static int open_dimension(hl_puller *p, const hl_domain *domain, int d, hl_index *index)
{
  int opened = 0;
  *index = hl_index_constant(0);
  for (int part = 0; part < domain->counts[d]; part++) {
    hl_index one;
    hl_node *loop = hl_open_for(p, domain->parts[d][part], &one);
    hl_facts *facts = hl_facts_of(hl_loop_var(loop, 0));
    facts->dim = d;
    facts->part = part;
    *index = hl_index_add(p, hl_index_scale(p, *index, domain->parts[d][part], 0), one);
    opened++;
  }
  return opened;
}

/* Loops over a domain; returns how many were opened. */
static int open_domain(hl_puller *p, const hl_domain *domain, int rank, hl_index *index)
{
  int opened = 0;
  for (int d = 0; d < rank; d++)
    opened += open_dimension(p, domain, d, &index[d]);
  return opened;
}

static hl_domain domain_of(hl_arena *arena, const hl_shape *shape)
{
  hl_domain domain = {.wanted_dim = -1};
  domain.counts = HL_ARRAY(arena, shape->rank + 1, int);
  domain.parts = hl_arena_array(arena, (size_t)shape->rank + 1, sizeof *domain.parts);
  for (int d = 0; d < shape->rank; d++) {
    domain.counts[d] = shape->dimensions[d] != 1;
    domain.parts[d][0] = shape->dimensions[d];
  }
  return domain;
}

/* Splits the loop that was asked for. */
static void refine(hl_domain *domain)
{
  int64_t *parts = domain->parts[domain->wanted_dim];
  int at = domain->wanted_part, *count = &domain->counts[domain->wanted_dim];
  memmove(&parts[at + 1], &parts[at], (size_t)(*count - at) * sizeof *parts);
  parts[at] /= domain->wanted_inner;
  parts[at + 1] = domain->wanted_inner;
  ++*count;
  domain->wanted_dim = -1;
}

static void close_domain(hl_puller *p, int opened)
{
  while (opened--)
    hl_close_for(p);
}

/* A concatenate that is a root: one nest an operand, no guards. */
static void store_pieces(hl_puller *p, const result *x)
{
  const hl_instruction *root = x->root;
  int64_t d = hl_attr_ints(root, HL_ATTR_DIMENSIONS).values[0], start = 0;
  hl_index *index = HL_ARRAY(p->arena, root->shape->rank + 1, hl_index);
  for (int i = 0; i < root->operand_count; i++) {
    const hl_instruction *piece = root->operands[i];
    if (hl_shape_elements(piece->shape)) {
      hl_domain domain = domain_of(p->arena, piece->shape);
      int opened = open_domain(p, &domain, piece->shape->rank, index);
      hl_value value = hl_pull(p, piece, 0, index);
      index[d] = hl_index_scale(p, index[d], 1, start);
      hl_put_store(p, x->detour ? x->detour : x->place, hl_index_flatten(p, root->shape, index),
                   value);
      close_domain(p, opened);
    }
    start += piece->shape->dimensions[d];
  }
}

static hl_puller puller_for(const hl_kernel_site *site, const hl_unit *unit)
{
  hl_arena *arena = site->arena;
  hl_puller p = {.arena = arena,
                 .program = site->program,
                 .options = site->options,
                 .plan = site->plan,
                 .leaves = site->leaves,
                 .memo = site->memo,
                 .unit = unit};
  p.kernel = hl_kernel_new(arena, unit->roots[0]->name);
  p.kernel->range = p.kernel->current = unit->roots[0]->range;
  p.root = HL_NEW(arena, hl_scope);
  p.root->block = &p.kernel->body;
  p.scope = p.root;
  return p;
}

/* From where they were put first to where they have to be. */
static void store_windows(hl_puller *p, const results *all)
{
  hl_index *index = HL_ARRAY(p->arena, HL_LIMIT_RANK, hl_index);
  for (int i = 0; i < all->count; i++) {
    const result *x = &all->list[i];
    if (!x->is_update || !x->detour)
      continue;
    const hl_shape *window = all->unit->domain;
    hl_domain domain = domain_of(p->arena, window);
    int opened = open_domain(p, &domain, window->rank, index);
    hl_value value = hl_put_load_here(p, x->detour, hl_index_flatten(p, window, index));
    store_result(p, x, x->place, index, value);
    close_domain(p, opened);
  }
}

static void build_loops(hl_puller *p, results *all, hl_domain *domain)
{
  int rank = all->unit->domain->rank;
  hl_index *index = HL_ARRAY(p->arena, rank + 1, hl_index);
  p->domain = domain;
  place_windows(p, all);
  int opened = open_domain(p, domain, rank, index);
  store_roots(p, all, index);
  close_domain(p, opened);
  store_windows(p, all);
}

static void build_kernel(hl_puller *p, results *all, hl_domain *domain)
{
  const hl_instruction *root = all->unit->roots[0];
  if (hl_build_of(root))
    hl_build_of(root)(p, root);
  else if (root->opcode == HL_OP_CONCATENATE)
    store_pieces(p, &all->list[0]);
  else
    build_loops(p, all, domain);
  for (size_t i = 0; i < p->touched_count; i++)
    p->memo[p->touched[i]] = NULL;
}

/* --- kernels that write where they read --- */

/* The loads and stores of one parameter. scratch of the nodes of the kernel's own block: their
 * place in it. */
typedef struct hazards {
  const hl_param *param;
  const hl_node *store; /* the first one */
  bool is_right;
} hazards;

static const hl_node *in_kernel_block(const hl_node *node)
{
  while (node->block->owner)
    node = node->block->owner;
  return node;
}

static bool stands_before(const hl_node *a, const hl_node *b)
{
  while (a && a != b)
    a = a->next;
  return a == b;
}

static void find_store(void *user, hl_node *node)
{
  hazards *h = user;
  if (!h->store && node->op == HL_LOOP_STORE && node->access->param == h->param)
    h->store = node;
}

static bool has_term(const hl_access *access, hl_term term)
{
  for (int i = 0; i < access->term_count; i++)
    if (access->terms[i].index == term.index && access->terms[i].stride == term.stride)
      return true;
  return false;
}

static bool same_element(const hl_access *a, const hl_access *b)
{
  if (a->param != b->param || a->constant != b->constant || a->term_count != b->term_count)
    return false;
  for (int i = 0; i < a->term_count; i++)
    if (!has_term(b, a->terms[i]))
      return false;
  return true;
}

/* Whether the element is written in the block behind the load. */
static bool is_written_behind(const hl_node *load)
{
  for (const hl_node *node = load->next; node; node = node->next)
    if (node->op == HL_LOOP_STORE && same_element(load->access, node->access))
      return true;
  return false;
}

/* A load is right before all loops that write, or in front of the store of that element: each
 * iteration writes others. */
static void check_load(void *user, hl_node *node)
{
  hazards *h = user;
  if (node->op != HL_LOOP_LOAD || node->access->param != h->param)
    return;
  const hl_node *load = in_kernel_block(node), *store = in_kernel_block(h->store);
  bool is_before = load != store && stands_before(load, store);
  h->is_right = h->is_right && (is_before || is_written_behind(node));
}

static bool is_right(hl_kernel *kernel, const hl_param *param)
{
  hazards h = {.param = param, .is_right = true};
  hl_block_walk(&kernel->body, find_store, &h);
  if (h.store)
    hl_block_walk(&kernel->body, check_load, &h);
  return h.is_right;
}

static bool reads_and_writes(const hl_puller *p)
{
  for (int i = 0; i < p->kernel->param_count; i++)
    if (p->kernel->params[i]->direction == HL_PARAM_INOUT)
      return true;
  return false;
}

static void make_detour(hl_puller *p, results *all, result *x)
{
  const hl_shape *shape = all->unit->domain;
  hl_buffer detour = {.name = hl_arena_printf(p->arena, "%s.new", x->root->name),
                      .kind = HL_BUFFER_TEMP,
                      .type = x->place->type,
                      .rank = shape->rank,
                      .dimensions = shape->dimensions,
                      .offset = -1};
  detour.bytes = hl_shape_elements(shape) * hl_type_bytes(detour.type);
  x->detour = hl_program_add_buffer(p->program, detour);
}

/* Whether the kernel has to be built again, with detours. */
static bool make_detours(hl_puller *p, results *all)
{
  bool any = false;
  if (hl_build_of(all->unit->roots[0]) || !reads_and_writes(p))
    return false;
  hl_kernel_dce(p->kernel);
  hl_kernel_cse(p->kernel);
  for (int i = 0; i < p->kernel->param_count; i++) {
    const hl_param *param = p->kernel->params[i];
    if (param->direction != HL_PARAM_INOUT || is_right(p->kernel, param))
      continue;
    for (int k = 0; k < all->count; k++)
      if (all->list[k].place == p->param_buffers[i] && !all->list[k].detour) {
        make_detour(p, all, &all->list[k]);
        any = true;
      }
  }
  return any;
}

/* --- the steps of a unit --- */

/* What a window is not written over comes from the old array, unless it is the same memory. */
static void copy_updated(const hl_kernel_site *site, const results *all)
{
  for (int i = 0; i < all->count; i++) {
    const result *x = &all->list[i];
    if (x->is_update)
      hl_add_copy(site->program, site->steps, x->place,
                  site->leaves[x->root->operands[0]->scratch][0]);
  }
}

static void end_detours(const hl_kernel_site *site, const results *all)
{
  for (int i = 0; i < all->count; i++)
    if (!all->list[i].is_update)
      hl_add_copy(site->program, site->steps, all->list[i].place, all->list[i].detour);
}

enum { MAX_REFINEMENTS = 8 };

void hl_lower_kernel(const hl_kernel_site *site, const hl_unit *unit)
{
  if (hl_shape_elements(unit->domain) == 0)
    return;
  results all = results_of(site, unit);
  hl_domain domain = domain_of(site->arena, unit->domain);
  hl_puller p = puller_for(site, unit);
  build_kernel(&p, &all, &domain);
  for (int i = 0; i < MAX_REFINEMENTS && domain.wanted_dim >= 0; i++) {
    refine(&domain);
    p = puller_for(site, unit);
    build_kernel(&p, &all, &domain);
  }
  if (make_detours(&p, &all)) {
    p = puller_for(site, unit);
    build_kernel(&p, &all, &domain);
  }
  copy_updated(site, &all);
  hl_step *step = hl_steps_add(site->arena, site->steps, HL_STEP_KERNEL);
  step->kernel = p.kernel;
  step->buffers = p.param_buffers;
  step->range = p.kernel->range;
  p.kernel->current = HL_NO_RANGE;
  p.kernel->origins = hl_unit_origins(site->plan, unit, site->arena, &p.kernel->origin_count);
  end_detours(site, &all);
}
