/* page - text for a terminal or a file: lines no longer than its width, and colour where it is wanted. */
#ifndef HL_PAGE_H
#define HL_PAGE_H

#include "options.h"

#include "ir/str.h"

struct hl_page {
  hl_str *out;
  int width;
  bool color;
};
typedef struct hl_page hl_page;

/* A page on standard output or the file of -o: as wide as COLUMNS or the terminal say, else 80 columns; in colour on a terminal
 * unless NO_COLOR is set, or as --color says. */
hl_page hl_page_open(hl_str *out, const hl_options *options);

typedef enum hl_ink { HL_INK_PLAIN, HL_INK_HEADING, HL_INK_NAME, HL_INK_DIM, HL_INK_WARNING } hl_ink;

/* Words, parted by blanks, on as many lines as they need: `label` stands before the first, and the lines begin at column `indent`.
 * What is longer than a line is cut. */
void hl_page_words(hl_page *page, hl_ink ink, const char *label, int indent, const char *words);
/* The same with what stands before the lines behind the first. */
void hl_page_wrap(hl_page *page, hl_ink ink, const char *first, const char *rest, const char *words);
/* A line of its own, with an empty one before it. */
void hl_page_heading(hl_page *page, const char *text);
void hl_page_blank(hl_page *page);

#endif
