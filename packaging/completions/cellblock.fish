# The command itself knows what may stand where: `cellblock __complete WORD...`.
function __cellblock_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l lines (command cellblock __complete $words "$current" 2>/dev/null)
    switch "$lines[1]"
        case ''
            return
        case :files
            __fish_complete_path "$current"
        case :directories
            __fish_complete_directories "$current"
        case '*'
            printf '%s\n' $lines
    end
end
complete -c cellblock -f -a '(__cellblock_complete)'
