#!/bin/sh
# ops.sh HLO_LITE - the op table against what has to follow it: a test for each op that compiles (tests/ops/OP.hlo), the list
# of these ops (tests/ops.list), and the page docs/ops.md. Prints how many ops compile.
set -eu
command=$(realpath "$1")
cd "$(dirname "$0")/.."
failed=0

complain() {
  echo "$1"
  failed=$((failed + 1))
}

# "stage name" of every row
rows=$(awk -F, '/^HL_OP\(/ { gsub(/[ "]/, ""); print $7, $2 }' ir/ops.def)
compile=$(echo "$rows" | sed -n -E 's/^(code|whole|expanded) //p' | sort)

for op in $compile; do
  [ -f "tests/ops/$op.hlo" ] || complain "tests/ops/$op.hlo is missing"
done
for file in tests/ops/*.hlo; do
  op=$(basename "$file" .hlo)
  echo "$rows" | grep -q " $op$" || complain "$file: no op is called $op"
done
[ "$compile" = "$(tr ',' '\n' <tests/ops.list | sort)" ] ||
  complain "tests/ops.list does not list the ops that compile"
"$command" ops --markdown | diff docs/ops.md - ||
  complain "docs/ops.md is not what the table says: write it anew with hlo-lite ops --markdown >docs/ops.md"

# The example of each page holds the op, is legal, and runs as the evaluator says where it compiles.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "$rows" >"$work/rows"
while read -r stage op; do
  "$command" ops "$op" | sed '1,/^  example$/d; s/^    //' >"$work/example.hlo"
  "$command" ops "$op" | sed '1d; /^$/,$d' | tail -1 | grep -q '^  .*\.$' || complain "$op: no word of what it gives (ir/op_notes.def)"
  grep -q " $op(" "$work/example.hlo" || complain "$op: its example is of something else"
  "$command" check "$work/example.hlo" || complain "$op: its example is not legal"
  case $stage:$op in refused:* | *:custom-call) continue ;; esac
  "$command" run "$work/example.hlo" --fill=iota --check >/dev/null || complain "$op: its example does not run"
done <"$work/rows"

echo "$rows" | awk '{ n[$1]++ } END { printf "%d ops compile, %d are refused\n", n["code"] + n["whole"] + n["expanded"], n["refused"] }'
[ $failed -eq 0 ]
