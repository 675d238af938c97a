#!/bin/sh
# verify_suite.sh HLO_LITE FOLDER - small modules, legal and illegal: `check` accepts every file of FOLDER/ok, and reports an
# error at the very line and column that the first line of each file of FOLDER/bad names: // expect-error: LINE:COL: reason
set -eu
command=$1
folder=$2
passed=0
failed=0

# verdict STATUS MESSAGE: counts one file; MESSAGE says why it failed.
verdict() {
  if [ "$1" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '%s: %s\n' "$file" "$2"
  fi
}

for file in "$folder"/ok/*.hlo; do
  said=$("$command" check "$file" 2>&1) && status=0 || status=$?
  verdict "$status" "refused: $said"
done
for file in "$folder"/bad/*.hlo; do
  place=$(sed -n '1s/^.*expect-error: \([0-9]*:[0-9]*\):.*/\1/p' "$file")
  said=$("$command" check "$file" 2>&1) && status=0 || status=$?
  missing=0
  [ "$status" -eq 1 ] && printf '%s\n' "$said" | grep -q "\.hlo:$place: error: " || missing=1
  verdict $missing "status $status, no error at $place: $said"
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
