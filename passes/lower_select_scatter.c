/* lower_select_scatter.c - select-and-scatter: for each window the place that select keeps, into
 * which scatter combines the source's value (numerics.md rule 6).
 *
 * Dimensions in which every window is one point are loops that may run in any order; all others are
 * a fold, in the order of the source. Sums and products of narrow floats are kept in f32 until the
 * end.
 */
#include "lower_whole.h"
#include "lower_window.h"

#include "../ir/limits.h"

typedef struct selecting {
  const hl_instruction *ins;
  const hl_shape *shape, *source;
  hl_computation *select, *scatter;
  hl_opcode opcode; /* of the sum or product, else HL_OP_COUNT */
  hl_buffer *places;
  hl_index at[HL_LIMIT_RANK]; /* in the source */
} selecting;

static hl_value as_kept(hl_puller *p, const selecting *s, hl_value x)
{
  return s->opcode == HL_OP_COUNT ? x : hl_put_widened(p, x);
}

static void fill(hl_puller *p, const selecting *s)
{
  hl_index at[HL_LIMIT_RANK];
  int opened = hl_open_all(p, s->shape, at);
  hl_value init = as_kept(p, s, hl_pull(p, s->ins->operands[2], 0, NULL));
  hl_put_store(p, s->places, hl_index_flatten(p, s->shape, at), init);
  hl_close_all(p, opened);
}

/* What select keeps of a window. */
typedef struct kept {
  hl_node *exists, *position; /* exists NULL: always */
} kept;

enum { EXISTS, POSITION, VALUE, STATES };

static void start(hl_puller *p, const selecting *s, hl_value *state)
{
  hl_element_type type = s->shape->element_type, part = hl_component_type(type);
  hl_node *zero = hl_put_const(p, part, 0);
  state[EXISTS] = (hl_value){hl_put_int(p, HL_PRED, 0), NULL};
  state[POSITION] = (hl_value){hl_put_int(p, HL_S64, 0), NULL};
  state[VALUE] = (hl_value){zero, hl_is_complex(type) ? zero : NULL};
}

/* The first real element, and each later one that select does not refuse. */
static void take_tap(hl_puller *p, const selecting *s, hl_node *real, const hl_index *at,
                     hl_value *state)
{
  hl_value x = hl_pull_if(p, real, s->ins->operands[0], 0, at), args[2] = {state[VALUE], x},
           verdict;
  hl_node *position = hl_index_value(p, hl_index_flatten(p, s->shape, at));
  hl_pull_region(p, s->select, args, &verdict);
  hl_node *keeps = hl_put_binary(p, HL_LOOP_AND, state[EXISTS].re, verdict.re);
  hl_node *takes = hl_put_both(p, real, hl_put_unary(p, HL_LOOP_NOT, keeps));
  state[VALUE] = hl_put_choice(p, takes, x, state[VALUE]);
  state[POSITION].re = hl_put_select(p, takes, position, state[POSITION].re);
  state[EXISTS].re =
      real ? hl_put_binary(p, HL_LOOP_OR, state[EXISTS].re, real) : hl_put_int(p, HL_PRED, 1);
}

static kept select_place(hl_puller *p, const selecting *s, bool *never)
{
  hl_value state[STATES];
  hl_index taps[HL_LIMIT_RANK + 1], at[HL_LIMIT_RANK + 1];
  start(p, s, state);
  hl_open_loop loop = hl_open_window(p, s->ins, p->scope, s->shape->rank, STATES, state, taps);
  hl_carried_values(&loop, STATES, state, state);
  hl_node *real = hl_window_real(p, s->ins, s->shape, s->at, taps, at, never);
  if (!*never)
    take_tap(p, s, real, at, state);
  hl_close_value_fold(p, &loop, STATES, state, state);
  return (kept){real ? state[EXISTS].re : NULL, state[POSITION].re};
}

