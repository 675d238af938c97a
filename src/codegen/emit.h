/* emit - what the parts of the emitter share: the state, values, and who emits what.
 *
 * A value of the loop IR becomes one LLVM value, or several:
 *   lanes   inside a VECTOR loop the iterations run `width` at a time, and a value that differs
 * between them is a vector; linear  an integer that is `base + lane * step` stays the scalar `base`
 * until somebody needs the vector: so indices cost nothing and accesses see their stride; parts
 * inside a loop with jam=U, U iterations run interleaved, and a value that differs between them has
 * U parts. What depends on neither is one scalar. Which values differ is found once for each such
 * loop (emit_variance.c).
 */
#ifndef HL_EMIT_H
#define HL_EMIT_H

#include "codegen.h"
#include "llvm_util.h"
#include "parts.h"

enum { HL_MAX_LANES = 256, HL_MAX_JAM = 16 };

/* What a NaN in a value may be (numerics rule 2). */
typedef enum hl_nan {
  HL_NAN_NONE,  /* there is none, or it is the canonical one */
  HL_NAN_DIRTY, /* arithmetic made it: any bits now, the canonical ones before anybody sees them */
  HL_NAN_MOVED  /* it came from memory: the bits stay */
} hl_nan;

typedef struct hl_value {
  LLVMValueRef *parts;
  int part_count;
  bool is_vector;
  bool is_linear;
  bool is_narrow; /* a vector of s64 that fits 32 bits and is kept in them */
  hl_nan nan;
  int64_t step; /* is_linear */
} hl_value;

typedef struct hl_tile hl_tile;

typedef struct hl_interval {
  int64_t low, high;
} hl_interval;

/* Bits of hl_emitter.variance. */
enum { HL_VARIES_BY_LANE = 1, HL_VARIES_BY_PART = 2 };

/* What takes the time. */
typedef enum hl_emit_stage { HL_EMIT_IR, HL_EMIT_PASSES, HL_EMIT_CODE, HL_EMIT_STAGES } hl_emit_stage;

/* The function under construction and what surrounds the point of emission. */
typedef struct hl_emitter {
  hl_arena *arena;
  hl_llvm l;
  const hl_program *program;
  const hl_codegen_options *options;
  const hl_target_info *target;
  LLVMTargetMachineRef machine;
  const struct hl_features *features;

  const hl_step *step;
  const hl_kernel *kernel;
  bool is_disjoint;     /* no parameter overlaps one that is written */
  hl_value *values;     /* by node id */
  uint8_t *variance;    /* by node id */
  hl_interval *ranges;  /* by node id: of integers (emit_range.c) */
  hl_tile **tiles; /* by node id: of a load or store, its square of the round (emit_tile.c) */
  int tile_at;
  int64_t *prefetch;      /* by node id: of a load, elements to the row to prefetch, or 0 */
  LLVMValueRef *pointers; /* of the kernel's parameters, by index */
  int *aligns;            /* known alignment in bytes of each */

  int width;         /* lanes of the VECTOR loop around; 1: none */
  LLVMValueRef mask; /* lanes that are there: <width x i1>; NULL: all */
  int jam;           /* iterations of the jammed loop around; 1: none */
  const hl_node *jam_var;
  LLVMValueRef part_start,
      part_end; /* of the vector loop that comes next, where it is cut; else NULL */
  const hl_node *lane_var;
  bool has_streamed; /* the function has streaming stores */
  struct LLVMOpaqueDIBuilder *debug; /* NULL: no line tables */
  LLVMMetadataRef debug_file;
  hl_map kernels;    /* functions by key */
  int kernel_count;  /* functions made so far, for names */
  const hl_parts *parts; /* NULL: the module is the whole program */
  int part;              /* that the module is */
  double seconds[HL_EMIT_STAGES];
} hl_emitter;

