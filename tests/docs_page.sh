#!/bin/sh
# docs_page.sh [--update] BUILD PAGE.md - does what a page says, from its top to its end, in a copy of the folder examples, with the command
# and the C library as a build installs them (BUILD/docs/prefix). Of its fenced blocks
#   console       each line `$ COMMAND` must print what stands below it; `...` stands for any lines, a last line [N] for a status
#   KIND FILE     is written as FILE, unless there is such a file below the top of the tree, of which it must be a part
#   sh FILE       is for a reader's machine; FILE is the test that does the same
# --update writes outputs that differ into the page: review the diff.
set -eu
update=
if [ "$1" = --update ]; then
  update=yes
  shift
fi
build=$(realpath "$1")
page=$(realpath "$2")
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/tree/tests" "$work/bin" "$work/steps"
cp -r "$top/examples" "$work/tree"
ln -s "$top/tests/sessions" "$work/tree/tests/sessions"
printf '#!/bin/sh\nexec gcc %s "$@"\n' "${CFLAGS-}" >"$work/bin/cc"
chmod +x "$work/bin/cc"
prefix=$build/docs/prefix
LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name libhlo_lite.so)")
PKG_CONFIG_PATH=$LD_LIBRARY_PATH/pkgconfig
PATH=$work/bin:$prefix/bin:$PATH
export LD_LIBRARY_PATH PKG_CONFIG_PATH PATH
cd "$work/tree/examples"

# The steps: N.command with N.wanted, from lines N.at; or N.text with the file's name in N.name.
awk -v steps="$work/steps/" '
  function start() { n++; name = sprintf("%s%04d", steps, n) }
  /^```/ && inside { inside = 0; if (kind == "console") print NR - 1 >(name ".end"); next }
  /^```/ {
    inside = 1
    kind = substr($1, 4)
    if (kind != "console" && NF > 1) { start(); print $2 >(name ".name"); print kind >(name ".kind"); printf "" >(name ".text") }
    else if (kind != "console") kind = ""
    more = 0
    next
  }
  !inside || kind == "" { next }
  kind != "console" { print >(name ".text"); next }
  more { print >(name ".command"); more = /\\$/; if (!more) print NR >(name ".at"); next }
  /^\$ / {
    if (n && !((name ".end") in ended)) { print NR - 1 >(name ".end"); ended[name ".end"] = 1 }
    start()
    printf "" >(name ".wanted")
    print substr($0, 3) >(name ".command")
    more = /\\$/
    if (!more) print NR >(name ".at")
    next
  }
  { print >(name ".wanted") }' "$page"

# matches WANTED SAID: equal but for `...`.
matches() {
  awk -v said="$2" '
    BEGIN { while ((getline line <said) > 0) out[++lines] = line; at = 1 }
    { want[++n] = $0 }
    function fits(i, k) {
      for (; i <= n; i++) {
        if (want[i] == "...") {
          if (i == n) return 1
          for (; k <= lines; k++) if (fits(i + 1, k)) return 1
          return 0
        }
        if (k > lines || out[k++] != want[i]) return 0
      }
      return k > lines
    }
    END { exit !fits(1, 1) }' "$1"
}

# A part of a file: each line of it, blanks at the ends apart, stands in the file.
is_part() {
  sed 's/^ *//; s/ *$//' "$2" | sort -u >"$work/lines"
  ! sed 's/^ *//; s/ *$//' "$1" | grep -vxFf "$work/lines" | grep .
}

count=0
failed=0
for step in "$work"/steps/*.text "$work"/steps/*.command; do
  echo "$step"
done | grep -v '\*' | sort >"$work/order"
while read -r step; do
  base=${step%.*}
  count=$((count + 1))
  if [ "${step##*.}" = text ]; then
    name=$(cat "$base.name")
    if [ ! -f "$top/$name" ]; then
      cp "$step" "$name"
    elif [ "$(cat "$base.kind")" != sh ] && ! is_part "$step" "$top/$name"; then
      failed=$((failed + 1))
      echo "$(basename "$page"): these lines are not in $name"
    fi
    continue
  fi
  (eval "$(cat "$step")") >"$base.said" 2>&1 </dev/null && status=0 || status=$?
  [ $status -eq 0 ] || echo "[$status]" >>"$base.said"
  sed -i 's/ *$//' "$base.said"
  matches "$base.wanted" "$base.said" && continue
  echo "$(basename "$page"):$(cat "$base.at"): $(cat "$step")"
  diff "$base.wanted" "$base.said" || :
  touch "$base.differs"
  failed=$((failed + 1))
done <"$work/order"

if [ -n "$update" ]; then
  for step in $(ls -r "$work"/steps/*.differs 2>/dev/null); do
    base=${step%.*}
    at=$(cat "$base.at")
    { head -n "$at" "$page"; cat "$base.said"; tail -n "+$((at + $(wc -l <"$base.wanted") + 1))" "$page"; } >"$work/page"
    cp "$work/page" "$page"
  done
fi
echo "$((count - failed)) passed, $failed failed"
[ $failed -eq 0 ] && [ $count -gt 0 ]
