#!/bin/sh
# session.sh [--update] HLO_LITE FILE - runs each line `$ COMMAND` of FILE in a shell that finds the command as hlo-lite and the
# tests' programs, in
# the folder of the examples, and compares what it prints, errors included, with the lines below it; a last line [N] is a
# status that is not 0. --update writes FILE anew: review the diff. Exit status 77 where FILE wants terminals and the system has none.
set -eu
update=no
if [ "$1" = --update ]; then
  update=yes
  shift
fi
command=$(realpath "$1")
file=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$command" "$work/hlo-lite"
PATH=$work:$(dirname "$command")/tests:$PATH
export PATH
cd "$(dirname "$0")/../examples"
if grep -q '^\$.*\bterminal ' "$file" && ! terminal 80 true; then
  echo "no pseudo-terminals here"
  exit 77
fi

count=0
while IFS= read -r line; do
  case $line in
    '$ '*)
      count=$((count + 1))
      printf '%s\n' "$line"
      (eval "${line#\$ }") 2>&1 && status=0 || status=$?
      [ $status -eq 0 ] || echo "[$status]"
      ;;
    '#'*) printf '%s\n' "$line" ;;
  esac
done <"$file" >"$work/said"

if [ $update = yes ]; then
  cp "$work/said" "$file"
fi
diff "$file" "$work/said"
[ $count -gt 0 ]
echo "$count commands passed"
