/* lsp_document - one text of the editor, read and checked; where its parts are. */
#ifndef HL_LSP_DOCUMENT_H
#define HL_LSP_DOCUMENT_H

#include "ir/module.h"

typedef struct hl_document {
  struct hl_document *next;
  char *uri;
  hl_arena *arena; /* of all below; a new one with each text */
  hl_source *source;
  hl_diag diag;
  hl_module *module; /* what could be read; NULL: nothing */
  bool is_whole;     /* all could, and it was verified */
} hl_document;

/* Reads and checks a text, which takes the place of the one before. Out of memory jumps to the
 * guard, and the document is then empty. */
void hl_document_set(hl_document *document, hl_guard *guard, const char *text, size_t size);

/* Places as the protocol counts them: lines from 0, columns in UTF-16 units, or in bytes where the
 * client agreed. */
typedef struct hl_lsp_place {
  int64_t line, character;
} hl_lsp_place;
hl_lsp_place hl_document_place(const hl_document *document, uint32_t offset, bool is_utf8);
uint32_t hl_document_offset(const hl_document *document, hl_lsp_place place, bool is_utf8);

/* What stands at an offset. */
typedef enum hl_spot_kind {
  HL_SPOT_NOTHING,
  HL_SPOT_VALUE,       /* the name of an instruction, where it is defined or used */
  HL_SPOT_COMPUTATION, /* likewise */
  HL_SPOT_OPCODE
} hl_spot_kind;
typedef struct hl_spot {
  hl_spot_kind kind;
  hl_range range;                    /* of the word, without '%' */
  const hl_instruction *instruction; /* VALUE: the one named; OPCODE: its own */
  const hl_computation *computation; /* COMPUTATION */
} hl_spot;
hl_spot hl_document_spot(const hl_document *document, uint32_t offset);

/* Calls visit with the range of each name of the same thing, the definition first. */
typedef void hl_name_visitor(void *user, hl_range range);
void hl_document_names(const hl_document *document, const hl_spot *spot, hl_name_visitor *visit,
                       void *user);

/* The computation whose text holds the offset, or NULL. */
const hl_computation *hl_document_computation(const hl_document *document, uint32_t offset);
/* Where a computation is, from its name to its last instruction. */
hl_range hl_document_extent(const hl_computation *computation);

#endif
