#!/bin/sh
# matrix.sh BUILD [FOLDER...] - the same bits whatever computes them. Takes the stored cases in the folders (a case is a folder with a
# meta.json), in all spellings, and the run cases of text tests in folders that have no such (tests/cases and tests/programs, if none is
# named), and compares checksums of their results with those of -O2 on this machine's processor with two threads:
#
#   levels, threads, processors, memory between guard pages, the evaluator, the interpreter of the loop IR, and other machines
#   under qemu: AArch64, RISC-V, Cortex-M4F, where it and their compilers are installed
#
# Prints what differs and what gave no result and why, then a table with a line for each way. Exit status 1 when any bit differs.
# WAYS="O0 riscv64" takes only these.
set -eu
build=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
command=$build/hlo-lite
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- "$here/cases" "$here/programs"
find -L "$@" -name meta.json | sort >"$work/cases"
for folder; do
  find -L "$folder" -name meta.json | grep -q . || echo "$folder"
done >"$work/texts"

# Ways: a name, threads, and what takes the place of `hlo-lite run`. Vectors of v2 have no FMA: it is emulated.
cat >"$work/ways" <<EOF
O0 1 $command run -O0
O1 1 $command run -O1
O3 2 $command run -O3
threads1 1 $command run
threads3 3 $command run --threads=3
threads8 8 $command run --threads=8
v2 2 $command run --cpu=x86-64-v2
v3 2 $command run --cpu=x86-64-v3
v4 2 $command run --cpu=x86-64-v4
guarded_after 2 $command run --guard-pages=after
guarded_before 2 $command run --guard-pages=before
evaluator 1 $build/tests/eval_main run
loops 1 $build/tests/eval_main run --loops
EOF
for triple in aarch64-linux-gnu riscv64-linux-gnu; do
  mkdir "$work/$triple"
  if sh "$here/cross_runner.sh" "$command" $triple "$work/$triple" >"$work/said"; then
    echo "${triple%%-*} 1 $work/$triple/run run -O2" >>"$work/ways"
  else
    echo "${triple%%-*} is left out: $(cat "$work/said")"
  fi
done
mkdir "$work/cortex_m"
if sh "$here/cortex_m_runner.sh" "$command" "$work/cortex_m" >"$work/said"; then
  echo "cortex_m4 1 $work/cortex_m/run run -O2" >>"$work/ways"
else
  echo "cortex_m4 is left out: $(cat "$work/said")"
fi
if [ -n "${WAYS-}" ]; then
  for name in $WAYS; do grep "^$name " "$work/ways"; done >"$work/chosen"
  mv "$work/chosen" "$work/ways"
fi

# sum THREADS WORDS...: the checksum of all results; nothing when there are none. Why stands in $work/why.
sum() {
  threads=$1
  shift
  rm -rf "$work/out"
  mkdir "$work/out"
  HLO_NUM_THREADS=$threads timeout 300 "$@" -o "$work/out/" >/dev/null 2>"$work/why" </dev/null || return 0
  number=0
  while [ -e "$work/out/$number.npy" ]; do
    cat "$work/out/$number.npy"
    number=$((number + 1))
  done | cksum
}

# One spelling of a case in every way: lines "way verdict" go to the tally.
try() {
  want=$(sum 2 "$command" run "$@")
  if [ -z "$want" ]; then
    echo "$1 does not run: $(head -1 "$work/why")"
    return
  fi
  echo "-O2 equal" >>"$work/tally"
  while read -r name threads words; do
    # shellcheck disable=SC2086 # words are words
    have=$(sum "$threads" $words "$@")
    verdict=equal
    if [ -z "$have" ]; then
      verdict=no_result
      echo "$name: $1 gives no result: $(grep -e ' error: ' -e 'cannot find' "$work/why" | tail -1)"
    elif [ "$have" != "$want" ]; then
      verdict=differs
      echo "$name: $1 differs"
    fi
    echo "$name $verdict" >>"$work/tally"
  done <"$work/ways"
}

while read -r meta; do
  rm -rf "$work/arguments"
  mkdir "$work/arguments"
  "$build/tests/case_command" "$(dirname "$meta")" "$work/arguments" >"$work/lines" || continue
  while read -r line <&3; do
    # shellcheck disable=SC2086 # a line is words: the module, its arguments, flags
    try $line
  done 3<"$work/lines"
done <"$work/cases"

# text_sums FILE THREADS COMMAND run FLAGS...: lines "checksum case".
text_sums() {
  file=$1 threads=$2 runner=$3
  shift 4
  while read -r folder <&3; do
    HLO_NUM_THREADS=$threads "$build/tests/hlotest" --checksums "$*" "$runner" "$folder" 2>/dev/null || true
  done 3<"$work/texts" | grep -E '^[0-9a-f]{16} ' | sort -k2 >"$file" || true
}

if [ -s "$work/texts" ]; then
  text_sums "$work/want" 2 "$command" run
  sed 's/.*/-O2 equal/' "$work/want" >>"$work/tally"
  while read -r name threads words; do
    # shellcheck disable=SC2086 # words are words
    text_sums "$work/have" "$threads" $words
    join -1 2 -2 2 -a 1 "$work/want" "$work/have" | awk -v name="$name" '
      { verdict = NF < 3 ? "no_result" : $2 == $3 ? "equal" : "differs"; print name, verdict
        if (verdict != "equal") print name ": " $1 " " verdict >"/dev/stderr" }' >>"$work/tally" 2>"$work/said"
    cat "$work/said"
  done <"$work/ways"
fi

awk 'BEGIN { print "| way | equal | differ | no result |"; print "| --- | ---: | ---: | ---: |" }
  { if (!($1 in seen)) { seen[$1] = ++ways; name[ways] = $1 } count[$1, $2]++ }
  END { for (i = 1; i <= ways; i++) { w = name[i]; bad += count[w, "differs"]
          printf "| %s | %d | %d | %d |\n", w, count[w, "equal"], count[w, "differs"], count[w, "no_result"] }
        exit bad > 0 || ways == 0 }' "$work/tally"
