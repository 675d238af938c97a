/* loop_print.c - the loop IR as text that a person can read and loop_parse.c reads back;
 * docs/loop-ir.md has the grammar. */
#include "loop_text.h"

enum { INDENT = 2 };

static void indent_by(hl_str *out, int columns)
{
  hl_str_printf(out, "%*s", columns, "");
}

bool hl_has_line(const hl_kernel_printer *p, const hl_node *node)
{
  return node->op != HL_LOOP_CONST && node->op != HL_LOOP_RESULT && !p->nodes[node->id].is_nested;
}

static void print_list(hl_kernel_printer *p, hl_node *const *values, int count)
{
  for (int i = 0; i < count; i++) {
    if (i)
      hl_str_add(p->out, ", ");
    hl_print_value(p, values[i], HL_BINDS_COMPARE);
  }
}

/* The line of a block that consists of one store, else NULL. */
static const hl_node *only_store(const hl_kernel_printer *p, const hl_block *block)
{
  const hl_node *only = NULL;
  for (const hl_node *node = block->first; node; node = node->next) {
    if (!hl_has_line(p, node))
      continue;
    if (only || node->op != HL_LOOP_STORE)
      return NULL;
    only = node;
  }
  return only;
}

static bool has_lines(const hl_kernel_printer *p, const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next)
    if (hl_has_line(p, node))
      return true;
  return false;
}

static void print_store(hl_kernel_printer *p, const hl_node *node)
{
  hl_print_access(p, node);
  hl_str_add(p->out, node->is_streaming ? " :=! " : " := ");
  hl_print_value(p, node->operands[0], HL_BINDS_COMPARE);
  if (node->operand_count > 1) {
    hl_str_add(p->out, " when ");
    hl_print_value(p, node->operands[1], HL_BINDS_COMPARE);
  }
  hl_str_add_char(p->out, '\n');
}

static void print_block(hl_kernel_printer *p, const hl_block *block, int columns);

/* What follows the head of a statement without values. */
static void print_statement_body(hl_kernel_printer *p, const hl_block *block, int columns)
{
  const hl_node *store = only_store(p, block);
  if (store) {
    hl_str_add(p->out, ": ");
    print_store(p, store);
    return;
  }
  hl_str_add_char(p->out, '\n');
  print_block(p, block, columns + INDENT);
}

/* What follows the head of a reduce or fold. */
static void print_yielding_body(hl_kernel_printer *p, const hl_loop *loop, int columns)
{
  if (has_lines(p, &loop->body)) {
    hl_str_add_char(p->out, '\n');
    print_block(p, &loop->body, columns + INDENT);
    indent_by(p->out, columns + INDENT);
    hl_str_add(p->out, "yield ");
  } else {
    hl_str_add(p->out, ": ");
  }
  print_list(p, loop->yields, loop->yield_count);
  hl_str_add_char(p->out, '\n');
}

static void print_range(hl_kernel_printer *p, const hl_loop *loop, int var)
{
  const hl_node *limit = loop->limits[var];
  hl_str_printf(p->out, limit ? "0..min(%lld, " : "0..%lld", (long long)loop->extents[var]);
  if (limit) {
    hl_print_value(p, limit, HL_BINDS_COMPARE);
    hl_str_add_char(p->out, ')');
  }
}

/* i, j in 0..8, 0..4; from here on the variables have names. */
static void print_domain(hl_kernel_printer *p, const hl_loop *loop)
{
  for (int i = 0; i < loop->var_count; i++) {
    p->nodes[loop->vars[i]->id].name = p->var_depth + i;
    hl_str_add(p->out, i ? ", " : "");
    hl_print_name(p, loop->vars[i]);
  }
  hl_str_add(p->out, " in ");
  for (int i = 0; i < loop->var_count; i++) {
    hl_str_add(p->out, i ? ", " : "");
    print_range(p, loop, i);
  }
  p->var_depth += loop->var_count;
}

static void print_for(hl_kernel_printer *p, const hl_node *node, int columns)
{
  const hl_loop *loop = node->loop;
  hl_str_printf(p->out, "%s ", hl_mode_word(loop->mode));
  print_domain(p, loop);
  if (loop->grain > 1)
    hl_str_printf(p->out, " grain %lld", (long long)loop->grain);
  if (loop->jam > 1)
    hl_str_printf(p->out, " jam %d", loop->jam);
  print_statement_body(p, &loop->body, columns);
  p->var_depth -= loop->var_count;
}

/* v3, _, v4 = : a result that nobody reads has no node and no name. */
static void print_results(hl_kernel_printer *p, const hl_node *node)
{
  const hl_node *result = node->next;
  for (int i = 0; i < node->loop->result_count; i++) {
    hl_str_add(p->out, i ? ", " : "");
    if (result && result->op == HL_LOOP_RESULT && result->index == i) {
      p->nodes[result->id].name = p->value_count++;
      hl_print_name(p, result);
      result = result->next;
    } else {
      hl_str_add_char(p->out, '_');
    }
  }
  hl_str_add(p->out, " = ");
}

