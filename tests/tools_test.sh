#!/bin/sh
# SPDX-License-Identifier: MIT
# tools_test.sh SOURCE CC PYTHON: the checks of tools/ pass what is right and find what is wrong.
source=$1 cc=$2 python=$3
. "$(dirname "$0")/expect.sh"

# A tree of two folders and one line in a file of expr/, or of another file when named.
layers() {
  code=$1 text=$2 line=$3 file=${4:-src/expr/graph.c}
  rm -rf "$dir/tree"
  mkdir -p "$dir/tree/tools" "$dir/tree/src/expr" "$dir/tree/src/lang" "$dir/tree/src/base"
  cp "$source/tools/layers.txt" "$dir/tree/tools/"
  mkdir -p "$dir/tree/$(dirname "$file")"
  printf '#include <math.h>\n%s\n' "$line" >"$dir/tree/$file"
  expect "$code" "$text" sh "$source/tools/layers.sh" "$dir/tree"
}
layers 0 "" '#include "expr/expr.h"'
layers 0 "" '#include "base/arena.h"'
layers 0 "" '#include "expr/expr.h"' src/lang/parse.c
layers 0 "" '#include "check.h"' src/expr/graph_test.c
layers 0 "" '#include "tests/built.h"' src/expr/graph_test.c
layers 0 "" '#include "expr/op.def"' src/lang/parse.c
layers 0 "" '/* "lang/lang.h" */'
layers 1 'src/expr/graph.c:2: "lang/lang.h": expr/ may not use lang/' '#include "lang/lang.h"'
layers 1 'expr/ may not use lang/' '  #  include "lang/lang.h"' src/expr/op.def
layers 1 'only the front header expr/expr.h' '#include "expr/graph_internal.h"' src/lang/parse.c
layers 1 'base/ may not use expr/' '#include "expr/expr.h"' src/base/text.h
layers 0 "" '#include "run/run.h"' src/study/section.c
layers 0 "" '#include "study/study.h"' src/cli/run.c
layers 1 'study/ may not use cli/' '#include "cli/cli.h"' src/study/section.c
layers 1 'study/ may not use store/' '#include "store/store.h"' src/study/section.c
layers 1 'run/ may not use study/' '#include "study/study.h"' src/run/batch.c
layers 1 'api/ may not use study/' '#include "study/study.h"' src/api/run.c
layers 1 'written from src/' '#include "../lang/lang.h"'
layers 1 'no such folder' '#include "nowhere/x.h"'
layers 1 'no such folder' '#include "tests/check.h"'
layers 0 "" 'ag_model *(*open)(ag_model *) = ag_system_open_model;' src/mech/facts.c
layers 1 'a cast of a handle' '  ag_model *m = (ag_model *)ag_system_model(sys);' src/mech/facts.c
layers 1 'has no row' '#include <stdio.h>' src/other/x.c

# A library of one C file.
symbols() {
  code=$1 text=$2
  printf '%s\n' "$3" >"$dir/x.c"
  rm -rf "$dir/x.a" "$dir/objects"
  mkdir "$dir/objects"
  "$cc" -fPIC -c "$dir/x.c" -o "$dir/objects/${4:-x}.c.o" && ar rc "$dir/x.a" "$dir/objects/${4:-x}.c.o" || exit 2
  expect "$code" "$text" sh "$source/tools/symbols.sh" "$dir/x.a" "$dir/objects"
}
symbols 0 "" 'static int helper(int x) { return x + 1; } int ag_x(int x) { return helper(x); }'
symbols 0 "" 'static const char *const names[] = {"a", "b"}; const char *ag_name(int i) { return names[i]; }'
symbols 1 'exported without ag_ or anagyre_: helper' 'int helper(int x) { return x; }'
symbols 1 'writable: count' 'static int count; int ag_next(void) { return ++count; }'
symbols 1 'writable: ag_count' 'int ag_count = 3;'
symbols 1 'writable: names' 'static const char *names[] = {"a"}; const char **ag_names(void) { return names; }'
symbols 1 'only heap.c may use free' 'void free(void *p); void ag_drop(void *p) { free(p); }'
symbols 1 'only heap.c may use strdup' 'char *strdup(const char *s); char *ag_copy(const char *s) { return strdup(s); }'
symbols 0 "" 'void free(void *p); void ag_drop(void *p) { free(p); }' heap
symbols 0 "" 'void free(void *p); void ag_drop(void *p) { free(p); }' x_test
symbols 1 'writable: calls' 'int ag_calls(void) { static _Thread_local int calls; return ++calls; }'

