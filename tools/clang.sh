#!/bin/sh
# SPDX-License-Identifier: MIT
# clang.sh BUILD: every source of src/ and tests/ passes the front end of clang without a warning. BUILD is a configured
# tree: the texts that are embedded in sources are there.
build=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 2
embedded=$(find "$build/src" -name embedded -type d | sed 's/^/-I/')
warnings="-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wvla -Wno-string-conversion -Werror"
defines='-DAG_VERSION="" -DAG_GIT_HASH="" -DAG_MODEL_DIR="" -DAG_MODEL_SOURCE_DIR="" -DAG_SOURCE_DIR="" -DAG_FLAGS=""'
hdf5=$(pkg-config --cflags-only-I hdf5-serial 2>/dev/null || pkg-config --cflags-only-I hdf5 2>/dev/null)
find src tests -name '*.c' | sort |
  xargs -r -n 8 clang -std=gnu17 -ffp-contract=off $warnings $defines -Isrc -I. -Itests $embedded $hdf5 -fsyntax-only
