#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One part of the install test: install_test.sh shared.cmake SOURCE_TREE BUILD_TREE COMPILER [COMPILER_FLAGS]
set -euo pipefail

part=$1 source=$2 build=$3 compiler=$4 flags=${5:-}
kind=${part%%.*}
work=$build/test/install/$kind
prefix=$work/prefix
libdir=$(dirname "$(find "$prefix" -name 'libksamp.*' 2>/dev/null | head -1)" 2>/dev/null || true)

fail() {
  echo "install.$part: $*" >&2
  exit 1
}

# Runs the example against a recording and looks for a line of its output.
check_program() {
  local program=$1 out
  out=$("$program" "$source/test/data/perf/cpu-clock.data") || fail "$program exits with $?"
  echo "$out"
  grep -q ' of .* samples; ' <<<"$out" || fail "$program printed no sum"
}

install_shared() {
  rm -rf "$work"
  cmake --install "$build" --prefix "$prefix" >/dev/null
}

install_static() {
  rm -rf "$work"
  cmake -S "$source/test/install/static" -B "$work/build" -G Ninja -DKSAMP_TREE="$build" \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags" >/dev/null
  cmake --build "$work/build"
  cmake --install "$work/build" --prefix "$prefix" >/dev/null
}

check_files() {
  local file
  for file in bin/ksamp include/ksamp/profile.h include/ksamp/version.h share/man/man1/ksamp.1 \
    share/bash-completion/completions/ksamp share/zsh/site-functions/_ksamp share/fish/vendor_completions.d/ksamp.fish; do
    [ -f "$prefix/$file" ] || fail "$file is not installed"
  done
  local header name
  for header in "$source"/include/ksamp/*.h; do
    name=$(basename "$header")
    [ -f "$prefix/include/ksamp/$name" ] || fail "$name is not installed"
    # Each header stands alone: it compiles without anything before it.
    echo "#include \"ksamp/$name\"" | "$compiler" -std=c++20 -fsyntax-only -I "$prefix/include" -x c++ - ||
      fail "$name does not compile by itself"
  done
  "$prefix/bin/ksamp" --version || fail "the installed tool does not run"
}

# Nothing but namespace ksamp shows: no zstd, no abseil, no templates of the standard library.
check_exports() {
  local library=$libdir/libksamp.so names foreign
  names=$(nm -D --defined-only -C "$library" | cut -d' ' -f3-)
  foreign=$(grep -vE '^((typeinfo|typeinfo name|vtable) for )?ksamp::' <<<"$names" || true)
  [ -z "$foreign" ] || fail "foreign names are exported:"$'\n'"$(head -20 <<<"$foreign")"
  grep -q '^ksamp::BuildProfile(' <<<"$names" || fail "ksamp::BuildProfile is not exported"
  readelf -d "$library" | grep -q 'SONAME.*libksamp\.so\.[0-9]*\.[0-9]*\]' || fail "no versioned SONAME"
}

# bash's completion offers the commands, and a command's own options.
check_completion() {
  PATH=$prefix/bin:$PATH
  # shellcheck disable=SC1091  # made by the install
  source "$prefix/share/bash-completion/completions/ksamp"
  COMP_WORDS=(ksamp re) COMP_CWORD=1
  _ksamp
  [[ " ${COMPREPLY[*]} " == *" record "* && " ${COMPREPLY[*]} " == *" report "* ]] || fail "'re' gives: ${COMPREPLY[*]}"
  COMP_WORDS=(ksamp report --sep) COMP_CWORD=2
  _ksamp
  [ "${COMPREPLY[*]}" = --separate ] || fail "'report --sep' gives: ${COMPREPLY[*]}"
}

check_cmake() {
  cmake -S "$source/examples" -B "$work/examples" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags" >/dev/null
  cmake --build "$work/examples"
  check_program "$work/examples/counts_per_image"
}

check_pkg_config() {
  local words
  words=$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --cflags --libs ksamp)
  # shellcheck disable=SC2086  # words and flags are lists
  "$compiler" -std=c++20 $flags -o "$work/counts" "$source/examples/counts_per_image.cc" $words -Wl,-rpath,"$libdir"
  check_program "$work/counts"
}

case ${part#*.} in
  install) "install_$kind" ;;
  files | exports | completion | cmake | pkg_config) "check_${part#*.}" ;;
  *) fail "no such part" ;;
esac
