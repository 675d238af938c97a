/* loop_check.c - the structure check of kernels and programs: what every other part of the loop IR
 * relies on.
 *
 * A definition is visible from its node to the end of its block, and in the blocks inside: one mark
 * a node id, set when the walk passes the node and taken away at the end of its block. Accesses
 * whose indices are all loop variables are checked against the parameter by interval arithmetic,
 * unless a guard, an if or a limit narrows what really runs.
 */
#include "loop.h"

#include "limits.h"

#include <string.h>

typedef struct checker {
  hl_arena *arena;
  const hl_kernel *kernel;
  bool *is_visible; /* by node id */
  bool *is_known;   /* by node id: met before, so that ids are unique */
  int depth;
  bool is_narrowed; /* inside an if, or a loop that never runs */
  const char *fault;
} checker;

static bool fail(checker *c, const hl_node *node, const char *what)
{
  if (!c->fault)
    c->fault = hl_arena_printf(c->arena, "kernel %s: %s node %d: %s", c->kernel->name,
                               hl_loop_op_name(node->op), node->id, what);
  return false;
}

/* Types. */

static bool is_arithmetic(hl_element_type type)
{
  switch (hl_type_class_of(type)) {
  case HL_CLASS_PRED:
    return true;
  case HL_CLASS_SIGNED:
  case HL_CLASS_UNSIGNED:
    return hl_type_bits(type) >= 8;
  case HL_CLASS_FLOAT:
    return type == HL_F32 || type == HL_F64;
  default:
    return false;
  }
}

static bool is_scalar(hl_element_type type)
{
  return hl_type_class_of(type) <= HL_CLASS_FLOAT;
}

static const unsigned op_types[] = {
#define HL_LOOP_OP(id, name, arity, types) types,
#include "loop_ops.def"
};

static const int op_arities[] = {
#define HL_LOOP_OP(id, name, arity, types) arity,
#include "loop_ops.def"
};

static bool takes_any_width(hl_loop_op op)
{
  switch (op) {
  case HL_LOOP_NEG:
  case HL_LOOP_ABS:
  case HL_LOOP_ORDER:
  case HL_LOOP_PRECISION:
  case HL_LOOP_SELECT:
  case HL_LOOP_CONVERT:
  case HL_LOOP_BITCAST:
    return true;
  default:
    return false;
  }
}

/* Floats of fewer than 8 bits are seen as the byte they are stored in; smaller integers and pred are converted instead. */
static int width_of(hl_element_type type)
{
  return hl_is_float(type) ? 8 * hl_type_bytes(type) : hl_type_bits(type);
}

static bool may_bitcast(hl_element_type from, hl_element_type to)
{
  return width_of(from) == width_of(to) && width_of(from) >= 8;
}

static bool has_good_result(const hl_node *node)
{
  hl_element_type operand = node->operands[0]->type;
  switch (node->op) {
  case HL_LOOP_EQ:
  case HL_LOOP_NE:
  case HL_LOOP_GE:
  case HL_LOOP_GT:
  case HL_LOOP_LE:
  case HL_LOOP_LT:
  case HL_LOOP_IS_FINITE:
    return node->type == HL_PRED;
  case HL_LOOP_ORDER:
    return hl_type_class_of(node->type) == HL_CLASS_SIGNED &&
           hl_type_bits(node->type) == 8 * hl_type_bytes(operand);
  case HL_LOOP_DOT4:
    return node->type == HL_S32 && operand == HL_S32;
  case HL_LOOP_SELECT:
    return node->type == node->operands[1]->type;
  case HL_LOOP_CONVERT:
    return is_scalar(node->type);
  case HL_LOOP_BITCAST:
    return is_scalar(node->type) && may_bitcast(operand, node->type);
  default:
    return node->type == operand;
  }
}

static bool check_scalar_op(checker *c, const hl_node *node)
{
  int arity = node->op == HL_LOOP_MATH ? hl_math_arity(node->math) : op_arities[node->op];
  if (node->operand_count != arity)
    return fail(c, node, "wrong number of operands");
  for (int i = 0; i < arity; i++) {
    hl_element_type type = node->operands[i]->type;
    if (!is_scalar(type) || (!takes_any_width(node->op) && !is_arithmetic(type)) ||
        !(op_types[node->op] & (1u << hl_type_class_of(type))))
      return fail(c, node, "an operand's type is not one that the op takes");
    int like = node->op == HL_LOOP_SELECT && i > 0 ? 1 : 0;
    if (type != node->operands[like]->type)
      return fail(c, node, "operands of different types");
  }
  if (node->op == HL_LOOP_SELECT && node->operands[0]->type != HL_PRED)
    return fail(c, node, "the selector is not pred");
  return has_good_result(node) || fail(c, node, "wrong result type");
}

