/* infer - what the shape inference of all families shares. Included by ir/infer*.c and ir/verify.c
 * alone.
 *
 * Each hl_infer_X is called after these were checked: operand count, required attributes, and the
 * element types of the ops.def row (a row with types has array operands only). For ops whose result
 * shape must be written, instruction->shape is not NULL.
 */
#ifndef HL_INFER_H
#define HL_INFER_H

#include "verify.h"

#define HL_OP(id, name, min, max, types, flags, stage, infer, family, ...)                         \
  hl_infer_fn hl_infer_##infer;
#include "ops.def"

/* The op's name as written: the wrapped one for X-start, X-update, X-done. */
const char *hl_say_op(const hl_instruction *instruction);
const char *hl_say(hl_infer *infer, const hl_shape *shape);
/* [2,3] of a shape's dimensions. */
const char *hl_say_dimensions(hl_infer *infer, const hl_shape *shape);
const char *hl_say_ints(hl_infer *infer, int count, const int64_t *values);
/* op(a, b) with the operands' names. */
const char *hl_say_call(hl_infer *infer, const hl_instruction *instruction);

const hl_shape *hl_operand_shape(const hl_instruction *instruction, int index);
/* Element `index` of a tuple. NULL: there is none; the shape is what somebody wrote, and what it rests on was refused. */
const hl_shape *hl_element_shape(const hl_shape *tuple, int index);

/* A new array shape, NULL after an error at the opcode when it exceeds the limits of rank or size.
 */
const hl_shape *hl_make_array(hl_infer *infer, const hl_instruction *instruction,
                              hl_element_type type, int rank, const int64_t *dimensions);

/* Checks of one operand, the error stands at it. */
bool hl_check_array(hl_infer *infer, const hl_instruction *instruction, int index, hl_rule rule);
bool hl_check_integral(hl_infer *infer, const hl_instruction *instruction, int index, hl_rule rule);
bool hl_check_token(hl_infer *infer, const hl_instruction *instruction, int index, hl_rule rule);
/* Operand 0 is an instruction of this opcode, as a done takes its start. */
bool hl_check_follows(hl_infer *infer, const hl_instruction *instruction, hl_opcode opcode, hl_rule rule);
/* The operand is a scalar of this type. */
bool hl_check_scalar(hl_infer *infer, const hl_instruction *instruction, int index,
                     hl_element_type type, hl_rule rule);
/* The operand is an array with the dimensions of operand `like`. */
bool hl_check_dimensions(hl_infer *infer, const hl_instruction *instruction, int index, int like,
                         hl_rule rule);
bool hl_check_same_type(hl_infer *infer, const hl_instruction *instruction, int index, int like,
                        hl_rule rule);

/* Checks of one list of dimensions. An absent list is empty. */
bool hl_check_length(hl_infer *infer, const hl_instruction *instruction, hl_attr_id id,
                     int64_t length, const char *of, hl_rule rule);
/* Every entry lies in [0, rank); `of` names what has that rank. */
bool hl_check_range(hl_infer *infer, const hl_instruction *instruction, hl_attr_id id, int rank,
                    const char *of, hl_rule rule);
/* No entry twice. Needs hl_check_range. */
bool hl_check_distinct(hl_infer *infer, const hl_instruction *instruction, hl_attr_id id,
                       hl_rule rule);
bool hl_check_ascending(hl_infer *infer, const hl_instruction *instruction, hl_attr_id id,
                        hl_rule rule);
/* Both in range; no dimension in both lists; the error stands at the entry of the list that is
 * later in the text. */
bool hl_check_disjoint(hl_infer *infer, const hl_instruction *instruction, hl_attr_id a,
                       hl_attr_id b, hl_rule rule);
/* Of two lists the one that is later in the text. */
hl_attr_id hl_later_attr(const hl_instruction *instruction, hl_attr_id a, hl_attr_id b);
bool hl_list_has(hl_ints list, int64_t value);

/* The dimensions of `small` on those of `large`: sizes that meet are equal or, unless is_exact, one
 * of them is 1; with `result`, the outcome must have its dimensions. */
typedef struct hl_placing {
  const hl_shape *small, *large, *result;
  bool is_exact;
} hl_placing;

/* The ascending placement, if there is exactly one. */
bool hl_only_placement(const hl_placing *placing, int64_t *list);

/* A called computation: entry `entry` of the attribute (0 for a single one). */
const hl_computation *hl_callee(const hl_instruction *instruction, hl_attr_id id, int entry);
/* The callee takes exactly parameters of these shapes and yields `result` (NULL: not checked);
 * errors stand at its name. */
bool hl_check_callee(hl_infer *infer, const hl_instruction *instruction, hl_attr_id id, int count,
                     const hl_shape *const *parameters, const hl_shape *result, hl_rule rule);
/* The operands from `first` on fit the callee's parameters: too few at '(', too many at the first
 * surplus one, else at the operand. */
bool hl_check_arguments(hl_infer *infer, const hl_instruction *instruction,
                        const hl_computation *callee, hl_rule rule);

/* Window arithmetic (spec section 8.4), shared by reduce-window, select-and-scatter and
 * convolution. */
enum {
  HL_WINDOW_SIZE,
  HL_WINDOW_STRIDE,
  HL_WINDOW_LOW,
  HL_WINDOW_HIGH,
  HL_WINDOW_BASE_DILATION,
  HL_WINDOW_DILATION,
  HL_WINDOW_FIELDS = 7,
  HL_WINDOW_FIRST_NUMBER = 6 /* entry_ranges: one range a field stands before the numbers */
};

/* The window's dimensions, 0 when the attribute is absent. */
int hl_window_rank(const hl_instruction *instruction);
/* Sizes of a window over `sizes`; entry i of both is window dimension i. */
bool hl_window_sizes(hl_infer *infer, const hl_instruction *instruction, const int64_t *sizes,
                     int64_t *out);

/* The element type of a contraction's result: the written one, which must be of the operands' class,
 * for integers not narrower, or of a later one of pred, integers, floats and complex; else the
 * operands'. Operands are of one class; float widths may differ. */
bool hl_contracted_type(hl_infer *infer, const hl_instruction *instruction, hl_rule rule,
                        hl_element_type *type);

#endif