static void print_combiner(hl_str *out, const hl_combiner *combiner)
{
  if (combiner->order == HL_ORDER_FREE)
    hl_str_add(out, hl_loop_op_name(combiner->combine));
  else if (combiner->order == HL_ORDER_DOT)
    hl_str_add(out, hl_order_word(combiner->order));
  else
    hl_str_printf(out, "%s %s%s", hl_order_word(combiner->order),
                  combiner->has_half_lanes ? "half " : "", hl_loop_op_name(combiner->combine));
}

static void print_reduce(hl_kernel_printer *p, const hl_node *node, int columns)
{
  const hl_loop *loop = node->loop;
  print_results(p, node);
  if (loop->mode == HL_MODE_VECTOR)
    hl_str_printf(p->out, "%s ", hl_mode_word(loop->mode));
  for (int i = 0; i < loop->result_count; i++) {
    hl_str_add(p->out, i ? ", " : "");
    print_combiner(p->out, &loop->combiners[i]);
  }
  hl_str_add_char(p->out, ' ');
  print_domain(p, loop);
  print_yielding_body(p, loop, columns);
  p->var_depth -= loop->var_count;
}

static void print_fold(hl_kernel_printer *p, const hl_node *node, int columns)
{
  const hl_loop *loop = node->loop;
  print_results(p, node);
  hl_str_add(p->out, "fold ");
  print_domain(p, loop);
  for (int i = 0; i < loop->result_count; i++) {
    p->nodes[loop->accs[i]->id].name = p->acc_count++;
    hl_str_add(p->out, i ? ", " : " from ");
    hl_print_name(p, loop->accs[i]);
    hl_str_add(p->out, " = ");
    hl_print_value(p, node->operands[i], HL_BINDS_COMPARE);
  }
  print_yielding_body(p, loop, columns);
  p->var_depth -= loop->var_count;
}

static void print_if(hl_kernel_printer *p, const hl_node *node, int columns)
{
  hl_str_add(p->out, "if ");
  hl_print_value(p, node->operands[0], HL_BINDS_COMPARE);
  p->if_depth++;
  print_statement_body(p, &node->branch->then, columns);
  if (has_lines(p, &node->branch->otherwise)) {
    indent_by(p->out, columns);
    hl_str_add(p->out, "else");
    print_statement_body(p, &node->branch->otherwise, columns);
  }
  p->if_depth--;
}

static void print_definition(hl_kernel_printer *p, const hl_node *node)
{
  p->nodes[node->id].name = p->value_count++;
  hl_print_name(p, node);
  hl_str_add(p->out, " = ");
  hl_print_expression(p, node, HL_BINDS_COMPARE);
  hl_str_add_char(p->out, '\n');
}

static void print_line(hl_kernel_printer *p, const hl_node *node, int columns)
{
  indent_by(p->out, columns);
  switch (node->op) {
  case HL_LOOP_STORE:
    print_store(p, node);
    break;
  case HL_LOOP_FOR:
    print_for(p, node, columns);
    break;
  case HL_LOOP_REDUCE:
    print_reduce(p, node, columns);
    break;
  case HL_LOOP_FOLD:
    print_fold(p, node, columns);
    break;
  case HL_LOOP_IF:
    print_if(p, node, columns);
    break;
  default:
    print_definition(p, node);
  }
}

static void print_block(hl_kernel_printer *p, const hl_block *block, int columns)
{
  for (const hl_node *node = block->first; node; node = node->next)
    if (hl_has_line(p, node))
      print_line(p, node, columns);
}

/* Kernels. */

const char **hl_param_names(hl_arena *arena, const hl_kernel *kernel)
{
  const char **names = HL_ARRAY(arena, kernel->param_count, const char *);
  for (int i = 0; i < kernel->param_count; i++)
    names[i] = kernel->params[i]->name;
  return hl_distinct_names(arena, kernel->param_count, names);
}

void hl_kernel_print_as(hl_str *out, const hl_kernel *kernel, const char *name)
{
  hl_kernel_printer p = {
      .out = out,
      .kernel = kernel,
      .nodes = hl_plan_text(out->arena, kernel),
      .params = hl_param_names(out->arena, kernel),
  };
  hl_str_add(out, "kernel ");
  hl_print_word(out, name);
  hl_str_add_char(out, '(');
  for (int i = 0; i < kernel->param_count; i++) {
    const hl_param *param = kernel->params[i];
    hl_str_printf(out, "%s%s ", i ? ", " : "", hl_direction_word(param->direction));
    hl_print_declaration(out, p.params[i], param->type, param->rank, param->dimensions);
  }
  hl_str_add(out, ")\n");
  print_block(&p, &kernel->body, INDENT);
}

void hl_kernel_print(hl_str *out, const hl_kernel *kernel)
{
  hl_kernel_print_as(out, kernel, kernel->name);
}
