#!/bin/sh
# Holds every #include line against the picture of docs/design.md: what each folder may see of the others.
#
#   ir: nothing · grammar, passes: ir · src/codegen: ir · src: all · runtime: nothing · llvm-c/: src/codegen alone
set -eu
cd "$(dirname "$0")/.."

find ir grammar passes src runtime -name '*.[chly]' -o -name '*.inc' -o -name '*.def' | sort | xargs awk '
  # a/b/../c -> a/c
  function normal(path, parts, n, i, out, depth) {
    n = split(path, parts, "/")
    depth = 0
    for (i = 1; i <= n; i++)
      if (parts[i] == "..")
        depth--
      else
        out[++depth] = parts[i]
    path = out[1]
    for (i = 2; i <= depth; i++)
      path = path "/" out[i]
    return path
  }
  function exists(path, line, found) {
    found = (getline line < path) >= 0
    close(path)
    return found
  }
  function box(path) {
    if (path ~ /^src\/codegen\//)
      return "src/codegen"
    sub(/\/.*/, "", path)
    return path
  }
  # "" where there is no such file. Generated headers stand in no folder of the tree.
  function target(name, folder, beside) {
    beside = normal(folder "/" name)
    if (exists(beside))
      return beside
    if (name ~ /^hlo\.(tab|lex)\.h$/)
      return "grammar/" name
    return exists(name) ? name : ""
  }
  BEGIN {
    may["ir"] = " ir "
    may["grammar"] = " ir grammar "
    may["passes"] = " ir passes "
    may["src/codegen"] = " ir src/codegen "
    may["src"] = " ir grammar passes src/codegen src runtime "
    may["runtime"] = " runtime "
  }
  function complain(text) {
    printf "%s:%d: %s\n", FILENAME, FNR, text
    bad++
  }
  /^[ \t]*#[ \t]*include/ {
    from = box(FILENAME)
    count++
    name = $0
    sub(/^[^<"]*[<"]/, "", name)
    sub(/[>"].*/, "", name)
    if ($0 ~ /</) {
      if (name ~ /^llvm/ && from != "src/codegen")
        complain(from " may not include " name)
      next
    }
    folder = FILENAME
    sub(/\/[^\/]*$/, "", folder)
    file = target(name, folder)
    if (file == "")
      complain("no file " name)
    else if (index(may[from], " " box(file) " ") == 0)
      complain(from " may not include " file)
  }
  END {
    printf "%d includes, %d against the layers\n", count, bad
    exit bad > 0
  }'
