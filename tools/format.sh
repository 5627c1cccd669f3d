#!/bin/sh
# SPDX-License-Identifier: MIT
# format.sh [TREE]: every C file of the tree is laid out as .clang-format says. Prints each breach; `make format` mends them.
cd "${1:-$(dirname "$0")/..}" || exit 2
files=$(find src tests bench -name '*.[ch]' | sort)
[ -n "$files" ] || { echo "no C files" >&2; exit 2; }
command -v clang-format >/dev/null || { echo "clang-format is missing (Debian: clang-format)" >&2; exit 2; }
exec clang-format --dry-run --Werror $files
