#!/bin/sh
# cross_bits.sh HLOTEST HLO_LITE TRIPLE [PATH]... - results are the same bits on another processor. Takes the run cases of the
# text tests named (tests/ops, tests/bits and the modules of examples/, if none is) on this machine and as executables for
# TRIPLE under qemu-user, and compares checksums. Needs qemu-user and the cross compiler: aarch64-linux-gnu-gcc for
# aarch64-linux-gnu; or qemu-system-arm and arm-none-eabi-gcc for thumbv7em-none-eabihf, a Cortex-M4F. Exit status 77 when they are not there.
#
#   sh tests/cross_bits.sh build/tests/hlotest build/hlo-lite riscv64-linux-gnu
set -eu
hlotest=$1
command=$2
triple=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $triple in
  thumbv7em-*) sh "$here/cortex_m_runner.sh" "$command" "$work" ;;
  *) sh "$here/cross_runner.sh" "$command" "$triple" "$work" ;;
esac

if [ $# -eq 0 ]; then
  mkdir "$work/modules"
  for file in "$here"/../examples/*.hlo; do
    { echo '// RUN: run'; cat "$file"; } >"$work/modules/$(basename "$file")"
  done
  set -- "$here/ops" "$here/bits" "$work/modules"
fi
here_sums() {
  "$hlotest" --checksums '--cpu=native' "$command" "$@" 2>/dev/null | grep -E '^[0-9a-f]{16} ' >"$work/here" || true
}
there_sums() {
  "$hlotest" --checksums '-O2' "$work/run" "$@" >"$work/log" 2>&1 || true
  grep -E '^[0-9a-f]{16} ' "$work/log" >"$work/there" || true
}
here_sums "$@" &
there_sums "$@"
wait
diff "$work/here" "$work/there" >"$work/diff" && differing=0 || differing=$(grep -c '^<' "$work/diff" || true)
cat "$work/diff"
grep -vE '^[0-9a-f]{16} ' "$work/log" | head -20
echo "$triple: $(($(wc -l <"$work/here") - differing)) passed, $differing failed"
[ "$differing" -eq 0 ] && [ -s "$work/here" ]
