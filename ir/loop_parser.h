/* loop_parser.h - the state of the loop text's parser. Private to ir/loop_lex.c and ir/loop_parse*.c; docs/loop-ir.md is the grammar.
 *
 * Recursive descent over the characters: at most one error is reported, then everything returns false or NULL. A block is made
 * of the lines that stand in one column, deeper than the line that opens it.
 */
#ifndef HL_LOOP_PARSER_H
#define HL_LOOP_PARSER_H

#include "loop_text.h"

/* A word of the text. */
typedef struct hl_word {
  const char *text;
  size_t length;
} hl_word;

/* What a name means; `node` NULL: nothing any more. */
typedef struct hl_binding {
  hl_word name;
  hl_node *node;
  struct hl_binding *shadowed; /* what it meant outside */
  struct hl_binding *previous; /* bound before it, in the open scopes */
} hl_binding;

typedef struct hl_loop_parser {
  hl_arena *arena;
  const hl_source *source;
  hl_diag *diag;
  size_t at;
  int open_count;  /* brackets: inside them a new line is a blank */
  int depth;       /* of the recursion */
  int line_column; /* where the statement's line begins */
  bool has_failed;
  hl_program *program;
  hl_map buffers, kernels;
  /* the kernel being read */
  hl_loop_builder b;
  hl_map params;
  hl_map names;         /* to hl_binding */
  hl_binding *bindings; /* in the open scopes, last first */
} hl_loop_parser;

/* Reports at the place where the parser stands, unless an error was reported before; false. */
bool hl_parse_fail(hl_loop_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
hl_range hl_parse_here(hl_loop_parser *p);

/* Lexing (loop_lex.c). Each skips blanks and comments first. */
char hl_peek_char(hl_loop_parser *p);
/* Whether the text goes on with this punctuation; if so it is read. */
bool hl_accept(hl_loop_parser *p, const char *punctuation);
bool hl_expect(hl_loop_parser *p, const char *punctuation);
/* As accept, for brackets that hold the line open. */
bool hl_open(hl_loop_parser *p, const char *bracket);
bool hl_close(hl_loop_parser *p, const char *bracket);
/* The word that comes next, without reading it; empty if none does. */
hl_word hl_peek_word(hl_loop_parser *p);
hl_word hl_read_word(hl_loop_parser *p);
bool hl_word_is(hl_word word, const char *text);
const char *hl_word_copy(hl_loop_parser *p, hl_word word);
bool hl_accept_word(hl_loop_parser *p, const char *text);
bool hl_expect_word(hl_loop_parser *p, const char *text);
/* The name of a program, kernel, parameter or buffer; NULL after an error. */
const char *hl_read_name(hl_loop_parser *p);
/* A whole number without sign, at most INT64_MAX. */
bool hl_read_int(hl_loop_parser *p, int64_t *value);
/* A constant: with a type in the text, or of the given one (then it has no type in the text). */
bool hl_read_typed_const(hl_loop_parser *p, hl_element_type *type, uint64_t *bits);
bool hl_read_const_of(hl_loop_parser *p, hl_element_type type, uint64_t *bits);
bool hl_read_type(hl_loop_parser *p, hl_element_type *type);
/* The line must be over. */
bool hl_expect_line_end(hl_loop_parser *p);
/* The column of the next line that holds anything, -1 at the end of the text. The parser then stands at its first character. */
int hl_next_line(hl_loop_parser *p);
bool hl_enter(hl_loop_parser *p); /* one deeper in the recursion; false past the limit */
void hl_leave(hl_loop_parser *p);

/* Expressions (loop_parse_expr.c); NULL after an error. */
hl_node *hl_parse_expr(hl_loop_parser *p);
/* %x[...]: the parser stands at the %. */
hl_access *hl_parse_access(hl_loop_parser *p);
/* What the word is bound to, or NULL. */
hl_node *hl_lookup(hl_loop_parser *p, hl_word name);

/* Kernels (loop_parse.c): the parser stands behind the word `kernel`. */
hl_kernel *hl_parse_kernel(hl_loop_parser *p);

typedef struct hl_declaration {
  const char *name;
  hl_element_type type;
  int rank;
  const int64_t *dimensions;
  int64_t count;
} hl_declaration;

/* %x: f32[8,16] */
bool hl_parse_declaration(hl_loop_parser *p, hl_declaration *declaration);

#endif
