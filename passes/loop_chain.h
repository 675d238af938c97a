/* loop_chain.h - steps that hand rows to each other, found and joined: a block of rows goes through
 * all of them before the next one comes.
 */
#ifndef HL_LOOP_CHAIN_H
#define HL_LOOP_CHAIN_H

#include "loop_product.h"

enum { HL_CHAIN_PARTS = 4, HL_CHAIN_LOOPS = 8 };

/* One step of a chain. Its kernel is a nest of loops over the rows around what is done to a row. */
typedef struct hl_chain_part {
  hl_step *step;
  bool is_product;
  hl_node *loops[HL_CHAIN_LOOPS]; /* over the rows, from outside in */
  int depth;
  int own; /* product: outer loops that its packed operand depends on, which come first */
  int64_t operand_bytes; /* product: of that operand, for one iteration of those loops */
} hl_chain_part;

typedef struct hl_chain {
  hl_chain_part parts[HL_CHAIN_PARTS];
  hl_buffer *links[HL_CHAIN_PARTS - 1]; /* what a part writes for the next one alone */
  int64_t widths[HL_CHAIN_PARTS - 1];   /* elements of a row of it */
  int count;
  int64_t extents[HL_CHAIN_LOOPS]; /* of loops as fine as all parts have them; the last runs over
                                      rows */
  int depth;
  int64_t block; /* rows that go through the parts together */
} hl_chain;

/* Puts into every buffer's first_step how many steps use it, or 0 again: what hl_find_chain goes
 * by. */
void hl_count_users(hl_program *program);
void hl_forget_users(hl_program *program);

/* Whether a chain that pays begins with the step. Steps between its parts are those that may as
 * well come before it. */
bool hl_find_chain(hl_step *first, const hl_lower_options *options, hl_chain *chain);

/* Puts steps that stand between the parts in front of them, where *first is the first part. Returns
 * whether there were any. */
bool hl_gather_chain(hl_step **first, const hl_chain *chain);

/* Joins the parts of a chain that follow each other; products are cut and packed on the way, which
 * may put steps in front, from *first on. Returns the one step that is left of the parts. */
hl_step *hl_join_chain(hl_program *program, hl_step **first, hl_chain *chain, bool repeats);

#endif
