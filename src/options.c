/* options - the command line: one table of all options, which commands take them, and how their
 * values are read.
 *
 * As in clang: -o FILE or -oFILE, --name VALUE or --name=VALUE, options and inputs in any order,
 * `--` ends the options, the last of two equal options counts.
 */
#include "command.h"

#include "ir/lint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ON_WORKERS = 16, MAX_WORKERS = 256, DEFAULT_RUNS = 2000 };

enum {
  COMPILE = HL_COMMAND_COMPILE,
  RUN = HL_COMMAND_RUN,
  CHECK = HL_COMMAND_CHECK,
  FMT = HL_COMMAND_FMT,
  OPT = HL_COMMAND_OPT,
  OPS = HL_COMMAND_OPS,
  SHAPES = HL_COMMAND_SHAPES,
  EXPLAIN = HL_COMMAND_EXPLAIN,
  BENCH = HL_COMMAND_BENCH,
  GRAPH = HL_COMMAND_GRAPH,
  EXTRACT = HL_COMMAND_EXTRACT,
  REDUCE = HL_COMMAND_REDUCE,
  CALL = RUN | BENCH,
  CODE = COMPILE | CALL | EXPLAIN | GRAPH,
  TEXT = CHECK | EXTRACT | REDUCE | FMT | OPT | CODE
};

/* Sets the option; false: the value is not one that it takes. */
typedef bool option_setter(hl_options *o, const char *value);

typedef struct option {
  const char *name;  /* "-o", "--name" */
  const char *value; /* what its value is called, NULL if it takes none */
  int commands;
  option_setter *set;
  const char *help;
} option;

static const char *const emit_names[HL_EMIT_COUNT + 1] = {
    [HL_EMIT_OBJ] = "obj",      [HL_EMIT_SHARED] = "shared",   [HL_EMIT_EXE] = "exe",
    [HL_EMIT_ASM] = "asm",      [HL_EMIT_LLVM_IR] = "llvm-ir", [HL_EMIT_LLVM_BC] = "llvm-bc",
    [HL_EMIT_LOOPS] = "loops",  [HL_EMIT_HLO] = "hlo",         [HL_EMIT_DOT] = "dot",
    [HL_EMIT_HEADER] = "header"};

const char *hl_emit_name(hl_emit emit)
{
  return emit_names[emit];
}

static const char *const stage_names[] = {"hlo", "loops", "dot", NULL};
static const char *const level_words[] = {"0", "1", "2", "3", NULL};
static const char *const thread_words[] = {"off", "on", NULL};
static const char *const contract_words[] = {"off", "fast", NULL};
static const char *const diagnostics_words[] = {"text", "json", "sarif", NULL};
static const char *const text_words[] = {"text", "json", NULL};
static const char *const color_words[] = {"auto", "never", "always", NULL};
static const char *const dialect_words[] = {"hlo-lite", "xla", NULL};
static const char *const format_words[] = {"dot", "svg", "html", NULL};
static const char *const fill_words[] = {"zeros", "ones", "iota", "random", NULL};

/* Sets *index to the place of the word; false: it is none of them. */
static bool find_word(const char *const *words, const char *word, int *index)
{
  for (*index = 0; words[*index]; ++*index)
    if (!strcmp(words[*index], word))
      return true;
  return false;
}

static bool read_int(const char *text, int64_t low, int64_t high, int64_t *value)
{
  char *end;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  *value = number;
  return *text && !*end && !errno && number >= low && number <= high;
}

static bool set_output(hl_options *o, const char *value)
{
  o->output = value;
  return *value;
}

static bool set_emit(hl_options *o, const char *value)
{
  int index;
  bool ok = find_word(emit_names, value, &index);
  o->emit = (hl_emit)index;
  return ok;
}

/* opt has no code to emit. */
static bool set_opt_emit(hl_options *o, const char *value)
{
  int index;
  return find_word(stage_names, value, &index) && set_emit(o, value);
}

