/* lower_kernel.h - building one kernel by pulling elements: shared by the lower_*.c files.
 *
 * The element of an instruction at an index is asked for by its user (hl_pull); what is not stored
 * computes itself from the elements of its operands, so that nothing in between is written to
 * memory. Every node goes into the outermost block in which its operands are known: values that
 * depend on the row alone, reductions included, end up before the loop over the row.
 */
#ifndef HL_LOWER_KERNEL_H
#define HL_LOWER_KERNEL_H

#include "fuse.h"
#include "leaf.h"

/* An affine index: constant + sum of stride * node. Immutable; terms in the order they came, no
 * node twice. */
typedef struct hl_index {
  int64_t constant;
  int count;
  const hl_term *terms;
} hl_index;

/* An element: im is NULL for real types. */
typedef struct hl_value {
  hl_node *re, *im;
} hl_value;

/* A block under construction. New nodes go before `before`, the loop that is being built inside it,
 * or last. */
typedef struct hl_scope {
  struct hl_scope *parent;
  hl_block *block;
  hl_node *before;
  int depth;
} hl_scope;

/* What lowering knows of each node it makes (node->scratch). */
typedef struct hl_facts {
  hl_scope *scope;
  int64_t low, high; /* s64 nodes: the values it takes */
  hl_node *wide;     /* its value as f32, for narrow floats */
  int dim, part;     /* indices of the roots' loops: which one; dim -1: something else */
} hl_facts;

/* The loops of a kernel's roots: dimension d is walked by loops of parts[d][0], parts[d][1], ...
 * iterations, outermost first. A reshape inside the kernel may ask for a finer split of one of
 * them, so that it becomes affine; the kernel is then built anew. */
enum { HL_MAX_PARTS = 6 };
typedef struct hl_domain {
  int64_t (*parts)[HL_MAX_PARTS];
  int *counts;
  int wanted_dim, wanted_part; /* the loop to split, -1: none */
  int64_t wanted_inner;        /* iterations of the inner one of the two */
} hl_domain;

typedef struct hl_memo hl_memo;
typedef struct hl_row_cache hl_row_cache;

typedef struct hl_puller {
  hl_arena *arena;
  hl_program *program;
  const hl_lower_options *options;
  const hl_fusion_plan *plan;
  hl_buffer **
      *leaves; /* per instruction of the computation: its buffers, tuples flattened in order */
  hl_kernel *kernel;
  hl_buffer **param_buffers; /* one a kernel parameter */
  size_t param_capacity;
  hl_domain *domain; /* NULL: not to be refined */
  hl_scope *root, *scope;
  hl_node *guard;   /* loads happen only where this holds; NULL: always */
  hl_memo **memo;   /* per instruction: elements known so far */
  int64_t *touched; /* instructions with a memo, to clear it for the next kernel */
  size_t touched_count, touched_capacity;
  const hl_value
      *region_values;          /* inlining a region: values of its instructions so far, else NULL */
  const hl_value *region_args; /* and of its parameters */
  const hl_unit *unit; /* the kernel under construction: its roots are computed, not loaded */
  hl_row_cache *caches;
} hl_puller;

/* --- indices (lower_index.c) --- */
hl_index hl_index_constant(int64_t value);
hl_index hl_index_node(hl_puller *p, hl_node *node);
hl_index hl_index_scale(hl_puller *p, hl_index x, int64_t factor, int64_t add);
hl_index hl_index_add(hl_puller *p, hl_index x, hl_index y);
bool hl_index_equal(hl_index x, hl_index y);
void hl_index_range(hl_index x, int64_t *low, int64_t *high);
/* x as one s64 node. */
hl_node *hl_index_value(hl_puller *p, hl_index x);
/* Row-major offset of an index vector, and its inverse. */
hl_index hl_index_flatten(hl_puller *p, const hl_shape *shape, const hl_index *index);
void hl_index_unflatten(hl_puller *p, const hl_shape *shape, hl_index flat, hl_index *index);
/* quotient and remainder by divisor > 0; x >= 0 */
void hl_index_divide(hl_puller *p, hl_index x, int64_t divisor, hl_index *quotient,
                     hl_index *remainder);
/* pred node: low <= x < high; NULL when that is always so; *never when it never is */
hl_node *hl_index_within(hl_puller *p, hl_index x, int64_t low, int64_t high, bool *never);
hl_scope *hl_index_scope(const hl_puller *p, const hl_index *index, int count);

/* --- nodes (lower_kernel.c): each lands in the outermost scope that knows its operands --- */
hl_facts *hl_facts_of(const hl_node *node);
hl_node *hl_put(hl_puller *p, hl_loop_op op, hl_element_type type, int count,
                hl_node *const *operands);
