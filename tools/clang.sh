#!/bin/sh
# SPDX-License-Identifier: MIT
# clang.sh [TREE]: every source of src/ and tests/ passes the front end of clang without a warning.
tree=${1:-$(dirname "$0")/..}
cd "$tree" || exit 2
warnings="-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wvla -Wno-string-conversion -Werror"
defines='-DAG_VERSION="" -DAG_GIT_HASH="" -DAG_MODEL_DIR="" -DAG_MODEL_SOURCE_DIR="" -DAG_SOURCE_DIR=""'
find src tests -name '*.c' | sort |
  xargs -r -n 8 clang -std=gnu17 -ffp-contract=off $warnings $defines -Isrc -I. -Itests -fsyntax-only
