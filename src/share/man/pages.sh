#!/bin/sh
# pages.sh HLO_LITE FOLDER VERSION - the manual pages of the command: hlo-lite.1, and one for each subcommand, from what it says with
# --help.
set -eu
command=$1
folder=$2
version=$3
mkdir -p "$folder"

# Text as roff: no line begins a request, no backslash is one, and dashes are what people type.
escape() {
  sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\\([.']\\)/\\\\\&\\1/" -e "s/'/\\\\(aq/g"
}

names() {
  "$command" --help | sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p'
}

head_of() { # NAME SENTENCE
  printf '.TH %s 1 "" "hlo\\-lite %s" "User Commands"\n.SH NAME\n%s \\- %s\n' \
    "$(printf %s "$1" | tr a-z A-Z | escape)" "$version" "$(printf %s "$1" | escape)" "$(printf %s "$2" | escape)"
}

{
  head_of hlo-lite 'compiler for HLO text: native code from JAX, XLA and hand-written modules'
  printf '.SH SYNOPSIS\n.B hlo\\-lite\n.I command\n[options] [files]\n.SH COMMANDS\n'
  for name in $(names); do
    printf '.TP\n.BR hlo\\-lite\\-%s (1)\n%s\n' "$name" "$("$command" --help | sed -n "s/^  $name  *//p" | escape)"
  done
  printf '.SH EXIT STATUS\n0 done, 1 the input is at fault, 2 the command line, 3 hlo\\-lite itself.\n'
} >"$folder/hlo-lite.1"

for name in $(names); do
  help=$("$command" "$name" --help)
  {
    head_of "hlo-lite-$name" "$(printf '%s\n' "$help" | sed -n 3p)"
    printf '.SH SYNOPSIS\n%s\n.SH OPTIONS\n' "$(printf '%s\n' "$help" | sed -n '1s/^usage: //p' | escape)"
    printf '%s\n' "$help" | sed -n 's/^  \(-[^ ]*\( [^ ][^ ]*\)\{0,1\}\)  *\([^ ].*\)$/\1\t\3/p' |
      while IFS=$(printf '\t') read -r option text; do
        printf '.TP\n.B %s\n%s\n' "$(printf %s "$option" | escape)" "$(printf %s "$text" | escape)"
      done
    if printf '%s\n' "$help" | grep -q '^examples$'; then
      printf '.SH EXAMPLES\n.nf\n'
      printf '%s\n' "$help" | sed '1,/^examples$/d; s/^  //' | escape
      printf '.fi\n'
    fi
    printf '.SH SEE ALSO\n.BR hlo\\-lite (1)\n'
  } >"$folder/hlo-lite-$name.1"
done
