/* loop_pseudo.c - kernels as C-like pseudo-code: loops, accumulators and subscripts as C writes
 * them, values as in the loop IR's own text (loop_print_expr.c). */
#include "loop_pseudo.h"

#include "loop_text.h"

#include <stdlib.h>
#include <string.h>

typedef struct writer {
  hl_pseudo *out;
  hl_kernel_printer printer;
  hl_str text; /* of the line at work */
  int depth;
  hl_range *ranges;
  int range_count;
  size_t range_capacity;
} writer;

/* --- where a line comes from --- */

static void add_range(writer *w, hl_range range)
{
  if (range.begin == HL_NO_OFFSET)
    return;
  for (int i = 0; i < w->range_count; i++)
    if (w->ranges[i].begin == range.begin)
      return;
  w->ranges = hl_arena_grow(w->out->arena, w->ranges, &w->range_capacity,
                            (size_t)w->range_count + 1, sizeof *w->ranges);
  w->ranges[w->range_count++] = range;
}

/* As deep as expressions nest: loop_plan.c bounds their sizes. */
static void add_ranges_of(writer *w, const hl_node *node)
{
  if (node->op == HL_LOOP_CONST)
    return;
  add_range(w, node->range);
  for (int i = 0; i < node->operand_count; i++)
    if (w->printer.nodes[node->operands[i]->id].is_nested)
      add_ranges_of(w, node->operands[i]);
}

/* A value that the line shows: where it stands as an expression, the line comes from there. */
static void add_ranges_of_value(writer *w, const hl_node *value)
{
  if (w->printer.nodes[value->id].is_nested)
    add_ranges_of(w, value);
}

