#!/bin/sh
# From a bare Debian 12 and a checkout to a model that a C program calls: installs packages, builds hlo-lite, compiles mlp.hlo (a
# classifier that JAX trained and printed) and links it into link_object.c.
set -eu

cd "$(dirname "$0")/.."

sh .ci/install-packages.sh
cmake -S . -B build/release -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release
cmake --build build/release -j "$(nproc)" --target hlo-lite

mkdir -p build/quickstart
cp examples/mlp.hlo examples/link_object.c build/quickstart
cd build/quickstart
set -x
../release/hlo-lite compile mlp.hlo
cc link_object.c mlp.o -o link_object
./link_object
