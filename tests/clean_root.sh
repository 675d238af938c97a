#!/bin/sh
# clean_root.sh BUILD ROOT - installs the Debian packages of a build (`cpack -G DEB` there) in a clean Debian 12, and builds outside
# projects against them: a program by pkg-config, one by the CMake package, an object, an executable and a shared library of the
# command. ROOT is made by debootstrap unless it is there; as root. Asks the servers of Debian, so that it is no ctest.
set -eu
build=$(cd "$1" && pwd)
root=$2
source=$(cd "$(dirname "$0")/.." && pwd)
[ -d "$root/etc" ] || debootstrap --variant=minbase bookworm "$root"

in_root() {
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -euc "$1"
}

rm -rf "$root/root/try"
mkdir -p "$root/root/try"
cp "$build"/hlo-lite_*.deb "$build"/libhlo-lite-dev_*.deb "$source"/examples/*.hlo "$source"/examples/*.c "$source"/examples/*.cpp "$root/root/try"
cp -r "$source/tests/package" "$root/root/try"

in_root 'apt-get -q update'
in_root 'cd /root/try; apt-get -q install -y ./hlo-lite_*.deb ./libhlo-lite-dev_*.deb; apt-get -q check'
echo "== the command, without a compiler of ours"
in_root 'cd /root/try; hlo-lite --version; hlo-lite run bias_add.hlo --fill=ones | head -1
         hlo-lite compile mlp.hlo; hlo-lite compile weighted_loss.hlo --emit=shared -o weighted_loss.so
         hlo-lite compile sgd_step.hlo --emit=exe -o sgd_step; ./sgd_step --random 1 -o results/
         test -s /usr/share/man/man1/hlo-lite-run.1 -o -s /usr/share/man/man1/hlo-lite-run.1.gz'
echo "== outside projects"
in_root 'apt-get -q install -y --no-install-recommends pkgconf cmake make g++'
in_root 'cd /root/try
         cc jit.c $(pkg-config --cflags --libs hlo_lite) -o jit; ./jit
         cc builder.c $(pkg-config --cflags --libs hlo_lite) -lm -o builder; ./builder >/dev/null
         c++ -std=c++17 builder.cpp $(pkg-config --cflags --libs hlo_lite) -o builder_cpp; ./builder_cpp >/dev/null
         cc link_object.c mlp.o $(pkg-config --cflags --libs hlo_lite_rt) -o link_object; ./link_object | tail -1
         cc dlopen_library.c -o dlopen_library; ./dlopen_library ./weighted_loss.so
         cmake -S package -B package/build -DSOURCE=/root/try >/dev/null; cmake --build package/build; ./package/build/jit
         ./package/build/link_object | tail -1'
echo "== removed again"
in_root 'apt-get -q purge -y hlo-lite libhlo-lite-dev >/dev/null; ! command -v hlo-lite; ! ls /usr/lib/*/libhlo_lite* 2>/dev/null'
rm -r "$root/root/try"
echo "1 passed, 0 failed"
