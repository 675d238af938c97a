#!/bin/sh
# same_bits.sh HLOTEST HLO_LITE [MODULE|FOLDER]... - results do not depend on the number of threads, the level of optimisation
# or the processor. Takes the run cases of tests/ops and tests/bits with their arguments, and the modules of examples/, or
# the modules that are named, with --random 1; runs each of them in four ways in which every two of -O0 and -O3,
# x86-64-v3 and native, one thread and two meet; and compares checksums of the results. A module that does not run in any way
# is left out.
set -eu
hlotest=$1
command=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# As a text test with random arguments; lines of another tool's tests are no directives of ours.
add_module() {
  { echo '// RUN: run'; sed 's,// RUN:,//,' "$1"; } >"$work/modules/$(echo "$1" | tr '/' '_')"
}

mkdir "$work/modules"
if [ $# -gt 0 ]; then
  find "$@" -name '*.hlo' | while read -r file; do add_module "$file"; done
  set -- "$work/modules"
else
  for file in "$here"/../examples/*.hlo; do add_module "$file"; done
  set -- "$here/ops" "$here/bits" "$work/modules"
fi

# way NAME THREADS FLAGS PATH...
way() {
  name=$1 threads=$2 flags=$3
  shift 3
  HLO_NUM_THREADS=$threads "$hlotest" --checksums "$flags" "$command" "$@" >"$work/$name.log" 2>&1 || true
  grep -E '^[0-9a-f]{16} ' "$work/$name.log" >"$work/$name.sums" || true
}

way a 1 '-O0 --cpu=x86-64-v3' "$@"
way b 2 '-O0 --cpu=native' "$@"
way c 2 '-O3 --cpu=x86-64-v3' "$@"
way d 1 '-O3 --cpu=native' "$@"

count=$(wc -l <"$work/a.sums")
differing=$(cat "$work"/?.sums | sort -u | awk '{ seen[$2]++ } END { for (f in seen) n += seen[f] > 1; print n + 0 }')
partial=$(cat "$work"/?.sums | awk '{ runs[$2]++ } END { for (f in runs) n += runs[f] != 4; print n + 0 }')
for name in b c d; do
  diff "$work/a.sums" "$work/$name.sums" || true
done
echo "$((count - differing - partial)) passed, $((differing + partial)) failed"
[ "$differing" -eq 0 ] && [ "$partial" -eq 0 ] && [ "$count" -gt 0 ]
