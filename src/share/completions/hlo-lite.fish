# Completion for fish. What may come next the command itself says, so that it is always its own.

function __hlo_lite_offers
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..-1] 2>/dev/null
end

# Where there is nothing to offer, the names of files.
complete -c hlo-lite -n 'count (__hlo_lite_offers) >/dev/null' -f -a '(__hlo_lite_offers)'
