/* emit_soft.c - exact functions for what the target has no instruction for. */
#include "emit.h"

void hl_emit_soft_functions(hl_emitter *e)
{
  (void)e;
}
