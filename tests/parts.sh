#!/bin/sh
# parts.sh HLO_LITE - a program that is large enough to be compiled in several parts at once is one object like any other: the same
# bytes on one processor and on all, its three symbols and no others, and results that --check accepts.
set -eu
hlo_lite=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Many kernels: arrays of different shapes; sine has a function of its own.
awk 'BEGIN {
  print "HloModule parts\nENTRY e {\n  x = f32[] parameter(0)"
  for (i = 1; i <= 30; i++) {
    n = i == 1 ? 300000 : 100 + 7 * i # the first is large enough for threads
    printf "  w%d = f32[%d] broadcast(x), dimensions={}\n  i%d = f32[%d] iota(), iota_dimension=0\n", i, n, i, n
    printf "  m%d = f32[%d] add(w%d, i%d)\n  t%d = f32[%d] %s(m%d)\n", i, n, i, i, i, n, i % 3 ? "sine" : "tanh", i
    shapes = shapes (i > 1 ? ", " : "") "f32[" n "]"
    values = values (i > 1 ? ", " : "") "t" i
  }
  print "  ROOT r = (" shapes ") tuple(" values ")\n}"
}' >parts.hlo

fail=0
first=$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//') # of the processors that we may use
check() {
  if "$@" >out 2>&1; then return; fi
  fail=$((fail + 1))
  echo "failed: $*"
  cat out
}
same_on_one_processor() {
  "$hlo_lite" compile parts.hlo "$@" -o all.o &&
    taskset -c "$first" "$hlo_lite" compile parts.hlo "$@" -o one.o &&
    cmp all.o one.o
}
has_parts() {
  "$hlo_lite" compile parts.hlo -o parts.o &&
    [ "$(readelf -SW parts.o | grep -c ' \.text ')" -gt 1 ]
}
symbols() {
  [ "$(nm -g --defined-only parts.o | cut -d' ' -f3 | sort | tr '\n' ' ')" = 'parts parts_signature parts_workspace_bytes ' ] &&
    [ "$(nm -u parts.o | tr -s ' ')" = ' w hlo_parallel_for' ]
}
check has_parts
check symbols
check same_on_one_processor
check same_on_one_processor --target=aarch64-linux-gnu
check same_on_one_processor --target=riscv64-linux-gnu
check same_on_one_processor --target=arm-none-eabi
check "$hlo_lite" run --check --random 1 parts.hlo
check "$hlo_lite" compile parts.hlo --emit=shared

# Loops in loops, more than one function holds.
sh "$here/large.sh" whiles 300 >whiles.hlo
deep_whiles() {
  nm -a whiles.o >names && [ "$(grep -c ' t run' names)" -gt 10 ] && "$hlo_lite" run --check --random 1 whiles.hlo &&
    "$hlo_lite" run --check --random 1 -O0 whiles.hlo
}
check "$hlo_lite" compile whiles.hlo -o whiles.o
check deep_whiles
[ "$fail" -eq 0 ]
