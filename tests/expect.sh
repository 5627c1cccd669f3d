# SPDX-License-Identifier: MIT
# For shell tests, read with `.`: a folder $dir that goes away with the test, and expect.
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failed=0

# expect CODE TEXT COMMAND...: the command ends with CODE and prints TEXT; otherwise failed=1.
expect() {
  code=$1 text=$2
  shift 2
  out=$("$@" 2>&1)
  got=$?
  case $out in *"$text"*) found=1 ;; *) found=0 ;; esac
  if [ $got != "$code" ] || [ $found = 0 ]; then
    echo "$*: code $got, expected $code; printed: $out; expected: $text" >&2
    failed=1
  fi
}
