/* infer - checks and messages that the families of shape inference share. */
#include "infer.h"

#include "limits.h"

#include <string.h>

const char *hl_say_op(const hl_instruction *instruction)
{
  return instruction->async_wrapped ? instruction->async_wrapped
                                    : hl_op_info_of(instruction->opcode)->name;
}

const char *hl_say(hl_infer *infer, const hl_shape *shape)
{
  return hl_shape_text(infer->arena, shape);
}

const char *hl_say_ints(hl_infer *infer, int count, const int64_t *values)
{
  hl_str out = {.arena = infer->arena};
  for (int i = 0; i < count; i++)
    hl_str_printf(&out, "%s%lld", i ? "," : "", (long long)values[i]);
  return hl_str_text(&out);
}

const char *hl_say_dimensions(hl_infer *infer, const hl_shape *shape)
{
  return hl_arena_printf(infer->arena, "[%s]", hl_say_ints(infer, shape->rank, shape->dimensions));
}

const char *hl_say_call(hl_infer *infer, const hl_instruction *instruction)
{
  hl_str out = {.arena = infer->arena};
  hl_str_printf(&out, "%s(", hl_say_op(instruction));
  for (int i = 0; i < instruction->operand_count; i++)
    hl_str_printf(&out, "%s%s", i ? ", " : "", instruction->operands[i]->name);
  hl_str_add_char(&out, ')');
  return hl_str_text(&out);
}

const hl_shape *hl_operand_shape(const hl_instruction *instruction, int index)
{
  return instruction->operands[index]->shape;
}

const hl_shape *hl_element_shape(const hl_shape *tuple, int index)
{
  return tuple->element_type == HL_TUPLE && index < tuple->tuple_count ? tuple->tuple_shapes[index] : NULL;
}

const hl_shape *hl_make_array(hl_infer *infer, const hl_instruction *instruction,
                              hl_element_type type, int rank, const int64_t *dimensions)
{
  if (rank > HL_LIMIT_RANK) {
    hl_error(infer->diag, hl_place_opcode(instruction), HL_RULE_LIMIT,
             "the result of '%s' has rank %d; the limit is %d", hl_say_op(instruction), rank,
             HL_LIMIT_RANK);
    return NULL;
  }
  if (!hl_shape_fits(type, rank, dimensions)) {
    hl_error(infer->diag, hl_place_opcode(instruction), HL_RULE_LIMIT,
             "the result of '%s', %s[%s], has more bytes than fit in 63 bits",
             hl_say_op(instruction), hl_type_name(type), hl_say_ints(infer, rank, dimensions));
    return NULL;
  }
  return hl_shape_new(infer->arena, type, rank, dimensions);
}

static bool operand_error(hl_infer *infer, const hl_instruction *instruction, int index,
                          hl_rule rule, const char *want)
{
  return hl_error(infer->diag, hl_place_operand(instruction, index), rule,
                  "operand %d of '%s' must be %s; it is %s", index, hl_say_op(instruction), want,
                  hl_say(infer, hl_operand_shape(instruction, index)));
}

bool hl_check_array(hl_infer *infer, const hl_instruction *instruction, int index, hl_rule rule)
{
  return hl_shape_is_array(hl_operand_shape(instruction, index)) ||
         operand_error(infer, instruction, index, rule, "an array");
}

bool hl_check_integral(hl_infer *infer, const hl_instruction *instruction, int index, hl_rule rule)
{
  return hl_is_integral(hl_operand_shape(instruction, index)->element_type) ||
         operand_error(infer, instruction, index, rule, "an array of integers");
}

bool hl_check_token(hl_infer *infer, const hl_instruction *instruction, int index, hl_rule rule)
{
  return hl_operand_shape(instruction, index)->element_type == HL_TOKEN ||
         operand_error(infer, instruction, index, rule, "a token");
}

bool hl_check_follows(hl_infer *infer, const hl_instruction *ins, hl_opcode opcode, hl_rule rule)
{
  const hl_instruction *start = ins->operands[0];
  return start->opcode == opcode ||
         hl_error(infer->diag, hl_place_operand(ins, 0), rule,
                  "'%s' takes the result of '%s'; '%s' is that of '%s'", hl_say_op(ins),
                  hl_op_info_of(opcode)->name, start->name, hl_say_op(start));
}

bool hl_check_scalar(hl_infer *infer, const hl_instruction *instruction, int index,
                     hl_element_type type, hl_rule rule)
{
  const hl_shape *shape = hl_operand_shape(instruction, index);
  if (hl_shape_is_scalar(shape) && shape->element_type == type)
    return true;
  return operand_error(infer, instruction, index, rule,
                       hl_arena_printf(infer->arena, "%s[]", hl_type_name(type)));
}

