#!/bin/sh
# SPDX-License-Identifier: MIT
# experiments.sh PROGRAM FOLDER FIGURES: the figures of docs/experiments.md, with the commands it shows; results go to FOLDER.
set -e
program=$1 folder=$2 figures=$3
mkdir -p "$folder"
for path in 0 1 2 3 4; do
  "$program" run noisy_vertical_disk --seed 1 --path $path --dt 1/64 --t1 12 -o "$folder/p$path.h5" --quiet >"$folder/p$path.txt"
done
(cd "$folder" && "$program" plot p0.h5 p1.h5 p2.h5 p3.h5 p4.h5 --x x --y y -o "$figures/noisy_disk.png")
"$program" run noisy_routh_sphere --seed 1 --dt 1/64 --t1 100 -o "$folder/routh.h5" --quiet >"$folder/routh.txt"
"$program" plot "$folder/routh.h5" E jellett routh -o "$figures/noisy_routh.png"
"$program" plot "$folder/routh.h5" --x jellett --y routh -o "$figures/noisy_slope.png"
