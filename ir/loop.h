/* loop.h - the loop IR: what the emitter and the loop interpreter know, and all they know.
 *
 * A program is a list of buffers and of steps; a step runs a kernel on buffers, or is a while or conditional around other steps.
 * A kernel is a nest of blocks: scalar operations (loop_ops.def), loads and stores through affine accesses, loops and reductions.
 * Values are scalars, one definition each, visible in the rest of their block and the blocks inside it.
 * Arithmetic is on pred, s8..s64, u8..u64, f32 and f64. Narrower floats are loaded, stored, selected and converted only: lowering
 * writes `convert` around each op, so that every rounding of numerics.md stands in the text. Complex values are pairs of nodes.
 * All memory is dense: an access is an element offset, constant + sum of stride * index. Broadcast is a term that is not there.
 *
 *   kernel softmax(in %x: f32[8192,1024], out %y: f32[8192,1024], scratch %t: f32[1024])
 *     parallel i in 0..8192
 *       v0 = max j in 0..1024: %x[i,j]
 *       v1 = row add j in 0..1024
 *         v2 = exp(%x[i,j] - v0)
 *         %t[j] := v2
 *         yield v2
 *       for j in 0..1024: %y[i,j] := %t[j] / v1
 */
#ifndef HL_LOOP_H
#define HL_LOOP_H

#include "literal.h"
#include "math.h" /* hl_math_fn */
#include "op.h"
#include "diag.h"

typedef struct hl_node hl_node;
typedef struct hl_block hl_block;
typedef struct hl_loop hl_loop;
typedef struct hl_kernel hl_kernel;
typedef struct hl_program hl_program;

typedef enum hl_loop_op {
#define HL_LOOP_OP(id, name, arity, types) HL_LOOP_##id,
#include "loop_ops.def"
  HL_LOOP_CONST,  /* node->bits: the stored form of `type` */
  HL_LOOP_VAR,    /* a loop's index, s64; lives in no block */
  HL_LOOP_ACC,    /* a fold's carried value as its body sees it; lives in no block */
  HL_LOOP_LOAD,   /* node->access; operands: none, or {guard pred, other}: other where guard is false, memory untouched */
  HL_LOOP_STORE,  /* node->access; operands: {value} or {value, guard} */
  HL_LOOP_FOR,    /* node->loop; type TOKEN */
  HL_LOOP_REDUCE, /* node->loop; its values are RESULT nodes */
  HL_LOOP_FOLD,   /* node->loop; operands: initial values; its values are RESULT nodes */
  HL_LOOP_IF,     /* node->branch; operand: pred; type TOKEN: stores only, no values */
  HL_LOOP_RESULT, /* value node->index of the REDUCE or FOLD operands[0]; stands right behind it in its block */
  HL_LOOP_OP_COUNT
} hl_loop_op;

struct hl_block {
  hl_node *first, *last;
  hl_node *owner; /* the FOR, REDUCE, FOLD or IF; NULL: the kernel's body */
};

/* stride * index, index an s64 node: a VAR or any computed value */
typedef struct hl_term {
  hl_node *index;
  int64_t stride;
} hl_term;

typedef struct hl_param hl_param;

/* Where a load or store goes: element `constant + sum(stride * index)` of the parameter. No index twice, no stride 0. The element is
 * inside the parameter whenever the guard (if any) holds, whatever the values in memory are: lowering proves or clamps. */
typedef struct hl_access {
  hl_param *param;
  int64_t constant;
  int term_count;
  hl_term *terms;
  size_t term_capacity;
} hl_access;

typedef enum hl_direction_of_param { HL_PARAM_IN, HL_PARAM_OUT, HL_PARAM_INOUT, HL_PARAM_SCRATCH } hl_direction_of_param;

/* A kernel's view of a buffer. `type` is the stored type (c64 buffers are seen as f32 of twice the elements). The dimensions are for
 * people and for printing subscripts; only the element count binds. SCRATCH: private to one worker, contents undefined at
 * each iteration of the parallel loop. */
struct hl_param {
  const char *name;
  hl_direction_of_param direction;
  hl_element_type type;
  int rank;
  const int64_t *dimensions;
  int64_t count;
};

typedef enum hl_loop_mode {
  HL_MODE_SERIAL,
  HL_MODE_PARALLEL, /* iterations are independent; only directly in the kernel's body */
  HL_MODE_VECTOR    /* iterations are independent: the emitter runs `lanes` of them at once. Also on a REDUCE */
} hl_loop_mode;

