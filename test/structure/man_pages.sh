#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every man page formats without a warning and names itself; every command of the tool has one.
# man_pages.sh FOLDER [TOOL]
set -euo pipefail

folder=$1 tool=${2:-}
if ! command -v groff >/dev/null; then
  echo "man pages: skipped: no groff here (scripts/install-deps)"
  exit 0
fi
failed=0
problem() {
  echo "$1"
  failed=1
}

pages=("$folder"/*.1)
for page in "${pages[@]}"; do
  name=$(basename "$page" .1)
  warnings=$(groff -t -man -Tutf8 -ww -z "$page" 2>&1)
  [ -z "$warnings" ] || problem "$page: $warnings"
  grep -qiE "^\.TH \"?$name\"? 1" "$page" || problem "$page: .TH does not name $name"
  for section in NAME SYNOPSIS DESCRIPTION; do
    grep -qE "^\.SH \"?$section\"?\$" "$page" || problem "$page: no section $section"
  done
done
if [ -n "$tool" ]; then
  commands=$("$tool" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
  for command in $commands; do
    [ -f "$folder/ksamp-$command.1" ] || problem "command $command has no $folder/ksamp-$command.1"
  done
fi
echo "${#pages[@]} man pages checked"
exit $failed
