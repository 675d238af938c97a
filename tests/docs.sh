#!/bin/sh
# docs.sh - what the documents name is there: files in links, and files in backquotes, from the top of the tree, below tests/ or
# below the document's folder; names in capitals stand for many. Examples stand in fenced blocks that docs_page.sh runs, which are
# `console` or name a file; settings of editors apart, and the page that the command writes (options_page.sh, sessions/help.txt). Every
# page stands in the index of README.md. The log of changes has the version and each tag. And each row of the long table of docs/numerics.md names a test.
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

for page in README.md docs/*.md; do
  case $page in docs/options.md | docs/ops.md | docs/design.md) continue ;; esac # the first two have tests of their own
  awk -v page="$page" '
    /^```/ && !inside {
      inside = 1
      kind = substr($1, 4)
      if (kind != "" && kind != "console" && kind !~ /^(vim|lua|lisp)$/ && NF != 2) { bad = 1; print page ":" NR ": a block that nothing runs" }
      if (kind == "sh" && system("test -f " $2)) { bad = 1; print page ":" NR ": no test " $2 }
      next
    }
    /^```/ { inside = 0; next }
    (!inside && /^    (\$ |hlo-lite |sh |cc |HloModule |ENTRY )/) || (inside && kind == "" && /^(\$ |hlo-lite |HloModule |ENTRY )/) {
      bad = 1
      print page ":" NR ": an example that nothing runs"
    }
    END { exit bad }' "$page" || failed=$((failed + 1))
  [ "$page" = README.md ] || grep -q "($page)" README.md || { echo "README.md does not list $page"; failed=$((failed + 1)); }
done

version=$(sed -n 's/^project(hlo_lite VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
first=$(sed -n 's/^## \([0-9.]*\).*/\1/p' docs/CHANGELOG.md | head -1)
[ "$version" = "$first" ] || { echo "docs/CHANGELOG.md begins with $first, not $version"; failed=$((failed + 1)); }
for tag in $(git tag -l 'v[0-9]*' 2>/dev/null); do
  grep -q "^## ${tag#v}" docs/CHANGELOG.md || { echo "docs/CHANGELOG.md has no ${tag#v}"; failed=$((failed + 1)); }
done

unpinned=$(awk -F'|' '/^\| rule \| choice/ { inside = 1 } !/^\|/ { inside = 0 } inside && $2 !~ /---/ && $2 !~ /rule/ && $5 !~ /`.*`/' docs/numerics.md)
if [ -n "$unpinned" ]; then
  echo "docs/numerics.md: no test pins"
  echo "$unpinned"
  failed=$((failed + 1))
fi

echo "$count names, $failed faults"
[ $failed -eq 0 ] && [ $count -gt 100 ]
