#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh [TREE]: every file of src/ includes only what its row of tools/layers.txt allows, and of another folder only
# the front header <folder>/<folder>.h (base/ and math/ are toolboxes: any of their headers), the tables *.def, the
# words of V (expr/vmath.h) and the second headers that layers.txt lists for it. Unit tests may include headers of tests/. No handle is
# cast, so that one that is const is never changed. Prints each breach.
tree=${1:-$(dirname "$0")/..}
cd "$tree" || exit 2
files=$(find src -name '*.[ch]' -o -name '*.def' | sort)
[ -n "$files" ] || { echo "no sources under $tree/src" >&2; exit 2; }
awk '
  function breach(text) { print FILENAME ":" FNR ": " text; bad++ }
  FILENAME == "tools/layers.txt" {
    if ($0 ~ /^[a-z]+\/[a-z_]+\.h:/) {
      path = substr($1, 1, length($1) - 1)
      for (i = 2; i <= NF; i++) second[$i, path] = 1
    }
    if ($0 !~ /^[a-z]+:/) next
    name = substr($1, 1, length($1) - 1); known[name] = 1; may[name, name] = 1
    for (i = 2; i <= NF; i++) may[name, $i] = 1
    next
  }
  FNR == 1 { split(FILENAME, part, "/"); own = part[2]; if (!(own in known)) breach("folder " own " has no row in tools/layers.txt") }
  /^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, quoted, "\""); path = quoted[2]
    if (FILENAME ~ /_test\.c$/ && path ~ /^(tests\/[a-z_]+|check)\.h$/) next
    n = split(path, part, "/")
    if (path ~ /(^|\/)\.\.?\//) breach("\"" path "\": includes are written from src/")
    else if (n == 1) next
    else if (!(part[1] in known)) breach("\"" path "\": no such folder in tools/layers.txt")
    else if (!((own, part[1]) in may)) breach("\"" path "\": " own "/ may not use " part[1] "/")
    else if (part[1] != own && part[1] != "base" && part[1] != "math" && path !~ /\.def$/ && path != "expr/vmath.h" && path != part[1] "/" part[1] ".h" &&
             !((own, path) in second))
      breach("\"" path "\": only the front header " part[1] "/" part[1] ".h is for others")
  }
  /\((ag_system|ag_model|ag_graph) \*\)[A-Za-z_(]/ { breach("a cast of a handle: what changes it says so in its type") }
  END { exit bad > 0 }
' tools/layers.txt $files
