/* loop_parse.c - kernels of the loop IR's text: statements, loops, blocks. */
#include "loop_parser.h"

#include "limits.h"

#include <string.h>

/* Names and scopes. */

static bool bind(hl_loop_parser *p, hl_word name, hl_node *node)
{
  if (name.length == 0)
    return hl_parse_fail(p, "expected a name");
  hl_binding *binding = HL_NEW(p->arena, hl_binding);
  *binding = (hl_binding){
      .name = name,
      .node = node,
      .shadowed = hl_map_get(&p->names, name.text, name.length),
      .previous = p->bindings,
  };
  p->bindings = binding;
  hl_map_set(&p->names, name.text, name.length, binding);
  return true;
}

/* Ends the scopes that were opened since `outer` was the last binding. */
static void unbind(hl_loop_parser *p, hl_binding *outer)
{
  for (; p->bindings != outer; p->bindings = p->bindings->previous) {
    hl_binding *binding = p->bindings;
    binding->node = NULL;
    hl_map_set(&p->names, binding->name.text, binding->name.length,
               binding->shadowed ? binding->shadowed : binding);
  }
}

/* A growing list of words, nodes or numbers of one statement. */
typedef struct word_list {
  hl_word *words;
  int count;
  size_t capacity;
} word_list;

static bool read_words(hl_loop_parser *p, word_list *list)
{
  *list = (word_list){0};
  do {
    hl_word word = hl_read_word(p);
    if (word.length == 0)
      return hl_parse_fail(p, "expected a name");
    list->words = hl_arena_grow(p->arena, list->words, &list->capacity, (size_t)list->count + 1,
                                sizeof *list->words);
    list->words[list->count++] = word;
  } while (hl_accept(p, ","));
  return true;
}

typedef struct node_list {
  hl_node **nodes;
  int count;
  size_t capacity;
} node_list;

static void add_to_list(hl_loop_parser *p, node_list *list, hl_node *node)
{
  list->nodes = hl_arena_grow(p->arena, list->nodes, &list->capacity, (size_t)list->count + 1,
                              sizeof(hl_node *));
  list->nodes[list->count++] = node;
}

static bool parse_list(hl_loop_parser *p, node_list *list)
{
  *list = (node_list){0};
  do {
    hl_node *node = hl_parse_expr(p);
    if (!node)
      return false;
    add_to_list(p, list, node);
  } while (hl_accept(p, ","));
  return true;
}

/* Bodies. */

static bool parse_statement(hl_loop_parser *p);

/* The lines of a block, deeper than `outer`; if `yields` is not NULL its last line fills it. */
static bool parse_lines(hl_loop_parser *p, int outer, node_list *yields)
{
  int column = hl_next_line(p);
  if (column <= outer)
    return !yields || hl_parse_fail(p, "expected a body that ends with yield");
  for (int next = column; next > outer; next = hl_next_line(p)) {
    if (next != column)
      return hl_parse_fail(p, "this line is not in the column of its block");
    p->line_column = column;
    if (yields && hl_accept_word(p, "yield"))
      return parse_list(p, yields) && hl_expect_line_end(p);
    if (!parse_statement(p))
      return false;
  }
  return !yields || hl_parse_fail(p, "the body has no yield at its end");
}

/* A body after its head: `: ...` on the same line, or deeper lines. Names that it binds end with
 * it. */
static bool parse_body(hl_loop_parser *p, hl_block *block, node_list *yields)
{
  hl_block *outside = p->b.at;
  hl_binding *outer = p->bindings;
  int column = p->line_column;
  bool ok = hl_enter(p);
  p->b.at = block;
  if (!ok)
    return false;
  if (hl_accept(p, ":"))
    ok = yields ? parse_list(p, yields) && hl_expect_line_end(p) : parse_statement(p);
  else
    ok = hl_expect_line_end(p) && parse_lines(p, column, yields);
  hl_leave(p);
  p->line_column = column;
  p->b.at = outside;
  unbind(p, outer);
  return ok;
}

/* Domains: i, j in 0..8, 0..min(4, v1) */

typedef struct domain {
  word_list vars;
  int64_t *extents;
  hl_node **limits;
} domain;

static bool parse_range(hl_loop_parser *p, int64_t *extent, hl_node **limit)
{
  int64_t zero;
  if (!hl_read_int(p, &zero) || !hl_expect(p, ".."))
    return false;
  if (zero != 0)
    return hl_parse_fail(p, "a loop begins at 0");
  if (!hl_accept_word(p, "min"))
    return hl_read_int(p, extent);
  if (!hl_open(p, "(") || !hl_read_int(p, extent) || !hl_expect(p, ","))
    return hl_parse_fail(p, "expected (extent, limit)");
  *limit = hl_parse_expr(p);
  return *limit && hl_close(p, ")");
}

