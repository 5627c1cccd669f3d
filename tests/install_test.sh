#!/bin/sh
# SPDX-License-Identifier: MIT
# install_test.sh BUILD CC: installs a built tree to a folder, then uses what is there as a stranger would: a program against the
# headers, the library and the pkg-config file; the installed anagyre; the man page.
build=$1 cc=$2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
fail() { echo "$*" >&2; exit 1; }

prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$build/CMakeCache.txt")
DESTDIR=$dir/root cmake --install "$build" >"$dir/log" || { cat "$dir/log"; exit 1; }
root=$dir/root$prefix

config() { PKG_CONFIG_SYSROOT_DIR=$dir/root PKG_CONFIG_PATH=$(dirname "$(find "$root" -name anagyre.pc)") pkg-config "$@" anagyre; }
cat >"$dir/x.c" <<'END'
#include <stdio.h>
#include "base/text.h"
int main(void) {
  ag_text x = {0};
  ag_text_number(&x, 0.1);
  puts(ag_text_cstr(&x));
  ag_text_done(&x);
  return 0;
}
END
"$cc" -std=gnu17 "$dir/x.c" -o "$dir/x" $(config --cflags --libs) || fail "a program does not build with pkg-config's flags"
[ "$("$dir/x")" = 0.1 ] || fail "that program does not run"
for header in $(cd "$root/include/anagyre" && grep -rl '^#ifndef AG_.*_H$' .); do
  echo "#include \"$header\"" | "$cc" -std=gnu17 $(config --cflags) -fsyntax-only -x c - || fail "$header does not compile"
done
[ -s "$(find "$root" -name anagyre.1)" ] || fail "no man page"

if [ -x "$build/anagyre" ]; then
  "$root/bin/anagyre" version >/dev/null || fail "the installed program does not run"
  [ -s "$root/share/anagyre/models/rattleback.nh" ] || fail "no models"
fi
exit 0
