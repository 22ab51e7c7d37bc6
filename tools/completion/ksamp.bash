# SPDX-License-Identifier: Apache-2.0
# bash completion of ksamp. It asks the tool itself (--help) what there is, so it cannot fall behind.

_ksamp_commands() {
  ksamp --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
}

_ksamp_options() {
  ksamp "$1" --help 2>/dev/null | grep -oE '(^| |,)--?[A-Za-z%][A-Za-z0-9-]*' | tr -d ' ,' | sort -u
}

_ksamp() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="$(_ksamp_commands) --help --version"
  elif [[ $word == -* ]]; then
    words=$(_ksamp_options "$command")
  fi
  # Nothing of ours to offer: files, and for the words of a command whatever the shell knows.
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o default -F _ksamp ksamp
