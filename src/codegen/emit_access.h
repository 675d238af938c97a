/* emit_access - addresses of lanes, and vectors from and to memory. */
#ifndef HL_EMIT_ACCESS_H
#define HL_EMIT_ACCESS_H

#include "emit.h"

/* Element address of lane 0, and how the other lanes lie. */
typedef struct hl_address {
  LLVMValueRef pointer;
  int64_t step;
  LLVMValueRef lanes; /* offsets in elements from `pointer`, by lane; NULL: lane * step */
} hl_address;

hl_address hl_emit_address(hl_emitter *e, const hl_access *access, int part);
LLVMValueRef hl_emit_param_pointer(hl_emitter *e, const hl_param *param);
bool hl_address_is_scalar(const hl_address *at);

/* Registers to memory and back: pred is a byte there, any but 0 is true; small integers are kept to
 * their width. */
LLVMValueRef hl_emit_from_memory(hl_emitter *e, hl_element_type type, LLVMValueRef x);
LLVMValueRef hl_emit_to_memory(hl_emitter *e, hl_element_type type, LLVMValueRef x);

/* A vector of the lanes, in memory's types; `mask` NULL: all lanes are there. */
LLVMValueRef hl_emit_load_lanes(hl_emitter *e, const hl_param *param, const hl_address *at,
                                LLVMValueRef mask);
void hl_emit_store_lanes(hl_emitter *e, const hl_param *param, const hl_address *at, LLVMValueRef x,
                         LLVMValueRef mask);
/* Whether a store goes past the caches; `count` such stores where the first one's address is
 * aligned to registers, ordinary ones where it is not: all are when one is. */
bool hl_emit_streams(const hl_emitter *e, const hl_node *node, const hl_address *at);
void hl_emit_store_streaming(hl_emitter *e, const hl_param *param, const LLVMValueRef *pointers,
                             const LLVMValueRef *values, int count);

#endif
