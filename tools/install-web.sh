#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the npm packages of web/package-lock.json, which make the page of `anagyre view`, unless they are there. Where
# there is no npm or no network it says so and succeeds: everything else works without them.
web=$(dirname "$0")/../web
stamp=$web/node_modules/.package-lock.json
[ -e "$stamp" ] && [ ! "$web/package-lock.json" -nt "$stamp" ] && exit 0
if ! command -v npm >/dev/null 2>&1; then
  echo "No npm: \`anagyre view\` will not be available. Install nodejs and npm." >&2
  exit 0
fi
echo "Installing the packages of web/" >&2
npm ci --prefix "$web" --no-audit --no-fund --ignore-scripts --loglevel=error >&2 ||
  echo "Could not install them; going on without \`anagyre view\`." >&2
[ -e "$stamp" ] && touch "$stamp"
exit 0
