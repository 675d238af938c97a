#!/bin/sh
# gdb.sh HLO_LITE - gdb in code that `run -g` makes: a breakpoint at a line of the module, the line, and who called; also of the command
# without its symbols. 77: there is no gdb, or it may run nothing.
set -eu
command -v gdb >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gdb -nx -batch -ex run --args true 2>&1 | grep -q 'exited normally' || exit 77
strip -o "$work/hlo-lite" "$1"
failed=0

printf 'Breakpoint 1, kernel () at softmax.hlo:31\n31  e = f32[8192,1024] exponential(shifted)\n#1  run () at softmax.hlo:33\n' >"$work/wanted"
for command in "$(realpath "$1")" "$work/hlo-lite"; do
  (cd "$(dirname "$0")/../examples" &&
    gdb -nx -batch -ex 'set breakpoint pending on' -ex 'break softmax.hlo:31' -ex run -ex 'bt 2' \
      --args "$command" run -g --threads=off softmax.hlo --fill=ones </dev/null 2>&1) >"$work/all"
  grep -E 'Breakpoint 1, |^31|^#1 ' "$work/all" | sed 's/0x[0-9a-f]* in //; s/\t//' >"$work/said"
  diff "$work/wanted" "$work/said" || { cat "$work/all"; failed=1; }
done
[ $failed -eq 0 ] && echo "gdb shows lines of the module"
