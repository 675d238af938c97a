#!/bin/sh
# libc_stub.sh CC OBJECT OUTPUT - a shared library with the name and the symbol versions of this system's libc that defines what
# OBJECT asks of it, and nothing more. Libraries are linked against it: `ld` reads it at once, where libc itself takes 5 ms.
set -eu
cc=$1
object=$2
output=$3
libc=$($cc -print-file-name=libc.so.6)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -u "$object" | awk '{ print $2 }' >"$work/wanted"
# "symbol version" of the default versions, in the order of the symbols wanted
readelf -W --dyn-syms "$libc" | awk 'split($8, part, "@@") == 2 { print part[1], part[2] }' >"$work/known"
awk 'NR == FNR { version[$1] = $2; next }
     !($1 in version) { print "libc has no " $1 > "/dev/stderr"; exit 1 }
     { print $1, version[$1] }' "$work/known" "$work/wanted" >"$work/versions"

# A version of its own for each name; none inherits, so all stand alone.
awk '{ list[$2] = list[$2] " " $1 ";" } END { for (v in list) print v " { global:" list[v] " };" }' "$work/versions" | sort >"$work/script"
awk '{ print ".globl " $1 "\n.type " $1 ", %function\n" $1 ":" } END { print ".section .note.GNU-stack,\"\",%progbits" }' "$work/versions" >"$work/stub.s"
$cc -c "$work/stub.s" -o "$work/stub.o"
ld -shared -soname libc.so.6 --version-script="$work/script" --build-id=none --hash-style=gnu "$work/stub.o" -o "$output"
