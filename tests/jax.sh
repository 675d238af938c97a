#!/bin/sh
# jax.sh HLO_LITE - the walk of docs/jax.md from the training to the C programs, in an empty folder: train_mlp.py and train_cnn.py run,
# and the programs around what they wrote say that their predictions are JAX's. The Python is HLO_PYTHON, else python3. Exit status 77
# when it has no jax, flax or optax; the stored exports are run by examples.sh all the same.
set -eu
HLO_LITE=$1
export HLO_LITE
python=${HLO_PYTHON:-python3}
source=$(cd "$(dirname "$0")/.." && pwd)
"$python" -c 'import jax, flax, optax' 2>/dev/null || { echo "$python has no jax, flax or optax"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$source"/examples/jax/*.py "$source"/examples/jax/*.c .
"$python" train_mlp.py
"$python" train_cnn.py
"${CC:-cc}" spirals.c spirals.o spirals_embedded.o -o spirals
"$HLO_LITE" compile cnn.hlo
"${CC:-cc}" cnn.c cnn.o -o cnn
./spirals | tail -2 | tee said
grep -q '^as JAX said$' said && grep -q 'the same bits$' said
./cnn | tail -1 | tee said
grep -q '^as JAX said$' said