static bool check_const(checker *c, const hl_node *node)
{
  if (!is_scalar(node->type))
    return fail(c, node, "not a scalar type");
  int unused = 64 - hl_type_bits(node->type);
  uint64_t mask = UINT64_MAX >> (64 - 8 * hl_type_bytes(node->type));
  uint64_t stored = node->bits << unused >> unused;
  if (hl_type_class_of(node->type) == HL_CLASS_SIGNED)
    stored = (uint64_t)((int64_t)(node->bits << unused) >> unused) & mask;
  return stored == node->bits || fail(c, node, "bits that are not a stored form of its type");
}

/* Uses and accesses. */

static bool is_value(const hl_node *node)
{
  return node->type != HL_TOKEN;
}

static bool check_use(checker *c, const hl_node *user, const hl_node *used)
{
  if (!used)
    return fail(c, user, "an operand is missing");
  if (used->id < 0 || used->id >= c->kernel->next_id || !c->is_visible[used->id])
    return fail(c, user, "uses a value that is not visible here");
  return is_value(used) || fail(c, user, "uses a statement as a value");
}

typedef struct interval {
  int64_t low, high;
} interval;

/* Adds stride * (0 .. extent-1); false on overflow. */
static bool widen(interval *range, int64_t stride, int64_t extent)
{
  int64_t reach;
  if (!hl_mul_i64(stride, extent - 1, &reach))
    return false;
  return reach < 0 ? hl_add_i64(range->low, reach, &range->low)
                   : hl_add_i64(range->high, reach, &range->high);
}

static bool check_bounds(checker *c, const hl_node *node)
{
  const hl_access *access = node->access;
  interval range = {access->constant, access->constant};
  for (int i = 0; i < access->term_count; i++) {
    const hl_node *index = access->terms[i].index;
    if (index->op != HL_LOOP_VAR || index->loop->limits[index->index])
      return true;
    if (!widen(&range, access->terms[i].stride, index->loop->extents[index->index]))
      return fail(c, node, "the access overflows 64 bits");
  }
  return (range.low >= 0 && range.high < access->param->count) ||
         fail(c, node, "the access leaves its parameter");
}

static bool is_param_of(const hl_kernel *kernel, const hl_param *param)
{
  for (int i = 0; i < kernel->param_count; i++)
    if (kernel->params[i] == param)
      return true;
  return false;
}

static bool check_access(checker *c, const hl_node *node, bool is_guarded)
{
  const hl_access *access = node->access;
  if (!access || !is_param_of(c->kernel, access->param))
    return fail(c, node, "accesses no parameter of this kernel");
  for (int i = 0; i < access->term_count; i++) {
    const hl_term *term = &access->terms[i];
    if (!check_use(c, node, term->index))
      return false;
    if (term->index->type != HL_S64 || term->stride == 0)
      return fail(c, node, "an index is not s64, or has stride 0");
    for (int k = 0; k < i; k++)
      if (access->terms[k].index == term->index)
        return fail(c, node, "one index stands twice");
  }
  return is_guarded || c->is_narrowed || check_bounds(c, node);
}

static bool check_load(checker *c, const hl_node *node)
{
  int count = node->operand_count;
  if (count != 0 && count != 2)
    return fail(c, node, "wrong number of operands");
  if (!check_access(c, node, count == 2))
    return false;
  if (node->type != node->access->param->type || !is_scalar(node->type))
    return fail(c, node, "not the parameter's type");
  if (count == 2 && (node->operands[0]->type != HL_PRED || node->operands[1]->type != node->type))
    return fail(c, node, "wrong type of the guard or of what it gives otherwise");
  return true;
}

static bool check_store(checker *c, const hl_node *node)
{
  int count = node->operand_count;
  if (count != 1 && count != 2)
    return fail(c, node, "wrong number of operands");
  if (!check_access(c, node, count == 2))
    return false;
  if (node->access->param->direction == HL_PARAM_IN)
    return fail(c, node, "writes an input");
  if (node->operands[0]->type != node->access->param->type)
    return fail(c, node, "not the parameter's type");
  return count == 1 || node->operands[1]->type == HL_PRED || fail(c, node, "the guard is not pred");
}

