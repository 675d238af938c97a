#!/bin/sh
# same_bits.sh HLOTEST HLO_LITE [MODULE|FOLDER]... - results do not depend on the number of threads, the level of optimisation
# or the processor. Takes the run cases of tests/ops and tests/bits with their arguments, the modules of examples/ with --random 1,
# and the stored cases of tests/cases; or what is named: modules, which run with --random 1, and folders of stored cases (each a folder
# with a meta.json, which says what the arguments are: case_command.c, built beside HLOTEST, reads it), in all spellings. Runs each
# of them in four ways in which every two of -O0 and -O3, x86-64-v3 and native, one thread and two meet; and compares
# checksums of the results. What does not run in any way is left out.
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
  stored=$(find -L "$@" -name meta.json | sort)
  if [ -z "$stored" ]; then
    find -L "$@" -name '*.hlo' | while read -r file; do add_module "$file"; done
  fi
  set -- "$work/modules"
else
  stored=$(find "$here/cases" -name meta.json | sort)
  for file in "$here"/../examples/*.hlo; do add_module "$file"; done
  set -- "$here/ops" "$here/bits" "$work/modules"
fi

# Runs a stored case with these flags: a checksum of its results, as hlotest prints one.
stored_case() {
  threads=$1 flags=$2 module=$3
  shift 3
  rm -rf "$work/out"
  # shellcheck disable=SC2086 # flags are words
  if HLO_NUM_THREADS=$threads timeout 120 "$command" run "$module" "$@" $flags -o "$work/out/" >/dev/null 2>&1 </dev/null; then
    set -- 0
    while [ -e "$work/out/$1.npy" ]; do
      cat "$work/out/$1.npy"
      set -- $(($1 + 1))
    done | cksum | sed "s,\$, $module,; s, ,_,"
  fi
}

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

for meta in $stored; do
  rm -rf "$work/arguments"
  mkdir "$work/arguments"
  "$(dirname "$hlotest")/case_command" "$(dirname "$meta")" "$work/arguments" >"$work/lines"
  while read -r line; do
    # shellcheck disable=SC2086 # a line is words: the module, its arguments, flags
    {
      stored_case 1 '-O0 --cpu=x86-64-v3' $line >>"$work/a.sums"
      stored_case 2 '-O0 --cpu=native' $line >>"$work/b.sums"
      stored_case 2 '-O3 --cpu=x86-64-v3' $line >>"$work/c.sums"
      stored_case 1 '-O3 --cpu=native' $line >>"$work/d.sums"
    }
  done <"$work/lines"
done

differing=$(cat "$work"/?.sums | sort -u | awk '{ seen[$2]++ } END { for (f in seen) n += seen[f] > 1; print n + 0 }')
partial=$(cat "$work"/?.sums | awk '{ runs[$2]++ } END { for (f in runs) n += runs[f] != 4; print n + 0 }')
count=$(cat "$work"/?.sums | awk '{ print $2 }' | sort -u | wc -l)
for name in b c d; do
  diff "$work/a.sums" "$work/$name.sums" || true
done
echo "$((count - differing - partial)) passed, $((differing + partial)) failed"
[ "$differing" -eq 0 ] && [ "$partial" -eq 0 ] && [ "$count" -gt 0 ]
