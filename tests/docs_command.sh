#!/bin/sh
# docs_command.sh HLO_LITE PAGE.md - runs the console blocks of a page as session.sh does: each line `$ COMMAND` prints what stands
# below it. Blocks of a page share no state.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^```/ { inside = $0 == "```console"; next } inside' "$2" >"$work/session.txt"
sh "$(dirname "$0")/session.sh" "$1" "$work/session.txt"
