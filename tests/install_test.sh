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
#include <string.h>
#include "lang/lang.h"
#include "run/run.h"
int main(void) {
  const char *text = "model fall\nparam g = 2\nconfig x in R\nlagrangian 1/2*x'^2 - g*x\n";
  ag_ctx ctx = {0};
  ag_model *m;
  ag_system *sys;
  if (ag_lang_read(&ctx, "fall.nh", text, strlen(text), 0, NULL, &m)) return 1;
  if (ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys)) return 2;
  ag_run_options o;
  ag_run_defaults(&o);
  o.t1 = 3;
  ag_run_result result;
  double x0[2] = {sys->q0[0], sys->xi0[0]};
  if (ag_run(&ctx, sys, sys->params, x0, &o, NULL, &result)) return 3;
  printf("%.6f\n", result.x[0]);
  ag_run_done(&result);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  return 0;
}
END
"$cc" -std=gnu17 "$dir/x.c" -o "$dir/x" $(config --cflags --libs) || fail "a program does not build with pkg-config's flags"
[ "$("$dir/x")" = -9.000000 ] || fail "that program does not run, or fails to fall by g t^2/2"
for header in $(cd "$root/include/anagyre" && grep -rl '^#ifndef AG_.*_H$' .); do
  echo "#include \"$header\"" | "$cc" -std=gnu17 $(config --cflags) -fsyntax-only -x c - || fail "$header does not compile"
done
[ -s "$(find "$root" -name anagyre.1)" ] || fail "no man page"

if [ -x "$build/anagyre" ]; then
  "$root/bin/anagyre" version >/dev/null || fail "the installed program does not run"
  [ -s "$root/share/anagyre/models/rattleback.nh" ] || fail "no models"
fi
exit 0