bool hl_check_dimensions(hl_infer *infer, const hl_instruction *instruction, int index, int like,
                         hl_rule rule)
{
  const hl_shape *shape = hl_operand_shape(instruction, index),
                 *other = hl_operand_shape(instruction, like);
  if (!hl_check_array(infer, instruction, index, rule))
    return false;
  if (hl_shape_same_dimensions(shape, other))
    return true;
  return hl_error(infer->diag, hl_place_operand(instruction, index), rule,
                  "operands %d and %d of '%s' must have the same dimensions; they are %s and %s",
                  like, index, hl_say_op(instruction), hl_say(infer, other), hl_say(infer, shape));
}

bool hl_check_same_type(hl_infer *infer, const hl_instruction *instruction, int index, int like,
                        hl_rule rule)
{
  const hl_shape *shape = hl_operand_shape(instruction, index),
                 *other = hl_operand_shape(instruction, like);
  if (shape->element_type == other->element_type)
    return true;
  return hl_error(infer->diag, hl_place_operand(instruction, index), rule,
                  "operands %d and %d of '%s' must have the same element type; they are %s and %s",
                  like, index, hl_say_op(instruction), hl_say(infer, other), hl_say(infer, shape));
}

bool hl_check_length(hl_infer *infer, const hl_instruction *instruction, hl_attr_id id,
                     int64_t length, const char *of, hl_rule rule)
{
  int count = hl_attr_ints(instruction, id).count;
  if (count == length)
    return true;
  return hl_error(infer->diag, hl_place_attr(instruction, id), rule,
                  "%s of '%s' has %d entr%s; %s needs %lld", hl_attr_name(id),
                  hl_say_op(instruction), count, count == 1 ? "y" : "ies", of, (long long)length);
}

bool hl_check_range(hl_infer *infer, const hl_instruction *instruction, hl_attr_id id, int rank,
                    const char *of, hl_rule rule)
{
  hl_ints list = hl_attr_ints(instruction, id);
  for (int i = 0; i < list.count; i++)
    if (list.values[i] < 0 || list.values[i] >= rank)
      return hl_error(infer->diag, hl_place_attr_entry(instruction, id, i), rule,
                      "%lld in %s of '%s' is no dimension of %s, which has rank %d",
                      (long long)list.values[i], hl_attr_name(id), hl_say_op(instruction), of,
                      rank);
  return true;
}

bool hl_check_distinct(hl_infer *infer, const hl_instruction *instruction, hl_attr_id id,
                       hl_rule rule)
{
  hl_ints list = hl_attr_ints(instruction, id);
  uint64_t seen = 0;
  _Static_assert(HL_LIMIT_RANK <= 64, "dimensions are bits of a word");
  for (int i = 0; i < list.count; i++) {
    uint64_t bit = UINT64_C(1) << list.values[i];
    if (seen & bit)
      return hl_error(infer->diag, hl_place_attr_entry(instruction, id, i), rule,
                      "%s of '%s' names dimension %lld twice", hl_attr_name(id),
                      hl_say_op(instruction), (long long)list.values[i]);
    seen |= bit;
  }
  return true;
}

bool hl_check_ascending(hl_infer *infer, const hl_instruction *instruction, hl_attr_id id,
                        hl_rule rule)
{
  hl_ints list = hl_attr_ints(instruction, id);
  for (int i = 1; i < list.count; i++)
    if (list.values[i] <= list.values[i - 1])
      return hl_error(infer->diag, hl_place_attr_entry(instruction, id, i), rule,
                      "%s of '%s' must ascend strictly; %lld follows %lld", hl_attr_name(id),
                      hl_say_op(instruction), (long long)list.values[i],
                      (long long)list.values[i - 1]);
  return true;
}

hl_attr_id hl_later_attr(const hl_instruction *instruction, hl_attr_id a, hl_attr_id b)
{
  hl_attr_id later = a;
  for (int i = 0; i < instruction->attr_count; i++)
    if (instruction->attrs[i].id == a || instruction->attrs[i].id == b)
      later = instruction->attrs[i].id;
  return later;
}

bool hl_list_has(hl_ints list, int64_t value)
{
  for (int i = 0; i < list.count; i++)
    if (list.values[i] == value)
      return true;
  return false;
}