hl_node *hl_put_unary(hl_puller *p, hl_loop_op op, hl_node *x);
hl_node *hl_put_binary(hl_puller *p, hl_loop_op op, hl_node *x, hl_node *y);
hl_node *hl_put_select(hl_puller *p, hl_node *pred, hl_node *x, hl_node *y);
hl_node *hl_put_convert(hl_puller *p, hl_element_type type, hl_node *x);
hl_node *hl_put_math(hl_puller *p, hl_math_fn fn, int count, hl_node *const *operands);
hl_node *hl_put_const(hl_puller *p, hl_element_type type, uint64_t bits);
hl_node *hl_put_int(hl_puller *p, hl_element_type type, int64_t value);
hl_node *hl_put_float(hl_puller *p, hl_element_type type, double value);
/* An element of a buffer (flat offset in elements). */
hl_value hl_put_load(hl_puller *p, hl_buffer *buffer, hl_index offset);
/* The same in the current scope and nowhere before it: of memory that the kernel itself writes. */
hl_value hl_put_load_here(hl_puller *p, hl_buffer *buffer, hl_index offset);
void hl_put_store(hl_puller *p, hl_buffer *buffer, hl_index offset, hl_value value);
/* Memory for this kernel alone: `count` elements, one such array for all or one a worker. */
hl_buffer *hl_new_work_buffer(hl_puller *p, const char *what, hl_element_type type, int64_t count,
                              bool is_per_worker);

/* A for loop in the current scope, which becomes its body; and back. */
hl_node *hl_open_for(hl_puller *p, int64_t extent, hl_index *index);
/* A reduce or fold in scope `in` (an ancestor of the current one). Its vars as indices.
 * hl_close_loop ends it, given the yields. */
typedef struct hl_open_loop {
  hl_node *node;
  hl_scope *outer, *saved;
  hl_node *saved_before;
} hl_open_loop;
hl_open_loop hl_open_reduce(hl_puller *p, hl_scope *in, int count, const int64_t *extents,
                            int result_count, const hl_combiner *combiners, hl_index *vars);
hl_open_loop hl_open_fold(hl_puller *p, hl_scope *in, int count, const int64_t *extents,
                          int result_count, hl_node *const *inits, hl_index *vars);
hl_node *hl_open_acc(hl_open_loop *loop, int index);
void hl_close_loop(hl_puller *p, hl_open_loop *loop, int yield_count, hl_node *const *yields);
void hl_close_for(hl_puller *p);
/* What is put until hl_close_if happens only where pred holds: stores, loads of written memory,
 * loops; values may go before it. */
void hl_open_if(hl_puller *p, hl_node *pred);
void hl_close_if(hl_puller *p);
hl_node *hl_put_result(hl_puller *p, hl_node *loop, int index);

/* --- elements --- */
/* Element `index` of the value of an array instruction; leaf: which of the leaves of a tuple
 * instruction (0 for arrays). */
hl_value hl_pull(hl_puller *p, const hl_instruction *ins, int leaf, const hl_index *index);
/* The loop that computes all leaves of a reduce together, if it stands already; and saying that it
 * does. */
hl_node *hl_fold_of(hl_puller *p, const hl_instruction *ins, const hl_index *index);
void hl_fold_remember(hl_puller *p, const hl_instruction *ins, const hl_index *index,
                      hl_node *loop);
/* Nodes made from now on come from this instruction. */
void hl_note_origin(hl_puller *p, const hl_instruction *ins);
/* The values of a region's results on scalar arguments. */
void hl_pull_region(hl_puller *p, hl_computation *region, const hl_value *args, hl_value *results);
/* The value of one instruction of it. */
hl_value hl_pull_region_value(hl_puller *p, const hl_instruction *wanted, const hl_value *args);
/* The place of a float in the total order, as an integer of its size. */
hl_node *hl_put_order(hl_puller *p, hl_node *x);

/* How an op computes element `index` of itself: one function a family column of ops.def. */
typedef hl_value hl_lower_fn(hl_puller *p, const hl_instruction *ins, int leaf,
                             const hl_index *index);
#define HL_LOWER_ROW_code(family) hl_lower_fn hl_lower_##family;
#define HL_LOWER_ROW_whole(family)
#define HL_LOWER_ROW_expanded(family)
#define HL_LOWER_ROW_refused(family)
#define HL_OP(id, name, min, max, types, flags, stage, infer, family, ...)                         \
  HL_LOWER_ROW_##stage(family)
#include "../ir/ops.def"
#undef HL_LOWER_ROW_code
#undef HL_LOWER_ROW_whole
#undef HL_LOWER_ROW_expanded
#undef HL_LOWER_ROW_refused

/* f32 for floats narrower than it, else the type. */
hl_element_type hl_wide_type(hl_element_type type);
/* x as its wide type. */
hl_node *hl_widen(hl_puller *p, hl_node *x);
/* A binary op of HLO on values of `type`, every rounding included; also for regions. */
hl_value hl_put_hlo_binary(hl_puller *p, hl_opcode opcode, hl_element_type type, hl_value x,
                           hl_value y);

#endif
