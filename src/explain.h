/* explain - what `hlo-lite explain` knows of a module and its program, before it is text or JSON. */
#ifndef HL_EXPLAIN_H
#define HL_EXPLAIN_H

#include "session.h"

#include "ir/broadcasts.h"
#include "ir/loop_cost.h"

/* A broadcast, as the source has it: passes change the instructions later, so texts are kept. */
typedef struct hl_told_broadcast {
  hl_stretch stretch;
  uint32_t line; /* 0: no place */
  const char *user, *op, *operand;
  const hl_shape *from, *to;
  const char *warning; /* NULL, or what is odd about the user; at its last operand */
} hl_told_broadcast;

typedef struct hl_told_step {
  const hl_step *step;
  int number; /* from 1, in the order of the text */
  int depth;  /* while and conditional steps around it */
  const char *part; /* of the step around it: "condition", "body", "branch 0" at its first step; else NULL */
  hl_cost cost;
} hl_told_step;

typedef struct hl_machine {
  double bandwidth; /* bytes a second; 0: unknown */
  double peak;      /* f32 operations a second; 0: unknown */
} hl_machine;

typedef struct hl_explanation {
  hl_session *session;
  hl_arena *arena;
  hl_told_broadcast *broadcasts;
  int broadcast_count;
  size_t broadcast_capacity;
  hl_told_step *steps;
  int step_count;
  size_t step_capacity;
  hl_cost total;
  double least_read, least_written;
  bool has_loops; /* the steps of a while count once */
  hl_machine machine;
  int only; /* the one step to show; 0: all */
} hl_explanation;

/* After verify, before the passes. */
void hl_explain_broadcasts(hl_explanation *e);
/* After lowering. */
void hl_explain_steps(hl_explanation *e);

/* The line of a place in the source, 0 for none. */
uint32_t hl_explain_line(const hl_explanation *e, hl_range range);
/* The steps, as the page numbers them, from and to which a buffer of the workspace lives. */
void hl_explain_life(const hl_explanation *e, const hl_buffer *buffer, int *first, int *last);
/* Bytes of the workspace that a buffer takes. */
int64_t hl_explain_bytes(const hl_explanation *e, const hl_buffer *buffer);
const char *hl_explain_kind(const hl_step *step);
/* Seconds that cannot be undercut, and what sets them: "memory", "arithmetic"; 0 when the machine is unknown. */
double hl_explain_bound(const hl_machine *machine, const hl_cost *cost, const char **what);

typedef struct hl_page hl_page;
void hl_explain_text(const hl_explanation *e, hl_page *page);
void hl_explain_json(const hl_explanation *e, hl_str *out);

#endif
