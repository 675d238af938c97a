#!/bin/sh
# run.sh SECONDS [FOLDER] - builds the fuzzers with clang, address and undefined-behaviour sanitizers, and runs each for so many
# seconds on seeds from the project's own modules, as many at a time as there are processors. FOLDER (default build/fuzz) keeps corpora
# from run to run, which are tried first, and what was found. SEED=1 makes a run that can be repeated.
set -eu
seconds=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=${2-$source/build/fuzz}
mkdir -p "$folder/found"
folder=$(cd "$folder" && pwd)
cmake -S "$source" -B "$folder/build" -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_BUILD_TYPE=Debug \
  '-DCMAKE_C_FLAGS_DEBUG=-O1 -g1' -DHL_SANITIZE=ON -DHL_FUZZ=ON -DBUILD_TESTING=OFF >"$folder/build.log"
cmake --build "$folder/build" -j "$(nproc)" --target fuzz_text fuzz_loops fuzz_arrays fuzz_builder fuzz_modules >>"$folder/build.log"

# Text tests hold many modules each, parted by "// -----".
if [ ! -d "$folder/text" ]; then
  mkdir -p "$folder/text" "$folder/loops" "$folder/arrays" "$folder/builder" "$folder/modules"
  find "$source/tests" "$source/examples" -name '*.hlo' -size -40k | while read -r file; do
    name=$(echo "${file#"$source"/}" | tr '/' '_')
    awk -v stem="$folder/text/$name" '/^\/\/ -----/ { n++; next } { print > (stem "." n + 0) }' "$file"
  done
  cp "$source"/tests/loops/*.loops "$folder/loops"
  npy() { # DESCR ORDER SHAPE BYTES: a file; its header has 118 bytes
    printf '\223NUMPY\001\000\166\000'
    printf '%-117s\n' "{'descr': '$1', 'fortran_order': $2, 'shape': $3, }"
    printf "%${4}s" ''
  }
  npy '<f4' False '(3, 2)' 24 >"$folder/arrays/f4"
  npy '>f8' True '(2, 1)' 16 >"$folder/arrays/f8"
  npy '|b1' False '()' 1 >"$folder/arrays/b1"
  { # the last as an archive of one member, stored
    sizes='\334=\221\237\201\000\000\000\201\000\000\000\005\000\000\000'
    printf "PK\\003\\004\\024\\000\\000\\000\\000\\000\\000\\000\\000\\000${sizes}a.npy"
    cat "$folder/arrays/b1"
    printf "PK\\001\\002\\024\\000\\024\\000\\000\\000\\000\\000\\000\\000\\000\\000$sizes"
    printf '\000\000\000\000\000\000\000\000\000\000\000\000\000\000a.npy'
    printf 'PK\005\006\000\000\000\000\001\000\001\0003\000\000\000\244\000\000\000\000\000'
  } >"$folder/arrays/npz"
fi

fuzz() {
  dict=
  [ ! -e "$source/tests/fuzz/$1.dict" ] || dict=-dict=$source/tests/fuzz/$1.dict
  "$folder/build/tests/fuzz/fuzz_$1" ${dict:+"$dict"} -seed="${SEED-0}" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=3072 -print_final_stats=1 \
    -artifact_prefix="$folder/found/$1-" "$folder/$1" >"$folder/$1.log" 2>&1 || touch "$folder/failed"
}

rm -f "$folder/failed"
running=0
for name in modules builder text loops arrays; do
  fuzz $name &
  running=$((running + 1))
  [ $running -lt "$(nproc)" ] || { wait && running=0; }
done
wait
for name in text loops arrays builder modules; do
  sed -n 's/^stat::number_of_executed_units: */'"$name"' executions: /p; s/^SUMMARY: */'"$name"': /p' "$folder/$name.log"
done
[ ! -e "$folder/failed" ] || {
  echo "what made a fuzzer stop is in $folder/found" >&2
  exit 1
}
