#!/bin/sh
# man.sh HLO_LITE - the manual pages: one for each subcommand, with every option, and one of the library, with every function; without a
# warning of man. 77: there is no man.
set -eu
command -v man >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$(dirname "$0")/../src/share/man/pages.sh" "$1" "$work" 0
failed=0
for name in $("$1" --help | sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p'); do
  page=$work/hlo-lite-$name.1
  grep -q "hlo.\\-lite.\\-$name" "$work/hlo-lite.1" || { echo "hlo-lite(1) does not name $name"; failed=1; }
  options=$("$1" "$name" --help | grep -c '^  -') || :
  [ "$(grep -c '^\.B ' "$page")" -eq "$options" ] || { echo "$name: not all of $options options"; failed=1; }
done
header=$(dirname "$0")/../src/hlo_lite.h
sh "$(dirname "$0")/../src/share/man/library.sh" "$header" "$work" 0
functions=$(grep -o 'hlo_[a-z0-9_]*(' "$header" | sort -u)
[ "$(echo "$functions" | wc -l)" -gt 100 ] || { echo "few functions in the header"; failed=1; }
for function in $functions; do
  grep -q "^\.B.*$function" "$work/hlo_lite.3" || { echo "hlo_lite(3) lacks $function"; failed=1; }
done
for page in "$work"/*.[13]; do
  MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" >/dev/null 2>"$work/said" || failed=1
  [ ! -s "$work/said" ] || { cat "$work/said"; failed=1; }
done
[ $failed -eq 0 ] && echo "$(ls "$work"/*.[13] | wc -l) pages"
