#!/bin/sh
# coverage.sh [BUILD_FOLDER] - how much of the compiler the tests run: builds with line coverage (default: build/coverage), runs
# every test but the examples, and prints, for each folder, the lines that ran. With -v as first argument also a line for each file.
# Fails if a test fails, if fewer than 95 % of all lines ran, or if a folder is below 90 %. What is left and why: docs/contributing.md.
# Needs gcov, which comes with gcc.
set -eu
cd "$(dirname "$0")/.."
verbose=0
if [ "${1-}" = -v ]; then
  verbose=1
  shift
fi
build=${1:-build/coverage}
jobs=${JOBS:-$(nproc)}

cmake -S . -B "$build" -DCMAKE_C_COMPILER=gcc -DHL_COVERAGE=ON >/dev/null
cmake --build "$build" -j "$jobs" >/dev/null
find "$build" -name '*.gcda' -exec rm -f {} +
# The examples are built against an installed library, and ways that must agree in bits run no code that one way does not.
failed=0
CK_TIMEOUT_MULTIPLIER=20 ctest --test-dir "$build" -j "$jobs" -LE 'examples|rules' -E same_bits >"$build/ctest.log" || failed=1
grep -E 'tests passed|\*\*\*' "$build/ctest.log"

# gcov says "File 'ir/op.c'" and "Lines executed:97.10% of 69" for each file of each object. A file that is compiled more than once
# (headers, math for two types) counts as its best object does.
find "$PWD/$build" -name '*.gcno' ! -path '*/tests/*' -exec gcov -n -r -s "$PWD" {} + 2>/dev/null |
  awk -v verbose=$verbose -v failed=$failed '
    # ccache names files from the build folder.
    /^File / { file = $2; gsub(/\047/, "", file); while (sub(/^\.\.\/|[^\/]+\/\.\.\//, "", file)) {} }
    /^Lines executed:/ && file != "" {
      split($2, part, /[:%]/)
      ran = int(part[2] * $4 / 100 + 0.5)
      if (!(file in lines) || ran > hit[file]) { hit[file] = ran; lines[file] = $4 }
      file = "" # the line without a file is the sum of all
    }
    END {
      for (file in lines) {
        folder = file
        if (!sub(/\/[^\/]*$/, "", folder) || folder ~ /^\// || folder ~ /^build/) continue
        sum[folder] += lines[file]
        got[folder] += hit[file]
        if (verbose) printf "%6.1f %%  %5d of %5d  %s\n", 100 * hit[file] / lines[file], hit[file], lines[file], file | "sort -k5"
      }
      if (verbose) { close("sort -k5"); print "" }
      for (folder in sum) {
        percent = 100 * got[folder] / sum[folder]
        printf "%6.1f %%  %5d of %5d  %s/\n", percent, got[folder], sum[folder], folder
        if (percent < 90) low = 1
        all_lines += sum[folder]
        all_ran += got[folder]
      }
      percent = all_lines ? 100 * all_ran / all_lines : 0
      printf "%6.1f %%  %5d of %5d  all\n", percent, all_ran, all_lines
      exit low || failed || percent < 95
    }'
