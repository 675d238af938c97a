#!/bin/sh
# chromium.sh HLO_LITE [MODULE...] - opens what `graph` writes in headless Chromium, in three sizes of window, light and dark, and uses it
# (chromium.js): no message on the console, open within 2 s. Without modules: examples and a module with many operands.
# KEEP=FOLDER keeps the pictures. 77: there is no Chromium.
set -eu
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || exit 77
command=$(realpath "$1")
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ $# -eq 0 ]; then
  awk 'BEGIN {
    print "ENTRY e {\n  p0 = f32[64,32,16] parameter(0)"
    for (i = 1; i < 300; i++)
      if (i % 5)
        printf "  p%d = f32[64,32,16] %s(p%d, p%d)\n", i, i % 3 ? "add" : "atan2", i - 1, int(i / 2)
      else
        printf "  p%d = f32[64,32,16] exponential(p%d)\n", i, i - 1
    print "  ROOT r = f32[64,32,16] negate(p299)\n}"
  }' >"$work/many.hlo"
  set -- "$here/../examples/softmax.hlo" "$here/../examples/jax/cnn.hlo" "$work/many.hlo"
fi

browse() {
  HOME=$work timeout 60 "$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars --enable-logging=stderr --user-data-dir="$work/profile" \
    --no-first-run --disable-extensions --window-size="$1" --blink-settings="preferredColorScheme=$2" "$3" "file://$4" 2>"$work/log"
}

passed=0
failed=0
for module in "$@"; do
  "$command" graph "$module" -o "$work/g.html"
  { sed '/^<\/body>/,$d' "$work/g.html"; echo '<script>'; cat "$here/chromium.js"; echo '</script></body></html>'; } >"$work/driven.html"
  for window in 1400,900,1 800,600,0 500,800,1; do
    size=${window%,*} dark=${window##*,}
    title=$(browse "$size" "$dark" --dump-dom "$work/driven.html" | sed -n 's/^<title>\(.*\)<\/title>/\1/p')
    ms=$(echo "$title" | sed -n 's/^passed \([0-9]*\) ms$/\1/p')
    if grep -q CONSOLE "$work/log" || [ "${ms:-2000}" -ge 2000 ]; then
      failed=$((failed + 1))
      grep CONSOLE "$work/log" || :
      echo "$module, $size: $title"
    else
      passed=$((passed + 1))
      echo "$(basename "$module"), $size: open after $ms ms"
    fi
    [ -z "${KEEP-}" ] || browse "$size" "$dark" --screenshot="$KEEP/$(basename "$module" .hlo)-$size.png" "$work/g.html"
  done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
