#!/bin/sh
# completion.sh HLO_LITE TERMINAL - types in bash, zsh and fish, those that are installed, with the completions of src/share/completions:
# what a tab makes of a line.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
shares=$here/../src/share/completions
terminal=$(realpath "$2")
"$terminal" 80 true || { echo "no pseudo-terminals here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/home" "$work/there"
ln -s "$(realpath "$1")" "$work/bin/hlo-lite"
touch "$work/there/softmax.hlo" "$work/there/values.npz"
PATH=$work/bin:$PATH HOME=$work/home TERM=xterm LC_ALL=C.UTF-8
export PATH HOME TERM LC_ALL
unset XDG_CONFIG_HOME XDG_DATA_HOME ZDOTDIR
cd "$work/there"
failed=0
shells=

# What is typed before a tab, and the line behind it. An X at its end shows whether a blank was put there, and an echo before it
# tells the line.
cases='hlo-lite che|hlo-lite check |
hlo-lite hel|hlo-lite help |
hlo-lite help ru|hlo-lite help run |
hlo-lite run --fi|hlo-lite run --fill=|
hlo-lite run --fill=z|hlo-lite run --fill=zeros |
hlo-lite run --fill io|hlo-lite run --fill iota |
hlo-lite check -Werror=out|hlo-lite check -Werror=outer-product |
hlo-lite opt --passes=dce,cs|hlo-lite opt --passes=dce,cse |
hlo-lite ops reduce-w|hlo-lite ops reduce-window |
hlo-lite check soft|hlo-lite check softmax.hlo |
hlo-lite check softmax.hlo --const|hlo-lite check softmax.hlo --constants=|
hlo-lite check --constants=val|hlo-lite check --constants=values.npz |'

# try SHELL WORDS...: the shell as it starts with the completion, and `ready>` as its prompt.
try() {
  shell=$1
  shift
  shells="$shells $shell"
  printf '%s\n' "$cases" | {
    echo 'want ready>'
    while IFS='|' read -r typed wanted; do
      printf 'type %s\\tX\\x01echo got-\\r\nwant got-%sX\nwant ready>\n' "$typed" "$wanted"
    done
  } >"$work/script"
  "$terminal" -f "$work/script" 120 "$@" || { echo "$shell completes otherwise"; failed=1; }
}

if command -v bash >/dev/null; then
  printf "PS1='ready>'\n. '%s/hlo-lite.bash'\n" "$shares" >"$work/bashrc"
  try bash bash --noprofile --rcfile "$work/bashrc" -i
fi
if command -v zsh >/dev/null; then
  mkdir "$work/zsh"
  cp "$shares/_hlo-lite" "$work/zsh"
  printf "PS1='ready>'\nfpath=('%s/zsh' \$fpath)\nautoload -U compinit\ncompinit -u -D\n" "$work" >"$work/home/.zshrc"
  try zsh env ZDOTDIR="$work/home" zsh -d -i
fi
if command -v fish >/dev/null; then
  mkdir -p "$work/home/.config/fish/completions"
  cp "$shares/hlo-lite.fish" "$work/home/.config/fish/completions"
  printf "function fish_prompt\n echo -n 'ready>'\nend\nfunction fish_greeting\nend\n" >"$work/home/.config/fish/config.fish"
  try fish fish -i
fi
[ $failed -eq 0 ] && [ -n "$shells" ] && echo "completions as they should be in$shells"