/* Loops. */

static bool is_commutative(hl_loop_op op)
{
  switch (op) {
  case HL_LOOP_ADD:
  case HL_LOOP_MUL:
  case HL_LOOP_MAX:
  case HL_LOOP_MIN:
    return true;
  default:
    return op == HL_LOOP_AND || op == HL_LOOP_OR || op == HL_LOOP_XOR;
  }
}

static bool is_good_combiner(const hl_combiner *combiner)
{
  hl_loop_op op = combiner->combine;
  if (!is_arithmetic(combiner->type) || !is_commutative(op) ||
      !(op_types[op] & (1u << hl_type_class_of(combiner->type))) ||
      (combiner->has_half_lanes && combiner->order != HL_ORDER_ROW))
    return false;
  switch (combiner->order) {
  case HL_ORDER_FREE:
    return true;
  case HL_ORDER_DOT:
    return op == HL_LOOP_ADD && combiner->type != HL_PRED;
  default:
    return op == HL_LOOP_ADD || op == HL_LOOP_MUL;
  }
}

static bool check_reduce(checker *c, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  int yield = 0;
  for (int i = 0; i < loop->result_count; i++) {
    const hl_combiner *combiner = &loop->combiners[i];
    if (!is_good_combiner(combiner))
      return fail(c, node, "a combiner that cannot be");
    int count = combiner->order == HL_ORDER_DOT ? 2 : 1;
    for (int k = 0; k < count; k++, yield++)
      if (yield >= loop->yield_count || loop->yields[yield]->type != combiner->type)
        return fail(c, node, "a yield is missing or of the wrong type");
  }
  return yield == loop->yield_count || fail(c, node, "too many yields");
}

static bool check_fold(checker *c, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  if (node->operand_count != loop->result_count || loop->yield_count != loop->result_count)
    return fail(c, node, "as many initial values and yields as carried values are needed");
  for (int i = 0; i < loop->result_count; i++) {
    hl_element_type type = loop->accs[i]->type;
    if (node->operands[i]->type != type || loop->yields[i]->type != type)
      return fail(c, node, "an initial value or a yield is not of the carried type");
  }
  return true;
}

static bool check_mode(checker *c, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  if (node->op == HL_LOOP_FOR && (loop->var_count != 1 || loop->yield_count != 0))
    return fail(c, node, "a for has one variable and yields nothing");
  if (node->op != HL_LOOP_FOR && (loop->var_count < 1 || loop->result_count < 1))
    return fail(c, node, "needs a variable and a result");
  if (loop->mode == HL_MODE_PARALLEL &&
      (node->op != HL_LOOP_FOR || node->block != &c->kernel->body))
    return fail(c, node, "a parallel loop stands in the kernel's body alone");
  if (loop->mode == HL_MODE_VECTOR && node->op == HL_LOOP_FOLD)
    return fail(c, node, "a fold runs in order");
  return true;
}

static bool check_limits(checker *c, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  for (int i = 0; i < loop->var_count; i++) {
    const hl_node *limit = loop->limits[i];
    if (loop->extents[i] < 0)
      return fail(c, node, "a negative extent");
    if (limit && (!check_use(c, node, limit) || limit->type != HL_S64))
      return fail(c, node, "a limit is not an s64");
  }
  return true;
}

static bool check_new(checker *c, const hl_node *node)
{
  if (node->id < 0 || node->id >= c->kernel->next_id || c->is_known[node->id])
    return fail(c, node, "its id is not its own");
  c->is_known[node->id] = true;
  return true;
}

static bool show_all(checker *c, hl_node *const *nodes, int count)
{
  for (int i = 0; i < count; i++) {
    if (!check_new(c, nodes[i]))
      return false;
    c->is_visible[nodes[i]->id] = true;
  }
  return true;
}

static void hide_all(checker *c, hl_node *const *nodes, int count)
{
  for (int i = 0; i < count; i++)
    c->is_visible[nodes[i]->id] = false;
}

static void hide_block(checker *c, const hl_block *block)
{
  for (const hl_node *node = block->first; node; node = node->next)
    c->is_visible[node->id] = false;
}

static bool check_block(checker *c, const hl_block *block, const hl_node *owner);

static bool never_runs(const hl_loop *loop)
{
  for (int i = 0; i < loop->var_count; i++)
    if (loop->extents[i] == 0)
      return true;
  return false;
}

