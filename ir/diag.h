/* diag - diagnostics: collected by the libraries, rendered by the command. */
#ifndef HL_DIAG_H
#define HL_DIAG_H

#include "source.h"
#include "str.h"

typedef enum hl_severity { HL_SEVERITY_ERROR, HL_SEVERITY_WARNING } hl_severity;

/* One row per rule.def line; the label stands in brackets at the end of the message. */
typedef enum hl_rule {
#define HL_RULE(id, label, sentence) HL_RULE_##id,
#include "rules.def"
  HL_RULE_COUNT
} hl_rule;

const char *hl_rule_label(hl_rule rule);
const char *hl_rule_sentence(hl_rule rule);

typedef struct hl_diagnostic {
  hl_severity severity;
  hl_rule rule;
  const hl_source *source; /* NULL: no place, e.g. an unreadable file */
  hl_range range;
  const char *text;
  const char *help; /* NULL or what to write instead */
  struct hl_diagnostic *next;
} hl_diagnostic;

#define HL_MAX_ERRORS 20

typedef struct hl_diag {
  hl_arena *arena;
  const hl_source *source; /* of the ranges that are reported */
  hl_diagnostic *first, *last;
  int error_count, warning_count;
  int suppressed; /* errors beyond HL_MAX_ERRORS, counted only */
} hl_diag;

/* Reports an error at a range of diag->source; always returns false, so `return hl_error(...)`
 * reads well. */
bool hl_error(hl_diag *diag, hl_range range, hl_rule rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void hl_warning(hl_diag *diag, hl_range range, hl_rule rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds the help line to the diagnostic reported last. */
void hl_help(hl_diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef struct hl_render_options {
  bool color;
  bool json;
} hl_render_options;

/* Renders all diagnostics in text order (stable), with a closing count when some were suppressed:
 *   file:line:col: error: text [label]
 *       7 | source line
 *         |    ^~~~
 *   help: ...
 * or one JSON array with json. */
void hl_diag_render(const hl_diag *diag, hl_render_options options, hl_str *out);

/* Text as a JSON string, quotes included; bytes that are no UTF-8 become U+FFFD. */
void hl_json_string(hl_str *out, const char *text);

#endif
