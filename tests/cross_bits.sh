#!/bin/sh
# cross_bits.sh HLOTEST HLO_LITE TRIPLE [PATH]... - results are the same bits on another processor. Takes the run cases of the
# text tests named (tests/ops, tests/bits and the modules of examples/, if none is) on this machine and as executables for
# TRIPLE under qemu-user, and compares checksums. Needs qemu-user and the cross compiler: aarch64-linux-gnu-gcc for
# aarch64-linux-gnu. Exit status 77 when they are not there.
#
#   sh tests/cross_bits.sh build/tests/hlotest build/hlo-lite riscv64-linux-gnu
set -eu
hlotest=$1
command=$2
triple=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
cc=$triple-gcc
qemu=qemu-${triple%%-*}
case $triple in
  riscv64-*) machine='--cpu=generic-rv64 --features=+m,+a,+f,+d,+c' ;;
  *) machine= ;;
esac
for tool in "$cc" "$qemu"; do
  command -v "$tool" >/dev/null || { echo "no $tool"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What main.o is on this machine.
for file in pool io npy zip values print arguments main_exe; do
  "$cc" -std=c17 -O2 -ffp-contract=off -D_DEFAULT_SOURCE -DHLO_RT_WEAK -I"$here/.." -c "$here/../runtime/$file.c" -o "$work/$file.o"
done
mkdir "$work/rt" && mv "$work"/*.o "$work/rt"
cat >"$work/cc" <<EOF
#!/bin/sh
for word; do
  shift
  case \$word in
    */main.o) set -- "\$@" "$work"/rt/*.o ;;
    *) set -- "\$@" "\$word" ;;
  esac
done
exec $cc -static "\$@"
EOF

# `hlo-lite run FLAGS MODULE ARGUMENTS` as an executable for the other machine.
cat >"$work/run" <<EOF
#!/bin/sh
set -e
shift
flags=
while case \$1 in -*) true ;; *) false ;; esac; do
  flags="\$flags \$1"
  shift
done
folder=\$(mktemp -d "$work/XXXXXX")
trap 'rm -rf "\$folder"' EXIT
"$command" compile --emit=exe --target=$triple $machine \$flags --cc="$work/cc" -o "\$folder/exe" "\$1"
shift
$qemu "\$folder/exe" "\$@"
EOF
chmod +x "$work/cc" "$work/run"

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
