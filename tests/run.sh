#!/bin/sh
# Installs the packages, builds and runs all tests, from a bare Debian 12 and a checkout.
#
#   sh tests/run.sh            everything: the build that ships with all tests, a build by the second compiler, a minute
#                              of each fuzzer, and all tests again under the address and undefined-behaviour sanitizers
#   sh tests/run.sh --quick    the build that ships and its tests
set -eu

cd "$(dirname "$0")/.."
jobs=$(nproc)

say() {
  printf '\n== %s\n' "$*"
}

# configure FOLDER OPTION...: quiet unless it fails.
configure() {
  folder=$1
  shift
  cmake -S . -B "$folder" -DHL_WERROR=ON "$@" >"$folder.log" 2>&1 || {
    cat "$folder.log"
    exit 1
  }
}

run_tests() {
  ctest --test-dir "$1" --output-on-failure -j "$jobs"
}

quick=no
case ${1-} in
  '') ;;
  --quick) quick=yes ;;
  *)
    echo "usage: sh tests/run.sh [--quick]" >&2
    exit 2
    ;;
esac

say packages
sh .ci/install-packages.sh
mkdir -p build

say "gcc, release"
configure build/release -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release
cmake --build build/release -j "$jobs"
run_tests build/release

say "quick start"
sh examples/quickstart.sh
[ $quick = no ] || exit 0

say "clang, warnings are errors"
configure build/clang -DCMAKE_C_COMPILER=clang-19 -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0
cmake --build build/clang -j "$jobs"

say "fuzzers, a minute each"
SEED=1 sh tests/fuzz/run.sh 60 build/fuzz

# A debug build, so that asserts hold and each pass is followed by the verifier.
say "gcc, sanitizers"
configure build/sanitize -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug '-DCMAKE_C_FLAGS_DEBUG=-O1 -g1' -DHL_SANITIZE=ON
cmake --build build/sanitize -j "$jobs"
run_tests build/sanitize
