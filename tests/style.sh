#!/bin/sh
# Measures functions, from the line of the name to the closing brace: prints the median, and every function of more than
# 60 lines; fails on one of more than 100. Relies on the layout that clang-format makes: the braces of a function, and no
# others, stand alone in column 1.
set -eu
cd "$(dirname "$0")/.."

find ir grammar passes src runtime -name '*.c' -o -name '*.inc' | sort | xargs awk '
  function name_of(text) {
    sub(/\(.*/, "", text)
    sub(/.*[ *]/, "", text)
    return text
  }
  FNR == 1 { start = 0; begin = "" }
  # Where a declaration may begin: the first line in column 1 behind an empty one, a comment or a brace.
  /^[A-Za-z_]/ && !start { start = FNR; begin = $0 }
  /^$/ || /^[\/ ]\*/ || /^}./ || /;$/ { if (!inside) start = 0 }
  /^\{$/ { inside = 1 }
  /^}$/ && inside {
    print FNR - start + 1, FILENAME ":" start, name_of(begin)
    inside = start = 0
  }' | sort -n | awk '
  { lines[NR] = $1; text[NR] = $2 " " $3 }
  END {
    if (NR == 0) {
      print "no function found"
      exit 1
    }
    for (i = NR; i > 0 && lines[i] > 60; i--) {
      printf "%5d lines  %s%s\n", lines[i], text[i], (lines[i] > 100 ? "  TOO LONG" : "")
      bad += (lines[i] > 100)
    }
    printf "%d functions, median %d lines, ninth decile %d, longest %d\n", NR, lines[int((NR + 1) / 2)],
           lines[int(NR * 0.9 + 0.5)], lines[NR]
    exit bad > 0
  }'
