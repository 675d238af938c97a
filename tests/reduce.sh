#!/bin/sh
# reduce.sh HLO_LITE - in modules of tests/programs an instruction is planted that cannot be compiled: reduce brings each to at most 5
# instructions, in less than a minute, by asking the command itself.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

printf '#!/bin/sh\n"%s" run --fill=ones "$1" 2>&1 | grep -q "no function hlo_custom_planted"\n' "$command" >"$work/fails"
chmod +x "$work/fails"

# plant FILE PART: the first module of the file, with a call of nothing for the product, sum or difference that stands at that hundredth.
plant() {
  awk '/^HloModule/ { inside = 1 } inside && /^\/\// { exit } inside' "$1" >"$work/whole.hlo"
  count=$(grep -cE ' (multiply|add|subtract)\(' "$work/whole.hlo")
  awk -v at=$((count * $2 / 100 + 1)) '
    / (multiply|add|subtract)\(/ && ++k == at {
      sub(/ (multiply|add|subtract)\(/, " custom-call(")
      sub(/\).*/, "), custom_call_target=\"planted\"")
    }
    { print }' "$work/whole.hlo"
}

for name in lstm_cell index_modes unique_sized quantiles; do
  for part in 30 70; do
    plant "$here/programs/$name.hlo" $part >"$work/planted.hlo"
    before=$(date +%s)
    "$command" reduce --script "$work/fails" "$work/planted.hlo" -o "$work/small.hlo" 2>"$work/said" || { cat "$work/said"; failed=1; continue; }
    seconds=$(($(date +%s) - before))
    left=$(grep -c ' = ' "$work/small.hlo")
    echo "$name: $(cat "$work/said"), $seconds s"
    "$work/fails" "$work/small.hlo" || { echo "it does not fail any more"; failed=1; }
    [ "$left" -le 5 ] && [ "$seconds" -lt 60 ] || { cat "$work/small.hlo"; failed=1; }
  done
done
[ $failed -eq 0 ]
