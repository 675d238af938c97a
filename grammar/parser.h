/* parser - what the scanner, the grammar and the builders share while one text is read.
 *
 * The scanner (hlo.l) finds tokens, hl_yylex (scan.c) adds what depends on context, the grammar
 * (hlo.y) calls one builder an action. Tokens carry no value but their range; builders read the
 * text at it. Values below an instruction come from a pool that starts afresh with the next
 * instruction.
 */
#ifndef HL_PARSER_H
#define HL_PARSER_H

#include "parse.h"

typedef enum hl_value_kind {
  HL_V_INT,
  HL_V_DECIMAL,    /* 1.5, 1e3 */
  HL_V_SPECIAL,    /* inf, nan, -inf, -nan */
  HL_V_BOOL,       /* true, false */
  HL_V_NAME,       /* a word or a % name */
  HL_V_STRING,     /* quotes included in the range */
  HL_V_DXD,        /* 3x3 */
  HL_V_PAD,        /* 0_1x1_0 */
  HL_V_DIM_LABELS, /* b01f_01io->b01f */
  HL_V_RAW,        /* any text */
  HL_V_SHAPE,
  HL_V_LIST,   /* {a, b}; also plain sequences */
  HL_V_SLICE,  /* [0:2] or [0:8:2] */
  HL_V_IOTA,   /* [2,4]<=[8]T(1,0): children dimensions, reshape dimensions, permutation or none */
  HL_V_FIELDS, /* {size=3 stride=2}: children are HL_V_ATTR */
  HL_V_ATTR,   /* name=value: name_range, child */
  HL_V_COMPUTATION, /* an inline body */
  HL_V_OPERAND,     /* instruction and, if written, shape */
  HL_V_LITERAL,
  HL_V_UNBOUNDED, /* a dimension ? */
  HL_V_LAYOUT,    /* children: minor to major; name_range: the text after ':' */
  HL_V_HEAD,      /* the name that an instruction defines */
  HL_V_CALL       /* shape, if written, opcode at name_range, child the payload; range begins at the
                     opcode */
} hl_value_kind;

typedef struct hl_value hl_value;
struct hl_value {
  hl_value_kind kind;
  int count; /* of children */
  hl_range range, name_range, shape_range;
  uint64_t magnitude; /* HL_V_INT */
  bool is_negative;   /* HL_V_INT */
  bool is_root;       /* the head of an instruction */
  bool is_bound;      /* a dimension <=N */
  const hl_shape *shape;
  union {
    hl_instruction *instruction;
    hl_computation *computation;
    const hl_literal *literal;
  };
  hl_value *first, *last, *next;
};

/* A name that was not defined when it was used: an operand, or a called computation. */
typedef struct hl_unresolved {
  hl_range range;
  hl_range user; /* the name of the instruction or computation that uses it */
  struct hl_unresolved *next;
} hl_unresolved;

typedef struct hl_unresolved_list {
  hl_unresolved *first, *last;
} hl_unresolved_list;

typedef struct hl_scope {
  struct hl_scope *outer;
  hl_computation *computation;
  hl_map names; /* to instructions, or to parser->poison */
  hl_unresolved_list unresolved;
  hl_instruction **implicit; /* from nested operands: named when all other names are known */
  size_t implicit_count, implicit_capacity;
  hl_range defining; /* the name before '=' */
  bool has_root;
  bool is_faulty; /* an instruction is missing after an error */
  bool is_inline;
  int nesting, braces; /* inside its '{' */
} hl_scope;

typedef enum hl_scan_mode {
  HL_SCAN_TOKENS,
  HL_SCAN_RAW,
  HL_SCAN_JSON,
  HL_SCAN_LITERAL
} hl_scan_mode;

enum { HL_VALUE_CHUNK = 64, HL_SHAPE_CACHE = 256 };

typedef struct hl_value_chunk {
  struct hl_value_chunk *next;
  hl_value values[HL_VALUE_CHUNK];
} hl_value_chunk;

typedef struct hl_cached_shape {
  hl_range text;
  const hl_shape *shape;
} hl_cached_shape;

