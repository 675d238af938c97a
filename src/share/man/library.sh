#!/bin/sh
# library.sh HLO_LITE_H FOLDER VERSION - hlo_lite.3, from the header: its comments are the text, each behind what it speaks of.
set -eu
mkdir -p "$2"
awk -v version="$3" '
  function escape(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/\047/, "\\(aq", text)
    return text ~ /^[.\047]/ ? "\\&" text : text
  }
  # Lines that begin with two blanks are code.
  function tell(lines, count,   i, is_code) {
    for (i = 1; i <= count; i++) {
      if (lines[i] == "") {
        if (is_code) print ".fi\n.RE"
        is_code = 0
        if (i < count) print ".P"
        continue
      }
      if (!is_code && lines[i] ~ /^  /) {
        print ".RS 2\n.nf"
        is_code = 1
      }
      sub(/^  /, "", lines[i])
      print escape(lines[i])
    }
    if (is_code) print ".fi\n.RE"
  }
  function flush(   i) {
    if (declared) {
      print ".P\n.nf"
      for (i = 1; i <= declared; i++) print ".B \"" quoted(escape(declaration[i])) "\""
      print ".fi"
      if (said) print ".RS"
    } else if (said) {
      print ".P"
    }
    tell(comment, said)
    if (declared && said) print ".RE"
    said = declared = 0
  }
  function quoted(text) {
    gsub(/"/, "\\(dq", text)
    return text
  }
  function take(text) {
    sub(/ *\*\/$/, "", text)
    sub(/^ \* ?/, "", text)
    comment[++said] = text
  }
  FNR == 1 {
    sub(/^\/\* hlo_lite.h - /, "")
    name = $0
    in_head = 1
    next
  }
  in_head == 1 {
    if ($0 !~ /^ \*$/) { name = name " " substr($0, 4); next }
    sub(/\.$/, "", name)
    print ".TH HLO_LITE 3 \"\" \"hlo\\-lite " version "\" \"Library Functions\""
    print ".SH NAME\nhlo_lite \\- " escape(name)
    print ".SH SYNOPSIS\n.nf\n.B #include <hlo_lite.h>\n.P\n.B cc file.c $(pkg\\-config \\-\\-cflags \\-\\-libs hlo_lite)\n.fi\n.SH DESCRIPTION"
    in_head = 2
    next
  }
  /^\/\* ---- / {
    flush()
    title = $0
    gsub(/^\/\* -+ *| *-+ *(\*\/)?$/, "", title)
    print ".SH " escape(toupper(title))
    in_comment = $0 !~ /\*\/$/
    next
  }
  in_comment || in_head == 2 {
    take($0)
    if (/\*\/$/) { in_comment = 0; if (in_head == 2) { flush(); in_head = 3 } }
    next
  }
  /^\/\* / {
    if (declared || said) flush()
    in_comment = $0 !~ /\*\/$/
    sub(/^\/\* /, " * ")
    take($0)
    next
  }
  /^#/ || /^extern/ || (/^}$/) { next }
  /^$/ { flush(); next }
  {
    sub(/^HLO_API /, "")
    declaration[++declared] = $0
  }
  END {
    flush()
    print ".SH SEE ALSO\n.BR hlo\\-lite (1)"
  }' "$1" >"$2/hlo_lite.3"
