/* loop_text.h - what the printer and the parser of the loop IR's text share. Private to ir/loop_*.c; docs/loop-ir.md is the grammar. */
#ifndef HL_LOOP_TEXT_H
#define HL_LOOP_TEXT_H

#include "loop.h"

/* How tightly an expression binds; an operand that binds less than its place demands stands in parentheses. */
typedef enum hl_precedence {
  HL_BINDS_COMPARE = 1, /* not associative */
  HL_BINDS_ADD,         /* from the left */
  HL_BINDS_MUL,         /* from the left */
  HL_BINDS_ATOM
} hl_precedence;

typedef struct hl_infix {
  hl_loop_op op;
  const char *text;
  hl_precedence precedence;
} hl_infix;

/* The operator that is written between its operands, or NULL: the op is written as a function. */
const hl_infix *hl_infix_of(hl_loop_op op);
/* The longest operator that the text begins with, or NULL. */
const hl_infix *hl_infix_at(const char *text);

/* A function's name in the text: that of math.def, with "math." before it where an op has the same name. */
const char *hl_math_text(hl_arena *arena, hl_math_fn fn);

/* A constant as it stands in an expression, and as it stands in the list of a constant buffer (without its type). */
void hl_const_print(hl_str *out, hl_element_type type, uint64_t bits);
void hl_const_print_bare(hl_str *out, hl_element_type type, uint64_t bits);

const char *hl_direction_word(hl_direction_of_param direction);
const char *hl_mode_word(hl_loop_mode mode);   /* "for", "parallel", "vector" */
const char *hl_order_word(hl_order order);     /* "", "row", "col", "dot" */

/* What the printer knows of each node, by id: which values stand inside the expression that uses them. */
typedef struct hl_node_text {
  const hl_block *use_block; /* of the use seen last */
  int uses, use_epoch;
  int epoch;      /* number of writing statements that stand before it in its kernel */
  int size;       /* ops of its expression, nested ones included */
  bool has_load;  /* a load stands in its expression */
  bool is_nested; /* it stands inside the one expression that uses it */
  int name;       /* number of its v, a or loop variable, from when its line is printed */
} hl_node_text;

/* One entry a node id. A value is nested when it has one use, in its own block, its expression is short, and no store comes
 * between a load in it and the use. */
hl_node_text *hl_plan_text(hl_arena *arena, const hl_kernel *kernel);

/* The printer's state within one kernel. */
typedef struct hl_kernel_printer {
  hl_str *out;
  const hl_kernel *kernel;
  hl_node_text *nodes;
  const char **params; /* names, made different */
  bool is_c;           /* x[i][j] and (p ? x : y), as loop_pseudo.c has it, for %x[i,j] and select(p, x, y) */
  int value_count, acc_count;
  int var_depth;       /* variables of the loops around */
  int if_depth;
} hl_kernel_printer;

/* The value where it is used: its name, or its expression when it is nested; and the expression itself. */
void hl_print_value(hl_kernel_printer *p, const hl_node *node, hl_precedence at_least);
void hl_print_expression(hl_kernel_printer *p, const hl_node *node, hl_precedence at_least);
/* %x[i,j] of a load or store. */
void hl_print_access(hl_kernel_printer *p, const hl_node *node);
void hl_print_name(hl_kernel_printer *p, const hl_node *node);
/* The name of a loop's variable inside of `number` others: i, j, k, ... */
const char *hl_variable_name(hl_arena *arena, int number);

/* The name of a program, kernel, parameter or buffer, quoted where it is more than a word. */
void hl_print_word(hl_str *out, const char *name);
/* The names, each made different from those before by a number. */
const char **hl_distinct_names(hl_arena *arena, int count, const char *const *names);
/* %x: f32[8,16] */
void hl_print_declaration(hl_str *out, const char *name, hl_element_type type, int rank,
                          const int64_t *dimensions);
/* The parameters' names, made different. */
const char **hl_param_names(hl_arena *arena, const hl_kernel *kernel);
/* Whether the node has a statement of its own. */
bool hl_has_line(const hl_kernel_printer *p, const hl_node *node);
/* A kernel under another name. */
void hl_kernel_print_as(hl_str *out, const hl_kernel *kernel, const char *name);

/* Constant buffers of at most this many numbers print their data. */
#define HL_PRINTED_CONSTANT_LIMIT 256
/* Check value of a constant's bytes (CRC-32 as zlib has it). */
uint32_t hl_crc32(const void *data, size_t bytes);

#endif
