#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols.sh OBJECT|ARCHIVE [FOLDER]: no object of the library holds writable data (constant tables are in .data.rel.ro; the exceptions
# are lapack_library: what was loaded, and how many calls are under way; heap_thread: the heap and the guard of a thread; and
# heap_fail_in: the allocation that a test lets fail), and every name it exports starts with ag_ or anagyre_. In FOLDER
# only heap.c, of all objects that are not tests, allocates, frees or jumps. Prints each breach.
[ -f "$1" ] || { echo "usage: symbols.sh OBJECT|ARCHIVE [FOLDER]" >&2; exit 2; }
memory='malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|free|strn?dup|v?asprintf|open_memstream'
bad=0
[ -z "$2" ] || calls=$(find "$2" -name '*.c.o' ! -name '*_test.c.o' ! -name heap.c.o -exec nm -A -u {} + |
  grep -E " U ($memory|_?setjmp|__sigsetjmp|_?longjmp|__longjmp_chk)(@.*)?\$")
[ -z "$calls" ] || { echo "$calls" | sed 's/: *U /: only heap.c may use /'; bad=1; }
objdump -t "$1" | awk -F '\t' '
  / file format / { object = $1; sub(/:.*/, "", object); next }
  NF == 2 { # value, seven columns of flags, section <tab> size, [visibility,] name
    n = split($1, left, " "); section = left[n]; n = split($2, right, " "); name = right[n]
    flags = substr($1, index($1, " ") + 1, 7)
    if (section == "*UND*") next
    n_symbol++
    writable = section == "*COM*" || section ~ /^\.(data|bss|tdata|tbss)/ && section !~ /^\.data\.rel\.ro/
    if (writable && flags !~ /d/ && name !~ /^(lapack_library|heap_thread|heap_fail_in)$/) { print object ": writable: " name " in " section; bad++ }
    if (flags ~ /^[gu]/ && name !~ /^(ag|anagyre)_/) { print object ": exported without ag_ or anagyre_: " name; bad++ }
  }
  END {
    if (!n_symbol) { print "no symbols found"; bad++ }
    exit bad > 0
  }' && exit $bad
