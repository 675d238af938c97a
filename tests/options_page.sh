#!/bin/sh
# options_page.sh [--update] HLO_LITE - docs/options.md is what the command says of its subcommands and options. --update writes it anew.
set -eu
update=no
if [ "$1" = --update ]; then
  update=yes
  shift
fi
page=$(dirname "$0")/../docs/options.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

{
  printf '# Subcommands and options\n\nWritten by `sh tests/options_page.sh --update build/hlo-lite` from what the command says with `--help`.\n'
  printf 'What they are for is in [command.md](command.md). The examples run in the folder `examples`.\n'
  "$1" --help | sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p' | while read -r command; do
    printf '\n## %s\n\n```\n' "$command"
    "$1" "$command" --help
    printf '```\n'
  done
} >"$work/options.md"
if [ $update = yes ]; then
  cp "$work/options.md" "$page"
fi
diff "$page" "$work/options.md" && echo "the page is up to date"
