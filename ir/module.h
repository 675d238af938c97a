/* module - the HLO IR: module, computations, instructions and their attributes. */
#ifndef HL_MODULE_H
#define HL_MODULE_H

#include "diag.h"
#include "literal.h"
#include "op.h"

typedef struct hl_module hl_module;
typedef struct hl_computation hl_computation;
typedef struct hl_instruction hl_instruction;

typedef struct hl_ints {
  const int64_t *values;
  int count;
} hl_ints;

typedef struct hl_slice_dim {
  int64_t start, limit, stride;
} hl_slice_dim;

typedef struct hl_padding_dim {
  int64_t low, high, interior;
} hl_padding_dim;

/* One window dimension; the fields are XLA's. */
typedef struct hl_window_dim {
  int64_t size, stride, padding_low, padding_high, base_dilation, window_dilation;
  bool window_reversal;
} hl_window_dim;

/* dim_labels of a convolution: positions of the named dimensions in each array. */
typedef struct hl_dim_labels {
  int spatial_count;
  int input_batch, input_feature, kernel_input_feature, kernel_output_feature, output_batch,
      output_feature;
  const int *input_spatial, *kernel_spatial, *output_spatial;
} hl_dim_labels;

/* Attribute value; which member counts follows from hl_attr_kind_of(id). Everything lives in the
 * module's arena. */
typedef struct hl_attr {
  hl_attr_id id;
  hl_range name_range;  /* the attribute's name with '=' excluded */
  hl_range value_range; /* the whole value */
  /* One per number or name of the value, in text order, NULL if made by a pass: INTS, WORDS,
   * COMPUTATIONS, INSTRUCTIONS, SHAPES: entry i. SLICE: 3 per dimension (start, limit, stride; an
   * absent stride has the range of the limit). PADDING: 3 per dimension (low, high, interior).
   * WINDOW: one range per field as written, in the order size, stride, pad, lhs_dilate, rhs_dilate,
   * rhs_reversal (HL_NO_RANGE if absent), then 7 per dimension as in hl_window_dim. INTLISTS,
   * GROUPS: one per inner list. */
  const hl_range *entry_ranges;
  int entry_count;
  union {
    int64_t i;        /* INT, BOOL (0, 1), ENUM */
    double f;         /* FLOAT */
    const char *text; /* WORD, STRING, RAW, METADATA (raw text, braces included) */
    hl_ints ints;     /* INTS, WORDS */
    struct {
      const hl_ints *values;
      int count;
      const char *text; /* GROUPS: as written */
    } lists;            /* INTLISTS, GROUPS */
    struct {
      const hl_slice_dim *dims;
      int count;
    } slice;
    struct {
      const hl_padding_dim *dims;
      int count;
    } padding;
    struct {
      const hl_window_dim *dims;
      int count;
    } window;
    const hl_dim_labels *labels;
    struct {
      hl_computation **values; /* COMPUTATION: one */
      int count;
    } computations;
    struct {
      hl_instruction **values;
      int count;
    } instructions;
    struct {
      const hl_shape **values; /* SHAPE: one */
      int count;
    } shapes;
  };
} hl_attr;

/* Where the parts of an instruction stand in the source; NULL in instructions that passes make. */
typedef struct hl_places {
  hl_range name;            /* the name being defined */
  hl_range shape;           /* the written result shape; HL_NO_RANGE when it was left out */
  hl_range opcode;          /* the opcode word */
  hl_range call;            /* opcode(...) with both parentheses */
  hl_range lparen;          /* the '(' */
  hl_range end;             /* where the instruction ends */
  const hl_range *operands; /* one per operand: shape and name as written */
  const hl_shape *const *operand_shapes; /* shapes written before operands, NULL entries or NULL */
} hl_places;

/* How the exponent of a power counts for numerics rule 12. The pass mark-power settles it right
 * after inlining, because later passes can make an exponent constant; copies of an instruction keep
 * it. Ask hl_power_exponent. */
typedef enum hl_power_form { HL_POWER_UNMARKED, HL_POWER_GENERAL, HL_POWER_CONSTANT } hl_power_form;

struct hl_instruction {
  hl_opcode opcode;
  const char *name;      /* without '%' */
  const hl_shape *shape; /* NULL only between parsing and inference of an omitted shape */
  hl_instruction **operands;
  int operand_count;
  hl_instruction **users; /* each user once; kept by the functions below */
  int user_count;
  size_t user_capacity;
  hl_attr *attrs; /* in text order */
  int attr_count;
  const hl_literal *literal;   /* constant */
  int64_t parameter_number;    /* parameter */
  hl_computation *computation; /* owner */
  hl_instruction *previous, *next;
  const hl_places *places;
  hl_range range; /* where to point for this instruction: opcode(...) or, for one made by a pass,
                     that of its origin */
  const char *async_wrapped; /* X-start sugar: the wrapped opcode's name; else NULL */
  hl_power_form power_form;  /* power only */
  int64_t scratch;           /* free for the pass that runs; no meaning between passes */
};

struct hl_computation {
  const char *name;
  hl_module *module;
  hl_instruction *first, *last; /* definition order: operands stand before their users */
  int instruction_count;
  hl_instruction *root;
  hl_instruction **parameters; /* by number */
  int parameter_count;
  hl_range name_range;
  const char *execution_thread; /* NULL if none */
  /* a written signature, else NULL */
  const hl_shape *signature_result;
  hl_range signature_result_range;
  const hl_shape *const *signature_parameters;
  const char *const *signature_names;
  const hl_range *signature_parameter_ranges;
  int signature_parameter_count;
  hl_computation *previous, *next;
  int64_t scratch;
  /* What hl_has_side_effect found. */
  enum { HL_EFFECT_UNKNOWN, HL_EFFECT_NONE, HL_EFFECT_SOME } effect;
};