static bool set_target(hl_options *o, const char *value)
{
  o->target = value;
  return *value;
}

static bool set_cpu(hl_options *o, const char *value)
{
  o->cpu = value;
  return *value;
}

static bool set_features(hl_options *o, const char *value)
{
  o->features = value;
  return true;
}

static bool set_opt_level(hl_options *o, const char *value)
{
  return find_word(level_words, value, &o->opt_level);
}

static bool set_threads(hl_options *o, const char *value)
{
  int64_t number = !strcmp(value, "off") ? 1 : ON_WORKERS;
  bool is_word = !strcmp(value, "off") || !strcmp(value, "on");
  bool ok = is_word || read_int(value, 1, MAX_WORKERS, &number);
  o->max_workers = (int)number;
  return ok;
}

/* Bytes, or times 2^10, 2^20 or 2^30 with K, M or G behind. */
static bool set_max_memory(hl_options *o, const char *value)
{
  static const char units[] = "KMG";
  char *end;
  errno = 0;
  long long number = strtoll(value, &end, 10);
  const char *unit = *end ? strchr(units, *end) : NULL;
  int shift = unit ? 10 * (int)(unit - units + 1) : 0;
  bool ok = end != value && !errno && number > 0 && number <= INT64_MAX >> shift && (!*end || (unit && !end[1]));
  o->max_memory = ok ? (int64_t)number << shift : 0;
  return ok;
}

static bool is_identifier(const char *text)
{
  if (!*text || (*text >= '0' && *text <= '9'))
    return false;
  for (; *text; text++)
    if (!(*text == '_' || (*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'z') ||
          (*text >= 'A' && *text <= 'Z')))
      return false;
  return true;
}

static bool set_name(hl_options *o, const char *value)
{
  o->name = value;
  return is_identifier(value);
}

static bool set_fast_math(hl_options *o, const char *value)
{
  (void)value;
  return o->fast_math = true;
}

static bool set_fp_contract(hl_options *o, const char *value)
{
  int index;
  bool ok = find_word(contract_words, value, &index);
  o->fp_contract = index == 1;
  return ok;
}

static bool set_ftz(hl_options *o, const char *value)
{
  (void)value;
  return o->ftz = true;
}

static bool set_constants(hl_options *o, const char *value)
{
  o->constants = value;
  return *value;
}

static bool set_diagnostics(hl_options *o, const char *value)
{
  int index;
  bool ok = find_word(text_words, value, &index);
  o->json = index == 1;
  return ok;
}

static bool set_log_form(hl_options *o, const char *value)
{
  o->sarif = !strcmp(value, "sarif");
  return o->sarif || set_diagnostics(o, value);
}

/* The bits of a warning's name, or of all; 0: there is none. */
static unsigned warning_bits(const char *name)
{
  if (!strcmp(name, "all"))
    return (1u << HL_LINT_COUNT) - 1;
  for (hl_lint_id i = 0; i < HL_LINT_COUNT; i++)
    if (!strcmp(hl_rule_label(hl_lint_rule(i)), name))
      return 1u << i;
  return 0;
}

/* As in clang: NAME, no-NAME, error, no-error, error=NAME, no-error=NAME, from left to right. */
static bool set_warning(hl_options *o, const char *value)
{
  bool is_on = strncmp(value, "no-", 3) != 0;
  const char *name = is_on ? value : value + 3;
  bool is_error = !strncmp(name, "error", 5) && (!name[5] || name[5] == '=');
  unsigned bits = is_error && name[5] ? warning_bits(name + 6) : is_error ? 0 : warning_bits(name);
  if (is_error && !name[5]) {
    o->all_errors = is_on;
    return true;
  }
  if (is_error)
    o->warning_errors = is_on ? o->warning_errors | bits : o->warning_errors & ~bits;
  if (!is_error || is_on)
    o->warnings = is_on ? o->warnings | bits : o->warnings & ~bits;
  if (!is_error && !is_on)
    o->warning_errors &= ~bits;
  return bits;
}

