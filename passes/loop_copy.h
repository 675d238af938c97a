/* loop_copy.h - copies of values into other loops, of the same kernel or of one in a step in front.
 */
#ifndef HL_LOOP_COPY_H
#define HL_LOOP_COPY_H

#include "schedule.h"

typedef struct hl_copying {
  const hl_step *from;
  hl_step *to;
  hl_loop_builder at; /* where copies go; the loops of a copy move it inwards */
  hl_node **made;     /* by the ids of old nodes; NULL: the old one is seen from here too */
  bool *needed;       /* by the ids of old nodes */
  hl_node *cut;       /* this index stands for 4 * its copy + place; NULL: none */
  int place;
} hl_copying;

/* For copies of the value and of what it needs: of the blocks for which hl_copy_need is called,
 * innermost first. */
hl_copying hl_copy_start(const hl_step *from, hl_step *to, hl_loop_builder at,
                         const hl_node *value);
void hl_copy_need(const hl_copying *c, const hl_block *block);
/* Copies what is needed of a block. */
void hl_copy_block(hl_copying *c, const hl_block *block);
hl_node *hl_copied(const hl_copying *c, hl_node *node);
/* A for loop in the place of variable `var`; the builder goes on inside. */
hl_node *hl_copy_loop(hl_copying *c, const hl_node *loop, int var);

/* A parameter of the step's kernel for the buffer. */
hl_param *hl_step_add_param(hl_step *step, hl_buffer *buffer, hl_direction_of_param direction);
/* The step gets an empty kernel, and a new step behind it does what it did; returns that one. */
hl_step *hl_step_split(hl_program *program, hl_step *step, const char *suffix);

#endif