static bool parse_domain(hl_loop_parser *p, domain *d)
{
  if (!read_words(p, &d->vars) || !hl_expect_word(p, "in"))
    return false;
  d->extents = HL_ARRAY(p->arena, d->vars.count, int64_t);
  d->limits = HL_ARRAY(p->arena, d->vars.count, hl_node *);
  for (int i = 0; i < d->vars.count; i++) {
    if (i > 0 && !hl_expect(p, ","))
      return false;
    if (!parse_range(p, &d->extents[i], &d->limits[i]))
      return false;
  }
  return true;
}

static bool bind_vars(hl_loop_parser *p, const domain *d, hl_loop *loop)
{
  for (int i = 0; i < loop->var_count; i++) {
    loop->limits[i] = d->limits[i];
    if (!bind(p, d->vars.words[i], loop->vars[i]))
      return false;
  }
  return true;
}

/* Statements without values. */

static bool parse_store(hl_loop_parser *p)
{
  hl_access *access = hl_parse_access(p);
  if (!access || !hl_expect(p, ":="))
    return false;
  bool is_streaming = hl_accept(p, "!");
  hl_node *value = hl_parse_expr(p), *guard = NULL;
  if (value && hl_accept_word(p, "when") && !(guard = hl_parse_expr(p)))
    return false;
  if (!value || !hl_expect_line_end(p))
    return false;
  hl_loop_store(&p->b, access, value, guard)->is_streaming = is_streaming;
  return true;
}

/* [grain g] [jam u] */
static bool parse_hints(hl_loop_parser *p, int64_t *grain, int64_t *jam)
{
  *grain = *jam = 1;
  if (hl_accept_word(p, "grain") && !hl_read_int(p, grain))
    return false;
  if (hl_accept_word(p, "jam") && !hl_read_int(p, jam))
    return false;
  return *jam <= INT32_MAX || hl_parse_fail(p, "jam is too large");
}

static bool parse_for(hl_loop_parser *p, hl_loop_mode mode)
{
  domain d = {0};
  int64_t grain, jam;
  if (!parse_domain(p, &d) || !parse_hints(p, &grain, &jam))
    return false;
  if (d.vars.count != 1)
    return hl_parse_fail(p, "a for has one variable");
  hl_node *node = hl_loop_for(&p->b, mode, d.extents[0], d.limits[0]);
  node->loop->grain = grain;
  node->loop->jam = (int)jam;
  hl_binding *outer = p->bindings;
  bool ok = bind_vars(p, &d, node->loop) && parse_body(p, &node->loop->body, NULL);
  unbind(p, outer);
  return ok;
}

static bool parse_if(hl_loop_parser *p)
{
  int column = p->line_column;
  hl_node *pred = hl_parse_expr(p);
  if (!pred)
    return false;
  hl_node *node = hl_loop_if(&p->b, pred);
  if (!parse_body(p, &node->branch->then, NULL))
    return false;
  if (hl_next_line(p) != column || !hl_accept_word(p, "else"))
    return true;
  return parse_body(p, &node->branch->otherwise, NULL);
}

/* Reductions and folds. */

static bool find_combine(hl_word word, hl_loop_op *op)
{
  static const hl_loop_op ops[] = {
      HL_LOOP_ADD, HL_LOOP_MUL, HL_LOOP_MAX, HL_LOOP_MIN, HL_LOOP_AND, HL_LOOP_OR, HL_LOOP_XOR,
  };
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    *op = ops[i];
    if (hl_word_is(word, hl_loop_op_name(ops[i])))
      return true;
  }
  return false;
}

/* Whether the text goes on with a reduction: its words are no functions, so no bracket follows at
 * once. */
static bool begins_reduce(hl_loop_parser *p)
{
  hl_word word = hl_peek_word(p);
  hl_loop_op op;
  return word.text[word.length] != '(' &&
         (find_combine(word, &op) || hl_word_is(word, "vector") || hl_word_is(word, "free") ||
          hl_word_is(word, "row") || hl_word_is(word, "col") || hl_word_is(word, "dot"));
}

static hl_order read_order(hl_loop_parser *p)
{
  if (hl_accept_word(p, "row"))
    return HL_ORDER_ROW;
  if (hl_accept_word(p, "col"))
    return HL_ORDER_COL;
  if (hl_accept_word(p, "dot"))
    return HL_ORDER_DOT;
  hl_accept_word(p, "free");
  return HL_ORDER_FREE;
}

