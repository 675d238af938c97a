#!/bin/bash
# completion.sh HLO_LITE - what bash offers behind words of a command line.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$(realpath "$1")" "$work/hlo-lite"
PATH=$work:$PATH
# shellcheck source=/dev/null
. "$here/../src/share/completions/hlo-lite.bash"
failed=0

# expect "WORDS" "OFFERS": the last word is the one to complete.
expect() {
  IFS=' ' read -r -a COMP_WORDS <<<"$1"
  case $1 in *' ') COMP_WORDS+=('') ;; esac
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _hlo_lite hlo-lite
  [ "${COMPREPLY[*]-}" = "$2" ] && return
  echo "$1: offers '${COMPREPLY[*]-}', not '$2'"
  failed=1
}

expect 'hlo-lite che' 'check'
expect 'hlo-lite --v' '--version'
expect 'hlo-lite run --fi' '--fill='
expect 'hlo-lite run --pro' '--profile'
expect 'hlo-lite fmt --fi' ''
expect 'hlo-lite ops reduce-w' 'reduce-window'
expect 'hlo-lite run model' ''
expect 'hlo-lite nothing --f' ''
for command in $(hlo-lite --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
  expect "hlo-lite $command" "$(hlo-lite --help | sed -n "s/^  \($command[a-z]*\) .*/\1/p" | xargs)"
  expect "hlo-lite $command --hel" '--help'
done
[ $failed -eq 0 ] && echo "completions as they should be"