/* How the values of a REDUCE are combined (numerics.md rules 3, 4 and 8). Each gives the value without init. */
typedef enum hl_order {
  HL_ORDER_FREE, /* any order; `combine` is ADD, MUL, MAX, MIN, AND, OR or XOR; the identity over no iterations */
  HL_ORDER_ROW,  /* rule 4 ROW of ADD or MUL; e over no iterations */
  HL_ORDER_COL,  /* rule 4 COL of ADD or MUL; e over no iterations */
  HL_ORDER_DOT   /* rule 8: yields two values l, r a result; +0 over no iterations */
} hl_order;

typedef struct hl_combiner {
  hl_order order;
  hl_loop_op combine; /* ADD for DOT */
  hl_element_type type; /* of the accumulator and of the yields */
  bool has_half_lanes;  /* ROW: this is one part of complex numbers, of which half as many fill 128 bytes */
} hl_combiner;

static inline int hl_row_lanes(const hl_combiner *combiner)
{
  return (combiner->has_half_lanes ? 64 : 128) / hl_type_bytes(combiner->type);
}

struct hl_loop {
  hl_loop_mode mode;
  int64_t grain;       /* PARALLEL: least iterations a chunk */
  bool is_ordered;     /* FOR: iterations read what earlier ones wrote; lowering says so, and scheduling keeps them in order */
  int jam;             /* FOR: run this many iterations interleaved (unroll and jam); 0 or 1: none */
  int var_count;       /* FOR: 1; REDUCE and FOLD: 1 or more, row-major, the first outermost */
  hl_node **vars;
  int64_t *extents;    /* var k runs over 0 .. extents[k]-1 */
  hl_node **limits;    /* and stops before limits[k] where that is not NULL (an s64 node; may be <= 0: no iterations) */
  hl_block body;
  int result_count;    /* REDUCE: combiners; FOLD: carried values */
  hl_combiner *combiners; /* REDUCE */
  hl_node **accs;      /* FOLD: one a carried value */
  hl_node **yields;    /* values at the end of the body: REDUCE one a combiner (two for DOT), FOLD the next carried values */
  int yield_count;
};

typedef struct hl_branch {
  hl_block then, otherwise; /* otherwise may be empty */
} hl_branch;

struct hl_node {
  hl_loop_op op;
  hl_element_type type;
  int id;               /* unique in the kernel */
  hl_block *block;      /* NULL for VAR and ACC */
  hl_node *previous, *next;
  hl_node **operands;
  int operand_count;
  union {
    uint64_t bits;
    hl_math_fn math;
    struct {
      int exponent_bits, mantissa_bits;
    } precision;
    hl_access *access;
    hl_loop *loop;      /* FOR, REDUCE, FOLD; for VAR and ACC: the loop they belong to */
    hl_branch *branch;
  };
  int index;            /* RESULT, ACC: which; VAR: which of the loop's */
  hl_range range;       /* the HLO it came from; HL_NO_RANGE: none, scheduling made it */
  bool is_streaming;    /* STORE: past the caches where the target can */
  void *scratch;        /* free for the pass that runs */
};

/* An HLO instruction that a kernel computes; texts for people. */
typedef struct hl_origin {
  const char *name, *op;
  hl_range range;
  const char *stored; /* why it is written to memory; NULL: it is not */
  bool is_minor;      /* a constant, or what a pass put in for a stretched operand: no work of its own */
} hl_origin;

struct hl_kernel {
  hl_arena *arena;
  const char *name;
  hl_param **params;
  int param_count;
  size_t param_capacity;
  hl_block body;
  int next_id;
  hl_range range;       /* the HLO it came from */
  hl_range current;     /* that of nodes made from now on */
  const hl_origin *origins; /* in the order of the computation; none in a kernel that was read from text */
  int origin_count;
};

typedef enum hl_buffer_kind {
  HL_BUFFER_ARGUMENT,
  HL_BUFFER_RESULT,
  HL_BUFFER_CONSTANT,
  HL_BUFFER_TEMP        /* in the workspace */
} hl_buffer_kind;

