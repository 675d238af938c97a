#!/bin/sh
# cross_runner.sh HLO_LITE TRIPLE FOLDER - writes FOLDER/run, which takes the place of HLO_LITE in `run FLAGS MODULE ARGUMENTS`: it makes
# an executable for TRIPLE and runs it under qemu-user. Exit status 77 when the cross compiler or qemu are not there.
set -eu
command=$(realpath "$1")
triple=$2
work=$3
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
# The executable has no evaluator beside it; its results are compared with those here.
for word; do
  shift
  [ "\$word" = --check ] || set -- "\$@" "\$word"
done
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

