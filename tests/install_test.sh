#!/bin/sh
# SPDX-License-Identifier: MIT
# install_test.sh BUILD CC CXX README: installs a built tree to a folder, then uses it as an outside user would. The
# program of the README (its first block fenced as c) is compiled as C and as C++ against the header and the pkg-config
# file, with the shared and the static library, and run. Also: what is exported, the installed anagyre, the man page.
build=$1 cc=$2 cxx=$3 readme=$4
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
fail() { echo "$*" >&2; exit 1; }

prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$build/CMakeCache.txt")
DESTDIR=$dir/root cmake --install "$build" >"$dir/log" || { cat "$dir/log"; exit 1; }
root=$dir/root$prefix
lib=$(dirname "$(find "$root" -name libanagyre.a)")

# One header, and nothing of the inside.
[ "$(cd "$root/include" && find . -type f)" = ./anagyre.h ] || fail "more is installed under include than anagyre.h"

# What is defined for others: the names of the header, each one, and no others.
sed -n '/^static/d; s/^[a-z].*[ *]\(anagyre_[a-z_]*\)(.*/\1/p' "$root/include/anagyre.h" | sort >"$dir/declared"
nm -D --defined-only "$lib/libanagyre.so" | awk '{ print $3 }' | sort >"$dir/shared"
nm -g --defined-only "$lib/libanagyre.a" | awk 'NF == 3 { print $3 }' | sort >"$dir/static"
for library in shared static; do
  diff "$dir/declared" "$dir/$library" || fail "the $library library does not export what anagyre.h declares"
done
objdump -p "$lib/libanagyre.so" | grep -q 'SONAME *libanagyre\.so\.[0-9]' || fail "the shared library has no version"

config() { PKG_CONFIG_SYSROOT_DIR=$dir/root PKG_CONFIG_PATH=$lib/pkgconfig pkg-config "$@" anagyre; }
awk '/^```/ { if (inside) exit; inside = $0 == "```c"; next } inside' "$readme" >"$dir/x.c"
[ "$(wc -l <"$dir/x.c")" -gt 5 ] || fail "$readme has no program"
[ "$(wc -l <"$dir/x.c")" -le 15 ] || fail "the program of $readme has more than 15 lines"
strict="-Wall -Wextra -Wpedantic -Wconversion -Werror"
for how in "$cc -std=c99 -x c" "$cxx -std=c++11 -x c++"; do
  $how $strict "$dir/x.c" -o "$dir/shared_x" $(config --cflags --libs) || fail "$how: does not build with the shared library"
  $how $strict "$dir/x.c" -x none -o "$dir/static_x" $(config --cflags) "$lib/libanagyre.a" \
    $(config --static --libs-only-l | sed 's/-lanagyre//') || fail "$how: does not build with the static library"
  LD_LIBRARY_PATH=$lib "$dir/shared_x" >"$dir/shared_out" || fail "$how: does not run with the shared library"
  "$dir/static_x" >"$dir/static_out" || fail "$how: does not run with the static library"
  cmp "$dir/shared_out" "$dir/static_out" || fail "$how: the two libraries differ"
  awk 'NR == 1 { first = $2 } { last = $2 } END { exit !(NR == 101 && $1 == 100 && first * last < 0) }' "$dir/shared_out" ||
    fail "$how: the stone of $readme does not reverse its spin"
done
[ -s "$(find "$root" -name anagyre.1)" ] || fail "no man page"

if [ -x "$build/anagyre" ]; then
  "$root/bin/anagyre" version >/dev/null || fail "the installed program does not run"
  [ -s "$root/share/anagyre/models/rattleback.nh" ] || fail "no models"
  for file in bash-completion/completions/anagyre zsh/site-functions/_anagyre vim/vimfiles/syntax/anagyre.vim \
    vim/vimfiles/ftdetect/anagyre.vim anagyre/vscode/package.json anagyre/vscode/syntaxes/anagyre.tmLanguage.json \
    anagyre/CITATION.cff; do
    [ -s "$root/share/$file" ] || fail "no share/$file"
  done
  "$root/bin/anagyre" completion bash | cmp - "$root/share/bash-completion/completions/anagyre" || exit 1
fi
exit 0