static bool set_color(hl_options *o, const char *value)
{
  int index;
  bool ok = find_word(color_words, value, &index);
  o->color = index - 1;
  return ok;
}

static bool set_dialect(hl_options *o, const char *value)
{
  int index;
  bool ok = find_word(dialect_words, value, &index);
  o->dialect_xla = index == 1;
  return ok;
}

static bool set_passes(hl_options *o, const char *value)
{
  o->passes = value;
  return *value;
}

static bool set_disabled(hl_options *o, const char *value)
{
  o->disabled = value;
  return *value;
}

static bool set_verify_each(hl_options *o, const char *value)
{
  (void)value;
  return o->verify_each = true;
}

static bool set_dump_after(hl_options *o, const char *value)
{
  o->dump_after = value;
  return *value;
}

static bool set_time_passes(hl_options *o, const char *value)
{
  (void)value;
  return o->time_passes = true;
}

static bool set_in_place(hl_options *o, const char *value)
{
  (void)value;
  return o->in_place = true;
}

static bool set_explicit(hl_options *o, const char *value)
{
  (void)value;
  return o->is_explicit = true;
}

static bool set_markdown(hl_options *o, const char *value)
{
  (void)value;
  return o->is_markdown = true;
}

static bool set_format(hl_options *o, const char *value)
{
  int index;
  bool ok = find_word(format_words, value, &index);
  o->format = HL_FORMAT_DOT + (hl_format)index;
  return ok;
}

static bool set_kernel(hl_options *o, const char *value)
{
  return read_int(value, 1, INT32_MAX, &o->kernel);
}

static bool set_json(hl_options *o, const char *value)
{
  (void)value;
  return o->is_json = true;
}

static bool read_rate(const char *text, double *value)
{
  char *end;
  *value = strtod(text, &end);
  return *text && !*end && *value > 0 && *value < 1e12;
}

static bool set_bandwidth(hl_options *o, const char *value)
{
  return read_rate(value, &o->bandwidth);
}

static bool set_peak(hl_options *o, const char *value)
{
  return read_rate(value, &o->peak);
}

static bool set_per_kernel(hl_options *o, const char *value)
{
  (void)value;
  return o->per_kernel = true;
}

static bool set_stats(hl_options *o, const char *value)
{
  (void)value;
  return o->stats = true;
}

static bool set_line_tables(hl_options *o, const char *value)
{
  (void)value;
  return o->line_tables = true;
}

static bool set_random(hl_options *o, const char *value)
{
  int64_t number;
  bool ok = read_int(value, INT64_MIN, INT64_MAX, &number);
  o->is_random = true;
  o->seed = (uint64_t)number;
  return ok;
}

static bool set_input(hl_options *o, const char *value)
{
  size_t length = strcspn(value, "=");
  o->given[o->given_count++] = value;
  return length > 0 && value[length] == '=' && value[length + 1];
}

static bool set_root(hl_options *o, const char *value)
{
  o->root = value;
  return *value;
}

static bool set_script(hl_options *o, const char *value)
{
  o->script = value;
  return *value;
}

static bool set_max_runs(hl_options *o, const char *value)
{
  return read_int(value, 1, 1000000, &o->max_runs);
}

static bool set_fill(hl_options *o, const char *value)
{
  int index;
  bool ok = find_word(fill_words, value, &index);
  o->fill = HL_FILL_ZEROS + (hl_fill)index;
  return ok;
}

static bool set_expected(hl_options *o, const char *value)
{
  o->expected = value;
  return *value;
}

static bool read_tolerance(const char *text, double *value)
{
  char *end;
  *value = strtod(text, &end);
  return *text && !*end && *value >= 0;
}

