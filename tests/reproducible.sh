#!/bin/sh
# reproducible.sh HLO_LITE [FOLDER...] - the same module and options give the same bytes: objects, headers, shared libraries and
# executables, whatever the folder, the folder of temporary files, the environment, the number of processors, and where the system puts
# the command's memory. Takes the modules in the folders (examples, tests/cases and tests/programs, if none is named) at a level each in
# turn; modules that do not compile are left out. Exit status 1 when a byte differs.
set -eu
command=$(realpath "$1")
shift
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- "$here/../examples" "$here/cases" "$here/programs"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
first=$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//') # of the processors that we may use
fixed='setarch -R' # where a process may ask for memory that is not moved about
$fixed true 2>/dev/null || fixed=
find -L "$@" -name '*.hlo' | sort | while read -r file; do realpath "$file"; done >"$work/modules"

# compile_in FOLDER MODULE FLAGS: in a folder of its own, named by a relative path. WITH goes before the command.
compile_in() {
  folder=$work/$1 module=$2
  shift 2
  rm -rf "$folder"
  mkdir -p "$folder/temporary"
  cp "$module" "$folder/model.hlo"
  for kind in obj shared exe; do
    # shellcheck disable=SC2086 # words are words
    (cd "$folder" && TMPDIR=$folder/temporary $WITH "$command" compile model.hlo "$@" --emit=$kind -o "out.$kind") >>"$folder.said" 2>&1 || return 1
  done
  rm -r "$folder/temporary"
}

modules=0 bad=0
while read -r module; do
  level=-O$((modules % 4))
  WITH='env HLO_NUM_THREADS=8' compile_in here "$module" $level || continue
  modules=$((modules + 1))
  # Elsewhere, by one processor, with memory at fixed places; and simply again, with a longer environment.
  WITH="$fixed taskset -c $first env HLO_NUM_THREADS=1 LC_ALL=C" compile_in some/where/else "$module" $level || true
  WITH="env HLO_NUM_THREADS=2 PADDING=$work$work$work" compile_in again "$module" $level || true
  for folder in some/where/else again; do
    diff -rq "$work/here" "$work/$folder" 2>&1 || bad=$((bad + 1))
  done
done <"$work/modules"
echo "$modules modules, $bad differences"
[ "$bad" -eq 0 ] && [ "$modules" -gt 0 ]