static void combine(hl_puller *p, const selecting *s, hl_node *position)
{
  hl_index to = hl_index_node(p, position);
  hl_value args[2] = {hl_put_load_here(p, s->places, to),
                      as_kept(p, s, hl_pull(p, s->ins->operands[1], 0, s->at))};
  hl_value result;
  if (s->opcode == HL_OP_COUNT)
    hl_pull_region(p, s->scatter, args, &result);
  else
    result =
        hl_put_hlo_binary(p, s->opcode, hl_wide_type(s->shape->element_type), args[0], args[1]);
  hl_put_store(p, s->places, to, result);
}

static void take_window(hl_puller *p, const selecting *s)
{
  bool never;
  kept k = select_place(p, s, &never);
  if (never)
    return;
  if (k.exists)
    hl_open_if(p, k.exists);
  combine(p, s, k.position);
  if (k.exists)
    hl_close_if(p);
}

static void take_windows(hl_puller *p, selecting *s)
{
  int64_t extents[HL_LIMIT_RANK + 1] = {1};
  int dims[HL_LIMIT_RANK + 1] = {0}, n = 0, opened = 0;
  hl_index vars[HL_LIMIT_RANK + 1];
  for (int d = 0; d < s->source->rank; d++) {
    hl_window_dim w = hl_window_dim_of(s->ins, d);
    s->at[d] = hl_index_constant(0);
    if (s->source->dimensions[d] == 1)
      continue;
    if (hl_window_is_point(&w))
      hl_open_for(p, s->source->dimensions[d], &s->at[d]), opened++;
    else
      extents[n] = s->source->dimensions[d], dims[n++] = d;
  }
  hl_open_loop loop = hl_open_sequence(p, n ? n : 1, extents, vars);
  for (int i = 0; i < n; i++)
    s->at[dims[i]] = vars[i];
  take_window(p, s);
  hl_close_sequence(p, &loop);
  hl_close_all(p, opened);
}

/* Rounded to the element type, NaN made canonical. */
static void finish(hl_puller *p, const selecting *s)
{
  hl_index at[HL_LIMIT_RANK];
  int opened = hl_open_all(p, s->shape, at);
  hl_index flat = hl_index_flatten(p, s->shape, at);
  hl_value x = hl_put_parts(p, s->shape->element_type, hl_put_load_here(p, s->places, flat));
  hl_put_store(p, p->leaves[s->ins->scratch][0], flat, hl_put_canonical(p, x));
  hl_close_all(p, opened);
}

/* Whether a NaN may be there that no arithmetic made. */
static bool has_moved_nan(const selecting *s)
{
  hl_element_type type = s->shape->element_type;
  bool is_arithmetic = hl_region_binary(s->scatter, NULL) != HL_OP_COUNT;
  return (hl_is_float(type) || hl_is_complex(type)) &&
         !(is_arithmetic && hl_is_plain_number(s->ins->operands[2]));
}

void hl_build_select_and_scatter(hl_puller *p, const hl_instruction *ins)
{
  hl_element_type type = ins->shape->element_type, wide = hl_wide_type(type);
  selecting s = {.ins = ins,
                 .shape = ins->shape,
                 .source = ins->operands[1]->shape,
                 .select = hl_attr_computation(ins, HL_ATTR_SELECT),
                 .scatter = hl_attr_computation(ins, HL_ATTR_SCATTER)};
  s.opcode = hl_sum_or_product(s.scatter, type);
  s.places = p->leaves[ins->scratch][0];
  bool is_kept_wide = s.opcode != HL_OP_COUNT && wide != type;
  if (is_kept_wide)
    s.places = hl_new_work_buffer(p, "sums", wide, hl_shape_elements(s.shape), false);
  fill(p, &s);
  if (hl_shape_elements(s.source))
    take_windows(p, &s);
  if (is_kept_wide || has_moved_nan(&s))
    finish(p, &s);
}
