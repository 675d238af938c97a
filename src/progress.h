/* progress - what a command is at, on a terminal, once it takes longer than a second. */
#ifndef HL_PROGRESS_H
#define HL_PROGRESS_H

typedef struct hl_progress hl_progress;

/* NULL where standard error is no terminal; the others take that. */
hl_progress *hl_progress_new(void);
void hl_progress_free(hl_progress *progress);
/* What runs from here on, a text that stays; NULL: nothing. */
void hl_progress_step(hl_progress *progress, const char *step);
/* Takes the line away, because something is printed; the next second brings it back. */
void hl_progress_clear(hl_progress *progress);

#endif