static int by_begin(const void *a, const void *b)
{
  const hl_range *x = a, *y = b;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

static void end_line(writer *w, const char *note)
{
  hl_pseudo *out = w->out;
  out->lines = hl_arena_grow(out->arena, out->lines, &out->capacity, (size_t)out->count + 1,
                             sizeof *out->lines);
  hl_pseudo_line *line = &out->lines[out->count++];
  if (w->range_count)
    qsort(w->ranges, (size_t)w->range_count, sizeof *w->ranges, by_begin);
  *line = (hl_pseudo_line){.depth = w->depth,
                           .text = hl_arena_strndup(out->arena, hl_str_text(&w->text), w->text.length),
                           .note = note,
                           .range_count = w->range_count};
  if (w->range_count)
    line->ranges = hl_arena_memdup(out->arena, w->ranges, (size_t)w->range_count * sizeof *w->ranges);
  w->text.length = 0;
  w->range_count = 0;
}

/* --- values --- */

static void add(writer *w, const char *text)
{
  hl_str_add(&w->text, text);
}

static void add_value(writer *w, const hl_node *value)
{
  add_ranges_of_value(w, value);
  hl_print_value(&w->printer, value, HL_BINDS_COMPARE);
}

static void name_node(writer *w, const hl_node *node, int name)
{
  w->printer.nodes[node->id].name = name;
}

static void define(writer *w, const hl_node *node)
{
  add_ranges_of(w, node);
  name_node(w, node, w->printer.value_count++);
  hl_str_printf(&w->text, "%s ", hl_type_name(node->type));
  hl_print_name(&w->printer, node);
  add(w, " = ");
  hl_print_expression(&w->printer, node, HL_BINDS_COMPARE);
  add(w, ";");
  end_line(w, NULL);
}

static void store(writer *w, const hl_node *node)
{
  add_ranges_of(w, node);
  if (node->operand_count > 1) {
    add(w, "if (");
    add_value(w, node->operands[1]);
    add(w, ") ");
  }
  hl_print_access(&w->printer, node);
  add(w, " = ");
  add_value(w, node->operands[0]);
  add(w, ";");
  end_line(w, node->is_streaming ? "past the caches" : NULL);
}

/* --- loops --- */

static void write_block(writer *w, const hl_block *block);

static const char *mode_note(const writer *w, const hl_loop *loop)
{
  if (loop->mode == HL_MODE_PARALLEL)
    return loop->grain > 1 ? hl_arena_printf(w->out->arena, "threads, %lld at a time",
                                             (long long)loop->grain)
                           : "threads";
  if (loop->mode == HL_MODE_VECTOR)
    return "vectors";
  return loop->jam > 1 ? hl_arena_printf(w->out->arena, "%d rows at once", loop->jam) : NULL;
}

static void open_loops(writer *w, const hl_loop *loop)
{
  for (int i = 0; i < loop->var_count; i++) {
    name_node(w, loop->vars[i], w->printer.var_depth++);
    add(w, "for (");
    hl_print_name(&w->printer, loop->vars[i]);
    add(w, " = 0; ");
    hl_print_name(&w->printer, loop->vars[i]);
    hl_str_printf(&w->text, loop->limits[i] ? " < min(%lld, " : " < %lld",
                  (long long)loop->extents[i]);
    if (loop->limits[i]) {
      add_value(w, loop->limits[i]);
      add(w, ")");
    }
    add(w, "; ");
    hl_print_name(&w->printer, loop->vars[i]);
    add(w, "++) {");
    end_line(w, i == loop->var_count - 1 ? mode_note(w, loop) : NULL);
    w->depth++;
  }
}

static void close_loops(writer *w, const hl_loop *loop)
{
  w->printer.var_depth -= loop->var_count;
  for (int i = 0; i < loop->var_count; i++) {
    w->depth--;
    add(w, "}");
    end_line(w, NULL);
  }
}

/* The names of a reduce's or fold's values: those of its results, where somebody reads them. */
static int name_results(writer *w, const hl_node *node)
{
  int first = w->printer.value_count;
  w->printer.value_count += node->loop->result_count;
  for (const hl_node *r = node->next; r && r->op == HL_LOOP_RESULT && r->operands[0] == node;
       r = r->next)
    name_node(w, r, first + r->index);
  return first;
}

static const char *identity_of(const hl_combiner *combiner)
{
  bool is_float = hl_is_float(combiner->type);
  switch (combiner->combine) {
  case HL_LOOP_MUL:
    return is_float ? "1.0" : "1";
  case HL_LOOP_MAX:
    return is_float ? "-inf" : "lowest";
  case HL_LOOP_MIN:
    return is_float ? "inf" : "highest";
  case HL_LOOP_AND:
    return combiner->type == HL_PRED ? "true" : "~0";
  case HL_LOOP_ADD:
    return !is_float ? "0" : combiner->order == HL_ORDER_DOT ? "0.0" : "-0.0";
  default:
    return combiner->type == HL_PRED ? "false" : "0";
  }
}

static const char *order_note(hl_order order)
{
  switch (order) {
  case HL_ORDER_ROW:
    return "in the order ROW";
  case HL_ORDER_COL:
    return "in the order COL";
  default:
    return NULL;
  }
}

static void add_combination(writer *w, const hl_loop *loop, int i, int name)
{
  const hl_combiner *combiner = &loop->combiners[i];
  const hl_infix *infix = hl_infix_of(combiner->combine);
  bool is_dot = combiner->order == HL_ORDER_DOT;
  hl_node *const *yields = is_dot ? &loop->yields[2 * i] : &loop->yields[i];
  if (is_dot || infix)
    hl_str_printf(&w->text, "v%d %s= ", name, is_dot ? "+" : infix->text);
  else
    hl_str_printf(&w->text, "v%d = %s(v%d, ", name, hl_loop_op_name(combiner->combine), name);
  add_ranges_of_value(w, yields[0]);
  hl_print_value(&w->printer, yields[0], is_dot ? HL_BINDS_MUL : HL_BINDS_COMPARE);
  if (is_dot) {
    add(w, " * ");
    add_ranges_of_value(w, yields[1]);
    hl_print_value(&w->printer, yields[1], HL_BINDS_ATOM);
  }
  add(w, is_dot || infix ? ";" : ");");
}

static void write_reduce(writer *w, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  int first = name_results(w, node);
  for (int i = 0; i < loop->result_count; i++) {
    add_range(w, node->range);
    hl_str_printf(&w->text, "%s v%d = %s;", hl_type_name(loop->combiners[i].type), first + i,
                  identity_of(&loop->combiners[i]));
    end_line(w, order_note(loop->combiners[i].order));
  }
  open_loops(w, loop);
  write_block(w, &loop->body);
  for (int i = 0; i < loop->result_count; i++) {
    add_range(w, node->range);
    add_combination(w, loop, i, first + i);
    end_line(w, NULL);
  }
  close_loops(w, loop);
}

/* The carried values of the next iteration. */
static void write_next(writer *w, const hl_node *node, int first)
{
  const hl_loop *loop = node->loop;
  add_range(w, node->range);
  for (int i = 0; i < loop->result_count; i++)
    hl_str_printf(&w->text, "%sv%d", i ? ", " : "", first + i);
  for (int i = 0; i < loop->result_count; i++) {
    add(w, i ? ", " : " = ");
    add_value(w, loop->yields[i]);
  }
  add(w, ";");
  end_line(w, loop->result_count > 1 ? "all at once" : NULL);
}

/* Folds whose body only stores carry a value because each has one: it goes in and out as it is. */
static bool is_carried(const hl_node *fold)
{
  return fold->loop->yields[0] != fold->loop->accs[0] || fold->loop->result_count > 1 ||
         (fold->next && fold->next->op == HL_LOOP_RESULT && fold->next->operands[0] == fold);
}

static void write_fold(writer *w, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  bool carries = is_carried(node);
  int first = carries ? name_results(w, node) : 0;
  for (int i = 0; i < loop->result_count && carries; i++) {
    name_node(w, loop->accs[i], first + i);
    add_range(w, node->range);
    hl_str_printf(&w->text, "%s v%d = ", hl_type_name(loop->accs[i]->type), first + i);
    add_value(w, node->operands[i]);
    add(w, ";");
    end_line(w, NULL);
  }
  open_loops(w, loop);
  write_block(w, &loop->body);
  if (carries)
    write_next(w, node, first);
  close_loops(w, loop);
}

static bool has_lines(const writer *w, const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next)
    if (hl_has_line(&w->printer, node))
      return true;
  return false;
}

