/* sarif - diagnostics as a log of SARIF 2.1.0. */
#include "sarif.h"

#include <inttypes.h>

static void add_region(const hl_diagnostic *d, hl_str *out)
{
  if (d->range.begin == HL_NO_OFFSET)
    return;
  hl_position from = hl_source_position(d->source, d->range.begin);
  hl_position to = hl_source_position(d->source, d->range.end);
  hl_str_printf(out,
                ", \"region\": {\"startLine\": %" PRIu32 ", \"startColumn\": %" PRIu32
                ", \"endLine\": %" PRIu32 ", \"endColumn\": %" PRIu32 "}",
                from.line, from.column, to.line, to.column);
}

static void add_result(const hl_diagnostic *d, hl_str *out)
{
  hl_str_printf(out, "%s      {\"ruleId\": \"%s\", \"level\": \"%s\", \"message\": {\"text\": ",
                out->length ? ",\n" : "", hl_rule_label(d->rule),
                d->severity == HL_SEVERITY_ERROR ? "error" : "warning");
  hl_json_string(out, d->help ? hl_arena_printf(out->arena, "%s; %s", d->text, d->help) : d->text);
  hl_str_add(out, "}");
  if (d->source) {
    hl_str_add(out, ", \"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ");
    hl_json_string(out, d->source->name);
    hl_str_add(out, "}");
    add_region(d, out);
    hl_str_add(out, "}}]");
  }
  hl_str_add(out, "}");
}

void hl_sarif_add(const hl_diag *diag, hl_str *out)
{
  for (const hl_diagnostic *d = diag->first; d; d = d->next)
    add_result(d, out);
}

void hl_sarif_log(const hl_str *results, hl_str *out)
{
  hl_str_add(out, "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
                  "  \"version\": \"2.1.0\",\n  \"runs\": [{\n    \"tool\": {\"driver\": {\"name\": "
                  "\"hlo-lite\", \"version\": \"" HL_VERSION "\"}},\n    \"columnKind\": "
                  "\"unicodeCodePoints\",\n    \"results\": [");
  hl_str_printf(out, "%s%s%s]\n  }]\n}\n", results->length ? "\n" : "", hl_str_text(results),
                results->length ? "\n    " : "");
}
