#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages of tools/packages.txt that are missing: as root, or through sudo where it asks for no
# password. Where neither is possible it lists what is missing and succeeds: the build continues with what is installed.
list=$(dirname "$0")/packages.txt
wanted=
for row in $(grep -v '^#' "$list"); do # "package" or "package:command"
  case $row in
  *:*) command -v "${row#*:}" >/dev/null 2>&1 || wanted="$wanted ${row%%:*}" ;;
  *) wanted="$wanted $row" ;;
  esac
done

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "This is no Debian system; please see that you have the like of:" $wanted >&2
  exit 0
fi
present=$(dpkg-query -W -f '${db:Status-Abbrev} ${binary:Package}\n' $wanted 2>/dev/null | sed -n 's/^.i  *\([^: ]*\).*/\1/p')
missing=
for package in $wanted; do
  printf '%s\n' "$present" | grep -qxF "$package" || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=env
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  as_root="sudo -n env"
else
  echo "Missing packages, to be installed by somebody who may:$missing" >&2
  exit 0
fi
echo "Installing$missing" >&2
options="-q -y --no-install-recommends -o DPkg::Lock::Timeout=300"
$as_root DEBIAN_FRONTEND=noninteractive apt-get -q update >&2 &&
  $as_root DEBIAN_FRONTEND=noninteractive apt-get $options install $missing >&2 ||
  echo "Could not install them; going on with what is there. Missing:$missing" >&2
exit 0