static void write_branch(writer *w, const hl_block *block)
{
  w->depth++;
  w->printer.if_depth++;
  write_block(w, block);
  w->printer.if_depth--;
  w->depth--;
}

static void write_if(writer *w, const hl_node *node)
{
  add_range(w, node->range);
  add(w, "if (");
  add_value(w, node->operands[0]);
  add(w, ") {");
  end_line(w, NULL);
  write_branch(w, &node->branch->then);
  if (has_lines(w, &node->branch->otherwise)) {
    add(w, "} else {");
    end_line(w, NULL);
    write_branch(w, &node->branch->otherwise);
  }
  add(w, "}");
  end_line(w, NULL);
}

static void write_node(writer *w, const hl_node *node)
{
  switch (node->op) {
  case HL_LOOP_STORE:
    store(w, node);
    break;
  case HL_LOOP_FOR:
    open_loops(w, node->loop);
    write_block(w, &node->loop->body);
    close_loops(w, node->loop);
    break;
  case HL_LOOP_REDUCE:
    write_reduce(w, node);
    break;
  case HL_LOOP_FOLD:
    write_fold(w, node);
    break;
  case HL_LOOP_IF:
    write_if(w, node);
    break;
  default:
    define(w, node);
  }
}

static void write_block(writer *w, const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next)
    if (hl_has_line(&w->printer, node))
      write_node(w, node);
}

static void write_head(writer *w, const hl_kernel *kernel)
{
  hl_str_printf(&w->text, "%s(", kernel->name);
  for (int i = 0; i < kernel->param_count; i++) {
    const hl_param *param = kernel->params[i];
    static const char *const words[] = {"const ", "", "", "scratch "};
    hl_str_printf(&w->text, "%s%s%s %s%s", i ? ", " : "", words[param->direction],
                  hl_type_name(param->type), param->rank ? "" : "*", w->printer.params[i]);
    for (int d = 0; d < param->rank; d++)
      hl_str_printf(&w->text, "[%lld]", (long long)param->dimensions[d]);
  }
  add(w, ") {");
  end_line(w, NULL);
}

/* Variables of the deepest nest of loops. */
static int depth_of(const hl_block *block)
{
  int deepest = 0;
  for (const hl_node *node = block->first; node; node = node->next) {
    int depth = 0;
    if (node->op == HL_LOOP_FOR || node->op == HL_LOOP_REDUCE || node->op == HL_LOOP_FOLD)
      depth = node->loop->var_count + depth_of(&node->loop->body);
    if (node->op == HL_LOOP_IF) {
      int then = depth_of(&node->branch->then), otherwise = depth_of(&node->branch->otherwise);
      depth = then > otherwise ? then : otherwise;
    }
    deepest = depth > deepest ? depth : deepest;
  }
  return deepest;
}

/* Whether a loop's variable or a value (v0, v1, ...) has this name, too. */
static bool is_taken(hl_arena *arena, const char *name, int depth)
{
  for (int i = 0; i < depth; i++)
    if (strcmp(name, hl_variable_name(arena, i)) == 0)
      return true;
  size_t digits = name[0] == 'v' ? strspn(name + 1, "0123456789") : 0;
  return digits > 0 && name[1 + digits] == '\0';
}

static const char **array_names(hl_arena *arena, const hl_kernel *kernel)
{
  const char **names = HL_ARRAY(arena, kernel->param_count, const char *);
  int depth = depth_of(&kernel->body);
  for (int i = 0; i < kernel->param_count; i++) {
    const char *name = kernel->params[i]->name;
    names[i] = is_taken(arena, name, depth) ? hl_arena_printf(arena, "%s_", name) : name;
  }
  return hl_distinct_names(arena, kernel->param_count, names);
}

void hl_kernel_pseudo(hl_pseudo *out, const hl_kernel *kernel)
{
  writer w = {.out = out, .text = {.arena = out->arena}};
  w.printer = (hl_kernel_printer){.out = &w.text,
                                  .kernel = kernel,
                                  .nodes = hl_plan_text(out->arena, kernel),
                                  .params = array_names(out->arena, kernel),
                                  .is_c = true};
  write_head(&w, kernel);
  w.depth = 1;
  write_block(&w, &kernel->body);
  w.depth = 0;
  add(&w, "}");
  end_line(&w, NULL);
}