static bool set_ulp(hl_options *o, const char *value)
{
  return read_tolerance(value, &o->ulp);
}

static bool set_atol(hl_options *o, const char *value)
{
  return read_tolerance(value, &o->atol);
}

static bool set_rtol(hl_options *o, const char *value)
{
  return read_tolerance(value, &o->rtol);
}

static bool set_guard_pages(hl_options *o, const char *value)
{
  if (!strcmp(value, "after"))
    o->guard_pages = HL_GUARD_AFTER;
  else if (!strcmp(value, "before"))
    o->guard_pages = HL_GUARD_BEFORE;
  else
    return false;
  return true;
}

static bool set_profile(hl_options *o, const char *value)
{
  (void)value;
  return o->profile = true;
}

static bool set_check(hl_options *o, const char *value)
{
  (void)value;
  return o->check = true;
}

static bool set_repeat(hl_options *o, const char *value)
{
  return read_int(value, 1, INT32_MAX, &o->repeat);
}

static bool set_call_libraries(hl_options *o, const char *value)
{
  o->call_libraries = value;
  return *value;
}

static bool set_linker(hl_options *o, const char *value)
{
  o->linker = value;
  return *value;
}

static bool set_cc(hl_options *o, const char *value)
{
  o->cc = value;
  return *value;
}

static bool set_help(hl_options *o, const char *value)
{
  (void)value;
  return o->wants_help = true;
}

