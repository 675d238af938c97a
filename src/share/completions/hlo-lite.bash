# Completion for bash. What may come next the command itself says, so that it is always its own.

_hlo_lite() {
  local line=${COMP_LINE:0:COMP_POINT} head='' words word
  read -r -a words <<<"$line"
  case $line in *[[:space:]]) words+=('') ;; esac
  word=${words[${#words[@]} - 1]}
  # Words end at '=' where bash breaks them: what stands before it stays.
  case $COMP_WORDBREAKS in *=*) head=${word%"${word##*=}"} ;; esac
  mapfile -t COMPREPLY < <("$1" __complete "${words[@]:1}" 2>/dev/null | cut -f 1)
  COMPREPLY=("${COMPREPLY[@]#"$head"}")
  case ${COMPREPLY[0]-} in *=) compopt -o nospace 2>/dev/null || : ;; esac
}

complete -o default -F _hlo_lite hlo-lite
