/* hlo.y - the syntax of HLO text (docs/language.md section 2). Every action calls one builder. */
%require "3.8"
%define api.pure full
%define api.prefix {hl_yy}
%define api.location.type {hl_range}
%define api.token.prefix {T_}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param {void *scanner} {hl_parser *p}

%code requires {
#include "parser.h"
}

%code {
/* Nesting is limited by the scanner and all lists are left-recursive, so the stacks never grow: no memory but the arena's. */
#define YYINITDEPTH 4000
#define YYMAXDEPTH 4000

#define YYLLOC_DEFAULT(current, rhs, n)              \
  do {                                               \
    (current).begin = (n) ? YYRHSLOC(rhs, 1).begin : YYRHSLOC(rhs, 0).end; \
    (current).end = YYRHSLOC(rhs, n).end;            \
  } while (0)

int hl_yylex(HL_YYSTYPE *value, hl_range *location, void *scanner, hl_parser *p);
static void hl_yyerror(const hl_range *location, void *scanner, hl_parser *p, const char *message);
}

%union {
  hl_value *value;
}

/* The quoted names are what syntax.c puts into words. */
%token WORD "name" PERCENT_NAME "%name" TYPE "type" INT "integer" DECIMAL "decimal" SPECIAL "inf"
%token BOOL "bool" STRING "string" DXD "sizes" PAD "padding" DIM_LABELS "labels" RAW "raw"
%token ATTR "attribute" COLON_NAME "name:" ARROW "->" LESS_EQUAL "<="
%token HLO_MODULE "HloModule" ENTRY "ENTRY" ROOT "ROOT" TABLE "table" RESERVED "reserved"
%token ENTRY_LAYOUT "entry_computation_layout" ALIASES "input_output_alias" DONORS "buffer_donor"
%token LAYOUT "layout" LAYOUT_SUFFIX "suffix" TRANSPOSED "T" LITERAL "literal"
%token SYNC "sync" COMMENT "comment" BAD_NUMBER "bad" STRAY "stray"
%token END 0 "end" LINE "line"

%type <value> signature parameters parameter_list parameter head inline_head rhs call payload operands operand attributes attribute
%type <value> value scalar items item fields field int int_list ints shape array shapes shape_list dims dim_list dim layout
%type <value> aliases alias_list alias donors donor_list donor

%%

text:
  header tables computations                        { (void)yynerrs; /* bison counts errors, nobody asks for the number */ }
| LINE instruction
;

header:
  %empty
| header_name module_attributes
| HLO_MODULE error SYNC                         { yyerrok; }
;

header_name:
  HLO_MODULE name                                 { hl_build_module_name(p, @2); }
;

name: WORD | PERCENT_NAME;

module_attributes: %empty | module_attributes ',' module_attribute;

module_attribute:
  ATTR value                                      { hl_build_module_attr(p, @1, $2); hl_values_reset(p); }
| ENTRY_LAYOUT '{' '(' shapes ')' ARROW shape '}' { hl_build_entry_layout(p, @1, $4, $7); hl_values_reset(p); }
| ALIASES '{' aliases '}'                         { hl_build_aliases(p, @1, $3); hl_values_reset(p); }
| DONORS '{' donors '}'                           { hl_build_kept_attr(p, @1, @$); hl_values_reset(p); }
;

aliases:
  %empty                                            { $$ = hl_value_list(p, @$, NULL); }
| alias_list
;

alias_list:
  alias                                             { $$ = hl_value_list(p, @$, $1); }
| alias_list ',' alias                              { $$ = hl_value_add($1, $3); }
;

alias:
  ints ':' '(' int ',' ints ')'                     { $$ = hl_value_add(hl_value_add(hl_value_list(p, @$, $1), $4), $6); }
| ints ':' '(' int ',' ints ',' WORD ')'          { $$ = hl_value_add(hl_value_add(hl_value_list(p, @$, $1), $4), $6); $$->name_range = @8; }
;

donors:
  %empty                                            { $$ = NULL; }
| donor_list
;

donor_list: donor | donor_list ',' donor;

donor: '(' int ',' ints ')'                         { $$ = $2; };

tables: %empty | table_list                         { hl_build_tables(p, @1); };

table_list: table | table_list table;

table: TABLE | table INT STRING | table INT '{' table_fields '}';

table_fields: %empty | table_fields table_field;