static bool check_yields(checker *c, const hl_node *node)
{
  for (int i = 0; i < node->loop->yield_count; i++)
    if (!check_use(c, node, node->loop->yields[i]))
      return false;
  if (node->op == HL_LOOP_REDUCE)
    return check_reduce(c, node);
  return node->op == HL_LOOP_FOR || check_fold(c, node);
}

static bool check_loop(checker *c, const hl_node *node)
{
  const hl_loop *loop = node->loop;
  int acc_count = node->op == HL_LOOP_FOLD ? loop->result_count : 0;
  if (!check_mode(c, node) || !check_limits(c, node) || !show_all(c, loop->vars, loop->var_count) ||
      !show_all(c, loop->accs, acc_count))
    return false;
  bool was_narrowed = c->is_narrowed;
  c->is_narrowed = was_narrowed || never_runs(loop);
  if (!check_block(c, &loop->body, node) || !check_yields(c, node))
    return false;
  c->is_narrowed = was_narrowed;
  hide_block(c, &loop->body);
  hide_all(c, loop->vars, loop->var_count);
  hide_all(c, loop->accs, acc_count);
  return true;
}

static bool check_if(checker *c, const hl_node *node)
{
  if (node->operand_count != 1 || node->operands[0]->type != HL_PRED)
    return fail(c, node, "the condition is not one pred");
  bool was_narrowed = c->is_narrowed;
  c->is_narrowed = true;
  if (!check_block(c, &node->branch->then, node))
    return false;
  hide_block(c, &node->branch->then);
  if (!check_block(c, &node->branch->otherwise, node))
    return false;
  hide_block(c, &node->branch->otherwise);
  c->is_narrowed = was_narrowed;
  return true;
}

static bool check_result(checker *c, const hl_node *node)
{
  const hl_node *before = node->previous;
  int previous = -1;
  if (before && before->op == HL_LOOP_RESULT) {
    previous = before->index;
    before = before->operands[0];
  }
  if (node->operand_count != 1 || !before || node->operands[0] != before ||
      (before->op != HL_LOOP_REDUCE && before->op != HL_LOOP_FOLD))
    return fail(c, node, "does not stand behind its reduce or fold");
  if (node->index <= previous || node->index >= before->loop->result_count)
    return fail(c, node, "no such result, or out of order");
  hl_element_type type = before->op == HL_LOOP_FOLD ? before->operands[node->index]->type
                                                    : before->loop->combiners[node->index].type;
  return node->type == type || fail(c, node, "not the type of the result");
}

/* Nodes and blocks. */

static bool check_kind(checker *c, const hl_node *node)
{
  if (node->op < HL_LOOP_CONST)
    return check_scalar_op(c, node);
  switch (node->op) {
  case HL_LOOP_CONST:
    return check_const(c, node);
  case HL_LOOP_LOAD:
    return check_load(c, node);
  case HL_LOOP_STORE:
    return check_store(c, node);
  case HL_LOOP_FOR:
  case HL_LOOP_REDUCE:
  case HL_LOOP_FOLD:
    return check_loop(c, node);
  case HL_LOOP_IF:
    return check_if(c, node);
  case HL_LOOP_RESULT:
    return check_result(c, node);
  default:
    return fail(c, node, "cannot stand in a block");
  }
}

static bool is_statement(hl_loop_op op)
{
  return op == HL_LOOP_STORE || op == HL_LOOP_FOR || op == HL_LOOP_REDUCE || op == HL_LOOP_FOLD ||
         op == HL_LOOP_IF;
}

static bool check_node(checker *c, const hl_node *node)
{
  if (!check_new(c, node))
    return false;
  if (is_statement(node->op) == is_value(node))
    return fail(c, node, "a statement has the type token, a value another");
  if (node->op != HL_LOOP_RESULT)
    for (int i = 0; i < node->operand_count; i++)
      if (!check_use(c, node, node->operands[i]))
        return false;
  if (!check_kind(c, node))
    return false;
  c->is_visible[node->id] = true;
  return true;
}

static bool check_block(checker *c, const hl_block *block, const hl_node *owner)
{
  const hl_node *previous = NULL;
  if (block->owner != owner || ++c->depth > HL_LIMIT_NESTING)
    return fail(c, owner, "its block does not know it, or loops nest too deeply");
  for (const hl_node *node = block->first; node; node = node->next) {
    if (node->block != block || node->previous != previous)
      return fail(c, node, "its links are broken");
    if (!check_node(c, node))
      return false;
    previous = node;
  }
  c->depth--;
  return block->last == previous || fail(c, block->last, "is no longer the last of its block");
}