/* Facts of the CPU that the emitter needs beyond hl_target_info (target.c). */
typedef struct hl_features {
  bool has_fma, has_f16c, has_avx2, has_avx512, has_vnni, has_rounding, has_neon;
  bool has_hard_f32, has_hard_f64;
} hl_features;

/* target.c: LLVM's code generator for a family, once for the process; this machine's family. */
void hl_target_initialise(hl_target_family family);
hl_target_family hl_target_host_family(void);
/* A machine for resolved options; NULL with *error. */
LLVMTargetMachineRef hl_target_machine(hl_arena *arena, const hl_codegen_options *options,
                                       hl_target_info *info, hl_features *features,
                                       const char **error);

/* emit_expr.c: values. */
void hl_value_set(hl_emitter *e, const hl_node *node, hl_value value);
void hl_value_set_scalar(hl_emitter *e, const hl_node *node, LLVMValueRef value, hl_nan nan);
/* Part `part` of a node's value as a scalar (lanes 1) or a vector of `lanes`: splats and expands.
 * NaN bits as they are. */
LLVMValueRef hl_emit_raw(hl_emitter *e, const hl_node *node, int part, int lanes);
/* The same with the canonical NaN where arithmetic made one. */
LLVMValueRef hl_emit_clean(hl_emitter *e, const hl_node *node, int part, int lanes);
/* An s64 that fits 32 bits (hl_emit_fits_i32) as a vector of i32. */
LLVMValueRef hl_emit_narrow(hl_emitter *e, const hl_node *node, int part, int lanes);
/* How many parts a result has that is made of these nodes; and how many lanes. */
int hl_emit_part_count(hl_emitter *e, hl_node *const *operands, int count);
int hl_emit_lane_count(hl_emitter *e, hl_node *const *operands, int count);
void hl_emit_op(hl_emitter *e, const hl_node *node); /* every scalar op, CONST included */
LLVMValueRef hl_emit_canonical(hl_emitter *e, LLVMValueRef x);

/* emit_expr_arith.c, emit_expr_int.c, emit_expr_convert.c: one op on LLVM values, all scalar or all
 * of the same lanes. */
LLVMValueRef hl_emit_float_op(hl_emitter *e, hl_loop_op op, const LLVMValueRef *args);
LLVMValueRef hl_emit_int_op(hl_emitter *e, hl_loop_op op, bool is_signed, const LLVMValueRef *args);
LLVMValueRef hl_emit_pred_op(hl_emitter *e, hl_loop_op op, const LLVMValueRef *args);
/* An op by the class of its type, as a combiner needs it. */
LLVMValueRef hl_emit_combine(hl_emitter *e, hl_loop_op op, hl_element_type type, LLVMValueRef a,
                             LLVMValueRef b);
