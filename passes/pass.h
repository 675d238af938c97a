/* pass - the HLO to HLO passes and the pipeline that runs them. */
#ifndef HL_PASS_H
#define HL_PASS_H

#include "../ir/module.h"

typedef enum hl_pass_id {
#define HL_PASS(id, name, level, group, sentence) HL_PASS_##id,
#include "passes.def"
  HL_PASS_COUNT
} hl_pass_id;

typedef struct hl_pass_context {
  hl_arena *scratch; /* memory of one pass; dropped when it returns */
  hl_diag *diag;     /* for what only a pass can refuse: a module that grows beyond the limits */
} hl_pass_context;

/* Each pass takes a verified module, leaves a verified one, and returns whether it changed
 * anything. */
typedef bool hl_pass_fn(hl_module *module, hl_pass_context *cx);
#define HL_PASS(id, name, level, group, sentence) hl_pass_fn hl_pass_##id;
#include "passes.def"

const char *hl_pass_name(hl_pass_id pass);
const char *hl_pass_sentence(hl_pass_id pass);
int hl_pass_level(hl_pass_id pass);
/* The pass with this name, or HL_PASS_COUNT. */
hl_pass_id hl_pass_by_name(const char *name, size_t length);
/* The closest name within a small edit distance, or NULL. */
const char *hl_pass_suggest(const char *name);

typedef struct hl_pipeline {
  hl_arena *scratch; /* reset after each pass; the caller owns it */
  const hl_pass_id
      *passes; /* run in this order, each once; NULL: the default pipeline of `level` */
  int pass_count;
  int level;               /* 0 to 3 */
  const bool *is_disabled; /* HL_PASS_COUNT entries, or NULL: passes that the default pipeline
                              leaves out (for tests) */
  bool verify_each;
  /* Called after each pass that ran; either may be NULL. */
  void (*after)(void *user, hl_pass_id pass, const hl_module *module);
  void (*timing)(void *user, hl_pass_id pass, double seconds);
  void *user;
} hl_pipeline;

/* Runs the pipeline. False: a pass reported an error to diag, or with verify_each the module after
 * a pass was not legal; then *broken (may be NULL) is that pass, else HL_PASS_COUNT. */
bool hl_run_passes(hl_module *module, const hl_pipeline *pipeline, hl_diag *diag,
                   hl_pass_id *broken);

#endif
