#!/bin/sh
# rules.sh - every rule of ir/rules.def is named by a test: by its label in a text test or a unit suite, or by its enumerator in
# a unit suite.
set -eu
cd "$(dirname "$0")/.."
failed=0
count=0

# "ID label" of every row
rows=$(sed -n -E 's/^HL_RULE\(([A-Z0-9_]+), *"([^"]+)".*/\1 \2/p' ir/rules.def)
[ -n "$rows" ] || { echo "no rules found"; exit 1; }

while read -r id label; do
  count=$((count + 1))
  grep -rqE -- "(^|[^a-z0-9-])$label([^a-z0-9-]|\$)|HL_RULE_$id([^A-Z0-9_]|\$)" tests --include='*.hlo' --include='*.c' && continue
  echo "no test names the rule $label"
  failed=$((failed + 1))
done <<END
$rows
END

echo "$count rules, $failed without a test"
[ $failed -eq 0 ]
