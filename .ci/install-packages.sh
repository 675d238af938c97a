#!/bin/sh
# Installs what .ci/packages lists and this machine lacks. Asks no server when nothing is missing.
set -eu

list=$(dirname "$0")/packages

is_installed() {
  dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "error: to install packages run this as root, or install sudo" >&2
    exit 1
  fi
}

if ! command -v apt-get >/dev/null; then
  echo "note: no apt-get here; going on with what is installed ($list names what is needed)" >&2
  exit 0
fi

missing=
while read -r package rest; do
  case $package in '' | '#'*) continue ;; esac
  is_installed "$package" || missing="$missing $package"
done <"$list"
[ -n "$missing" ] || exit 0

echo "installing$missing"
as_root apt-get -q update
# shellcheck disable=SC2086 # one word a package
as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $missing
