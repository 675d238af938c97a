#!/bin/sh
# docs.sh - what the documents name is there: files in links, and files in backquotes, from the top of the tree, below tests/ or
# below the document's folder; names in capitals stand for many. And each row of the long table of docs/numerics.md names a test.
set -eu
cd "$(dirname "$0")/.."
count=0
failed=0

for page in README.md docs/*.md tests/README.md; do
  names=$(
    {
      grep -oE '\]\([^)#:]+' "$page" | sed 's/^](//'
      grep -oE '`[A-Za-z0-9_.-]+/[A-Za-z0-9_./-]+\.(c|h|hlo|loops|sh|def|inc|md|py|sollya)`' "$page" | tr -d '`'
    } | sort -u
  )
  for name in $names; do
    case $name in http* | */[A-Z]*.hlo) continue ;; esac
    count=$((count + 1))
    for folder in . tests "$(dirname "$page")"; do
      [ ! -e "$folder/$name" ] || continue 2
    done
    echo "$page names $name, which does not exist"
    failed=$((failed + 1))
  done
done

unpinned=$(awk -F'|' '/^\| rule \| choice/ { inside = 1 } !/^\|/ { inside = 0 } inside && $2 !~ /---/ && $2 !~ /rule/ && $5 !~ /`.*`/' docs/numerics.md)
if [ -n "$unpinned" ]; then
  echo "docs/numerics.md: no test pins"
  echo "$unpinned"
  failed=$((failed + 1))
fi

echo "$count names, $failed faults"
[ $failed -eq 0 ] && [ $count -gt 100 ]
