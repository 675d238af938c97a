#!/bin/sh
# static.sh BUILD - the command as one file, hlo-lite-static: it asks for nothing of a system, and works in a folder that has nothing
# else (as root, else with what the system has); what it would have to load is refused.
set -eu
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
cmake --build "$build" --target hlo-lite-static >/dev/null
command=$build/hlo-lite-static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

expect() {
  if eval "$2"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $1"
  fi
}

# In the folder, as all that there is.
alone() {
  if chroot "$work" /hlo-lite --version >/dev/null 2>&1; then
    chroot "$work" /hlo-lite "$@"
  else
    (cd "$work" && "$command" "$@")
  fi
}

cp "$here"/../examples/bias_add.hlo "$here"/../examples/mlp.hlo "$here/programs/cho_solve.hlo" "$work"
cp "$command" "$work/hlo-lite"
expect 'no loader and no libraries' '! readelf -lW "$command" | grep -qE "INTERP|DYNAMIC"'
for file in bias_add mlp; do
  alone run $file.hlo --random 1 >"$work/said"
  "$build/hlo-lite" run "$work/$file.hlo" --random 1 >"$work/wanted"
  expect "$file: the same bits" 'cmp "$work/said" "$work/wanted"'
  alone compile $file.hlo
  mv "$work/$file.o" "$work/said"
  "$build/hlo-lite" compile "$work/$file.hlo" -o "$work/$file.o"
  expect "$file: the same object" 'cmp "$work/said" "$work/$file.o"'
done
expect 'LAPACK is refused' 'alone run cho_solve.hlo --random 1 2>&1 | grep -q "linked statically and loads no libraries"'
expect 'libraries are refused' 'alone run bias_add.hlo --random 1 --custom-calls=a.so 2>&1 | grep -q "linked statically"'
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
