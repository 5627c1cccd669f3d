#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols.sh OBJECT|ARCHIVE: no object of the library holds writable data (constant tables are in .data.rel.ro; the one exception
# is lapack_library: what was loaded, and how many calls are under way), and every name
# it exports starts with ag_ or anagyre_. Prints each breach.
[ -f "$1" ] || { echo "usage: symbols.sh OBJECT|ARCHIVE" >&2; exit 2; }
objdump -t "$1" | awk -F '\t' '
  / file format / { object = $1; sub(/:.*/, "", object); next }
  NF == 2 { # value, seven columns of flags, section <tab> size, [visibility,] name
    n = split($1, left, " "); section = left[n]; n = split($2, right, " "); name = right[n]
    flags = substr($1, index($1, " ") + 1, 7)
    if (section == "*UND*") next
    n_symbol++
    writable = section == "*COM*" || section ~ /^\.(data|bss|tdata|tbss)/ && section !~ /^\.data\.rel\.ro/
    if (writable && flags !~ /d/ && name != "lapack_library") { print object ": writable: " name " in " section; bad++ }
    if (flags ~ /^[gu]/ && name !~ /^(ag|anagyre)_/) { print object ": exported without ag_ or anagyre_: " name; bad++ }
  }
  END {
    if (!n_symbol) { print "no symbols found"; bad++ }
    exit bad > 0
  }'