table_field: ATTR INT | ',';

computations:
  computation
| computations computation
| error SYNC                                      { yyerrok; }
| computations error SYNC                         { yyerrok; }
;

computation: body threads;

body:
  computation_head '{' instructions '}'             { hl_close_computation(p); hl_values_reset(p); }
;

computation_head:
  name signature                                    { hl_open_computation(p, HL_NO_RANGE, @1, $2); hl_values_reset(p); }
| ENTRY name signature                            { hl_open_computation(p, @1, @2, $3); hl_values_reset(p); }
;

signature:
  %empty                                            { $$ = NULL; }
| '(' parameters ')' ARROW shape                  { $$ = $2; $$->shape = $5->shape; $$->shape_range = @5; }
;

parameters:
  %empty                                            { $$ = hl_value_list(p, @$, NULL); }
| parameter_list
;

parameter_list:
  parameter                                         { $$ = hl_value_list(p, @$, $1); }
| parameter_list ',' parameter                      { $$ = hl_value_add($1, $3); }
;

parameter: COLON_NAME shape                       { $$ = hl_value_attr(p, @1, $2); };

threads: %empty | threads ',' ATTR STRING       { hl_build_thread(p, @3, @4); };

instructions: instruction | instructions instruction;

instruction:
  head rhs                                          { hl_build_instruction(p, $1, $2); }
| head error SYNC                                 { hl_build_faulty(p, $1->range); yyerrok; }
| name error SYNC                                 { hl_build_faulty(p, @1); yyerrok; }
| ROOT name error SYNC                          { hl_build_faulty(p, @2); yyerrok; }
| error SYNC                                      { hl_build_faulty(p, HL_NO_RANGE); yyerrok; }
;

head:
  name '='                                          { $$ = hl_build_head(p, HL_NO_RANGE, @1); }
| ROOT name '='                                   { $$ = hl_build_head(p, @1, @2); }
;

rhs: call attributes                                { $$ = $1; $$->next = $2; };

call:
  WORD '(' payload ')'                            { $$ = hl_build_call(p, @$, NULL, @1, $3); }
| shape WORD '(' payload ')'                      { $$ = hl_build_call(p, @$, $1, @2, $4); }
;

payload:
  %empty                                            { $$ = hl_value_list(p, @$, NULL); }
| operands
| int
| LITERAL                                         { $$ = hl_value_literal(p, @1); }
;

operands:
  operand                                           { $$ = hl_value_list(p, @$, $1); }
| operands ',' operand                              { $$ = hl_value_add($1, $3); }
;

operand:
  name                                              { $$ = hl_build_operand(p, @$, NULL, @1); }
| shape name                                        { $$ = hl_build_operand(p, @$, $1, @2); }
| operand '#' int                                   { $$ = hl_build_element(p, $1, $3); }
| call                                              { $$ = hl_build_nested(p, $1); }
;

attributes:
  %empty                                            { $$ = hl_value_list(p, @$, NULL); }
| attributes ',' attribute                          { $$ = hl_value_add($1, $3); }
;

attribute: ATTR value                             { $$ = hl_value_attr(p, @1, $2); };

value:
  scalar
| shape
| RAW                                             { $$ = hl_value_new(p, HL_V_RAW, @1); }
| '[' int_list ']' LESS_EQUAL '[' int_list ']'    { $$ = hl_value_iota(p, @$, $2, $6, NULL); }
| '[' int_list ']' LESS_EQUAL '[' int_list ']' TRANSPOSED '(' int_list ')' { $$ = hl_value_iota(p, @$, $2, $6, $10); }
| '{' '}'                                           { $$ = hl_value_list(p, @$, NULL); }
| '{' items '}'                                     { $$ = $2; $$->range = @$; }
| '{' fields '}'                                    { $$ = $2; $$->kind = HL_V_FIELDS; $$->range = @$; }
| '{' inline_body '}'                               { $$ = hl_value_inline(p, @$); }
;

scalar:
  int
| name                                              { $$ = hl_value_new(p, HL_V_NAME, @1); }
| DECIMAL                                         { $$ = hl_value_new(p, HL_V_DECIMAL, @1); }
| SPECIAL                                         { $$ = hl_value_new(p, HL_V_SPECIAL, @1); }
| BOOL                                            { $$ = hl_value_new(p, HL_V_BOOL, @1); }
| STRING                                          { $$ = hl_value_new(p, HL_V_STRING, @1); }
| DXD                                             { $$ = hl_value_new(p, HL_V_DXD, @1); }
| PAD                                             { $$ = hl_value_new(p, HL_V_PAD, @1); }
| DIM_LABELS                                      { $$ = hl_value_new(p, HL_V_DIM_LABELS, @1); }
;