/* One combiner a result; the types follow from the yields. */
static bool parse_combiners(hl_loop_parser *p, int count, hl_combiner *combiners)
{
  for (int i = 0; i < count; i++) {
    if (i > 0 && !hl_expect(p, ","))
      return false;
    combiners[i] = (hl_combiner){.order = read_order(p), .combine = HL_LOOP_ADD};
    combiners[i].has_half_lanes = combiners[i].order == HL_ORDER_ROW && hl_accept_word(p, "half");
    if (combiners[i].order != HL_ORDER_DOT && !find_combine(hl_read_word(p), &combiners[i].combine))
      return hl_parse_fail(p, "expected a combining op");
  }
  return true;
}

static bool set_combiner_types(hl_loop_parser *p, hl_node *node, const node_list *yields)
{
  hl_loop *loop = node->loop;
  int at = 0;
  for (int i = 0; i < loop->result_count; i++) {
    int width = loop->combiners[i].order == HL_ORDER_DOT ? 2 : 1;
    if (at + width > yields->count)
      return hl_parse_fail(p, "too few values for %d results", loop->result_count);
    loop->combiners[i].type = yields->nodes[at]->type;
    at += width;
  }
  return true;
}

static bool bind_results(hl_loop_parser *p, hl_node *node, const word_list *names)
{
  for (int i = 0; i < names->count; i++) {
    hl_word name = names->words[i];
    if (!hl_word_is(name, "_") && !bind(p, name, hl_loop_result(&p->b, node, i)))
      return false;
  }
  return true;
}

static bool parse_reduce(hl_loop_parser *p, const word_list *names)
{
  domain d = {0};
  node_list yields;
  bool is_vector = hl_accept_word(p, "vector");
  hl_combiner *combiners = HL_ARRAY(p->arena, names->count, hl_combiner);
  if (!parse_combiners(p, names->count, combiners) || !parse_domain(p, &d))
    return false;
  hl_node *node = hl_loop_reduce(&p->b, d.vars.count, d.extents, names->count, combiners);
  node->loop->mode = is_vector ? HL_MODE_VECTOR : HL_MODE_SERIAL;
  hl_binding *outer = p->bindings;
  if (!bind_vars(p, &d, node->loop) || !parse_body(p, &node->loop->body, &yields))
    return false;
  unbind(p, outer);
  hl_loop_set_yields(p->b.kernel, node, yields.count, yields.nodes);
  return set_combiner_types(p, node, &yields) && bind_results(p, node, names);
}

/* acc = initial value, ... */
static bool parse_carried(hl_loop_parser *p, word_list *accs, node_list *inits)
{
  do {
    hl_word word = hl_read_word(p);
    if (word.length == 0 || !hl_expect(p, "="))
      return hl_parse_fail(p, "expected a carried value");
    hl_node *init = hl_parse_expr(p);
    if (!init)
      return false;
    accs->words = hl_arena_grow(p->arena, accs->words, &accs->capacity, (size_t)accs->count + 1,
                                sizeof *accs->words);
    accs->words[accs->count++] = word;
    add_to_list(p, inits, init);
  } while (hl_accept(p, ","));
  return true;
}

static bool bind_accs(hl_loop_parser *p, const hl_loop *loop, const word_list *accs)
{
  for (int i = 0; i < loop->result_count; i++)
    if (!bind(p, accs->words[i], loop->accs[i]))
      return false;
  return true;
}

static bool parse_fold(hl_loop_parser *p, const word_list *names)
{
  domain d = {0};
  word_list accs = {0};
  node_list inits = {0}, yields;
  if (!parse_domain(p, &d) || !hl_expect_word(p, "from") || !parse_carried(p, &accs, &inits))
    return false;
  if (accs.count != names->count)
    return hl_parse_fail(p, "%d results of %d carried values", names->count, accs.count);
  hl_node *node = hl_loop_fold(&p->b, d.vars.count, d.extents, inits.count, inits.nodes);
  hl_binding *outer = p->bindings;
  if (!bind_vars(p, &d, node->loop) || !bind_accs(p, node->loop, &accs) ||
      !parse_body(p, &node->loop->body, &yields))
    return false;
  unbind(p, outer);
  hl_loop_set_yields(p->b.kernel, node, yields.count, yields.nodes);
  return bind_results(p, node, names);
}