typedef struct hl_buffer {
  const char *name;     /* the HLO instruction's */
  hl_buffer_kind kind;
  hl_element_type type; /* as stored; complex stays complex here */
  int rank;
  const int64_t *dimensions;
  int64_t bytes;
  int index;            /* number of the argument or result */
  const void *data;     /* constant */
  int64_t offset;       /* TEMP: bytes from the workspace's start; 64-byte aligned; -1 before planning */
  bool is_per_worker;   /* TEMP: kernel scratch; `bytes` is one worker's, each worker's part starts at a multiple of 64 */
  bool is_read;         /* RESULT, while scheduling: some step reads it */
  int first_step, last_step; /* TEMP, after planning: when its memory is its own, as numbers of steps */
  struct hl_buffer *alias; /* RESULT: the argument it may share memory with (input_output_alias), or NULL */
} hl_buffer;

typedef enum hl_step_kind { HL_STEP_KERNEL, HL_STEP_COPY, HL_STEP_WHILE, HL_STEP_CONDITIONAL, HL_STEP_CALL } hl_step_kind;

typedef enum hl_call_value_kind {
  HL_CALL_READ,   /* the buffer's memory, only read */
  HL_CALL_WRITE,  /* written before anything reads it */
  HL_CALL_UPDATE, /* read and written */
  HL_CALL_INT,    /* an int32_t; not for functions of the program */
  HL_CALL_CHAR    /* a character; likewise */
} hl_call_value_kind;

typedef struct hl_call_value {
  hl_call_value_kind kind;
  hl_buffer *buffer;
  int64_t step;   /* READ, WRITE, UPDATE: bytes from one round's memory to the next one's */
  int64_t number; /* INT, CHAR */
} hl_call_value;

/* A call of a function outside. Of the program: int symbol(args, results, config, config_bytes), READ values, then WRITE values,
 * one round; not 0: the entry returns 2. Of Fortran: symbol(pointers to all values, then the lengths of characters), `rounds` times. */
typedef struct hl_call {
  const char *symbol;
  bool is_fortran;
  hl_call_value *values;
  int value_count;
  int64_t rounds;
  const char *config;
  size_t config_bytes;
  const char *target; /* as HLO names it, for messages */
  hl_range range;
} hl_call;

typedef struct hl_step hl_step;
typedef struct hl_steps {
  hl_step *first, *last;
} hl_steps;

struct hl_step {
  hl_step_kind kind;
  hl_step *next;
  int number;            /* after planning: in the order of the text, from 0 */
  hl_range range;        /* the HLO it came from; HL_NO_RANGE: a copy that lowering added */
  hl_kernel *kernel;     /* KERNEL */
  hl_buffer **buffers;   /* KERNEL: one a parameter (scratch included); COPY: {to, from}, equal bytes */
  hl_steps condition, body; /* WHILE: condition computes selector each time round; body runs while it is true */
  hl_buffer *selector;   /* WHILE: pred[]; CONDITIONAL: pred[] (true: branch 0) or s32[] (out of range: the last) */
  hl_steps *branches;    /* CONDITIONAL */
  int branch_count;
  hl_call *call;         /* CALL */
};

/* A tuple-free view of an entry parameter or result, for header, run and signature. */
typedef struct hl_port {
  const char *hlo_name;  /* parameter's name; result: NULL */
  const char *op_name;   /* metadata op_name or NULL */
  int number;            /* parameter or result number before flattening */
  int path_count;        /* tuple indices from that parameter or result down to this leaf */
  const int64_t *path;
  const hl_shape *shape;
  hl_buffer *buffer;     /* NULL for a token */
} hl_port;

struct hl_program {
  hl_arena *arena;
  const char *name;
  hl_buffer **buffers;
  int buffer_count;
  size_t buffer_capacity;
  hl_steps steps;
  hl_port *arguments, *results;
  int argument_count, result_count;
  int64_t workspace_bytes; /* after planning */
  int max_workers;         /* 1 with --threads=off */
};

/* The calls of functions outside, one for each symbol, in the order of the steps. */
const hl_call **hl_program_calls(hl_arena *arena, const hl_program *program, int *count);

/* The kernels that its steps run, each once, in the order of the steps. */
const hl_kernel **hl_program_kernels(hl_arena *arena, const hl_program *program, int *count);

/* Building (loop.c). Every node goes at the end of the block `at` of the builder. */
typedef struct hl_loop_builder {
  hl_kernel *kernel;
  hl_block *at;
} hl_loop_builder;

hl_program *hl_program_new(hl_arena *arena, const char *name);
hl_buffer *hl_program_add_buffer(hl_program *program, hl_buffer buffer);
hl_step *hl_steps_add(hl_arena *arena, hl_steps *steps, hl_step_kind kind);