/* emit_dot4.c: sum + dot4(x, y). */
LLVMValueRef hl_emit_dot4(hl_emitter *e, LLVMValueRef sum, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef hl_emit_convert(hl_emitter *e, hl_element_type from, hl_element_type to,
                             LLVMValueRef x);
LLVMValueRef hl_emit_precision(hl_emitter *e, hl_element_type type, int exponent_bits,
                               int mantissa_bits, LLVMValueRef x);
LLVMValueRef hl_emit_fma(hl_emitter *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
LLVMValueRef hl_emit_fast(hl_emitter *e,
                          LLVMValueRef value); /* the user's float flags on an instruction */

/* emit_soft.c: replaces intrinsics that the target has no instruction for by functions of our own.
 */
void hl_emit_soft_functions(hl_emitter *e);

/* emit_access.c */
void hl_emit_load(hl_emitter *e, const hl_node *node);
void hl_emit_store(hl_emitter *e, const hl_node *node);

/* emit_loop.c */
void hl_emit_block(hl_emitter *e, const hl_block *block);
/* min(extent, max(limit, 0)) of variable `k`. */
LLVMValueRef hl_emit_extent(hl_emitter *e, const hl_loop *loop, int k);
void hl_emit_if(hl_emitter *e, const hl_node *node);
/* Bytes of the widest type whose values differ between lanes. */
int hl_emit_widest(const hl_emitter *e, const hl_block *block);
/* Instructions of a body, roughly; whether that is many; registers that a vector of it has. */
int64_t hl_emit_cost(const hl_block *block);
bool hl_emit_is_heavy(const hl_emitter *e, const hl_block *block);
int hl_emit_registers(const hl_emitter *e, const hl_block *block);
/* The iterations start .. end - 1 of a loop that is no vector loop. */
void hl_emit_range(hl_emitter *e, const hl_loop *loop, LLVMValueRef start, LLVMValueRef end);
/* Lane l of `width` is there when start + l < end. */
LLVMValueRef hl_emit_tail_mask(hl_emitter *e, LLVMValueRef start, LLVMValueRef end, int width);

/* emit_reduce.c, emit_reduce_vector.c */
void hl_emit_reduce(hl_emitter *e, const hl_node *node);
void hl_emit_fold(hl_emitter *e, const hl_node *node);
bool hl_emit_vector_reduce(hl_emitter *e, const hl_node *node); /* false: not one that it can do */

/* emit_jam.c */
int hl_emit_choose_jam(hl_emitter *e, const hl_loop *loop); /* 1: none */
/* Whether a transposing loop is big enough to go block by block; its inner loop. */
enum { HL_TILE_BLOCK = 128 };
bool hl_emit_goes_by_blocks(const hl_emitter *e, const hl_loop *loop, int jam);
const hl_loop *hl_emit_only_vector_loop(const hl_loop *loop);
/* The grain of a parallel loop, a multiple of its jam. */
int64_t hl_emit_grain(hl_emitter *e, const hl_loop *loop);

/* emit_tile.c: a load of which the lanes lie far apart and the parts side by side; parts that make
 * its square, 0: none. */
bool hl_emit_is_tile(const hl_emitter *e, const hl_node *load, const hl_node *parts,
                     const hl_node *lanes);
int hl_emit_tile_size(const hl_emitter *e, hl_element_type type);
/* Whether a vector loop in the jammed loop around loads a tile; such a load: false where it is none
 * after all. */
bool hl_emit_has_tile(const hl_emitter *e, const hl_loop *loop);
bool hl_emit_jam_tile(hl_emitter *e, const hl_node *load);
/* Whether the parts of a vector loop's body are to run in a loop, and that loop. */
bool hl_emit_rolls_tile(const hl_emitter *e, const hl_loop *loop);
void hl_emit_rolled_tile(hl_emitter *e, const hl_loop *loop);
/* Iterations a round of a REDUCE that loads tiles, 0: none. */
int hl_emit_reduce_tile(const hl_emitter *e, const hl_loop *loop, const hl_node *lanes);
/* Whether a FOLD goes along lines of memory, one a lane: it then runs as many iterations a round. */
bool hl_emit_is_scan(const hl_emitter *e, const hl_loop *loop, const hl_node *lanes);
/* Whether a vector loop has such folds, and none that would rather have it scalar. */
bool hl_emit_has_scan(const hl_emitter *e, const hl_loop *loop);
/* Lanes that a vector loop gets for what its REDUCEs and FOLDs read and write; 0: it does not
 * matter. */
int hl_emit_body_tile(const hl_emitter *e, const hl_loop *loop);
/* Opens the tiles of a round of `count` iterations, its variable at the first; then loads and
 * stores find them, iteration tile_at. */
void hl_emit_open_tiles(hl_emitter *e, const hl_loop *loop, bool is_fold, int count);
void hl_emit_close_tiles(hl_emitter *e, const hl_loop *loop);
bool hl_emit_open_tile(hl_emitter *e, const hl_node *load);
bool hl_emit_fill_tile(hl_emitter *e, const hl_node *store);

/* emit_variance.c: marks what in the loop's body differs between the iterations of its variable. */
void hl_emit_variance(hl_emitter *e, const hl_loop *loop, uint8_t bit);
/* Nothing differs after all: the iterations of this for loop run one by one. */
void hl_emit_forget_variance(hl_emitter *e, const hl_loop *loop, uint8_t bit);
/* Whether the body has loops whose limits, or branches whose conditions, carry the bit. */
bool hl_emit_control_varies(hl_emitter *e, const hl_block *block, uint8_t bit, bool with_branches);

/* emit_range.c */
void hl_emit_plan_ranges(hl_emitter *e, const hl_kernel *kernel);
bool hl_emit_fits_i32(const hl_emitter *e, const hl_node *node); /* an s64 that does */

/* emit_key.c: what the code of a step's kernel depends on. */
hl_str hl_emit_key(hl_emitter *e, const hl_step *step);

/* emit_prefetch.c: fills e->prefetch for the loads of a parallel loop; the prefetches of one such
 * load. */
void hl_emit_plan_prefetch(hl_emitter *e, const hl_loop *parallel);
/* Sets or clears the prefetches of what a REDUCE of vectors reads. */
void hl_emit_plan_line_prefetch(hl_emitter *e, const hl_loop *reduce, bool does);

/* The same for the rows that a fold takes side by side. */
void hl_emit_plan_group_prefetch(hl_emitter *e, const hl_loop *fold);
/* The same for a row that an index from memory chooses: asks for that of an iteration after `index`. Values of the
 * loop's body are set anew. */
void hl_emit_prefetch_chosen(hl_emitter *e, const hl_loop *loop, LLVMValueRef index);
/* Asks for the line `bytes` behind the pointer. */
void hl_emit_prefetch_at(hl_emitter *e, LLVMValueRef pointer, int64_t bytes);
void hl_emit_prefetch(hl_emitter *e, const hl_node *load, LLVMValueRef pointer);

/* emit_call.c: a call of a function outside, given the memory of each value's buffer. Its status; NULL: it has none. */
LLVMValueRef hl_emit_call(hl_emitter *e, const hl_call *call, LLVMValueRef *pointers);

/* emit_kernel.c: the function of a kernel, made at its first step; what its code depends on. */
hl_str hl_emit_kernel_key(hl_emitter *e, const hl_step *step);
LLVMValueRef hl_emit_kernel(hl_emitter *e, const hl_step *step);
LLVMTypeRef hl_emit_kernel_type(hl_emitter *e, const hl_kernel *kernel);
void hl_emit_parallel(hl_emitter *e, const hl_node *node);

/* emit_module.c: the program or, where there are parts, the emitter's part. */
void hl_emit_program(hl_emitter *e);
void hl_emit_function_attributes(hl_emitter *e, LLVMValueRef function);
/* For functions that only call others or seldom run: nothing to gain there from LLVM's optimisations, which take
 * most of the compile time. */
void hl_emit_is_glue(hl_emitter *e, LLVMValueRef function);
/* Puts the floating environment of rule 1 in place; leave restores what enter returned. */
LLVMValueRef hl_emit_fenv_enter(hl_emitter *e);
void hl_emit_fenv_leave(hl_emitter *e, LLVMValueRef saved);

/* debug.c: line tables, where the options ask for them. A function begins at the HLO of its kernel or step; what is
 * built from now on came from `range`, in the function that is being emitted. */
void hl_debug_open(hl_emitter *e);
void hl_debug_close(hl_emitter *e);
void hl_debug_function(hl_emitter *e, LLVMValueRef function, const char *name, hl_range range);
void hl_debug_at(hl_emitter *e, hl_range range);

/* object.c: passes, verification and bytes. */
bool hl_object_write(hl_emitter *e, hl_code_kind kind, hl_code *code, const char **error);

#endif