typedef struct hl_alias {
  hl_ints output_index;
  int64_t parameter;
  hl_ints parameter_index;
  bool is_must;
  hl_range range;
} hl_alias;

/* A module attribute that is kept for printing only, as written: "name=value". */
struct hl_module {
  hl_arena *arena;
  const hl_source *source;
  const char *name;
  hl_computation *first, *last; /* definition order: callees stand before callers */
  hl_computation *entry;
  const char **kept_attributes; /* header attributes kept for printing, "name=value" as written */
  int kept_attribute_count;
  bool is_scheduled;
  int64_t replica_count, num_partitions; /* 0: not written */
  const hl_alias *aliases;
  int alias_count;
  /* entry_computation_layout, NULL if not written */
  const hl_shape *const *entry_layout_parameters;
  const hl_range *entry_layout_ranges; /* per parameter, then the result */
  int entry_layout_count;
  const hl_shape *entry_layout_result;
  const char *frame_tables; /* FileNames ... StackFrames as written, "" if none */
  uint32_t next_id;         /* for fresh names */
};

hl_module *hl_module_new(hl_arena *arena, const char *name);
/* Appends an empty computation. */
hl_computation *hl_module_add_computation(hl_module *module, const char *name);
void hl_module_remove_computation(hl_module *module, hl_computation *computation);
/* A name that no computation and no instruction made so far has: base, a dot and a number (one that
 * base ends with goes). */
const char *hl_fresh_name(hl_module *module, const char *base);

/* Makes an instruction with `count` operands and adds it as a user of each. It stands before
 * `before`, or last with NULL. name NULL: a fresh one. The attrs array starts empty. range is that
 * of `origin` (may be NULL); places stays NULL. */
hl_instruction *hl_instruction_new(hl_computation *computation, hl_instruction *before,
                                   hl_opcode opcode, const char *name, const hl_shape *shape,
                                   int count, hl_instruction *const *operands,
                                   const hl_instruction *origin);
/* Adds an attribute (copied); returns its place. */
hl_attr *hl_instruction_add_attr(hl_instruction *instruction, const hl_attr *attr);
hl_attr *hl_instruction_add_ints(hl_instruction *instruction, hl_attr_id id, int count,
                                 const int64_t *values);
void hl_instruction_remove_attr(hl_instruction *instruction, hl_attr_id id);
/* Unlinks an instruction without users that is not the root; its operands lose it as a user. */
void hl_instruction_remove(hl_instruction *instruction);
void hl_replace_operand(hl_instruction *user, int index, hl_instruction *with);
/* Every user of old reads `with` instead; if old was the root, `with` becomes it. */
void hl_replace_all_uses(hl_instruction *old, hl_instruction *with);
/* Copies the instructions of `from` before `before` in `to`; parameters become args[number].
 * Returns the copy of the root. Names are made fresh. Callees are shared, not copied. */
hl_instruction *hl_inline_computation(const hl_computation *from, hl_computation *to,
                                      hl_instruction *before, hl_instruction *const *args);

/* Whether the attribute names computations: one or a list. */
bool hl_holds_computations(const hl_attr *attr);
/* The attribute, or NULL. */
const hl_attr *hl_attr_find(const hl_instruction *instruction, hl_attr_id id);
/* Its list, {NULL, 0} when absent. */
hl_ints hl_attr_ints(const hl_instruction *instruction, hl_attr_id id);
/* Its number, `otherwise` when absent. */
int64_t hl_attr_int(const hl_instruction *instruction, hl_attr_id id, int64_t otherwise);
/* The called computation, NULL when absent. */
hl_computation *hl_attr_computation(const hl_instruction *instruction, hl_attr_id id);
/* All computations that an instruction calls, in attribute order; returns the count, fills at most
 * `max`. */
int hl_called_computations(const hl_instruction *instruction, hl_computation **out, int max);
/* Whether removing it could be seen (spec section 5, side effects), its callees included. A
 * computation's answer is found once and kept: passes may take effects out of a computation, never
 * put new ones in. */
bool hl_has_side_effect(const hl_instruction *instruction);

/* Ranges for diagnostics, with sensible fallbacks when a part has no place. */
hl_range hl_place_opcode(const hl_instruction *instruction);
hl_range hl_place_call(const hl_instruction *instruction);
/* What stands between the parentheses. */
hl_range hl_place_payload(const hl_instruction *instruction);
hl_range hl_place_shape(const hl_instruction *instruction);
hl_range hl_place_operand(const hl_instruction *instruction, int index);
hl_range hl_place_attr_name(const hl_instruction *instruction, hl_attr_id id);
hl_range hl_place_attr(const hl_instruction *instruction, hl_attr_id id);
hl_range hl_place_attr_entry(const hl_instruction *instruction, hl_attr_id id, int entry);

/* A region that is exactly one binary op of its two scalar parameters, in either order: its opcode;
 * else HL_OP_COUNT. *is_swapped (may be NULL): the op is op(parameter 1, parameter 0). Converts,
 * tuples of one and the like do not count. */
hl_opcode hl_region_binary(const hl_computation *region, bool *is_swapped);

/* Whether a power has the constant exponent of numerics rule 12: its second operand is a constant
 * with equal elements or a broadcast of one (by power_form where it is marked); *exponent is the
 * value. False for integers and complex types. */
bool hl_power_exponent(const hl_instruction *power, double *exponent);

#endif