static const option options_table[] = {
    {"-o", "OUT", RUN, set_output,
     "where the results go: a folder (DIR/), an .npz, for one result an .npy; -: print them (default)"},
    {"-o", "OUT", COMPILE, set_output,
     "where the code goes, and beside it the header; -: standard output, without a header"},
    {"-o", "OUT", CHECK, set_output, "where --diagnostics=sarif goes; -: standard output (default)"},
    {"-o", "OUT", (CODE & ~COMPILE & ~RUN) | FMT | OPT | SHAPES | EXTRACT | REDUCE | OPS, set_output,
     "where the text goes; -: standard output (default)"},
    {"--emit", "KIND", COMPILE, set_emit,
     "obj (with its header; the default), shared, exe, asm, llvm-ir, llvm-bc, loops, hlo, dot or header"},
    {"--emit", "KIND", OPT, set_opt_emit, "hlo (the default), loops or dot"},
    {"--name", "NAME", COMPILE, set_name, "the C name of the function (default: the file's stem)"},
    {"-O", "0..3", CODE, set_opt_level,
     "optimisation: 0 scalar, 1 fusion, 2 vectors and threads (default), 3 more unrolling; no bit "
     "changes"},
    {"-g", NULL, COMPILE, set_line_tables,
     "line tables: gdb, perf and addr2line show the lines of the HLO"},
    {"-g", NULL, RUN, set_line_tables, "line tables: gdb stops at lines of the HLO, and shows them"},
    {"--target", "TRIPLE", CODE, set_target, "the machine to compile for (default: this one)"},
    {"--cpu", "CPU", CODE, set_cpu,
     "its processor; native is this one (default: compile a portable baseline, run native)"},
    {"--features", "LIST", CODE, set_features, "processor features in LLVM's form: +avx2,-fma"},
    {"--threads", "off|on|N", CODE, set_threads,
     "threads that a call may use (on: up to 16; the default where there is a system)"},
    {"--max-memory", "BYTES", CODE & ~GRAPH, set_max_memory,
     "most bytes of workspace: modules that take more are refused; 64K, 512M and 4G are powers of two"},
    {"--fast-math", NULL, CODE, set_fast_math,
     "reassociate, ignore NaN and infinity: bits may change"},
    {"--fp-contract", "fast|off", CODE, set_fp_contract, "fuse multiply and add: bits may change"},
    {"--ftz", NULL, CODE, set_ftz, "flush denormals to zero: bits may change"},
    {"--constants", "F.npz", TEXT & ~FMT, set_constants,
     "values of constants that are printed as {...}, by instruction name"},
    {"--passes", "A,B", OPT, set_passes, "the passes to run, in order (default: those of -O2)"},
    {"--disable-passes", "A,B", OPT | CODE, set_disabled,
     "leave these out; no bit of a result may change"},
    {"--verify-each", NULL, OPT | CODE, set_verify_each, "verify the module after each pass"},
    {"--dump-after", "PASS", OPT | (CODE & ~BENCH), set_dump_after,
     "print the module after this pass to standard error; all: after each"},
    {"--time-passes", NULL, OPT | (CODE & ~BENCH), set_time_passes,
     "say on standard error what took how long"},
    {"--stats", NULL, CODE & ~BENCH, set_stats,
     "say on standard error how long each stage took, and how much memory"},
    {"--linker", "PATH", COMPILE, set_linker, "the ld that links shared libraries (default: ld)"},
    {"--cc", "PATH", COMPILE, set_cc, "the C compiler that links executables (default: cc)"},
    {"-i", NULL, FMT, set_in_place, "write each file in place"},
    {"--explicit", NULL, FMT, set_explicit, "write every implicit broadcast out"},
    {"--markdown", NULL, OPS, set_markdown, "the tables of ops and rules as a page: docs/ops.md"},
    {"--format", "KIND", GRAPH, set_format,
     "html, svg or dot (default: as the name of the output ends, else dot)"},
    {"--kernel", "N", EXPLAIN, set_kernel, "only the kernel of step N"},
    {"--json", NULL, EXPLAIN | BENCH, set_json, "one JSON object in place of the page"},
    {"--bandwidth", "GB/s", EXPLAIN, set_bandwidth,
     "what memory yields (default: measured, where the code is for this machine)"},
    {"--peak", "GFLOP/s", EXPLAIN, set_peak,
     "what its processors compute in f32 (default: from their clock, vectors and number)"},
    {"--random", "SEED", CALL, set_random, "make the arguments from this seed"},
    {"--per-kernel", NULL, BENCH, set_per_kernel, "time, bytes and operations of each kernel"},
    {"--root", "NAME", EXTRACT, set_root, "the instruction that becomes the root"},
    {"--script", "CMD", REDUCE, set_script,
     "the command that says which modules count: the shell runs it with the path of a file, and status 0 is yes"},
    {"--max-runs", "N", REDUCE, set_max_runs, "run it at most so often (default: 2000)"},
    {"--input", "NAME=VALUE", RUN, set_input,
     "an argument by its parameter's name or number: a literal of HLO, or an .npy"},
    {"--fill", "WITH", RUN, set_fill,
     "what arguments get that no --input gives: zeros, ones, iota or random (the values of --random 1)"},
    {"--expected", "FILE", RUN, set_expected,
     "compare the results with an .npz, a folder of 0.npy, 1.npy, ..., or .npy files with commas between"},
    {"--ulp", "N", RUN, set_ulp, "numbers of the type that may lie between result and expectation"},
    {"--atol", "X", RUN, set_atol, "how far they may be apart"},
    {"--rtol", "X", RUN, set_rtol, "and by which share of the expectation"},
    {"--profile", NULL, RUN, set_profile,
     "say on standard error what each kernel took and moved, and which instructions it computes"},
    {"--check", NULL, RUN, set_check,
     "compare the results with the reference evaluator, bit by bit"},
    {"--guard-pages", "WHERE", RUN, set_guard_pages,
     "put every array right before a page that cannot be touched (after), or right behind one (before), no better aligned than the ABI asks"},
    {"--repeat", "N", CALL, set_repeat, "call so often and print the times; bench: take so many samples"},
    {"--custom-calls", "A.so,B.so", CALL, set_call_libraries,
     "shared libraries with the functions of custom calls: hlo_custom_TARGET"},
    {"--dialect", "xla", TEXT, set_dialect, "refuse what XLA does not read: implicit broadcasts"},
    {"-W", "NAME", CHECK, set_warning,
     "warn of unused-parameter, unused-computation, dead-parameter, reduce-init, outer-product, f64-constant "
     "or all; no-NAME does not, error and error=NAME make errors of warnings"},
    {"--diagnostics", "FORM", CHECK, set_log_form,
     "messages as text, json, or sarif: on standard output or in the file of -o"},
    {"--diagnostics", "FORM", TEXT & ~CHECK, set_diagnostics, "messages as text or json"},
    {"--color", "WHEN", TEXT | OPS, set_color, "auto, always or never"},
    {"--help", NULL, TEXT | OPS | SHAPES | HL_COMMAND_LSP, set_help, "this text"},
};