typedef struct hl_parser {
  hl_arena *arena;
  const hl_source *source;
  const char *text;
  uint32_t size;
  hl_diag *diag;
  void *scanner;
  hl_module *module;

  /* scanner */
  hl_scan_mode mode;
  int previous;                 /* the token before */
  hl_range token, token_before; /* the last two */
  uint32_t token_count;
  int nesting, braces;         /* open brackets of all kinds, of '{' alone */
  int old_nesting, old_braces; /* before the last token */
  bool is_constant;            /* the last token was the word constant */
  bool in_layout, in_tables;
  bool is_line;       /* the text is one instruction of a computation that is open (lines.c) */
  bool is_fatal;      /* a limit was exceeded: the text ends here */
  bool must_sync;     /* an error was reported: go on at the next instruction */
  uint32_t synced_at; /* where it last went on */
  /* From here on no comment, no string with that quote (", ') is ever closed: searched for once,
   * not once for each. */
  uint32_t open_comment, open_string[2];
  const hl_shape *shape; /* the one that ended before the last word */
  const hl_literal *literal;
  uint32_t frame_tables; /* where they begin, HL_NO_OFFSET: there are none */

  /* values */
  hl_value_chunk *chunks, *chunk;
  int chunk_used;
  hl_cached_shape cache[HL_SHAPE_CACHE];

  /* module */
  hl_scope *scope;
  hl_map computations;
  hl_map module_attributes; /* names seen */
  hl_unresolved_list unresolved_calls;
  hl_computation **unnamed; /* inline bodies and wrapped ops: named at the end */
  size_t unnamed_count, unnamed_capacity;
  hl_instruction *poison;    /* what a faulty definition stands for: its users stay silent */
  const hl_shape *bad_shape; /* likewise for a faulty shape */
  int64_t instruction_count;
  int64_t literal_bytes;
} hl_parser;

/* scan.c: text by hand. Offsets; `end` of the text where nothing is found. */
uint32_t hl_skip_blanks(hl_parser *p,
                        uint32_t at); /* white space and comments; stops at an open comment */
uint32_t
hl_skip_string(hl_parser *p,
               uint32_t at); /* from the quote to behind its partner; `at` if it has none */