static const char *check_params(hl_arena *arena, const hl_kernel *kernel)
{
  for (int i = 0; i < kernel->param_count; i++) {
    const hl_param *param = kernel->params[i];
    if (!is_scalar(param->type))
      return hl_arena_printf(arena, "kernel %s: parameter %s is not of a scalar type", kernel->name,
                             param->name);
  }
  return NULL;
}

const char *hl_kernel_check(hl_arena *arena, const hl_kernel *kernel)
{
  checker c = {
      .arena = arena,
      .kernel = kernel,
      .is_visible = HL_ARRAY(arena, kernel->next_id, bool),
      .is_known = HL_ARRAY(arena, kernel->next_id, bool),
  };
  const char *fault = check_params(arena, kernel);
  if (!fault && (!kernel->body.first != !kernel->body.last || kernel->body.owner))
    fault = hl_arena_printf(arena, "kernel %s: its body is broken", kernel->name);
  if (!fault && kernel->body.first)
    check_block(&c, &kernel->body, NULL);
  return fault ? fault : c.fault;
}

/* Programs. */

typedef struct program_checker {
  hl_arena *arena;
  hl_map buffers; /* the program's, by their address */
  int depth;
} program_checker;

static bool is_buffer_of(const program_checker *c, const hl_buffer *buffer)
{
  return buffer && hl_map_get(&c->buffers, (const char *)&buffer, sizeof buffer);
}

static int64_t elements_of(const hl_buffer *buffer)
{
  int64_t count = 1;
  for (int i = 0; i < buffer->rank; i++)
    count *= buffer->dimensions[i];
  return count;
}

static const char *check_buffer(hl_arena *arena, const hl_buffer *buffer)
{
  int64_t bytes = elements_of(buffer) * hl_type_bytes(buffer->type);
  if (buffer->bytes != bytes)
    return hl_arena_printf(arena, "buffer %s: %lld bytes where its type has %lld", buffer->name,
                           (long long)buffer->bytes, (long long)bytes);
  if (buffer->kind == HL_BUFFER_CONSTANT && !buffer->data && bytes > 0)
    return hl_arena_printf(arena, "buffer %s: a constant without data", buffer->name);
  if (buffer->kind == HL_BUFFER_TEMP && buffer->offset >= 0 && buffer->offset % 64 != 0)
    return hl_arena_printf(arena, "buffer %s: its offset is not aligned", buffer->name);
  if (buffer->is_per_worker && buffer->kind != HL_BUFFER_TEMP)
    return hl_arena_printf(arena, "buffer %s: only a temp is per worker", buffer->name);
  return NULL;
}

static bool is_writable(const hl_buffer *buffer)
{
  return buffer->kind == HL_BUFFER_RESULT || buffer->kind == HL_BUFFER_TEMP;
}

static const char *check_argument(program_checker *c, const hl_kernel *kernel, int index,
                                  const hl_buffer *buffer)
{
  const hl_param *param = kernel->params[index];
  const char *what = NULL;
  if (!is_buffer_of(c, buffer))
    return hl_arena_printf(c->arena, "kernel %s: parameter %s has no buffer of the program",
                           kernel->name, param->name);
  if (param->count * hl_type_bytes(param->type) != buffer->bytes)
    what = "has not the size of its buffer";
  else if (param->direction != HL_PARAM_IN && !is_writable(buffer))
    what = "writes a buffer that is only read";
  else if ((param->direction == HL_PARAM_SCRATCH) != buffer->is_per_worker)
    what = "is scratch, or its buffer is one worker's, but not both";
  if (!what)
    return NULL;
  return hl_arena_printf(c->arena, "kernel %s: parameter %s, buffer %s: %s", kernel->name,
                         param->name, buffer->name, what);
}

static const char *check_kernel_step(program_checker *c, const hl_step *step)
{
  if (!step->kernel)
    return "a kernel step without a kernel";
  const char *fault = hl_kernel_check(c->arena, step->kernel);
  for (int i = 0; !fault && i < step->kernel->param_count; i++)
    fault = check_argument(c, step->kernel, i, step->buffers[i]);
  return fault;
}

static const char *check_copy_step(program_checker *c, const hl_step *step)
{
  const hl_buffer *to = step->buffers[0], *from = step->buffers[1];
  if (!is_buffer_of(c, to) || !is_buffer_of(c, from))
    return "a copy without two buffers of the program";
  if (to->bytes != from->bytes || !is_writable(to) || to->is_per_worker || from->is_per_worker)
    return hl_arena_printf(c->arena, "copy of %s to %s: not equal bytes, or not to be written",
                           from->name, to->name);
  return NULL;
}

