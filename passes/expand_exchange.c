/* expand_exchange - ragged-all-to-all on one device: slices of rows go from the operand into the output.
 *
 * Row j of the result is row j - output_offset + input_offset of the operand for the last slice whose
 * output rows hold j, where the operand has such a row; else it is the output's own. All of it is
 * whole numbers and moves: which slice wins is the greatest of its number times the rows of the
 * operand plus the row that it brings.
 */
#include "expand_exchange.h"

#include "../ir/limits.h"

/* The operands of the op. */
enum { INPUT, OUTPUT, INPUT_OFFSETS, SEND_SIZES, OUTPUT_OFFSETS };

/* The table of all output rows, down, and all slices, across. */
typedef struct table {
  hl_instruction *ins;
  int64_t dims[2]; /* rows, slices */
} table;

static hl_instruction *spread(const table *t, hl_instruction *line, int64_t dimension)
{
  return hl_make_broadcast(t->ins, line, 2, t->dims, &dimension);
}

static hl_instruction *numbers(const table *t, int64_t dimension)
{
  return spread(t, hl_make_iota(t->ins, HL_S64, t->dims[dimension]), dimension);
}

static hl_instruction *slices(const table *t, int operand)
{
  return spread(t, hl_make_convert(t->ins, HL_S64, t->ins->operands[operand]), 1);
}

static hl_instruction *number(const table *t, hl_instruction *like, int64_t value)
{
  return hl_make_filled_int(t->ins, like->shape, HL_S64, value);
}

static hl_instruction *both(const table *t, hl_instruction *x, hl_instruction *y)
{
  return hl_make_binary(t->ins, HL_OP_AND, x, y);
}

/* Per output row: slice * rows + row of the operand, of the last slice that brings one, or -1. */
static hl_instruction *winners(const table *t, int64_t rows)
{
  hl_instruction *ins = t->ins;
  hl_instruction *place = hl_make_binary(ins, HL_OP_SUBTRACT, numbers(t, 0), slices(t, OUTPUT_OFFSETS));
  hl_instruction *from = hl_make_binary(ins, HL_OP_ADD, place, slices(t, INPUT_OFFSETS));
  hl_instruction *zero = number(t, place, 0);
  hl_instruction *covers = both(t, hl_make_compare(ins, HL_GE, place, zero),
                                hl_make_compare(ins, HL_LT, place, slices(t, SEND_SIZES)));
  hl_instruction *exists = both(t, hl_make_compare(ins, HL_GE, from, zero),
                                hl_make_compare(ins, HL_LT, from, number(t, from, rows)));
  hl_instruction *code = hl_make_binary(ins, HL_OP_MULTIPLY, numbers(t, 1), number(t, from, rows));
  code = hl_make_binary(ins, HL_OP_ADD, code, from);
  code = hl_make_select(ins, both(t, covers, exists), code, number(t, from, -1));
  return hl_make_greatest(ins, code, -1, 1, (const int64_t[]){1});
}

/* Rows of the operand by number. */
static hl_instruction *gather_rows(hl_instruction *ins, hl_instruction *rows)
{
  const hl_shape *shape = ins->shape;
  int64_t offset_dims[HL_LIMIT_RANK], sizes[HL_LIMIT_RANK];
  sizes[0] = 1;
  for (int d = 1; d < shape->rank; d++) {
    offset_dims[d - 1] = d;
    sizes[d] = shape->dimensions[d];
  }
  const hl_shape *result = hl_shape_new(hl_arena_of(ins), shape->element_type, shape->rank, shape->dimensions);
  hl_instruction *made = hl_instruction_new(ins->computation, ins, HL_OP_GATHER, NULL, result, 2,
                                            (hl_instruction *[]){ins->operands[INPUT], rows}, ins);
  hl_instruction_add_ints(made, HL_ATTR_OFFSET_DIMS, shape->rank - 1, offset_dims);
  hl_instruction_add_ints(made, HL_ATTR_COLLAPSED_SLICE_DIMS, 1, (const int64_t[]){0});
  hl_instruction_add_ints(made, HL_ATTR_START_INDEX_MAP, 1, (const int64_t[]){0});
  hl_instruction_add_attr(made, &(hl_attr){.id = HL_ATTR_INDEX_VECTOR_DIM, .i = 1});
  hl_instruction_add_ints(made, HL_ATTR_SLICE_SIZES, shape->rank, sizes);
  return made;
}

hl_instruction *hl_exchange_rows(hl_instruction *ins)
{
  const hl_shape *shape = ins->shape;
  int64_t rows = ins->operands[INPUT]->shape->dimensions[0];
  table t = {ins, {shape->dimensions[0], ins->operands[SEND_SIZES]->shape->dimensions[0]}};
  if (rows == 0 || t.dims[1] == 0)
    return ins->operands[OUTPUT];
  hl_instruction *winner = winners(&t, rows);
  hl_instruction *row = hl_make_binary(ins, HL_OP_REMAINDER, winner, number(&t, winner, rows));
  hl_instruction *is_new = hl_make_compare(ins, HL_GE, winner, number(&t, winner, 0));
  is_new = hl_make_broadcast(ins, is_new, shape->rank, shape->dimensions, (const int64_t[]){0});
  return hl_make_select(ins, is_new, gather_rows(ins, row), ins->operands[OUTPUT]);
}
