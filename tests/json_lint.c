/* json_lint.c - reads standard input and says whether it is one JSON value (RFC 8259), and nothing else: exit 0 or 1. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 100 };

typedef struct reader {
  const char *at;
  int depth;
} reader;

static bool read_value(reader *r);

static void skip_blanks(reader *r)
{
  r->at += strspn(r->at, " \t\r\n");
}

static bool take(reader *r, char c)
{
  skip_blanks(r);
  bool is_there = *r->at == c;
  r->at += is_there;
  return is_there;
}

static bool read_escape(reader *r)
{
  char kind = *r->at++;
  if (kind != 'u')
    return kind && strchr("\"\\/bfnrt", kind);
  for (int i = 0; i < 4; i++)
    if (!isxdigit((unsigned char)*r->at++))
      return false;
  return true;
}

static bool read_string(reader *r)
{
  if (!take(r, '"'))
    return false;
  while (*r->at != '"') {
    if ((unsigned char)*r->at < ' ')
      return false;
    if (*r->at++ == '\\' && !read_escape(r))
      return false;
  }
  r->at++;
  return true;
}

static bool read_digits(reader *r)
{
  size_t count = strspn(r->at, "0123456789");
  r->at += count;
  return count > 0;
}

static bool read_number(reader *r)
{
  r->at += *r->at == '-';
  bool is_zero = *r->at == '0';
  const char *first = r->at;
  if (!read_digits(r) || (is_zero && r->at > first + 1))
    return false;
  if (*r->at == '.' && (r->at++, !read_digits(r)))
    return false;
  if (*r->at == 'e' || *r->at == 'E') {
    r->at++;
    r->at += *r->at == '-' || *r->at == '+';
    return read_digits(r);
  }
  return true;
}

static bool read_list(reader *r, char close, bool has_names)
{
  r->at++;
  if (take(r, close))
    return true;
  do {
    if (has_names && !(read_string(r) && take(r, ':')))
      return false;
    if (!read_value(r))
      return false;
  } while (take(r, ','));
  return take(r, close);
}

static bool read_word(reader *r)
{
  static const char *const words[] = {"true", "false", "null"};
  for (int i = 0; i < 3; i++)
    if (!strncmp(r->at, words[i], strlen(words[i]))) {
      r->at += strlen(words[i]);
      return true;
    }
  return false;
}

static bool read_value(reader *r)
{
  skip_blanks(r);
  if (++r->depth > MAX_DEPTH)
    return false;
  bool ok = *r->at == '{'   ? read_list(r, '}', true)
            : *r->at == '[' ? read_list(r, ']', false)
            : *r->at == '"' ? read_string(r)
            : *r->at == '-' || isdigit((unsigned char)*r->at) ? read_number(r)
                                                              : read_word(r);
  r->depth--;
  return ok;
}

int main(void)
{
  size_t size = 0, capacity = 1 << 20;
  char *text = malloc(capacity + 1);
  for (size_t n; text && (n = fread(text + size, 1, capacity - size, stdin)) > 0;) {
    size += n;
    if (size == capacity)
      text = realloc(text, (capacity *= 2) + 1);
  }
  if (!text)
    return 1;
  text[size] = '\0';
  reader r = {.at = text};
  bool ok = read_value(&r);
  skip_blanks(&r);
  ok = ok && r.at == text + size;
  puts(ok ? "one JSON value" : "not JSON");
  free(text);
  return !ok;
}
