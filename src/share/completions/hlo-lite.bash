# Completion for bash: commands and options are those that the command itself lists, so that they are always its own.

_hlo_lite_commands() {
  "$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p'
}

_hlo_lite_options() {
  "$1" "$2" --help 2>/dev/null | sed -n 's/^  \(-[^ =]*=\{0,1\}\).*/\1/p'
}

_hlo_lite() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_hlo_lite_commands "$1") --help --version" -- "$word")
    return
  fi
  case $word in
    -*)
      mapfile -t COMPREPLY < <(compgen -W "$(_hlo_lite_options "$1" "$command")" -- "$word")
      case ${COMPREPLY[0]-} in *=) compopt -o nospace 2>/dev/null || : ;; esac
      ;;
    *)
      if [ "$command" = ops ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$1" ops 2>/dev/null | sed 's/ .*//')" -- "$word")
      fi
      ;;
  esac
}

complete -o default -F _hlo_lite hlo-lite
