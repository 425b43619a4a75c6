# The command itself knows what may stand where: `cellblock __complete WORD...`.
_cellblock() {
  local cur=${COMP_WORDS[COMP_CWORD]} lines
  COMPREPLY=()
  mapfile -t lines < <(command cellblock __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case ${lines[0]-} in
    :files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    :directories) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    *) COMPREPLY=("${lines[@]%%$'\t'*}") ;;
  esac
}
complete -F _cellblock cellblock
