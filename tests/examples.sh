#!/bin/sh
# examples.sh BUILD - installs the build under a prefix of its own, then builds and runs every program of examples/ as its
# head comment says, and looks at what objects and libraries define and ask for. CFLAGS is for sanitizer builds.
set -eu
build=$1
source=$(cd "$(dirname "$0")/.." && pwd)
work=$build/examples
prefix=$work/prefix

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$prefix" >"$work/install.log"
cd "$work"
cp "$source"/examples/*.hlo "$source"/examples/*.c "$source"/examples/*.cpp "$source"/examples/jax/cnn* "$source"/examples/jax/spirals* \
  "$source"/examples/cortex-m/[dm]*.[ch]* .
cp -r "$source/tests/package" .
PATH=$prefix/bin:$PATH
libdir=$(dirname "$(find "$prefix" -name libhlo_lite.so)")
PKG_CONFIG_PATH=$libdir/pkgconfig
LD_LIBRARY_PATH=$libdir
export PATH PKG_CONFIG_PATH LD_LIBRARY_PATH

passed=0
failed=0

# verdict STATUS NAME OUTPUT: counts one check; its output is shown if it failed.
verdict() {
  if [ "$1" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '%s failed:\n%s\n' "$2" "$3"
  fi
}

# try FUNCTION ARGUMENT...: it must succeed, and print what expected/FUNCTION.txt holds if there is such a file.
try() {
  said=$("$@" 2>&1) && status=0 || status=$?
  expected=$source/examples/expected/$1.txt
  if [ "$status" -eq 0 ] && [ -f "$expected" ] && [ "$said" != "$(cat "$expected")" ]; then
    status=1
  fi
  verdict "$status" "$*" "$said"
}

# same TEXT FUNCTION: it must print these words, parted by blanks or line ends.
same() {
  said=$("$2" 2>&1 | tr -s ' \n' '  ' | sed 's/^ //; s/ $//')
  [ "$said" = "$1" ] && status=0 || status=1
  verdict "$status" "$2" "$said"
}

# build OUTPUT SOURCE...: with the flags of a sanitizer build, else with none.
build() {
  output=$1
  shift
  # shellcheck disable=SC2086 # words
  ${CC:-cc} ${CFLAGS-} "$@" -o "$output"
}

# ---- the programs ----

link_object() {
  hlo-lite compile mlp.hlo && build link_object link_object.c mlp.o && ./link_object
}
dlopen_library() {
  hlo-lite compile weighted_loss.hlo --emit=shared -o weighted_loss.so && build dlopen_library dlopen_library.c &&
    ./dlopen_library ./weighted_loss.so
}
jit() {
  # shellcheck disable=SC2046 # words
  build jit jit.c $(pkg-config --cflags --libs hlo_lite) && ./jit
}
cnn() {
  hlo-lite compile cnn.hlo && build cnn cnn.c cnn.o && ./cnn
}
# Weights as arguments, from an archive, compiled in: the same predictions.
spirals() {
  hlo-lite compile spirals.hlo && hlo-lite compile spirals_embedded.hlo &&
    build spirals spirals.c spirals.o spirals_embedded.o && ./spirals
}
spirals_archive() {
  echo 'ENTRY e { ROOT points = f32[512,2] parameter(0) }' >points.hlo && hlo-lite run points.hlo --random 3 -o points.npy &&
    hlo-lite run spirals_embedded.hlo points.npy -o want.npy && hlo-lite run spirals.hlo spirals.npz points.npy -o run.npy &&
    hlo-lite compile spirals.hlo --emit=exe -o spirals_exe && ./spirals_exe spirals.npz points.npy -o exe.npy &&
    cmp want.npy run.npy && cmp want.npy exe.npy || return 1
  hlo-lite run spirals.hlo spirals.npz 2>said && return 1
  grep -q "no member 'points'" said || return 1
  ./spirals_exe spirals.npz points.npy points.npy 2>said && return 1
  grep -q 'every argument has an array already' said || return 1
  ./spirals_exe spirals.npz want.npy 2>said && return 1
  grep -q 'parameter 6, points, is f32\[512,2\]' said
}
digits() {
  hlo-lite compile mlp_f32.hlo --threads=off && hlo-lite compile mlp_int8.hlo --threads=off &&
    build digits digits.c mlp_f32.o mlp_int8.o && ./digits
}
builder() {
  # shellcheck disable=SC2046 # words
  build builder builder.c $(pkg-config --cflags --libs hlo_lite) -lm && ./builder
}
builder_cpp() {
  # shellcheck disable=SC2046,SC2086 # words
  ${CXX:-c++} ${CFLAGS-} -std=c++17 -Wall -Wextra -Werror builder.cpp $(pkg-config --cflags --libs hlo_lite) -o builder_cpp &&
    ./builder_cpp
}
own_pool() {
  hlo-lite compile softmax.hlo && build own_pool own_pool.c softmax.o && ./own_pool
}
executable() {
  hlo-lite compile sgd_step.hlo --emit=exe -o sgd_step && ./sgd_step --random 1 -o results/ &&
    hlo-lite run sgd_step.hlo --random 1 -o again/ && cmp results/0.npy again/0.npy && cmp results/1.npy again/1.npy
}
compiles() {
  hlo-lite compile "$1" -o each.o
}
for program in link_object cnn spirals spirals_archive digits dlopen_library jit builder builder_cpp own_pool executable; do
  try $program
done
for file in *.hlo; do
  try compiles "$file"
done

# ---- objects ----

undefined_without_threads() {
  hlo-lite compile softmax.hlo --threads=off -o alone.o && nm -u alone.o
}
undefined() {
  nm -u softmax.o
}
defined() {
  nm -g --defined-only softmax.o | cut -d' ' -f3 | sort
}
exported() {
  nm -D --defined-only weighted_loss.so | cut -d' ' -f3 | grep -v '^hlo_parallel_for$' | sort
}
# What the pool takes of the C library has its version, though the linker never saw that library.
without_version() {
  nm -D --undefined-only threads.so | grep -v '@'
}
needed() {
  hlo-lite compile softmax.hlo --emit=shared -o threads.so && readelf -dW threads.so | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}
small() {
  hlo-lite compile bias_gelu.hlo && wc -c bias_gelu.o bias_gelu.h && [ "$(cat bias_gelu.o bias_gelu.h | wc -c)" -lt 20480 ]
}
# valid LANGUAGE STANDARD HEADER...
valid() {
  language=$1 standard=$2
  shift 2
  printf '#include <%s>\n' "$@" |
    ${CC:-cc} -x "$language" -std="$standard" -Wall -Wextra -pedantic -Werror -fsyntax-only -I. -I"$prefix/include" -
}
same '' undefined_without_threads
same 'w hlo_parallel_for' undefined
same 'softmax softmax_signature softmax_workspace_bytes' defined
same 'weighted_loss weighted_loss_signature weighted_loss_workspace_bytes' exported
same 'libc.so.6' needed
same '' without_version
try small
try valid c c11 mlp.h hlo_lite.h hlo_runtime.h
try valid c++ c++11 mlp.h hlo_lite.h hlo_runtime.h

# ---- the installed libraries ----

foreign_in_shared() {
  nm -D --defined-only "$libdir/libhlo_lite.so" | cut -d' ' -f3 | grep -v '^hlo_'
}
foreign_in_static() {
  nm -g --defined-only "$libdir/libhlo_lite.a" 2>/dev/null | sed -n 's/^[0-9a-f]* [A-Z] //p' | grep -v '^hlo_'
}
package() {
  rm -rf package/build
  cmake -S package -B package/build -DCMAKE_PREFIX_PATH="$prefix" -DSOURCE="$work" -DCMAKE_C_FLAGS="${CFLAGS-}" &&
    cmake --build package/build && ./package/build/jit && ./package/build/link_object
}
same '' foreign_in_shared
same '' foreign_in_static
try package

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
