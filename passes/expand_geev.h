/* expand_geev.h - eigenvectors of real matrices, as LAPACK has them. */
#ifndef HL_EXPAND_GEEV_H
#define HL_EXPAND_GEEV_H

#include "expand.h"

/* A custom call of geev with complex vectors for a real matrix becomes one with the routine's own real vectors, and what joins them;
 * any other is returned as it is. */
hl_instruction *hl_join_eigenvectors(hl_instruction *custom_call);

#endif