bool hl_check_disjoint(hl_infer *infer, const hl_instruction *instruction, hl_attr_id a,
                       hl_attr_id b, hl_rule rule)
{
  hl_attr_id later = hl_later_attr(instruction, a, b), earlier = later == a ? b : a;
  hl_ints list = hl_attr_ints(instruction, later), other = hl_attr_ints(instruction, earlier);
  for (int i = 0; i < list.count; i++)
    if (hl_list_has(other, list.values[i]))
      return hl_error(infer->diag, hl_place_attr_entry(instruction, later, i), rule,
                      "dimension %lld stands in %s and in %s of '%s'", (long long)list.values[i],
                      hl_attr_name(earlier), hl_attr_name(later), hl_say_op(instruction));
  return true;
}

static bool may_place(const hl_placing *p, int from, int to)
{
  int64_t a = p->small->dimensions[from], b = p->large->dimensions[to];
  if (p->is_exact)
    return a == b;
  return (a == b || a == 1 || b == 1) &&
         (!p->result || p->result->dimensions[to] == (a == 1 ? b : a));
}

static bool may_skip(const hl_placing *p, int to)
{
  return !p->result || p->result->dimensions[to] == p->large->dimensions[to];
}

/* ways[i][j] counts, up to 2, the placements of the first i dimensions of the smaller on the first
 * j of the larger. */
bool hl_only_placement(const hl_placing *p, int64_t *list)
{
  unsigned char ways[HL_LIMIT_RANK + 1][HL_LIMIT_RANK + 1] = {{1}};
  int n = p->small->rank, m = p->large->rank;
  for (int i = 0; i <= n; i++)
    for (int j = 1; j <= m; j++) {
      int count = may_skip(p, j - 1) ? ways[i][j - 1] : 0;
      if (i > 0 && may_place(p, i - 1, j - 1))
        count += ways[i - 1][j - 1];
      ways[i][j] = (unsigned char)(count > 2 ? 2 : count);
    }
  if (ways[n][m] != 1)
    return false;
  for (int i = n, j = m; i > 0; j--)
    if (may_place(p, i - 1, j - 1) && ways[i - 1][j - 1])
      list[--i] = j - 1;
  return true;
}

const hl_computation *hl_callee(const hl_instruction *instruction, hl_attr_id id, int entry)
{
  return hl_attr_find(instruction, id)->computations.values[entry];
}

bool hl_check_callee(hl_infer *infer, const hl_instruction *instruction, hl_attr_id id, int count,
                     const hl_shape *const *parameters, const hl_shape *result, hl_rule rule)
{
  const hl_computation *callee = hl_callee(instruction, id, 0);
  hl_range at = hl_place_attr_entry(instruction, id, 0);
  const char *op = hl_say_op(instruction);
  if (callee->parameter_count != count)
    return hl_error(infer->diag, at, rule, "'%s' takes %d parameter%s; '%s' needs %d", callee->name,
                    callee->parameter_count, callee->parameter_count == 1 ? "" : "s", op, count);
  for (int i = 0; i < count; i++)
    if (!hl_shape_equal(callee->parameters[i]->shape, parameters[i]))
      return hl_error(infer->diag, at, rule, "parameter %d of '%s' is %s; '%s' passes %s", i,
                      callee->name, hl_say(infer, callee->parameters[i]->shape), op,
                      hl_say(infer, parameters[i]));
  if (result && !hl_shape_equal(callee->root->shape, result))
    return hl_error(infer->diag, at, rule, "'%s' yields %s; '%s' needs %s", callee->name,
                    hl_say(infer, callee->root->shape), op, hl_say(infer, result));
  return true;
}

bool hl_check_arguments(hl_infer *infer, const hl_instruction *instruction,
                        const hl_computation *callee, hl_rule rule)
{
  int count = instruction->operand_count, wanted = callee->parameter_count;
  if (count != wanted) {
    bool is_short = count < wanted && instruction->places;
    hl_range at = is_short ? instruction->places->lparen : hl_place_operand(instruction, wanted);
    return hl_error(infer->diag, at, rule, "'%s' takes %d parameter%s; '%s' passes %d",
                    callee->name, wanted, wanted == 1 ? "" : "s", hl_say_op(instruction), count);
  }
  for (int i = 0; i < count; i++)
    if (!hl_shape_equal(hl_operand_shape(instruction, i), callee->parameters[i]->shape))
      return hl_error(infer->diag, hl_place_operand(instruction, i), rule,
                      "operand %d is %s; parameter %d of '%s' is %s", i,
                      hl_say(infer, hl_operand_shape(instruction, i)), i, callee->name,
                      hl_say(infer, callee->parameters[i]->shape));
  return true;
}
