#!/bin/sh
# editors.sh JSON_LINT - what editors make of HLO text: vim's indentation and syntax, and the TextMate grammar, tried with Perl's
# expressions. Each where it is installed; 77: neither is.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
share=$here/../src/share
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
tried=

# Indented anew from nothing, the examples are what they are.
if command -v vim >/dev/null && vim --version | grep -q '+eval'; then
  tried="$tried vim"
  cp "$here"/../examples/*.hlo "$here/sessions/data/indent.hlo" "$work"
  for file in "$work"/*.hlo; do
    sed 's/^  *//' "$file" >"$work/flat"
    cp "$file" "$work/wanted"
    cp "$work/flat" "$file"
    vim -Nu NONE -n -i NONE -es -c "set rtp^=$share/vim" -c 'filetype plugin indent on' -c 'syntax on' -c "edit $file" \
      -c 'normal! gg=G' -c 'write' -c "call writefile([synIDattr(synID(search('ROOT'), col('.'), 1), 'name')], '$work/name')" -c 'qall!' </dev/null >/dev/null 2>&1 || :
    diff "$work/wanted" "$file" || { echo "$(basename "$file"): vim indents otherwise"; failed=1; }
    grep -q hloKeyword "$work/name" || { echo "$(basename "$file"): ROOT is no keyword"; failed=1; }
  done
fi

for file in "$share"/vscode/*.json "$share"/vscode/syntaxes/*.json; do
  "$1" <"$file" >/dev/null || { echo "$file is no JSON"; failed=1; }
done
if perl -MJSON::PP -e 1 2>/dev/null; then
  tried="$tried textmate"
  cat >"$work/tokens.pl" <<'P'
# As editors do: the earliest match of all patterns, the first of those that begin there. Prints "scope text" of each token.
use JSON::PP;
local $/;
open my $f, '<', $ARGV[0] or die;
my $grammar = decode_json(<$f>);
my @rules;
sub collect { for my $p (@_) { if ($p->{include}) { collect(@{$grammar->{repository}{substr $p->{include}, 1}{patterns}}) } else { push @rules, $p } } }
collect(@{$grammar->{patterns}});
my $text = <STDIN>;
pos($text) = 0;
while (pos($text) < length $text) {
  my ($best, $at, $end, @groups);
  for my $r (@rules) {
    my $from = pos $text;
    my $e = $r->{match} // "$r->{begin}(?s:.*?)$r->{end}";
    if ($text =~ /$e/gm && (!defined $at || $-[0] < $at)) { ($best, $at, $end) = ($r, $-[0], $+[0]); @groups = map { [$-[$_], $+[$_]] } 1 .. $#- }
    pos($text) = $from;
  }
  last unless $best;
  for my $i (sort keys %{$best->{captures} // {}}) { print "$best->{captures}{$i}{name} ", substr($text, $groups[$i - 1][0], $groups[$i - 1][1] - $groups[$i - 1][0]), "\n" }
  (my $whole = substr $text, $at, $end - $at) =~ s/\n/ /g;
  print "$best->{name} $whole\n" if $best->{name};
  pos($text) = $end;
}
P
  cat >"$work/line.hlo" <<'T'
HloModule small, entry_computation_layout={(f32[2]{0})->f32[]} // a comment
ENTRY %main.1 { /* two
lines */
  %x = bf16[2]{0} parameter(0)
  ROOT r-1 = f32[] reduce-window(x, inf, -2.5e-1), to_apply=%add.3, metadata={op_name="a \"b\" // c"}
T
  cat >"$work/wanted" <<'T'
keyword.control HloModule
entity.name.namespace small
variable.parameter entry_computation_layout
keyword.operator.assignment =
storage.type f32
constant.numeric 2
constant.numeric 0
storage.type f32
comment.line.double-slash // a comment
keyword.control ENTRY
variable.other %main.1
comment.block /* two lines */
variable.other.definition %x
storage.type bf16
constant.numeric 2
constant.numeric 0
entity.name.function parameter
constant.numeric 0
keyword.control ROOT
variable.other.definition r-1
storage.type f32
entity.name.function reduce-window
variable.other x
constant.language inf
constant.numeric -2.5e-1
variable.parameter to_apply
keyword.operator.assignment =
variable.other %add.3
variable.parameter metadata
keyword.operator.assignment =
variable.parameter op_name
keyword.operator.assignment =
string.quoted.double "a \"b\" // c"
T
  perl "$work/tokens.pl" "$share/vscode/syntaxes/hlo.tmLanguage.json" <"$work/line.hlo" | sed 's/\.hlo / /' | diff "$work/wanted" - || failed=1
  # In the examples each opcode is a function, and nothing else is.
  for file in "$here"/../examples/*.hlo; do
    perl "$work/tokens.pl" "$share/vscode/syntaxes/hlo.tmLanguage.json" <"$file" | sed -n 's/^entity.name.function.hlo //p' >"$work/functions"
    sed 's,//.*,,' "$file" | grep -oE '[a-z][a-z-]*\(' | tr -d '(' | diff - "$work/functions" || { echo "$(basename "$file"): other functions"; failed=1; }
  done
fi
[ -n "$tried" ] || exit 77
[ $failed -eq 0 ] && echo "tried:$tried"
