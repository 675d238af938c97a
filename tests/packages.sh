#!/bin/sh
# packages.sh BUILD - the Debian packages of a build: what they hold and what they need. 77: a tool for it is missing.
set -eu
for tool in dpkg-deb dpkg-shlibdeps cpack file; do
  command -v $tool >/dev/null || exit 77
done
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Not packed small, which would take a minute.
(cd "$work" && cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/packed" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip) >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
failed=0

fail() {
  echo "$1"
  failed=1
}

# holds NAME FILE...: the package has each of these files, which are patterns.
holds() {
  name=$1
  shift
  dpkg-deb -c "$work/packed/${name}"_*.deb | sed 's/.* \.\(\/[^ ]*\).*/\1/' | grep -v '/$' | sort >"$work/$name"
  for file in "$@"; do
    grep -qx "$file" "$work/$name" || fail "$name has no $file"
  done
}

# says NAME FIELD PATTERN
says() {
  dpkg-deb -f "$work/packed/${1}"_*.deb "$2" | grep -q "$3" || fail "$1: $2 has no $3"
}

[ "$(find "$work/packed" -maxdepth 1 -name '*.deb' | wc -l)" -eq 2 ] || fail "not two packages"
set --
for name in $("$build/hlo-lite" --help | sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p'); do
  set -- "$@" "/usr/share/man/man1/hlo-lite-$name.1"
done
holds hlo-lite /usr/bin/hlo-lite /usr/share/man/man1/hlo-lite.1 "$@" /usr/share/bash-completion/completions/hlo-lite \
  /usr/share/zsh/vendor-completions/_hlo-lite /usr/share/fish/vendor_completions.d/hlo-lite.fish \
  /usr/share/vim/vimfiles/syntax/hlo.vim /usr/share/vim/vimfiles/ftdetect/hlo.vim /usr/share/vim/vimfiles/indent/hlo.vim \
  /usr/share/hlo-lite/vscode/package.json /usr/share/hlo-lite/vscode/syntaxes/hlo.tmLanguage.json /usr/share/doc/hlo-lite/copyright
holds libhlo-lite-dev /usr/include/hlo_lite.h /usr/include/hlo_runtime.h '/usr/lib/.*libhlo_lite\.so' '/usr/lib/.*libhlo_lite\.so\.0' \
  '/usr/lib/.*libhlo_lite\.a' '/usr/lib/.*libhlo_lite_rt\.a' '/usr/lib/.*pkgconfig/hlo_lite\.pc' '/usr/lib/.*pkgconfig/hlo_lite_rt\.pc' \
  '/usr/lib/.*cmake/hlo_lite/hlo_liteConfig\.cmake' '/usr/lib/.*cmake/hlo_lite/hlo_liteTargets\.cmake' \
  /usr/share/man/man3/hlo_lite.3 /usr/share/doc/libhlo-lite-dev/copyright

# Both can be installed, and each file of the tree is in one: none is forgotten by its component.
both=$(sort "$work/hlo-lite" "$work/libhlo-lite-dev" | uniq -d)
[ -z "$both" ] || fail "in both packages: $both"
DESTDIR=$work/tree cmake --install "$build" --prefix /usr >/dev/null
(cd "$work/tree" && find . ! -type d) | sed 's/^\.//' | sort >"$work/all"
sort "$work/hlo-lite" "$work/libhlo-lite-dev" | diff - "$work/all" || fail "not what is installed"

says hlo-lite Depends 'libc6'
says hlo-lite Depends binutils
says hlo-lite Recommends gcc
says libhlo-lite-dev Depends 'libc6-dev'
[ $failed -eq 0 ] && echo "$(wc -l <"$work/all") files in two packages"