hl_kernel *hl_kernel_new(hl_arena *arena, const char *name);
hl_param *hl_kernel_add_param(hl_kernel *kernel, const char *name, hl_direction_of_param direction, hl_element_type type,
                              int rank, const int64_t *dimensions);
hl_node *hl_loop_const(hl_loop_builder *b, hl_element_type type, uint64_t bits);
hl_node *hl_loop_const_int(hl_loop_builder *b, hl_element_type type, int64_t value);
hl_node *hl_loop_const_float(hl_loop_builder *b, hl_element_type type, double value);
/* A scalar op; folds nothing. type is the result's. */
hl_node *hl_loop_op_node(hl_loop_builder *b, hl_loop_op op, hl_element_type type, int count, hl_node *const *operands);
hl_node *hl_loop_unary(hl_loop_builder *b, hl_loop_op op, hl_node *x);
hl_node *hl_loop_binary(hl_loop_builder *b, hl_loop_op op, hl_node *x, hl_node *y); /* compares give pred */
hl_node *hl_loop_select(hl_loop_builder *b, hl_node *pred, hl_node *x, hl_node *y);
hl_node *hl_loop_convert(hl_loop_builder *b, hl_element_type type, hl_node *x); /* x itself if it has the type */
hl_node *hl_loop_math(hl_loop_builder *b, hl_math_fn fn, int count, hl_node *const *operands);
hl_access *hl_access_new(hl_arena *arena, hl_param *param, int64_t constant);
void hl_access_add(hl_arena *arena, hl_access *access, hl_node *index, int64_t stride); /* merges equal indices */
int64_t hl_stride_of(const hl_access *access, const hl_node *index); /* 0: the index is none of its terms */
void hl_access_drop(hl_access *access, int term); /* the terms behind it move up */
hl_node *hl_loop_load(hl_loop_builder *b, hl_access *access, hl_node *guard, hl_node *otherwise); /* guard may be NULL */
hl_node *hl_loop_store(hl_loop_builder *b, hl_access *access, hl_node *value, hl_node *guard);
/* A for loop of one var; build its body with b->at = &node->loop->body. */
hl_node *hl_loop_for(hl_loop_builder *b, hl_loop_mode mode, int64_t extent, hl_node *limit);
/* A reduce or fold over `count` vars; set yields (and combiners) with the functions below once the body is there. */
hl_node *hl_loop_reduce(hl_loop_builder *b, int count, const int64_t *extents, int result_count, const hl_combiner *combiners);
hl_node *hl_loop_fold(hl_loop_builder *b, int count, const int64_t *extents, int result_count, hl_node *const *inits);
void hl_loop_set_yields(hl_kernel *kernel, hl_node *loop, int count, hl_node *const *yields);
hl_node *hl_loop_result(hl_loop_builder *b, hl_node *loop, int index);
hl_node *hl_loop_if(hl_loop_builder *b, hl_node *pred);
hl_node *hl_loop_var(const hl_node *loop, int index); /* loop->loop->vars[index] */
/* Unlinks a node from its block. */
void hl_node_remove(hl_node *node);
void hl_node_insert_before(hl_node *node, hl_node *before);
/* Puts an unlinked node at the end of a block. */
void hl_node_append(hl_node *node, hl_block *block);
const char *hl_loop_op_name(hl_loop_op op);

/* Structure check for tests and debug builds: definitions before uses, types, arities, access bounds by interval analysis where
 * all indices are loop vars. Returns NULL or what is wrong (arena text). */
const char *hl_kernel_check(hl_arena *arena, const hl_kernel *kernel);
const char *hl_program_check(hl_arena *arena, const hl_program *program);

/* Text (loop_print.c, loop_parse.c): parse(print(p)) prints the same. Constants buffers print their bytes when small. */
void hl_program_print(hl_str *out, const hl_program *program);
void hl_kernel_print(hl_str *out, const hl_kernel *kernel);
hl_program *hl_program_parse(hl_arena *arena, const hl_source *source, hl_diag *diag);

/* The interpreter (loop_eval.c): runs a program on argument arrays in their stored form. arguments[i], results[i] and workspace are as the
 * compiled function takes them. Slow, scalar, by numerics.md. Buffers need no planning: temps are allocated privately. */
bool hl_program_eval(hl_arena *arena, const hl_program *program, const void *const *arguments, void *const *results);

#endif
