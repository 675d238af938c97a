/* simplify - the rules of algsimp. A rule looks at one instruction and returns what computes the
 * same value in a better way: an operand, or new instructions that stand before it; NULL when it
 * does not apply. No rule makes the work larger, and none undoes another, so that applying them
 * ends. Rules are exact to the bit (docs/numerics.md), moved NaNs included. */
#ifndef HL_SIMPLIFY_H
#define HL_SIMPLIFY_H

#include "rewrite.h"

typedef hl_instruction *hl_rule_fn(hl_instruction *ins);

typedef struct hl_simplify_rule {
  hl_opcode opcode; /* HL_OP_COUNT: any elementwise op */
  hl_rule_fn *apply;
} hl_simplify_rule;

/* Tables that end with a NULL rule. */
extern const hl_simplify_rule hl_simplify_move_rules[];
extern const hl_simplify_rule hl_simplify_shape_rules[];
extern const hl_simplify_rule hl_simplify_arith_rules[];

#endif
