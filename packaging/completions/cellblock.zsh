#compdef cellblock
# The command itself knows what may stand where: `cellblock __complete WORD...`.
_cellblock() {
  local -a lines
  lines=("${(@f)$(command cellblock __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $lines[1] in
    '') return 1 ;;
    :files) _files ;;
    :directories) _files -/ ;;
    *)
      lines=("${(@)lines//:/\\:}")
      lines=("${(@)lines/$'\t'/:}")
      _describe -t words word lines
      ;;
  esac
}
_cellblock "$@"