static const char *check_steps(program_checker *c, const hl_steps *steps);

static const char *check_while(program_checker *c, const hl_step *step)
{
  if (!is_buffer_of(c, step->selector) || step->selector->type != HL_PRED ||
      step->selector->bytes != 1)
    return "a while whose selector is not one pred";
  const char *fault = check_steps(c, &step->condition);
  return fault ? fault : check_steps(c, &step->body);
}

static const char *check_conditional(program_checker *c, const hl_step *step)
{
  const hl_buffer *selector = step->selector;
  if (!is_buffer_of(c, selector) || elements_of(selector) != 1 ||
      (selector->type != HL_PRED && selector->type != HL_S32))
    return "a conditional whose selector is not one pred or s32";
  if (step->branch_count < 1 || (selector->type == HL_PRED && step->branch_count != 2))
    return "a conditional with the wrong number of branches";
  const char *fault = NULL;
  for (int i = 0; !fault && i < step->branch_count; i++)
    fault = check_steps(c, &step->branches[i]);
  return fault;
}

static const char *check_call_value(const program_checker *c, const hl_call *call, const hl_call_value *value)
{
  if (value->kind == HL_CALL_INT)
    return value->number >= INT32_MIN && value->number <= INT32_MAX ? NULL : "an integer of more than 32 bits";
  if (value->kind == HL_CALL_CHAR)
    return value->number > 0 && value->number < 128 ? NULL : "no character";
  const hl_buffer *buffer = value->buffer;
  if (!is_buffer_of(c, buffer) || buffer->is_per_worker)
    return "no buffer of the program";
  if (value->kind != HL_CALL_READ && !is_writable(buffer))
    return "writes a buffer that is only read";
  int64_t reach;
  bool fits = value->step >= 0 && hl_mul_i64(value->step, call->rounds - 1, &reach) && reach <= buffer->bytes;
  return fits ? NULL : "leaves its buffer";
}

/* Functions of the program take arrays alone, arguments first, and run once. */
static bool is_plain_call(const hl_call *call)
{
  bool has_results = false, is_plain = call->rounds == 1;
  for (int i = 0; i < call->value_count; i++) {
    hl_call_value_kind kind = call->values[i].kind;
    is_plain = is_plain && (kind == HL_CALL_WRITE || (kind == HL_CALL_READ && !has_results));
    has_results = has_results || kind == HL_CALL_WRITE;
  }
  return is_plain;
}

static const char *check_call(const program_checker *c, const hl_step *step)
{
  const hl_call *call = step->call;
  const char *fault = NULL;
  if (!call || !call->symbol || call->rounds < 1 || (!call->is_fortran && !is_plain_call(call)))
    return "a call that cannot be";
  for (int i = 0; !fault && i < call->value_count; i++)
    fault = check_call_value(c, call, &call->values[i]);
  return fault ? hl_arena_printf(c->arena, "call of %s: %s", call->symbol, fault) : NULL;
}

static const char *check_step(program_checker *c, const hl_step *step)
{
  switch (step->kind) {
  case HL_STEP_CALL:
    return check_call(c, step);
  case HL_STEP_KERNEL:
    return check_kernel_step(c, step);
  case HL_STEP_COPY:
    return check_copy_step(c, step);
  case HL_STEP_WHILE:
    return check_while(c, step);
  default:
    return check_conditional(c, step);
  }
}

static const char *check_steps(program_checker *c, const hl_steps *steps)
{
  const char *fault = NULL;
  if (++c->depth > HL_LIMIT_NESTING)
    return "steps nest too deeply";
  for (const hl_step *step = steps->first; !fault && step; step = step->next)
    fault = check_step(c, step);
  c->depth--;
  return fault;
}

const char *hl_program_check(hl_arena *arena, const hl_program *program)
{
  program_checker c = {.arena = arena, .buffers = {.arena = arena}};
  const char *fault = NULL;
  for (int i = 0; !fault && i < program->buffer_count; i++) {
    hl_buffer **slot = &program->buffers[i];
    hl_map_set(&c.buffers, (const char *)slot, sizeof *slot, *slot);
    fault = check_buffer(arena, *slot);
  }
  return fault ? fault : check_steps(&c, &program->steps);
}
