#!/bin/sh
# cross_example.sh HLO_LITE TRIPLE - the programs around objects (examples/link_object.c, jax/cnn.c, jax/spirals.c) as docs/embedded.md links
# them for another processor, under qemu-user: they print what they print on this machine. Exit status 77 without the tools.
set -eu
command=$1
triple=$2
source=$(cd "$(dirname "$0")/.." && pwd)
qemu=qemu-${triple%%-*}
for tool in "$triple-gcc" "$qemu"; do
  command -v "$tool" >/dev/null || { echo "no $tool"; exit 77; }
done
case $triple in
  riscv64-*) machine='--cpu=generic-rv64 --features=+m,+a,+f,+d,+c' ;;
  *) machine= ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$source"/examples/*.hlo "$source"/examples/link_object.c "$source"/examples/jax/* .

# runs PROGRAM MODULE...: what the program of that name prints.
runs() {
  program=$1
  shift
  objects=
  for module; do
    # shellcheck disable=SC2086 # words
    "$command" compile "$module.hlo" --target="$triple" $machine
    objects="$objects $module.o"
  done
  # shellcheck disable=SC2086 # words
  "$triple-gcc" -static "$program.c" $objects -o "$program"
  "$qemu" "./$program" >said.txt
  diff "$source/examples/expected/$program.txt" said.txt
  echo "$program: $(wc -c <"$1.o") bytes of $1.o, the same output"
}
runs link_object mlp
runs cnn cnn
runs spirals spirals spirals_embedded