uint32_t hl_skip_word(const hl_parser *p, uint32_t at);
/* The text of a range in the arena, without '%'. */
const char *hl_name_text(const hl_parser *p, hl_range range);
const char *hl_range_text(const hl_parser *p, hl_range range);
bool hl_range_is(const hl_parser *p, hl_range range, const char *text);
/* Reports that a limit of ir/limits.h is exceeded and ends the reading. */
void hl_stop(hl_parser *p, hl_range range, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* An error of the scanner or of a token: reading goes on at the next instruction. */
void hl_resync(hl_parser *p);

/* syntax.c: a token that cannot stand here; expected are bison's names of tokens. */
void hl_report_syntax(hl_parser *p, hl_range range, const char *found, int count,
                      const char *const *expected);
/* "did you mean" */
void hl_suggest(hl_parser *p, const char *best);
typedef struct hl_best {
  const char *wanted, *name;
  size_t limit;
} hl_best;
hl_best hl_best_start(const char *wanted);
void hl_best_try(hl_best *best, const char *name);

/* values.c */
hl_value *hl_value_new(hl_parser *p, hl_value_kind kind, hl_range range);
void hl_values_reset(hl_parser *p);                      /* no value is in use any more */
hl_value *hl_value_add(hl_value *list, hl_value *child); /* returns the list */
hl_value *hl_value_list(hl_parser *p, hl_range range, hl_value *first); /* first may be NULL */
hl_value *hl_value_int(hl_parser *p, hl_range range);
hl_value *hl_value_literal(hl_parser *p, hl_range range); /* the one read last */
/* name: the token, with '=' or ':' at its end */
hl_value *hl_value_attr(hl_parser *p, hl_range name, hl_value *value);
hl_value *hl_value_slice(hl_parser *p, hl_range range, hl_value *start, hl_value *limit,
                         hl_value *stride);
hl_value *hl_value_iota(hl_parser *p, hl_range range, hl_value *dims, hl_value *reshape,
                        hl_value *permutation);
hl_value *hl_value_layout(hl_value *order, hl_range range, hl_range suffix);
hl_value *hl_value_inline(hl_parser *p, hl_range range); /* closes the inline computation */
/* Whether it is an integer that fits, else an error at it. */
bool hl_value_int64(hl_parser *p, const hl_value *value, int64_t *out);
hl_range hl_join(hl_range a, hl_range b);

/* shapes.c */
hl_value *hl_build_array(hl_parser *p, hl_range range, hl_range type, const hl_value *dims,
                         const hl_value *layout);
hl_value *hl_build_tuple(hl_parser *p, hl_range range, const hl_value *shapes);

/* scopes.c: header, computations, names */
void hl_build_module_name(hl_parser *p, hl_range name);
void hl_build_module_attr(hl_parser *p, hl_range name, const hl_value *value);
void hl_build_kept_attr(hl_parser *p, hl_range name, hl_range whole);
void hl_build_entry_layout(hl_parser *p, hl_range name, const hl_value *parameters,
                           const hl_value *result);
void hl_build_aliases(hl_parser *p, hl_range name, const hl_value *aliases);
void hl_build_tables(hl_parser *p, hl_range range);
void hl_open_computation(hl_parser *p, hl_range entry, hl_range name, const hl_value *signature);
void hl_open_inline(hl_parser *p);
hl_computation *hl_close_computation(hl_parser *p);
void hl_build_thread(hl_parser *p, hl_range name, hl_range string);
void hl_define(hl_parser *p, hl_range name, hl_instruction *instruction);
void hl_poison_name(hl_parser *p, hl_range name);
/* The instruction of that name so far, parser->poison, or NULL: then it is noted for
 * hl_close_computation. */
hl_instruction *hl_find_operand(hl_parser *p, hl_range name, hl_range user);
hl_computation *hl_find_callee(hl_parser *p, hl_range name);
bool hl_finish_module(hl_parser *p);
/* What is due when a line ends: names that were not found are reported, nested instructions and
 * inline computations get names. */
void hl_finish_line(hl_parser *p);

/* build.c: instructions */
hl_value *hl_build_head(hl_parser *p, hl_range root, hl_range name);
hl_value *hl_build_inline_head(hl_parser *p, hl_range root,
                               hl_range name); /* opens the computation */
hl_value *hl_build_call(hl_parser *p, hl_range range, const hl_value *shape, hl_range opcode,
                        hl_value *payload);
hl_value *hl_build_operand(hl_parser *p, hl_range range, const hl_value *shape, hl_range name);
hl_value *hl_build_element(hl_parser *p, hl_value *operand, const hl_value *index); /* name#index */
hl_value *hl_build_nested(hl_parser *p, hl_value *call);
void hl_build_instruction(hl_parser *p, hl_value *head,
                          hl_value *rhs);          /* rhs: call, its next the attributes */
void hl_build_faulty(hl_parser *p, hl_range name); /* after an error in the instruction */

/* attrs.c: the value of an attribute by its kind, out->id; false after an error. `user` is the name
 * being defined. */
bool hl_read_attr(hl_parser *p, hl_range user, const hl_value *value, hl_attr *out);
bool hl_value_error(hl_parser *p, const hl_value *value, const char *wanted);
const char *hl_unescape(hl_parser *p, hl_range string);
/* patterns.c */
bool hl_read_slice(hl_parser *p, const hl_value *value, hl_attr *out);
bool hl_read_window(hl_parser *p, const hl_value *value, hl_attr *out);
bool hl_read_padding(hl_parser *p, const hl_value *value, hl_attr *out);
bool hl_read_dim_labels(hl_parser *p, const hl_value *value, hl_attr *out);
bool hl_read_groups(hl_parser *p, const hl_value *value, hl_attr *out);

/* literals.c: reads the literal at `at` for parser->shape into parser->literal; its end, or `at` of
 * no text after an error (parser->must_sync is set). */
bool hl_read_literal(hl_parser *p, uint32_t at, uint32_t *end);

/* decimal.c: the double nearest to a decimal number (ties to even), whatever the locale; *end
 * behind it. Infinity when it overflows. The text must begin with a digit or a point that a digit
 * follows. */
double hl_read_decimal(const char *text, const char *limit, const char **end);

/* hlo.l */
int hl_scan(void *value, hl_range *location, void *scanner);
void hl_scan_jump(void *scanner, const char *to);
void hl_scan_restore(void *scanner);
bool hl_scan_open(hl_parser *p);

#endif