items:
  item                                              { $$ = hl_value_list(p, @$, $1); }
| items ',' item                                    { $$ = hl_value_add($1, $3); }
;

item:
  value
| '[' int ':' int ']'                               { $$ = hl_value_slice(p, @$, $2, $4, NULL); }
| '[' int ':' int ':' int ']'                       { $$ = hl_value_slice(p, @$, $2, $4, $6); }
;

fields:
  field                                             { $$ = hl_value_list(p, @$, $1); }
| fields field                                      { $$ = hl_value_add($1, $2); }
;

field: ATTR scalar                                { $$ = hl_value_attr(p, @1, $2); };

/* The body opens with the head of its first instruction: only there does it differ from a list of names. */
inline_body:
  inline_head rhs                                   { hl_build_instruction(p, $1, $2); }
| inline_head error SYNC                          { hl_build_faulty(p, $1->range); yyerrok; }
| inline_body instruction
;

inline_head:
  name '='                                          { $$ = hl_build_inline_head(p, HL_NO_RANGE, @1); }
| ROOT name '='                                   { $$ = hl_build_inline_head(p, @1, @2); }
;

int: INT                                          { $$ = hl_value_int(p, @1); };

int_list:
  int                                               { $$ = hl_value_list(p, @$, $1); }
| int_list ',' int                                  { $$ = hl_value_add($1, $3); }
;

ints:
  '{' '}'                                           { $$ = hl_value_list(p, @$, NULL); }
| '{' int_list '}'                                  { $$ = $2; $$->range = @$; }
;

shape:
  array
| '(' shapes ')'                                    { $$ = hl_build_tuple(p, @$, $2); }
;

array:
  TYPE '[' dims ']'                               { $$ = hl_build_array(p, @$, @1, $3, NULL); }
| TYPE '[' dims ']' layout                        { $$ = hl_build_array(p, @$, @1, $3, $5); }
;

shapes:
  %empty                                            { $$ = hl_value_list(p, @$, NULL); }
| shape_list
;

shape_list:
  shape                                             { $$ = hl_value_list(p, @$, $1); }
| shape_list ',' shape                              { $$ = hl_value_add($1, $3); }
;

dims:
  %empty                                            { $$ = hl_value_list(p, @$, NULL); }
| dim_list
;

dim_list:
  dim                                               { $$ = hl_value_list(p, @$, $1); }
| dim_list ',' dim                                  { $$ = hl_value_add($1, $3); }
;

dim:
  int
| LESS_EQUAL int                                  { $$ = $2; $$->is_bound = true; }
| '?'                                               { $$ = hl_value_new(p, HL_V_UNBOUNDED, @1); }
;

layout:
  LAYOUT int_list '}'                             { $$ = hl_value_layout($2, @$, HL_NO_RANGE); }
| LAYOUT int_list LAYOUT_SUFFIX '}'             { $$ = hl_value_layout($2, @$, @3); }
| LAYOUT LAYOUT_SUFFIX '}'                      { $$ = hl_value_layout(hl_value_list(p, @$, NULL), @$, @2); }
;

%%

static void hl_yyerror(const hl_range *location, void *scanner, hl_parser *p, const char *message)
{
  (void)scanner;
  (void)message; /* "memory exhausted", the only one with custom errors */
  hl_stop(p, *location, "the text is nested too deeply");
}

static int yyreport_syntax_error(const yypcontext_t *context, void *scanner, hl_parser *p)
{
  enum { MANY = YYNTOKENS };
  yysymbol_kind_t kinds[MANY];
  const char *expected[MANY];
  (void)scanner;
  int count = yypcontext_expected_tokens(context, kinds, MANY);
  for (int i = 0; i < count; i++)
    expected[i] = yysymbol_name(kinds[i]);
  yysymbol_kind_t found = yypcontext_token(context);
  const char *name = found == YYSYMBOL_YYEMPTY ? "end" : yysymbol_name(found);
  hl_report_syntax(p, *yypcontext_location(context), name, count, expected);
  return 0;
}
