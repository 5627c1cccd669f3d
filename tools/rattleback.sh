#!/bin/sh
# SPDX-License-Identifier: MIT
# rattleback.sh PROGRAM FOLDER [FIGURE]: spins the shipped rattleback in the direction it does not like, writes the motion
# to FOLDER, draws FIGURE (FOLDER/rattleback.png unless given), makes a page and prints when it reversed and how well energy
# was kept.
set -e
program=$1 folder=$2 figure=${3:-$2/rattleback.png}
table=$folder/rattleback.csv json=$folder/rattleback.json
mkdir -p "$folder"
"$program" run rattleback --t1 200 --rtol 1e-12 --atol 1e-12 --every 0.1 -o "$table" --json --quiet >"$json"

# The first time of the event `reversal`, from the JSON; the largest change of energy and the spins, from the table.
reversal=$(tr -d '\n ' <"$json" | sed -n 's/.*"reversal":\[\([-+0-9.e]*\).*/\1/p')
[ -n "$reversal" ] || { echo "the stone did not reverse its spin" >&2; exit 1; }
echo "A rattleback, spun the way it does not like:"
awk -F , -v reversal="$reversal" '
  NR == 1 { gsub(/"[^"]*"/, "quoted"); for (i = 1; i <= NF; i++) if ($i == "spin") spin = i; else if ($i == "energy") energy = i; next }
  NR == 2 { e0 = $energy; first = $spin }
  { d = $energy - e0; if (d < 0) d = -d; if (d > drift) drift = d; last = $spin; t = $1 }
  END {
    printf "  spin          %+.3f at t = 0, %+.3f at t = %g\n", first, last, t
    printf "  reversal      t = %.10g\n", reversal
    printf "  energy drift  %.1e (relative, largest over the run)\n", drift / e0
  }' "$table"
echo "  motion        $table"
h5=$folder/rattleback.h5
"$program" run rattleback --t1 200 --rtol 1e-12 --atol 1e-12 --every 0.02 -o "$h5" --quiet >"$folder/summary.txt"
if command -v gnuplot >/dev/null; then
  "$program" plot "$h5" spin 'Omega[1:2]' -o "$figure" >"$folder/figure.txt"
  echo "  figure        $figure"
else
  echo "  figure        none: gnuplot is not installed"
fi
page=$folder/rattleback.html
if "$program" view "$h5" -o "$page" --quiet >"$folder/page.txt" 2>&1; then
  echo "  page          $page (open it in a browser)"
else
  echo "  page          none: $(head -n 1 "$folder/page.txt")"
fi
echo "To type \`anagyre\` anywhere:"
echo "  export PATH=\"$(cd "$(dirname "$program")" && pwd):\$PATH\""