enum { OPTION_COUNT = sizeof options_table / sizeof *options_table };

/* What its value may be, NULL at the end; NULL where there is no list. */
static const char *const *words_of(const option *known)
{
  static const struct {
    option_setter *set;
    const char *const *words;
  } lists[] = {{set_emit, emit_names},          {set_opt_emit, stage_names},
               {set_opt_level, level_words},    {set_threads, thread_words},
               {set_fp_contract, contract_words}, {set_diagnostics, text_words},
               {set_log_form, diagnostics_words}, {set_color, color_words},
               {set_dialect, dialect_words},    {set_format, format_words},
               {set_fill, fill_words}};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    if (lists[i].set == known->set)
      return lists[i].words;
  return NULL;
}

static bool is_long(const option *known)
{
  return known->name[1] == '-';
}

/* The option that `word` begins with; *value points at a value joined to it, else is NULL. */
static const option *find_option(const char *word, hl_command_id command, const char **value)
{
  for (int i = 0; i < OPTION_COUNT; i++) {
    const option *known = &options_table[i];
    size_t length = strlen(known->name);
    if (!(known->commands & (int)command) || strncmp(word, known->name, length))
      continue;
    const char *rest = word + length;
    *value = *rest == '=' && is_long(known) ? rest + 1 : *rest ? rest : NULL;
    if (!*rest || (is_long(known) && *rest == '=') || (!is_long(known) && known->value))
      return known;
  }
  return NULL;
}

/* The closest long option of those commands to what stands before a '='. */
static const option *closest_option(const char *word, int commands)
{
  const option *best = NULL;
  size_t limit = 2;
  char name[64];
  snprintf(name, sizeof name, "%s%.*s", word[1] == '-' ? "" : "-", (int)strcspn(word, "="), word);
  for (int i = 0; i < OPTION_COUNT; i++) {
    const option *known = &options_table[i];
    size_t distance = hl_edit_distance(name, known->name, limit);
    if (!(known->commands & commands) || !is_long(known) || distance > limit)
      continue;
    best = known;
    if (distance == 0)
      break;
    limit = distance - 1;
  }
  return best;
}

static const char *unknown_option(hl_arena *arena, const char *word, hl_command_id command)
{
  const option *closest = closest_option(word, (int)command);
  if (closest)
    return hl_arena_printf(arena, "unknown option '%s'; did you mean '%s'?", word, closest->name);
  closest = closest_option(word, ~0);
  for (int bit = 1; closest && bit <= closest->commands; bit *= 2)
    if (closest->commands & bit)
      return hl_arena_printf(arena, "unknown option '%s'; %s is an option of %s", word, closest->name,
                             hl_command_name((hl_command_id)bit));
  return hl_arena_printf(arena, "unknown option '%s'; `hlo-lite %s --help` lists them", word,
                         hl_command_name(command));
}

