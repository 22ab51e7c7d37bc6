# SPDX-License-Identifier: Apache-2.0
# fish completion of ksamp. It asks the tool itself (--help) what there is, so it cannot fall behind.

function __ksamp_commands
    ksamp --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
end

function __ksamp_options
    set -l words (commandline -opc)
    ksamp $words[2] --help 2>/dev/null | grep -oE '(^| |,)--?[A-Za-z%][A-Za-z0-9-]*' | tr -d ' ,'
end

complete -c ksamp -n __fish_use_subcommand -f -a '(__ksamp_commands)'
complete -c ksamp -n 'not __fish_use_subcommand' -a '(string match -q -- "-*" (commandline -ct); and __ksamp_options)'
