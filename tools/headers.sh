#!/bin/sh
# SPDX-License-Identifier: MIT
# headers.sh CC [TREE]: every header of src/ compiles on its own. Prints what the compiler says of those that do not.
# A header without an include guard is a text to be included several times; such are left out.
cc=$1 tree=${2:-$(dirname "$0")/..}
cd "$tree" || exit 2
failed=0 n=0
for header in src/*/*.h; do
  grep -q '^#ifndef \(AG_.*\|ANAGYRE\)_H$' "$header" || continue
  n=$((n + 1))
  printf '#include "%s"\ntypedef int not_empty;\n' "${header#src/}" |
    "$cc" -std=gnu17 -Isrc -Wall -Wextra -Wstrict-prototypes -Werror -fsyntax-only -x c - || failed=1
done
[ $n -gt 0 ] || { echo "no headers under $tree/src" >&2; exit 2; }
exit $failed
