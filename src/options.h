/* options - the command line, as a structure. */
#ifndef HL_OPTIONS_H
#define HL_OPTIONS_H

#include "ir/arena.h"

/* Exit statuses: docs/design.md, section 8. */
enum { HL_EXIT_DONE = 0, HL_EXIT_INPUT = 1, HL_EXIT_USAGE = 2, HL_EXIT_INTERNAL = 3 };

/* Bits, because an option says which commands take it. */
typedef enum hl_command_id {
  HL_COMMAND_COMPILE = 1 << 0,
  HL_COMMAND_RUN = 1 << 1,
  HL_COMMAND_CHECK = 1 << 2,
  HL_COMMAND_FMT = 1 << 3,
  HL_COMMAND_OPT = 1 << 4,
  HL_COMMAND_OPS = 1 << 5,
  HL_COMMAND_SHAPES = 1 << 6,
  HL_COMMAND_LSP = 1 << 7,
  HL_COMMAND_EXPLAIN = 1 << 8,
  HL_COMMAND_BENCH = 1 << 9,
  HL_COMMAND_GRAPH = 1 << 10,
  HL_COMMAND_EXTRACT = 1 << 11,
  HL_COMMAND_REDUCE = 1 << 12
} hl_command_id;

typedef enum hl_emit {
  HL_EMIT_OBJ,
  HL_EMIT_SHARED,
  HL_EMIT_EXE,
  HL_EMIT_ASM,
  HL_EMIT_LLVM_IR,
  HL_EMIT_LLVM_BC,
  HL_EMIT_LOOPS,
  HL_EMIT_HLO,
  HL_EMIT_DOT,
  HL_EMIT_HEADER,
  HL_EMIT_COUNT
} hl_emit;

typedef enum hl_guard_pages { HL_GUARD_NONE, HL_GUARD_AFTER, HL_GUARD_BEFORE } hl_guard_pages;

typedef enum hl_fill {
  HL_FILL_NONE,
  HL_FILL_ZEROS,
  HL_FILL_ONES,
  HL_FILL_IOTA,
  HL_FILL_RANDOM
} hl_fill;

typedef enum hl_format {
  HL_FORMAT_BY_NAME,
  HL_FORMAT_DOT,
  HL_FORMAT_SVG,
  HL_FORMAT_HTML
} hl_format;

typedef struct hl_options {
  hl_command_id command;
  const char **inputs; /* words that are no options, in order */
  int input_count;
  bool wants_help;
  const char *output;    /* -o */
  const char *name;      /* --name */
  const char *constants; /* --constants */
  hl_emit emit;
  const char *target, *cpu, *features;
  int opt_level;
  int max_workers; /* --threads: off is 1, on 16; 0: not given */
  int64_t max_memory; /* --max-memory: bytes of workspace; 0: not given */
  bool fast_math, fp_contract, ftz;
  bool json, dialect_xla;
  bool sarif;                        /* check */
  unsigned warnings, warning_errors; /* check: bits of hl_lint_id */
  bool all_errors;                   /* -Werror */
  int color;            /* -1: as the terminal says */
  const char *passes;   /* opt */
  const char *disabled; /* --disable-passes */
  bool verify_each;
  const char *dump_after;
  bool time_passes;
  bool stats;
  bool line_tables; /* -g */
  bool in_place, is_explicit; /* fmt */
  bool is_markdown;           /* ops */
  bool is_json;               /* explain, bench */
  hl_format format;           /* graph */
  int64_t kernel;             /* explain: 0: all */
  double bandwidth, peak;     /* explain: GB/s and GFLOP/s; 0: measured */
  bool is_random;             /* run */
  uint64_t seed;
  const char **given; /* run: --input, in order */
  int given_count;
  const char *root; /* extract */
  const char *script; /* reduce */
  int64_t max_runs;
  hl_fill fill;
  const char *expected;
  double ulp, atol, rtol;
  bool profile;
  bool check;
  hl_guard_pages guard_pages;
  int64_t repeat;    /* 0: bench chooses */
  bool per_kernel;   /* bench */
  const char *call_libraries; /* --custom-calls */
  const char *linker, *cc;
  struct hl_progress *progress; /* where steps are told; NULL: nowhere */
} hl_options;

/* Reads the words after the command's name. False: *error says why (arena text). */
bool hl_options_parse(hl_arena *arena, hl_command_id command, int count, char *const *words,
                      hl_options *options, const char **error);

typedef struct hl_option_info {
  const char *name;  /* "-o", "--name" */
  const char *value; /* what its value is called, NULL if it takes none */
  const char *const *words; /* what its value may be, NULL at the end; NULL where there is no list */
  const char *help;
} hl_option_info;

/* Option number `index` of those that the command takes; false behind the last. */
bool hl_options_at(hl_command_id command, int index, hl_option_info *info);

const char *hl_emit_name(hl_emit emit);

#endif
