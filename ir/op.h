/* op - the op and attribute tables as C sees them. */
#ifndef HL_OP_H
#define HL_OP_H

#include "shape.h"

typedef enum hl_opcode {
#define HL_OP(id, name, min, max, types, flags, stage, infer, family, ...) HL_OP_##id,
#include "ops.def"
  HL_OP_COUNT
} hl_opcode;

typedef enum hl_attr_id {
#define HL_ATTR(id, name, kind, words) HL_ATTR_##id,
#include "attrs.def"
  HL_ATTR_COUNT
} hl_attr_id;

/* The form of an attribute's value; the member of hl_attr it fills stands in module.h. */
typedef enum hl_attr_kind {
  HL_KIND_INT,
  HL_KIND_BOOL, /* true or false; also 0 and 1 */
  HL_KIND_FLOAT,
  HL_KIND_ENUM,   /* i: index into the words */
  HL_KIND_WORD,   /* text */
  HL_KIND_WORDS,  /* {a,b}: ints hold the indices of the words */
  HL_KIND_STRING, /* text, unescaped */
  HL_KIND_RAW,    /* text, as written: string, balanced braces or JSON */
  HL_KIND_INTS,
  HL_KIND_INTLISTS,
  HL_KIND_GROUPS, /* replica groups; lists where written out, else the iota form expanded; text as
                     written */
  HL_KIND_SLICE,
  HL_KIND_WINDOW,
  HL_KIND_PADDING,
  HL_KIND_DIM_LABELS,
  HL_KIND_COMPUTATION,
  HL_KIND_COMPUTATIONS,
  HL_KIND_INSTRUCTIONS,
  HL_KIND_SHAPE,
  HL_KIND_SHAPES,
  HL_KIND_METADATA
} hl_attr_kind;

/* Sets of element types for the `types` column. */
enum {
  HL_T_PRED = 1 << HL_CLASS_PRED,
  HL_T_SIGNED = 1 << HL_CLASS_SIGNED,
  HL_T_UNSIGNED = 1 << HL_CLASS_UNSIGNED,
  HL_T_FLOAT = 1 << HL_CLASS_FLOAT,
  HL_T_COMPLEX = 1 << HL_CLASS_COMPLEX,
  HL_T_F32_F64 = 1 << 16,
  HL_T_INTEGRAL = HL_T_SIGNED | HL_T_UNSIGNED,
  HL_T_BITS = HL_T_PRED | HL_T_INTEGRAL,
  HL_T_REAL = HL_T_INTEGRAL | HL_T_FLOAT,
  HL_T_PRED_REAL = HL_T_PRED | HL_T_REAL,
  HL_T_INEXACT = HL_T_FLOAT | HL_T_COMPLEX,
  HL_T_SIGNED_FLOAT_COMPLEX = HL_T_SIGNED | HL_T_INEXACT,
  HL_T_NUMBER = HL_T_REAL | HL_T_COMPLEX,
  HL_T_ARRAY = HL_T_PRED | HL_T_NUMBER
};

/* The `flags` column. */
enum {
  HL_EW = 1 << 0,
  HL_BCAST = 1 << 1,
  HL_COMM = 1 << 2,
  HL_EFF = 1 << 3,
  HL_STATED = 1 << 4,
  HL_MOVE = 1 << 5,
  HL_MATH = 1 << 6
};

enum { HL_ANY = INT16_MAX };

/* `whole` and `expanded` compile too, but not element by element: in a kernel of their own
 * (passes/lower_whole.h), or as the simpler ops that a pass puts in their place
 * (passes/expand_*.c). */
typedef enum hl_stage {
  HL_STAGE_code,
  HL_STAGE_whole,
  HL_STAGE_expanded,
  HL_STAGE_refused
} hl_stage;

static inline bool hl_stage_compiles(hl_stage stage)
{
  return stage <= HL_STAGE_expanded;
}

typedef struct hl_attr_use {
  hl_attr_id id;
  bool is_required;
} hl_attr_use;

typedef struct hl_op_info {
  const char *name;
  int min_operands, max_operands;
  unsigned types, flags;
  hl_stage stage;
  const char *family; /* of its evaluator and lowering: "binary" */
  const hl_attr_use *attrs; /* attr_count of them */
  int attr_count;
} hl_op_info;

const hl_op_info *hl_op_info_of(hl_opcode opcode);

/* op_notes.def: for people. */
typedef struct hl_op_notes {
  const char *meaning; /* what the op gives */
  const char *corners; /* values that surprise; "" */
  const char *example; /* a module */
} hl_op_notes;

const hl_op_notes *hl_op_notes_of(hl_opcode opcode);

/* The opcode with this name, or HL_OP_COUNT. */
hl_opcode hl_op_by_name(const char *name, size_t length);
/* The closest op name within a small edit distance, or NULL (did-you-mean; common misspellings such
 * as "exp" included). */
const char *hl_op_suggest(const char *name);

const char *hl_attr_name(hl_attr_id id);
hl_attr_kind hl_attr_kind_of(hl_attr_id id);
/* Word `index` of an ENUM or WORDS attribute, NULL past the last. */
const char *hl_attr_word(hl_attr_id id, int64_t index, size_t *length);
/* The attribute of this name that the op takes; HL_ATTR_COUNT when it takes none (`algorithm`
 * differs between dot and rng ops). */
hl_attr_id hl_attr_for_op(hl_opcode opcode, const char *name, size_t length);
/* Whether any op knows an attribute of this name. */
bool hl_attr_exists(const char *name, size_t length);

/* Directions and types of compare: indices into the words of attrs.def. */
typedef enum hl_direction { HL_EQ, HL_NE, HL_GE, HL_GT, HL_LE, HL_LT } hl_direction;
typedef enum hl_comparison {
  HL_COMPARE_FLOAT,
  HL_COMPARE_TOTALORDER,
  HL_COMPARE_SIGNED,
  HL_COMPARE_UNSIGNED
} hl_comparison;

#endif