# A tree of one header.
headers() {
  rm -rf "$dir/tree"
  mkdir -p "$dir/tree/src/expr"
  printf '%s\n' "$3" >"$dir/tree/src/expr/expr.h"
  expect "$1" "$2" sh "$source/tools/headers.sh" "$cc" "$dir/tree"
}
headers 0 "" '#ifndef AG_EXPR_EXPR_H
#include <stddef.h>
size_t ag_count(void);
#endif'
headers 1 'size_t' '#ifndef AG_EXPR_EXPR_H
size_t ag_count(void);
#endif'
headers 2 'no headers' 'ROW(1) ROW(2)'

# A tree of one source that is in the compile database, and of another that may be missing there.
tidy() {
  code=$1 text=$2 others=$4
  rm -rf "$dir/tree"
  mkdir -p "$dir/tree/tools" "$dir/tree/src/expr" "$dir/tree/build"
  cp "$source/tools/clang.py" "$dir/tree/tools/"
  cp "$source/.clang-tidy" "$dir/tree/"
  printf '#include <stdlib.h>\n%s\n' "$3" >"$dir/tree/src/expr/x.c"
  [ -z "$others" ] || : >"$dir/tree/src/expr/$others"
  printf '[{"directory": "%s", "file": "%s", "command": "%s -o x.o -c %s"}]' "$dir/tree/build" "$dir/tree/src/expr/x.c" \
    "$cc" "$dir/tree/src/expr/x.c" >"$dir/tree/build/compile_commands.json"
  expect "$code" "$text" "$python" "$dir/tree/tools/clang.py" tidy "$dir/tree/build"
}
tidy 0 '1 sources, 0 with findings' 'int ag_x(int n) { return n + 1; }' x_test.c
expect 0 '1 sources, 0 with findings' "$python" "$dir/tree/tools/clang.py" tidy "$dir/tree/build"
[ "$(ls "$dir/tree/build/tidy" | wc -l)" = 1 ] || { echo "a source that passed is not kept" >&2; failed=1; }
printf 'static int ag_y(int n) { return n; }\n' >"$dir/tree/src/expr/x.h" # looked at again with the header that it includes
printf '#include "x.h"\nint ag_x(int n) { return ag_y(n); }\n' >"$dir/tree/src/expr/x.c"
expect 0 '1 sources, 0 with findings' "$python" "$dir/tree/tools/clang.py" tidy "$dir/tree/build"
printf 'static int ag_y(int n) { if (n > 3); n = 1; return n; }\n' >"$dir/tree/src/expr/x.h"
expect 1 'src/expr/x.h:1:' "$python" "$dir/tree/tools/clang.py" tidy "$dir/tree/build"
tidy 1 'src/expr/x.c:2:' 'int ag_x(int n) { char *p = malloc(8); return p ? n : 0; }'
tidy 1 'bugprone-suspicious-semicolon' 'int ag_x(int n) { if (n > 3); n = 1; return n; }'
tidy 1 'src/expr/y.c is not compiled' 'int ag_x(int n) { return n + 1; }' y.c
if command -v clang >/dev/null; then
  tidy 0 '1 sources, 0 with findings' 'int ag_x(int _Wrong) { return _Wrong + 1; }'
  expect 1 'reserved' "$python" "$dir/tree/tools/clang.py" front "$dir/tree/build"
fi

# A document, and a program that ends with the given code.
mkdir "$dir/bin"
printf '#!/bin/sh\n[ -z "$2" ] || [ -f "$2" ] || exit 7\nexit $1\n' >"$dir/bin/anagyre"
chmod +x "$dir/bin/anagyre"
document() {
  code=$1 text=$2
  shift 2
  printf '%s\n' "$@" >"$dir/x.md"
  expect "$code" "$text" "$python" "$source/tests/docs_test.py" "$dir/bin/anagyre" "$dir/x.md"
}
document 0 '2 commands, 0 failed' 'Text' '```sh' 'anagyre 0' 'false' 'anagyre 2   # exit 2' '```' '```' 'anagyre 1' '```'
document 1 'x.md:3: `anagyre 1` ended with code 1' 'Text' '```sh' 'anagyre 1' '```'
document 1 '1 failed' '```sh' 'anagyre 0 # exit 2' '```'
document 0 '1 commands, 0 failed' '```nh' '# disk.nh' 'model disk' '```' '```sh' 'anagyre \' '  0 disk.nh' '```'
document 1 'code 7' '```sh' 'anagyre 0 disk.nh' '```'
document 1 '0 commands' 'Text without commands'
exit $failed
