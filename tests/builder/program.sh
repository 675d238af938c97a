#!/bin/sh
# program.sh PROGRAM SOURCE - what the program prints is what stands at the end of its source, between "/* prints" and "*/".
# With --update before them, writes it there.
set -eu
update=false
[ "$1" != --update ] || { update=true; shift; }
program=$(realpath "$1") source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$PWD
cd "$work"
"$program" >said 2>&1 && status=0 || status=$?
[ "$status" -eq 0 ] || { cat said; echo "exit status $status"; exit 1; }
cd "$here"
if $update; then
  sed '/^\/\* prints$/,$d' "$source" >"$work/new"
  { cat "$work/new"; echo '/* prints'; cat "$work/said"; echo '*/'; } >"$source"
fi
sed -n '/^\/\* prints$/,$p' "$source" | sed '1d;$d' | diff - "$work/said"
