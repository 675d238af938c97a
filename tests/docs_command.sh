#!/bin/sh
# docs_command.sh [--update] HLO_LITE PAGE.md - runs the console blocks of a page as session.sh does: each line `$ COMMAND` prints what
# stands below it. --update writes the blocks anew: review the diff.
set -eu
update=
if [ "$1" = --update ]; then
  update=--update
  shift
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^```/ { if (inside) print "#"; inside = $0 == "```console"; next } inside' "$2" >"$work/session.txt"
sh "$(dirname "$0")/session.sh" $update "$1" "$work/session.txt"
[ -n "$update" ] || exit 0
awk -v session="$work/session.txt" '
  /^```/ && inside { inside = 0 }
  !inside { print }
  $0 == "```console" {
    inside = 1
    while ((getline line < session) > 0 && line != "#")
      print line
  }' "$2" >"$work/page.md"
cp "$work/page.md" "$2"