static bool parse_definition(hl_loop_parser *p)
{
  word_list names;
  if (!read_words(p, &names) || !hl_expect(p, "="))
    return false;
  if (begins_reduce(p))
    return parse_reduce(p, &names);
  if (hl_accept_word(p, "fold"))
    return parse_fold(p, &names);
  if (names.count != 1)
    return hl_parse_fail(p, "only a reduction or a fold gives several values");
  hl_node *node = hl_parse_expr(p);
  return node && hl_expect_line_end(p) && bind(p, names.words[0], node);
}

static bool parse_statement(hl_loop_parser *p)
{
  if (hl_peek_char(p) == '%')
    return parse_store(p);
  if (hl_accept_word(p, "for"))
    return parse_for(p, HL_MODE_SERIAL);
  if (hl_accept_word(p, "vector"))
    return parse_for(p, HL_MODE_VECTOR);
  if (hl_accept_word(p, "parallel"))
    return parse_for(p, HL_MODE_PARALLEL);
  if (hl_accept_word(p, "if"))
    return parse_if(p);
  return parse_definition(p);
}

/* Kernels. */

static bool parse_dimensions(hl_loop_parser *p, hl_declaration *d)
{
  int64_t dimensions[HL_LIMIT_RANK];
  d->rank = 0;
  d->count = 1;
  while (hl_peek_char(p) != ']') {
    if (d->rank > 0 && !hl_expect(p, ","))
      return false;
    if (d->rank == HL_LIMIT_RANK)
      return hl_parse_fail(p, "more than %d dimensions", HL_LIMIT_RANK);
    if (!hl_read_int(p, &dimensions[d->rank]))
      return false;
    d->rank++;
  }
  if (!hl_shape_fits(d->type, d->rank, dimensions))
    return hl_parse_fail(p, "the array is too large");
  for (int i = 0; i < d->rank; i++)
    d->count *= dimensions[i];
  d->dimensions = hl_arena_memdup(p->arena, dimensions, (size_t)d->rank * sizeof *dimensions);
  return true;
}

bool hl_parse_declaration(hl_loop_parser *p, hl_declaration *d)
{
  if (!hl_expect(p, "%") || !(d->name = hl_read_name(p)) || !hl_expect(p, ":") ||
      !hl_read_type(p, &d->type))
    return false;
  if (!hl_open(p, "["))
    return hl_parse_fail(p, "expected '['");
  return parse_dimensions(p, d) && hl_close(p, "]");
}

static bool read_direction(hl_loop_parser *p, hl_direction_of_param *direction)
{
  for (int i = HL_PARAM_IN; i <= HL_PARAM_SCRATCH; i++) {
    *direction = (hl_direction_of_param)i;
    if (hl_accept_word(p, hl_direction_word(*direction)))
      return true;
  }
  return hl_parse_fail(p, "expected in, out, inout or scratch");
}

static bool parse_param(hl_loop_parser *p)
{
  hl_direction_of_param direction;
  hl_declaration d;
  if (!read_direction(p, &direction) || !hl_parse_declaration(p, &d))
    return false;
  if (hl_map_get(&p->params, d.name, strlen(d.name)))
    return hl_parse_fail(p, "there are two parameters %%%s", d.name);
  hl_param *param =
      hl_kernel_add_param(p->b.kernel, d.name, direction, d.type, d.rank, d.dimensions);
  hl_map_set(&p->params, d.name, strlen(d.name), param);
  return true;
}

static bool parse_params(hl_loop_parser *p)
{
  if (!hl_open(p, "("))
    return hl_parse_fail(p, "expected '('");
  while (hl_peek_char(p) != ')') {
    if (p->b.kernel->param_count > 0 && !hl_expect(p, ","))
      return false;
    if (!parse_param(p))
      return false;
  }
  return hl_close(p, ")") && hl_expect_line_end(p);
}

hl_kernel *hl_parse_kernel(hl_loop_parser *p)
{
  hl_range place = hl_parse_here(p);
  const char *name = hl_read_name(p);
  if (!name)
    return NULL;
  hl_kernel *kernel = hl_kernel_new(p->arena, name);
  p->b = (hl_loop_builder){.kernel = kernel, .at = &kernel->body};
  p->params = p->names = (hl_map){.arena = p->arena};
  p->bindings = NULL;
  if (!parse_params(p) || !parse_lines(p, 0, NULL))
    return NULL;
  const char *fault = hl_kernel_check(p->arena, kernel);
  if (!fault)
    return kernel;
  hl_error(p->diag, place, HL_RULE_SYNTAX, "%s", fault);
  return NULL;
}