/* A word of which the value is the beginning, or one that differs in a letter or two. */
static const char *closest_word(const char *const *words, const char *value)
{
  size_t length = strlen(value);
  const char *best = NULL;
  size_t limit = length < 4 ? 1 : 2;
  for (int i = 0; words && words[i]; i++) {
    size_t distance = hl_edit_distance(value, words[i], limit);
    if (length > 2 && !strncmp(words[i], value, length))
      return words[i];
    if (distance > limit)
      continue;
    best = words[i];
    if (distance == 0)
      break;
    limit = distance - 1;
  }
  return best;
}

/* The closest name, behind the "no-" and "error=" that the value begins with. */
static const char *closest_warning(hl_arena *arena, const char *value)
{
  const char *names[HL_LINT_COUNT + 3] = {"all", "error"};
  const char *name = strncmp(value, "no-", 3) ? value : value + 3;
  name += strncmp(name, "error=", 6) ? 0 : 6;
  for (hl_lint_id i = 0; i < HL_LINT_COUNT; i++)
    names[i + 2] = hl_rule_label(hl_lint_rule(i));
  const char *closest = closest_word(names, name);
  return closest ? hl_arena_printf(arena, "%.*s%s", (int)(name - value), value, closest) : NULL;
}

static const char *bad_value(hl_arena *arena, const option *known, const char *value)
{
  const char *closest = known->set == set_warning ? closest_warning(arena, value) : closest_word(words_of(known), value);
  if (closest)
    return hl_arena_printf(arena, "'%s' is no value for '%s'; did you mean '%s'?", value, known->name, closest);
  return hl_arena_printf(arena, "'%s' is no value for '%s': %s", value, known->name, known->help);
}

/* Sets one option from words[*i], and words[*i + 1] where its value stands apart. */
static const char *read_option(hl_arena *arena, hl_options *o, int count, char *const *words,
                               int *i)
{
  const char *value, *word = words[*i];
  const option *known = find_option(word, o->command, &value);
  if (!known)
    return unknown_option(arena, word, o->command);
  if (!known->value && value)
    return hl_arena_printf(arena, "option '%s' takes no value", known->name);
  if (known->value && !value) {
    if (++*i >= count)
      return hl_arena_printf(arena, "option '%s' needs a value: %s", known->name, known->value);
    value = words[*i];
  }
  if (!known->set(o, value))
    return bad_value(arena, known, value);
  return NULL;
}

static hl_options defaults(hl_command_id command)
{
  return (hl_options){.command = command,
                      .emit = command == HL_COMMAND_OPT ? HL_EMIT_HLO : HL_EMIT_OBJ,
                      .opt_level = 2,
                      .color = -1,
                      .repeat = command != HL_COMMAND_BENCH,
                      .max_runs = DEFAULT_RUNS,
                      .linker = "ld",
                      .cc = "cc",
                      .cpu = (int)command & (CALL | EXPLAIN) ? "native" : NULL};
}

bool hl_options_parse(hl_arena *arena, hl_command_id command, int count, char *const *words,
                      hl_options *options, const char **error)
{
  *options = defaults(command);
  options->inputs = HL_ARRAY(arena, count + 1, const char *);
  options->given = HL_ARRAY(arena, count + 1, const char *);
  bool only_inputs = false;
  *error = NULL;
  for (int i = 0; i < count && !*error; i++) {
    bool is_option = words[i][0] == '-' && words[i][1] && !only_inputs;
    if (is_option && !strcmp(words[i], "--"))
      only_inputs = true;
    else if (is_option && !strcmp(words[i], "-h"))
      options->wants_help = true;
    else if (is_option)
      *error = read_option(arena, options, count, words, &i);
    else
      options->inputs[options->input_count++] = words[i];
  }
  return !*error;
}

bool hl_options_at(hl_command_id command, int index, hl_option_info *info)
{
  for (int i = 0; i < OPTION_COUNT; i++) {
    const option *known = &options_table[i];
    if (!(known->commands & (int)command) || index-- > 0)
      continue;
    *info = (hl_option_info){known->name, known->value, words_of(known), known->help};
    return true;
  }
  return false;
}
