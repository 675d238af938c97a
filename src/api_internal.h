/* api_internal - what the files of the public library share: the handles and what every entry does.
 */
#ifndef HL_API_INTERNAL_H
#define HL_API_INTERNAL_H

#include "calls.h"
#include "hlo_lite.h"
#include "session.h"

struct hlo_context {
  hl_guard guard;
  hl_arena *arena; /* of the messages; reset by each call */
  hlo_message *messages;
  size_t message_count;
  const char *rendered;
  hl_given_call *given; /* the targets are malloc'ed too */
  size_t given_count;
  /* what the call that runs has made so far */
  hl_session session;
  hlo_executable *executable;
  hl_code code;
};

struct hlo_module {
  hl_session session;
  const char *text;
};

/* Forgets the messages of the call before. */
void hl_api_begin(hlo_context *context);
/* Copies what the session has to say into the context. */
void hl_api_collect(hlo_context *context, const hl_session *session);
/* Where a jump out of an allocation arrives. */
void hl_api_run_out_of_memory(hlo_context *context);

#endif
